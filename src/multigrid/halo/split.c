/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/halo/split.h"

bisai_status bsi_split_create(bisai_context *context, const bsi_block_matrix *m, int32_t own,
                              int64_t least, bsi_split *split) {
  const int64_t bytes =
      (int64_t)(bsi_block_matrix_offset(m, m->blocks) * sizeof *m->values) + 4 * (int64_t)m->blocks;
  *split = (bsi_split){.rows = m->rows};
  if (m->cols <= own || m->rows == 0 || bytes < least) return BISAI_OK;
  split->order = context->backend->memory->allocate(context, (size_t)m->rows, sizeof *split->order);
  if (!split->order) return BISAI_OUT_OF_MEMORY;
  const bisai_status status = BSI_ON_BACKEND(context, bsi_order_rows)(
      context, m->rows, m->row_ptr, m->col_idx, own, split->order, &split->inner);
  if (split->inner == 0 || split->inner == split->rows || bytes / m->rows * split->inner < least)
    bsi_split_destroy(context, split);
  return status;
}

int64_t bsi_split_memory(const bsi_split *split) {
  return split->order ? (int64_t)split->rows * (int64_t)sizeof *split->order : 0;
}

void bsi_split_destroy(bisai_context *context, bsi_split *split) {
  context->backend->memory->release(context, split->order);
  *split = (bsi_split){0};
}

bisai_status bsi_order_rows_host(bisai_context *context, int32_t rows, const int32_t *row_ptr,
                                 const int32_t *col_idx, int32_t own, int32_t *order,
                                 int32_t *inner) {
  int32_t to = 0;
  (void)context;
  for (int border = 0; border < 2; border++) {
    for (int32_t i = 0; i < rows; i++) {
      const bool at_border = row_ptr[i + 1] > row_ptr[i] && col_idx[row_ptr[i + 1] - 1] >= own;
      if (at_border == (border != 0)) order[to++] = i;
    }
    if (!border) *inner = to;
  }
  return BISAI_OK;
}
