/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai on several processes, of which the first and each third one after it has no rows: an error
 * of one process is raised on all of them. A process that goes on alone would wait forever. */
#include <petscksp.h>
#include <stdbool.h>

#include <bisai/petsc.h>

enum { BS = 2, ROWS = 20 };

/* Tridiagonal blocks. With SKEW those of the second process are not symmetric, and with BORDER its
 * last block differs from the mirrored one of the third process. */
typedef enum form { SYMMETRIC, SKEW, BORDER } form;

static PetscErrorCode make(form how, Mat *mat) {
  PetscMPIInt rank;
  PetscInt first, last, all;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  const PetscInt own = rank % 3 == 0 ? 0 : ROWS * BS;
  PetscCall(MatCreate(PETSC_COMM_WORLD, mat));
  PetscCall(MatSetSizes(*mat, own, own, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*mat, BS));
  PetscCall(MatSetType(*mat, MATMPIBAIJ));
  PetscCall(MatMPIBAIJSetPreallocation(*mat, BS, 3, NULL, 2, NULL));
  PetscCall(MatGetOwnershipRange(*mat, &first, &last));
  PetscCall(MatGetSize(*mat, &all, NULL));
  for (PetscInt i = first / BS; i < last / BS; i++)
    for (PetscInt j = i - 1; j <= i + 1; j++) {
      const bool weak = rank == 1 && j > i && (how == SKEW || (how == BORDER && j == last / BS));
      const double side = weak ? -0.5 : -1;
      const double diagonal = i == j ? 2.1 : side;
      const PetscScalar block[] = {diagonal, 0, 0, diagonal};
      if (j >= 0 && j < all / BS)
        PetscCall(MatSetValuesBlocked(*mat, 1, &i, 1, &j, block, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(*mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Solves with options of the C interface, and takes an error as its result. BiCG also applies the
 * transpose. */
static PetscErrorCode solve(Mat mat, KSPType method, const bisai_precond_options *options,
                            int *result) {
  KSP ksp;
  PC pc;
  Vec b, x;
  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(mat, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, mat, mat));
  PetscCall(KSPSetType(ksp, method));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, "bisai"));
  PetscCall(bisai_petsc_pc_set_options(pc, options));
  /* the cycle K is that of each process */
  PetscCall(bisai_petsc_pc_set_distributed(pc, PETSC_FALSE, 0));
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  *result = (int)KSPSolve(ksp, b, x);
  PetscCall(PetscPopErrorHandler());
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Counts a failure on each process whose result is another one. */
static PetscErrorCode expect(const char *what, Mat mat, KSPType method,
                             const bisai_precond_options *options, int expected, int *failures) {
  int result = 0, least, most;
  PetscFunctionBeginUser;
  PetscCall(solve(mat, method, options, &result));
  PetscCallMPI(MPI_Allreduce(&result, &least, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(&result, &most, 1, MPI_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (least != expected || most != expected) ++*failures;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: errors %d … %d, expected %d\n", what, least, most,
                        expected));
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode run(int *failures) {
  bisai_precond_options flexible = bisai_precond_options_default(), isai = flexible, wrong = isai,
                        symmetric = isai, scaled = isai, hierarchy = isai, choice = isai,
                        idle = isai;
  Mat mat, skew;
  PetscFunctionBeginUser;
  flexible.kind = hierarchy.kind = BISAI_PRECOND_MULTIGRID;
  isai.kind = wrong.kind = symmetric.kind = scaled.kind = BISAI_PRECOND_ISAI;
  hierarchy.multigrid.smoother = BISAI_SMOOTHER_ILU;
  flexible.multigrid.cycle = BISAI_CYCLE_K;
  flexible.multigrid.coarsest = 4;
  wrong.isai.power = -1;
  symmetric.isai.symmetric = true;
  scaled.factor.equilibrate = true;
  choice.kind = idle.kind = BISAI_PRECOND_AUTO;
  idle.automatic.work = -1;
  PetscCall(make(SYMMETRIC, &mat));
  PetscCall(make(SKEW, &skew));
  PetscCall(expect("a cycle K in GMRES", mat, KSPGMRES, &flexible, PETSC_ERR_ARG_INCOMP, failures));
  PetscCall(expect("an isai in CG", mat, KSPCG, &isai, PETSC_ERR_ARG_INCOMP, failures));
  PetscCall(expect("a wrong option", mat, KSPGMRES, &wrong, PETSC_ERR_ARG_OUTOFRANGE, failures));
  PetscCall(expect("one process that is not symmetric", skew, KSPGMRES, &symmetric,
                   PETSC_ERR_ARG_INCOMP, failures));
  PetscCall(
      expect("a transpose that is missing", skew, KSPBICG, &hierarchy, PETSC_ERR_SUP, failures));
  PetscCall(expect("a scaled isai in BiCG", mat, KSPBICG, &scaled, 0, failures));
  PetscCall(expect("an isai in BiCG", mat, KSPBICG, &isai, 0, failures));
  PetscCall(expect("a cycle K in FGMRES", mat, KSPFGMRES, &flexible, 0, failures));
  PetscCall(expect("a symmetric isai in CG", mat, KSPCG, &symmetric, 0, failures));
  PetscCall(expect("a choice in GMRES", mat, KSPGMRES, &choice, 0, failures));
  PetscCall(expect("a choice in CG", mat, KSPCG, &choice, 0, failures));
  PetscCall(expect("a choice in BiCG", mat, KSPBICG, &choice, 0, failures));
  PetscCall(expect("a choice that is applied once", mat, KSPPREONLY, &choice, 0, failures));
  PetscCall(
      expect("a choice without work", mat, KSPGMRES, &idle, PETSC_ERR_ARG_OUTOFRANGE, failures));
  PetscCall(MatDestroy(&mat));
  PetscCall(MatDestroy(&skew));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* One hierarchy of all processes says whether the matrix is symmetric, also after an update. */
static PetscErrorCode view_symmetry(form how) {
  bisai_precond_options o = bisai_precond_options_default();
  Mat mat;
  PC pc;
  PetscFunctionBeginUser;
  o.kind = BISAI_PRECOND_MULTIGRID;
  PetscCall(make(how, &mat));
  PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
  PetscCall(PCSetType(pc, "bisai"));
  PetscCall(bisai_petsc_pc_set_options(pc, &o));
  PetscCall(PCSetOperators(pc, mat, mat));
  PetscCall(PCSetUp(pc));
  PetscCall(MatScale(mat, 2));
  PetscCall(PCSetUp(pc));
  PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&mat));
  PetscFunctionReturn((PetscErrorCode)0);
}

int main(int argc, char **argv) {
  int failures = 0;
  PetscInt how = -1;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(bisai_petsc_register());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-symmetry", &how, NULL));
  if (how >= 0)
    PetscCall(view_symmetry((form)how));
  else
    PetscCall(run(&failures));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d failed\n", failures));
  PetscCall(PetscFinalize());
  return failures != 0;
}
