/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BISAI_EMULATION_DEVICE_RADIX_SORT_CUH
#define BISAI_EMULATION_DEVICE_RADIX_SORT_CUH

#include <numeric>
#include <vector>

#include "cuda_runtime.h"

namespace cub {
struct DeviceRadixSort {
  /* by the bits from `begin` to before `end` of unsigned or nonnegative keys */
  template <typename Key, typename Value>
  static cudaError_t SortPairs(void *room, size_t &bytes, const Key *keys, Key *sorted_keys,
                               const Value *values, Value *sorted_values, int32_t count, int begin,
                               int end, cudaStream_t) {
    bytes = 1;
    if (!room) return cudaSuccess;
    const uint64_t mask = (end < 64 ? uint64_t{1} << end : 0) - (uint64_t{1} << begin);
    std::vector<int32_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [=](int32_t a, int32_t b) {
      return (static_cast<uint64_t>(keys[a]) & mask) < (static_cast<uint64_t>(keys[b]) & mask);
    });
    for (int32_t i = 0; i < count; i++) {
      sorted_keys[i] = keys[order[i]];
      sorted_values[i] = values[order[i]];
    }
    return cudaSuccess;
  }
};
} // namespace cub

#endif
