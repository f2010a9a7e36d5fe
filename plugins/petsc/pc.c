/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai as a preconditioner type of PETSc: -pc_type bisai. It works on each process's own SeqBAIJ
 * or SeqAIJ matrix.
 *
 * The type uses petsc/private/pcimpl.h, which PETSc installs for this purpose. The public
 * alternative, PCSHELL, has no callbacks for options (-help, prefixes) and for PCReset(). The
 * private structure may change with each version of PETSc: compile this file for the version that
 * loads it. */
#include "petsc/ksp/ksp.h"
#include "petsc/mat_type.h"
#include "petsc/pc_blocks.h"
#include "petsc/pc_impl.h"

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
  m->options = m->used = bisai_precond_options_default();
  m->ranks.wanted = PETSC_TRUE;
  m->ranks.gather = PETSC_DECIDE;
  m->place.threads = 1; /* the processes of MPI share the processors */
  PetscCall(bsi_pc_find_events(m));
  pc->data = m;
  pc->ops->setup = bsi_pc_set_up;
  pc->ops->presolve = bsi_pc_presolve;
  pc->ops->postsolve = bsi_pc_postsolve;
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
  PetscCall(bsi_pc_register_blocks());
  PetscCall(bsi_ksp_register());
  PetscCall(bsi_mat_register());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PetscDLLibraryRegister_bisai_petsc(void) { return bisai_petsc_register(); }
