/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of complete factors, and what is found of their pivots. */
#ifndef BSI_LU_TYPES_H
#define BSI_LU_TYPES_H

#include "lu/predict.h"

typedef struct bsi_lu_options {
  /* BISAI_FP64 or BISAI_FP32: how the factors are stored. Arithmetic is fp64 in both cases. */
  bisai_value_type storage;
  /* the most values of L + U as a multiple of those of the matrix, and the most bytes; 0: no
   * limit */
  double most_fill, most_bytes;
  /* Pivots smaller than this share of the largest magnitude of the matrix are raised to it; 0:
   * none, and a zero pivot is an error. */
  double shift;
} bsi_lu_options;

/* What the last factorisation found. Rows are the caller's. */
typedef struct bsi_lu_pivots {
  /* the smallest and largest magnitude */
  double smallest, largest;
  /* the number of raised pivots, and the first block row with one; −1: none */
  int64_t raised;
  int32_t first_raised_row;
} bsi_lu_pivots;

#endif
