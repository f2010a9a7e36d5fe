/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of one rank of several (multigrid/ranks/rank_levels.h). */
#ifndef BSI_RANK_LEVEL_H
#define BSI_RANK_LEVEL_H

#include "multigrid/halo/ghost_rows.h"
#include "multigrid/halo/split.h"
#include "multigrid/level/hierarchy_impl.h"
#include "multigrid/ranks/gathered.h"

/* What a level of a rank has beside bsi_level. */
typedef struct bsi_rank_level {
  /* the first row of each rank, in block rows, and the columns of the matrix */
  int64_t *begins;
  bsi_numbering columns;
  bsi_halo halo;
  bsi_splits splits;
  /* block rows and blocks of all ranks */
  double all_rows, all_blocks;
  /* T, P and A P with the rows of ghosts, of which bsi_level_transfers has the own rows. They own
   * nothing */
  bsi_block_matrix prolongation, product;
  bsi_ghost_rows of_tentative, of_prolongation, of_product;
  /* Pᵀ, of which R are the first rows; empty if R is made otherwise */
  bsi_block_matrix transposed;
} bsi_rank_level;

typedef struct bsi_rank_hierarchy {
  bisai_transport transport;
  bsi_hierarchy h;
  bsi_rank_level levels[BISAI_MULTIGRID_LEVELS];
  /* A of level 0, with more columns */
  bisai_bcsr first;
  /* the block columns of the caller's rows, without ghosts that R = Pᵀ adds */
  int32_t given_columns;
  int64_t gather;
  /* level 0 has A alone */
  bool products_only;
  bsi_ghost_room room;
  /* room for a value of each rank and one more, in host memory */
  double *counts;
  bsi_gathered gathered;
  /* NULL: no transposed application came yet (rank_transposed.h) */
  struct bsi_rank_transposed *transposed;
  /* exchanges that creation did */
  int64_t exchanges;
} bsi_rank_hierarchy;

static inline int bsi_rank_level_number(const bsi_rank_hierarchy *r, const bsi_level *level) {
  return bsi_level_number(&r->h, level);
}

/* Returns the scalar rows of all ranks. */
static inline double bsi_all_rows(const bsi_rank_hierarchy *r, int l) {
  return r->levels[l].all_rows * r->h.levels[l].matrix->block_size;
}

/* Returns the values of all ranks. */
static inline double bsi_all_values(const bsi_rank_hierarchy *r, int l) {
  const double bs = r->h.levels[l].matrix->block_size;
  return r->levels[l].all_blocks * bs * bs;
}

#endif
