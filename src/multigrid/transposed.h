/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels whose cycle is the transpose of the cycle of other levels. */
#ifndef BSI_MULTIGRID_TRANSPOSED_H
#define BSI_MULTIGRID_TRANSPOSED_H

#include "multigrid/level/hierarchy_impl.h"

/* Makes `to`, with copies of what the cycles of `from` read. The smoothers are relaxations, and the
 * cycle is not K. After a failure bsi_hierarchy_destroy() releases what was made. */
bisai_status bsi_hierarchy_transpose(const bsi_hierarchy *from, bsi_hierarchy *to);

/* The parts of it that ranks share (multigrid/ranks/rank_transposed.h): a hierarchy without levels,
 * a level without its arrays, and those of its smoother. */
bsi_hierarchy bsi_transposed_hierarchy_of(const bsi_hierarchy *from);
bsi_level bsi_transposed_level_of(const bsi_level *from);
bisai_status bsi_level_transpose_smoother(bsi_hierarchy *h, const bsi_level *from,
                                          bsi_level *level);
/* Return the values in fp32 of P and of R that cycles read, or NULL. */
const float *bsi_narrow_prolongation(const bsi_level *level);
const float *bsi_narrow_restriction(const bsi_level *level);

#endif
