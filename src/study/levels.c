/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency levels of the blocks below the diagonal: row i is one level above the highest of the
 * rows j < i to which it is coupled. Levels of the first rows do not depend on later ones. */
#include "study/parts.h"

/* Rows and blocks that are looked at: about a millisecond. */
enum { LEVEL_BLOCKS = 1 << 19 };

static int32_t levels_of(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx,
                         int32_t *level) {
  int32_t levels = 0;
  for (int32_t i = 0; i < rows; i++) {
    int32_t highest = 0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1] && col_idx[p] < i; p++)
      if (level[col_idx[p]] > highest) highest = level[col_idx[p]];
    level[i] = highest + 1;
    if (level[i] > levels) levels = level[i];
  }
  return levels;
}

/* Returns how many of the first rows have LEVEL_BLOCKS blocks or less. */
static int32_t rows_within(int32_t rows, const int32_t *row_ptr) {
  int32_t low = 0, high = rows;
  while (low < high) {
    const int32_t middle = high - (high - low) / 2;
    if (row_ptr[middle] <= LEVEL_BLOCKS)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

bisai_status bsi_study_count_levels(bisai_context *context, const bsi_study_view *a,
                                    bisai_study_order *order) {
  const bsi_memory_ops *memory = context->backend->memory;
  const int32_t most = a->block_rows < LEVEL_BLOCKS ? a->block_rows : LEVEL_BLOCKS;
  int32_t *own_ptr = NULL, *own_idx = NULL;
  int32_t *level = bsi_allocate(context, (size_t)most + 1, sizeof *level);
  bisai_status status = level ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  const int32_t *row_ptr = a->row_ptr, *col_idx = a->col_idx;
  if (!status && !memory->is_host) {
    own_ptr = bsi_allocate(context, (size_t)most + 1, sizeof *own_ptr);
    status = own_ptr
                 ? memory->fetch(context, own_ptr, a->row_ptr, ((size_t)most + 1) * sizeof *own_ptr)
                 : BISAI_OUT_OF_MEMORY;
    row_ptr = own_ptr;
  }
  const int32_t rows = !status ? rows_within(most, row_ptr) : 0;
  if (!status && !memory->is_host) {
    const size_t blocks = (size_t)row_ptr[rows];
    own_idx = bsi_allocate(context, blocks, sizeof *own_idx);
    status = own_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
    if (!status && blocks > 0)
      status = memory->fetch(context, own_idx, a->col_idx, blocks * sizeof *own_idx);
    col_idx = own_idx;
  }
  if (!status) {
    order->level_rows = rows;
    order->levels = levels_of(rows, row_ptr, col_idx, level);
  }
  bsi_release(context, level);
  bsi_release(context, own_ptr);
  bsi_release(context, own_idx);
  return status;
}
