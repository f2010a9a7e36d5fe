/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s) where they do not converge, or not at once: breakdowns by name, restarts,
 * residuals that grow. */
#include <math.h>

#include "variants.h"

static bisai_solver_report expect_end(bisai_context *context, const bisai_solver_options *options,
                                      int n, const double *a, bisai_precond *precond,
                                      const double *b, double *x, bisai_breakdown breakdown) {
  const bisai_status status = breakdown == BISAI_BREAKDOWN_NONE ? BISAI_OK : BISAI_BREAKDOWN;
  dense_operator op = {.a = a};
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, status,
                test_solve_dense(context, options, n, &op, precond, b, x, &report));
  assert_string_equal(bisai_breakdown_string(breakdown), bisai_breakdown_string(report.breakdown));
  assert_true(test_all_finite(n, x));
  return report;
}

/* In two dimensions the second p·A p, or r·M⁻¹r, has the other sign. */
static void cg_names_what_is_not_definite(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *shape = test_identity(context, 2);
  const double indefinite[4] = {1, 0, 0, -2}, good[4] = {2, 0, 0, 1}, zero[4] = {0}, b[2] = {1, 1},
               c[2] = {4, 1};
  double x[2];
  const bisai_solver_options options = options_of(0);
  bisai_solver_report report =
      expect_end(context, &options, 2, indefinite, NULL, c, x, BISAI_BREAKDOWN_CURVATURE);
  assert_int_equal(2, report.iterations);
  assert_int_equal(BISAI_REASON_BREAKDOWN, report.reason);
  assert_true(report.relative_residual < 1);
  report = expect_end(context, &options, 2, zero, NULL, b, x, BISAI_BREAKDOWN_CURVATURE);
  EXPECT_MESSAGE(
      context,
      "iteration 1: p·A p is zero or changed its sign: the matrix is not definite, at relative "
      "residual 1.000e+00");
  assert_int_equal(1, report.iterations);
  EXPECT_NEAR(1, report.estimated_residual, 0);
  EXPECT_NEAR(0, x[0], 0);
  /* The product of two steps' α is too small for a double; what fails at that size is tried again
   * with a multiple of A. */
  const double large[4] = {1e170, 0, 0, -2e170};
  report = expect_end(context, &options, 2, large, NULL, c, x, BISAI_BREAKDOWN_CURVATURE);
  assert_int_equal(2 + 2, report.iterations);
  const double signs[2][2] = {{1, -1}, {1, -3}}; /* r·M⁻¹r = 0 and −2 */
  for (int k = 0; k < 2; k++) {
    diagonal_operator op = {.scale = signs[k]};
    bisai_precond *precond = test_precond_callback(context, shape, diagonal_operator_multiply, &op);
    report = expect_end(context, &options, 2, good, precond, b, x, BISAI_BREAKDOWN_PRECOND);
    assert_int_equal(k + 1, report.iterations);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&shape);
  bisai_context_destroy(&context);
}

static void cg_solves_definite_systems_of_either_sign(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *shape = test_identity(context, 3);
  const double a[9] = {4, 1, 0, 1, 3, 1, 0, 1, 5}, negative[9] = {-4, -1, 0, -1, -3, -1, 0, -1, -5},
               b[3] = {1, 2, 3};
  const double inverse[2][3] = {{0.3, 0.2, 0.25}, {-0.3, -0.2, -0.25}};
  const bisai_solver_options options = options_of(0);
  for (int k = 0; k < 6; k++) {
    const double *matrix = k % 2 ? negative : a;
    diagonal_operator op = {.scale = inverse[k / 2 % 2]};
    bisai_precond *precond =
        k < 4 ? test_precond_callback(context, shape, diagonal_operator_multiply, &op) : NULL;
    double x[3], *expected = test_dense_solve(3, matrix, b);
    const bisai_solver_report report =
        expect_end(context, &options, 3, matrix, precond, b, x, BISAI_BREAKDOWN_NONE);
    assert_int_equal(3, report.iterations);
    EXPECT_CLOSE(3, expected, x, 1e-13);
    free(expected);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&shape);
  bisai_context_destroy(&context);
}

/* p·A p is 4 + 3 − 0.125 at first and negative later; what was gained until then stays. */
static void cg_keeps_what_it_gained_before_a_breakdown(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {4, 0, 0, 0, 3, 0, 0, 0, -0.5}, b[3] = {1, 1, 0.5};
  double x[3];
  const bisai_solver_options options = options_of(0);
  const bisai_solver_report report =
      expect_end(context, &options, 3, a, NULL, b, x, BISAI_BREAKDOWN_CURVATURE);
  assert_true(report.iterations > 1);
  assert_true(report.relative_residual < 1);
  double r[3], norm = 0;
  for (int i = 0; i < 3; i++) {
    r[i] = b[i] - a[4 * i] * x[i];
    norm += r[i] * r[i];
  }
  EXPECT_NEAR(sqrt(norm / 2.25), report.relative_residual, 1e-15);
  bisai_context_destroy(&context);
}

/* The residual does not see x(0), which BiCGSTAB drives beyond the range of doubles. */
static void what_the_residual_does_not_see_is_finite(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  int32_t row_ptr[] = {0, 3, 5, 6, 6}, col_idx[] = {1, 2, 3, 2, 3, 3};
  double values[] = {1, 1, 1, 1, 1, 1};
  const double b[] = {1, 1, 1, 1};
  bisai_bcsr *matrix = test_bcsr_make(context, &(test_bcsr){4, 4, 1, row_ptr, col_idx, values});
  for (int v = 0; v < VARIANTS; v++) {
    bisai_solver_options options = options_of(v);
    options.cg.assume_symmetric = true;
    double x[4];
    bisai_solver_report report = test_report();
    assert_true(test_solve(context, &options, matrix, NULL, b, x, &report) != BISAI_OK);
    assert_true(test_all_finite(4, x) && isfinite(report.relative_residual));
  }
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void consistent_singular_systems_converge(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[9] = {1, 0, 0, 0, 2, 0, 0, 0, 0}, b[3] = {1, 1, 0};
  double x[3];
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    expect_end(context, &options, 3, a, NULL, b, x, BISAI_BREAKDOWN_NONE);
    EXPECT_NEAR(1, x[0], 1e-7);
    EXPECT_NEAR(0.5, x[1], 1e-7);
  }
  bisai_context_destroy(&context);
}

/* With x = 0, r̂ = b = e₁ and a first row of (1, 0, 0) every later residual is orthogonal to r̂.
 * One iteration leaves none for another r̂. */
static void bicgstab_names_each_of_its_breakdowns(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_solver_options options = options_of(1);
  options.max_iterations = 1;
  const double e1[3] = {1, 0, 0};
  double x[3];
  /* r̂·A r̂ = 0 */
  const double skew[4] = {0, -1, 1, 0};
  bisai_solver_report report =
      expect_end(context, &options, 2, skew, NULL, e1, x, BISAI_BREAKDOWN_ALPHA);
  assert_int_equal(1, report.iterations);
  EXPECT_MESSAGE(
      context,
      "iteration 1: A M⁻¹p is orthogonal to the shadow residual, at relative residual 1.000e+00");
  /* s = (0, −1, −2), which the skew-symmetric rest of the matrix makes t ⟂ s of */
  const double turning[9] = {1, 1, 2, 0, 0, -1, 0, 1, 0};
  report = expect_end(context, &options, 3, turning, NULL, e1, x, BISAI_BREAKDOWN_OMEGA);
  assert_int_equal(1, report.iterations);
  EXPECT_NEAR(sqrt(5), report.estimated_residual, 1e-15);
  EXPECT_NEAR(1, report.relative_residual, 0); /* x = 0 was better */
  /* s = (0, −10, −20): a residual larger than b, and ρ = 0 */
  const double far[9] = {1, 10, 20, 0, 2, 0, 0, 1, 3};
  report = expect_end(context, &options, 3, far, NULL, e1, x, BISAI_BREAKDOWN_RHO);
  assert_int_equal(1, report.iterations);
  assert_int_equal(0, report.restarts);
  EXPECT_MESSAGE(context, "iteration 1: rho = 0: the residual is orthogonal to the shadow "
                          "residual, at relative residual "
                          "1.000e+00");
  bisai_context_destroy(&context);
}

/* Rows of the identity have the boundary values, and b is zero in all others. After a step r is
 * zero in these rows, and orthogonal to r̂ = b. It has grown, because the other rows have large
 * values. */
static void bicgstab_solves_a_system_whose_b_has_boundary_values_only(void **state) {
  (void)state;
  enum { INSIDE = POINTS - SIDE };
  bisai_context *context = test_context(1);
  const int kinds[] = {-1, BISAI_PRECOND_BJACOBI, BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI};
  const double large = 100;
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *values = malloc((size_t)bisai_bcsr_blocks(matrix) * sizeof *values), b[POINTS] = {0},
         x[POINTS], alone[POINTS];
  const int32_t *row_ptr, *col_idx;
  const void *old;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &old);
  for (int32_t row = 0; row < POINTS; row++) {
    b[row] = row >= INSIDE;
    for (int32_t p = row_ptr[row]; p < row_ptr[row + 1]; p++)
      values[p] = row < INSIDE ? large * ((const double *)old)[p] : col_idx[p] == row;
  }
  EXPECT_OK(context, bisai_bcsr_update(matrix, values, BISAI_COLUMN_MAJOR));
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bisai_precond *precond =
        kinds[k] < 0 ? NULL : test_precond(context, matrix, (bisai_precond_kind)kinds[k]);
    bisai_solver_options options = options_of(1);
    bisai_solver_report report = test_report(), twins = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, alone, &report));
    assert_int_equal(1, report.restarts);
    EXPECT_NEAR(0, test_relative_residual(matrix, alone, b), 2e-8);
    /* so do four processes with the same part each: sums times 4 are norms times 2, exactly */
    test_twins hook = {.processes = 4};
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &twins));
    assert_int_equal(report.iterations, twins.iterations);
    EXPECT_CLOSE(POINTS, alone, x, 1e-12);
    bisai_precond_destroy(&precond);
  }
  free(values);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* A v is zero for every v. */
static void bicgstab_ends_if_another_shadow_residual_does_not_help(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const bisai_solver_options options = options_of(1);
  const double zero[4] = {0}, b[2] = {1, 2};
  double x[2];
  const bisai_solver_report report =
      expect_end(context, &options, 2, zero, NULL, b, x, BISAI_BREAKDOWN_ALPHA);
  assert_int_equal(2, report.iterations);
  assert_int_equal(1, report.restarts);
  EXPECT_NEAR(1, report.relative_residual, 0);
  bisai_context_destroy(&context);
}

/* As above, but the residual is smaller than b: the shadow residual is made anew and two more
 * unknowns need two iterations. */
static void bicgstab_begins_again_where_that_helps(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const bisai_solver_options options = options_of(1);
  const double a[9] = {1, 0.1, 0.2, 0, 2, 0, 0, 1, 3}, e1[3] = {1, 0, 0};
  double x[3], *expected = test_dense_solve(3, a, e1);
  const bisai_solver_report report =
      expect_end(context, &options, 3, a, NULL, e1, x, BISAI_BREAKDOWN_NONE);
  assert_int_equal(1, report.restarts);
  assert_int_equal(3, report.iterations);
  EXPECT_CLOSE(3, expected, x, 1e-8);
  free(expected);
  bisai_context_destroy(&context);
}

static void idr_names_each_of_its_breakdowns(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double zero[4] = {0}, skew[4] = {0, -1, 1, 0}, b[2] = {1, 2};
  double x[2];
  for (int v = 0; v < VARIANTS; v++) {
    if (variants[v].method != BISAI_IDR) continue;
    const bisai_solver_options options = options_of(v);
    const bisai_solver_report report =
        expect_end(context, &options, 2, zero, NULL, b, x, BISAI_BREAKDOWN_PIVOT);
    assert_int_equal(1, report.iterations);
    EXPECT_MESSAGE(context, "iteration 1: A u is zero or orthogonal to its shadow vector, at "
                            "relative residual 1.000e+00");
  }
  /* IDR(1): after one step r is orthogonal to p, and A r to r. */
  const bisai_solver_options options = options_of(2);
  const bisai_solver_report report =
      expect_end(context, &options, 2, skew, NULL, b, x, BISAI_BREAKDOWN_OMEGA);
  assert_int_equal(2, report.iterations);
  EXPECT_MESSAGE(
      context,
      "iteration 2: omega = 0: A M⁻¹r is zero or orthogonal to r, at relative residual 1.000e+00");
  bisai_context_destroy(&context);
}

/* Squares of A r leave the range of a double, while A, b and x stay in it. */
static void systems_far_from_one_in_scale_are_solved(void **state) {
  (void)state;
  enum { N = 40, SCALES = 7, APART = 7 };
  bisai_context *context = test_context(1);
  const double scales[SCALES] = {1e120, 1e155, 1e200, 1e-120, 1e-155, 1e-165, 1e-200};
  const double apart[APART][2] = {{1e150, 1e-150},
                                  {1e160, 1e-105},
                                  {1e110, 1e-180},
                                  {1e-150, 1e150},
                                  /* of A and of b */
                                  {1e-110, 1e160},
                                  {1e290, 1e290},
                                  {1e-160, 1e-300}};
  for (int v = 0; v < VARIANTS; v++) {
    int iterations = 0;
    for (int k = -1; k < 2 * SCALES + APART; k++) {
      const bool own = k >= 2 * SCALES;
      const double size = own ? apart[k - 2 * SCALES][0] : k < 0 ? 1 : scales[k / 2];
      const double right = own ? apart[k - 2 * SCALES][1] : k >= 0 && k % 2 ? size : 1;
      double *a = test_dominant(N, size), b[N], x[N];
      for (int j = 0; j < N && variants[v].method == BISAI_CG; j++)
        for (int i = 0; i < j; i++) a[j + i * N] = a[i + j * N];
      for (int i = 0; i < N; i++) b[i] = (1 + i % 3) * right;
      dense_operator op = {.a = a};
      const bisai_solver_options options = options_of(v);
      bisai_solver_report report = test_report();
      EXPECT_OK(context, test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
      if (k < 0) iterations = report.iterations;
      /* steps until it was seen */
      assert_true(report.iterations <= iterations + 3);
      /* of 1, 2 and 3 in turn */
      assert_true(test_dense_residual(N, a, b, x) <= 2e-8 * sqrt(14.0 * N / 3 + 1));
      free(a);
    }
  }
  bisai_context_destroy(&context);
}

/* --- residuals that go up --- */

/* Nearly skew-symmetric: eigenvalues on both sides along the imaginary axis, which a polynomial of
 * small degree cannot make small. */
static double *nearly_skew(int n, double diagonal, uint64_t seed) {
  double *a = test_random_vector((int64_t)n * n, seed);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < j; i++) a[j + i * n] = -a[i + j * n];
    a[j + j * n] = diagonal;
  }
  return a;
}

/* IDR(1)'s residuals grow without end here. What is seen depends on rounding; that x and its
 * residual are what the best step gave does not. */
static void a_residual_that_grows_beyond_all_digits_is_left_behind(void **state) {
  (void)state;
  enum { N = 100 };
  bisai_context *context = test_context(1);
  int restarted = 0;
  for (int k = 0; k < 4; k++) {
    double *a = nearly_skew(N, 0.1, (uint64_t)(20 + k)), *b = test_random_vector(N, 2), x[N];
    dense_operator op = {.a = a};
    bisai_solver_options options = options_of(2);
    bisai_solver *solver = NULL;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, bisai_solver_create(context, N, &options, &solver));
    EXPECT_STATUS(
        context, BISAI_BREAKDOWN,
        bisai_solver_solve_operator(solver, dense_operator_multiply, &op, NULL, b, x, &report));
    assert_int_equal(BISAI_BREAKDOWN_GROWTH, report.breakdown);
    EXPECT_IN_MESSAGE(context, "the residual grew beyond all digits");
    double least = 1, most = 0;
    for (int i = 0; i < report.history_length; i++) {
      least = fmin(least, report.history[i]);
      most = fmax(most, report.history[i]);
    }
    assert_true(most > 1e15 * least);
    assert_true(most < 1e19); /* the step that goes beyond 4.5e15 is the last of its cycle */
    assert_true(report.relative_residual <= 2 * least);
    restarted += report.restarts > 0;
    bisai_solver_destroy(&solver);
    free(a);
    free(b);
  }
  assert_true(restarted > 0); /* from an x that was better than the start */
  bisai_context_destroy(&context);
}

/* The same for a few steps only: at each limit x is at most twice as bad as the best so far. */
static void x_is_nearly_the_best_that_a_method_came_by(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  int earlier = 0;
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  for (int v = 0; v < VARIANTS; v++) {
    if (variants[v].method == BISAI_CG) continue; /* the matrix is not symmetric */
    double least = 1;
    for (int limit = 1; limit <= 40; limit++) {
      bisai_solver_options options = options_of(v);
      options.max_iterations = limit;
      options.tolerance = 0;
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                    test_solve(context, &options, matrix, NULL, b, x, &report));
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-15);
      earlier += report.estimated_residual > 2 * least;
      least = fmin(least, report.estimated_residual);
      assert_true(report.relative_residual <= 2 * least + 1e-14);
    }
  }
  assert_true(earlier > 10);
  bisai_bcsr_destroy(&matrix);
  free(b);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cg_names_what_is_not_definite),
      cmocka_unit_test(cg_solves_definite_systems_of_either_sign),
      cmocka_unit_test(cg_keeps_what_it_gained_before_a_breakdown),
      cmocka_unit_test(what_the_residual_does_not_see_is_finite),
      cmocka_unit_test(consistent_singular_systems_converge),
      cmocka_unit_test(bicgstab_names_each_of_its_breakdowns),
      cmocka_unit_test(bicgstab_solves_a_system_whose_b_has_boundary_values_only),
      cmocka_unit_test(bicgstab_ends_if_another_shadow_residual_does_not_help),
      cmocka_unit_test(bicgstab_begins_again_where_that_helps),
      cmocka_unit_test(idr_names_each_of_its_breakdowns),
      cmocka_unit_test(systems_far_from_one_in_scale_are_solved),
      cmocka_unit_test(a_residual_that_grows_beyond_all_digits_is_left_behind),
      cmocka_unit_test(x_is_nearly_the_best_that_a_method_came_by),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
