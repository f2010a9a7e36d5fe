/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for values of products C = A B of sparse matrices. For
 * multigrid/spgemm/spgemm_cuda.cu only.
 *
 * Block (i, j) of C is the sum of A_ik B_kj over the blocks of row i of A, in their order. Nothing
 * is written but the results, so that an update needs no memory and the bits repeat.
 *
 *   multiply_rows    A few lanes take a row of C, and keep it in shared memory. They go through the
 *                    blocks of the row of A. A lane takes a column of a block of row k of B, and
 *                    adds to its place in the row of C: it is known (product_slots_cuda.cu), or
 *                    searched among the columns of the row. With stencils of seven points there
 *                    are 24 products for a row of A P, 75 of Tᵀ A and 298 of R (A P).
 *   multiply_short_rows (short_rows_cuda.cuh)
 *                    takes short rows of small blocks. Each thread takes a column of the blocks of
 *                    a row of C, because lanes that share it spend most of their instructions on
 *                    sharing it.
 *   multiply_own_blocks (own_blocks_cuda.cuh)
 *                    takes blocks of 3 or 6 rows. A thread takes three columns of a block of C, and
 *                    goes through the row of A. It searches for column j in each row k of B.
 *   multiply_blocks  takes rows that do not fit there. A lane takes a column of a block of C, and
 *                    `width` lanes take the block. Each of them searches for column j in another
 *                    row k of B, and passes on where the block is.
 *   multiply_any     takes blocks of any other size, one in each warp. */
#ifndef BSI_NUMERIC_CUDA_CUH
#define BSI_NUMERIC_CUDA_CUH

#include "multigrid/spgemm/product_cuda.cuh"

namespace {

/* --- rows of C in shared memory --- */

/* The part of a row of C that a group of lanes has: blocks `first` … `first + count − 1`, column by
 * column. */
struct row_window {
  int first, count;
  double *sums;
  /* their columns, if the slots of the products are not known */
  const int32_t *columns;
};

/* Returns the place in the window of product `at` with block q of B, or a number out of it. */
__device__ __forceinline__ int place_in(const product &s, const row_window &w, int32_t q,
                                        int32_t at) {
  if (s.slots.of) return __ldg(s.slots.of + at) - w.first;
  return bsi_find_column(w.columns, 0, w.count, __ldg(s.b.col + q));
}

/* Adds A_p times the blocks `q` … `end` − 1 of B, as far as their places are in the window. `at` is
 * the number of the first of these products. No two lanes add to the same column of a block.
 * Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_row(const product &s, const row_window &w, int member,
                                        int32_t p, int32_t q, int32_t end, int32_t at) {
  const int width = s.width, step = s.lanes / width, column = member % width, own = member / width;
  if (member >= step * width) return;
  for (q += own, at += own; q < end; q += step, at += step) {
    double right[A && B ? M : H], sum[H];
    const int place = place_in(s, w, q, at);
    load_factor<H, M, A, B>(s, p, q, column, right);
    if (place < 0 || place >= w.count) continue;
    double *to = w.sums + (place * width + column) * H;
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] = to[r];
    add_product<H, M, A, B>(s, p, right, sum);
#pragma unroll
    for (int r = 0; r < H; r++) to[r] = sum[r];
  }
}

/* Adds all products of row i to the window. Each lane of `mask` finds the row of B that one of the
 * next blocks of A multiplies. Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_rows(const product &s, const row_window &w, int64_t i,
                                         int member, unsigned mask) {
  const int32_t last = __ldg(s.a.ptr + i + 1);
  int32_t at = s.slots.of ? __ldg(s.slots.before + i) : 0;
  for (int32_t base = __ldg(s.a.ptr + i); base < last; base += s.lanes) {
    int32_t begin = 0, end = 0;
    if (member < last - base) {
      const int32_t k = __ldg(s.a.col + base + member);
      begin = __ldg(s.b.ptr + k);
      end = __ldg(s.b.ptr + k + 1);
    }
    const int blocks = min(s.lanes, last - base);
    for (int n = 0; n < blocks; n++) {
      const int32_t from = __shfl_sync(mask, begin, n, s.lanes),
                    to = __shfl_sync(mask, end, n, s.lanes);
      add_row<H, M, A, B>(s, w, member, base + n, from, to, at);
      at += to - from;
      __syncwarp(mask); /* the next block may add to the same places */
    }
  }
}

/* Smooths the blocks of a window of row i, whose first column is at `columns`. Each lane takes a
 * column of a block, or a row from the right. */
template <int H, int M, side SIDE>
__device__ __forceinline__ void smooth_window(const product &s, const row_window &w, int64_t i,
                                              const int32_t *columns, int member) {
  constexpr int SIZE = SIDE == LEFT ? H : M, STRIDE = SIDE == LEFT ? 1 : H;
  const int each = SIDE == LEFT ? s.width : H, size = H * s.width;
  for (int v = member; v < w.count * each; v += s.lanes) {
    const int place = v / each, own = v % each;
    double *at = w.sums + place * size + (SIDE == LEFT ? own * H : own), values[SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++) values[k] = at[k * STRIDE];
    const int32_t j = __ldg(columns + place);
    smooth_values<SIZE, SIDE>(s, i, j, own, inverse_block<SIZE, false>(s, SIDE == LEFT ? i : j),
                              values);
#pragma unroll
    for (int k = 0; k < SIZE; k++) at[k * STRIDE] = values[k];
  }
}

/* Template parameters: those of load_factor(), and the side of smoothing. */
template <int H, int M, bool A, bool B, side SIDE>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_rows(const product s) {
  extern __shared__ double shared[];
  const int lanes = s.lanes, groups = BLOCK_THREADS / lanes,
            member = static_cast<int>(threadIdx.x) % lanes,
            group = static_cast<int>(threadIdx.x) / lanes, size = H * s.width;
  const unsigned mask = BSI_FULL_WARP >> (BSI_WARP - lanes)
                                             << (threadIdx.x % BSI_WARP / lanes * lanes);
  const int64_t i = blockIdx.x * static_cast<int64_t>(groups) + group;
  double *sums = shared + group * s.window * size;
  int32_t *columns = reinterpret_cast<int32_t *>(shared + groups * s.window * size) +
                     (s.slots.of ? 0 : group * s.window);
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t begin = __ldg(s.c.ptr + i), length = __ldg(s.c.ptr + i + 1) - begin;
  for (int first = 0; first < length; first += s.window) {
    const int count = min(s.window, length - first);
    for (int v = member; v < count * size; v += lanes) sums[v] = 0.0;
    for (int v = member; v < count && !s.slots.of; v += lanes)
      columns[v] = __ldg(s.c.col + begin + first + v);
    __syncwarp(mask);
    const row_window w = {first, count, sums, columns};
    add_rows<H, M, A, B>(s, w, i, member, mask);
    if constexpr (SIDE != PLAIN) {
      smooth_window<H, M, SIDE>(s, w, i, s.c.col + begin + first, member);
      __syncwarp(mask);
    }
    double *to = s.c.values + (static_cast<int64_t>(begin) + first) * size;
    for (int v = member; v < count * size; v += lanes) to[v] = sums[v];
    __syncwarp(mask);
  }
}

/* --- blocks of C --- */

/* Returns the position of column j in the row of B that block p of A multiplies, or -1. */
__device__ __forceinline__ int32_t find_factor(const product &s, int32_t p, int32_t j) {
  const int32_t k = __ldg(s.a.col + p);
  return bsi_find_column(bsi_read_only<int32_t>{s.b.col}, __ldg(s.b.ptr + k),
                         __ldg(s.b.ptr + k + 1), j);
}

/* Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_blocks(const product s) {
  bsi_wait_for_predecessor();
  const int width = s.width;
  const lanes_of_blocks l = block_of_lane(s.rows, s.c.ptr, s.blocks, width);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c.col + l.position), begin = __ldg(s.a.ptr + l.row),
                length = l.working ? __ldg(s.a.ptr + l.row + 1) - begin : 0;
  const unsigned lanes = BSI_FULL_WARP >> (BSI_WARP - width);
  double sum[H] = {};
  for (int32_t done = 0; __any_sync(BSI_FULL_WARP, done < length); done += width) {
    const int32_t at = done + l.member < length ? find_factor(s, begin + done + l.member, j) : -1;
    unsigned found = __ballot_sync(BSI_FULL_WARP, at >= 0) >> l.first & lanes;
    while (__any_sync(BSI_FULL_WARP, found != 0)) {
      const int next = found != 0 ? __ffs(static_cast<int>(found)) - 1 : 0;
      const int32_t q = __shfl_sync(BSI_FULL_WARP, at, l.first + next);
      if (found != 0) {
        double right[A && B ? M : H];
        load_factor<H, M, A, B>(s, begin + done + next, q, l.member, right);
        add_product<H, M, A, B>(s, begin + done + next, right, sum);
      }
      found &= found - 1;
    }
  }
  if (!l.working) return;
  double *to = s.c.values + (static_cast<int64_t>(l.position) * width + l.member) * H;
#pragma unroll
  for (int r = 0; r < H; r++) to[r] = sum[r];
}

/* Returns sum + value (r, c) of A_p B_q, with the roundings of add_product(). */
__device__ __forceinline__ double add_value(const product &s, int32_t p, int32_t q, int r, int c,
                                            double sum) {
  const double *a = s.a.values + static_cast<int64_t>(p) * s.height * s.inner + r,
               *b = s.b.values + (static_cast<int64_t>(q) * s.width + c) * s.inner;
  if (!s.a.values && !s.b.values) return sum + (r == c ? weight_of(s, p) : 0.0);
  if (!s.a.values) return sum + weight_of(s, p) * b[r];
  if (!s.b.values) return sum + a[c * s.height];
  for (int k = 0; k < s.inner; k++) sum += a[k * s.height] * b[k];
  return sum;
}

/* Blocks of any size. A warp takes a block, and 32 of its values at a time. */
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_any(const product s) {
  bsi_wait_for_predecessor();
  const lanes_of_blocks l = block_of_lane(s.rows, s.c.ptr, s.blocks, BSI_WARP);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c.col + l.position), begin = __ldg(s.a.ptr + l.row),
                length = __ldg(s.a.ptr + l.row + 1) - begin;
  const int values = s.height * s.width;
  for (int start = 0; start < values; start += BSI_WARP) {
    const int v = start + l.member, r = v % s.height, c = v / s.height;
    double sum = 0.0;
    for (int32_t done = 0; done < length; done += BSI_WARP) {
      const int32_t at = done + l.member < length ? find_factor(s, begin + done + l.member, j) : -1;
      for (unsigned found = __ballot_sync(BSI_FULL_WARP, at >= 0); found != 0; found &= found - 1) {
        const int next = __ffs(static_cast<int>(found)) - 1;
        const int32_t q = __shfl_sync(BSI_FULL_WARP, at, next);
        if (v < values) sum = add_value(s, begin + done + next, q, r, c, sum);
      }
    }
    if (v < values) s.c.values[static_cast<int64_t>(l.position) * values + v] = sum;
  }
}

} // namespace

#endif
