/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks decide together. With a transport of NULL there is one rank, and nothing is done. */
#ifndef BSI_AGREEMENT_H
#define BSI_AGREEMENT_H

#include <bisai/ranks.h>

#include "core/context/context_impl.h"

/* Ends a step that each rank does alone: the failure of the first rank that failed becomes that of
 * all, with its message. All ranks call it. */
bisai_status bsi_agree(bisai_context *context, const bisai_transport *transport,
                       bisai_status status);
/* values ← their sums, or their largest, over all ranks. */
bisai_status bsi_sum_over_ranks(bisai_context *context, const bisai_transport *transport, int count,
                                double *values);
bisai_status bsi_largest_of_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *values);
/* norms ← the norms of vectors over all ranks, from those of the own parts. */
bisai_status bsi_norms_over_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *norms);
/* Exchanges messages, if there are any. */
bisai_status bsi_exchange(bisai_context *context, const bisai_transport *transport, int count,
                          const bisai_message *messages);

#endif
