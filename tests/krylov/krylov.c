/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES where it converges: hand-checked systems, references, variants, restarts, reports. */
#include <math.h>

#include "systems.h"

enum { SIDE = 24, POINTS = SIDE * SIDE };

static void identity_takes_one_iteration(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {1, -2, 3};
  double x[3] = {NAN, NAN, NAN};
  dense_operator op = {.a = a};
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve_dense(context, NULL, 3, &op, NULL, b, x, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
  assert_int_equal(1, report.iterations);
  assert_int_equal(2, report.history_length);
  assert_int_equal(0, report.applications);
  EXPECT_NEAR(0, report.apply30_seconds, 0);
  EXPECT_CLOSE(3, b, x, 1e-15);
  bisai_context_destroy(&context);
}

/* With ‖b‖² = 34, b·Ab = 123 and ‖Ab‖² = 445 the first residual is √(34 − 123²/445) = √(1/445). */
static void two_by_two_system_has_the_residuals_computed_by_hand(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {3, 5}, solution[2] = {0.8, 1.4};
  double x[2];
  dense_operator op = {.a = a};
  bisai_solver *solver = NULL;
  bisai_solver_report report = test_report();
  EXPECT_OK(context, bisai_solver_create(context, 2, NULL, &solver));
  EXPECT_OK(context,
            bisai_solver_solve_operator(solver, dense_operator_multiply, &op, NULL, b, x, &report));
  assert_int_equal(2, report.iterations);
  EXPECT_NEAR(1, report.history[0], 0);
  EXPECT_NEAR(sqrt(1.0 / (445 * 34)), report.history[1], 1e-15);
  EXPECT_NEAR(report.history[2], report.estimated_residual, 0);
  EXPECT_CLOSE(2, solution, x, 1e-14);
  bisai_solver_destroy(&solver);
  assert_null(solver);
  bisai_context_destroy(&context);
}

static void a_diagonal_with_three_values_takes_three_iterations(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { N = 30 };
  double a[N * N] = {0}, b[N], x[N];
  for (int i = 0; i < N; i++) {
    a[i + i * N] = 1 + i % 3;
    b[i] = 1 + 0.1 * i;
  }
  dense_operator op = {.a = a};
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve_dense(context, NULL, N, &op, NULL, b, x, &report));
  assert_int_equal(3, report.iterations);
  for (int i = 0; i < N; i++) EXPECT_NEAR(b[i] / (1 + i % 3), x[i], 1e-13);
  bisai_context_destroy(&context);
}

static void every_variant_agrees_with_dense_elimination(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  for (int32_t bs = 1; bs <= 5; bs += 2) {
    const test_bcsr arrays = test_bcsr_random(test_shape_square(40, bs, (uint64_t)bs));
    bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
    const int64_t n = 40 * bs;
    double *a = test_dense_from_arrays(&arrays), *b = test_random_vector(n, 3);
    double *expected = test_dense_solve(n, a, b), *x = malloc((size_t)n * sizeof *x);
    bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
    for (int variant = 0; variant < 16; variant++) {
      bisai_solver_options options = bisai_solver_options_default();
      options.tolerance = 1e-12;
      options.gmres.restart = 7;
      options.gmres.orthogonalization = (bisai_orthogonalization)(variant % 4);
      options.gmres.side = variant / 4 == 1 ? BISAI_LEFT : BISAI_RIGHT;
      options.gmres.flexible = variant / 4 == 2;
      bisai_solver_report report = test_report();
      EXPECT_OK(context, test_solve(context, &options, matrix, variant / 4 == 3 ? NULL : precond, b,
                                    x, &report));
      assert_true(report.relative_residual <= 2e-12);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-15);
      /* κ below 100 for these dominant matrices, times 2e-12 */
      EXPECT_CLOSE(n, expected, x, 1e-10);
    }
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free((test_bcsr *)&arrays);
    free(a);
    free(b);
    free(expected);
    free(x);
  }
  bisai_context_destroy(&context);
}

/* Block ILU(0) of a block tridiagonal matrix is its exact factorisation. */
static void an_exact_preconditioner_takes_one_iteration_on_either_side(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(50, 3, 4, -1));
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ILU);
  double *b = test_random_vector(150, 4), x[150];
  for (int variant = 0; variant < 3; variant++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.side = variant == 1 ? BISAI_LEFT : BISAI_RIGHT;
    options.gmres.flexible = variant == 2;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    assert_int_equal(1, report.iterations);
    /* right: also for M⁻¹(V y); left: also for r */
    assert_int_equal(variant == 2 ? 1 : 2, report.applications);
    assert_true(report.apply_seconds <= report.solve_seconds);
    EXPECT_NEAR(30 * report.apply_seconds / report.applications, report.apply30_seconds, 1e-12);
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Eigenvalues from 1 down to 1e-10 make every product nearly parallel to the basis: one classical
 * pass leaves rounding errors there. */
static void selective_refinement_keeps_the_iterations_of_two_passes(void **state) {
  (void)state;
  enum { N = 60 };
  bisai_context *context = test_context(1);
  static double a[N * N], b[N], x[N];
  for (int i = 0; i < N; i++) {
    a[i * N + i] = pow(10.0, -10.0 * i / (N - 1));
    if (i > 0) a[i * N + i - 1] = 0.3 * a[i * N + i];
    b[i] = 1;
  }
  dense_operator op = {.a = a};
  int iterations[4];
  for (int variant = 0; variant < 4; variant++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.orthogonalization = (bisai_orthogonalization)variant;
    options.gmres.restart = N;
    options.max_iterations = 2000;
    bisai_solver_report report = test_report();
    test_solve_dense(context, &options, N, &op, NULL, b, x, &report);
    iterations[variant] = report.reason == BISAI_REASON_CONVERGED ? report.iterations : 2000;
  }
  assert_true(iterations[BISAI_CLASSICAL_SELECTIVE] <= iterations[BISAI_CLASSICAL_REFINED] + 2);
  assert_true(iterations[BISAI_CLASSICAL] > iterations[BISAI_CLASSICAL_REFINED] + 10);
  bisai_context_destroy(&context);
}

static void gram_schmidt_variants_take_the_same_iterations(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  double b[POINTS], x[POINTS];
  for (int i = 0; i < POINTS; i++) b[i] = 1;
  int iterations[4];
  for (int variant = 0; variant < 4; variant++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.orthogonalization = (bisai_orthogonalization)variant;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    iterations[variant] = report.iterations;
  }
  assert_int_equal(iterations[0], iterations[1]);
  assert_int_equal(iterations[0], iterations[2]);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void results_have_the_same_bits_for_any_number_of_threads_and_any_repetition(void **state) {
  (void)state;
  enum { LARGE = 180 }; /* enough rows for several threads */
  const size_t n = LARGE * LARGE;
  double *b = test_random_vector((int64_t)n, 8), *first = malloc(n * sizeof *first),
         *x = malloc(n * sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  options.max_iterations = 45; /* one restart and a half; convergence does not matter here */
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *context = test_context(threads);
    bisai_bcsr *matrix = test_convdiff(context, LARGE);
    bisai_solver *solver = NULL;
    EXPECT_OK(context, bisai_solver_create(context, (int64_t)n, &options, &solver));
    for (int repetition = 0; repetition < 2; repetition++) {
      EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                    bisai_solver_solve(solver, matrix, NULL, b, x, NULL));
      if (threads == 1 && repetition == 0) memcpy(first, x, n * sizeof *x);
      assert_memory_equal(first, x, n * sizeof *x);
    }
    bisai_solver_destroy(&solver);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&context);
  }
  free(b);
  free(first);
  free(x);
}

typedef struct watcher {
  int calls, stop_at;
  double seen[200];
} watcher;

static int watch(void *user, int iteration, double relative) {
  watcher *w = user;
  assert_int_equal(w->calls, iteration);
  w->seen[w->calls++] = relative;
  return iteration == w->stop_at;
}

static void history_falls_and_is_what_the_monitor_saw(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 5), x[POINTS];
  watcher w = {.stop_at = -1};
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 10;
  options.monitor = watch;
  options.monitor_user = &w;
  bisai_solver *solver = NULL;
  bisai_solver_report report = test_report();
  EXPECT_OK(context, bisai_solver_create(context, POINTS, &options, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, NULL, b, x, &report));
  assert_true(report.iterations > 20 && report.iterations < 200);
  assert_int_equal(report.iterations + 1, report.history_length);
  assert_int_equal(report.history_length, w.calls);
  assert_memory_equal(report.history, w.seen, (size_t)w.calls * sizeof(double));
  EXPECT_NEAR(1, report.history[0], 0);
  for (int i = 1; i < report.history_length; i++)
    assert_true(report.history[i] <=
                /* a restart recomputes the residual: rounding */
                report.history[i - 1] * (1 + 1e-12));
  assert_true(report.history[report.iterations] <= 1e-8 &&
              report.history[report.iterations - 1] > 1e-8);
  EXPECT_NEAR(report.estimated_residual, report.relative_residual, 1e-13);
  assert_true(report.memory_bytes >= 8 * POINTS * (10 + 1));
  bisai_solver_destroy(&solver);
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* The cyclic shift makes no progress before step n, so a restart before that loses everything. */
static void a_restart_forgets(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { N = 8 };
  double a[N * N] = {0}, x[N];
  const double b[N] = {1};
  for (int i = 0; i < N; i++) a[(i + 1) % N + i * N] = 1;
  dense_operator op = {.a = a};
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report report = test_report();
  options.gmres.restart = N;
  EXPECT_OK(context, test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
  assert_int_equal(N, report.iterations);
  EXPECT_NEAR(1, x[N - 1], 1e-15);
  options.gmres.restart = N - 1;
  EXPECT_STATUS(context, BISAI_STAGNATED,
                test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
  EXPECT_NEAR(1, report.relative_residual, 1e-15);
  bisai_context_destroy(&context);
}

static void a_smaller_restart_takes_more_iterations_and_still_converges(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 5), x[POINTS];
  int previous = INT32_MAX;
  const int restarts[] = {1, 5, POINTS};
  for (int k = 0; k < 3; k++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.restart = restarts[k];
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, NULL, b, x, &report));
    assert_true(report.iterations < previous);
    previous = report.iterations;
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* A preconditioner that is a different diagonal in every call. */
static bisai_status moody(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  int *calls = user;
  ++*calls;
  for (int64_t i = 0; i < n; i++) z[i] = v[i] / (3.0 + (double)((i + *calls) % 3));
  return BISAI_OK;
}

static void flexible_gmres_copes_with_a_changing_preconditioner(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  int calls = 0;
  bisai_precond *precond = test_precond_callback(context, matrix, moody, &calls);
  double *b = test_random_vector(POINTS, 5), x[POINTS];
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.flexible = true;
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
  /* the recurrence holds although M changes */
  EXPECT_NEAR(report.estimated_residual, report.relative_residual, 1e-12);
  assert_int_equal(report.iterations, report.applications);
  /* Without `flexible` the recurrence is wrong, but that is found out and nothing false is
   * reported. */
  options.gmres.flexible = false;
  const bisai_status status = test_solve(context, &options, matrix, precond, b, x, &report);
  const double residual = test_relative_residual(matrix, x, b);
  assert_int_equal(status == BISAI_OK, residual <= 2e-8);
  EXPECT_NEAR(residual, report.relative_residual, 1e-14);
  assert_true(residual <= 1);
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Left GMRES watches M⁻¹r; this M⁻¹ all but hides the last unknowns, so that target must be
 * lowered. */
static void left_preconditioning_converges_in_the_true_residual(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double scale[POINTS], *b = test_random_vector(POINTS, 5), x[POINTS];
  for (int i = 0; i < POINTS; i++) scale[i] = i < POINTS / 2 ? 1 : 1e-3;
  diagonal_operator op = {.scale = scale};
  bisai_precond *precond = test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
  for (int guess = 0; guess < 2; guess++) {
    memset(x, 0, sizeof x);
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.side = BISAI_LEFT;
    options.gmres.restart = 60;
    options.use_initial_guess = guess;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    assert_true(report.relative_residual <= 2e-8);
    assert_true(report.estimated_residual < 0.5e-8);
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* A = I, M⁻¹ = diag(2, 1), b = (3, 4), x₀ = (3, 3): ‖M⁻¹r‖/‖M⁻¹b‖ = 1/√52 at the start. */
static void left_estimates_are_relative_to_the_preconditioned_right_hand_side(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_identity(context, 2);
  const double scale[2] = {2, 1}, b[2] = {3, 4};
  double x[2] = {3, 3};
  diagonal_operator op = {.scale = scale};
  bisai_precond *precond = test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.side = BISAI_LEFT;
  options.use_initial_guess = true;
  bisai_solver *solver = NULL;
  bisai_solver_report report = test_report();
  EXPECT_OK(context, bisai_solver_create(context, 2, &options, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, x, &report));
  EXPECT_NEAR(1 / sqrt(52), report.history[0], 1e-15);
  EXPECT_CLOSE(2, b, x, 1e-15);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void the_initial_guess_is_used_only_when_asked_for(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {3, 5}, solution[2] = {0.8, 1.4};
  dense_operator op = {.a = a};
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report report = test_report();
  double x[2] = {NAN, INFINITY};
  EXPECT_OK(context, test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
  EXPECT_CLOSE(2, solution, x, 1e-14);
  options.use_initial_guess = true;
  EXPECT_OK(context, test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
  assert_int_equal(0, report.iterations);
  assert_int_equal(1, report.history_length);
  x[0] = 10;
  EXPECT_OK(context, test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
  assert_int_equal(2, report.iterations);
  EXPECT_CLOSE(2, solution, x, 1e-13);
  bisai_context_destroy(&context);
}

static void a_zero_right_hand_side_gives_zero(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {0, -0.0};
  dense_operator op = {.a = a};
  for (int guess = 0; guess < 2; guess++) {
    double x[2] = {NAN, 5};
    bisai_solver_options options = bisai_solver_options_default();
    options.use_initial_guess = guess;
    options.tolerance = 0;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
    EXPECT_CLOSE(2, b, x, 0);
    assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
    assert_int_equal(0, report.iterations);
    EXPECT_NEAR(0, report.relative_residual, 0);
  }
  assert_int_equal(0, op.calls);
  bisai_context_destroy(&context);
}

static void an_empty_system_converges_at_once(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  dense_operator op = {.a = NULL};
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve_dense(context, NULL, 0, &op, NULL, NULL, NULL, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
  bisai_context_destroy(&context);
}

/* ‖b‖² would underflow or overflow; powers of two change no mantissa, so that the solution must
 * have the same digits. */
static void tiny_and_huge_right_hand_sides_lose_nothing(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
  double *b = test_random_vector(POINTS, 5), scaled[POINTS], expected[POINTS], x[POINTS];
  const double factors[] = {0x1p-700, 0x1p700};
  for (int left = 0; left < 2; left++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.side = left ? BISAI_LEFT : BISAI_RIGHT;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, expected, NULL));
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < POINTS; i++) scaled[i] = factors[k] * b[i];
      EXPECT_OK(context, test_solve(context, &options, matrix, precond, scaled, x, NULL));
      for (int i = 0; i < POINTS; i++) x[i] /= factors[k];
      EXPECT_CLOSE(POINTS, expected, x, 0);
    }
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(identity_takes_one_iteration),
      cmocka_unit_test(two_by_two_system_has_the_residuals_computed_by_hand),
      cmocka_unit_test(a_diagonal_with_three_values_takes_three_iterations),
      cmocka_unit_test(every_variant_agrees_with_dense_elimination),
      cmocka_unit_test(an_exact_preconditioner_takes_one_iteration_on_either_side),
      cmocka_unit_test(gram_schmidt_variants_take_the_same_iterations),
      cmocka_unit_test(selective_refinement_keeps_the_iterations_of_two_passes),
      cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads_and_any_repetition),
      cmocka_unit_test(history_falls_and_is_what_the_monitor_saw),
      cmocka_unit_test(a_restart_forgets),
      cmocka_unit_test(a_smaller_restart_takes_more_iterations_and_still_converges),
      cmocka_unit_test(flexible_gmres_copes_with_a_changing_preconditioner),
      cmocka_unit_test(left_preconditioning_converges_in_the_true_residual),
      cmocka_unit_test(left_estimates_are_relative_to_the_preconditioned_right_hand_side),
      cmocka_unit_test(the_initial_guess_is_used_only_when_asked_for),
      cmocka_unit_test(a_zero_right_hand_side_gives_zero),
      cmocka_unit_test(an_empty_system_converges_at_once),
      cmocka_unit_test(tiny_and_huge_right_hand_sides_lose_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
