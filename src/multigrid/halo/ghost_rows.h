/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of ghosts of a block matrix, behind its own rows: what a product with the rows of a rank
 * needs of other ranks. */
#ifndef BSI_GHOST_ROWS_H
#define BSI_GHOST_ROWS_H

#include "multigrid/halo/halo.h"
#include "multigrid/halo/numbering.h"
#include "multigrid/spgemm/block_matrix.h"

typedef struct bsi_ghost_rows {
  bsi_halo *halo;
  /* the blocks of the own rows */
  int32_t own_blocks;
  /* the own rows that other ranks get, which are the product of a selection and the matrix */
  bsi_block_matrix selection, packed;
  /* the blocks that each neighbour gets, and those that come from it */
  int64_t *given, *wanted;
  /* the places of the blocks that come, behind those of the own rows */
  bsi_places places;
  /* what is sent and received, which the backend and the host see; NULL for identities. If the
   * transport enqueues exchanges, `incoming` is in backend memory, and the packed rows are sent */
  double *outgoing, *incoming;
} bsi_ghost_rows;

/* Appends the structure of the rows of all ghosts to a matrix of the own rows, whose columns are
 * those of `numbering`. Columns of ghosts that are not known there become known. The matrix becomes
 * one of n + g rows, and its values are left alone; `identities` says that it has none. `aggregate`
 * may be NULL, otherwise it has g entries in host memory, which become the only column of each row,
 * or −1. After a failure the caller destroys both. All ranks call it. */
bisai_status bsi_ghost_rows_append(bsi_halo *halo, bsi_numbering *numbering, bsi_block_matrix *m,
                                   bool identities, int32_t *aggregate, bsi_ghost_rows *ghosts);
/* Takes the values of the rows of all ghosts. All ranks call it. Allocates nothing. */
bisai_status bsi_ghost_rows_update(bsi_ghost_rows *ghosts, const bsi_block_matrix *m);
/* Returns the bytes of everything that it owns. */
int64_t bsi_ghost_rows_memory(const bsi_ghost_rows *ghosts);
/* Accepts a struct of zeros. */
void bsi_ghost_rows_destroy(bsi_ghost_rows *ghosts);

/* Returns the own rows of a matrix with the rows of ghosts. It owns nothing. */
bsi_block_matrix bsi_own_rows_of(const bsi_ghost_rows *ghosts, const bsi_block_matrix *m);

#endif
