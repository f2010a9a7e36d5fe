/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels that invert a dense matrix tile by tile. For multigrid/dense_cuda.cu only, which
 * describes them. */
#ifndef BSI_TILES_CUDA_CUH
#define BSI_TILES_CUDA_CUH

#include "multigrid/panels_cuda.cuh"

namespace {

enum {
  TILE = 32,
  TILE_THREADS = 128,
  /* A thread has OF_ROW × OF_COLUMN values of a tile: rows that follow each other, of columns that
   * follow each other. */
  OF_ROW = 2,
  OF_COLUMN = 4,
  /* the rows of tiles that share a thread block in larger matrices: the product with the inverse of
   * the pivot tile is computed once for them */
  SHARED_TILES = 2,
  /* the most tiles on a side for which each tile has a thread block */
  FEW_TILES = 24
};

/* The tile with the values of a matrix at row tile i and column tile j, column by column. Rows and
 * columns beyond the matrix are those of the identity. Columns are apart by an even number of
 * values, so that two rows are read at once. */
struct tile {
  alignas(16) double at[TILE][TILE + 2];
};

/* The values of a thread. */
struct fragment {
  double at[OF_COLUMN][OF_ROW];
};

__device__ __forceinline__ int first_row() { return threadIdx.x % (TILE / OF_ROW) * OF_ROW; }
__device__ __forceinline__ int first_column() { return threadIdx.x / (TILE / OF_ROW) * OF_COLUMN; }

__device__ __forceinline__ double value_at(int n, const double *a, int row, int column) {
  if (row < n && column < n) return __ldg(a + static_cast<int64_t>(column) * n + row);
  return row == column ? 1.0 : 0.0;
}

__device__ __forceinline__ void load(int n, const double *a, int i, int j, tile &t) {
#pragma unroll
  for (int u = 0; u < TILE * TILE / TILE_THREADS; u++) {
    const int v = static_cast<int>(threadIdx.x) + u * TILE_THREADS, r = v % TILE, c = v / TILE;
    t.at[c][r] = value_at(n, a, i * TILE + r, j * TILE + c);
  }
}

__device__ __forceinline__ void store(int n, const tile &t, int i, int j, double *a) {
#pragma unroll
  for (int u = 0; u < TILE * TILE / TILE_THREADS; u++) {
    const int v = static_cast<int>(threadIdx.x) + u * TILE_THREADS, r = v % TILE, c = v / TILE,
              row = i * TILE + r, column = j * TILE + c;
    if (row < n && column < n) a[static_cast<int64_t>(column) * n + row] = t.at[c][r];
  }
}

__device__ __forceinline__ fragment load_fragment(int n, const double *a, int i, int j) {
  fragment f;
#pragma unroll
  for (int c = 0; c < OF_COLUMN; c++)
#pragma unroll
    for (int r = 0; r < OF_ROW; r++)
      f.at[c][r] = value_at(n, a, i * TILE + first_row() + r, j * TILE + first_column() + c);
  return f;
}

__device__ __forceinline__ void store_fragment(int n, const fragment &f, int i, int j, double *a) {
#pragma unroll
  for (int c = 0; c < OF_COLUMN; c++)
#pragma unroll
    for (int r = 0; r < OF_ROW; r++) {
      const int row = i * TILE + first_row() + r, column = j * TILE + first_column() + c;
      if (row < n && column < n) a[static_cast<int64_t>(column) * n + row] = f.at[c][r];
    }
}

__device__ __forceinline__ void put(const fragment &f, tile &t) {
#pragma unroll
  for (int c = 0; c < OF_COLUMN; c++)
#pragma unroll
    for (int r = 0; r < OF_ROW; r++) t.at[first_column() + c][first_row() + r] = f.at[c][r];
}

/* Returns sum + sign·left·right. */
__device__ __forceinline__ fragment multiply_tiles(const tile &left, const tile &right, double sign,
                                                   fragment sum) {
  const int row = first_row(), column = first_column();
#pragma unroll 8
  for (int k = 0; k < TILE; k += 2) {
    double2 l[2], r[OF_COLUMN];
#pragma unroll
    for (int u = 0; u < 2; u++) l[u] = *reinterpret_cast<const double2 *>(&left.at[k + u][row]);
#pragma unroll
    for (int c = 0; c < OF_COLUMN; c++)
      r[c] = *reinterpret_cast<const double2 *>(&right.at[column + c][k]);
#pragma unroll
    for (int c = 0; c < OF_COLUMN; c++) {
      const double first = sign * r[c].x, second = sign * r[c].y;
      sum.at[c][0] += l[0].x * first;
      sum.at[c][1] += l[0].y * first;
      sum.at[c][0] += l[1].x * second;
      sum.at[c][1] += l[1].y * second;
    }
  }
  return sum;
}

/* Returns the lane that has the pivot of a step, the largest magnitude of the open rows up to the
 * 20 bits of its upper half. */
__device__ __forceinline__ int lane_of_pivot(double value, bool open) {
  const unsigned high = open ? static_cast<unsigned>(magnitude_of(value) >> 32) + 1 : 0;
  return __ffs(static_cast<int>(__ballot_sync(BSI_FULL_WARP, high == bsi_warp_max(high)))) - 1;
}

/* Returns 1/x with an error of a unit in the last place, in less time than a division takes. It is
 * not finite if x is subnormal, and the test of the inverse then fails. */
__device__ __forceinline__ double reciprocal_of(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
#pragma unroll
  for (int step = 0; step < 2; step++) r = fma(r, fma(-x, r, 1.0), r);
  return r;
}

/* The columns of a warp in an inversion of a tile. */
enum { WARP_COLUMNS = TILE / (TILE_THREADS / BSI_WARP) };

/* What the warps of an inversion pass to each other: what a row takes of the pivot row, in turn for
 * two successive steps, and for each row its pivot, the reciprocal and the step. */
struct tile_pivots {
  double factor[2][TILE], scale[TILE], magnitude[TILE];
  int lane[2], order[TILE], step[TILE];
};

/* The warp that has the column of step k finds the pivot among the open rows, one in each lane. Its
 * values become what they are in the inverse. */
__device__ __forceinline__ void find_factors(int k, bool open, double &value, tile_pivots &p) {
  const int lane = threadIdx.x % BSI_WARP;
  const double reciprocal = reciprocal_of(value);
  const int pivot = lane_of_pivot(value, open);
  const double inverse = __shfl_sync(BSI_FULL_WARP, reciprocal, pivot),
               factor = lane == pivot ? 0.0 : value * inverse;
  p.factor[k % 2][lane] = factor;
  if (lane == pivot) {
    p.lane[k % 2] = p.order[k] = lane;
    p.step[lane] = k;
    p.scale[lane] = inverse;
    p.magnitude[lane] = fabs(value);
  }
  value = lane == pivot ? 1.0 : -factor;
}

/* The record takes the pivots of the first `count` rows, which are in the matrix. One warp
 * calls. */
__device__ __forceinline__ void record_pivots(const tile_pivots &p, int count, bool begins,
                                              pivot_record *record) {
  const int lane = threadIdx.x % BSI_WARP;
  const unsigned long long magnitude = magnitude_of(p.magnitude[lane]);
  const double largest = value_of(bsi_warp_max(lane < count ? magnitude : 0)),
               smallest = value_of(~bsi_warp_max(lane < count ? ~magnitude : 0));
  if (lane > 0) return;
  record->smallest = begins ? smallest : fmin(record->smallest, smallest);
  record->largest = begins ? largest : fmax(record->largest, largest);
  if (begins) record->error = 0;
}

/* t ← t⁻¹. Lane r of each warp has WARP_COLUMNS values of row r in registers. Rows keep their
 * lanes, and a row takes part in later steps without the division by its pivot, which comes at the
 * end. The first tile begins the record. */
__device__ void invert_tile(tile &t, int count, bool begins, pivot_record *record) {
  __shared__ tile_pivots p;
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  double a[WARP_COLUMNS];
  bool open = true;
#pragma unroll
  for (int u = 0; u < WARP_COLUMNS; u++) a[u] = t.at[warp * WARP_COLUMNS + u][lane];
#pragma unroll 1
  for (int owner = 0; owner < TILE / WARP_COLUMNS; owner++)
#pragma unroll
    for (int c = 0; c < WARP_COLUMNS; c++) {
      const int k = owner * WARP_COLUMNS + c;
      if (warp == owner) find_factors(k, open, a[c], p);
      __syncthreads();
      const int pivot = p.lane[c % 2];
      const double factor = p.factor[c % 2][lane];
      open = open && lane != pivot;
#pragma unroll
      for (int v = 1; v <= WARP_COLUMNS; v++) { /* the column of the next pivot comes first */
        const int u = (c + v) % WARP_COLUMNS;
        const double value = __shfl_sync(BSI_FULL_WARP, a[u], pivot);
        if (u != c || warp != owner) a[u] -= factor * value;
      }
    }
#pragma unroll
  for (int u = 0; u < WARP_COLUMNS; u++)
    t.at[p.order[warp * WARP_COLUMNS + u]][p.step[lane]] = a[u] * p.scale[lane];
  if (warp == 0) record_pivots(p, count, begins, record);
  __syncthreads();
}

/* The first tile of the diagonal becomes its inverse. */
__global__ void __launch_bounds__(TILE_THREADS)
    begin_tiles(int n, double *a, pivot_record *record) {
  __shared__ tile t;
  bsi_wait_for_predecessor();
  load(n, a, 0, 0, t);
  __syncthreads();
  invert_tile(t, n, true, record);
  store(n, t, 0, 0, a);
}

/* The values of a tile before a step, without those of the columns and rows that it replaces. */
__device__ __forceinline__ fragment kept_values(int n, int k, const double *from, int i, int j) {
  return i == k || j == k ? fragment{} : load_fragment(n, from, i, j);
}

/* Step k, from one array to another one. Tile (k, k) is inverted before it, and the next tile of
 * the diagonal at its end. */
__global__ void __launch_bounds__(TILE_THREADS)
    eliminate_tiles(int n, int k, int tiles, const double *from, double *to, pivot_record *record) {
  __shared__ tile pivot, right, left;
  const int j = static_cast<int>(blockIdx.y), step = static_cast<int>(gridDim.x);
  int i = static_cast<int>(blockIdx.x);
  bsi_wait_for_predecessor();
  load(n, from, k, j, right);
  if (j != k) load(n, from, k, k, pivot);
  load(n, from, i, k, left);
  fragment f = kept_values(n, k, from, i, j);
  __syncthreads();
  if (j != k) {
    const fragment product = multiply_tiles(pivot, right, 1.0, {});
    __syncthreads(); /* all have read `right` */
    put(product, right);
    __syncthreads();
  }
  while (true) {
    if (i == k) {
      store(n, right, k, j, to);
    } else {
      f = multiply_tiles(left, right, -1.0, f);
      if (i == j && i == k + 1) {
        put(f, pivot);
        __syncthreads();
        invert_tile(pivot, n - i * TILE, false, record);
        store(n, pivot, i, j, to);
      } else {
        store_fragment(n, f, i, j, to);
      }
    }
    i += step;
    if (i >= tiles) return;
    __syncthreads(); /* all have read `left` */
    load(n, from, i, k, left);
    f = kept_values(n, k, from, i, j);
    __syncthreads();
  }
}

} // namespace

#endif
