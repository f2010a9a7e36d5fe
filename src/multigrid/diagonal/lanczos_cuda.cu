/* SPDX-License-Identifier: BSD-3-Clause */
/* The vectors of a Lanczos process on a GPU. The scalars stay in device memory. */
#include "gpu/for_each.cuh"
#include "gpu/sums.cuh"
#include "multigrid/diagonal/diagonal_ops.h"
#include "multigrid/diagonal/lanczos.h"

namespace {

/* What a step does. REDUCE: α from p·q, and r ← r − α q. DIRECT: β from r·z, and p ← z + β p. DOT:
 * the sum alone. */
enum step_kind { REDUCE, DIRECT, DOT };

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
    if (KIND == REDUCE)
      bsi_lanczos_alpha(s.k, s.work);
    else
      bsi_lanczos_beta(s.k, s.work);
  }
  if (gridDim.x > 1) return;
  __syncthreads();
  change<KIND>(s);
}

template <step_kind KIND>
__global__ void __launch_bounds__(BSI_FOR_EACH_THREADS) change_of_step(step s) {
  bsi_wait_for_predecessor();
  change<KIND>(s);
}

template <step_kind KIND> bisai_status enqueue(bisai_context *context, const step &s) {
  const unsigned chunks = bsi_thread_blocks_of_sum(s.n);
  bsi_launch_early(context, sum_of_step<KIND>, chunks, BSI_MOST_THREADS, 0, s, context->tickets);
  if (chunks > 1 && KIND != DOT)
    bsi_launch_early(context, change_of_step<KIND>, bsi_grid(s.n, BSI_FOR_EACH_THREADS),
                     BSI_FOR_EACH_THREADS, 0, s);
  return bsi_launched(context, "step of a Lanczos process");
}

} // namespace

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

const bsi_lanczos_ops bsi_lanczos_cuda = {
    .start = start, .reduce = reduce, .direct = direct, .dot = dot};
