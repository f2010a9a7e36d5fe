/* SPDX-License-Identifier: BSD-3-Clause */
/* The smoothers of levels over several processes, as PCs of PETSc's multigrid: relaxations with
 * bisai's D⁻¹ and coefficients. */
#ifndef BSI_PETSC_RANKS_SMOOTHER_H
#define BSI_PETSC_RANKS_SMOOTHER_H

#include <petscksp.h>

#include "petsc/ranks/level.h"

/* Makes `ksp` apply `steps` smoothings of a level, from the vector that it gets. The level outlives
 * it. */
PetscErrorCode bsi_ranks_smoother_set(const bsi_ranks_setup *setup, const bsi_ranks_level *level,
                                      PetscInt steps, KSP ksp);

#endif
