/* SPDX-License-Identifier: BSD-3-Clause */
/* The strength of couplings and the order of block rows in aggregation, compiled for both backends.
 *
 * The weight of block (i, j) is ‖D_i⁻¹ A_ij‖_F/√bs, where D_i is the diagonal block of row i. It
 * does not depend on a scaling of the block rows of A. The weight is rounded to WEIGHT_BITS bits,
 * so that the rounding errors of different orders of summation do not decide what is strong, and
 * hosts and devices make the same aggregates. */
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

/* Returns x ≥ 0 rounded to BSI_WEIGHT_BITS bits of mantissa. A NaN gives 0. */
BSI_INLINE float bsi_weight_round(double x) {
  float narrow = (float)x;
  uint32_t bits;
  if (!(narrow > 0.0f)) return 0.0f;
  memcpy(&bits, &narrow, sizeof bits);
  const int drop = 23 - BSI_WEIGHT_BITS;
  bits = (bits + (1u << (drop - 1))) >> drop << drop;
  memcpy(&narrow, &bits, sizeof narrow);
  return narrow;
}

/* Returns the weight of a block. */
BSI_INLINE float bsi_weight(const int bs, const double *inverse, const double *block) {
  double sum = 0.0;
  for (int c = 0; c < bs; c++)
    for (int r = 0; r < bs; r++) {
      double value = 0.0;
      for (int k = 0; k < bs; k++) value += inverse[k * bs + r] * block[c * bs + k];
      sum += value * value;
    }
  return bsi_weight_round(sqrt(sum / bs));
}

/* Returns the strength of the coupling of two block rows, from the weights of (i, j) and (j, i). A
 * block that is not stored has the weight 0. */
BSI_INLINE float bsi_strength(float here, float there) { return here > there ? here : there; }

/* Returns the key of a block row. Aggregation prefers larger keys. All keys differ: the hash is the
 * upper half of the key and the index the lower one. No key is 0 or UINT64_MAX. */
BSI_INLINE uint64_t bsi_aggregation_key(int32_t i) {
  uint32_t h = (uint32_t)i;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  h ^= h >> 16;
  return ((uint64_t)(h >> 1) << 32) + (uint32_t)i + 1u;
}

#ifdef __cplusplus
}
#endif

#endif
