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

#include <bisai/project.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "study/parts.h"

/* A residual that confirms an estimate may be up to twice the tolerance. */
#define CONFIRMED 2.0

/* A matrix in host memory, and for each scalar column the sum of its entries in some rows and that
 * of their magnitudes. */
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
  s->sum = bsi_allocate(task->context, rows * (size_t)a->block_size, sizeof *s->sum);
  s->size = bsi_allocate(task->context, rows * (size_t)a->block_size, sizeof *s->size);
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

static void add_row(const bisai_bcsr *a, int64_t row, column_sums *s) {
  const int bs = a->block_size;
  const int32_t i = (int32_t)(row / bs);
  for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
    for (int c = 0; c < bs; c++) {
      const double value = s->values[bsi_block_offset(a, p) + (size_t)(c * bs + row % bs)];
      s->sum[(int64_t)s->col_idx[p] * bs + c] += value;
      s->size[(int64_t)s->col_idx[p] * bs + c] += fabs(value);
    }
}

/* Returns the largest |vᵀa|/(|v|ᵀ|a|) over the columns a of A, for the v that is 1 in a range. */
static double largest_sum(const bisai_bcsr *a, bsi_study_range range, column_sums *s) {
  const int64_t columns = bsi_bcsr_span(a);
  double largest = 0;
  for (int64_t j = 0; j < columns; j++) s->sum[j] = s->size[j] = 0;
  for (int64_t i = range.first; i < range.end; i += range.step) add_row(a, i, s);
  for (int64_t j = 0; j < columns; j++)
    if (s->size[j] > 0) largest = fmax(largest, fabs(s->sum[j]) / s->size[j]);
  return largest;
}

static bisai_status measure_sums(const bsi_task *task, double *largest) {
  const bisai_bcsr *a = task->matrix;
  bsi_study_range ranges[BSI_STUDY_RANGES];
  const int32_t count =
      bsi_study_ranges(&task->study->null.left, a->block_size, bsi_bcsr_span(a), ranges);
  column_sums s = {0};
  bisai_status status = allocate(task, &s);
  if (!status) status = bisai_bcsr_fetch(a, s.row_ptr, s.col_idx, s.values);
  for (int32_t k = 0; !status && k < count; k++)
    *largest = fmax(*largest, largest_sum(a, ranges[k], &s));
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
  const int64_t rows = bsi_bcsr_span(task->matrix);
  const int bs = task->matrix->block_size,
            count = bisai_study_constants_vectors(left, bs, rows, NULL);
  if (count == 0) return BISAI_OK;
  double *v = bsi_allocate(task->context, (size_t)(rows * count), sizeof *v);
  if (!v) return BISAI_OUT_OF_MEMORY;
  bisai_study_constants_vectors(left, bs, rows, v);
  const bisai_status status = bisai_project(task->context, rows, count, v, rows, b);
  bsi_release(task->context, v);
  return status;
}
