#include "progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const double interval = 0.1; /* seconds between two lines, so that a terminal costs nothing */

double progress_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool due(progress *p) {
  if (!p->live) return false;
  double t = progress_now();
  if (t - p->shown_at < interval) return false;
  p->shown_at = t;
  return true;
}

progress progress_start(const char *label) { return (progress){.live = isatty(STDERR_FILENO) == 1, .label = label}; }

void progress_show(progress *p, const char *what) {
  if (!p->live) return;
  p->shown_at = progress_now();
  fprintf(stderr, "\r\033[K%s  %s", p->label, what);
  fflush(stderr);
}

void progress_bytes(void *user, int64_t read, int64_t total) {
  progress *p = user;
  if (!due(p)) return;
  double megabytes = (double)read / 1e6;
  if (total > 0) {
    fprintf(stderr, "\r\033[K%s  reading  %.0f MB, %.0f %%", p->label, megabytes, 100.0 * (double)read / (double)total);
  } else {
    fprintf(stderr, "\r\033[K%s  reading  %.0f MB", p->label, megabytes);
  }
  fflush(stderr);
}

int progress_residual(void *user, int iteration, double relative_residual) {
  progress *p = user;
  if (due(p)) {
    fprintf(stderr, "\r\033[K%s  iteration %d  residual %.2e", p->label, iteration, relative_residual);
    fflush(stderr);
  }
  return 0;
}

void progress_end(progress *p) {
  if (p->live && p->shown_at > 0) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
}
