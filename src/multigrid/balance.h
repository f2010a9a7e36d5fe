/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of the block rows of a nonsymmetric matrix in restriction, compiled for both backends.
 *
 * R sums the equations of an aggregate. If their scales differ, the largest hide the others. On
 * level 0, whose scales are the caller's, each block of Tᵀ is therefore divided by the size of the
 * diagonal block of its row, over that of the first row. The rows of coarser levels have similar
 * scales, and weights would do harm there (measured on the cavity).
 *
 * A row has one weight for all equations of its block. The caller may prescribe one unknown by a
 * penalty, which is a huge diagonal entry. A plain sum of magnitudes would then be so large that
 * the other equations of the row vanish from R. The size of a block therefore limits how much one
 * scalar row adds to it. A scaling of block rows scales the limit too, and changes nothing. */
#ifndef BSI_BALANCE_H
#define BSI_BALANCE_H

#include "core/block_math.h"
#include "multigrid/sparse.h"

/* A scalar row adds at most so many times the smallest nonzero row to the size of a block. With 16,
 * the flow matrix mrilu_ena2 takes 115 iterations instead of 67, because its equations differ in
 * size by nature. With 4096, diffusion with penalties takes 28 instead of 25. */
#define BSI_BALANCE_SPREAD 256.0

/* What gives the blocks of Tᵀ, in backend memory. */
typedef struct bsi_balance {
  /* the values of A, and the places of its diagonal blocks */
  const double *values;
  const int32_t *diagonal;
  int block_size;
  /* the values of T; NULL: T has identity blocks */
  const double *tentative;
  /* for each block of Tᵀ its place in T */
  const int32_t *position;
} bsi_balance;

/* Returns the size of a block: the sum of the magnitudes in its scalar rows, each of which counts
 * as at most BSI_BALANCE_SPREAD times the smallest nonzero one. Returns 1 if the plain sum is zero
 * or not finite. */
BSI_INLINE double bsi_balance_size_of(const int bs, const double *block) {
  double rows[BISAI_MAX_BLOCK_SIZE], least = DBL_MAX, sum = 0.0, size = 0.0;
  BSI_UNROLL
  for (int r = 0; r < bs; r++) rows[r] = 0.0;
  BSI_UNROLL
  for (int c = 0; c < bs; c++) {
    BSI_UNROLL
    for (int r = 0; r < bs; r++) rows[r] += fabs(block[c * bs + r]);
  }
  BSI_UNROLL
  for (int r = 0; r < bs; r++) {
    if (rows[r] > 0.0) least = fmin(least, rows[r]);
    sum += rows[r];
  }
  BSI_UNROLL
  for (int r = 0; r < bs; r++) size += fmin(rows[r], BSI_BALANCE_SPREAD * least);
  return sum > 0.0 && sum <= DBL_MAX ? size : 1.0;
}

/* Returns the size of diagonal block j. */
BSI_INLINE double bsi_balance_size(const bsi_balance *b, int32_t j) {
  const int bs = b->block_size;
  return bsi_balance_size_of(bs, b->values + (size_t)b->diagonal[j] * (size_t)(bs * bs));
}

/* Computes block q of Tᵀ, which is in column j and has `height` rows. */
BSI_INLINE void bsi_balance_block(const bsi_balance *b, int height, int32_t q, int32_t j,
                                  double *block) {
  const int bs = b->block_size;
  const double *t =
      b->tentative ? b->tentative + (size_t)b->position[q] * (size_t)(bs * height) : NULL;
  const double weight = bsi_balance_size(b, 0) / bsi_balance_size(b, j);
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < height; r++)
      block[c * height + r] = (t ? t[r * bs + c] : r == c ? 1.0 : 0.0) * weight;
}

#endif
