/* SPDX-License-Identifier: BSD-3-Clause */
/* Stable sorts. */
#ifndef BSI_SORT_CUH
#define BSI_SORT_CUH

#include <cub/device/device_radix_sort.cuh>

#include "gpu/runtime.cuh"

/* Sorts pairs by the lowest `bits` bits of their keys. Without `room` the call only sets *bytes to
 * the room that it needs, which depends on the types and on `count` alone. A failure is reported as
 * one of `what`. */
template <typename Key, typename Value>
static inline bisai_status bsi_gpu_sort_pairs(bisai_context *context, const char *what, void *room,
                                              size_t *bytes, const Key *keys, Key *sorted_keys,
                                              const Value *values, Value *sorted_values,
                                              int32_t count, int bits) {
  return bsi_gpu_status(context, what,
                        cub::DeviceRadixSort::SortPairs(room, *bytes, keys, sorted_keys, values,
                                                        sorted_values, count, 0, bits,
                                                        bsi_stream_of(context)));
}

/* The bits of the numbers 0 … n − 1. */
static inline int bsi_bits_below(int32_t n) {
  int bits = 1;
  while (bits < 31 && n > 1 << bits) bits++;
  return bits;
}

#endif
