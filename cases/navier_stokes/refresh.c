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

/* Returns how often an event has run on this rank, and for how long. */
static PetscErrorCode read_event(const char *name, int *count, PetscLogDouble *seconds) {
  PetscLogEvent event;
  PetscEventPerfInfo info;
  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId(name, &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *count = info.count;
  *seconds = info.time;
  PetscFunctionReturn((PetscErrorCode)0);
}

static PetscErrorCode monitor(SNES snes, PetscInt step, PetscReal norm, void *context) {
  refresh *r = context;
  KSP ksp;
  int setups = 0, solves = 0;
  PetscLogDouble setup = 0, solve = 0;
  MPI_Comm comm = PetscObjectComm((PetscObject)snes);
  PetscFunctionBeginUser;
  PetscCall(read_event("PCSetUp", &setups, &setup));
  PetscCall(read_event("KSPSolve", &solves, &solve));
  if (step == 0) {
    PetscCall(PetscPrintf(comm,
                          "  step  residual  iterations  preconditioner  seconds: it, GMRES\n"
                          "  %4d  %.2e\n",
                          0, (double)norm));
  } else {
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPGetIterationNumber(ksp, &r->last));
    if (r->fresh == 0) r->fresh = r->last;
    PetscCall(PetscPrintf(comm,
                          "  %4" PetscInt_FMT "  %.2e  %10" PetscInt_FMT "  %14s  %11.4f  %.4f\n",
                          step, (double)norm, r->last, setups > r->setups ? "refreshed" : "kept",
                          (double)(setup - r->setup_seconds), (double)(solve - r->solve_seconds)));
  }
  r->setups = setups;
  r->setup_seconds = setup;
  r->solve_seconds = solve;
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
  KSP ksp;
  PC pc;
  Vec y;
  PetscLogDouble setup = PETSC_MAX_REAL, update = PETSC_MAX_REAL, seconds;
  MPI_Comm comm = PetscObjectComm((PetscObject)snes);
  PetscFunctionBeginUser;
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(x, &y));
  for (PetscInt k = 0; k < repeats; k++) {
    PetscCall(PCReset(pc));
    PetscCall(time_setup(snes, pc, x, y, &seconds));
    setup = PetscMin(setup, seconds);
    PetscCall(time_setup(snes, pc, x, y, &seconds));
    update = PetscMin(update, seconds);
  }
  PetscCall(VecDestroy(&y));
  PetscCall(PetscPrintf(comm, "set-up %.3f ms, refresh %.3f ms: %.1f times cheaper\n", 1e3 * setup,
                        1e3 * update, setup / update));
  PetscFunctionReturn((PetscErrorCode)0);
}
