/* SPDX-License-Identifier: BSD-3-Clause */
/* The values that fp32 represents with all of its digits, compiled for both backends. */
#ifndef BSI_FP32_VALUES_H
#define BSI_FP32_VALUES_H

#include <math.h>

#include "core/block/block_math.h"

/* The magnitudes of these values. They are far from those at which fp32 loses digits or
 * overflows, also as the magnitudes of D⁻¹ in products with vectors in fp32. */
#define BSI_FP32_LEAST 0x1p-100
#define BSI_FP32_MOST 0x1p60

/* Returns true if fp32 represents a value with all of its digits. Zero is such a value. With
 * `small`, every small value counts as one: fp32 represents it up to 2⁻¹⁵⁰. */
BSI_INLINE bool bsi_fits_fp32(double value, bool small) {
  const double magnitude = fabs(value);
  return value == 0.0 || (magnitude <= BSI_FP32_MOST && (small || magnitude >= BSI_FP32_LEAST));
}

#endif
