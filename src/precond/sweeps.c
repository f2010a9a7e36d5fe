/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi sweeps x ← D⁻¹(b − T_off x), x = D⁻¹b, on the factors L and then U. */
#include "precond/precond_impl.h"

/* D⁻¹ T_off of L and of U. */
typedef struct sweeps_state {
  bisai_bcsr *matrices[2];
} sweeps_state;

static sweeps_state *sweeps_of(const bisai_precond *m) { return m->state; }

static const bisai_option table[] = {
    {BSI_PRECOND_OPTION(sweeps.count), .name = "sweeps", .key = "n", .placeholder = "N",
     .petsc = "sweeps", .help = "their number on each factor", .type = BISAI_OPTION_INTEGER,
     .use = BISAI_OPTION_NEEDED, .initial = 1, .maximum = INT32_MAX, .advised = BSI_ADVISED_STEPS}};
static const bsi_option_list own_options = BSI_OPTION_LIST(table);

static bisai_status sweeps_setup(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  const bisai_status status = bsi_sweeps_create(m->context, bsi_triangular_of(m, BISAI_LOWER),
                                                &sweeps_of(m)->matrices[BISAI_LOWER]);
  return status ? status
                : bsi_sweeps_create(m->context, bsi_triangular_of(m, BISAI_UPPER),
                                    &sweeps_of(m)->matrices[BISAI_UPPER]);
}

static bisai_status sweeps_update(bisai_precond *m, const bisai_bcsr *a) {
  (void)a;
  bisai_status status = BISAI_OK;
  for (int t = BISAI_LOWER; t <= BISAI_UPPER && !status; t++)
    status = bsi_sweeps_update(m->context, bsi_triangular_of(m, (bisai_triangle)t),
                               sweeps_of(m)->matrices[t]);
  return status;
}

static bisai_status sweeps_apply(bisai_precond *m, const bsi_vectors *v) {
  const int64_t n = bsi_precond_size(m);
  const bsi_vectors lower = bsi_first_half(v, n), upper = bsi_second_half(v, n);
  const bisai_status status =
      bsi_apply_sweeps(m->context, sweeps_of(m)->matrices[BISAI_LOWER],
                       bsi_triangular_of(m, BISAI_LOWER), m->options.sweeps.count, &lower);
  if (status) return status;
  return bsi_apply_sweeps(m->context, sweeps_of(m)->matrices[BISAI_UPPER],
                          bsi_triangular_of(m, BISAI_UPPER), m->options.sweeps.count, &upper);
}

static bisai_status sweeps_transpose(const bisai_precond *m, bisai_precond *t) {
  BSI_TRY(bsi_factored_transpose(m, t));
  BSI_TRY(sweeps_setup(t, NULL));
  return sweeps_update(t, NULL);
}

static void sweeps_report(const bisai_precond *m, bisai_precond_report *r) {
  const int64_t diagonal =
      8 * (int64_t)m->block_rows * m->block_size * m->block_size + 16 * bsi_precond_size(m);
  r->apply_bytes = diagonal;
  for (int t = BISAI_LOWER; t <= BISAI_UPPER; t++) {
    r->memory_bytes += bsi_bcsr_memory(sweeps_of(m)->matrices[t]);
    r->apply_bytes += bsi_bcsr_product_bytes(sweeps_of(m)->matrices[t]) * m->options.sweeps.count;
  }
}

static void sweeps_destroy(bisai_precond *m) {
  bisai_bcsr_destroy(&sweeps_of(m)->matrices[BISAI_LOWER]);
  bisai_bcsr_destroy(&sweeps_of(m)->matrices[BISAI_UPPER]);
}

static void sweeps_describe(bisai_precond *m) {
  bsi_append(m, " n=%d", m->options.sweeps.count);
  bsi_describe_factors(m);
  bsi_append(m, ", %lld blocks in L + U", (long long)m->report.factor.blocks);
}

/* Symmetric: p(L)ᵀ D⁻¹ p(L) with U = D Lᵀ. */
const bsi_precond_ops bsi_precond_sweeps = {
    .options = {&own_options, &bsi_factored_options, &bsi_shift_options, &bsi_order_options},
    .state_size = sizeof(sweeps_state),
    .takes_factors = bsi_always_factored,
    .vectors = 3,
    .setup = sweeps_setup,
    .update = sweeps_update,
    .apply = sweeps_apply,
    .transpose.make = sweeps_transpose,
    .about.symmetry = bsi_factored_symmetry,
    .about.say_indefinite = bsi_factored_say_indefinite,
    .about.describe = sweeps_describe,
    .about.report = sweeps_report,
    .destroy = sweeps_destroy};
