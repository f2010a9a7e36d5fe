/* SPDX-License-Identifier: BSD-3-Clause */
/* The strength of couplings and the order of block rows in aggregation, compiled for both backends.
 *
 * The weight of block (i, j) is ‖D_i⁻¹ A_ij‖_F/√bs, but at most 1, where D_i is the diagonal block
 * of row i. It does not depend on a scaling of the block rows of A. The weight is rounded to
 * BSI_WEIGHT_BITS bits. Different orders of summation therefore give the same weight, and both
 * backends make the same aggregates. Weights above 1 come from boundary conditions with derivatives
 * (1/h), and would hide the other couplings of a row.
 *
 * The coupling of rows i and j is the geometric mean of the weights of (i, j) and (j, i). A block
 * that is not stored has the weight 0. Each of the two weights counts as at least `least_return`
 * times the other one. The coupling is symmetric.
 *
 * A smoother alone solves for a row whose couplings add up to at most BSI_LEAST_SUM. Such a row
 * stays out, like one whose weights add up to at most BSI_LEAST_WEIGHTS: a Dirichlet condition.
 * Couplings to rows that stay out become 0.
 *
 * A row with few couplings does not stay out if its weights add up to BSI_FULL_WEIGHTS/√bs or more.
 * It has no strong couplings, follows a row that takes part, and no row follows it. All rows that A
 * multiplies by constants to zero have such weights, and if one of them stayed out, constants were
 * not in the coarse space: the coarse matrix of a singular A would be regular. Only a row all of
 * whose neighbours follow others has nobody to follow, and stays out: the end of a chain of which
 * each row is more than a hundred times as stiff as the one before.
 *
 * A coupling is strong if it is at least `threshold` times the largest coupling of row i, and also
 * of row j. A row that has no strong one follows the row to which it is coupled most, of equal ones
 * the one with the largest key. That row has a larger coupling than the follower, so that a chain
 * of followers ends.
 *
 * The largest coupling of a row may be one to a row that stays out. If all others are less than
 * `threshold` times that one, the row has nobody to follow and stays out too. Stiff rows beside a
 * boundary would otherwise follow stiff rows elsewhere to which soft rows couple them. */
#ifndef BSI_STRENGTH_H
#define BSI_STRENGTH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/block/block_math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BSI_WEIGHT_BITS = 10 };

/* What the strength of couplings depends on. */
typedef struct bsi_strength_rule {
  /* of strong couplings */
  float threshold;
  /* Each of the weights of (i, j) and (j, i) counts as at least this part of the other one.
   * Nonsymmetric matrices: 0.01. Otherwise systems with flow in one direction alone would not be
   * coarsened. Symmetric ones: 0, because their couplings have no direction. A stiff region in a
   * soft one is held by couplings that are weak for it, and must not join an aggregate of soft
   * rows. */
  float least_return;
} bsi_strength_rule;

/* bsi_strength_rule::least_return of a nonsymmetric matrix. */
#define BSI_LEAST_RETURN 0.01f

/* Returns the rule for a matrix. */
BSI_INLINE bsi_strength_rule bsi_strength_rule_of(double threshold, bool symmetric) {
  const bsi_strength_rule rule = {(float)threshold, symmetric ? 0.0f : BSI_LEAST_RETURN};
  return rule;
}

/* Weights and couplings are added as integers of this unit, so that the order does not matter. */
#define BSI_COUPLING_UNIT 0x1p-24f

/* BSI_LEAST_SUM is 0.1: 0.02 to 0.1 give the same iterations on a chequerboard of coefficients, and
 * larger limits more. */
enum { BSI_LEAST_SUM = (1 << 24) / 10, BSI_LEAST_WEIGHTS = (1 << 24) / 1000 };

/* If A times the vector 1 is 0 in row i, Σ D_i⁻¹ A_ij maps that vector to its negative. The norms
 * of the D_i⁻¹ A_ij therefore add up to 1 or more, and the weights to 1/√bs, up to rounding
 * (BSI_WEIGHT_BITS). */
enum { BSI_FULL_WEIGHTS = (1 << 24) / 100 * 99 };

/* What a row does in aggregation. */
typedef enum bsi_role { BSI_ROW_OUT, BSI_ROW_IN, BSI_ROW_FOLLOWS } bsi_role;

/* Returns x rounded to BSI_WEIGHT_BITS bits of mantissa, at most 1. A NaN and numbers below 0
 * give 0. */
BSI_INLINE float bsi_weight_round(double x) {
  const int drop = 23 - BSI_WEIGHT_BITS;
  uint32_t bits;
  if (!(x > 0.0)) return 0.0f;
  float narrow = x < 1.0 ? (float)x : 1.0f;
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

/* Returns the coupling of two block rows, from the weights of (i, j) and (j, i). The product is
 * exact, so that both backends round alike. */
BSI_INLINE float bsi_coupling(float least_return, float here, float there) {
  const float of_here = least_return * there, of_there = least_return * here;
  return (float)sqrt((double)(here > of_here ? here : of_here) *
                     (double)(there > of_there ? there : of_there));
}

/* Returns a weight or a coupling in units of BSI_COUPLING_UNIT. */
BSI_INLINE int64_t bsi_coupling_units(float coupling) {
  return (int64_t)(coupling / BSI_COUPLING_UNIT);
}

/* Returns the role of a row of blocks, from the sums of its weights and its couplings in units. */
BSI_INLINE uint8_t bsi_role_of(int block_size, int64_t weights, int64_t couplings) {
  const double full = BSI_FULL_WEIGHTS / sqrt((double)block_size);
  if (weights > BSI_LEAST_WEIGHTS && couplings > BSI_LEAST_SUM) return BSI_ROW_IN;
  return couplings > 0 && (double)weights >= full ? BSI_ROW_FOLLOWS : BSI_ROW_OUT;
}

/* Returns true if a coupling is strong. `of_here` and `of_there` are the largest couplings of the
 * two rows. */
BSI_INLINE bool bsi_is_strong(float coupling, float of_here, float of_there, float threshold) {
  return coupling > 0.0f && coupling >= threshold * of_here && coupling >= threshold * of_there;
}

/* Returns true if a row without a strong coupling may follow the row of this coupling. `largest` is
 * the largest coupling of the row. */
BSI_INLINE bool bsi_is_worth_following(float coupling, float largest, float threshold) {
  return coupling > 0.0f && coupling >= threshold * largest;
}

/* Returns the key of a block row. Aggregation prefers larger keys. The function is one-to-one, so
 * that all keys differ. No key of a row is 0 or UINT32_MAX. */
BSI_INLINE uint32_t bsi_aggregation_key(int32_t i) {
  uint32_t h = (uint32_t)i + 1u;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

/* Returns the order in which a row prefers the rows j to which it is coupled: by the coupling, then
 * by key. It is positive. Couplings are positive, so that their bits are in the order of their
 * values. */
BSI_INLINE uint64_t bsi_preference(float coupling, int32_t j) {
  uint32_t bits;
  memcpy(&bits, &coupling, sizeof bits);
  return (uint64_t)bits << 32 | bsi_aggregation_key(j);
}

#ifdef __cplusplus
}
#endif

#endif
