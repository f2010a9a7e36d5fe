/* SPDX-License-Identifier: BSD-3-Clause */
/* The public block products, and the application of approximate inverses of one triangular
 * factor. */
#include "apply/apply.h"

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "core/context/staging.h"

/* Y ← A X + beta·Y, where beta is 0 or 1. */
static bisai_status multiply_vectors(const bisai_bcsr *matrix, int32_t count, double beta,
                                     const double *x, int64_t ldx, double *y, int64_t ldy) {
  if (!matrix) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = matrix->context;
  const int64_t rows = (int64_t)matrix->block_rows * matrix->block_size;
  const int64_t cols = (int64_t)matrix->block_cols * matrix->block_size;
  if (count < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "negative number of vectors: %d", count);
  if ((cols > 0 && !x) || (rows > 0 && !y))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_bcsr_multiply: %s is NULL",
                    x ? "y" : "x");
  if (count > 1 && (ldx < cols || ldy < rows))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "leading dimensions %lld and %lld, at least %lld and %lld needed",
                    (long long)ldx, (long long)ldy, (long long)cols, (long long)rows);
  bsi_staged from = {0}, to = {0};
  bisai_status status = bsi_stage_input(context, cols, count, x, ldx, &from);
  if (!status) status = bsi_stage_output(context, rows, count, beta != 0.0, y, ldy, &to);
  if (!status)
    status = context->backend->apply->products->multiply(context, matrix,
                                                         &(bsi_product){.count = count,
                                                                        .alpha = 1.0,
                                                                        .beta = beta,
                                                                        .x = from.data,
                                                                        .z = to.data,
                                                                        .y = to.data,
                                                                        .ldx = from.ld,
                                                                        .ldz = to.ld,
                                                                        .ldy = to.ld});
  status = bsi_stage_return(context, status, &to);
  bsi_stage_release(context, &from);
  return status;
}

bisai_status bisai_bcsr_multiply_many(const bisai_bcsr *matrix, int32_t count, const double *x,
                                      int64_t ldx, double *y, int64_t ldy) {
  return multiply_vectors(matrix, count, 0.0, x, ldx, y, ldy);
}

bisai_status bisai_bcsr_multiply(const bisai_bcsr *matrix, const double *x, double *y) {
  return multiply_vectors(matrix, 1, 0.0, x, 0, y, 0);
}

bisai_status bisai_bcsr_multiply_add(const bisai_bcsr *matrix, const double *x, double *y) {
  return multiply_vectors(matrix, 1, 1.0, x, 0, y, 0);
}

/* The products of an application of an inverse: x ← N b, r ← b − T x and x ← x + N r. */
typedef struct inverse_steps {
  bsi_product first, residual, correction;
} inverse_steps;

static inverse_steps steps_of(const bisai_bcsr *inverse, const bsi_vectors *v) {
  const int64_t n = (int64_t)inverse->block_rows * inverse->block_size;
  const bsi_product first = {.count = v->count,
                             .alpha = 1.0,
                             .x = v->b,
                             .y = v->x,
                             .ldx = v->ldb,
                             .ldy = v->ldx,
                             .cached_bytes = v->cached_bytes};
  inverse_steps steps = {first, first, first};
  steps.residual.alpha = -1.0, steps.residual.beta = 1.0;
  steps.residual.x = v->x, steps.residual.ldx = v->ldx;
  steps.residual.z = v->b, steps.residual.ldz = v->ldb;
  steps.residual.y = v->work, steps.residual.ldy = n;
  steps.correction.beta = 1.0;
  steps.correction.x = v->work, steps.correction.ldx = n;
  steps.correction.z = v->x, steps.correction.ldz = v->ldx;
  return steps;
}

bisai_status bsi_apply_inverse(bisai_context *context, const bisai_bcsr *inverse,
                               const bsi_triangular *t, int relax, const bsi_vectors *v) {
  const bsi_product_ops *products = context->backend->apply->products;
  const inverse_steps steps = steps_of(inverse, v);
  BSI_TRY(products->multiply(context, inverse, &steps.first));
  for (int sweep = 0; sweep < relax; sweep++) {
    BSI_TRY(products->multiply(context, t->matrix, &steps.residual));
    BSI_TRY(products->multiply(context, inverse, &steps.correction));
  }
  return BISAI_OK;
}

/* With R = I − T N, bsi_apply_inverse() computes N (I + R + … + Rʳ) b. The same steps with
 * transposes compute (I + Rᵀ + …) Nᵀ b. */
bisai_status bsi_apply_transposed(bisai_context *context, const bisai_bcsr *inverse,
                                  const bsi_columns *inverse_columns, const bsi_triangular *t,
                                  const bsi_columns *columns, int relax, const bsi_vectors *v) {
  bsi_multiply_transposed *multiply = context->backend->apply->multiply_transposed;
  const inverse_steps steps = steps_of(inverse, v);
  BSI_TRY(multiply(context, inverse, inverse_columns, &steps.first));
  for (int sweep = 0; sweep < relax; sweep++) {
    BSI_TRY(multiply(context, t->matrix, columns, &steps.residual));
    BSI_TRY(multiply(context, inverse, inverse_columns, &steps.correction));
  }
  return BISAI_OK;
}

/* y ← D⁻¹ b. If the diagonal is the identity, this is a copy. */
static bisai_status apply_diagonal(bisai_context *context, const bsi_triangular *t,
                                   const bsi_vectors *v, double *y, int64_t ldy) {
  const bisai_bcsr *a = t->matrix;
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  if (t->inverse_diagonal)
    return context->backend->apply->products->multiply_diagonal(
        context, a->block_rows, a->block_size, t->inverse_diagonal,
        &(bsi_product){.count = v->count, .x = v->b, .y = y, .ldx = v->ldb, .ldy = ldy});
  for (int32_t c = 0; c < v->count; c++)
    BSI_TRY(context->backend->vectors->copy(context, n, v->b + c * v->ldb, y + c * ldy));
  return BISAI_OK;
}

/* The sweeps alternate between x and work, so that each reads the result of the one before. The
 * last one writes to x. */
bisai_status bsi_apply_sweeps(bisai_context *context, const bisai_bcsr *scaled,
                              const bsi_triangular *t, int sweeps, const bsi_vectors *v) {
  const int64_t n = (int64_t)scaled->block_rows * scaled->block_size;
  if (sweeps == 0) return apply_diagonal(context, t, v, v->x, v->ldx);
  double *start = v->work, *other = v->work + n * v->count;
  BSI_TRY(apply_diagonal(context, t, v, start, n));
  bsi_product step = {.count = v->count,
                      .alpha = -1.0,
                      .beta = 1.0,
                      .x = start,
                      .z = start,
                      .ldx = n,
                      .ldz = n,
                      .cached_bytes = v->cached_bytes};
  for (int sweep = 0; sweep < sweeps; sweep++) {
    const bool into_x = (sweeps - sweep) % 2 == 1;
    step.y = into_x ? v->x : other;
    step.ldy = into_x ? v->ldx : n;
    BSI_TRY(context->backend->apply->products->multiply(context, scaled, &step));
    step.x = step.y;
    step.ldx = step.ldy;
  }
  return BISAI_OK;
}

static void drop_diagonal(int32_t n, const bsi_structure *s, int32_t *row_ptr, int32_t *col_idx) {
  row_ptr[0] = 0;
  for (int32_t i = 0, q = 0; i < n; i++) {
    for (int32_t p = s->row_ptr[i]; p < s->row_ptr[i + 1]; p++)
      if (s->col_idx[p] != i) col_idx[q++] = s->col_idx[p];
    row_ptr[i + 1] = q;
  }
}

bisai_status bsi_sweeps_create(bisai_context *context, const bsi_triangular *t,
                               bisai_bcsr **scaled) {
  const bisai_bcsr *a = t->matrix;
  const int32_t n = a->block_rows, stored = a->unit_diagonal ? 0 : n;
  bisai_bcsr *g;
  bsi_structure s;
  bisai_status status = bsi_bcsr_structure(a, &s);
  if (!status)
    status = bsi_bcsr_reserve(
        context, &(bsi_bcsr_sizes){n, n, a->block_size, a->blocks - stored, BISAI_FP64}, NULL, NULL,
        &g);
  if (status) return status;
  int32_t *row_ptr = bsi_allocate(context, (size_t)n + 1, sizeof *row_ptr);
  int32_t *col_idx = row_ptr ? bsi_allocate(context, (size_t)g->blocks, sizeof *col_idx) : NULL;
  status = col_idx ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status) {
    drop_diagonal(n, &s, row_ptr, col_idx);
    status = bsi_bcsr_set_structure(g, row_ptr, col_idx);
  }
  bsi_release(context, col_idx);
  bsi_release(context, row_ptr);
  if (status)
    bisai_bcsr_destroy(&g);
  else
    *scaled = g;
  return status;
}

bisai_status bsi_sweeps_update(bisai_context *context, const bsi_triangular *t,
                               bisai_bcsr *scaled) {
  int32_t infinite_row = -1;
  BSI_TRY(context->backend->apply->scale_off_diagonal(context, t, scaled, &infinite_row));
  if (infinite_row < 0) return BISAI_OK;
  return bsi_fail(
      context, BISAI_NOT_FINITE, "sweeps: block row %d of the scaled %s factor is not finite",
      bsi_row_name(t->matrix, infinite_row), t->triangle == BISAI_LOWER ? "lower" : "upper");
}
