/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagonal blocks of the l1 smoother. */
#ifndef BSI_L1_H
#define BSI_L1_H

#include "core/block/block_math.h"
#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Block i of `blocks` ← D_i + diag(s), where s are the sums of magnitudes of the scalar rows
 * outside of D_i, with the signs of the diagonal entries. position[i] ← i. */
typedef bisai_status bsi_l1_diagonal(bisai_context *, const bisai_bcsr *a, double *blocks,
                                     int32_t *position);
bsi_l1_diagonal bsi_l1_diagonal_host, bsi_l1_diagonal_cuda;

#ifdef __cplusplus
}
#endif

/* Row r of `block` ← row r of D_i. Its diagonal entry grows by the sum of the magnitudes of the
 * entries of the scalar row outside of D_i, and keeps its sign. */
BSI_INLINE void bsi_l1_row(const int bs, const int32_t *row_ptr, const int32_t *col_idx,
                           const void *values, int32_t i, int r, double *block) {
  const double *v = (const double *)values;
  double sum = 0.0;
  for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
    const double *from = v + (size_t)p * (size_t)(bs * bs);
    for (int c = 0; c < bs; c++)
      if (col_idx[p] == i)
        block[c * bs + r] = from[c * bs + r];
      else
        sum += fabs(from[c * bs + r]);
  }
  block[r * bs + r] += copysign(sum, block[r * bs + r]);
}

#endif
