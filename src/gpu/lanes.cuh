/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a matrix that are shared by a few lanes of a warp. */
#ifndef BSI_LANES_CUH
#define BSI_LANES_CUH

#include "gpu/launch.cuh"

namespace {

/* A few lanes of a warp, a power of two, share a row. */
struct sharing {
  int32_t rows;
  int lanes;
  /* the lane's number among those of its row */
  __device__ __forceinline__ int member() const { return threadIdx.x & (lanes - 1); }
};

/* The largest of the values of the lanes of a row. All lanes of the warp call. */
template <typename T> __device__ __forceinline__ T largest_of_lanes(const sharing &s, T value) {
  for (int step = s.lanes / 2; step > 0; step /= 2)
    value = max(value, __shfl_xor_sync(BSI_FULL_WARP, value, step));
  return value;
}

/* The sum of the values of the lanes of a row. All lanes of the warp call. */
template <typename T> __device__ __forceinline__ T sum_of_lanes(const sharing &s, T value) {
  for (int step = s.lanes / 2; step > 0; step /= 2)
    value += __shfl_xor_sync(BSI_FULL_WARP, value, step);
  return value;
}

/* Returns the lanes for rows of `mean` blocks: the first power of two from `mean`/`each` on. */
int lanes_for(int64_t mean, int each) {
  int lanes = 1;
  while (lanes < BSI_WARP && static_cast<int64_t>(lanes) * each < mean) lanes *= 2;
  return lanes;
}

/* The mean number of blocks of a row, rounded up. */
int64_t mean_length(int64_t rows, int64_t blocks) { return (blocks + rows - 1) / rows; }

/* The blocks of a row that a thread takes: begin, begin + lanes, … None beyond the last row. */
struct part_of_row {
  int32_t row, begin, end;
  bool inside;
};

__device__ __forceinline__ part_of_row part_of(const sharing &s, const int32_t *row_ptr,
                                               int64_t i) {
  part_of_row part = {.row = static_cast<int32_t>(i), .inside = i < s.rows};
  if (part.inside) {
    part.begin = __ldg(row_ptr + i) + s.member();
    part.end = __ldg(row_ptr + i + 1);
  }
  return part;
}

} // namespace

#endif
