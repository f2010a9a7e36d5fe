/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's GMRES(30) on a GPU with bisai and with PETSc's own preconditioners, in one process.
 *
 * usage: bench_petsc_gpu -system FILE [-repeat N] [-limit SECONDS] [-only WORD] [-preallocate]
 *
 * -system is a file of PETSc with a matrix and the right-hand side behind it. The block size is
 * that of FILE.info. Entries that are zero are removed from the scalar matrix. Every method sets up
 * and begins a solve of at most 60 iterations, which are the first ones, before both are timed
 * again. The solves begin at x = 0 and end at a relative residual of 1e-5, preconditioned on the
 * right, or after -limit seconds (20). -repeat solves are timed (3); the shortest counts. -only
 * runs the methods whose name contains the word, and `none`. With -preallocate GMRES has its basis
 * in one array, so that PETSc multiplies by it with cuBLAS.
 *
 * The program prints a table in Markdown. `again` is a whole set-up in the same PC, whose memory
 * pool is full, the shortest of four. `application` is the time of PCApply(). `kB copied` are the
 * bytes of vectors and matrices that PETSc moved between the host and the GPU for each iteration of
 * the timed solves; the scalar products of GMRES are among them, at most 0.25 kB. The last column
 * is the time per iteration, relative to that of `none` and an application. */
#include <petscdevice.h>
#include <petscksp.h>
#include <petsctime.h>

#include <bisai/petsc.h>
#include <string.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

enum { APPLICATIONS = 200, PLAIN_ITERATIONS = 300, WARM_UP_ITERATIONS = 60 };

typedef struct method {
  const char *name;
  /* the Mat is of type "bisai"; otherwise AIJCUSPARSE */
  PetscBool blocks;
  const char *options;
} method;

static const method methods[] = {
    {"none", PETSC_FALSE, "-pc_type none"},
    {"none, Mat bisai", PETSC_TRUE, "-pc_type none"},
    {"isai:k=1", PETSC_FALSE, "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 1"},
    {"isai:k=1, Mat bisai", PETSC_TRUE, "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 1"},
    {"isai:k=3:fp16", PETSC_FALSE,
     "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 3 -pc_bisai_storage fp16"},
    {"isai:k=3:fp16, Mat bisai", PETSC_TRUE,
     "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 3 -pc_bisai_storage fp16"},
    {"mg", PETSC_FALSE, "-pc_type bisai -pc_bisai_type mg"},
    {"mg, Mat bisai", PETSC_TRUE, "-pc_type bisai -pc_bisai_type mg"},
    {"mg, FGMRES", PETSC_FALSE, "-pc_type bisai -pc_bisai_type mg -ksp_type fgmres"},
    {"mg, FGMRES, Mat bisai", PETSC_TRUE, "-pc_type bisai -pc_bisai_type mg -ksp_type fgmres"},
    {"mg, KSP bisai", PETSC_FALSE,
     "-pc_type bisai -pc_bisai_type mg -ksp_type bisai -ksp_bisai_method gmres"},
    {"mg, KSP bisai, flexible", PETSC_FALSE,
     "-pc_type bisai -pc_bisai_type mg -ksp_type bisai -ksp_bisai_method gmres:flexible"},
    {"mg, KSP bisai, flexible, Mat bisai", PETSC_TRUE,
     "-pc_type bisai -pc_bisai_type mg -ksp_type bisai -ksp_bisai_method gmres:flexible"},
    {"PETSc ILU(0)", PETSC_FALSE, "-pc_type ilu"},
    {"PETSc pbjacobi", PETSC_FALSE, "-pc_type pbjacobi"},
    {"PETSc GAMG", PETSC_FALSE, "-pc_type gamg"},
};

/* When a solve ends. */
typedef struct ending {
  PetscReal tolerance, first;
  PetscLogDouble begin, limit;
  PetscInt most;
  PetscBool late;
} ending;

typedef struct figures {
  double first_setup, first_solve, setup, again, solve, application, residual;
  PetscInt iterations;
  PetscBool converged, late;
  /* bytes for each iteration */
  double copied;
} figures;

static PetscErrorCode has_ended(KSP ksp, PetscInt iteration, PetscReal norm,
                                KSPConvergedReason *reason, void *data) {
  ending *e = data;
  PetscLogDouble now;
  PetscFunctionBeginUser;
  (void)ksp;
  PetscCall(PetscTime(&now));
  if (iteration == 0) e->first = norm;
  e->late = now - e->begin > e->limit ? PETSC_TRUE : PETSC_FALSE;
  *reason = KSP_CONVERGED_ITERATING;
  if (norm <= e->tolerance * e->first)
    *reason = KSP_CONVERGED_RTOL;
  else if (PetscIsInfOrNanReal(norm))
    *reason = KSP_DIVERGED_NANORINF;
  else if (e->late || iteration >= e->most)
    *reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode synchronise(void) {
  PetscFunctionBeginUser;
#if defined(PETSC_HAVE_CUDA)
  PetscCall(PetscDeviceContextSynchronize(NULL));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode now(PetscLogDouble *time) {
  PetscFunctionBeginUser;
  PetscCall(synchronise());
  PetscCall(PetscTime(time));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static double copies(void) {
#if defined(PETSC_HAVE_DEVICE)
  return (double)(petsc_ctog_sz + petsc_gtoc_sz);
#else
  return 0;
#endif
}

static PetscErrorCode make_solver(const method *m, Mat a, ending *e, KSP *ksp) {
  PetscOptions options;
  PetscBool preallocate;
  PetscFunctionBeginUser;
  /* options of its own, so that no method sees those of another */
  PetscCall(PetscOptionsCreate(&options));
  PetscCall(PetscOptionsInsertString(options, m->options));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)*ksp, options));
  PetscCall(KSPSetType(*ksp, KSPGMRES));
  PetscCall(KSPGMRESSetRestart(*ksp, 30));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-preallocate", &preallocate));
  if (preallocate) PetscCall(KSPGMRESSetPreAllocateVectors(*ksp));
  PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-5, 1e-50, 1e50, 10000000));
  /* bisai's own methods know when they have converged by PETSc's default test alone */
  if (!strstr(m->options, "-ksp_type bisai"))
    PetscCall(KSPSetConvergenceTest(*ksp, has_ended, e, NULL));
  PetscCall(KSPSetOperators(*ksp, a, a));
  PC pc;
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, options));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
  PetscCall(PetscObjectSetOptions((PetscObject)*ksp, NULL));
  PetscCall(PetscOptionsDestroy(&options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solve(KSP ksp, ending *e, PetscInt most, double tolerance, Vec b, Vec x,
                            double *seconds) {
  PetscLogDouble end;
  PetscFunctionBeginUser;
  e->most = most, e->tolerance = tolerance, e->late = PETSC_FALSE;
  PetscCall(KSPSetTolerances(ksp, tolerance, 1e-50, 1e50, most));
  PetscCall(now(&e->begin));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(now(&end));
  *seconds = end - e->begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode time_applications(KSP ksp, Vec b, Vec x, double *seconds) {
  PetscLogDouble begin, end;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, b, x));
  PetscCall(now(&begin));
  for (int i = 0; i < APPLICATIONS; i++) {
    PetscCall(PCApply(pc, b, x));
    PetscCall(now(&end));
    if (end - begin > 2) { /* a slow preconditioner */
      *seconds = (end - begin) / (i + 1);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (i == 20) break;
  }
  PetscCall(now(&begin));
  for (int i = 0; i < APPLICATIONS; i++) PetscCall(PCApply(pc, b, x));
  PetscCall(now(&end));
  *seconds = (end - begin) / APPLICATIONS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *seconds ← a set-up by a PC that has been set up before: its memory pool is full. Setting options
 * has it begin anew. */
static PetscErrorCode time_again(KSP ksp, double *seconds) {
  bisai_precond_options options;
  PetscLogDouble begin, end;
  PC pc;
  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(bisai_petsc_pc_get_options(pc, &options));
  *seconds = 1e300;
  for (int turn = 0; turn < 4; turn++) {
    PetscCall(bisai_petsc_pc_set_options(pc, &options));
    PetscCall(now(&begin));
    PetscCall(PCSetUp(pc));
    PetscCall(now(&end));
    *seconds = PetscMin(*seconds, end - begin);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *result ← ‖b − A x‖ / ‖b‖ */
static PetscErrorCode true_residual(Mat a, Vec b, Vec x, Vec work, double *result) {
  PetscReal all, norm;
  PetscFunctionBeginUser;
  PetscCall(VecNorm(b, NORM_2, &all));
  PetscCall(MatMult(a, x, work));
  PetscCall(VecAXPY(work, -1, b));
  PetscCall(VecNorm(work, NORM_2, &norm));
  *result = norm / all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode measure(const method *m, Mat a, Vec b, PetscInt repeat, double limit,
                              figures *f) {
  const PetscBool plain = strstr(m->name, "none") ? PETSC_TRUE : PETSC_FALSE;
  const PetscInt most = plain ? PLAIN_ITERATIONS : 10000000;
  ending e = {.limit = limit};
  PetscLogDouble begin, end;
  double seconds = 0;
  KSPConvergedReason reason;
  KSP ksp;
  Vec x, work;
  PetscFunctionBeginUser;
  *f = (figures){.solve = 1e300};
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &work));
  PetscCall(now(&begin));
  PetscCall(make_solver(m, a, &e, &ksp));
  PetscCall(now(&end));
  f->first_setup = end - begin;
  PetscCall(solve(ksp, &e, WARM_UP_ITERATIONS, 1e-5, b, x, &f->first_solve));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(now(&begin));
  PetscCall(make_solver(m, a, &e, &ksp));
  PetscCall(now(&end));
  f->setup = end - begin;
  PetscCall(solve(ksp, &e, WARM_UP_ITERATIONS, 1e-5, b, x, &seconds));
  const double before = copies();
  PetscInt solves = 0;
  for (; solves < repeat && !f->late; solves++) {
    PetscCall(solve(ksp, &e, most, plain ? 0 : 1e-5, b, x, &seconds));
    f->solve = PetscMin(f->solve, seconds);
    f->late = e.late;
  }
  PetscCall(KSPGetIterationNumber(ksp, &f->iterations));
  f->copied = (copies() - before) / (double)PetscMax(solves * f->iterations, 1);
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  f->converged = reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(true_residual(a, b, x, work, &f->residual));
  if (!plain) PetscCall(time_applications(ksp, b, x, &f->application));
  if (strstr(m->name, "mg")) PetscCall(time_again(ksp, &f->again));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode print_row(const method *m, const figures *f, double plain) {
  const double step = f->solve / (double)PetscMax(f->iterations, 1);
  char relative[32] = "–", application[32] = "–", again[32] = "–";
  PetscFunctionBeginUser;
  if (f->application > 0) {
    PetscCall(PetscSNPrintf(application, sizeof application, "%.4f", 1e3 * f->application));
    PetscCall(PetscSNPrintf(relative, sizeof relative, "%.3f", step / (plain + f->application)));
  }
  if (f->again > 0) PetscCall(PetscSNPrintf(again, sizeof again, "%.2f", 1e3 * f->again));
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF,
                  "| %s | %d%s | %.2f | %.2f | %.2f | %s | %.2f | %.4f | %s | %.1e | %.2f | %s "
                  "|\n",
                  m->name, (int)f->iterations,
                  f->converged ? ""
                  : f->late    ? " (time)"
                               : " (no)",
                  1e3 * f->first_setup, 1e3 * f->first_solve, 1e3 * f->setup, again, 1e3 * f->solve,
                  1e3 * step, application, f->residual, 1e-3 * f->copied, relative));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the matrix in scalar form, on the host. */
static PetscErrorCode read_system(const char *path, Mat *a, Vec *b) {
  PetscViewer viewer;
  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(PETSC_COMM_SELF, a));
  PetscCall(MatSetType(*a, MATSEQAIJ));
  PetscCall(MatLoad(*a, viewer));
  /* into host memory: a CUDA vector would be filled on the host */
  PetscCall(VecCreate(PETSC_COMM_SELF, b));
  PetscCall(VecSetType(*b, VECSEQ));
  PetscCall(VecLoad(*b, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the two matrices and the right-hand side on the GPU, or on the host without one. */
static PetscErrorCode make_system(const char *path, Mat *scalar, Mat *blocks, Vec *b) {
  MatInfo info;
  PetscInt rows, bs;
  Vec host;
  PetscScalar *to;
  const PetscScalar *from;
  PetscFunctionBeginUser;
  PetscCall(read_system(path, scalar, &host));
  PetscCall(MatConvert(*scalar, "bisai", MAT_INITIAL_MATRIX, blocks));
#if PETSC_VERSION_GE(3, 20, 0)
  PetscCall(MatEliminateZeros(*scalar, PETSC_TRUE));
#endif
#if defined(PETSC_HAVE_CUDA)
  PetscCall(MatConvert(*scalar, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, scalar));
#endif
  PetscCall(MatGetSize(*scalar, &rows, NULL));
  PetscCall(MatGetBlockSize(*scalar, &bs));
  PetscCall(MatGetInfo(*scalar, MAT_LOCAL, &info));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s: %d rows, blocks of %d, %.0f entries\n\n", path,
                        (int)rows, (int)bs, info.nz_used));
  PetscCall(MatCreateVecs(*scalar, NULL, b));
  PetscCall(VecGetArrayRead(host, &from));
  PetscCall(VecGetArrayWrite(*b, &to));
  PetscCall(PetscArraycpy(to, from, rows));
  PetscCall(VecRestoreArrayWrite(*b, &to));
  PetscCall(VecRestoreArrayRead(host, &from));
  PetscCall(VecDestroy(&host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode run(void) {
  char path[PETSC_MAX_PATH_LEN] = "", only[64] = "";
  double plain[2] = {0, 0};
  PetscInt repeat = 3;
  PetscReal limit = 20;
  PetscBool given;
  Mat scalar, blocks;
  Vec b;
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-system", path, sizeof path, &given));
  PetscCheck(given, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-system FILE is missing");
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof only, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-limit", &limit, NULL));
  PetscCall(make_system(path, &scalar, &blocks, &b));
  PetscCall(
      PetscPrintf(PETSC_COMM_SELF,
                  "| method | iterations | first set-up ms | first solve ms | set-up ms | again "
                  "ms | solve ms | ms per iteration | application ms | true residual | kB copied "
                  "| relative |\n"
                  "|---|---|---|---|---|---|---|---|---|---|---|---|\n"));
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    const method *m = &methods[i];
    const PetscBool is_plain = strstr(m->name, "none") ? PETSC_TRUE : PETSC_FALSE;
    figures f;
    if (!is_plain && !strstr(m->name, only)) continue;
    PetscCall(measure(m, m->blocks ? blocks : scalar, b, repeat, limit, &f));
    if (is_plain) plain[m->blocks] = f.solve / (double)PetscMax(f.iterations, 1);
    PetscCall(print_row(m, &f, plain[m->blocks]));
  }
  PetscCall(MatDestroy(&scalar));
  PetscCall(MatDestroy(&blocks));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv) {
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(bisai_petsc_register());
  PetscCall(run());
  PetscCall(PetscFinalize());
  return 0;
}
