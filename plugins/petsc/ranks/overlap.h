/* SPDX-License-Identifier: BSD-3-Clause */
/* The own rows of a process with rows of others around them: restricted additive Schwarz (Cai and
 * Sarkis, SIAM J. Sci. Comput. 21 (1999)). A solution is that of the own rows alone. */
#ifndef BSI_PETSC_RANKS_OVERLAP_H
#define BSI_PETSC_RANKS_OVERLAP_H

#include "petsc/calls.h"

typedef struct bsi_overlap {
  /* of the Mat: which it is, and its pattern */
  PetscObjectId id;
  PetscObjectState pattern;
  /* ascending: the own rows and those that are reached from them in `layers` steps */
  IS rows;
  Mat *matrix;
  VecScatter scatter;
  /* the vector of all processes, without an array, and those of the rows here */
  Vec all, here, result;
  /* the own rows, and the first of them among the rows here */
  PetscInt own, first;
} bsi_overlap;

/* *matrix ← the rows of a Mat of several processes, which *overlap owns, with its current values.
 * All processes call it. */
PetscErrorCode bsi_overlap_take(Mat mat, PetscInt layers, bsi_overlap *overlap, Mat *matrix);

/* *here ← the values of the rows here, from those of the own rows of all processes, which call it.
 */
PetscErrorCode bsi_overlap_gather(const bsi_overlap *overlap, const double *own,
                                  const double **here);

/* Returns where a solution for the rows here may be written. */
PetscErrorCode bsi_overlap_result(const bsi_overlap *overlap, double **result);

/* own ← the values of the own rows of that solution. Ends the two calls before. */
PetscErrorCode bsi_overlap_restrict(const bsi_overlap *overlap, const double **here,
                                    double **result, double *own);

/* Frees everything. Accepts a struct of zeros. */
PetscErrorCode bsi_overlap_destroy(bsi_overlap *overlap);

#endif
