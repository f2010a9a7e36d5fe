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

#include "multigrid/ranks/rank_level.h"

/* Makes the levels of a matrix with ghosts, without near-null vectors after the return. After a
 * failure the caller destroys them. All ranks call it, as they call all that follow but the last
 * ones. */
bisai_status bsi_rank_levels_create(bisai_context *context, const bisai_ranks_rows *rows,
                                    const bisai_transport *transport,
                                    const bsi_multigrid_setup *setup, int64_t gather,
                                    bsi_rank_hierarchy *r);
/* Makes what bsi_rank_levels_multiply() needs, and no levels. Of `setup`, least_overlapped is read.
 */
bisai_status bsi_rank_products_create(bisai_context *context, const bisai_ranks_rows *rows,
                                      const bisai_transport *transport,
                                      const bsi_multigrid_setup *setup, bsi_rank_hierarchy *r);
/* Takes new values. */
bisai_status bsi_rank_levels_update(bsi_rank_hierarchy *r, const bisai_bcsr *matrix);
/* x ← one cycle for A x = b, for own values in host memory or in that of the backend. */
bisai_status bsi_rank_levels_apply(bsi_rank_hierarchy *r, const double *b, double *x);
/* x ← the transpose of the cycle, whose levels the first call after creation and after an update
 * makes. The cycle is not K. */
bisai_status bsi_rank_levels_apply_transpose(bsi_rank_hierarchy *r, const double *b, double *x);
/* y ← A x, for own values in backend memory. */
bisai_status bsi_rank_levels_multiply(bsi_rank_hierarchy *r, const double *x, double *y);
/* Returns the exchanges since creation, or with `all` those of creation too. */
int64_t bsi_rank_levels_exchanges(const bsi_rank_hierarchy *r);
/* Returns the bytes of everything that the rank owns. */
int64_t bsi_rank_levels_memory(const bsi_rank_hierarchy *r);
void bsi_rank_levels_destroy(bsi_rank_hierarchy *r);

#endif
