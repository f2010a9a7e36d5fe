/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a level that products do while its ghosts come (multigrid/halo/split.h). */
#ifndef BSI_RANK_SPLITS_H
#define BSI_RANK_SPLITS_H

#include "multigrid/halo/split.h"
#include "multigrid/level/hierarchy_impl.h"

/* Groups the rows of A, R and P of level l, where the transport has exchanges in two parts and the
 * set-up wants them to be overlapped. The level refers to *splits, which the caller destroys. */
bisai_status bsi_rank_splits_create(bsi_hierarchy *h, int l, bsi_splits *splits);
int64_t bsi_rank_splits_memory(const bsi_splits *splits);
/* Accepts a struct of zeros. */
void bsi_rank_splits_destroy(bisai_context *context, bsi_splits *splits);

#endif
