/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the factors. */
#ifndef BSI_FACTOR_IMPL_H
#define BSI_FACTOR_IMPL_H

#include <bisai/factor.h>

#include "core/triangular.h"

struct bisai_factors {
  bisai_context *context;
  /* L without its identity diagonal, or general with it; U with its diagonal first in each row */
  bisai_bcsr *lower, *upper;
  /* inverse diagonal blocks of a general L, otherwise NULL */
  double *lower_inverse;
  double *upper_inverse;
  bsi_levels lower_levels, upper_levels;
  bsi_triangular lower_solve, upper_solve;
  bsi_invert_stats stats;
  /* made by ILU, so that an update makes sense; then: */
  bool from_matrix;
  /* of the matrix that they were made from */
  int32_t matrix_blocks;
  /* blocks of L and U together */
  int32_t longest_row;
  /* backend memory: a bit for each block: whether the matrix does not have it; NULL where it has
   * all */
  uint8_t *lower_fill, *upper_fill;
  /* of the solves */
  double *spare;
  /* 0: none */
  double shift_amount;
  bool ready;
};

static inline size_t bsi_fill_bytes(int32_t blocks) { return ((size_t)blocks + 7) / 8; }

/* Whether block p is one that the matrix does not have. */
static inline bool bsi_is_fill(const uint8_t *fill, int32_t p) {
  return fill && ((unsigned)fill[p / 8] >> (p % 8) & 1u) != 0;
}

/* What bisai_factor_options and bisai_precond_options have in common. */
bisai_status bsi_factor_options_check(bisai_context *context, int level, bisai_shift shift,
                                      double shift_amount);

/* Whether `matrix` is one that the factors can be updated from. */
bisai_status bsi_factors_check(const bisai_factors *factors, const bisai_bcsr *matrix);

/* The factors of a matrix that passed the check. */
bisai_status bsi_factors_refresh(bisai_factors *factors, const bisai_bcsr *matrix);

int64_t bsi_factors_memory(const bisai_factors *factors);

#endif
