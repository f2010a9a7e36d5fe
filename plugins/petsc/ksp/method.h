/* SPDX-License-Identifier: BSD-3-Clause */
/* The method of a KSP of type "bisai". */
#ifndef BSI_PETSC_KSP_METHOD_H
#define BSI_PETSC_KSP_METHOD_H

#include <petscksp.h>

#include "petsc/calls.h"

/* *ours ← a KSP is of this type. */
PetscErrorCode bsi_ksp_is_ours(KSP ksp, bool *ours);

/* *symmetric ← a KSP of this type asks for a symmetric preconditioner. */
PetscErrorCode bsi_ksp_asks_symmetric(KSP ksp, bool *symmetric);

/* *options ← the method of a KSP of this type and its options, for its present Mat and this
 * preconditioner. With -ksp_bisai_method auto, CG is chosen for matrices that are known to be
 * symmetric positive definite (MAT_SPD) if the preconditioner is symmetric, and GMRES for all
 * others. */
PetscErrorCode bsi_ksp_choose_method(KSP ksp, const bisai_precond *precond,
                                     bisai_solver_options *options);

#endif
