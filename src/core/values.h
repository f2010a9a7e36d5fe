/* Stored values: fp64, fp32, fp16 (5 exponent bits, 10 mantissa bits) and bf16 (8, 7). Narrowing rounds once, from fp64, to
 * nearest even. */
#ifndef BSI_VALUES_H
#define BSI_VALUES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "core/block_math.h"

/* Bytes of a stored value. */
BSI_INLINE size_t bsi_value_bytes(const bisai_value_type type) {
  return type == BISAI_FP64 ? 8 : type == BISAI_FP32 ? 4 : 2;
}

BSI_INLINE double bsi_fp16_decode(uint16_t h) {
  /* fp16 bits moved into fp32 position are off by 2^(127-15) in value, subnormals included. */
  const uint32_t bits = (uint32_t)(h & 0x8000u) << 16 | (uint32_t)(h & 0x7fffu) << 13;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)(value * 0x1p112f);
}

BSI_INLINE double bsi_bf16_decode(uint16_t h) {
  const uint32_t bits = (uint32_t)h << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

/* Sign, exponent and `mantissa` bits of a finite x; `lowest` is the exponent of the smallest normal number. What is too
 * large becomes at least the bits of infinity. */
BSI_INLINE uint32_t bsi_encode16(double x, const int mantissa, const int lowest) {
  const double magnitude = fabs(x);
  const uint32_t sign = signbit(x) ? 0x8000u : 0u;
  if (magnitude < ldexp(1.0, lowest)) { /* a multiple of the smallest subnormal, rounded by the adder */
    const double shifted = magnitude * ldexp(1.0, mantissa - lowest) + 0x1p52;
    return sign | (uint32_t)(shifted - 0x1p52);
  }
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  const int drop = 52 - mantissa;
  bits += ((UINT64_C(1) << (drop - 1)) - 1) + ((bits >> drop) & 1u);
  const int64_t encoded = (int64_t)(bits >> drop) - ((int64_t)(1023 - 1 + lowest) << mantissa);
  const int64_t infinity = (int64_t)(3 - 2 * lowest) << mantissa;
  return sign | (uint32_t)(encoded < infinity ? encoded : infinity);
}

/* Stores a finite x; false where it does not fit (infinity is stored then). */
BSI_INLINE bool bsi_value_store(const bisai_value_type type, double x, void *values, size_t i) {
  if (type == BISAI_FP64) {
    ((double *)values)[i] = x;
    return true;
  }
  if (type == BISAI_FP32) {
    const float narrow = (float)x;
    ((float *)values)[i] = narrow;
    return isfinite(narrow);
  }
  const uint32_t bits = type == BISAI_FP16 ? bsi_encode16(x, 10, -14) : bsi_encode16(x, 7, -126);
  ((uint16_t *)values)[i] = (uint16_t)bits;
  return (bits & 0x7fffu) < (type == BISAI_FP16 ? 0x7c00u : 0x7f80u);
}

BSI_INLINE double bsi_value_load(const bisai_value_type type, const void *values, size_t i) {
  switch (type) {
  case BISAI_FP32: return (double)((const float *)values)[i];
  case BISAI_FP16: return bsi_fp16_decode(((const uint16_t *)values)[i]);
  case BISAI_BF16: return bsi_bf16_decode(((const uint16_t *)values)[i]);
  default: return ((const double *)values)[i];
  }
}

/* Whether a stored value is neither NaN nor infinite. */
BSI_INLINE bool bsi_value_finite(const bisai_value_type type, const void *values, size_t i) {
  switch (type) {
  case BISAI_FP32: return isfinite(((const float *)values)[i]);
  case BISAI_FP16: return (((const uint16_t *)values)[i] & 0x7c00u) != 0x7c00u;
  case BISAI_BF16: return (((const uint16_t *)values)[i] & 0x7f80u) != 0x7f80u;
  default: return isfinite(((const double *)values)[i]);
  }
}

/* `count` values from index `first` on as fp64: in place where they are, otherwise widened into `buffer`. */
BSI_INLINE const double *bsi_values_widen(const bisai_value_type type, const void *values, size_t first,
                                          const int count, double *buffer) {
  if (type == BISAI_FP64) return (const double *)values + first;
  for (int i = 0; i < count; i++) buffer[i] = bsi_value_load(type, values, first + (size_t)i);
  return buffer;
}

#endif
