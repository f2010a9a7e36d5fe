/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a rank whose cycle is the transpose of that of its levels (multigrid/transposed.h). The
 * own rows of Aᵀ, Pᵀ and Rᵀ have blocks of other ranks' rows, and other ghosts than A, P and R
 * where patterns are not symmetric. */
#ifndef BSI_RANK_TRANSPOSED_H
#define BSI_RANK_TRANSPOSED_H

#include "multigrid/ranks/rank_level.h"

typedef struct bsi_rank_transposed {
  bsi_hierarchy h;
  bsi_halo halos[BISAI_MULTIGRID_LEVELS];
  bsi_splits splits[BISAI_MULTIGRID_LEVELS];
} bsi_rank_transposed;

/* Makes them, with copies of what the cycles of `r` read. The cycle is not K. Nothing is made if a
 * rank fails. All ranks call it. */
bisai_status bsi_rank_transposed_create(bsi_rank_hierarchy *r, bsi_rank_transposed **transposed);
/* Return the bytes that it owns without the gathered levels, and the exchanges so far. Accept NULL.
 */
int64_t bsi_rank_transposed_memory(const bsi_rank_transposed *t);
int64_t bsi_rank_transposed_exchanges(const bsi_rank_transposed *t);
/* Sets *transposed to NULL. Accepts that. */
void bsi_rank_transposed_destroy(bsi_rank_transposed **transposed);

#endif
