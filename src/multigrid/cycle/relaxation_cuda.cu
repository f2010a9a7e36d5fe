/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of cycles on the device.
 *
 * A relaxation is one pass over A (apply/rows_cuda.cuh): the lane that has the residual of row c
 * reads column c of D⁻¹, and the lanes of a block row add up their products. Small matrices do not
 * fill the device. There, more lanes share a block row, because a lane waits for each of its
 * blocks. */
#include "apply/rows_cuda.cuh"
#include "core/block/block_sizes.h"
#include "gpu/for_each.cuh"
#include "gpu/launch.cuh"
#include "gpu/sums.cuh"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/cycle/inner_steps.h"

namespace {

/* Threads that each multiprocessor has before a matrix counts as large. */
enum { FILLING_THREADS = 1024 };

/* --- relaxation --- */

struct relaxation {
  block_rows rows;
  bsi_inverse inverse;
  double alpha, beta;
  /* doubles or, if they are narrow, floats; `previous` is as x */
  const void *b, *previous;
  void *y;
  bool narrow_b, narrow_y;
};

/* The largest blocks for which a lane loads the values of its own row before those of A, so that it
 * waits for both at the same time. Larger blocks need the registers. */
enum { EARLY_SIZE = 2 };

/* Returns a value of b, which no thread writes to. */
template <typename X> __device__ __forceinline__ X right_of(const relaxation &p, int64_t row) {
  return std::is_same_v<X, float> && p.narrow_b
             ? static_cast<X>(__ldg(static_cast<const float *>(p.b) + row))
             : static_cast<X>(__ldg(static_cast<const double *>(p.b) + row));
}

/* Returns the iterate before x, which may be overwritten by y. */
template <typename X> __device__ __forceinline__ X previous_of(const relaxation &p, int64_t row) {
  return p.alpha != 0.0 && p.previous ? static_cast<const X *>(p.previous)[row] : 0;
}

/* y ← x + alpha·(x − previous) + beta·product for a scalar row. Without b x is not added. */
template <typename X>
__device__ __forceinline__ void finish(const relaxation &p, int64_t row, X product, X previous,
                                       X x) {
  X step = static_cast<X>(p.beta) * product;
  if (p.alpha != 0.0) step += static_cast<X>(p.alpha) * (x - previous);
  set_value(p.y, p.narrow_y, row, p.b ? x + step : step);
}

/* Returns a value of D⁻¹. */
template <typename X> __device__ __forceinline__ X inverse_value(const relaxation &p, int64_t at) {
  return p.inverse.narrow ? static_cast<X>(__ldg(p.inverse.narrow + at))
                          : static_cast<X>(__ldg(p.inverse.wide + at));
}

/* Returns b − A x of a scalar row or, without b, A x. */
template <typename X>
__device__ __forceinline__ X residual_of(const relaxation &p, X b, X product) {
  return p.b ? b - product : product;
}

/* T: the type of the values of A
 * X: the type of x and of the sums; float if a vector is in fp32
 * BS: the block size
 * SPLIT: blocks of a row that go side by side, a power of two
 * UNROLLED: blocks of a lane that are under way together
 * RESIDENT: threads that a multiprocessor is to hold
 * FROM_ZERO: x is zero */
template <typename T, typename X, int BS, int SPLIT, int UNROLLED, int RESIDENT, bool FROM_ZERO>
__global__ void __launch_bounds__(ROW_THREADS, RESIDENT / ROW_THREADS) relax(relaxation p) {
  using place = row_place<T, BS, SPLIT, 1>;
  const place at(p.rows);
  const bool own = at.working && at.member < BS;
  const int64_t row = static_cast<int64_t>(at.i) * BS + at.c;
  X sum[1][BS] = {}, column[BS] = {}, right = 0, x = 0, previous = 0;
  bsi_wait_for_predecessor();
  const auto load_own = [&] {
    const passing way(p.rows.passing_once);
    if (p.inverse.narrow)
      load_values<float, BS>(way, p.inverse.narrow + row * BS, column);
    else
      load_values<double, BS>(way, p.inverse.wide + row * BS, column);
    right = p.b ? right_of<X>(p, row) : 0;
    if (!FROM_ZERO) x = __ldg(static_cast<const X *>(p.rows.x) + row);
    previous = previous_of<X>(p, row);
  };
  if (own && BS <= EARLY_SIZE) load_own();
  if (!FROM_ZERO && at.working) add_blocks<T, BS, SPLIT, UNROLLED, X>(p.rows, at, sum);
  if (own && BS > EARLY_SIZE) load_own();
  if (!FROM_ZERO) add_up<BS, BS, SPLIT>(sum[0], at.group * place::GROUP, at.member % BS);
  const X residual = residual_of(p, right, sum[0][0]);
#pragma unroll
  for (int r = 0; r < BS; r++) column[r] *= residual;
  add_up<BS, BS, 1>(column, at.group * place::GROUP, at.member % BS);
  if (own) finish(p, row, column[0], previous, x);
}

/* Values of a thread of relax_values(). */
enum { VALUES_OF_THREAD = 4, VALUES_THREADS = 256 };

/* The first relaxation from zero with blocks of one value: y ← beta·D⁻¹b.
 *   X: as above */
template <typename X> __global__ void __launch_bounds__(VALUES_THREADS) relax_values(relaxation p) {
  const int64_t first =
      blockIdx.x * static_cast<int64_t>(VALUES_THREADS * VALUES_OF_THREAD) + threadIdx.x;
  X inverse[VALUES_OF_THREAD], b[VALUES_OF_THREAD];
  bsi_wait_for_predecessor();
#pragma unroll
  for (int u = 0; u < VALUES_OF_THREAD; u++) {
    const int64_t i = first + u * VALUES_THREADS;
    inverse[u] = i < p.rows.count ? inverse_value<X>(p, i) : 0;
    b[u] = i < p.rows.count ? right_of<X>(p, i) : 0;
  }
#pragma unroll
  for (int u = 0; u < VALUES_OF_THREAD; u++) {
    const int64_t i = first + u * VALUES_THREADS;
    if (i < p.rows.count)
      set_value(p.y, p.narrow_y, i, static_cast<X>(p.beta) * (inverse[u] * b[u]));
  }
}

/* A warp takes a block row. Lane (r, s) sums row r over the columns s, s + split, … of the row's
 * blocks, and then of D⁻¹.
 *   T: the type of the values of A
 *   X: the type of x */
template <typename T, typename X>
__global__ void __launch_bounds__(ROW_THREADS) relax_any(relaxation p) {
  const int bs = p.rows.block_size, lane = threadIdx.x % BSI_WARP, split = BSI_WARP / bs,
            s = lane / bs, r = lane % bs;
  const int64_t place = (blockIdx.x * static_cast<int64_t>(ROW_THREADS) + threadIdx.x) / BSI_WARP;
  bsi_wait_for_predecessor();
  if (place >= p.rows.count) return;
  const int64_t i = row_at(p.rows.list, place), row = i * bs + r;
  const X *x = static_cast<const X *>(p.rows.x);
  X sum = 0;
  if (x && s < split) {
    const T *values = static_cast<const T *>(p.rows.values) + r;
    const int32_t end = p.rows.row_ptr[i + 1];
    int c = s;
    for (int32_t q = p.rows.row_ptr[i]; q < end; q++, c -= bs)
      for (; c < bs; c += split)
        sum += static_cast<X>(values[(static_cast<int64_t>(q) * bs + c) * bs]) *
               x[static_cast<int64_t>(p.rows.col_idx[q]) * bs + c];
  }
  sum = add_lanes(sum, bs, split, s);
  const X right = s == 0 && p.b ? right_of<X>(p, row) : 0, residual = residual_of(p, right, sum);
  X product = 0;
  for (int first = 0; first < bs; first += split) {
    const int c = first + s;
    const X value = __shfl_sync(BSI_FULL_WARP, residual, c < bs ? c : 0);
    if (s < split && c < bs) product += inverse_value<X>(p, (i * bs + c) * bs + r) * value;
  }
  product = add_lanes(product, bs, split, s);
  if (s == 0) finish(p, row, product, previous_of<X>(p, row), x ? x[row] : X(0));
}

/* Returns the blocks that go side by side in a row of a small matrix. */
constexpr int wide_split(int block_size) { return block_size <= 4 ? 8 : 4; }

template <typename T, typename X, int BS, int SPLIT, int UNROLLED, int RESIDENT, bool FROM_ZERO>
bisai_status launch_relax(bisai_context *context, const relaxation &p) {
  constexpr int ROWS = row_place<T, BS, SPLIT, 1>::ROWS;
  const int64_t warps = (p.rows.count + ROWS - 1) / ROWS;
  bsi_launch_early(context, relax<T, X, BS, SPLIT, UNROLLED, RESIDENT, FROM_ZERO>,
                   bsi_grid(warps * BSI_WARP, ROW_THREADS), ROW_THREADS, 0, p);
  return bsi_launched(context, "relaxation");
}

template <typename X>
bisai_status launch_relax_values(bisai_context *context, const relaxation &p) {
  bsi_launch_early(context, relax_values<X>,
                   bsi_grid(p.rows.count, VALUES_THREADS * VALUES_OF_THREAD), VALUES_THREADS, 0, p);
  return bsi_launched(context, "relaxation");
}

template <typename T, typename X, int BS>
bisai_status relax_of_size(bisai_context *context, int32_t block_rows, const relaxation &p,
                           double blocks_per_row) {
  constexpr int wide = wide_split(BS);
  if (!p.rows.x && BS == 1) return launch_relax_values<X>(context, p);
  if (!p.rows.x) return launch_relax<double, X, BS, 1, 1, 1024, true>(context, p);
  if (blocks_per_row > 4.0 &&
      static_cast<int64_t>(block_rows) * BS * wide <=
          static_cast<int64_t>(context->limits.processors) * FILLING_THREADS)
    return launch_relax<T, X, BS, wide, 2, 1024, false>(context, p);
  return in_shape<T, BS, 1>(blocks_per_row, [&](auto shape) {
    using how = decltype(shape);
    return launch_relax<T, X, BS, how::split, how::unrolled, how::resident, false>(context, p);
  });
}

/* T: the type of the values of A
 * X: the type of x */
template <typename T, typename X>
bisai_status relax_type(bisai_context *context, const bisai_bcsr *a, const relaxation &p) {
  const double length = static_cast<double>(a->blocks) / a->block_rows;
  switch (a->block_size) {
#define CASE(BS)                                                                                   \
  case BS: return relax_of_size<T, X, BS>(context, a->block_rows, p, length);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  bsi_launch_early(context, relax_any<T, X>,
                   bsi_grid(static_cast<int64_t>(p.rows.count) * BSI_WARP, ROW_THREADS),
                   ROW_THREADS, 0, p);
  return bsi_launched(context, "relaxation");
}

/* --- K-cycles --- */

/* The place of the sums among the scalars. */
enum { SUMS = BSI_K_SCALARS - BSI_K_SUMS };

__device__ __forceinline__ void subtract(int64_t n, const double *v, double *r, double step) {
  if (step == 0.0) return;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    r[i] -= step * v[i];
}

__device__ __forceinline__ void combine(int64_t n, double *c, const double *c2, double a,
                                        double b) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n; i += stride)
    c[i] = bsi_k_combine(a, c[i], b, c2[i]);
}

/* Sums v·r and v·v, and with `whole` then the scalars. A thread block that is alone does the step
 * too. */
__global__ void __launch_bounds__(BSI_MOST_THREADS)
    first_sums(int64_t n, const double *v, double *r, double *work, unsigned *ticket, bool whole) {
  bsi_wait_for_predecessor();
  double sums[2] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    const double mine = v[i];
    sums[0] += mine * r[i];
    sums[1] += mine * mine;
  }
  if (!bsi_finish(bsi_sum_of_block(sums), 2, work + BSI_K_SCALARS, ticket, work + SUMS) || !whole)
    return;
  __syncthreads();
  if (threadIdx.x == 0) bsi_k_first(work + SUMS, work);
  if (gridDim.x > 1) return;
  __syncthreads();
  subtract(n, v, r, work[BSI_K_STEP]);
}

__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    first_update(int64_t n, const double *v, double *r, const double *work) {
  bsi_wait_for_predecessor();
  subtract(n, v, r, work[BSI_K_STEP]);
}

/* Sums v₂·v, v₂·v₂ and v₂·r, and with `whole` then the scalars. */
__global__ void __launch_bounds__(BSI_MOST_THREADS)
    second_sums(int64_t n, double *c, const double *v, const double *c2, const double *v2,
                const double *r, double *work, unsigned *ticket, bool whole) {
  bsi_wait_for_predecessor();
  double sums[3] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    const double mine = v2[i];
    sums[0] += mine * v[i];
    sums[1] += mine * mine;
    sums[2] += mine * r[i];
  }
  if (!bsi_finish(bsi_sum_of_block(sums), 3, work + BSI_K_SCALARS, ticket, work + SUMS) || !whole)
    return;
  __syncthreads();
  if (threadIdx.x == 0) bsi_k_second(work + SUMS, work);
  if (gridDim.x > 1) return;
  __syncthreads();
  combine(n, c, c2, work[BSI_K_OLD], work[BSI_K_NEW]);
}

__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS)
    second_update(int64_t n, double *c, const double *c2, const double *work) {
  bsi_wait_for_predecessor();
  combine(n, c, c2, work[BSI_K_OLD], work[BSI_K_NEW]);
}

} // namespace

static bisai_status relax_rows(bisai_context *context, const bsi_operation *o) {
  const bisai_bcsr *a = o->matrix;
  if (a->block_rows == 0 || (o->ranks.rows && o->ranks.rows->count == 0)) return BISAI_OK;
  const relaxation p = {.rows = rows_of(context, a, o->ranks.rows, o->x.at, 0, 0),
                        .inverse = o->inverse,
                        .alpha = o->alpha,
                        .beta = o->beta,
                        .b = o->b.at,
                        .previous = o->previous.at,
                        .y = o->y.at,
                        .narrow_b = o->b.narrow,
                        .narrow_y = o->y.narrow};
  if (a->type != BISAI_FP32) return relax_type<double, double>(context, a, p);
  return o->x.narrow || o->y.narrow ? relax_type<float, float>(context, a, p)
                                    : relax_type<float, double>(context, a, p);
}

/* The scalars from the sums of all ranks. */
static __global__ void first_scalars(double *work) {
  bsi_wait_for_predecessor();
  bsi_k_first(work + SUMS, work);
}
static __global__ void second_scalars(double *work) {
  bsi_wait_for_predecessor();
  bsi_k_second(work + SUMS, work);
}

static double *doubles_of(const bsi_vector &v) { return static_cast<double *>(v.at); }

static bisai_status first_step(bisai_context *context, const bsi_operation *o, bsi_k_part part) {
  const unsigned chunks = bsi_thread_blocks_of_sum(o->n);
  if (part == BSI_K_REST)
    bsi_launch_early(context, first_scalars, 1, 1, 0, o->work);
  else
    bsi_launch_early(context, first_sums, chunks, BSI_MOST_THREADS, 0, o->n, o->v, doubles_of(o->y),
                     o->work, context->tickets, part == BSI_K_WHOLE);
  if (part != BSI_K_SUM && o->n > 0 && (chunks > 1 || part == BSI_K_REST))
    bsi_launch_early(context, first_update, bsi_grid(o->n, BSI_FOR_EACH_THREADS),
                     BSI_FOR_EACH_THREADS, 0, o->n, o->v, doubles_of(o->y), o->work);
  return bsi_launched(context, "first step of a K-cycle");
}

static bisai_status second_step(bisai_context *context, const bsi_operation *o, bsi_k_part part) {
  const unsigned chunks = bsi_thread_blocks_of_sum(o->n);
  if (part == BSI_K_REST)
    bsi_launch_early(context, second_scalars, 1, 1, 0, o->work);
  else
    bsi_launch_early(context, second_sums, chunks, BSI_MOST_THREADS, 0, o->n, doubles_of(o->y),
                     o->v, doubles_of(o->x), o->v2, doubles_of(o->b), o->work, context->tickets,
                     part == BSI_K_WHOLE);
  if (part != BSI_K_SUM && o->n > 0 && (chunks > 1 || part == BSI_K_REST))
    bsi_launch_early(context, second_update, bsi_grid(o->n, BSI_FOR_EACH_THREADS),
                     BSI_FOR_EACH_THREADS, 0, o->n, doubles_of(o->y), doubles_of(o->x), o->work);
  return bsi_launched(context, "second step of a K-cycle");
}

static bisai_status load(bisai_context *context) {
  return bsi_gpu_load(context, relax_any<double, double>);
}

const bsi_cycle_ops bsi_cycle_cuda = {.relax = relax_rows,
                                      .multiply = bsi_multiply_transfer_cuda,
                                      .first_step = first_step,
                                      .second_step = second_step,
                                      .narrow_vectors = true,
                                      .load = load};

/* The caches of a device do not hold what many thread blocks read. */
const bsi_fused_sweeps_ops bsi_fused_sweeps_cuda = {.run = nullptr, .bandwidth = nullptr};
