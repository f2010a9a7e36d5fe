/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves of the solver type "bisai". All vectors of the method stay where the preconditioner works.
 * PETSc's convergence test, monitors and history follow bisai's estimates of the residual.
 *
 * PETSc's default test is the one that bisai has: ‖r‖ ≤ max(rtol ‖b‖, abstol). bisai decides then,
 * and confirms by the true residual. Any other test decides alone, and bisai has no tolerance. */
#include <bisai/text.h>
#include <math.h>
#include <string.h>

#include "petsc/device.h"
#include "petsc/ksp/ksp_impl.h"
#include "petsc/ksp/method.h"

/* What a solve needs in its callbacks. */
typedef struct watch {
  KSP ksp;
  /* ‖b‖ */
  double norm;
  /* bisai ends the solve when it has converged */
  bool confirms;
  /* of the test that ended the solve */
  KSPConvergedReason reason;
  /* an error in a monitor or a test */
  PetscErrorCode code;
} watch;

static PetscErrorCode tell(watch *w, PetscInt iteration, PetscReal norm) {
  KSP ksp = w->ksp;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscFunctionBegin;
  ksp->its = iteration;
  ksp->rnorm = norm;
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, iteration, norm));
  PetscCall((*ksp->converged)(ksp, iteration, norm, &reason, ksp->cnvP));
  if (reason < 0 || !w->confirms) w->reason = reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int monitor(void *user, int iteration, double relative) {
  watch *w = user;
  w->code = tell(w, iteration, relative * w->norm);
  return w->code || w->reason;
}

/* Returns true if the KSP ends as bisai does: PETSc's own test, with its defaults. */
static bool has_default_test(KSP ksp) {
  if (ksp->converged != KSPConvergedDefault || ksp->chknorm >= 0) return false;
#if PETSC_VERSION_GE(3, 20, 0)
  if (ksp->min_it > 0) return false;
#endif
  const KSPConvergedDefaultCtx *how = ksp->cnvP;
  return how && !how->initialrtol && !how->mininitialrtol && !how->convmaxits;
}

/* Fills in what the KSP gives to all methods. */
static PetscErrorCode limit(watch *w, bisai_solver_options *o) {
  KSP ksp = w->ksp;
  PetscFunctionBegin;
  const double target = fmax(ksp->rtol * w->norm, ksp->abstol);
  w->confirms = has_default_test(ksp) && target < w->norm;
  o->tolerance = w->confirms ? target / w->norm : 0;
  o->max_iterations = ksp->max_it < INT32_MAX ? (int)ksp->max_it : INT32_MAX;
  o->use_initial_guess = ksp->guess_zero == PETSC_FALSE;
  o->monitor = monitor;
  o->monitor_user = w;
  /* only a diverging residual would end the solve, which may be seen a few iterations later */
  o->monitor_late = w->confirms && ksp->numbermonitors == 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The text has the method and its options. */
static bool is_same_method(const bisai_solver_options *a, const bisai_solver_options *b) {
  char of_a[BISAI_TEXT_SIZE], of_b[BISAI_TEXT_SIZE];
  bisai_solver_options_text(a, sizeof of_a, of_a);
  bisai_solver_options_text(b, sizeof of_b, of_b);
  return strcmp(of_a, of_b) == 0;
}

/* Keeps the solver and its memory while the method is the same. */
static bisai_status make_solver(bsi_pc *m, int64_t rows, const bisai_solver_options *o) {
  bsi_pc_krylov *k = &m->krylov;
  if (k->solver && k->rows == rows && is_same_method(&k->options, o) &&
      o->max_iterations <= k->options.max_iterations)
    return bisai_solver_set_options(k->solver, o);
  bisai_solver_destroy(&k->solver);
  k->options = *o;
  k->rows = rows;
  return bisai_solver_create(m->context, rows, o, &k->solver);
}

/* *matrix ← that of the system. The preconditioner has it, unless it was made from another Mat or
 * from older values. */
static PetscErrorCode take_matrix(KSP ksp, const bisai_bcsr **matrix, bisai_status *status) {
  bsi_pc *m = ksp->pc->data;
  bsi_pc_matrix *own = &m->krylov.operator, old = {.shared = NULL};
  bool holds;
  Mat mat;
  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &mat, NULL));
  PetscCall(bsi_pc_matrix_holds(&m->matrix, mat, &holds));
  if (holds) {
    bsi_pc_matrix_destroy(own);
    *matrix = bsi_pc_matrix_get(&m->matrix);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bsi_pc_matrix_holds(own, mat, &holds));
  if (!holds) PetscCall(bsi_pc_matrix_read(own, m->context, mat, &old, status));
  bsi_pc_matrix_destroy(&old);
  *matrix = bsi_pc_matrix_get(own);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_check_estimates(KSP ksp) {
  PetscFunctionBegin;
  PetscCheck(!ksp->calc_sings && !ksp->calc_ritz, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "bisai: -ksp_type bisai estimates no singular values, eigenvalues or Ritz pairs: take "
             "-ksp_type gmres or cg");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode check_pc(KSP ksp) {
  MPI_Comm comm = PetscObjectComm((PetscObject)ksp);
  PetscBool bisai = PETSC_FALSE, free = PETSC_FALSE;
  PCType type;
  Mat mat;
  PetscFunctionBegin;
  PetscCheck(!ksp->transpose_solve, comm, PETSC_ERR_SUP,
             "bisai: -ksp_type bisai solves no transposed systems: take -ksp_type gmres");
  PetscCall(PCGetType(ksp->pc, &type));
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, "bisai", &bisai));
  PetscCheck(bisai, comm, PETSC_ERR_ARG_INCOMP,
             "bisai: -ksp_type bisai needs -pc_type bisai, and the PC has type %s: take -ksp_type "
             "fgmres, or -pc_type bisai",
             type ? type : "none");
  PetscCall(PCGetOperators(ksp->pc, &mat, NULL));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)mat, &free, MATSHELL, MATMFFD, ""));
  PetscCheck(
      !free, comm, PETSC_ERR_SUP,
      "bisai: -ksp_type bisai multiplies by the entries of the matrix, and type %s has none: "
      "take -ksp_type fgmres",
      ((PetscObject)mat)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns PETSc's reason for a breakdown. */
static KSPConvergedReason reason_of_breakdown(bisai_breakdown breakdown) {
  if (breakdown == BISAI_BREAKDOWN_CURVATURE) return KSP_DIVERGED_INDEFINITE_MAT;
  if (breakdown == BISAI_BREAKDOWN_PRECOND) return KSP_DIVERGED_INDEFINITE_PC;
  return KSP_DIVERGED_BREAKDOWN;
}

/* Returns PETSc's reason for the end of a solve, or 0 if bisai has refused it. */
static KSPConvergedReason reason_of(const watch *w, const bisai_solver_report *r) {
  switch (r->reason) {
  case BISAI_REASON_CONVERGED:
    if (w->reason > 0) return w->reason;
    return w->ksp->rnorm < w->ksp->abstol ? KSP_CONVERGED_ATOL : KSP_CONVERGED_RTOL;
  case BISAI_REASON_MAX_ITERATIONS: return KSP_DIVERGED_ITS;
  case BISAI_REASON_STAGNATED: return KSP_DIVERGED_BREAKDOWN;
  case BISAI_REASON_BREAKDOWN: return reason_of_breakdown(r->breakdown);
  case BISAI_REASON_NOT_FINITE: return KSP_DIVERGED_NANORINF;
  case BISAI_REASON_PRECOND_FAILED: return KSP_DIVERGED_PC_FAILED;
  case BISAI_REASON_STOPPED: return w->reason;
  case BISAI_REASON_NONE: break;
  }
  return KSP_CONVERGED_ITERATING;
}

static bool is_fault(bisai_status status) {
  return status == BISAI_OUT_OF_MEMORY || status == BISAI_DEVICE_ERROR;
}

/* Gives the KSP the result. Statuses that are no result are errors of PETSc. */
static PetscErrorCode conclude(const watch *w, bisai_status status, const bisai_solver_report *r) {
  KSP ksp = w->ksp;
  bsi_ksp *k = ksp->data;
  const bsi_pc *m = ksp->pc->data;
  PetscFunctionBegin;
  PetscCall(w->code);
  ksp->its = r->iterations;
  ksp->rnorm = r->relative_residual * w->norm;
  ksp->reason = is_fault(status) ? KSP_CONVERGED_ITERATING : reason_of(w, r);
  PetscCheck(ksp->reason, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             bsi_petsc_message(m->context, status));
  if (ksp->reason > 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (r->reason == BISAI_REASON_STOPPED)
    PetscCall(PetscSNPrintf(k->message, sizeof k->message, "%s after iteration %d",
                            KSPConvergedReasons[ksp->reason], r->iterations));
  else
    PetscCall(PetscStrncpy(k->message, bsi_petsc_message(m->context, status), sizeof k->message));
  PetscCall(PetscInfo(ksp, "bisai: %s\n", k->message));
  PetscCheck(!ksp->errorifnotconverged || ksp->reason == KSP_DIVERGED_ITS,
             PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "bisai: %s", k->message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The products with A and the applications of M⁻¹. */
static PetscErrorCode log_flops(const bsi_pc *m, const bisai_bcsr *matrix,
                                const bisai_solver_report *r) {
  const double bs = bisai_bcsr_block_size(matrix),
               product = 2.0 * (double)bisai_bcsr_blocks(matrix) * bs * bs;
  const int products = r->method == BISAI_BICGSTAB ? 2 : 1;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_log_flops(m->context, products * r->iterations * product +
                                                r->applications * m->counts.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with a preconditioner that is set up. */
static PetscErrorCode run(watch *w, bisai_status *status, bisai_solver_report *report) {
  KSP ksp = w->ksp;
  bsi_pc *m = ksp->pc->data;
  bisai_solver_options options;
  const bisai_bcsr *matrix = NULL;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  PetscCall(bsi_ksp_choose_method(ksp, m->precond, &options));
  PetscCall(limit(w, &options));
  PetscCall(take_matrix(ksp, &matrix, status));
  if (!*status) *status = make_solver(m, bisai_precond_rows(m->precond), &options);
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_petsc_take_guess(m->context, ksp->vec_rhs, ksp->vec_sol, &arrays));
  *status =
      bisai_solver_solve(m->krylov.solver, matrix, m->precond, arrays.from, arrays.to, report);
  PetscCall(bsi_petsc_give_back(&arrays, status));
  PetscCall(log_flops(m, matrix, report));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc sets up a PC whose options have changed at its next application, and `auto` may choose
 * then. */
static PetscErrorCode set_up_pc(KSP ksp) {
  const bsi_pc *m = ksp->pc->data;
  PetscFunctionBegin;
  PetscCall(PCSetUp(ksp->pc));
  if (m->choice.pending) PetscCall(bsi_pc_choose(ksp->pc, m->choice.solver));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *ended ← the solve ends before it begins: the set-up failed, there are no rows, or b is not
 * finite. */
static PetscErrorCode end_early(watch *w, bool *ended) {
  KSP ksp = w->ksp;
  bsi_ksp *k = ksp->data;
  const bsi_pc *m = ksp->pc->data;
  PetscInt n;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(ksp->vec_rhs, &n));
  if (*m->failure) {
    ksp->reason = KSP_DIVERGED_PC_FAILED;
    PetscCall(PetscStrncpy(k->message, m->failure, sizeof k->message));
  } else if (n == 0) {
    ksp->reason = KSP_CONVERGED_ATOL;
  } else if (PetscIsInfOrNanReal(w->norm)) {
    ksp->reason = KSP_DIVERGED_NANORINF;
    PetscCall(PetscStrncpy(k->message, "the norm of b is not finite", sizeof k->message));
  }
  *ended = ksp->reason != KSP_CONVERGED_ITERATING;
  if (*ended) ksp->rnorm = w->norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ksp_solve(KSP ksp) {
  bsi_ksp *k = ksp->data;
  watch w = {.ksp = ksp};
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_status status = BISAI_OK;
  bool ended;
  PetscFunctionBegin;
  PetscCall(check_pc(ksp));
  PetscCall(bsi_ksp_check_estimates(ksp)); /* they may be asked for after the set-up */
  PetscCall(set_up_pc(ksp));
  ksp->its = 0;
  ksp->reason = KSP_CONVERGED_ITERATING;
  *k->message = '\0';
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &w.norm));
  PetscCall(end_early(&w, &ended));
  if (ended) PetscFunctionReturn(PETSC_SUCCESS);
  k->solving = true;
  const PetscErrorCode code = run(&w, &status, &report);
  k->solving = false;
  PetscCall(code);
  PetscCall(conclude(&w, status, &report));
  PetscFunctionReturn(PETSC_SUCCESS);
}
