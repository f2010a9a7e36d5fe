/* SPDX-License-Identifier: BSD-3-Clause */
/* x ← x − V (VᵀV)⁻¹ Vᵀ x. V is orthonormalised column by column, and x is treated as one column
 * more, which is not normalised. Each column loses its parts in the earlier ones by two passes of
 * classical Gram–Schmidt (Giraud, Langou, Rozložník, van den Eshof 2005). */
#include <bisai/project.h>

#include <float.h>
#include <math.h>

#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "krylov/passes/krylov_ops.h"

/* Less than this part of a vector is rounding: its vectors may come from a file with ten digits. */
static const double dependent = 1e-10;

/* `basis` has the vectors that are orthonormal so far, in backend memory. */
typedef struct projection {
  bisai_context *context;
  bsi_basis basis;
  /* a column of the basis, coefficients, and the workspace of reductions */
  double *columns, *coefficients, *work;
} projection;

/* v ← v − Q Qᵀ v for the columns Q of the basis. */
static bisai_status take_out(const projection *p, double *v) {
  const bsi_basis_ops *ops = p->context->backend->krylov->basis;
  for (int pass = 0; pass < 2 && p->basis.count > 0; pass++) {
    BSI_TRY(ops->dot_many(p->context, p->basis, v, p->work, p->coefficients));
    BSI_TRY(ops->axpy_many(p->context, p->basis, p->coefficients, -1, v, p->work, NULL));
  }
  return BISAI_OK;
}

static bisai_status norm_of(const projection *p, const double *v, double *norm) {
  return p->context->backend->vectors->norms(p->context, 1, p->basis.n, &v, norm);
}

static bisai_status scale(const projection *p, double factor, const double *from, double *to) {
  return p->context->backend->vectors->combine(p->context, p->basis.n, factor, from, 0, to);
}

static bisai_status add_column(projection *p, const double *vector) {
  const int c = p->basis.count;
  double *column = p->columns + c * p->basis.ld, norm = 0;
  BSI_TRY(norm_of(p, vector, &norm));
  if (!isfinite(norm))
    return bsi_fail(p->context, BISAI_NOT_FINITE, "vectors: vector %d (from 0) is not finite", c);
  if (norm < DBL_MIN)
    return bsi_fail(p->context, BISAI_INVALID_ARGUMENT, "vectors: vector %d (from 0) is zero", c);
  BSI_TRY(scale(p, 1 / norm, vector, column));
  BSI_TRY(take_out(p, column));
  BSI_TRY(norm_of(p, column, &norm));
  if (norm <= dependent)
    return bsi_fail(p->context, BISAI_INVALID_ARGUMENT,
                    "vectors: vector %d (from 0) is a combination of those before it", c);
  BSI_TRY(scale(p, 1 / norm, column, column));
  p->basis.count++;
  return BISAI_OK;
}

static bisai_status check(bisai_context *context, int64_t n, int32_t count, const double *vectors,
                          int64_t ld, const double *x) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!x || (count > 0 && !vectors))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_project: %s is NULL",
                    x ? "vectors" : "x");
  if (n < 1 || count < 0 || (count > 1 && ld < n))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "bisai_project: n = %lld, count = %d, ld = %lld", (long long)n, (int)count,
                    (long long)ld);
  return BISAI_OK;
}

/* Reserves `columns`, `coefficients` and `work`. */
static bisai_status reserve(projection *p, int64_t n, int32_t count) {
  const bsi_memory_ops *memory = p->context->backend->memory;
  const size_t length = (size_t)(n + 7) / 8 * 8, columns = (size_t)count;
  p->basis.n = n;
  p->basis.ld = (int64_t)length;
  p->columns = memory->allocate(p->context, length, columns * sizeof(double));
  p->coefficients = memory->allocate(p->context, columns, sizeof(double));
  p->work = memory->allocate(p->context, columns + 1, BSI_CHUNKS * sizeof(double));
  p->basis.vectors = p->columns;
  return p->columns && p->coefficients && p->work
             ? BISAI_OK
             : bsi_fail(p->context, BISAI_OUT_OF_MEMORY, "out of memory for %d vectors",
                        (int)count);
}

bisai_status bisai_project(bisai_context *context, int64_t n, int32_t count, const double *vectors,
                           int64_t ld, double *x) {
  bsi_staged from = {0}, to = {0};
  projection p = {.context = context};
  double norm = 0;
  bisai_status status = check(context, n, count, vectors, ld, x);
  if (status || count == 0) return status;
  status = reserve(&p, n, count);
  if (!status) status = bsi_stage_input(context, n, count, vectors, ld, &from);
  if (!status) status = bsi_stage_output(context, n, 1, true, x, n, &to);
  for (int32_t c = 0; !status && c < count; c++) status = add_column(&p, from.data + c * from.ld);
  if (!status) status = norm_of(&p, to.data, &norm);
  if (!status && !isfinite(norm))
    status = bsi_fail(context, BISAI_NOT_FINITE, "bisai_project: x is not finite");
  if (!status) status = take_out(&p, to.data);
  status = bsi_stage_return(context, status, &to);
  bsi_stage_release(context, &from);
  context->backend->memory->release(context, p.work);
  context->backend->memory->release(context, p.coefficients);
  context->backend->memory->release(context, p.columns);
  return status;
}
