/* SPDX-License-Identifier: BSD-3-Clause */
/* The last matrix of all ranks on rank 0, where the levels go on. */
#ifndef BSI_GATHERED_H
#define BSI_GATHERED_H

#include "multigrid/halo/halo.h"
#include "multigrid/halo/numbering.h"
#include "multigrid/level/hierarchy_impl.h"

/* What a rank sends, in host memory. */
typedef struct bsi_sent_rows {
  /* its blocks in the order of the columns of all: the place of each in the own matrix, and its
   * row */
  int32_t blocks, *order, *row_of;
  /* their values, and room for those of the own matrix */
  double *packed, *own;
  /* 1 for own rows and ghosts that consist of rounding errors, and their number on all ranks */
  double *marks, null_rows;
} bsi_sent_rows;

typedef struct bsi_gathered {
  bisai_context *context;
  const bisai_transport *transport;
  /* rank 0 has the rows of all others as ghosts */
  bsi_halo halo;
  bsi_sent_rows sent;
  /* rank 0: the blocks of each rank, the values of all, the matrix and its levels */
  int64_t *counts;
  double *values;
  bisai_bcsr *matrix;
  bsi_hierarchy below;
  bool made;
  /* right-hand side and solution of all rows, in backend memory */
  double *b, *x;
} bsi_gathered;

/* What is gathered. */
typedef struct bsi_to_gather {
  /* of this rank */
  const bsi_hierarchy *h;
  bsi_level *level;
  const int64_t *begins;
  const bsi_numbering *columns;
  /* near-null-space vectors of the own rows in backend memory; NULL: none */
  const double *vectors;
  bsi_multigrid_setup setup;
} bsi_to_gather;

/* Gathers the matrix of the last level, and makes the levels below it. After a failure the caller
 * destroys what was made. All ranks call it. */
bisai_status bsi_gathered_create(bisai_context *context, const bisai_transport *transport,
                                 const bsi_to_gather *from, bsi_gathered *g);
/* Takes the new values of the last level. All ranks call it. Allocates nothing. */
bisai_status bsi_gathered_update(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g);
/* Returns what solves with the gathered matrix. */
bsi_operator bsi_gathered_operator(bsi_gathered *g);
int64_t bsi_gathered_memory(const bsi_gathered *g);
/* Accepts a struct of zeros. */
void bsi_gathered_destroy(bsi_gathered *g);

#endif
