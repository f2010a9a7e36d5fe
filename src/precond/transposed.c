/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of M⁻ᵀ, for adjoint equations and methods such as BiCG and QMR. With B the matrix
 * in the order of the kind, M⁻¹ = Dc Pᵀ B⁻¹ P Q Dr, and M⁻ᵀ = Dr Qᵀ Pᵀ B⁻ᵀ P Dc. */
#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "precond/application.h"
#include "precond/precond_impl.h"

/* m->work.transposed ← M⁻ᵀ in the order of the kind, unless it is there. */
static bisai_status make(bisai_precond *m) {
  if (m->work.transposed || !m->ops->transpose.make) return BISAI_OK;
  bisai_precond *t = NULL;
  bisai_status status = bsi_precond_allocate_like(m, &t);
  if (!status) status = m->ops->transpose.make(m, t);
  if (!status) status = bsi_precond_reserve_work(t);
  if (t) t->ready = !status;
  if (status)
    bisai_precond_destroy(&t);
  else
    m->work.transposed = t;
  return status;
}

/* In the order of the kind. */
static bisai_status apply(bisai_precond *m, const double *v, double *z) {
  bisai_precond *t = m->work.transposed;
  const bsi_vectors vectors = {
      .count = 1, .b = v, .x = z, .work = t ? t->work.values : m->work.values};
  if (t) return t->ops->apply(t, &vectors);
  return m->ops->transpose.apply(m, &vectors);
}

static bisai_status apply_reordered(bisai_precond *m, const double *v, double *z) {
  const bsi_reordered *order = &m->order.reordered;
  double *result =
      m->work.values + (m->work.vectors - 1) * BSI_VECTORS_AT_ONCE * bsi_precond_size(m);
  BSI_TRY(bsi_reordered_enter(order, BSI_COLUMNS, 1, v, 0, z, 0));
  BSI_TRY(apply(m, z, result));
  return bsi_reordered_leave(order, BSI_ROWS, 1, result, 0, z, 0);
}

bisai_status bsi_precond_transpose_inside(bisai_precond *precond, const double *v, double *z) {
  const bsi_precond_transpose *how = &precond->ops->transpose;
  if (how->is_own && how->is_own(precond))
    return bsi_precond_apply_inside(precond, 1, v, 0, z, 0, 0, false);
  if (!how->make && !how->apply)
    return bsi_fail(precond->context, BISAI_UNSUPPORTED,
                    "%s has no transposed application%s: a preconditioner of the transposed matrix "
                    "has",
                    bisai_precond_kind_string(precond->options.kind),
                    how->is_own ? " unless M is symmetric" : "");
  BSI_TRY(make(precond));
  return precond->order.reordered.matrix ? apply_reordered(precond, v, z) : apply(precond, v, z);
}

bisai_status bisai_precond_apply_transpose(bisai_precond *precond, const double *v, double *z) {
  bsi_staged from = {0}, to = {0};
  if (!precond) return BISAI_INVALID_ARGUMENT;
  const int64_t n = bsi_precond_size(precond);
  bisai_status status = bsi_precond_check_apply(precond, "bisai_precond_apply_transpose", v, z);
  if (status) return status;
  status = bsi_stage_input(precond->context, n, 1, v, 0, &from);
  if (!status) status = bsi_stage_output(precond->context, n, 1, false, z, 0, &to);
  if (!status) status = bsi_precond_transpose_inside(precond, from.data, to.data);
  status = bsi_stage_return(precond->context, status, &to);
  bsi_stage_release(precond->context, &from);
  return status;
}
