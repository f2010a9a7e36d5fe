/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a hierarchy over several processes. */
#ifndef BSI_PETSC_RANKS_IMPL_H
#define BSI_PETSC_RANKS_IMPL_H

#include "petsc/ranks/failure.h"
#include "petsc/ranks/rows.h"
#include "petsc/ranks/transport.h"

typedef struct bsi_ranks {
  bsi_ranks_setup setup;
  bsi_ranks_transport transport;
  bisai_transport table;
  bisai_ranks_options options;
  bsi_ranks_source source;
  bsi_ranks_rows rows;
  bool symmetric;
  bisai_ranks *levels;
} bsi_ranks;

#endif
