/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a piece of a level. Arrays are in host memory. The piece has n own block rows and
 * g ghosts. */
#ifndef BSI_PIECE_IMPL_H
#define BSI_PIECE_IMPL_H

#include <bisai/piece.h>

#include "multigrid/diagonal/radius.h"
#include "multigrid/spgemm/block_matrix.h"

/* The transfers of a piece. The tentative prolongation has n + g rows after its connection, and n
 * before. */
typedef struct bsi_piece_transfers {
  bsi_block_matrix tentative, tentative_transposed, prolongation, restriction;
  /* for each block of Tᵀ its place in T */
  int32_t *position;
  /* T of identity blocks: what makes A T (bsi_aggregation_ops::filter) */
  int32_t *filtered;
  bsi_block_matrix identity;
} bsi_piece_transfers;

struct bisai_piece {
  bisai_context *context;
  const bisai_bcsr *rows;
  /* null_vectors is NULL */
  bisai_piece_options options;
  /* n places of diagonal blocks in `rows`, and n + g inverses */
  int32_t *position;
  double *inverse, largest;
  bsi_radius_estimates radius;
  /* n + g columns of P */
  int32_t *aggregate, count, width;
  double *coarse_vectors;
  /* 3 n scalar rows, so that estimates of ρ allocate nothing: the others would wait for a process
   * that cannot go on */
  double *work;
  bsi_piece_transfers transfers;
};

/* Returns n, and n + g. */
static inline int32_t bsi_piece_rows(const bisai_piece *p) { return p->rows->block_rows; }
static inline int32_t bsi_piece_columns(const bisai_piece *p) { return p->rows->block_cols; }

/* Returns n in scalar rows. */
static inline int64_t bsi_piece_values(const bisai_piece *p) {
  return (int64_t)p->rows->block_rows * p->rows->block_size;
}

/* Returns true if R is Pᵀ. */
static inline bool bsi_piece_is_transposed(const bisai_piece *p) {
  return p->options.symmetric || p->options.unweighted;
}

/* aggregate, count ← those of the own rows, from the couplings between them. */
bisai_status bsi_piece_aggregate(bisai_piece *p);
/* Makes T and Tᵀ of the own rows and, with vectors, those of the next level. */
bisai_status bsi_piece_tentative_create(bisai_piece *p);

#endif
