/* SPDX-License-Identifier: BSD-3-Clause */
/* BoomerAMG of hypre on a GPU, one process without MPI. */
#include <stdlib.h>

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>

#include "common/device.h"
#include "peer.h"
#include "systems.h"

enum { MOST_ITERATIONS = 500, RESTART = 30, NO_COMMUNICATOR = 0 };

/* hypre's numbers of methods. */
enum { PMIS = 8, EXTENDED_I = 6, L1_JACOBI = 18, CHEBYSHEV = 16, TWO_STAGE_GAUSS_SEIDEL = 11 };

/* Nodal coarsening of hypre 3.1.0 crashes with a matrix in the memory of a device. */
typedef struct setting {
  const char *name;
  /* for blocks of unknowns only */
  bool blocks;
  int relax, aggressive_levels;
  double strong;
  /* functions: the unknowns of a node are different quantities */
  bool functions;
} setting;

static const setting settings[] = {
    {"l1-Jacobi", false, L1_JACOBI, 0, 0.25, false},
    {"l1-Jacobi, strong 0.5", false, L1_JACOBI, 0, 0.5, false},
    {"Chebyshev", false, CHEBYSHEV, 0, 0.25, false},
    {"two-stage Gauss-Seidel", false, TWO_STAGE_GAUSS_SEIDEL, 0, 0.25, false},
    {"l1-Jacobi, aggressive", false, L1_JACOBI, 1, 0.25, false},
    {"Chebyshev, aggressive", false, CHEBYSHEV, 1, 0.25, false},
    {"l1-Jacobi, unknowns", true, L1_JACOBI, 0, 0.25, true},
    {"l1-Jacobi, unknowns, strong 0.5", true, L1_JACOBI, 0, 0.5, true},
    {"l1-Jacobi, unknowns, aggressive", true, L1_JACOBI, 1, 0.25, true},
    {"Chebyshev, unknowns", true, CHEBYSHEV, 0, 0.25, true},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef struct loaded {
  const peer_system *from;
  HYPRE_IJMatrix matrix;
  HYPRE_IJVector b, x;
  HYPRE_ParCSRMatrix a;
  HYPRE_ParVector pb, px;
  /* of all rows, on the device */
  HYPRE_BigInt *rows;
} loaded;

static void *on_device(const void *host, size_t bytes) {
  void *memory = bench_device_allocate(bytes);
  bench_device_upload(memory, host, bytes);
  return memory;
}

/* Stops the program: what hypre's small calls refuse, no benchmark can measure. */
static void must(HYPRE_Int error, const char *what) {
  char text[128];
  if (!error) return;
  HYPRE_DescribeError(error, text);
  bench_fail("hypre: %s: %s", what, text);
}

static bool started;

static void start(void) {
  if (started) return;
  started = true;
  must(HYPRE_Initialize(), "start");
  must(HYPRE_SetMemoryLocation(HYPRE_MEMORY_DEVICE), "memory of the device");
  must(HYPRE_SetExecutionPolicy(HYPRE_EXEC_DEVICE), "execution on the device");
  /* its own product of sparse matrices: cuSPARSE's takes more memory */
  must(HYPRE_SetSpGemmUseVendor(0), "own products");
}

static void end(void) {
  if (started) must(HYPRE_Finalize(), "end");
}

static void load_matrix(loaded *l) {
  const peer_system *s = l->from;
  const size_t n = (size_t)s->n, entries = (size_t)s->row_ptr[n];
  HYPRE_Int *lengths = bench_allocate(n, sizeof *lengths);
  HYPRE_BigInt *rows = bench_allocate(n, sizeof *rows);
  for (size_t i = 0; i < n; i++) {
    rows[i] = (HYPRE_BigInt)i;
    lengths[i] = s->row_ptr[i + 1] - s->row_ptr[i];
  }
  HYPRE_Int *device_lengths = on_device(lengths, n * sizeof *lengths);
  HYPRE_BigInt *columns = on_device(s->col_idx, entries * sizeof *columns);
  double *values = on_device(s->values, entries * sizeof *values);
  void *object;
  l->rows = on_device(rows, n * sizeof *rows);
  must(HYPRE_IJMatrixCreate(NO_COMMUNICATOR, 0, s->n - 1, 0, s->n - 1, &l->matrix), "matrix");
  must(HYPRE_IJMatrixSetObjectType(l->matrix, HYPRE_PARCSR), "matrix");
  must(HYPRE_IJMatrixInitialize_v2(l->matrix, HYPRE_MEMORY_DEVICE), "matrix");
  must(HYPRE_IJMatrixSetValues(l->matrix, s->n, device_lengths, l->rows, columns, values),
       "entries");
  must(HYPRE_IJMatrixAssemble(l->matrix), "matrix");
  must(HYPRE_IJMatrixGetObject(l->matrix, &object), "matrix");
  l->a = object;
  bench_device_release(device_lengths);
  bench_device_release(columns);
  bench_device_release(values);
  free(lengths);
  free(rows);
}

static HYPRE_ParVector load_vector(const loaded *l, const double *values, HYPRE_IJVector *vector) {
  void *object;
  must(HYPRE_IJVectorCreate(NO_COMMUNICATOR, 0, l->from->n - 1, vector), "vector");
  must(HYPRE_IJVectorSetObjectType(*vector, HYPRE_PARCSR), "vector");
  must(HYPRE_IJVectorInitialize_v2(*vector, HYPRE_MEMORY_DEVICE), "vector");
  must(HYPRE_IJVectorSetValues(*vector, l->from->n, l->rows, values), "vector");
  must(HYPRE_IJVectorAssemble(*vector), "vector");
  must(HYPRE_IJVectorGetObject(*vector, &object), "vector");
  return object;
}

static void *load(const peer_system *system) {
  loaded *l = bench_allocate(1, sizeof *l);
  start();
  *l = (loaded){.from = system};
  load_matrix(l);
  double *b = on_device(system->system->rhs, (size_t)system->n * sizeof *b);
  l->pb = load_vector(l, b, &l->b);
  l->px = load_vector(l, b, &l->x); /* every run begins with 0 */
  bench_device_release(b);
  return l;
}

static void unload(void *data) {
  loaded *l = data;
  HYPRE_IJMatrixDestroy(l->matrix);
  HYPRE_IJVectorDestroy(l->b);
  HYPRE_IJVectorDestroy(l->x);
  bench_device_release(l->rows);
  free(l);
}

static HYPRE_Solver boomeramg(const setting *o, int block_size) {
  HYPRE_Solver amg;
  must(HYPRE_BoomerAMGCreate(&amg), "BoomerAMG");
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetPrintLevel(amg, 0);
  HYPRE_BoomerAMGSetCoarsenType(amg, PMIS);
  HYPRE_BoomerAMGSetInterpType(amg, EXTENDED_I);
  HYPRE_BoomerAMGSetPMaxElmts(amg, 4);
  HYPRE_BoomerAMGSetRelaxType(amg, o->relax);
  HYPRE_BoomerAMGSetNumSweeps(amg, 1);
  HYPRE_BoomerAMGSetStrongThreshold(amg, o->strong);
  HYPRE_BoomerAMGSetAggNumLevels(amg, o->aggressive_levels);
  if (o->functions) HYPRE_BoomerAMGSetNumFunctions(amg, block_size);
  HYPRE_BoomerAMGSetKeepTranspose(amg, 1);
  return amg;
}

/* CG or FGMRES(30) of hypre: the calls differ by name alone. */
typedef struct krylov {
  HYPRE_Solver solver;
  HYPRE_Int (*setup)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*solve)(HYPRE_Solver, HYPRE_ParCSRMatrix, HYPRE_ParVector, HYPRE_ParVector);
  HYPRE_Int (*iterations)(HYPRE_Solver, HYPRE_Int *);
  HYPRE_Int (*destroy)(HYPRE_Solver);
} krylov;

static krylov cg(const loaded *l, HYPRE_Solver amg) {
  krylov k = {NULL, HYPRE_ParCSRPCGSetup, HYPRE_ParCSRPCGSolve, HYPRE_ParCSRPCGGetNumIterations,
              HYPRE_ParCSRPCGDestroy};
  must(HYPRE_ParCSRPCGCreate(NO_COMMUNICATOR, &k.solver), "CG");
  HYPRE_ParCSRPCGSetTol(k.solver, l->from->system->tolerance);
  HYPRE_ParCSRPCGSetMaxIter(k.solver, MOST_ITERATIONS);
  HYPRE_ParCSRPCGSetTwoNorm(k.solver, 1);
  HYPRE_ParCSRPCGSetPrecond(k.solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
  return k;
}

static krylov fgmres(const loaded *l, HYPRE_Solver amg) {
  krylov k = {NULL, HYPRE_ParCSRFlexGMRESSetup, HYPRE_ParCSRFlexGMRESSolve,
              HYPRE_ParCSRFlexGMRESGetNumIterations, HYPRE_ParCSRFlexGMRESDestroy};
  must(HYPRE_ParCSRFlexGMRESCreate(NO_COMMUNICATOR, &k.solver), "FGMRES");
  HYPRE_ParCSRFlexGMRESSetTol(k.solver, l->from->system->tolerance);
  HYPRE_ParCSRFlexGMRESSetMaxIter(k.solver, MOST_ITERATIONS);
  HYPRE_ParCSRFlexGMRESSetKDim(k.solver, RESTART);
  HYPRE_ParCSRFlexGMRESSetPrecond(k.solver, HYPRE_BoomerAMGSolve, HYPRE_BoomerAMGSetup, amg);
  return k;
}

/* Returns whether hypre went on. It also calls iterations that did not converge an error. */
static bool went_on(HYPRE_Int error, peer_run *run) {
  const bool fatal = error & ~HYPRE_ERROR_CONV;
  if (fatal) HYPRE_DescribeError(error, run->refusal);
  HYPRE_ClearAllErrors();
  return !fatal;
}

static void run_setting(void *data, int index, peer_run *run) {
  loaded *l = data;
  HYPRE_Solver amg = boomeramg(&settings[index], l->from->block_size);
  krylov k = l->from->system->symmetric ? cg(l, amg) : fgmres(l, amg);
  HYPRE_Int iterations = 0;
  *run = (peer_run){.iterations = 0};
  must(HYPRE_ParVectorSetConstantValues(l->px, 0), "x = 0");
  const int64_t before = bench_device_pool(true).used;
  const double begin = bench_device_now();
  const bool ready = went_on(k.setup(k.solver, l->a, l->pb, l->px), run);
  const double middle = bench_device_now();
  const bench_pool after = bench_device_pool(false);
  if (ready) {
    const HYPRE_Int error = k.solve(k.solver, l->a, l->pb, l->px);
    run->converged = went_on(error, run) && !error;
    run->solve = bench_device_now() - middle;
    k.iterations(k.solver, &iterations);
  }
  run->setup = middle - begin;
  run->iterations = iterations;
  run->kept = after.used - before;
  run->peak = after.most - before;
  k.destroy(k.solver);
  HYPRE_BoomerAMGDestroy(amg);
  HYPRE_ClearAllErrors();
}

static void solution(void *data, double *x) {
  loaded *l = data;
  const size_t bytes = (size_t)l->from->n * sizeof *x;
  double *values = bench_device_allocate(bytes);
  must(HYPRE_IJVectorGetValues(l->x, l->from->n, l->rows, values), "x");
  bench_device_download(x, values, bytes);
  bench_device_release(values);
}

static const char *setting_name(int index) { return settings[index].name; }

static bool applies(int index, const bench_system *system) {
  return !settings[index].blocks || bisai_bcsr_block_size(system->matrix) > 1;
}

static void version(char text[64]) { snprintf(text, 64, "%s", HYPRE_RELEASE_VERSION); }

const peer peer_hypre = {"hypre", version, SETTINGS,    setting_name, applies,
                         load,    unload,  run_setting, solution,     end};
