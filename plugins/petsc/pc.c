/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai as a preconditioner type of PETSc: -pc_type bisai. It works on each process's own SeqBAIJ
 * or SeqAIJ matrix.
 *
 * The type uses petsc/private/pcimpl.h, which PETSc installs for this purpose. The public
 * alternative, PCSHELL, has no callbacks for options (-help, prefixes) and for PCReset(). The
 * private structure may change with each version of PETSc: compile this file for the version that
 * loads it. */
#include "petsc/pc.h"

PetscErrorCode bsi_pc_error(bisai_status status) {
  if (status == BISAI_OUT_OF_MEMORY) return PETSC_ERR_MEM;
  if (status == BISAI_UNSUPPORTED || status == BISAI_UNAVAILABLE) return PETSC_ERR_SUP;
  if (status == BISAI_INVALID_ARGUMENT) return PETSC_ERR_ARG_OUTOFRANGE;
  if (status == BISAI_NOT_SYMMETRIC) return PETSC_ERR_ARG_INCOMP;
  return PETSC_ERR_LIB;
}

const char *bsi_pc_message(const bsi_pc *m, bisai_status status) {
  const char *message = bisai_context_error(m->context);
  return *message ? message : bisai_status_string(status);
}

PetscErrorCode bsi_pc_reset(PC pc) {
  bsi_pc *m = pc->data;
  PetscFunctionBegin;
  PetscCall(VecDestroy(&m->correction));
  bsi_pc_transpose_destroy(&m->transpose);
  m->transpose_ready = false;
  bisai_precond_destroy(&m->precond);
  bsi_pc_matrix_destroy(&m->matrix);
  bisai_context_destroy(&m->context);
  *m->failure = '\0';
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_renew(PC pc) {
  PetscFunctionBegin;
  PetscCall(bsi_pc_reset(pc));
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  PetscCall(bsi_pc_reset(pc));
  PetscCall(PetscFree(pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(PC pc) {
  bsi_pc *m;
  PetscFunctionBegin;
  PetscCall(PetscNew(&m));
  m->options = bisai_precond_options_default();
  m->threads = 1; /* the processes of MPI share the processors */
  PetscCall(bsi_pc_find_events(m));
  pc->data = m;
  pc->ops->setup = bsi_pc_set_up;
  pc->ops->presolve = bsi_pc_presolve;
  pc->ops->apply = bsi_pc_apply;
  pc->ops->applytranspose = bsi_pc_apply_transpose;
  pc->ops->matapply = bsi_pc_apply_many;
  pc->ops->applyrichardson = bsi_pc_apply_richardson;
  pc->ops->setfromoptions = bsi_pc_set_from_options;
  pc->ops->view = bsi_pc_view;
  pc->ops->reset = bsi_pc_reset;
  pc->ops->destroy = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_register(void) {
  PetscFunctionBegin;
  PetscCall(bsi_petsc_check_version());
  PetscCall(PCRegister("bisai", create));
  PetscCall(bsi_mat_register());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void) { return bisai_petsc_register(); }
