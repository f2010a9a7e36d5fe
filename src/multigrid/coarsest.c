/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense inverse of the coarsest matrix, or its pseudo-inverse if it is singular. */
#include <math.h>

#include "apply/apply_ops.h"
#include "multigrid/dense.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"
#include "multigrid/pseudo.h"

/* An inverse is tested if the smallest pivot is at most this part of the largest. Its pivots tell
 * little more: rows of different sizes have such pivots too. */
#define SUSPICIOUS 0x1p-33
/* The largest error of the inverse of a matrix that counts as regular. A singular matrix with
 * rounding errors has an inverse with an error of size 0.01 to 1. */
#define SINGULAR_ERROR 1e-6

/* The rounding errors of sums of N terms grow like √N. */
#define ERRORS_OF_SUMS 4.0

/* *good ← true if the dense inverse maps A x to x, for a fixed x. */
static bisai_status test_inverse(const bsi_hierarchy *h, bool *good) {
  const bsi_backend *backend = h->context->backend;
  const bsi_cycle_ops *ops = bsi_ops_of(h)->cycle;
  const bsi_level *level = bsi_coarsest_of(h);
  const int64_t n = bsi_level_rows(level);
  const double *const vectors[] = {level->x, level->residual};
  double norms[2] = {0.0, 0.0};
  BSI_TRY(ops->start(h->context, n, level->x));
  BSI_TRY(backend->apply->products->multiply(h->context, level->matrix, 1, 1.0, level->x, 0, 0.0,
                                             NULL, 0, level->y, 0, 0));
  BSI_TRY(bsi_ops_of(h)->dense->multiply(h->context, (int32_t)n, h->dense_inverse, level->y,
                                         level->residual));
  BSI_TRY(backend->vectors->subtract_from(h->context, n, level->x, level->residual));
  BSI_TRY(ops->norms(h->context, 2, n, vectors, norms));
  *good = norms[1] <= SINGULAR_ERROR * norms[0];
  return BISAI_OK;
}

/* dense ← the coarsest matrix in host memory. `room` has n² + n + 1 doubles more. */
static bisai_status fetch(const bsi_hierarchy *h, double *dense, double *room) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const bisai_bcsr *a = bsi_coarsest_of(h)->matrix;
  const size_t values = bsi_block_offset(a, a->blocks), rows = (size_t)a->block_rows + 1;
  bisai_bcsr here = *a;
  int32_t *row_ptr = (int32_t *)(room + values), *col_idx = row_ptr + rows;
  BSI_TRY(memory->fetch(h->context, room, a->values, values * sizeof *room));
  BSI_TRY(memory->fetch(h->context, row_ptr, a->row_ptr, rows * sizeof *row_ptr));
  BSI_TRY(memory->fetch(h->context, col_idx, a->col_idx, (size_t)a->blocks * sizeof *col_idx));
  here.values = room;
  here.row_ptr = row_ptr;
  here.col_idx = col_idx;
  bsi_dense_fill(&here, bsi_level_rows(bsi_coarsest_of(h)), dense);
  return BISAI_OK;
}

/* On the host, whatever the backend. */
static bisai_status take_pseudo_inverse(bsi_hierarchy *h) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  double *inverse = NULL;
  BSI_TRY(fetch(h, h->pseudo_room, h->pseudo_room + n * n));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      if (h->marks[i] != 0.0 || h->marks[j] != 0.0) h->pseudo_room[j * n + i] = 0.0;
  const double errors = (double)n + ERRORS_OF_SUMS * sqrt((double)bsi_level_rows(h->levels));
  BSI_TRY(bsi_pseudo_invert(h->context, n, errors, h->pseudo_room, &inverse, &h->nullity));
  return h->context->backend->memory->upload(h->context, h->dense_inverse, inverse,
                                             (size_t)(n * n) * sizeof *inverse);
}

/* *regular ← false if the pseudo-inverse has to take the place of what this computes. */
static bisai_status invert(bsi_hierarchy *h, bool *regular) {
  const bisai_bcsr *a = bsi_coarsest_of(h)->matrix;
  double smallest = 0.0, largest = 0.0;
  int64_t marked = 0;
  h->nullity = 0;
  *regular = true;
  if (a->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_ops_of(h)->dense->invert(h->context, a, h->dense_work, h->dense_inverse, &smallest,
                                       &largest));
  /* without couplings, all rows may be rounding errors of the same size */
  if (smallest > SUSPICIOUS * largest && a->blocks > a->block_rows) return BISAI_OK;
  BSI_TRY(bsi_mark_rounding_errors(h, h->count - 1, h->marks, &marked));
  *regular = smallest > 0.0 && marked == 0;
  return *regular ? test_inverse(h, regular) : BISAI_OK;
}

bisai_status bsi_coarsest_create(bsi_hierarchy *h) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  bool regular = true;
  h->dense_work = bsi_hierarchy_reserve_vector(h, n * n);
  h->dense_inverse = bsi_hierarchy_reserve_vector(h, n * n);
  h->marks = bsi_allocate(h->context, (size_t)n, sizeof *h->marks);
  if (!h->dense_work || !h->dense_inverse || !h->marks) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(invert(h, &regular));
  if (regular) return BISAI_OK;
  h->pseudo_room = bsi_allocate(h->context, (size_t)bsi_pseudo_room(n), sizeof *h->pseudo_room);
  return h->pseudo_room ? take_pseudo_inverse(h) : BISAI_OUT_OF_MEMORY;
}

bisai_status bsi_coarsest_update(bsi_hierarchy *h) {
  bool regular = true;
  BSI_TRY(invert(h, &regular));
  if (regular) return BISAI_OK;
  if (h->pseudo_room) return take_pseudo_inverse(h);
  return bsi_level_refuse(h, bsi_coarsest_of(h));
}
