/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output as a file that the library can write.
 *
 * The library opens files by name and replaces them. Standard output may be a file with other
 * contents. The library therefore writes into a pipe, and a thread copies the pipe to standard
 * output. */
#ifndef TOOL_STANDARD_H
#define TOOL_STANDARD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

/* Returns true if the name is "-", which means a standard stream. NULL does not. */
bool standard_is(const char *path);

typedef struct standard {
  bool used;
  /* the end of the pipe to read from, and standard output */
  int from, to;
  /* the error of the thread; 0: none */
  int error;
  pthread_t copier;
} standard;

/* Returns a name that the library can write to, which is `path` unless that means standard output.
 * Prints a message and returns NULL on failure. Otherwise standard_close() must follow. Until then
 * *s must stay in place, and nothing else may print to standard output. */
const char *standard_open(standard *s, const char *path);

/* Waits until everything has been copied. Prints a message and returns false on failure. */
bool standard_close(standard *s);

/* Writes out what is buffered of the text, on standard output or standard error. A failure is
 * remembered for standard_check(). */
void standard_flush(FILE *text);

/* Returns false if standard output, or a text given to standard_flush(), was not written. Prints
 * a message the first time. */
bool standard_check(void);

#endif
