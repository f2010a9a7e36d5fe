/* SPDX-License-Identifier: BSD-3-Clause */
/* What is going on, told on stderr while it takes long: on a terminal in one line that is rewritten
 * in place, elsewhere in a line every few seconds. A thread of its own does the telling, so that a
 * long call of the library is told too. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  /* what: "set-up", "iteration", … */
  const char *label, *what;
  /* iterations, or bytes and how many there are (0: unknown); count −1: none */
  int64_t count, total;
  /* of that iteration, NaN: none */
  double residual;
  /* seconds */
  double began;
  /* live: the thread runs and has to be joined */
  bool live, terminal, over;
  /* a line stands on the terminal */
  bool shown;
  pthread_t teller;
  pthread_mutex_t lock;
  pthread_cond_t ended;
} progress;

/* Begins to tell of `label`, which outlives it, as `what` is; progress_end() has to follow. p stays
 * where it is until then. */
void progress_start(progress *p, const char *label, const char *what);
/* what is done from now on; a string constant */
void progress_show(progress *p, const char *what);
void progress_bytes(void *p, int64_t read, int64_t total);               /* a bisai_progress */
int progress_residual(void *p, int iteration, double relative_residual); /* a bisai_monitor */
/* removes the line from a terminal */
void progress_end(progress *p);

/* Seconds of a monotonic clock. */
double progress_now(void);

#endif
