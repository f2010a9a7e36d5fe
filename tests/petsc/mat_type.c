/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix type "bisai" of PETSc, on the host, against SeqBAIJ. On a GPU: device.c. */
#include "fixture.h"

#include <math.h>

#include "petsc_application.h"
#include "petsc_fixture.h"
#include "petsc_options.h"

#define CALL(call) assert_int_equal(call, 0)

static Mat make_blocks(int32_t bs, uint64_t seed) {
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 5, bs, seed));
  Mat mat = NULL;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  bisai_bcsr_destroy(&matrix);
  return mat;
}

static Mat convert(Mat mat, MatType type) {
  Mat result = NULL;
  CALL(MatConvert(mat, type, MAT_INITIAL_MATRIX, &result));
  return result;
}

static void expect_type(Mat mat, MatType type) {
  PetscBool same = PETSC_FALSE;
  CALL(PetscObjectTypeCompare((PetscObject)mat, type, &same));
  assert_true(same);
}

static void fill_vector(Vec v, uint64_t seed) {
  PetscInt n;
  PetscScalar *values;
  VecGetLocalSize(v, &n);
  double *random = test_random_vector(n, seed);
  VecGetArray(v, &values);
  for (PetscInt i = 0; i < n; i++) values[i] = random[i];
  VecRestoreArray(v, &values);
  free(random);
}

/* ‖u − v‖ ≤ 1e-14·‖u‖: rows of a few dozen terms, summed in another order. */
static void expect_same_vectors(Vec u, Vec v) {
  PetscReal norm = 0, difference = 0;
  VecNorm(u, NORM_2, &norm);
  CALL(VecAXPY(v, -1, u));
  VecNorm(v, NORM_2, &difference);
  if (!(difference <= 1e-14 * norm)) fail_msg("difference %g of %g", difference, norm);
}

typedef enum product { MULT, ADD, ADD_IN_PLACE, TRANSPOSED, TRANSPOSED_ADD, PRODUCTS } product;

/* y ← the product with x, with y as the vector that is added */
static void multiply(Mat mat, product how, Vec x, Vec y) {
  Vec z;
  VecDuplicate(y, &z);
  VecCopy(y, z);
  switch (how) {
  case MULT: CALL(MatMult(mat, x, y)); break;
  case ADD: CALL(MatMultAdd(mat, x, z, y)); break;
  case ADD_IN_PLACE: CALL(MatMultAdd(mat, x, y, y)); break;
  case TRANSPOSED: CALL(MatMultTranspose(mat, x, y)); break;
  case TRANSPOSED_ADD: CALL(MatMultTransposeAdd(mat, x, z, y)); break;
  case PRODUCTS: break;
  }
  VecDestroy(&z);
}

static void expect_same_products(Mat expected, Mat mat) {
  Vec x, y, z;
  CALL(MatCreateVecs(expected, &x, &y));
  VecDuplicate(y, &z);
  for (int how = 0; how < PRODUCTS; how++) {
    fill_vector(x, 1);
    fill_vector(y, 2);
    fill_vector(z, 2);
    multiply(expected, (product)how, x, y);
    multiply(mat, (product)how, x, z);
    expect_same_vectors(y, z);
  }
  VecDestroy(&x);
  VecDestroy(&y);
  VecDestroy(&z);
}

static void products_are_those_of_baij_for_every_block_size(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    Mat blocks = make_blocks(bs, (uint64_t)bs), mat = convert(blocks, "bisai");
    expect_type(mat, "bisai");
    expect_same_products(blocks, mat);
    MatDestroy(&mat);
    MatDestroy(&blocks);
  }
}

static void conversions_keep_the_matrix(void **state) {
  (void)state;
  static const MatType types[] = {MATSEQAIJ, MATSEQBAIJ};
  for (int t = 0; t < 2; t++) {
    Mat blocks = make_blocks(3, 7), other = convert(blocks, types[t]);
    Mat mat = convert(other, "bisai"), back = convert(mat, types[t]);
    PetscInt bs = 0;
    CALL(MatGetBlockSize(mat, &bs));
    assert_int_equal(bs, 3);
    expect_same_products(blocks, mat);
    expect_type(back, types[t]);
    expect_same_products(blocks, back);
    CALL(MatScale(other, 2));
    CALL(MatScale(blocks, 2));
    CALL(MatConvert(other, "bisai", MAT_REUSE_MATRIX, &mat));
    expect_same_products(blocks, mat);
    CALL(MatConvert(other, "bisai", MAT_INPLACE_MATRIX, &other));
    expect_type(other, "bisai");
    expect_same_products(blocks, other);
    CALL(MatConvert(other, types[t], MAT_INPLACE_MATRIX, &other));
    expect_type(other, types[t]);
    expect_same_products(blocks, other);
    MatDestroy(&back);
    MatDestroy(&mat);
    MatDestroy(&other);
    MatDestroy(&blocks);
  }
}

/* Tridiagonal blocks by scalar values or by blocks; with `corner` another pattern. */
static void assemble(Mat mat, bool by_blocks, bool corner, double value) {
  enum { N = 8, BS = 2 };
  CALL(MatZeroEntries(mat));
  for (PetscInt i = 0; i < N; i++)
    for (PetscInt j = 0; j < N; j++) {
      const bool far = corner && i == 0 && j == N - 1;
      if (!far && (j < i - 1 || j > i + 1)) continue;
      const double weight = i == j ? 1 : -0.2;
      const PetscScalar block[] = {weight * (value + i), 0.5 * weight, -0.1 * value,
                                   weight * (value + j)};
      const PetscInt rows[] = {2 * i, 2 * i + 1}, columns[] = {2 * j, 2 * j + 1};
      if (by_blocks)
        CALL(MatSetValuesBlocked(mat, 1, &i, 1, &j, block, ADD_VALUES));
      else
        CALL(MatSetValues(mat, BS, rows, BS, columns, block, ADD_VALUES));
    }
  CALL(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  CALL(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
}

static Mat make_empty(const char *type, bool preallocated) {
  Mat mat;
  MatCreate(PETSC_COMM_SELF, &mat);
  MatSetSizes(mat, 16, 16, 16, 16);
  MatSetBlockSize(mat, 2);
  char option[64];
  snprintf(option, sizeof option, "-mat_type %s", type);
  const PetscOptions lent = test_options_lend(option);
  CALL(MatSetFromOptions(mat));
  if (preallocated)
    CALL(MatSeqBAIJSetPreallocation(mat, 2, 4, NULL));
  else
    CALL(MatSetUp(mat));
  CALL(MatSetOption(mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  test_options_take_back(lent);
  return mat;
}

static void values_are_set_by_entries_and_by_blocks(void **state) {
  (void)state;
  for (int preallocated = 0; preallocated < 2; preallocated++)
    for (int by_blocks = 0; by_blocks < 2; by_blocks++) {
      Mat mat = make_empty("bisai", preallocated), blocks = make_empty("baij", preallocated);
      expect_type(mat, "bisai");
      for (int round = 0; round < 4; round++) { /* new values, then a new pattern */
        assemble(mat, by_blocks, round > 1, 5 + round);
        assemble(blocks, by_blocks, round > 1, 5 + round);
        expect_same_products(blocks, mat);
      }
      MatDestroy(&mat);
      MatDestroy(&blocks);
    }
}

static void changes_of_values_reach_the_products(void **state) {
  (void)state;
  Mat blocks = make_blocks(3, 3), mat = convert(blocks, "bisai"), copy = NULL, other = NULL;
  Mat list[2] = {blocks, mat};
  Vec left, right, diagonal[2];
  const PetscInt rows[] = {4, 11};
  CALL(MatCreateVecs(blocks, &right, &left));
  fill_vector(left, 5);
  fill_vector(right, 6);
  CALL(MatDuplicate(mat, MAT_COPY_VALUES, &copy));
  CALL(MatDuplicate(mat, MAT_DO_NOT_COPY_VALUES, &other));
  expect_type(copy, "bisai");
  expect_same_products(blocks, copy);
  for (int i = 0; i < 2; i++) {
    CALL(MatScale(list[i], 3));
    CALL(MatShift(list[i], 0.5));
    CALL(MatDiagonalScale(list[i], left, right));
    CALL(MatAXPY(list[i], 2, copy, SAME_NONZERO_PATTERN));
    CALL(MatZeroRows(list[i], 2, rows, 7, NULL, NULL));
    VecDuplicate(left, &diagonal[i]);
    CALL(MatGetDiagonal(list[i], diagonal[i]));
  }
  expect_same_products(blocks, mat);
  expect_same_vectors(diagonal[0], diagonal[1]);
  PetscReal norms[2];
  for (int i = 0; i < 2; i++) CALL(MatNorm(list[i], NORM_FROBENIUS, &norms[i]));
  assert_true(norms[0] == norms[1]);
  CALL(MatCopy(mat, other, SAME_NONZERO_PATTERN));
  expect_same_products(blocks, other);
  CALL(MatZeroEntries(other)); /* without an assembly */
  CALL(MatMult(other, right, left));
  CALL(VecNorm(left, NORM_2, &norms[0]));
  assert_true(norms[0] == 0);
  for (int i = 0; i < 2; i++) VecDestroy(&diagonal[i]);
  VecDestroy(&left);
  VecDestroy(&right);
  MatDestroy(&other);
  MatDestroy(&copy);
  MatDestroy(&mat);
  MatDestroy(&blocks);
}

static void transposes_and_parts_are_those_of_baij(void **state) {
  (void)state;
  Mat blocks = make_blocks(3, 8), mat = convert(blocks, "bisai");
  Mat list[2] = {blocks, mat}, transposed[2] = {NULL}, part[2] = {NULL};
  IS rows;
  PetscBool flag = PETSC_FALSE;
  CALL(ISCreateStride(PETSC_COMM_SELF, 30, 3, 1, &rows));
  CALL(MatEqual(mat, blocks, &flag));
  assert_true(flag);
  for (int i = 0; i < 2; i++) {
    CALL(MatTranspose(list[i], MAT_INITIAL_MATRIX, &transposed[i]));
    CALL(MatScale(list[i], 2));
    CALL(MatTranspose(list[i], MAT_REUSE_MATRIX, &transposed[i]));
    CALL(MatCreateSubMatrix(list[i], rows, rows, MAT_INITIAL_MATRIX, &part[i]));
  }
  expect_type(transposed[1], "bisai");
  expect_same_products(transposed[0], transposed[1]);
  CALL(MatEqual(part[0], part[1], &flag));
  assert_true(flag);
  CALL(MatTranspose(mat, MAT_INPLACE_MATRIX, &mat));
  expect_same_products(transposed[0], mat);
  CALL(MatEqual(mat, transposed[1], &flag));
  assert_true(flag);
  for (int i = 0; i < 2; i++) {
    MatDestroy(&transposed[i]);
    MatDestroy(&part[i]);
  }
  ISDestroy(&rows);
  MatDestroy(&mat);
  MatDestroy(&blocks);
}

static void expect_same_applications(PC expected, PC pc, Mat mat) {
  Vec v, z[2];
  CALL(MatCreateVecs(mat, &v, &z[0]));
  VecDuplicate(z[0], &z[1]);
  fill_vector(v, 9);
  CALL(PCApply(expected, v, z[0]));
  CALL(PCApply(pc, v, z[1]));
  expect_same_vectors(z[0], z[1]);
  VecDestroy(&v);
  for (int i = 0; i < 2; i++) VecDestroy(&z[i]);
}

/* Multigrid goes on reading the matrix of the Mat. */
static void preconditioners_take_the_matrix_and_its_new_values(void **state) {
  (void)state;
  static const char *const options[] = {"", "-pc_bisai_type ilu",
                                        "-pc_bisai_type mg -pc_bisai_mg_coarsest 4"};
  for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
    Mat mat = make_empty("bisai", true), blocks = make_empty("baij", true);
    PC pc = test_petsc_pc(mat, options[o]), expected = test_petsc_pc(blocks, options[o]);
    for (int round = 0; round < 4; round++) {
      assemble(mat, true, round > 1, 5 + round);
      assemble(blocks, true, round > 1, 5 + round);
      CALL(PCSetUp(expected));
      CALL(PCSetUp(pc));
      expect_same_applications(expected, pc, mat);
    }
    Mat another = convert(blocks, "bisai");
    CALL(PCSetOperators(pc, another, another));
    MatDestroy(&mat);
    CALL(PCSetUp(pc));
    expect_same_applications(expected, pc, another);
    PCDestroy(&pc);
    PCDestroy(&expected);
    MatDestroy(&another);
    MatDestroy(&blocks);
  }
}

static void values_that_are_not_finite_fail_the_preconditioner(void **state) {
  (void)state;
  Mat mat = make_empty("bisai", true);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type isai");
  PCFailedReason reason = PC_NOERROR;
  Vec x, y;
  CALL(MatCreateVecs(mat, &x, &y));
  assemble(mat, true, false, NAN);
  CALL(PCSetUp(pc));
  CALL(PCGetFailedReason(pc, &reason));
  assert_int_equal(reason, PC_FACTOR_OTHER);
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  assert_int_equal(MatMult(mat, x, y), PETSC_ERR_LIB);
  PetscPopErrorHandler();
  assemble(mat, true, false, 5);
  CALL(PCSetUp(pc));
  CALL(PCGetFailedReason(pc, &reason));
  assert_int_equal(reason, PC_NOERROR);
  VecDestroy(&x);
  VecDestroy(&y);
  PCDestroy(&pc);
  MatDestroy(&mat);
}

/* An error handler of PETSc: text ← the message of the call that failed first. */
static PetscErrorCode keep_first_message(MPI_Comm comm, int line, const char *function,
                                         const char *file, PetscErrorCode code, PetscErrorType type,
                                         const char *message, void *text) {
  (void)comm, (void)line, (void)function, (void)file;
  if (type == PETSC_ERROR_INITIAL) snprintf(text, 256, "%s", message);
  return code;
}

static void a_gpu_that_is_missing_is_refused_by_its_option(void **state) {
  (void)state;
  if (!bisai_backend_missing(BISAI_BACKEND_CUDA, -1)) skip();
  Mat blocks = make_blocks(2, 4), mat = convert(blocks, "bisai");
  char text[256] = "";
  Vec x, y;
  CALL(MatCreateVecs(mat, &x, &y));
  const PetscOptions lent = test_options_lend("-mat_bisai_backend cuda");
  PetscPushErrorHandler(keep_first_message, text);
  PetscErrorCode code = MatSetFromOptions(mat);
  if (!code) code = MatMult(mat, x, y);
  PetscPopErrorHandler();
  test_options_take_back(lent);
  assert_int_equal(code, PETSC_ERR_SUP);
  if (!strstr(text, "-mat_bisai_backend cuda: ")) fail_msg("%s", text);
  VecDestroy(&x);
  VecDestroy(&y);
  MatDestroy(&mat);
  MatDestroy(&blocks);
}

static void subdomains_and_files_are_those_of_baij(void **state) {
  (void)state;
  Mat blocks = make_blocks(2, 4), mat = convert(blocks, "bisai"), loaded, *parts = NULL;
  PetscViewer viewer;
  IS set;
  const PetscInt rows[] = {0, 1, 2};
  CALL(ISCreateBlock(PETSC_COMM_SELF, 2, 3, rows, PETSC_COPY_VALUES, &set));
  CALL(MatIncreaseOverlap(mat, 1, &set, 1));
  CALL(MatCreateSubMatrices(mat, 1, &set, &set, MAT_INITIAL_MATRIX, &parts));
  expect_type(parts[0], MATSEQBAIJ);
  CALL(MatDestroySubMatrices(1, &parts));
  CALL(ISDestroy(&set));
  char name[] = "mat_type_XXXXXX";
  assert_true(mkstemp(name) >= 0);
  CALL(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_WRITE, &viewer));
  CALL(MatView(mat, viewer));
  CALL(PetscViewerDestroy(&viewer));
  CALL(PetscViewerBinaryOpen(PETSC_COMM_SELF, name, FILE_MODE_READ, &viewer));
  CALL(MatCreate(PETSC_COMM_SELF, &loaded));
  CALL(MatSetType(loaded, "bisai"));
  CALL(MatLoad(loaded, viewer));
  CALL(PetscViewerDestroy(&viewer));
  expect_type(loaded, "bisai");
  expect_same_products(blocks, loaded);
  remove(name);
  char info[] = "mat_type_XXXXXX.info";
  snprintf(info, sizeof info, "%s.info", name);
  remove(info);
  MatDestroy(&loaded);
  MatDestroy(&mat);
  MatDestroy(&blocks);
}

static void a_solve_ends_as_with_baij(void **state) {
  (void)state;
  Mat blocks = make_blocks(3, 12), mat = convert(blocks, "bisai");
  Mat list[] = {blocks, mat};
  PetscInt iterations[2];
  for (int i = 0; i < 2; i++) {
    KSP ksp;
    PC pc;
    Vec b, x;
    KSPConvergedReason reason;
    CALL(KSPCreate(PETSC_COMM_SELF, &ksp));
    CALL(KSPSetOperators(ksp, list[i], list[i]));
    CALL(KSPGetPC(ksp, &pc));
    CALL(PCSetType(pc, "bisai"));
    CALL(MatCreateVecs(list[i], &x, &b));
    VecSet(b, 1);
    CALL(KSPSolve(ksp, b, x));
    CALL(KSPGetConvergedReason(ksp, &reason));
    assert_true(reason > 0);
    CALL(KSPGetIterationNumber(ksp, &iterations[i]));
    VecDestroy(&b);
    VecDestroy(&x);
    KSPDestroy(&ksp);
  }
  assert_int_equal(iterations[0], iterations[1]);
  MatDestroy(&mat);
  MatDestroy(&blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(products_are_those_of_baij_for_every_block_size),
      cmocka_unit_test(conversions_keep_the_matrix),
      cmocka_unit_test(values_are_set_by_entries_and_by_blocks),
      cmocka_unit_test(changes_of_values_reach_the_products),
      cmocka_unit_test(transposes_and_parts_are_those_of_baij),
      cmocka_unit_test(preconditioners_take_the_matrix_and_its_new_values),
      cmocka_unit_test(values_that_are_not_finite_fail_the_preconditioner),
      cmocka_unit_test(a_gpu_that_is_missing_is_refused_by_its_option),
      cmocka_unit_test(subdomains_and_files_are_those_of_baij),
      cmocka_unit_test(a_solve_ends_as_with_baij),
  };
  return test_petsc_run("petsc_mat_type", tests, sizeof tests / sizeof *tests, setup, teardown);
}
