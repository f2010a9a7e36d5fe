/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner type "bisai" in C: include/bisai/petsc.h. */
#include "petsc/pc_impl.h"

/* Fails if a PC has another type. */
static PetscErrorCode check_type(PC pc) {
  PetscBool bisai = PETSC_FALSE;
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, "bisai", &bisai));
  PetscCheck(bisai, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "bisai: the PC has type %s; call PCSetType(pc, \"bisai\") first",
             ((PetscObject)pc)->type_name ? ((PetscObject)pc)->type_name : "none");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_set_options(PC pc, const bisai_precond_options *options) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  PetscCheck(!options || options->struct_size == sizeof *options, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_WRONG,
             "bisai: options.struct_size is wrong: start from bisai_precond_options_default()");
  ((bsi_pc *)pc->data)->options = options ? *options : bisai_precond_options_default();
  PetscCall(bsi_pc_renew(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_get_options(PC pc, bisai_precond_options *options) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  *options = ((bsi_pc *)pc->data)->options;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_set_threads(PC pc, int threads) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  ((bsi_pc *)pc->data)->place.threads = threads;
  PetscCall(bsi_pc_renew(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_set_distributed(PC pc, PetscBool distributed, PetscInt gather) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  PetscCheck(gather >= 0 || gather == PETSC_DECIDE, PetscObjectComm((PetscObject)pc),
             PETSC_ERR_ARG_OUTOFRANGE, "bisai: gather is %" PetscInt_FMT "; it must be at least 0",
             gather);
  ((bsi_pc *)pc->data)->ranks.wanted = distributed;
  ((bsi_pc *)pc->data)->ranks.gather = gather;
  PetscCall(bsi_pc_renew(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_set_transport(PC pc, bisai_petsc_transport transport) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  PetscCheck(transport >= BISAI_PETSC_TRANSPORT_AUTO && transport <= BISAI_PETSC_TRANSPORT_NCCL,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: there is no transport %d", (int)transport);
  ((bsi_pc *)pc->data)->ranks.transport = transport;
  PetscCall(bsi_pc_renew(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bisai_petsc_pc_get_precond(PC pc, bisai_precond **precond) {
  PetscFunctionBegin;
  PetscCall(check_type(pc));
  *precond = ((bsi_pc *)pc->data)->precond;
  PetscFunctionReturn(PETSC_SUCCESS);
}
