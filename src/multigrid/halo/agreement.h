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
/* The same together with the reduction of `count` values, by one call of the transport. `values`
 * has room for one more, and is of no use after a failure. */
bisai_status bsi_agree_and_reduce(bisai_context *context, const bisai_transport *transport,
                                  bisai_status status, bisai_reduction how, int count,
                                  double *values);
#ifdef __clang_analyzer__ /* The analyzer sees one file at a time: who failed gets a failure. */
static inline bisai_status bsi_agree_or_fail(bisai_context *context,
                                             const bisai_transport *transport,
                                             bisai_status status) {
  const bisai_status all = bsi_agree(context, transport, status);
  return status ? status : all;
}
#define bsi_agree(context, transport, status) bsi_agree_or_fail(context, transport, status)
static inline bisai_status bsi_reduce_or_fail(bisai_context *context,
                                              const bisai_transport *transport, bisai_status status,
                                              bisai_reduction how, int count, double *values) {
  const bisai_status all = bsi_agree_and_reduce(context, transport, status, how, count, values);
  return status ? status : all;
}
#define bsi_agree_and_reduce(context, transport, status, how, count, values)                       \
  bsi_reduce_or_fail(context, transport, status, how, count, values)
#endif
/* values ← their sums, or their largest, over all ranks. */
bisai_status bsi_sum_over_ranks(bisai_context *context, const bisai_transport *transport, int count,
                                double *values);
bisai_status bsi_largest_of_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *values);
/* norms ← the norms of vectors over all ranks, from those of the own parts. */
bisai_status bsi_norms_over_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *norms);
/* The sums of values in backend memory. */
bisai_status bsi_sum_in_place(bisai_context *context, const bisai_transport *transport, int count,
                              double *values);
/* Exchanges messages in backend memory without waiting: transport->enqueue_exchange is there. */
bisai_status bsi_enqueue_exchange(bisai_context *context, const bisai_transport *transport,
                                  int count, const bisai_message *messages);
/* Begins and ends an exchange: transport->begin_exchange and end_exchange are there. */
bisai_status bsi_begin_exchange(bisai_context *context, const bisai_transport *transport, int count,
                                const bisai_message *messages);
bisai_status bsi_end_exchange(bisai_context *context, const bisai_transport *transport, int count,
                              const bisai_message *messages);
/* Exchanges messages, if there are any. */
bisai_status bsi_exchange(bisai_context *context, const bisai_transport *transport, int count,
                          const bisai_message *messages);

#endif
