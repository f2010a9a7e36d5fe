/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver type "bisai" of PETSc, shared by its files: its data and its hooks. */
#ifndef BSI_PETSC_KSP_IMPL_H
#define BSI_PETSC_KSP_IMPL_H

#include <petsc/private/kspimpl.h>

#include "petsc/pc_impl.h"

#define BSI_KSP_TYPE "bisai"

typedef struct bsi_ksp {
  /* the method and its options; the KSP has tolerances, limits and the guess */
  bisai_solver_options options;
  /* the method is that of bsi_ksp_choose_method() */
  bool automatic;
  /* in a solve, x has no meaning before its end */
  bool solving;
  /* why the last solve failed; "" if it converged */
  char message[256];
} bsi_ksp;

/* The hooks. */
PetscErrorCode bsi_ksp_set_from_options(KSP ksp, bsi_petsc_option_items PetscOptionsObject);
PetscErrorCode bsi_ksp_solve(KSP ksp);
/* Refuses what a KSP is asked to estimate. */
PetscErrorCode bsi_ksp_check_estimates(KSP ksp);
PetscErrorCode bsi_ksp_view(KSP ksp, PetscViewer viewer);

#endif
