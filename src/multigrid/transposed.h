/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels whose cycle is the transpose of the cycle of other levels. */
#ifndef BSI_MULTIGRID_TRANSPOSED_H
#define BSI_MULTIGRID_TRANSPOSED_H

#include "multigrid/level/hierarchy_impl.h"

/* Makes `to`, with copies of what the cycles of `from` read. The smoothers are relaxations, and the
 * cycle is not K. After a failure bsi_hierarchy_destroy() releases what was made. */
bisai_status bsi_hierarchy_transpose(const bsi_hierarchy *from, bsi_hierarchy *to);

#endif
