/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/parts.h"

PetscErrorCode bsi_mat_parts_destroy(bsi_mat_parts **parts) {
  bsi_mat_parts *p = *parts;
  PetscFunctionBegin;
  *parts = NULL;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&p->own));
  PetscCall(MatDestroy(&p->other));
  PetscCall(VecDestroy(&p->ghosts));
  PetscCall(VecScatterDestroy(&p->halo));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
