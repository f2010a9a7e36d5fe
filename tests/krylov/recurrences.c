/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s) where they converge: against textbooks, step by step, and against dense
 * elimination. */
#include <math.h>

#include "systems.h"
#include "textbook.h"

enum { SIDE = 20, POINTS = SIDE * SIDE };

typedef struct variant {
  bisai_method method;
  int s;
} variant;

static const variant variants[] = {
    {BISAI_CG, 4},  {BISAI_BICGSTAB, 4}, {BISAI_IDR, 1}, {BISAI_IDR, 2}, {BISAI_IDR, 3},
    {BISAI_IDR, 4}, {BISAI_IDR, 5},      {BISAI_IDR, 8}, {BISAI_IDR, 9}, {BISAI_IDR, 12}};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static bisai_solver_options options_of(variant v) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = v.method;
  options.idr.shadow_dimension = v.s;
  return options;
}

/* Diagonally dominant with positive diagonal, symmetric if asked for. */
static double *random_system(int n, bool symmetric, uint64_t seed) {
  double *a = test_random_vector((int64_t)n * n, seed);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < j && symmetric; i++) a[j + i * n] = a[i + j * n];
    a[j + j * n] = 0.35 * n + fabs(a[j + j * n]);
  }
  return a;
}

/* x is that of a step, of the last one unless an earlier one was better, and no step had half its
 * residual: history[0] is 1 and belongs to x = 0. Rounding errors as below. */
static void expect_a_good_step(int n, int last, const double *history, const double *iterates,
                               const double *x) {
  int k = last;
  while (k > 0 && test_max_difference(n, iterates + k * n, x) > 1e-9) k--;
  if (k == 0) EXPECT_NEAR(0, test_norm2(n, x), 0);
  for (int j = 0; j <= last; j++) assert_true(history[k] <= 2 * history[j]);
  assert_true(history[k] <= history[last]);
}

static void expect_textbook(bisai_context *context, variant v, const double *inverse,
                            uint64_t seed) {
  enum { N = 40, STEPS = 26 };
  double *a = random_system(N, v.method == BISAI_CG, seed), *b = test_random_vector(N, seed + 1);
  double history[STEPS + 1], *iterates = malloc((STEPS + 1) * N * sizeof *iterates), x[N];
  const textbook_system system = {.n = N, .a = a, .inverse = inverse, .b = b};
  if (v.method == BISAI_CG) textbook_cg(&system, STEPS, history, iterates);
  if (v.method == BISAI_BICGSTAB) textbook_bicgstab(&system, STEPS, history, iterates);
  if (v.method == BISAI_IDR) textbook_idr(&system, v.s, STEPS, history, iterates);
  int steps = 0; /* rounding has its way afterwards */
  while (steps < STEPS && history[steps] > 1e-7) steps++;
  assert_true(steps > 5);

  dense_operator op = {.a = a};
  diagonal_operator diagonal = {.scale = inverse};
  bisai_bcsr *shape = test_identity(context, N);
  bisai_precond *precond =
      inverse ? test_precond_callback(context, shape, diagonal_operator_multiply, &diagonal) : NULL;
  for (int most = 1; most <= steps; most++) {
    bisai_solver_options options = options_of(v);
    options.tolerance = 1e-9;
    options.max_iterations = most;
    bisai_solver *solver = NULL;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, bisai_solver_create(context, N, &options, &solver));
    EXPECT_STATUS(
        context, BISAI_MAX_ITERATIONS,
        bisai_solver_solve_operator(solver, dense_operator_multiply, &op, precond, b, x, &report));
    assert_int_equal(most, report.iterations);
    assert_int_equal(inverse ? most * (v.method == BISAI_BICGSTAB ? 2 : 1) : 0,
                     report.applications);
    assert_int_equal(0, report.restarts);
    /* Rounding errors grow by a few digits in tens of steps that are not minimising anything. */
    for (int k = 0; k <= most; k++)
      EXPECT_NEAR(history[k], report.history[k], 1e-9 * fmax(1, history[k]));
    expect_a_good_step(N, most, history, iterates, x);
    bisai_solver_destroy(&solver);
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&shape);
  free(iterates);
  free(a);
  free(b);
}

static void every_step_is_the_textbooks(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  double inverse[40];
  for (int i = 0; i < 40; i++) inverse[i] = 1 / (8.0 + i % 5);
  for (int k = 0; k < VARIANTS; k++) {
    expect_textbook(context, variants[k], NULL, (uint64_t)(10 + k));
    expect_textbook(context, variants[k], inverse, (uint64_t)(40 + k));
  }
  bisai_context_destroy(&context);
}

/* b·b = 34, b·A b = 123: α = 34/123, r₁ = b − α A b = (3 − 374/123, 5 − 612/123) = (−5/123,
 * 3/123). */
static void two_by_two_system_has_the_residuals_computed_by_hand(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {3, 5}, solution[2] = {0.8, 1.4};
  double x[2];
  dense_operator op = {.a = a};
  bisai_solver *solver = NULL;
  bisai_solver_report report = test_report();
  bisai_solver_options options = options_of((variant){BISAI_CG, 4});
  EXPECT_OK(context, bisai_solver_create(context, 2, &options, &solver));
  EXPECT_OK(context,
            bisai_solver_solve_operator(solver, dense_operator_multiply, &op, NULL, b, x, &report));
  assert_int_equal(2, report.iterations);
  EXPECT_NEAR(1, report.history[0], 0);
  EXPECT_NEAR(1 / 123.0, report.history[1], 1e-15);
  EXPECT_CLOSE(2, solution, x, 1e-14);
  assert_int_equal(BISAI_CG, report.method);
  assert_int_equal(0, report.idr.shadow_dimension);
  bisai_solver_destroy(&solver);
  bisai_context_destroy(&context);
}

/* CG needs n steps, IDR(s) n + n/s of them, BiCGSTAB n: plus one or two for what rounding
 * leaves. */
static void exact_arithmetic_would_end(void **state) {
  (void)state;
  enum { N = 24 };
  bisai_context *context = test_context(1);
  double *b = test_random_vector(N, 7), x[N];
  for (int k = 0; k < VARIANTS; k++) {
    double *a = random_system(N, variants[k].method == BISAI_CG, (uint64_t)(70 + k));
    dense_operator op = {.a = a};
    bisai_solver_options options = options_of(variants[k]);
    options.tolerance = 1e-11;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
    const int s = variants[k].s, most = variants[k].method == BISAI_IDR ? N + (N + s - 1) / s : N;
    assert_true(report.iterations <= most + 2);
    assert_int_equal(variants[k].method == BISAI_IDR ? s : 0, report.idr.shadow_dimension);
    free(a);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* (A + Aᵀ)/2, dominant and with a positive diagonal. */
static test_bcsr symmetric_grid(int32_t bs, uint64_t seed) {
  test_bcsr m = test_bcsr_grid(9, 7, bs, seed);
  for (int32_t row = 0; row < m.block_rows; row++)
    for (int32_t p = m.row_ptr[row]; p < m.row_ptr[row + 1]; p++) {
      double *block = m.values + (int64_t)p * bs * bs,
             *other = test_bcsr_block(&m, m.col_idx[p], row);
      for (int32_t i = 0; i < bs; i++)
        for (int32_t j = 0; j < bs; j++) {
          const double mean = 0.5 * (block[i + j * bs] + other[j + i * bs]);
          block[i + j * bs] = other[j + i * bs] = mean;
        }
    }
  /* The mean of a row's and a column's sum may exceed the diagonal: add what is lacking. */
  for (int32_t row = 0; row < m.block_rows; row++) {
    double *diagonal = test_bcsr_block(&m, row, row);
    for (int32_t i = 0; i < bs; i++) diagonal[i + i * bs] = 1.5 * fabs(diagonal[i + i * bs]);
  }
  return m;
}

static void every_method_solves_blocks_of_every_size(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  const bisai_precond_kind kinds[] = {BISAI_PRECOND_NONE, BISAI_PRECOND_BJACOBI, BISAI_PRECOND_ILU,
                                      BISAI_PRECOND_ISAI};
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr arrays = symmetric_grid(bs, (uint64_t)bs),
              skewed = test_bcsr_grid(9, 7, bs, (uint64_t)bs);
    bisai_bcsr *matrices[2] = {test_bcsr_make(context, &arrays), test_bcsr_make(context, &skewed)};
    const int64_t n = 63 * bs;
    double *b = test_random_vector(n, 3), *x = malloc((size_t)n * sizeof *x), *expected[2];
    double *dense = test_dense_from_arrays(&arrays);
    expected[0] = test_dense_solve(n, dense, b);
    free(dense);
    dense = test_dense_from_arrays(&skewed);
    expected[1] = test_dense_solve(n, dense, b);
    free(dense);
    for (int k = 0; k < 4; k++) {
      for (int v = 0; v < 6; v += v == 1 ? 4 : 1) { /* CG, BiCGSTAB, IDR(4) */
        const int which = variants[v].method == BISAI_CG ? 0 : 1;
        if (which == 0 && kinds[k] == BISAI_PRECOND_ISAI) continue; /* not symmetric */
        bisai_precond *precond = test_precond(context, matrices[which], kinds[k]);
        bisai_solver_options options = options_of(variants[v]);
        options.tolerance = 1e-12;
        bisai_solver_report report = test_report();
        EXPECT_OK(context, test_solve(context, &options, matrices[which], precond, b, x, &report));
        assert_true(report.relative_residual <= 2e-12);
        EXPECT_NEAR(test_relative_residual(matrices[which], x, b), report.relative_residual, 1e-15);
        /* κ below 100 for these dominant matrices, times 2e-12 */
        EXPECT_CLOSE(n, expected[which], x, 1e-10);
        bisai_precond_destroy(&precond);
      }
    }
    for (int m = 0; m < 2; m++) {
      bisai_bcsr_destroy(&matrices[m]);
      free(expected[m]);
    }
    test_bcsr_free(&arrays);
    test_bcsr_free(&skewed);
    free(b);
    free(x);
  }
  bisai_context_destroy(&context);
}

static void results_have_the_same_bits_for_any_number_of_threads_and_any_repetition(void **state) {
  (void)state;
  enum { LARGE = 180 }; /* enough rows for several threads */
  const size_t n = LARGE * LARGE;
  double *b = test_random_vector((int64_t)n, 8), *first = malloc(n * sizeof *first),
         *x = malloc(n * sizeof *x);
  for (int v = 0; v < VARIANTS; v++) {
    bisai_solver_options options = options_of(variants[v]);
    options.max_iterations = 25;        /* convergence does not matter here … */
    options.cg.assume_symmetric = true; /* … nor does that A is not symmetric */
    for (int threads = 1; threads <= 3; threads++) {
      bisai_context *context = test_context(threads);
      bisai_bcsr *matrix = test_convdiff(context, LARGE);
      bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
      bisai_solver *solver = NULL;
      EXPECT_OK(context, bisai_solver_create(context, (int64_t)n, &options, &solver));
      for (int repetition = 0; repetition < 2; repetition++) {
        EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                      bisai_solver_solve(solver, matrix, precond, b, x, NULL));
        if (threads == 1 && repetition == 0) memcpy(first, x, n * sizeof *x);
        assert_memory_equal(first, x, n * sizeof *x);
      }
      bisai_solver_destroy(&solver);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&context);
    }
  }
  free(b);
  free(first);
  free(x);
}

static void the_initial_guess_is_used_and_a_solution_is_left_alone(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ILU);
  double *solution = test_random_vector(POINTS, 5), b[POINTS], x[POINTS];
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, solution, b));
  for (int v = 1; v < VARIANTS; v++) {
    bisai_solver_options options = options_of(variants[v]);
    options.use_initial_guess = true;
    bisai_solver_report report = test_report();
    memcpy(x, solution, sizeof x);
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    assert_int_equal(0, report.iterations);
    assert_int_equal(0, report.applications);
    assert_memory_equal(solution, x, sizeof x);
    for (int i = 0; i < POINTS; i++) x[i] = solution[i] + (i % 2 ? 1e-3 : -1e-3);
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    const int near = report.iterations;
    options.use_initial_guess = false;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    assert_true(near > 0 && near < report.iterations);
    EXPECT_CLOSE(POINTS, solution, x, 1e-6);
  }
  free(solution);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void zero_right_hand_sides_and_empty_systems_end_at_once(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {0, -0.0};
  for (int v = 0; v < VARIANTS; v++) {
    dense_operator op = {.a = a};
    double x[2] = {NAN, 5};
    bisai_solver_options options = options_of(variants[v]);
    options.tolerance = 0;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
    EXPECT_CLOSE(2, b, x, 0);
    assert_int_equal(0, report.iterations);
    EXPECT_OK(context, test_solve_dense(context, &options, 0, &op, NULL, NULL, NULL, &report));
    assert_int_equal(0, op.calls);
  }
  bisai_context_destroy(&context);
}

/* ‖b‖² would underflow or overflow; powers of two change no mantissa, so that the solution must
 * have the same digits. */
static void tiny_and_huge_right_hand_sides_lose_nothing(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  test_bcsr arrays = symmetric_grid(3, 4);
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
  enum { N = 189 };
  double *b = test_random_vector(N, 5), scaled[N], expected[N], x[N];
  const double factors[] = {0x1p-700, 0x1p700};
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(variants[v]);
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, expected, NULL));
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < N; i++) scaled[i] = factors[k] * b[i];
      EXPECT_OK(context, test_solve(context, &options, matrix, precond, scaled, x, NULL));
      for (int i = 0; i < N; i++) x[i] /= factors[k];
      EXPECT_CLOSE(N, expected, x, 1e-15);
    }
  }
  free(b);
  test_bcsr_free(&arrays);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Block ILU(0) of a block tridiagonal matrix is its exact factorisation: one product is enough,
 * BiCGSTAB counts it with its second. IDR's first directions have nothing to do with M⁻¹ yet but
 * for its first product. */
static void an_exact_preconditioner_takes_one_iteration(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(50, 3, 4, -1));
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ILU);
  double *b = test_random_vector(150, 4), x[150];
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(variants[v]);
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
    assert_int_equal(1, report.iterations);
    assert_int_equal(variants[v].method == BISAI_BICGSTAB ? 2 : 1, report.applications);
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Small systems have no more shadow vectors than unknowns. */
static void systems_smaller_than_s_are_solved(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int n = 1; n <= 6; n++) {
    double *a = random_system(n, false, (uint64_t)n), *b = test_random_vector(n, 2), x[6];
    double *expected = test_dense_solve(n, a, b);
    dense_operator op = {.a = a};
    bisai_solver_options options = options_of((variant){BISAI_IDR, BISAI_MAX_SHADOW_DIMENSION});
    bisai_solver_report report = test_report();
    EXPECT_OK(context, test_solve_dense(context, &options, n, &op, NULL, b, x, &report));
    assert_int_equal(n, report.idr.shadow_dimension);
    EXPECT_CLOSE(n, expected, x, 1e-7);
    free(a);
    free(b);
    free(expected);
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_step_is_the_textbooks),
      cmocka_unit_test(two_by_two_system_has_the_residuals_computed_by_hand),
      cmocka_unit_test(exact_arithmetic_would_end),
      cmocka_unit_test(every_method_solves_blocks_of_every_size),
      cmocka_unit_test(results_have_the_same_bits_for_any_number_of_threads_and_any_repetition),
      cmocka_unit_test(the_initial_guess_is_used_and_a_solution_is_left_alone),
      cmocka_unit_test(zero_right_hand_sides_and_empty_systems_end_at_once),
      cmocka_unit_test(tiny_and_huge_right_hand_sides_lose_nothing),
      cmocka_unit_test(an_exact_preconditioner_takes_one_iteration),
      cmocka_unit_test(systems_smaller_than_s_are_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
