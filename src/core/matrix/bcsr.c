/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation with checks, values and accessors of BCSR matrices. Layout in <bisai/bcsr.h>. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"

#include "core/block/values.h"
#include "core/context/words.h"

#include <stdlib.h>
#include <string.h>

bisai_bcsr_desc bisai_bcsr_desc_default(void) {
  return (bisai_bcsr_desc){.struct_size = sizeof(bisai_bcsr_desc)};
}

BSI_DEFINE_WORDS(value_type, BISAI_VALUE_TYPE_LIST, "unknown value type")

static bool reaches(const bisai_context *context, const void *array) {
  return !array || context->backend->memory->reaches(context, array);
}

static bisai_status check_desc(bisai_context *context, const bisai_bcsr_desc *d) {
  BSI_TRY(bsi_check_struct(context, "bisai_bcsr_desc", d->struct_size, sizeof *d));
  if (d->block_size < 1 || d->block_size > BISAI_MAX_BLOCK_SIZE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "block size %d is outside 1 … %d",
                    d->block_size, BISAI_MAX_BLOCK_SIZE);
  if (d->block_rows < 0 || d->block_cols < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "negative size: %d block rows, %d block columns", d->block_rows, d->block_cols);
  if ((int64_t)d->block_rows * d->block_size > INT32_MAX ||
      (int64_t)d->block_cols * d->block_size > INT32_MAX)
    return bsi_fail(context, BISAI_INDEX_OVERFLOW,
                    "%d × %d blocks of size %d: more than %d scalar rows or columns", d->block_rows,
                    d->block_cols, d->block_size, INT32_MAX);
  if (!bsi_is_matrix_type(d->value_type))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown value type %d", (int)d->value_type);
  if (d->layout != BISAI_COLUMN_MAJOR && d->layout != BISAI_ROW_MAJOR)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown block layout %d", (int)d->layout);
  if (d->ownership != BISAI_COPY && d->ownership != BISAI_BORROW)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown ownership %d", (int)d->ownership);
  if (d->ownership == BISAI_BORROW && d->layout == BISAI_ROW_MAJOR && d->block_size > 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "row-major blocks cannot be borrowed: copy them");
  if (d->location != BISAI_HOST && d->location != BISAI_DEVICE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown location %d", (int)d->location);
  if (d->location == BISAI_DEVICE && context->backend->memory->is_host)
    return bsi_fail(context, BISAI_UNAVAILABLE, "device arrays need a context on that device");
  if (!d->row_ptr) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "row_ptr is NULL");
  return BISAI_OK;
}

bisai_status bsi_check_row_ptr(bisai_context *context, const char *row, int32_t n,
                               const int32_t *row_ptr) {
  if (row_ptr[0] == 1)
    return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                    "row_ptr[0] is 1, expected 0: the arrays count from 0 (if yours count from 1, "
                    "subtract 1 from row_ptr and col_idx)");
  if (row_ptr[0] != 0)
    return bsi_fail(context, BISAI_INVALID_STRUCTURE, "row_ptr[0] is %d, expected 0", row_ptr[0]);
  for (int32_t i = 0; i < n; i++)
    if (row_ptr[i + 1] < row_ptr[i])
      return bsi_fail(context, BISAI_INVALID_STRUCTURE, "%s %d: row_ptr decreases from %d to %d",
                      row, i, row_ptr[i], row_ptr[i + 1]);
  return BISAI_OK;
}

/* Checks a caller's structure. *sorted ← true if the columns of every row ascend. Duplicates are
 * found here in sorted rows only. */
static bisai_status check_structure(bisai_context *context, const bisai_bcsr_desc *d,
                                    const bsi_structure *s, bool *sorted) {
  const int32_t *row_ptr = s->row_ptr, *col_idx = s->col_idx;
  *sorted = true;
  BSI_TRY(bsi_check_row_ptr(context, "block row", d->block_rows, row_ptr));
  if (row_ptr[d->block_rows] > 0 && (!col_idx || !d->values))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", col_idx ? "values" : "col_idx");
  for (int32_t i = 0; i < d->block_rows; i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const int32_t column = col_idx[p];
      if (column < 0 || column >= d->block_cols)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "block row %d: column %d is outside 0 … %d", i, column, d->block_cols - 1);
      if (p == row_ptr[i] || column > col_idx[p - 1]) continue;
      if (column == col_idx[p - 1])
        return bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: column %d appears twice",
                        i, column);
      if (d->ownership == BISAI_BORROW)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "block row %d: borrowed columns must ascend, %d follows %d", i, column,
                        col_idx[p - 1]);
      *sorted = false;
    }
  return BISAI_OK;
}

/* *row and *column ← those of a block. Allocates nothing, so that updates may call it. */
static bisai_status find_block(bisai_context *context, const bisai_bcsr *a, int32_t block,
                               int32_t *row, int32_t *column) {
  const bsi_memory_ops *memory = context->backend->memory;
  int32_t end = a->block_rows; /* row_ptr[*row] <= block < row_ptr[end] */
  *row = 0;
  while (end - *row > 1) {
    const int32_t middle = *row + (end - *row) / 2;
    int32_t first;
    BSI_TRY(memory->fetch(context, &first, a->row_ptr + middle, sizeof first));
    if (first <= block)
      *row = middle;
    else
      end = middle;
  }
  return memory->fetch(context, column, a->col_idx + block, sizeof *column);
}

/* Refuses NaN and infinity in values of the matrix's layout, which are in host memory or in backend
 * memory. */
static bisai_status check_values(bisai_context *context, const bisai_bcsr *a, const void *values,
                                 bool in_host_memory) {
  const int64_t count = (int64_t)bsi_block_offset(a, a->blocks);
  const bsi_backend *backend = in_host_memory ? &bsi_backend_host : context->backend;
  int64_t first = -1;
  int32_t row, column;
  BSI_TRY(backend->matrix->blocks->find_not_finite(context, a->type, count, values, &first));
  if (first < 0) return BISAI_OK;
  BSI_TRY(
      find_block(context, a, (int32_t)(first / (int64_t)bsi_block_offset(a, 1)), &row, &column));
  return bsi_fail(context, BISAI_NOT_FINITE, "block (%d, %d) holds a NaN or infinity", row, column);
}

bisai_status bsi_bcsr_check_pattern(bisai_context *context, const bisai_bcsr *now,
                                    const bisai_bcsr *before) {
  const bsi_structure a = {now->row_ptr, now->col_idx}, b = {before->row_ptr, before->col_idx};
  bool same = now->block_rows == before->block_rows && now->block_cols == before->block_cols &&
              now->blocks == before->blocks;
  if (same)
    BSI_TRY(context->backend->matrix->structures->compare(context, now->block_rows, now->blocks, &a,
                                                          &b, &same));
  if (same) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "the pattern changed: its blocks are not those of creation");
}

bisai_status bsi_bcsr_check_finite(bisai_context *context, const bisai_bcsr *a) {
  return check_values(context, a, a->values, false);
}

/* Compares moved blocks by column, for qsort(). */
static int compare_columns(const void *a, const void *b) {
  const int32_t x = ((const bsi_moved_block *)a)->column, y = ((const bsi_moved_block *)b)->column;
  return (x > y) - (x < y);
}

/* col_idx[p] ← the columns of each row in ascending order, order[p] ← their former positions.
 * Refuses duplicates. */
static bisai_status sort_rows(bisai_context *context, int32_t n, const bsi_structure *s,
                              int32_t *col_idx, int32_t *order) {
  int32_t longest = 0;
  for (int32_t i = 0; i < n; i++)
    if (s->row_ptr[i + 1] - s->row_ptr[i] > longest) longest = s->row_ptr[i + 1] - s->row_ptr[i];
  bsi_moved_block *row = bsi_allocate(context, (size_t)longest, sizeof *row);
  bisai_status status = row ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int32_t i = 0; i < n && !status; i++) {
    const int32_t begin = s->row_ptr[i], length = s->row_ptr[i + 1] - begin;
    for (int32_t p = 0; p < length; p++)
      row[p] = (bsi_moved_block){s->col_idx[begin + p], begin + p};
    qsort(row, (size_t)length, sizeof *row, compare_columns);
    for (int32_t p = 0; p < length && !status; p++) {
      if (p > 0 && row[p].column == row[p - 1].column)
        status = bsi_fail(context, BISAI_INVALID_STRUCTURE, "block row %d: column %d appears twice",
                          i, row[p].column);
      col_idx[begin + p] = row[p].column;
      order[begin + p] = row[p].source;
    }
  }
  bsi_release(context, row);
  return status;
}

/* `to` ← a caller's values in host memory or backend memory. */
static bisai_status copy_to_backend(bisai_context *context, bool in_host_memory, const void *from,
                                    size_t bytes, void *to) {
  const bsi_backend *backend = context->backend;
  if (!in_host_memory) return backend->memory->copy(context, to, from, bytes);
  BSI_TRY(backend->memory->upload(context, to, from, bytes));
  /* the copy may be under way if the caller's memory is page-locked */
  return backend->memory->synchronize(context);
}

/* a->values ← the caller's values: block p from block order[p] (NULL: p), transposed if the
 * caller's are row-major. */
static bisai_status copy_values(bisai_bcsr *a, const void *values, bool in_host_memory,
                                bisai_layout layout, const int32_t *order) {
  bisai_context *context = a->context;
  const bsi_backend *backend = context->backend;
  const size_t bytes = bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type);
  const bool directly = backend->memory->is_host || (!in_host_memory && !order);
  if (directly)
    return backend->matrix->blocks->copy_blocks(context, a->type, a->block_size, a->blocks, layout,
                                                order, values, a->values);
  if (!order) { /* row-major blocks are transposed in place */
    const bisai_status status = copy_to_backend(context, in_host_memory, values, bytes, a->values);
    if (status || layout == BISAI_COLUMN_MAJOR) return status;
    return backend->matrix->blocks->copy_blocks(context, a->type, a->block_size, a->blocks, layout,
                                                NULL, a->values, a->values);
  }
  int32_t *own_order = backend->memory->allocate(context, (size_t)a->blocks, sizeof *own_order);
  void *own_values = own_order ? backend->memory->allocate(context, bytes, 1) : NULL;
  bisai_status status = own_values ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status)
    status = backend->memory->upload(context, own_order, order, (size_t)a->blocks * sizeof *order);
  if (!status) status = copy_to_backend(context, in_host_memory, values, bytes, own_values);
  if (!status)
    status = backend->matrix->blocks->copy_blocks(context, a->type, a->block_size, a->blocks,
                                                  layout, own_order, own_values, a->values);
  backend->memory->release(context, own_values);
  backend->memory->release(context, own_order);
  return status;
}

/* Copies structure and values to a matrix with reserved arrays. The caller's structure is in host
 * memory. */
static bisai_status copy_arrays(const bisai_bcsr_desc *d, const bsi_structure *s, bool sorted,
                                bisai_bcsr *a) {
  bisai_context *context = a->context;
  const bool in_host_memory = d->location == BISAI_HOST;
  if (sorted) {
    const bisai_status status = bsi_bcsr_set_structure(a, s->row_ptr, s->col_idx);
    return status ? status : copy_values(a, d->values, in_host_memory, d->layout, NULL);
  }
  int32_t *col_idx = bsi_allocate(context, (size_t)a->blocks, sizeof *col_idx);
  int32_t *order = col_idx ? bsi_allocate(context, (size_t)a->blocks, sizeof *order) : NULL;
  bisai_status status =
      order ? sort_rows(context, a->block_rows, s, col_idx, order) : BISAI_OUT_OF_MEMORY;
  if (!status) status = bsi_bcsr_set_structure(a, s->row_ptr, col_idx);
  if (!status) status = copy_values(a, d->values, in_host_memory, d->layout, order);
  bsi_release(context, order);
  bsi_release(context, col_idx);
  return status;
}

/* A matrix without arrays. */
static bisai_bcsr *reserve(bisai_context *context, const bsi_bcsr_sizes *s) {
  bisai_bcsr *a = bsi_allocate(context, 1, sizeof *a);
  if (!a) return NULL;
  *a = (bisai_bcsr){.context = context,
                    .block_rows = s->block_rows,
                    .block_cols = s->block_cols,
                    .block_size = s->block_size,
                    .blocks = s->blocks,
                    .rows = s->block_rows * s->block_size,
                    .type = s->type};
  if (context->backend->memory->is_host) return a;
  a->kept.mirror = bsi_allocate(context, 1, sizeof *a->kept.mirror);
  if (a->kept.mirror) {
    *a->kept.mirror = (bsi_mirror){0};
    return a;
  }
  bsi_release(context, a);
  return NULL;
}

bisai_status bsi_bcsr_reserve(bisai_context *context, const bsi_bcsr_sizes *sizes, int32_t *row_ptr,
                              int32_t *col_idx, bisai_bcsr **matrix) {
  bisai_bcsr *a = reserve(context, sizes);
  if (!a) return BISAI_OUT_OF_MEMORY;
  const bsi_backend *backend = context->backend;
  a->owns_structure = !row_ptr;
  a->owns_values = true;
  a->row_ptr = row_ptr;
  a->col_idx = col_idx;
  if (!row_ptr) {
    a->row_ptr = backend->memory->allocate(context, (size_t)a->block_rows + 1, sizeof *a->row_ptr);
    a->col_idx = a->row_ptr
                     ? backend->memory->allocate(context, (size_t)a->blocks, sizeof *a->col_idx)
                     : NULL;
  }
  if (a->col_idx)
    a->values = backend->memory->allocate(context, bsi_block_offset(a, a->blocks),
                                          bsi_value_bytes(a->type));
  if (!a->values) {
    bisai_bcsr_destroy(&a);
    return BISAI_OUT_OF_MEMORY;
  }
  *matrix = a;
  return BISAI_OK;
}

bisai_status bsi_bcsr_structure(const bisai_bcsr *a, bsi_structure *structure) {
  return bsi_mirror_read(a->context, a->block_rows, a->row_ptr, a->col_idx, a->kept.mirror,
                         structure);
}

bisai_status bsi_bcsr_set_structure(bisai_bcsr *a, const int32_t *row_ptr, const int32_t *col_idx) {
  const bsi_structure structure = {row_ptr, col_idx};
  return bsi_mirror_write(a->context, a->block_rows, &structure, a->kept.mirror, a->row_ptr,
                          a->col_idx);
}

/* Makes a matrix that borrows the caller's arrays. */
static bisai_status borrow(bisai_context *context, const bisai_bcsr_desc *d, int32_t blocks,
                           bisai_bcsr **matrix) {
  if (!reaches(context, d->row_ptr) || !reaches(context, d->col_idx) ||
      !reaches(context, d->values))
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "arrays in host memory cannot be borrowed by a device: copy them");
  const size_t alignment = bsi_block_alignment(d->value_type, d->block_size);
  if (!context->backend->memory->is_host && (uintptr_t)d->values % alignment != 0)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "values that do not begin at a multiple of %d bytes cannot be borrowed by a "
                    "device: copy them",
                    (int)alignment);
  bisai_bcsr *a = reserve(context, &(bsi_bcsr_sizes){d->block_rows, d->block_cols, d->block_size,
                                                     blocks, d->value_type});
  if (!a) return BISAI_OUT_OF_MEMORY;
  /* The casts are safe because nothing writes through a borrowed pointer. */
  a->row_ptr = (int32_t *)(uintptr_t)d->row_ptr;
  a->col_idx = (int32_t *)(uintptr_t)d->col_idx;
  a->values = (void *)(uintptr_t)d->values;
  *matrix = a;
  return BISAI_OK;
}

/* *structure ← the caller's structure in host memory. If it had to be fetched, `mirror` owns the
 * copy. */
static bisai_status read_structure(bisai_context *context, const bisai_bcsr_desc *d,
                                   bsi_mirror *mirror, bsi_structure *structure) {
  *structure = (bsi_structure){d->row_ptr, d->col_idx};
  if (d->location == BISAI_HOST) return BISAI_OK;
  int32_t blocks = 0;
  BSI_TRY(
      context->backend->memory->fetch(context, &blocks, d->row_ptr + d->block_rows, sizeof blocks));
  if (blocks < 0 || (blocks > 0 && !d->col_idx))
    return bsi_fail(context, blocks < 0 ? BISAI_INVALID_STRUCTURE : BISAI_INVALID_ARGUMENT,
                    blocks < 0 ? "row_ptr ends with a negative number" : "col_idx is NULL");
  return bsi_mirror_read(context, d->block_rows, d->row_ptr, d->col_idx, mirror, structure);
}

static bisai_status create(bisai_context *context, const bisai_bcsr_desc *desc,
                           const bsi_structure *structure, bisai_bcsr **matrix) {
  bool sorted;
  bisai_status status = check_structure(context, desc, structure, &sorted);
  if (status) return status;
  bisai_bcsr *a = NULL;
  const int32_t blocks = structure->row_ptr[desc->block_rows];
  if (desc->ownership == BISAI_BORROW) {
    status = borrow(context, desc, blocks, &a);
  } else {
    status = bsi_bcsr_reserve(context,
                              &(bsi_bcsr_sizes){desc->block_rows, desc->block_cols,
                                                desc->block_size, blocks, desc->value_type},
                              NULL, NULL, &a);
    if (!status) status = copy_arrays(desc, structure, sorted, a);
  }
  if (!status) status = check_values(context, a, a->values, false);
  if (status) {
    bisai_bcsr_destroy(&a);
    return status;
  }
  a->kept.updated_only = a->owns_values;
  *matrix = a;
  return BISAI_OK;
}

bisai_status bsi_bcsr_create(bisai_context *context, const bisai_bcsr_desc *desc,
                             bisai_bcsr **matrix) {
  bsi_mirror mirror = {0};
  bsi_structure structure;
  bisai_status status = check_desc(context, desc);
  if (!status) status = read_structure(context, desc, &mirror, &structure);
  if (!status) status = create(context, desc, &structure, matrix);
  bsi_mirror *kept = status ? NULL : (*matrix)->kept.mirror;
  if (kept && mirror.row_ptr && !kept->row_ptr) {
    *kept = mirror;
    mirror = (bsi_mirror){0};
  }
  bsi_mirror_release(context, &mirror);
  return status;
}

void bisai_bcsr_destroy(bisai_bcsr **matrix) {
  if (!matrix || !*matrix) return;
  bisai_bcsr *a = *matrix;
  *matrix = NULL;
  const bsi_backend *backend = a->context->backend;
  if (a->owns_structure) {
    backend->memory->release(a->context, a->row_ptr);
    backend->memory->release(a->context, a->col_idx);
  }
  if (a->owns_values) backend->memory->release(a->context, a->values);
  if (a->kept.mirror) bsi_mirror_release(a->context, a->kept.mirror);
  bsi_release(a->context, a->kept.mirror);
  bsi_entry_map_release(a->context, &a->kept.map);
  bsi_places_release(a->context, &a->kept.places);
  bsi_release(a->context, a);
}

bisai_status bisai_bcsr_update(bisai_bcsr *matrix, const void *values, bisai_layout layout) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  if (!matrix->owns_values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the values are borrowed: write to your own array");
  if (matrix->kept.map.backend)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the matrix was made by bisai_bcsr_from_csr: bisai_bcsr_update_from_csr takes "
                    "its new values");
  if (!values && matrix->blocks > 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "values is NULL");
  if (values == matrix->values)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "values is the matrix's own array, which must not be written to");
  if (layout != BISAI_COLUMN_MAJOR && layout != BISAI_ROW_MAJOR)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown block layout %d", (int)layout);
  if (matrix->blocks == 0) return BISAI_OK;
  const bool in_host_memory = !context->backend->memory->reaches(context, values);
  BSI_TRY(check_values(matrix->context, matrix, values, in_host_memory));
  matrix->kept.measured = false;
  return copy_values(matrix, values, in_host_memory, layout, NULL);
}

int32_t bisai_bcsr_block_rows(const bisai_bcsr *matrix) { return matrix->block_rows; }
int32_t bisai_bcsr_block_cols(const bisai_bcsr *matrix) { return matrix->block_cols; }
int32_t bisai_bcsr_block_size(const bisai_bcsr *matrix) { return matrix->block_size; }
int32_t bisai_bcsr_blocks(const bisai_bcsr *matrix) { return matrix->blocks; }
int32_t bisai_bcsr_rows(const bisai_bcsr *matrix) { return matrix->rows; }
int32_t bisai_bcsr_padding(const bisai_bcsr *matrix) {
  return matrix->block_rows * matrix->block_size - matrix->rows;
}
bisai_value_type bisai_bcsr_value_type(const bisai_bcsr *matrix) { return matrix->type; }
bool bisai_bcsr_unit_diagonal(const bisai_bcsr *matrix) { return matrix->unit_diagonal; }

void bisai_bcsr_arrays(const bisai_bcsr *matrix, const int32_t **row_ptr, const int32_t **col_idx,
                       const void **values) {
  if (row_ptr) *row_ptr = matrix->row_ptr;
  if (col_idx) *col_idx = matrix->col_idx;
  if (values) *values = matrix->values;
}

bisai_status bisai_bcsr_fetch(const bisai_bcsr *matrix, int32_t *row_ptr, int32_t *col_idx,
                              void *values) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  const size_t rows = (size_t)matrix->block_rows + 1, blocks = (size_t)matrix->blocks;
  const size_t bytes = bsi_block_offset(matrix, matrix->blocks) * bsi_value_bytes(matrix->type);
  if (row_ptr)
    BSI_TRY(
        context->backend->memory->fetch(context, row_ptr, matrix->row_ptr, rows * sizeof *row_ptr));
  if (col_idx)
    BSI_TRY(context->backend->memory->fetch(context, col_idx, matrix->col_idx,
                                            blocks * sizeof *col_idx));
  if (values) BSI_TRY(context->backend->memory->fetch(context, values, matrix->values, bytes));
  return BISAI_OK;
}

int64_t bsi_bcsr_memory(const bisai_bcsr *matrix) {
  const bsi_bcsr_kept *kept = &matrix->kept;
  int64_t bytes = (int64_t)sizeof *matrix + bsi_entry_map_memory(&kept->map) +
                  (int64_t)sizeof *kept->places.host * kept->places.rows;
  if (matrix->owns_structure) bytes += 4 * ((int64_t)matrix->block_rows + 1 + matrix->blocks);
  if (matrix->owns_values)
    bytes += (int64_t)(bsi_block_offset(matrix, matrix->blocks) * bsi_value_bytes(matrix->type));
  return bytes;
}

int64_t bsi_bcsr_product_bytes(const bisai_bcsr *matrix) {
  const int64_t block = (int64_t)(bsi_block_offset(matrix, 1) * bsi_value_bytes(matrix->type)) + 4;
  return matrix->blocks * block + 4 * ((int64_t)matrix->block_rows + 1) +
         8 * ((int64_t)matrix->block_rows + matrix->block_cols) * matrix->block_size;
}
