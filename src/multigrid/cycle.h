/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles V, VW, W and K. */
#ifndef BSI_CYCLE_H
#define BSI_CYCLE_H

#include "multigrid/level/hierarchy_impl.h"

/* x ← one cycle for A x = b of level 0, from zero. b and x are in backend memory, and differ. */
bisai_status bsi_hierarchy_cycle(bsi_hierarchy *h, const double *b, double *x);
/* levels[l].work.solution ← the correction for the right-hand side levels[l].work.b, l ≥ 1.
 * K-cycles overwrite levels[l].work.b. */
bisai_status bsi_hierarchy_correct(bsi_hierarchy *h, int l);
/* Returns the cycle as an operator that can be applied, and no more. */
bsi_operator bsi_hierarchy_operator(bsi_hierarchy *h);

#endif
