/* SPDX-License-Identifier: BSD-3-Clause */
/* The small dense part of GMRES, compiled for the host and for CUDA: a column of the Hessenberg
 * matrix H (column-major, leading dimension m + 1) under Givens rotations, when Gram–Schmidt goes a
 * second time, the triangular system at a cycle's end. Source: Saad, Iterative Methods for Sparse
 * Linear Systems, 6.5.3; Daniel, Gragg, Kaufman, Stewart 1976. */
#ifndef BSI_ROTATION_H
#define BSI_ROTATION_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/column.h"

/* Against the norm of its column, a Hessenberg entry below this is rounding error. */
#define BSI_NEGLIGIBLE (64 * 2.220446049250313e-16)

/* Gram–Schmidt goes a second time over a vector of which it left less than this share:
 * orthogonality then stays within ε over it. */
#define BSI_KEPT_SHARE 0.1

/* Whether one pass of classical Gram–Schmidt left too little: `count` products h, and the square of
 * what is left. */
BSI_INLINE bool bsi_cancelled(const int count, const double *h, const double norm2) {
  double before = norm2;
  for (int i = 0; i < count; i++) before += h[i] * h[i];
  return norm2 < BSI_KEPT_SHARE * BSI_KEPT_SHARE * before;
}

/* Column j from Gram–Schmidt's products under the j earlier rotations; `column` may be
 * `products`. */
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

/* The square of the norm of column j, whose last entry's is norm2. */
BSI_INLINE double bsi_column_norm2(const int j, const double *products, const double norm2) {
  double sum = norm2;
  for (int i = 0; i <= j; i++) sum += products[i] * products[i];
  return sum;
}

/* Rotation j for a column under the earlier ones, `sum` the square of its norm before them.
 * status[0] and status[1] are the last to be written. */
BSI_INLINE void bsi_rotate_last(const int j, double *column, const double sum, const double norm2,
                                double *cosines, double *sines, double *g, double *status) {
  const double least = BSI_NEGLIGIBLE * sqrt(sum);
  const double next = sqrt(norm2) <= least ? 0 : sqrt(norm2);
  const double diagonal = hypot(column[j], next);
  double cosine = 0, sine = 1;
  if (diagonal <= least) {
    /* A maps this vector into the earlier columns' span: the column brings nothing and the residual
     * stays. */
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

/* Column j: see gmres_rotate in core/backend.h. `column` has room for j + 2 values and rows 0 … j
 * are given; it may be H's own. */
BSI_INLINE void bsi_rotate(const int j, double *column, const double norm2, double *cosines,
                           double *sines, double *g, double *status) {
  const double sum = bsi_column_norm2(j, column, norm2);
  bsi_rotate_earlier(j, column, cosines, sines, column);
  bsi_rotate_last(j, column, sum, norm2, cosines, sines, g, status);
}

/* y ← the solution of the leading k × k triangle of H y = g; y_i = 0 where the diagonal is 0. */
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
