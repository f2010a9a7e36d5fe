/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai's transport (bisai/ranks.h) by plain MPI. `user` is the communicator. */
#ifndef MPI_TRANSPORT_H
#define MPI_TRANSPORT_H

#include <bisai/ranks.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static bisai_status mpi_exchange(void *user, int count, const bisai_message *messages) {
  const MPI_Comm comm = *(MPI_Comm *)user;
  MPI_Request own[32], *requests = own;
  int started = 0, code = MPI_SUCCESS;
  if (2 * count > 32) requests = malloc(2 * (size_t)count * sizeof *requests);
  if (!requests) MPI_Abort(comm, 1); /* the others would wait for ever */
  for (int k = 0; k < count && !code; k++) {
    const bisai_message *m = &messages[k];
    if (m->send_bytes > INT_MAX || m->receive_bytes > INT_MAX) MPI_Abort(comm, 1);
    if (m->receive_bytes > 0)
      code = MPI_Irecv(m->receive, (int)m->receive_bytes, MPI_BYTE, m->rank, 0, comm,
                       &requests[started++]);
    if (m->send_bytes > 0 && !code)
      code =
          MPI_Isend(m->send, (int)m->send_bytes, MPI_BYTE, m->rank, 0, comm, &requests[started++]);
  }
  if (!code) code = MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
  if (requests != own) free(requests);
  return code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status mpi_reduce(void *user, bisai_reduction how, int count, double *values) {
  return MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE,
                       how == BISAI_REDUCE_SUM ? MPI_SUM : MPI_MAX, *(MPI_Comm *)user)
             ? BISAI_EXTERNAL_ERROR
             : BISAI_OK;
}

/* Returns the transport of a communicator, which must live as long as it. */
static bisai_transport mpi_transport(MPI_Comm *comm) {
  bisai_transport t = {.user = comm, .exchange = mpi_exchange, .reduce = mpi_reduce};
  MPI_Comm_size(*comm, &t.ranks);
  MPI_Comm_rank(*comm, &t.rank);
  return t;
}

#endif
