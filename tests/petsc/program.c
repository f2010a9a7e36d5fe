/* SPDX-License-Identifier: BSD-3-Clause */
/* A PETSc program, as its users write them: bisai comes in through options alone (-dll_append …
 * -t_pc_type bisai), or, compiled with LINKED, by one call. It solves block systems on any number
 * of processes with two solvers, prefixes t_ (tested) and r_ (reference, on MATBAIJ): three times,
 * the second time with new values, the third with a new pattern. It fails where one does not
 * converge or, with -same, where the two need different numbers of iterations.
 *   -bs B  block size; -n N  block rows; -mat_type aij|baij of the tested one; -singular  the first
 *   diagonal block is zero; -as nest|shell  both matrices twice in a nest, or without entries */
#include <petscksp.h>

#ifdef LINKED
#include <bisai/petsc.h>
#endif

/* Block row i: 4 + i % 3 / 4 on the diagonal, −1 beside it and `width` away, and coupling inside
 * the blocks. */
static PetscErrorCode fill(Mat a, PetscInt n, PetscInt bs, PetscInt width, double shift,
                           PetscBool singular) {
  PetscInt first, last;
  PetscScalar *block;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(a, &first, &last));
  PetscCall(PetscMalloc1((size_t)(bs * bs), &block));
  for (PetscInt i = first / bs; i < last / bs; i++) {
    const PetscInt columns[] = {i - width, i - 1, i, i + 1, i + width};
    for (int c = 0; c < 5; c++) {
      if (columns[c] < 0 || columns[c] >= n) continue;
      for (PetscInt k = 0; k < bs * bs; k++) {
        const PetscBool diagonal = k % bs == k / bs ? PETSC_TRUE : PETSC_FALSE;
        block[k] = c == 2 ? (diagonal ? 4 + 0.25 * (double)(i % 3) + shift : 0.3 / (double)(1 + k))
                   : diagonal ? -1
                              : 0.02;
        if (c == 2 && i == 0 && singular) block[k] = 0;
      }
      PetscCall(MatSetValuesBlocked(a, 1, &i, 1, &columns[c], block, INSERT_VALUES));
    }
  }
  PetscCall(PetscFree(block));
  PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The options of the matrix that is tested have no prefix. */
static PetscErrorCode make(const char *prefix, const char *type, PetscInt n, PetscInt bs, Mat *a) {
  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetSizes(*a, PETSC_DECIDE, PETSC_DECIDE, n * bs, n * bs));
  PetscCall(MatSetBlockSize(*a, bs));
  PetscCall(MatSetType(*a, type));
  PetscCall(MatSetOptionsPrefix(*a, prefix));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatSetUp(*a));
  PetscCall(MatSetOption(*a, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* *whole ← a, or what -as says, with a reference for the caller. */
static PetscErrorCode wrap(Mat a, Mat *whole) {
  char as[32] = "";
  Mat parts[] = {a, NULL, NULL, a};
  PetscInt rows;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-as", as, sizeof as, NULL));
  PetscCall(MatGetLocalSize(a, &rows, NULL));
  *whole = a;
  if (as[0] == 'n') PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 2, NULL, parts, whole));
  if (as[0] == 's')
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, NULL,
                             whole));
  if (*whole == a) PetscCall(PetscObjectReference((PetscObject)a));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Solves, says how it went, and counts a failure. */
static PetscErrorCode solve(const char *name, KSP ksp, Mat a, PetscInt *iterations, int *failures) {
  Mat whole;
  Vec b, x;
  PetscReal residual, norm;
  KSPConvergedReason reason;
  PetscFunctionBeginUser;
  PetscCall(wrap(a, &whole));
  PetscCall(MatCreateVecs(whole, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPSetOperators(ksp, whole, whole));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, -1));
  PetscCall(MatMultAdd(whole, x, b, b));
  PetscCall(VecNorm(b, NORM_2, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %d iterations, residual %.1e\n", name,
                        KSPConvergedReasons[reason], (int)*iterations, residual / norm));
  if (reason <= 0 || residual > 1e-7 * norm) ++*failures;
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&whole));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode compare(int *failures) {
  KSP tested, reference;
  Mat a, b;
  PetscInt n = 200, bs = 3, widths[] = {14, 14, 9};
  PetscBool same = PETSC_FALSE, singular = PETSC_FALSE;
  char type[32] = MATBAIJ;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bs", &bs, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-same", &same, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-singular", &singular, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, sizeof type, NULL));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &tested));
  PetscCall(KSPSetOptionsPrefix(tested, "t_"));
  PetscCall(KSPSetTolerances(tested, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(tested));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &reference));
  PetscCall(KSPSetOptionsPrefix(reference, "r_"));
  PetscCall(KSPSetTolerances(reference, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(reference));
  PetscCall(make(NULL, type, n, bs, &a));
  PetscCall(make("r_", MATBAIJ, n, bs, &b));
  for (int round = 0; round < 3; round++) {
    PetscInt count_a = 0, count_b = 0;
    if (round == 2) { /* another Mat, for a smaller pattern */
      PetscCall(MatDestroy(&a));
      PetscCall(MatDestroy(&b));
      PetscCall(make(NULL, type, n, bs, &a));
      PetscCall(make("r_", MATBAIJ, n, bs, &b));
    }
    PetscCall(fill(a, n, bs, widths[round], 0.1 * round, singular));
    PetscCall(fill(b, n, bs, widths[round], 0.1 * round, singular));
    PetscCall(solve("tested", tested, a, &count_a, failures));
    PetscCall(solve("reference", reference, b, &count_b, failures));
    if (same && count_a != count_b) ++*failures;
  }
  PetscCall(MatDestroy(&a));
  PetscCall(MatDestroy(&b));
  PetscCall(KSPDestroy(&tested));
  PetscCall(KSPDestroy(&reference));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv) {
  int failures = 0;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
#ifdef LINKED
  PetscCall(bisai_petsc_register());
#endif
  PetscCall(compare(&failures));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
