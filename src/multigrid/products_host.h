/* SPDX-License-Identifier: BSD-3-Clause */
/* What the products of sparse matrices on the host share. */
#ifndef BSI_PRODUCTS_HOST_H
#define BSI_PRODUCTS_HOST_H

#include "core/block_math.h"
#include "multigrid/multigrid_ops.h"

/* The places of the columns of a row, by a hash. */
enum { BSI_PLACE_BITS = 10, BSI_PLACES = 1 << BSI_PLACE_BITS };

/* Returns the hash of a column, of `bits` bits. */
BSI_INLINE uint32_t bsi_hash_of(int32_t column, int bits) {
  return (uint32_t)column * UINT32_C(0x9e3779b1) >> (32 - bits);
}

/* Writes the places of the columns begin … end − 1. `places` has BSI_PLACES numbers. Every column
 * of the row writes one of them, so that what other rows have left is not read. */
BSI_INLINE void bsi_places_set(const int32_t *col_idx, int32_t begin, int32_t end,
                               int32_t *places) {
  for (int32_t at = begin; at < end; at++) places[bsi_hash_of(col_idx[at], BSI_PLACE_BITS)] = at;
}

/* Returns the place of a column that the row has. */
BSI_INLINE int32_t bsi_place_of(const int32_t *col_idx, int32_t begin, int32_t end, int32_t column,
                                const int32_t *places) {
  const int32_t at = places[bsi_hash_of(column, BSI_PLACE_BITS)];
  return col_idx[at] == column ? at : bsi_lower_bound(col_idx, begin, end, column);
}

/* c ← c + a b for an h × m block a and an m × w block b. NULL: the identity */
BSI_INLINE void bsi_product_add(const int h, const int m, const int w, const double *a,
                                const double *b, double *c) {
  for (int j = 0; j < w; j++) {
    bsi_column sum;
    bsi_column_load(h, &sum, c + j * h);
    if (a && b)
      for (int k = 0; k < m; k++) bsi_column_add(h, &sum, a + k * h, b[j * m + k]);
    else if (a || b)
      bsi_column_add(h, &sum, (a ? a : b) + j * h, 1.0);
    bsi_column_store(h, &sum, c + j * h);
    if (!a && !b) c[j * h + j] += 1.0;
  }
}

/* row_ptr[i + 1] has the length of row i. Adds the lengths up. *total ← their sum. `what` is named
 * if there are too many. */
bisai_status bsi_lengths_add(bisai_context *context, const char *what, int32_t rows,
                             int32_t *row_ptr, int32_t *total);

#endif
