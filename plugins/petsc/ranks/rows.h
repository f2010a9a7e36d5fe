/* SPDX-License-Identifier: BSD-3-Clause */
/* The own block rows of a Mat of several processes, as bisai's ranks read them (bisai/ranks.h), and
 * the exchange of data of their ghosts. */
#ifndef BSI_PETSC_RANKS_ROWS_H
#define BSI_PETSC_RANKS_ROWS_H

#include <petscsf.h>

#include <bisai/ranks.h>

#include "petsc/calls.h"

typedef struct bsi_ranks_rows {
  /* the own block rows, the first of them among all, and the ghosts, ascending, as block columns of
   * the whole matrix */
  PetscInt n, first, ghosts;
  PetscInt *ghost;
  PetscInt block_size;
  /* zeros beside the diagonal are left out: blocks of one value */
  bool drops_zeros;
  /* on the host the matrix borrows these arrays */
  int32_t *row_ptr, *col_idx;
  double *values;
  bisai_bcsr *matrix;
  bool borrows;
  /* the pattern of the Mat when it was read */
  PetscObjectState pattern;
  /* from own block rows to ghosts */
  PetscSF halo;
} bsi_ranks_rows;

/* A Mat as an MPIAIJ of the host or of a GPU, which has its rows on the host too. */
typedef struct bsi_ranks_source {
  /* of the Mat: which it is, and its pattern */
  PetscObjectId id;
  PetscObjectState pattern;
  /* the Mat itself, or a copy if it has another type */
  Mat mat;
  bool copied;
} bsi_ranks_source;

/* Takes a Mat. All processes call it; the caller destroys source->mat. */
PetscErrorCode bsi_ranks_source_take(Mat mat, bsi_ranks_source *source);

/* Takes new values. *same ← false for another Mat or pattern. All processes call it. */
PetscErrorCode bsi_ranks_source_refresh(Mat mat, bsi_ranks_source *source, bool *same);

/* Reads the own rows of an MPIAIJ in blocks. Local: *status has a failure of this process. */
PetscErrorCode bsi_ranks_rows_read(Mat mat, PetscInt block_size, bool drop_zeros,
                                   bisai_context *context, bsi_ranks_rows *rows,
                                   bisai_status *status);

/* Makes the exchange. All processes call it. */
PetscErrorCode bsi_ranks_rows_connect(Mat mat, bsi_ranks_rows *rows);

/* Takes the values of the Mat. *same ← false if it has another pattern; the values are of no use
 * then. Local: *status has a failure of this process. */
PetscErrorCode bsi_ranks_rows_update(Mat mat, bsi_ranks_rows *rows, bool *same,
                                     bisai_status *status);

/* ghosts ← `count` doubles of each ghost, from those of each own block row. All processes call
 * it. */
PetscErrorCode bsi_ranks_rows_exchange(const bsi_ranks_rows *rows, PetscInt count,
                                       const double *own, double *ghosts);

/* Frees everything. Accepts a struct of zeros. */
PetscErrorCode bsi_ranks_rows_destroy(bsi_ranks_rows *rows);

#endif
