/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver type "bisai" of PETSc, -ksp_type bisai: the Krylov methods of bisai around the
 * preconditioner of a PC of type "bisai", on one process. */
#ifndef BSI_PETSC_KSP_H
#define BSI_PETSC_KSP_H

#include <petscksp.h>

PetscErrorCode bsi_ksp_register(void);

#endif
