/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with the decompositions of a group by a warp: equations in bjacobi/bjacobi.h. For
 * apply_cuda.cu only. */
#ifndef BSI_APPLY_SOLVES_CUDA_CUH
#define BSI_APPLY_SOLVES_CUDA_CUH

#include "bjacobi/apply_place_cuda.cuh"

namespace {

/* Solves with L∖U for y, which is in the order of the pivots.
 * FORMAT: the format of the values.
 * M: the rows of every block, which are then loaded once; 0: any, and L and U are loaded one after
 *   the other.
 * VECTORS: right-hand sides. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__device__ __forceinline__ void solve_lu(const place &l, const char *values, int lane,
                                         double (&y)[VECTORS]) {
  constexpr int ahead = M > 0 ? M : static_cast<int>(AHEAD);
  const int width = l.width;
  double e[ahead];
  for (int c = 0; c < width; c += ahead) {
    load_ahead<FORMAT>(l, values, lane, c, 0, M > 0 ? l.m : min(l.m, l.in_block), e);
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      if (c + k >= width) break;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double top = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (c + k < l.m && l.in_block > c + k) y[v] = fma(-e[k], top, y[v]);
      }
    }
  }
  for (int c = (width - 1) / ahead * ahead; c >= 0; c -= ahead) {
    if (M == 0) load_ahead<FORMAT>(l, values, lane, c, l.in_block, l.m, e);
#pragma unroll
    for (int k = ahead - 1; k >= 0; k--) {
      if (c + k >= width) continue;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        if (c + k < l.m && l.in_block == c + k) y[v] *= e[k];
        const double bottom = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (c + k < l.m && l.in_block < c + k) y[v] = fma(-e[k], bottom, y[v]);
      }
    }
  }
}

/* Returns, in lane k of a block, the sum over the block's lanes 0 … k. */
__device__ __forceinline__ double sum_up(const place &l, int k, double value) {
#pragma unroll
  for (int step = 1; step < BSI_WARP; step *= 2) {
    if (step > k) break;
    const double other = __shfl_up_sync(BSI_FULL_WARP, value, step);
    if (l.in_block >= step) value += other;
  }
  return value;
}

/* Solves with a Gauss–Huard decomposition. In step k each lane j < k has y_j and the value of row k
 * in column j. Template parameters: as those of solve_lu(). If M > 0 the values are loaded once and
 * the rows are read from shared memory. */
template <bisai_value_type FORMAT, int M, int VECTORS>
__device__ __forceinline__ void solve_gauss_huard(const place &l, bool transposed,
                                                  const char *values, int lane,
                                                  double (&y)[VECTORS]) {
  constexpr int ahead = M > 0 ? M : static_cast<int>(AHEAD);
  __shared__ double tiles[M > 0 ? WARPS : 1][ahead][BSI_WARP + 1];
  double(*const tile)[BSI_WARP + 1] = tiles[M > 0 ? threadIdx.x / BSI_WARP : 0];
  const int mirrored = l.base + l.m - 1 - l.in_block;
  for (int c = 0; c < l.width; c += ahead) {
    double left[ahead], above[ahead];
    load_ahead<FORMAT>(l, values, lane, c, M > 0 ? 0 : l.in_block, l.m, above);
    if constexpr (M > 0) {
#pragma unroll
      for (int k = 0; k < M; k++) tile[k][lane] = above[k];
      __syncwarp();
    }
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      left[k] = 0.0;
      if (c + k >= l.m || l.in_block >= c + k) continue;
      const int column = transposed ? l.m - 1 - c - k : l.in_block,
                row = transposed ? mirrored : l.base + c + k;
      left[k] = M > 0 ? tile[column][row] : value_of<FORMAT>(values, column * l.height + row);
    }
#pragma unroll
    for (int k = 0; k < ahead; k++) {
      if (c + k >= l.width) break;
      const bool step = c + k < l.m;
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const double sum = sum_up(l, c + k, step && l.in_block < c + k ? left[k] * y[v] : 0.0);
        if (step && l.in_block == c + k) y[v] = (y[v] - sum) * above[k];
        const double done = __shfl_sync(BSI_FULL_WARP, y[v], (l.base + c + k) % BSI_WARP);
        if (step && l.in_block < c + k) y[v] = fma(-above[k], done, y[v]);
      }
    }
  }
}

} // namespace

#endif
