/* SPDX-License-Identifier: BSD-3-Clause */
/* Mathematics of one small dense block, compiled for the host and for CUDA.
 *
 * Blocks are bs × bs, column-major: a(r, c) = a[c·bs + r]. The block size is an argument; callers
 * pass a constant to get specialised code. */
#ifndef BSI_BLOCK_MATH_H
#define BSI_BLOCK_MATH_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#include <bisai/bcsr.h>

#include "core/block/column.h"

enum { BSI_MAX_BLOCK_VALUES = BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE };

/* Unrolls a loop whose few iterations depend on constants only. Compilers do not always do so by
 * themselves. */
#if defined(__CUDACC__) || defined(__clang__)
#define BSI_UNROLL _Pragma("unroll")
#else
#define BSI_UNROLL _Pragma("GCC unroll 8")
#endif

/* Returns true if `count` values hold neither NaN nor infinity. The loop has no branches, so that
 * it is vectorised. */
BSI_INLINE bool bsi_all_finite(const size_t count, const double *values) {
  int64_t infinite = 0;
  for (size_t i = 0; i < count; i++) infinite |= !(fabs(values[i]) <= DBL_MAX);
  return !infinite;
}

BSI_INLINE void bsi_block_copy(const int bs, const double *a, double *b) {
  for (int i = 0; i < bs * bs; i++) b[i] = a[i];
}

BSI_INLINE void bsi_block_identity(const int bs, double *a) {
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) a[c * bs + r] = r == c ? 1.0 : 0.0;
}

/* c ← a b; c overlaps neither. */
BSI_INLINE void bsi_block_multiply(const int bs, const double *a, const double *b, double *c) {
  for (int j = 0; j < bs; j++) {
    bsi_column sum;
    bsi_column_clear(bs, &sum);
    bsi_column_add_product(bs, &sum, a, b + j * bs);
    bsi_column_store(bs, &sum, c + j * bs);
  }
}

/* c ← c − a b; c overlaps neither. */
BSI_INLINE void bsi_block_multiply_subtract(const int bs, const double *a, const double *b,
                                            double *c) {
  for (int j = 0; j < bs; j++) {
    bsi_column sum;
    bsi_column_load(bs, &sum, c + j * bs);
    bsi_column_subtract_product(bs, &sum, a, b + j * bs);
    bsi_column_store(bs, &sum, c + j * bs);
  }
}

/* Returns ‖a‖₁, the largest column sum of magnitudes, or NaN if a value is NaN. */
BSI_INLINE double bsi_block_norm1(const int bs, const double *a) {
  double norm = 0.0;
  for (int c = 0; c < bs; c++) {
    double sum = 0.0;
    for (int r = 0; r < bs; r++) sum += fabs(a[c * bs + r]);
    if (isnan(sum)) return sum;
    if (sum > norm) norm = sum;
  }
  return norm;
}

#endif
