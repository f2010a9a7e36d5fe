/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for values of products C = A B of sparse matrices. For multigrid/sparse_cuda.cu only.
 *
 * Block (i, j) of C is the sum of A_ik B_kj over the blocks of row i of A, in their order. Nothing
 * is written but the results, so that an update needs no memory and the bits repeat.
 *
 *   multiply_rows    A few lanes take a row of C, and keep it in shared memory. They go through the
 *                    blocks of the row of A. A lane takes a column of a block of row k of B, and
 *                    searches for its place in the row of C. There is one search for each product:
 *                    with stencils of seven points 24 for a row of A P, 75 of Tᵀ A and 298 of
 *                    R (A P), where multiply_blocks has 55, 421 and 1199.
 *   multiply_short_rows
 *                    takes rows of a few single values. Each thread takes a row of C, because lanes
 *                    that share a row spend most of their instructions on sharing it.
 *   multiply_blocks  takes rows that do not fit there. A lane takes a column of a block of C, and
 *                    `width` lanes take the block. Each of them searches for column j in another
 *                    row k of B, and passes on where the block is.
 *   multiply_any     takes blocks of any other size, one in each warp. */
#ifndef BSI_PRODUCTS_CUDA_CUH
#define BSI_PRODUCTS_CUDA_CUH

#include "multigrid/rows_cuda.cuh"

namespace {

struct product {
  int32_t rows, blocks;
  int height, inner, width;
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col, *c_ptr, *c_col;
  /* NULL: identity blocks */
  const double *a, *b;
  double *c;
  /* the lanes of a row, a power of two; multiply_rows: at least `width`, and the blocks of C that
   * they have in shared memory */
  int lanes, window;
};

/* Loads the column of B_q that A_p multiplies; if A or B has identity blocks, the column of the
 * product.
 *   H, M: the height and the width of the blocks of A
 *   A, B: the blocks have values; otherwise they are identities, and H = M */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void load_factor(const product &s, int32_t p, int32_t q, int column,
                                            double (&right)[A && B ? M : H]) {
  if constexpr (B)
    load_cached(s.b + (static_cast<int64_t>(q) * s.width + column) * M, right);
  else
    load_cached(s.a + (static_cast<int64_t>(p) * M + column) * H, right);
}

/* sum ← sum + A_p times what load_factor() gave. The template parameters are its own. */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_product(const product &s, int32_t p,
                                            const double (&right)[A && B ? M : H],
                                            double (&sum)[H]) {
  if constexpr (A && B) {
    const double *left = s.a + static_cast<int64_t>(p) * (H * M);
#pragma unroll
    for (int k = 0; k < M; k++) {
      double a[H];
      load_cached(left + k * H, a);
#pragma unroll
      for (int r = 0; r < H; r++) sum[r] += a[r] * right[k];
    }
  } else {
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += right[r];
  }
}

/* --- short rows of single values --- */

/* The most values of a row, and on average. */
enum { MOST_SHORT = 32, MEAN_SHORT = 8 };

/* A thread takes a row of C of at most s.window values, which it keeps in shared memory. It goes
 * through the columns of a row of B in their order, and so through those of the row of C.
 *   A, B: the matrices have values; otherwise they are identities */
template <bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_short_rows(const product s) {
  extern __shared__ double shared[];
  const int64_t i = blockIdx.x * static_cast<int64_t>(BLOCK_THREADS) + threadIdx.x;
  double *sums = shared + threadIdx.x;
  int32_t *columns = reinterpret_cast<int32_t *>(shared + s.window * BLOCK_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t first = __ldg(s.c_ptr + i), count = __ldg(s.c_ptr + i + 1) - first,
                last = __ldg(s.a_ptr + i + 1);
  for (int v = 0; v < count; v++) {
    sums[v * BLOCK_THREADS] = 0.0;
    columns[v * BLOCK_THREADS] = __ldg(s.c_col + first + v);
  }
  for (int32_t p = __ldg(s.a_ptr + i); p < last; p++) {
    const int32_t k = __ldg(s.a_col + p), end = __ldg(s.b_ptr + k + 1);
    const double left = A ? __ldg(s.a + p) : 1.0;
    int place = 0;
    for (int32_t q = __ldg(s.b_ptr + k); q < end; q++) {
      const int32_t j = __ldg(s.b_col + q);
      while (place < count && columns[place * BLOCK_THREADS] != j) place++;
      if (place == count) break;
      const double right = B ? __ldg(s.b + q) : 1.0;
      sums[place * BLOCK_THREADS] += A && B ? left * right : A ? left : right;
    }
  }
  for (int v = 0; v < count; v++) s.c[first + v] = sums[v * BLOCK_THREADS];
}

/* --- rows of C in shared memory --- */

/* The part of a row of C that a group of lanes has. */
struct row_window {
  const int32_t *columns;
  int count;
  /* the blocks, column by column */
  double *sums;
};

/* Adds A_p times the blocks `q` … `end` − 1 of B, as far as their columns are in the window. No two
 * lanes add to the same column of a block. Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_row(const product &s, const row_window &w, int member,
                                        int32_t p, int32_t q, int32_t end) {
  const int width = s.width, step = s.lanes / width, column = member % width;
  if (member >= step * width) return;
  for (q += member / width; q < end; q += step) {
    double right[A && B ? M : H], sum[H];
    const int32_t j = __ldg(s.b_col + q);
    load_factor<H, M, A, B>(s, p, q, column, right);
    const int32_t place = bsi_find_column(w.columns, 0, w.count, j);
    if (place < 0) continue;
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
  const int32_t last = __ldg(s.a_ptr + i + 1);
  for (int32_t base = __ldg(s.a_ptr + i); base < last; base += s.lanes) {
    int32_t begin = 0, end = 0;
    if (member < last - base) {
      const int32_t k = __ldg(s.a_col + base + member);
      begin = __ldg(s.b_ptr + k);
      end = __ldg(s.b_ptr + k + 1);
    }
    const int blocks = min(s.lanes, last - base);
    for (int n = 0; n < blocks; n++) {
      add_row<H, M, A, B>(s, w, member, base + n, __shfl_sync(mask, begin, n, s.lanes),
                          __shfl_sync(mask, end, n, s.lanes));
      __syncwarp(mask); /* the next block may add to the same places */
    }
  }
}

/* Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_rows(const product s) {
  extern __shared__ double shared[];
  const int lanes = s.lanes, groups = BLOCK_THREADS / lanes,
            member = static_cast<int>(threadIdx.x) % lanes,
            group = static_cast<int>(threadIdx.x) / lanes, size = H * s.width;
  const unsigned mask = BSI_FULL_WARP >> (BSI_WARP - lanes)
                                             << (threadIdx.x % BSI_WARP / lanes * lanes);
  const int64_t i = blockIdx.x * static_cast<int64_t>(groups) + group;
  double *sums = shared + group * s.window * size;
  int32_t *columns =
      reinterpret_cast<int32_t *>(shared + groups * s.window * size) + group * s.window;
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t end = __ldg(s.c_ptr + i + 1);
  for (int32_t first = __ldg(s.c_ptr + i); first < end;) {
    const int count = min(s.window, end - first);
    for (int v = member; v < count * size; v += lanes) sums[v] = 0.0;
    for (int v = member; v < count; v += lanes) columns[v] = __ldg(s.c_col + first + v);
    __syncwarp(mask);
    add_rows<H, M, A, B>(s, {columns, count, sums}, i, member, mask);
    __syncwarp(mask);
    double *to = s.c + static_cast<int64_t>(first) * size;
    for (int v = member; v < count * size; v += lanes) to[v] = sums[v];
    __syncwarp(mask);
    first += count;
  }
}

/* --- blocks of C --- */

/* Returns the position of column j in the row of B that block p of A multiplies, or -1. */
__device__ __forceinline__ int32_t find_factor(const product &s, int32_t p, int32_t j) {
  const int32_t k = __ldg(s.a_col + p);
  return bsi_find_column(bsi_read_only<int32_t>{s.b_col}, __ldg(s.b_ptr + k),
                         __ldg(s.b_ptr + k + 1), j);
}

/* Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_blocks(const product s) {
  bsi_wait_for_predecessor();
  const int width = s.width;
  const lanes_of_blocks l = block_of_lane(s.rows, s.c_ptr, s.blocks, width);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c_col + l.position), begin = __ldg(s.a_ptr + l.row),
                length = l.working ? __ldg(s.a_ptr + l.row + 1) - begin : 0;
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
  double *to = s.c + (static_cast<int64_t>(l.position) * width + l.member) * H;
#pragma unroll
  for (int r = 0; r < H; r++) to[r] = sum[r];
}

/* Returns sum + value (r, c) of A_p B_q, with the roundings of add_product(). */
__device__ __forceinline__ double add_value(const product &s, int32_t p, int32_t q, int r, int c,
                                            double sum) {
  const double *a = s.a + static_cast<int64_t>(p) * s.height * s.inner + r,
               *b = s.b + (static_cast<int64_t>(q) * s.width + c) * s.inner;
  if (!s.a && !s.b) return sum + (r == c ? 1.0 : 0.0);
  if (!s.a) return sum + b[r];
  if (!s.b) return sum + a[c * s.height];
  for (int k = 0; k < s.inner; k++) sum += a[k * s.height] * b[k];
  return sum;
}

/* Blocks of any size. A warp takes a block, and 32 of its values at a time. */
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_any(const product s) {
  bsi_wait_for_predecessor();
  const lanes_of_blocks l = block_of_lane(s.rows, s.c_ptr, s.blocks, BSI_WARP);
  if (l.position < 0) return;
  const int32_t j = __ldg(s.c_col + l.position), begin = __ldg(s.a_ptr + l.row),
                length = __ldg(s.a_ptr + l.row + 1) - begin;
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
    if (v < values) s.c[static_cast<int64_t>(l.position) * values + v] = sum;
  }
}

} // namespace

#endif
