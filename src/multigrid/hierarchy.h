/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of multigrid: set-up and update.
 *
 * Level 0 has the caller's matrix. From the matrix A of a level, aggregation makes the tentative
 * prolongation T, and
 *
 *   P = (I − ω D⁻¹A) T,   A_coarse = R A P
 *
 * with ω = 4/(3ρ), where D are the diagonal blocks of A, and ρ is about ρ(D⁻¹A) (radius.c). T has a
 * block for each row that belongs to an aggregate: the identity, or the near-null-space vectors,
 * made orthonormal in the aggregate. In A T of identity blocks, weak blocks of A move to the
 * aggregate of their own row (multigrid/aggregation/filter.h).
 *
 * R is one of these:
 *
 *   Pᵀ                 for a symmetric A (Vaněk, Mandel, Brezina 1996), and for equations in
 *                      conservation form (`unweighted`), which are nearly symmetric where they are
 *                      elliptic. For these it takes as many iterations as the next R, and coarse
 *                      rows have half as many blocks.
 *   Tᵀ (I − ω A D⁻¹)   otherwise. It is the transpose of what P is for Aᵀ with D⁻¹ on the other
 *                      side.
 *
 * R A P may exceed the limit of the complexity. Tᵀ then takes the place of the second R. If this
 * does not suffice, or if R is Pᵀ, P becomes T and R becomes Tᵀ.
 *
 * Unless R is Pᵀ, the blocks of Tᵀ on level 0 have weights (multigrid/transfers/row_scaling.h), so
 * that a scaling of the block rows of A changes nothing but the norm of the residual. For a
 * nonsymmetric A, ρ is at least 2: larger ω made coarse matrices of which cycles diverged. */
#ifndef BSI_HIERARCHY_H
#define BSI_HIERARCHY_H

#include "multigrid/level/hierarchy_impl.h"

/* The options `complexity` and `coarsest` if the caller leaves them open. */
#define BSI_COMPLEXITY 2.5
enum { BSI_COARSEST_ROWS = 1024 };

/* Coarsening ends if a level has more than this part of the rows of the finer one. */
#define BSI_SLOWEST_COARSENING (1.0 / 1.3)

/* bsi_multigrid_setup::inverse_work if the caller leaves `coarsest` open: the same on all backends,
 * so that they have the same levels. On a thread of the host, an inverse takes 0.06 ns for each of
 * n³ products, and set-up takes 20 ns for each value and 150 ns for each block of level 0: the
 * inverse takes at most about half as long as the rest, also if several ranks share that. Without
 * this bound it took 48 ms for sherman1 (1000 rows), which needs 11 iterations of 0.02 ms with more
 * levels. A smaller bound saves little, and reservoirs need more iterations. */
enum { BSI_INVERSE_WORK = 150 };

/* bsi_multigrid_setup::most_singular if the caller leaves `coarsest` open. The host takes 3 ms for
 * a pseudo-inverse of that many rows, and 200 ms for one of 1024. */
enum { BSI_SINGULAR_ROWS = 256 };

/* Makes the levels of a matrix, which must live as long as the hierarchy. After a failure
 * bsi_hierarchy_destroy() releases what was made. */
bisai_status bsi_hierarchy_create(bisai_context *context, const bisai_bcsr *matrix,
                                  const bsi_multigrid_setup *setup, bsi_hierarchy *h);
/* Refuses updates of a hierarchy that was made for none. */
bisai_status bsi_hierarchy_check_updates(const bsi_hierarchy *h);
/* Refuses a matrix of another pattern than that of creation, and all updates of a hierarchy that
 * was made for none. */
bisai_status bsi_hierarchy_check(const bisai_bcsr *matrix, const bsi_hierarchy *h);
/* Takes the values of a matrix of the same pattern. It must live until an update with another one
 * has succeeded. Allocates nothing but what multigrid/updates.h says. */
bisai_status bsi_hierarchy_update(const bisai_bcsr *matrix, bsi_hierarchy *h);
/* Releases everything that a hierarchy owns. Accepts a struct of zeros. */
void bsi_hierarchy_destroy(bisai_context *context, bsi_hierarchy *h);

#endif
