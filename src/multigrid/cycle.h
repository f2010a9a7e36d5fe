/* SPDX-License-Identifier: BSD-3-Clause */
/* The cycles V, VW, W and K. */
#ifndef BSI_CYCLE_H
#define BSI_CYCLE_H

#include "multigrid/level/hierarchy_impl.h"

/* x ← one cycle for A x = b of level 0, from zero. b and x are in backend memory, and differ. */
bisai_status bsi_hierarchy_cycle(bsi_hierarchy *h, const double *b, double *x);
/* The same for a b whose norm is 1, with work vectors in fp32 where levels may have them. The
 * rounding errors of x then differ from one b to another, which only flexible methods bear
 * (bench/results/multigrid-memory.md, "Work vectors in fp32"). */
bisai_status bsi_hierarchy_cycle_in_fp32(bsi_hierarchy *h, const double *b, double *x);
/* Returns how many levels, from level 0 on, have work vectors in fp32 in these cycles. */
int bsi_narrow_levels(const bsi_hierarchy *h);
/* levels[l].work.solution ← the correction for the right-hand side levels[l].work.b, l ≥ 1.
 * K-cycles overwrite levels[l].work.b. */
bisai_status bsi_hierarchy_correct(bsi_hierarchy *h, int l);
/* Returns the cycle as an operator that can be applied, and no more. */
bsi_operator bsi_hierarchy_operator(bsi_hierarchy *h);

#endif
