/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalar CSR matrices of the tests. */
#ifndef TEST_CSR_H
#define TEST_CSR_H

#include "support.h"

/* A scalar matrix as arrays; columns of a row in random order. */
typedef struct csr {
  int32_t rows, cols, *row_ptr, *col_idx;
  double *values;
} csr;

static inline csr csr_random(int32_t rows, int32_t cols, double density, uint64_t seed) {
  test_random random = test_random_seed(seed);
  csr a = {.rows = rows, .cols = cols};
  const size_t most = (size_t)rows * (size_t)cols + 1;
  a.row_ptr = calloc((size_t)rows + 1, sizeof *a.row_ptr);
  a.col_idx = malloc(most * sizeof *a.col_idx);
  a.values = malloc(most * sizeof *a.values);
  assert_true(a.row_ptr && a.col_idx && a.values);
  int32_t next = 0;
  for (int32_t i = 0; i < rows; i++) {
    const int32_t begin = next;
    for (int32_t j = 0; j < cols; j++)
      if (test_random_uniform(&random, 0, 1) < density) a.col_idx[next++] = j;
    for (int32_t k = next - 1; k > begin; k--) {
      const int32_t other = test_random_integer(&random, begin, k), column = a.col_idx[k];
      a.col_idx[k] = a.col_idx[other];
      a.col_idx[other] = column;
    }
    for (int32_t k = begin; k < next; k++) a.values[k] = test_random_uniform(&random, -1, 1);
    a.row_ptr[i + 1] = next;
  }
  return a;
}

static inline void csr_free(csr *a) {
  free(a->row_ptr);
  free(a->col_idx);
  free(a->values);
}

static inline bisai_csr_desc desc_of(const csr *a) {
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = a->rows;
  desc.cols = a->cols;
  desc.row_ptr = a->row_ptr;
  desc.col_idx = a->col_idx;
  desc.values = a->values;
  return desc;
}

#endif
