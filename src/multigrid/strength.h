/* SPDX-License-Identifier: BSD-3-Clause */
/* The strength of couplings and the order of block rows in aggregation, compiled for both backends.
 *
 * The weight of block (i, j) is ‖D_i⁻¹ A_ij‖_F/√bs, where D_i is the diagonal block of row i. It
 * does not depend on a scaling of the block rows of A. The weight is rounded to BSI_WEIGHT_BITS
 * bits. Different orders of summation therefore give the same weight, and both backends make the
 * same aggregates.
 *
 * The coupling of rows i and j is the geometric mean of the weights of (i, j) and (j, i), or 0 if
 * the mean is below BSI_WEAKEST_COUPLING. A block that is not stored has the weight 0. The coupling
 * is symmetric and does not depend on scalings of block rows and block columns. Rows of Dirichlet
 * conditions, whose off-diagonal blocks are zero or tiny beside the diagonal block, have no
 * couplings.
 *
 * A coupling is strong if it is at least `threshold` times the smaller one of the largest couplings
 * of row i and of row j. The largest coupling of a row is therefore strong for every threshold up
 * to 1. */
#ifndef BSI_STRENGTH_H
#define BSI_STRENGTH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/block_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BSI_WEIGHT_BITS = 10 };

/* A smoother alone reduces the error of rows with smaller couplings by this factor in each step. */
#define BSI_WEAKEST_COUPLING 1e-4f

/* Returns x rounded to BSI_WEIGHT_BITS bits of mantissa, at most about 10³⁸. A NaN and numbers
 * below 0 give 0. */
BSI_INLINE float bsi_weight_round(double x) {
  const int drop = 23 - BSI_WEIGHT_BITS;
  uint32_t bits;
  if (!(x > 0.0)) return 0.0f;
  float narrow = x < 1e38 ? (float)x : 1e38f;
  memcpy(&bits, &narrow, sizeof bits);
  bits = (bits + (1u << (drop - 1))) >> drop << drop;
  memcpy(&narrow, &bits, sizeof narrow);
  return narrow;
}

/* Returns the weight of a block. */
BSI_INLINE float bsi_weight(const int bs, const double *inverse, const double *block) {
  double sum = 0.0, values[BISAI_MAX_BLOCK_SIZE];
  for (int c = 0; c < bs; c++) {
    bsi_column column;
    bsi_column_clear(bs, &column);
    bsi_column_add_product(bs, &column, inverse, block + c * bs);
    bsi_column_store(bs, &column, values);
    for (int r = 0; r < bs; r++) sum += values[r] * values[r];
  }
  return bsi_weight_round(sqrt(sum / bs));
}

/* Returns the coupling of two block rows, from the weights of (i, j) and (j, i). Their product is
 * exact, so that all backends round alike. */
BSI_INLINE float bsi_coupling(float here, float there) {
  const float mean = (float)sqrt((double)here * (double)there);
  return mean < BSI_WEAKEST_COUPLING ? 0.0f : mean;
}

/* Returns the strength of a coupling: the coupling if it is strong, otherwise 0. The other
 * arguments are the largest couplings of the two rows. */
BSI_INLINE float bsi_strength(float coupling, float of_here, float of_there, float threshold) {
  return coupling >= threshold * (of_here < of_there ? of_here : of_there) ? coupling : 0.0f;
}

/* Returns the key of a block row. Aggregation prefers larger keys. The function is one-to-one, so
 * that all keys differ. No key of a row is 0 or UINT32_MAX. */
BSI_INLINE uint32_t bsi_aggregation_key(int32_t i) {
  uint32_t h = (uint32_t)i + 1u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

#ifdef __cplusplus
}
#endif

#endif
