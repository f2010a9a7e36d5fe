/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels for values of products C = A B of sparse matrices. For
 * multigrid/spgemm/spgemm_cuda.cu only.
 *
 * Block (i, j) of C is the sum of A_ik B_kj over the blocks of row i of A, in their order. Nothing
 * is written but the results, so that an update needs no memory and the bits repeat.
 *
 *   multiply_rows    A few lanes take a row of C, and keep it in shared memory. They go through the
 *                    blocks of the row of A. A lane takes a column of a block of row k of B, and
 *                    adds to the place in the row of C that creation found
 *                    (product_slots_cuda.cu). With stencils of seven points there are 24 products
 *                    for a row of A P, 75 of Tᵀ A and 298 of R (A P).
 *   multiply_short_rows
 *                    takes short rows of small blocks. Each thread takes a column of the blocks of
 *                    a row of C, because lanes that share it spend most of their instructions on
 *                    sharing it.
 *   multiply_blocks  takes rows that do not fit there. A lane takes a column of a block of C, and
 *                    `width` lanes take the block. Each of them searches for column j in another
 *                    row k of B, and passes on where the block is.
 *   multiply_any     takes blocks of any other size, one in each warp. */
#ifndef BSI_NUMERIC_CUDA_CUH
#define BSI_NUMERIC_CUDA_CUH

#include "gpu/pipeline.cuh"
#include "multigrid/spgemm/rows_cuda.cuh"
#include "multigrid/spgemm/short_rows.h"

namespace {

struct product {
  int32_t rows, blocks;
  int height, inner, width;
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col, *c_ptr, *c_col;
  /* NULL: identity blocks */
  const double *a, *b;
  /* the factors of identity blocks of A, `inner`² values apart; NULL: 1 */
  const double *weights;
  double *c;
  /* the slots of the products (multigrid/spgemm/block_matrix.h) */
  const int32_t *before;
  const uint8_t *slots;
  /* smoothing (multigrid/multigrid_ops.h). t NULL: of identity blocks */
  const int32_t *t_ptr, *t_idx;
  const double *t, *inverse;
  double omega;
  /* the lanes of a row, a power of two; multiply_rows: at least `width`, and the blocks of C that
   * they have in shared memory */
  int lanes, window, longest;
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

/* Blocks of more values are loaded column by column, to have registers for them. */
enum { MOST_AT_ONCE = 16 };

/* sum ← sum + A times a column of B, in this order. `left` has A column by column. */
template <int H, int M>
__device__ __forceinline__ void add_columns(const double (&left)[H * M], const double (&right)[M],
                                            double (&sum)[H]) {
#pragma unroll
  for (int k = 0; k < M; k++) {
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += left[k * H + r] * right[k];
  }
}

/* Returns the factor of identity block p of A. */
__device__ __forceinline__ double weight_of(const product &s, int32_t p) {
  return s.weights ? __ldg(s.weights + static_cast<int64_t>(p) * (s.inner * s.inner)) : 1.0;
}

/* sum ← sum + A_p times what load_factor() gave. The template parameters are its own. */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_product(const product &s, int32_t p,
                                            const double (&right)[A && B ? M : H],
                                            double (&sum)[H]) {
  const double *left = s.a + static_cast<int64_t>(p) * (H * M);
  if constexpr (A && B && H * M <= MOST_AT_ONCE) {
    double a[H * M];
    load_in_pairs(left, a);
    add_columns<H, M>(a, right, sum);
  } else if constexpr (A && B) {
#pragma unroll
    for (int k = 0; k < M; k++) {
      double a[H];
      load_cached(left + k * H, a);
#pragma unroll
      for (int r = 0; r < H; r++) sum[r] += a[r] * right[k];
    }
  } else if constexpr (B) {
    const double weight = weight_of(s, p);
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += weight * right[r];
  } else {
#pragma unroll
    for (int r = 0; r < H; r++) sum[r] += right[r];
  }
}

/* --- smoothing --- */

/* How the blocks of C are smoothed before they are written (bsi_smoothing): not at all, from the
 * left column by column, from the right row by row. */
enum side { PLAIN, LEFT, RIGHT };

/* D_i⁻¹ or D_j⁻¹.
 *   HELD: it is in registers */
template <int SIZE, bool HELD> struct inverse_block {
  const double *there;
  double held[HELD ? SIZE * SIZE : 1];
  __device__ __forceinline__ inverse_block(const product &s, int64_t at)
      : there(s.inverse + at * (SIZE * SIZE)) {
    if constexpr (HELD) load_in_pairs(there, held);
  }
  __device__ __forceinline__ double operator[](int v) const {
    return HELD ? held[v] : __ldg(there + v);
  }
};

/* values ← column `member` of block (i, j) of T, or row `member` from the right, minus omega·D⁻¹
 * times the values. */
template <int SIZE, side SIDE, bool HELD>
__device__ __forceinline__ void smooth_values(const product &s, int64_t i, int32_t j, int member,
                                              const inverse_block<SIZE, HELD> &d,
                                              double (&values)[SIZE]) {
  constexpr bool right = SIDE == RIGHT;
  const int32_t own = bsi_find_column(bsi_read_only<int32_t>{s.t_idx}, __ldg(s.t_ptr + i),
                                      __ldg(s.t_ptr + i + 1), j);
  const double *t = s.t + (own * static_cast<int64_t>(right ? s.height : s.width)) * SIZE +
                    (right ? member : member * SIZE);
  double before[SIZE];
#pragma unroll
  for (int k = 0; k < SIZE; k++) before[k] = values[k];
#pragma unroll
  for (int v = 0; v < SIZE; v++) {
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < SIZE; k++) sum += d[right ? v * SIZE + k : k * SIZE + v] * before[k];
    values[v] = -s.omega * sum;
    if (own >= 0)
      values[v] += s.t ? __ldg(t + v * (right ? s.height : 1)) : v == member ? 1.0 : 0.0;
  }
}

/* --- short rows --- */

/* The most blocks of C in a row on average, and the largest blocks. */
enum { MEAN_SHORT = 8, LARGEST_SHORT = 4 };

/* The blocks of A of the rows of a thread block in shared memory, as far as there is room. */
struct staged_blocks {
  int32_t begin, end;
  const double *values;
};

/* Copies them with requests that touch few lines. All threads of the thread block call. */
template <int VALUES>
__device__ __forceinline__ staged_blocks stage_blocks(const product &s, int64_t first_row,
                                                      double *room) {
  const int64_t last_row = min(first_row + blockDim.y, static_cast<int64_t>(s.rows));
  const int thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
  const int32_t begin = __ldg(s.a_ptr + first_row),
                end = bsi_window_end(begin, __ldg(s.a_ptr + last_row), s.window);
  const double *from = s.a + static_cast<int64_t>(begin) * VALUES;
  room += reinterpret_cast<uintptr_t>(from) / sizeof(double) % 2; /* the alignment of pairs */
  for (int v = thread; v < (end - begin) * VALUES; v += threads)
    bsi_copy_ahead(room + v, from + v, sizeof(double));
  bsi_commit_copies();
  bsi_wait_for_copies();
  __syncthreads();
  return {begin, end, room};
}

/* Loads values `at` … of A_p from there, or from the device. */
template <int VALUES, int COUNT>
__device__ __forceinline__ void load_staged(const product &s, const staged_blocks &staged,
                                            int32_t p, int at, double (&values)[COUNT]) {
  if (p < staged.end)
    load_in_pairs<false>(staged.values + (p - staged.begin) * VALUES + at, values);
  else
    load_in_pairs(s.a + static_cast<int64_t>(p) * VALUES + at, values);
}

/* A thread takes a column of the blocks of a row of C, which it keeps in shared memory, and goes
 * through all products of the row. blockDim.x is s.width, and s.window the blocks of A for which
 * there is room. Template parameters: those of load_factor(), and the side of smoothing. */
template <int H, int M, bool B, side SIDE>
__global__ void __launch_bounds__(BLOCK_THREADS) multiply_short_rows(const product s) {
  extern __shared__ __align__(16) double shared[];
  const int column = static_cast<int>(threadIdx.x);
  const int64_t first_row = blockIdx.x * static_cast<int64_t>(blockDim.y),
                i = first_row + threadIdx.y;
  double *sums = shared + threadIdx.y * blockDim.x + threadIdx.x;
  bsi_wait_for_predecessor();
  const staged_blocks staged =
      stage_blocks<H * M>(s, first_row, shared + s.longest * H * BLOCK_THREADS);
  if (i >= s.rows) return;
  const int32_t first = __ldg(s.c_ptr + i), count = __ldg(s.c_ptr + i + 1) - first,
                last = __ldg(s.a_ptr + i + 1);
  int32_t at = __ldg(s.before + i);
  for (int v = 0; v < count * H; v++) sums[v * BLOCK_THREADS] = 0.0;
  int32_t p = __ldg(s.a_ptr + i);
  /* the row of B that A_p multiplies, and the number of the next such row. They are loaded ahead,
   * because latency bounds this kernel. */
  int32_t begin = 0, end = 0, k = 0;
  if (p < last) {
    k = __ldg(s.a_col + p);
    begin = __ldg(s.b_ptr + k);
    end = __ldg(s.b_ptr + k + 1);
  }
  if (p + 1 < last) k = __ldg(s.a_col + p + 1);
  for (; p < last; p++) {
    const int32_t next_begin = __ldg(s.b_ptr + k), next_end = __ldg(s.b_ptr + k + 1);
    if (p + 2 < last) k = __ldg(s.a_col + p + 2);
    double left[B ? H * M : H];
    load_staged<H * M>(s, staged, p, B ? 0 : column * H, left);
    if constexpr (B) {
      double right[M];
      int place = 0;
      if (begin < end) {
        load_factor<H, M, true, true>(s, p, begin, column, right);
        place = __ldg(s.slots + at);
      }
      for (int32_t q = begin; q < end; q++, at++) {
        double *to = sums + place * (H * BLOCK_THREADS), sum[H], next[M];
        if (q + 1 < end) {
          load_factor<H, M, true, true>(s, p, q + 1, column, next);
          place = __ldg(s.slots + at + 1);
        }
#pragma unroll
        for (int r = 0; r < H; r++) sum[r] = to[r * BLOCK_THREADS];
        add_columns<H, M>(left, right, sum);
#pragma unroll
        for (int r = 0; r < H; r++) to[r * BLOCK_THREADS] = sum[r];
#pragma unroll
        for (int r = 0; r < M; r++) right[r] = next[r];
      }
    } else {
      for (int32_t q = begin; q < end; q++, at++) {
        double *to = sums + __ldg(s.slots + at) * (H * BLOCK_THREADS);
#pragma unroll
        for (int r = 0; r < H; r++) to[r * BLOCK_THREADS] += left[r];
      }
    }
    begin = next_begin, end = next_end;
  }
  double *to = s.c + (static_cast<int64_t>(first) * s.width + column) * H;
  const auto write = [&](const auto &change) {
    for (int v = 0; v < count; v++, to += s.width * H) {
      double values[H];
#pragma unroll
      for (int r = 0; r < H; r++) values[r] = sums[(v * H + r) * BLOCK_THREADS];
      change(v, values);
      store_in_pairs(values, to);
    }
  };
  if constexpr (SIDE == LEFT) {
    const inverse_block<H, true> d(s, i);
    write([&](int v, double(&values)[H]) {
      smooth_values<H, LEFT>(s, i, __ldg(s.c_col + first + v), column, d, values);
    });
  } else {
    write([](int, double(&)[H]) {});
  }
}

/* --- rows of C in shared memory --- */

/* The part of a row of C that a group of lanes has: blocks `first` … `first + count − 1`, column by
 * column. */
struct row_window {
  int first, count;
  double *sums;
};

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
    const int place = __ldg(s.slots + at) - w.first;
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
  const int32_t last = __ldg(s.a_ptr + i + 1);
  int32_t at = __ldg(s.before + i);
  for (int32_t base = __ldg(s.a_ptr + i); base < last; base += s.lanes) {
    int32_t begin = 0, end = 0;
    if (member < last - base) {
      const int32_t k = __ldg(s.a_col + base + member);
      begin = __ldg(s.b_ptr + k);
      end = __ldg(s.b_ptr + k + 1);
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
  bsi_wait_for_predecessor();
  if (i >= s.rows) return;
  const int32_t begin = __ldg(s.c_ptr + i), length = __ldg(s.c_ptr + i + 1) - begin;
  for (int first = 0; first < length; first += s.window) {
    const int count = min(s.window, length - first);
    for (int v = member; v < count * size; v += lanes) sums[v] = 0.0;
    __syncwarp(mask);
    const row_window w = {first, count, sums};
    add_rows<H, M, A, B>(s, w, i, member, mask);
    if constexpr (SIDE != PLAIN) {
      smooth_window<H, M, SIDE>(s, w, i, s.c_col + begin + first, member);
      __syncwarp(mask);
    }
    double *to = s.c + (static_cast<int64_t>(begin) + first) * size;
    for (int v = member; v < count * size; v += lanes) to[v] = sums[v];
    __syncwarp(mask);
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
  if (!s.a && !s.b) return sum + (r == c ? weight_of(s, p) : 0.0);
  if (!s.a) return sum + weight_of(s, p) * b[r];
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
