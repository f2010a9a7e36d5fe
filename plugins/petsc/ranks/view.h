/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_PETSC_RANKS_VIEW_H
#define BSI_PETSC_RANKS_VIEW_H

#include <petscviewer.h>

#include "petsc/calls.h"

struct bsi_ranks; /* petsc/ranks/ranks.h */

/* Prints the levels. */
PetscErrorCode bsi_ranks_view(const struct bsi_ranks *ranks, PetscViewer viewer);

#endif
