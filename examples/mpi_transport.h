/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai's transport (bisai/ranks.h) by plain MPI. */
#ifndef MPI_TRANSPORT_H
#define MPI_TRANSPORT_H

#include <bisai/ranks.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

/* A communicator, and the messages of an exchange under way. */
typedef struct mpi_ranks {
  MPI_Comm comm;
  MPI_Request *requests;
  int started, room;
} mpi_ranks;

static bisai_status mpi_begin(void *user, int count, const bisai_message *messages) {
  mpi_ranks *r = user;
  int code = MPI_SUCCESS;
  if (2 * count > r->room) {
    free(r->requests);
    r->room = 2 * count;
    r->requests = malloc((size_t)r->room * sizeof *r->requests);
  }
  if (!r->requests) MPI_Abort(r->comm, 1); /* the others would wait for ever */
  r->started = 0;
  for (int k = 0; k < count && !code; k++) {
    const bisai_message *m = &messages[k];
    if (m->send_bytes > INT_MAX || m->receive_bytes > INT_MAX) MPI_Abort(r->comm, 1);
    if (m->receive_bytes > 0)
      code = MPI_Irecv(m->receive, (int)m->receive_bytes, MPI_BYTE, m->rank, 0, r->comm,
                       &r->requests[r->started++]);
    if (m->send_bytes > 0 && !code)
      code = MPI_Isend(m->send, (int)m->send_bytes, MPI_BYTE, m->rank, 0, r->comm,
                       &r->requests[r->started++]);
  }
  return code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status mpi_end(void *user, int count, const bisai_message *messages) {
  mpi_ranks *r = user;
  (void)count, (void)messages;
  return MPI_Waitall(r->started, r->requests, MPI_STATUSES_IGNORE) ? BISAI_EXTERNAL_ERROR
                                                                   : BISAI_OK;
}

static bisai_status mpi_exchange(void *user, int count, const bisai_message *messages) {
  const bisai_status status = mpi_begin(user, count, messages);
  return status ? status : mpi_end(user, count, messages);
}

static bisai_status mpi_reduce(void *user, bisai_reduction how, int count, double *values) {
  return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE,
                       how == BISAI_REDUCE_SUM ? MPI_SUM : MPI_MAX, ((mpi_ranks *)user)->comm)
             ? BISAI_EXTERNAL_ERROR
             : BISAI_OK;
}

/* Returns the transport of a communicator. *ranks must live as long as it; its requests are freed
 * by the caller. */
static bisai_transport mpi_transport(MPI_Comm comm, mpi_ranks *ranks) {
  bisai_transport t = {.user = ranks,
                       .exchange = mpi_exchange,
                       .reduce = mpi_reduce,
                       .begin_exchange = mpi_begin,
                       .end_exchange = mpi_end};
  *ranks = (mpi_ranks){.comm = comm};
  MPI_Comm_size(comm, &t.ranks);
  MPI_Comm_rank(comm, &t.rank);
  return t;
}

#endif
