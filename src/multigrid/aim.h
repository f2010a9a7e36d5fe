/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of P to which the blocks of A contribute, compiled for both backends.
 *
 * With T of identity blocks, block (i, j) of A adds to block (i, aggregate of j) of A T. A weak
 * block would make P and the coarse matrix denser and change little. It therefore adds to the
 * aggregate of i instead, if there is one. A T times a constant vector stays the same (compare
 * Vaněk, Mandel, Brezina 1996, section 5, where weak entries are added to the diagonal). */
#ifndef BSI_AIM_H
#define BSI_AIM_H

#include "multigrid/strength.h"

/* Blocks of smaller weight are weak. The weight belongs to row i alone: a block that is weak beside
 * row j may be all that holds row i. */
#define BSI_WEAK_BLOCK 0.03f

/* Returns the column of block p = (i, j), or `none` if j has no aggregate. */
BSI_INLINE int32_t bsi_aim(const int bs, const int32_t *aggregate, int32_t none, int32_t i,
                           int32_t j, const double *inverse, const double *block) {
  const int32_t own = aggregate[i], other = aggregate[j];
  if (other < 0) return none;
  if (own < 0 || own == other) return other;
  return bsi_weight(bs, inverse, block) < BSI_WEAK_BLOCK ? own : other;
}

#endif
