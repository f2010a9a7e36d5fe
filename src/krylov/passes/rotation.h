/* SPDX-License-Identifier: BSD-3-Clause */
/* The small dense part of GMRES, compiled for the host and for CUDA: the Givens rotations of a
 * column of the Hessenberg matrix H (column-major, leading dimension m + 1), the criterion for a
 * second pass of Gram–Schmidt, and the triangular system at the end of a cycle. Source: Saad,
 * Iterative Methods for Sparse Linear Systems, 6.5.3; Daniel, Gragg, Kaufman, Stewart 1976. */
#ifndef BSI_ROTATION_H
#define BSI_ROTATION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/block/column.h"

/* A Hessenberg entry below this share of the norm of its column is rounding error. */
#define BSI_NEGLIGIBLE (64 * 2.220446049250313e-16)

/* Gram–Schmidt makes a second pass if the first one left less than this share of the vector. The
 * error of orthogonality is then at most ε divided by it. */
#define BSI_KEPT_SHARE 0.1

/* Returns true if one pass of classical Gram–Schmidt left too little. h has its `count` products,
 * and norm2 is the square of the norm of the rest. */
BSI_INLINE bool bsi_cancelled(const int count, const double *h, const double norm2) {
  double before = norm2;
  for (int i = 0; i < count; i++) before += h[i] * h[i];
  return norm2 < BSI_KEPT_SHARE * BSI_KEPT_SHARE * before;
}

/* column ← the products of Gram–Schmidt, to which the j earlier rotations are applied; `column` may
 * be `products`. */
BSI_INLINE void bsi_rotate_earlier(const int j, const double *products, const double *cosines,
                                   const double *sines, double *column) {
  double above = products[0];
  for (int i = 0; i < j; i++) {
    const double below = products[i + 1], cosine = cosines[i], sine = sines[i];
    column[i] = cosine * above + sine * below;
    above = cosine * below - sine * above;
  }
  column[j] = above;
}

/* The square of the norm of column j; norm2 is the square of its last entry. */
BSI_INLINE double bsi_column_norm2(const int j, const double *products, const double norm2) {
  double sum = norm2;
  for (int i = 0; i <= j; i++) sum += products[i] * products[i];
  return sum;
}

/* Makes and applies rotation j. The earlier rotations have been applied to the column, and `sum` is
 * the square of its norm before them. Writes status[0] and status[1] last. */
BSI_INLINE void bsi_rotate_last(const int j, double *column, const double sum, const double norm2,
                                double *cosines, double *sines, double *g, double *status) {
  const double least = BSI_NEGLIGIBLE * sqrt(sum);
  const double next = sqrt(norm2) <= least ? 0 : sqrt(norm2);
  const double diagonal = hypot(column[j], next);
  double cosine = 0, sine = 1;
  if (diagonal <= least) {
    /* A maps this vector into the span of the earlier columns: the column adds nothing, and the
     * residual stays as it is. */
    column[j] = 0;
  } else {
    cosine = column[j] / diagonal;
    sine = next / diagonal;
    column[j] = diagonal;
  }
  column[j + 1] = 0;
  cosines[j] = cosine;
  sines[j] = sine;
  const double above = g[j], below = -sine * above;
  g[j + 1] = below;
  g[j] = cosine * above;
  status[0] = isfinite(sum) ? fabs(below) : (double)NAN;
  status[1] = next;
}

/* Does bsi_gmres_ops::rotate. `column` has room for j + 2 values, and its rows 0 … j are given. It
 * may be the column of H itself. */
BSI_INLINE void bsi_rotate(const int j, double *column, const double norm2, double *cosines,
                           double *sines, double *g, double *status) {
  const double sum = bsi_column_norm2(j, column, norm2);
  bsi_rotate_earlier(j, column, cosines, sines, column);
  bsi_rotate_last(j, column, sum, norm2, cosines, sines, g, status);
}

/* y ← the solution of the leading k × k triangle of H y = g; y_i = 0 if the diagonal is 0. */
BSI_INLINE void bsi_back_substitute(const int m, const int k, const double *H, const double *g,
                                    double *y) {
  for (int i = 0; i < k; i++) y[i] = g[i];
  for (int j = k - 1; j >= 0; j--) {
    const double *column = H + (size_t)j * ((size_t)m + 1);
    y[j] = column[j] == 0 ? 0 : y[j] / column[j];
    for (int i = 0; i < j; i++) y[i] -= column[i] * y[j];
  }
}

#endif
