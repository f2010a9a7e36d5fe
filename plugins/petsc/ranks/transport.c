/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/transport.h"

#include <limits.h>

/* The most bytes of a message of MPI: longer ones go in parts. */
enum { MOST_BYTES = 1 << 30 };

/* Sends or receives in parts. */
static int start(bsi_ranks_transport *t, bool sends, void *data, size_t bytes, int rank) {
  char *at = data;
  int code = MPI_SUCCESS;
  while (bytes > 0 && !code) {
    const int part = bytes > MOST_BYTES ? MOST_BYTES : (int)bytes;
    if (t->started == t->room) return MPI_ERR_NO_MEM;
    MPI_Request *request = &t->requests[t->started++];
    code = sends ? MPI_Isend(at, part, MPI_BYTE, rank, 0, t->comm, request)
                 : MPI_Irecv(at, part, MPI_BYTE, rank, 0, t->comm, request);
    at += part;
    bytes -= (size_t)part;
  }
  return code;
}

/* Returns how many parts all messages have. */
static int count_parts(int count, const bisai_message *messages) {
  size_t parts = 0;
  for (int k = 0; k < count; k++)
    parts += messages[k].send_bytes / MOST_BYTES + messages[k].receive_bytes / MOST_BYTES + 2;
  return parts < INT_MAX ? (int)parts : INT_MAX;
}

static bisai_status begin_exchange(void *user, int count, const bisai_message *messages) {
  bsi_ranks_transport *t = user;
  const int parts = count_parts(count, messages);
  int code = MPI_SUCCESS;
  t->started = 0;
  if (parts > t->room) {
    if (PetscFree(t->requests) || PetscMalloc1(parts, &t->requests)) return BISAI_OUT_OF_MEMORY;
    t->room = parts;
  }
  for (int k = 0; k < count && !code; k++) {
    const bisai_message *m = &messages[k];
    code = start(t, false, m->receive, m->receive_bytes, m->rank);
    if (!code) code = start(t, true, (void *)(uintptr_t)m->send, m->send_bytes, m->rank);
  }
  return code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status end_exchange(void *user, int count, const bisai_message *messages) {
  bsi_ranks_transport *t = user;
  (void)count, (void)messages;
  return MPI_Waitall(t->started, t->requests, MPI_STATUSES_IGNORE) ? BISAI_EXTERNAL_ERROR
                                                                   : BISAI_OK;
}

static bisai_status exchange(void *user, int count, const bisai_message *messages) {
  const bisai_status status = begin_exchange(user, count, messages);
  return status ? status : end_exchange(user, count, messages);
}

static bisai_status reduce(void *user, bisai_reduction how, int count, double *values) {
  const bsi_ranks_transport *t = user;
  const int code = MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE,
                                 how == BISAI_REDUCE_SUM ? MPI_SUM : MPI_MAX, t->comm);
  return code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

PetscErrorCode bsi_ranks_transport_create(MPI_Comm comm, bsi_ranks_transport *transport,
                                          bisai_transport *table) {
  PetscMPIInt rank, size;
  PetscFunctionBegin;
  *transport = (bsi_ranks_transport){.comm = MPI_COMM_NULL};
  PetscCallMPI(MPI_Comm_dup(comm, &transport->comm));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *table = (bisai_transport){.ranks = (int)size,
                             .rank = (int)rank,
                             .user = transport,
                             .exchange = exchange,
                             .reduce = reduce,
                             .begin_exchange = begin_exchange,
                             .end_exchange = end_exchange};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bisai_status enqueue_exchange(void *user, int count, const bisai_message *messages) {
  const bsi_ranks_transport *t = user;
  return bsi_nccl_exchange(t->nccl, t->stream, count, messages);
}

static bisai_status enqueue_begin(void *user, int count, const bisai_message *messages) {
  const bsi_ranks_transport *t = user;
  return bsi_nccl_begin(t->nccl, t->stream, count, messages);
}

static bisai_status enqueue_end(void *user, int count, const bisai_message *messages) {
  const bsi_ranks_transport *t = user;
  (void)count, (void)messages;
  return bsi_nccl_end(t->nccl, t->stream);
}

static bisai_status enqueue_sum(void *user, int count, double *values) {
  const bsi_ranks_transport *t = user;
  return bsi_nccl_sum(t->nccl, t->stream, count, values);
}

PetscErrorCode bsi_ranks_transport_choose(bisai_petsc_transport wanted, MPI_Comm comm,
                                          const bisai_context *context,
                                          bsi_ranks_transport *transport, bisai_transport *table) {
  const bool on_gpus = bisai_context_backend(context) == BISAI_BACKEND_CUDA;
  PetscFunctionBegin;
  if (!on_gpus)
    PetscCall(PetscStrncpy(transport->why, "the processes work on the host", BSI_NCCL_MESSAGE));
  else if (wanted == BISAI_PETSC_TRANSPORT_MPI)
    PetscCall(PetscStrncpy(transport->why, "-pc_bisai_transport mpi", BSI_NCCL_MESSAGE));
  else
    PetscCallMPI(bsi_nccl_of(comm, &transport->nccl, transport->why));
  PetscCheck(transport->nccl || wanted != BISAI_PETSC_TRANSPORT_NCCL, comm, PETSC_ERR_SUP,
             "bisai: -pc_bisai_transport nccl: %s", transport->why);
  PetscCall(PetscInfo(NULL, "bisai: vectors by %s%s\n",
                      transport->nccl ? "NCCL" : "MPI: ", transport->why));
  if (!transport->nccl) PetscFunctionReturn(PETSC_SUCCESS);
  transport->stream = bisai_context_stream(context);
  table->enqueue_exchange = enqueue_exchange;
  table->enqueue_sum = enqueue_sum;
  table->begin_exchange = enqueue_begin;
  table->end_exchange = enqueue_end;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_transport_destroy(bsi_ranks_transport *transport) {
  PetscFunctionBegin;
  PetscCall(PetscFree(transport->requests));
  if (transport->room >= 0 && transport->comm && transport->comm != MPI_COMM_NULL)
    PetscCallMPI(MPI_Comm_free(&transport->comm));
  *transport = (bsi_ranks_transport){.comm = MPI_COMM_NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
