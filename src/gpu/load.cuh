/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of consecutive values in words as wide as their address allows. The values are widened to
 * fp64. */
#ifndef BSI_LOAD_CUH
#define BSI_LOAD_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bisai/bcsr.h>

#include <cstring>

#include "gpu/runtime.cuh"

using bsi_fp16 = __half;
using bsi_bf16 = __nv_bfloat16;

/* The type of C++ that holds values of matrices of a value type. */
template <bisai_value_type TYPE> struct bsi_stored;
template <> struct bsi_stored<BISAI_FP64> { using type = double; };
template <> struct bsi_stored<BISAI_FP32> { using type = float; };
template <> struct bsi_stored<BISAI_FP16> { using type = bsi_fp16; };
template <> struct bsi_stored<BISAI_BF16> { using type = bsi_bf16; };

namespace {

__device__ __forceinline__ double widen(double value) { return value; }
__device__ __forceinline__ double widen(float value) { return static_cast<double>(value); }
__device__ __forceinline__ double widen(bsi_fp16 value) {
  return static_cast<double>(__half2float(value));
}
__device__ __forceinline__ double widen(bsi_bf16 value) {
  return static_cast<double>(__bfloat162float(value));
}

/* The largest unsigned word that divides BYTES. */
template <int BYTES, int SIZE = BYTES % 16 == 0  ? 16
                                : BYTES % 8 == 0 ? 8
                                : BYTES % 4 == 0 ? 4
                                                 : 2>
struct word;
template <int BYTES> struct word<BYTES, 16> { using type = uint4; };
template <int BYTES> struct word<BYTES, 8> { using type = uint2; };
template <int BYTES> struct word<BYTES, 4> { using type = unsigned; };
template <int BYTES> struct word<BYTES, 2> { using type = unsigned short; };

/* How long loaded values stay in the caches. With `once` they leave the L2 cache first: it cannot
 * hold them together with vectors that are read again. Words of 16 bytes are used by one lane only
 * and do not enter the L1 cache. */
struct passing {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  unsigned long long policy;
  __device__ __forceinline__ explicit passing(bool once) {
    if (once)
      asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    else
      asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  }
  __device__ __forceinline__ uint4 load(const uint4 *from) const {
    uint4 w;
    asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
        : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
        : "l"(from), "l"(policy));
    return w;
  }
  __device__ __forceinline__ uint2 load(const uint2 *from) const {
    uint2 w;
    asm("ld.global.nc.L2::cache_hint.v2.u32 {%0, %1}, [%2], %3;"
        : "=r"(w.x), "=r"(w.y)
        : "l"(from), "l"(policy));
    return w;
  }
  __device__ __forceinline__ unsigned load(const unsigned *from) const {
    unsigned w;
    asm("ld.global.nc.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(w) : "l"(from), "l"(policy));
    return w;
  }
  __device__ __forceinline__ unsigned short load(const unsigned short *from) const {
    unsigned short w;
    asm("ld.global.nc.L2::cache_hint.u16 %0, [%1], %2;" : "=h"(w) : "l"(from), "l"(policy));
    return w;
  }
#else
  __device__ __forceinline__ explicit passing(bool) {}
  template <typename W> __device__ __forceinline__ W load(const W *from) const {
    return sizeof(W) == 16 ? __ldcs(from) : __ldg(from);
  }
#endif
};

/* Loads consecutive values.
 *   T: their type in memory
 *   COUNT: how many
 *   S: the type that they get */
template <typename T, int COUNT, typename S>
__device__ __forceinline__ void load_values(const passing &way, const T *from, S (&column)[COUNT]) {
  using W = typename word<COUNT * sizeof(T)>::type;
  constexpr int WORDS = static_cast<int>(COUNT * sizeof(T) / sizeof(W));
  W words[WORDS];
  T values[COUNT];
#pragma unroll
  for (int i = 0; i < WORDS; i++) words[i] = way.load(reinterpret_cast<const W *>(from) + i);
  memcpy(values, words, sizeof values);
#pragma unroll
  for (int i = 0; i < COUNT; i++) column[i] = static_cast<S>(widen(values[i]));
}

} // namespace

#endif
