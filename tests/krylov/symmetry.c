/* SPDX-License-Identifier: BSD-3-Clause */
/* What conjugate gradients take: A's symmetry is measured, M's is known by its kind, and what does
 * not fit is refused. */
#include "fixture.h"
#include "systems.h"

#include <math.h>

enum { N = 40 };

static bisai_symmetry symmetry_of(const bisai_precond *precond) {
  return test_report_of(context, precond).symmetry;
}

static bisai_solver_options cg(void) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = BISAI_CG;
  return options;
}

/* What a solve with b = 1 comes to; x is NaN where it did nothing. */
static bisai_status solve(const bisai_solver_options *options, const bisai_bcsr *matrix,
                          bisai_precond *precond, double *x, bisai_solver_report *report) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *b = malloc((size_t)n * sizeof *b);
  for (int64_t i = 0; i < n; i++) {
    b[i] = 1;
    x[i] = (double)NAN;
  }
  *report = test_report();
  const bisai_status status = test_solve(context, options, matrix, precond, b, x, report);
  free(b);
  return status;
}

/* A definite matrix whose entry (0, last) alone is changed, so that its asymmetry is `asymmetry` if
 * that is small. */
static bisai_bcsr *skewed(double asymmetry) {
  test_bcsr arrays = test_bcsr_tridiagonal(N, 2, 4.0, -1.0);
  arrays.values[4 + 2] += 4.0 * asymmetry; /* block (0, 1), which is a multiple of the identity */
  return test_bcsr_take(context, arrays);
}

static void cg_refuses_a_matrix_that_is_not_symmetric(void **state) {
  (void)state;
  static const struct {
    double asymmetry;
    bool fits;
  } cases[] = {{0, true}, {9e-11, true}, {1.1e-10, false}, {1e-3, false}, {1, false}};
  double x[2 * N];
  bisai_solver_report report;
  bisai_solver_options options = cg();
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    bisai_bcsr *matrix = skewed(cases[k].asymmetry);
    EXPECT_STATUS(context, cases[k].fits ? BISAI_OK : BISAI_NOT_SYMMETRIC,
                  solve(&options, matrix, NULL, x, &report));
    EXPECT_NEAR(cases[k].asymmetry, report.cg.asymmetry, 1e-15);
    if (!cases[k].fits) {
      assert_int_equal(BISAI_REASON_NONE, report.reason);
      assert_true(isnan(x[0]) && report.iterations == 0);
    }
    bisai_bcsr_destroy(&matrix);
  }
  EXPECT_MESSAGE(context, "cg needs a symmetric matrix, and the asymmetry of this one is 1.0e+00: "
                          "gmres, bicgstab and idr "
                          "take it; with assume_symmetric (cg:force in the program) cg does");
}

static void other_methods_and_assume_symmetric_take_any_matrix(void **state) {
  (void)state;
  bisai_bcsr *matrix = skewed(0.5);
  bisai_precond *isai = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  double x[2 * N];
  bisai_solver_report report;
  for (int method = BISAI_GMRES; method <= BISAI_IDR; method++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.method = (bisai_method)method;
    options.cg.assume_symmetric = method == BISAI_CG;
    const bisai_status status = solve(&options, matrix, isai, x, &report);
    assert_true(status != BISAI_NOT_SYMMETRIC && report.iterations > 0);
    assert_true(isnan(report.cg.asymmetry));
  }
  bisai_precond_destroy(&isai);
  bisai_bcsr_destroy(&matrix);
}

static void cg_refuses_preconditioners_that_are_not_symmetric(void **state) {
  (void)state;
  bisai_bcsr *matrix = skewed(0);
  double x[2 * N];
  bisai_solver_report report;
  const bisai_solver_options options = cg();
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, solve(&options, matrix, precond, x, &report));
  EXPECT_MESSAGE(
      context, "cg needs a symmetric preconditioner, which isai k=1 relax=0 "
               "storage=fp64 is not: none, bjacobi "
               "(fp64 or inverses), ilu, sweeps, symmetric isai and, with pre = post, mg are; with "
               "assume_symmetric (cg:force in the "
               "program) cg takes it");
  assert_true(isnan(x[0]) && report.cg.asymmetry == 0);
  bisai_precond_destroy(&precond);
  bisai_precond_options how = test_precond_options(BISAI_PRECOND_BJACOBI);
  how.bjacobi.form = BISAI_FORM_LU;
  how.bjacobi.storage = BISAI_FP16;
  precond = test_precond_with(context, matrix, &how);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, solve(&options, matrix, precond, x, &report));
  bisai_precond_destroy(&precond);
  /* the message is complete, although the description of CPR is long */
  precond = test_precond(context, matrix, BISAI_PRECOND_CPR);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, solve(&options, matrix, precond, x, &report));
  EXPECT_MESSAGE(context, "cg needs a symmetric preconditioner, which cpr pressure=0 is not: none, "
                          "bjacobi (fp64 or inverses), ilu, sweeps, symmetric isai and, with pre = "
                          "post, mg are; with assume_symmetric (cg:force in the program) cg takes "
                          "it");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* The largest |xᵀM⁻¹y − yᵀM⁻¹x| / (‖x‖‖M⁻¹y‖) over some random pairs. */
static double asymmetry_of_applications(bisai_precond *precond) {
  const int64_t n = bisai_precond_rows(precond);
  double worst = 0, *mx = malloc((size_t)n * sizeof *mx), *my = malloc((size_t)n * sizeof *my);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    double *x = test_random_vector(n, seed), *y = test_random_vector(n, 100 + seed), one = 0,
           other = 0;
    EXPECT_OK(context, bisai_precond_apply(precond, x, mx));
    EXPECT_OK(context, bisai_precond_apply(precond, y, my));
    for (int64_t i = 0; i < n; i++) {
      one += x[i] * my[i];
      other += y[i] * mx[i];
    }
    worst = fmax(worst, fabs(one - other) / (test_norm2(n, x) * test_norm2(n, my)));
    free(x);
    free(y);
  }
  free(mx);
  free(my);
  return worst;
}

/* Every kind that says so is symmetric, and CG converges with it; ISAI, which does not say so, is
 * far from it. */
static void kinds_are_as_symmetric_as_they_say(void **state) {
  (void)state;
  double x[8 * N];
  bisai_solver_report report;
  const bisai_solver_options options = cg();
  for (int32_t bs = 1; bs <= 8; bs++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, bs, (uint64_t)(60 + bs)));
    bisai_precond_options kinds[12];
    int count = 0;
    kinds[count++] = test_precond_options(BISAI_PRECOND_NONE);
    for (int form = BISAI_FORM_INVERSE; form <= BISAI_FORM_LU; form++) {
      kinds[count] = test_precond_options(BISAI_PRECOND_BJACOBI);
      kinds[count].bjacobi.max_block = form == BISAI_FORM_GAUSS_HUARD ? 6 : 0;
      kinds[count++].bjacobi.form = (bisai_form)form;
    }
    for (int level = 0; level <= 1; level++) {
      kinds[count] = test_precond_options(BISAI_PRECOND_ILU);
      kinds[count].factor.ordering = level == 1 ? BISAI_ORDERING_RCM : BISAI_ORDERING_NATURAL;
      kinds[count].factor.equilibrate = level == 1;
      kinds[count++].factor.level = level;
    }
    for (int sweeps = 0; sweeps <= 3; sweeps++) {
      kinds[count] = test_precond_options(BISAI_PRECOND_SWEEPS);
      kinds[count].factor.equilibrate = sweeps == 2;
      kinds[count++].sweeps.count = sweeps;
    }
    kinds[count++] = test_precond_options(BISAI_PRECOND_ISAI);
    for (int k = 0; k < count; k++) {
      bisai_precond *precond = test_precond_with(context, matrix, &kinds[k]);
      const double asymmetry = asymmetry_of_applications(precond);
      const bool isai = kinds[k].kind == BISAI_PRECOND_ISAI;
      assert_int_equal(isai ? BISAI_SYMMETRY_NONE
                       : kinds[k].kind == BISAI_PRECOND_NONE ||
                               kinds[k].kind == BISAI_PRECOND_BJACOBI
                           ? BISAI_SYMMETRY_VALUES
                           : BISAI_SYMMETRY_PATTERN,
                       symmetry_of(precond));
      /* sums of some hundred terms of norm near 1 */
      assert_true(isai ? asymmetry > 1e-6 : asymmetry < 1e-14);
      EXPECT_STATUS(context, isai ? BISAI_NOT_SYMMETRIC : BISAI_OK,
                    solve(&options, matrix, precond, x, &report));
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* Inverses are rounded value by value, and stay as symmetric as they were but for a last bit of the
 * format. */
static void narrow_inverses_of_blocks_are_taken(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, 4, 3));
  double x[4 * N];
  bisai_solver_report report;
  const bisai_solver_options options = cg();
  for (int type = BISAI_FP32; type <= BISAI_ADAPTIVE; type++) {
    bisai_precond_options how = test_precond_options(BISAI_PRECOND_BJACOBI);
    how.bjacobi.storage = (bisai_value_type)type;
    bisai_precond *precond = test_precond_with(context, matrix, &how);
    EXPECT_OK(context, solve(&options, matrix, precond, x, &report));
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

/* A zero that is stored on one side alone gives ILU(0) a place that its mirror image lacks. */
static void factors_of_a_pattern_without_mirror_images_are_refused(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 3, 5, 7}, col_idx[] = {0, 1, 2, 0, 1, 0, 2};
  static const int32_t more_ptr[] = {0, 3, 6, 8}, more_idx[] = {0, 1, 2, 0, 1, 2, 0, 2};
  static const double values[] = {4, -1, -1, -1, 4, -1, 4}, more[] = {4, -1, -1, -1, 4, 0, -1, 4};
  bisai_bcsr *matrix = test_bcsr_make(context, &(test_bcsr){3, 3, 1, (int32_t *)(uintptr_t)row_ptr,
                                                            (int32_t *)(uintptr_t)col_idx,
                                                            (double *)(uintptr_t)values});
  bisai_bcsr *one_sided = test_bcsr_make(
      context, &(test_bcsr){3, 3, 1, (int32_t *)(uintptr_t)more_ptr, (int32_t *)(uintptr_t)more_idx,
                            (double *)(uintptr_t)more});
  double x[3];
  bisai_solver_report report;
  const bisai_solver_options options = cg();
  for (int kind = BISAI_PRECOND_NONE; kind <= BISAI_PRECOND_SWEEPS; kind++) {
    if (kind == BISAI_PRECOND_ISAI) continue;
    const bool of_factors = kind >= BISAI_PRECOND_ILU;
    bisai_precond *precond = test_precond(context, matrix, (bisai_precond_kind)kind);
    EXPECT_OK(context, solve(&options, matrix, precond, x, &report));
    assert_true(asymmetry_of_applications(precond) < 1e-15);
    bisai_precond_destroy(&precond);
    precond = test_precond(context, one_sided, (bisai_precond_kind)kind);
    EXPECT_STATUS(context, of_factors ? BISAI_NOT_SYMMETRIC : BISAI_OK,
                  solve(&options, one_sided, precond, x, &report));
    assert_true(report.cg.asymmetry == 0);
    assert_true(of_factors == (asymmetry_of_applications(precond) > 1e-3));
    bisai_precond_destroy(&precond);
  }
  EXPECT_MESSAGE(
      context,
      "cg needs a symmetric preconditioner, which sweeps n=1 is not where a block (i, j) is stored "
      "without (j, i): none and bjacobi are; with assume_symmetric (cg:force in the program) cg "
      "takes it");
  bisai_bcsr_destroy(&one_sided);
  bisai_bcsr_destroy(&matrix);
}

static void functions_and_given_factors_are_the_callers_word(void **state) {
  (void)state;
  static const double scale[] = {0.5, 1, 2}, a[] = {2, 0, 0, 0, 1, 0, 0, 0, 0.5}, b[] = {1, 1, 1};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(3, 1, 2.0, 0.5));
  diagonal_operator diagonal = {.scale = scale};
  dense_operator multiply = {.a = a};
  bisai_precond *precond =
      test_precond_callback(context, matrix, diagonal_operator_multiply, &diagonal);
  double x[3];
  bisai_solver_report report = test_report();
  const bisai_solver_options options = cg();
  assert_int_equal(BISAI_SYMMETRY_CALLER, symmetry_of(precond));
  EXPECT_OK(context, test_solve_dense(context, &options, 3, &multiply, precond, b, x, &report));
  assert_true(isnan(report.cg.asymmetry));
  bisai_precond_destroy(&precond);
  /* M is looked at there too, */
  precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC,
                test_solve_dense(context, &options, 3, &multiply, precond, b, x, &report));
  bisai_precond_destroy(&precond);
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  bisai_precond_options given = test_precond_options(BISAI_PRECOND_ILU);
  given.factor.factors = factors;
  precond = test_precond_with(context, matrix, &given);
  assert_int_equal(BISAI_SYMMETRY_CALLER, symmetry_of(precond));
  EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
  bisai_precond_destroy(&precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

/* What one process holds says nothing about the whole, and no process may refuse what the others go
 * on with. */
static void with_a_reduction_hook_a_is_the_callers_word(void **state) {
  (void)state;
  bisai_bcsr *matrix = skewed(0.3);
  test_twins twins = {.processes = 2};
  bisai_solver_options options = cg();
  options.reduce = test_add_twins;
  options.reduce_user = &twins;
  double x[2 * N];
  bisai_solver_report report;
  assert_true(solve(&options, matrix, NULL, x, &report) != BISAI_NOT_SYMMETRIC);
  assert_true(isnan(report.cg.asymmetry) && report.iterations > 0);
  bisai_bcsr_destroy(&matrix);
}

static void each_update_is_measured_anew_and_a_solve_allocates_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  test_bcsr arrays = test_bcsr_definite(N, 2, 9);
  bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
  bisai_solver_options options = cg();
  bisai_solver *solver = NULL;
  double *b = test_vector_in_place(2 * N, 4), *x = test_vector_in_place(2 * N, 5), asymmetry = 7;
  EXPECT_OK(own, bisai_solver_create(own, 2 * N, &options, &solver));
  const long long before = allocator.calls;
  EXPECT_OK(own, bisai_solver_solve(solver, matrix, NULL, b, x, NULL));
  double *changed = test_bcsr_block(&arrays, 3, 3) + 2;
  *changed += 1;
  EXPECT_OK(own, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
  EXPECT_STATUS(own, BISAI_NOT_SYMMETRIC, bisai_solver_solve(solver, matrix, NULL, b, x, NULL));
  EXPECT_STATUS(own, BISAI_NOT_SYMMETRIC, bisai_solver_check(solver, matrix, NULL, &asymmetry));
  assert_true(asymmetry > 0.01 && asymmetry < 2);
  *changed -= 1;
  EXPECT_OK(own, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
  EXPECT_OK(own, bisai_solver_check(solver, matrix, NULL, &asymmetry));
  EXPECT_OK(own, bisai_solver_solve(solver, matrix, NULL, b, x, NULL));
  assert_true(asymmetry < 1e-15);
  assert_int_equal(before, allocator.calls);
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_solver_check(NULL, matrix, NULL, NULL));
  bisai_solver_destroy(&solver);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
  test_bcsr_free(&arrays);
  test_vector_free(b);
  test_vector_free(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cg_refuses_a_matrix_that_is_not_symmetric),
      cmocka_unit_test(other_methods_and_assume_symmetric_take_any_matrix),
      cmocka_unit_test(cg_refuses_preconditioners_that_are_not_symmetric),
      cmocka_unit_test(kinds_are_as_symmetric_as_they_say),
      cmocka_unit_test(narrow_inverses_of_blocks_are_taken),
      cmocka_unit_test(factors_of_a_pattern_without_mirror_images_are_refused),
      cmocka_unit_test(functions_and_given_factors_are_the_callers_word),
      cmocka_unit_test(with_a_reduction_hook_a_is_the_callers_word),
      cmocka_unit_test(each_update_is_measured_anew_and_a_solve_allocates_nothing),
  };
  return cmocka_run_group_tests_name("symmetry", tests, setup, teardown);
}
