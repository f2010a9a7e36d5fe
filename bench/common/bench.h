/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the benchmarks share: repeated timings in turns, the rate of a copy, matrices. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <bisai/bisai.h>

/* Returns the seconds of a monotonic clock. */
double bench_now(void);

/* Ends the program with a message. A benchmark that cannot measure cannot do anything else. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *bench_allocate(size_t count, size_t size);

/* Ends the program unless the status is BISAI_OK. */
void need(bisai_context *context, bisai_status status, const char *what);

enum { BENCH_ROUNDS = 128 };

/* An operation that is timed repeatedly. `run` does it once and returns its seconds. */
typedef struct bench_operation {
  const char *name;
  /* lower bound on the bytes between memory and processor; 0: not known */
  double bytes;
  double (*run)(void *argument);
  void *argument;
  int count;
  double seconds[BENCH_ROUNDS];
} bench_operation;

/* Runs all operations in turn, A B C A B C …, after one round that is not counted. There are
 * `rounds` rounds, and more until `least` seconds are spent or BENCH_ROUNDS is reached. A
 * disturbance of the machine then affects all operations alike. */
void bench_run(bench_operation *operations, int count, int rounds, double least);

double bench_minimum(const bench_operation *operation);
double bench_median(const bench_operation *operation);

/* A file of records, {…, "figures": [record, …]}, or none. */
typedef struct bench_json {
  FILE *file;
  bool comma;
} bench_json;

/* Opens a file for writing. Its caller writes what stands before the records. NULL: none. */
void bench_json_open(bench_json *json, const char *path);
/* Begins a record. Returns the file, to which the caller writes it, or NULL. */
FILE *bench_json_record(bench_json *json);
/* Completes the file after a record. Further records may follow. A program that is stopped leaves
 * all that it has measured. */
void bench_json_complete(bench_json *json);
void bench_json_close(bench_json *json);

/* Two arrays of `bytes` bytes each, which `threads` threads touch first. The copies from one to the
 * other use memcpy (which bypasses the caches if the C library expects a gain), a plain loop, and
 * streaming stores if the compiler has them. */
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

/* *matrix ← a square matrix of these arrays, which are freed. */
bisai_status bench_take_arrays(bisai_context *context, int32_t rows, int32_t block_size,
                               int32_t *row_ptr, int32_t *col_idx, double *values,
                               bisai_bcsr **matrix);

#endif
