/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar work of cycles, compiled for the host and for CUDA.
 *
 * Two steps of flexible GCR for the right-hand side r₀ (Notay, SIAM J. Sci. Comput. 30 (2008),
 * Algorithm 3.2), with v = A c, v₂ = A c₂ and r = r₀ − a v:
 *
 *   first step   a = (v·r₀)/(v·v)
 *   second step  s = (v₂·v)/(v·v),  b = (v₂·r)/(v₂·v₂ − s v₂·v),  c ← (a − b s) c + b c₂ */
#ifndef BSI_INNER_STEPS_H
#define BSI_INNER_STEPS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/block/column.h"

/* The places of the scalars of a K-cycle: a, v·v, the coefficient of c, and that of c₂. A direction
 * that is dropped has the coefficient 0. */
enum { BSI_K_STEP, BSI_K_SQUARE, BSI_K_OLD, BSI_K_NEW };

/* v₂ adds a direction if this part of v₂·v₂ is left after v has been removed from v₂. What is left
 * of a smaller part has lost most of its digits. */
#define BSI_K_LEAST_PART 0x1p-40

/* The scalars of the first step. `sums` are v·r₀ and v·v. */
BSI_INLINE void bsi_k_first(const double *sums, double *scalars) {
  const double step = sums[0] / sums[1];
  const bool good = sums[1] > 0.0 && isfinite(sums[1]) && isfinite(step);
  scalars[BSI_K_STEP] = good ? step : 0.0;
  scalars[BSI_K_SQUARE] = good ? sums[1] : 0.0;
}

/* The scalars of the second step, from those of the first one. `sums` are v₂·v, v₂·v₂ and v₂·r. */
BSI_INLINE void bsi_k_second(const double *sums, double *scalars) {
  const double square = scalars[BSI_K_SQUARE], step = scalars[BSI_K_STEP];
  const double share = square > 0.0 ? sums[0] / square : 0.0;
  const double rest = square > 0.0 ? sums[1] - share * sums[0] : sums[1];
  const double more = sums[2] / rest, less = more * share;
  const bool good = sums[1] > 0.0 && isfinite(sums[1]) && rest > BSI_K_LEAST_PART * sums[1] &&
                    isfinite(more) && isfinite(less);
  scalars[BSI_K_OLD] = good ? step - less : step;
  scalars[BSI_K_NEW] = good ? more : 0.0;
}

/* Returns a·c + b·c2. A value whose coefficient is 0 may be infinite or NaN. */
BSI_INLINE double bsi_k_combine(double a, double c, double b, double c2) {
  return (a != 0.0 ? a * c : 0.0) + (b != 0.0 ? b * c2 : 0.0);
}

/* Norms are computed from values over the power of two next to the largest magnitude, which must be
 * positive and finite. The power is split into two factors, because the reciprocal of a subnormal
 * one overflows. */
typedef struct bsi_norm_scale {
  double down[2], up[2];
} bsi_norm_scale;

BSI_INLINE bsi_norm_scale bsi_norm_scale_of(double largest) {
  int exponent;
  frexp(largest, &exponent);
  const int half = exponent / 2, rest = exponent - half;
  bsi_norm_scale scale;
  scale.down[0] = ldexp(1.0, -half);
  scale.down[1] = ldexp(1.0, -rest);
  scale.up[0] = ldexp(1.0, half);
  scale.up[1] = ldexp(1.0, rest);
  return scale;
}

/* Returns the square of a scaled value. */
BSI_INLINE double bsi_norm_square(bsi_norm_scale scale, double x) {
  const double scaled = x * scale.down[0] * scale.down[1];
  return scaled * scaled;
}

/* Returns the norm from the sum of these squares. */
BSI_INLINE double bsi_norm_of(bsi_norm_scale scale, double sum) {
  return sqrt(sum) * scale.up[0] * scale.up[1];
}

/* Returns a number in [−1, 1) that depends on i alone (Steele, Lea, Flood, OOPSLA 2014: the
 * generator SplitMix). */
BSI_INLINE double bsi_start_value(int64_t i) {
  uint64_t z = ((uint64_t)i + 1u) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return (double)(int64_t)(z >> 11) * 0x1p-52 - 1.0;
}

#endif
