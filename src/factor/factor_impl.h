/* SPDX-License-Identifier: BSD-3-Clause */
/* The private struct of the factors. */
#ifndef BSI_FACTOR_IMPL_H
#define BSI_FACTOR_IMPL_H

#include <bisai/factor.h>

#include "core/block/block_repair.h"
#include "core/matrix/triangular.h"

/* What ILU keeps of the matrix from which it has made factors, so that they can be updated. */
typedef struct bsi_ilu_origin {
  /* false: they were not made by ILU */
  bool there;
  /* the blocks of the matrix */
  int32_t matrix_blocks;
  /* the blocks of L and U in the longest row */
  int32_t longest_row;
  /* the most bytes of L, U and the search for their blocks at a time; 0: there was no search */
  int64_t peak_bytes;
  /* in backend memory, a bit for each block, which is set if the matrix does not store the block;
   * NULL: the matrix stores all blocks */
  uint8_t *lower_fill, *upper_fill;
} bsi_ilu_origin;

/* Sweeps of an update. */
typedef struct bsi_ilu_sweeps {
  /* 0: updates are exact */
  int count;
  /* the values of U and the inverses of its diagonal blocks before a sweep, in backend memory */
  double *upper, *inverse;
} bsi_ilu_sweeps;

struct bisai_factors {
  bisai_context *context;
  /* L without its identity diagonal, or a general L with its diagonal; U with the diagonal block
   * first in each row. Transposed factors have Uᵀ and Lᵀ in their places */
  bisai_bcsr *lower, *upper;
  /* the inverse diagonal blocks; NULL: an identity is implied */
  double *lower_inverse;
  double *upper_inverse;
  bsi_levels lower_levels, upper_levels;
  bsi_triangular lower_solve, upper_solve;
  bsi_invert_stats stats;
  bsi_ilu_origin ilu;
  bsi_ilu_sweeps sweep;
  /* the vector of the solves */
  double *spare;
  /* of the diagonal blocks of U */
  bsi_repair repair;
  bool ready;
};

static inline size_t bsi_fill_bytes(int32_t blocks) { return ((size_t)blocks + 7) / 8; }

/* Returns true if the matrix does not store block p. */
static inline bool bsi_is_fill(const uint8_t *fill, int32_t p) {
  return fill && ((unsigned)fill[p / 8] >> (p % 8) & 1u) != 0;
}

/* Checks the options that bisai_factor_options and bisai_precond_options have in common. */
bisai_status bsi_factor_options_check(bisai_context *context, int level, bisai_shift shift,
                                      double shift_amount, double least_pivot, int update_sweeps);

/* Checks that the factors can be updated from `matrix`. */
bisai_status bsi_factors_check(const bisai_factors *factors, const bisai_bcsr *matrix);

/* Computes the factors of a matrix that has passed the check. */
bisai_status bsi_factors_refresh(bisai_factors *factors, const bisai_bcsr *matrix);

/* *transposed ← the factors Uᵀ and Lᵀ of (L U)ᵀ, as the values are now. */
bisai_status bsi_factors_transpose(const bisai_factors *factors, bisai_factors **transposed);

int64_t bsi_factors_memory(const bisai_factors *factors);

#endif
