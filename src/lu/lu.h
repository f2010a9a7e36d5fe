/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete factors of a square block matrix: B = L U but for rounding, by supernodes. */
#ifndef BSI_LU_H
#define BSI_LU_H

#include "lu/lu_types.h"

typedef struct bsi_lu bsi_lu;

/* Finds the structure of the factors of a matrix in its own order and reserves all memory. Returns
 * BISAI_OUT_OF_MEMORY with a message if the prediction exceeds a limit. */
bisai_status bsi_lu_create(bisai_context *context, const bisai_bcsr *matrix,
                           const bsi_lu_options *options, bsi_lu **lu);
void bsi_lu_destroy(bsi_lu **lu);

/* Computes the factors of a matrix with the structure of creation. Allocates nothing. Returns
 * BISAI_SINGULAR_BLOCK or BISAI_NOT_FINITE, whose message names the block row. */
bisai_status bsi_lu_factorise(bsi_lu *lu, const bisai_bcsr *matrix);

/* X ← U⁻¹ L⁻¹ B, or X ← L⁻ᵀ U⁻ᵀ B if `transposed`, for `count` vectors in backend memory. X may be
 * B. Allocates nothing. */
bisai_status bsi_lu_solve(bsi_lu *lu, bool transposed, int32_t count, const double *b, int64_t ldb,
                          double *x, int64_t ldx);

const bsi_lu_prediction *bsi_lu_predicted(const bsi_lu *lu);
const bsi_lu_pivots *bsi_lu_found_pivots(const bsi_lu *lu);
int64_t bsi_lu_memory(const bsi_lu *lu);
/* Returns the minimum of bytes that a solve moves. */
int64_t bsi_lu_solve_bytes(const bsi_lu *lu);

#endif
