/* SPDX-License-Identifier: BSD-3-Clause */
/* What updates of a rank need and cycles do not: the values of A P, and in fp64 what cycles read in
 * fp32. Structures, Tᵀ and places stay, whatever the options say: they came over all ranks
 * (multigrid/updates.h has the options). */
#ifndef BSI_RANK_UPDATES_H
#define BSI_RANK_UPDATES_H

#include "multigrid/ranks/rank_level.h"

/* Reserves D⁻¹ of a level, of the ghosts too. */
bisai_status bsi_rank_reserve_inverse(bsi_rank_hierarchy *r, bsi_level *level);
/* Releases the values of A P of level l, if the hierarchy is to do without. */
void bsi_rank_updates_release_product(bsi_rank_hierarchy *r, int l);
/* Releases what the hierarchy is to do without. */
void bsi_rank_updates_release(bsi_rank_hierarchy *r);
/* Reserves again what has been released. A rank is alone in it. */
bisai_status bsi_rank_updates_renew(bsi_rank_hierarchy *r);
/* Says that an update was made: `auto` is `fast` from then on. */
void bsi_rank_updates_end(bsi_rank_hierarchy *r);

#endif
