/* SPDX-License-Identifier: BSD-3-Clause */
/* The last matrix of all ranks on rank 0, where the levels go on. */
#ifndef BSI_GATHERED_H
#define BSI_GATHERED_H

#include "multigrid/halo/halo.h"
#include "multigrid/halo/numbering.h"
#include "multigrid/level/hierarchy_impl.h"
#include "multigrid/spgemm/block_matrix.h"

/* What a rank sends. */
typedef struct bsi_sent_rows {
  /* the own rows in the columns of all, and what they are the product of: the own matrix, and an
   * identity block for each of its columns */
  bsi_block_matrix columns, rows;
  /* room for a part of the rows that the backend and the host see. NULL: the backend is the host,
   * or the transport reaches its memory */
  double *part;
  /* in host memory: 1 for own scalar rows that consist of rounding errors, on rank 0 for those of
   * all ranks, whose number is null_rows */
  double *marks, null_rows;
} bsi_sent_rows;

typedef struct bsi_gathered {
  bisai_context *context;
  const bisai_transport *transport;
  /* rank 0 has the rows of all others as ghosts */
  bsi_halo halo;
  bsi_sent_rows sent;
  /* rank 0: the scalar rows and the blocks of each rank, the matrix and its levels */
  int64_t *counts[2];
  bisai_bcsr *matrix;
  bsi_hierarchy below;
  bool made;
  /* rank 0: levels whose cycle is the transpose of theirs; NULL unless it was asked for */
  bsi_hierarchy *transposed;
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

/* Gathers the matrix of the last level, and makes the levels below it. `before` is the status of
 * what this rank did alone before. After a failure the caller destroys what was made. All ranks
 * call it. */
bisai_status bsi_gathered_create(bisai_context *context, const bisai_transport *transport,
                                 bisai_status before, const bsi_to_gather *from, bsi_gathered *g);
/* Takes the new values of the last level. All ranks call it. Allocates nothing. */
bisai_status bsi_gathered_update(const bsi_hierarchy *h, const bsi_level *level, bsi_gathered *g);
/* Returns what solves with the gathered matrix. */
bsi_operator bsi_gathered_operator(bsi_gathered *g);
/* Makes what solves with the transpose. All ranks call it. */
bisai_status bsi_gathered_transpose(bsi_gathered *g);
/* Returns it. */
bsi_operator bsi_gathered_transposed_operator(bsi_gathered *g);
/* Accepts a struct of zeros. */
void bsi_gathered_release_transposed(bsi_gathered *g);
int64_t bsi_gathered_memory(const bsi_gathered *g);
/* Accepts a struct of zeros. */
void bsi_gathered_destroy(bsi_gathered *g);

#endif
