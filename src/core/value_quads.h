/* SPDX-License-Identifier: BSD-3-Clause */
/* Four stored values at once, widened to fp64 in registers, for the host. Compilers do not find the
 * conversions of narrow values by themselves. */
#ifndef BSI_VALUE_QUADS_H
#define BSI_VALUE_QUADS_H

#include "core/column.h"
#include "core/values.h"

typedef float bsi_quad_fp32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint16_t bsi_quad_u16 __attribute__((vector_size(8), aligned(2), may_alias));
typedef uint32_t bsi_quad_u32 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint64_t bsi_quad_u64 __attribute__((vector_size(32), aligned(8), may_alias));

/* *to ← values i … i + 3: those of bsi_value_load(). A result would have another ABI with AVX. */
BSI_INLINE void bsi_quad_load(const bisai_value_type type, const void *values, const size_t i,
                              bsi_quad *to) {
  const bsi_quad_u16 *const narrow = (const bsi_quad_u16 *)((const uint16_t *)values + i);
  const bsi_quad_u32 *const half = (const bsi_quad_u32 *)((const uint32_t *)values + i);
  switch (type) {
  case BISAI_FP32: *to = __builtin_convertvector((bsi_quad_fp32)*half, bsi_quad); break;
  case BISAI_BF16:
    *to = __builtin_convertvector(
        (bsi_quad_fp32)(__builtin_convertvector(*narrow, bsi_quad_u32) << 16), bsi_quad);
    break;
  case BISAI_FP11_4: *to = (bsi_quad)(__builtin_convertvector(*narrow, bsi_quad_u64) << 48); break;
  case BISAI_FP11_20: *to = (bsi_quad)(__builtin_convertvector(*half, bsi_quad_u64) << 32); break;
  case BISAI_FP16:
#ifdef __F16C__
    *to = __builtin_convertvector(
        (bsi_quad_fp32)_mm_cvtph_ps(_mm_loadl_epi64((const void *)narrow)), bsi_quad);
#else
    for (int k = 0; k < 4; k++) (*to)[k] = bsi_value_load(type, values, i + (size_t)k);
#endif
    break;
  default: *to = *(const bsi_quad *)((const double *)values + i);
  }
}

#endif
