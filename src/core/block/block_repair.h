/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of diagonal blocks with static pivots (Li and Demmel 1998), compiled for the host and
 * for CUDA: blocks that are nearly singular count as singular, and are shifted by their own
 * sign. */
#ifndef BSI_BLOCK_REPAIR_H
#define BSI_BLOCK_REPAIR_H

#include "core/block/block_invert.h"

/* How diagonal blocks are repaired. */
typedef struct bsi_repair {
  /* of the shift of singular blocks; 0: they are not repaired */
  double amount;
  /* blocks with ‖a⁻¹‖₁·least_pivot·norm > 1 count as singular; 0: none of them does */
  double least_pivot;
} bsi_repair;

/* The largest ‖a⁻¹‖₁·least_pivot·norm of a block that a shift has made regular. The shift of a
 * 1 × 1 block leaves at most 1 and rounding errors, if its amount is least_pivot. */
#define BSI_SMALL_AFTER_SHIFT 10.0

/* Returns true if a block is too nearly singular, before its first shift or after one. */
BSI_INLINE bool bsi_is_small_pivot(const double inverse_norm, const double least_norm,
                                   const bool shifted) {
  return inverse_norm * least_norm > (shifted ? BSI_SMALL_AFTER_SHIFT : 1.0);
}

/* Returns the amount of shifts with the sign of the trace of a, so that shifts enlarge pivots. */
BSI_INLINE double bsi_signed_shift(const int bs, const double *a, const double more) {
  double trace = 0.0;
  for (int r = 0; r < bs; r++) trace += a[r * bs + r];
  return trace < 0.0 ? -more : more;
}

/* As bsi_block_invert_shifted(), but with least_pivot > 0 small pivots count as singular. */
BSI_INLINE bsi_block_result bsi_block_invert_repaired(const int bs, double *a,
                                                      const bsi_repair repair, const double *row,
                                                      const int32_t count, double *inverse,
                                                      double *condition) {
  if (repair.least_pivot == 0.0)
    return bsi_block_invert_shifted(bs, a, repair.amount, row, count, inverse, condition);
  const double norm = bsi_blocks_norm_infinity(bs, row, count);
  double shift = 0.0;
  for (;;) {
    const bsi_block_result result = bsi_block_invert(bs, a, inverse, condition);
    if (result != BSI_BLOCK_SINGULAR &&
        !bsi_is_small_pivot(bsi_block_norm1(bs, inverse), repair.least_pivot * norm, shift > 0.0))
      return shift > 0.0 ? BSI_BLOCK_REPAIRED : result;
    const double more =
        shift > 0.0 ? 9.0 * shift : fmax(repair.amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
    if (!isfinite(more)) return BSI_BLOCK_SINGULAR;
    const double added = bsi_signed_shift(bs, a, more);
    shift += more;
    for (int r = 0; r < bs; r++) a[r * bs + r] += added;
  }
}

#endif
