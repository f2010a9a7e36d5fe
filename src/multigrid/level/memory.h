/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_LEVEL_MEMORY_H
#define BSI_LEVEL_MEMORY_H

#include "multigrid/level/hierarchy_impl.h"

/* Returns the bytes of everything that a hierarchy owns. */
int64_t bsi_hierarchy_memory(const bsi_hierarchy *h);
/* h->peak_bytes ← the bytes of the hierarchy and of temporary memory, if they are more. `temporary`
 * may be negative: less was held then. */
void bsi_hierarchy_note_peak(bsi_hierarchy *h, int64_t temporary);
/* Returns the bytes that a cycle reads and writes at least on level l. *visits are the corrections
 * on this level, 1 for level 0, and become its visits, which are the corrections on the next. */
int64_t bsi_level_cycle_bytes(const bsi_hierarchy *h, int l, int64_t *visits);
/* Returns the bytes that a cycle reads and writes at least. */
int64_t bsi_hierarchy_cycle_bytes(const bsi_hierarchy *h);

#endif
