/* SPDX-License-Identifier: BSD-3-Clause */
/* How many steps a cycle is expected to take, and how many applications solvers make in vain. */
#include "fixture.h"
#include "systems.h"

#include "krylov/run/forecast.h"

static void nothing_is_known_before_the_first_step(void **state) {
  (void)state;
  const bsi_forecast f = bsi_forecast_begin(3.0);
  assert_int_equal(bsi_forecast_left(&f, 1e-8), 2);
}

static void equal_factors_are_forecast_exactly(void **state) {
  (void)state;
  for (int steps = 1; steps <= 40; steps++) {
    const double factor = pow(1e-8, 1.0 / steps);
    double estimate = 5.0;
    bsi_forecast f = bsi_forecast_begin(estimate);
    for (int seen = 1; seen < steps; seen++) {
      bsi_forecast_add(&f, estimate *= factor);
      assert_int_equal(bsi_forecast_left(&f, 5e-8), steps - seen);
    }
  }
}

static void the_smaller_of_two_factors_counts(void **state) {
  (void)state;
  bsi_forecast f = bsi_forecast_begin(1.0);
  bsi_forecast_add(&f, 0.1);
  bsi_forecast_add(&f, 0.09);
  assert_int_equal(bsi_forecast_left(&f, 1e-3), 2);
  bsi_forecast_add(&f, 0.08);
  assert_in_range(bsi_forecast_left(&f, 1e-3), 30, 50);
}

static void estimates_that_do_not_fall_have_no_end_in_sight(void **state) {
  (void)state;
  bsi_forecast f = bsi_forecast_begin(1.0);
  bsi_forecast_add(&f, 1.0);
  assert_int_equal(bsi_forecast_left(&f, 1e-3), INT_MAX);
  bsi_forecast_add(&f, 2.0);
  assert_int_equal(bsi_forecast_left(&f, 1e-3), INT_MAX);
  f = bsi_forecast_begin(1.0);
  bsi_forecast_add(&f, 0.5);
  assert_int_equal(bsi_forecast_left(&f, 0.0), INT_MAX);
}

static void an_estimate_at_the_target_has_one_step_left(void **state) {
  (void)state;
  bsi_forecast f = bsi_forecast_begin(1.0);
  bsi_forecast_add(&f, 1e-9);
  assert_int_equal(bsi_forecast_left(&f, 1e-8), 1);
  bsi_forecast_add(&f, 0.0);
  assert_int_equal(bsi_forecast_left(&f, 1e-8), 1);
}

/* The last two steps tell the pace of those whose estimates are not known yet. */
static void estimates_are_foretold_by_the_last_steps(void **state) {
  (void)state;
  bsi_forecast f = bsi_forecast_begin(1.0);
  assert_true(bsi_forecast_before(&f, 3) == 1.0);
  bsi_forecast_add(&f, 2.0);
  assert_true(bsi_forecast_before(&f, 3) == 2.0);
  bsi_forecast_add(&f, 0.5);
  bsi_forecast_add(&f, 0.125);
  assert_true(bsi_forecast_before(&f, 3) == 0.125);
  assert_true(fabs(bsi_forecast_before(&f, 5) - 0.0078125) < 1e-15);
}

/* z ← v, and counts the calls. */
static bisai_status count_calls(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  ++*(int *)user;
  for (int64_t i = 0; i < n; i++) z[i] = v[i];
  return BISAI_OK;
}

/* Each step reduces the residual about alike. */
static void few_applications_are_made_in_vain(void **state) {
  (void)state;
  enum { N = 400, IN_VAIN = 2 };
  double values[N];
  for (int32_t i = 0; i < N; i++) values[i] = 1.0 + 0.5 * i / N;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_diagonal(N, values));
  double *b = test_random_vector(N, 1), x[N];
  for (int method = 0; method < BISAI_METHODS; method++) {
    int calls = 0;
    bisai_precond *m = test_precond_callback(context, a, count_calls, &calls);
    bisai_solver_options options = bisai_solver_options_default();
    options.method = (bisai_method)method;
    bisai_solver_report r = test_report();
    EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &r));
    assert_true(r.iterations >= 5);
    /* a step of BiCGSTAB has two applications */
    assert_in_range(calls - r.applications, 0, 2 * IN_VAIN);
    bisai_precond_destroy(&m);
  }
  free(b);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_known_before_the_first_step),
      cmocka_unit_test(equal_factors_are_forecast_exactly),
      cmocka_unit_test(the_smaller_of_two_factors_counts),
      cmocka_unit_test(estimates_that_do_not_fall_have_no_end_in_sight),
      cmocka_unit_test(an_estimate_at_the_target_has_one_step_left),
      cmocka_unit_test(estimates_are_foretold_by_the_last_steps),
      cmocka_unit_test(few_applications_are_made_in_vain),
  };
  return cmocka_run_group_tests_name("krylov_forecast", tests, setup, teardown);
}
