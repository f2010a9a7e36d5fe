/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner type "bisai" of PETSc, shared by its files: its data and its hooks. */
#ifndef BSI_PETSC_PC_H
#define BSI_PETSC_PC_H

#include <petsc/private/pcimpl.h>

#include "petsc/calls.h"
#include "petsc/pc_matrix.h"

typedef struct bsi_pc {
  bisai_precond_options options;
  PetscInt threads;
  /* the option -pc_bisai_backend */
  bisai_backend backend;
  bisai_context *context;
  /* NULL before the first set-up and after a reset */
  bisai_precond *precond;
  /* the matrix that it was made or last updated with, and that multigrid and CPR read */
  bsi_pc_matrix matrix;
  /* multigrid: the PETSc id of the near-null space that it was made with; 0 if there was none */
  PetscObjectId null_space;
  /* the reason why the last set-up failed numerically; "" if it succeeded */
  char failure[256];
} bsi_pc;

/* Returns the error of PETSc for a status. */
PetscErrorCode bsi_pc_error(bisai_status status);

/* Returns the message of the last failure. */
const char *bsi_pc_message(const bsi_pc *m, bisai_status status);

/* Turns a failure of bisai into an error of PETSc, with bisai's message and the place of the
 * call. */
#define BSI_PC_CALL(m, status)                                                                     \
  PetscCheck(!(status), PETSC_COMM_SELF, bsi_pc_error(status), "bisai: %s",                        \
             bsi_pc_message(m, status))

/* Converts a PetscInt, which may have 64 bits, into an int of 32 bits. */
PetscErrorCode bsi_pc_narrow(const char *name, PetscInt value, int *result);

/* The hooks. */
PetscErrorCode bsi_pc_set_from_options(PC pc, bsi_petsc_option_items PetscOptionsObject);
PetscErrorCode bsi_pc_set_up(PC pc);
PetscErrorCode bsi_pc_apply(PC pc, Vec v, Vec z);
PetscErrorCode bsi_pc_view(PC pc, PetscViewer viewer);
PetscErrorCode bsi_pc_reset(PC pc);

#endif
