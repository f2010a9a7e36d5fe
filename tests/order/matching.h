/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices with a dominant diagonal whose rows are shuffled, so that a matching has to find it. */
#ifndef BISAI_TEST_MATCHING_H
#define BISAI_TEST_MATCHING_H

#include <math.h>

#include "fixture.h"

/* The blocks of a dense column-major matrix that are not all zero. */
static inline test_bcsr matching_blocks_of(int32_t rows, int32_t bs, const double *dense) {
  const int64_t n = (int64_t)rows * bs;
  test_bcsr a = {.block_rows = rows,
                 .block_cols = rows,
                 .block_size = bs,
                 .row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr),
                 .col_idx = calloc((size_t)rows * (size_t)rows, sizeof *a.col_idx),
                 .values = calloc((size_t)(n * n), sizeof *a.values)};
  int32_t count = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < rows; j++) {
      double *block = a.values + (int64_t)count * bs * bs, sum = 0.0;
      for (int32_t c = 0; c < bs; c++)
        for (int32_t r = 0; r < bs; r++) {
          block[c * bs + r] = dense[((int64_t)j * bs + c) * n + (int64_t)i * bs + r];
          sum += fabs(block[c * bs + r]);
        }
      if (sum > 0.0) a.col_idx[count++] = j;
    }
    a.row_ptr[i + 1] = count;
  }
  return a;
}

/* Shuffles the rows of a dominant matrix in groups of `group` scalar rows, and scales rows and
 * columns by up to 2^±exponent. */
static inline test_bcsr matching_shuffled(int32_t rows, int32_t bs, int32_t group, double exponent,
                                          uint64_t seed) {
  const int32_t n = rows * bs;
  test_bcsr a = test_bcsr_random(test_shape_square(rows * bs / group, group, seed));
  int32_t *order = test_random_permutation(n / group, seed + 1);
  test_random random = test_random_seed(seed + 2);
  double *dense = test_dense_from_arrays(&a),
         *shuffled = calloc((size_t)n * (size_t)n, sizeof *shuffled);
  for (int32_t i = 0; i < n; i++) {
    const int32_t from = order[i / group] * group + i % group;
    const double scale = exp2(test_random_uniform(&random, -exponent, exponent));
    for (int32_t j = 0; j < n; j++) shuffled[j * n + i] = scale * dense[j * n + from];
  }
  for (int32_t j = 0; j < n; j++) {
    const double scale = exp2(test_random_uniform(&random, -exponent, exponent));
    for (int32_t i = 0; i < n; i++) shuffled[j * n + i] *= scale;
  }
  test_bcsr_free(&a);
  a = matching_blocks_of(rows, bs, shuffled);
  free(order), free(dense), free(shuffled);
  return a;
}

#endif
