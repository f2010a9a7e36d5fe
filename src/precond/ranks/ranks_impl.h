/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a hierarchy over several ranks. */
#ifndef BSI_RANKS_IMPL_H
#define BSI_RANKS_IMPL_H

#include "multigrid/ranks/rank_levels.h"

struct bisai_ranks {
  bisai_context *context;
  bsi_rank_hierarchy levels;
};

#endif
