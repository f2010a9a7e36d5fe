/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of small matrices by a warp, on the tensor cores of devices that have them for fp64. */
#ifndef BSI_GPU_PRODUCT_CUH
#define BSI_GPU_PRODUCT_CUH

#include "gpu/runtime.cuh"
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
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
               : "=d"(d[0]), "=d"(d[1])
               : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
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
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
               : "=d"(d0[0]), "=d"(d0[1]), "=d"(d1[0]), "=d"(d1[1])
               : "d"(a0), "d"(a1), "d"(b), "d"(c0[0]), "d"(c0[1]), "d"(c1[0]), "d"(c1[1]));
#endif
}

#endif
