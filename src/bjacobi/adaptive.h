/* SPDX-License-Identifier: BSD-3-Clause */
/* Which formats an inverse block may be stored in (Flegar, Anzt, Cojean, Quintana-Ortí 2020,
 * sections 3.1 and 3.2), on the host and on a device.
 *
 * Of E = D⁻¹ a format with unit roundoff u preserves `digits` digits where κ₁(D) u ≤ 10^−digits, κ₁
 * = ‖D‖₁‖E‖₁, and the values are in its range. The paper then inverts the rounded block Ẽ again, to
 * see whether underflow has made it singular. Here ‖D‖₁‖E − Ẽ‖₁ ≤ 10^−digits is asked for instead,
 * which needs no second inversion and shows more: it bounds ‖I − D Ẽ‖₁ below 1, so that Ẽ is
 * regular, and has the digits. Without underflow it follows from the first condition.
 *
 * The list is the paper's: shorter formats first, of equal length the more accurate first. A group
 * takes the first that all its blocks may have. */
#ifndef BSI_ADAPTIVE_H
#define BSI_ADAPTIVE_H

#include "core/values.h"

enum { BSI_ADAPTIVE_FORMATS = 6 };

/* The format at place k of the list. */
BSI_INLINE bisai_value_type bsi_adaptive_format(const int k) {
  switch (k) {
  case 0: return BISAI_FP16;
  case 1: return BISAI_BF16;
  case 2: return BISAI_FP11_4;
  case 3: return BISAI_FP32;
  case 4: return BISAI_FP11_20;
  default: return BISAI_FP64;
  }
}

/* 10^−digits */
BSI_INLINE double bsi_adaptive_tolerance(const int digits) {
  double power = 1.0;
  for (int i = 0; i < digits; i++) power *= 10.0;
  return 1.0 / power;
}

/* Whether κ₁ alone allows a format. */
BSI_INLINE bool bsi_adaptive_allows(const bisai_value_type format, const double condition,
                                    const double tolerance) {
  return condition * bsi_value_roundoff(format) <= tolerance;
}

/* Whether what rounding did to a block keeps the digits: `error` = ‖E − Ẽ‖₁, infinite or NaN where
 * a value did not fit; norm = ‖D‖₁. */
BSI_INLINE bool bsi_adaptive_keeps(const double norm, const double error, const double tolerance) {
  return norm * error <= tolerance;
}

/* The first format of the list whose bit is set; bit 5, fp64, counts as set. */
BSI_INLINE bisai_value_type bsi_adaptive_first(const unsigned mask) {
  int k = 0;
  while (k < BSI_ADAPTIVE_FORMATS - 1 && !(mask >> k & 1u)) k++;
  return bsi_adaptive_format(k);
}

/* A block that κ₁ shows to be known to no digit: m ε κ₁ ≥ 1. Decompositions, which do not have κ₁,
 * count those whose smallest pivot is at most m ε‖D‖₁; that shows many such blocks and not all. */
BSI_INLINE bool bsi_near_singular(const int m, const double condition) {
  return m * 2.220446049250313e-16 * condition >= 1.0;
}
BSI_INLINE bool bsi_near_singular_pivot(const int m, const double norm,
                                        const double smallest_pivot) {
  return smallest_pivot <= m * 2.220446049250313e-16 * norm;
}

#endif
