/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix type "bisai" on several processes, of which the first and each third one after it has
 * no rows: products, changes and conversions agree with an MPIBAIJ. */
#include <petsc/private/petscimpl.h>
#include <petscksp.h>

#include <math.h>

#include <bisai/petsc.h>

enum { BS = 3, ROWS = 14 };

/* Block (i, j) of a matrix with neighbours at distance 1 and `far`, on the next processes too. */
static void fill_block(PetscInt i, PetscInt j, double factor, PetscScalar *block) {
  for (int c = 0; c < BS; c++)
    for (int r = 0; r < BS; r++)
      block[c * BS + r] =
          factor * (i == j ? 9.0 * (r == c) + 0.1 * r : sin(1.0 + r + 2.3 * c + 0.7 * i - 1.1 * j));
}

static PetscErrorCode fill(PetscInt far, double factor, Mat mat) {
  PetscInt first, last, all;
  PetscScalar block[BS * BS];
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(mat, &first, &last));
  PetscCall(MatGetSize(mat, &all, NULL));
  for (PetscInt i = first / BS; i < last / BS; i++)
    for (PetscInt j = 0; j < all / BS; j++) {
      if (PetscAbs(i - j) > 1 && PetscAbs(i - j) != far) continue;
      fill_block(i, j, factor, block);
      PetscCall(MatSetValuesBlocked(mat, 1, &i, 1, &j, block, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode make(MatType type, Mat *mat) {
  PetscMPIInt rank;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  const PetscInt own = rank % 3 == 0 ? 0 : (ROWS + rank) * BS;
  PetscCall(MatCreate(PETSC_COMM_WORLD, mat));
  PetscCall(MatSetSizes(*mat, own, own, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*mat, BS));
  PetscCall(MatSetType(*mat, type));
  PetscCall(MatSetFromOptions(*mat));
  PetscCall(MatMPIBAIJSetPreallocation(*mat, BS, 7, NULL, 6, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*mat, 7 * BS, NULL, 6 * BS, NULL));
  PetscCall(MatSetOption(*mat, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(fill(5, 1.0, *mat));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode expect_vectors(const char *what, Vec expected, Vec got, int *failures) {
  PetscReal difference, size;
  PetscFunctionBeginUser;
  PetscCall(VecNorm(expected, NORM_INFINITY, &size));
  PetscCall(VecAXPY(got, -1, expected));
  PetscCall(VecNorm(got, NORM_INFINITY, &difference));
  if (difference <= 1e-13 * size && size > 0) PetscFunctionReturn((PetscErrorCode)0);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: differs by %g of %g\n", what, (double)difference,
                        (double)size));
  ++*failures;
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Compares the four products and the diagonal block. */
static PetscErrorCode expect_same(const char *what, Mat expected, Mat got, int *failures) {
  PetscRandom random;
  Vec x, y, z, w;
  Mat a, b;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(got, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecDuplicate(y, &w));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(MatMult(expected, x, y));
  PetscCall(MatMult(got, x, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(MatMultTranspose(expected, x, y));
  PetscCall(MatMultTranspose(got, x, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(VecSetRandom(w, random));
  PetscCall(MatMultAdd(expected, x, w, y));
  PetscCall(MatMultAdd(got, x, w, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(VecCopy(w, z));
  PetscCall(MatMultAdd(got, x, z, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(MatMultTransposeAdd(expected, x, w, y));
  PetscCall(MatMultTransposeAdd(got, x, w, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(MatGetDiagonal(expected, y));
  PetscCall(MatGetDiagonal(got, z));
  PetscCall(expect_vectors(what, y, z, failures));
  PetscCall(MatGetDiagonalBlock(expected, &a));
  PetscCall(MatGetDiagonalBlock(got, &b));
  PetscBool same = PETSC_FALSE;
  PetscCall(MatEqual(b, a, &same));
  if (!same) ++*failures;
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The same change of both. */
static PetscErrorCode expect_changes(Mat expected, Mat got, int *failures) {
  const PetscInt row = 4 * BS;
  PetscObjectState before, after;
  Vec left;
  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateGet((PetscObject)got, &before));
  PetscCall(fill(5, -2.0, expected));
  PetscCall(fill(5, -2.0, got));
  PetscCall(PetscObjectStateGet((PetscObject)got, &after));
  if (after == before) ++*failures;
  PetscCall(expect_same("new values", expected, got, failures));
  PetscCall(fill(9, 0.5, expected)); /* other ghosts */
  PetscCall(fill(9, 0.5, got));
  PetscCall(expect_same("a new pattern", expected, got, failures));
  PetscCall(MatScale(expected, 3));
  PetscCall(MatScale(got, 3));
  PetscCall(expect_same("scaled", expected, got, failures));
  PetscCall(MatShift(expected, 2));
  PetscCall(MatShift(got, 2));
  PetscCall(expect_same("shifted", expected, got, failures));
  PetscCall(MatZeroRows(expected, 1, &row, 7, NULL, NULL));
  PetscCall(MatZeroRows(got, 1, &row, 7, NULL, NULL));
  PetscCall(expect_same("a row of zeros", expected, got, failures));
  PetscCall(MatCreateVecs(got, NULL, &left));
  PetscCall(VecSet(left, 0.25));
  PetscCall(MatDiagonalScale(expected, left, NULL));
  PetscCall(MatDiagonalScale(got, left, NULL));
  PetscCall(VecDestroy(&left));
  PetscCall(expect_same("scaled rows", expected, got, failures));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Copies and conversions, from and to other types. */
static PetscErrorCode expect_copies(Mat expected, Mat got, int *failures) {
  Mat copy, entries, transposed, turned;
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(got, MAT_COPY_VALUES, &copy));
  PetscCall(expect_same("a duplicate", expected, copy, failures));
  PetscCall(MatAXPY(copy, 2, got, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(copy, 1.0 / 3));
  PetscCall(expect_same("a sum", expected, copy, failures));
  PetscCall(MatDestroy(&copy));
  PetscCall(MatConvert(got, MATMPIAIJ, MAT_INITIAL_MATRIX, &entries));
  PetscCall(expect_same("as mpiaij", expected, entries, failures));
  PetscCall(MatConvert(entries, "bisai", MAT_INITIAL_MATRIX, &copy));
  PetscCall(expect_same("from mpiaij", expected, copy, failures));
  PetscCall(MatDestroy(&copy));
  PetscCall(MatConvert(entries, "bisai", MAT_INPLACE_MATRIX, &entries));
  PetscCall(expect_same("from mpiaij in place", expected, entries, failures));
  PetscCall(MatConvert(expected, "mpibisai", MAT_INITIAL_MATRIX, &copy));
  PetscCall(expect_same("from mpibaij", expected, copy, failures));
  PetscCall(MatTranspose(copy, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatTranspose(expected, MAT_INITIAL_MATRIX, &turned));
  PetscCall(expect_same("transposed", turned, transposed, failures));
  PetscCall(MatDestroy(&turned));
  PetscCall(MatDestroy(&transposed));
  PetscCall(MatDestroy(&copy));
  PetscCall(MatDestroy(&entries));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* f ← A x */
static PetscErrorCode multiply(void *unused, Vec x, Vec f, void *a) {
  (void)unused;
  return MatMult(a, x, f);
}

#if PETSC_VERSION_LT(3, 24, 0)
typedef PetscErrorCode MatFDColoringFn(void);
#endif

/* The differences of a product with A are A, up to rounding errors of f over the step. Scalar
 * columns of a block row never share a colour. */
static PetscErrorCode expect_differences(Mat expected, Mat got, int *failures) {
  MatColoring colours;
  ISColoring places;
  MatFDColoring differences;
  PetscReal difference, size;
  Vec x, y, z;
  Mat copy;
  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(got, MAT_COPY_VALUES, &copy));
  PetscCall(MatColoringCreate(copy, &colours));
  PetscCall(MatColoringSetType(colours, MATCOLORINGSL));
  PetscCall(MatColoringApply(colours, &places));
  PetscCall(MatColoringDestroy(&colours));
  PetscCall(MatFDColoringCreate(copy, places, &differences));
  PetscCall(MatFDColoringSetFunction(differences, (MatFDColoringFn *)multiply, expected));
  PetscCall(MatFDColoringSetUp(copy, places, differences));
  PetscCall(ISColoringDestroy(&places));
  PetscCall(MatCreateVecs(copy, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1));
  PetscCall(MatZeroEntries(copy));
  PetscCall(MatFDColoringApply(copy, differences, x, NULL));
  PetscCall(MatMult(copy, x, y));
  PetscCall(MatMult(expected, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &size));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  if (!(difference <= 1e-5 * size && size > 0)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "differences: differ by %g of %g\n", (double)difference,
                          (double)size));
    ++*failures;
  }
  PetscCall(MatFDColoringDestroy(&differences));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(MatDestroy(&copy));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode run(int *failures) {
  Mat expected, got;
  PetscFunctionBeginUser;
  PetscCall(make(MATMPIBAIJ, &expected));
  PetscCall(make("bisai", &got));
  PetscCall(expect_same("created", expected, got, failures));
  PetscCall(expect_changes(expected, got, failures));
  PetscCall(expect_copies(expected, got, failures));
  PetscCall(expect_differences(expected, got, failures));
  PetscCall(MatView(got, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(MatDestroy(&expected));
  PetscCall(MatDestroy(&got));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv) {
  int failures = 0;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(bisai_petsc_register());
  PetscCall(PetscViewerPushFormat(PETSC_VIEWER_STDOUT_WORLD, PETSC_VIEWER_ASCII_INFO));
  PetscCall(run(&failures));
  PetscCall(PetscViewerPopFormat(PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
