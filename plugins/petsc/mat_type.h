/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix type "bisai" of PETSc: block rows on the host or on a GPU, on one process. */
#ifndef BSI_PETSC_MAT_TYPE_H
#define BSI_PETSC_MAT_TYPE_H

#include "petsc/mat_read.h"

/* The matrix of a Mat of type "bisai" and its context. The Mat shares it with the preconditioners
 * that read it in their applications. New values of the Mat are written to it while only the Mat
 * and the preconditioner that takes these values have it. Otherwise, and for a new pattern, the Mat
 * gets another one. */
typedef struct bsi_mat_values {
  int references;
  bisai_context *context;
  bsi_petsc_copy copy;
  /* the transpose, made when it is first used; NULL: none */
  bisai_bcsr *transposed;
} bsi_mat_values;

/* Registers the type. */
PetscErrorCode bsi_mat_register(void);

/* *is ← the Mat is of type "bisai". */
PetscErrorCode bsi_mat_is_ours(Mat mat, bool *is);

/* Returns the backend of a Mat of type "bisai". */
bisai_backend bsi_mat_backend(Mat mat);

/* Returns the SeqBAIJ in which a Mat of type "bisai" keeps its values on the host. */
Mat bsi_mat_host(Mat mat);

/* Takes a reference to the current values of a Mat of type "bisai". `held` is the reference that
 * the caller has and that may receive these values, or NULL. *values is unchanged after a failure,
 * which *status or the returned error gives. */
PetscErrorCode bsi_mat_share(Mat mat, const bsi_mat_values *held, bsi_mat_values **values,
                             bisai_status *status);

/* Gives a reference back and sets it to NULL; accepts NULL. */
void bsi_mat_release(bsi_mat_values **values);

/* Returns the message of a failure of bsi_mat_share(), which ends at the Mat's next failure. */
const char *bsi_mat_message(Mat mat);

#endif
