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
  /* multiply_rows: the lanes of a row, a power of two and at least `width`, and the blocks of C
   * that they have in shared memory */
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

/* --- rows of C in shared memory --- */

/* The part of a row of C that a group of lanes has. */
struct row_window {
  const int32_t *columns;
  int count;
  /* the largest power of two below `count` */
  int top;
  /* the blocks, column by column */
  double *sums;
};

/* Goes through the blocks of the rows of B that row i of A multiplies. The lanes of the group take
 * some blocks of one row of B at a time, and have the same numbers but `begin` and `end`. */
struct walk {
  /* the first of some blocks of A, and how many they are */
  int32_t base, blocks;
  /* the row of B of one of them, which differs from lane to lane */
  int32_t begin, end;
  /* the next of them, and how much of its row of B is done */
  int32_t next, done;
};

/* The part of a lane: it takes a column of block `first` of `step` blocks of B. Lanes that are left
 * over take none. */
struct share {
  int step, first, column;
  bool working;
};

/* What a lane adds to a block of C: a column of the product of block p of A and a block of B, which
 * is in column j, or none if j < 0. The block of A is loaded early if it is small.
 *   H, M, A, B: those of load_factor() */
template <int H, int M, bool A, bool B> struct addend {
  static constexpr bool early = A && B && H * M <= 9;
  int32_t p, j;
  double left[early ? H * M : 1], right[A && B ? M : H];
};

/* Takes the next addend of the lane. Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void take(const product &s, walk *w, const share &mine, unsigned mask,
                                     addend<H, M, A, B> *t) {
  t->j = -1;
  if (w->next == w->blocks) return;
  const int32_t begin = __shfl_sync(mask, w->begin, w->next, s.lanes) + w->done,
                end = __shfl_sync(mask, w->end, w->next, s.lanes), q = begin + mine.first;
  t->p = w->base + w->next;
  w->done += mine.step;
  if (begin + mine.step >= end) {
    w->done = 0;
    w->next++;
  }
  if (!mine.working || q >= end) return;
  t->j = __ldg(s.b_col + q);
  load_factor<H, M, A, B>(s, t->p, q, mine.column, t->right);
  if constexpr (addend<H, M, A, B>::early)
    load_cached(s.a + static_cast<int64_t>(t->p) * (H * M), t->left);
}

/* Adds to the blocks of C. No two lanes add to the same column of a block.
 *   place: the place of the block in the window, which may be that of another column
 * Template parameters: those of load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add(const product &s, const row_window &w, int column, int place,
                                    const addend<H, M, A, B> &t) {
  if (t.j < 0 || w.columns[place] != t.j) return;
  double *to = w.sums + (place * s.width + column) * H, sum[H];
#pragma unroll
  for (int r = 0; r < H; r++) sum[r] = to[r];
  if constexpr (addend<H, M, A, B>::early) {
#pragma unroll
    for (int k = 0; k < M; k++)
#pragma unroll
      for (int r = 0; r < H; r++) sum[r] += t.left[k * H + r] * t.right[k];
  } else {
    add_product<H, M, A, B>(s, t.p, t.right, sum);
  }
#pragma unroll
  for (int r = 0; r < H; r++) to[r] = sum[r];
}

/* Adds all products of row i to the window. A lane has several addends under way, because their
 * loads and searches take much longer than the additions. Template parameters: those of
 * load_factor(). */
template <int H, int M, bool A, bool B>
__device__ __forceinline__ void add_rows(const product &s, const row_window &w, int64_t i,
                                         int member, unsigned mask) {
  constexpr int DEPTH = H * M == 1 ? 4 : H * M <= 9 ? 2 : 1;
  const int step = s.lanes / s.width;
  const share mine = {step, member / s.width, member % s.width, member < step * s.width};
  const int32_t last = __ldg(s.a_ptr + i + 1);
  for (int32_t base = __ldg(s.a_ptr + i); base < last; base += s.lanes) {
    walk at = {base, min(s.lanes, last - base), 0, 0, 0, 0};
    if (member < at.blocks) {
      const int32_t k = __ldg(s.a_col + base + member);
      at.begin = __ldg(s.b_ptr + k);
      at.end = __ldg(s.b_ptr + k + 1);
    }
    while (at.next < at.blocks) {
      addend<H, M, A, B> t[DEPTH];
      int place[DEPTH] = {};
#pragma unroll
      for (int d = 0; d < DEPTH; d++) take(s, &at, mine, mask, &t[d]);
      for (int jump = w.top; jump > 0; jump /= 2)
#pragma unroll
        for (int d = 0; d < DEPTH; d++)
          if (place[d] + jump < w.count && w.columns[place[d] + jump] <= t[d].j) place[d] += jump;
#pragma unroll
      for (int d = 0; d < DEPTH; d++) {
        add(s, w, mine.column, place[d], t[d]);
        __syncwarp(mask); /* the next one may add to the same places */
      }
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
    const int top = count > 1 ? 1 << (31 - __clz(count - 1)) : 0;
    add_rows<H, M, A, B>(s, {columns, count, top, sums}, i, member, mask);
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

/* Value (r, c) of A_p B_q. */
__device__ __forceinline__ double value_of_product(const product &s, int32_t p, int32_t q, int r,
                                                   int c) {
  const double *a = s.a + static_cast<int64_t>(p) * s.height * s.inner + r,
               *b = s.b + (static_cast<int64_t>(q) * s.width + c) * s.inner;
  if (!s.a && !s.b) return r == c ? 1.0 : 0.0;
  if (!s.a) return b[r];
  if (!s.b) return a[c * s.height];
  double value = 0.0;
  for (int k = 0; k < s.inner; k++) value += a[k * s.height] * b[k];
  return value;
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
        if (v < values) sum += value_of_product(s, begin + done + next, q, r, c);
      }
    }
    if (v < values) s.c[static_cast<int64_t>(l.position) * values + v] = sum;
  }
}

} // namespace

#endif
