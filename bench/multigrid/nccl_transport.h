/* SPDX-License-Identifier: BSD-3-Clause */
/* What NCCL adds to a transport of MPI: messages and sums on the stream of a context, for which the
 * host does not wait. NCCL is loaded when the program runs. Each process sees one GPU
 * (CUDA_VISIBLE_DEVICES). */
#ifndef NCCL_TRANSPORT_H
#define NCCL_TRANSPORT_H

#include <dlfcn.h>
#include <string.h>

#include <bisai/ranks.h>
#include <mpi.h>

/* nccl.h: ncclUniqueId, ncclInt8, ncclFloat64 and ncclSum */
typedef struct nccl_id {
  char bytes[128];
} nccl_id;
enum { NCCL_BYTES = 0, NCCL_DOUBLES = 8, NCCL_SUM = 0 };

typedef struct nccl_transport {
  void *comm, *stream;
  int (*get_id)(nccl_id *);
  int (*init)(void **comm, int ranks, nccl_id, int rank);
  int (*destroy)(void *comm);
  int (*begin)(void);
  int (*end)(void);
  int (*send)(const void *, size_t, int type, int rank, void *comm, void *stream);
  int (*receive)(void *, size_t, int type, int rank, void *comm, void *stream);
  int (*sum)(const void *, void *, size_t, int type, int how, void *comm, void *stream);
} nccl_transport;

/* Loads NCCL and connects all ranks. Returns NULL, or why there is none. All ranks call it. */
static const char *nccl_open(const bisai_transport *t, bisai_context *context, nccl_transport *n) {
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  nccl_id id = {{0}};
  if (!library) return dlerror();
  /* ISO C has no conversion of dlsym()'s result into a function */
  *(void **)&n->get_id = dlsym(library, "ncclGetUniqueId");
  *(void **)&n->init = dlsym(library, "ncclCommInitRank");
  *(void **)&n->destroy = dlsym(library, "ncclCommDestroy");
  *(void **)&n->begin = dlsym(library, "ncclGroupStart");
  *(void **)&n->end = dlsym(library, "ncclGroupEnd");
  *(void **)&n->send = dlsym(library, "ncclSend");
  *(void **)&n->receive = dlsym(library, "ncclRecv");
  *(void **)&n->sum = dlsym(library, "ncclAllReduce");
  if (!n->get_id || !n->init || !n->destroy || !n->begin || !n->end || !n->send || !n->receive ||
      !n->sum)
    return "libnccl.so.2 lacks a function";
  n->stream = bisai_context_stream(context);
  if (t->rank == 0 && n->get_id(&id)) return "ncclGetUniqueId failed";
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  return n->init(&n->comm, t->ranks, id, t->rank) ? "ncclCommInitRank failed" : NULL;
}

static bisai_status nccl_exchange(nccl_transport *n, int count, const bisai_message *messages) {
  int code = n->begin();
  for (int k = 0; k < count && !code; k++) {
    const bisai_message *m = &messages[k];
    if (m->send_bytes > 0)
      code = n->send(m->send, m->send_bytes, NCCL_BYTES, m->rank, n->comm, n->stream);
    if (m->receive_bytes > 0 && !code)
      code = n->receive(m->receive, m->receive_bytes, NCCL_BYTES, m->rank, n->comm, n->stream);
  }
  const int ended = n->end();
  return code || ended ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status nccl_sum(nccl_transport *n, int count, double *values) {
  return n->sum(values, values, (size_t)count, NCCL_DOUBLES, NCCL_SUM, n->comm, n->stream)
             ? BISAI_EXTERNAL_ERROR
             : BISAI_OK;
}

#endif
