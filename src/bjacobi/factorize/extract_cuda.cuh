/* SPDX-License-Identifier: BSD-3-Clause */
/* Extraction of blocks from the matrix into the tile, by a lane for each row or by all lanes of the
 * sub-warp row after row (Anzt, Dongarra, Flegar, Quintana-Ortí 2017, section 3.3). The rows of the
 * matrix are sorted, and both begin where the block does. For *_cuda.cu only. */
#ifndef BSI_EXTRACT_CUDA_CUH
#define BSI_EXTRACT_CUDA_CUH

#include "bjacobi/factorize/lanes_cuda.cuh"
#include "core/matrix/search.h"
#include "gpu/pipeline.cuh"
#include "gpu/read_only.cuh"

/* Returns the first of the blocks first … end − 1 of a row whose column is at least `wanted`. In a
 * batch of blocks that is stored as a matrix this is the first one of the row, which is tried
 * before a search. Loads of the columns must not wait for stores to the tile, or extraction takes
 * much longer. */
static __device__ __forceinline__ int32_t bsi_first_reaching(const bsi_values_job &p, int32_t first,
                                                             int32_t end, int32_t wanted) {
  if (first < end && __ldg(p.matrix.col_idx + first) >= wanted) return first;
  return bsi_lower_bound(bsi_read_only<int32_t>{p.matrix.col_idx}, first, end, wanted);
}

/* Copies row `own` of the lane's block from the matrix's entries from q on. */
static __device__ __forceinline__ void bsi_extract_row(const bsi_values_job &p, const bsi_lane &l,
                                                       int own, int32_t q, double *tile) {
  const int32_t end = l.start + l.w.m, row = l.start + own, i = row / p.matrix.block_size,
                r = row - i * p.matrix.block_size, last = __ldg(p.matrix.row_ptr + i + 1);
  double *const to = tile + l.tile + own;
#pragma unroll 1
  for (int c = 0; c < l.w.m; c++) to[c * l.ld] = 0.0;
#pragma unroll 1
  for (; q < last; q++) {
    const int32_t left = __ldg(p.matrix.col_idx + q) * p.matrix.block_size;
    if (left >= end) break;
    const double *values =
        p.matrix.values + static_cast<int64_t>(q) * p.matrix.block_size * p.matrix.block_size + r;
#pragma unroll 1
    for (int c = 0; c < p.matrix.block_size; c++)
      if (left + c >= l.start && left + c < end)
        to[(left + c - l.start) * l.ld] = __ldg(values + c * p.matrix.block_size);
  }
}

/* The first entry of a row that reaches the block; whole: the matrix is scalar and stores all
 * entries of the row in the block, which then lie side by side. */
struct bsi_row_place {
  int32_t low;
  bool whole;
};

/* Returns the place of the lane's block in a row whose blocks are begin … end − 1. The columns of
 * the first entry and of the one that is the block's last, if the row begins where the block does,
 * are loaded together. */
static __device__ __forceinline__ bsi_row_place bsi_place_in_row(const bsi_values_job &p,
                                                                 const bsi_lane &l, int32_t begin,
                                                                 int32_t end) {
  const int32_t wanted = l.start / p.matrix.block_size, size = l.w.m - 1;
  if (p.matrix.block_size > 1) return {bsi_first_reaching(p, begin, end, wanted), false};
  int32_t last = begin + size < end ? __ldg(p.matrix.col_idx + begin + size) : -1;
  const int32_t low = bsi_first_reaching(p, begin, end, wanted);
  if (low != begin) last = low + size < end ? __ldg(p.matrix.col_idx + low + size) : -1;
  return {low, last == wanted + size};
}

/* Returns the place of row `own` of the lane's block. */
static __device__ __forceinline__ bsi_row_place bsi_place_of_row(const bsi_values_job &p,
                                                                 const bsi_lane &l, int own) {
  const int32_t i = (l.start + own) / p.matrix.block_size;
  return bsi_place_in_row(p, l, __ldg(p.matrix.row_ptr + i), __ldg(p.matrix.row_ptr + i + 1));
}

/* Extracts blocks into the tile, a row by each lane, or where all rows of a sub-warp are whole, by
 * all its lanes row after row. */
static __device__ __forceinline__ void bsi_extract_row_per_lane(const bsi_values_job &p,
                                                                const bsi_lane &l, double *tile) {
  const unsigned lanes = bsi_lanes_mask(l.w.base, l.w.lanes);
#pragma unroll 1
  for (int top = 0; top < l.w.max_rows; top += l.w.lanes) {
    const int own = top + l.w.row;
    const bool mine = own < l.w.m;
    bsi_row_place at = {0, false};
    if (mine) at = bsi_place_of_row(p, l, own);
    const bool together = (__ballot_sync(BSI_FULL_WARP, mine && !at.whole) & lanes) == 0;
#pragma unroll 1
    for (int k = 0; k < l.w.lanes; k++) {
      const int32_t from = __shfl_sync(BSI_FULL_WARP, at.low, (l.w.base + k) % BSI_WARP);
      if (!together || top + k >= l.w.m) continue;
      double *const to = tile + l.tile + top + k;
#pragma unroll 1
      for (int c = l.w.row; c < l.w.m; c += l.w.lanes)
        bsi_copy_ahead(to + c * l.ld, p.matrix.values + from + c, sizeof *to);
    }
    if (mine && !together) bsi_extract_row(p, l, own, at.low, tile);
  }
  bsi_commit_copies();
  bsi_wait_for_copies();
}

/* The same for one block of the whole warp, after bsi_fetch_rows(). */
static __device__ __forceinline__ void bsi_extract_row_per_lane_of_warp(const bsi_values_job &p,
                                                                        const bsi_lane &l,
                                                                        double *tile) {
  const int lane = threadIdx.x % BSI_WARP;
  const bool mine = lane < l.w.m;
  bsi_row_place at = {0, true};
  if (mine) at = bsi_place_in_row(p, l, l.row_begin, l.row_end);
  if (__any_sync(BSI_FULL_WARP, !at.whole)) {
    if (mine) bsi_extract_row(p, l, lane, at.low, tile);
    return;
  }
  double *to = tile + l.tile + lane * l.ld;
#pragma unroll 4
  for (int k = 0; k < l.w.max_rows; k++, to++) {
    const int32_t from = __shfl_sync(BSI_FULL_WARP, at.low, k) + lane;
    if (mine) bsi_copy_ahead(to, p.matrix.values + from, sizeof *to);
  }
  bsi_commit_copies();
  bsi_wait_for_copies();
}

/* Extracts blocks into the tile, each row by all lanes of the sub-warp. */
static __device__ __forceinline__ void bsi_extract_by_sub_warp(const bsi_values_job &p,
                                                               const bsi_lane &l, double *tile) {
  const int32_t end = l.start + l.w.m;
  const int working = min(l.w.m, l.w.lanes); /* the number of lanes that copy */
  /* Each lane finds the bounds of a row, for as many rows at a time as there are lanes. */
#pragma unroll 1
  for (int top = 0; top < l.w.max_rows; top += l.w.lanes) {
    const int32_t own = top + l.w.row;
    int32_t low = 0, high = 0;
    if (own < l.w.m) {
      const int32_t i = (l.start + own) / p.matrix.block_size;
      high = __ldg(p.matrix.row_ptr + i + 1);
      low = bsi_first_reaching(p, __ldg(p.matrix.row_ptr + i), high, l.start / p.matrix.block_size);
#pragma unroll 1
      for (int c = 0; c < l.w.m; c++) tile[l.tile + own + c * l.ld] = 0.0;
    }
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < l.w.lanes; k++) {
      const int32_t from = __shfl_sync(BSI_FULL_WARP, low, l.w.base + k),
                    to = __shfl_sync(BSI_FULL_WARP, high, l.w.base + k);
      if (top + k >= l.w.m || l.w.row >= working) continue;
      const int32_t r = (l.start + top + k) % p.matrix.block_size;
      for (int64_t t = l.w.row;; t += working) {
        const int64_t q = from + t / p.matrix.block_size;
        if (q >= to) break;
        const int32_t column = __ldg(p.matrix.col_idx + q) * p.matrix.block_size +
                               static_cast<int32_t>(t % p.matrix.block_size);
        if (column >= end) break;
        if (column >= l.start)
          tile[l.tile + top + k + (column - l.start) * l.ld] =
              __ldg(p.matrix.values +
                    (q * p.matrix.block_size + t % p.matrix.block_size) * p.matrix.block_size + r);
      }
    }
  }
}

/* Returns the largest sum of magnitudes of the matrix's rows of the block, in every lane of it.
 * Only blocks that are to be shifted need it. */
static __device__ double bsi_rows_norm(const bsi_values_job &p, const bsi_lane &l) {
  double largest = 0.0; /* ignores a sum that is NaN, as the host does */
#pragma unroll 1
  for (int own = l.w.row; own < l.w.m; own += l.w.lanes) {
    const int32_t row = l.start + own, i = row / p.matrix.block_size,
                  r = row - i * p.matrix.block_size;
    const double *values =
        p.matrix.values +
        static_cast<int64_t>(p.matrix.row_ptr[i]) * p.matrix.block_size * p.matrix.block_size + r;
    const int64_t count =
        static_cast<int64_t>(p.matrix.row_ptr[i + 1] - p.matrix.row_ptr[i]) * p.matrix.block_size;
    double sum = 0.0;
#pragma unroll 1
    for (int64_t c = 0; c < count; c++) sum += fabs(values[c * p.matrix.block_size]);
    largest = fmax(largest, sum);
  }
  double norm = 0.0;
#pragma unroll 1
  for (int k = 0; k < l.w.lanes; k++)
    norm = fmax(norm, __shfl_sync(BSI_FULL_WARP, largest, (l.w.base + k) % BSI_WARP));
  return norm;
}

/* Returns the next shift, or 0 if there is none, as bsi_block_shift() does. */
static __device__ __forceinline__ double bsi_next_shift(double amount, double norm, double shift) {
  const double more =
      shift > 0.0 ? 9.0 * shift : fmax(amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
  return isfinite(more) ? shift + more : 0.0;
}

/* Copies the lane's rows into the tile.
 * M, R: as in bsi_tile_values.
 * EXACT: all blocks have M rows. */
template <int M, int R, bool EXACT>
static __device__ __forceinline__ void bsi_rows_to_tile(const bsi_lane &l, const double (&a)[R][M],
                                                        double *tile) {
  const int m = EXACT ? M : l.w.m;
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = l.w.row + s * l.w.lanes;
    int at = l.tile + row;
#pragma unroll
    for (int c = 0; c < M; c++, at += l.ld)
      if (l.w.m > 0 && row < m && c < m) tile[at] = a[s][c];
  }
  __syncwarp();
}

/* A block that lies side by side with others, column after column. */
struct bsi_plain_block {
  const double *values;
  /* the distance between columns */
  int ld;
  /* false: the block is all zeros, or there is none */
  bool there;
};

/* Returns the lane's block, which has m rows if there is one. */
static __device__ __forceinline__ bsi_plain_block bsi_find_plain(const bsi_values_job &p,
                                                                 const bsi_lane &l, int m) {
  if (p.source != BSI_FROM_BLOCKS) return {p.dense + l.first + l.in_group, l.height, l.w.m > 0};
  const int32_t position = l.w.m > 0 ? __ldg(p.matrix.position + l.block) : -1;
  return {p.matrix.values + static_cast<int64_t>(position) * m * m, m, position >= 0};
}

/* Loads the lane's rows a of blocks that lie side by side, and adds `shift` to the diagonal.
 * Template parameters: as those of bsi_rows_to_tile(). */
template <int M, int R, bool EXACT>
static __device__ __forceinline__ void bsi_load_plain(const bsi_values_job &p, const bsi_lane &l,
                                                      double shift, double (&a)[R][M]) {
  const int m = EXACT ? M : l.w.m;
  const bsi_plain_block block = bsi_find_plain(p, l, m);
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = l.w.row + s * l.w.lanes;
    const double *value = block.values + row;
#pragma unroll
    for (int c = 0; c < M; c++, value += block.ld)
      a[s][c] = block.there && row < m && c < m ? *value : 0.0;
    if (shift > 0.0) {
#pragma unroll
      for (int c = 0; c < M; c++)
        if (c == row) a[s][c] += shift;
    }
  }
}

/* Fills the tile of the warp with zeros. M, R: as in bsi_tile_values. */
template <int M, int R> static __device__ __forceinline__ void bsi_clear_tile(double *tile) {
  double2 *const pairs = reinterpret_cast<double2 *>(tile);
#pragma unroll 8
  for (int i = threadIdx.x % BSI_WARP; i < bsi_tile_values<M, R> / 2; i += BSI_WARP)
    pairs[i] = make_double2(0.0, 0.0);
  __syncwarp();
}

/* Extracts blocks into the tile. ONE: the warp has one block. */
template <bool ONE>
static __device__ __forceinline__ void bsi_extract(const bsi_values_job &p, const bsi_lane &l,
                                                   double *tile) {
  if (p.source == BSI_FROM_ROWS_SHARED)
    bsi_extract_by_sub_warp(p, l, tile);
  else if (ONE)
    bsi_extract_row_per_lane_of_warp(p, l, tile);
  else
    bsi_extract_row_per_lane(p, l, tile);
  __syncwarp();
}

/* Loads the lane's rows a from the job's source, and all rows of the block into the tile. Other
 * template parameters: as those of bsi_rows_to_tile(). */
template <int M, int R, int LANES>
static __device__ __forceinline__ void bsi_load_blocks(const bsi_values_job &p, const bsi_lane &l,
                                                       double shift, double *tile,
                                                       double (&a)[R][M]) {
  if (p.source == BSI_FROM_BLOCKS || p.source == BSI_FROM_DENSE) {
    bsi_load_plain<M, R, false>(p, l, shift, a);
    bsi_rows_to_tile<M, R, false>(l, a, tile);
    return;
  }
  constexpr bool padded = bsi_padded<LANES, false>;
  if (padded) bsi_clear_tile<M, R>(tile);
  bsi_extract<false>(p, l, tile);
#pragma unroll
  for (int s = 0; s < R; s++) {
    const int row = l.w.row + s * l.w.lanes;
    if (shift > 0.0 && row < l.w.m) tile[l.tile + row + row * l.ld] += shift;
    int at = l.tile + row;
#pragma unroll
    for (int c = 0; c < M; c++, at += l.ld)
      a[s][c] = padded || (row < l.w.m && c < l.w.m) ? tile[at] : 0.0;
  }
  __syncwarp();
}

#endif
