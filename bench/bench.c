/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __SSE2__
#include <immintrin.h>
#endif

double bench_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void bench_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

void *bench_allocate(size_t count, size_t size) {
  void *memory = aligned_alloc(4096, (count * size + 4096) / 4096 * 4096);
  if (!memory) bench_fail("cannot allocate %zu bytes", count * size);
  return memory;
}

void bench_run(bench_operation *operations, int count, int rounds, double least) {
  double start = 0;
  for (int i = 0; i < count; i++) operations[i].count = 0;
  for (int round = -1; round < BENCH_ROUNDS; round++) {
    if (round == 0) start = bench_now();
    if (round >= rounds && bench_now() - start >= least) return;
    for (int i = 0; i < count; i++) {
      const double seconds = operations[i].run(operations[i].argument);
      if (round >= 0) operations[i].seconds[operations[i].count++] = seconds;
    }
  }
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(const bench_operation *operation) {
  double sorted[BENCH_ROUNDS];
  const int n = operation->count;
  memcpy(sorted, operation->seconds, (size_t)n * sizeof *sorted);
  qsort(sorted, (size_t)n, sizeof *sorted, compare);
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double bench_minimum(const bench_operation *operation) {
  double least = operation->seconds[0];
  for (int i = 1; i < operation->count; i++)
    if (operation->seconds[i] < least) least = operation->seconds[i];
  return least;
}

/* --- copies --- */

typedef void part_function(const double *from, double *to, size_t count);

static double copy_by(part_function *copy_part, const bench_copy *c) {
  const double start = bench_now();
#pragma omp parallel for num_threads(c->threads) schedule(static)
  for (int part = 0; part < c->threads; part++) {
    /* In cache lines, so that parts stay aligned. */
    const size_t lines = c->count / 8, parts = (size_t)c->threads, p = (size_t)part;
    const size_t begin = 8 * (lines * p / parts),
                 end = part + 1 == c->threads ? c->count : 8 * (lines * (p + 1) / parts);
    copy_part(c->from + begin, c->to + begin, end - begin);
  }
  return bench_now() - start;
}

static void clear_part(const double *from, double *to, size_t count) {
  memset(to, 0, count * sizeof *to);
  memset((double *)(uintptr_t)from, 1, count * sizeof *to);
}

static void memcpy_part(const double *from, double *to, size_t count) { memcpy(to, from, count * sizeof *to); }

/* The barrier keeps the compiler from calling memcpy. */
static void loop_part(const double *restrict from, double *restrict to, size_t count) {
  for (size_t begin = 0; begin < count; begin += 64) {
    const size_t end = begin + 64 < count ? begin + 64 : count;
    for (size_t i = begin; i < end; i++) to[i] = from[i];
    __asm__ volatile("" ::: "memory");
  }
}

static void streaming_part(const double *from, double *to, size_t count) {
  size_t i = 0;
#if defined(__AVX512F__)
  for (; i + 8 <= count; i += 8) _mm512_stream_pd(to + i, _mm512_loadu_pd(from + i));
#elif defined(__AVX__)
  for (; i + 4 <= count; i += 4) _mm256_stream_pd(to + i, _mm256_loadu_pd(from + i));
#elif defined(__SSE2__)
  for (; i + 2 <= count; i += 2) _mm_stream_pd(to + i, _mm_loadu_pd(from + i));
#endif
  for (; i < count; i++) to[i] = from[i];
#ifdef __SSE2__
  _mm_sfence();
#endif
}

bool bench_copy_can_stream(void) {
#ifdef __SSE2__
  return true;
#else
  return false;
#endif
}

void bench_copy_create(bench_copy *c, size_t bytes, int threads) {
  *c = (bench_copy){.count = bytes / sizeof(double), .threads = threads};
  c->from = bench_allocate(c->count, sizeof(double));
  c->to = bench_allocate(c->count, sizeof(double));
  copy_by(clear_part, c);
}

void bench_copy_destroy(bench_copy *c) {
  free(c->from);
  free(c->to);
}

double bench_copy_memcpy(void *copy) { return copy_by(memcpy_part, copy); }
double bench_copy_loop(void *copy) { return copy_by(loop_part, copy); }
double bench_copy_streaming(void *copy) { return copy_by(streaming_part, copy); }
