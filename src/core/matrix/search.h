/* SPDX-License-Identifier: BSD-3-Clause */
/* Binary search among ascending columns. C searches arrays. C++ and CUDA search whatever has an
 * operator[]: arrays, also those behind a cache (gpu/read_only.cuh), and rows made of two
 * arrays. */
#ifndef BSI_SEARCH_H
#define BSI_SEARCH_H

#include <stdint.h>

#include "core/block/column.h"

#ifdef __cplusplus
#define BSI_SEARCH template <typename bsi_ascending> BSI_INLINE
#else
#define BSI_SEARCH BSI_INLINE
typedef const int32_t *bsi_ascending;
#endif

/* Returns the first index from `low` on whose column is not less than `column`, or `high`. */
BSI_SEARCH int32_t bsi_lower_bound(bsi_ascending columns, int32_t low, int32_t high,
                                   int32_t column) {
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Returns the index of `column` from `low` on and below `high`, or -1. */
BSI_SEARCH int32_t bsi_find_column(bsi_ascending columns, int32_t low, int32_t high,
                                   int32_t column) {
  const int32_t at = bsi_lower_bound(columns, low, high, column);
  return at < high && columns[at] == column ? at : -1;
}

/* Returns the index of the diagonal block of row i of a structure, or -1. */
BSI_INLINE int32_t bsi_find_diagonal(const int32_t *row_ptr, const int32_t *col_idx, int32_t i) {
  const int32_t end = row_ptr[i + 1];
  return bsi_find_column(col_idx, row_ptr[i], end, i);
}

#undef BSI_SEARCH

#endif
