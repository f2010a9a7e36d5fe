/* SPDX-License-Identifier: BSD-3-Clause */
/* Saddle points [K G; D −C] as dense matrices and as block matrices: random ones, and flow on a
 * staggered grid. */
#ifndef BISAI_TEST_SADDLES_H
#define BISAI_TEST_SADDLES_H

#include <math.h>

#include "support/support.h"

/* The blocks of a dense matrix of n rows that hold a value. With `zeros` all blocks are stored. */
static inline test_bcsr saddle_from_dense(int n, int bs, const double *dense, bool zeros) {
  const int rows = n / bs, area = bs * bs;
  test_bcsr a = {.block_rows = rows, .block_cols = rows, .block_size = bs};
  a.row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr);
  a.col_idx = malloc((size_t)(rows * rows) * sizeof *a.col_idx);
  a.values = malloc((size_t)(n * n) * sizeof *a.values);
  int count = 0;
  for (int i = 0; i < rows; i++) {
    for (int j = 0; j < rows; j++) {
      double *block = a.values + (ptrdiff_t)count * area;
      bool full = zeros;
      for (int k = 0; k < area; k++) {
        block[k] = dense[(ptrdiff_t)(j * bs + k / bs) * n + i * bs + k % bs];
        full = full || block[k] != 0.0;
      }
      a.col_idx[count] = j;
      count += full;
    }
    a.row_ptr[i + 1] = count;
  }
  return a;
}

/* The rows of a saddle point. */
typedef struct saddle_rows {
  int velocities, pressures;
  int32_t of_velocities[128], of_pressures[64];
} saddle_rows;

/* Rows of groups of `size`, whose last one is a pressure. */
static inline saddle_rows saddle_grouped(int groups, int size) {
  saddle_rows s = {0};
  for (int32_t k = 0; k < groups * size; k++) {
    if (k % size == size - 1)
      s.of_pressures[s.pressures++] = k;
    else
      s.of_velocities[s.velocities++] = k;
  }
  return s;
}

/* Rows in random order. */
static inline saddle_rows saddle_scattered(int velocities, int pressures, uint64_t seed) {
  saddle_rows s = {0};
  int32_t *order = test_random_permutation(velocities + pressures, seed);
  for (int32_t k = 0; k < velocities + pressures; k++) {
    if (order[k] < pressures)
      s.of_pressures[s.pressures++] = k;
    else
      s.of_velocities[s.velocities++] = k;
  }
  free(order);
  return s;
}

/* A random saddle point: K with a dominant diagonal, dense G and D, and a diagonal C of this size.
 * C is zero if that is 0. free() it. */
static inline double *saddle_random(const saddle_rows *s, double c, uint64_t seed) {
  const int n = s->velocities + s->pressures;
  double *a = test_random_vector((int64_t)n * n, seed);
  for (int j = 0; j < s->pressures; j++)
    for (int i = 0; i < s->pressures; i++)
      a[(ptrdiff_t)s->of_pressures[j] * n + s->of_pressures[i]] = i == j ? -c * (1 + 0.1 * i) : 0.0;
  for (int i = 0; i < s->velocities; i++)
    a[(ptrdiff_t)s->of_velocities[i] * (n + 1)] += s->velocities;
  return a;
}

/* The part of a dense matrix of n rows. */
static inline double *saddle_part(int n, const double *a, int rows, const int32_t *row_of, int cols,
                                  const int32_t *col_of) {
  double *part = malloc((size_t)(rows * cols) * sizeof *part);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      part[(ptrdiff_t)j * rows + i] = a[(ptrdiff_t)col_of[j] * n + row_of[i]];
  return part;
}

#endif
