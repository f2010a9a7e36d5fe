/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares out loops of the host backend over the threads of a context. Work is cut by index, so that
 * results do not depend on the number of threads. */
#ifndef BSI_PARALLEL_H
#define BSI_PARALLEL_H

#include <stdint.h>

#include "core/threads/team.h"

/* Returns the first item of part `part` of `parts`, of n items. */
static inline int64_t bsi_share(int64_t n, int part, int parts) {
  return n / parts * part + (n % parts) * part / parts;
}

/* Items begin … end − 1. */
typedef struct bsi_range {
  int64_t begin, end;
} bsi_range;

/* Returns the items of a part, of n items. */
static inline bsi_range bsi_range_of(int64_t n, bsi_part part) {
  return (bsi_range){bsi_share(n, part.index, part.count),
                     bsi_share(n, part.index + 1, part.count)};
}

/* Returns the first row of part `part`. The weight of a row is its number of blocks plus 1. */
static inline int32_t bsi_share_rows(int32_t n, const int32_t *row_ptr, int part, int parts) {
  const int64_t goal = bsi_share((int64_t)row_ptr[n] + n, part, parts);
  int32_t low = 0, high = n;
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if ((int64_t)row_ptr[middle] + middle < goal)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Rows begin … end − 1. */
typedef struct bsi_rows {
  int32_t begin, end;
} bsi_rows;

/* Returns the rows of a part, of n rows. The weight of a row is its number of blocks plus 1. */
static inline bsi_rows bsi_rows_of(int32_t n, const int32_t *row_ptr, bsi_part part) {
  return (bsi_rows){bsi_share_rows(n, row_ptr, part.index, part.count),
                    bsi_share_rows(n, row_ptr, part.index + 1, part.count)};
}

/* Returns how many threads to use for `work` units, so that each has at least `grain` of them. */
static inline int bsi_threads_for(int threads, int64_t work, int64_t grain) {
  const int64_t useful = work / grain;
  return useful < 1 ? 1 : useful < threads ? (int)useful : threads;
}

#endif
