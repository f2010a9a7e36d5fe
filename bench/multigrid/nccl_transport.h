/* SPDX-License-Identifier: BSD-3-Clause */
/* What NCCL adds to a transport of MPI: messages and sums on the stream of a context, for which the
 * host does not wait, and exchanges on a stream of their own beside it. NCCL is loaded when the
 * program runs. Each process sees one GPU (CUDA_VISIBLE_DEVICES). */
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

/* Functions of the driver of CUDA. */
typedef struct nccl_driver {
  int (*create_stream)(void **stream, unsigned flags);
  int (*destroy_stream)(void *stream);
  int (*create_event)(void **event, unsigned flags);
  int (*destroy_event)(void *event);
  int (*record)(void *event, void *stream);
  int (*wait)(void *stream, void *event, unsigned flags);
} nccl_driver;

typedef struct nccl_transport {
  /* the stream of the context, and that of exchanges in two parts, with an event for what each of
   * them waits for in the other */
  void *comm, *stream, *beside, *ready, *come;
  int (*get_id)(nccl_id *);
  int (*init)(void **comm, int ranks, nccl_id, int rank);
  int (*destroy)(void *comm);
  int (*begin)(void);
  int (*end)(void);
  int (*send)(const void *, size_t, int type, int rank, void *comm, void *stream);
  int (*receive)(void *, size_t, int type, int rank, void *comm, void *stream);
  int (*sum)(const void *, void *, size_t, int type, int how, void *comm, void *stream);
  nccl_driver driver;
} nccl_transport;

/* cuda.h: CU_STREAM_NON_BLOCKING and CU_EVENT_DISABLE_TIMING */
enum { NON_BLOCKING = 1, NO_TIMING = 2 };

/* Makes the stream for exchanges in two parts. */
static const char *nccl_open_beside(nccl_transport *n) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver) return dlerror();
  *(void **)&n->driver.create_stream = dlsym(driver, "cuStreamCreate");
  *(void **)&n->driver.destroy_stream = dlsym(driver, "cuStreamDestroy_v2");
  *(void **)&n->driver.create_event = dlsym(driver, "cuEventCreate");
  *(void **)&n->driver.destroy_event = dlsym(driver, "cuEventDestroy_v2");
  *(void **)&n->driver.record = dlsym(driver, "cuEventRecord");
  *(void **)&n->driver.wait = dlsym(driver, "cuStreamWaitEvent");
  if (!n->driver.create_stream || !n->driver.destroy_stream || !n->driver.create_event ||
      !n->driver.destroy_event || !n->driver.record || !n->driver.wait)
    return "libcuda.so.1 lacks a function";
  return n->driver.create_stream(&n->beside, NON_BLOCKING) ||
                 n->driver.create_event(&n->ready, NO_TIMING) ||
                 n->driver.create_event(&n->come, NO_TIMING)
             ? "no stream beside that of the context"
             : NULL;
}

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
  if (n->init(&n->comm, t->ranks, id, t->rank)) return "ncclCommInitRank failed";
  return nccl_open_beside(n);
}

static void nccl_close(nccl_transport *n) {
  n->destroy(n->comm);
  n->driver.destroy_event(n->ready);
  n->driver.destroy_event(n->come);
  n->driver.destroy_stream(n->beside);
}

/* Enqueues an exchange on a stream. */
static bisai_status nccl_exchange_on(nccl_transport *n, void *stream, int count,
                                     const bisai_message *messages) {
  int code = n->begin();
  for (int k = 0; k < count && !code; k++) {
    const bisai_message *m = &messages[k];
    if (m->send_bytes > 0)
      code = n->send(m->send, m->send_bytes, NCCL_BYTES, m->rank, n->comm, stream);
    if (m->receive_bytes > 0 && !code)
      code = n->receive(m->receive, m->receive_bytes, NCCL_BYTES, m->rank, n->comm, stream);
  }
  const int ended = n->end();
  return code || ended ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status nccl_exchange(nccl_transport *n, int count, const bisai_message *messages) {
  return nccl_exchange_on(n, n->stream, count, messages);
}

static bisai_status nccl_begin(nccl_transport *n, int count, const bisai_message *messages) {
  if (n->driver.record(n->ready, n->stream) || n->driver.wait(n->beside, n->ready, 0))
    return BISAI_EXTERNAL_ERROR;
  const bisai_status status = nccl_exchange_on(n, n->beside, count, messages);
  if (status) return status;
  return n->driver.record(n->come, n->beside) ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status nccl_end(nccl_transport *n) {
  return n->driver.wait(n->stream, n->come, 0) ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status nccl_sum(nccl_transport *n, int count, double *values) {
  return n->sum(values, values, (size_t)count, NCCL_DOUBLES, NCCL_SUM, n->comm, n->stream)
             ? BISAI_EXTERNAL_ERROR
             : BISAI_OK;
}

#endif
