/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms and largest magnitudes of vectors. Their scaling is compiled for the host and for CUDA. */
#ifndef BSI_NORMS_H
#define BSI_NORMS_H

#include <math.h>

#include "core/block/column.h"
#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

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

bsi_compute_norms bsi_norms_host, bsi_norms_cuda;

/* bsi_vector_ops::norms_bytes and the functions for records of a device. */
enum { BSI_NORMS_BYTES = BSI_NORMS * 3 * (int)sizeof(uint64_t) };
bisai_status bsi_record_norms_cuda(bisai_context *context, int count, int64_t n,
                                   const double *const *x, void *record);
void bsi_read_norms_cuda(const void *record, int count, double *norms);

bsi_find_largest bsi_largest_host, bsi_largest_cuda;

#ifdef __cplusplus
}
#endif

#endif
