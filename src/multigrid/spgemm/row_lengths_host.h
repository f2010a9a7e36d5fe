/* SPDX-License-Identifier: BSD-3-Clause */
/* Row pointers from the lengths of rows, on the host. */
#ifndef BSI_ROW_LENGTHS_HOST_H
#define BSI_ROW_LENGTHS_HOST_H

#include "core/context/context_impl.h"

/* row_ptr[i + 1] has the length of row i. Adds the lengths up. *total ← their sum. `what` is named
 * if there are too many. */
static inline bisai_status bsi_add_lengths(bisai_context *context, const char *what, int32_t rows,
                                           int32_t *row_ptr, int32_t *total) {
  int64_t sum = 0;
  row_ptr[0] = 0;
  for (int32_t i = 0; i < rows; i++) {
    sum += row_ptr[i + 1];
    if (sum > INT32_MAX)
      return bsi_fail(context, BISAI_INDEX_OVERFLOW, "row %d: %s has more than %d blocks", i, what,
                      INT32_MAX);
    row_ptr[i + 1] = (int32_t)sum;
  }
  *total = (int32_t)sum;
  return BISAI_OK;
}

#endif
