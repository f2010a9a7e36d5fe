/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats in which an inverse block may be stored (Flegar, Anzt, Cojean, Quintana-Ortí 2020,
 * sections 3.1 and 3.2), on the host and on a device.
 *
 * A format with unit roundoff u preserves `digits` digits of E = D⁻¹ if κ₁(D) u ≤ 10^−digits, κ₁ =
 * ‖D‖₁‖E‖₁, and if the values are in its range. The paper then inverts the rounded block Ẽ again
 * and sees whether underflow has made it singular. bisai requires ‖D‖₁‖E − Ẽ‖₁ ≤ 10^−digits
 * instead. This needs no second inversion and shows more: ‖I − D Ẽ‖₁ has the same bound, so that Ẽ
 * is regular and has the digits. Without underflow it follows from the first condition, and values
 * that underflow add little to the error: norms mostly show that the condition holds, and only
 * otherwise is the error summed up.
 *
 * The list is that of the paper: shorter formats come first, and of equal length the more accurate
 * one. A group takes the first format that all its blocks may have. The caller may restrict the
 * list to some formats, of which fp64 is always one. */
#ifndef BSI_ADAPTIVE_H
#define BSI_ADAPTIVE_H

#include <bisai/precond_bjacobi.h>

#include "core/block/values.h"

enum { BSI_ADAPTIVE_FORMATS = 6 };

/* Returns format k of the list. */
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

/* Returns the places of the list that a caller admits, a bit for each. */
BSI_INLINE unsigned bsi_adaptive_mask(const bisai_formats formats) {
  switch (formats) {
  case BISAI_FORMATS_IEEE: return 1u << 0 | 1u << 3 | 1u << 5;
  case BISAI_FORMATS_TRUNCATED: return 1u << 2 | 1u << 4 | 1u << 5;
  default: return (1u << BSI_ADAPTIVE_FORMATS) - 1u;
  }
}

/* Returns 10^−digits. */
BSI_INLINE double bsi_adaptive_tolerance(const int digits) {
  double power = 1.0;
  for (int i = 0; i < digits; i++) power *= 10.0;
  return 1.0 / power;
}

/* Returns true if κ₁ allows the format. */
BSI_INLINE bool bsi_adaptive_allows(const bisai_value_type format, const double condition,
                                    const double tolerance) {
  return condition * bsi_value_roundoff(format) <= tolerance;
}

/* Returns the largest error of values below the smallest normal number 2^lowest: 2^lowest u.
 * Values up to this vanish. */
BSI_INLINE double bsi_adaptive_lost(const bisai_value_type format) {
  switch (format) {
  case BISAI_FP16: return 0x1p-14 * bsi_value_roundoff(BISAI_FP16);
  case BISAI_BF16: return 0x1p-126 * bsi_value_roundoff(BISAI_BF16);
  case BISAI_FP32: return 0x1p-126 * bsi_value_roundoff(BISAI_FP32);
  default: return 0x1p-1022 * bsi_value_roundoff(format);
  }
}

/* Returns a power of two that the format has, 2^(1 − lowest). */
BSI_INLINE double bsi_adaptive_large(const bisai_value_type format) {
  switch (format) {
  case BISAI_FP16: return 0x1p15;
  case BISAI_BF16:
  case BISAI_FP32: return 0x1p127;
  default: return 0x1p1023;
  }
}

/* Returns true if norms show that the rounded block of m rows has the digits: its values are at
 * most ‖E‖₁ = κ₁/‖D‖₁, and ‖E − Ẽ‖₁ is at most u‖E‖₁ and what values lose that underflow. `norm` is
 * ‖D‖₁. */
BSI_INLINE bool bsi_adaptive_certain(const bisai_value_type format, const int m, const double norm,
                                     const double condition, const double tolerance) {
  return condition <= norm * bsi_adaptive_large(format) &&
         condition * bsi_value_roundoff(format) + m * norm * bsi_adaptive_lost(format) <= tolerance;
}

/* Returns true if norms show that all values of an inverse of m rows fit a format, and that no row
 * or column vanishes in it. The diagonal of E D is about 1 if κ₁ is not very large. A row of E
 * therefore has a value of about 1/‖D‖₁ at least, and a column, because rows of D have sums of at
 * most m‖D‖₁, one of 1/(m‖D‖₁). */
BSI_INLINE bool bsi_inverse_fits(const bisai_value_type format, const int m, const double norm,
                                 const double condition) {
  return condition <= 0x1p33 && condition <= norm * bsi_adaptive_large(format) &&
         m * norm * bsi_adaptive_lost(format) <= 0.25;
}

/* Returns true if the rounded block has the digits. `error` is ‖E − Ẽ‖₁, infinite or NaN if a value
 * does not fit; `norm` is ‖D‖₁. */
BSI_INLINE bool bsi_adaptive_keeps(const double norm, const double error, const double tolerance) {
  return norm * error <= tolerance;
}

/* Returns the first format of the list whose bit is set. Bit 5, fp64, counts as set. */
BSI_INLINE bisai_value_type bsi_adaptive_first(const unsigned mask) {
  int k = 0;
  while (k < BSI_ADAPTIVE_FORMATS - 1 && !(mask >> k & 1u)) k++;
  return bsi_adaptive_format(k);
}

/* Nearly singular blocks, whose inverse may have no correct digit: m ε κ₁ ≥ 1. Decompositions do
 * not know κ₁ and test whether the smallest pivot is at most m ε‖D‖₁, which finds many of these
 * blocks but not all. */
BSI_INLINE bool bsi_near_singular(const int m, const double condition) {
  return m * 2.220446049250313e-16 * condition >= 1.0;
}
BSI_INLINE bool bsi_near_singular_pivot(const int m, const double norm,
                                        const double smallest_pivot) {
  return smallest_pivot <= m * 2.220446049250313e-16 * norm;
}

#endif
