/* BCSR matrices: checked creation, values, accessors. Layout in <bisai/bcsr.h>. */
#include "core/bcsr.h"

#include <stdlib.h>
#include <string.h>

#include "core/values.h"

bisai_bcsr_desc bisai_bcsr_desc_default(void) { return (bisai_bcsr_desc){.struct_size = sizeof(bisai_bcsr_desc)}; }

size_t bsi_value_size(bisai_value_type type) {
  switch (type) {
  case BISAI_FP64: return 8;
  case BISAI_FP32: return 4;
  case BISAI_FP16:
  case BISAI_BF16: return 2;
  }
  return 0;
}

static bisai_status check_desc(bisai_context *context, const bisai_bcsr_desc *d) {
  const bisai_status status = bsi_check_struct(context, "bisai_bcsr_desc", d->struct_size, sizeof *d);
  if (status) return status;
  if (d->block_size < 1 || d->block_size > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block size %d is outside 1 … %d", d->block_size,
                    BISAI_MAX_BLOCK_SIZE);
  if (d->block_rows < 0 || d->block_cols < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "negative size: %d block rows, %d block columns", d->block_rows,
                    d->block_cols);
  if ((int64_t)d->block_rows * d->block_size > INT32_MAX || (int64_t)d->block_cols * d->block_size > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW, "%d × %d blocks of size %d: more than %d scalar rows or columns",
                    d->block_rows, d->block_cols, d->block_size, INT32_MAX);
  if (bsi_value_size(d->value_type) == 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown value type %d", (int)d->value_type);
  if (d->layout != BISAI_COLUMN_MAJOR && d->layout != BISAI_ROW_MAJOR)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown block layout %d", (int)d->layout);
  if (d->ownership != BISAI_COPY && d->ownership != BISAI_BORROW)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown ownership %d", (int)d->ownership);
  if (d->ownership == BISAI_BORROW && d->layout == BISAI_ROW_MAJOR && d->block_size > 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row-major blocks cannot be borrowed: copy them");
  if (d->location != BISAI_HOST && d->location != BISAI_DEVICE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown location %d", (int)d->location);
  if (d->location == BISAI_DEVICE && context->backend->kind == BISAI_BACKEND_HOST)
    return bsi_fail(context, BISAI_UNAVAILABLE, "device arrays need a context on that device");
  if (!d->row_ptr) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row_ptr is NULL");
  return BISAI_OK;
}

bisai_status bsi_check_row_ptr(bisai_context *context, const char *row, int32_t n, const int32_t *row_ptr) {
  if (row_ptr[0] != 0) return bsi_fail(context, BISAI_INVALID_STRUCTURE, "row_ptr[0] is %d, expected 0", row_ptr[0]);
  for (int32_t i = 0; i < n; i++)
    if (row_ptr[i + 1] < row_ptr[i])
      return bsi_fail(context, BISAI_INVALID_STRUCTURE, "%s %d: row_ptr decreases from %d to %d", row, i, row_ptr[i],
                      row_ptr[i + 1]);
  return BISAI_OK;
}

/* Sets *sorted to whether every row's columns ascend; duplicates are judged here only where they do. */
static bisai_status check_structure(bisai_context *context, const bisai_bcsr_desc *d, bool *sorted) {
  const int32_t *row_ptr = d->row_ptr, *col_idx = d->col_idx;
  *sorted = true;
  const bisai_status status = bsi_check_row_ptr(context, "block row", d->block_rows, row_ptr);
  if (status) return status;
  if (row_ptr[d->block_rows] > 0 && (!col_idx || !d->values))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", col_idx ? "values" : "col_idx");
  for (int32_t i = 0; i < d->block_rows; i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const int32_t column = col_idx[p];
      if (column < 0 || column >= d->block_cols)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: column %d is outside 0 … %d", i, column,
                        d->block_cols - 1);
      if (p == row_ptr[i] || column > col_idx[p - 1]) continue;
      if (column == col_idx[p - 1])
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: column %d appears twice", i, column);
      if (d->ownership == BISAI_BORROW)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: borrowed columns must ascend, %d follows %d",
                        i, column, col_idx[p - 1]);
      *sorted = false;
    }
  return BISAI_OK;
}

static bisai_status check_values(bisai_context *context, const bisai_bcsr *a, const void *values,
                                 const int32_t *row_ptr, const int32_t *col_idx) {
  const size_t per_block = bsi_block_offset(a, 1);
  for (int32_t i = 0; i < a->block_rows; i++) {
    const size_t first = bsi_block_offset(a, row_ptr[i]), last = bsi_block_offset(a, row_ptr[i + 1]);
    for (size_t v = first; v < last; v++)
      if (!bsi_value_finite(a->type, values, v))
        return bsi_fail(context, BISAI_NOT_FINITE, "block (%d, %d) holds a NaN or infinity", i, col_idx[v / per_block]);
  }
  return BISAI_OK;
}

/* target block ← source block, transposed where the source is row-major. */
static void copy_block(const bisai_bcsr *a, bisai_layout layout, const void *source, size_t from, void *target,
                       size_t to) {
  const size_t size = bsi_value_size(a->type), bs = (size_t)a->block_size;
  const char *in = (const char *)source + from * bs * bs * size;
  char *out = (char *)target + to * bs * bs * size;
  if (layout == BISAI_COLUMN_MAJOR) {
    memcpy(out, in, bs * bs * size);
    return;
  }
  for (size_t r = 0; r < bs; r++)
    for (size_t c = 0; c < bs; c++) memcpy(out + (c * bs + r) * size, in + (r * bs + c) * size, size);
}

typedef struct entry {
  int32_t column, source;
} entry;

static int compare_columns(const void *a, const void *b) {
  const int32_t x = ((const entry *)a)->column, y = ((const entry *)b)->column;
  return (x > y) - (x < y);
}

/* Copies rows with their columns in ascending order; refuses duplicates. */
static bisai_status copy_rows(bisai_context *context, const bisai_bcsr_desc *d, entry *row, bisai_bcsr *a) {
  for (int32_t i = 0; i < d->block_rows; i++) {
    const int32_t begin = d->row_ptr[i], length = d->row_ptr[i + 1] - begin;
    for (int32_t p = 0; p < length; p++) row[p] = (entry){d->col_idx[begin + p], begin + p};
    qsort(row, (size_t)length, sizeof *row, compare_columns);
    for (int32_t p = 0; p < length; p++) {
      if (p > 0 && row[p].column == row[p - 1].column)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: column %d appears twice", i, row[p].column);
      a->col_idx[begin + p] = row[p].column;
      copy_block(a, d->layout, d->values, (size_t)row[p].source, a->values, (size_t)(begin + p));
    }
  }
  return BISAI_OK;
}

static bisai_status copy_in(bisai_context *context, const bisai_bcsr_desc *d, bool sorted, bisai_bcsr *a) {
  memcpy(a->row_ptr, d->row_ptr, ((size_t)d->block_rows + 1) * sizeof *a->row_ptr);
  if (a->blocks == 0) return BISAI_OK;
  if (sorted) {
    memcpy(a->col_idx, d->col_idx, (size_t)a->blocks * sizeof *a->col_idx);
    if (d->layout == BISAI_COLUMN_MAJOR)
      memcpy(a->values, d->values, bsi_block_offset(a, a->blocks) * bsi_value_size(a->type));
    else
      for (size_t p = 0; p < (size_t)a->blocks; p++) copy_block(a, d->layout, d->values, p, a->values, p);
    return BISAI_OK;
  }
  int32_t longest = 0;
  for (int32_t i = 0; i < d->block_rows; i++) {
    const int32_t length = d->row_ptr[i + 1] - d->row_ptr[i];
    if (length > longest) longest = length;
  }
  entry *row = bsi_allocate(context, (size_t)longest, sizeof *row);
  if (!row) return BISAI_OUT_OF_MEMORY;
  const bisai_status status = copy_rows(context, d, row, a);
  bsi_release(context, row);
  return status;
}

bisai_status bsi_bcsr_reserve(bisai_context *context, int32_t block_rows, int32_t block_cols, int32_t block_size,
                              int32_t blocks, bisai_value_type type, int32_t *row_ptr, int32_t *col_idx,
                              bisai_bcsr **matrix) {
  bisai_bcsr *a = bsi_allocate(context, 1, sizeof *a);
  if (!a) return BISAI_OUT_OF_MEMORY;
  *a = (bisai_bcsr){.context = context,
                    .block_rows = block_rows,
                    .block_cols = block_cols,
                    .block_size = block_size,
                    .blocks = blocks,
                    .rows = block_rows * block_size,
                    .type = type,
                    .owns_structure = !row_ptr,
                    .owns_values = true,
                    .row_ptr = row_ptr,
                    .col_idx = col_idx};
  const bsi_backend *backend = context->backend;
  if (!row_ptr) {
    a->row_ptr = backend->allocate(context, (size_t)block_rows + 1, sizeof *a->row_ptr);
    a->col_idx = a->row_ptr ? backend->allocate(context, (size_t)blocks, sizeof *a->col_idx) : NULL;
  }
  if (a->col_idx) a->values = backend->allocate(context, bsi_block_offset(a, blocks), bsi_value_size(type));
  if (!a->values) {
    bisai_bcsr_destroy(&a);
    return BISAI_OUT_OF_MEMORY;
  }
  *matrix = a;
  return BISAI_OK;
}

/* A matrix around the caller's arrays. */
static bisai_status borrow(bisai_context *context, const bisai_bcsr_desc *d, bisai_bcsr **matrix) {
  bisai_bcsr *a = bsi_allocate(context, 1, sizeof *a);
  if (!a) return BISAI_OUT_OF_MEMORY;
  /* Nothing ever writes through a borrowed pointer. */
  *a = (bisai_bcsr){.context = context,
                    .block_rows = d->block_rows,
                    .block_cols = d->block_cols,
                    .block_size = d->block_size,
                    .blocks = d->row_ptr[d->block_rows],
                    .rows = d->block_rows * d->block_size,
                    .type = d->value_type,
                    .row_ptr = (int32_t *)(uintptr_t)d->row_ptr,
                    .col_idx = (int32_t *)(uintptr_t)d->col_idx,
                    .values = (void *)(uintptr_t)d->values};
  *matrix = a;
  return BISAI_OK;
}

bisai_status bisai_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc, bisai_bcsr **matrix) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!desc || !matrix)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_create: %s is NULL", desc ? "matrix" : "desc");
  bool sorted;
  bisai_status status = check_desc(context, desc);
  if (!status) status = check_structure(context, desc, &sorted);
  if (status) return status;

  bisai_bcsr *a = NULL;
  if (desc->ownership == BISAI_BORROW) {
    status = borrow(context, desc, &a);
  } else {
    status = bsi_bcsr_reserve(context, desc->block_rows, desc->block_cols, desc->block_size,
                              desc->row_ptr[desc->block_rows], desc->value_type, NULL, NULL, &a);
    if (!status) status = copy_in(context, desc, sorted, a);
  }
  if (!status) status = check_values(context, a, a->values, a->row_ptr, a->col_idx);
  if (status)
    bisai_bcsr_destroy(&a);
  else
    *matrix = a;
  return status;
}

void bisai_bcsr_destroy(bisai_bcsr **matrix) {
  if (!matrix || !*matrix) return;
  bisai_bcsr *a = *matrix;
  *matrix = NULL;
  const bsi_backend *backend = a->context->backend;
  if (a->owns_structure) {
    backend->release(a->context, a->row_ptr);
    backend->release(a->context, a->col_idx);
  }
  if (a->owns_values) backend->release(a->context, a->values);
  bsi_release(a->context, a);
}

bisai_status bisai_bcsr_update(bisai_bcsr *matrix, const void *values, bisai_layout layout) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  if (!matrix->owns_values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the values are borrowed: write to your own array");
  if (!values && matrix->blocks > 0) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "values is NULL");
  if (values == matrix->values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "values is the matrix's own array, which must not be written to");
  if (layout != BISAI_COLUMN_MAJOR && layout != BISAI_ROW_MAJOR)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown block layout %d", (int)layout);
  const bisai_status status = check_values(context, matrix, values, matrix->row_ptr, matrix->col_idx);
  if (status) return status;
  for (size_t p = 0; p < (size_t)matrix->blocks; p++) copy_block(matrix, layout, values, p, matrix->values, p);
  return BISAI_OK;
}

int32_t bisai_bcsr_block_rows(const bisai_bcsr *matrix) { return matrix->block_rows; }
int32_t bisai_bcsr_block_cols(const bisai_bcsr *matrix) { return matrix->block_cols; }
int32_t bisai_bcsr_block_size(const bisai_bcsr *matrix) { return matrix->block_size; }
int32_t bisai_bcsr_blocks(const bisai_bcsr *matrix) { return matrix->blocks; }
int32_t bisai_bcsr_rows(const bisai_bcsr *matrix) { return matrix->rows; }
int32_t bisai_bcsr_padding(const bisai_bcsr *matrix) { return matrix->block_rows * matrix->block_size - matrix->rows; }
bisai_value_type bisai_bcsr_value_type(const bisai_bcsr *matrix) { return matrix->type; }
bool bisai_bcsr_unit_diagonal(const bisai_bcsr *matrix) { return matrix->unit_diagonal; }

void bisai_bcsr_arrays(const bisai_bcsr *matrix, const int32_t **row_ptr, const int32_t **col_idx,
                       const void **values) {
  if (row_ptr) *row_ptr = matrix->row_ptr;
  if (col_idx) *col_idx = matrix->col_idx;
  if (values) *values = matrix->values;
}

int64_t bsi_bcsr_memory(const bisai_bcsr *matrix) {
  int64_t bytes = (int64_t)sizeof *matrix;
  if (matrix->owns_structure) bytes += 4 * ((int64_t)matrix->block_rows + 1 + matrix->blocks);
  if (matrix->owns_values) bytes += (int64_t)(bsi_block_offset(matrix, matrix->blocks) * bsi_value_size(matrix->type));
  return bytes;
}

int64_t bsi_bcsr_product_bytes(const bisai_bcsr *matrix) {
  const int64_t block = (int64_t)(bsi_block_offset(matrix, 1) * bsi_value_size(matrix->type)) + 4;
  return matrix->blocks * block + 4 * ((int64_t)matrix->block_rows + 1) +
         8 * ((int64_t)matrix->block_rows + matrix->block_cols) * matrix->block_size;
}
