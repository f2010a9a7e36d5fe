/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_PETSC_RANKS_NULL_ROWS_H
#define BSI_PETSC_RANKS_NULL_ROWS_H

#include <petscmat.h>

#include <bisai/piece.h>

#include "petsc/calls.h"

/* A level: A, P and the piece of this process. */
typedef struct bsi_ranks_operators {
  Mat matrix, prolongation;
  const bisai_piece *piece;
} bsi_ranks_operators;

/* Makes rows and columns of the matrix below a level those of the identity if they are zero or
 * rounding errors alone. All processes call it. */
PetscErrorCode bsi_ranks_replace_null_rows(const bsi_ranks_operators *level, Mat coarse);

#endif
