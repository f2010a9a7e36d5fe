/* SPDX-License-Identifier: BSD-3-Clause */
/* Discards what a preconditioner of PETSc was set up with. */
#include "petsc/pc_impl.h"

/* Discards everything but the context. */
static PetscErrorCode discard(PC pc) {
  bsi_pc *m = pc->data;
  PetscFunctionBegin;
  PetscCall(VecDestroy(&m->correction));
  m->transpose_ready = false;
  PetscCall(bsi_pc_destroy_ranks(pc));
  PetscCall(bsi_overlap_destroy(&m->ranks.overlap));
  bisai_solver_destroy(&m->krylov.solver);
  bsi_pc_matrix_destroy(&m->krylov.operator);
  bisai_precond_destroy(&m->precond);
  bsi_pc_matrix_destroy(&m->matrix);
  *m->failure = '\0';
  m->choice = (bsi_pc_choice){.pending = false};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_reset(PC pc) {
  PetscFunctionBegin;
  PetscCall(discard(pc));
  bisai_context_destroy(&((bsi_pc *)pc->data)->context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_renew(PC pc) {
  PetscFunctionBegin;
  PetscCall(discard(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
