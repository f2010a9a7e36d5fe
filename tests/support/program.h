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

/* Runs the program under test with the arguments of `line`. */
program run(const char *line);

/* The same, and fails the test unless the run ends with this status and stderr is `message`. */
void program_expect(const char *line, int status, const char *message);

/* Fails the test unless a run has ended with this status, stdout begins with `out`, and stderr is
 * `err`. `line` says what was run. Frees it. */
void program_expect_ended(program p, const char *line, int status, const char *out,
                          const char *err);

/* Runs lines of the shell, in which $B is the program under test, for a minute at most. Skips the
 * test where the program or a command in the lines says that something is not installed. */
program shell(const char *lines);

/* The program under test, from the environment variable BISAI_PROGRAM; skips the test without
 * it. */
const char *program_path(void);

/* The whole of a file, with a NUL behind it; free with free(). Fails the test where it cannot be
 * read. */
char *program_read(const char *path);

/* Fails the test unless the file has this text. */
void program_expect_file(const char *path, const char *text);

/* Fails the test, showing `text`, where it does not contain `part`; `where` says what it is. */
void program_expect_in(const char *where, const char *text, const char *part);

/* Writes a text file; fails the test where it cannot. */
void program_write(const char *path, const char *text);

/* Small matrices and right-hand sides in the format of Matrix Market.
 *   laplace5, last6   x = (1, 2, 3, 4, 5) solves laplace5 x = last6
 *   no_diagonal       a permutation: every diagonal entry is missing; first1 has its size
 *   half_zero         diag(1, 0)
 *   tiny_diagonal     diag(1e-6, 1e-6) */
extern const char laplace5[], last6[], no_diagonal[], first1[], half_zero[], tiny_diagonal[];

/* Set-up and teardown of a test or a group of tests. The set-up makes a folder with the matrices
 * above as NAME.mtx and moves there; the teardown moves back and removes the folder with what is in
 * it (three levels). Runs write into this folder, so that tests may run at the same time. */
int program_setup(void **state);
int program_teardown(void **state);

#endif
