/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES where it does not converge: limits, breakdown, stagnation, NaN in the vectors. */
#include <math.h>

#include "systems.h"

enum { SIDE = 16, POINTS = SIDE * SIDE };

/* Solves a dense system of n ≤ 8 and expects a status and a reason with it; x must be finite. */
static bisai_solver_report expect_end(bisai_context *context, const bisai_solver_options *options,
                                      int n, const double *a, const double *b, double *x,
                                      bisai_status status, bisai_reason reason) {
  dense_operator op = {.a = a};
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, status, test_solve_dense(context, options, n, &op, NULL, b, x, &report));
  assert_string_equal(bisai_reason_string(reason), bisai_reason_string(report.reason));
  assert_true(test_all_finite(n, x));
  return report;
}

static void a_zero_matrix_breaks_down_with_x_zero(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {0}, b[2] = {1, 2};
  double x[2] = {NAN, NAN};
  const bisai_solver_report report =
      expect_end(context, NULL, 2, a, b, x, BISAI_BREAKDOWN, BISAI_REASON_BREAKDOWN);
  EXPECT_MESSAGE(context, "iteration 1: the Krylov space is exhausted: the matrix or the "
                          "preconditioner is singular, at relative "
                          "residual 1.000e+00");
  assert_int_equal(BISAI_BREAKDOWN_SPACE, report.breakdown);
  EXPECT_NEAR(1, report.relative_residual, 0);
  EXPECT_NEAR(0, x[0], 0);
  EXPECT_NEAR(0, x[1], 0);
  bisai_context_destroy(&context);
}

/* A M⁻¹ v is 1e30 times the first column of A, so that the basis ends after two vectors. */
static void a_preconditioner_that_enlarges_beyond_all_digits_is_named(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double scale[8] = {1e30, 1, 1, 1, 1, 1, 1, 1}, b[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double x[8] = {0};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(4, 2, 1, 5));
  diagonal_operator op = {.scale = scale};
  bisai_precond *precond = test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, BISAI_BREAKDOWN,
                test_solve(context, NULL, matrix, precond, b, x, &report));
  const char *message = bisai_context_error(context);
  if (!strstr(message, "the preconditioner enlarges vectors so much that only rounding errors are "
                       "left: A M⁻¹ v is "))
    fail_msg("%s", message);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* A e_i = e_{i+1}, A e_4 = 0: b = e_1 is out of reach, b = e_3 has the solution e_2 that no Krylov
 * space from e_3 contains. */
static void a_nilpotent_matrix_breaks_down(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double a[16] = {0}, b[4] = {0}, x[4];
  for (int i = 0; i < 3; i++) a[i + 1 + 4 * i] = 1;
  b[0] = 1;
  expect_end(context, NULL, 4, a, b, x, BISAI_BREAKDOWN, BISAI_REASON_BREAKDOWN);
  b[0] = 0;
  b[2] = 1;
  expect_end(context, NULL, 4, a, b, x, BISAI_BREAKDOWN, BISAI_REASON_BREAKDOWN);
  bisai_context_destroy(&context);
}

static void a_consistent_singular_system_converges(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {1, 0, 0, 0, 2, 0, 0, 0, 0}, b[3] = {1, 1, 0};
  double x[3];
  expect_end(context, NULL, 3, a, b, x, BISAI_OK, BISAI_REASON_CONVERGED);
  EXPECT_NEAR(1, x[0], 1e-15);
  EXPECT_NEAR(0.5, x[1], 1e-15);
  bisai_context_destroy(&context);
}

static void an_inconsistent_singular_system_ends_at_its_least_residual(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0}, b[3] = {1, 1, 1};
  double x[3];
  const bisai_solver_report report =
      expect_end(context, NULL, 3, a, b, x, BISAI_BREAKDOWN, BISAI_REASON_BREAKDOWN);
  EXPECT_NEAR(1 / sqrt(3), report.relative_residual, 1e-15);
  EXPECT_NEAR(1, x[0], 1e-15);
  EXPECT_NEAR(1, x[1], 1e-15);
  bisai_context_destroy(&context);
}

/* For some b the last pivot of H consists of rounding errors. x becomes 10¹⁷ in the null space of
 * A, and A x is zero without rounding. */
static void a_large_x_that_is_no_better_than_zero_is_dropped(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {1, -1, 0, -1, 2, -1, 0, -1, 1};
  dense_operator op = {.a = a};
  const uint64_t seeds = test_on_device() ? 200 : 20000;
  int dropped = 0;
  for (uint64_t seed = 0; seed < seeds; seed++) {
    double *b = test_random_vector(3, seed), x[3] = {NAN, NAN, NAN};
    bisai_solver_report report = test_report();
    for (int i = 0; i < 3; i++) b[i] += 1.0;
    test_solve_dense(context, NULL, 3, &op, NULL, b, x, &report);
    assert_true(report.relative_residual <= 1.0);
    if (report.relative_residual == 1.0) dropped++;
    for (int i = 0; i < 3 && report.relative_residual == 1.0; i++) EXPECT_NEAR(0.0, x[i], 0.0);
    free(b);
  }
  assert_true(dropped > 0);
  bisai_context_destroy(&context);
}

static void a_singular_preconditioner_on_the_left_breaks_down(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_identity(context, 3);
  const double zero[3] = {0}, b[3] = {1, 1, 1};
  diagonal_operator op = {.scale = zero};
  bisai_precond *precond = test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
  for (int guess = 0; guess < 2; guess++) {
    double x[3] = {0};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.side = BISAI_LEFT;
    options.use_initial_guess = guess;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_BREAKDOWN,
                  test_solve(context, &options, matrix, precond, b, x, &report));
    assert_int_equal(BISAI_REASON_BREAKDOWN, report.reason);
    assert_int_equal(0, report.iterations);
    assert_true(test_all_finite(3, x));
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void the_iteration_limit_is_exact_and_x_is_updated(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  double previous = 1;
  for (int limit = 0; limit <= 13; limit++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.restart = 5;
    options.max_iterations = limit;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve(context, &options, matrix, NULL, b, x, &report));
    assert_int_equal(BISAI_REASON_MAX_ITERATIONS, report.reason);
    assert_int_equal(limit, report.iterations);
    assert_int_equal(limit + 1, report.history_length);
    assert_true(limit == 0 ? report.relative_residual == 1 : report.relative_residual < previous);
    EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-15);
    previous = report.relative_residual;
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* A residual of up to twice the tolerance only confirms an estimate within it. */
static void a_residual_above_the_tolerance_without_such_an_estimate_has_not_converged(
    void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {3, 5};
  /* after one step; see the two by two system in krylov.c */
  const double first = sqrt(1.0 / (445 * 34));
  double x[2];
  bisai_solver_options options = bisai_solver_options_default();
  options.max_iterations = 1;
  options.tolerance = first / 1.5;
  expect_end(context, &options, 2, a, b, x, BISAI_MAX_ITERATIONS, BISAI_REASON_MAX_ITERATIONS);
  options.tolerance = first * 1.000001;
  expect_end(context, &options, 2, a, b, x, BISAI_OK, BISAI_REASON_CONVERGED);
  bisai_context_destroy(&context);
}

/* No fp64 residual of this system is 1e-18 of b; everything that can be had must be there all the
 * same. */
static void a_tolerance_below_rounding_error_stagnates_at_a_good_solution(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int variant = 0; variant < 3; variant++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.tolerance = variant == 2 ? 0 : 1e-18;
    options.gmres.side = variant == 1 ? BISAI_LEFT : BISAI_RIGHT;
    bisai_precond *precond =
        variant == 1 ? test_precond(context, matrix, BISAI_PRECOND_BJACOBI) : NULL;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_STAGNATED,
                  test_solve(context, &options, matrix, precond, b, x, &report));
    assert_int_equal(BISAI_REASON_STAGNATED, report.reason);
    assert_true(report.relative_residual < 1e-15);
    bisai_precond_destroy(&precond);
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void systems_far_from_one_in_scale_are_solved(void **state) {
  (void)state;
  enum { N = 40 };
  bisai_context *context = test_context(1);
  const double scales[] = {1e120, 1e155, 1e200, 1e-120, 1e-155, 1e-165, 1e-200};
  for (int v = 0; v < 4; v++) {
    for (int k = 0; k < 14; k++) {
      double *a = test_dominant(N, scales[k / 2]), b[N], x[N];
      for (int i = 0; i < N; i++) b[i] = (1 + i % 3) * (k % 2 ? scales[k / 2] : 1);
      dense_operator op = {.a = a};
      bisai_solver_options options = bisai_solver_options_default();
      options.gmres.orthogonalization = (bisai_orthogonalization)v;
      bisai_solver_report report = test_report();
      EXPECT_OK(context, test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
      /* of 1, 2 and 3 in turn */
      assert_true(test_dense_residual(N, a, b, x) <= 2e-8 * sqrt(14.0 * N / 3 + 1));
      free(a);
    }
  }
  bisai_context_destroy(&context);
}

static void stagnation_is_judged_over_the_given_number_of_cycles(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double a[16] = {0}, b[4] = {1}, x[4];
  for (int i = 0; i < 4; i++) a[(i + 1) % 4 + 4 * i] = 1;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 3;
  options.stagnation_cycles = 4;
  bisai_solver_report report =
      expect_end(context, &options, 4, a, b, x, BISAI_STAGNATED, BISAI_REASON_STAGNATED);
  assert_int_equal(12, report.iterations);
  EXPECT_MESSAGE(context, "stagnated at relative residual 1.000e+00, tolerance 1.000e-08: no "
                          "progress in 4 cycles up to "
                          "iteration 12");
  options.stagnation_cycles = 0;
  options.max_iterations = 100;
  report =
      expect_end(context, &options, 4, a, b, x, BISAI_MAX_ITERATIONS, BISAI_REASON_MAX_ITERATIONS);
  assert_int_equal(100, report.iterations);
  EXPECT_MESSAGE(
      context,
      "not converged after 100 iterations: relative residual 1.000e+00, tolerance 1.000e-08");
  bisai_context_destroy(&context);
}

/* A cycle of three iterations on a shift of four entries reduces the residual because of the small
 * diagonal alone: 10,000 iterations multiply it by 0.847 with 0.01, and by 5e-8 with 0.1. */
static void slow_progress_ends_a_solve_that_cannot_reach_its_tolerance(void **state) {
  (void)state;
  const struct {
    double diagonal, tolerance;
    int cycles;
    bisai_status status;
  } solves[] = {{0.01, 1e-8, 10, BISAI_STAGNATED},
                {0.01, 0.85, 10, BISAI_OK},
                {0.01, 1e-8, 0, BISAI_MAX_ITERATIONS},
                {0.01, 1e-8, 900, BISAI_STAGNATED},
                {0.1, 1e-8, 10, BISAI_MAX_ITERATIONS}};
  bisai_context *context = test_context(1);
  for (size_t k = 0; k < sizeof solves / sizeof *solves; k++) {
    double a[16] = {0}, b[4] = {1}, x[4];
    for (int i = 0; i < 4; i++) {
      a[(i + 1) % 4 + 4 * i] = 1;
      a[i + 4 * i] = solves[k].diagonal;
    }
    dense_operator op = {.a = a};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.restart = 3;
    options.tolerance = solves[k].tolerance;
    options.stagnation_cycles = solves[k].cycles;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, solves[k].status,
                  test_solve_dense(context, &options, 4, &op, NULL, b, x, &report));
    if (solves[k].status == BISAI_STAGNATED) {
      /* the first full cycle after 2,500 iterations, or after the cycles */
      assert_int_equal(solves[k].cycles == 10 ? 834 * 3 : 900 * 3, report.iterations);
      EXPECT_IN_MESSAGE(context, solves[k].cycles == 10
                                     ? "tolerance 1.000e-08: the last 2502 iterations up to "
                                       "iteration 2502 did not halve it"
                                     : "the last 2700 iterations up to iteration 2700");
    }
  }
  bisai_context_destroy(&context);
}

static void the_monitor_stops_the_solve_with_the_present_iterate(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2);
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 5;
  for (int stop = 0; stop <= 7; stop++) test_expect_stopped(context, options, matrix, b, stop);
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void nan_and_infinity_in_the_vectors_are_named(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, good[2] = {3, 5};
  const double bad[] = {NAN, INFINITY, -INFINITY};
  dense_operator op = {.a = a};
  for (int k = 0; k < 3; k++) {
    const double b[2] = {1, bad[k]};
    double x[2] = {NAN, NAN};
    expect_end(context, NULL, 2, a, b, x, BISAI_NOT_FINITE, BISAI_REASON_NOT_FINITE);
    EXPECT_MESSAGE(context, "NaN or infinity in b");
    double guess[2] = {bad[k], 1};
    bisai_solver_options options = bisai_solver_options_default();
    options.use_initial_guess = true;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve_dense(context, &options, 2, &op, NULL, good, guess, &report));
    EXPECT_MESSAGE(context, "NaN or infinity in entry 0 of the initial guess");
    assert_int_equal(BISAI_REASON_NOT_FINITE, report.reason);
    assert_int_equal(1, report.history_length);
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_zero_matrix_breaks_down_with_x_zero),
      cmocka_unit_test(a_preconditioner_that_enlarges_beyond_all_digits_is_named),
      cmocka_unit_test(a_nilpotent_matrix_breaks_down),
      cmocka_unit_test(a_consistent_singular_system_converges),
      cmocka_unit_test(an_inconsistent_singular_system_ends_at_its_least_residual),
      cmocka_unit_test(a_large_x_that_is_no_better_than_zero_is_dropped),
      cmocka_unit_test(a_singular_preconditioner_on_the_left_breaks_down),
      cmocka_unit_test(the_iteration_limit_is_exact_and_x_is_updated),
      cmocka_unit_test(a_residual_above_the_tolerance_without_such_an_estimate_has_not_converged),
      cmocka_unit_test(a_tolerance_below_rounding_error_stagnates_at_a_good_solution),
      cmocka_unit_test(systems_far_from_one_in_scale_are_solved),
      cmocka_unit_test(stagnation_is_judged_over_the_given_number_of_cycles),
      cmocka_unit_test(slow_progress_ends_a_solve_that_cannot_reach_its_tolerance),
      cmocka_unit_test(the_monitor_stops_the_solve_with_the_present_iterate),
      cmocka_unit_test(nan_and_infinity_in_the_vectors_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
