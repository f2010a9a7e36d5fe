/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of the preconditioner type "bisai". */
#include <math.h>

#include "petsc/pc.h"

PetscErrorCode bsi_pc_apply(PC pc, Vec v, Vec z) {
  bsi_pc *m = pc->data;
  const PetscScalar *from;
  PetscScalar *to;
  PetscFunctionBegin;
  /* as PETSc's own preconditioners do; the solver asks for the reason when it finds infinity */
  if (pc->failedreason) {
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VecGetArrayWrite(z, &to));
  bisai_status status = bisai_precond_apply(m->precond, from, to);
  PetscCall(VecRestoreArrayWrite(z, &to));
  PetscCall(VecRestoreArrayRead(v, &from));
  BSI_PC_CALL(m, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
