/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of PETSc over several processes, for the levels of multigrid. */
#ifndef BSI_PETSC_RANKS_MATRICES_H
#define BSI_PETSC_RANKS_MATRICES_H

#include <petscmat.h>

#include <bisai/piece.h>

#include "petsc/calls.h"
#include "petsc/ranks/rows.h"

/* Own block rows, with the number of each of their block columns in the whole matrix. */
typedef struct bsi_ranks_blocks {
  bisai_piece_view view;
  const PetscInt *column;
  /* the block columns of the vectors of this process */
  PetscInt own_columns;
} bsi_ranks_blocks;

/* *mat ← an MPIAIJ with these rows. All processes call it. */
PetscErrorCode bsi_ranks_mat_create(MPI_Comm comm, const bsi_ranks_blocks *blocks, Mat *mat);

/* Writes the values into a Mat that was made from the same structure. All processes call it. */
PetscErrorCode bsi_ranks_mat_fill(const bsi_ranks_blocks *blocks, Mat mat);

/* *symmetric ← whether an MPIAIJ differs from its transpose by BISAI_SYMMETRY_LIMIT at most, as
 * bisai_bcsr_asymmetry() measures it. All processes call it, and get the same. */
PetscErrorCode bsi_ranks_mat_is_symmetric(Mat mat, bool *symmetric);

#endif
