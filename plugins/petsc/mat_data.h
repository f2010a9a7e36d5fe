/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of a Mat of type "bisai": values on the host, and a matrix of bisai that follows
 * them. */
#ifndef BSI_PETSC_MAT_DATA_H
#define BSI_PETSC_MAT_DATA_H

#include "petsc/mat_values.h"

/* *is ← the Mat is of type "bisai". */
PetscErrorCode bsi_mat_is_ours(Mat mat, bool *is);

/* Returns the backend of a Mat of type "bisai". */
bisai_backend bsi_mat_backend(Mat mat);

/* Returns the SeqBAIJ or MPIBAIJ in which a Mat of type "bisai" keeps its values on the host. */
Mat bsi_mat_host(Mat mat);

/* *readable ← the SeqBAIJ in a Mat of type "bisai", or a Mat of another type itself. */
PetscErrorCode bsi_mat_readable(Mat mat, Mat *readable);

/* Takes a reference to the current values of a Mat of type "bisai". `held` is the reference that
 * the caller has and that may receive these values, or NULL. *values is unchanged after a failure,
 * which *status or the returned error gives. */
PetscErrorCode bsi_mat_share(Mat mat, const bsi_mat_values *held, bsi_mat_values **values,
                             bisai_status *status);

/* Returns the message of a failure of bsi_mat_share(), which ends at the Mat's next failure. */
const char *bsi_mat_message(Mat mat);

/* Makes the SeqBAIJ, not yet preallocated, unless there is one. */
PetscErrorCode bsi_mat_prepare(Mat mat);

/* Takes over an assembled or preallocated SeqBAIJ, and drops the old one. */
PetscErrorCode bsi_mat_adopt(Mat mat, Mat host);

/* Raises the states of this Mat if those of `host` have changed, so that preconditioners of any
 * type see the change. Every operation that may change `host` ends with this call: PETSc raises the
 * states for some operations only. */
PetscErrorCode bsi_mat_tell(Mat mat);

/* Gives the matrix of bisai the current values. A failure is an error of PETSc. */
PetscErrorCode bsi_mat_use(Mat mat);

/* Makes MatCreateVecs() give vectors where the products are done. */
PetscErrorCode bsi_mat_choose_vectors(Mat mat);

#endif
