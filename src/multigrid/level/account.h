/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_ACCOUNT_H
#define BSI_ACCOUNT_H

#include "multigrid/level/hierarchy_impl.h"

/* *memory ← the bytes of each part of level l, and how often a cycle reads them. The arrays of the
 * whole hierarchy count on the levels that read them: the records of updates on level 0. */
void bsi_level_account(const bsi_hierarchy *h, int l, bisai_multigrid_memory *memory);

#endif
