/* SPDX-License-Identifier: BSD-3-Clause */
/* P and R between a level and the next one. */
#ifndef BSI_TRANSFERS_H
#define BSI_TRANSFERS_H

#include "multigrid/aggregation/coarsening.h"

/* product ← the structure of a b, which is one of the level's transfers, with its slots if updates
 * are to find them. Notes the peak. */
bisai_status bsi_transfers_multiply(bsi_hierarchy *h, const bsi_level *level,
                                    const bsi_coarsening *c, const bsi_block_matrix *a,
                                    const bsi_block_matrix *b, int64_t most,
                                    bsi_block_matrix *product);
/* Makes the slots of a product a b unless it has some, needs none or is empty. */
bisai_status bsi_transfers_find_slots(const bsi_hierarchy *h, const bsi_block_matrix *a,
                                      const bsi_block_matrix *b, bsi_block_matrix *product);
/* Makes the structure of the smoothed P. */
bisai_status bsi_prolongation_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c);
/* Makes the structure of the smoothed R. */
bisai_status bsi_restriction_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c);
/* Computes the values of P, of R, and of both. */
bisai_status bsi_prolongation_update(bsi_hierarchy *h, bsi_level *level);
bisai_status bsi_restriction_update(bsi_hierarchy *h, bsi_level *level);
bisai_status bsi_transfers_update(bsi_hierarchy *h, bsi_level *level);
/* Makes again the places, Tᵀ and the slots that the updates of P and R need, as far as they have
 * been released. */
bisai_status bsi_transfers_renew(bsi_hierarchy *h, bsi_level *level);
/* Releases the places of transposed blocks. */
void bsi_transfers_release_places(bisai_context *context, bsi_level_transfers *t);
/* Releases the columns of A T, which updates make again. */
void bsi_transfers_release_filtered(bisai_context *context, bsi_level_transfers *t);
/* Releases all that A T is computed from. */
void bsi_transfers_release_filter(bisai_context *context, bsi_level_transfers *t);
/* Releases what smoothed transfers have beside T and Tᵀ. */
void bsi_transfers_release_smoothed(bisai_context *context, bsi_level_transfers *t);
/* Releases the transfers. Accepts a level that has none. */
void bsi_transfers_destroy(bisai_context *context, bsi_level_transfers *t);

#endif
