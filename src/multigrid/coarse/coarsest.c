/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense inverse of the coarsest matrix, or its pseudo-inverse if it is singular. */
#include "multigrid/coarse/coarsest.h"

#include <float.h>
#include <math.h>

#include "apply/apply_ops.h"
#include "multigrid/coarse/dense.h"
#include "multigrid/coarse/pseudo_inverse.h"
#include "multigrid/diagonal/null_rows.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/level_errors.h"
#include "multigrid/level/memory.h"

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
  const double *const vectors[] = {level->work.x, level->work.residual};
  double norms[2] = {0.0, 0.0};
  BSI_TRY(backend->vectors->start(h->context, n, level->work.x));
  BSI_TRY(
      bsi_multiply_vector(h->context, level->matrix, 1.0, level->work.x, 0.0, NULL, level->work.y));
  BSI_TRY(bsi_ops_of(h)->dense->multiply(h->context, (int32_t)n, h->coarse.inverse, level->work.y,
                                         level->work.residual));
  BSI_TRY(backend->vectors->subtract_from(h->context, n, level->work.x, level->work.residual));
  BSI_TRY(backend->vectors->norms(h->context, 2, n, vectors, norms));
  *good = norms[1] <= SINGULAR_ERROR * norms[0];
  return BISAI_OK;
}

/* h->coarse.room ← the coarsest matrix as a dense one of n² values, column by column. Its own
 * arrays are fetched into the room behind these: at most n² values and n² + n + 1 indices. */
static bisai_status fetch_dense(const bsi_hierarchy *h) {
  const bsi_memory_ops *memory = h->context->backend->memory;
  const bisai_bcsr *a = bsi_coarsest_of(h)->matrix;
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  const size_t count = bsi_block_offset(a, a->blocks), rows = (size_t)a->block_rows + 1;
  double *dense = h->coarse.room, *values = dense + n * n;
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

/* h->coarse.inverse ← the pseudo-inverse. The host computes it for every backend. Rows and columns
 * of rounding errors count as zero. *overflow ← the name of a matrix that overflows, or NULL. */
static bisai_status take_pseudo_inverse(bsi_hierarchy *h, const char **overflow) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  double *a = h->coarse.room, *inverse = NULL;
  BSI_TRY(fetch_dense(h));
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++)
      if (h->coarse.null_marks[i] != 0.0 || h->coarse.null_marks[j] != 0.0) a[j * n + i] = 0.0;
  const double sums = ERRORS_OF_SUMS * sqrt((double)bsi_level_rows(&h->levels[0])),
               errors = fmax((double)n + sums, error_of_constants(n, a) / DBL_EPSILON);
  *overflow =
      bsi_pseudo_invert(h->context, n, errors, h->coarse.room, &inverse, &h->coarse.nullity);
  if (*overflow) return BISAI_OK;
  return h->context->backend->memory->upload(h->context, h->coarse.inverse, inverse,
                                             (size_t)(n * n) * sizeof *inverse);
}

/* Returns true if the pivots alone show that the matrix is regular. Without couplings they do not,
 * because all rows may be rounding errors of the same size. */
static bool pivots_suffice(const bisai_bcsr *a, double smallest, double largest) {
  return smallest > SUSPICIOUS * largest && a->blocks > a->block_rows;
}

/* h->coarse.inverse ← the inverse of the coarsest matrix. *regular ← false if the matrix counts as
 * singular: the pseudo-inverse then has to take the place of this inverse. */
static bisai_status invert(bsi_hierarchy *h, bool *regular) {
  const bsi_level *level = bsi_coarsest_of(h);
  double smallest = 0.0, largest = 0.0;
  int64_t rounding_rows = 0;
  h->coarse.nullity = 0;
  *regular = true;
  if (level->matrix->block_rows == 0) return BISAI_OK;
  BSI_TRY(bsi_ops_of(h)->dense->invert(h->context, level->matrix, h->coarse.work, h->coarse.inverse,
                                       &smallest, &largest));
  if (pivots_suffice(level->matrix, smallest, largest)) return BISAI_OK;
  BSI_TRY(bsi_null_rows_mark(h, level, h->coarse.null_marks, &rounding_rows));
  *regular = smallest > 0.0 && rounding_rows == 0;
  return *regular ? test_inverse(h, regular) : BISAI_OK;
}

void bsi_coarsest_release_room(bisai_context *context, bsi_coarse_solver *s) {
  bsi_release(context, s->room);
  bsi_release(context, s->null_marks);
  s->room = s->null_marks = NULL;
}

void bsi_coarsest_destroy(bisai_context *context, bsi_coarse_solver *s) {
  context->backend->memory->release(context, s->inverse);
  context->backend->memory->release(context, s->work);
  bsi_coarsest_release_room(context, s);
  *s = (bsi_coarse_solver){.nullity = s->nullity};
}

/* Releases the inverse of a singular matrix, which is of no use. */
static bisai_status leave_uninverted(bsi_hierarchy *h) {
  bsi_hierarchy_note_peak(h, 0);
  bsi_coarsest_destroy(h->context, &h->coarse);
  return BISAI_OK;
}

static bisai_status create(bsi_hierarchy *h, int64_t most_singular, const char **overflow) {
  const int64_t n = bsi_level_rows(bsi_coarsest_of(h));
  bsi_coarse_solver *s = &h->coarse;
  bool regular = true;
  s->work = bsi_hierarchy_reserve_vector(h, n * n);
  s->inverse = bsi_hierarchy_reserve_vector(h, n * n);
  s->null_marks = bsi_allocate(h->context, (size_t)n, sizeof *s->null_marks);
  if (!s->work || !s->inverse || !s->null_marks) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(invert(h, &regular));
  if (regular) return BISAI_OK;
  if (n > most_singular) return leave_uninverted(h);
  s->room_values = bsi_pseudo_room(n);
  s->room = bsi_allocate(h->context, (size_t)s->room_values, sizeof *s->room);
  return s->room ? take_pseudo_inverse(h, overflow) : BISAI_OUT_OF_MEMORY;
}

/* Refuses a matrix that overflows, unless `overflow` is NULL. */
static bisai_status judge(const bsi_hierarchy *h, const char *overflow) {
  if (!overflow) return BISAI_OK;
  return bsi_fail(h->context, BISAI_NOT_FINITE, "multigrid: %s, of %lld rows, overflows", overflow,
                  (long long)bsi_level_rows(bsi_coarsest_of(h)));
}

bisai_status bsi_coarsest_create(bsi_hierarchy *h, int64_t most_singular) {
  const char *overflow = NULL;
  BSI_TRY(create(h, most_singular, &overflow));
  return judge(h, overflow);
}

bisai_status bsi_coarsest_try(bsi_hierarchy *h, bool *finite) {
  const char *overflow = NULL;
  BSI_TRY(create(h, INT64_MAX, &overflow));
  *finite = !overflow;
  return BISAI_OK;
}

bisai_status bsi_coarsest_update(bsi_hierarchy *h) {
  const char *overflow = NULL;
  bool regular = true;
  BSI_TRY(invert(h, &regular));
  if (regular) return BISAI_OK;
  if (!h->coarse.room) return bsi_level_refuse(h, bsi_coarsest_of(h));
  BSI_TRY(take_pseudo_inverse(h, &overflow));
  return judge(h, overflow);
}
