/* SPDX-License-Identifier: BSD-3-Clause */
/* The tentative prolongation T of a level, and Tᵀ. */
#ifndef BSI_TENTATIVE_H
#define BSI_TENTATIVE_H

#include "multigrid/aggregation/coarsening.h"

/* A near-null-space vector that depends on earlier ones up to this is dropped in an aggregate. */
#define BSI_RANK_TOLERANCE 1e-10

/* Makes T of the aggregates, and Tᵀ, which has values if its rows are scaled. With near-null-space
 * vectors it makes c->coarse_vectors. */
bisai_status bsi_tentative_create(bsi_hierarchy *h, bsi_level *level, bsi_coarsening *c);
/* Without near-null-space vectors: makes what the filtered A T is computed from. c->aggregate has
 * an entry for each column of A, below `columns`. */
bisai_status bsi_filter_create(bsi_hierarchy *h, bsi_level *level, const bsi_coarsening *c,
                               int32_t columns);
/* Reserves the arrays of mᵀ, and finds the places of its blocks in m. */
bisai_status bsi_transpose_create(bsi_hierarchy *h, const bsi_block_matrix *m,
                                  bsi_block_matrix *transposed, int32_t **position);
/* Returns true if R is Pᵀ. */
bool bsi_restriction_is_transposed(const bsi_hierarchy *h);
/* Returns true if the rows of Tᵀ are scaled (multigrid/transfers/row_scaling.h). */
bool bsi_rows_are_scaled(const bsi_hierarchy *h, const bsi_level *level);

/* The factors of A T: those of the filtered A and blocks of the identity where columns of A were
 * filtered. */
typedef struct bsi_prolonged {
  bsi_block_matrix left;
  const bsi_block_matrix *right;
} bsi_prolonged;

/* `filtered` has the columns of A in `identity`, or is NULL. */
bsi_prolonged bsi_prolonged_of(const bisai_bcsr *a, const bsi_block_matrix *tentative,
                               int32_t *filtered, const bsi_block_matrix *identity);

#endif
