/* SPDX-License-Identifier: BSD-3-Clause */
#include "nccl/nccl.h"

#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bsi_nccl {
  ncclComm_t comm;
  /* the stream of exchanges in two parts, and events for what it and the stream of a context wait
   * for in each other */
  cudaStream_t beside;
  cudaEvent_t ready, come;
};

static void destroy(bsi_nccl *n, ncclResult_t (*end)(ncclComm_t)) {
  if (!n) return;
  if (n->comm) end(n->comm);
  if (n->ready) cudaEventDestroy(n->ready);
  if (n->come) cudaEventDestroy(n->come);
  if (n->beside) cudaStreamDestroy(n->beside);
  free(n);
}

/* The communicator of MPI keeps its connection under this key. */
static int key = MPI_KEYVAL_INVALID;

static int close_connection(MPI_Comm comm, int name, void *connection, void *state) {
  (void)comm, (void)name, (void)state;
  destroy(connection, ncclCommDestroy);
  return MPI_SUCCESS;
}

/* The GPU of a process, and of another process of the same machine. */
enum { GPU_NAME = 32 };

/* *first ← the lowest rank whose GPU is that of another rank too, or the number of ranks. NCCL
 * refuses these, but only on the ranks that share it, and the others would wait. */
static int find_shared(MPI_Comm node, int rank, int ranks, const char *own, int *first) {
  char other[GPU_NAME];
  int on_node, here, code = MPI_Comm_size(node, &on_node);
  *first = ranks;
  if (!code) code = MPI_Comm_rank(node, &here);
  for (int k = 0; k < on_node && !code; k++) {
    memcpy(other, own, GPU_NAME);
    code = MPI_Bcast(other, GPU_NAME, MPI_CHAR, k, node);
    if (k != here && strcmp(own, other) == 0) *first = rank;
  }
  return code;
}

/* Says why processes cannot be connected, or "". The lowest rank that has a reason says it. */
static int find_obstacle(MPI_Comm comm, int rank, int ranks, char why[BSI_NCCL_MESSAGE]) {
  char gpu[GPU_NAME] = "";
  int device = -1, first = ranks, own = ranks, code;
  MPI_Comm node;
  cudaError_t found = cudaGetDevice(&device);
  if (!found) found = cudaDeviceGetPCIBusId(gpu, GPU_NAME, device);
  if (found) snprintf(gpu, sizeof gpu, "none of rank %d", rank);
  code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  if (code) return code;
  code = find_shared(node, rank, ranks, gpu, &own);
  MPI_Comm_free(&node);
  snprintf(why, BSI_NCCL_MESSAGE,
           "rank %d shares the GPU %s with another rank, and NCCL needs a GPU for each", rank, gpu);
  if (found) {
    own = rank;
    snprintf(why, BSI_NCCL_MESSAGE, "rank %d: %s", rank, cudaGetErrorString(found));
  }
  if (!code) code = MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm);
  if (!code && first < ranks) code = MPI_Bcast(why, BSI_NCCL_MESSAGE, MPI_CHAR, first, comm);
  if (first == ranks) *why = '\0';
  return code;
}

/* Connects all processes; n->comm is NULL where that failed. The largest result counts. */
static int connect_all(MPI_Comm comm, int rank, int ranks, bsi_nccl *n, ncclResult_t *result) {
  ncclUniqueId id;
  int most, own = ncclSuccess, code;
  memset(&id, 0, sizeof id);
  if (rank == 0) own = ncclGetUniqueId(&id);
  code = MPI_Bcast(&own, 1, MPI_INT, 0, comm);
  if (!code) code = MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, comm);
  if (!code && own == ncclSuccess) own = ncclCommInitRank(&n->comm, ranks, id, rank);
  if (!code) code = MPI_Allreduce(&own, &most, 1, MPI_INT, MPI_MAX, comm);
  *result = code ? ncclSystemError : (ncclResult_t)most;
  return code;
}

static int open_connection(MPI_Comm comm, bsi_nccl **nccl, char why[BSI_NCCL_MESSAGE]) {
  int rank, ranks, code = MPI_Comm_rank(comm, &rank);
  ncclResult_t result = ncclSuccess;
  if (!code) code = MPI_Comm_size(comm, &ranks);
  if (!code) code = find_obstacle(comm, rank, ranks, why);
  if (code || *why) return code;
  bsi_nccl *n = calloc(1, sizeof *n);
  int lacks = !n || cudaStreamCreateWithFlags(&n->beside, cudaStreamNonBlocking) ||
              cudaEventCreateWithFlags(&n->ready, cudaEventDisableTiming) ||
              cudaEventCreateWithFlags(&n->come, cudaEventDisableTiming);
  int any = 0;
  code = MPI_Allreduce(&lacks, &any, 1, MPI_INT, MPI_MAX, comm);
  if (any) snprintf(why, BSI_NCCL_MESSAGE, "no memory, or no stream beside that of the context");
  if (!code && !any) code = connect_all(comm, rank, ranks, n, &result);
  if (result) snprintf(why, BSI_NCCL_MESSAGE, "NCCL: %s", ncclGetErrorString(result));
  if (!code && !*why) code = MPI_Comm_set_attr(comm, key, n);
  if (code || *why) {
    destroy(n, ncclCommAbort);
    return code;
  }
  *nccl = n;
  return MPI_SUCCESS;
}

int bsi_nccl_of(MPI_Comm comm, const bsi_nccl **nccl, char why[BSI_NCCL_MESSAGE]) {
  bsi_nccl *n = NULL;
  int known = 0, code = MPI_SUCCESS;
  *nccl = NULL;
  *why = '\0';
  if (key == MPI_KEYVAL_INVALID)
    code = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_connection, &key, NULL);
  if (!code) code = MPI_Comm_get_attr(comm, key, &n, &known);
  if (!code && !known) code = open_connection(comm, &n, why);
  if (!code) *nccl = n;
  return code;
}

bisai_status bsi_nccl_exchange(const bsi_nccl *nccl, void *stream, int count,
                               const bisai_message *messages) {
  ncclResult_t result = ncclGroupStart();
  for (int k = 0; k < count && !result; k++) {
    const bisai_message *m = &messages[k];
    if (m->send_bytes > 0)
      result = ncclSend(m->send, m->send_bytes, ncclInt8, m->rank, nccl->comm, stream);
    if (m->receive_bytes > 0 && !result)
      result = ncclRecv(m->receive, m->receive_bytes, ncclInt8, m->rank, nccl->comm, stream);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result || ended ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

bisai_status bsi_nccl_begin(const bsi_nccl *nccl, void *stream, int count,
                            const bisai_message *messages) {
  if (cudaEventRecord(nccl->ready, stream) || cudaStreamWaitEvent(nccl->beside, nccl->ready, 0))
    return BISAI_EXTERNAL_ERROR;
  const bisai_status status = bsi_nccl_exchange(nccl, nccl->beside, count, messages);
  if (status) return status;
  return cudaEventRecord(nccl->come, nccl->beside) ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

bisai_status bsi_nccl_end(const bsi_nccl *nccl, void *stream) {
  return cudaStreamWaitEvent(stream, nccl->come, 0) ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

bisai_status bsi_nccl_sum(const bsi_nccl *nccl, void *stream, int count, double *values) {
  return ncclAllReduce(values, values, (size_t)count, ncclFloat64, ncclSum, nccl->comm, stream)
             ? BISAI_EXTERNAL_ERROR
             : BISAI_OK;
}
