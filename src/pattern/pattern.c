/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of approximate inverses: S(|T|^k) (Ma et al. 2021, section 3.1) or the caller's. Row i
 * of S(|T|^k) holds the block columns that are reached from i in at most k steps of the block graph
 * of T. */
#include "pattern/pattern_impl.h"

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/triangular.h"
#include "pattern/pattern_ops.h"

bisai_pattern *bsi_pattern_reserve(bisai_context *context, bisai_triangle triangle, int32_t n) {
  bisai_pattern *p = bsi_allocate(context, 1, sizeof *p);
  if (p)
    *p = (bisai_pattern){.context = context, .triangle = triangle, .block_rows = n, .levels = -1};
  return p;
}

bisai_status bsi_pattern_set_rows(bisai_pattern *p, const int32_t *row_ptr,
                                  const int32_t *col_idx) {
  const bsi_backend *backend = p->context->backend;
  const bsi_structure rows = {row_ptr, col_idx};
  p->blocks = row_ptr[p->block_rows];
  p->row_ptr = backend->memory->allocate(p->context, (size_t)p->block_rows + 1, sizeof *p->row_ptr);
  p->col_idx = p->row_ptr
                   ? backend->memory->allocate(p->context, (size_t)p->blocks, sizeof *p->col_idx)
                   : NULL;
  if (!p->col_idx) return BISAI_OUT_OF_MEMORY;
  return bsi_mirror_write(p->context, p->block_rows, &rows, &p->mirror, p->row_ptr, p->col_idx);
}

/* *structure ← the rows in host memory. It lives as long as the pattern. Waits the first time. */
static bisai_status structure_of(const bisai_pattern *p, bsi_structure *structure) {
  /* The pattern stays logically const. */
  bsi_mirror *mirror = (bsi_mirror *)(uintptr_t)&p->mirror;
  return bsi_mirror_read(p->context, p->block_rows, p->row_ptr, p->col_idx, mirror, structure);
}

bisai_status bsi_pattern_finish(bisai_pattern *p, bisai_status status, bisai_pattern **pattern) {
  if (!status) status = p->context->backend->pattern->columns(p->context, p);
  if (status)
    bisai_pattern_destroy(&p);
  else
    *pattern = p;
  return status;
}

bisai_status bsi_pattern_copy(bisai_context *context, const bisai_pattern *from,
                              bisai_pattern **pattern) {
  bsi_structure rows;
  BSI_TRY(structure_of(from, &rows));
  bisai_pattern *p = bsi_pattern_reserve(context, from->triangle, from->block_rows);
  if (!p) return BISAI_OUT_OF_MEMORY;
  return bsi_pattern_finish(p, bsi_pattern_set_rows(p, rows.row_ptr, rows.col_idx), pattern);
}

static bisai_status check_triangle(bisai_context *context, bisai_triangle triangle) {
  if (triangle >= BISAI_LOWER && triangle <= BISAI_WHOLE) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown triangle %d", (int)triangle);
}

bisai_status bisai_pattern_power(bisai_context *context, const bisai_bcsr *matrix,
                                 bisai_triangle triangle, int power, bisai_pattern **pattern) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !pattern)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_pattern_power: %s is NULL",
                    matrix ? "pattern" : "matrix");
  BSI_TRY(check_triangle(context, triangle));
  if (power < 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "power %d: at least 1 is needed", power);
  if (matrix->block_rows != matrix->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    matrix->block_rows, matrix->block_cols);
  bisai_pattern *p = bsi_pattern_reserve(context, triangle, matrix->block_rows);
  if (!p) return BISAI_OUT_OF_MEMORY;
  return bsi_pattern_finish(p, context->backend->pattern->power(context, matrix, power, 0, p),
                            pattern);
}

static bisai_status check_rows(bisai_context *context, bisai_triangle triangle, int32_t n,
                               const int32_t *row_ptr, const int32_t *col_idx) {
  BSI_TRY(bsi_check_row_ptr(context, "block row", n, row_ptr));
  for (int32_t i = 0; i < n; i++) {
    bool diagonal = false;
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      const int32_t j = col_idx[q];
      if (j < 0 || j >= n)
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "block row %d: column %d is outside 0 … %d", i, j, n - 1);
      if (triangle != BISAI_WHOLE && (triangle == BISAI_LOWER ? j > i : j < i))
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "block row %d: column %d is not in the %s triangle", i, j,
                        triangle == BISAI_LOWER ? "lower" : "upper");
      if (q > row_ptr[i] && j <= col_idx[q - 1])
        return bsi_fail(context, BISAI_INVALID_STRUCTURE,
                        "block row %d: columns must ascend, %d follows %d", i, j, col_idx[q - 1]);
      diagonal |= j == i;
    }
    if (!diagonal)
      return bsi_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block", i);
  }
  return BISAI_OK;
}

static bisai_status create(bisai_context *context, bisai_triangle triangle, int32_t n,
                           const bsi_structure *s, bisai_pattern **pattern) {
  BSI_TRY(check_rows(context, triangle, n, s->row_ptr, s->col_idx));
  bisai_pattern *p = bsi_pattern_reserve(context, triangle, n);
  if (!p) return BISAI_OUT_OF_MEMORY;
  return bsi_pattern_finish(p, bsi_pattern_set_rows(p, s->row_ptr, s->col_idx), pattern);
}

bisai_status bisai_pattern_create(bisai_context *context, bisai_triangle triangle,
                                  int32_t block_rows, const int32_t *row_ptr,
                                  const int32_t *col_idx, bisai_pattern **pattern) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!row_ptr || (!col_idx && block_rows > 0) || !pattern)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_pattern_create: %s is NULL",
                    !row_ptr   ? "row_ptr"
                    : !pattern ? "pattern"
                               : "col_idx");
  if (block_rows < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "negative size: %d block rows", block_rows);
  bisai_status status = check_triangle(context, triangle);
  if (status) return status;
  bsi_mirror mirror = {0};
  bsi_structure structure = {row_ptr, col_idx};
  if (context->backend->memory->reaches(context, row_ptr))
    status = bsi_mirror_read(context, block_rows, row_ptr, col_idx, &mirror, &structure);
  if (!status) status = create(context, triangle, block_rows, &structure, pattern);
  bsi_mirror_release(context, &mirror);
  return status;
}

void bisai_pattern_destroy(bisai_pattern **pattern) {
  if (!pattern || !*pattern) return;
  bisai_pattern *p = *pattern;
  *pattern = NULL;
  int32_t *const arrays[] = {p->row_ptr, p->col_idx, p->col_ptr, p->row_idx, p->position};
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++)
    p->context->backend->memory->release(p->context, arrays[a]);
  bsi_mirror_release(p->context, &p->mirror);
  bsi_release(p->context, p);
}

bisai_triangle bisai_pattern_triangle(const bisai_pattern *pattern) { return pattern->triangle; }
int32_t bisai_pattern_block_rows(const bisai_pattern *pattern) { return pattern->block_rows; }
int32_t bisai_pattern_blocks(const bisai_pattern *pattern) { return pattern->blocks; }
int32_t bisai_pattern_longest_column(const bisai_pattern *pattern) {
  return pattern->longest_column;
}

/* The levels are counted when they are first asked for, because they cost as much as the pattern
 * and most callers do not need them. */
int32_t bisai_pattern_levels(const bisai_pattern *pattern) {
  bisai_pattern *p = (bisai_pattern *)(uintptr_t)pattern;
  bsi_structure rows;
  if (p->levels < 0 && p->triangle != BISAI_WHOLE && !structure_of(p, &rows))
    bsi_levels_count(p->context, p->triangle, p->block_rows, rows.row_ptr, rows.col_idx,
                     &p->levels);
  return p->levels;
}

void bisai_pattern_arrays(const bisai_pattern *pattern, const int32_t **row_ptr,
                          const int32_t **col_idx) {
  if (row_ptr) *row_ptr = pattern->row_ptr;
  if (col_idx) *col_idx = pattern->col_idx;
}

bisai_status bisai_pattern_fetch(const bisai_pattern *pattern, int32_t *row_ptr, int32_t *col_idx) {
  if (!pattern) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = pattern->context;
  const size_t rows = (size_t)pattern->block_rows + 1, blocks = (size_t)pattern->blocks;
  if (row_ptr)
    BSI_TRY(context->backend->memory->fetch(context, row_ptr, pattern->row_ptr,
                                            rows * sizeof *row_ptr));
  if (col_idx)
    BSI_TRY(context->backend->memory->fetch(context, col_idx, pattern->col_idx,
                                            blocks * sizeof *col_idx));
  return BISAI_OK;
}

int64_t bsi_pattern_memory(const bisai_pattern *pattern) {
  return (int64_t)sizeof *pattern + 8 * ((int64_t)pattern->block_rows + 1) +
         12 * (int64_t)pattern->blocks;
}
