/* SPDX-License-Identifier: BSD-3-Clause */
/* What -ksp_type bisai refuses. */
#include "fixture.h"

#include "petsc_application.h"
#include "petsc_fixture.h"

#define OURS "-ksp_type bisai -pc_type bisai"

/* Fails unless a solve of `a`, with a preconditioner of p and these options, ends with this error
 * and a message that begins so. */
static void expect_error_of(Mat a, Mat p, const char *options, PetscErrorCode expected,
                            const char *begin) {
  char message[TEST_PETSC_MESSAGE] = "";
  KSP ksp;
  Vec b, x;
  MatCreateVecs(a, &x, &b);
  VecSet(b, 1);
  const PetscOptions lent = test_options_lend(options);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetOperators(ksp, a, p);
  PetscPushErrorHandler(test_petsc_keep_message, message);
  /* After an error, PETSc does not free the title of a list of options and vectors of monitors. */
  __lsan_disable();
  PetscErrorCode code = KSPSetFromOptions(ksp);
  test_options_take_back(lent);
  PetscBool transposed = strstr(options, "-transposed") ? PETSC_TRUE : PETSC_FALSE;
  if (!code) code = transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x);
  __lsan_enable();
  PetscPopErrorHandler();
  if (code != expected || strncmp(message, begin, strlen(begin)) != 0)
    fail_msg("%s: error %d: %s", options, (int)code, message);
  KSPDestroy(&ksp);
  VecDestroy(&b);
  VecDestroy(&x);
}

static void expect_error(Mat a, const char *options, PetscErrorCode expected, const char *begin) {
  expect_error_of(a, a, options, expected, begin);
}

static void what_it_cannot_do_is_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  Mat dense, shell;
  __lsan_disable(); /* those vectors keep PETSc's communicator, which the first object makes */
  Mat a = test_petsc_mat(matrix);
  __lsan_enable();
  assert_int_equal(MatConvert(a, MATSEQDENSE, MAT_INITIAL_MATRIX, &dense), 0);
  expect_error(a, "-ksp_type bisai -pc_type jacobi", PETSC_ERR_ARG_INCOMP,
               "bisai: -ksp_type bisai needs -pc_type bisai, and the PC has type jacobi");
  expect_error(a, OURS " -pc_bisai_type ilu -transposed", PETSC_ERR_SUP,
               "bisai: -ksp_type bisai solves no transposed systems");
  expect_error(a, OURS " -ksp_monitor_true_residual ascii:/dev/null", PETSC_ERR_SUP,
               "bisai: -ksp_type bisai has x at the end of a solve only");
  expect_error(a, OURS " -ksp_view_singularvalues", PETSC_ERR_SUP,
               "bisai: -ksp_type bisai estimates no singular values");
  expect_error(a, OURS " -ksp_bisai_method gmrs", PETSC_ERR_ARG_WRONG,
               "bisai: -ksp_bisai_method gmrs: character 1: ");
  expect_error(a, OURS " -ksp_bisai_method gmres:side=left", PETSC_ERR_ARG_WRONG,
               "bisai: -ksp_bisai_method gmres:side=left: side=left: ");
  expect_error(a, OURS " -ksp_gmres_restart 0", PETSC_ERR_ARG_OUTOFRANGE,
               "bisai: the restart is 0; it must be at least 1");
  expect_error(a, OURS " -pc_bisai_type ilu -ksp_bisai_method cg", PETSC_ERR_ARG_INCOMP, "bisai: ");
  expect_error(a, OURS " -pc_bisai_type mg -pc_bisai_mg_cycle k -ksp_bisai_method bicgstab",
               PETSC_ERR_LIB, "bisai: bicgstab needs a linear preconditioner");
  expect_error(dense, OURS, PETSC_ERR_SUP, "bisai: the Mat has type seqdense");
  assert_int_equal(MatCreateShell(PETSC_COMM_SELF, 84, 84, 84, 84, NULL, &shell), 0);
  expect_error_of(shell, a, OURS, PETSC_ERR_SUP,
                  "bisai: -ksp_type bisai multiplies by the entries of the matrix, and type shell");
  MatDestroy(&shell);
  MatDestroy(&dense);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

static void a_refused_method_leaves_the_one_before(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  Mat a = test_petsc_mat(matrix);
  char message[TEST_PETSC_MESSAGE] = "";
  KSP ksp;
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetType(ksp, "bisai");
  KSPSetOperators(ksp, a, a);
  PetscOptions lent = test_options_lend("-ksp_bisai_method gmres:restart=9 -pc_type bisai");
  assert_int_equal(KSPSetFromOptions(ksp), 0);
  test_options_take_back(lent);
  lent = test_options_lend("-ksp_bisai_method gmres:restart=7:side=left");
  PetscPushErrorHandler(test_petsc_keep_message, message);
  __lsan_disable();
  assert_int_equal(KSPSetFromOptions(ksp), PETSC_ERR_ARG_WRONG);
  __lsan_enable();
  PetscPopErrorHandler();
  test_options_take_back(lent);
  PetscInt restart = 0;
  KSPGMRESGetRestart(ksp, &restart);
  assert_int_equal(restart, 9);
  KSPDestroy(&ksp);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

/* Options that a call gives are judged there, and those of before stay. */
static void wrong_options_are_refused_by_the_call(void **state) {
  (void)state;
  static const char *const says[] = {
      "bisai: restart 0: ", "bisai: shadow_dimension -1: ", "bisai: "};
  bisai_solver_options wrong[3], right = bisai_solver_options_default();
  char message[TEST_PETSC_MESSAGE];
  KSP ksp;
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetType(ksp, "bisai");
  right.gmres.restart = 9;
  right.tolerance = -1; /* the KSP has another one */
  assert_int_equal(bisai_petsc_ksp_set_options(ksp, &right), 0);
  for (int i = 0; i < 3; i++) wrong[i] = bisai_solver_options_default();
  wrong[0].gmres.restart = 0;
  wrong[1].method = BISAI_IDR;
  wrong[1].idr.shadow_dimension = -1;
  wrong[2].method = (bisai_method)99;
  PetscPushErrorHandler(test_petsc_keep_message, message);
  for (int i = 0; i < 3; i++) {
    *message = '\0';
    assert_int_equal(bisai_petsc_ksp_set_options(ksp, &wrong[i]), PETSC_ERR_ARG_OUTOFRANGE);
    if (strncmp(message, says[i], strlen(says[i])) != 0) fail_msg("%d: %s", i, message);
  }
  PetscPopErrorHandler();
  PetscInt restart = 0;
  KSPGMRESGetRestart(ksp, &restart);
  assert_int_equal(restart, 9);
  KSPDestroy(&ksp);
}

/* Estimates that are asked for after the set-up are refused at the solve, and a solve without them
 * works. */
static void estimates_are_refused_after_the_set_up(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  Mat a = test_petsc_mat(matrix);
  Vec b, x;
  MatCreateVecs(a, &x, &b);
  VecSet(b, 1);
  for (int estimate = 0; estimate < 2; estimate++) {
    char message[TEST_PETSC_MESSAGE] = "";
    KSP ksp;
    KSPCreate(PETSC_COMM_SELF, &ksp);
    KSPSetOperators(ksp, a, a);
    const PetscOptions lent = test_options_lend(OURS);
    KSPSetFromOptions(ksp);
    test_options_take_back(lent);
    assert_int_equal(KSPSetUp(ksp), 0);
    KSPSetComputeSingularValues(ksp, estimate == 0 ? PETSC_TRUE : PETSC_FALSE);
    KSPSetComputeRitz(ksp, estimate == 1 ? PETSC_TRUE : PETSC_FALSE);
    PetscPushErrorHandler(test_petsc_keep_message, message);
    assert_int_equal(KSPSolve(ksp, b, x), PETSC_ERR_SUP);
    PetscPopErrorHandler();
    assert_non_null(strstr(message, "estimates no singular values"));
    KSPSetComputeSingularValues(ksp, PETSC_FALSE);
    KSPSetComputeRitz(ksp, PETSC_FALSE);
    assert_int_equal(KSPSolve(ksp, b, x), 0);
    KSPDestroy(&ksp);
  }
  VecDestroy(&b);
  VecDestroy(&x);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_it_cannot_do_is_refused_by_name),
      cmocka_unit_test(a_refused_method_leaves_the_one_before),
      cmocka_unit_test(wrong_options_are_refused_by_the_call),
      cmocka_unit_test(estimates_are_refused_after_the_set_up),
  };
  return test_petsc_run("petsc_ksp_errors", tests, sizeof tests / sizeof *tests, setup, teardown);
}
