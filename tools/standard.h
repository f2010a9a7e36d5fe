/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output as a file that the library writes.
 *
 * The library opens files by name and replaces what stood there. A file that standard output goes
 * to may hold more than ours, so the library writes into a pipe instead, and a thread copies it to
 * standard output. */
#ifndef TOOL_STANDARD_H
#define TOOL_STANDARD_H

#include <pthread.h>
#include <stdbool.h>

/* Whether a name means a standard stream: "-". NULL does not. */
bool standard_is(const char *path);

typedef struct standard {
  bool used;
  /* the pipe's end to read from, and standard output itself */
  int from, to;
  /* of the thread, 0: none */
  int error;
  pthread_t copier;
} standard;

/* The name that the library can write to: `path` itself, unless that means standard output. NULL:
 * it cannot be had, which has been said. standard_close() has to follow if it is not NULL, and *s
 * stays where it is until then. Nothing else may print in between. */
const char *standard_open(standard *s, const char *path);

/* Waits until all has arrived; false: it has not, and that has been said. */
bool standard_close(standard *s);

#endif
