/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependency levels of the blocks below the diagonal: row i is one level above the highest of the
 * rows j < i to which it is coupled. Levels of the first rows do not depend on later ones. */
#include "study/parts.h"

/* Rows and blocks that are looked at: about a millisecond. */
enum { FIRST_BLOCKS = 1 << 19 };

int32_t bsi_study_levels_of(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx,
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

/* Returns how many of the first rows have FIRST_BLOCKS blocks or less. */
static int32_t rows_within(int32_t rows, const int32_t *row_ptr) {
  int32_t low = 0, high = rows;
  while (low < high) {
    const int32_t middle = high - (high - low) / 2;
    if (row_ptr[middle] <= FIRST_BLOCKS)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

bisai_status bsi_study_fetch_rows(bisai_context *context, const bsi_study_view *a,
                                  bsi_first_rows *first) {
  const bsi_memory_ops *memory = context->backend->memory;
  const int32_t most = a->block_rows < FIRST_BLOCKS ? a->block_rows : FIRST_BLOCKS;
  *first = (bsi_first_rows){.row_ptr = a->row_ptr, .col_idx = a->col_idx};
  if (!memory->is_host) {
    first->own_ptr = bsi_allocate(context, (size_t)most + 1, sizeof *first->own_ptr);
    if (!first->own_ptr) return BISAI_OUT_OF_MEMORY;
    BSI_TRY(memory->fetch(context, first->own_ptr, a->row_ptr,
                          ((size_t)most + 1) * sizeof *first->own_ptr));
    first->row_ptr = first->own_ptr;
  }
  first->rows = rows_within(most, first->row_ptr);
  const size_t blocks = (size_t)first->row_ptr[first->rows];
  if (memory->is_host || blocks == 0) return BISAI_OK;
  first->own_idx = bsi_allocate(context, blocks, sizeof *first->own_idx);
  first->col_idx = first->own_idx;
  if (!first->own_idx) return BISAI_OUT_OF_MEMORY;
  return memory->fetch(context, first->own_idx, a->col_idx, blocks * sizeof *first->own_idx);
}

void bsi_study_release_rows(bisai_context *context, bsi_first_rows *first) {
  bsi_release(context, first->own_ptr);
  bsi_release(context, first->own_idx);
  *first = (bsi_first_rows){0};
}

bisai_status bsi_study_count_levels(bisai_context *context, const bsi_study_view *a,
                                    bisai_study_order *order) {
  bsi_first_rows first;
  int32_t *level = NULL;
  bisai_status status = bsi_study_fetch_rows(context, a, &first);
  if (!status) level = bsi_allocate(context, (size_t)first.rows + 1, sizeof *level);
  if (!status && !level) status = BISAI_OUT_OF_MEMORY;
  if (!status) {
    order->level_rows = first.rows;
    order->levels = bsi_study_levels_of(first.rows, first.row_ptr, first.col_idx, level);
  }
  bsi_release(context, level);
  bsi_study_release_rows(context, &first);
  return status;
}
