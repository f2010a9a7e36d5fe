/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a Schur complement on one index, compiled for both backends. */
#ifndef BSI_STEPS_H
#define BSI_STEPS_H

#include <math.h>

#include "core/matrix/search.h"
#include "schur/schur_ops.h"

/* What becomes of a value that is taken. */
BSI_INLINE double bsi_taken(bsi_taking how, int64_t index, const double *from) {
  const double value = index < 0 ? 0.0 : from[index];
  if (how == BSI_TAKE_INVERSE) return 1.0 / value;
  if (how == BSI_TAKE_WHETHER_ZERO) return value == 0.0 ? 0.0 : INFINITY;
  return value;
}

/* Row i of E ← sign·(C + D H⁻¹ G). The terms of an entry are added in the order of D's row. */
BSI_INLINE void bsi_complement_row(const bsi_complement *x, int32_t i) {
  const int32_t begin = x->row_ptr[i], end = x->row_ptr[i + 1];
  for (int32_t q = begin; q < end; q++)
    x->values[q] = x->map[q] < 0 ? 0.0 : -x->sign * x->a[x->map[q]];
  for (int32_t p = x->d_ptr[i]; p < x->d_ptr[i + 1]; p++) {
    const int32_t k = x->d_col[p];
    const double factor = x->sign * x->d_values[p] * x->h[k];
    for (int32_t q = x->g_ptr[k]; q < x->g_ptr[k + 1]; q++)
      x->values[bsi_find_column(x->col_idx, begin, end, x->g_col[q])] += factor * x->g_values[q];
  }
}

#endif
