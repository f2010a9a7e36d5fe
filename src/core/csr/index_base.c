/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/csr/index_base.h"

#include "core/matrix/bcsr_impl.h"

/* Columns below 1 become −1, which is out of range too. */
static void copy_columns(int32_t count, const int32_t *from, int32_t *to) {
  for (int32_t p = 0; p < count; p++) to[p] = from[p] < 1 ? -1 : from[p] - 1;
}

static bisai_status copy_rows(bisai_context *context, const char *what, int32_t rows,
                              const int32_t *from, int32_t *to) {
  if (from[0] != 1)
    return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                    "row_ptr begins with %d, and with 1 for index_base 1", from[0]);
  for (int32_t i = 0; i <= rows; i++) to[i] = from[i] < 1 ? -1 : from[i] - 1;
  return bsi_check_row_ptr(context, what, rows, to);
}

static bisai_status make(bisai_context *context, const char *what, int32_t rows,
                         const int32_t *row_ptr, const int32_t *col_idx, bsi_index_copies *copies) {
  copies->row_ptr = bsi_allocate(context, (size_t)rows + 1, sizeof *copies->row_ptr);
  if (!copies->row_ptr) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(copy_rows(context, what, rows, row_ptr, copies->row_ptr));
  if (!col_idx) return BISAI_OK;
  const int32_t count = copies->row_ptr[rows];
  copies->col_idx = bsi_allocate(context, (size_t)count, sizeof *copies->col_idx);
  if (!copies->col_idx) return BISAI_OUT_OF_MEMORY;
  copy_columns(count, col_idx, copies->col_idx);
  return BISAI_OK;
}

bisai_status bsi_index_copies_make(bisai_context *context, int32_t index_base, const char *what,
                                   int32_t rows, const int32_t **row_ptr, const int32_t **col_idx,
                                   bsi_index_copies *copies) {
  *copies = (bsi_index_copies){0};
  if (index_base != 0 && index_base != 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "index_base %d: 0 and 1 are possible",
                    index_base);
  if (index_base == 0 || !*row_ptr || rows < 0) return BISAI_OK;
  const bisai_status status = make(context, what, rows, *row_ptr, *col_idx, copies);
  if (status) {
    bsi_index_copies_release(context, copies);
    return status;
  }
  *row_ptr = copies->row_ptr;
  *col_idx = copies->col_idx;
  return BISAI_OK;
}

void bsi_index_copies_release(bisai_context *context, bsi_index_copies *copies) {
  bsi_release(context, copies->row_ptr);
  bsi_release(context, copies->col_idx);
  *copies = (bsi_index_copies){0};
}

bisai_status bisai_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc,
                               bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_create: %s is NULL",
                    desc ? "matrix" : "desc");
  bisai_bcsr_desc zero;
  bsi_index_copies copies = {0};
  bisai_status status =
      bsi_check_struct(context, "bisai_bcsr_desc", desc->struct_size, sizeof *desc);
  if (!status && desc->index_base == 1 &&
      (desc->ownership != BISAI_COPY || desc->location != BISAI_HOST))
    status = bsi_fail(context, BISAI_INVALID_ARGUMENT,
                      "index_base 1: the arrays must be in host memory and copied");
  if (!status) {
    zero = *desc;
    zero.index_base = 0;
    status = bsi_index_copies_make(context, desc->index_base, "block row", desc->block_rows,
                                   &zero.row_ptr, &zero.col_idx, &copies);
  }
  if (!status) status = bsi_bcsr_create(context, &zero, matrix);
  bsi_index_copies_release(context, &copies);
  return status;
}
