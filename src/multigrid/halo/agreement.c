/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/halo/agreement.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#undef bsi_agree
#undef bsi_agree_and_reduce

static bisai_status reduce(bisai_context *context, const bisai_transport *transport,
                           bisai_reduction how, int count, double *values) {
  if (!transport) return BISAI_OK;
  const unsigned before = context->failures;
  const bisai_status status = transport->reduce(transport->user, how, count, values);
  return status ? bsi_fail_callback(context, "reduce", status, before) : BISAI_OK;
}

bisai_status bsi_sum_over_ranks(bisai_context *context, const bisai_transport *transport, int count,
                                double *values) {
  return reduce(context, transport, BISAI_REDUCE_SUM, count, values);
}

bisai_status bsi_largest_of_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *values) {
  return reduce(context, transport, BISAI_REDUCE_MAX, count, values);
}

/* A common scale keeps squares from overflowing. */
bisai_status bsi_norms_over_ranks(bisai_context *context, const bisai_transport *transport,
                                  int count, double *norms) {
  double largest[BSI_NORMS];
  if (!transport) return BISAI_OK;
  for (int k = 0; k < count; k++) largest[k] = norms[k];
  BSI_TRY(bsi_largest_of_ranks(context, transport, count, largest));
  for (int k = 0; k < count; k++) {
    const double part = largest[k] > 0.0 && isfinite(largest[k]) ? norms[k] / largest[k] : norms[k];
    norms[k] = part * part;
  }
  BSI_TRY(bsi_sum_over_ranks(context, transport, count, norms));
  for (int k = 0; k < count; k++)
    norms[k] = sqrt(norms[k]) * (largest[k] > 0.0 && isfinite(largest[k]) ? largest[k] : 1.0);
  return BISAI_OK;
}

bisai_status bsi_exchange(bisai_context *context, const bisai_transport *transport, int count,
                          const bisai_message *messages) {
  if (count == 0) return BISAI_OK;
  const unsigned before = context->failures;
  const bisai_status status = transport->exchange(transport->user, count, messages);
  return status ? bsi_fail_callback(context, "exchange", status, before) : BISAI_OK;
}

bisai_status bsi_enqueue_exchange(bisai_context *context, const bisai_transport *transport,
                                  int count, const bisai_message *messages) {
  const unsigned before = context->failures;
  const bisai_status status = transport->enqueue_exchange(transport->user, count, messages);
  return status ? bsi_fail_callback(context, "enqueue_exchange", status, before) : BISAI_OK;
}

bisai_status bsi_begin_exchange(bisai_context *context, const bisai_transport *transport, int count,
                                const bisai_message *messages) {
  const unsigned before = context->failures;
  const bisai_status status = transport->begin_exchange(transport->user, count, messages);
  return status ? bsi_fail_callback(context, "begin_exchange", status, before) : BISAI_OK;
}

bisai_status bsi_end_exchange(bisai_context *context, const bisai_transport *transport, int count,
                              const bisai_message *messages) {
  const unsigned before = context->failures;
  const bisai_status status = transport->end_exchange(transport->user, count, messages);
  return status ? bsi_fail_callback(context, "end_exchange", status, before) : BISAI_OK;
}

enum { SUMS = 64 };

bisai_status bsi_sum_in_place(bisai_context *context, const bisai_transport *transport, int count,
                              double *values) {
  const bsi_memory_ops *memory = context->backend->memory;
  if (transport->enqueue_sum) {
    const unsigned before = context->failures;
    const bisai_status status = transport->enqueue_sum(transport->user, count, values);
    return status ? bsi_fail_callback(context, "enqueue_sum", status, before) : BISAI_OK;
  }
  if (memory->is_host) return bsi_sum_over_ranks(context, transport, count, values);
  for (int done = 0; done < count; done += SUMS) {
    double here[SUMS];
    const int part = count - done < SUMS ? count - done : SUMS;
    const size_t bytes = (size_t)part * sizeof *here;
    BSI_TRY(memory->fetch(context, here, values + done, bytes));
    BSI_TRY(bsi_sum_over_ranks(context, transport, part, here));
    BSI_TRY(memory->upload(context, values + done, here, bytes));
  }
  return BISAI_OK;
}

/* What the rank that failed tells the others. */
typedef struct failure {
  int32_t status;
  char message[sizeof((bisai_context *)NULL)->error];
} failure;

/* Sends the failure of rank `from` to all others. */
static bisai_status tell(bisai_context *context, const bisai_transport *transport, int from,
                         failure *f) {
  if (transport->rank != from) {
    const bisai_message m = {.rank = from, .receive = f, .receive_bytes = sizeof *f};
    return bsi_exchange(context, transport, 1, &m);
  }
  for (int r = 0; r < transport->ranks;
       r++) { /* one at a time: there may be no memory for a list */
    const bisai_message m = {.rank = r, .send = f, .send_bytes = sizeof *f};
    if (r != from) BSI_TRY(bsi_exchange(context, transport, 1, &m));
  }
  return BISAI_OK;
}

bisai_status bsi_agree(bisai_context *context, const bisai_transport *transport,
                       bisai_status status) {
  if (!transport) return status;
  double first = status ? -(double)transport->rank : -(double)transport->ranks;
  failure f = {.status = (int32_t)status};
  if (status == BISAI_CALLBACK_FAILED) return status; /* the transport fails on all ranks */
  if (status) snprintf(f.message, sizeof f.message, "%s", context->error);
  BSI_TRY(reduce(context, transport, BISAI_REDUCE_MAX, 1, &first));
  const int from = (int)-first;
  if (from == transport->ranks) return BISAI_OK;
  BSI_TRY(tell(context, transport, from, &f));
  f.message[sizeof f.message - 1] = '\0';
  return bsi_fail(context, (bisai_status)f.status, "process %d, counting its own rows: %s", from,
                  f.message);
}

/* The last value counts failures, or is the largest of 0 and 1: all ranks see whether one failed.
 */
bisai_status bsi_agree_and_reduce(bisai_context *context, const bisai_transport *transport,
                                  bisai_status status, bisai_reduction how, int count,
                                  double *values) {
  if (!transport || status == BISAI_CALLBACK_FAILED) return status;
  values[count] = status ? 1.0 : 0.0;
  BSI_TRY(reduce(context, transport, how, count + 1, values));
  return values[count] == 0.0 ? BISAI_OK : bsi_agree(context, transport, status);
}
