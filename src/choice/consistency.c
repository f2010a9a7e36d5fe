/* SPDX-License-Identifier: BSD-3-Clause */
/* Right-hand sides of matrices whose transpose maps a constant v to zero.
 *
 * If Aᵀ v = 0, every x has ‖b − A x‖ ≥ p ‖b‖ with p = |vᵀb|/(‖v‖‖b‖), which the study measures.
 * The sum of a column is not zero but up to s times the sum of its magnitudes, and then
 * ‖b − A x‖ ≥ p ‖b‖ − s ‖|A||x|‖: a huge x may be a solution. No such x is found if its rounding,
 * ε ‖|A||x|‖, is more than the residual that is wanted, t ‖b‖. So there is no solution if
 *
 *     p > t   and   ε (p − t) > s t. */
#include "choice/consistency.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include <bisai/project.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"

/* A residual that confirms an estimate may be up to twice the tolerance. */
#define CONFIRMED 2.0

/* The sum of all blocks of each block column, and that of their magnitudes, in host memory. */
typedef struct column_sums {
  int32_t *row_ptr, *col_idx;
  double *values, *sum, *size;
} column_sums;

static bisai_status allocate(const bsi_task *task, column_sums *s) {
  const bisai_bcsr *a = task->matrix;
  const size_t rows = (size_t)a->block_rows, blocks = (size_t)a->blocks;
  s->row_ptr = bsi_allocate(task->context, rows + 1, sizeof *s->row_ptr);
  s->col_idx = bsi_allocate(task->context, blocks, sizeof *s->col_idx);
  s->values = bsi_allocate(task->context, bsi_block_offset(a, a->blocks), sizeof *s->values);
  s->sum = bsi_allocate(task->context, bsi_block_offset(a, a->block_rows), sizeof *s->sum);
  s->size = bsi_allocate(task->context, bsi_block_offset(a, a->block_rows), sizeof *s->size);
  return s->row_ptr && s->col_idx && s->values && s->sum && s->size ? BISAI_OK
                                                                    : BISAI_OUT_OF_MEMORY;
}

static void release(const bsi_task *task, column_sums *s) {
  bsi_release(task->context, s->row_ptr);
  bsi_release(task->context, s->col_idx);
  bsi_release(task->context, s->values);
  bsi_release(task->context, s->sum);
  bsi_release(task->context, s->size);
}

static void add_blocks(const bisai_bcsr *a, column_sums *s) {
  const size_t square = bsi_block_offset(a, 1), all = bsi_block_offset(a, a->block_rows);
  for (size_t k = 0; k < all; k++) s->sum[k] = s->size[k] = 0;
  for (int32_t p = 0; p < a->blocks; p++)
    for (size_t k = 0; k < square; k++) {
      const double value = s->values[bsi_block_offset(a, p) + k];
      s->sum[bsi_block_offset(a, s->col_idx[p]) + k] += value;
      s->size[bsi_block_offset(a, s->col_idx[p]) + k] += fabs(value);
    }
}

/* The largest |vᵀa|/(|v|ᵀ|a|) over the columns a of A and the constants v. */
static double largest_sum(const bisai_bcsr *a, const bisai_study_constants *left,
                          const column_sums *s) {
  double largest = 0;
  const int bs = a->block_size;
  for (int64_t j = 0; j < bsi_bcsr_span(a); j++) {
    double sum = 0, size = 0;
    for (int r = 0; r < bs; r++) {
      sum += s->sum[j * bs + r];
      size += s->size[j * bs + r];
      if (!left->ones && (left->components >> r & 1u) && s->size[j * bs + r] > 0)
        largest = fmax(largest, fabs(s->sum[j * bs + r]) / s->size[j * bs + r]);
    }
    if (left->ones && size > 0) largest = fmax(largest, fabs(sum) / size);
  }
  return largest;
}

static bisai_status measure_sums(const bsi_task *task, double *largest) {
  column_sums s = {0};
  bisai_status status = allocate(task, &s);
  if (!status) status = bisai_bcsr_fetch(task->matrix, s.row_ptr, s.col_idx, s.values);
  if (!status) {
    add_blocks(task->matrix, &s);
    *largest = largest_sum(task->matrix, &task->study->null.left, &s);
  }
  release(task, &s);
  return status;
}

bisai_status bsi_consistency_bound(const bsi_task *task, const double *b, double *least) {
  const double wanted = CONFIRMED * task->solver.tolerance;
  double part = 0, sum = 0;
  *least = 0;
  BSI_TRY(bisai_matrix_study_rhs(task->context, task->matrix, task->study, b, &part));
  if (!(part > wanted)) return BISAI_OK;
  BSI_TRY(measure_sums(task, &sum));
  if (DBL_EPSILON * (part - wanted) > sum * wanted) *least = part;
  return BISAI_OK;
}

bisai_status bsi_consistency_project(const bsi_task *task, double *b) {
  const bisai_study_constants *left = &task->study->null.left;
  const int64_t n = (int64_t)task->matrix->block_rows * task->matrix->block_size;
  const int bs = task->matrix->block_size;
  int32_t count = 0;
  if (!left->ones && !left->components) return BISAI_OK;
  double *v = bsi_allocate(task->context, (size_t)(n * bs), sizeof *v);
  if (!v) return BISAI_OUT_OF_MEMORY;
  memset(v, 0, (size_t)(n * bs) * sizeof *v);
  for (int c = 0; c < bs; c++) {
    if (!left->ones && !(left->components >> c & 1u)) continue;
    for (int64_t i = c; i < bsi_bcsr_span(task->matrix); i += bs) v[count * n + i] = 1;
    count += !left->ones;
  }
  const bisai_status status = bisai_project(task->context, n, left->ones ? 1 : count, v, n, b);
  bsi_release(task->context, v);
  return status;
}
