/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of sparse matrices of rectangular blocks. */
#include "multigrid/spgemm/block_matrix.h"

#include "core/block/values.h"
#include "core/context/context_impl.h"

bsi_block_matrix bsi_block_matrix_of(const bisai_bcsr *matrix) {
  return (bsi_block_matrix){.rows = matrix->block_rows,
                            .cols = matrix->block_cols,
                            .height = matrix->block_size,
                            .width = matrix->block_size,
                            .blocks = matrix->blocks,
                            .row_ptr = matrix->row_ptr,
                            .col_idx = matrix->col_idx,
                            .values = matrix->values};
}

bisai_status bsi_block_matrix_reserve_values(bisai_context *context, bsi_block_matrix *m) {
  m->values = context->backend->memory->allocate(context, bsi_block_matrix_offset(m, m->blocks),
                                                 sizeof *m->values);
  return m->values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

int64_t bsi_product_slots_memory(const bsi_block_matrix *m) {
  const int64_t arrays = (m->slots.before ? 1 : 0) + (m->slots.upper ? 1 : 0);
  return 4 * arrays * ((int64_t)m->rows + 1) + m->slots.count;
}

int64_t bsi_block_matrix_memory(const bsi_block_matrix *m) {
  const int64_t indices = m->row_ptr ? 4 * ((int64_t)m->rows + 1 + m->blocks) : 0;
  return indices + (m->values ? 8 * (int64_t)bsi_block_matrix_offset(m, m->blocks) : 0) +
         bsi_product_slots_memory(m);
}

void bsi_product_slots_destroy(bisai_context *context, bsi_product_slots *slots) {
  bsi_product_slots_release(context, slots);
  context->backend->memory->release(context, slots->upper);
  *slots = (bsi_product_slots){0};
}

void bsi_product_slots_release(bisai_context *context, bsi_product_slots *slots) {
  context->backend->memory->release(context, slots->before);
  context->backend->memory->release(context, slots->of);
  slots->before = NULL;
  slots->of = NULL;
  slots->count = 0;
}

void bsi_matrix_release_values(bisai_bcsr *matrix) {
  if (!matrix->owns_values) return;
  matrix->context->backend->memory->release(matrix->context, matrix->values);
  matrix->values = NULL;
  matrix->owns_values = false;
}

bisai_status bsi_matrix_renew_values(bisai_bcsr *matrix) {
  if (matrix->values) return BISAI_OK;
  matrix->values = matrix->context->backend->memory->allocate(
      matrix->context, bsi_block_offset(matrix, matrix->blocks), bsi_value_bytes(matrix->type));
  matrix->owns_values = matrix->values != NULL;
  return matrix->values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

void bsi_block_matrix_destroy(bisai_context *context, bsi_block_matrix *m) {
  context->backend->memory->release(context, m->row_ptr);
  context->backend->memory->release(context, m->col_idx);
  context->backend->memory->release(context, m->values);
  bsi_product_slots_destroy(context, &m->slots);
  *m = (bsi_block_matrix){0};
}

bisai_status bsi_block_matrix_adopt(bisai_context *context, bsi_block_matrix *s,
                                    bisai_bcsr **matrix) {
  const bisai_status status = bsi_bcsr_reserve(
      context, &(bsi_bcsr_sizes){s->rows, s->cols, s->width, s->blocks, BISAI_FP64}, s->row_ptr,
      s->col_idx, matrix);
  if (status)
    bsi_block_matrix_destroy(context, s);
  else
    (*matrix)->owns_structure = true;
  return status;
}
