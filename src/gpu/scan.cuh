/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans of arrays. Without `room` a call only sets *bytes to the room that it needs, which depends
 * on the types and on `count` alone. A failure is reported as one of `what`. */
#ifndef BSI_SCAN_CUH
#define BSI_SCAN_CUH

#include <cub/device/device_scan.cuh>

#include "gpu/runtime.cuh"

/* to[i] ← from[0] + … + from[i] */
template <typename From, typename To>
static inline bisai_status bsi_gpu_inclusive_sum(bisai_context *context, const char *what,
                                                 void *room, size_t *bytes, From *from, To *to,
                                                 int32_t count) {
  return bsi_gpu_status(
      context, what,
      cub::DeviceScan::InclusiveSum(room, *bytes, from, to, count, bsi_stream_of(context)));
}

/* to[i] ← from[0] + … + from[i − 1] */
template <typename From, typename To>
static inline bisai_status bsi_gpu_exclusive_sum(bisai_context *context, const char *what,
                                                 void *room, size_t *bytes, From *from, To *to,
                                                 int32_t count) {
  return bsi_gpu_status(
      context, what,
      cub::DeviceScan::ExclusiveSum(room, *bytes, from, to, count, bsi_stream_of(context)));
}

struct bsi_gpu_larger {
  template <typename T> __device__ T operator()(T a, T b) const { return max(a, b); }
};

/* to[i] ← the largest of from[0], …, from[i] */
template <typename T>
static inline bisai_status bsi_gpu_inclusive_max(bisai_context *context, const char *what,
                                                 void *room, size_t *bytes, T *from, T *to,
                                                 int32_t count) {
  return bsi_gpu_status(context, what,
                        cub::DeviceScan::InclusiveScan(room, *bytes, from, to, bsi_gpu_larger(),
                                                       count, bsi_stream_of(context)));
}

#endif
