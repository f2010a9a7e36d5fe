/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's own preconditioner. */
#include "precond/precond_impl.h"

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(callback.apply), .name = "apply", .help = "the function",
     .type = BISAI_OPTION_POINTER, .use = BISAI_OPTION_NEEDED},
    {BSI_PRECOND_OPTION(callback.nonlinear), .name = "nonlinear",
     .help = "the function is not linear", .type = BISAI_OPTION_FLAG}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bisai_status callback_check(bisai_context *context, const bisai_precond_options *o,
                                   const bisai_bcsr *matrix) {
  (void)matrix;
  if (o->callback.apply) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "a callback preconditioner needs its apply function");
}

static bisai_status callback_apply(bisai_precond *m, const bsi_vectors *v) {
  for (int32_t c = 0; c < v->count; c++) {
    const unsigned before = m->context->failures;
    const bisai_status status = m->options.callback.apply(
        m->options.callback.user, bsi_precond_size(m), v->b + c * v->ldb, v->x + c * v->ldx);
    if (status)
      return bsi_fail_callback(m->context, "the preconditioner's callback", status, before);
  }
  return BISAI_OK;
}

static void callback_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes = 16 * bsi_precond_size(m);
}

static bisai_symmetry callback_symmetry(const bisai_precond *m) {
  (void)m;
  return BISAI_SYMMETRY_CALLER;
}

static bool callback_nonlinear(const bisai_precond *m) { return m->options.callback.nonlinear; }

const bsi_precond_ops bsi_precond_callback = {.options = {&own_options},
                                              .check = callback_check,
                                              .apply = callback_apply,
                                              .about.symmetry = callback_symmetry,
                                              .about.nonlinear = callback_nonlinear,
                                              .about.report = callback_report};
