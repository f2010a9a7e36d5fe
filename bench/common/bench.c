/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

void need(bisai_context *context, bisai_status status, const char *what) {
  if (status)
    bench_fail("%s: %s: %s", what, bisai_status_string(status), bisai_context_error(context));
}

bisai_status bench_take_arrays(bisai_context *context, int32_t rows, int32_t block_size,
                               int32_t *row_ptr, int32_t *col_idx, double *values,
                               bisai_bcsr **matrix) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = rows;
  desc.block_size = block_size;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  const bisai_status status = bisai_bcsr_create(context, &desc, matrix);
  free(row_ptr);
  free(col_idx);
  free(values);
  return status;
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

/* --- records --- */

void bench_json_open(bench_json *json, const char *path) {
  *json = (bench_json){.file = path ? fopen(path, "w") : NULL};
  if (path && !json->file) bench_fail("cannot write %s", path);
}

FILE *bench_json_record(bench_json *json) {
  if (json->file) fputs(json->comma ? ",\n    " : "\n    ", json->file);
  json->comma = true;
  return json->file;
}

void bench_json_complete(bench_json *json) {
  if (!json->file) return;
  const long end = ftell(json->file);
  fputs("\n  ]\n}\n", json->file);
  if (fflush(json->file) || end < 0 || fseek(json->file, end, SEEK_SET))
    bench_fail("the file of records must be a file");
}

void bench_json_close(bench_json *json) {
  if (!json->file) return;
  fputs("\n  ]\n}\n", json->file);
  if (fclose(json->file)) bench_fail("cannot write the file of records");
}

/* --- copies --- */

typedef void part_function(const double *from, double *to, size_t count);

/* The part that one thread copies. */
typedef struct copier {
  part_function *copy_part;
  const double *from;
  double *to;
  size_t count;
  pthread_barrier_t *all_are_there;
  pthread_t thread;
} copier;

static void *copy_one_part(void *argument) {
  const copier *c = argument;
  if (c->all_are_there) pthread_barrier_wait(c->all_are_there);
  c->copy_part(c->from, c->to, c->count);
  return NULL;
}

/* The calling thread does the first part. The creation of threads is not timed. */
static double copy_by(part_function *copy_part, const bench_copy *c) {
  /* in cache lines, so that parts stay aligned */
  const size_t parts = (size_t)c->threads, lines = c->count / 8;
  copier *copiers = bench_allocate(parts, sizeof *copiers);
  pthread_barrier_t all_are_there;
  if (pthread_barrier_init(&all_are_there, NULL, (unsigned)c->threads) != 0)
    bench_fail("no barrier");
  for (size_t p = 0; p < parts; p++) {
    const size_t begin = 8 * (lines * p / parts),
                 end = p + 1 == parts ? c->count : 8 * (lines * (p + 1) / parts);
    copiers[p] = (copier){
        copy_part, c->from + begin, c->to + begin, end - begin, p > 0 ? &all_are_there : NULL, 0};
    if (p > 0 && pthread_create(&copiers[p].thread, NULL, copy_one_part, &copiers[p]) != 0)
      bench_fail("no thread");
  }
  pthread_barrier_wait(&all_are_there);
  const double start = bench_now();
  copy_one_part(&copiers[0]);
  for (size_t p = 1; p < parts; p++) pthread_join(copiers[p].thread, NULL);
  const double seconds = bench_now() - start;
  pthread_barrier_destroy(&all_are_there);
  free(copiers);
  return seconds;
}

static void clear_part(const double *from, double *to, size_t count) {
  memset(to, 0, count * sizeof *to);
  memset((double *)(uintptr_t)from, 1, count * sizeof *to);
}

static void memcpy_part(const double *from, double *to, size_t count) {
  memcpy(to, from, count * sizeof *to);
}

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
