/* SPDX-License-Identifier: BSD-3-Clause */
#include "standard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

/* The first text that was not written, and the error; 0: an earlier write failed, and its error is
 * not known. */
static FILE *lost;
static int lost_error;
static bool is_told;

bool standard_is(const char *path) { return path && strcmp(path, "-") == 0; }

/* Returns 0, or the error number if not everything could be written. */
static int write_all(int file, const char *bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = write(file, bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written;
    count -= (size_t)written;
  }
  return 0;
}

/* After a failure the thread still empties the pipe, because the writer would wait forever
 * otherwise. */
static void *copy(void *user) {
  standard *s = user;
  char bytes[65536];
  for (;;) {
    const ssize_t count = read(s->from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && !s->error) s->error = errno;
    if (count <= 0) return NULL;
    if (!s->error) s->error = write_all(s->to, bytes, (size_t)count);
  }
}

static void close_all(const int *files, int count) {
  for (int i = 0; i < count; i++)
    if (files[i] >= 0) close(files[i]);
}

/* Replaces standard output by the pipe. Returns 0 or an error number. */
static int redirect(standard *s) {
  int ends[3] = {-1, -1, -1};
  if (pipe(ends) != 0 || (ends[2] = dup(STDOUT_FILENO)) < 0 || dup2(ends[1], STDOUT_FILENO) < 0) {
    const int error = errno;
    close_all(ends, 3);
    return error;
  }
  close(ends[1]);
  s->from = ends[0];
  s->to = ends[2];
  const int error = pthread_create(&s->copier, NULL, copy, s);
  if (!error) return 0;
  dup2(s->to, STDOUT_FILENO);
  close(s->from);
  close(s->to);
  return error;
}

const char *standard_open(standard *s, const char *path) {
  *s = (standard){.used = standard_is(path)};
  if (!s->used) return path;
  const int error = fflush(stdout) == 0 ? redirect(s) : errno;
  if (!error) return "/dev/stdout";
  say("standard output: %s", strerror(error));
  return NULL;
}

bool standard_close(standard *s) {
  if (!s->used) return true;
  dup2(s->to, STDOUT_FILENO); /* closes the last writing end, which ends the copy */
  pthread_join(s->copier, NULL);
  close(s->from);
  close(s->to);
  if (s->error) say("standard output: %s", strerror(s->error));
  return s->error == 0;
}

void standard_flush(FILE *text) {
  const int error = fflush(text) != 0 ? errno : 0;
  if (lost || (!error && !ferror(text))) return;
  lost = text;
  lost_error = error;
}

bool standard_check(void) {
  standard_flush(stdout);
  if (lost && !is_told)
    say("standard %s: %s", lost == stderr ? "error" : "output",
        lost_error ? strerror(lost_error) : "not everything could be written");
  is_told = lost != NULL;
  return !lost;
}
