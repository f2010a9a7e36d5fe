/* SPDX-License-Identifier: BSD-3-Clause */
/* The inverses D⁻¹ of the diagonal blocks of a level. */
#ifndef BSI_DIAGONAL_H
#define BSI_DIAGONAL_H

#include "multigrid/level/hierarchy_impl.h"

/* Finds the diagonal blocks of a level, and refuses a matrix that lacks one. */
bisai_status bsi_diagonal_find(bsi_hierarchy *h, bsi_level *level);
/* Releases the places of the diagonal blocks, and finds them again. */
void bsi_diagonal_release_places(bisai_context *context, bsi_level *level);
bisai_status bsi_diagonal_renew_places(bsi_hierarchy *h, bsi_level *level);
/* *missing ← the first block row without a diagonal block, or −1. */
bisai_status bsi_diagonal_missing(bisai_context *context, const bisai_bcsr *a, int32_t *missing);
/* Finds the diagonal blocks of a new level, unless they are known, and inverts them. On a device
 * the host does not wait for the result. */
bisai_status bsi_diagonal_begin(bsi_hierarchy *h, bsi_level *level);
/* Judges the inverses, after the records of the level have been fetched. *regular ← false if a
 * block is singular, and the whole matrix will be inverted instead. Otherwise rows of rounding
 * errors may get other inverses: level->diagonal.null_rows. */
bisai_status bsi_diagonal_end(bsi_hierarchy *h, bsi_level *level, bool *regular);
/* Inverts the diagonal blocks after an update of the matrix. On a device the host may not wait for
 * the result, and bsi_diagonal_complete() judges it. */
bisai_status bsi_diagonal_update(bsi_hierarchy *h, bsi_level *level);
/* Judges the inverses of all levels that have not been judged, from the finest to the coarsest.
 * h->records.here have been fetched. Refuses singular blocks. */
bisai_status bsi_diagonal_complete(bsi_hierarchy *h);

#endif
