/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of the kernel for short rows of products (multigrid/spgemm/short_rows_cuda.cuh). They are
 * apart from it, so that tests without a device can ask for sizes that no matrix of a test has. */
#ifndef BSI_SHORT_ROWS_H
#define BSI_SHORT_ROWS_H

#include "core/block/column.h"

/* Returns the bytes of shared memory of a thread block of `threads` threads: a row of `longest`
 * blocks of C for each thread, `window` blocks of A, and a value for their alignment.
 *   height, inner: the rows and the columns of a block of A. A block of C has as many rows */
BSI_INLINE size_t bsi_short_rows_bytes(const int32_t longest, const int32_t window,
                                       const int threads, const int height, const int inner) {
  const size_t row = (size_t)longest * (size_t)height, block = (size_t)height * (size_t)inner;
  return sizeof(double) * (row * (size_t)threads + (size_t)window * block + 1);
}

/* Returns the end of the first `window` blocks of begin … end − 1, or of all if they are fewer. */
BSI_INLINE int32_t bsi_window_end(const int32_t begin, const int32_t end, const int32_t window) {
  return end - begin > window ? begin + window : end;
}

#endif
