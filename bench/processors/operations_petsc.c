/* SPDX-License-Identifier: BSD-3-Clause */
#include "operations_petsc.h"

#include <math.h>
#include <petscksp.h>

struct bench_petsc {
  Mat a, factor;
  Vec b, x, y;
  KSP ksp;
  MatFactorInfo info;
  IS rows, cols;
  bench_petsc_parts parts;
};

static void check(PetscErrorCode code) {
  if (code) bench_fail("PETSc failed with code %d", (int)code);
}

const char *bench_petsc_version(void) {
  static char version[256];
  check(PetscGetVersion(version, sizeof version));
  return version;
}

/* Copies the matrix as PETSc's manual advises: into PETSc's memory and in one pass. */
static Mat copy_matrix(const bisai_bcsr *matrix) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  const PetscInt bs = bisai_bcsr_block_size(matrix), rows = bisai_bcsr_block_rows(matrix) * bs;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  _Static_assert(sizeof(PetscInt) == sizeof(int32_t), "PETSc with 32-bit indices");
  Mat a;
  check(MatCreate(PETSC_COMM_SELF, &a));
  check(MatSetSizes(a, rows, rows, rows, rows));
  check(MatSetType(a, MATSEQBAIJ));
  check(MatSetBlockSize(a, bs));
  check(MatSetUp(a)); /* keeps the option below */
  check(MatSetOption(a, MAT_ROW_ORIENTED, PETSC_FALSE));
  check(MatSeqBAIJSetPreallocationCSR(a, bs, row_ptr, col_idx, values));
  return a;
}

static KSP make_ksp(Mat a, double tolerance) {
  KSP ksp;
  PC pc;
  check(KSPCreate(PETSC_COMM_SELF, &ksp));
  check(KSPSetOperators(ksp, a, a));
  check(KSPSetType(ksp, KSPGMRES));
  check(KSPGMRESSetRestart(ksp, 30));
  check(KSPGMRESSetPreAllocateVectors(ksp));
  check(KSPSetPCSide(ksp, PC_RIGHT));
  check(KSPSetTolerances(ksp, tolerance, 0, PETSC_DEFAULT, 100000));
  check(KSPGetPC(ksp, &pc));
  check(PCSetType(pc, PCILU));
  check(KSPSetUp(ksp));
  return ksp;
}

bench_petsc *bench_petsc_create(const bisai_bcsr *matrix, const double *rhs, double tolerance) {
  if (!PetscInitializeCalled) {
    check(PetscInitializeNoArguments());
    check(PetscLogDefaultBegin());
  }
  bench_petsc *p = bench_allocate(1, sizeof *p);
  *p = (bench_petsc){.a = copy_matrix(matrix)};
  check(MatCreateVecs(p->a, &p->x, &p->b));
  check(VecDuplicate(p->x, &p->y));
  PetscScalar *b;
  PetscInt n;
  check(VecGetLocalSize(p->b, &n));
  check(VecGetArray(p->b, &b));
  for (PetscInt i = 0; i < n; i++) b[i] = rhs[i];
  check(VecRestoreArray(p->b, &b));
  check(MatGetOrdering(p->a, MATORDERINGNATURAL, &p->rows, &p->cols));
  check(MatFactorInfoInitialize(&p->info));
  p->info.fill = 1;
  bench_petsc_factor(p);
  p->ksp = make_ksp(p->a, tolerance);
  return p;
}

void bench_petsc_destroy(bench_petsc *p) {
  check(KSPDestroy(&p->ksp));
  check(MatDestroy(&p->factor));
  check(MatDestroy(&p->a));
  check(VecDestroy(&p->b));
  check(VecDestroy(&p->x));
  check(VecDestroy(&p->y));
  check(ISDestroy(&p->rows));
  check(ISDestroy(&p->cols));
  free(p);
}

double bench_petsc_product(void *petsc) {
  bench_petsc *p = petsc;
  const double start = bench_now();
  check(MatMult(p->a, p->b, p->y));
  return bench_now() - start;
}

double bench_petsc_factor_numeric(void *petsc) {
  bench_petsc *p = petsc;
  const double start = bench_now();
  check(MatLUFactorNumeric(p->factor, p->a, &p->info));
  return bench_now() - start;
}

double bench_petsc_factor(void *petsc) {
  bench_petsc *p = petsc;
  check(MatDestroy(&p->factor));
  const double start = bench_now();
  check(MatGetFactor(p->a, MATSOLVERPETSC, MAT_FACTOR_ILU, &p->factor));
  check(MatILUFactorSymbolic(p->factor, p->a, p->rows, p->cols, &p->info));
  check(MatLUFactorNumeric(p->factor, p->a, &p->info));
  return bench_now() - start;
}

double bench_petsc_factor_solve(void *petsc) {
  bench_petsc *p = petsc;
  const double start = bench_now();
  check(MatSolve(p->factor, p->b, p->y));
  return bench_now() - start;
}

/* Returns 0 for an event that this version of PETSc does not have or has not logged yet. */
static double seconds_of(const char *event) {
  PetscLogEvent id;
  PetscEventPerfInfo info;
  check(PetscLogEventGetId(event, &id));
  if (id < 0) return 0;
  check(PetscLogEventGetPerfInfo(0, id, &info));
  return info.time;
}

static bench_petsc_parts parts_so_far(void) {
  return (bench_petsc_parts){.products = seconds_of("MatMult"),
                             .applications = seconds_of("PCApply"),
                             .orthogonalization = seconds_of("KSPGMRESOrthog")};
}

double bench_petsc_ksp(void *petsc) {
  bench_petsc *p = petsc;
  const bench_petsc_parts before = parts_so_far();
  const double start = bench_now();
  check(KSPSolve(p->ksp, p->b, p->x));
  const double seconds = bench_now() - start;
  const bench_petsc_parts after = parts_so_far();
  PetscInt iterations;
  KSPConvergedReason reason;
  check(KSPGetIterationNumber(p->ksp, &iterations));
  check(KSPGetConvergedReason(p->ksp, &reason));
  if (reason <= 0) bench_fail("KSPSolve did not converge: reason %d", (int)reason);
  p->parts =
      (bench_petsc_parts){.iterations = (int)iterations,
                          .products = after.products - before.products,
                          .applications = after.applications - before.applications,
                          .orthogonalization = after.orthogonalization - before.orthogonalization};
  return seconds;
}

bench_petsc_parts bench_petsc_ksp_parts(const bench_petsc *p) { return p->parts; }

double bench_petsc_difference(const bench_petsc *p, const double *x) {
  const PetscScalar *theirs;
  PetscInt n;
  double difference = 0, largest = 0;
  check(VecGetLocalSize(p->x, &n));
  check(VecGetArrayRead(p->x, &theirs));
  for (PetscInt i = 0; i < n; i++) {
    difference = fmax(difference, fabs(x[i] - theirs[i]));
    largest = fmax(largest, fabs(theirs[i]));
  }
  check(VecRestoreArrayRead(p->x, &theirs));
  return difference / largest;
}
