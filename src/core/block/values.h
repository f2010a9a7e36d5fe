/* SPDX-License-Identifier: BSD-3-Clause */
/* Stored values, (exponent bits, mantissa bits): fp64 (11, 52), fp32 (8, 23), fp16 (5, 10), bf16
 * (8, 7), and the upper halves and quarters of doubles (11, 20) and (11, 4). Narrowing rounds once,
 * from fp64 to nearest even, on hosts and devices alike. Bytes and mantissas are in the list of
 * <bisai/bcsr.h>. A new format needs a line there and a case in the functions below that store and
 * load. */
#ifndef BSI_VALUES_H
#define BSI_VALUES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__F16C__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "core/block/block_math.h"

/* A function that CUDA also evaluates at compile time. */
#ifdef __cplusplus
#define BSI_CONSTEXPR constexpr
#else
#define BSI_CONSTEXPR
#endif

/* Returns the bytes of a stored value. */
BSI_CONSTEXPR BSI_INLINE size_t bsi_value_bytes(const bisai_value_type type) {
  switch (type) {
#define BSI_BYTES(enumerator, word, bytes, mantissa)                                               \
  case enumerator: return bytes;
    BISAI_VALUE_TYPE_LIST(BSI_BYTES)
#undef BSI_BYTES
  }
  return 0;
}

/* Returns the alignment that a device needs of the values of a matrix: it loads blocks in words of
 * up to 16 bytes. */
BSI_INLINE size_t bsi_block_alignment(const bisai_value_type type, const int block_size) {
  const size_t bytes = (size_t)block_size * (size_t)block_size * bsi_value_bytes(type);
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
}

/* Returns the largest relative rounding error of a value within the format's normal range:
 * 2^−(mantissa + 1). */
BSI_INLINE double bsi_value_roundoff(const bisai_value_type type) {
  switch (type) {
#define BSI_ROUNDOFF(enumerator, word, bytes, mantissa)                                            \
  case enumerator: return 0.5 / (double)(UINT64_C(1) << (mantissa));
    BISAI_VALUE_TYPE_LIST(BSI_ROUNDOFF)
#undef BSI_ROUNDOFF
  }
  return 0.0;
}

/* Returns true if matrices hold values of this type. */
BSI_INLINE bool bsi_is_matrix_type(const bisai_value_type type) {
  switch (type) {
#define BSI_MATRIX_TYPE(enumerator, word, bytes, mantissa) case enumerator:
    BISAI_MATRIX_TYPE_LIST(BSI_MATRIX_TYPE)
#undef BSI_MATRIX_TYPE
    return true;
  default: return false;
  }
}

/* Returns the upper `bits` bits of a finite double, rounded; those of infinity if it becomes too
 * large. */
BSI_INLINE uint64_t bsi_upper_bits(double x, const int bits) {
  uint64_t all;
  memcpy(&all, &x, sizeof all);
  const int drop = 64 - bits;
  all += ((UINT64_C(1) << (drop - 1)) - 1) + ((all >> drop) & 1u);
  return all >> drop;
}

BSI_INLINE double bsi_from_upper_bits(uint64_t upper, const int bits) {
  const uint64_t all = upper << (64 - bits);
  double value;
  memcpy(&value, &all, sizeof value);
  return value;
}

/* Returns infinity and NaN as such. */
BSI_INLINE double bsi_fp16_decode(uint16_t h) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(h));
  return (double)value;
#elif defined(__F16C__) && !defined(__CUDACC__)
  return (double)_cvtsh_ss(h);
#else
  const uint32_t magnitude = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
  /* This avoids fp32's subnormals, which take processors a hundred times as long. */
  const float subnormal = (float)(int32_t)magnitude * 0x1p-24f;
  uint32_t bits = (magnitude << 13) + (112u << 23), low;
  memcpy(&low, &subnormal, sizeof low);
  /* One comparison finds the usual, normal numbers. */
  if (magnitude - 0x400u >= 0x7800u) bits = magnitude < 0x400u ? low : bits | 0x7f800000u;
  bits |= sign;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
#endif
}

BSI_INLINE double bsi_bf16_decode(uint16_t h) {
  const uint32_t bits = (uint32_t)h << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

/* Returns sign, exponent and `mantissa` bits of a finite x. `lowest` is the exponent of the
 * smallest normal number. A value that is too large gives the bits of infinity or larger ones. */
BSI_INLINE uint32_t bsi_encode16(double x, const int mantissa, const int lowest) {
  const double magnitude = fabs(x);
  const uint32_t sign = signbit(x) ? 0x8000u : 0u;
  /* a multiple of the smallest subnormal; the addition rounds it */
  if (magnitude < ldexp(1.0, lowest)) {
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

/* Stores a finite x. Returns false if it does not fit; infinity is stored then. */
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
  if (type == BISAI_FP11_20) {
    const uint32_t upper = (uint32_t)bsi_upper_bits(x, 32);
    ((uint32_t *)values)[i] = upper;
    return (upper & 0x7fffffffu) < 0x7ff00000u;
  }
  if (type == BISAI_FP11_4) {
    const uint16_t upper = (uint16_t)bsi_upper_bits(x, 16);
    ((uint16_t *)values)[i] = upper;
    return (upper & 0x7fffu) < 0x7ff0u;
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
  case BISAI_FP11_4: return bsi_from_upper_bits(((const uint16_t *)values)[i], 16);
  case BISAI_FP11_20: return bsi_from_upper_bits(((const uint32_t *)values)[i], 32);
  default: return ((const double *)values)[i];
  }
}

/* Returns true if a stored value is neither NaN nor infinite. */
BSI_INLINE bool bsi_value_finite(const bisai_value_type type, const void *values, size_t i) {
  switch (type) {
  case BISAI_FP32: return isfinite(((const float *)values)[i]);
  case BISAI_FP16: return (((const uint16_t *)values)[i] & 0x7c00u) != 0x7c00u;
  case BISAI_BF16: return (((const uint16_t *)values)[i] & 0x7f80u) != 0x7f80u;
  case BISAI_FP11_4: return (((const uint16_t *)values)[i] & 0x7ff0u) != 0x7ff0u;
  case BISAI_FP11_20: return (((const uint32_t *)values)[i] & 0x7ff00000u) != 0x7ff00000u;
  default: return isfinite(((const double *)values)[i]);
  }
}

/* Returns x after a round trip through the storage type. *fits ← true if it fits; otherwise
 * infinity is returned. */
BSI_INLINE double bsi_value_round(const bisai_value_type type, double x, bool *fits) {
  uint64_t place = 0;
  *fits = bsi_value_store(type, x, &place, 0);
  return bsi_value_load(type, &place, 0);
}

/* Returns `count` values from index `first` on as fp64: in place if they are fp64, otherwise
 * widened into `buffer`. */
BSI_INLINE const double *bsi_values_widen(const bisai_value_type type, const void *values,
                                          size_t first, const int count, double *buffer) {
  if (type == BISAI_FP64) return (const double *)values + first;
  for (int i = 0; i < count; i++) buffer[i] = bsi_value_load(type, values, first + (size_t)i);
  return buffer;
}

#endif
