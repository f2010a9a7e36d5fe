/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

extern char **environ;

enum { ARGUMENTS = 64, LINE = 4096 };

const char laplace5[] =
    "%%MatrixMarket matrix coordinate real symmetric\n5 5 9\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n5 5 2\n"
    "2 1 -1\n3 2 -1\n4 3 -1\n5 4 -1\n";
const char last6[] = "%%MatrixMarket matrix array real general\n5 1\n0\n0\n0\n0\n6\n";
const char no_diagonal[] =
    "%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 1\n2 3 1\n3 4 1\n4 1 1\n";
const char first1[] = "%%MatrixMarket matrix array real general\n4 1\n1\n0\n0\n0\n";
const char half_zero[] = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 0\n";
const char tiny_diagonal[] =
    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e-6\n2 2 1e-6\n";

static char folder[256];
static int before = -1;

const char *program_path(void) {
  const char *path = getenv("BISAI_PROGRAM");
  if (!path) skip();
  return path;
}

char *program_read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) fail_msg("cannot read %s", path);
  size_t length = 0, room = 1 << 12;
  char *text = malloc(room);
  for (;;) {
    assert_non_null(text);
    const size_t got = fread(text + length, 1, room - length - 1, file);
    if (got == 0) break;
    length += got;
    if (length + 1 == room) text = realloc(text, room *= 2);
  }
  fclose(file);
  text[length] = '\0';
  return text;
}

void program_expect_in(const char *where, const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("%s has no '%s':\n%s", where, part, text);
}

void program_write(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", path);
}

/* The environment with the given settings in front, which getenv() finds first. */
static char **environment_with(char **settings, int count) {
  int others = 0;
  while (environ[others]) others++;
  char **all = malloc((size_t)(count + others + 1) * sizeof *all);
  assert_non_null(all);
  for (int i = 0; i < count; i++) all[i] = settings[i];
  int used = count;
  for (int i = 0; i < others; i++) {
    bool replaced = false;
    for (int k = 0; k < count; k++)
      replaced |= strncmp(environ[i], settings[k], strcspn(settings[k], "=") + 1) == 0;
    if (!replaced) all[used++] = environ[i];
  }
  all[used] = NULL;
  return all;
}

static bool is_setting(const char *word) {
  const size_t name = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return name > 0 && word[name] == '=';
}

pid_t program_start(const char *file, const char *line) {
  char copy[LINE], *arguments[ARGUMENTS] = {NULL}, *settings[ARGUMENTS], *rest = NULL;
  int count = 0, set = 0;
  assert_true(strlen(line) < sizeof copy);
  strcpy(copy, line);
  arguments[count++] = (char *)(uintptr_t)file;
  for (char *word = strtok_r(copy, " ", &rest); word && count < ARGUMENTS - 1;
       word = strtok_r(NULL, " ", &rest)) {
    if (count == 1 && is_setting(word))
      settings[set++] = word;
    else
      arguments[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
  }
  char **environment = environment_with(settings, set);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "stdout.txt",
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "stderr.txt",
                                   O_WRONLY | O_CREAT | O_TRUNC, 0666);
  pid_t child;
  if (posix_spawn(&child, file, &actions, NULL, arguments, environment) != 0)
    fail_msg("cannot run %s", file);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return child;
}

/* A line that tells what takes long: "label: what, 3 s". Messages begin with the program's name. */
static bool is_progress(const char *line, size_t length) {
  size_t digits = 0;
  if (length < 5 || strncmp(line, "bisai", 5) == 0 || strncmp(line + length - 2, " s", 2) != 0)
    return false;
  while (digits < length - 2 && line[length - 3 - digits] >= '0' &&
         line[length - 3 - digits] <= '9')
    digits++;
  return digits > 0 && length >= digits + 4 && strncmp(line + length - digits - 4, ", ", 2) == 0;
}

/* Takes the lines of progress out: how many there are depends on the machine's speed. */
static char *without_progress(char *text) {
  char *to = text;
  for (const char *line = text; *line;) {
    const size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
    if (!is_progress(line, length)) {
      memmove(to, line, whole);
      to += whole;
    }
    line += whole;
  }
  *to = '\0';
  return text;
}

program program_wait(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return (program){.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                   .out = program_read("stdout.txt"),
                   .err = without_progress(program_read("stderr.txt"))};
}

program program_run(const char *file, const char *line) {
  return program_wait(program_start(file, line));
}

program run(const char *line) { return program_run(program_path(), line); }

void program_expect(const char *line, int status, const char *message) {
  program p = run(line);
  if (p.status != status || strcmp(p.err, message) != 0)
    fail_msg("bisai %s\nexit status %d, expected %d\nstderr: %s\nexpected: %s", line, p.status,
             status, p.err, message);
  program_free(&p);
}

void program_expect_ended(program p, const char *line, int status, const char *out,
                          const char *err) {
  if (p.status != status || strncmp(p.out, out, strlen(out)) != 0 || strcmp(p.err, err) != 0)
    fail_msg("%s\nexit status %d, expected %d\nstdout: %s\nexpected: %s\nstderr: %s\nexpected: %s",
             line, p.status, status, p.out, out, p.err, err);
  program_free(&p);
}

void program_expect_file(const char *path, const char *expected) {
  char *text = program_read(path);
  assert_string_equal(text, expected);
  free(text);
}

program shell(const char *lines) {
  char script[4096];
  const int length =
      snprintf(script, sizeof script, "B='timeout 60 %s'\n%s\n", program_path(), lines);
  assert_true(length < (int)sizeof script);
  program_write("script", script);
  program p = program_run("/bin/sh", "script");
  if (strstr(p.err, "need a build with ") || strstr(p.err, ": not found\n")) {
    program_free(&p);
    skip();
  }
  return p;
}

void program_free(program *p) {
  free(p->out);
  free(p->err);
  *p = (program){0};
}

static void enter_folder(void) {
  const char *base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/bisai_cli_XXXXXX",
           base && strlen(base) < 200 ? base : "/tmp");
  assert_non_null(mkdtemp(folder));
  before = open(".", O_RDONLY | O_DIRECTORY);
  assert_true(before >= 0);
  assert_int_equal(chdir(folder), 0);
}

static void empty_folder(const char *path, int levels) {
  DIR *entries = opendir(path);
  if (!entries) return;
  char full[1024];
  for (struct dirent *e = readdir(entries); e; e = readdir(entries)) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    snprintf(full, sizeof full, "%s/%s", path, e->d_name);
    if (unlink(full) == 0) continue;
    if (levels > 0) empty_folder(full, levels - 1);
    rmdir(full);
  }
  closedir(entries);
}

static void leave_folder(void) {
  if (before < 0) return;
  if (fchdir(before) != 0) fail_msg("cannot go back");
  close(before);
  before = -1;
  empty_folder(folder, 3);
  rmdir(folder);
}

int program_setup(void **state) {
  (void)state;
  enter_folder();
  program_write("laplace5.mtx", laplace5);
  program_write("last6.mtx", last6);
  program_write("no_diagonal.mtx", no_diagonal);
  program_write("first1.mtx", first1);
  program_write("half_zero.mtx", half_zero);
  program_write("tiny_diagonal.mtx", tiny_diagonal);
  return 0;
}

int program_teardown(void **state) {
  (void)state;
  leave_folder();
  return 0;
}
