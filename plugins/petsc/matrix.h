/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix of bisai as PETSc's. */
#ifndef BSI_PETSC_MATRIX_H
#define BSI_PETSC_MATRIX_H

#include <bisai/petsc.h>

/* Square, fp64, with all its diagonal blocks, and a level that counts. */
bisai_status bsi_petsc_check_factorable(bisai_context *context, const bisai_bcsr *matrix,
                                        int level);

/* A copy as SeqBAIJ; PETSc 3.18 cannot borrow arrays of blocks. */
PetscErrorCode bsi_petsc_mat(const bisai_bcsr *matrix, Mat *mat);

#endif
