/* SPDX-License-Identifier: BSD-3-Clause */
/* What the applications of inverses share: the place of each lane, and loads of values. For
 * apply_cuda.cu and apply_inverses_cuda.cuh only. */
#ifndef BSI_APPLY_PLACE_CUDA_CUH
#define BSI_APPLY_PLACE_CUDA_CUH

#include "bjacobi/apply/apply_job_cuda.cuh"

namespace {

/* Threads of a block in the general kernel: few, because blocks of different sizes take different
 * times. AHEAD: columns whose loads a lane has under way: few, because registers for more would
 * leave room for fewer warps. */
constexpr int THREADS = 64, WARPS = THREADS / BSI_WARP, AHEAD = 4;

/* The row of a group that one lane has. */
struct place {
  /* the scalar row of the matrix */
  int32_t row;
  /* rows of the group, and of the lane's block; m = 0: the lane has no row */
  int32_t height, m;
  /* columns of the group */
  int width;
  /* the first lane of the block, and the row of the block */
  int base, in_block;
};

__device__ __forceinline__ place place_of(const bsi_apply_job &p, int32_t group, int lane) {
  const int64_t begin = static_cast<int64_t>(group) * p.partition.per_group;
  const int32_t top = bsi_start_of(p, begin);
  place l;
  l.row = top + lane;
  l.height = bsi_start_of(p, begin + p.partition.per_group) - top;
  l.base = 0, l.in_block = lane, l.m = l.height, l.width = l.height;
  if (p.partition.per_group > 1) {
    int32_t from = top;
    l.width = 0;
    if (p.partition.uniform) {
      const int sub = lane / p.partition.uniform;
      from = top + sub * p.partition.uniform;
      l.m = min(p.partition.uniform, l.height - sub * p.partition.uniform);
      l.width = min(p.partition.uniform, l.height);
    } else {
      for (int k = 0; k < p.partition.per_group; k++) {
        const int32_t begins = bsi_start_of(p, begin + k), ends = bsi_start_of(p, begin + k + 1);
        l.width = max(l.width, ends - begins);
        if (l.row >= begins && l.row < ends) from = begins, l.m = ends - begins;
      }
    }
    l.base = from - top;
    l.in_block = l.row - from;
  }
  if (lane >= l.height) l.m = 0;
  return l;
}

/* Loads the lane's values of COUNT columns from c on. Of columns outside of from … to − 1 they are
 * zeros. */
template <bisai_value_type FORMAT, int COUNT>
__device__ __forceinline__ void load_ahead(const place &l, const char *values, int lane, int c,
                                           int from, int to, double (&e)[COUNT]) {
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    e[k] =
        c + k >= from && c + k < to ? bsi_value_of<FORMAT>(values, (c + k) * l.height + lane) : 0.0;
}

} // namespace

#endif
