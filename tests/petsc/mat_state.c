/* SPDX-License-Identifier: BSD-3-Clause */
/* What a Mat of type "bisai" tells of its changes, which every preconditioner of PETSc needs, and
 * preconditioners that are reused while the Mat changes. */
#include "fixture.h"

#include <petsc/private/petscimpl.h>

#include "petsc_application.h"
#include "petsc_fixture.h"
#include "petsc_options.h"

#define CALL(call) assert_int_equal(call, 0)

enum { N = 20, BS = 2 };

/* Blocks as far as `reach` from the diagonal. */
static Mat make(const char *type, PetscInt reach) {
  Mat mat;
  CALL(MatCreate(PETSC_COMM_SELF, &mat));
  CALL(MatSetSizes(mat, N * BS, N * BS, N * BS, N * BS));
  CALL(MatSetBlockSize(mat, BS));
  CALL(MatSetType(mat, type));
  CALL(MatSeqBAIJSetPreallocation(mat, BS, 7, NULL));
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt j = i - reach; j <= i + reach; j++) {
      const double diagonal = i == j ? 8 + 0.25 * i : -1;
      const PetscScalar block[] = {diagonal, 0.5, 0.25, diagonal - 0.5};
      if (j >= 0 && j < N) CALL(MatSetValuesBlocked(mat, 1, &i, 1, &j, block, INSERT_VALUES));
    }
  CALL(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  CALL(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  return mat;
}

static Vec make_vec(uint64_t seed) {
  double *random = test_random_vector(N * BS, seed);
  PetscScalar *values;
  Vec vec;
  CALL(VecCreateSeq(PETSC_COMM_SELF, N * BS, &vec));
  CALL(VecGetArrayWrite(vec, &values));
  memcpy(values, random, N * BS * sizeof *values);
  CALL(VecRestoreArrayWrite(vec, &values));
  free(random);
  return vec;
}

typedef enum change {
  ADD_SAME,
  ADD_SUBSET,
  ADD_DIFFERENT,
  SCALE_AND_ADD,
  SCALE,
  SHIFT,
  COPY_SAME,
  COPY_DIFFERENT,
  ZERO_AND_ADD,
  SCALE_DIAGONALLY,
  ZERO_ROWS,
  ZERO_ROWS_COLUMNS,
  SET_DIAGONAL,
  TRANSPOSE,
  SET_ONE,
  CHANGES
} change;

/* Changes a Mat with the help of another one of its type. */
static void make_change(Mat *mat, change how, Vec positive) {
  const bool wide = how == ADD_DIFFERENT || how == COPY_DIFFERENT;
  const PetscInt rows[] = {3, 9}, row = 3;
  const PetscScalar value = 17;
  MatType type;
  CALL(MatGetType(*mat, &type));
  Mat other = make(type, wide ? 3 : 1);
  CALL(MatScale(other, 2));
  switch (how) {
  case ADD_SAME: CALL(MatAXPY(*mat, 1.5, other, SAME_NONZERO_PATTERN)); break;
  case ADD_SUBSET: CALL(MatAXPY(*mat, 1.5, other, SUBSET_NONZERO_PATTERN)); break;
  case ADD_DIFFERENT: CALL(MatAXPY(*mat, 1.5, other, DIFFERENT_NONZERO_PATTERN)); break;
  case SCALE_AND_ADD: CALL(MatAYPX(*mat, 2, other, SAME_NONZERO_PATTERN)); break;
  case SCALE: CALL(MatScale(*mat, 3)); break;
  case SHIFT: CALL(MatShift(*mat, 2)); break;
  case COPY_SAME: CALL(MatCopy(other, *mat, SAME_NONZERO_PATTERN)); break;
  case COPY_DIFFERENT:
    CALL(MatSetOption(*mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    CALL(MatCopy(other, *mat, DIFFERENT_NONZERO_PATTERN));
    break;
  case ZERO_AND_ADD:
    CALL(MatZeroEntries(*mat));
    CALL(MatAXPY(*mat, 1.5, other, SAME_NONZERO_PATTERN));
    break;
  case SCALE_DIAGONALLY: CALL(MatDiagonalScale(*mat, positive, NULL)); break;
  case ZERO_ROWS: CALL(MatZeroRows(*mat, 2, rows, 5, NULL, NULL)); break;
  case ZERO_ROWS_COLUMNS: CALL(MatZeroRowsColumns(*mat, 2, rows, 5, NULL, NULL)); break;
  case SET_DIAGONAL: CALL(MatDiagonalSet(*mat, positive, ADD_VALUES)); break;
  case TRANSPOSE: CALL(MatTranspose(*mat, MAT_INPLACE_MATRIX, mat)); break;
  case SET_ONE:
    CALL(MatSetValues(*mat, 1, &row, 1, &row, &value, INSERT_VALUES));
    CALL(MatAssemblyBegin(*mat, MAT_FINAL_ASSEMBLY));
    CALL(MatAssemblyEnd(*mat, MAT_FINAL_ASSEMBLY));
    break;
  case CHANGES: break;
  }
  CALL(MatDestroy(&other));
}

/* Solves with an exact factorisation, so that one application must give the solution. */
static void expect_solution(KSP ksp, Mat mat, int how, const char *what) {
  Vec b = make_vec(1), x = make_vec(2), r = make_vec(3);
  KSPConvergedReason reason;
  PetscReal norm, residual;
  CALL(KSPSetOperators(ksp, mat, mat));
  CALL(KSPSolve(ksp, b, x));
  CALL(KSPGetConvergedReason(ksp, &reason));
  assert_true(reason > 0);
  CALL(MatResidual(mat, b, x, r));
  CALL(VecNorm(r, NORM_2, &residual));
  CALL(VecNorm(b, NORM_2, &norm));
  /* 40 rows, with condition numbers below 1000 */
  if (!(residual <= 1e-12 * norm))
    fail_msg("%s, change %d: |b - A x| is %g of |b|", what, how, residual / norm);
  CALL(VecDestroy(&b));
  CALL(VecDestroy(&x));
  CALL(VecDestroy(&r));
}

static KSP make_direct(const char *options) {
  KSP ksp;
  const PetscOptions lent = test_options_lend(options);
  CALL(KSPCreate(PETSC_COMM_SELF, &ksp));
  CALL(KSPSetType(ksp, KSPPREONLY));
  CALL(KSPSetFromOptions(ksp));
  test_options_take_back(lent);
  return ksp;
}

/* PETSc's own sub-solvers read the changes by the states of the Mat alone. */
static void no_change_leaves_an_old_preconditioner(void **state) {
  (void)state;
  static const char *const direct[] = {"-pc_type bisai -pc_bisai_type ilu -pc_bisai_level 40",
                                       "-pc_type asm -sub_pc_type lu",
                                       "-pc_type asm -sub_pc_type bisai -sub_pc_bisai_type ilu "
                                       "-sub_pc_bisai_level 40"};
  Vec positive = make_vec(4);
  CALL(VecAbs(positive));
  CALL(VecShift(positive, 1));
  for (size_t o = 0; o < sizeof direct / sizeof *direct; o++)
    for (int how = 0; how < CHANGES; how++) {
      Mat mat = make("bisai", 1);
      KSP ksp = make_direct(direct[o]);
      expect_solution(ksp, mat, how, "before");
      make_change(&mat, (change)how, positive);
      expect_solution(ksp, mat, how, direct[o]);
      CALL(KSPDestroy(&ksp));
      CALL(MatDestroy(&mat));
    }
  CALL(VecDestroy(&positive));
}

/* Scaled values have the old pattern. */
static void the_states_change_where_those_of_baij_do(void **state) {
  (void)state;
  Vec positive = make_vec(4);
  for (int how = 0; how < CHANGES; how++) {
    bool values[2], pattern[2];
    for (int type = 0; type < 2; type++) {
      Mat mat = make(type == 0 ? MATSEQBAIJ : "bisai", 1);
      PetscObjectState before[2], after[2];
      CALL(PetscObjectStateGet((PetscObject)mat, &before[0]));
      CALL(MatGetNonzeroState(mat, &before[1]));
      make_change(&mat, (change)how, positive);
      CALL(PetscObjectStateGet((PetscObject)mat, &after[0]));
      CALL(MatGetNonzeroState(mat, &after[1]));
      values[type] = before[0] != after[0];
      pattern[type] = before[1] != after[1];
      CALL(MatDestroy(&mat));
    }
    assert_true(values[1]);
    /* A transpose in place is a new Mat of PETSc with a pattern that may have the old number, and
     * in PETSc 3.26 so are sums and copies of matrices of other patterns. */
    const bool renewed =
        how == TRANSPOSE || (pattern[1] && (how == ADD_DIFFERENT || how == COPY_DIFFERENT));
    if (!renewed && pattern[0] != pattern[1])
      fail_msg("change %d: the nonzero state of baij %s", how, pattern[0] ? "changes" : "stays");
  }
  CALL(VecDestroy(&positive));
}

/* Kinds whose applications read the matrix, and one that does not. */
static const char *const reused[] = {
    "-pc_bisai_type mg -pc_bisai_mg_coarsest 4", "-pc_bisai_type bjacobi -pc_bisai_relax 3",
    "-pc_bisai_type cpr -pc_bisai_cpr_pressure 0 -pc_bisai_cpr_second bjacobi -pc_bisai_relax 2",
    "-pc_bisai_type ilu"};

static void expect_application(PC pc, Vec expected, double factor, const char *what) {
  Vec v = make_vec(7), z = make_vec(8);
  PetscReal difference, norm;
  CALL(PCApply(pc, v, z));
  CALL(VecNorm(expected, NORM_2, &norm));
  CALL(VecAXPY(z, -factor, expected));
  CALL(VecNorm(z, NORM_2, &difference));
  if (!(difference <= 1e-14 * norm)) fail_msg("%s: %g of %g", what, difference, norm);
  CALL(VecDestroy(&v));
  CALL(VecDestroy(&z));
}

/* A product is what gives the matrix of bisai its new values. */
static double norm_of_product(Mat mat) {
  Vec v = make_vec(5), y = make_vec(6);
  PetscReal norm;
  CALL(MatMult(mat, v, y));
  CALL(VecNorm(y, NORM_2, &norm));
  CALL(VecDestroy(&v));
  CALL(VecDestroy(&y));
  return norm;
}

/* Factors of two change no rounding: M of 4 A is exactly a quarter of that of A. */
static void a_reused_preconditioner_keeps_the_matrix_of_its_set_up(void **state) {
  (void)state;
  for (size_t o = 0; o < sizeof reused / sizeof *reused; o++) {
    Mat mat = make("bisai", 1);
    PC pc = test_petsc_pc(mat, reused[o]);
    Vec v = make_vec(7), first = make_vec(8);
    const double norm = norm_of_product(mat);
    CALL(PCSetUp(pc));
    CALL(PCApply(pc, v, first));
    CALL(PCSetReusePreconditioner(pc, PETSC_TRUE));
    for (int round = 1; round <= 2; round++) {
      CALL(MatScale(mat, 2));
      CALL(PCSetUp(pc));
      assert_true(norm_of_product(mat) == (1 << round) * norm);
      expect_application(pc, first, 1, reused[o]);
    }
    CALL(PCSetReusePreconditioner(pc, PETSC_FALSE));
    CALL(PCSetUp(pc));
    expect_application(pc, first, 0.25, reused[o]);
    assert_true(norm_of_product(mat) == 4 * norm);
    CALL(VecDestroy(&v));
    CALL(VecDestroy(&first));
    CALL(PCDestroy(&pc));
    CALL(MatDestroy(&mat));
  }
}

/* One of two preconditioners of a Mat is refreshed, then the Mat gets another pattern and ends. */
static void two_preconditioners_have_the_matrices_of_their_set_ups(void **state) {
  (void)state;
  for (size_t o = 0; o < sizeof reused / sizeof *reused; o++) {
    Mat mat = make("bisai", 1), wide = make("bisai", 3);
    PC kept = test_petsc_pc(mat, reused[o]), fresh = test_petsc_pc(mat, reused[o]);
    Vec v = make_vec(7), first = make_vec(8);
    CALL(PCSetUp(kept));
    CALL(PCSetUp(fresh));
    CALL(PCApply(kept, v, first));
    CALL(PCSetReusePreconditioner(kept, PETSC_TRUE));
    CALL(MatScale(mat, 2));
    CALL(PCSetUp(fresh));
    CALL(PCSetReusePreconditioner(fresh, PETSC_TRUE));
    expect_application(kept, first, 1, reused[o]);
    expect_application(fresh, first, 0.5, reused[o]);
    CALL(MatAXPY(mat, 1, wide, DIFFERENT_NONZERO_PATTERN));
    (void)norm_of_product(mat);
    CALL(MatDestroy(&mat));
    expect_application(kept, first, 1, reused[o]);
    expect_application(fresh, first, 0.5, reused[o]);
    CALL(VecDestroy(&v));
    CALL(VecDestroy(&first));
    CALL(PCDestroy(&kept));
    CALL(PCDestroy(&fresh));
    CALL(MatDestroy(&wide));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_change_leaves_an_old_preconditioner),
      cmocka_unit_test(the_states_change_where_those_of_baij_do),
      cmocka_unit_test(a_reused_preconditioner_keeps_the_matrix_of_its_set_up),
      cmocka_unit_test(two_preconditioners_have_the_matrices_of_their_set_ups),
  };
  return test_petsc_run("petsc_mat_state", tests, sizeof tests / sizeof *tests, setup, teardown);
}
