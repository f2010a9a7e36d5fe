/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix from which a preconditioner of PETSc is made: a copy that follows the Mat, or the
 * matrix of a Mat of type "bisai" itself. */
#ifndef BSI_PETSC_PC_MATRIX_H
#define BSI_PETSC_PC_MATRIX_H

#include "petsc/mat_values.h"

/* One of the two is empty. */
typedef struct bsi_pc_matrix {
  bsi_petsc_copy copy;
  bsi_mat_values *shared;
  /* the Mat that was read, and its state then */
  PetscObjectId mat;
  PetscObjectState state;
} bsi_pc_matrix;

/* *backend ← `asked`, or for BISAI_BACKEND_AUTO the backend where a Mat has its values. */
PetscErrorCode bsi_pc_backend(Mat mat, bisai_backend asked, bisai_backend *backend);

/* *block ← that of the own rows and columns. Refuses a Mat that has none, and names a remedy. */
PetscErrorCode bsi_pc_own_block(Mat mat, Mat *block);

/* Takes the current values of a Mat. *old receives what `matrix` held before, if that is another
 * matrix; the caller destroys it when the preconditioner no longer reads it. Otherwise *old is
 * empty. After a failure `matrix` is unchanged. */
PetscErrorCode bsi_pc_matrix_read(bsi_pc_matrix *matrix, bisai_context *context, Mat mat,
                                  bsi_pc_matrix *old, bisai_status *status);

/* *holds ← `matrix` has the current values of this Mat. */
PetscErrorCode bsi_pc_matrix_holds(const bsi_pc_matrix *matrix, Mat mat, bool *holds);

/* Returns the matrix, or NULL. */
const bisai_bcsr *bsi_pc_matrix_get(const bsi_pc_matrix *matrix);

void bsi_pc_matrix_destroy(bsi_pc_matrix *matrix);

#endif
