/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures that all processes have together. */
#ifndef BSI_PETSC_RANKS_FAILURE_H
#define BSI_PETSC_RANKS_FAILURE_H

#include <petscsys.h>

#include "petsc/calls.h"

/* Where processes work together. */
typedef struct bsi_ranks_setup {
  MPI_Comm comm;
  bisai_context *context;
} bsi_ranks_setup;

/* Where a step of a set-up failed: the status is that of the first process that failed. */
typedef struct bsi_ranks_failure {
  bisai_status status;
  char message[BSI_PETSC_MESSAGE];
} bsi_ranks_failure;

/* Ends a step that each process does alone: all raise an error of one, and all get the failure of
 * one. All processes call it. */
PetscErrorCode bsi_ranks_agree(const bsi_ranks_setup *setup, PetscErrorCode own,
                               bisai_status status, bsi_ranks_failure *failure);

#endif
