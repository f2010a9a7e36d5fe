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
  /* B, its block columns ascending */
  bisai_bcsr *matrix;
  /* backend memory; NULL: natural */
  int32_t *permutation;
  /* backend memory: block p of B is block source[p] of A; NULL: p */
  int32_t *source;
  /* the same in host memory */
  int32_t *host_permutation, *host_source;
  bsi_equilibration equilibration;
} bsi_reordered;

/* `permutation` is copied; NULL: natural. Structure and memory only.
 * BISAI_UNSUPPORTED: A is not stored in fp64, or implies its diagonal blocks. */
bisai_status bsi_reordered_create(bisai_context *context, const bisai_bcsr *a,
                                  const int32_t *permutation, bool equilibrate,
                                  bsi_reordered *reordered);

/* Whether B's values can be taken from A: BISAI_INVALID_ARGUMENT where its pattern is another one,
 * BISAI_UNSUPPORTED as above. */
bisai_status bsi_reordered_check(bisai_context *context, const bisai_bcsr *a,
                                 const bsi_reordered *reordered);

/* B's values from those of an A that passed the check; allocates nothing. BISAI_SINGULAR_BLOCK
 * where equilibration meets a block row or column of zeros. */
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
/* The least bytes that entering and leaving must move. */
int64_t bsi_reordered_bytes(const bsi_reordered *reordered);

#endif
