/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of PETSc over several processes, for the levels of multigrid. */
#ifndef BSI_PETSC_RANKS_MATRICES_H
#define BSI_PETSC_RANKS_MATRICES_H

#include <petscmat.h>

#include "petsc/calls.h"
#include "petsc/ranks/rows.h"

/* Own block rows, with the number of each of their block columns in the whole matrix. Blocks are
 * stored column by column. */
typedef struct bsi_ranks_blocks {
  PetscInt rows, block_size;
  const int32_t *row_ptr, *col_idx;
  const double *values;
  const PetscInt *column;
} bsi_ranks_blocks;

/* *mat ← an MPIAIJ with these rows. All processes call it. */
PetscErrorCode bsi_ranks_mat_create(MPI_Comm comm, const bsi_ranks_blocks *blocks, Mat *mat);

/* Writes the values into a Mat that was made from the same structure. All processes call it. */
PetscErrorCode bsi_ranks_mat_fill(const bsi_ranks_blocks *blocks, Mat mat);

#endif
