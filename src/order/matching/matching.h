/* SPDX-License-Identifier: BSD-3-Clause */
/* Maximum product matching: which row of A goes to which place, so that the product of the weights
 * on the diagonal is largest, and the scaling that comes with it. Works on the host; reads the
 * matrix of a device through copies. */
#ifndef BSI_MATCHING_H
#define BSI_MATCHING_H

#include "order/matching/entries.h"

/* Lists the entries of A and reserves all memory. */
bisai_status bsi_matching_create(bisai_context *context, const bisai_bcsr *a, bisai_matching unit,
                                 bsi_matching *matching);
/* Finds the matching of the values of an A of that structure. Allocates nothing. Returns
 * BISAI_SINGULAR_BLOCK if there is none that is complete. */
bisai_status bsi_matching_solve(bsi_matching *matching, const bisai_bcsr *a);
void bsi_matching_destroy(bsi_matching *matching);

#endif
