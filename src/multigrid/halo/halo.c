/* SPDX-License-Identifier: BSD-3-Clause */
#include "multigrid/halo/halo.h"

#include <string.h>

#include "multigrid/halo/agreement.h"

bisai_status bsi_row_begins(bisai_context *context, const bisai_transport *transport,
                            bisai_status before, int32_t rows, double *counts, int64_t **begins) {
  const int ranks = transport->ranks;
  *begins = bsi_allocate(context, (size_t)ranks + 1, sizeof **begins);
  const bisai_status status = before ? before : *begins ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  for (int r = 0; r < ranks; r++) counts[r] = r == transport->rank ? rows : 0.0;
  BSI_TRY(bsi_agree_and_reduce(context, transport, status, BISAI_REDUCE_SUM, ranks, counts));
  (*begins)[0] = 0;
  for (int r = 0; r < ranks; r++) (*begins)[r + 1] = (*begins)[r] + (int64_t)counts[r];
  return BISAI_OK;
}

/* --- creation --- */

/* What is known of each rank while neighbours are found. */
typedef struct search {
  const int64_t *begins;
  /* rows that each rank sends here, and rows that it gets from here */
  int64_t *wanted, *given;
  bisai_message *messages;
  /* for each ghost its rank */
  int32_t *owner;
} search;

/* Returns the rank of a row. */
static int32_t owner_of(const int64_t *begins, int ranks, int64_t row) {
  int32_t low = 0, high = ranks; /* begins[low] ≤ row < begins[high] */
  while (high - low > 1) {
    const int32_t middle = low + (high - low) / 2;
    if (begins[middle] <= row)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static bisai_status count_ghosts(const bsi_halo *halo, const int64_t *ghost, search *s) {
  const int ranks = halo->transport->ranks;
  for (int32_t j = 0; j < halo->ghosts; j++) {
    const int64_t row = ghost[j];
    if (row < 0 || row >= s->begins[ranks] ||
        (row >= halo->first && row < halo->first + halo->rows))
      return bsi_fail(halo->context, BISAI_INVALID_ARGUMENT,
                      "ghost %d is row %lld, which is an own one or none of %lld", j,
                      (long long)row, (long long)s->begins[ranks]);
    s->owner[j] = owner_of(s->begins, ranks, row);
    s->wanted[s->owner[j]]++;
  }
  return BISAI_OK;
}

static bisai_status begin_search(bsi_halo *halo, const int64_t *ghost, search *s) {
  const size_t ranks = (size_t)halo->transport->ranks;
  s->wanted = bsi_allocate(halo->context, ranks, sizeof *s->wanted);
  s->given = bsi_allocate(halo->context, ranks, sizeof *s->given);
  s->messages = bsi_allocate(halo->context, ranks, sizeof *s->messages);
  s->owner = bsi_allocate(halo->context, (size_t)halo->ghosts, sizeof *s->owner);
  if (!s->wanted || !s->given || !s->messages || !s->owner) return BISAI_OUT_OF_MEMORY;
  for (size_t r = 0; r < ranks; r++) s->wanted[r] = s->given[r] = 0;
  return count_ghosts(halo, ghost, s);
}

/* Tells every rank how many rows of it are wanted here. */
static bisai_status exchange_counts(const bsi_halo *halo, search *s) {
  const bisai_transport *t = halo->transport;
  int count = 0;
  for (int r = 0; r < t->ranks; r++)
    if (r != t->rank)
      s->messages[count++] =
          (bisai_message){r, &s->wanted[r], sizeof *s->wanted, &s->given[r], sizeof *s->given};
  return bsi_exchange(halo->context, t, count, s->messages);
}

/* Lists the neighbours, and reserves the arrays. */
static bisai_status list_neighbours(bsi_halo *halo, const search *s) {
  const int ranks = halo->transport->ranks;
  int64_t given = 0, wanted = 0;
  int count = 0;
  for (int r = 0; r < ranks; r++) count += s->wanted[r] > 0 || s->given[r] > 0;
  halo->neighbours = bsi_allocate(halo->context, (size_t)count, sizeof *halo->neighbours);
  halo->messages = bsi_allocate(halo->context, (size_t)count, sizeof *halo->messages);
  if (!halo->neighbours || !halo->messages) return BISAI_OUT_OF_MEMORY;
  for (int r = 0; r < ranks; r++) {
    if (s->wanted[r] == 0 && s->given[r] == 0) continue;
    if (given + s->given[r] > INT32_MAX)
      return bsi_fail(halo->context, BISAI_INDEX_OVERFLOW, "a rank sends more than 2^31 rows");
    halo->neighbours[halo->neighbour_count++] =
        (bsi_neighbour){r, (int32_t)given, (int32_t)(given + s->given[r]), (int32_t)wanted,
                        (int32_t)(wanted + s->wanted[r])};
    given += s->given[r];
    wanted += s->wanted[r];
  }
  halo->send.rows = (int32_t)given;
  halo->receive.rows = (int32_t)wanted;
  halo->send.host = bsi_allocate(halo->context, (size_t)given, sizeof *halo->send.host);
  halo->receive.host = bsi_allocate(halo->context, (size_t)wanted, sizeof *halo->receive.host);
  return halo->send.host && halo->receive.host ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

/* Writes messages of counts[k] objects of `size` bytes for neighbour k, and there[k] from it. */
static void list_messages(bsi_halo *halo, size_t size, const int64_t *counts, const void *outgoing,
                          const int64_t *there, void *incoming) {
  const char *from = outgoing;
  char *to = incoming;
  for (int k = 0; k < halo->neighbour_count; k++) {
    const size_t sent = (size_t)counts[k] * size, received = (size_t)there[k] * size;
    halo->messages[k] = (bisai_message){halo->neighbours[k].rank, from, sent, to, received};
    from += sent;
    to += received;
  }
  halo->exchanges += halo->neighbour_count > 0;
}

bisai_status bsi_halo_send(bsi_halo *halo, size_t size, const int64_t *counts, const void *outgoing,
                           const int64_t *there, void *incoming) {
  list_messages(halo, size, counts, outgoing, there, incoming);
  return bsi_exchange(halo->context, halo->transport, halo->neighbour_count, halo->messages);
}

bisai_status bsi_halo_enqueue(bsi_halo *halo, size_t size, const int64_t *counts,
                              const void *outgoing, const int64_t *there, void *incoming) {
  list_messages(halo, size, counts, outgoing, there, incoming);
  return bsi_enqueue_exchange(halo->context, halo->transport, halo->neighbour_count,
                              halo->messages);
}

/* What is asked for: the numbers of rows, and how many of each neighbour. */
typedef struct requests {
  int64_t *wanted, *given, *wanted_counts, *given_counts;
} requests;

/* Sends a request for each ghost: the number of the row. */
static bisai_status send_requests(bsi_halo *halo, const int64_t *ghost, const search *s,
                                  const requests *r) {
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    r->wanted_counts[k] = n->receive_end - n->receive_begin;
    r->given_counts[k] = n->send_end - n->send_begin;
    int32_t at = n->receive_begin;
    for (int32_t j = 0; j < halo->ghosts && at < n->receive_end; j++) {
      if (s->owner[j] != n->rank) continue;
      r->wanted[at] = ghost[j];
      halo->receive.host[at++] = j;
    }
  }
  return bsi_halo_send(halo, sizeof *r->wanted, r->wanted_counts, r->wanted, r->given_counts,
                       r->given);
}

static bisai_status take_requests(bsi_halo *halo, const int64_t *given) {
  for (int32_t k = 0; k < halo->send.rows; k++) {
    const int64_t row = given[k] - halo->first;
    if (row < 0 || row >= halo->rows)
      return bsi_fail(halo->context, BISAI_INVALID_ARGUMENT,
                      "another rank has row %lld as a ghost, which is not here",
                      (long long)given[k]);
    halo->send.host[k] = (int32_t)row;
  }
  BSI_TRY(bsi_places_upload(halo->context, &halo->send));
  return bsi_places_upload(halo->context, &halo->receive);
}

static double *reserve(const bsi_halo *halo, int32_t rows) {
  const bsi_memory_ops *memory = halo->context->backend->memory;
  const size_t values = (size_t)rows * (size_t)halo->width;
  return halo->transport->enqueue_exchange ? memory->allocate(halo->context, values, sizeof(double))
                                           : memory->allocate_shared(halo->context, values);
}

static bisai_status reserve_room(bsi_halo *halo) {
  halo->outgoing = reserve(halo, halo->send.rows);
  halo->incoming = reserve(halo, halo->receive.rows);
  return halo->outgoing && halo->incoming ? BISAI_OK : BISAI_OUT_OF_MEMORY;
}

static bisai_status reserve_requests(const bsi_halo *halo, requests *r) {
  bisai_context *context = halo->context;
  const size_t neighbours = (size_t)halo->neighbour_count;
  r->wanted = bsi_allocate(context, (size_t)halo->receive.rows, sizeof *r->wanted);
  r->given = bsi_allocate(context, (size_t)halo->send.rows, sizeof *r->given);
  r->wanted_counts = bsi_allocate(context, neighbours, sizeof *r->wanted_counts);
  r->given_counts = bsi_allocate(context, neighbours, sizeof *r->given_counts);
  return r->wanted && r->given && r->wanted_counts && r->given_counts ? BISAI_OK
                                                                      : BISAI_OUT_OF_MEMORY;
}

static bisai_status exchange_requests(bsi_halo *halo, const int64_t *ghost, const search *s) {
  bisai_context *context = halo->context;
  requests r = {NULL};
  bisai_status status = list_neighbours(halo, s);
  if (!status) status = reserve_room(halo);
  if (!status) status = reserve_requests(halo, &r);
  status = bsi_agree(context, halo->transport, status);
  if (!status) status = send_requests(halo, ghost, s, &r);
  if (!status) status = bsi_agree(context, halo->transport, take_requests(halo, r.given));
  bsi_release(context, r.wanted);
  bsi_release(context, r.given);
  bsi_release(context, r.wanted_counts);
  bsi_release(context, r.given_counts);
  return status;
}

bisai_status bsi_halo_create(bisai_context *context, const bisai_transport *transport,
                             const int64_t *begins, int32_t ghosts, const int64_t *ghost,
                             int32_t width, bsi_halo *halo) {
  const int64_t first = begins[transport->rank];
  search s = {.begins = begins};
  *halo = (bsi_halo){.context = context,
                     .transport = transport,
                     .rows = (int32_t)(begins[transport->rank + 1] - first),
                     .ghosts = ghosts,
                     .first = first,
                     .width = width};
  bisai_status status = bsi_agree(context, transport, begin_search(halo, ghost, &s));
  if (!status) status = exchange_counts(halo, &s);
  if (!status) status = exchange_requests(halo, ghost, &s);
  bsi_release(context, s.wanted);
  bsi_release(context, s.given);
  bsi_release(context, s.messages);
  bsi_release(context, s.owner);
  return status;
}

void bsi_halo_destroy(bsi_halo *halo) {
  bisai_context *context = halo->context;
  if (!context) return;
  const bsi_memory_ops *memory = context->backend->memory;
  if (halo->transport->enqueue_exchange) {
    memory->release(context, halo->outgoing);
    memory->release(context, halo->incoming);
  } else {
    memory->release_shared(context, halo->outgoing);
    memory->release_shared(context, halo->incoming);
  }
  bsi_places_release(context, &halo->send);
  bsi_places_release(context, &halo->receive);
  bsi_release(context, halo->neighbours);
  bsi_release(context, halo->messages);
  *halo = (bsi_halo){0};
}

int64_t bsi_halo_memory(const bsi_halo *halo) {
  const int64_t rows = (int64_t)halo->send.rows + halo->receive.rows;
  return rows * (8 * (int64_t)halo->width + (halo->send.host == halo->send.backend ? 4 : 8)) +
         halo->neighbour_count * (int64_t)(sizeof *halo->neighbours + sizeof *halo->messages);
}

/* --- exchanges --- */

/* Writes the messages for rows of `width` values. With `back` ghosts are sent. */
static void write_messages(bsi_halo *halo, int32_t width, bool back) {
  const size_t bytes = (size_t)width * sizeof(double);
  for (int k = 0; k < halo->neighbour_count; k++) {
    const bsi_neighbour *n = &halo->neighbours[k];
    double *sent = halo->outgoing + (size_t)n->send_begin * (size_t)width,
           *received = halo->incoming + (size_t)n->receive_begin * (size_t)width;
    const size_t send_bytes = (size_t)(n->send_end - n->send_begin) * bytes,
                 receive_bytes = (size_t)(n->receive_end - n->receive_begin) * bytes;
    halo->messages[k] = back ? (bisai_message){n->rank, received, receive_bytes, sent, send_bytes}
                             : (bisai_message){n->rank, sent, send_bytes, received, receive_bytes};
  }
}

/* Also waits for what was moved out of the room by the exchange before. */
static bisai_status wait_and_exchange(bsi_halo *halo) {
  BSI_TRY(halo->context->backend->memory->synchronize(halo->context));
  return bsi_exchange(halo->context, halo->transport, halo->neighbour_count, halo->messages);
}

/* The rows of `from` go to the places of others in `to`. */
static bisai_status move(bsi_halo *halo, int32_t width, bool back, const double *from, double *to) {
  bisai_context *context = halo->context;
  bsi_move_rows *rows = BSI_ON_BACKEND(context, bsi_move_rows);
  const bsi_places *here = back ? &halo->receive : &halo->send,
                   *there = back ? &halo->send : &halo->receive;
  double *outgoing = back ? halo->incoming : halo->outgoing,
         *incoming = back ? halo->outgoing : halo->incoming;
  if (halo->neighbour_count == 0) return BISAI_OK;
  if (here->rows > 0) BSI_TRY(rows(context, here, width, true, from, outgoing));
  write_messages(halo, width, back);
  halo->exchanges++;
  BSI_TRY(
      halo->transport->enqueue_exchange
          ? bsi_enqueue_exchange(context, halo->transport, halo->neighbour_count, halo->messages)
          : wait_and_exchange(halo));
  return there->rows > 0 ? rows(context, there, width, false, incoming, to) : BISAI_OK;
}

bool bsi_halo_has_parts(const bsi_halo *halo) {
  return halo->transport->begin_exchange && halo->transport->end_exchange;
}

bisai_status bsi_halo_begin(bsi_halo *halo, int32_t width, const double *own) {
  bisai_context *context = halo->context;
  if (halo->neighbour_count == 0) return BISAI_OK;
  if (halo->send.rows > 0)
    BSI_TRY(BSI_ON_BACKEND(context, bsi_move_rows)(context, &halo->send, width, true, own,
                                                   halo->outgoing));
  write_messages(halo, width, false);
  halo->exchanges++;
  /* also waits for what was moved out of the room by the exchange before */
  if (!halo->transport->enqueue_exchange) BSI_TRY(context->backend->memory->synchronize(context));
  return bsi_begin_exchange(context, halo->transport, halo->neighbour_count, halo->messages);
}

bisai_status bsi_halo_end(bsi_halo *halo, int32_t width, double *ghosts) {
  bisai_context *context = halo->context;
  if (halo->neighbour_count == 0) return BISAI_OK;
  BSI_TRY(bsi_end_exchange(context, halo->transport, halo->neighbour_count, halo->messages));
  return halo->receive.rows > 0 ? BSI_ON_BACKEND(context, bsi_move_rows)(
                                      context, &halo->receive, width, false, halo->incoming, ghosts)
                                : BISAI_OK;
}

bisai_status bsi_halo_exchange(bsi_halo *halo, int32_t width, const double *own, double *ghosts) {
  return move(halo, width, false, own, ghosts);
}

bisai_status bsi_halo_return(bsi_halo *halo, int32_t width, const double *ghosts, double *own) {
  return move(halo, width, true, ghosts, own);
}

bisai_status bsi_halo_complete(bsi_halo *halo, int32_t width, double *x) {
  return halo ? bsi_halo_exchange(halo, width, x, x + (int64_t)halo->rows * width) : BISAI_OK;
}
