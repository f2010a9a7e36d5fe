/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of the pressure equation, compiled for both backends.
 *
 * In block row i, the pressure equation is the sum of the equations with weights w. They solve Dᵀ w
 * = e_p, so that the diagonal block contributes to the pressure only. D is the diagonal block of A
 * (quasi-IMPES), or the derivatives of the accumulation terms (true IMPES). Only the direction of w
 * matters: w is scaled to max |w_k| = 1.
 *
 * Let d = wᵀ A_ii e_p be the diagonal entry of the pressure matrix.
 *   D is singular, or a diagonal block of A that is singular but for rounding:
 *             w = e_p
 *   d < 0:            w ← −w
 *   d is zero but for rounding, or d or 1/d is not finite: w = 0. The row of the pressure matrix is
 *                     then that of the identity, and the cell has no pressure correction. */
#ifndef BSI_WEIGHTS_H
#define BSI_WEIGHTS_H

#include "core/block/block_invert.h"
#include "core/matrix/bcsr_impl.h"
#include "core/threads/team.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is computed, and from what. */
typedef struct bsi_weighing {
  const bisai_bcsr *a;
  /* the positions of the diagonal blocks of A */
  const int32_t *diagonal;
  /* block_size weights for each block row, which are finite; or NULL */
  const double *given;
  /* D for each block row, stored row by row; or NULL: the diagonal blocks */
  const double *storage;
  int32_t pressure;
} bsi_weighing;

/* How many rows took a rule, and the first ones; −1: none. */
typedef struct bsi_weight_stats {
  int64_t singular, reversed, excluded;
  int32_t first_singular, first_excluded;
} bsi_weight_stats;

#define BSI_WEIGHT_STATS_NONE ((bsi_weight_stats){.first_singular = -1, .first_excluded = -1})

/* The rules that a row took: a sum of these. */
enum { BSI_WEIGHTS_SINGULAR = 1, BSI_WEIGHTS_REVERSED = 2, BSI_WEIGHTS_EXCLUDED = 4 };

/* w ← the solution of Dᵀ w = e_p, for a block whose values v are D(r, c) = v[c·bs + r], or with
 * `by_rows` v[r·bs + c]. `inverse` has bs² values. Returns false if the block is singular. */
BSI_INLINE bool bsi_weights_solve(const int bs, const double *block, const bool by_rows,
                                  const int p, double *inverse, double *w) {
  double condition;
  if (bsi_block_invert(bs, block, inverse, &condition) == BSI_BLOCK_SINGULAR) return false;
  for (int k = 0; k < bs; k++) w[k] = inverse[by_rows ? p * bs + k : k * bs + p];
  return true;
}

/* w ← w / max |w_k|. Returns false if w is zero or not finite. */
BSI_INLINE bool bsi_weights_scale(const int bs, double *w) {
  double largest = 0.0;
  for (int k = 0; k < bs; k++) largest = fabs(w[k]) > largest ? fabs(w[k]) : largest;
  if (!(largest > 0.0) || !bsi_all_finite((size_t)bs, w)) return false;
  for (int k = 0; k < bs; k++) w[k] /= largest;
  return true;
}

/* *d ← wᵀ a. Returns false if it is zero, but for rounding, or if d or 1/d is not finite. */
BSI_INLINE bool bsi_weights_entry(const int bs, const double *w, const double *a, double *d) {
  double magnitude = 0.0;
  *d = 0.0;
  for (int k = 0; k < bs; k++) {
    *d += w[k] * a[k];
    magnitude += fabs(w[k] * a[k]);
  }
  return fabs(*d) > 16 * bs * DBL_EPSILON * magnitude && isfinite(*d) && isfinite(1.0 / *d);
}

/* Scales the weights w of a row, whose diagonal block has the column `a` of the pressure, and
 * applies the rules. `solved` is false if there are no weights, because D is singular. Returns the
 * rules. */
BSI_INLINE int bsi_weights_finish(const int bs, const bsi_weighing *g, const bool solved,
                                  const double *a, double *w) {
  double d;
  int rules = 0;
  /* zeros that are given stay, and exclude the row */
  bool usable = solved && (bsi_weights_scale(bs, w) || g->given);
  /* Dᵀ w = e_p is lost in rounding if D is singular, but for rounding */
  if (!g->given && !g->storage) usable = usable && bsi_weights_entry(bs, w, a, &d);
  if (!usable) {
    rules = BSI_WEIGHTS_SINGULAR;
    for (int k = 0; k < bs; k++) w[k] = k == g->pressure ? 1.0 : 0.0;
  }
  const bool corrected = bsi_weights_entry(bs, w, a, &d);
  const double sign = !corrected ? 0.0 : d < 0.0 ? -1.0 : 1.0;
  if (!corrected)
    rules |= BSI_WEIGHTS_EXCLUDED;
  else if (d < 0.0)
    rules |= BSI_WEIGHTS_REVERSED;
  for (int k = 0; k < bs; k++) w[k] = sign == 0.0 ? 0.0 : sign * w[k];
  return rules;
}

/* w ← the weights of block row i. `values` are those of the matrix, which a device cannot read
 * itself. `inverse` has bs² values. Returns the rules. */
BSI_INLINE int bsi_weigh_row(const int bs, const bsi_weighing *g, const double *values, int32_t i,
                             double *inverse, double *w) {
  const size_t size = (size_t)(bs * bs);
  const double *diagonal = values + (size_t)g->diagonal[i] * size;
  bool solved = true;
  if (g->given) {
    for (int k = 0; k < bs; k++) w[k] = g->given[(size_t)i * (size_t)bs + (size_t)k];
  } else {
    const double *block = g->storage ? g->storage + (size_t)i * size : diagonal;
    solved = bsi_weights_solve(bs, block, g->storage != NULL, g->pressure, inverse, w);
  }
  return bsi_weights_finish(bs, g, solved, diagonal + g->pressure * bs, w);
}

/* Adds the rules of a row to the statistics. Rows may come in any order. */
static inline void bsi_weight_stats_count(bsi_weight_stats *stats, int rules, int32_t row) {
  if (rules & BSI_WEIGHTS_REVERSED) stats->reversed++;
  if (rules & BSI_WEIGHTS_SINGULAR) {
    stats->singular++;
    bsi_min_index(&stats->first_singular, row);
  }
  if (rules & BSI_WEIGHTS_EXCLUDED) {
    stats->excluded++;
    bsi_min_index(&stats->first_excluded, row);
  }
}

#ifdef __cplusplus
}
#endif

#endif
