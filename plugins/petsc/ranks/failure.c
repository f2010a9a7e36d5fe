/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/failure.h"

PetscErrorCode bsi_ranks_agree(const bsi_ranks_setup *setup, PetscErrorCode own,
                               bisai_status status, bsi_ranks_failure *failure) {
  char message[BSI_PETSC_MESSAGE] = "bisai: the set-up failed on another process";
  PetscMPIInt rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(setup->comm, &rank));
  /* a failure of bisai is a negative code */
  PetscErrorCode code = own ? own : (PetscErrorCode)(-(int)status);
  if (!own && status)
    PetscCall(PetscSNPrintf(message, sizeof message, "process %d, counting its own rows: %s",
                            (int)rank, bsi_petsc_message(setup->context, status)));
  PetscCall(bsi_petsc_agree(setup->comm, &code, message));
  PetscCall(own);
  PetscCheck((int)code <= 0, setup->comm, code, "%s", message);
  failure->status = (bisai_status)(-(int)code);
  if (failure->status) PetscCall(PetscStrncpy(failure->message, message, sizeof failure->message));
  PetscFunctionReturn(PETSC_SUCCESS);
}
