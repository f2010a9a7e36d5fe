/* SPDX-License-Identifier: BSD-3-Clause */
/* Block products on the device: y_i ← alpha·Σ_j A_ij x_j + beta·z_i (apply/rows_cuda.cuh).
 *
 * Small matrices are limited by the launch: y ← A x has kernels of its own without alpha, beta and
 * an implied diagonal. Block sizes without code of their own go by rows: each lane sums one row of
 * some of the columns. */
#include "apply/apply_ops.h"
#include "apply/product_cuda.cuh"
#include "apply/rows_cuda.cuh"
#include "core/block/block_sizes.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/load.cuh"

#include <type_traits>

namespace {

enum { DIAGONAL_THREADS = 256 };

/* Messages of failures begin with it. */
constexpr char what[] = "block product";

struct product {
  block_rows rows;
  bool unit_diagonal, narrow_z, narrow_y;
  double alpha, beta;
  /* doubles or, if they are narrow, floats */
  const void *z;
  void *y;
  int64_t ldz, ldy;
};

/* Returns z for row r of block row i and vector v, as an S. */
template <typename S>
__device__ __forceinline__ S z_of(const product &p, int32_t i, int bs, int r, int v) {
  return p.beta == 0.0 ? 0
                       : value_of<S>(p.z, p.narrow_z, v * p.ldz + static_cast<int64_t>(i) * bs + r);
}

/* y ← alpha·sum + beta·z for that row.
 *   X: the type of x
 *   S: the type of the sum */
template <typename X, typename S>
__device__ __forceinline__ void finish(const product &p, int32_t i, int bs, int r, int v, S sum,
                                       S z) {
  const int64_t row = static_cast<int64_t>(i) * bs + r;
  const S alpha = static_cast<S>(p.alpha), beta = static_cast<S>(p.beta);
  if (p.unit_diagonal)
    sum += static_cast<S>(static_cast<const X *>(p.rows.x)[v * p.rows.ldx + row]);
  set_value(p.y, p.narrow_y, v * p.ldy + row, p.beta == 0.0 ? alpha * sum : alpha * sum + beta * z);
}

/* T: the type of the values
 * X: the type of x
 * S: the type of the sums; float if a vector is in fp32
 * BS: the block size
 * SPLIT: blocks of a row that go side by side, 1 or 2
 * UNROLLED: blocks of a lane that are under way together
 * VECTORS: how many vectors
 * RESIDENT: threads that a multiprocessor is to hold, if there is one vector
 * PLAIN: alpha is 1, beta is 0, and no diagonal is implied */
template <typename T, typename X, typename S, int BS, int SPLIT, int UNROLLED, int VECTORS,
          int RESIDENT, bool PLAIN>
__global__ void __launch_bounds__(ROW_THREADS, VECTORS == 1 ? RESIDENT / ROW_THREADS : 1)
    multiply(product p) {
  using place = row_place<T, BS, SPLIT>;
  const place at(p.rows);
  /* z is there at the same time as the values of A, instead of after them */
  constexpr bool EARLY = !PLAIN && BS == 1 && VECTORS == 1;
  S sum[VECTORS][BS] = {}, z = 0;
  bsi_wait_for_predecessor();
  if (EARLY && at.working && at.member < place::LANES) z = z_of<S>(p, at.i, BS, at.c, 0);
  if (at.working) add_blocks<T, BS, SPLIT, UNROLLED, X>(p.rows, at, sum);
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    add_up<BS, place::LANES, SPLIT>(sum[v], at.group * place::GROUP, at.member % place::LANES);
    if (!at.working || at.member >= place::LANES) continue;
#pragma unroll
    for (int k = 0; k < place::COLUMNS; k++) {
      if (PLAIN)
        set_value(p.y, p.narrow_y, v * p.ldy + at.i * BS + at.c + k, sum[v][k]);
      else
        finish<X>(p, at.i, BS, at.c + k, v, sum[v][k],
                  EARLY ? z : z_of<S>(p, at.i, BS, at.c + k, v));
    }
  }
}

/* A warp takes a block row. Lane (r, s) sums row r over the columns s, s + split, … of the row's
 * blocks.
 *   T, X, S: as above */
template <typename T, typename X, typename S>
__global__ void __launch_bounds__(ROW_THREADS) multiply_any(product p) {
  const int bs = p.rows.block_size, lane = threadIdx.x % BSI_WARP, split = BSI_WARP / bs,
            s = lane / bs, r = lane % bs;
  const int64_t place = (blockIdx.x * static_cast<int64_t>(ROW_THREADS) + threadIdx.x) / BSI_WARP;
  if (place >= p.rows.count) return;
  const int32_t i = row_at(p.rows.list, place);
  const int v = static_cast<int>(blockIdx.y);
  S sum = 0;
  if (s < split) {
    const int32_t end = p.rows.row_ptr[i + 1];
    int c = s;
    for (int32_t q = p.rows.row_ptr[i]; q < end; q++, c -= bs)
      for (; c < bs; c += split)
        sum += static_cast<S>(widen(static_cast<const T *>(
                   p.rows.values)[(static_cast<int64_t>(q) * bs + c) * bs + r])) *
               static_cast<S>(static_cast<const X *>(
                   p.rows.x)[v * p.rows.ldx + static_cast<int64_t>(p.rows.col_idx[q]) * bs + c]);
  }
  for (int step = 1; step < split; step *= 2) {
    const S other = __shfl_down_sync(BSI_FULL_WARP, sum, step * bs);
    if (s + step < split) sum += other;
  }
  if (s == 0) finish<X>(p, i, bs, r, v, sum, z_of<S>(p, i, bs, r, v));
}

/* Launches the product in the shape for its matrix.
 *   T, X, S: as above
 *   BS: the block size
 *   VECTORS: how many vectors */
template <typename T, typename X, typename S, int BS, int VECTORS>
bisai_status enqueue(bisai_context *context, const product &p, double blocks_per_row) {
  const bool plain = p.alpha == 1.0 && p.beta == 0.0 && !p.unit_diagonal;
  return in_shape<T, BS, VECTORS>(blocks_per_row, [&](auto shape) {
    using how = decltype(shape);
    constexpr int ROWS = row_place<T, BS, how::split>::ROWS;
    const int64_t warps = (p.rows.count + ROWS - 1) / ROWS;
    bsi_launch_early(
        context,
        plain ? multiply<T, X, S, BS, how::split, how::unrolled, VECTORS, how::resident, true>
              : multiply<T, X, S, BS, how::split, how::unrolled, VECTORS, how::resident, false>,
        bsi_grid(warps * BSI_WARP, ROW_THREADS), ROW_THREADS, 0, p);
    return bsi_launched(context, what);
  });
}

/* Launches the product for any block size.
 *   T, X, S: as above. S is float only for one vector */
template <typename T, typename X, typename S>
bisai_status enqueue_type(bisai_context *context, const product &p, int vectors, double length) {
  switch (p.rows.block_size) {
#define CASE(BS)                                                                                   \
  case BS:                                                                                         \
    if constexpr (std::is_same_v<S, double>)                                                       \
      if (vectors > 1) return enqueue<T, X, S, BS, VECTORS_AT_ONCE>(context, p, length);           \
    return enqueue<T, X, S, BS, 1>(context, p, length);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  const dim3 grid(bsi_grid(static_cast<int64_t>(p.rows.count) * BSI_WARP, ROW_THREADS),
                  static_cast<unsigned>(vectors));
  multiply_any<T, X, S><<<grid, ROW_THREADS, 0, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, what);
}

} // namespace

static bisai_status multiply(bisai_context *context, const bisai_bcsr *a, const bsi_product *all) {
  if (a->block_rows == 0 || (all->rows && all->rows->count == 0)) return BISAI_OK;
  const double length = static_cast<double>(a->blocks) / a->block_rows;
  return for_vectors(a, all, [&](auto stored, const bsi_product &of) {
    const product p = {.rows = rows_of(context, a, of.rows, of.x, of.ldx, of.cached_bytes),
                       .unit_diagonal = a->unit_diagonal,
                       .narrow_z = of.narrow.z,
                       .narrow_y = of.narrow.y,
                       .alpha = of.alpha,
                       .beta = of.beta,
                       .z = of.z,
                       .y = of.y,
                       .ldz = of.ldz,
                       .ldy = of.ldy};
    using type = typename decltype(stored)::type;
    if constexpr (std::is_same_v<type, float>) {
      if (of.narrow.x) return enqueue_type<type, float, float>(context, p, of.count, length);
      if (of.narrow.y) return enqueue_type<type, double, float>(context, p, of.count, length);
    }
    return enqueue_type<type, double, double>(context, p, of.count, length);
  });
}

/* A thread computes one row of D x. */
namespace {
__global__ void multiply_diagonal(int64_t rows, int bs, const double *blocks, const double *x,
                                  int64_t ldx, double *y, int64_t ldy) {
  const int64_t row = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (row >= rows) return;
  const int64_t i = row / bs;
  const int r = static_cast<int>(row % bs);
  const double *block = blocks + i * bs * bs, *in = x + blockIdx.y * ldx + i * bs;
  double sum = 0.0;
  for (int c = 0; c < bs; c++) sum += block[c * bs + r] * in[c];
  y[blockIdx.y * ldy + row] = sum;
}
} // namespace

static bisai_status multiply_diagonal(bisai_context *context, int32_t n, int bs,
                                      const double *blocks, const bsi_product *of) {
  const int64_t rows = static_cast<int64_t>(n) * bs;
  if (rows == 0 || of->count == 0) return BISAI_OK;
  const dim3 grid(bsi_grid(rows, DIAGONAL_THREADS), static_cast<unsigned>(of->count));
  multiply_diagonal<<<grid, DIAGONAL_THREADS, 0, bsi_stream_of(context)>>>(rows, bs, blocks, of->x,
                                                                           of->ldx, of->y, of->ldy);
  return bsi_launched(context, "product with diagonal blocks");
}

static bisai_status load(bisai_context *context) {
  return bsi_gpu_load(context, multiply_any<double, double, double>);
}

const bsi_product_ops bsi_products_cuda = {
    .multiply = multiply, .multiply_diagonal = multiply_diagonal, .load = load};
