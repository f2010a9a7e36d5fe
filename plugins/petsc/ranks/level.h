/* SPDX-License-Identifier: BSD-3-Clause */
/* A level of multigrid over several processes: its matrix, the piece of this process, and the
 * transfers to the next level. */
#ifndef BSI_PETSC_RANKS_LEVEL_H
#define BSI_PETSC_RANKS_LEVEL_H

#include "petsc/ranks/matrices.h"
#include "petsc/ranks/rows.h"

/* Which P and R a level has. */
typedef enum bsi_ranks_smoothing {
  BSI_RANKS_BOTH,
  /* P, and Tᵀ for R: R A P would have exceeded the limit of the complexity */
  BSI_RANKS_PROLONGATION,
  /* T and Tᵀ: that would have exceeded it too */
  BSI_RANKS_NEITHER
} bsi_ranks_smoothing;

/* What all levels are made with. */
typedef struct bsi_ranks_setup {
  MPI_Comm comm;
  bisai_context *context;
  /* without AUTO */
  bisai_multigrid_options options;
  bool symmetric;
  double shift_amount;
} bsi_ranks_setup;

/* The transfers of a level to the next one. */
typedef struct bsi_ranks_transfers {
  bsi_ranks_smoothing smoothing;
  /* the number of each block column of P and R in the whole matrix */
  PetscInt *aggregate_column, *row_column;
  /* P, R and A P */
  Mat prolongation, restriction, product;
} bsi_ranks_transfers;

typedef struct bsi_ranks_level {
  Mat matrix;
  /* what its rows are read from, if the matrix is made of them: scalar rows without zeros */
  Mat source;
  bsi_ranks_rows rows;
  bisai_piece *piece;
  /* numbers of all processes: block rows, blocks of A, and aggregates */
  PetscInt all_rows, all_aggregates;
  double all_blocks;
  /* the own aggregates, and the scalar columns of each */
  int32_t count, width;
  double radius, largest_inverse;
  bsi_ranks_transfers transfers;
  /* vectors without arrays, for products */
  Vec x, y;
} bsi_ranks_level;

/* Where a step of a set-up failed: the status is that of the first process that failed. */
typedef struct bsi_ranks_failure {
  bisai_status status;
  char message[BSI_PETSC_MESSAGE];
} bsi_ranks_failure;

/* Ends a step that each process does alone: all raise an error of one, and all get the failure of
 * one. All processes call it. */
PetscErrorCode bsi_ranks_agree(const bsi_ranks_setup *setup, PetscErrorCode own,
                               bisai_status status, bsi_ranks_failure *failure);

/* Reads the rows of level->matrix, which the caller has set, or those of level->source, and makes
 * the matrix then. Collective, like all that follow. */
PetscErrorCode bsi_ranks_level_read(const bsi_ranks_setup *setup, PetscInt block_size,
                                    bool drop_zeros, bsi_ranks_level *level,
                                    bsi_ranks_failure *failure);

/* Makes D⁻¹, ρ and the aggregates. `vectors` are the near-null-space vectors of the own rows, or
 * NULL. */
PetscErrorCode bsi_ranks_level_create(const bsi_ranks_setup *setup, int number,
                                      const double *vectors, bsi_ranks_level *level,
                                      bsi_ranks_failure *failure);

/* Makes P, R, and *coarse ← R A P. It stays NULL if it has more than `most` values, whatever the
 * transfers are. */
PetscErrorCode bsi_ranks_level_coarsen(const bsi_ranks_setup *setup, double most,
                                       bsi_ranks_level *level, Mat *coarse,
                                       bsi_ranks_failure *failure);

/* Takes the new values of level->matrix and computes those of `coarse`, if the level has transfers.
 * *same ← false if the pattern is another one. */
PetscErrorCode bsi_ranks_level_update(const bsi_ranks_setup *setup, bsi_ranks_level *level,
                                      Mat coarse, bool *same, bsi_ranks_failure *failure);

/* y ← A x, for arrays of the own rows. */
PetscErrorCode bsi_ranks_level_multiply(const bsi_ranks_level *level, const double *x, double *y);

PetscErrorCode bsi_ranks_level_destroy(bsi_ranks_level *level);

#endif
