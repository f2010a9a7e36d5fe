/* SPDX-License-Identifier: BSD-3-Clause */
/* The near-null space of a Mat as near-null-space vectors of multigrid. */
#ifndef BSI_PETSC_NULL_SPACE_H
#define BSI_PETSC_NULL_SPACE_H

#include <petscmat.h>

/* Copies the near-null space that MatSetNearNullSpace() has attached: the constant, if it belongs
 * to the space, and then the vectors. *values is stored row by row, as
 * bisai_multigrid_options.null_vectors, and the caller frees it with PetscFree(). *count is 0 and
 * *values NULL if there is no near-null space. */
PetscErrorCode bsi_petsc_near_null_space(Mat mat, int *count, double **values);

#endif
