/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and sums of NCCL between processes with a GPU each, on the stream of a context, for
 * which the host does not wait: bisai_transport::enqueue_exchange and enqueue_sum. */
#ifndef BSI_NCCL_H
#define BSI_NCCL_H

#include <mpi.h>

#include <bisai/ranks.h>

/* Room for the reason why there is no NCCL. */
enum { BSI_NCCL_MESSAGE = 256 };

typedef struct bsi_nccl bsi_nccl;

/* *nccl ← the connection of the processes of a communicator, each with the GPU that is current in
 * it. It is made once and ends with the communicator. NULL: there is none, and `why` says the same
 * on all processes, of which all call this. Returns a code of MPI. */
int bsi_nccl_of(MPI_Comm comm, const bsi_nccl **nccl, char why[BSI_NCCL_MESSAGE]);

/* Enqueues messages between arrays on GPUs. */
bisai_status bsi_nccl_exchange(const bsi_nccl *nccl, void *stream, int count,
                               const bisai_message *messages);
/* The same in two parts, on a stream of their own beside that of the context. */
bisai_status bsi_nccl_begin(const bsi_nccl *nccl, void *stream, int count,
                            const bisai_message *messages);
bisai_status bsi_nccl_end(const bsi_nccl *nccl, void *stream);
/* Enqueues sums over all processes. */
bisai_status bsi_nccl_sum(const bsi_nccl *nccl, void *stream, int count, double *values);

#endif
