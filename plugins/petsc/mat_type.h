/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix type "bisai" of PETSc: block rows on the host or on a GPU. On several processes it is
 * called "mpibisai". */
#ifndef BSI_PETSC_MAT_TYPE_H
#define BSI_PETSC_MAT_TYPE_H

#include "petsc/calls.h"

/* Registers the type. */
PetscErrorCode bsi_mat_register(void);

#endif
