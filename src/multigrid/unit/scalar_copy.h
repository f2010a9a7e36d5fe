/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of a block matrix A with a matrix S of single values, compiled for both backends.
 * Products with A are products with S if S has all nonzero values of A, and no others but zeros. */
#ifndef BSI_SCALAR_COPY_H
#define BSI_SCALAR_COPY_H

#include "core/block/block_math.h"

/* Returns true if scalar row r of block row i of A has the values of row i·bs + r of S. A NaN
 * equals nothing. */
BSI_INLINE bool bsi_split_row_is_equal(const int bs, const int32_t *row_ptr, const int32_t *col_idx,
                                       const void *values, const int32_t *s_ptr,
                                       const int32_t *s_col, const void *s_values, int32_t i,
                                       int r) {
  const double *v = (const double *)values, *s = (const double *)s_values;
  const int32_t row = i * bs + r, end = s_ptr[row + 1];
  int32_t at = s_ptr[row];
  bool equal = true;
  for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const double value = v[((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r];
      const bool there = at < end && s_col[at] == col_idx[p] * bs + c;
      equal = equal && value == (there ? s[at] : 0.0);
      if (there) at++;
    }
  return equal && at == end;
}

#endif
