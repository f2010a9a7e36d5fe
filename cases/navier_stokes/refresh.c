/* SPDX-License-Identifier: BSD-3-Clause */
#include "refresh.h"

#include <petsctime.h>

/* The update function of a SNES, which runs before each Jacobian. A lag of −2 refreshes the
 * preconditioner once, and then keeps it. */
static PetscErrorCode decide(SNES snes, PetscInt step) {
  refresh *r;
  PetscFunctionBeginUser;
  (void)step;
  PetscCall(SNESGetApplicationContext(snes, &r));
  if (r->fresh == 0 || 2 * r->last > 3 * r->fresh) {
    r->fresh = 0;
    PetscCall(SNESSetLagPreconditioner(snes, -2));
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode read_event(const char *name, PetscEventPerfInfo *info) {
  PetscLogEvent event;
  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, info));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* The times of a step are those of rank 0: of the whole step, and of the linear solver without the
 * set-up of its preconditioner. */
static PetscErrorCode monitor(SNES snes, PetscInt step, PetscReal norm, void *context) {
  refresh *r = context;
  KSP ksp;
  PetscEventPerfInfo setup, blocks, solve;
  PetscLogDouble now;
  MPI_Comm comm = PetscObjectComm((PetscObject)snes);
  PetscFunctionBeginUser;
  PetscCall(PetscTime(&now));
  PetscCall(read_event("PCSetUp", &setup));
  PetscCall(read_event("PCSetUpOnBlocks", &blocks));
  PetscCall(read_event("KSPSolve", &solve));
  if (step == 0) {
    PetscCall(PetscPrintf(comm,
                          "  step  residual  iterations  preconditioner  seconds  of GMRES\n"
                          "  %4d  %.2e\n",
                          0, (double)norm));
  } else {
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPGetIterationNumber(ksp, &r->last));
    if (r->fresh == 0) r->fresh = r->last;
    PetscCall(
        PetscPrintf(comm, "  %4" PetscInt_FMT "  %.2e  %10" PetscInt_FMT "  %14s  %7.4f  %8.4f\n",
                    step, (double)norm, r->last, setup.count > r->setups ? "refreshed" : "kept",
                    (double)(now - r->time), (double)(solve.time - r->solve_seconds)));
  }
  if (r->setups == 0) r->first = setup.time + blocks.time;
  r->time = now;
  r->setups = setup.count;
  r->solve_seconds = solve.time;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode refresh_watch(SNES snes, refresh *r) {
  PetscFunctionBeginUser;
  PetscCall(SNESSetApplicationContext(snes, r));
  PetscCall(SNESMonitorSet(snes, monitor, r, NULL));
  if (r->policy == REFRESH_GROWTH) PetscCall(SNESSetUpdate(snes, decide));
  PetscFunctionReturn((PetscErrorCode)0);
}

/* Computes the Jacobian at x, and sets the preconditioner up for it. Returns the time of the
 * latter. A product before brings the matrix to where the solver needs it, so that the time does
 * not include its copy to a device. The result of a dot product is there when all work that a
 * device has begun before is done. */
static PetscErrorCode time_setup(SNES snes, PC pc, Vec x, Vec y, PetscLogDouble *seconds) {
  Mat product, jacobian;
  PetscScalar sum;
  PetscLogDouble begin, end;
  PetscFunctionBeginUser;
  PetscCall(SNESGetJacobian(snes, &product, &jacobian, NULL, NULL));
  PetscCall(SNESComputeJacobian(snes, x, product, jacobian));
  PetscCall(PCSetReusePreconditioner(pc, PETSC_FALSE));
  PetscCall(PCSetOperators(pc, product, jacobian));
  PetscCall(MatMult(jacobian, x, y));
  PetscCall(VecDot(x, y, &sum));
  PetscCall(PetscTime(&begin));
  PetscCall(PCSetUp(pc));
  PetscCall(PCSetUpOnBlocks(pc));
  PetscCall(VecDot(x, y, &sum));
  PetscCall(PetscTime(&end));
  *seconds = end - begin;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode refresh_measure(SNES snes, Vec x, PetscInt repeats) {
  const refresh *r;
  KSP ksp;
  PC pc;
  Vec y;
  PetscLogDouble setup = PETSC_MAX_REAL, update = PETSC_MAX_REAL, seconds;
  MPI_Comm comm = PetscObjectComm((PetscObject)snes);
  PetscFunctionBeginUser;
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(SNESGetApplicationContext(snes, &r));
  PetscCall(VecDuplicate(x, &y));
  for (PetscInt k = 0; k < repeats; k++) {
    PetscCall(PCReset(pc));
    PetscCall(time_setup(snes, pc, x, y, &seconds));
    setup = PetscMin(setup, seconds);
    PetscCall(time_setup(snes, pc, x, y, &seconds));
    update = PetscMin(update, seconds);
  }
  PetscCall(VecDestroy(&y));
  PetscCall(PetscPrintf(
      comm, "first set-up %.3f ms, set-up %.3f ms, refresh %.3f ms: %.1f times cheaper\n",
      1e3 * r->first, 1e3 * setup, 1e3 * update, setup / update));
  PetscFunctionReturn((PetscErrorCode)0);
}
