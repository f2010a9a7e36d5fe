/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static bool standard_is_closed;

void target_open_standard(void) {
  for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++) {
    if (fcntl(file, F_GETFD) >= 0 || errno != EBADF) continue;
    if (file == STDOUT_FILENO) standard_is_closed = true;
    /* open() takes the lowest free number, which is this one. */
    if (open("/dev/null", O_RDWR) != file) _exit(EXIT_BAD_INPUT);
  }
}

bool target_standard_is_closed(void) { return standard_is_closed; }

/* Prints the library's message after the option. */
static bool fail(bisai_context *context, target t, bisai_status status) {
  const char *message = bisai_context_error(context), *place = strstr(message, t.path);
  say("%s: %s", t.flag, place ? place : *message ? message : bisai_status_string(status));
  return false;
}

/* Refuses an output that is also the file or pipe of standard output. A terminal or /dev/null may
 * be both. */
static bool is_standard_output(const char *path) {
  struct stat a, b;
  return stat(path, &a) == 0 && fstat(STDOUT_FILENO, &b) == 0 && !S_ISCHR(a.st_mode) &&
         a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static bool is_apart(bisai_context *context, target t, target other) {
  bool same = false;
  if (!other.path) return true;
  bisai_status status = bisai_write_same_file(context, t.path, other.path, &same);
  if (status) return fail(context, t, status);
  if (same) say("%s: %s: the same file as %s", t.flag, t.path, other.flag);
  return !same;
}

static bool check(bisai_context *context, target t, int inputs, const target *input) {
  bisai_status status = bisai_write_check(context, t.path);
  if (status) return fail(context, t, status);
  for (int i = 0; i < inputs; i++)
    if (!is_apart(context, t, input[i])) return false;
  if (!is_standard_output(t.path)) return true;
  say("%s: %s: the same file as standard output", t.flag, t.path);
  return false;
}

bool target_check(bisai_context *context, int outputs, const target *output, int inputs,
                  const target *input) {
  for (int i = 0; i < outputs; i++) {
    if (!output[i].path) continue;
    if (!check(context, output[i], inputs, input)) return false;
    for (int k = 0; k < i; k++)
      if (!is_apart(context, output[i], output[k])) return false;
  }
  return true;
}

bool target_check_beside(bisai_context *context, target beside, int inputs, const target *input,
                         bool force) {
  struct stat entry;
  if (!check(context, beside, inputs, input)) return false;
  if (force || lstat(beside.path, &entry) != 0) return true;
  say("%s: %s exists already; --force overwrites it", beside.flag, beside.path);
  return false;
}

/* Returns 0, or the error number if no folder can be made at a path that names nothing yet, because
 * its parent is missing or not writable. */
static int refusal_of_new(const char *path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  while (length > 0 && path[length - 1] != '/') length--;
  char *parent = length ? strndup(path, length) : strdup(".");
  if (!parent) return ENOMEM;
  int error = access(parent, W_OK | X_OK) == 0 ? 0 : errno;
  free(parent);
  return error;
}

bool target_check_folder(const char *flag, const char *path) {
  struct stat entry;
  int error = 0;
  if (stat(path, &entry) != 0) {
    error = errno == ENOENT ? refusal_of_new(path) : errno;
  } else if (!S_ISDIR(entry.st_mode)) {
    say("%s: %s: not a folder", flag, path);
    return false;
  } else if (access(path, W_OK | X_OK) != 0) {
    error = errno;
  }
  if (error) say("%s: %s: %s", flag, path, strerror(error));
  return error == 0;
}

bool target_is_file(const char *path) {
  struct stat entry;
  return stat(path, &entry) != 0 || S_ISREG(entry.st_mode);
}

bool target_write(bisai_context *context, target output, const char *text) {
  bisai_status status = bisai_write_bytes(context, output.path, text, strlen(text));
  return !status || fail(context, output, status);
}
