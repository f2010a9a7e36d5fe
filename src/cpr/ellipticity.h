/* SPDX-License-Identifier: BSD-3-Clause */
/* How elliptic a pressure matrix is, compiled for both backends.
 *
 * The pressure of a cell depends on those of all its neighbours, and they on it. Saturations,
 * compositions and temperatures move with the flow: at most one of two neighbours depends on the
 * other, and a cell depends mostly on itself. The couplings of row i therefore tell the pressure:
 * K_i = Σ_j √(a_ij a_ji / (a_ii a_jj)), where j ≠ i. */
#ifndef BSI_ELLIPTICITY_H
#define BSI_ELLIPTICITY_H

#include "core/search.h"

/* Rows count as integers, so that sums do not depend on their order. */
#define BSI_ELLIPTICITY_ONE 1048576.0

/* Returns min(1, K_i) in these units. Diagonal entries are positive. */
BSI_INLINE int64_t bsi_ellipticity_of_row(const int32_t *row_ptr, const int32_t *col_idx,
                                          const double *values, const int32_t *diagonal,
                                          int32_t i) {
  const int32_t end = row_ptr[i + 1];
  double sum = 0.0;
  for (int32_t q = row_ptr[i]; q < end; q++) {
    const int32_t j = col_idx[q];
    if (j == i) continue;
    const int32_t mirrored = bsi_find_column(col_idx, row_ptr[j], row_ptr[j + 1], i);
    if (mirrored < 0) continue;
    sum +=
        sqrt(fabs(values[q] / values[diagonal[i]]) * fabs(values[mirrored] / values[diagonal[j]]));
  }
  return (int64_t)rint(BSI_ELLIPTICITY_ONE * (sum < 1.0 ? sum : 1.0));
}

#endif
