/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of the block rows of a nonsymmetric matrix in restriction, compiled for both backends.
 *
 * R sums the equations of an aggregate. If their scales differ, the largest hide the others. On
 * level 0, whose scales are the caller's, each block of Tᵀ is therefore divided by the size of the
 * diagonal block of its row, over that of the first row. The rows of coarser levels have similar
 * scales, and weights would do harm there (measured on the cavity).
 *
 * The size of a block is the plain sum of its magnitudes. An unknown that is prescribed by a huge
 * diagonal entry thus hides the others of its row. To let a scalar row count as at most 256 times
 * the smallest one of its block helped there. But it hid the large equations of blocks that have
 * small rows too: muelu_vardofpernode was not solved any more with `smoother=ilu`. */
#ifndef BSI_ROW_SCALING_H
#define BSI_ROW_SCALING_H

#include "core/block/block_math.h"
#include "multigrid/spgemm/block_matrix.h"

/* What gives the blocks of Tᵀ, in backend memory. */
typedef struct bsi_row_scaling {
  /* the values of A, and the places of its diagonal blocks */
  const double *values;
  const int32_t *diagonal;
  int block_size;
  /* the values of T; NULL: T has identity blocks */
  const double *tentative;
  /* for each block of Tᵀ its place in T */
  const int32_t *position;
  /* the size of the first row; 0: that of row 0 */
  double first_size;
} bsi_row_scaling;

/* Returns the size of a block of `values` values: the sum of their magnitudes, or 1 if that is zero
 * or not finite. */
BSI_INLINE double bsi_row_scaling_size_of(const int values, const double *block) {
  double size = 0.0;
  for (int v = 0; v < values; v++) size += fabs(block[v]);
  return size > 0.0 && size <= DBL_MAX ? size : 1.0;
}

/* Returns the size of diagonal block j. */
BSI_INLINE double bsi_row_scaling_size(const bsi_row_scaling *b, int32_t j) {
  const int values = b->block_size * b->block_size;
  return bsi_row_scaling_size_of(values, b->values + (size_t)b->diagonal[j] * (size_t)values);
}

/* Computes block q of Tᵀ, which is in column j and has `height` rows. */
BSI_INLINE void bsi_row_scaling_block(const bsi_row_scaling *b, int height, int32_t q, int32_t j,
                                      double *block) {
  const int bs = b->block_size;
  const double *t =
      b->tentative ? b->tentative + (size_t)b->position[q] * (size_t)(bs * height) : NULL;
  const double first = b->first_size > 0.0 ? b->first_size : bsi_row_scaling_size(b, 0);
  const double weight = first / bsi_row_scaling_size(b, j);
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < height; r++)
      block[c * height + r] = (t ? t[r * bs + c] : r == c ? 1.0 : 0.0) * weight;
}

#endif
