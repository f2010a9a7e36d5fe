/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/formats/npz.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/block/values.h"
#include "core/matrix/bcsr_impl.h"

/* Begins an array of `count` elements of `bytes` bytes each. */
static void begin_array(bsi_output *output, const char *name, const char *type, const char *shape,
                        int64_t count, int bytes) {
  char member[32];
  snprintf(member, sizeof member, "%s.npy", name);
  bsi_output_begin_member(output, member, bsi_npy_write_header(NULL, type, shape) + count * bytes);
  bsi_npy_write_header(output, type, shape);
}

static void begin_vector(bsi_output *output, const char *name, const char *type, int64_t count,
                         int bytes) {
  char shape[40];
  snprintf(shape, sizeof shape, "(%" PRId64 ",)", count);
  begin_array(output, name, type, shape, count, bytes);
}

static void write_blocks(bsi_output *output, const bsi_scalar_rows *s) {
  const bisai_bcsr *a = s->matrix;
  const int bs = s->block_size;
  char shape[60];
  begin_vector(output, "indices", "<i4", a->blocks, 4);
  for (int32_t p = 0; p < a->blocks && bsi_output_good(output); p++)
    bsi_npy_write_integer(output, s->col_idx[p]);
  begin_vector(output, "indptr", "<i4", (int64_t)a->block_rows + 1, 4);
  for (int32_t i = 0; i <= a->block_rows; i++) bsi_npy_write_integer(output, s->row_ptr[i]);
  snprintf(shape, sizeof shape, "(%d, %d, %d)", a->blocks, bs, bs);
  begin_array(output, "data", "<f8", shape, (int64_t)a->blocks * bs * bs, 8);
  for (int32_t p = 0; p < a->blocks && bsi_output_good(output); p++)
    for (int row = 0; row < bs; row++)
      for (int col = 0; col < bs; col++)
        bsi_npy_write_double(
            output,
            bsi_value_load(a->type, s->values, bsi_block_offset(a, p) + (size_t)(col * bs + row)));
}

static void write_entries(bsi_output *output, const bsi_scalar_rows *s) {
  begin_vector(output, "indices", "<i4", s->entries, 4);
  for (int32_t row = 0; row < s->rows && bsi_output_good(output); row++) {
    const int32_t length = bsi_scalar_row(s, row);
    for (int32_t k = 0; k < length; k++) bsi_npy_write_integer(output, s->col[k]);
  }
  begin_vector(output, "indptr", "<i4", (int64_t)s->rows + 1, 4);
  bsi_npy_write_integer(output, 0);
  for (int32_t row = 0, end = 0; row < s->rows && bsi_output_good(output); row++)
    bsi_npy_write_integer(output, end += bsi_scalar_row(s, row));
  begin_vector(output, "data", "<f8", s->entries, 8);
  for (int32_t row = 0; row < s->rows && bsi_output_good(output); row++) {
    const int32_t length = bsi_scalar_row(s, row);
    for (int32_t k = 0; k < length; k++) bsi_npy_write_double(output, s->value[k]);
  }
}

bisai_status bsi_npz_write(bsi_output *output, const bsi_scalar_rows *s, const double *rhs) {
  const bool blocks = s->block_size > 1 && !s->matrix->unit_diagonal &&
                      s->rows == s->matrix->block_rows * s->block_size;
  if (s->entries > INT32_MAX)
    return bsi_fail(s->context, BISAI_INDEX_OVERFLOW, "more than %d entries", INT32_MAX);
  if (blocks)
    write_blocks(output, s);
  else
    write_entries(output, s);
  begin_array(output, "format", "|S3", "()", 1, 3);
  bsi_output_write(output, blocks ? "bsr" : "csr", 3);
  begin_vector(output, "shape", "<i4", 2, 4);
  bsi_npy_write_integer(output, s->rows);
  bsi_npy_write_integer(output, s->cols);
  if (!rhs) return BISAI_OK;
  begin_vector(output, "b", "<f8", s->rows, 8);
  for (int32_t i = 0; i < s->rows && bsi_output_good(output); i++)
    bsi_npy_write_double(output, rhs[i]);
  return BISAI_OK;
}
