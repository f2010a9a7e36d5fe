/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a Mat of type "mpibisai", whose values are those of an MPIBAIJ. */
#ifndef BSI_PETSC_MAT_PARTS_H
#define BSI_PETSC_MAT_PARTS_H

#include <petscmat.h>

#include "petsc/calls.h"

/* Sets the operations that differ from those of one process. */
PetscErrorCode bsi_mat_set_parts(Mat mat);

/* *host ← an MPIBAIJ with the values of an MPIAIJ. PETSc converts it without preallocation, which
 * takes minutes in 3.18. */
PetscErrorCode bsi_mat_parts_convert(Mat mat, Mat *host);

#endif
