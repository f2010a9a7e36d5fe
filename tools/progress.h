/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of long work, on stderr. On a terminal it is one line that is rewritten in place,
 * elsewhere a line every few seconds. A separate thread prints it, also during a long call of the
 * library. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct progress {
  /* the method or file, and the work: "set-up", "iteration", … */
  const char *label, *what;
  /* iterations, or bytes so far and in all (0: unknown); count −1: none */
  int64_t count, total;
  /* residual of that iteration; NaN: none */
  double residual;
  /* time of the start in seconds */
  double began;
  /* live: the thread runs and must be joined */
  bool live, terminal, over;
  /* the terminal shows a line */
  bool shown;
  pthread_t reporter;
  pthread_mutex_t lock;
  pthread_cond_t ended;
} progress;

/* Begins to report the work `what` on `label`. `label` and *p must stay in place until
 * progress_end(), which must follow. */
void progress_start(progress *p, const char *label, const char *what);
/* Sets the work that is done from now on; `what` is a string constant. */
void progress_show(progress *p, const char *what);
void progress_bytes(void *p, int64_t read, int64_t total);               /* a bisai_progress */
int progress_residual(void *p, int iteration, double relative_residual); /* a bisai_monitor */
/* Ends the report and removes the line from a terminal. */
void progress_end(progress *p);

/* Returns true if the lines of progress go to the same place as `out`, but not to a terminal, where
 * they disappear. They would then be between the lines of `out`. */
bool progress_breaks(FILE *out);

/* Returns the seconds of a monotonic clock. */
double progress_now(void);

#endif
