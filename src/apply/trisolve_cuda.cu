/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact block triangular solves on the device: x_i ← D_i⁻¹ (b_i − Σ_j T_ij x_j) over the
 * off-diagonal blocks of row i.
 *
 * One launch, a warp a block row, rows in the order of their levels, values of x handed over as
 * gpu/await.cuh says, so that a level costs one trip through the L2 cache and no barrier.
 * Thread blocks draw their rows in order from a ticket: what a waiting warp waits for is always
 * running or done. */
#include "apply/apply_ops.h"
#include "core/block_sizes.h"
#include "core/context_impl.h"
#include "core/triangular.h"
#include "gpu/await.cuh"
#include "gpu/launch.cuh"

namespace {

enum {
  THREADS = 128,
  WARPS = THREADS / BSI_WARP,
  /* values of x that a lane waits for together */
  AT_ONCE = 4
};

struct solve {
  bool lower;
  int32_t block_rows, block_size, levels;
  const int32_t *order, *row_ptr, *col_idx;
  const double *values, *inverse_diagonal;
  const double *b;
  double *x;
  unsigned *ticket;
};

/* rest − Σ T_rf x_f over COUNT columns f = first, first + split, … of the row's blocks, all of
 * whose x are waited for together. What is made last comes last. */
template <int COUNT>
__device__ __forceinline__ double subtract_columns(const solve &p, int32_t i, int32_t begin,
                                                   int columns, int first, int split, int r, int bs,
                                                   double rest) {
  double value[COUNT], x[COUNT];
  const double *from[COUNT];
#pragma unroll
  for (int e = 0; e < COUNT; e++) {
    const int turn = first + e * split;
    value[e] = x[e] = 0.0;
    from[e] = nullptr;
    if (turn >= columns) continue;
    const int f = p.lower ? turn : columns - 1 - turn;
    const int32_t q = begin + f / bs, j = __ldg(p.col_idx + q);
    if (j == i) continue;
    value[e] = __ldg(p.values + static_cast<int64_t>(q) * bs * bs + f % bs * bs + r);
    from[e] = p.x + static_cast<int64_t>(j) * bs + f % bs;
  }
  for (;;) {
    bool missing = false;
#pragma unroll
    for (int e = 0; e < COUNT; e++) {
      if (!from[e]) continue;
      x[e] = bsi_peek(from[e]);
      missing |= bsi_is_absent(x[e]);
    }
    if (!missing) break;
  }
#pragma unroll
  for (int e = 0; e < COUNT; e++) rest -= value[e] * x[e];
  return rest;
}

/* Lane (r, s) sums row r over the columns s, s + SPLIT, … of the row's blocks, whose values it has
 * read before it waits for the first x. BS = 0: the block size at run time. */
template <int BS> __global__ void __launch_bounds__(THREADS) solve_rows(const solve p) {
  const int bs = BS > 0 ? BS : p.block_size, values = bs * bs;
  const int split = BSI_WARP / bs, lane = threadIdx.x % BSI_WARP, s = lane / bs, r = lane % bs;
  __shared__ unsigned drawn;
  if (threadIdx.x == 0) drawn = atomicAdd(p.ticket, 1u);
  __syncthreads();
  const int64_t turn = static_cast<int64_t>(drawn) * WARPS + threadIdx.x / BSI_WARP;
  if (turn >= p.block_rows) return;
  const int32_t i = __ldg(p.order + turn), begin = __ldg(p.row_ptr + i),
                end = __ldg(p.row_ptr + i + 1);
  const int64_t row = static_cast<int64_t>(i) * bs + r;
  double rest = s == 0 ? p.b[row] : 0.0, inverse[BS > 0 ? BS : 1];
  if (BS > 0 && p.inverse_diagonal) {
#pragma unroll
    for (int c = 0; c < BS; c++)
      inverse[c] = __ldg(p.inverse_diagonal + static_cast<int64_t>(i) * values + c * BS + r);
  }
  const int columns = s < split ? (end - begin) * bs : 0;
  if (columns <= split) {
    rest = subtract_columns<1>(p, i, begin, columns, s, split, r, bs, rest);
  } else {
    for (int first = s; first < columns; first += AT_ONCE * split)
      rest = subtract_columns<AT_ONCE>(p, i, begin, columns, first, split, r, bs, rest);
  }
  for (int step = 1; step < split; step *= 2) {
    const double other = __shfl_down_sync(BSI_FULL_WARP, rest, step * bs);
    if (s + step < split) rest += other;
  }
  double x = rest;
  if (p.inverse_diagonal) {
    x = 0.0;
    for (int c = 0; c < bs; c++) {
      const double part = __shfl_sync(BSI_FULL_WARP, rest, c);
      x += (BS > 0 ? inverse[BS > 0 ? c : 0]
                   : __ldg(p.inverse_diagonal + static_cast<int64_t>(i) * values + c * bs + r)) *
           part;
    }
  }
  if (s == 0) bsi_hand_over(p.x + row, x);
}

template <int BS> cudaError_t enqueue(const bisai_context *context, const solve &p) {
  const size_t bytes = bsi_bytes_to_thin_out(context, p.block_rows, p.levels, 8, WARPS, 0);
  if (bytes > 0) {
    const cudaError_t error = cudaFuncSetAttribute(
        solve_rows<BS>, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
    if (error != cudaSuccess) return error;
  }
  solve_rows<BS><<<bsi_grid(p.block_rows, WARPS), THREADS, bytes, bsi_stream_of(context)>>>(p);
  return cudaGetLastError();
}

cudaError_t enqueue_size(const bisai_context *context, const solve &p) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return enqueue<0>(context, p);
}

} // namespace

/* Rows wait for values and not for levels, whatever the schedule. If x is b, the solution is made
 * in the vector that the factors keep for that, and copied. */
static bisai_status triangular_solve(bisai_context *context, const bsi_triangular *t,
                                     bisai_schedule schedule, int32_t count, const double *b,
                                     int64_t ldb, double *x, int64_t ldx) {
  (void)schedule;
  const bisai_bcsr *a = t->matrix;
  const size_t bytes = static_cast<size_t>(a->block_rows) * a->block_size * sizeof(double);
  const cudaStream_t stream = bsi_stream_of(context);
  bisai_status status = BISAI_OK;
  for (int32_t v = 0; v < count && bytes > 0 && !status; v++) {
    double *target = x + v * ldx, *made = b + v * ldb == target ? t->spare : target;
    const solve p = {t->triangle == BISAI_LOWER,
                     a->block_rows,
                     a->block_size,
                     t->levels->count,
                     t->levels->rows,
                     a->row_ptr,
                     a->col_idx,
                     static_cast<const double *>(a->values),
                     t->inverse_diagonal,
                     b + v * ldb,
                     made,
                     context->tickets};
    cudaError_t error = cudaMemsetAsync(made, 0xff, bytes, stream);
    if (error == cudaSuccess) error = enqueue_size(context, p);
    if (error == cudaSuccess)
      error = cudaMemsetAsync(context->tickets, 0, sizeof *context->tickets, stream);
    if (error == cudaSuccess && made != target)
      error = cudaMemcpyAsync(target, made, bytes, cudaMemcpyDeviceToDevice, stream);
    if (error != cudaSuccess)
      status =
          bsi_fail(context, BISAI_DEVICE_ERROR, "triangular solve: %s", cudaGetErrorString(error));
  }
  return status;
}

const bsi_trisolve_ops bsi_triangular_cuda = {.solve = triangular_solve};
