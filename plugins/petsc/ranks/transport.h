/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai's transport (bisai/ranks.h) by MPI. */
#ifndef BSI_PETSC_RANKS_TRANSPORT_H
#define BSI_PETSC_RANKS_TRANSPORT_H

#include <petscsys.h>

#include <bisai/ranks.h>

#include "petsc/calls.h"

/* A communicator of its own, so that no other messages get in between, and room for its
 * messages. */
typedef struct bsi_ranks_transport {
  MPI_Comm comm;
  MPI_Request *requests;
  int room;
} bsi_ranks_transport;

/* Makes the transport of the processes of a communicator; *table points to *transport. All of them
 * call it. */
PetscErrorCode bsi_ranks_transport_create(MPI_Comm comm, bsi_ranks_transport *transport,
                                          bisai_transport *table);
/* Accepts a struct of zeros. All processes call it. */
PetscErrorCode bsi_ranks_transport_destroy(bsi_ranks_transport *transport);

#endif
