/* SPDX-License-Identifier: BSD-3-Clause */
/* The scales of the pressure equations, compiled for both backends.
 *
 * In conservation form, what flows between two cells has the same size in the equations of both:
 * |p_ij| = |p_ji|. Multigrid adds up the equations of neighbours, and needs this. Equations that
 * are scaled cell by cell, by the caller or by the weights, have lost it. The scales s_i bring it
 * back as far as possible: s_i |p_ij| ≈ s_j |p_ji|. Their logarithms x_i = log₂ s_i minimise
 *
 *   Σ_ij c_ij (x_i − x_j − l_ij)²,   l_ij = log₂ |p_ji/p_ij|,   c_ij = (p_ij p_ji/(p_ii p_jj))^¼
 *
 * over the pairs of which both entries are stored and not zero, with c_ij between 2⁻¹⁰ and 1.
 * Smaller ones count as 0. Sweeps come near to the minimum:
 *
 *   x_i ← x_i + ω Σ_j c_ij (l_ij + x_j − x_i)/Σ_j c_ij
 *
 * Everything is computed in integers, so that both backends find the same scales. */
#ifndef BSI_SCALES_H
#define BSI_SCALES_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/matrix/bcsr_impl.h"
#include "core/matrix/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Logarithms are in units of 2⁻¹⁴. */
enum {
  BSI_LOG_BITS = 14,
  BSI_LOG_ONE = 1 << BSI_LOG_BITS,
  /* of x in sweeps, and of the scales: no overflow */
  BSI_LOG_LIMIT = 4096 * BSI_LOG_ONE,
  BSI_SCALE_LIMIT = 1000 * BSI_LOG_ONE,
  /* of a diagonal entry that is scaled */
  BSI_DIAGONAL_LIMIT = 500 * BSI_LOG_ONE,
  /* of an |l| in the sum of all */
  BSI_IMBALANCE_LIMIT = 64 * BSI_LOG_ONE,
  /* c = 1 is 2¹⁰; a pair keeps log₂ of this, plus 1, in its lowest four bits */
  BSI_PAIR_CODES = 16,
  BSI_PAIR_STRONGEST = 11
};

/* What the scales are computed from and with, in backend memory. */
typedef struct bsi_scaling {
  const bisai_bcsr *p;
  const int32_t *diagonal;
  /* l and c of each entry */
  int32_t *pairs;
  /* x of each row, and the next x */
  int32_t *x, *next;
} bsi_scaling;

/* Sums over all pairs: of c |l| and of c. */
typedef struct bsi_imbalance {
  int64_t sum, weight;
} bsi_imbalance;

/* Returns how far log₂(1 + f) is above f, for 0 ≤ f < 1, up to 0.008. */
BSI_INLINE int32_t bsi_log_bulge(int32_t f) {
  return (int32_t)((int64_t)5636 * f * (BSI_LOG_ONE - f) >> 2 * BSI_LOG_BITS);
}

/* Returns log₂ |a|, up to 0.008. `a` is neither zero nor subnormal. */
BSI_INLINE int32_t bsi_log2(double a) {
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff) - 1023,
                f = (int32_t)(bits >> (52 - BSI_LOG_BITS) & (BSI_LOG_ONE - 1));
  return exponent * BSI_LOG_ONE + f + bsi_log_bulge(f);
}

/* Returns 2^x up to 0.4 %. bsi_exp2(0) is 1, and bsi_exp2(x + n) is 2ⁿ bsi_exp2(x). */
BSI_INLINE double bsi_exp2(int32_t x) {
  const int32_t most = x < BSI_SCALE_LIMIT ? x : BSI_SCALE_LIMIT,
                limited = most > -BSI_SCALE_LIMIT ? most : -BSI_SCALE_LIMIT,
                shifted = limited + 1023 * BSI_LOG_ONE, f = shifted % BSI_LOG_ONE;
  const uint64_t bits = (uint64_t)(shifted / BSI_LOG_ONE) << 52 | (uint64_t)(f - bsi_log_bulge(f))
                                                                      << (52 - BSI_LOG_BITS);
  double scale;
  memcpy(&scale, &bits, sizeof scale);
  return scale;
}

/* Returns the scale of a row with the diagonal entry d: 2^x, but d does not leave 2^±500. Along a
 * line of cells that pass more and more to each other, x grows from cell to cell, and entries would
 * overflow. */
BSI_INLINE double bsi_row_scale(int32_t x, double d) {
  const int32_t at = bsi_log2(d), up = BSI_DIAGONAL_LIMIT - at, down = -BSI_DIAGONAL_LIMIT - at,
                most = up > 0 ? up : 0, least = down < 0 ? down : 0;
  return bsi_exp2(x > most ? most : x < least ? least : x);
}

BSI_INLINE bool bsi_has_log2(double a) { return fabs(a) >= DBL_MIN && fabs(a) <= DBL_MAX; }

/* --- pairs --- */

/* Returns the pair of an entry a = p_ij, whose mirrored entry is b. `diagonals` is
 * log₂ (p_ii p_jj). */
BSI_INLINE int32_t bsi_pair_make(double a, double b, int32_t diagonals) {
  if (!bsi_has_log2(a) || !bsi_has_log2(b)) return 0;
  const int32_t here = bsi_log2(a), there = bsi_log2(b), weak = diagonals - here - there,
                code =
                    weak <= 0 ? BSI_PAIR_STRONGEST : BSI_PAIR_STRONGEST - weak / (4 * BSI_LOG_ONE);
  /* rounding errors of symmetric entries count as equal */
  const int32_t ratio = there - here >= -1 && there - here <= 1 ? 0 : there - here;
  return code > 0 ? ratio * BSI_PAIR_CODES + code : 0;
}

BSI_INLINE int32_t bsi_pair_code(int32_t pair) {
  return (int32_t)((uint32_t)pair % BSI_PAIR_CODES);
}

/* Returns c in units of 2⁻¹⁰. */
BSI_INLINE int32_t bsi_pair_weight(int32_t pair) { return (1 << bsi_pair_code(pair)) / 2; }

/* Returns l. */
BSI_INLINE int32_t bsi_pair_ratio(int32_t pair) {
  return (pair - bsi_pair_code(pair)) / BSI_PAIR_CODES;
}

/* Finds the pair of entry q = (i, j) with j > i, and adds it to the sums. Pairs are zero before,
 * and x_i is −log₂ p_ii. `values` are those of P. */
BSI_INLINE void bsi_pair_find(const int32_t *row_ptr, const int32_t *col_idx, const double *values,
                              const int32_t *x, int32_t i, int32_t q, int32_t *pairs,
                              bsi_imbalance *sums) {
  const int32_t j = col_idx[q], mirrored = bsi_find_column(col_idx, row_ptr[j], row_ptr[j + 1], i);
  if (mirrored < 0) return;
  const int32_t pair = bsi_pair_make(values[q], values[mirrored], -x[i] - x[j]),
                ratio = bsi_pair_ratio(pair), size = ratio < 0 ? -ratio : ratio;
  pairs[q] = pair;
  pairs[mirrored] = bsi_pair_code(pair) - ratio * BSI_PAIR_CODES;
  sums->sum +=
      (int64_t)bsi_pair_weight(pair) * (size < BSI_IMBALANCE_LIMIT ? size : BSI_IMBALANCE_LIMIT);
  sums->weight += bsi_pair_weight(pair);
}

/* --- sweeps --- */

/* Adds a pair to Σ_j c_ij (l_ij + x_j − x_i) and Σ_j c_ij. `difference` is x_j − x_i. */
BSI_INLINE void bsi_sweep_add(int32_t pair, int32_t difference, int64_t *sum, int64_t *weight) {
  *sum += (int64_t)bsi_pair_weight(pair) * (bsi_pair_ratio(pair) + difference);
  *weight += bsi_pair_weight(pair);
}

/* Returns x_i after a sweep. */
BSI_INLINE int32_t bsi_sweep_end(int32_t x, int64_t sum, int64_t weight, double omega) {
  if (weight == 0) return x;
  const double moved = x + rint((double)sum / (double)weight * omega), limit = BSI_LOG_LIMIT;
  return (int32_t)fmin(fmax(moved, -limit), limit);
}

/* How x is found: `count` sweeps from x_i = −log₂ p_ii or from zero, for eigenvalues up to
 * `highest`. */
typedef struct bsi_sweeps {
  int count;
  bool from_zero;
  double highest;
} bsi_sweeps;

/* Returns those for sums over all pairs, each of which may count as often as the others. */
bsi_sweeps bsi_sweeps_for(const bsi_imbalance *sums);
/* Returns ω of sweep k. */
double bsi_sweeps_omega(const bsi_sweeps *s, int k);

/* Reserves the arrays of *s for matrices with the structure of `p`. After a failure
 * bsi_scaling_destroy() releases them. */
bisai_status bsi_scaling_create(bisai_context *context, const bisai_bcsr *p,
                                const int32_t *diagonal, bsi_scaling *s);
/* Accepts a struct of zeros. */
void bsi_scaling_destroy(bisai_context *context, bsi_scaling *s);
int64_t bsi_scaling_memory(const bsi_scaling *s);
/* Finds the scales of the rows of P, whose diagonal entries are positive, and multiplies P and the
 * `bs` weights of each row by them. Waits. */
bisai_status bsi_scales_apply(bisai_context *context, const bsi_scaling *s, int bs,
                              double *weights);

#ifdef __cplusplus
}
#endif

#endif
