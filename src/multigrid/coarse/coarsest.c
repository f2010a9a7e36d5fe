/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense inverse of the coarsest matrix, or its pseudo-inverse if it is singular. */
#include <float.h>
#include <math.h>

#include "apply/apply_ops.h"
#include "multigrid/coarse/dense.h"
#include "multigrid/coarse/pseudo_inverse.h"
#include "multigrid/hierarchy.h"
#include "multigrid/multigrid_ops.h"

/* An inverse is tested if its smallest pivot is at most this part of its largest. Such pivots are
 * no proof of a singular matrix, because rows of different sizes have them too. */
#define SUSPICIOUS 0x1p-33
/* A matrix counts as regular if its inverse has at most this relative error. The inverse of a
 * singular matrix with rounding errors has one of 0.01 to 1. */
#define SINGULAR_ERROR 1e-6
/* The values of the coarsest matrix are sums of up to N terms, where N are the scalar rows of level
 * 0. Their rounding errors grow like √N. */
#define ERRORS_OF_SUMS 4.0
/* Rows whose sums are at most this part of their largest values have the sum zero. */
#define ZERO_SUM 1e-10

/* *good ← true if the dense inverse maps A x to x, for a fixed x. Overwrites work vectors. */
static bisai_status test_inverse(const bsi_hierarchy *h, bool *good) {
  const bsi_backend *backend = h->context->backend;
  const bsi_level *level = bsi_coarsest_of(h);
  const int64_t n = bsi_level_rows(level);
  const double *const vectors[] = {level->x, level->residual};
  double norms[2] = {0.0, 0.0};
  BSI_TRY(backend->vectors->start(h->context, n, level->x));
  BSI_TRY(bsi_multiply_vector(h->context, level->matrix, 1.0, level->x, 0.0, NULL, level->y));
  BSI_TRY(bsi_ops_of(h)->dense->multiply(h->context, (int32_t)n, h->dense_inverse, level->y,
                                         level->residual));
  BSI_TRY(backend->vectors->subtract_from(h->context, n, level->x, level->residual));
  BSI_TRY(backend->vectors->norms(h->context, 2, n, vectors, norms));
  *good = norms[1] <= SINGULAR_ERROR * norms[0];
  return BISAI_OK;
}

/* h->pseudo_room ← the coarsest matrix as a dense one of n² values, column by column. Its own
 * arrays are fetched into the room behind these: at most n² values and n² + n + 1 indices. */
static bisai_status fetch_dense(const bsi_hierarchy *h) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const bisai_bcsr *a = bsi_coarsest_of(h)->matrix;
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  const size_t count = bsi_block_offset(a, a->blocks), rows = (size_t)a->block_rows + 1;
  double *dense = h->pseudo_room, *values = dense + n * n;
  int32_t *row_ptr = (int32_t *)(values + count), *col_idx = row_ptr + rows;
  BSI_TRY(memory->fetch(h->context, values, a->values, count * sizeof *values));
  BSI_TRY(memory->fetch(h->context, row_ptr, a->row_ptr, rows * sizeof *row_ptr));
  BSI_TRY(memory->fetch(h->context, col_idx, a->col_idx, (size_t)a->blocks * sizeof *col_idx));
  bisai_bcsr here = *a;
  here.values = values;
  here.row_ptr = row_ptr;
  here.col_idx = col_idx;
  bsi_dense_fill(&here, n, dense);
  return BISAI_OK;
}

/* Returns the largest sum of a row as a part of the row's largest value. Where stiff parts meet
 * soft ones, the errors of sums of stiff values are large beside the soft values. If A maps
 * constants to zero, the sums of its rows are these errors. Returns 0 if it does not. */
static double error_of_constants(int64_t n, const double *a) {
  double error = 0.0;
  for (int64_t i = 0; i < n; i++) {
    double sum = 0.0, largest = 0.0;
    for (int64_t j = 0; j < n; j++) {
      sum += a[j * n + i];
      largest = fmax(largest, fabs(a[j * n + i]));
    }
    if (largest > 0.0) error = fmax(error, fabs(sum) / largest);
  }
  return error <= ZERO_SUM ? error : 0.0;
}

/* h->dense_inverse ← the pseudo-inverse. The host computes it for every backend. Rows and columns
 * of rounding errors count as zero. */
static bisai_status take_pseudo_inverse(bsi_hierarchy *h) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  double *a = h->pseudo_room, *inverse = NULL;
  BSI_TRY(fetch_dense(h));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      if (h->coarsest_marks[i] != 0.0 || h->coarsest_marks[j] != 0.0) a[j * n + i] = 0.0;
  const double sums = ERRORS_OF_SUMS * sqrt((double)bsi_level_rows(&h->levels[0])),
               errors = fmax((double)n + sums, error_of_constants(n, a) / DBL_EPSILON);
  BSI_TRY(bsi_pseudo_invert(h->context, n, errors, h->pseudo_room, &inverse, &h->nullity));
  return h->context->backend->memory->upload(h->context, h->dense_inverse, inverse,
                                             (size_t)(n * n) * sizeof *inverse);
}

/* Returns true if the pivots alone show that the matrix is regular. Without couplings they do not,
 * because all rows may be rounding errors of the same size. */
static bool pivots_suffice(const bisai_bcsr *a, double smallest, double largest) {
  return smallest > SUSPICIOUS * largest && a->blocks > a->block_rows;
}

/* h->dense_inverse ← the inverse of the coarsest matrix. *regular ← false if the matrix counts as
 * singular: the pseudo-inverse then has to take the place of this inverse. */
static bisai_status invert(bsi_hierarchy *h, bool *regular) {
  const bsi_level *level = bsi_coarsest_of(h);
  double smallest = 0.0, largest = 0.0;
  int64_t rounding_rows = 0;
  h->nullity = 0;
  *regular = true;
  if (level->matrix->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_ops_of(h)->dense->invert(h->context, level->matrix, h->dense_work, h->dense_inverse,
                                       &smallest, &largest));
  if (pivots_suffice(level->matrix, smallest, largest)) return BISAI_OK;
  BSI_TRY(bsi_rounding_mark(h, level, h->coarsest_marks, &rounding_rows));
  *regular = smallest > 0.0 && rounding_rows == 0;
  return *regular ? test_inverse(h, regular) : BISAI_OK;
}

void bsi_coarsest_destroy(bisai_context *context, bsi_hierarchy *h) {
  context->backend->memory->release(context, h->dense_inverse);
  context->backend->memory->release(context, h->dense_work);
  bsi_release(context, h->pseudo_room);
  bsi_release(context, h->coarsest_marks);
  h->dense_inverse = h->dense_work = h->pseudo_room = h->coarsest_marks = NULL;
}

/* Releases the inverse of a singular matrix, which is of no use. */
static bisai_status leave_uninverted(bsi_hierarchy *h) {
  bsi_hierarchy_note_peak(h, 0);
  bsi_coarsest_destroy(h->context, h);
  return BISAI_OK;
}

bisai_status bsi_coarsest_create(bsi_hierarchy *h, int64_t most_singular) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  bool regular = true;
  h->dense_work = bsi_hierarchy_reserve_vector(h, n * n);
  h->dense_inverse = bsi_hierarchy_reserve_vector(h, n * n);
  h->coarsest_marks = bsi_allocate(h->context, (size_t)n, sizeof *h->coarsest_marks);
  if (!h->dense_work || !h->dense_inverse || !h->coarsest_marks) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(invert(h, &regular));
  if (regular) return BISAI_OK;
  if (n > most_singular) return leave_uninverted(h);
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
