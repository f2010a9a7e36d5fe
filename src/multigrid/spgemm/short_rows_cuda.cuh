/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel for values of products of sparse matrices whose rows are short and whose blocks are
 * small. For multigrid/spgemm/spgemm_cuda.cu only, as multigrid/spgemm/numeric_cuda.cuh, which
 * describes it. */
#ifndef BSI_SHORT_ROWS_CUDA_CUH
#define BSI_SHORT_ROWS_CUDA_CUH

#include "gpu/pipeline.cuh"
#include "multigrid/spgemm/product_cuda.cuh"
#include "multigrid/spgemm/short_rows.h"

namespace {

/* The most blocks of C in a row on average, the most of one value, and the largest blocks. */
enum { MEAN_SHORT = 8, MEAN_SHORT_VALUES = 12, LARGEST_SHORT = 4 };

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
  const int32_t begin = __ldg(s.a.ptr + first_row),
                end = bsi_window_end(begin, __ldg(s.a.ptr + last_row), s.window);
  const double *from = s.a.values + static_cast<int64_t>(begin) * VALUES;
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
    load_in_pairs(s.a.values + static_cast<int64_t>(p) * VALUES + at, values);
}

/* Returns the place of product `at` with block q of B in a row of C with these columns, from place
 * `from` on. The columns of a row of B ascend, so that its places do. */
__device__ __forceinline__ int place_from(const product &s, const int32_t *columns, int from,
                                          int32_t q, int32_t at) {
  if (s.slots.of) return __ldg(s.slots.of + at);
  const int32_t j = __ldg(s.b.col + q);
  while (columns[from] < j) from++;
  return from;
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
  double *sums = shared + threadIdx.y * blockDim.x + threadIdx.x,
         *room = shared + s.longest * H * BLOCK_THREADS;
  int32_t *columns = reinterpret_cast<int32_t *>(room + s.window * (H * M) + 1) +
                     (s.slots.of ? 0 : threadIdx.y * s.longest);
  bsi_wait_for_predecessor();
  const int64_t row = min(i, static_cast<int64_t>(s.rows) - 1);
  const int32_t first = __ldg(s.c.ptr + row), count = __ldg(s.c.ptr + row + 1) - first;
  for (int v = column; v < count && !s.slots.of; v += static_cast<int>(blockDim.x))
    columns[v] = __ldg(s.c.col + first + v);
  const staged_blocks staged = stage_blocks<H * M>(s, first_row, room);
  if (i >= s.rows) return;
  const int32_t last = __ldg(s.a.ptr + i + 1);
  int32_t at = s.slots.of ? __ldg(s.slots.before + i) : 0;
  for (int v = 0; v < count * H; v++) sums[v * BLOCK_THREADS] = 0.0;
  int32_t p = __ldg(s.a.ptr + i);
  /* the row of B that A_p multiplies, and the number of the next such row. They are loaded ahead,
   * because latency bounds this kernel. */
  int32_t begin = 0, end = 0, k = 0;
  if (p < last) {
    k = __ldg(s.a.col + p);
    begin = __ldg(s.b.ptr + k);
    end = __ldg(s.b.ptr + k + 1);
  }
  if (p + 1 < last) k = __ldg(s.a.col + p + 1);
  for (; p < last; p++) {
    const int32_t next_begin = __ldg(s.b.ptr + k), next_end = __ldg(s.b.ptr + k + 1);
    if (p + 2 < last) k = __ldg(s.a.col + p + 2);
    double left[B ? H * M : H];
    load_staged<H * M>(s, staged, p, B ? 0 : column * H, left);
    if constexpr (B) {
      double right[M];
      int place = 0;
      if (begin < end) {
        load_factor<H, M, true, true>(s, p, begin, column, right);
        place = place_from(s, columns, 0, begin, at);
      }
      for (int32_t q = begin; q < end; q++, at++) {
        double *to = sums + place * (H * BLOCK_THREADS), sum[H], next[M];
        if (q + 1 < end) {
          load_factor<H, M, true, true>(s, p, q + 1, column, next);
          place = place_from(s, columns, place, q + 1, at + 1);
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
      int place = 0;
      for (int32_t q = begin; q < end; q++, at++) {
        place = place_from(s, columns, place, q, at);
        double *to = sums + place * (H * BLOCK_THREADS);
#pragma unroll
        for (int r = 0; r < H; r++) to[r * BLOCK_THREADS] += left[r];
      }
    }
    begin = next_begin, end = next_end;
  }
  double *to = s.c.values + (static_cast<int64_t>(first) * s.width + column) * H;
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
      smooth_values<H, LEFT>(s, i, __ldg(s.c.col + first + v), column, d, values);
    });
  } else {
    write([](int, double(&)[H]) {});
  }
}

} // namespace

#endif
