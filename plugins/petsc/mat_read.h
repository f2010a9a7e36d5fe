/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices of bisai from Mats: SeqAIJ (on the host or on a GPU), SeqBAIJ and SeqSBAIJ. */
#ifndef BSI_PETSC_MAT_READ_H
#define BSI_PETSC_MAT_READ_H

#include <petscmat.h>

#include "petsc/calls.h"

/* Reads a Mat into a new matrix with the Mat's block size. For a context on a GPU the structure and
 * the values of an AIJCUSPARSE come from there, and otherwise from host memory. The scalar rows of
 * a block row of a SeqAIJ are united. The lower triangle of a SeqSBAIJ is restored from the upper
 * one. */
PetscErrorCode bsi_petsc_read(bisai_context *context, Mat mat, bisai_bcsr **matrix,
                              bisai_status *status);

/* What tells the pattern of a Mat from that of another Mat and from its own former patterns. The
 * array and its length notice a Mat that has been replaced by MatHeaderReplace(), which may restore
 * the state. */
typedef struct bsi_petsc_pattern {
  PetscObjectId mat;
  PetscObjectState state;
  const PetscInt *col_idx;
  PetscInt length;
} bsi_petsc_pattern;

/* Describes the present pattern of an assembled SeqAIJ, SeqBAIJ or SeqSBAIJ. */
PetscErrorCode bsi_petsc_pattern_of(Mat mat, bsi_petsc_pattern *pattern);

bool bsi_petsc_is_same_pattern(const bsi_petsc_pattern *a, const bsi_petsc_pattern *b);

/* A matrix that follows the values of a Mat. */
typedef struct bsi_petsc_copy {
  /* NULL: no Mat has been read */
  bisai_bcsr *matrix;
  /* the pattern of the Mat from which the matrix was made, at that time */
  bsi_petsc_pattern pattern;
} bsi_petsc_copy;

/* *follows ← the matrix was made from this Mat, which has the same pattern as then. */
PetscErrorCode bsi_petsc_copy_follows(const bsi_petsc_copy *copy, Mat mat, bool *follows);

/* Gives the matrix the values of a Mat. If the Mat has the same pattern as at the last call, the
 * values are updated in place: on a GPU the values of an AIJCUSPARSE do not pass through the host.
 * Otherwise a new matrix is made, and *replaced receives the old one, which the caller destroys.
 * *replaced is NULL in all other cases. After a failure the copy is as before. */
PetscErrorCode bsi_petsc_copy_refresh(bsi_petsc_copy *copy, bisai_context *context, Mat mat,
                                      bisai_bcsr **replaced, bisai_status *status);

/* Returns true if a Mat is an AIJCUSPARSE that works on the GPU. */
PetscErrorCode bsi_petsc_is_on_gpu(Mat mat, bool *on_gpu);

#endif
