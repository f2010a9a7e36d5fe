/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves a system with PETSc, and with the preconditioners that PETSc calls, on all ranks of MPI.
 *
 * usage: mpirun -np 2 bench_peers -system FILE [-null FILE | -null components] [-null_first N]
 *                                 [-singular] [-repeat N] [-warm_up 0] [-cpr P]
 *                                 [any option of KSP and PC]
 *
 * -system is a file of PETSc with a matrix and the right-hand side behind it. The block size is
 * that of FILE.info. -null gives near-null-space vectors: a Matrix Market array with a row for each
 * row of the matrix, or one constant for each unknown of a block. -null_first leaves out the first
 * N vectors. With -singular they are the null space of A too. -cpr makes the preconditioner a CPR
 * whose pressure is unknown P of a block, from 0 (peers_cpr.h). Each repetition makes a new solver,
 * sets it up from the matrix and solves from x = 0. One more repetition comes before them and is
 * not counted, unless -warm_up is 0.
 *
 * The program prints a JSON object with a record of each repetition. Times are in seconds. Those of
 * a clock include the wait for the slowest rank. Those of the processor are of rank 0, and are far
 * shorter if other processes keep the machine busy. */
#include <petscksp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "peers_cpr.h"

_Static_assert(sizeof(PetscScalar) == sizeof(double), "PETSc with real numbers");

/* Seconds of a clock, and of the processor that this rank has used. */
typedef struct moment {
  double clock, processor;
} moment;

typedef struct outcome {
  PetscInt iterations;
  moment setup, solve;
  double residual;
  KSPConvergedReason reason;
} outcome;

/* Reads the rows of this rank from an array in the order of its columns. */
static PetscErrorCode read_vectors(const char *path, Mat a, PetscInt first, PetscInt *count,
                                   Vec **vectors) {
  char line[256] = "%";
  int rows = 0, columns = 0;
  PetscInt begin, end, all;
  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(a, &begin, &end));
  PetscCall(MatGetSize(a, &all, NULL));
  FILE *file = fopen(path, "r");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "%s cannot be opened", path);
  while (line[0] == '%' && fgets(line, sizeof line, file)) continue;
  const int read = sscanf(line, "%d %d", &rows, &columns);
  PetscCheck(read == 2 && rows == all && columns > first, PETSC_COMM_SELF,
             PETSC_ERR_FILE_UNEXPECTED, "%s has %d rows and %d columns; the matrix has %d rows",
             path, rows, columns, (int)all);
  *count = columns - first;
  PetscCall(PetscMalloc1(*count, vectors));
  for (PetscInt c = 0; c < columns; c++) {
    PetscScalar *values = NULL, ignored;
    if (c >= first) {
      PetscCall(MatCreateVecs(a, &(*vectors)[c - first], NULL));
      PetscCall(VecGetArray((*vectors)[c - first], &values));
    }
    for (PetscInt i = 0; i < all; i++) {
      const int got =
          fscanf(file, "%lf", values && i >= begin && i < end ? &values[i - begin] : &ignored);
      PetscCheck(got == 1, PETSC_COMM_SELF, PETSC_ERR_FILE_READ, "%s ends early", path);
    }
    if (values) PetscCall(VecRestoreArray((*vectors)[c - first], &values));
  }
  fclose(file);
  PetscFunctionReturn(0);
}

/* One constant for each unknown of a block. */
static PetscErrorCode make_components(Mat a, PetscInt *count, Vec **vectors) {
  PetscInt begin, end;
  PetscFunctionBeginUser;
  PetscCall(MatGetBlockSize(a, count));
  PetscCall(MatGetOwnershipRange(a, &begin, &end));
  PetscCall(PetscMalloc1(*count, vectors));
  for (PetscInt c = 0; c < *count; c++) {
    PetscScalar *values;
    PetscCall(MatCreateVecs(a, &(*vectors)[c], NULL));
    PetscCall(VecGetArray((*vectors)[c], &values));
    for (PetscInt i = begin; i < end; i++) values[i - begin] = i % *count == c;
    PetscCall(VecRestoreArray((*vectors)[c], &values));
  }
  PetscFunctionReturn(0);
}

/* MatNullSpaceCreate() wants orthonormal vectors. Two passes of Gram–Schmidt give them. */
static PetscErrorCode orthonormalise(PetscInt count, Vec *vectors) {
  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < count; c++) {
    for (int pass = 0; pass < 2; pass++) {
      for (PetscInt k = 0; k < c; k++) {
        PetscScalar product;
        PetscCall(VecDot(vectors[c], vectors[k], &product));
        PetscCall(VecAXPY(vectors[c], -product, vectors[k]));
      }
    }
    PetscCall(VecNormalize(vectors[c], NULL));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode attach_null_space(Mat a) {
  char path[PETSC_MAX_PATH_LEN];
  PetscBool given, components, singular = PETSC_FALSE;
  PetscInt count = 0, first = 0;
  Vec *vectors = NULL;
  MatNullSpace space;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-null", path, sizeof path, &given));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-null_first", &first, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-singular", &singular, NULL));
  if (!given) PetscFunctionReturn(0);
  PetscCall(PetscStrcmp(path, "components", &components));
  if (components)
    PetscCall(make_components(a, &count, &vectors));
  else
    PetscCall(read_vectors(path, a, first, &count, &vectors));
  PetscCall(orthonormalise(count, vectors));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_FALSE, count, vectors, &space));
  PetscCall(MatSetNearNullSpace(a, space));
  if (singular) PetscCall(MatSetNullSpace(a, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroyVecs(count, &vectors));
  PetscFunctionReturn(0);
}

static PetscErrorCode load(Mat *a, Vec *b) {
  char path[PETSC_MAX_PATH_LEN];
  PetscBool given;
  PetscViewer file;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-system", path, sizeof path, &given));
  PetscCheck(given, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "give -system FILE");
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &file));
  PetscCall(MatCreate(PETSC_COMM_WORLD, a));
  PetscCall(MatSetType(*a, MATAIJ));
  PetscCall(MatSetFromOptions(*a));
  PetscCall(MatLoad(*a, file));
  PetscCall(MatCreateVecs(*a, NULL, b));
  PetscCall(VecLoad(*b, file));
  PetscCall(PetscViewerDestroy(&file));
  PetscCall(attach_null_space(*a));
  PetscFunctionReturn(0);
}

static PetscErrorCode now(moment *m) {
  struct timespec used;
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  m->processor = (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
  m->clock = MPI_Wtime();
  PetscFunctionReturn(0);
}

static moment between(moment begin, moment end) {
  return (moment){end.clock - begin.clock, end.processor - begin.processor};
}

static PetscErrorCode solve(Mat a, Vec b, Vec x, outcome *o) {
  KSP ksp;
  PC pc;
  moment begin, middle, end;
  double norm;
  PetscInt pressure;
  PetscBool is_cpr;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cpr", &pressure, &is_cpr));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(now(&begin));
  PetscCall(KSPSetOperators(ksp, a, a));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  if (is_cpr) PetscCall(peers_cpr(pc, pressure));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(now(&middle));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(now(&end));
  o->setup = between(begin, middle);
  o->solve = between(middle, end);
  PetscCall(KSPGetIterationNumber(ksp, &o->iterations));
  PetscCall(KSPGetConvergedReason(ksp, &o->reason));
  Vec r;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(a, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &o->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  o->residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(0);
}

static PetscErrorCode print(const outcome *o) {
  PetscFunctionBeginUser;
  /* JSON has neither NaN nor infinity */
  const double residual = PetscIsInfOrNanReal(o->residual) ? -1 : o->residual;
  PetscCall(PetscPrintf(
      PETSC_COMM_WORLD,
      "{\"iterations\": %d, \"setup_s\": %.9g, \"solve_s\": %.9g, \"setup_processor_s\": %.9g, "
      "\"solve_processor_s\": %.9g, \"relative_residual\": %.9g, \"converged\": %s, "
      "\"reason\": \"%s\"}",
      (int)o->iterations, o->setup.clock, o->solve.clock, o->setup.processor, o->solve.processor,
      residual, o->reason > 0 ? "true" : "false", KSPConvergedReasons[o->reason]));
  PetscFunctionReturn(0);
}

static PetscErrorCode run(void) {
  Mat a;
  Vec b, x;
  PetscInt repeat = 1, rows, bs;
  PetscBool warm_up = PETSC_TRUE;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-warm_up", &warm_up, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(load(&a, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(MatGetSize(a, &rows, NULL));
  PetscCall(MatGetBlockSize(a, &bs));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "{\"rows\": %d, \"block_size\": %d, \"runs\": [",
                        (int)rows, (int)bs));
  for (PetscInt k = warm_up ? -1 : 0; k < repeat; k++) {
    outcome o;
    PetscCall(VecZeroEntries(x));
    PetscCall(solve(a, b, x, &o));
    if (k < 0) continue;
    if (k > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ", "));
    PetscCall(print(&o));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "]}\n"));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&a));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(run());
  PetscCall(PetscFinalize());
  return 0;
}
