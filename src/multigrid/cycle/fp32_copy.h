/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies in fp32 of the matrices that cycles read. */
#ifndef BSI_FP32_COPY_H
#define BSI_FP32_COPY_H

#include "multigrid/level/hierarchy_impl.h"

/* Makes the copy in fp32 of A, if the level is large and the options ask for it. On a device the
 * host does not wait, and bsi_fp32_copy_complete_level() ends that. */
bisai_status bsi_fp32_copy_create(bsi_hierarchy *h, bsi_level *level);
/* Makes those of P, R and D⁻¹, if there is one of A. On a device the host does not wait, and
 * bsi_fp32_copy_complete() ends that. */
bisai_status bsi_fp32_copy_create_transfers(bsi_hierarchy *h, bsi_level *level);
/* Takes new values for the copies that there are, and waits until it is known whether fp32
 * represents them. Allocates nothing. */
bisai_status bsi_fp32_copy_update(const bsi_hierarchy *h, bsi_level *level, bsi_copies copies);
/* The same, but on a device the host does not wait. Cycles do not read the copies until
 * bsi_fp32_copy_complete(). */
bisai_status bsi_fp32_copy_begin_update(const bsi_hierarchy *h, bsi_level *level,
                                        bsi_copies copies);
/* Ends the updates of a level, or of all levels, for which the host did not wait. Their records
 * have been fetched. */
void bsi_fp32_copy_complete_level(const bsi_hierarchy *h, bsi_level *level);
void bsi_fp32_copy_complete(bsi_hierarchy *h);
/* Releases the copies of a level. */
void bsi_fp32_copy_destroy(bisai_context *context, bsi_level *level);

#endif
