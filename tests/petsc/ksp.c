/* SPDX-License-Identifier: BSD-3-Clause */
/* -ksp_type bisai beside PETSc's own solvers with the same preconditioner: iterations, solutions,
 * reasons, histories. PETSc's FGMRES computes what bisai's GMRES does up to rounding. */
#include "fixture.h"

#include <math.h>

#include "petsc_application.h"
#include "petsc_fixture.h"

enum { MOST = 500 };

/* How a solve went. */
typedef struct outcome {
  KSPConvergedReason reason;
  PetscInt iterations, told;
  PetscReal norm, history[MOST];
} outcome;

static KSP make_ksp(Mat a, Mat p, const char *options) {
  KSP ksp;
  const PetscOptions lent = test_options_lend(options);
  assert_int_equal(KSPCreate(PETSC_COMM_SELF, &ksp), 0);
  assert_int_equal(KSPSetOperators(ksp, a, p), 0);
  assert_int_equal(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 200), 0);
  assert_int_equal(KSPSetFromOptions(ksp), 0);
  test_options_take_back(lent);
  return ksp;
}

static Vec make_vector(Mat a, uint64_t seed) {
  PetscInt n;
  PetscScalar *to;
  Vec v;
  MatCreateVecs(a, &v, NULL);
  VecGetLocalSize(v, &n);
  double *values = test_random_vector(n, seed);
  VecGetArray(v, &to);
  memcpy(to, values, (size_t)n * sizeof *values);
  VecRestoreArray(v, &to);
  free(values);
  return v;
}

static outcome solve(KSP ksp, Vec b, Vec x) {
  outcome o = {.told = 0};
  PetscReal history[MOST];
  assert_int_equal(KSPSetResidualHistory(ksp, history, MOST, PETSC_TRUE), 0);
  assert_int_equal(KSPSolve(ksp, b, x), 0);
  KSPGetConvergedReason(ksp, &o.reason);
  KSPGetIterationNumber(ksp, &o.iterations);
  KSPGetResidualNorm(ksp, &o.norm);
  KSPGetResidualHistory(ksp, NULL, &o.told);
  memcpy(o.history, history, (size_t)o.told * sizeof *history);
  KSPSetResidualHistory(ksp, NULL, 0, PETSC_FALSE);
  return o;
}

/* ‖b − A x‖ */
static double residual_of(Mat a, Vec b, Vec x) {
  PetscReal norm;
  Vec r;
  VecDuplicate(b, &r);
  MatMult(a, x, r);
  VecAXPY(r, -1, b);
  VecNorm(r, NORM_2, &norm);
  VecDestroy(&r);
  return norm;
}

static double distance(Vec x, Vec y) {
  PetscReal norm, all;
  Vec d;
  VecDuplicate(x, &d);
  VecCopy(x, d);
  VecAXPY(d, -1, y);
  VecNorm(d, NORM_2, &norm);
  VecNorm(y, NORM_2, &all);
  VecDestroy(&d);
  return all > 0 ? norm / all : norm;
}

/* Both solvers take the options behind them, from the same guess. */
static void expect_same(Mat a, Mat p, const char *ours, const char *petsc, const char *both,
                        bool guess) {
  char options[256];
  snprintf(options, sizeof options, "%s %s", ours, both);
  KSP tested = make_ksp(a, p, options);
  snprintf(options, sizeof options, "%s %s", petsc, both);
  KSP reference = make_ksp(a, p, options);
  Vec b = make_vector(a, 3), x = make_vector(a, 4), y;
  VecDuplicate(x, &y);
  VecCopy(x, y);
  KSPSetInitialGuessNonzero(tested, guess ? PETSC_TRUE : PETSC_FALSE);
  KSPSetInitialGuessNonzero(reference, guess ? PETSC_TRUE : PETSC_FALSE);
  const outcome got = solve(tested, b, x), expected = solve(reference, b, y);
  MatNullSpace space;
  MatGetTransposeNullSpace(a, &space);
  if (space) MatNullSpaceRemove(space, b);
  if (got.reason != expected.reason || got.iterations != expected.iterations ||
      got.told != got.iterations + 1)
    fail_msg("%s: %s after %d (%d told), PETSc: %s after %d (%d told)", options,
             KSPConvergedReasons[got.reason], (int)got.iterations, (int)got.told,
             KSPConvergedReasons[expected.reason], (int)expected.iterations, (int)expected.told);
  /* PETSc tells the first residual of a later cycle twice. Rounding errors grow with the
   * reduction. */
  for (PetscInt i = 0; i < got.told && expected.told == got.told; i++)
    if (!(fabs(got.history[i] - expected.history[i]) <=
          1e-4 * expected.history[i] + 1e-12 * expected.history[0]))
      fail_msg("%s: residual %d is %.17g, PETSc: %.17g", options, (int)i, got.history[i],
               expected.history[i]);
  /* both residuals are below 1e-9 of ‖b‖, and the condition is below 1e3 */
  if (got.reason > 0 && !(distance(x, y) <= 1e-5)) fail_msg("%s: %g", options, distance(x, y));
  /* the norm is that of x */
  if (got.reason > 0 && !(fabs(got.norm - residual_of(a, b, x)) <= 1e-12 * expected.history[0]))
    fail_msg("%s: norm %g, residual %g", options, got.norm, residual_of(a, b, x));
  KSPDestroy(&tested);
  KSPDestroy(&reference);
  VecDestroy(&b);
  VecDestroy(&x);
  VecDestroy(&y);
}

#define OURS "-ksp_type bisai -pc_type bisai"
#define FGMRES "-ksp_type fgmres -pc_type bisai"

static void types_of_matrices_take_the_iterations_of_fgmres(void **state) {
  (void)state;
  static const MatType types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ, "bisai"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(60, 3, 5));
  Mat blocks = test_petsc_mat(matrix);
  MatSetOption(blocks, MAT_SYMMETRIC, PETSC_TRUE);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (int guess = 0; guess < 2; guess++) {
      Mat a;
      assert_int_equal(MatConvert(blocks, types[i], MAT_INITIAL_MATRIX, &a), 0);
      expect_same(a, a, OURS, FGMRES, "-pc_bisai_type isai -ksp_gmres_restart 7", guess);
      expect_same(a, a, OURS, FGMRES, "-pc_bisai_type mg -pc_bisai_mg_coarsest 20", guess);
      MatDestroy(&a);
    }
  MatDestroy(&blocks);
  bisai_bcsr_destroy(&matrix);
}

static void methods_take_the_iterations_of_petsc(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(60, 3, 5));
  Mat a = test_petsc_mat(matrix);
  static const char cg[] = "-ksp_type cg -ksp_norm_type unpreconditioned -pc_type bisai";
  expect_same(a, a, OURS " -ksp_bisai_method cg", cg, "-pc_bisai_type ilu", false);
  expect_same(a, a, OURS " -ksp_bisai_method bicgstab",
              "-ksp_type bcgs -ksp_pc_side right "
              "-pc_type bisai",
              "-pc_bisai_type bjacobi -ksp_rtol 1e-6", false);
  expect_same(a, a, OURS " -ksp_bisai_method gmres:restart=9:flexible",
              FGMRES " -ksp_gmres_restart 9", "-pc_bisai_type mg -pc_bisai_mg_cycle k", false);
  /* auto takes CG for a matrix that is known to be definite */
  MatSetOption(a, MAT_SPD, PETSC_TRUE);
  expect_same(a, a, OURS, cg, "-pc_bisai_type ilu", true);
  expect_same(a, a, OURS, cg, "-pc_bisai_type mg -pc_bisai_mg_coarsest 20", false);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

static void a_solve_ends_where_that_of_petsc_ends(void **state) {
  (void)state;
  static const char *const ends[] = {
    "-ksp_rtol 1e-3",
    "-ksp_rtol 1e-30 -ksp_atol 1e-2",
    "-ksp_rtol 1e-30 -ksp_atol 1e9",
    "-ksp_max_it 4",
    "-ksp_max_it 0",
    "-ksp_max_it 4 -ksp_converged_maxits",
    "-ksp_divtol 0.5",
    "-ksp_converged_use_initial_residual_norm -ksp_rtol 1e-5",
    "-ksp_converged_use_min_initial_residual_norm -ksp_rtol 1e-5",
#if PETSC_VERSION_GE(3, 20, 0)
    "-ksp_min_it 12 -ksp_rtol 1e-2",
#endif
    "-ksp_pc_side right"
  };
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 11, 2, 5));
  Mat a = test_petsc_mat(matrix);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    for (int guess = 0; guess < 2; guess++) {
      char options[200];
      snprintf(options, sizeof options, "-pc_bisai_type bjacobi %s", ends[i]);
      expect_same(a, a, OURS, FGMRES, options, guess);
    }
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

/* A test and a monitor of the program. */
typedef struct seen {
  PetscInt tests, monitored, until;
  PetscReal last;
} seen;

static PetscErrorCode test_iterations(KSP ksp, PetscInt iteration, PetscReal norm,
                                      KSPConvergedReason *reason, void *data) {
  seen *s = data;
  (void)ksp;
  s->tests++;
  s->last = norm;
  *reason = iteration >= s->until ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  return (PetscErrorCode)0;
}

static PetscErrorCode count(KSP ksp, PetscInt iteration, PetscReal norm, void *data) {
  (void)ksp, (void)iteration, (void)norm;
  ((seen *)data)->monitored++;
  return (PetscErrorCode)0;
}

static PetscErrorCode fail_in_the_third(KSP ksp, PetscInt iteration, PetscReal norm, void *data) {
  (void)ksp, (void)norm, (void)data;
  return (PetscErrorCode)(iteration == 3 ? PETSC_ERR_USER : 0);
}

static void tests_and_monitors_of_the_program_are_called(void **state) {
  (void)state;
  static const char *const methods[] = {"gmres", "bicgstab", "idr:s=2"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 11, 2, 5));
  Mat a = test_petsc_mat(matrix);
  Vec b = make_vector(a, 3), x = make_vector(a, 4);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    char options[200];
    seen s = {.until = 5};
    snprintf(options, sizeof options, OURS " -pc_bisai_type bjacobi -ksp_bisai_method %s",
             methods[i]);
    KSP ksp = make_ksp(a, a, options);
    KSPSetConvergenceTest(ksp, test_iterations, &s, NULL);
    KSPMonitorSet(ksp, count, &s, NULL);
    const outcome o = solve(ksp, b, x);
    assert_int_equal(o.reason, KSP_CONVERGED_ITS);
    assert_int_equal(o.iterations, 5);
    assert_int_equal(s.tests, 6);
    assert_int_equal(s.monitored, 6);
    assert_true(o.norm < o.history[0]);
    KSPMonitorSet(ksp, fail_in_the_third, NULL, NULL);
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    assert_int_equal(KSPSolve(ksp, b, x), PETSC_ERR_USER);
    PetscPopErrorHandler();
    KSPMonitorCancel(ksp);
    assert_int_equal(solve(ksp, b, x).reason, KSP_CONVERGED_ITS);
    KSPDestroy(&ksp);
  }
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

static void faults_have_the_reasons_of_petsc(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 2, 5));
  Mat a = test_petsc_mat(matrix);
  Vec b = make_vector(a, 3), x = make_vector(a, 4);
  KSP ksp = make_ksp(a, a, OURS " -pc_bisai_type bjacobi");
  VecSet(b, 0);
  KSPSetInitialGuessNonzero(ksp, PETSC_TRUE);
  outcome o = solve(ksp, b, x);
  assert_int_equal(o.reason, KSP_CONVERGED_ATOL);
  assert_true(o.norm == 0 && residual_of(a, b, x) == 0);
  VecSet(b, 1);
  VecSetValue(x, 3, NAN, INSERT_VALUES);
  o = solve(ksp, b, x);
  assert_int_equal(o.reason, KSP_DIVERGED_NANORINF);
  assert_true(!isfinite(o.norm));
  VecSet(x, 0);
  VecSetValue(b, 5, INFINITY, INSERT_VALUES);
  assert_int_equal(solve(ksp, b, x).reason, KSP_DIVERGED_NANORINF);
  KSPDestroy(&ksp);
  /* a zero block: the set-up fails, and the next values are solved */
  VecSet(b, 1);
  Mat singular;
  MatDuplicate(a, MAT_COPY_VALUES, &singular);
  MatSetOption(singular, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE);
  PetscInt rows[] = {4, 5};
  MatZeroRows(singular, 2, rows, 0, NULL, NULL);
  ksp = make_ksp(singular, singular, OURS " -pc_bisai_type bjacobi");
  o = solve(ksp, b, x);
  assert_int_equal(o.reason, KSP_DIVERGED_PC_FAILED);
  assert_int_equal(o.iterations, 0);
  KSPSetOperators(ksp, a, a);
  assert_int_equal(solve(ksp, b, x).reason, KSP_CONVERGED_RTOL);
  KSPDestroy(&ksp);
  /* the system is singular, and the preconditioner is not */
  ksp = make_ksp(singular, a, OURS " -pc_bisai_type bjacobi -ksp_max_it 1000");
  assert_int_equal(solve(ksp, b, x).reason, KSP_DIVERGED_BREAKDOWN);
  KSPSetErrorIfNotConverged(ksp, PETSC_TRUE);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  assert_int_equal(KSPSolve(ksp, b, x), PETSC_ERR_NOT_CONVERGED);
  PetscPopErrorHandler();
  KSPDestroy(&ksp);
  MatDestroy(&singular);
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

static void cg_says_which_matrix_is_indefinite(void **state) {
  (void)state;
  Mat a;
  const PetscInt n = 40;
  assert_int_equal(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, &a), 0);
  for (PetscInt i = 0; i < n; i++) {
    MatSetValue(a, i, i, i < n / 2 ? 1 + 0.1 * i : -1 - 0.1 * i, INSERT_VALUES);
    if (i > 0) MatSetValue(a, i, i - 1, 0.2, INSERT_VALUES);
    if (i < n - 1) MatSetValue(a, i, i + 1, 0.2, INSERT_VALUES);
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  Vec b = make_vector(a, 3), x = make_vector(a, 4);
  KSP ksp = make_ksp(a, a, OURS " -pc_bisai_type none -ksp_bisai_method cg");
  assert_int_equal(solve(ksp, b, x).reason, KSP_DIVERGED_INDEFINITE_MAT);
  KSPDestroy(&ksp);
  ksp = make_ksp(a, a, OURS " -pc_bisai_type bjacobi -ksp_bisai_method cg:force");
  assert_int_equal(solve(ksp, b, x).reason, KSP_DIVERGED_INDEFINITE_PC);
  KSPDestroy(&ksp);
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&a);
}

/* The matrix of the system follows its Mat while the preconditioner is that of old values, of
 * another Mat, or of other options. */
static void later_solves_take_new_values(void **state) {
  (void)state;
  static const MatType types[] = {MATSEQAIJ, MATSEQBAIJ, "bisai"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 2, 5));
  Mat blocks = test_petsc_mat(matrix);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    Mat a, p;
    assert_int_equal(MatConvert(blocks, types[i], MAT_INITIAL_MATRIX, &a), 0);
    assert_int_equal(MatDuplicate(a, MAT_COPY_VALUES, &p), 0);
    Vec b = make_vector(a, 3), x = make_vector(a, 4);
    KSP ksp = make_ksp(a, p, OURS " -pc_bisai_type mg -pc_bisai_mg_coarsest 20");
    for (int round = 0; round < 12; round++) {
      PC pc;
      bisai_precond_options options;
      KSPGetPC(ksp, &pc);
      MatScale(a, 1.01);
      if (round == 2) KSPSetOperators(ksp, a, a);
      if (round == 3) KSPSetReusePreconditioner(ksp, PETSC_TRUE);
      if (round == 5) KSPSetReusePreconditioner(ksp, PETSC_FALSE);
      if (round == 7) {
        bisai_petsc_pc_get_options(pc, &options);
        bisai_petsc_pc_set_options(pc, &options);
      }
      if (round == 9) assert_int_equal(KSPReset(ksp), 0);
      if (round == 9) KSPSetOperators(ksp, p, p);
      if (round == 10) KSPSetOperators(ksp, a, p);
      KSPSetTolerances(ksp, round % 2 ? 1e-4 : 1e-9, PETSC_DEFAULT, PETSC_DEFAULT,
                       100 + 10 * round);
      const outcome o = solve(ksp, b, x);
      PetscReal norm;
      VecNorm(b, NORM_2, &norm);
      Mat now;
      KSPGetOperators(ksp, &now, NULL);
      if (o.reason != KSP_CONVERGED_RTOL ||
          !(residual_of(now, b, x) <= (round % 2 ? 2e-4 : 2e-9) * norm))
        fail_msg("%s, round %d: %s, %g", types[i], round, KSPConvergedReasons[o.reason],
                 residual_of(now, b, x));
    }
    KSPDestroy(&ksp);
    VecDestroy(&b);
    VecDestroy(&x);
    MatDestroy(&a);
    MatDestroy(&p);
  }
  MatDestroy(&blocks);
  bisai_bcsr_destroy(&matrix);
}

/* Neumann conditions: PETSc takes the constant out of b, as for its own solvers. */
static void null_spaces_of_the_matrix_are_taken_out_of_b(void **state) {
  (void)state;
  const PetscInt m = 12, n = m * m;
  Mat a;
  MatNullSpace constants;
  assert_int_equal(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 5, NULL, &a), 0);
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt neighbours[] = {i % m > 0 ? i - 1 : -1, i % m < m - 1 ? i + 1 : -1,
                                   i >= m ? i - m : -1, i < n - m ? i + m : -1};
    for (int k = 0; k < 4; k++) {
      if (neighbours[k] < 0) continue;
      MatSetValue(a, i, neighbours[k], -1, ADD_VALUES);
      MatSetValue(a, i, i, 1, ADD_VALUES);
    }
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE);
  MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &constants);
  MatSetNullSpace(a, constants);
  MatSetTransposeNullSpace(a, constants);
  expect_same(a, a, OURS, FGMRES, "-pc_bisai_type none", false);
  expect_same(a, a, OURS, FGMRES, "-pc_bisai_type mg -pc_bisai_mg_coarsest 20", false);
  MatNullSpaceDestroy(&constants);
  MatDestroy(&a);
}

static void calls_set_the_method(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 11, 2, 5));
  Mat a = test_petsc_mat(matrix);
  Vec b = make_vector(a, 3), x = make_vector(a, 4);
  KSP ksp = make_ksp(a, a, OURS " -pc_bisai_type bjacobi"),
      short_cycles = make_ksp(a, a, OURS " -pc_bisai_type bjacobi -ksp_gmres_restart 3");
  bisai_solver_options options = bisai_solver_options_default();
  const PetscInt expected = solve(short_cycles, b, x).iterations;
  assert_true(solve(ksp, b, x).iterations < expected);
  assert_int_equal(KSPGMRESSetRestart(ksp, 3), 0);
  assert_int_equal(solve(ksp, b, x).iterations, expected);
  options.method = BISAI_IDR;
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, &options), 0);
  assert_int_not_equal(solve(ksp, b, x).iterations, expected);
  options.method = BISAI_GMRES;
  options.gmres.restart = 3;
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, &options), 0);
  assert_int_equal(solve(ksp, b, x).iterations, expected);
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, NULL), 0);
  assert_true(solve(ksp, b, x).iterations < expected);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  options.gmres.side = BISAI_LEFT;
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, &options), PETSC_ERR_ARG_WRONG);
  assert_int_equal(KSPSetType(ksp, KSPGMRES), 0);
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, NULL), PETSC_ERR_ARG_WRONG);
  PetscPopErrorHandler();
  KSPDestroy(&ksp);
  KSPDestroy(&short_cycles);
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_of_matrices_take_the_iterations_of_fgmres),
      cmocka_unit_test(methods_take_the_iterations_of_petsc),
      cmocka_unit_test(a_solve_ends_where_that_of_petsc_ends),
      cmocka_unit_test(tests_and_monitors_of_the_program_are_called),
      cmocka_unit_test(faults_have_the_reasons_of_petsc),
      cmocka_unit_test(cg_says_which_matrix_is_indefinite),
      cmocka_unit_test(later_solves_take_new_values),
      cmocka_unit_test(null_spaces_of_the_matrix_are_taken_out_of_b),
      cmocka_unit_test(calls_set_the_method),
  };
  return test_petsc_run("petsc_ksp", tests, sizeof tests / sizeof *tests, setup, teardown);
}
