/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/scalar_rows.h"

#include <math.h>
#include <string.h>

#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"

/* *host ← an array of the matrix in host memory. */
static bisai_status to_host(bsi_scalar_rows *s, int which, const void *array, size_t bytes,
                            const void **host) {
  *host = array;
  if (s->context->backend->memory->is_host) return BISAI_OK;
  s->copies[which] = bsi_allocate(s->context, bytes, 1);
  *host = s->copies[which];
  return *host ? s->context->backend->memory->fetch(s->context, s->copies[which], array, bytes)
               : BISAI_OUT_OF_MEMORY;
}

static bisai_status arrays_to_host(bsi_scalar_rows *s) {
  const bisai_bcsr *a = s->matrix;
  const size_t blocks = (size_t)a->blocks;
  const void *row_ptr = NULL, *col_idx = NULL;
  BSI_TRY(to_host(s, 0, a->row_ptr, ((size_t)a->block_rows + 1) * sizeof *a->row_ptr, &row_ptr));
  BSI_TRY(to_host(s, 1, a->col_idx, blocks * sizeof *a->col_idx, &col_idx));
  BSI_TRY(to_host(s, 2, a->values, bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type),
                  &s->values));
  s->row_ptr = row_ptr;
  s->col_idx = col_idx;
  return BISAI_OK;
}

static bisai_status make_room(bsi_scalar_rows *s) {
  int32_t longest = 0;
  for (int32_t i = 0; i < s->matrix->block_rows; i++) {
    const int32_t blocks = s->row_ptr[i + 1] - s->row_ptr[i];
    if (blocks > longest) longest = blocks;
  }
  const size_t room = (size_t)longest * (size_t)s->block_size + 1;
  s->col = bsi_allocate(s->context, room, sizeof *s->col);
  s->value = s->col ? bsi_allocate(s->context, room, sizeof *s->value) : NULL;
  return s->value ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* Leaves out the padding inside the blocks. */
static bisai_status find_padding(bsi_scalar_rows *s) {
  const bsi_places *places = &s->matrix->kept.places;
  const int32_t all = s->matrix->block_rows * s->block_size;
  if (!places->host) return BISAI_OK;
  s->kept = bsi_allocate(s->context, (size_t)s->rows, sizeof *s->kept);
  s->number = s->kept ? bsi_allocate(s->context, (size_t)all, sizeof *s->number) : NULL;
  if (!s->number) return BISAI_OUT_OF_MEMORY;
  memset(s->number, 0xff, (size_t)all * sizeof *s->number); /* -1 */
  for (int32_t i = 0; i < places->rows; i++) s->number[places->host[i]] = i;
  for (int32_t row = 0, next = 0; row < all; row++) {
    if (s->number[row] < 0) continue;
    s->kept[next] = row;
    s->number[row] = next++;
  }
  return BISAI_OK;
}

static bisai_status count(bsi_scalar_rows *s) {
  for (int32_t row = 0; row < s->rows; row++) {
    const int32_t length = bsi_scalar_row(s, row);
    for (int32_t k = 0; k < length; k++)
      if (!isfinite(s->value[k]))
        return bsi_fail(s->context, BISAI_NOT_FINITE,
                        "entry (%d, %d), counted from 0, is NaN or infinity", row, s->col[k]);
    s->entries += length;
  }
  return BISAI_OK;
}

bisai_status bsi_scalar_rows_open(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_scalar_rows *s) {
  const int32_t padding = bisai_bcsr_padding(matrix);
  *s = (bsi_scalar_rows){.matrix = matrix,
                         .context = context,
                         .rows = matrix->rows,
                         .cols = matrix->block_cols * matrix->block_size - padding,
                         .block_size = matrix->block_size};
  bisai_status status = arrays_to_host(s);
  if (!status) status = make_room(s);
  if (!status) status = find_padding(s);
  if (!status) status = count(s);
  if (status) bsi_scalar_rows_close(s);
  return status;
}

void bsi_scalar_rows_close(bsi_scalar_rows *s) {
  for (int i = 0; i < 3; i++) bsi_release(s->context, s->copies[i]);
  bsi_release(s->context, s->kept);
  bsi_release(s->context, s->number);
  bsi_release(s->context, s->col);
  bsi_release(s->context, s->value);
  *s = (bsi_scalar_rows){.context = s->context};
}

static double value_at(const bsi_scalar_rows *s, int32_t block, int32_t row, int32_t col) {
  const size_t index =
      bsi_block_offset(s->matrix, block) + (size_t)col * (size_t)s->block_size + (size_t)row;
  return bsi_value_load(s->matrix->type, s->values, index);
}

static bool is_zero(const bsi_scalar_rows *s, int32_t block) {
  for (int32_t col = 0; col < s->block_size; col++)
    for (int32_t row = 0; row < s->block_size; row++)
      if (value_at(s, block, row, col) != 0.0) return false;
  return true;
}

/* Appends an entry of a column of the blocks, unless it is padding. */
static int32_t append(const bsi_scalar_rows *s, int32_t length, int32_t col, double value) {
  const int32_t number = s->number ? s->number[col] : col;
  if (number < 0 || number >= s->cols) return length;
  s->col[length] = number;
  s->value[length] = value;
  return length + 1;
}

int32_t bsi_scalar_row(const bsi_scalar_rows *s, int32_t number) {
  const int32_t row = s->kept ? s->kept[number] : number;
  const int32_t bs = s->block_size, block_row = row / bs, end = s->row_ptr[block_row + 1];
  bool implied = s->matrix->unit_diagonal; /* its diagonal has not been added yet */
  int32_t length = 0;
  for (int32_t p = s->row_ptr[block_row]; p < end; p++) {
    if (implied && s->col_idx[p] > block_row) {
      length = append(s, length, row, 1.0);
      implied = false;
    }
    const int32_t first = s->col_idx[p] * bs;
    const bool all = is_zero(s, p);
    for (int32_t j = 0; j < bs; j++) {
      const double value = value_at(s, p, row % bs, j);
      if (all || value != 0.0) length = append(s, length, first + j, value);
    }
  }
  return implied ? append(s, length, row, 1.0) : length;
}
