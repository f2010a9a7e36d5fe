/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches in the structures of matrices, on the host. */
#include <string.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "core/matrix/triangular.h"
#include "core/threads/parallel.h"

enum { ROWS_PER_THREAD = 4096 };

typedef struct locate_job {
  bisai_context *context;
  const bisai_bcsr *a;
  const int32_t *expected;
  int32_t *position;
} locate_job;

/* The partial result of a thread is the first row that it found. */
static void locate_part(void *job, bsi_part part) {
  const locate_job *l = job;
  const bisai_bcsr *a = l->a;
  const bsi_range range = bsi_range_of(a->block_rows, part);
  int32_t *first = bsi_partial(l->context, part.thread);
  for (int32_t i = (int32_t)range.begin; i < range.end; i++) {
    const int32_t at = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
    if (l->position) l->position[i] = at;
    if (l->expected ? at != l->expected[i] : at < 0) bsi_min_index(first, i);
  }
}

/* Writes the positions and returns the first row without a block. With `expected`, returns the
 * first row whose position is another one. */
static int32_t locate(bisai_context *context, const bisai_bcsr *a, const int32_t *expected,
                      int32_t *position) {
  const int threads = bsi_threads_for(context->threads, a->block_rows, ROWS_PER_THREAD);
  return bsi_find_first(context, threads, locate_part,
                        &(locate_job){context, a, expected, position});
}

static bisai_status find_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                   int32_t *position, void *record, int32_t *missing) {
  (void)record;
  *missing = locate(context, matrix, NULL, position);
  return BISAI_OK;
}

static bisai_status compare_diagonals(bisai_context *context, const bisai_bcsr *matrix,
                                      const int32_t *position, int32_t *moved) {
  *moved = locate(context, matrix, position, NULL);
  return BISAI_OK;
}

static bisai_status find_empty(bisai_context *context, const bisai_bcsr *matrix, bool columns,
                               double *marks, int64_t *index) {
  (void)context;
  const int32_t n = columns ? matrix->block_cols : matrix->block_rows;
  *index = -1;
  if (matrix->unit_diagonal) return BISAI_OK;
  for (int32_t i = 0; i < n; i++)
    marks[i] = columns ? 0 : matrix->row_ptr[i + 1] - matrix->row_ptr[i];
  for (int32_t p = 0; p < matrix->blocks && columns; p++) marks[matrix->col_idx[p]] = 1;
  for (int32_t i = 0; i < n && *index < 0; i++)
    if (marks[i] == 0) *index = i;
  return BISAI_OK;
}

static bisai_status compare(bisai_context *context, int32_t rows, int32_t blocks,
                            const bsi_structure *a, const bsi_structure *b, bool *same) {
  (void)context;
  *same = memcmp(a->row_ptr, b->row_ptr, ((size_t)rows + 1) * sizeof *a->row_ptr) == 0 &&
          (blocks == 0 || memcmp(a->col_idx, b->col_idx, (size_t)blocks * sizeof *a->col_idx) == 0);
  return BISAI_OK;
}

const bsi_structure_ops bsi_structures_host = {.find_empty = find_empty,
                                               .find_diagonals = find_diagonals,
                                               .compare_diagonals = compare_diagonals,
                                               .compare = compare};
