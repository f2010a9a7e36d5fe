/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a hierarchy over several processes. */
#ifndef BSI_PETSC_RANKS_IMPL_H
#define BSI_PETSC_RANKS_IMPL_H

#include "petsc/ranks/gather.h"
#include "petsc/ranks/level.h"

/* How the last level of all processes ends. */
typedef enum bsi_ranks_end {
  /* its matrix is gathered */
  BSI_RANKS_GATHERED,
  /* it is smoothed, because it is too large to be gathered and does not coarsen */
  BSI_RANKS_SMOOTHED
} bsi_ranks_end;

typedef struct bsi_ranks {
  bsi_ranks_setup setup;
  bisai_precond_options options;
  PetscInt gather_rows;
  bsi_ranks_source source;
  /* what is aggregated are scalar rows */
  bool scalar;
  /* levels of all processes: `count` with transfers to the next one, and the last one */
  int count;
  bsi_ranks_level levels[BISAI_MULTIGRID_LEVELS];
  bsi_ranks_end end;
  bsi_ranks_gather gathered;
  /* PCMG; NULL if level 0 is gathered */
  PC cycle;
  Vec v, z;
} bsi_ranks;

/* Makes PCMG of the levels. */
PetscErrorCode bsi_ranks_cycle_create(bsi_ranks *ranks);

#endif
