/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BSI_LEVEL_ERRORS_H
#define BSI_LEVEL_ERRORS_H

#include "multigrid/level/hierarchy_impl.h"

/* Puts the number of a coarse level before the message of a failure, and returns its status. On
 * level 0 of scalar nodes the message says that rows are scalar rows. */
bisai_status bsi_level_fail(const bsi_hierarchy *h, const bsi_level *level, bisai_status status);
/* Refuses blocks of a level that were not inverted, as bsi_invert_stats_judge() does. `what` begins
 * the message. Tells if the matrix of the level overflows. */
bisai_status bsi_level_judge(const bsi_hierarchy *h, const bsi_level *level, const char *what,
                             const bsi_invert_stats *stats);
/* Refuses an update that makes the matrix of a level singular, or lets it overflow. */
bisai_status bsi_level_refuse(const bsi_hierarchy *h, const bsi_level *level);

#endif
