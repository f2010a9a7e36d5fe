/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums and extrema over a warp. All lanes of the warp call, and all get the result. */
#ifndef BSI_WARP_CUH
#define BSI_WARP_CUH

#include "gpu/runtime.cuh"

enum { BSI_WARP = 32 };

/* The mask of all lanes of a warp. */
constexpr unsigned BSI_FULL_WARP = 0xffffffffu;

/* The order of the additions is the same in every lane, so that all lanes get the same bits. */
template <typename T> static __device__ __forceinline__ T bsi_warp_sum(T value) {
#pragma unroll
  for (int step = BSI_WARP / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(BSI_FULL_WARP, value, step);
  return value;
}

/* T: int or unsigned. */
template <typename T> static __device__ __forceinline__ T bsi_warp_max(T value) {
  static_assert(sizeof(T) == sizeof(int), "a word of 4 bytes");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
  for (int step = BSI_WARP / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(BSI_FULL_WARP, value, step));
  return value;
#else
  return __reduce_max_sync(BSI_FULL_WARP, value);
#endif
}

static __device__ __forceinline__ int bsi_warp_min(int value) { return ~bsi_warp_max(~value); }

/* The upper half decides; the lower halves of those that have the largest one decide the rest. */
static __device__ __forceinline__ unsigned long long bsi_warp_max(unsigned long long value) {
  const unsigned high = static_cast<unsigned>(value >> 32), highest = bsi_warp_max(high),
                 low = high == highest ? static_cast<unsigned>(value) : 0u;
  return static_cast<unsigned long long>(highest) << 32 | bsi_warp_max(low);
}

/* The largest of magnitudes; NaN if one is NaN. The bits of magnitudes are in the order of their
 * values, and those of NaN are above all. */
static __device__ __forceinline__ double bsi_warp_max_magnitude(double magnitude) {
  const unsigned long long bits =
      bsi_warp_max(static_cast<unsigned long long>(__double_as_longlong(magnitude)));
  return __longlong_as_double(static_cast<long long>(bits));
}

#endif
