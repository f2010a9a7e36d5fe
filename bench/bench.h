/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmarks share: repeated timings side by side, the rate of a copy, matrices to measure
 * on. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <bisai/bisai.h>

/* Seconds of a monotonic clock. */
double bench_now(void);

/* Ends the program with a message. A benchmark that cannot measure has nothing else to do. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *bench_allocate(size_t count, size_t size);

enum { BENCH_ROUNDS = 128 };

/* Something that is timed again and again. `run` does it once and returns how many seconds
 * count. */
typedef struct bench_operation {
  const char *name;
  /* the least that must move between memory and processor; 0: not stated */
  double bytes;
  double (*run)(void *argument);
  void *argument;
  int count;
  double seconds[BENCH_ROUNDS];
} bench_operation;

/* Runs all of them in turn, A B C A B C …, after one round that does not count: `rounds` rounds,
 * and more until `least` seconds are spent or BENCH_ROUNDS reached. What disturbs the machine then
 * meets all alike. */
void bench_run(bench_operation *operations, int count, int rounds, double least);

double bench_minimum(const bench_operation *operation);
double bench_median(const bench_operation *operation);

/* Two arrays of `bytes` bytes each, first touched by `threads` threads, and copies from one to the
 * other: by memcpy (which streams past the caches where the C library thinks it pays), by a plain
 * loop, and, where the compiler has them, by streaming stores. */
typedef struct bench_copy {
  double *from, *to;
  size_t count;
  int threads;
} bench_copy;

void bench_copy_create(bench_copy *copy, size_t bytes, int threads);
void bench_copy_destroy(bench_copy *copy);
double bench_copy_memcpy(void *copy);
double bench_copy_loop(void *copy);
double bench_copy_streaming(void *copy);
bool bench_copy_can_stream(void);

/* A star of seven points in three dimensions (five where nz = 1), `block_size` unknowns a point
 * that are coupled with each other, and b = 1: diagonal blocks 6.05 I, off-diagonal −1.3 I and −0.7
 * I, and pseudo-random couplings within ±0.1 everywhere. */
bisai_status bench_stencil(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs);

#endif
