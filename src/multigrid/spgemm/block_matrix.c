/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of sparse matrices of rectangular blocks. */
#include "multigrid/spgemm/block_matrix.h"

#include "multigrid/multigrid_ops.h"

bsi_sparse bsi_sparse_of(const bisai_bcsr *matrix) {
  return (bsi_sparse){.rows = matrix->block_rows,
                      .cols = matrix->block_cols,
                      .height = matrix->block_size,
                      .width = matrix->block_size,
                      .blocks = matrix->blocks,
                      .row_ptr = matrix->row_ptr,
                      .col_idx = matrix->col_idx,
                      .values = matrix->values};
}

bisai_status bsi_sparse_reserve_values(bisai_context *context, bsi_sparse *m) {
  m->values = context->backend->memory->allocate(context, bsi_sparse_offset(m, m->blocks),
                                                 sizeof *m->values);
  return m->values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

int64_t bsi_places_memory(const bsi_sparse *m) {
  return (m->places.before ? 4 * ((int64_t)m->rows + 1) : 0) + m->places.count;
}

int64_t bsi_sparse_memory(const bsi_sparse *m) {
  const int64_t indices = m->row_ptr ? 4 * ((int64_t)m->rows + 1 + m->blocks) : 0;
  return indices + (m->values ? 8 * (int64_t)bsi_sparse_offset(m, m->blocks) : 0) +
         bsi_places_memory(m);
}

void bsi_places_destroy(bisai_context *context, bsi_places *places) {
  context->backend->memory->release(context, places->before);
  context->backend->memory->release(context, places->of);
  *places = (bsi_places){0};
}

void bsi_sparse_destroy(bisai_context *context, bsi_sparse *m) {
  context->backend->memory->release(context, m->row_ptr);
  context->backend->memory->release(context, m->col_idx);
  context->backend->memory->release(context, m->values);
  bsi_places_destroy(context, &m->places);
  *m = (bsi_sparse){0};
}

bisai_status bsi_smooth_product(bisai_context *context, const bsi_smoothing *s, bsi_sparse *c) {
  const bsi_transfer_ops *ops = context->backend->multigrid->transfer;
  return s->from_right ? ops->smooth_restriction(context, s->t, s->inverse, s->omega, c)
                       : ops->smooth(context, s->t, s->inverse, s->omega, c);
}
