/* SPDX-License-Identifier: BSD-3-Clause */
/* Flexible CG against a textbook and against CG, with preconditioners that stay and that change;
 * which solvers refuse a preconditioner that is not linear. */
#include "fixture.h"
#include "systems.h"

#include <math.h>

enum { N = 120 };

static bisai_solver_options flexible_cg(void) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = BISAI_CG;
  options.cg.flexible = true;
  return options;
}

/* Entry i of a diagonal with the condition number 10⁴, and how application `call` of M⁻¹, from 0,
 * differs from its inverse there: a factor between 0.05 and 1.95. */
static double entry(int64_t i) { return pow(10, 4.0 * (double)i / N); }
static double mood(int64_t i, int call) {
  return 1 + 0.95 * ((double)((7 * i + (int64_t)call * call * 3) % 11) / 5 - 1);
}

static bisai_status moody(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  int *calls = user;
  for (int64_t i = 0; i < n; i++) z[i] = v[i] / entry(i) * mood(i, *calls);
  ++*calls;
  return BISAI_OK;
}

static bisai_bcsr *diagonal_matrix(void) {
  double values[N];
  for (int32_t i = 0; i < N; i++) values[i] = entry(i);
  return test_bcsr_take(context, test_bcsr_diagonal(N, values));
}

static bisai_precond *callback(const bisai_bcsr *matrix, bool nonlinear, int *calls) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_CALLBACK;
  options.callback.apply = moody;
  options.callback.user = calls;
  options.callback.nonlinear = nonlinear;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

static double dot(const double *x, const double *y) {
  double sum = 0;
  for (int i = 0; i < N; i++) sum += x[i] * y[i];
  return sum;
}

/* The relative residuals of flexible CG as its paper has it, with z·(r − r_old) and b = 1. */
static void textbook(int steps, double *history) {
  double r[N], old[N] = {0}, z[N], p[N] = {0}, q[N], rho = 1;
  for (int i = 0; i < N; i++) r[i] = 1;
  history[0] = 1;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < N; i++) z[i] = r[i] / entry(i) * mood(i, k);
    const double beta = k == 0 ? 0 : (dot(z, r) - dot(z, old)) / rho;
    for (int i = 0; i < N; i++) p[i] = z[i] + beta * p[i];
    for (int i = 0; i < N; i++) q[i] = entry(i) * p[i];
    rho = dot(z, r);
    const double alpha = rho / dot(p, q);
    memcpy(old, r, sizeof r);
    for (int i = 0; i < N; i++) r[i] -= alpha * q[i];
    history[k + 1] = sqrt(dot(r, r) / N);
  }
}

static void every_step_of_flexible_cg_is_the_textbooks(void **state) {
  (void)state;
  enum { STEPS = 15 };
  bisai_bcsr *matrix = diagonal_matrix();
  int calls = 0;
  bisai_precond *precond = callback(matrix, true, &calls);
  double history[STEPS + 1], b[N], x[N];
  for (int i = 0; i < N; i++) b[i] = 1;
  textbook(STEPS, history);
  bisai_solver_options options = flexible_cg();
  options.max_iterations = STEPS;
  bisai_solver *solver = NULL;
  bisai_solver_report report = test_report();
  EXPECT_OK(context, bisai_solver_create(context, N, &options, &solver));
  EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                bisai_solver_solve(solver, matrix, precond, b, x, &report));
  assert_int_equal(STEPS, report.iterations);
  assert_true(history[STEPS] < 1e-5);
  /* z·q and z·(r − r_old) differ by rounding, which grows by a few digits */
  for (int k = 0; k <= STEPS; k++) EXPECT_NEAR(history[k], report.history[k], 1e-11);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* The same M⁻¹ in every application has to be told from one that changes by the results alone: CG
 * loses the conjugacy of its directions, and flexible CG does not. */
static void flexible_cg_converges_where_a_changing_preconditioner_stops_cg(void **state) {
  (void)state;
  bisai_bcsr *matrix = diagonal_matrix();
  double b[N], x[N];
  for (int i = 0; i < N; i++) b[i] = 1;
  for (int flexible = 0; flexible < 2; flexible++) {
    int calls = 0;
    bisai_precond *precond = callback(matrix, false, &calls);
    bisai_solver_options options = flexible_cg();
    options.cg.flexible = flexible;
    options.max_iterations = 200;
    bisai_solver_report report = test_report();
    const bisai_status status = test_solve(context, &options, matrix, precond, b, x, &report);
    EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-14);
    assert_int_equal(flexible ? BISAI_OK : BISAI_MAX_ITERATIONS, status);
    if (flexible) assert_true(report.iterations <= 25);
    if (!flexible) assert_true(report.relative_residual > 1e-6);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

static void flexible_cg_iterates_as_cg_where_the_preconditioner_stays(void **state) {
  (void)state;
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_NONE, BISAI_PRECOND_BJACOBI,
                                             BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS,
                                             BISAI_PRECOND_ISAI};
  for (int32_t bs = 1; bs <= 8; bs++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, bs, (uint64_t)(30 + bs)));
    double *b = test_random_vector(N * bs, 5), *x = test_random_vector(N * bs, 6);
    for (int k = 0; k <= 5; k++) {
      bisai_precond_options how = bisai_precond_options_default();
      how.kind = kinds[k % 5];
      how.isai.symmetric = how.kind == BISAI_PRECOND_ISAI;
      bisai_precond *precond = NULL;
      if (k < 5) EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
      int iterations[2];
      for (int flexible = 0; flexible < 2; flexible++) {
        bisai_solver_options options = flexible_cg();
        options.cg.flexible = flexible;
        bisai_solver_report report = test_report();
        EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
        iterations[flexible] = report.iterations;
      }
      assert_true(iterations[0] > 2);
      assert_true(abs(iterations[0] - iterations[1]) <= (k < 5 ? 1 : 0));
      bisai_precond_destroy(&precond);
    }
    free(b);
    free(x);
    bisai_bcsr_destroy(&matrix);
  }
}

static void flexible_cg_has_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  enum { LARGE = 180, POINTS = LARGE * LARGE }; /* enough rows for several threads */
  double *b = test_random_vector(POINTS, 8), *first = malloc(POINTS * sizeof *first),
         *x = malloc(POINTS * sizeof *x);
  bisai_solver_options options = flexible_cg();
  options.max_iterations = 25;
  options.cg.assume_symmetric = true;
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *own = test_context(threads);
    bisai_bcsr *matrix = test_convdiff(own, LARGE);
    bisai_precond *precond = test_precond(own, matrix, BISAI_PRECOND_BJACOBI);
    EXPECT_STATUS(own, BISAI_MAX_ITERATIONS,
                  test_solve(own, &options, matrix, precond, b, x, NULL));
    if (threads == 1) memcpy(first, x, POINTS * sizeof *x);
    assert_memory_equal(first, x, POINTS * sizeof *x);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
  }
  free(b);
  free(first);
  free(x);
}

static void only_flexible_solvers_take_what_is_not_linear(void **state) {
  (void)state;
  bisai_bcsr *matrix = diagonal_matrix();
  double b[N], x[N];
  for (int i = 0; i < N; i++) b[i] = 1;
  int calls = 0;
  bisai_precond *precond = callback(matrix, true, &calls);
  assert_true(test_report_of(context, precond).nonlinear);
  for (int method = BISAI_GMRES; method < BISAI_METHODS; method++) {
    for (int left = 0; left < (method == BISAI_GMRES ? 2 : 1); left++) {
      bisai_solver_options options = bisai_solver_options_default();
      options.method = (bisai_method)method;
      options.gmres.side = left ? BISAI_LEFT : BISAI_RIGHT;
      options.cg.assume_symmetric = true; /* says nothing of linearity */
      bisai_solver_report report = test_report();
      x[0] = 7;
      EXPECT_STATUS(context, BISAI_NOT_LINEAR,
                    test_solve(context, &options, matrix, precond, b, x, &report));
      char message[256];
      snprintf(message, sizeof message,
               "%s needs a linear preconditioner, which callback is not: gmres.flexible and, for "
               "symmetric matrices, cg.flexible take it",
               bisai_method_string(options.method));
      EXPECT_MESSAGE(context, message);
      assert_true(x[0] == 7 && calls == 0);
      assert_int_equal(BISAI_REASON_NONE, report.reason);
    }
  }
  for (int method = BISAI_GMRES; method <= BISAI_CG; method++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.method = (bisai_method)method;
    options.gmres.flexible = method == BISAI_GMRES;
    options.cg.flexible = method == BISAI_CG;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, NULL));
    assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
  }
  bisai_precond_destroy(&precond);
  precond = callback(matrix, false, &calls);
  assert_false(test_report_of(context, precond).nonlinear);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void flexible_cg_still_needs_symmetry(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, 1, 3));
  bisai_precond *isai = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  const bisai_solver_options options = flexible_cg();
  double b[N] = {1}, x[N];
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC,
                test_solve(context, &options, matrix, isai, b, x, NULL));
  bisai_precond_destroy(&isai);
  bisai_bcsr_destroy(&matrix);
  matrix = test_convdiff(context, 4);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC,
                test_solve(context, &options, matrix, NULL, b, x, NULL));
  bisai_bcsr_destroy(&matrix);
}

static void cg_flexible_is_an_option_of_cg_alone(void **state) {
  (void)state;
  bisai_solver *solver = NULL;
  for (int method = BISAI_GMRES; method < BISAI_METHODS; method++) {
    if (method == BISAI_CG) continue;
    bisai_solver_options options = flexible_cg();
    options.method = (bisai_method)method;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_solver_create(context, 4, &options, &solver));
    char message[128];
    snprintf(message, sizeof message, "%s: cg.flexible is an option of cg",
             bisai_method_string(options.method));
    EXPECT_MESSAGE(context, message);
  }
  assert_null(solver);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_of_flexible_cg_is_the_textbooks),
      cmocka_unit_test(flexible_cg_converges_where_a_changing_preconditioner_stops_cg),
      cmocka_unit_test(flexible_cg_iterates_as_cg_where_the_preconditioner_stays),
      cmocka_unit_test(flexible_cg_has_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(only_flexible_solvers_take_what_is_not_linear),
      cmocka_unit_test(flexible_cg_still_needs_symmetry),
      cmocka_unit_test(cg_flexible_is_an_option_of_cg_alone)};
  return cmocka_run_group_tests_name("flexible", tests, setup, teardown);
}
