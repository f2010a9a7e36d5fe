/* SPDX-License-Identifier: BSD-3-Clause */
/* What is running, and how a broken property is told. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"

fuzz_tally fuzz_counts;

static struct {
  const char *name;
  const uint8_t *data;
  size_t bytes;
  char scene[SCENES][512];
  bool only_count;
  long long failures;
} running;

void fuzz_case(const char *name, const uint8_t *data, size_t bytes) {
  running.name = name;
  running.data = data;
  running.bytes = bytes;
  memset(running.scene, 0, sizeof running.scene);
}

void fuzz_scene(int line, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(running.scene[line], sizeof running.scene[line], format, arguments);
  va_end(arguments);
  for (int later = line + 1; later < SCENES; later++) running.scene[later][0] = 0;
}

bool fuzz_property(bool condition, const char *format, ...) {
  if (condition) return true;
  running.failures++;
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: this does not hold: ", running.name);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\n");
  for (int line = 0; line < SCENES; line++)
    if (running.scene[line][0]) fprintf(stderr, "  %s\n", running.scene[line]);
  fprintf(stderr, "  bytes:");
  for (size_t i = 0; i < running.bytes; i++) fprintf(stderr, " %02x", running.data[i]);
  fprintf(stderr, "\n");
  fflush(stderr);
  if (!running.only_count) abort();
  return false;
}

void fuzz_count_failures(bool only_count) { running.only_count = only_count; }

long long fuzz_failures(void) { return running.failures; }

bool fuzz_same(int64_t n, const double *a, const double *b) {
  for (int64_t i = 0; i < n; i++)
    if (memcmp(a + i, b + i, sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i]))) return false;
  return true;
}

bool fuzz_finite(int64_t n, const double *values) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(values[i])) return false;
  return true;
}
