/* SPDX-License-Identifier: BSD-3-Clause */
/* Decompositions of one small dense block and the solves with them: LU with row pivoting, and
 * Gauss–Huard with column pivoting (Anzt, Dongarra, Flegar, Quintana-Ortí, Tomás 2017; Huard 1979).
 * Blocks are m × m, column-major: a(r, c) = a[c·m + r]. bjacobi/bjacobi.h documents the layout of
 * the decompositions. They contain the reciprocals of the pivots, so that solves do not divide. */
#ifndef BSI_BLOCK_DECOMPOSE_H
#define BSI_BLOCK_DECOMPOSE_H

#include "core/block/block_math.h"

BSI_INLINE void bsi_swap(double *a, double *b) {
  const double value = *a;
  *a = *b;
  *b = value;
}

/* *pivot ← its reciprocal, *smallest ← the smaller of it and the pivot's magnitude. Returns false
 * if the pivot is zero or not finite, or has no finite reciprocal. */
BSI_INLINE bool bsi_take_pivot(double *pivot, double *smallest) {
  const double magnitude = fabs(*pivot);
  *pivot = 1.0 / *pivot;
  if (magnitude < *smallest) *smallest = magnitude;
  return magnitude > 0.0 && isfinite(magnitude) && isfinite(*pivot);
}

/* a ← L∖U of P a, pivots ← the rows in pivot order, *smallest ← the smallest |pivot|. Returns false
 * if a is singular, that is, if a pivot is zero or a value is not finite. Then all three are
 * unspecified. */
BSI_INLINE bool bsi_block_lu(const int m, double *a, uint8_t *pivots, double *smallest) {
  *smallest = INFINITY;
  for (int r = 0; r < m; r++) pivots[r] = (uint8_t)r;
  for (int k = 0; k < m; k++) {
    double *column = a + k * m;
    int pivot = k;
    for (int r = k + 1; r < m; r++)
      if (fabs(column[r]) > fabs(column[pivot])) pivot = r;
    if (pivot != k) {
      for (int c = 0; c < m; c++) bsi_swap(a + c * m + k, a + c * m + pivot);
      const uint8_t row = pivots[k];
      pivots[k] = pivots[pivot];
      pivots[pivot] = row;
    }
    const double value = column[k];
    if (!bsi_take_pivot(column + k, smallest)) return false;
    for (int r = k + 1; r < m; r++) column[r] /= value;
    for (int c = k + 1; c < m; c++) {
      const double factor = a[c * m + k];
      for (int r = k + 1; r < m; r++) a[c * m + r] -= column[r] * factor;
    }
  }
  return bsi_all_finite((size_t)(m * m), a);
}

/* a ← the Gauss–Huard decomposition of a Q, pivots ← the columns in pivot order. Otherwise as
 * bsi_block_lu(). */
BSI_INLINE bool bsi_block_gauss_huard(const int m, double *a, uint8_t *pivots, double *smallest) {
  *smallest = INFINITY;
  for (int c = 0; c < m; c++) pivots[c] = (uint8_t)c;
  for (int k = 0; k < m; k++) {
    int pivot = k;
    for (int c = k; c < m; c++) {
      double sum = a[c * m + k];
      for (int j = 0; j < k; j++) sum -= a[j * m + k] * a[c * m + j];
      a[c * m + k] = sum;
      if (fabs(sum) > fabs(a[pivot * m + k])) pivot = c;
    }
    if (pivot != k) {
      for (int r = 0; r < m; r++) bsi_swap(a + k * m + r, a + pivot * m + r);
      const uint8_t column = pivots[k];
      pivots[k] = pivots[pivot];
      pivots[pivot] = column;
    }
    const double value = a[k * m + k];
    if (!bsi_take_pivot(a + k * m + k, smallest)) return false;
    for (int c = k + 1; c < m; c++) {
      const double factor = a[c * m + k] /= value;
      for (int r = 0; r < k; r++) a[c * m + r] -= a[k * m + r] * factor;
    }
  }
  return bsi_all_finite((size_t)(m * m), a);
}

/* Transposes the part below the diagonal about the anti-diagonal. This is its own inverse. */
BSI_INLINE void bsi_block_transpose_lower(const int m, double *a) {
  for (int k = 1; k < m; k++)
    for (int j = 0; j < k; j++) {
      const int row = m - 1 - j, column = m - 1 - k;
      if (column > j || (column == j && row > k)) bsi_swap(a + j * m + k, a + column * m + row);
    }
}

/* z ← the solution for right-hand side v with the LU decomposition e. z is not v. */
BSI_INLINE void bsi_block_lu_solve(const int m, const double *e, const uint8_t *pivots,
                                   const double *v, double *z) {
  for (int k = 0; k < m; k++) z[k] = v[pivots[k]];
  for (int k = 0; k < m; k++)
    for (int r = k + 1; r < m; r++) z[r] -= e[k * m + r] * z[k];
  for (int k = m - 1; k >= 0; k--) {
    z[k] *= e[k * m + k];
    for (int r = 0; r < k; r++) z[r] -= e[k * m + r] * z[k];
  }
}

/* z ← the solution for right-hand side v with the Gauss–Huard decomposition e. With `transposed`
 * the part below the diagonal is stored as bsi_block_transpose_lower() leaves it. */
BSI_INLINE void bsi_block_gauss_huard_solve(const bool transposed, const int m, const double *e,
                                            const uint8_t *pivots, const double *v, double *z) {
  double y[BISAI_MAX_BLOCK_SIZE];
  for (int k = 0; k < m; k++) {
    double sum = v[k];
    if (transposed)
      for (int j = 0; j < k; j++) sum -= e[(m - 1 - k) * m + (m - 1 - j)] * y[j];
    else
      for (int j = 0; j < k; j++) sum -= e[j * m + k] * y[j];
    y[k] = sum * e[k * m + k];
    for (int r = 0; r < k; r++) y[r] -= e[k * m + r] * y[k];
  }
  for (int k = 0; k < m; k++) z[pivots[k]] = y[k];
}

#endif
