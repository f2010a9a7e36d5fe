/* SPDX-License-Identifier: BSD-3-Clause */
/* Several stored values at once, widened to fp64 in registers, for the host. Compilers widen a
 * block into memory otherwise. Its columns are then read before the stores that they straddle are
 * done, which takes longer than the arithmetic. Initialisers of vectors become one conversion with
 * GCC, and __builtin_convertvector() becomes several. */
#ifndef BSI_VALUE_QUADS_H
#define BSI_VALUE_QUADS_H

#include "core/block/column.h"
#include "core/block/values.h"

typedef float bsi_quad_fp32 __attribute__((vector_size(16)));
typedef uint32_t bsi_quad_u32 __attribute__((vector_size(16)));
typedef uint64_t bsi_quad_u64 __attribute__((vector_size(32)));

/* The first values of an array as the initialiser of a vector. */
#define BSI_TWO_OF(p)                                                                              \
  { (p)[0], (p)[1] }
#define BSI_FOUR_OF(p)                                                                             \
  { (p)[0], (p)[1], (p)[2], (p)[3] }

/* *to ← values i … i + 3: those of bsi_value_load(). A result would have another ABI with AVX. */
BSI_INLINE void bsi_quad_load(const bisai_value_type type, const void *values, const size_t i,
                              bsi_quad *to) {
  const float *const single = (const float *)values + i;
  const uint16_t *const narrow = (const uint16_t *)values + i;
  const uint32_t *const half = (const uint32_t *)values + i;
  bsi_quad_fp32 wide;
  switch (type) {
  case BISAI_FP32: *to = (bsi_quad)BSI_FOUR_OF(single); break;
  case BISAI_BF16:
    wide = (bsi_quad_fp32)((bsi_quad_u32)BSI_FOUR_OF(narrow) << 16);
    *to = (bsi_quad)BSI_FOUR_OF(wide);
    break;
  case BISAI_FP11_4: *to = (bsi_quad)((bsi_quad_u64)BSI_FOUR_OF(narrow) << 48); break;
  case BISAI_FP11_20: *to = (bsi_quad)((bsi_quad_u64)BSI_FOUR_OF(half) << 32); break;
  case BISAI_FP16:
#ifdef __F16C__
    wide = (bsi_quad_fp32)_mm_cvtph_ps(_mm_loadl_epi64((const void *)narrow));
    *to = (bsi_quad)BSI_FOUR_OF(wide);
#else
    for (int k = 0; k < 4; k++) (*to)[k] = bsi_value_load(type, values, i + (size_t)k);
#endif
    break;
  default: *to = *(const bsi_quad *)((const double *)values + i);
  }
}

/* *to ← values i and i + 1: those of bsi_value_load(). */
BSI_INLINE void bsi_pair_load(const bisai_value_type type, const void *values, const size_t i,
                              bsi_pair *to) {
  const float *const single = (const float *)values + i;
  if (type == BISAI_FP64)
    *to = *(const bsi_pair *)((const double *)values + i);
  else if (type == BISAI_FP32)
    *to = (bsi_pair)BSI_TWO_OF(single);
  else
    *to = (bsi_pair){bsi_value_load(type, values, i), bsi_value_load(type, values, i + 1)};
}

/* s ← the bs values from value i on */
BSI_INLINE void bsi_column_widen(const int bs, const bisai_value_type type, bsi_column *s,
                                 const void *values, const size_t i) {
  if (!BSI_COLUMN_VECTORS(bs)) {
    for (int r = 0; r < bs; r++) s->rows[r] = bsi_value_load(type, values, i + (size_t)r);
    return;
  }
  if (bs >= 4) bsi_quad_load(type, values, i, &s->quad[0]);
  if (bs >= 8) bsi_quad_load(type, values, i + 4, &s->quad[1]);
  if (bs % 4 >= 2) bsi_pair_load(type, values, i + (size_t)(bs / 4 * 4), &s->pair);
  if (bs % 2 == 1) s->single = bsi_value_load(type, values, i + (size_t)(bs - 1));
}

#endif
