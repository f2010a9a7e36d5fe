/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of P and R with vectors on the device. The blocks may be rectangular or identities. */
#include "apply/rows_cuda.cuh"
#include "gpu/launch.cuh"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/spgemm/square.h"

namespace {

/* Threads of a block, those that each multiprocessor has before a matrix counts as large, and those
 * that it can have. */
enum { THREADS = 128, FILLING_THREADS = 1024, MOST_THREADS = 2048 };

/* The scalar columns of a row's blocks have consecutive numbers. Lane (r, s) of a group sums row r
 * over the columns s, s + split, …, of which UNROLLED are under way together. */
enum { UNROLLED = 4 };

/* Rows of more blocks, or values, as those of restrictions, are too long for the kernels of square
 * blocks. */
enum { LONG_ROWS = 12, LONG_ROWS_OF_VALUES = 64 };

struct product {
  const int32_t *row_ptr, *col_idx;
  /* doubles or floats */
  const void *values;
  /* doubles or floats */
  const void *x;
  double beta;
  /* doubles or, if it is narrow, floats */
  void *y;
  /* how many rows, and which: NULL: those from 0 on */
  int32_t rows;
  const int32_t *list;
  int height, width, split;
  bool narrow_y;
  /* 2³²/width, rounded up: dividing by the width is a multiplication */
  uint64_t reciprocal;
};

/* y ← sum + beta·before in a scalar row. */
template <typename S>
__device__ __forceinline__ void finish(const product &p, int64_t row, S sum, S before) {
  set_value(p.y, p.narrow_y, row, p.beta == 0.0 ? sum : sum + static_cast<S>(p.beta) * before);
}

/* T: the type of the values
 * X: the type of x
 * S: the type of the sums; float if a vector is in fp32
 * IDENTITIES: all blocks are identities, whose row r takes one value of x */
template <typename T, typename X, typename S, bool IDENTITIES>
__global__ void __launch_bounds__(THREADS) multiply_blocks(product p) {
  const int group_size = p.height * p.split, groups = BSI_WARP / group_size,
            lane = threadIdx.x % BSI_WARP, group = lane / group_size, member = lane % group_size,
            s = member / p.height, r = member % p.height;
  const int64_t warp = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / BSI_WARP,
                place = warp * groups + group;
  const bool working = group < groups && place < p.rows;
  const int64_t i = working ? row_at(p.list, place) : 0, row = i * p.height + r;
  bsi_wait_for_predecessor();
  S sum = 0, before = 0;
  if (working) {
    if (s == 0 && p.beta != 0.0) before = value_of<S>(p.y, p.narrow_y, row);
    const int32_t first = __ldg(p.row_ptr + i);
    const int width = IDENTITIES ? 1 : p.width, length = (__ldg(p.row_ptr + i + 1) - first) * width;
    const T *values =
        static_cast<const T *>(p.values) + static_cast<int64_t>(first) * width * p.height + r;
    for (int t = s; t < length; t += UNROLLED * p.split) {
      S a[UNROLLED] = {}, x[UNROLLED] = {};
#pragma unroll
      for (int u = 0; u < UNROLLED; u++) {
        const int at = t + u * p.split;
        if (at >= length) continue;
        const int q = IDENTITIES ? at : static_cast<int>(at * p.reciprocal >> 32);
        const int64_t column = __ldg(p.col_idx + first + q);
        if (!IDENTITIES) a[u] = static_cast<S>(__ldg(values + static_cast<int64_t>(at) * p.height));
        x[u] = static_cast<S>(__ldg(static_cast<const X *>(p.x) + column * p.width +
                                    (IDENTITIES ? r : at - q * width)));
      }
#pragma unroll
      for (int u = 0; u < UNROLLED; u++) sum += IDENTITIES ? x[u] : a[u] * x[u];
    }
  }
  for (int half = p.split / 2; half > 0; half /= 2)
    sum += __shfl_down_sync(BSI_FULL_WARP, sum, half * p.height);
  if (working && s == 0) finish(p, row, sum, before);
}

/* The same for blocks of a shape that the compiler knows. A lane takes a column of every SPLIT-th
 * block of its block row, so that it reads consecutive values and one value of x.
 *   T, X, S: as above
 *   H, W: the rows and the columns of a block
 *   SPLIT: blocks of a row that go side by side */
template <typename T, typename X, typename S, int H, int W, int SPLIT>
__global__ void __launch_bounds__(THREADS) multiply_shaped(product p) {
  constexpr int GROUP = W * SPLIT, ROWS = BSI_WARP / GROUP, AHEAD = 2;
  const int lane = threadIdx.x % BSI_WARP, group = lane / GROUP, member = lane % GROUP,
            c = member % W;
  const int64_t warp = (blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x) / BSI_WARP,
                place = warp * ROWS + group;
  const bool working = group < ROWS && place < p.rows;
  const int64_t i = working ? row_at(p.list, place) : 0;
  const T *values = static_cast<const T *>(p.values);
  S sum[H] = {};
  bsi_wait_for_predecessor();
  if (working) {
    const int32_t end = __ldg(p.row_ptr + i + 1);
    for (int32_t q = __ldg(p.row_ptr + i) + member / W; q < end; q += AHEAD * SPLIT) {
      T a[AHEAD][H] = {};
      S x[AHEAD] = {};
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int32_t at = q + u * SPLIT;
        if (at >= end) continue;
        const T *column = values + (static_cast<int64_t>(at) * W + c) * H;
#pragma unroll
        for (int r = 0; r < H; r++) a[u][r] = __ldg(column + r);
        x[u] = static_cast<S>(__ldg(static_cast<const X *>(p.x) +
                                    static_cast<int64_t>(__ldg(p.col_idx + at)) * W + c));
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++)
#pragma unroll
        for (int r = 0; r < H; r++) sum[r] += static_cast<S>(a[u][r]) * x[u];
    }
  }
#pragma unroll
  for (int r = 0; r < H; r++)
#pragma unroll
    for (int step = 1; step < GROUP; step *= 2) {
      const S other = __shfl_down_sync(BSI_FULL_WARP, sum[r], step);
      if (member % (2 * step) == 0 && member + step < GROUP) sum[r] += other;
    }
  if (!working || member > 0) return;
#pragma unroll
  for (int r = 0; r < H; r++) {
    const int64_t row = i * H + r;
    finish(p, row, sum[r], p.beta == 0.0 ? 0 : value_of<S>(p.y, p.narrow_y, row));
  }
}

/* Blocks of a row for each that goes side by side with others in multiply_shaped(). */
enum { BLOCKS_OF_LANE = 4 };

/* Launches multiply_shaped(). */
template <typename T, typename X, typename S, int H, int W>
void launch_shaped(bisai_context *context, const product &p, double length) {
  constexpr int WIDEST = BSI_WARP / W / 4 * 4;
  const bool wide = length > BLOCKS_OF_LANE * WIDEST;
  const int rows = wide ? BSI_WARP / (W * WIDEST) : BSI_WARP / W;
  bsi_launch_early(
      context, wide ? multiply_shaped<T, X, S, H, W, WIDEST> : multiply_shaped<T, X, S, H, W, 1>,
      bsi_grid((p.rows + rows - 1) / rows * static_cast<int64_t>(BSI_WARP), THREADS), THREADS, 0,
      p);
}

/* Launches it if there is such a shape: those of rigid-body modes. Returns false otherwise. */
template <typename T, typename X, typename S>
bool launch_if_shaped(bisai_context *context, const product &p, double length) {
  if (p.height == 3 && p.width == 6)
    launch_shaped<T, X, S, 3, 6>(context, p, length);
  else if (p.height == 6 && p.width == 3)
    launch_shaped<T, X, S, 6, 3>(context, p, length);
  else if (p.height == 2 && p.width == 3)
    launch_shaped<T, X, S, 2, 3>(context, p, length);
  else if (p.height == 3 && p.width == 2)
    launch_shaped<T, X, S, 3, 2>(context, p, length);
  else
    return false;
  return true;
}

/* The most warps of a row. */
enum { WARPS_OF_ROW = 16 };

/* The same for few long rows, each of which a thread block takes. Lane (r, s) of the block sums row
 * r over the columns s, s + apart, … */
template <typename T, typename X, typename S>
__global__ void __launch_bounds__(WARPS_OF_ROW *BSI_WARP) multiply_long_rows(product p) {
  __shared__ S sums[WARPS_OF_ROW][BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = static_cast<int>(threadIdx.x) / BSI_WARP,
            warps = static_cast<int>(blockDim.x) / BSI_WARP, split = BSI_WARP / p.height,
            r = lane % p.height, s = lane / p.height, apart = split * warps;
  const int64_t i = row_at(p.list, blockIdx.x), row = i * p.height + r;
  bsi_wait_for_predecessor();
  S sum = 0;
  if (s < split) {
    const int32_t first = __ldg(p.row_ptr + i);
    const int length = (__ldg(p.row_ptr + i + 1) - first) * p.width;
    const T *values =
        static_cast<const T *>(p.values) + static_cast<int64_t>(first) * p.width * p.height + r;
    for (int t = warp * split + s; t < length; t += UNROLLED * apart) {
      S a[UNROLLED] = {}, x[UNROLLED] = {};
#pragma unroll
      for (int u = 0; u < UNROLLED; u++) {
        const int at = t + u * apart;
        if (at >= length) continue;
        const int q = static_cast<int>(at * p.reciprocal >> 32);
        const int64_t column = __ldg(p.col_idx + first + q);
        a[u] = static_cast<S>(__ldg(values + static_cast<int64_t>(at) * p.height));
        x[u] = static_cast<S>(
            __ldg(static_cast<const X *>(p.x) + column * p.width + at - q * p.width));
      }
#pragma unroll
      for (int u = 0; u < UNROLLED; u++) sum += a[u] * x[u];
    }
  }
  sum = add_lanes(sum, p.height, split, s);
  if (s == 0) sums[warp][r] = sum;
  __syncthreads();
  if (warp > 0 || s > 0) return;
  for (int w = 1; w < warps; w++) sum += sums[w][r];
  finish(p, row, sum, p.beta == 0.0 ? 0 : value_of<S>(p.y, p.narrow_y, row));
}

bool has_values(const bsi_block_matrix *m) { return m->values || m->narrow; }

double columns_of(const bsi_block_matrix *m) {
  return static_cast<double>(m->blocks) * (has_values(m) ? m->width : 1) / m->rows;
}

/* Returns how many warps share a row: as many as the device holds at the same time, if each lane
 * has two columns. */
int warps_of(const bisai_context *context, const bsi_block_matrix *m) {
  const int64_t most = static_cast<int64_t>(context->limits.processors) * MOST_THREADS / BSI_WARP;
  const double lanes = BSI_WARP / m->height;
  int warps = 1;
  while (has_values(m) && warps < WARPS_OF_ROW &&
         2 * warps * static_cast<int64_t>(m->rows) <= most && columns_of(m) >= 4.0 * warps * lanes)
    warps *= 2;
  return warps;
}

/* Returns how many lanes share a row: each has UNROLLED columns or more, unless the matrix is
 * small. */
int split_of(const bisai_context *context, const bsi_block_matrix *m) {
  const double columns = columns_of(m);
  const int64_t filling = static_cast<int64_t>(context->limits.processors) * FILLING_THREADS;
  int split = 1;
  while (2 * split * m->height <= BSI_WARP && columns > split &&
         (columns > UNROLLED * split ||
          static_cast<int64_t>(m->rows) * m->height * 2 * split <= filling))
    split *= 2;
  return split;
}

/* T, X, S: as above. T does not matter without values */
template <typename T, typename X, typename S>
bisai_status launch(bisai_context *context, const bsi_block_matrix *m, const product &p) {
  const int of_row = warps_of(context, m), groups = BSI_WARP / (m->height * p.split);
  const int64_t warps = (p.rows + groups - 1) / groups;
  const double length = static_cast<double>(m->blocks) / m->rows;
  if (of_row > 1)
    bsi_launch_early(context, multiply_long_rows<T, X, S>, static_cast<unsigned>(p.rows),
                     static_cast<unsigned>(of_row) * BSI_WARP, 0, p);
  else if (!has_values(m) || !launch_if_shaped<T, X, S>(context, p, length))
    bsi_launch_early(
        context, has_values(m) ? multiply_blocks<T, X, S, false> : multiply_blocks<T, X, S, true>,
        bsi_grid(warps * BSI_WARP, THREADS), THREADS, 0, p);
  return bsi_launched(context, "product of a transfer");
}

} // namespace

bisai_status bsi_multiply_transfer_cuda(bisai_context *context, const bsi_block_matrix *m,
                                        const bsi_row_list *rows, bsi_vector x, double beta,
                                        bsi_vector y) {
  if (m->rows == 0 || (rows && rows->count == 0)) return BISAI_OK;
  const int64_t longest = m->height == 1 ? LONG_ROWS_OF_VALUES : LONG_ROWS;
  const bool long_rows = m->blocks > longest * m->rows;
  if (bsi_is_square(m) && !long_rows) return bsi_square_multiply(context, m, rows, x, beta, y);
  const product p = {.row_ptr = m->row_ptr,
                     .col_idx = m->col_idx,
                     .values = m->narrow ? static_cast<const void *>(m->narrow) : m->values,
                     .x = x.at,
                     .beta = beta,
                     .y = y.at,
                     .rows = rows ? rows->count : m->rows,
                     .list = rows ? rows->rows : nullptr,
                     .height = m->height,
                     .width = m->width,
                     .split = split_of(context, m),
                     .narrow_y = y.narrow,
                     .reciprocal = ((UINT64_C(1) << 32) + m->width - 1) / m->width};
  return x.narrow    ? launch<float, float, float>(context, m, p)
         : y.narrow  ? launch<float, double, float>(context, m, p)
         : m->narrow ? launch<float, double, double>(context, m, p)
                     : launch<double, double, double>(context, m, p);
}
