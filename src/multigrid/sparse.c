/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of sparse matrices of rectangular blocks. */
#include "multigrid/sparse.h"

bsi_sparse bsi_sparse_of(const bisai_bcsr *matrix) {
  return (bsi_sparse){matrix->block_rows, matrix->block_cols, matrix->block_size,
                      matrix->block_size, matrix->blocks,     matrix->row_ptr,
                      matrix->col_idx,    matrix->values,     0};
}

bisai_status bsi_sparse_reserve_values(bisai_context *context, bsi_sparse *m) {
  m->values = context->backend->memory->allocate(context, bsi_sparse_offset(m, m->blocks),
                                                 sizeof *m->values);
  return m->values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

int64_t bsi_sparse_memory(const bsi_sparse *m) {
  const int64_t indices = m->row_ptr ? 4 * ((int64_t)m->rows + 1 + m->blocks) : 0;
  return indices + (m->values ? 8 * (int64_t)bsi_sparse_offset(m, m->blocks) : 0);
}

void bsi_sparse_destroy(bisai_context *context, bsi_sparse *m) {
  context->backend->memory->release(context, m->row_ptr);
  context->backend->memory->release(context, m->col_idx);
  context->backend->memory->release(context, m->values);
  *m = (bsi_sparse){0};
}
