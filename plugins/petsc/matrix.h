/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a matrix of bisai into a Mat. */
#ifndef BSI_PETSC_MATRIX_H
#define BSI_PETSC_MATRIX_H

#include <bisai/petsc.h>

/* Checks that the matrix is square and fp64 and has all its diagonal blocks, and that level ≥ 0. */
bisai_status bsi_petsc_check_factorable(bisai_context *context, const bisai_bcsr *matrix,
                                        int level);

/* Copies the matrix into a SeqBAIJ. PETSc 3.18 cannot borrow arrays of blocks. */
PetscErrorCode bsi_petsc_mat(const bisai_bcsr *matrix, Mat *mat);

#endif
