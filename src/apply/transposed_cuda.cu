/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with transposes on the device: y_j ← alpha·Σ_i A_ijᵀ x_i + beta·z_j.
 *
 * A lane has one scalar column. Of each block of its block column it reads that column, consecutive
 * values in words as wide as their address allows, and multiplies it by x. The lane gathers the
 * blocks through the column form, in its order, so that the bits repeat and no lane needs another
 * one. */
#include "apply/apply_ops.h"
#include "apply/product_cuda.cuh"
#include "core/block/block_sizes.h"
#include "core/block/values.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "gpu/launch.cuh"
#include "gpu/load.cuh"

namespace {

enum { THREADS = 128, WARPS = THREADS / BSI_WARP };

/* Blocks of a lane that are under way together. Not measured. */
enum { UNROLLED = 2 };

/* Messages of failures begin with it. */
constexpr char what[] = "transposed block product";

struct product {
  int32_t block_cols, block_size;
  bsi_columns columns;
  const void *values;
  bool unit_diagonal, passing_once;
  bsi_product of;
};

/* y ← alpha·sum + beta·z for scalar column `at` and vector v. */
__device__ __forceinline__ void finish(const product &p, int64_t at, int v, double sum) {
  if (p.unit_diagonal) sum += p.of.x[v * p.of.ldx + at];
  p.of.y[v * p.of.ldy + at] = p.of.beta == 0.0
                                  ? p.of.alpha * sum
                                  : p.of.alpha * sum + p.of.beta * p.of.z[v * p.of.ldz + at];
}

/* T: the type of the values
 * BS: the block size
 * VECTORS: how many vectors */
template <typename T, int BS, int VECTORS>
__global__ void __launch_bounds__(THREADS) multiply(const product p) {
  constexpr int GROUPS = BSI_WARP / BS;
  const int lane = threadIdx.x % BSI_WARP, group = lane / BS, c = lane % BS;
  const int64_t j = (blockIdx.x * static_cast<int64_t>(WARPS) + threadIdx.x / BSI_WARP) *
                        static_cast<int64_t>(GROUPS) +
                    group;
  bsi_wait_for_predecessor();
  if (group >= GROUPS || j >= p.block_cols) return;
  const passing way(p.passing_once);
  const int32_t end = __ldg(p.columns.col_ptr + j + 1);
  double sum[VECTORS] = {};
  for (int32_t s = __ldg(p.columns.col_ptr + j); s < end; s += UNROLLED) {
    int32_t row[UNROLLED] = {};
    double a[UNROLLED][BS] = {};
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (s + u < end) {
        row[u] = __ldg(p.columns.row_idx + s + u);
        const int64_t position = __ldg(p.columns.position + s + u);
        load_values<T, BS>(way, static_cast<const T *>(p.values) + (position * BS + c) * BS, a[u]);
      }
#pragma unroll
    for (int u = 0; u < UNROLLED; u++)
      if (s + u < end)
#pragma unroll
        for (int v = 0; v < VECTORS; v++)
#pragma unroll
          for (int r = 0; r < BS; r++)
            sum[v] +=
                a[u][r] * __ldg(p.of.x + v * p.of.ldx + static_cast<int64_t>(row[u]) * BS + r);
  }
#pragma unroll
  for (int v = 0; v < VECTORS; v++) finish(p, j * BS + c, v, sum[v]);
}

/* The same with a block size that is known at run time only. Each row of the grid does one vector.
 *   T: the type of the values */
template <typename T> __global__ void __launch_bounds__(THREADS) multiply_any(const product p) {
  const int bs = p.block_size, v = static_cast<int>(blockIdx.y);
  const int64_t at = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  if (at >= static_cast<int64_t>(p.block_cols) * bs) return;
  const int64_t j = at / bs, c = at % bs;
  double sum = 0.0;
  for (int32_t s = p.columns.col_ptr[j]; s < p.columns.col_ptr[j + 1]; s++) {
    const T *column = static_cast<const T *>(p.values) +
                      (static_cast<int64_t>(p.columns.position[s]) * bs + c) * bs;
    const double *x = p.of.x + v * p.of.ldx + static_cast<int64_t>(p.columns.row_idx[s]) * bs;
    for (int r = 0; r < bs; r++) sum += widen(column[r]) * x[r];
  }
  finish(p, at, v, sum);
}

/* T: the type of the values
 * BS: the block size */
template <typename T, int BS>
bisai_status enqueue(bisai_context *context, const product &p, int vectors) {
  const dim3 grid(bsi_grid(p.block_cols, BSI_WARP / BS * WARPS));
  bsi_launch_early(context, vectors == 1 ? multiply<T, BS, 1> : multiply<T, BS, VECTORS_AT_ONCE>,
                   grid, THREADS, 0, p);
  return bsi_launched(context, what);
}

/* T: the type of the values */
template <typename T>
bisai_status enqueue_type(bisai_context *context, const product &p, int vectors) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<T, BS>(context, p, vectors);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  const dim3 grid(bsi_grid(static_cast<int64_t>(p.block_cols) * p.block_size, THREADS),
                  static_cast<unsigned>(vectors));
  multiply_any<T><<<grid, THREADS, 0, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, what);
}

} // namespace

bisai_status bsi_multiply_transposed_cuda(bisai_context *context, const bisai_bcsr *a,
                                          const bsi_columns *columns, const bsi_product *all) {
  const int64_t bytes =
      static_cast<int64_t>(bsi_block_offset(a, a->blocks) * bsi_value_bytes(a->type));
  if (a->block_cols == 0) return BISAI_OK;
  return for_vectors(a, all, [&](auto stored, const bsi_product &of) {
    const product p = {.block_cols = a->block_cols,
                       .block_size = a->block_size,
                       .columns = *columns,
                       .values = a->values,
                       .unit_diagonal = a->unit_diagonal,
                       .passing_once = bytes + of.cached_bytes > context->limits.cache,
                       .of = of};
    return enqueue_type<typename decltype(stored)::type>(context, p, of.count);
  });
}
