/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete factors by UMFPACK (Davis 2004, Algorithm 832), if the build has it. Its indices have 64
 * bits here. UMFPACK allocates by malloc(). */
#ifndef BSI_DIRECT_H
#define BSI_DIRECT_H

#include <bisai/bcsr.h>

/* What UMFPACK has counted in the last factorisation. */
typedef struct bsi_direct_figures {
  /* values of L and of U, with their diagonals */
  int64_t lower, upper;
  double flops;
  /* the smallest magnitude of U's diagonal over the largest */
  double condition;
  /* bytes of the factors, and the most at a time */
  int64_t bytes, peak_bytes;
} bsi_direct_figures;

typedef struct bsi_direct bsi_direct;

/* Analyses the pattern of a square matrix in fp64 and reserves what does not depend on its values.
 * Returns BISAI_UNAVAILABLE if the build has no UMFPACK. */
bisai_status bsi_direct_create(bisai_context *context, const bisai_bcsr *matrix,
                               bsi_direct **direct);
void bsi_direct_destroy(bsi_direct **direct);

/* Refuses a matrix of another pattern. */
bisai_status bsi_direct_check(const bsi_direct *direct, const bisai_bcsr *matrix);
/* Factorises a matrix of the pattern of creation. Returns BISAI_SINGULAR_BLOCK, whose message names
 * the block row, or BISAI_EXTERNAL_ERROR. */
bisai_status bsi_direct_factorise(bsi_direct *direct, const bisai_bcsr *matrix);
/* X ← A⁻¹ B, or X ← A⁻ᵀ B if `transposed`, for `count` vectors in backend memory. */
bisai_status bsi_direct_solve(bsi_direct *direct, bool transposed, int32_t count, const double *b,
                              int64_t ldb, double *x, int64_t ldx);

const bsi_direct_figures *bsi_direct_found(const bsi_direct *direct);
int64_t bsi_direct_memory(const bsi_direct *direct);

#endif
