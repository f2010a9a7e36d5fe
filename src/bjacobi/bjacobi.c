/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi on every backend: checks, memory, and the order of the phases. */
#include "bjacobi/bjacobi.h"

#include "bjacobi/bjacobi_ops.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/matrix_ops.h"

static bisai_status check_matrix(bisai_context *context, const bisai_bcsr *matrix) {
  if (matrix->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix must hold fp64 values to have its diagonal blocks inverted");
  if (matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix implies its diagonal blocks: block-Jacobi needs them stored");
  return BISAI_OK;
}

/* --- blocks --- */

static void natural_partition(const bisai_bcsr *matrix, bsi_partition *p) {
  *p = (bsi_partition){.rows = matrix->block_rows * matrix->block_size,
                       .blocks = matrix->block_rows,
                       .uniform = matrix->block_size};
  if (p->blocks == 0) return;
  p->largest = matrix->block_size;
  p->count[p->largest] = p->blocks;
}

/* Returns true if all blocks but the last one have the size of the first, and the last one has at
 * most as many rows. */
static bool is_uniform(int32_t blocks, const int32_t *start, int32_t *size) {
  *size = start[1];
  for (int32_t b = 1; b < blocks - 1; b++)
    if (start[b + 1] - start[b] != *size) return false;
  return start[blocks] - start[blocks - 1] <= *size;
}

bisai_status bsi_partition_set(bisai_context *context, int32_t rows, int32_t blocks,
                               const int32_t *start, bsi_partition *p) {
  *p = (bsi_partition){.rows = rows, .blocks = blocks, .uniform = 1};
  if (blocks == 0) return BISAI_OK;
  for (int32_t b = 0; b < blocks; b++) {
    const int32_t size = start[b + 1] - start[b];
    p->count[size]++;
    if (size > p->largest) p->largest = size;
  }
  if (is_uniform(blocks, start, &p->uniform)) return BISAI_OK;
  p->uniform = 0;
  p->start = context->backend->memory->allocate(context, (size_t)blocks + 1, sizeof *p->start);
  if (!p->start) return BISAI_OUT_OF_MEMORY;
  return context->backend->memory->upload(context, p->start, start,
                                          ((size_t)blocks + 1) * sizeof *p->start);
}

bisai_status bsi_partition_fetch(bisai_context *context, const bsi_partition *p,
                                 int32_t *block_ptr) {
  if (!p->uniform)
    return context->backend->memory->fetch(context, block_ptr, p->start,
                                           ((size_t)p->blocks + 1) * sizeof *block_ptr);
  for (int32_t b = 0; b <= p->blocks; b++) block_ptr[b] = bsi_partition_start(p, b);
  return BISAI_OK;
}

static bisai_status find_blocks(bisai_context *context, const bisai_bcsr *matrix,
                                bsi_bjacobi *jacobi) {
  const bsi_bjacobi_options *o = &jacobi->options;
  if (o->max_rows > 0)
    return context->backend->bjacobi->partition->find(context, matrix, o->max_rows,
                                                      &jacobi->partition);
  if (o->given_start)
    return bsi_partition_set(context, matrix->block_rows * matrix->block_size, o->given_blocks,
                             o->given_start, &jacobi->partition);
  natural_partition(matrix, &jacobi->partition);
  return BISAI_OK;
}

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                   bsi_bjacobi *jacobi) {
  jacobi->matrix.position = context->backend->memory->allocate(
      context, (size_t)jacobi->matrix.block_rows, sizeof *jacobi->matrix.position);
  if (!jacobi->matrix.position) return BISAI_OUT_OF_MEMORY;
  int32_t missing;
  BSI_TRY(context->backend->matrix->structures->find_diagonals(
      context, matrix, jacobi->matrix.position, NULL, &missing));
  if (missing < 0 || jacobi->options.shift_amount > 0.0) return BISAI_OK;
  return bsi_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block", missing);
}

/* --- memory --- */

static bisai_status lay_out(bisai_context *context, bsi_bjacobi *jacobi) {
  const bsi_partition *p = &jacobi->partition;
  const bsi_bjacobi_options *o = &jacobi->options;
  const int32_t rows = o->group_rows > 0 ? o->group_rows : context->backend->bjacobi->group_rows;
  jacobi->per_group = p->largest > 0 && rows > p->largest ? rows / p->largest : 1;
  jacobi->groups = p->blocks / jacobi->per_group + (p->blocks % jacobi->per_group > 0);
  jacobi->slot_bytes = (int)bsi_value_bytes(o->storage);
  if (p->blocks == 0) return BISAI_OK;
  if (!p->uniform) {
    jacobi->first_value = context->backend->memory->allocate(context, (size_t)jacobi->groups,
                                                             sizeof *jacobi->first_value);
    return jacobi->first_value ? context->backend->bjacobi->partition->layout(context, jacobi)
                               : BISAI_OUT_OF_MEMORY;
  }
  /* The last group may have fewer rows, and its only block may have fewer columns. */
  const int32_t last = jacobi->groups - 1, first_block = last * jacobi->per_group;
  const int64_t height = p->rows - bsi_partition_start(p, first_block);
  const int64_t width = height < p->uniform ? height : p->uniform;
  jacobi->values = bsi_bjacobi_first_value(jacobi, last) + height * width;
  return BISAI_OK;
}

/* Returns the slots of data: an even number, because a device reads values of 16 bits in pairs. */
static int64_t slots(const bsi_bjacobi *jacobi) { return jacobi->values + jacobi->values % 2; }

static bisai_status reserve(bisai_context *context, const bisai_bcsr *matrix, bsi_bjacobi *jacobi) {
  const bsi_backend *backend = context->backend;
  jacobi->data =
      backend->memory->allocate(context, (size_t)slots(jacobi), (size_t)jacobi->slot_bytes);
  if (!jacobi->data) return BISAI_OUT_OF_MEMORY;
  if (jacobi->options.storage == BISAI_ADAPTIVE) {
    jacobi->format =
        backend->memory->allocate(context, (size_t)jacobi->groups, sizeof *jacobi->format);
    if (!jacobi->format) return BISAI_OUT_OF_MEMORY;
  }
  if (jacobi->options.form != BISAI_FORM_INVERSE) {
    jacobi->pivots =
        backend->memory->allocate(context, (size_t)jacobi->partition.rows, sizeof *jacobi->pivots);
    if (!jacobi->pivots) return BISAI_OUT_OF_MEMORY;
  }
  return backend->bjacobi->values->reserve(context, matrix, jacobi);
}

bisai_status bsi_bjacobi_create(bisai_context *context, const bisai_bcsr *matrix,
                                const bsi_bjacobi_options *options, bsi_bjacobi *jacobi) {
  *jacobi = (bsi_bjacobi){.matrix = {.block_rows = matrix->block_rows,
                                     .block_size = matrix->block_size,
                                     .stored = matrix->blocks},
                          .natural = options->max_rows == 0 && !options->given_start,
                          .options = *options,
                          .stats = BSI_BJACOBI_STATS_NONE};
  bisai_status status = check_matrix(context, matrix);
  if (!status) status = find_blocks(context, matrix, jacobi);
  jacobi->options.given_start = NULL; /* the caller may free the array */
  if (!status && jacobi->natural) status = find_diagonals(context, matrix, jacobi);
  if (!status) status = lay_out(context, jacobi);
  if (!status) status = reserve(context, matrix, jacobi);
  if (status) bsi_bjacobi_destroy(context, jacobi);
  return status;
}

bisai_status bsi_bjacobi_check(bisai_context *context, const bisai_bcsr *matrix,
                               const bsi_bjacobi *jacobi) {
  BSI_TRY(check_matrix(context, matrix));
  if (matrix->blocks != jacobi->matrix.stored)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the pattern changed: %d blocks, expected %d",
                    matrix->blocks, jacobi->matrix.stored);
  if (!jacobi->natural) return BISAI_OK;
  int32_t moved;
  BSI_TRY(context->backend->matrix->structures->compare_diagonals(context, matrix,
                                                                  jacobi->matrix.position, &moved));
  if (moved < 0) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "the pattern changed: block row %d has its diagonal block elsewhere", moved);
}

/* --- values --- */

static bisai_status start_of(bisai_context *context, const bsi_partition *p, int32_t b,
                             int32_t *start) {
  if (!p->uniform)
    return context->backend->memory->fetch(context, start, p->start + b, sizeof *start);
  *start = bsi_partition_start(p, b);
  return BISAI_OK;
}

/* Fails with a message that begins with "block row 7" for natural blocks, with "block 7 (rows 20 …
 * 27)" for others, and with "block 7 (8 rows, the first of block row 3)" if the rows are those of
 * another matrix in another order. */
static bisai_status fail_block(bisai_context *context, const bisai_bcsr *matrix,
                               const bsi_bjacobi *jacobi, bisai_status why, int32_t block,
                               const char *what) {
  if (jacobi->natural) return bsi_fail(context, why, "block row %d: %s", block, what);
  int32_t from = 0, to = 0;
  BSI_TRY(start_of(context, &jacobi->partition, block, &from));
  BSI_TRY(start_of(context, &jacobi->partition, block + 1, &to));
  if (matrix->row_names)
    return bsi_fail(context, why, "block %d (%d rows, the first of block row %d): %s", block,
                    to - from, bsi_row_name(matrix, from / matrix->block_size), what);
  return bsi_fail(context, why, "block %d (rows %d … %d): %s", block, from, to - 1, what);
}

bisai_status bsi_bjacobi_update(bisai_context *context, const bisai_bcsr *matrix,
                                bsi_bjacobi *jacobi) {
  const bsi_block_values_ops *values = context->backend->bjacobi->values;
  jacobi->stats = BSI_BJACOBI_STATS_NONE;
  BSI_TRY(values->compute(context, matrix, jacobi));
  BSI_TRY(values->collect(context, jacobi));
  const bsi_bjacobi_stats *stats = &jacobi->stats;
  if (stats->inversion.singular_row >= 0)
    return fail_block(context, matrix, jacobi, BISAI_SINGULAR_BLOCK, stats->inversion.singular_row,
                      "the diagonal block is singular");
  if (stats->overflow_block >= 0)
    return fail_block(context, matrix, jacobi, BISAI_OVERFLOW, stats->overflow_block,
                      jacobi->options.form == BISAI_FORM_INVERSE
                          ? "the inverse does not fit its storage"
                          : "the decomposition does not fit its storage");
  return BISAI_OK;
}

void bsi_bjacobi_destroy(bisai_context *context, bsi_bjacobi *jacobi) {
  const bsi_backend *backend = context->backend;
  backend->memory->release(context, jacobi->matrix.position);
  backend->memory->release(context, jacobi->partition.start);
  backend->memory->release(context, jacobi->first_value);
  backend->memory->release(context, jacobi->format);
  backend->memory->release(context, jacobi->data);
  backend->memory->release(context, jacobi->pivots);
  backend->memory->release(context, jacobi->workspace.memory);
  *jacobi = (bsi_bjacobi){0};
}

int64_t bsi_bjacobi_index_bytes(const bsi_bjacobi *jacobi) {
  const bsi_partition *p = &jacobi->partition;
  return (p->start ? 4 * ((int64_t)p->blocks + 1) : 0) +
         (jacobi->first_value ? 8 * (int64_t)jacobi->groups : 0) +
         (jacobi->format ? jacobi->groups : 0) + (jacobi->pivots ? p->rows : 0);
}

int64_t bsi_bjacobi_memory(const bsi_bjacobi *jacobi) {
  return slots(jacobi) * jacobi->slot_bytes +
         (jacobi->matrix.position ? 4 * (int64_t)jacobi->matrix.block_rows : 0) +
         bsi_bjacobi_index_bytes(jacobi) + jacobi->workspace.bytes;
}
