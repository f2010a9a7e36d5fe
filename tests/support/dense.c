/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense references in plain loops: A = P⁻¹ L U with partial pivoting, column-major, meant for n up
 * to a few hundred. */
#include "support.h"

#include <math.h>

static double *zeros(int64_t count) {
  double *values = calloc(count > 0 ? (size_t)count : 1, sizeof *values);
  assert_non_null(values);
  return values;
}

static double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0x1f) return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
  return sign * (exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25));
}

static double bfloat_value(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return (double)value;
}

/* From exponent and fraction, as half_value(). */
static double upper_value(uint64_t bits) {
  const int exponent = (int)(bits >> 52 & 0x7ff);
  const double fraction = (double)(bits & 0xfffffffffffff), sign = bits >> 63 ? -1.0 : 1.0;
  if (exponent == 0) return sign * ldexp(fraction, -1074);
  return sign * ldexp(fraction + 0x1p52, exponent - 1075);
}

double test_value(bisai_value_type type, const void *values, size_t index) {
  switch (type) {
  case BISAI_FP32: return (double)((const float *)values)[index];
  case BISAI_FP16: return half_value(((const uint16_t *)values)[index]);
  case BISAI_BF16: return bfloat_value(((const uint16_t *)values)[index]);
  case BISAI_FP11_4: return upper_value((uint64_t)((const uint16_t *)values)[index] << 48);
  case BISAI_FP11_20: return upper_value((uint64_t)((const uint32_t *)values)[index] << 32);
  case BISAI_ADAPTIVE:
  case BISAI_FP64:
  default: return ((const double *)values)[index];
  }
}

static double *dense_from(int32_t block_rows, int32_t block_cols, int32_t bs,
                          const int32_t *row_ptr, const int32_t *col_idx, bisai_value_type type,
                          const void *values, bool unit_diagonal) {
  int64_t rows = (int64_t)block_rows * bs, cols = (int64_t)block_cols * bs;
  double *dense = zeros(rows * cols);
  for (int32_t row = 0; row < block_rows; row++) {
    for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++) {
      for (int32_t c = 0; c < bs; c++) {
        for (int32_t r = 0; r < bs; r++) {
          int64_t at = ((int64_t)col_idx[p] * bs + c) * rows + (int64_t)row * bs + r;
          dense[at] = test_value(type, values,
                                 ((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r);
        }
      }
    }
  }
  for (int64_t i = 0; unit_diagonal && i < rows && i < cols; i++) dense[i * rows + i] = 1.0;
  return dense;
}

double *test_dense_from_arrays(const test_bcsr *matrix) {
  return dense_from(matrix->block_rows, matrix->block_cols, matrix->block_size, matrix->row_ptr,
                    matrix->col_idx, BISAI_FP64, matrix->values, false);
}

double *test_dense(const bisai_bcsr *matrix) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  return dense_from(bisai_bcsr_block_rows(matrix), bisai_bcsr_block_cols(matrix),
                    bisai_bcsr_block_size(matrix), row_ptr, col_idx, bisai_bcsr_value_type(matrix),
                    values, bisai_bcsr_unit_diagonal(matrix));
}

double *test_dense_identity(int64_t n) {
  double *identity = zeros(n * n);
  for (int64_t i = 0; i < n; i++) identity[i * n + i] = 1.0;
  return identity;
}

double test_largest(int64_t n, const double *values) {
  double most = 0.0;
  for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(values[i]));
  return most;
}

double *test_dense_multiply(int64_t m, int64_t k, int64_t n, const double *a, const double *b) {
  double *product = zeros(m * n);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t l = 0; l < k; l++)
      for (int64_t i = 0; i < m; i++) product[j * m + i] += a[l * m + i] * b[j * k + l];
  }
  return product;
}

double *test_dense_transpose(int64_t m, int64_t n, const double *a) {
  double *transpose = zeros(m * n);
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < m; i++) transpose[i * n + j] = a[j * m + i];
  return transpose;
}

static void swap_rows(int64_t n, int64_t columns, double *a, int64_t p, int64_t q) {
  for (int64_t j = 0; j < columns; j++) {
    double kept = a[j * n + p];
    a[j * n + p] = a[j * n + q];
    a[j * n + q] = kept;
  }
}

/* Gaussian elimination on a copy of A, applied to the n × columns right-hand sides x in place. */
static bool eliminate(int64_t n, const double *a, int64_t columns, double *x) {
  double *lu = zeros(n * n);
  bool regular = true;
  memcpy(lu, a, (size_t)(n * n) * sizeof *lu);
  for (int64_t k = 0; k < n && regular; k++) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; i++)
      pivot = fabs(lu[k * n + i]) > fabs(lu[k * n + pivot]) ? i : pivot;
    regular = fabs(lu[k * n + pivot]) > 0.0;
    swap_rows(n, n, lu, k, pivot);
    swap_rows(n, columns, x, k, pivot);
    for (int64_t i = k + 1; i < n && regular; i++) {
      double factor = lu[k * n + i] / lu[k * n + k];
      for (int64_t j = k; j < n; j++) lu[j * n + i] -= factor * lu[j * n + k];
      for (int64_t j = 0; j < columns; j++) x[j * n + i] -= factor * x[j * n + k];
    }
  }
  for (int64_t j = 0; j < columns && regular; j++) {
    for (int64_t i = n - 1; i >= 0; i--) {
      double sum = x[j * n + i];
      for (int64_t k = i + 1; k < n; k++) sum -= lu[k * n + i] * x[j * n + k];
      x[j * n + i] = sum / lu[i * n + i];
    }
  }
  free(lu);
  return regular;
}

double *test_dense_inverse(int64_t n, const double *a) {
  double *inverse = test_dense_identity(n);
  if (!eliminate(n, a, n, inverse)) {
    free(inverse);
    return NULL;
  }
  return inverse;
}

double *test_dense_solve(int64_t n, const double *a, const double *b) {
  double *x = zeros(n);
  memcpy(x, b, (size_t)n * sizeof *x);
  if (!eliminate(n, a, 1, x)) {
    free(x);
    return NULL;
  }
  return x;
}

double test_dense_norm1(int64_t m, int64_t n, const double *a) {
  double largest = 0.0;
  for (int64_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (int64_t i = 0; i < m; i++) sum += fabs(a[j * m + i]);
    largest = fmax(largest, sum);
  }
  return largest;
}

double test_dense_condition1(int64_t n, const double *a) {
  double *inverse = test_dense_inverse(n, a);
  if (inverse == NULL) return (double)INFINITY;
  double condition = test_dense_norm1(n, n, a) * test_dense_norm1(n, n, inverse);
  free(inverse);
  return condition;
}

double test_max_difference(int64_t n, const double *a, const double *b) {
  double largest = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double difference = fabs(a[i] - b[i]);
    if (isnan(difference)) return difference;
    largest = fmax(largest, difference);
  }
  return largest;
}

double test_norm2(int64_t n, const double *a) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

double test_relative_residual(const bisai_bcsr *matrix, const double *x, const double *b) {
  int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *residual = zeros(n);
  assert_int_equal(bisai_bcsr_multiply(matrix, x, residual), BISAI_OK);
  for (int64_t i = 0; i < n; i++) residual[i] = b[i] - residual[i];
  double relative = test_norm2(n, residual) / test_norm2(n, b);
  free(residual);
  return relative;
}
