/* SPDX-License-Identifier: BSD-3-Clause */
#include "files.h"

#include <dirent.h>
#include <sys/stat.h>

static char folder[1024];

void test_folder_make(void) {
  const char *parent = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/bisai-test-XXXXXX", parent && *parent ? parent : "/tmp");
  if (!mkdtemp(folder)) fail_msg("cannot make %s", folder);
}

static void remove_all(const char *path) {
  struct stat about;
  if (lstat(path, &about) != 0) return;
  DIR *entries = S_ISDIR(about.st_mode) ? opendir(path) : NULL;
  if (entries) {
    for (struct dirent *entry; (entry = readdir(entries));) {
      char inside[2048];
      snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_all(inside);
    }
    closedir(entries);
  }
  remove(path);
}

void test_folder_remove(void) {
  remove_all(folder);
  assert_false(test_exists(folder));
}

const char *test_path(const char *name) {
  static char paths[2][1024 + 512];
  static int turn;
  turn = !turn;
  snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
  return paths[turn];
}

const char *test_file(const char *name, const void *bytes, size_t count) {
  const char *path = test_path(name);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0)
    fail_msg("cannot write %s", path);
  return path;
}

bool test_exists(const char *path) {
  struct stat about;
  return stat(path, &about) == 0;
}

char *test_read(const char *path, size_t *length) {
  enum { ROOM = 1 << 20 };
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot read %s", path);
  char *bytes = malloc(ROOM + 1);
  assert_non_null(bytes);
  const size_t count = fread(bytes, 1, ROOM, file);
  assert_true(count < ROOM && fclose(file) == 0);
  bytes[count] = '\0';
  if (length) *length = count;
  return bytes;
}

void test_expect_text(const char *path, const char *expected) {
  char *text = test_read(path, NULL);
  assert_string_equal(text, expected);
  free(text);
}

int test_entries(const char *path) {
  DIR *entries = opendir(path);
  assert_non_null(entries);
  int count = -2; /* . and .. */
  while (readdir(entries)) count++;
  closedir(entries);
  return count;
}

void test_print(test_text *text, const char *format, ...) {
  if (text->room - text->length < 256) {
    text->room = 2 * text->room + 4096;
    text->bytes = realloc(text->bytes, text->room);
    assert_non_null(text->bytes);
  }
  va_list arguments;
  va_start(arguments, format);
  const int count =
      vsnprintf(text->bytes + text->length, text->room - text->length, format, arguments);
  va_end(arguments);
  assert_in_range(count, 0, 255);
  text->length += (size_t)count;
}
