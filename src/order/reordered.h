/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and updates the matrix from which a preconditioner is made, and moves vectors into its
 * order and back. */
#ifndef BSI_REORDERED_H
#define BSI_REORDERED_H

#include "order/reordered_structure.h"

/* Makes the structure of B and reserves all memory. Arrays of `how` are copied. Returns
 * BISAI_UNSUPPORTED if A is not stored in fp64 or implies its diagonal blocks,
 * BISAI_SINGULAR_BLOCK if there is no complete matching. */
bisai_status bsi_reordered_create(bisai_context *context, const bisai_bcsr *a,
                                  const bsi_reordering *how, bsi_reordered *reordered);

/* Checks that B's values can be computed from A. Returns BISAI_INVALID_ARGUMENT if its pattern
 * differs, BISAI_UNSUPPORTED as above. */
bisai_status bsi_reordered_check(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *reordered);

/* Computes B's values from an A that has passed the check. Keeps P and Q. Allocates nothing.
 * Returns BISAI_SINGULAR_BLOCK if equilibration finds a block row or column of zeros, or if no
 * matching is complete; BISAI_INVALID_STRUCTURE if a scalar B leaves out a value that is not
 * zero. */
bisai_status bsi_reordered_update(bisai_context *context, const bisai_bcsr *a,
                                  bsi_reordered *reordered);

/* The side of B that a vector belongs to: rows, as b, or columns, as x. A transpose has them
 * exchanged. */
typedef enum bsi_side { BSI_ROWS, BSI_COLUMNS } bsi_side;

/* For `count` vectors: y ← P Q Dr x (ROWS) or y ← P Dc x (COLUMNS) enters the order of B, and
 * y ← Dr Qᵀ Pᵀ x (ROWS) or y ← Dc Pᵀ x (COLUMNS) leaves it. */
bisai_status bsi_reordered_enter(const bsi_reordered *reordered, bsi_side side, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy);
bisai_status bsi_reordered_leave(const bsi_reordered *reordered, bsi_side side, int32_t count,
                                 const double *x, int64_t ldx, double *y, int64_t ldy);

void bsi_reordered_destroy(bisai_context *context, bsi_reordered *reordered);

int64_t bsi_reordered_memory(const bsi_reordered *reordered);
/* Returns the minimum of bytes that bsi_reordered_enter() and bsi_reordered_leave() move. */
int64_t bsi_reordered_bytes(const bsi_reordered *reordered);

#endif
