/* SPDX-License-Identifier: BSD-3-Clause */
/* The work vectors of a level. */
#ifndef BSI_WORK_VECTORS_H
#define BSI_WORK_VECTORS_H

#include "multigrid/level/hierarchy_impl.h"

/* Reserves the work vectors of a level, whose matrix is known. After a failure
 * bsi_level_release_work() releases those that were reserved. */
bisai_status bsi_level_reserve_work(bsi_hierarchy *h, bsi_level *level);
void bsi_level_release_work(bisai_context *context, bsi_level_work *work);
/* Returns the bytes of the work vectors of a level. */
int64_t bsi_level_work_memory(const bsi_level *level);

#endif
