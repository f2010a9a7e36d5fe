/* SPDX-License-Identifier: BSD-3-Clause */
/* The difference of a matrix from its transpose:
 *
 *   max over i, j of |a_ij − a_ji| / max(|a_ij|, |a_ji|, √|a_ii a_jj|)
 *
 * from 0 (symmetric) to 2 (a_ij = −a_ji). A symmetric scaling D A D does not change it, so that a
 * small block counts as much as a large one beside it. A maximum does not depend on the order in
 * which it is taken, and each quotient is rounded in the same way everywhere. Therefore hosts and
 * devices give the same bits. */
#ifndef BSI_ASYMMETRY_H
#define BSI_ASYMMETRY_H

#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"

/* The result of a measurement. */
typedef struct bsi_asymmetry {
  double largest;
  /* every stored block (i, j) has a stored block (j, i) */
  bool mirrored;
} bsi_asymmetry;

/* The arrays of a square matrix in backend memory. */
typedef struct bsi_square {
  int block_size;
  bisai_value_type type;
  bool unit_diagonal;
  const int32_t *row_ptr, *col_idx;
  const void *values;
} bsi_square;

static inline bsi_square bsi_square_of(const bisai_bcsr *a) {
  const bsi_square square = {a->block_size, a->type,    a->unit_diagonal,
                             a->row_ptr,    a->col_idx, a->values};
  return square;
}

/* Returns a_kk for scalar row k = i·bs + r. */
BSI_INLINE double bsi_square_diagonal(const bsi_square *a, int32_t i, int r) {
  const int32_t p = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
  const size_t values = (size_t)(a->block_size * a->block_size);
  if (p < 0) return a->unit_diagonal ? 1.0 : 0.0;
  return bsi_value_load(a->type, a->values, (size_t)p * values + (size_t)(r * a->block_size + r));
}

/* Returns the largest quotient of block p = (i, j) and block q = (j, i). q < 0: that block is
 * zero. */
BSI_INLINE double bsi_asymmetry_of_blocks(const bsi_square *a, int32_t i, int32_t j, int32_t p,
                                          int32_t q) {
  const int bs = a->block_size;
  const size_t values = (size_t)(bs * bs);
  double largest = 0.0;
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) {
      const double here =
          bsi_value_load(a->type, a->values, (size_t)p * values + (size_t)(c * bs + r));
      const double there =
          q < 0 ? 0.0
                : bsi_value_load(a->type, a->values, (size_t)q * values + (size_t)(r * bs + c));
      if (here == there) continue;
      const double difference = fabs(here - there);
      const double diagonal =
          sqrt(fabs(bsi_square_diagonal(a, i, r))) * sqrt(fabs(bsi_square_diagonal(a, j, c)));
      const double scale = fmax(fmax(fabs(here), fabs(there)), diagonal);
      /* the difference may overflow */
      const double quotient = difference < 2.0 * scale ? difference / scale : 2.0;
      if (quotient > largest) largest = quotient;
    }
  return largest;
}

/* Returns where block (j, i) is on most meshes, on which the columns of rows i and j are mirrored.
 * (i, j) is block p. At least one block is before the end of row j there. */
BSI_INLINE int32_t bsi_guess_mirror(const int32_t *row_ptr, int32_t i, int32_t p, int32_t j) {
  return row_ptr[j + 1] - 1 - (p - row_ptr[i]);
}

/* Returns the index of block (j, i), or −1. */
BSI_INLINE int32_t bsi_find_mirror(const int32_t *row_ptr, const int32_t *col_idx, int32_t i,
                                   int32_t p, int32_t j) {
  const int32_t guess = bsi_guess_mirror(row_ptr, i, p, j);
  if (guess >= row_ptr[j] && col_idx[guess] == i) return guess;
  return bsi_find_column(col_idx, row_ptr[j], row_ptr[j + 1], i);
}

/* Returns the largest quotient of block p of block row i with its mirror image. A pair of blocks is
 * measured at the block above the diagonal. */
BSI_INLINE double bsi_asymmetry_of_block(const bsi_square *a, int32_t i, int32_t p,
                                         bool *mirrored) {
  const int32_t j = a->col_idx[p];
  const int32_t q = j == i ? p : bsi_find_mirror(a->row_ptr, a->col_idx, i, p, j);
  if (q < 0) *mirrored = false;
  return q >= 0 && j < i ? 0.0 : bsi_asymmetry_of_blocks(a, i, j, p, q);
}

#endif
