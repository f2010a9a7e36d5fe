/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of small matrices by a warp, on the tensor cores of devices that have them for fp64. */
#ifndef BSI_PRODUCT_CUH
#define BSI_PRODUCT_CUH

#include "gpu/ptx.cuh"
#include "gpu/warp.cuh"

/* d ← c + a b for c of 8 × 8 values, a of 8 × 4 and b of 4 × 8. Lane i has the columns 2 (i mod 4)
 * and 2 (i mod 4) + 1 of row i / 4 of c, column i mod 4 of row i / 4 of a, and row i mod 4 of
 * column i / 4 of b. All lanes of the warp call. */
static __device__ __forceinline__ void bsi_add_product(double a, double b, const double (&c)[2],
                                                       double (&d)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  const int lane = threadIdx.x % BSI_WARP, row = lane & ~3, column = lane % 4 * 8;
  double sum[2] = {c[0], c[1]};
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const double left = __shfl_sync(BSI_FULL_WARP, a, row + k);
    sum[0] = fma(left, __shfl_sync(BSI_FULL_WARP, b, column + k), sum[0]);
    sum[1] = fma(left, __shfl_sync(BSI_FULL_WARP, b, column + 4 + k), sum[1]);
  }
  d[0] = sum[0], d[1] = sum[1];
#else
  bsi_multiply_8_8_4(a, b, c, d);
#endif
}

/* The same for two products with the same b, by one instruction where the device has it. */
static __device__ __forceinline__ void bsi_add_products(double a0, double a1, double b,
                                                        const double (&c0)[2],
                                                        const double (&c1)[2], double (&d0)[2],
                                                        double (&d1)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  bsi_add_product(a0, b, c0, d0);
  bsi_add_product(a1, b, c1, d1);
#else
  bsi_multiply_16_8_4(a0, a1, b, c0, c1, d0, d1);
#endif
}

#endif
