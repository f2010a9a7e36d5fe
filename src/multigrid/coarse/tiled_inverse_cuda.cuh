/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel that inverts a dense matrix tile by tile. For multigrid/coarse/dense_cuda.cu only,
 * which describes it. */
#ifndef BSI_TILED_INVERSE_CUDA_CUH
#define BSI_TILED_INVERSE_CUDA_CUH

#include "gpu/product.cuh"
#include "multigrid/coarse/tile_cuda.cuh"

namespace {

/* An elimination. The matrix before an even step is in `even`, and the one before an odd step in
 * `odd`. */
struct elimination {
  int n, tiles;
  double *even, *odd;
  /* Column tile j is cut into `parts` units, which are shared out to the thread blocks. */
  int parts;
  pivot_record *record;
};

__device__ __forceinline__ double *before_step(const elimination &e, int k) {
  return k % 2 ? e.odd : e.even;
}

/* --- waits --- */

/* Returns to the calling thread when the count is at least `least`. What other thread blocks wrote
 * before they counted is visible then. What follows a load that acquires waits for it: only the
 * last one does. */
__device__ __forceinline__ void await_count(const unsigned *count, unsigned least) {
  while (bsi_load_relaxed(count) < least) {
  }
  bsi_load_acquire(count);
}

/* --- the elimination --- */

/* next ← kept − left·(pivot·right), by INVERTING_WARPS warps, which overwrite `right`. */
__device__ __forceinline__ void next_diagonal(const tile &pivot, tile &right, const tile &left,
                                              const tile &kept, tile &next) {
  fragment f[HALVES] = {};
  multiply_tiles<false, HALVES>(pivot, right, f);
  bsi_synchronise<1, INVERTING_THREADS>(); /* all have read `right` */
#pragma unroll
  for (int h = 0; h < HALVES; h++) put(f[h], row_of_warp(), column_of_warp(h), right);
#pragma unroll
  for (int h = 0; h < HALVES; h++) f[h] = take(kept, row_of_warp(), column_of_warp(h));
  bsi_synchronise<1, INVERTING_THREADS>();
  multiply_tiles<true, HALVES>(left, right, f);
#pragma unroll
  for (int h = 0; h < HALVES; h++) put(f[h], row_of_warp(), column_of_warp(h), next);
}

/* The thread block that inverts the tiles of the diagonal. Its first warps compute the next of
 * these tiles from the values before a step, beside the other thread blocks, and invert it.
 * Meanwhile its other warps hand the last inverse over to the others, wait until they have done the
 * step, and load what the next tile takes. */
__device__ __forceinline__ void invert_diagonal(const elimination &e, tile (&tiles)[5]) {
  tile &right = tiles[2], &left = tiles[3], &kept = tiles[4];
  __shared__ tile_pivots pivots[2];
  pivot_record *const record = e.record;
  const unsigned blocks = static_cast<unsigned>(gridDim.x) - 1;
  extremes found = {INFINITY, 0.0};
  load<0>(e.n, e.even, 0, 0, tiles[0]);
  __syncthreads();
  for (int k = 0; k < e.tiles; k++) {
    tile &last = tiles[(k + 1) % 2], &now = tiles[k % 2];
    if (threadIdx.x < INVERTING_THREADS) {
      if (k > 0) next_diagonal(last, right, left, kept, now);
      bsi_arrive_at<3, TILE_THREADS>();
      bsi_synchronise<1, INVERTING_THREADS>();
      invert_tile(now, pivots[k % 2]);
    } else {
      if (k > 0) {
        store<INVERTING_WARPS>(e.n, last, k - 1, k - 1, before_step(e, k - 1));
        bsi_synchronise<2, TILE_THREADS - INVERTING_THREADS>();
        if (threadIdx.x == INVERTING_THREADS) bsi_add_release(&record->inverted, 1u);
        if (threadIdx.x / BSI_WARP == TILE_WARPS - 1)
          record_pivots(pivots[(k - 1) % 2], e.n - (k - 1) * TILE, &found);
      }
      bsi_synchronise<3, TILE_THREADS>(); /* `right`, `left` and `kept` are free */
      if (k + 1 < e.tiles) {
        await_count(&record->updated, blocks * static_cast<unsigned>(k));
        load<INVERTING_WARPS>(e.n, before_step(e, k), k, k + 1, right);
        load<INVERTING_WARPS>(e.n, before_step(e, k), k + 1, k, left);
        load<INVERTING_WARPS>(e.n, before_step(e, k), k + 1, k + 1, kept);
      }
    }
    __syncthreads();
  }
  const int end = e.tiles - 1;
  store<0>(e.n, tiles[end % 2], end, end, before_step(e, end));
  __syncthreads();
  if (threadIdx.x / BSI_WARP == TILE_WARPS - 1)
    record_pivots(pivots[end % 2], e.n - end * TILE, &found);
  if (threadIdx.x != TILE_THREADS - 1) return;
  bsi_add_release(&record->inverted, 1u);
  record->smallest = found.smallest;
  record->largest = found.largest;
  record->error = 0;
}

/* The values of SLICE rows of a column tile. */
struct slice {
  fragment of[TILE / GROUP];
};

__device__ __forceinline__ slice load_slice(int n, const double *a, int row, int column) {
  const int r = row + outer_index(), c = column + 2 * inner_index();
  const double *values = a + static_cast<int64_t>(c) * n + r;
  slice s = {};
#pragma unroll
  for (int g = 0; g < TILE; g += GROUP)
#pragma unroll
    for (int v = 0; v < 4; v++)
      if (r + v / 2 * GROUP < n && c + g + v % 2 < n)
        s.of[g / GROUP].at[v / 2][v % 2] =
            values[static_cast<int64_t>(g + v % 2) * n + v / 2 * GROUP];
  return s;
}

__device__ __forceinline__ void store_slice(int n, const slice &s, int row, int column, double *a) {
  const int r = row + outer_index(), c = column + 2 * inner_index();
  double *values = a + static_cast<int64_t>(c) * n + r;
#pragma unroll
  for (int g = 0; g < TILE; g += GROUP)
#pragma unroll
    for (int v = 0; v < 4; v++)
      if (r + v / 2 * GROUP < n && c + g + v % 2 < n)
        values[static_cast<int64_t>(g + v % 2) * n + v / 2 * GROUP] =
            s.of[g / GROUP].at[v / 2][v % 2];
}

/* Minus the values of a lane in a tile, as a right operand. */
struct right_operand {
  double minus[TILE / DEPTH][TILE / GROUP];
};

/* What a warp reads for SLICE rows of a column tile: their values, and those of the column tile
 * that is eliminated as a left operand. */
struct slice_operands {
  slice values;
  double left[TILE / DEPTH][2];
};

/* Reads the rows from `row` on of column tile j before step k. */
__device__ __forceinline__ slice_operands load_operands(int n, int k, const double *a, int row,
                                                        int j) {
  slice_operands s = {};
  if (row / TILE == k) return s;
  const int r = row + outer_index(), c = k * TILE + inner_index();
  const double *values = a + static_cast<int64_t>(c) * n + r;
#pragma unroll
  for (int d = 0; d < TILE; d += DEPTH)
#pragma unroll
    for (int h = 0; h < 2; h++)
      if (r + h * GROUP < n && c + d < n)
        s.left[d / DEPTH][h] = values[static_cast<int64_t>(d) * n + h * GROUP];
  if (j != k) s.values = load_slice(n, a, row, j * TILE);
  return s;
}

/* right ← Q X_kj, or Q if j = k. `right` is X_kj unless j = k. */
__device__ __forceinline__ void prepare_right(const elimination &e, int k, int j, tile &pivot,
                                              tile &right) {
  if (threadIdx.x == 0) await_count(&e.record->inverted, static_cast<unsigned>(k) + 1);
  __syncthreads();
  load<0>(e.n, before_step(e, k), k, k, j == k ? right : pivot);
  __syncthreads();
  if (j == k) return;
  fragment product[1] = {};
  multiply_tiles<false>(pivot, right, product);
  __syncthreads(); /* all have read `right` */
  put(product[0], row_of_warp(), column_of_warp(0), right);
  __syncthreads();
}

/* Step k for the slices begin…end-1 of column tile j. */
__device__ __forceinline__ void update_column(const elimination &e, int k, int j, int begin,
                                              int end, tile &pivot, tile &right) {
  const double *from = before_step(e, k);
  double *to = before_step(e, k + 1);
  int s = begin + static_cast<int>(threadIdx.x) / BSI_WARP;
  if (j != k) load<0>(e.n, from, k, j, right);
  slice_operands now = {};
  if (s < end) now = load_operands(e.n, k, from, s * SLICE, j);
  prepare_right(e, k, j, pivot, right);
  right_operand operand;
#pragma unroll
  for (int d = 0; d < TILE / DEPTH; d++)
#pragma unroll
    for (int g = 0; g < TILE / GROUP; g++)
      operand.minus[d][g] = minus(right.at[g * GROUP + outer_index()][d * DEPTH + inner_index()]);
#pragma unroll 1
  for (; s < end; s += TILE_WARPS) {
    const int row = s * SLICE, i = row / TILE;
    if (i == k) {
#pragma unroll
      for (int g = 0; g < TILE / GROUP; g++) now.values.of[g] = take(right, row % TILE, g * GROUP);
    } else {
#pragma unroll
      for (int d = 0; d < TILE / DEPTH; d++)
#pragma unroll
        for (int g = 0; g < TILE / GROUP; g++) {
          fragment &f = now.values.of[g];
          bsi_add_products(now.left[d][0], now.left[d][1], operand.minus[d][g], f.at[0], f.at[1],
                           f.at[0], f.at[1]);
        }
    }
    /* the inverse of the next tile of the diagonal comes from the other thread block */
    if (i != j || i != k + 1) store_slice(e.n, now.values, row, j * TILE, to);
    if (s + TILE_WARPS < end) now = load_operands(e.n, k, from, row + TILE_WARPS * SLICE, j);
  }
}

/* A cooperative launch. The first thread block inverts tiles of the diagonal, and the others do the
 * steps. */
__global__ void __launch_bounds__(TILE_THREADS, 1) eliminate_tiles(elimination e) {
  __shared__ tile tiles[5];
  if (blockIdx.x == 0) {
    invert_diagonal(e, tiles);
    return;
  }
  const int slices = (e.n + SLICE - 1) / SLICE, each = (slices + e.parts - 1) / e.parts;
  pivot_record *const record = e.record;
  const unsigned blocks = gridDim.x - 1;
  for (int k = 0; k < e.tiles; k++) {
    if (threadIdx.x == 0) await_count(&record->updated, blocks * static_cast<unsigned>(k));
    __syncthreads();
    for (int unit = static_cast<int>(blockIdx.x) - 1; unit < e.tiles * e.parts;
         unit += static_cast<int>(blocks)) {
      const int begin = unit % e.parts * each;
      update_column(e, k, unit / e.parts, begin, min(begin + each, slices), tiles[0], tiles[1]);
      __syncthreads();
    }
    if (threadIdx.x == 0) bsi_add_release(&record->updated, 1u);
  }
}

} // namespace

#endif
