/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the factors. */
#ifndef BSI_FACTOR_H
#define BSI_FACTOR_H

#include <bisai/factor.h>

#include "core/triangular.h"

struct bisai_factors {
  bisai_context *context;
  bisai_bcsr *lower,
      *upper; /* L without its identity diagonal, or general with it; U with its diagonal first in each row */
  double *lower_inverse; /* inverse diagonal blocks of a general L, otherwise NULL */
  double *upper_inverse;
  bsi_levels lower_levels, upper_levels;
  bsi_triangular lower_solve, upper_solve;
  bsi_invert_stats stats;
  bool from_matrix;      /* made by ILU, so that an update makes sense; then: */
  int32_t matrix_blocks; /* of the matrix that they were made from */
  int32_t longest_row;   /* blocks of L and U together */
  uint8_t *lower_fill,
      *upper_fill; /* backend memory: a bit for each block: whether the matrix does not have it; NULL where it has all */
  double *spare;   /* of the solves */
  double shift_amount; /* 0: none */
  bool ready;
};

static inline size_t bsi_fill_bytes(int32_t blocks) { return ((size_t)blocks + 7) / 8; }

/* Whether block p is one that the matrix does not have. */
static inline bool bsi_is_fill(const uint8_t *fill, int32_t p) {
  return fill && ((unsigned)fill[p / 8] >> (p % 8) & 1u) != 0;
}

/* What bisai_factor_options and bisai_precond_options have in common. */
bisai_status bsi_factor_options_check(bisai_context *context, int level, bisai_shift shift, double shift_amount);

/* Whether `matrix` is one that the factors can be updated from. */
bisai_status bsi_factors_check(const bisai_factors *factors, const bisai_bcsr *matrix);

/* The factors of a matrix that passed the check. */
bisai_status bsi_factors_refresh(bisai_factors *factors, const bisai_bcsr *matrix);

int64_t bsi_factors_memory(const bisai_factors *factors);

#endif
