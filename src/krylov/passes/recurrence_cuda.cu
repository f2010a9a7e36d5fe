/* SPDX-License-Identifier: BSD-3-Clause */
/* CG, BiCGSTAB and IDR(s) on the device: equations in krylov/passes/recurrence_state.h.
 *
 * A pass is one launch. It reads and writes each of its vectors once. The thread block that
 * finishes last turns the sums into the coefficients of the next passes. Memory traffic and
 * launches bound all of it. */
#include "krylov/passes/recurrence_scalars.h"

#include "core/context/context_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/sums.cuh"
#include "krylov/passes/krylov_ops.h"
#include "krylov/passes/recurrence_passes_cuda.cuh"

namespace {

/* Threads of a block. Memory bounds the passes over long vectors with so many (docs/tuning.md, "An
 * iteration of CG, BiCGSTAB and IDR(s)"). */
constexpr int THREADS = 512;

/* A copy of the scalars in shared memory, whose latency is much smaller than that of memory. */
struct local_scalars {
  bsi_scalars scalars;
  double sums[BSI_MAX_SUMS];

  /* The number of doubles that the method of the pass uses, from the first on. */
  static __device__ int count(bsi_pass pass, int s) {
    const int of_idr = BISAI_MAX_SHADOW_DIMENSION * BISAI_MAX_SHADOW_DIMENSION,
              all = static_cast<int>(sizeof(bsi_scalars) / sizeof(double));
    return pass >= BSI_IDR_SHADOW ? all - of_idr + s * s
                                  : all - of_idr - 3 * BISAI_MAX_SHADOW_DIMENSION;
  }
  /* Copies the scalars. All threads of the block call, and then see the copy. */
  __device__ void load(bsi_pass pass, const bsi_recurrence &r) {
    double *copy = reinterpret_cast<double *>(&scalars);
    const double *original = reinterpret_cast<const double *>(r.scalars);
    const int doubles = count(pass, r.idr.s);
    for (int i = threadIdx.x; i < doubles; i += blockDim.x) copy[i] = original[i];
    __syncthreads();
  }
  /* Computes the next coefficients from the sums and writes them back. All threads of the block
   * call; the sums are visible to them. */
  __device__ void update(bsi_pass pass, const bsi_recurrence &r) {
    if (threadIdx.x == 0) bsi_recurrence_scalars(pass, &r, &scalars, sums, r.results.status);
    __syncthreads();
    const double *copy = reinterpret_cast<const double *>(&scalars);
    double *original = reinterpret_cast<double *>(r.scalars);
    const int doubles = count(pass, r.idr.s);
    for (int i = threadIdx.x; i < doubles; i += blockDim.x) original[i] = copy[i];
  }
};

__global__ void __launch_bounds__(THREADS)
    update_scalars(bsi_pass pass, const __grid_constant__ bsi_recurrence r) {
  __shared__ local_scalars local;
  bsi_wait_for_predecessor();
  for (int i = threadIdx.x; i < bsi_sums_of(pass, r.idr.s); i += blockDim.x)
    local.sums[i] = r.results.sums[i];
  local.load(pass, r);
  local.update(pass, r);
}

/* One pass. With `alone` the last thread block updates the scalars too; otherwise the sums go to
 * r.results.sums.
 * F: the pass, a type of recurrence_passes_cuda.cuh. */
template <typename F>
__global__ void __launch_bounds__(THREADS, 2)
    over_vectors(bsi_pass pass, const __grid_constant__ bsi_recurrence r, bool alone,
                 unsigned *ticket) {
  __shared__ local_scalars local;
  bsi_wait_for_predecessor();
  local.load(pass, r);
  if (local.scalars.ended != 0.0) return;
  const F f(r, local.scalars);
  double sums[F::SUMS > 0 ? F::SUMS : 1] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; i < r.n; i += stride)
    f(i, sums);
  if constexpr (F::SUMS > 0) {
    if (!bsi_finish(bsi_sum_of_block(sums), f.count(), r.results.work, ticket,
                    alone ? local.sums : r.results.sums))
      return;
    if (!alone) return;
    __syncthreads();
    local.update(pass, r);
  }
}

template <typename F>
bisai_status launch(bisai_context *context, const bsi_recurrence &r, bsi_pass pass, bool alone) {
  int64_t blocks = (r.n + THREADS - 1) / THREADS;
  if (blocks > F::BLOCKS) blocks = F::BLOCKS;
  if (blocks == 0) blocks = 1;
  bsi_launch_early(context, over_vectors<F>, dim3(static_cast<unsigned>(blocks)), dim3(THREADS), 0,
                   pass, r, alone, context->tickets);
  return bsi_launched(context, "recurrence");
}

bisai_status recurrence_scalars(bisai_context *context, const bsi_recurrence *r, bsi_pass pass) {
  bsi_launch_early(context, update_scalars, dim3(1), dim3(THREADS), 0, pass, *r);
  return bsi_launched(context, "recurrence");
}

/* The inner products of w with all shadow vectors. W: as in shadow_products. */
template <typename W>
bisai_status shadow(bisai_context *context, const bsi_recurrence &r, const double *w, bsi_pass pass,
                    bool alone) {
  if (r.idr.s <= DOTS) return launch<shadow_products<W>>(context, r, pass, alone);
  const bsi_basis columns = {r.n, r.idr.s, r.shadow, r.ld, 0};
  BSI_TRY(context->backend->krylov->basis->dot_many(context, columns, w, r.results.work,
                                                    r.results.sums));
  return alone ? recurrence_scalars(context, &r, pass) : BISAI_OK;
}

} // namespace

static bisai_status recurrence_pass(bisai_context *context, const bsi_recurrence *r, bsi_pass pass,
                                    bool alone) {
  switch (pass) {
  case BSI_CG_RHO: return launch<cg_rho>(context, *r, pass, alone);
  case BSI_CG_FLEXIBLE_RHO: return launch<cg_flexible_rho>(context, *r, pass, alone);
  case BSI_CG_DIRECTION: return launch<cg_direction>(context, *r, pass, alone);
  case BSI_CG_CURVATURE: return launch<cg_curvature>(context, *r, pass, alone);
  case BSI_CG_UPDATE: return launch<cg_update>(context, *r, pass, alone);
  case BSI_BICGSTAB_DIRECTION: return launch<bicgstab_direction>(context, *r, pass, alone);
  case BSI_BICGSTAB_ALPHA: return launch<bicgstab_alpha>(context, *r, pass, alone);
  case BSI_BICGSTAB_HALF: return launch<bicgstab_half>(context, *r, pass, alone);
  case BSI_BICGSTAB_OMEGA: return launch<bicgstab_omega>(context, *r, pass, alone);
  case BSI_BICGSTAB_UPDATE: return launch<bicgstab_update>(context, *r, pass, alone);
  case BSI_IDR_SHADOW: return shadow<the_residual>(context, *r, r->r, pass, alone);
  case BSI_IDR_DIRECTION: return launch<idr_direction>(context, *r, pass, alone);
  case BSI_IDR_EXTEND: return launch<idr_extend>(context, *r, pass, alone);
  case BSI_IDR_COLUMN:
    return shadow<the_image>(context, *r, r->idr.g + r->idr.k * r->ld, pass, alone);
  case BSI_IDR_UPDATE: return launch<idr_update>(context, *r, pass, alone);
  case BSI_IDR_OMEGA: return launch<idr_omega>(context, *r, pass, alone);
  case BSI_IDR_LAST: return launch<idr_last>(context, *r, pass, alone);
  }
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown pass %d", static_cast<int>(pass));
}

static bisai_status shadow_vector(bisai_context *context, int64_t n, int c, double *y) {
  return bsi_for_each(context, "shadow vectors", n,
                      [=] __device__(int64_t i) { y[i] = bsi_shadow_value(i, c); });
}

const bsi_recurrence_ops bsi_recurrence_cuda = {
    .pass = recurrence_pass, .scalars = recurrence_scalars, .shadow_vector = shadow_vector};
