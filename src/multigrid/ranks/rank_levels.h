/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of one rank of several: a hierarchy whose matrices have the own rows, and the columns
 * of these and of ghosts. multigrid/hierarchy.h has the mathematics, and the cycle is that of one
 * rank. What differs is made here:
 *
 *   aggregates  of own rows (multigrid/aggregation/border.h)
 *   T, P, A P   have rows of ghosts too, which other ranks compute (multigrid/halo/ghost_rows.h)
 *   R           is the part of Pᵀ for own aggregates, or the own rows of Tᵀ (I − ω A D⁻¹)
 *   decisions   on symmetry, ρ, sizes and null rows are those of all ranks
 *
 * The columns of P and of the next matrix are the own aggregates, then ghosts in the order in which
 * rows of ghosts name them. The last matrix is gathered on rank 0 if it is small enough, and is
 * smoothed otherwise. */
#ifndef BSI_RANK_LEVELS_H
#define BSI_RANK_LEVELS_H

#include "multigrid/aggregation/coarsening.h"
#include "multigrid/halo/ghost_rows.h"
#include "multigrid/hierarchy.h"
#include "multigrid/ranks/gathered.h"

/* What a level of a rank has beside bsi_level. */
typedef struct bsi_rank_level {
  /* the first row of each rank, in block rows, and the columns of the matrix */
  int64_t *begins;
  bsi_numbering columns;
  bsi_halo halo;
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
  int64_t gather;
  bsi_gathered gathered;
  /* exchanges that creation did */
  int64_t exchanges;
} bsi_rank_hierarchy;

/* Makes the levels of a matrix with ghosts, without near-null vectors after the return. After a
 * failure the caller destroys them. All ranks call it, as they call all that follow but the last
 * ones. */
bisai_status bsi_rank_levels_create(bisai_context *context, const bisai_ranks_rows *rows,
                                    const bisai_transport *transport,
                                    const bsi_multigrid_setup *setup, int64_t gather,
                                    bsi_rank_hierarchy *r);
/* Takes new values. Allocates nothing. */
bisai_status bsi_rank_levels_update(bsi_rank_hierarchy *r, const bisai_bcsr *matrix);
/* x ← one cycle for A x = b, for own values in backend memory. */
bisai_status bsi_rank_levels_apply(bsi_rank_hierarchy *r, const double *b, double *x);
/* y ← A x */
bisai_status bsi_rank_levels_multiply(bsi_rank_hierarchy *r, const double *x, double *y);
/* Returns the exchanges since creation, or with `all` those of creation too. */
int64_t bsi_rank_levels_exchanges(const bsi_rank_hierarchy *r);
/* Returns the bytes of everything that the rank owns. */
int64_t bsi_rank_levels_memory(const bsi_rank_hierarchy *r);
void bsi_rank_levels_destroy(bsi_rank_hierarchy *r);

/* --- what the files of this room share --- */

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

/* coarse_matrix.c: makes T, P, R and A P of a level with `c`, and *coarse ← R A P without its values,
 * whose columns are numbered in `columns`. It stays NULL if it is too large. */
bisai_status bsi_rank_coarse_create(bsi_rank_hierarchy *r, int l, bsi_coarsening *c,
                                    bsi_numbering *columns, bisai_bcsr **coarse);
/* Computes the values of P and R, unless they are kept, and of the next matrix. */
bisai_status bsi_rank_coarse_update(bsi_rank_hierarchy *r, int l, bool keep);

#endif
