/* SPDX-License-Identifier: BSD-3-Clause */
/* A tile of a dense matrix in shared memory: how it is loaded and stored, products of tiles, and
 * its inverse. For multigrid/coarse/tiled_inverse_cuda.cuh only. */
#ifndef BSI_TILE_CUDA_CUH
#define BSI_TILE_CUDA_CUH

#include "gpu/product.cuh"
#include "gpu/ptx.cuh"
#include "multigrid/coarse/pivots_cuda.cuh"

namespace {

enum {
  TILE = 32,
  TILE_THREADS = 256,
  TILE_WARPS = TILE_THREADS / BSI_WARP,
  /* the rows of a product that a warp computes together, and the columns of an instruction */
  SLICE = 16,
  GROUP = 8,
  /* A thread block with fewer of them is not faster: each scheduler has one. */
  SLICES_AT_ONCE = 4,
  /* the depth of an instruction */
  DEPTH = 4
};

/* The tile with the values of a matrix at row tile i and column tile j, column by column. Rows and
 * columns beyond the matrix are those of the identity. Operands of products are then read from
 * different banks. */
struct tile {
  alignas(16) double at[TILE][TILE + 4];
};

/* Where the values of a lane are in an operand of bsi_add_products() and in its sum. */
__device__ __forceinline__ int outer_index() { return threadIdx.x % BSI_WARP / DEPTH; }
__device__ __forceinline__ int inner_index() { return threadIdx.x % DEPTH; }

/* The values of a lane in a sum of SLICE × GROUP values: rows outer_index() and 8 below, columns
 * 2·inner_index() and the next. */
struct fragment {
  double at[2][2];
};

/* --- tiles --- */

/* Warps FROM…TILE_WARPS-1 load a tile. */
template <int FROM>
__device__ __forceinline__ void load(int n, const double *a, int i, int j, tile &t) {
  constexpr int STEP = TILE_WARPS - FROM, EACH = TILE / STEP;
  static_assert(STEP * EACH == TILE && FROM % STEP == 0, "warps have as many columns");
  const int r = threadIdx.x % BSI_WARP, c = threadIdx.x / BSI_WARP % STEP, row = i * TILE + r,
            column = j * TILE + c;
  const double *values = a + static_cast<int64_t>(column) * n + row;
  double loaded[EACH];
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    loaded[u] = row == column + u * STEP ? 1.0 : 0.0;
    if (row < n && column + u * STEP < n) loaded[u] = values[static_cast<int64_t>(u * STEP) * n];
  }
#pragma unroll
  for (int u = 0; u < EACH; u++) t.at[c + u * STEP][r] = loaded[u];
}

/* Warps FROM…TILE_WARPS-1 store a tile. */
template <int FROM>
__device__ __forceinline__ void store(int n, const tile &t, int i, int j, double *a) {
  constexpr int STEP = TILE_WARPS - FROM;
  const int r = threadIdx.x % BSI_WARP, c = threadIdx.x / BSI_WARP % STEP, row = i * TILE + r,
            column = j * TILE + c;
  double *values = a + static_cast<int64_t>(column) * n + row;
#pragma unroll
  for (int u = 0; u < TILE; u += STEP)
    if (row < n && column + u < n) values[static_cast<int64_t>(u) * n] = t.at[c + u][r];
}

/* A warp of a product has SLICE rows of a tile, of GROUP columns if all warps take part, and twice
 * if half of them do. */
enum { HALVES = 2 };
__device__ __forceinline__ int row_of_warp() { return threadIdx.x / BSI_WARP % 2 * SLICE; }
__device__ __forceinline__ int column_of_warp(int half) {
  return threadIdx.x / BSI_WARP / 2 * GROUP + half * TILE / HALVES;
}

__device__ __forceinline__ fragment take(const tile &t, int row, int column) {
  fragment f;
#pragma unroll
  for (int r = 0; r < 2; r++)
#pragma unroll
    for (int c = 0; c < 2; c++)
      f.at[r][c] = t.at[column + 2 * inner_index() + c][row + outer_index() + r * GROUP];
  return f;
}

__device__ __forceinline__ void put(const fragment &f, int row, int column, tile &t) {
#pragma unroll
  for (int r = 0; r < 2; r++)
#pragma unroll
    for (int c = 0; c < 2; c++)
      t.at[column + 2 * inner_index() + c][row + outer_index() + r * GROUP] = f.at[r][c];
}

/* Returns −x by its bits: arithmetic in fp64 takes more time. */
__device__ __forceinline__ double minus(double x) {
  return __hiloint2double(__double2hiint(x) ^ INT32_MIN, __double2loint(x));
}

/* sum ← sum + sign·left·right for the part of the warp, where sign is −1 if NEGATIVE. Two sums for
 * each value take less time than one. */
template <bool NEGATIVE, int PARTS>
__device__ __forceinline__ void multiply_tiles(const tile &left, const tile &right,
                                               fragment (&sum)[PARTS]) {
  const int row = row_of_warp() + outer_index();
  fragment other[PARTS] = {};
#pragma unroll
  for (int d = 0; d < TILE / 2; d += DEPTH)
#pragma unroll
    for (int both = 0; both < 2; both++) {
      const int k = d + both * TILE / 2 + inner_index();
      const double upper = left.at[k][row], lower = left.at[k][row + GROUP];
#pragma unroll
      for (int p = 0; p < PARTS; p++) {
        const double factor = right.at[column_of_warp(p) + outer_index()][k];
        fragment &f = both ? other[p] : sum[p];
        bsi_add_products(upper, lower, NEGATIVE ? minus(factor) : factor, f.at[0], f.at[1], f.at[0],
                         f.at[1]);
      }
    }
#pragma unroll
  for (int p = 0; p < PARTS; p++)
#pragma unroll
    for (int v = 0; v < 4; v++) sum[p].at[v / 2][v % 2] += other[p].at[v / 2][v % 2];
}

/* --- the inversion of a tile --- */

/* Returns 1/x with an error of a unit in the last place, in less time than a division takes. It is
 * not finite if x is subnormal, and the test of the inverse then fails. */
__device__ __forceinline__ double reciprocal_of(double x) {
  const double r = bsi_rough_reciprocal(x);
  const double e = fma(-x, r, 1.0);
  return fma(r, fma(e, e, e), r);
}

/* Candidates for pivots are compared by the exponent and 15 bits of the mantissa, above the number
 * of the lane. The first bit is that of open rows. A shuffle takes the lane from the lower bits. */
struct candidates {
  unsigned kept, added;
};

__device__ __forceinline__ candidates open_row() {
  return {0x7fffffe0u, 0x80000000u | threadIdx.x % BSI_WARP};
}

/* What a column says of its pivot. */
struct next_pivot {
  double reciprocal; /* of the lane's value in this column */
  double ratio;      /* times its value in the next column */
  unsigned mine, best;
};

__device__ __forceinline__ next_pivot look_for_pivot(double first, double second, candidates row) {
  next_pivot p;
  p.mine = (static_cast<unsigned>(__double2hiint(first)) & row.kept) | row.added;
  p.best = bsi_warp_max(p.mine);
  p.reciprocal = reciprocal_of(first);
  p.ratio = p.reciprocal * second;
  return p;
}

/* The smallest and the largest magnitude of pivots. */
struct extremes {
  double smallest, largest;
};

/* The warps of an inversion, and the columns of each. */
enum {
  INVERTING_WARPS = 4,
  INVERTING_THREADS = INVERTING_WARPS * BSI_WARP,
  PANEL = TILE / INVERTING_WARPS
};
static_assert(static_cast<int>(PANEL) == static_cast<int>(GROUP), "a warp updates one group");

/* What an inversion knows of pivots: the rows of a panel's pivots as bits, the row of the pivot of
 * each step, and for each row its step and its pivot. The row of a pivot goes from
 * lane to lane in `passed`, in turn for two successive steps. */
struct tile_pivots {
  alignas(16) double passed[2][PANEL];
  double pivot[TILE];
  int order[TILE], step[TILE];
  unsigned rows;
};

/* A warp eliminates the columns first…first + PANEL − 1, with a row in each lane. The column of the
 * next pivot is always the first one, and an eliminated column becomes the last one. This leaves W,
 * and the other columns a become W a_K + (a without its rows K), where K are the rows of the
 * pivots. Rows stay where they are, and a row is not divided by its pivot. */
__device__ __forceinline__ void eliminate_panel_of_tile(tile &t, int first, candidates &row,
                                                        tile_pivots &pivots) {
  const int lane = threadIdx.x % BSI_WARP;
  const candidates before = row;
  double p[PANEL];
#pragma unroll
  for (int c = 0; c < PANEL; c++) p[c] = t.at[first + c][lane];
  next_pivot now = look_for_pivot(p[0], p[1], row);
#pragma unroll 1
  for (int c = 0; c < PANEL; c++) {
    double2 *const passed = reinterpret_cast<double2 *>(pivots.passed[c % 2]);
    const bool mine = now.mine == now.best;
    const int from = static_cast<int>(now.best);
    const double ratio = __shfl_sync(BSI_FULL_WARP, now.ratio, from),
                 inverse = __shfl_sync(BSI_FULL_WARP, now.reciprocal, from),
                 second = __shfl_sync(BSI_FULL_WARP, p[2], from), value = mine ? 0.0 : p[0],
                 factor = -value * inverse;
    if (mine) {
#pragma unroll
      for (int u = 2; u < PANEL; u += 2) passed[u / 2] = make_double2(p[u], p[u + 1]);
      pivots.pivot[lane] = p[0];
      pivots.order[first + c] = lane;
      pivots.step[lane] = first + c;
      row = {0, 0};
    }
    p[0] = fma(-value, ratio, p[1]);
    p[1] = fma(factor, second, p[2]);
    now = look_for_pivot(p[0], p[1], row);
    __syncwarp();
#pragma unroll
    for (int u = 2; u < PANEL; u += 2) {
      const double2 pair = passed[u / 2];
      if (u > 2) p[u - 1] = fma(factor, pair.x, p[u]);
      p[u] = fma(factor, pair.y, p[u + 1]);
    }
    p[PANEL - 1] = mine ? 1.0 : factor;
  }
#pragma unroll
  for (int c = 0; c < PANEL; c++) t.at[first + c][lane] = p[c];
  const unsigned rows = __ballot_sync(BSI_FULL_WARP, row.added != before.added);
  if (lane == 0) pivots.rows = rows;
}

/* A warp updates the columns column…column + GROUP − 1 after the elimination of a panel. */
__device__ __forceinline__ void update_columns_of_tile(tile &t, int first, int column,
                                                       const tile_pivots &pivots) {
  fragment f[TILE / SLICE];
  double right[PANEL / DEPTH], left[PANEL / DEPTH][TILE / GROUP];
#pragma unroll
  for (int d = 0; d < PANEL / DEPTH; d++)
    right[d] = t.at[column + outer_index()][pivots.order[first + d * DEPTH + inner_index()]];
#pragma unroll
  for (int d = 0; d < PANEL / DEPTH; d++)
#pragma unroll
    for (int g = 0; g < TILE / GROUP; g++)
      left[d][g] = t.at[first + d * DEPTH + inner_index()][g * GROUP + outer_index()];
  const unsigned rows = pivots.rows >> outer_index();
#pragma unroll
  for (int m = 0; m < TILE / SLICE; m++) {
    f[m] = take(t, m * SLICE, column);
#pragma unroll
    for (int v = 0; v < 4; v++)
      if (rows >> (m * SLICE + v / 2 * GROUP) & 1) f[m].at[v / 2][v % 2] = 0.0;
  }
  __syncwarp(); /* all have read */
#pragma unroll
  for (int d = 0; d < PANEL / DEPTH; d++)
#pragma unroll
    for (int m = 0; m < TILE / SLICE; m++)
      bsi_add_products(left[d][2 * m], left[d][2 * m + 1], right[d], f[m].at[0], f[m].at[1],
                       f[m].at[0], f[m].at[1]);
#pragma unroll
  for (int m = 0; m < TILE / SLICE; m++) put(f[m], m * SLICE, column, t);
}

/* t ← t⁻¹, by INVERTING_WARPS warps. The first warp eliminates one panel after the other, and the
 * other warps update the other columns. Rows are divided by their pivots at the end. */
__device__ __forceinline__ void invert_tile(tile &t, tile_pivots &pivots) {
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
  candidates row = open_row();
#pragma unroll 1
  for (int first = 0; first < TILE; first += PANEL) {
    if (warp == 0) eliminate_panel_of_tile(t, first, row, pivots);
    bsi_synchronise<1, INVERTING_THREADS>();
    if (warp * PANEL != first) update_columns_of_tile(t, first, warp * PANEL, pivots);
    bsi_synchronise<1, INVERTING_THREADS>();
  }
  const int step = pivots.step[lane];
  const double inverse = reciprocal_of(pivots.pivot[lane]);
  double a[PANEL];
  int order[PANEL];
#pragma unroll
  for (int c = 0; c < PANEL; c++) {
    a[c] = t.at[warp * PANEL + c][lane];
    order[c] = pivots.order[warp * PANEL + c];
  }
  bsi_synchronise<1, INVERTING_THREADS>();
#pragma unroll
  for (int c = 0; c < PANEL; c++) t.at[order[c]][step] = a[c] * inverse;
}

/* Records the magnitudes of the pivots of the first `count` rows, which are in the matrix. One warp
 * calls. */
__device__ __forceinline__ void record_pivots(const tile_pivots &pivots, int count,
                                              extremes *found) {
  const int lane = threadIdx.x % BSI_WARP;
  const unsigned long long bits = magnitude_of(pivots.pivot[lane]);
  found->largest = fmax(found->largest, value_of(bsi_warp_max(lane < count ? bits : 0)));
  found->smallest = fmin(found->smallest, value_of(~bsi_warp_max(lane < count ? ~bits : 0)));
}

} // namespace

#endif
