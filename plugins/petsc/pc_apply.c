/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications of the preconditioner type "bisai". */
#include <math.h>

#include "petsc/device.h"
#include "petsc/pc.h"

PetscErrorCode bsi_pc_apply(PC pc, Vec v, Vec z) {
  bsi_pc *m = pc->data;
  bsi_petsc_arrays arrays;
  PetscFunctionBegin;
  /* as PETSc's own preconditioners do; the solver asks for the reason when it finds infinity */
  if (pc->failedreason) {
    PetscCall(VecSet(z, INFINITY));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(bsi_petsc_take(m->context, v, z, &arrays));
  bisai_status status = bisai_precond_apply(m->precond, arrays.from, arrays.to);
  PetscCall(bsi_petsc_give_back(&arrays, &status));
  BSI_PC_CALL(m, status);
  PetscFunctionReturn(PETSC_SUCCESS);
}
