/* SPDX-License-Identifier: BSD-3-Clause */
/* Pivots of a dense matrix: how candidates are compared, and what is reported of those that were
 * taken. For the files in multigrid/coarse only. */
#ifndef BSI_PIVOTS_CUDA_CUH
#define BSI_PIVOTS_CUDA_CUH

#include "gpu/warp.cuh"

namespace {

/* Reported to the host. `smallest` becomes 0 at a failure of panels, and all later work ends then.
 * `error` has the bits of the largest error of an inverse by tiles. The elimination of tiles counts
 * in the last two. */
struct pivot_record {
  double smallest, largest;
  unsigned long long error;
  unsigned inverted, updated;
};

/* A candidate for a pivot: the bits of its magnitude, and its row. Larger magnitudes come first,
 * NaN before all, and then smaller rows. */
struct alignas(16) candidate {
  unsigned long long magnitude;
  int row;
};

__device__ __forceinline__ bool comes_before(candidate one, candidate other) {
  return one.magnitude > other.magnitude ||
         (one.magnitude == other.magnitude && one.row < other.row);
}

/* Returns the first candidate of a warp. */
__device__ __forceinline__ candidate first_of_warp(candidate mine) {
  const unsigned long long magnitude = bsi_warp_max(mine.magnitude);
  const int row = bsi_warp_min(mine.magnitude == magnitude ? mine.row : INT32_MAX);
  return {magnitude, row};
}

__device__ __forceinline__ unsigned long long magnitude_of(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(fabs(value)));
}

__device__ __forceinline__ double value_of(unsigned long long magnitude) {
  return __longlong_as_double(static_cast<long long>(magnitude));
}

} // namespace

#endif
