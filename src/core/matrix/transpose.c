/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes: of a structure, on the host, and of a matrix. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"

#include <string.h>

bisai_status bsi_structure_transpose(bisai_context *context, int32_t n, const int32_t *row_ptr,
                                     const int32_t *col_idx, int32_t **col_ptr, int32_t **row_idx,
                                     int32_t *position) {
  int32_t *ptr = bsi_allocate(context, (size_t)n + 1, sizeof *ptr);
  int32_t *idx = ptr ? bsi_allocate(context, (size_t)row_ptr[n], sizeof *idx) : NULL;
  if (!idx) {
    bsi_release(context, ptr);
    return BISAI_OUT_OF_MEMORY;
  }
  memset(ptr, 0, ((size_t)n + 1) * sizeof *ptr);
  for (int32_t q = 0; q < row_ptr[n]; q++) ptr[col_idx[q] + 1]++;
  for (int32_t j = 0; j < n; j++) ptr[j + 1] += ptr[j];
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      const int32_t to = ptr[col_idx[q]]++;
      idx[to] = i;
      if (position) position[to] = q;
    }
  memmove(ptr + 1, ptr, (size_t)n * sizeof *ptr);
  ptr[0] = 0;
  *col_ptr = ptr;
  *row_idx = idx;
  return BISAI_OK;
}

/* Block q of `to`, which has the structure, ← the transpose of block position[q] of A. */
static bisai_status take_blocks(const bisai_bcsr *a, const int32_t *position, bisai_bcsr *to) {
  bisai_context *context = a->context;
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t blocks = (size_t)a->blocks;
  int32_t *order = memory->allocate(context, blocks, sizeof *order);
  if (!order) return BISAI_OUT_OF_MEMORY;
  bisai_status status = memory->upload(context, order, position, blocks * sizeof *order);
  if (!status)
    status = context->backend->matrix->blocks->copy_blocks(
        context, a->type, a->block_size, a->blocks, BISAI_ROW_MAJOR, order, a->values, to->values);
  memory->release(context, order);
  return status;
}

bisai_status bsi_bcsr_transpose(const bisai_bcsr *a, bisai_bcsr **transposed) {
  bisai_context *context = a->context;
  const int32_t n = a->block_rows;
  int32_t *row_ptr = NULL, *col_idx = NULL;
  bisai_bcsr *made = NULL;
  bsi_structure s;
  bisai_status status = bsi_bcsr_structure(a, &s);
  if (status) return status;
  int32_t *position = bsi_allocate(context, (size_t)a->blocks, sizeof *position);
  status = position ? bsi_structure_transpose(context, n, s.row_ptr, s.col_idx, &row_ptr, &col_idx,
                                              position)
                    : BISAI_OUT_OF_MEMORY;
  if (!status)
    status = bsi_bcsr_reserve(context, &(bsi_bcsr_sizes){n, n, a->block_size, a->blocks, a->type},
                              NULL, NULL, &made);
  if (!status) status = bsi_bcsr_set_structure(made, row_ptr, col_idx);
  if (!status) status = take_blocks(a, position, made);
  bsi_release(context, position);
  bsi_release(context, row_ptr);
  bsi_release(context, col_idx);
  if (status) {
    bisai_bcsr_destroy(&made);
    return status;
  }
  made->unit_diagonal = a->unit_diagonal;
  made->row_names = a->row_names;
  *transposed = made;
  return BISAI_OK;
}
