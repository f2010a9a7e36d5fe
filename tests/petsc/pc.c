/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner type "bisai" inside PETSc, by calls: errors, failed set-ups, new options,
 * reset, vectors. Whole solves by options alone are in CMakeLists.txt. */
#include "fixture.h"

#include <math.h>

#include "petsc_application.h"
#include "petsc_fixture.h"

static bisai_precond *make_precond(const bisai_bcsr *matrix, bisai_precond_kind kind, int power) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  options.kind = kind;
  options.isai.power = power;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

static void options_choose_the_preconditioner_and_may_change(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 6, 3, 5));
  Mat mat = test_petsc_mat(matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai -pc_bisai_k 2");
  bisai_precond *isai = make_precond(matrix, BISAI_PRECOND_ISAI, 2),
                *ilu = make_precond(matrix, BISAI_PRECOND_ILU, 1);
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, isai);
  /* for the same matrix, which alone would call for no new set-up; k is forgotten by kinds that do
   * not take it */
  test_petsc_set_options(pc, "-pc_bisai_type ilu");
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, ilu);
  assert_int_equal(PCReset(pc), 0);
  assert_int_equal(PCSetOperators(pc, mat, mat), 0);
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, ilu);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_precond_destroy(&isai);
  bisai_precond_destroy(&ilu);
  bisai_bcsr_destroy(&matrix);
}

static void options_of_other_kinds_are_refused(void **state) {
  (void)state;
  static const char *const refused[] = {"-pc_bisai_type ilu -pc_bisai_k 1",
                                        "-pc_bisai_type ilu -pc_bisai_relax 1",
                                        "-pc_bisai_type sweeps -pc_bisai_storage fp32",
                                        "-pc_bisai_type isai -pc_bisai_sweeps 2",
                                        "-pc_bisai_type bjacobi -pc_bisai_level 1",
                                        "-pc_bisai_type none -pc_bisai_shift 0.1",
                                        "-pc_bisai_type bjacobi -pc_bisai_drop 0.1",
                                        "-pc_bisai_type ilu -pc_bisai_cap 3",
                                        "-pc_bisai_type isai -pc_bisai_max_block 4",
                                        "-pc_bisai_type ilu -pc_bisai_form lu",
                                        "-pc_bisai_type isai -pc_bisai_digits 3"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const PetscErrorCode code = test_petsc_try_options(refused[i]);
    if (code != PETSC_ERR_ARG_WRONG) fail_msg("%s: %d", refused[i], (int)code);
  }
}

#if defined(PETSC_USE_64BIT_INDICES)
static void integers_beyond_32_bits_are_refused(void **state) {
  (void)state;
  static const char *const wide[] = {"-pc_bisai_type isai -pc_bisai_k 4294967297",
                                     "-pc_bisai_type isai -pc_bisai_cap -4294967295",
                                     "-pc_bisai_type isai -pc_bisai_level 2147483648"};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    assert_int_equal(test_petsc_try_options(wide[i]), PETSC_ERR_ARG_OUTOFRANGE);
}
#endif

/* Every option that is more than a kind and a power. */
static void options_are_those_of_the_library(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 3, 5));
  Mat mat = test_petsc_mat(matrix);
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.power = 3;
  options.isai.drop_tolerance = 0.05;
  options.isai.column_limit = 4;
  options.factor.level = 1;
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.02;
  options.factor.ordering = BISAI_ORDERING_COLOUR;
  options.factor.equilibrate = true;
  options.isai.storage = BISAI_FP32;
  options.isai.relax = 1;
  bisai_precond *expected = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &expected));
#define ALL_BUT_ORDERING                                                                           \
  "-pc_bisai_type isai -pc_bisai_k 3 -pc_bisai_drop 0.05 -pc_bisai_cap 4 -pc_bisai_level 1 "       \
  "-pc_bisai_shift 0.02 "                                                                          \
  "-pc_bisai_equilibrate "                                                                         \
  "-pc_bisai_storage fp32 -pc_bisai_relax 1 "
  static const char *const spellings[] = {ALL_BUT_ORDERING "-pc_bisai_ordering colour",
                                          ALL_BUT_ORDERING "-pc_bisai_ordering color"};
  for (int i = 0; i < 2; i++) {
    PC pc = test_petsc_pc(mat, spellings[i]);
    assert_int_equal(PCSetUp(pc), 0);
    expect_same_application(pc, expected);
    PCDestroy(&pc);
  }
  MatDestroy(&mat);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&matrix);
}

static void symmetric_isai_is_an_option(void **state) {
  (void)state;
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.symmetric = true;
  options.isai.power = 2;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(20, 2, 5));
  Mat mat = test_petsc_mat(matrix);
  bisai_precond *expected = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &expected));
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai -pc_bisai_k 2 -pc_bisai_symmetric");
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, expected);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&matrix);
  matrix = test_bcsr_take(context, test_bcsr_grid(4, 4, 2, 5));
  mat = test_petsc_mat(matrix);
  pc = test_petsc_pc(mat, "-pc_bisai_type isai -pc_bisai_symmetric");
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  assert_int_equal(PCSetUp(pc), PETSC_ERR_ARG_INCOMP);
  PetscPopErrorHandler();
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void block_jacobi_has_its_options(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 6, 3, 4));
  Mat mat = test_petsc_mat(matrix);
  static const char *const asked[] = {
      "-pc_bisai_type bjacobi -pc_bisai_max_block 7 -pc_bisai_form ght -pc_bisai_storage fp11_20",
      "-pc_bisai_type bjacobi -pc_bisai_max_block 16 -pc_bisai_storage adaptive -pc_bisai_digits "
      "3"};
  for (int k = 0; k < 2; k++) {
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = BISAI_PRECOND_BJACOBI;
    options.bjacobi.max_block = k == 0 ? 7 : 16;
    options.bjacobi.form = k == 0 ? BISAI_FORM_GAUSS_HUARD_TRANSPOSED : BISAI_FORM_INVERSE;
    options.bjacobi.storage = k == 0 ? BISAI_FP11_20 : BISAI_ADAPTIVE;
    options.bjacobi.digits = k == 0 ? 2 : 3;
    bisai_precond *expected = NULL;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &expected));
    PC pc = test_petsc_pc(mat, asked[k]);
    assert_int_equal(PCSetUp(pc), 0);
    expect_same_application(pc, expected);
    PCDestroy(&pc);
    bisai_precond_destroy(&expected);
  }
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void new_values_and_new_patterns_are_taken(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(6, 6, 2, 5);
  bisai_bcsr *first = test_bcsr_make(context, &arrays),
             *other = test_bcsr_take(context, test_bcsr_grid(9, 4, 2, 5));
  for (int32_t i = 0; i < test_bcsr_blocks(&arrays) * 4; i++) arrays.values[i] *= 1.5;
  bisai_bcsr *second = test_bcsr_make(context, &arrays);
  const bisai_bcsr *const matrices[] = {first, second, other, first};
  Mat kept = test_petsc_mat(first);
  PC pc = test_petsc_pc(kept, "-pc_bisai_type isai");
  for (int i = 0; i < 4; i++) {
    Mat mat = test_petsc_mat(matrices[i]);
    bisai_precond *expected = make_precond(matrices[i], BISAI_PRECOND_ISAI, 1);
    assert_int_equal(PCSetOperators(pc, mat, mat), 0);
    assert_int_equal(PCSetUp(pc), 0);
    expect_same_application(pc, expected);
    bisai_precond_destroy(&expected);
    MatDestroy(&mat);
  }
  PCDestroy(&pc);
  MatDestroy(&kept);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  bisai_bcsr_destroy(&other);
  test_bcsr_free(&arrays);
}

/* A square scalar matrix of two rows with the given entries in the places of `col_idx`, one a
 * row. */
static Mat two_rows(const int32_t *col_idx, const double *values) {
  static const int32_t row_ptr[] = {0, 1, 2};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = NULL;
  desc.block_rows = desc.block_cols = 2, desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  Mat mat = test_petsc_mat(matrix);
  bisai_bcsr_destroy(&matrix);
  return mat;
}

static const int32_t diagonal[] = {0, 1}, first_column[] = {0, 0};

static void structures_and_options_that_cannot_be_are_errors(void **state) {
  (void)state;
  static const double ones[] = {1, 1};
  static const struct {
    const int32_t *columns;
    const char *options;
    int code;
  } bad[] = {
      {first_column, "-pc_bisai_type isai", PETSC_ERR_LIB}, /* no diagonal block */
      {diagonal, "-pc_bisai_type isai -pc_bisai_k 0", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type sweeps -pc_bisai_sweeps -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type isai -pc_bisai_level -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_threads -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_threads 4097", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type isai -pc_bisai_shift -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type isai -pc_bisai_drop -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type isai -pc_bisai_cap -1", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type bjacobi -pc_bisai_max_block 33", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type bjacobi -pc_bisai_digits 0", PETSC_ERR_ARG_OUTOFRANGE},
      {diagonal, "-pc_bisai_type bjacobi -pc_bisai_form lu -pc_bisai_storage adaptive",
       PETSC_ERR_ARG_OUTOFRANGE},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    Mat mat = two_rows(bad[i].columns, ones);
    PC pc = test_petsc_pc(mat, bad[i].options);
    PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
    assert_int_equal(PCSetUp(pc), bad[i].code);
    PetscPopErrorHandler();
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
  Mat dense = NULL;
  MatCreateSeqDense(PETSC_COMM_SELF, 2, 2, NULL, &dense);
  MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY);
  PC pc = test_petsc_pc(dense, "");
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  assert_int_equal(PCSetUp(pc), PETSC_ERR_SUP);
  PetscPopErrorHandler();
  PCDestroy(&pc);
  MatDestroy(&dense);
}

static void numbers_that_cannot_be_fail_the_preconditioner(void **state) {
  (void)state;
  static const double singular[] = {1, 0}, small[] = {1, 1e-30};
  static const struct {
    const double *values;
    const char *options;
    PCFailedReason reason;
  } bad[] = {
      {singular, "-pc_bisai_type isai", PC_FACTOR_NUMERIC_ZEROPIVOT},
      {small, "-pc_bisai_type isai -pc_bisai_storage fp16",
       PC_FACTOR_OTHER}, /* its inverse overflows fp16 */
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    Mat mat = two_rows(diagonal, bad[i].values);
    PC pc = test_petsc_pc(mat, bad[i].options);
    PCFailedReason reason = PC_NOERROR;
    assert_int_equal(PCSetUp(pc), 0);
    PCGetFailedReason(pc, &reason);
    assert_int_equal(reason, bad[i].reason);
    Vec v, z;
    PetscReal norm = 0;
    MatCreateVecs(mat, &v, &z);
    VecSet(v, 1);
    assert_int_equal(PCApply(pc, v, z), 0);
    VecNorm(z, NORM_INFINITY, &norm);
    assert_true(isinf(norm));
    VecDestroy(&v);
    VecDestroy(&z);
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
}

/* The type of the matrix is only a name here: the test runs without a GPU. */
static void vectors_of_the_host_are_refused_with_matrices_of_the_gpu(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 4, 2, 3));
  char message[TEST_PETSC_MESSAGE] = "";
  Mat mat = test_petsc_mat(matrix);
  KSP ksp;
  PC pc;
  Vec b, x;
  assert_int_equal(KSPCreate(PETSC_COMM_SELF, &ksp), 0);
  assert_int_equal(KSPSetOperators(ksp, mat, mat), 0);
  assert_int_equal(KSPGetPC(ksp, &pc), 0);
  assert_int_equal(PCSetType(pc, "bisai"), 0);
  assert_int_equal(MatCreateVecs(mat, &x, &b), 0);
  assert_int_equal(VecSet(b, 1), 0);
  assert_int_equal(KSPSolve(ksp, b, x), 0);
  assert_int_equal(PetscObjectChangeTypeName((PetscObject)mat, MATSEQAIJCUSPARSE), 0);
  PetscPushErrorHandler(test_petsc_keep_message, message);
  assert_int_equal(KSPSolve(ksp, b, x), PETSC_ERR_ARG_INCOMP);
  PetscPopErrorHandler();
  assert_non_null(
      strstr(message, "a Mat of type seqaijcusparse cannot multiply a Vec of type seq,"));
  assert_int_equal(PetscObjectChangeTypeName((PetscObject)mat, MATSEQBAIJ), 0);
  VecDestroy(&b);
  VecDestroy(&x);
  KSPDestroy(&ksp);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(options_choose_the_preconditioner_and_may_change),
    cmocka_unit_test(options_of_other_kinds_are_refused),
#if defined(PETSC_USE_64BIT_INDICES)
    cmocka_unit_test(integers_beyond_32_bits_are_refused),
#endif
    cmocka_unit_test(options_are_those_of_the_library),
    cmocka_unit_test(symmetric_isai_is_an_option),
    cmocka_unit_test(block_jacobi_has_its_options),
    cmocka_unit_test(new_values_and_new_patterns_are_taken),
    cmocka_unit_test(structures_and_options_that_cannot_be_are_errors),
    cmocka_unit_test(numbers_that_cannot_be_fail_the_preconditioner),
    cmocka_unit_test(vectors_of_the_host_are_refused_with_matrices_of_the_gpu),
  };
  return test_petsc_run("petsc_pc", tests, sizeof tests / sizeof *tests, setup, teardown);
}
