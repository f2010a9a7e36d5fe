/* SPDX-License-Identifier: BSD-3-Clause */
/* What one process and several ranks make of the options of multigrid. */
#ifndef BSI_MULTIGRID_SETUP_H
#define BSI_MULTIGRID_SETUP_H

#include "multigrid/level/hierarchy_impl.h"

/* Returns the options without AUTO, but for `cycle`, and for `nodes` of blocks. */
bisai_multigrid_options bsi_multigrid_choose(const bisai_multigrid_options *given, bool symmetric,
                                             int block_size);
/* Returns the cycle without AUTO, when `nodes` is known. */
bisai_cycle bsi_multigrid_cycle(const bisai_multigrid_options *o, bool symmetric, int block_size);
/* Returns the set-up, without nested smoothers, for options that have been chosen. */
bsi_multigrid_setup bsi_multigrid_setup_of(const bisai_context *context,
                                           const bisai_multigrid_options *given,
                                           const bisai_multigrid_options *chosen, bool symmetric,
                                           double shift_amount);

#endif
