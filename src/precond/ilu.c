/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU: z = U⁻¹ L⁻¹ v by exact block triangular solves. */
#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

static const char *const schedules[] = BSI_OPTION_WORDS(BISAI_SCHEDULE_LIST);
static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(ilu.schedule), .name = "schedule", .help = "how triangular solves run",
     .type = BISAI_OPTION_WORD, .initial = BISAI_SCHEDULE_AUTO, .maximum = BISAI_SCHEDULE_LEVELS,
     .advised = BISAI_SCHEDULE_LEVELS, .words = schedules}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bisai_status ilu_apply(bisai_precond *m, const bsi_vectors *v) {
  const bsi_backend *backend = m->context->backend;
  const bisai_schedule schedule = m->options.ilu.schedule;
  const bisai_status status =
      backend->apply->solve_triangle(m->context, bsi_triangular_of(m, BISAI_LOWER), schedule,
                                     v->count, v->b, v->ldb, v->x, v->ldx);
  if (status) return status;
  return backend->apply->solve_triangle(m->context, bsi_triangular_of(m, BISAI_UPPER), schedule,
                                        v->count, v->x, v->ldx, v->x, v->ldx);
}

/* U's diagonal blocks stay unread: their inverses are in their place. */
static void ilu_report(const bisai_precond *m, bisai_precond_report *r) {
  r->apply_bytes =
      bsi_bcsr_product_bytes(m->factors->lower) + bsi_bcsr_product_bytes(m->factors->upper);
}

static void ilu_describe(bisai_precond *m) {
  bsi_append(m, " schedule=%s", bisai_schedule_string(m->options.ilu.schedule));
  bsi_describe_factors(m);
  bsi_append(m, ", %lld blocks in L + U", (long long)m->report.factor.blocks);
}

const bsi_precond_ops bsi_precond_ilu = {
    .options = {&own_options, &bsi_factored_options, &bsi_shift_options, &bsi_order_options},
    .takes_factors = bsi_always_factored,
    .apply = ilu_apply,
    .transpose.make = bsi_factored_transpose,
    .about.symmetry = bsi_factored_symmetry,
    .about.say_indefinite = bsi_factored_say_indefinite,
    .about.describe = ilu_describe,
    .about.report = ilu_report};
