/* SPDX-License-Identifier: BSD-3-Clause */
/* How preconditioners and conversions read Mats: symmetric storage, scalar rows of different
 * patterns, new values by the kept places of the entries, Mats that are replaced. */
#include "fixture.h"

#include <math.h>
#include <petsc/private/petscimpl.h>

#include "petsc_application.h"
#include "petsc_fixture.h"
#include "petsc_options.h"

#define CALL(call) assert_int_equal(call, 0)

/* The product by bisai equals MatMult() up to the order of the sums. */
static void expect_same_product(Mat mat) {
  bisai_bcsr *matrix = NULL;
  PetscInt n;
  Vec x, y;
  EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &matrix));
  CALL(MatGetSize(mat, &n, NULL));
  double *from = test_random_vector(n, 1), *expected = test_random_vector(n, 2),
         *got = test_random_vector(n, 3);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, from, &x);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, expected, &y);
  CALL(MatMult(mat, x, y));
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, from, got));
  EXPECT_CLOSE(n, expected, got, 1e-12);
  VecDestroy(&x);
  VecDestroy(&y);
  free(from);
  free(expected);
  free(got);
  bisai_bcsr_destroy(&matrix);
}

/* The PC applies what the library makes of the Mat's current values. */
static void expect_current_values(PC pc, Mat mat) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_bcsr *matrix = NULL;
  bisai_precond *expected = NULL;
  options.kind = BISAI_PRECOND_ILU;
  EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &matrix));
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &expected));
  CALL(PCSetUp(pc));
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&matrix);
}

static Mat make_definite(int32_t bs, const char *type) {
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(20, bs, 3));
  Mat mat = NULL, result = NULL;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  CALL(MatSetOption(mat, MAT_SYMMETRIC, PETSC_TRUE));
  CALL(MatConvert(mat, type, MAT_INITIAL_MATRIX, &result));
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
  return result;
}

static void the_lower_triangle_of_symmetric_storage_is_restored(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    Mat mat = make_definite(bs, MATSEQSBAIJ), whole = NULL;
    PetscBool equal = PETSC_FALSE;
    expect_same_product(mat);
    CALL(MatConvert(mat, "bisai", MAT_INITIAL_MATRIX, &whole));
    CALL(MatMultEqual(mat, whole, 3, &equal));
    assert_true(equal);
    MatDestroy(&whole);
    MatDestroy(&mat);
  }
}

static void new_values_are_read_from_every_type(void **state) {
  (void)state;
  static const char *const types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ, "bisai"};
  for (int t = 0; t < 4; t++) {
    Mat mat = make_definite(3, types[t]);
    PC pc = test_petsc_pc(mat, "-pc_bisai_type ilu");
    for (int round = 0; round < 3; round++) {
      expect_current_values(pc, mat);
      CALL(MatShift(mat, 1 + round));
      CALL(MatScale(mat, 0.7));
      CALL(PCSetOperators(pc, mat, mat));
    }
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
}

/* Otherwise PETSc refreshes the preconditioner of a solver inside another one before each of its
 * applications. */
static void reading_is_no_change_of_the_mat(void **state) {
  (void)state;
  static const char *const types[] = {MATSEQAIJ, MATSEQBAIJ, MATSEQSBAIJ, "bisai"};
  for (int t = 0; t < 4; t++) {
    Mat mat = make_definite(3, types[t]);
    PC pc = test_petsc_pc(mat, "-pc_bisai_type ilu");
    for (int round = 0; round < 2; round++) {
      PetscObjectState before = 0, after = 0;
      CALL(MatScale(mat, 2)); /* read in another way the second time */
      CALL(PetscObjectStateGet((PetscObject)mat, &before));
      CALL(PCSetUp(pc));
      CALL(PetscObjectStateGet((PetscObject)mat, &after));
      if (before != after) fail_msg("%s", types[t]);
    }
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
}

/* Two unknowns a node; the rows of a node have different columns, and `far` adds one. */
static Mat make_ragged(bool far) {
  enum { N = 12 };
  Mat mat = NULL;
  CALL(MatCreateSeqAIJ(PETSC_COMM_SELF, N, N, 5, NULL, &mat));
  CALL(MatSetBlockSize(mat, 2));
  for (PetscInt i = 0; i < N; i++) {
    const PetscInt next = (i + (i % 2 ? 3 : 1)) % N;
    CALL(MatSetValue(mat, i, i, 5 + i, INSERT_VALUES));
    CALL(MatSetValue(mat, i, next, -1 - 0.1 * i, INSERT_VALUES));
  }
  if (far) CALL(MatSetValue(mat, 0, N - 1, 0.5, INSERT_VALUES));
  CALL(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  CALL(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  return mat;
}

static void scalar_rows_of_different_patterns_are_united(void **state) {
  (void)state;
  Mat mat = make_ragged(false);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type ilu");
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &matrix));
  assert_int_equal(bisai_bcsr_block_size(matrix), 2);
  bisai_bcsr_destroy(&matrix);
  expect_same_product(mat);
  expect_current_values(pc, mat);
  CALL(MatScale(mat, 3)); /* the same pattern */
  CALL(PCSetOperators(pc, mat, mat));
  expect_current_values(pc, mat);
  CALL(MatSetOption(mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  CALL(MatSetValue(mat, 3, 0, 0.25, INSERT_VALUES)); /* another one */
  CALL(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  CALL(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  CALL(PCSetOperators(pc, mat, mat));
  expect_current_values(pc, mat);
  PCDestroy(&pc);
  MatDestroy(&mat);
}

/* Has the id of the old Mat, and its pattern may have the same state. */
static void a_mat_that_is_replaced_is_read_again(void **state) {
  (void)state;
  Mat mat = make_ragged(false), other = make_ragged(true);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type ilu");
  expect_current_values(pc, mat);
  CALL(MatScale(other, 2));
  CALL(MatConvert(other, MATSEQAIJ, MAT_INPLACE_MATRIX, &other));
  Mat blocks = NULL;
  CALL(MatConvert(other, MATSEQBAIJ, MAT_INITIAL_MATRIX, &blocks));
  CALL(MatConvert(mat, MATSEQBAIJ, MAT_INPLACE_MATRIX, &mat));
  CALL(PCSetOperators(pc, mat, mat));
  expect_current_values(pc, mat);
  CALL(MatCopy(blocks, mat, DIFFERENT_NONZERO_PATTERN));
  CALL(PCSetOperators(pc, mat, mat));
  expect_current_values(pc, mat);
  MatDestroy(&blocks);
  PCDestroy(&pc);
  MatDestroy(&other);
  MatDestroy(&mat);
}

static void a_gpu_that_is_missing_is_an_error(void **state) {
  (void)state;
  if (!bisai_backend_missing(BISAI_BACKEND_CUDA, -1)) skip();
  Mat mat = make_definite(2, MATSEQBAIJ);
  PC pc = test_petsc_pc(mat, "-pc_bisai_backend cuda");
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  assert_int_equal(PCSetUp(pc), PETSC_ERR_SUP);
  PetscPopErrorHandler();
  PCDestroy(&pc);
  pc = test_petsc_pc(mat, "-pc_bisai_type ilu -pc_bisai_backend host");
  expect_current_values(pc, mat);
  PCDestroy(&pc);
  MatDestroy(&mat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_lower_triangle_of_symmetric_storage_is_restored),
      cmocka_unit_test(new_values_are_read_from_every_type),
      cmocka_unit_test(reading_is_no_change_of_the_mat),
      cmocka_unit_test(scalar_rows_of_different_patterns_are_united),
      cmocka_unit_test(a_mat_that_is_replaced_is_read_again),
      cmocka_unit_test(a_gpu_that_is_missing_is_an_error),
  };
  return test_petsc_run("petsc_mat_read", tests, sizeof tests / sizeof *tests, setup, teardown);
}
