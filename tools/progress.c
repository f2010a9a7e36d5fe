/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Seconds between two lines, and before the first line. Short runs print nothing unless stderr is a
 * terminal. */
static const double on_terminal = 0.1, elsewhere = 3, first = 0.1;

/* Time of the last line, or of the start of the first progress. Only one progress is live at a
 * time. */
static double printed_at;

bool progress_breaks(FILE *out) {
  struct stat a, b;
  return out && out != stderr && isatty(STDERR_FILENO) != 1 && fstat(fileno(out), &a) == 0 &&
         fstat(STDERR_FILENO, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

double progress_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cuts a line, so that it is shorter than the terminal is wide. A wrapped line could not be
 * removed. */
static void cut(char *line) {
  struct winsize size = {0};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return;
  size_t length = 0, columns = 0;
  for (; line[length] && columns + 1 < size.ws_col; columns++) {
    do {
      length++; /* with all bytes of a character of UTF-8 */
    } while (((unsigned char)line[length] & 0xC0) == 0x80);
  }
  line[length] = '\0';
}

static void print_line(progress *p) {
  char doing[160], line[1024];
  double seconds = progress_now() - p->began, megabytes = (double)p->count / 1e6;
  if (p->count < 0) {
    snprintf(doing, sizeof doing, "%s", p->what);
  } else if (!isnan(p->residual)) {
    snprintf(doing, sizeof doing, "%s %" PRId64 ", residual %.2e", p->what, p->count, p->residual);
  } else if (p->total > 0) {
    snprintf(doing, sizeof doing, "%s, %.0f MB, %.0f %%", p->what, megabytes,
             100 * (double)p->count / (double)p->total);
  } else {
    snprintf(doing, sizeof doing, "%s, %.0f MB", p->what, megabytes);
  }
  snprintf(line, sizeof line, "%s: %s, %.0f s", p->label, doing, seconds);
  if (p->terminal) cut(line);
  fprintf(stderr, p->terminal ? "\r\033[K%s" : "%s\n", line);
  fflush(stderr);
  p->shown = true;
  printed_at = progress_now();
}

static struct timespec next_line(const progress *p) {
  double seconds = fmax(printed_at + (p->terminal ? on_terminal : elsewhere), p->began + first);
  return (struct timespec){.tv_sec = (time_t)seconds,
                           .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
}

static void *report(void *user) {
  progress *p = user;
  pthread_mutex_lock(&p->lock);
  while (!p->over) {
    struct timespec next = next_line(p);
    while (!p->over && pthread_cond_timedwait(&p->ended, &p->lock, &next) == 0) {
    }
    if (!p->over) print_line(p);
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

/* The main thread handles all signals. */
static bool start_reporter(progress *p) {
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  bool started = pthread_create(&p->reporter, NULL, report, p) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* If there is no thread, there is no report. */
void progress_start(progress *p, const char *label, const char *what) {
  *p = (progress){
      .label = label, .what = what, .count = -1, .residual = NAN, .began = progress_now()};
  if (printed_at == 0) printed_at = p->began;
  p->terminal = isatty(STDERR_FILENO) == 1;
  pthread_condattr_t clock;
  pthread_condattr_init(&clock);
  pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->ended, &clock);
  pthread_condattr_destroy(&clock);
  p->live = start_reporter(p);
}

static void update(progress *p, const char *what, int64_t count, int64_t total, double residual) {
  pthread_mutex_lock(&p->lock);
  p->what = what;
  p->count = count;
  p->total = total;
  p->residual = residual;
  pthread_mutex_unlock(&p->lock);
}

void progress_show(progress *p, const char *what) { update(p, what, -1, 0, NAN); }

void progress_bytes(void *p, int64_t read, int64_t total) {
  if (total > 0 && read >= total)
    progress_show(p, "assembling");
  else
    update(p, "reading", read, total, NAN);
}

int progress_residual(void *p, int iteration, double relative_residual) {
  update(p, "iteration", iteration, 0, relative_residual);
  return 0;
}

void progress_end(progress *p) {
  if (p->live) {
    pthread_mutex_lock(&p->lock);
    p->over = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->reporter, NULL);
  }
  pthread_mutex_destroy(&p->lock);
  pthread_cond_destroy(&p->ended);
  if (p->shown && p->terminal) {
    fputs("\r\033[K", stderr);
    fflush(stderr);
  }
}
