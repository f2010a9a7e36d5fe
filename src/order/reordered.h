/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix from which a preconditioner is made: B = P Dr A Dc Pᵀ, so that A⁻¹ = Dc Pᵀ B⁻¹ P Dr. P
 * permutes whole blocks. Dr and Dc hold one power of two for each scalar row and column, so that
 * scaling does not round. */
#ifndef BSI_REORDERED_H
#define BSI_REORDERED_H

#include "order/graph.h"

#define BSI_EXPONENT_OF_ZERO INT16_MIN

typedef struct bsi_equilibration {
  /* Dr and Dc in A's order, n each; NULL: not equilibrated */
  double *row_scale, *col_scale;
  /* their exponents */
  int32_t *row_exponent, *col_exponent;
  /* workspace, n each */
  int32_t *row_max, *col_max;
  /* workspace: the exponent of every value of A */
  int16_t *exponents;
  /* the first block row and block column of A without a nonzero value; -1: none */
  int32_t zero_row, zero_col;
  /* the smallest and largest factor */
  double smallest, largest;
  /* Dc is equal to Dr to the last bit */
  bool symmetric;
} bsi_equilibration;

typedef struct bsi_reordered {
  /* B, with ascending block columns */
  bisai_bcsr *matrix;
  /* the permutation in backend memory; NULL: natural order */
  int32_t *permutation;
  /* the map of blocks in backend memory: block p of B is block source[p] of A; NULL: p */
  int32_t *source;
  /* the same in host memory */
  int32_t *host_permutation, *host_source;
  bsi_equilibration equilibration;
} bsi_reordered;

/* Makes the structure of B and reserves all memory. `permutation` is copied; NULL: natural order.
 * Returns BISAI_UNSUPPORTED if A is not stored in fp64 or implies its diagonal blocks. */
bisai_status bsi_reordered_create(bisai_context *context, const bisai_bcsr *a,
                                  const int32_t *permutation, bool equilibrate,
                                  bsi_reordered *reordered);

/* Checks that B's values can be computed from A. Returns BISAI_INVALID_ARGUMENT if its pattern
 * differs, BISAI_UNSUPPORTED as above. */
bisai_status bsi_reordered_check(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *reordered);

/* Computes B's values from an A that has passed the check. Allocates nothing. Returns
 * BISAI_SINGULAR_BLOCK if equilibration finds a block row or column of zeros. */
bisai_status bsi_reordered_update(bisai_context *context, const bisai_bcsr *a,
                                  bsi_reordered *reordered);

/* y ← P Dr x and y ← Dc Pᵀ x for `count` vectors. */
bisai_status bsi_reordered_enter(bisai_context *context, const bsi_reordered *reordered,
                                 int32_t count, const double *x, int64_t ldx, double *y,
                                 int64_t ldy);
bisai_status bsi_reordered_leave(bisai_context *context, const bsi_reordered *reordered,
                                 int32_t count, const double *x, int64_t ldx, double *y,
                                 int64_t ldy);

void bsi_reordered_destroy(bisai_context *context, bsi_reordered *reordered);

int64_t bsi_reordered_memory(const bsi_reordered *reordered);
/* Returns the minimum of bytes that bsi_reordered_enter() and bsi_reordered_leave() move. */
int64_t bsi_reordered_bytes(const bsi_reordered *reordered);

#endif
