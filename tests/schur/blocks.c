/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of SCHUR with exact stages against dense blocks, and how the pressures are named. */
#include "saddles.h"
#include "support/fixture.h"
#include "support/preconds.h"
#include "support/systems.h"

/* The parts of a dense saddle point, and what is made of them. */
typedef struct parts {
  int n, nv, np;
  double *k, *g, *d, *c, *k_inverse, *e, *e_inverse;
} parts;

static parts parts_of(const saddle_rows *s, const double *a) {
  parts p = {.n = s->velocities + s->pressures, .nv = s->velocities, .np = s->pressures};
  p.k = saddle_part(p.n, a, p.nv, s->of_velocities, p.nv, s->of_velocities);
  p.g = saddle_part(p.n, a, p.nv, s->of_velocities, p.np, s->of_pressures);
  p.d = saddle_part(p.n, a, p.np, s->of_pressures, p.nv, s->of_velocities);
  p.c = saddle_part(p.n, a, p.np, s->of_pressures, p.np, s->of_pressures); /* −C */
  p.k_inverse = test_dense_inverse(p.nv, p.k);
  p.e = malloc((size_t)(p.np * p.np) * sizeof *p.e);
  for (int j = 0; j < p.np; j++)
    for (int i = 0; i < p.np; i++) {
      double sum = -p.c[j * p.np + i];
      for (int l = 0; l < p.nv; l++)
        sum += p.d[l * p.np + i] * p.g[j * p.nv + l] / p.k[l * (p.nv + 1)];
      p.e[j * p.np + i] = sum;
    }
  p.e_inverse = test_dense_inverse(p.np, p.e);
  return p;
}

static void parts_free(parts *p) {
  free(p->k), free(p->g), free(p->d), free(p->c);
  free(p->k_inverse), free(p->e), free(p->e_inverse);
}

/* y ← y + factor·A x for a dense matrix. */
static void add_product(int rows, int cols, double factor, const double *a, const double *x,
                        double *y) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) y[i] += factor * a[j * rows + i] * x[j];
}

/* z ← S⁻¹ r */
static void solve_complement(const parts *p, bisai_schur_complement how, double alpha,
                             const double *r, double *z) {
  double t[64] = {0}, u[128] = {0}, w[128] = {0};
  memset(z, 0, (size_t)p->np * sizeof *z);
  if (how == BISAI_SCHUR_COMPLEMENT_DIAGONAL) {
    for (int i = 0; i < p->np; i++) z[i] = -r[i] / p->e[i * (p->np + 1)];
    return;
  }
  if (how == BISAI_SCHUR_COMPLEMENT_SIMPLE) {
    add_product(p->np, p->np, -1.0, p->e_inverse, r, z);
    return;
  }
  add_product(p->np, p->np, 1.0, p->e_inverse, r, t);
  add_product(p->nv, p->np, 1.0, p->g, t, u);
  for (int i = 0; i < p->nv; i++) u[i] /= p->k[i * (p->nv + 1)];
  add_product(p->nv, p->nv, 1.0, p->k, u, w);
  for (int i = 0; i < p->nv; i++) w[i] /= p->k[i * (p->nv + 1)];
  memset(t, 0, sizeof t);
  add_product(p->np, p->nv, 1.0, p->d, w, t);
  add_product(p->np, p->np, -1.0, p->e_inverse, t, z);
  for (int i = 0; i < p->np; i++) z[i] -= alpha * r[i] / p->e[i * (p->np + 1)];
}

/* z ← M⁻¹ v by dense blocks. */
static void apply_dense(const saddle_rows *s, const parts *p, const bisai_schur_report *how,
                        const double *v, double *z) {
  double f[128], g[64], u[128] = {0}, q[64], t[128] = {0};
  for (int i = 0; i < p->nv; i++) f[i] = v[s->of_velocities[i]];
  for (int i = 0; i < p->np; i++) g[i] = v[s->of_pressures[i]];
  if (how->form == BISAI_SCHUR_FORM_UPPER) {
    solve_complement(p, how->complement, how->alpha, g, q);
    add_product(p->nv, p->np, -1.0, p->g, q, f);
    add_product(p->nv, p->nv, 1.0, p->k_inverse, f, u);
  } else {
    add_product(p->nv, p->nv, 1.0, p->k_inverse, f, u);
    add_product(p->np, p->nv, -1.0, p->d, u, g);
    solve_complement(p, how->complement, how->alpha, g, q);
  }
  if (how->form == BISAI_SCHUR_FORM_FULL) {
    add_product(p->nv, p->np, -1.0, p->g, q, t);
    add_product(p->nv, p->nv, 1.0, p->k_inverse, t, u);
  }
  for (int i = 0; i < p->nv; i++) z[s->of_velocities[i]] = u[i];
  for (int i = 0; i < p->np; i++) z[s->of_pressures[i]] = q[i];
}

static bisai_precond_options exact(void) {
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  o.schur.first = o.schur.second = BISAI_SCHUR_STAGE_LU;
  return o;
}

/* Compares all forms and complements. The stages are exact but for rounding, and K and E have
 * condition numbers below 10³. */
static void expect_dense(const saddle_rows *s, const double *dense, int bs,
                         const bisai_precond_options *options) {
  parts p = parts_of(s, dense);
  bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(p.n, bs, dense, false));
  double *v = test_random_vector(p.n, 7), *got = malloc((size_t)p.n * sizeof *got),
         *expected = malloc((size_t)p.n * sizeof *expected);
  for (int k = 0; k < 9; k++) {
    bisai_precond_options o = *options;
    o.schur.complement = (bisai_schur_complement)(BISAI_SCHUR_COMPLEMENT_LSC + k % 3);
    o.schur.form = (bisai_schur_form)(k / 3);
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_schur_report r = test_report_of(context, m).schur;
    assert_int_equal(r.velocities, p.nv);
    assert_int_equal(r.pressures, p.np);
    assert_int_equal(r.complement, o.schur.complement);
    EXPECT_OK(context, bisai_precond_apply(m, v, got));
    apply_dense(s, &p, &r, v, expected);
    EXPECT_CLOSE(p.n, expected, got, 1e-9 * test_largest(p.n, expected));
    bisai_precond_destroy(&m);
  }
  free(v), free(got), free(expected);
  bisai_bcsr_destroy(&a);
  parts_free(&p);
}

static void an_application_is_that_of_dense_blocks(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    const saddle_rows s = k % 2 ? saddle_scattered(24, 7, 3) : saddle_grouped(9, 3);
    double *dense = saddle_random(&s, k < 2 ? 0.0 : 0.4, 11);
    const bisai_precond_options o = exact();
    expect_dense(&s, dense, 1, &o);
    if (k % 2 == 0) expect_dense(&s, dense, 3, &o);
    free(dense);
  }
}

static void negative_velocities_change_the_sign_of_the_complement_only(void **state) {
  (void)state;
  const saddle_rows s = saddle_grouped(9, 3);
  double *dense = saddle_random(&s, 0.0, 12);
  const bisai_precond_options o = exact();
  for (int k = 0; k < 27 * 27; k++) dense[k] = -dense[k];
  expect_dense(&s, dense, 3, &o);
  for (int k = 0; k < 27 * 27; k++) /* D changes its sign */
    if (k % 27 % 3 == 2) dense[k] = -dense[k];
  expect_dense(&s, dense, 3, &o);
  free(dense);
}

/* C of the sign that fewer rows have is found where the diagonal has no zeros. */
static void named_pressures_are_those_that_are_found(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    const saddle_rows s = saddle_grouped(9, 3);
    double *dense = saddle_random(&s, 0.3 * k, 13);
    bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(27, 3, dense, false));
    bisai_precond_options o = exact();
    bisai_precond *found = test_precond_with(context, a, &o);
    assert_true(test_report_of(context, found).schur.found);
    o.schur.component = 2;
    bisai_precond *by_component = test_precond_with(context, a, &o);
    assert_false(test_report_of(context, by_component).schur.found);
    o.schur.component = BISAI_SCHUR_NOT_GIVEN;
    o.schur.rows = s.of_pressures;
    o.schur.row_count = s.pressures;
    bisai_precond *by_rows = test_precond_with(context, a, &o);
    assert_true(test_same_bits(context, found, by_component));
    assert_true(test_same_bits(context, found, by_rows));
    bisai_precond_destroy(&found);
    bisai_precond_destroy(&by_component);
    bisai_precond_destroy(&by_rows);
    bisai_bcsr_destroy(&a);
    free(dense);
  }
}

/* Rows 0 … 23 are velocities, and 24 … 30 pressures; also with an end. */
static void rows_that_follow_each_other_are_named_by_their_ends(void **state) {
  (void)state;
  saddle_rows s = {0};
  for (int32_t k = 0; k < 31; k++) {
    if (k < 24)
      s.of_velocities[s.velocities++] = k;
    else
      s.of_pressures[s.pressures++] = k;
  }
  double *dense = saddle_random(&s, 0.5, 14);
  bisai_precond_options o = exact();
  o.schur.from = 24;
  expect_dense(&s, dense, 1, &o);
  o.schur.to = 30;
  expect_dense(&s, dense, 1, &o);
  free(dense);
}

/* Velocities that are not coupled in their blocks become single values, and so do those of blocks
 * with and without a pressure. */
static void blocks_of_velocities_stay_where_they_are_full(void **state) {
  (void)state;
  const saddle_rows s = saddle_grouped(9, 3);
  double *dense = saddle_random(&s, 0.0, 15);
  const bisai_precond_options o = exact();
  for (int k = 0; k < 3; k++) {
    for (int q = 0; q < 27 * 27 && k == 1; q++) /* no couplings of different velocities */
      if (q / 27 % 3 + q % 27 % 3 == 1) dense[q] = 0.0;
    if (k == 2) dense[26 * 28] = 5.0; /* the last pressure counts as a velocity */
    bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(27, 3, dense, false));
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_schur_report r = test_report_of(context, m).schur;
    assert_int_equal(r.velocity_size, k == 0 ? 2 : 1);
    assert_int_equal(r.velocities, k == 2 ? 19 : 18);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
  free(dense);
}

static void stages_of_all_kinds_are_linear_and_say_what_they_are(void **state) {
  (void)state;
  static const bisai_schur_stage stages[] = {BISAI_SCHUR_STAGE_AUTO,   BISAI_SCHUR_STAGE_MULTIGRID,
                                             BISAI_SCHUR_STAGE_ILU,    BISAI_SCHUR_STAGE_ISAI,
                                             BISAI_SCHUR_STAGE_SWEEPS, BISAI_SCHUR_STAGE_BJACOBI,
                                             BISAI_SCHUR_STAGE_LU};
  const saddle_rows s = saddle_scattered(30, 8, 5);
  double *dense = saddle_random(&s, 0.0, 16), *v = test_random_vector(3 * 38, 8), z[3][38];
  bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(38, 1, dense, false));
  for (int j = 0; j < 38; j++) v[76 + j] = 2.0 * v[j] - v[38 + j];
  for (int k = 0; k < 7; k++) {
    bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
    o.schur.first = stages[k];
    o.schur.second = stages[(k + 3) % 7];
    bisai_precond *m = test_precond_with(context, a, &o);
    EXPECT_OK(context, bisai_precond_apply_many(m, 3, v, 38, &z[0][0], 38));
    for (int j = 0; j < 38; j++) z[1][j] = 2.0 * z[0][j] - z[1][j];
    EXPECT_CLOSE(38, z[1], z[2], 1e-10 * test_largest(38, z[2]));
    const bisai_precond_report r = test_report_of(context, m);
    assert_false(r.nonlinear);
    assert_int_equal(r.symmetry, BISAI_SYMMETRY_NONE);
    assert_int_equal(r.schur.first, k == 0 ? BISAI_SCHUR_STAGE_MULTIGRID : stages[k]);
    assert_true(r.memory_bytes > 0 && r.apply_bytes > 0);
    assert_non_null(strstr(bisai_precond_describe(m), "30 velocities in blocks of 1, 8 pressures"));
    bisai_precond_destroy(&m);
  }
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  o.multigrid.cycle = BISAI_CYCLE_K;
  bisai_precond *m = test_precond_with(context, a, &o);
  assert_true(test_report_of(context, m).nonlinear);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  free(dense), free(v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_application_is_that_of_dense_blocks),
      cmocka_unit_test(negative_velocities_change_the_sign_of_the_complement_only),
      cmocka_unit_test(named_pressures_are_those_that_are_found),
      cmocka_unit_test(rows_that_follow_each_other_are_named_by_their_ends),
      cmocka_unit_test(blocks_of_velocities_stay_where_they_are_full),
      cmocka_unit_test(stages_of_all_kinds_are_linear_and_say_what_they_are),
  };
  return cmocka_run_group_tests_name("schur_blocks", tests, setup, teardown);
}
