/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of several values of a column at once, for inverses of one size in any formats. For
 * apply_rows_cuda.cu and apply_vectors_cuda.cu only. */
#ifndef BSI_APPLY_STORED_CUDA_CUH
#define BSI_APPLY_STORED_CUDA_CUH

#include "bjacobi/apply/apply_job_cuda.cuh"

namespace {

/* Bits in pieces of 1, 2, 4, 8 or 16 bytes that one instruction loads. */
template <int BYTES> struct piece;
template <> struct piece<2> { using type = uint16_t; };
template <> struct piece<4> { using type = uint32_t; };
template <> struct piece<8> { using type = uint2; };
template <> struct piece<16> { using type = uint4; };

template <bool SHARED, typename T> __device__ __forceinline__ T load_once(const T *from) {
  return SHARED ? __ldg(from) : __ldcs(from);
}

/* COUNT values of BYTES bytes, as they are stored.
 * SHARED: columns do not begin and end with sectors of 32 bytes. The next column then has a part of
 * the same sector, which the first-level cache is to keep. */
template <int BYTES, int COUNT, bool SHARED = false> struct stored {
  static constexpr int together = COUNT % 2 == 0 ? BYTES * COUNT : BYTES;
  static constexpr int bytes = together < 16 ? together : 16;
  static constexpr int pieces = BYTES * COUNT / bytes;
  static constexpr int registers = pieces * (bytes < 4 ? 1 : bytes / 4);
  typename piece<bytes>::type part[pieces];
  /* Loads values side by side, from a multiple of `bytes` on, past the first-level cache if their
   * sectors are not read again. */
  __device__ __forceinline__ void load(const char *from) {
#pragma unroll
    for (int k = 0; k < pieces; k++)
      part[k] = load_once<SHARED>(reinterpret_cast<const typename piece<bytes>::type *>(from) + k);
  }
};

/* Returns value r of values that are stored as `bits`. A value of (11, 20) bits is the upper half
 * of a double. The product by a 1 that the compiler does not know keeps it from being loaded into
 * one, where it would take two registers until it is used. */
template <bisai_value_type FORMAT>
__device__ __forceinline__ double decoded(const void *bits, int r) {
  if constexpr (FORMAT == BISAI_FP11_20) {
    const uint32_t upper = static_cast<const uint32_t *>(bits)[r] * blockDim.z;
    return bsi_value_load(FORMAT, &upper, 0);
  } else {
    return bsi_value_load(FORMAT, bits, static_cast<size_t>(r));
  }
}

/* Of OF columns, those that a lane has under way in REGISTERS registers with EACH for a column:
 * all, or an even number. */
template <int REGISTERS, int EACH, int OF>
constexpr int columns_ahead = REGISTERS / EACH >= OF ? OF : REGISTERS / EACH / 2 * 2;

/* Values that a lane has under way where their format is not known to the compiler. */
constexpr int BATCH = 4;

/* Loads the bits of every `step`-th of at most BATCH of `count` values from index `at` on. */
__device__ __forceinline__ void load_bits(const char *values, bisai_value_type format, int at,
                                          int step, int count, uint64_t (&bits)[BATCH]) {
  const size_t bytes = bsi_value_bytes(format);
#pragma unroll
  for (int c = 0; c < BATCH; c++, at += step) {
    if (c >= count) continue;
    if (bytes == 2) bits[c] = reinterpret_cast<const uint16_t *>(values)[at];
    if (bytes == 4) bits[c] = reinterpret_cast<const uint32_t *>(values)[at];
    if (bytes == 8) bits[c] = reinterpret_cast<const uint64_t *>(values)[at];
  }
}

} // namespace

#endif
