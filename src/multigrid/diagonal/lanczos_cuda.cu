/* SPDX-License-Identifier: BSD-3-Clause */
/* The vectors of a Lanczos process on a GPU. The scalars stay in device memory. */
#include "core/block/block_sizes.h"
#include "gpu/for_each.cuh"
#include "gpu/sums.cuh"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/lanczos.h"

namespace {

/* What a step does. REDUCE: α from p·q, and r ← r − α q. DIRECT: β from r·z, and p ← z + β p.
 * ALPHA: α alone. DOT: the sum alone. */
enum step_kind { REDUCE, DIRECT, ALPHA, DOT };

/* The operands of a step. DOT has the place of the sum as k. */
struct step {
  int64_t n;
  int k;
  const double *a, *b;
  double *y, *work;
};

template <step_kind KIND> __device__ __forceinline__ void change(const step &s) {
  const double scale = s.work[BSI_LANCZOS_STEP];
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < s.n;
       i += stride)
    if (KIND == REDUCE)
      s.y[i] -= scale * s.b[i];
    else
      s.y[i] = scale == 0.0 ? s.b[i] : s.b[i] + scale * s.y[i];
}

/* Sums a·b, and then the coefficient. A thread block that is alone changes y too. */
template <step_kind KIND>
__global__ void __launch_bounds__(BSI_MOST_THREADS) sum_of_step(step s, unsigned *ticket) {
  bsi_wait_for_predecessor();
  double sums[1] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < s.n;
       i += stride)
    sums[0] += s.a[i] * s.b[i];
  if (!bsi_finish(bsi_sum_of_block(sums), 1, s.work + BSI_LANCZOS_PARTIALS, ticket,
                  s.work + (KIND == DOT ? s.k : BSI_LANCZOS_SUM)) ||
      KIND == DOT)
    return;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (KIND == DIRECT)
      bsi_lanczos_beta(s.k, s.work);
    else
      bsi_lanczos_alpha(s.k, s.work);
  }
  if (gridDim.x > 1 || KIND == ALPHA) return;
  __syncthreads();
  change<KIND>(s);
}

template <step_kind KIND>
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS) change_of_step(step s) {
  bsi_wait_for_predecessor();
  change<KIND>(s);
}

template <step_kind KIND> bisai_status enqueue_change(bisai_context *context, const step &s) {
  bsi_launch_early(context, change_of_step<KIND>, bsi_grid(s.n, BSI_FOR_EACH_THREADS),
                   BSI_FOR_EACH_THREADS, 0, s);
  return bsi_launched(context, "step of a Lanczos process");
}

template <step_kind KIND> bisai_status enqueue(bisai_context *context, const step &s) {
  const unsigned chunks = bsi_thread_blocks_of_sum(s.n);
  bsi_launch_early(context, sum_of_step<KIND>, chunks, BSI_MOST_THREADS, 0, s, context->tickets);
  if (chunks > 1 && KIND != DOT && KIND != ALPHA) return enqueue_change<KIND>(context, s);
  return bsi_launched(context, "step of a Lanczos process");
}

/* The operands of a descent. */
struct descent {
  int32_t block_rows;
  /* q has no values yet */
  bool first;
  const double *inverse;
  double *q, *r;
};

/* r ← r − α q, q ← D⁻¹r, and β from r·q, in one pass: a thread takes a block row. A thread block
 * that is alone changes p too, which s.y is.
 *   BS: the block size */
template <int BS>
__global__ void __launch_bounds__(BSI_MOST_THREADS) descend(descent d, step s, unsigned *ticket) {
  bsi_wait_for_predecessor();
  const double alpha = d.first ? 0.0 : s.work[BSI_LANCZOS_STEP];
  double sums[1] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < d.block_rows;
       i += stride) {
    double r[BS], z[BS] = {};
#pragma unroll
    for (int k = 0; k < BS; k++) {
      r[k] = d.r[i * BS + k];
      if (!d.first) r[k] -= alpha * d.q[i * BS + k];
      d.r[i * BS + k] = r[k];
    }
#pragma unroll
    for (int c = 0; c < BS; c++)
#pragma unroll
      for (int k = 0; k < BS; k++) z[k] += __ldg(d.inverse + (i * BS + c) * BS + k) * r[c];
#pragma unroll
    for (int k = 0; k < BS; k++) {
      d.q[i * BS + k] = z[k];
      sums[0] += r[k] * z[k];
    }
  }
  if (!bsi_finish(bsi_sum_of_block(sums), 1, s.work + BSI_LANCZOS_PARTIALS, ticket,
                  s.work + BSI_LANCZOS_SUM))
    return;
  __syncthreads();
  if (threadIdx.x == 0) bsi_lanczos_beta(s.k, s.work);
  if (gridDim.x > 1) return;
  __syncthreads();
  change<DIRECT>(s);
}

template <int BS>
bisai_status enqueue_descent(bisai_context *context, const descent &d, const step &s) {
  const unsigned chunks = bsi_thread_blocks_of_sum(d.block_rows);
  bsi_launch_early(context, descend<BS>, chunks, BSI_MOST_THREADS, 0, d, s, context->tickets);
  if (chunks > 1) return enqueue_change<DIRECT>(context, s);
  return bsi_launched(context, "step of a Lanczos process");
}

} // namespace

static bisai_status advance(bisai_context *context, int k, int32_t block_rows, int bs,
                            const double *inverse, const bsi_lanczos_vectors *v, double *work) {
  const int64_t n = static_cast<int64_t>(block_rows) * bs;
  if (k >= 0) BSI_TRY(enqueue<ALPHA>(context, {n, k, v->p, v->q, nullptr, work}));
  const descent d = {block_rows, k < 0, inverse, v->q, v->r};
  const step s = {n, k, nullptr, v->q, v->p, work};
  switch (bs) {
#define CASE(BS)                                                                                   \
  case BS: return enqueue_descent<BS>(context, d, s);
    BSI_BLOCK_SIZES(CASE)
#undef CASE
  }
  return BISAI_OK;
}

static bisai_status start(bisai_context *context, int64_t n, int bs, const double *inverse,
                          double *r) {
  return bsi_for_each(context, "start of a Lanczos process", n,
                      [=] __device__(int64_t i) { r[i] = bsi_lanczos_start(i, bs, inverse); });
}

static bisai_status reduce(bisai_context *context, int k, int64_t n, const double *p,
                           const double *q, double *r, double *work) {
  return enqueue<REDUCE>(context, {n, k, p, q, r, work});
}

static bisai_status direct(bisai_context *context, int k, int64_t n, const double *r,
                           const double *z, double *p, double *work) {
  return enqueue<DIRECT>(context, {n, k, r, z, p, work});
}

static bisai_status dot(bisai_context *context, int64_t n, const double *a, const double *b,
                        int place, double *work) {
  return enqueue<DOT>(context, {n, place, a, b, nullptr, work});
}

const bsi_lanczos_ops bsi_lanczos_cuda = {.start = start,
                                          .advance = advance,
                                          .largest = BSI_SPECIAL_SIZES,
                                          .reduce = reduce,
                                          .direct = direct,
                                          .dot = dot};
