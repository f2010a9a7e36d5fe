/* SPDX-License-Identifier: BSD-3-Clause */
/* The own rows of a Mat of type "mpibisai". */
#ifndef BSI_PETSC_PARTS_H
#define BSI_PETSC_PARTS_H

#include <petscmat.h>

#include "petsc/calls.h"

/* A Mat of type "bisai" for the own columns and one for the columns of other processes, the
 * ghosts. They share the two SeqBAIJ of the MPIBAIJ that has the values. */
typedef struct bsi_mat_parts {
  Mat own, other;
  /* the values of the ghosts, and how they come */
  Vec ghosts;
  VecScatter halo;
  /* which MPIBAIJ they are of, its pattern, and its state when they were used last */
  PetscObjectId id;
  PetscObjectState pattern, state;
} bsi_mat_parts;

/* Destroys the parts and sets them to NULL; accepts NULL. */
PetscErrorCode bsi_mat_parts_destroy(bsi_mat_parts **parts);

#endif
