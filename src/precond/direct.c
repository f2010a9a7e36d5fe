/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete LU by UMFPACK: z = A⁻¹ v but for rounding (direct/direct.h). */
#include "direct/direct.h"

#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

typedef struct direct_state {
  bsi_direct *direct;
} direct_state;

static direct_state *state_of(const bisai_precond *m) { return m->state; }

static bisai_status direct_check(bisai_context *context, const bisai_precond_options *o,
                                 const bisai_bcsr *matrix) {
  (void)o;
  if (matrix->type != BISAI_FP64 || matrix->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "the matrix must hold fp64 values and its diagonal blocks to be factorised");
  return BISAI_OK;
}

static bisai_status direct_setup(bisai_precond *m, const bisai_bcsr *matrix) {
  const double start = bsi_now();
  const bisai_status status = bsi_direct_create(m->context, matrix, &state_of(m)->direct);
  m->report.pattern_seconds = bsi_now() - start;
  return status;
}

static bisai_status direct_check_update(const bisai_precond *m, const bisai_bcsr *matrix) {
  BSI_TRY(direct_check(m->context, &m->options, matrix));
  return bsi_direct_check(state_of(m)->direct, matrix);
}

static bisai_status direct_update(bisai_precond *m, const bisai_bcsr *matrix) {
  return bsi_direct_factorise(state_of(m)->direct, matrix);
}

static bisai_status direct_apply(bisai_precond *m, const bsi_vectors *v) {
  return bsi_direct_solve(state_of(m)->direct, false, v->count, v->b, v->ldb, v->x, v->ldx);
}

static bisai_status direct_apply_transpose(bisai_precond *m, const bsi_vectors *v) {
  return bsi_direct_solve(state_of(m)->direct, true, v->count, v->b, v->ldb, v->x, v->ldx);
}

static bisai_symmetry direct_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_VALUES;
}

static void direct_report(const bisai_precond *m, bisai_precond_report *r) {
  const bsi_direct_figures *f = bsi_direct_found(state_of(m)->direct);
  r->direct = (bisai_direct_report){.lower = f->lower,
                                    .upper = f->upper,
                                    .flops = f->flops,
                                    .condition = f->condition,
                                    .peak_bytes = f->peak_bytes};
  r->memory_bytes += bsi_direct_memory(state_of(m)->direct);
  r->apply_bytes = f->bytes + 16 * bsi_precond_size(m);
}

static void direct_describe(bisai_precond *m) {
  bsi_append(m, ", %lld values in L + U (UMFPACK)",
             (long long)(m->report.direct.lower + m->report.direct.upper));
}

static void direct_destroy(bisai_precond *m) { bsi_direct_destroy(&state_of(m)->direct); }

const bsi_precond_ops bsi_precond_direct = {.state_size = sizeof(direct_state),
                                            .check = direct_check,
                                            .setup = direct_setup,
                                            .update = direct_update,
                                            .check_update = direct_check_update,
                                            .apply = direct_apply,
                                            .transpose.apply = direct_apply_transpose,
                                            .about.symmetry = direct_symmetry,
                                            .about.describe = direct_describe,
                                            .about.report = direct_report,
                                            .destroy = direct_destroy};
