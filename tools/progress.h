/* One line on stderr that shows what is going on, rewritten in place; nothing where stderr is no terminal. */
#ifndef TOOL_PROGRESS_H
#define TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
  bool live;
  const char *label;
  double shown_at; /* seconds; 0: nothing shown yet */
} progress;

progress progress_start(const char *label); /* label outlives it */
void progress_show(progress *p, const char *what);
void progress_bytes(void *p, int64_t read, int64_t total);               /* a bisai_progress */
int progress_residual(void *p, int iteration, double relative_residual); /* a bisai_monitor */
void progress_end(progress *p);                                          /* removes the line */

/* Seconds of a monotonic clock. */
double progress_now(void);

#endif
