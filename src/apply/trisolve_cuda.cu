/* SPDX-License-Identifier: BSD-3-Clause */
/* Exact block triangular solves on the device: x_i ← D_i⁻¹ (b_i − Σ_j T_ij x_j) over the
 * off-diagonal blocks of row i.
 *
 * One launch does all. A warp takes a block row, and rows go in the order of their levels. Warps
 * pass values of x on as gpu/await.cuh says, so that a level costs one trip through the L2 cache
 * and no barrier. Thread blocks draw their rows in order from a ticket: what a waiting warp waits
 * for is always running or done. */
#include "apply/apply_ops.h"
#include "core/block/block_sizes.h"
#include "core/context/context_impl.h"
#include "core/matrix/triangular.h"
#include "gpu/await.cuh"

namespace {

enum {
  THREADS = 128,
  WARPS = THREADS / BSI_WARP,
  /* values of x that a lane waits for together */
  AT_ONCE = 4,
  /* levels whose rows are under way together: more rows that wait slow down those that do not
   * (docs/tuning.md, "Exact triangular solves") */
  LEVELS_AHEAD = 8
};

/* Messages of failures begin with it. */
constexpr char what[] = "triangular solve";

struct solve {
  bool lower;
  int32_t block_rows, block_size, levels;
  const int32_t *order, *row_ptr, *col_idx;
  const double *values, *inverse_diagonal;
  const double *b;
  double *x;
  unsigned *ticket;
};

/* What a lane has: row r of block row i. The blocks of the row begin at `begin` and have `columns`
 * columns, of which a lane takes every split-th. */
struct part {
  int32_t i, begin;
  int columns, split, r, bs;
};

/* Returns rest − Σ T_rf x_f over columns f = first, first + split, … of the row's blocks. Waits for
 * all these x_f together. The columns whose x is made last come last.
 *   COUNT: how many columns */
template <int COUNT>
__device__ __forceinline__ double subtract_columns(const solve &p, const part &l, int first,
                                                   double rest) {
  double value[COUNT], x[COUNT];
  const double *from[COUNT];
#pragma unroll
  for (int e = 0; e < COUNT; e++) {
    const int turn = first + e * l.split;
    value[e] = x[e] = 0.0;
    from[e] = nullptr;
    if (turn >= l.columns) continue;
    const int f = p.lower ? turn : l.columns - 1 - turn;
    const int32_t q = l.begin + f / l.bs, j = __ldg(p.col_idx + q);
    if (j == l.i) continue;
    value[e] = __ldg(p.values + static_cast<int64_t>(q) * l.bs * l.bs + f % l.bs * l.bs + l.r);
    from[e] = p.x + static_cast<int64_t>(j) * l.bs + f % l.bs;
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

/* Lane (r, s) sums row r over the columns s, s + split, … of the row's blocks. It reads their
 * values before it waits for the first x.
 *   BS: the block size, or 0 if it is known at run time only */
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
  const part l = {i, begin, columns, split, r, bs};
  if (columns <= split) {
    rest = subtract_columns<1>(p, l, s, rest);
  } else {
    for (int first = s; first < columns; first += AT_ONCE * split)
      rest = subtract_columns<AT_ONCE>(p, l, first, rest);
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

/* BS: as in solve_rows() */
template <int BS> bisai_status enqueue(bisai_context *context, const solve &p) {
  const size_t bytes =
      bsi_bytes_to_thin_out(context, p.block_rows, p.levels, LEVELS_AHEAD, WARPS, 0);
  if (bytes > 0) BSI_TRY(bsi_gpu_allow_shared(context, what, solve_rows<BS>, bytes));
  solve_rows<BS><<<bsi_grid(p.block_rows, WARPS), THREADS, bytes, bsi_stream_of(context)>>>(p);
  return bsi_launched(context, what);
}

bisai_status enqueue_size(bisai_context *context, const solve &p) {
  switch (p.block_size) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue<BS>(context, p);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return enqueue<0>(context, p);
}

/* x ← T⁻¹ b for one vector. A solution in place is made in the vector that the factors keep for
 * that, and copied. */
bisai_status solve_one(bisai_context *context, const bsi_triangular *t, const double *b,
                       double *x) {
  const bisai_bcsr *a = t->matrix;
  const size_t bytes = static_cast<size_t>(a->block_rows) * a->block_size * sizeof(double);
  double *made = b == x ? t->spare : x;
  BSI_TRY(bsi_gpu_fill(context, what, made, 0xff, bytes));
  BSI_TRY(enqueue_size(context, {.lower = t->triangle == BISAI_LOWER,
                                 .block_rows = a->block_rows,
                                 .block_size = a->block_size,
                                 .levels = t->levels->count,
                                 .order = t->levels->rows,
                                 .row_ptr = a->row_ptr,
                                 .col_idx = a->col_idx,
                                 .values = static_cast<const double *>(a->values),
                                 .inverse_diagonal = t->inverse_diagonal,
                                 .b = b,
                                 .x = made,
                                 .ticket = context->tickets}));
  BSI_TRY(bsi_gpu_fill(context, what, context->tickets, 0, sizeof *context->tickets));
  return made == x ? BISAI_OK : bsi_gpu_copy(context, what, x, made, bytes);
}

} // namespace

/* Rows wait for values and not for levels, whatever the schedule is. */
bisai_status bsi_solve_triangle_cuda(bisai_context *context, const bsi_triangular *t,
                                     bisai_schedule schedule, int32_t count, const double *b,
                                     int64_t ldb, double *x, int64_t ldx) {
  (void)schedule;
  for (int32_t v = 0; v < count && t->matrix->block_rows > 0; v++)
    BSI_TRY(solve_one(context, t, b + v * ldb, x + v * ldx));
  return BISAI_OK;
}
