/* SPDX-License-Identifier: BSD-3-Clause */
/* No preconditioner: z = v. */
#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

static bisai_status none_apply(bisai_precond *m, const bsi_vectors *v) {
  bisai_status status = BISAI_OK;
  for (int32_t c = 0; c < v->count && !status; c++)
    status = m->context->backend->vectors->copy(m->context, bsi_precond_size(m), v->b + c * v->ldb,
                                                v->x + c * v->ldx);
  return status;
}

static void none_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes = 16 * bsi_precond_size(m);
}

static bisai_symmetry none_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_VALUES;
}

const bsi_precond_ops bsi_precond_none = {.apply = none_apply,
                                          .transpose.apply = none_apply,
                                          .about.symmetry = none_symmetry,
                                          .about.report = none_report};
