/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of ghosts of a block matrix, behind its own rows: what a product with the rows of a rank
 * needs of other ranks. */
#ifndef BSI_GHOST_ROWS_H
#define BSI_GHOST_ROWS_H

#include "multigrid/halo/halo.h"
#include "multigrid/halo/numbering.h"
#include "multigrid/spgemm/block_matrix.h"

/* What is sent and received in turn by all ghost rows of a rank. In memory that the backend and the
 * host see or, if the transport enqueues exchanges, in backend memory, where packed rows are sent
 * as they are. */
typedef struct bsi_ghost_room {
  double *outgoing, *incoming;
  int64_t most_outgoing, most_incoming;
} bsi_ghost_room;

/* Accepts a struct of zeros. */
void bsi_ghost_room_destroy(bisai_context *context, const bisai_transport *transport,
                            bsi_ghost_room *room);

typedef struct bsi_ghost_rows {
  bsi_halo *halo;
  bsi_ghost_room *room;
  /* structures that are sent and received, until they are in the matrix */
  struct bsi_ghost_structures *making;
  /* the blocks of the own rows */
  int32_t own_blocks;
  /* the own rows that other ranks get, which are the product of a selection and the matrix */
  bsi_block_matrix selection, packed;
  /* the blocks that each neighbour gets, and those that come from it */
  int64_t *given, *wanted;
  /* the places of the blocks that come, behind those of the own rows */
  bsi_places places;
  /* the blocks have values, which are not identities */
  bool valued;
} bsi_ghost_rows;

/* Appends the structure of the rows of all ghosts to a matrix of the own rows, whose columns are
 * those of `numbering`. Columns of ghosts that are not known there become known. The matrix becomes
 * one of n + g rows, and its values are left alone; `identities` says that it has none. After a
 * failure the caller destroys both.
 *
 * bsi_ghost_rows_begin() is the first part, in which a rank is alone. When all ranks have done it,
 * they call bsi_ghost_rows_append(). */
bisai_status bsi_ghost_rows_begin(bsi_halo *halo, bsi_ghost_room *room,
                                  const bsi_numbering *numbering, const bsi_block_matrix *m,
                                  bool identities, bsi_ghost_rows *ghosts);
/* `aggregate` may be NULL, otherwise it has g entries in host memory, which become the only column
 * of each row, or −1. Returns a failure of all; *own ← that of the last part, in which a rank is
 * alone again. */
bisai_status bsi_ghost_rows_append(bsi_ghost_rows *ghosts, bsi_numbering *numbering,
                                   bsi_block_matrix *m, int32_t *aggregate, bisai_status *own);
/* Takes the values of the rows of all ghosts. All ranks call it. Allocates nothing. */
bisai_status bsi_ghost_rows_update(bsi_ghost_rows *ghosts, const bsi_block_matrix *m);
/* Return the bytes of everything that it owns. */
int64_t bsi_ghost_rows_memory(const bsi_ghost_rows *ghosts);
int64_t bsi_ghost_room_memory(const bsi_ghost_room *room);
/* Accepts a struct of zeros. */
void bsi_ghost_rows_destroy(bsi_ghost_rows *ghosts);

/* Returns the own rows of a matrix with the rows of ghosts. It owns nothing. */
bsi_block_matrix bsi_own_rows_of(const bsi_ghost_rows *ghosts, const bsi_block_matrix *m);

#endif
