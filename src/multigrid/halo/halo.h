/* SPDX-License-Identifier: BSD-3-Clause */
/* The ghosts of a rank, and the exchange of their data. The rows of all ranks are numbered rank by
 * rank. A rank has n own rows and g ghosts, rows of other ranks in any order. */
#ifndef BSI_HALO_H
#define BSI_HALO_H

#include <bisai/ranks.h>

#include "core/vector/places.h"

/* A rank that has ghosts of this one, or of which this one has ghosts. */
typedef struct bsi_neighbour {
  int rank;
  /* its part of the rows that are sent, and of the ghosts that are received */
  int32_t send_begin, send_end, receive_begin, receive_end;
} bsi_neighbour;

typedef struct bsi_halo {
  bisai_context *context;
  const bisai_transport *transport;
  /* n and g, and the number of the first own row */
  int32_t rows, ghosts;
  int64_t first;
  int neighbour_count;
  bsi_neighbour *neighbours;
  bisai_message *messages;
  /* the own rows that are sent, and the ghosts that are received, neighbour by neighbour */
  bsi_places send, receive;
  /* room for `width` values of each of these rows, which the backend and the host see, or in
   * backend memory if the transport enqueues exchanges */
  int32_t width;
  double *outgoing, *incoming;
  /* exchanges so far */
  int64_t exchanges;
} bsi_halo;

/* *begins ← the number of the first row of each rank, and of all rows, after steps with the status
 * `before`. The caller releases it. `counts` is room for a value of each rank and one more. All
 * ranks call this, as they call what follows. */
bisai_status bsi_row_begins(bisai_context *context, const bisai_transport *transport,
                            bisai_status before, int32_t rows, double *counts, int64_t **begins);

/* Makes the exchange for ghosts of these numbers, with room for `width` values of a row. After a
 * failure the caller destroys it. */
bisai_status bsi_halo_create(bisai_context *context, const bisai_transport *transport,
                             const int64_t *begins, int32_t ghosts, const int64_t *ghost,
                             int32_t width, bsi_halo *halo);

/* ghosts ← `width` values of each ghost, from those of each own row. Arrays in backend memory. */
bisai_status bsi_halo_exchange(bsi_halo *halo, int32_t width, const double *own, double *ghosts);

/* own ← `width` values of each own row that is a ghost of one other rank, from those of its ghosts
 * there. */
bisai_status bsi_halo_return(bsi_halo *halo, int32_t width, const double *ghosts, double *own);

/* Sends the counts[k] objects of `size` bytes of neighbour k, one behind the other at `outgoing`,
 * and receives there[k] objects at `incoming`. Arrays in host memory. */
bisai_status bsi_halo_send(bsi_halo *halo, size_t size, const int64_t *counts, const void *outgoing,
                           const int64_t *there, void *incoming);

/* The same for arrays in backend memory, if the transport enqueues exchanges. */
bisai_status bsi_halo_enqueue(bsi_halo *halo, size_t size, const int64_t *counts,
                              const void *outgoing, const int64_t *there, void *incoming);

/* The same in two parts, if the transport has them: `begin` sends, and ghosts get their values in
 * `end`. Between them no other exchange of this rank begins. */
bool bsi_halo_has_parts(const bsi_halo *halo);
bisai_status bsi_halo_begin(bsi_halo *halo, int32_t width, const double *own);
bisai_status bsi_halo_end(bsi_halo *halo, int32_t width, double *ghosts);

/* x ← x with its ghosts, which follow the own rows, for rows of `width` values in backend memory.
 * NULL: there are no ghosts. */
bisai_status bsi_halo_complete(bsi_halo *halo, int32_t width, double *x);

/* Returns the bytes of everything that it owns. */
int64_t bsi_halo_memory(const bsi_halo *halo);

/* Accepts a struct of zeros. */
void bsi_halo_destroy(bsi_halo *halo);

#endif
