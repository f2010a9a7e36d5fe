/* SPDX-License-Identifier: BSD-3-Clause */
#include "empties.h"

#include <stdlib.h>

bool empties_find(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const double *values,
                  empties *e) {
  bool *seen = calloc((size_t)n + 1, sizeof *seen);
  *e = (empties){0};
  if (!seen) return false;
  for (int32_t i = 0; i < n; i++) {
    bool any = false;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      if (values && values[p] == 0) continue;
      any = seen[col_idx[p]] = true;
    }
    if (!any && e->rows++ == 0) e->first_row = i;
  }
  for (int32_t j = 0; j < n; j++)
    if (!seen[j] && e->columns++ == 0) e->first_column = j;
  free(seen);
  return true;
}

bool empties_exist(const bisai_bcsr *matrix) {
  const int32_t n = bisai_bcsr_block_rows(matrix);
  const size_t blocks = (size_t)bisai_bcsr_blocks(matrix);
  int32_t *row_ptr = malloc(((size_t)n + 1) * sizeof *row_ptr),
          *col_idx = malloc((blocks + 1) * sizeof *col_idx);
  empties e = {0};
  if (row_ptr && col_idx && !bisai_bcsr_fetch(matrix, row_ptr, col_idx, NULL))
    empties_find(n, row_ptr, col_idx, NULL, &e);
  free(row_ptr);
  free(col_idx);
  return e.rows + e.columns > 0;
}
