/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of the preconditioner type "bisai" other than one vector at a time: transposed, to
 * several vectors, in Richardson's iteration, reused; its interface in C; the solvers that it
 * refuses. */
#include "fixture.h"

#include <math.h>

#include "petsc_application.h"
#include "petsc_fixture.h"

static Vec random_vec(PetscInt n, uint64_t seed) {
  double *values = test_random_vector(n, seed);
  PetscScalar *to;
  Vec vec;
  VecCreateSeq(PETSC_COMM_SELF, n, &vec);
  VecGetArrayWrite(vec, &to);
  memcpy(to, values, (size_t)n * sizeof *to);
  VecRestoreArrayWrite(vec, &to);
  free(values);
  return vec;
}

/* (M⁻¹ u)·v = u·(M⁻ᵀ v) for every u and v. Both sides round differently. */
static void expect_transposed(PC pc, PetscInt n, const char *options) {
  Vec u = random_vec(n, 5), v = random_vec(n, 6), mu = random_vec(n, 7), mv = random_vec(n, 8);
  PetscScalar left, right;
  PetscReal size, other;
  assert_int_equal(PCApply(pc, u, mu), 0);
  assert_int_equal(PCApplyTranspose(pc, v, mv), 0);
  VecDot(mu, v, &left);
  VecDot(u, mv, &right);
  VecNorm(mu, NORM_2, &size);
  VecNorm(v, NORM_2, &other);
  if (!(fabs(left - right) <= 1e-12 * size * other))
    fail_msg("%s: %.17g and %.17g", options, left, right);
  VecDestroy(&u);
  VecDestroy(&v);
  VecDestroy(&mu);
  VecDestroy(&mv);
}

static void transposed_applications_are_transposes(void **state) {
  (void)state;
  static const char *const kinds[] = {
      "-pc_bisai_type none",
      "-pc_bisai_type ilu",
      "-pc_bisai_type ilu -pc_bisai_level 1 -pc_bisai_ordering rcm",
      "-pc_bisai_type sweeps -pc_bisai_sweeps 3",
      "-pc_bisai_type isai",
      "-pc_bisai_type isai -pc_bisai_k 2 -pc_bisai_relax 2",
      "-pc_bisai_type isai -pc_bisai_relax 1 -pc_bisai_ordering colour",
      "-pc_bisai_type ilu -pc_bisai_equilibrate",
      "-pc_bisai_type isai -pc_bisai_storage fp32",
      "-pc_bisai_type lu",
      "-pc_bisai_type mg -pc_bisai_mg_coarsest 8",
      "-pc_bisai_type bjacobi",
      "-pc_bisai_type bjacobi -pc_bisai_max_block 16 -pc_bisai_storage fp32",
      "-pc_bisai_type bjacobi -pc_bisai_max_block 9 -pc_bisai_form lu",
      "-pc_bisai_type bjacobi -pc_bisai_relax 2",
      "-pc_bisai_type bjacobi -pc_bisai_max_block 9 -pc_bisai_relax 1 -pc_bisai_damping 0.7"};
  for (int32_t bs = 1; bs <= 4; bs += 3) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, bs, 5));
    const PetscInt n = (PetscInt)bisai_bcsr_rows(matrix);
    Mat mat = test_petsc_mat(matrix);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      PC pc = test_petsc_pc(mat, kinds[i]);
      assert_int_equal(PCSetUp(pc), 0);
      expect_transposed(pc, n, kinds[i]);
      PCDestroy(&pc);
    }
    MatDestroy(&mat);
    bisai_bcsr_destroy(&matrix);
  }
}

static void symmetric_preconditioners_are_their_transposes(void **state) {
  (void)state;
  static const char *const kinds[] = {"-pc_bisai_type isai -pc_bisai_symmetric -pc_bisai_relax 1",
                                      "-pc_bisai_type mg -pc_bisai_mg_coarsest 8"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(40, 2, 5));
  Mat mat = test_petsc_mat(matrix);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    PC pc = test_petsc_pc(mat, kinds[i]);
    assert_int_equal(PCSetUp(pc), 0);
    expect_transposed(pc, 80, kinds[i]);
    PCDestroy(&pc);
  }
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

/* The transpose of new values, and of the old ones while the preconditioner is reused. */
static void transposes_follow_the_preconditioner(void **state) {
  (void)state;
  static const char *const kinds[] = {"-pc_bisai_type ilu",
                                      "-pc_bisai_type bjacobi -pc_bisai_relax 1"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    Mat mat = test_petsc_mat(matrix);
    PC pc = test_petsc_pc(mat, kinds[i]);
    assert_int_equal(PCSetUp(pc), 0);
    expect_transposed(pc, 84, "first values");
    for (int reuse = 1; reuse >= 0; reuse--) {
      PCSetReusePreconditioner(pc, reuse ? PETSC_TRUE : PETSC_FALSE);
      MatShift(mat, 3);
      assert_int_equal(PCSetUp(pc), 0);
      expect_transposed(pc, 84, reuse ? "reused" : "new values");
    }
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
  bisai_bcsr_destroy(&matrix);
}

/* The set-up has read the array, and the caller frees it. */
static void given_blocks_are_read_by_the_set_up_only(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  Mat mat = test_petsc_mat(matrix);
  for (int relax = 0; relax < 2; relax++) {
    enum { BLOCKS = 21 };
    int32_t *block_ptr = malloc((BLOCKS + 1) * sizeof *block_ptr);
    bisai_precond_options options = bisai_precond_options_default();
    PC pc = test_petsc_pc(mat, "-pc_bisai_type isai");
    for (int b = 0; b <= BLOCKS; b++) block_ptr[b] = 4 * b;
    options.kind = BISAI_PRECOND_BJACOBI;
    options.bjacobi.block_ptr = block_ptr;
    options.bjacobi.block_count = BLOCKS;
    options.bjacobi.relax = relax;
    assert_int_equal(bisai_petsc_pc_set_options(pc, &options), 0);
    assert_int_equal(PCSetUp(pc), 0);
    for (int b = 0; b <= BLOCKS; b++) block_ptr[b] = -1;
    free(block_ptr);
    expect_transposed(pc, 84, "given blocks");
    PCDestroy(&pc);
  }
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void missing_transposes_are_errors(void **state) {
  (void)state;
  static const char *const kinds[] = {"-pc_bisai_type mg -pc_bisai_mg_coarsest 8 "
                                      "-pc_bisai_mg_smoother ilu",
                                      "-pc_bisai_type cpr -pc_bisai_cpr_pressure 0"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 2, 5));
  Mat mat = test_petsc_mat(matrix);
  Vec v = random_vec(84, 1), z = random_vec(84, 2);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    PC pc = test_petsc_pc(mat, kinds[i]);
    assert_int_equal(PCSetUp(pc), 0);
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    if (PCApplyTranspose(pc, v, z) != PETSC_ERR_SUP) fail_msg("%s", kinds[i]);
    PetscPopErrorHandler();
    PCDestroy(&pc);
  }
  VecDestroy(&v);
  VecDestroy(&z);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void transposed_systems_are_solved(void **state) {
  (void)state;
  static const char *const methods[] = {
      "-ksp_type bicg -pc_type bisai -pc_bisai_type isai -pc_bisai_k 2",
      "-ksp_type gmres -pc_type bisai -pc_bisai_type ilu",
      "-ksp_type bicg -pc_type bisai -pc_bisai_type mg -pc_bisai_mg_coarsest 8"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 3, 5));
  const PetscInt n = (PetscInt)bisai_bcsr_rows(matrix);
  Mat mat = test_petsc_mat(matrix);
  Vec b = random_vec(n, 3), x = random_vec(n, 4), r = random_vec(n, 5);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    KSP ksp;
    PetscReal norm, residual;
    PetscOptionsClear(NULL);
    PetscOptionsInsertString(NULL, methods[i]);
    KSPCreate(PETSC_COMM_SELF, &ksp);
    KSPSetOperators(ksp, mat, mat);
    KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 200);
    assert_int_equal(KSPSetFromOptions(ksp), 0);
    assert_int_equal(KSPSolveTranspose(ksp, b, x), 0);
    MatMultTranspose(mat, x, r);
    VecAXPY(r, -1, b);
    VecNorm(r, NORM_2, &residual);
    VecNorm(b, NORM_2, &norm);
    /* The preconditioned residual is at most 1e-10, and M is far from singular. */
    if (!(residual <= 1e-8 * norm)) fail_msg("%s: %.1e", methods[i], residual / norm);
    KSPDestroy(&ksp);
  }
  VecDestroy(&b);
  VecDestroy(&x);
  VecDestroy(&r);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

/* More vectors than one pass of the library takes. */
static void several_vectors_are_those_one_by_one(void **state) {
  (void)state;
  enum { VECTORS = 11 };
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 3, 5));
  const PetscInt n = (PetscInt)bisai_bcsr_rows(matrix);
  Mat mat = test_petsc_mat(matrix), v, z;
  double *values = test_random_vector((int64_t)n * VECTORS, 9);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai -pc_bisai_k 2");
  MatCreateSeqDense(PETSC_COMM_SELF, n, VECTORS, values, &v);
  MatCreateSeqDense(PETSC_COMM_SELF, n, VECTORS, NULL, &z);
  MatAssemblyBegin(z, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(z, MAT_FINAL_ASSEMBLY);
  assert_int_equal(PCSetUp(pc), 0);
  assert_int_equal(PCMatApply(pc, v, z), 0);
  for (PetscInt c = 0; c < VECTORS; c++) {
    Vec from, to, one = random_vec(n, 1);
    PetscReal difference;
    MatDenseGetColumnVecRead(v, c, &from);
    assert_int_equal(PCApply(pc, from, one), 0);
    MatDenseRestoreColumnVecRead(v, c, &from);
    MatDenseGetColumnVecRead(z, c, &to);
    VecAXPY(one, -1, to);
    MatDenseRestoreColumnVecRead(z, c, &to);
    VecNorm(one, NORM_INFINITY, &difference);
    assert_true(difference == 0); /* the library promises the same bits */
    VecDestroy(&one);
  }
  MatDestroy(&v);
  MatDestroy(&z);
  PCDestroy(&pc);
  MatDestroy(&mat);
  free(values);
  bisai_bcsr_destroy(&matrix);
}

static void richardson_is_its_definition(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 3, 5));
  const PetscInt n = (PetscInt)bisai_bcsr_rows(matrix);
  Mat mat = test_petsc_mat(matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai");
  Vec b = random_vec(n, 1), w = random_vec(n, 3), z = random_vec(n, 4);
  assert_int_equal(PCSetUp(pc), 0);
  for (int zero = 0; zero < 2; zero++) {
    Vec x = random_vec(n, 2), expected = random_vec(n, 2);
    PetscInt steps = 0;
    PetscReal difference;
    PCRichardsonConvergedReason reason;
    if (zero) VecSet(expected, 0);
    for (int step = 0; step < 3; step++) {
      MatResidual(mat, b, expected, w);
      PCApply(pc, w, z);
      VecAXPY(expected, 1, z);
    }
    assert_int_equal(PCApplyRichardson(pc, b, x, w, 0, 0, 0, 3, zero ? PETSC_TRUE : PETSC_FALSE,
                                       &steps, &reason),
                     0);
    assert_int_equal(steps, 3);
    assert_int_equal(reason, PCRICHARDSON_CONVERGED_ITS);
    VecAXPY(x, -1, expected);
    VecNorm(x, NORM_INFINITY, &difference);
    assert_true(difference == 0); /* the same operations in the same order */
    VecDestroy(&x);
    VecDestroy(&expected);
  }
  VecDestroy(&b);
  VecDestroy(&w);
  VecDestroy(&z);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void a_reused_preconditioner_stays_as_it_is(void **state) {
  (void)state;
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *old = NULL;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 3, 5)), *changed = NULL;
  options.kind = BISAI_PRECOND_ISAI;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &old));
  Mat mat = test_petsc_mat(matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai");
  assert_int_equal(PCSetUp(pc), 0);
  PCSetReusePreconditioner(pc, PETSC_TRUE);
  MatShift(mat, 3);
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, old);
  PCSetReusePreconditioner(pc, PETSC_FALSE);
  assert_int_equal(PCSetUp(pc), 0);
  EXPECT_OK(context, bisai_petsc_from_mat(context, mat, &changed));
  EXPECT_OK(context, bisai_precond_update(old, changed));
  expect_same_application(pc, old);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_precond_destroy(&old);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&changed);
}

/* The Laplacian of a square without boundary values, whose null space is the constant. */
static Mat neumann(PetscInt width) {
  const PetscInt n = width * width;
  MatNullSpace space;
  Mat mat;
  MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 5, NULL, &mat);
  for (PetscInt i = 0; i < n; i++) {
    const PetscInt x = i % width, y = i / width;
    const PetscInt columns[] = {x > 0 ? i - 1 : -1, x + 1 < width ? i + 1 : -1,
                                y > 0 ? i - width : -1, y + 1 < width ? i + width : -1, i};
    double values[] = {-1, -1, -1, -1, 0};
    for (int c = 0; c < 4; c++) values[4] += columns[c] >= 0;
    MatSetValues(mat, 1, &i, 5, columns, values, INSERT_VALUES); /* ignores columns of -1 */
  }
  MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY);
  MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &space);
  MatSetNullSpace(mat, space);
  MatNullSpaceDestroy(&space);
  return mat;
}

static void singular_systems_with_a_null_space_are_solved(void **state) {
  (void)state;
  static const char *const methods[] = {
      "-ksp_type cg -pc_type bisai -pc_bisai_type ilu",
      "-ksp_type gmres -pc_type bisai -pc_bisai_type isai -pc_bisai_k 2",
      "-ksp_type cg -pc_type bisai -pc_bisai_type mg -pc_bisai_mg_coarsest 30",
      "-ksp_type gmres -pc_type bisai -pc_bisai_type bjacobi"};
  Mat mat = neumann(20);
  Vec b = random_vec(400, 1), x = random_vec(400, 2), r = random_vec(400, 3);
  PetscScalar mean;
  VecSum(b, &mean);
  VecShift(b, -mean / 400); /* in the range of the matrix */
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    KSP ksp;
    PetscReal norm, residual;
    PetscScalar sum;
    PetscOptionsClear(NULL);
    PetscOptionsInsertString(NULL, methods[i]);
    KSPCreate(PETSC_COMM_SELF, &ksp);
    KSPSetOperators(ksp, mat, mat);
    KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 2000);
    assert_int_equal(KSPSetFromOptions(ksp), 0);
    assert_int_equal(KSPSolve(ksp, b, x), 0);
    MatResidual(mat, b, x, r);
    VecNorm(r, NORM_2, &residual);
    VecNorm(b, NORM_2, &norm);
    VecSum(x, &sum);
    /* The preconditioned residual is below 1e-10; M is not far from A. x has no constant. */
    if (!(residual <= 1e-7 * norm && fabs(sum) <= 1e-6))
      fail_msg("%s: residual %.1e, sum %.1e", methods[i], residual / norm, sum);
    KSPDestroy(&ksp);
  }
  VecDestroy(&b);
  VecDestroy(&x);
  VecDestroy(&r);
  MatDestroy(&mat);
}

static PetscErrorCode solve_quietly(Mat mat, const char *options) {
  KSP ksp;
  Vec b, x;
  PetscOptionsClear(NULL);
  PetscOptionsInsertString(NULL, options);
  MatCreateVecs(mat, &x, &b);
  VecSet(b, 1);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPSetOperators(ksp, mat, mat);
  assert_int_equal(KSPSetFromOptions(ksp), 0);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  const PetscErrorCode code = KSPSolve(ksp, b, x);
  PetscPopErrorHandler();
  KSPDestroy(&ksp);
  VecDestroy(&b);
  VecDestroy(&x);
  return code;
}

#define K_CYCLE "-pc_type bisai -pc_bisai_type mg -pc_bisai_mg_cycle k -pc_bisai_mg_coarsest 8 "

static void solvers_that_cannot_take_the_preconditioner_are_refused(void **state) {
  (void)state;
  static const char *const
      refused[] = {K_CYCLE "-ksp_type gmres", K_CYCLE "-ksp_type cg", K_CYCLE "-ksp_type bcgs",
                   "-pc_type bisai -pc_bisai_type isai -ksp_type cg",
                   "-pc_type bisai -pc_bisai_type isai -ksp_type minres"},
      *const taken[] = {K_CYCLE "-ksp_type fgmres",
                        K_CYCLE "-ksp_type fcg",
                        K_CYCLE "-ksp_type gcr",
                        K_CYCLE "-ksp_type preonly",
                        "-pc_type bisai -pc_bisai_type isai -pc_bisai_symmetric -ksp_type cg",
                        "-pc_type bisai -pc_bisai_type ilu -ksp_type cg",
                        "-pc_type bisai -pc_bisai_type isai -ksp_type gmres",
                        "-pc_type gamg -pc_gamg_coarse_eq_limit 10 "
                        "-mg_levels_pc_type bisai -ksp_type fgmres"};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(40, 2, 5));
  Mat mat = test_petsc_mat(matrix);
  MatConvert(mat, MATSEQAIJ, MAT_INPLACE_MATRIX, &mat);
  MatSetOption(mat, MAT_SPD, PETSC_TRUE); /* GAMG then estimates eigenvalues by CG */
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (solve_quietly(mat, refused[i]) != PETSC_ERR_ARG_INCOMP) fail_msg("%s", refused[i]);
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (solve_quietly(mat, taken[i]) != 0) fail_msg("%s", taken[i]);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void options_and_preconditioner_are_reached_in_c(void **state) {
  (void)state;
  bisai_precond_options options = bisai_precond_options_default(), read;
  bisai_precond_report report = {.struct_size = sizeof report};
  bisai_precond *expected = NULL, *own = NULL;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 3, 5));
  Mat mat = test_petsc_mat(matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type ilu");
  assert_int_equal(bisai_petsc_pc_get_options(pc, &read), 0);
  assert_int_equal(read.kind, BISAI_PRECOND_ILU);
  assert_int_equal(PCSetUp(pc), 0);
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.power = 3;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &expected));
  assert_int_equal(bisai_petsc_pc_set_options(pc, &options), 0);
  assert_int_equal(bisai_petsc_pc_set_threads(pc, 2), 0);
  assert_int_equal(bisai_petsc_pc_get_precond(pc, &own), 0);
  assert_null(own);
  assert_int_equal(PCSetUp(pc), 0); /* for the same matrix */
  expect_same_application(pc, expected);
  assert_int_equal(bisai_petsc_pc_get_precond(pc, &own), 0);
  EXPECT_OK(context, bisai_precond_get_report(own, &report));
  assert_int_equal(report.kind, BISAI_PRECOND_ISAI);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  options.struct_size = 1;
  assert_int_equal(bisai_petsc_pc_set_options(pc, &options), PETSC_ERR_ARG_WRONG);
  assert_int_equal(PCSetType(pc, PCJACOBI), 0);
  assert_int_equal(bisai_petsc_pc_set_options(pc, NULL), PETSC_ERR_ARG_WRONG);
  assert_int_equal(bisai_petsc_pc_get_options(pc, &read), PETSC_ERR_ARG_WRONG);
  assert_int_equal(bisai_petsc_pc_set_threads(pc, 1), PETSC_ERR_ARG_WRONG);
  assert_int_equal(bisai_petsc_pc_get_precond(pc, &own), PETSC_ERR_ARG_WRONG);
  PetscPopErrorHandler();
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transposed_applications_are_transposes),
      cmocka_unit_test(symmetric_preconditioners_are_their_transposes),
      cmocka_unit_test(transposes_follow_the_preconditioner),
      cmocka_unit_test(given_blocks_are_read_by_the_set_up_only),
      cmocka_unit_test(missing_transposes_are_errors),
      cmocka_unit_test(transposed_systems_are_solved),
      cmocka_unit_test(several_vectors_are_those_one_by_one),
      cmocka_unit_test(richardson_is_its_definition),
      cmocka_unit_test(a_reused_preconditioner_stays_as_it_is),
      cmocka_unit_test(singular_systems_with_a_null_space_are_solved),
      cmocka_unit_test(solvers_that_cannot_take_the_preconditioner_are_refused),
      cmocka_unit_test(options_and_preconditioner_are_reached_in_c),
  };
  return test_petsc_run("petsc_applications", tests, sizeof tests / sizeof *tests, setup, teardown);
}
