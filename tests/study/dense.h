/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of the tests of a study as dense arrays, a[j·n + i], and the study of one. */
#ifndef BISAI_TEST_STUDY_DENSE_H
#define BISAI_TEST_STUDY_DENSE_H

#include <math.h>

#include "fixture.h"

/* The n × n matrix in blocks of size bs, padded; entries other than 0 are stored. */
static bisai_bcsr *blocks_of(bisai_context *c, int n, int bs, const double *a) {
  bisai_csr_desc csr = bisai_csr_desc_default();
  bisai_bcsr *matrix = NULL;
  int32_t *row_ptr = malloc((size_t)(n + 1) * sizeof *row_ptr),
          *col_idx = malloc((size_t)(n * n + 1) * sizeof *col_idx), stored = 0;
  double *values = malloc((size_t)(n * n + 1) * sizeof *values);
  for (int i = 0; i < n; i++) {
    row_ptr[i] = stored;
    for (int j = 0; j < n; j++) {
      if (a[j * n + i] == 0) continue;
      col_idx[stored] = j;
      values[stored++] = a[j * n + i];
    }
  }
  row_ptr[n] = stored;
  csr.rows = csr.cols = n, csr.block_size = bs, csr.pad = true;
  csr.row_ptr = row_ptr, csr.col_idx = col_idx, csr.values = values;
  EXPECT_OK(c, bisai_bcsr_from_csr(c, &csr, &matrix));
  free(row_ptr), free(col_idx), free(values);
  return matrix;
}

static bisai_matrix_study_report study_of(bisai_context *c, const bisai_bcsr *matrix,
                                          const double *rhs) {
  bisai_matrix_study_report report;
  memset(&report, 0, sizeof report); /* padding of structs too */
  report.struct_size = sizeof report;
  EXPECT_OK(c, bisai_matrix_study(c, matrix, 0, rhs, &report));
  return report;
}

static inline bisai_matrix_study_report study_dense(int n, int bs, const double *a,
                                                    const double *rhs) {
  bisai_bcsr *matrix = blocks_of(context, n, bs, a);
  const bisai_matrix_study_report report = study_of(context, matrix, rhs);
  bisai_bcsr_destroy(&matrix);
  return report;
}

#endif
