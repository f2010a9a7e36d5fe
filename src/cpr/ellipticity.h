/* SPDX-License-Identifier: BSD-3-Clause */
/* How elliptic the pressure matrix of an unknown is, compiled for both backends.
 *
 * The pressure of a cell depends on those of all its neighbours, and they on it. Saturations,
 * compositions and temperatures move with the flow: at most one of two neighbours depends on the
 * other, and a cell depends mostly on itself. The couplings of row i of the pressure matrix tell
 * the difference: K_i = Σ_j √(a_ij a_ji / (a_ii a_jj)), where j ≠ i.
 *
 * Conduction couples temperatures both ways too, but in the equation of energy only. The pressure
 * drives the flow in all equations. The reach of unknown p in equation l of block row i of A tells
 * these apart: R_il = Σ_j |A_ij(l, p)| / |A_ii(l, p)|, where j ≠ i. The ellipticity is
 *
 *   e = mean_i min(1, K_i) · mean_il min(1, R_il)
 *
 * It does not depend on the units of unknowns, nor on factors of single equations. */
#ifndef BSI_ELLIPTICITY_H
#define BSI_ELLIPTICITY_H

#include "core/matrix/search.h"
#include "cpr/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Terms count as integers, so that sums do not depend on their order. */
#define BSI_ELLIPTICITY_ONE 1048576.0

/* Returns min(1, x) in these units, and 1 if x is not a number. */
BSI_INLINE int64_t bsi_ellipticity_count(double x) {
  return (int64_t)rint(BSI_ELLIPTICITY_ONE * (x < 1.0 ? x : 1.0));
}

/* Returns min(1, K_i) in these units. Diagonal entries are positive. */
BSI_INLINE int64_t bsi_coupling_of_row(const int32_t *row_ptr, const int32_t *col_idx,
                                       const double *values, const int32_t *diagonal, int32_t i) {
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
  return bsi_ellipticity_count(sum);
}

/* Returns min(1, R_il) of unknown p in these units, and 0 if the neighbours have no part in the
 * equation. `values` are those of A. */
BSI_INLINE int64_t bsi_reach_of_equation(int bs, const int32_t *row_ptr, const double *values,
                                         const int32_t *diagonal, int32_t p, int32_t i, int l) {
  const int64_t size = (int64_t)bs * bs;
  const double *column = values + (int64_t)p * bs + l;
  const int32_t end = row_ptr[i + 1], own = diagonal[i];
  double sum = 0.0;
  for (int32_t q = row_ptr[i]; q < end; q++)
    if (q != own) sum += fabs(column[q * size]);
  return sum == 0.0 ? 0 : bsi_ellipticity_count(sum / fabs(column[own * size]));
}

/* ellipticity[p] ← e for each unknown p of the weighing's matrix, whose `pressure` is not read.
 * `weights` and the values of `matrix`, which has the structure of A, are overwritten. Waits. */
bisai_status bsi_ellipticity_measure(bisai_context *context, const bsi_weighing *weighing,
                                     double *weights, bisai_bcsr *matrix, double *ellipticity);

#ifdef __cplusplus
}
#endif

#endif
