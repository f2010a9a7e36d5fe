/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's own solvers with its own block ILU, for comparisons: KSPGMRES, KSPCG and KSPBCGS with
 * PCILU on a SeqBAIJ matrix. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "petsc/calls.h"
#include "petsc/matrix.h"

enum { HISTORY = 1 << 20 };

struct bisai_petsc_solver {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bisai_solver_options options;
  Mat mat;
  KSP ksp;
  /* vectors without memory; a solve places the caller's arrays in them */
  Vec b, x;
  double *residual;
  /* relative residuals */
  double *history;
  int64_t n;
  double seconds;
  /* context of KSPConvergedDefault(); NULL without a monitor */
  void *test;
  /* norm of b, to which the monitor's residuals are relative */
  double b_norm;
  /* the last iteration that the monitor received; −1: none. PETSc tests an iteration twice at a
   * restart */
  int told;
  /* true if the monitor has stopped the solve */
  bool stopped;
};

typedef struct making {
  bisai_context *context;
  const bisai_bcsr *matrix;
  bisai_solver_options options;
  int level;
  bisai_petsc_solver *solver;
} making;

/* Returns PETSc's type of a method, or NULL if PETSc has none. */
static KSPType type_of(bisai_method method) {
  switch (method) {
  case BISAI_GMRES: return KSPGMRES;
  case BISAI_CG: return KSPCG;
  case BISAI_BICGSTAB: return KSPBCGS;
  default: return NULL;
  }
}

/* PETSc's own convergence test. It also stops the solve if the monitor requests it. */
static PetscErrorCode test(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason *reason,
                           void *user) {
  bisai_petsc_solver *s = user;
  const bisai_solver_options *o = &s->options;
  PetscFunctionBegin;
  PetscCall(KSPConvergedDefault(ksp, iteration, norm, reason, s->test));
  if (iteration > s->told && o->monitor(o->monitor_user, (int)iteration, norm / s->b_norm) != 0)
    s->stopped = true;
  s->told = (int)iteration;
  if (s->stopped && *reason == KSP_CONVERGED_ITERATING) *reason = KSP_CONVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode watch(bisai_petsc_solver *s) {
  PetscFunctionBegin;
  if (!s->options.monitor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPConvergedDefaultCreate(&s->test));
  PetscCall(KSPSetConvergenceTest(s->ksp, test, s, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode configure(KSP ksp, Mat mat, int level, const bisai_solver_options *o) {
  PC pc;
  PetscFunctionBegin;
  PetscCall(KSPSetOperators(ksp, mat, mat));
  PetscCall(KSPSetType(ksp, type_of(o->method)));
  PetscCall(KSPGMRESSetRestart(ksp, o->gmres.restart));
  if (o->method == BISAI_CG) /* CG has no side, and would test the preconditioned residual */
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  else
    PetscCall(KSPSetPCSide(ksp, o->gmres.side == BISAI_RIGHT ? PC_RIGHT : PC_LEFT));
  PetscCall(KSPSetTolerances(ksp, o->tolerance, 0, PETSC_DEFAULT, o->max_iterations));
  PetscCall(KSPSetInitialGuessNonzero(ksp, o->use_initial_guess ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCILU));
  PetscCall(PCFactorSetLevels(pc, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(void *arguments, bisai_status *status) {
  making *m = arguments;
  bisai_petsc_solver *s;
  PC pc;
  PCFailedReason reason;
  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  m->solver = s;
  s->context = m->context, s->matrix = m->matrix, s->options = m->options;
  const PetscInt bs = bisai_bcsr_block_size(m->matrix);
  s->n = (int64_t)bisai_bcsr_block_rows(m->matrix) * bs;
  PetscCall(bsi_petsc_mat(m->matrix, &s->mat));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &s->ksp));
  PetscCall(configure(s->ksp, s->mat, m->level, &m->options));
  PetscCall(watch(s));
  const PetscInt kept =
      m->options.max_iterations < HISTORY ? m->options.max_iterations + 1 : HISTORY;
  PetscCall(PetscMalloc2((size_t)kept, &s->history, (size_t)s->n, &s->residual));
  PetscCall(KSPSetResidualHistory(s->ksp, s->history, kept, PETSC_TRUE));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, bs, (PetscInt)s->n, NULL, &s->b));
  PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, bs, (PetscInt)s->n, NULL, &s->x));
  const double start = bsi_petsc_now();
  PetscCall(KSPSetUp(s->ksp));
  s->seconds = bsi_petsc_now() - start;
  PetscCall(KSPGetPC(s->ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &reason));
  if (reason)
    *status = bisai_context_fail(m->context, BISAI_SINGULAR_BLOCK,
                                 "PETSc's block ILU found a zero pivot");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(void *arguments, bisai_status *status) {
  bisai_petsc_solver *s = arguments;
  (void)status;
  PetscFunctionBegin;
  PetscCall(KSPDestroy(&s->ksp));
#if PETSC_VERSION_LT(3, 23, 0)
  if (s->test) PetscCall(KSPConvergedDefaultDestroy(s->test));
#else
  if (s->test) PetscCall(KSPConvergedDefaultDestroy(&s->test));
#endif
  PetscCall(MatDestroy(&s->mat));
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->x));
  PetscCall(PetscFree2(s->history, s->residual));
  PetscCall(PetscFree(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bisai_petsc_solver_destroy(bisai_petsc_solver **solver) {
  if (!solver || !*solver) return;
  bsi_petsc_run((*solver)->context, destroy, *solver);
  *solver = NULL;
}

/* Checks the options as bisai does, by creating a solver of bisai for one unknown. */
static bisai_status check_options(bisai_context *context, const bisai_solver_options *options) {
  bisai_solver *judge = NULL;
  bisai_status status = bisai_solver_create(context, 1, options, &judge);
  bisai_solver_destroy(&judge);
  if (!status && options && !type_of(options->method))
    return bisai_context_fail(context, BISAI_UNSUPPORTED, "PETSc has gmres, cg and bicgstab only");
  if (!status && options && (options->gmres.flexible || options->cg.flexible || options->reduce))
    return bisai_context_fail(context, BISAI_UNSUPPORTED,
                              "PETSc's solver supports neither a reduction nor a flexible method");
  return status;
}

bisai_status bisai_petsc_solver_create(bisai_context *context, const bisai_bcsr *matrix, int level,
                                       const bisai_solver_options *options,
                                       bisai_petsc_solver **solver) {
  if (!solver) return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "solver is NULL");
  bisai_status status = bsi_petsc_check_factorable(context, matrix, level);
  if (!status) status = check_options(context, options);
  if (status) return status;
  making m = {.context = context, .matrix = matrix, .level = level};
  m.options = options ? *options : bisai_solver_options_default();
  status = bsi_petsc_run(context, make, &m);
  if (!status)
    *solver = m.solver;
  else
    bisai_petsc_solver_destroy(&m.solver);
  return status;
}

typedef struct solving {
  bisai_petsc_solver *solver;
  const double *b;
  double *x;
  KSPConvergedReason reason;
  /* norm of b */
  double norm;
  bisai_solver_report report;
} solving;

static PetscErrorCode solve(void *arguments, bisai_status *status) {
  solving *o = arguments;
  bisai_petsc_solver *s = o->solver;
  PetscInt iterations, length;
  PetscFunctionBegin;
  (void)status;
  PetscCall(VecPlaceArray(s->b, o->b));
  PetscCall(VecPlaceArray(s->x, o->x));
  PetscCall(VecNorm(s->b, NORM_2, &o->norm));
  s->b_norm = o->norm > 0 ? o->norm : 1, s->told = -1, s->stopped = false;
  const double start = bsi_petsc_now();
  PetscErrorCode code = KSPSolve(s->ksp, s->b, s->x);
  o->report.solve_seconds = bsi_petsc_now() - start;
  PetscCall(VecResetArray(s->b));
  PetscCall(VecResetArray(s->x));
  PetscCall(code);
  PetscCall(KSPGetConvergedReason(s->ksp, &o->reason));
  PetscCall(KSPGetIterationNumber(s->ksp, &iterations));
  PetscCall(KSPGetResidualNorm(s->ksp, &o->report.estimated_residual));
  PetscCall(KSPGetResidualHistory(s->ksp, NULL, &length));
  o->report.iterations = (int)iterations;
  o->report.method = s->options.method;
  o->report.history_length = (int)length;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ‖v‖₂ = largest·sqrt(sum). No square overflows or underflows. */
typedef struct norm {
  double largest, sum;
} norm;

static norm norm_of(int64_t n, const double *v) {
  norm result = {0, 0};
  for (int64_t i = 0; i < n; i++) {
    if (!isfinite(v[i])) return (norm){fabs(v[i]), 1};
    result.largest = fmax(result.largest, fabs(v[i]));
  }
  for (int64_t i = 0; i < n && result.largest > 0; i++)
    result.sum += v[i] / result.largest * (v[i] / result.largest);
  return result.largest > 0 ? result : (norm){0, 1};
}

static bisai_status recompute(solving *o) {
  bisai_petsc_solver *s = o->solver;
  bisai_status status = bisai_bcsr_multiply(s->matrix, o->x, s->residual);
  if (status) return status;
  for (int64_t i = 0; i < s->n; i++) s->residual[i] = o->b[i] - s->residual[i];
  const norm residual = norm_of(s->n, s->residual),
             b = o->norm > 0 ? norm_of(s->n, o->b) : (norm){1, 1};
  const double scale = o->norm > 0 ? o->norm : 1;
  o->report.relative_residual = residual.largest / b.largest * sqrt(residual.sum / b.sum);
  o->report.estimated_residual /= scale;
  for (int i = 0; i < o->report.history_length; i++) s->history[i] /= scale;
  o->report.history = s->history;
  return BISAI_OK;
}

/* Translates PETSc's reason into a status and a reason of bisai. The message contains PETSc's
 * word. */
static bisai_status judge(solving *o) {
  bisai_solver_report *r = &o->report;
  const double tolerance = o->solver->options.tolerance;
  bisai_status status = BISAI_BREAKDOWN;
  r->reason = BISAI_REASON_BREAKDOWN;
  if (o->reason > 0 && r->relative_residual <= fmin(2 * tolerance, (1 + tolerance) / 2)) {
    r->reason = BISAI_REASON_CONVERGED;
    return BISAI_OK;
  }
  if (o->solver->stopped)
    r->reason = BISAI_REASON_STOPPED, status = BISAI_STOPPED;
  else if (o->reason == KSP_DIVERGED_ITS)
    r->reason = BISAI_REASON_MAX_ITERATIONS, status = BISAI_MAX_ITERATIONS;
  else if (o->reason == KSP_DIVERGED_NANORINF || !isfinite(r->relative_residual))
    r->reason = BISAI_REASON_NOT_FINITE, status = BISAI_NOT_FINITE;
  else if (o->reason == KSP_DIVERGED_PC_FAILED)
    r->reason = BISAI_REASON_PRECOND_FAILED, status = BISAI_CALLBACK_FAILED;
  char residual[32] = "not finite"; /* printf() may print a NaN with a sign */
  if (isfinite(r->relative_residual))
    snprintf(residual, sizeof residual, "%.3e", r->relative_residual);
  return bsi_petsc_fail(o->solver->context, status,
                        "PETSc ended with %s after %d iterations; true residual %s",
                        KSPConvergedReasons[o->reason], r->iterations, residual);
}

bisai_status bisai_petsc_solver_solve(bisai_petsc_solver *solver, const double *b, double *x,
                                      bisai_solver_report *report) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  if (!b || !x || (report && report->struct_size != sizeof *report))
    return bisai_context_fail(solver->context, BISAI_INVALID_ARGUMENT,
                              "b or x is NULL, or report.struct_size is not set");
  solving o = {.solver = solver, .b = b, .x = x, .report = {.struct_size = sizeof o.report}};
  bisai_status status = bsi_petsc_run(solver->context, solve, &o);
  if (!status) status = recompute(&o);
  if (!status) status = judge(&o);
  if (report) *report = o.report;
  return status;
}

double bisai_petsc_solver_seconds(const bisai_petsc_solver *solver) { return solver->seconds; }
