/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the command-line program as its users do. */
#ifndef BISAI_TEST_PROGRAM_H
#define BISAI_TEST_PROGRAM_H

#include <sys/types.h>

/* What a run left; free with program_free(). */
typedef struct program {
  /* the exit status; −1 where it did not exit by itself */
  int status;
  /* err without the lines of progress, whose number depends on the speed of the machine: stderr.txt
   * has them */
  char *out, *err;
} program;

/* Runs `file` with the arguments of `line`, which blanks separate ('' is an empty one), stdout and
 * stderr in files (no terminal). NAME=VALUE in front is set in the environment of that run. Fails
 * the test where it cannot be started. */
program program_run(const char *file, const char *line);

/* The same in two steps; what the program has written so far stands in stdout.txt and
 * stderr.txt. */
pid_t program_start(const char *file, const char *line);
program program_wait(pid_t child);

void program_free(program *p);

/* The program under test, from the environment variable BISAI_PROGRAM; skips the test without
 * it. */
const char *program_path(void);

/* The whole of a file, with a NUL behind it; free with free(). Fails the test where it cannot be
 * read. */
char *program_read(const char *path);

/* Fails the test, showing `text`, where it does not contain `part`; `where` says what it is. */
void program_expect_in(const char *where, const char *text, const char *part);

/* Writes a text file; fails the test where it cannot. */
void program_write(const char *path, const char *text);

/* Makes an empty folder, moves there, and back again removing it with what is in it (two
 * levels). */
void program_enter_folder(void);
void program_leave_folder(void);

/* The same around a group of tests. What a run writes stands in the present folder, where other
 * tests may run at the same time. */
int program_setup(void **state);
int program_teardown(void **state);

#endif
