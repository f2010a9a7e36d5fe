/* SPDX-License-Identifier: BSD-3-Clause */
/* GAMG of PETSc on a GPU, one process. */
#include <petscksp.h>
#include <stdlib.h>
#include <string.h>

#include "common/device.h"
#include "peer.h"
#include "systems.h"

enum { MOST_ITERATIONS = 500, RESTART = 30 };

typedef struct setting {
  const char *name, *options;
} setting;

static const setting settings[] = {
    {"defaults", ""},
    {"threshold 0.02", "-pc_gamg_threshold 0.02"},
    {"not aggressive", "-pc_gamg_aggressive_coarsening 0"},
    {"unsmoothed", "-pc_gamg_agg_nsmooths 0"},
    {"pbjacobi", "-mg_levels_pc_type pbjacobi"},
    {"Richardson, pbjacobi, not aggressive",
     "-mg_levels_ksp_type richardson -mg_levels_ksp_richardson_scale 0.6 "
     "-mg_levels_pc_type pbjacobi -pc_gamg_aggressive_coarsening 0"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct loaded {
  const peer_system *from;
  Mat a;
  Vec b, x;
} loaded;

/* Stops the program: what small calls of PETSc refuse, no benchmark can measure. */
static void must(PetscErrorCode error, const char *what) {
  if (error) bench_fail("PETSc: %s: error %d", what, (int)error);
}

static bool started;

static void start(void) {
  if (started) return;
  started = true;
  must(PetscInitializeNoArguments(), "start");
  /* an error is a result here */
  must(PetscPushErrorHandler(PetscReturnErrorHandler, NULL), "errors are returned");
}

/* Ends MPI too, which PetscInitialize began. */
static void end(void) {
  if (!started) return;
  must(PetscPopErrorHandler(), "errors end the program");
  must(PetscFinalize(), "end");
}

/* --- the system --- */

/* *vector ← these values with a given stride, on the device. */
static void load_vector(const loaded *l, const double *values, int stride, Vec *vector) {
  PetscScalar *to;
  must(MatCreateVecs(l->a, NULL, vector), "vector");
  must(VecGetArrayWrite(*vector, &to), "vector");
  for (int32_t i = 0; i < l->from->n; i++) to[i] = values ? values[(size_t)i * (size_t)stride] : 0;
  must(VecRestoreArrayWrite(*vector, &to), "vector");
}

/* Gives PETSc the near-null vectors, which it wants orthonormal. */
static void load_null_vectors(const loaded *l) {
  const bench_system *s = l->from->system;
  const int count = s->null_count;
  MatNullSpace space;
  Vec *vectors = bench_allocate((size_t)count, sizeof *vectors);
  for (int k = 0; k < count; k++) {
    load_vector(l, s->null_vectors + k, count, &vectors[k]);
    for (int j = 0; j < k; j++) {
      PetscScalar product;
      must(VecDot(vectors[k], vectors[j], &product), "orthogonal vectors");
      must(VecAXPY(vectors[k], -product, vectors[j]), "orthogonal vectors");
    }
    must(VecNormalize(vectors[k], NULL), "unit vectors");
  }
  must(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, count, vectors, &space), "near-null space");
  must(MatSetNearNullSpace(l->a, space), "near-null space");
  must(MatNullSpaceDestroy(&space), "near-null space");
  for (int k = 0; k < count; k++) must(VecDestroy(&vectors[k]), "vector");
  free(vectors);
}

static void *load(const peer_system *system) {
  loaded *l = bench_allocate(1, sizeof *l);
  Mat host;
  start();
  *l = (loaded){.from = system};
  must(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, system->n, system->n, system->row_ptr,
                                 system->col_idx, system->values, &host),
       "matrix");
  must(MatConvert(host, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &l->a), "matrix of the device");
  must(MatDestroy(&host), "matrix");
  must(MatSetBlockSize(l->a, system->block_size), "block size");
  if (system->system->symmetric) must(MatSetOption(l->a, MAT_SPD, PETSC_TRUE), "symmetry");
  load_vector(l, system->system->rhs, 1, &l->b);
  load_vector(l, NULL, 1, &l->x);
  if (system->system->null_vectors) load_null_vectors(l);
  return l;
}

static void unload(void *data) {
  loaded *l = data;
  must(MatDestroy(&l->a), "matrix");
  must(VecDestroy(&l->b), "vector");
  must(VecDestroy(&l->x), "vector");
  free(l);
}

/* --- a run --- */

static PetscErrorCode make_solver(const loaded *l, KSP *ksp) {
  const bench_system *s = l->from->system;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, l->a, l->a));
  PetscCall(KSPSetTolerances(*ksp, s->tolerance, 0, PETSC_DEFAULT, MOST_ITERATIONS));
  PetscCall(KSPSetType(*ksp, s->symmetric ? KSPCG : KSPFGMRES));
  if (!s->symmetric) PetscCall(KSPGMRESSetRestart(*ksp, RESTART));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCGAMG));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up_and_solve(loaded *l, KSP ksp, peer_run *run) {
  KSPConvergedReason reason;
  PetscInt iterations;
  PetscFunctionBeginUser;
  const bench_pool before = bench_device_pool(true);
  const double begin = bench_device_now();
  PetscCall(KSPSetUp(ksp));
  const double middle = bench_device_now();
  const bench_pool after = bench_device_pool(false);
  run->setup = middle - begin;
  run->kept = after.used - before.used;
  run->peak = after.most - before.used;
  PetscCall(KSPSolve(ksp, l->b, l->x));
  run->solve = bench_device_now() - middle;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  run->converged = reason > 0;
  run->iterations = (int)iterations;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void run_setting(void *data, int index, peer_run *run) {
  loaded *l = data;
  KSP ksp = NULL;
  PetscOptions options;
  const char *text;
  *run = (peer_run){.iterations = 0};
  must(PetscOptionsCreate(&options), "options");
  must(PetscOptionsInsertString(options, settings[index].options), "options");
  /* the solvers of the levels, which the set-up makes, read the database that is on top */
  must(PetscOptionsPush(options), "options");
  PetscErrorCode error = VecSet(l->x, 0);
  if (!error) error = make_solver(l, &ksp);
  if (!error) error = set_up_and_solve(l, ksp, run);
  if (error && !PetscErrorMessage(error, &text, NULL))
    snprintf(run->refusal, sizeof run->refusal, "error %d: %s", (int)error, text);
  /* after an error PETSc may refuse to destroy what it could not make */
  (void)KSPDestroy(&ksp);
  must(PetscOptionsPop(), "options");
  must(PetscOptionsDestroy(&options), "options");
}

static void solution(void *data, double *x) {
  loaded *l = data;
  const PetscScalar *values;
  must(VecGetArrayRead(l->x, &values), "x");
  memcpy(x, values, (size_t)l->from->n * sizeof *x);
  must(VecRestoreArrayRead(l->x, &values), "x");
}

static const char *setting_name(int index) { return settings[index].name; }

static bool applies(int index, const bench_system *system) {
  (void)index;
  (void)system;
  return true;
}

static void version(char text[64]) {
  snprintf(text, 64, "%d.%d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR);
}

const peer peer_gamg = {"GAMG", version, SETTINGS,    setting_name, applies,
                        load,   unload,  run_setting, solution,     end};
