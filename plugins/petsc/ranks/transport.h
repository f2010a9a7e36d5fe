/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai's transport (bisai/ranks.h) by MPI, and by NCCL on GPUs. */
#ifndef BSI_PETSC_RANKS_TRANSPORT_H
#define BSI_PETSC_RANKS_TRANSPORT_H

#include <petscsys.h>

#include <bisai/petsc.h>
#include <bisai/ranks.h>

#include "nccl/nccl.h"
#include "petsc/calls.h"

/* A communicator of its own, so that no other messages get in between, and room for its
 * messages. */
typedef struct bsi_ranks_transport {
  MPI_Comm comm;
  MPI_Request *requests;
  int room;
  /* the requests under way */
  int started;
  /* NULL: vectors go by MPI, and `why` says why not by NCCL */
  const bsi_nccl *nccl;
  char why[BSI_NCCL_MESSAGE];
  void *stream;
} bsi_ranks_transport;

/* Makes the transport of the processes of a communicator; *table points to *transport. All of them
 * call it. */
PetscErrorCode bsi_ranks_transport_create(MPI_Comm comm, bsi_ranks_transport *transport,
                                          bisai_transport *table);
/* Takes NCCL for vectors if the option and the GPUs say so. `comm` keeps the connection for later
 * hierarchies. All processes call it. */
PetscErrorCode bsi_ranks_transport_choose(bisai_petsc_transport wanted, MPI_Comm comm,
                                          const bisai_context *context,
                                          bsi_ranks_transport *transport, bisai_transport *table);
/* Accepts a struct of zeros. All processes call it. */
PetscErrorCode bsi_ranks_transport_destroy(bsi_ranks_transport *transport);

#endif
