/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of a level on one process, where bisai's multigrid goes on. */
#ifndef BSI_PETSC_RANKS_GATHER_H
#define BSI_PETSC_RANKS_GATHER_H

#include <petscpc.h>

#include <bisai/precond.h>

#include "petsc/mat_read.h"
#include "petsc/ranks/level.h"

typedef struct bsi_ranks_gather {
  /* the rows of all processes on the first one, and none on the others */
  IS rows;
  Mat *matrices;
  bsi_petsc_copy copy;
  bisai_precond *precond;
  /* the options of the preconditioner; `above` and the vectors are given to creation */
  bisai_precond_options options;
  VecScatter scatter;
  Vec b, x;
} bsi_ranks_gather;

/* Gathers a matrix with blocks of `block_size`, and makes the preconditioner on the first process.
 * `vectors` are the near-null-space vectors of the own rows; NULL: none. All processes call it. */
PetscErrorCode bsi_ranks_gather_create(const bsi_ranks_setup *setup, Mat mat, PetscInt block_size,
                                       const double *vectors, bsi_ranks_gather *gather,
                                       bsi_ranks_failure *failure);

/* Takes the new values of the matrix. All processes call it. */
PetscErrorCode bsi_ranks_gather_update(const bsi_ranks_setup *setup, Mat mat,
                                       bsi_ranks_gather *gather, bsi_ranks_failure *failure);

/* x ← M⁻¹ b. All processes call it. */
PetscErrorCode bsi_ranks_gather_apply(bsi_ranks_gather *gather, Vec b, Vec x);

PetscErrorCode bsi_ranks_gather_destroy(bsi_ranks_gather *gather);

#endif
