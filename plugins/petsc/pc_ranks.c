/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up of one hierarchy of multigrid over all processes. */
#include "petsc/pc_impl.h"

PetscErrorCode bsi_pc_is_distributed(PC pc, bool *distributed) {
  const bsi_pc *m = pc->data;
  PetscMPIInt size;
  PetscInt block_size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCall(MatGetBlockSize(pc->pmat, &block_size));
  /* a pressure is one of several unknowns of a block */
  const bool cpr = m->options.kind == BISAI_PRECOND_CPR && block_size > 1;
  *distributed = size > 1 && m->ranks.wanted && (cpr || m->options.kind == BISAI_PRECOND_MULTIGRID);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_destroy_ranks(PC pc) {
  bsi_pc *m = pc->data;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_destroy(&m->ranks.hierarchy));
  PetscCall(bsi_ranks_cpr_destroy(&m->ranks.cpr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(PC pc, bsi_ranks_failure *failure) {
  bsi_pc *m = pc->data;
  bsi_ranks_options o = {
      .precond = &m->options, .gather = m->ranks.gather, .transport = m->ranks.transport};
  Mat block;
  PetscFunctionBegin;
  PetscCall(bsi_pc_own_block(pc->pmat, &block));
  PetscCall(bsi_pc_backend(block, m->place.backend, &o.backend));
  PetscCall(bsi_petsc_narrow("-pc_bisai_threads", m->place.threads, &o.threads));
  if (m->options.kind == BISAI_PRECOND_CPR)
    PetscCall(bsi_ranks_cpr_create(pc->pmat, &o, &m->ranks.cpr, failure));
  else
    PetscCall(bsi_ranks_create(pc->pmat, &o, &m->ranks.hierarchy, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *changed ← whether the Mat has another near-null space than the hierarchy was made with. */
static PetscErrorCode has_other_space(PC pc, bool *changed) {
  bsi_pc *m = pc->data;
  MatNullSpace space = NULL;
  PetscObjectId id = 0;
  PetscFunctionBegin;
  PetscCall(MatGetNearNullSpace(pc->pmat, &space));
  if (space) PetscCall(PetscObjectGetId((PetscObject)space, &id));
  *changed = id != m->null_space.id;
  m->null_space.id = id;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Updates the hierarchy if only values have changed, and makes another one if it cannot take
 * them. */
static PetscErrorCode update_or_create(PC pc, bsi_ranks_failure *failure) {
  bsi_pc *m = pc->data;
  bool kept = false, changed = false;
  PetscFunctionBegin;
  PetscCall(has_other_space(pc, &changed));
  if ((m->ranks.hierarchy || m->ranks.cpr) && !changed) {
    if (m->ranks.cpr)
      PetscCall(bsi_ranks_cpr_update(m->ranks.cpr, pc->pmat, &kept, failure));
    else
      PetscCall(bsi_ranks_update(m->ranks.hierarchy, pc->pmat, &kept, failure));
    if (kept && !failure->status) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscInfo(pc, "bisai: made again: %s\n",
                        failure->status ? failure->message : "another pattern"));
  }
  PetscCall(bsi_pc_destroy_ranks(pc));
  PetscCall(create(pc, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_set_up_ranks(PC pc) {
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);
  bsi_pc *m = pc->data;
  bsi_ranks_failure failure = {BISAI_OK, ""};
  PetscFunctionBegin;
  PetscCall(bsi_pc_begin(BSI_PC_VALUES, pc));
  PetscCall(update_or_create(pc, &failure));
  PetscCall(bsi_pc_end(BSI_PC_VALUES, pc));
  if (!failure.status) PetscFunctionReturn(PETSC_SUCCESS);
  const PCFailedReason reason = bsi_pc_reason_of(failure.status);
  PetscCheck(reason && !pc->erroriffailure, comm, bsi_petsc_error(failure.status), "bisai: %s",
             failure.message);
  PetscCall(PetscStrncpy(m->failure, failure.message, sizeof m->failure));
  PetscCall(PetscInfo(pc, "bisai: %s\n", m->failure));
  PetscCall(PCSetFailedReason(pc, reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}
