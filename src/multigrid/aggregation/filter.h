/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns of P to which the blocks of A contribute, compiled for both backends.
 *
 * With T of identity blocks, block (i, j) of A adds to block (i, aggregate of j) of A T. A weak
 * block would make P and the coarse matrix denser and change little. It therefore adds to the
 * aggregate of i instead, or to nothing if i has none. A T times a constant vector stays the same
 * for the rows of aggregates. A block is weak if its weight is less than `threshold` times the
 * largest weight of its row outside of the diagonal. The weights are those of the row alone, and
 * not the couplings of aggregation: a block that is weak beside row j may be all that holds row i.
 * (Vaněk, Mandel, Brezina 1996, section 5, add weak entries to the diagonal. On a chequerboard of
 * coefficients this takes several times the iterations.)
 *
 * All blocks of a long row but the diagonal count as weak. Such a row is a constraint or a value
 * that many others share, and A P would otherwise have the aggregates of all of them in each of
 * their rows: a number that grows with the square of the rows. */
#ifndef BSI_FILTER_H
#define BSI_FILTER_H

#include "multigrid/aggregation/strength.h"

/* A long row has more blocks than BSI_LEAST_LONG, and than BSI_LONG_ROW rows on average. Rows of
 * meshes have at most some 200 blocks. */
enum { BSI_LEAST_LONG = 200, BSI_LONG_ROW = 8 };

/* Returns true if a row of `length` blocks is long, in a matrix of `blocks` blocks. */
BSI_INLINE bool bsi_is_long(int32_t rows, int32_t blocks, int32_t length) {
  return length > BSI_LEAST_LONG && (int64_t)length * rows > (int64_t)BSI_LONG_ROW * blocks;
}

/* Returns the weight of block (i, j) beside its row, 0 on the diagonal. */
BSI_INLINE float bsi_filter_weight(const int bs, int32_t i, int32_t j, const double *inverse,
                                   const double *block) {
  return i == j ? 0.0f : bsi_weight(bs, inverse, block);
}

/* Returns the column of block (i, j), or `none`. `own` and `other` are the aggregates of i and
 * j. */
BSI_INLINE int32_t bsi_filter_rule(int32_t own, int32_t other, int32_t none, bool weak) {
  if (other < 0 || (weak && own < 0)) return none;
  return weak ? own : other;
}

/* Returns the aggregate of row i of T, −1 if it has none. */
BSI_INLINE int32_t bsi_aggregate_of(const int32_t *row_ptr, const int32_t *col_idx, int32_t i) {
  return row_ptr[i] < row_ptr[i + 1] ? col_idx[row_ptr[i]] : -1;
}

#endif
