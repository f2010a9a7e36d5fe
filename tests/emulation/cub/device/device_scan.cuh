/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BISAI_EMULATION_DEVICE_SCAN_CUH
#define BISAI_EMULATION_DEVICE_SCAN_CUH

#include "cuda_runtime.h"

namespace cub {
struct DeviceScan {
  template <typename From, typename To, typename Add>
  static cudaError_t InclusiveScan(void *room, size_t &bytes, const From *from, To *to, Add add,
                                   int32_t count, cudaStream_t) {
    bytes = 1;
    if (!room || count == 0) return cudaSuccess;
    From sum = from[0];
    to[0] = static_cast<To>(sum);
    for (int32_t i = 1; i < count; i++) {
      sum = add(sum, from[i]);
      to[i] = static_cast<To>(sum);
    }
    return cudaSuccess;
  }
  template <typename From, typename To>
  static cudaError_t InclusiveSum(void *room, size_t &bytes, const From *from, To *to,
                                  int32_t count, cudaStream_t stream) {
    const auto add = [](From a, From b) { return static_cast<From>(a + b); };
    return InclusiveScan(room, bytes, from, to, add, count, stream);
  }
  template <typename From, typename To>
  static cudaError_t ExclusiveSum(void *room, size_t &bytes, const From *from, To *to,
                                  int32_t count, cudaStream_t) {
    bytes = 1;
    From sum = 0;
    for (int32_t i = 0; room && i < count; i++) {
      const From next = from[i];
      to[i] = static_cast<To>(sum);
      sum = static_cast<From>(sum + next);
    }
    return cudaSuccess;
  }
};
} // namespace cub

#endif
