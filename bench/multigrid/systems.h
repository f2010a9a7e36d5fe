/* SPDX-License-Identifier: BSD-3-Clause */
/* The systems of the benchmark of multigrid, and changed copies of them. */
#ifndef BENCH_SYSTEMS_H
#define BENCH_SYSTEMS_H

#include "common/bench.h"

typedef struct bench_system {
  /* "cavity:300" */
  char name[64];
  double tolerance;
  bool symmetric;
  /* the solver of multigrid, and the best method of one level */
  const char *solver, *one_level;
  bisai_bcsr *matrix;
  /* scalar rows */
  size_t n;
  /* on the host; null_vectors row by row, or NULL */
  double *rhs, *null_vectors;
  int null_count;
} bench_system;

/* Makes the system of NAME:SIZE. Ends the program if there is none. */
void system_create(bisai_context *context, const char *name, bench_system *system);
void system_destroy(bench_system *system);

/* A change of a system after which a good method takes as many iterations as before. */
typedef enum bench_change_kind {
  CHANGE_NONE,
  /* a random symmetric permutation of the block rows, by a seed */
  CHANGE_PERMUTE,
  /* A and b times 10^amount */
  CHANGE_SCALE,
  /* each block row of A and b times 10 or 1/10, at random by a seed */
  CHANGE_SCALE_ROWS
} bench_change_kind;

typedef struct bench_change {
  bench_change_kind kind;
  const char *name;
  /* the seed or the exponent */
  int amount;
} bench_change;

/* Makes a changed copy of a system. */
void system_change(bisai_context *context, const bench_system *from, const bench_change *change,
                   bench_system *to);

#endif
