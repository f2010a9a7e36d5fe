/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of CG, BiCGSTAB and IDR(s) on the device: equations in krylov/recurrence.h.
 *
 * A pass is one launch: every vector of it is read and written once, and the thread block that
 * finishes last turns the sums into the coefficients of the passes to come. All of it is bound by
 * memory traffic and by what launches cost. */
#include "krylov/recurrence.h"

#include <climits>

#include "core/context_impl.h"
#include "core/launch_cuda.cuh"
#include "core/sums_cuda.cuh"
#include "krylov/krylov_ops.h"

namespace {

/* Columns of G and U that are loaded at once, shadow vectors that are summed at once; blocks of a
 * pass with many coefficients and no sums, which then come to its start but once. */
enum { THREADS = 512, COLUMNS = 4, DOTS = 8, MOST_BLOCKS = 2 * BSI_CHUNKS };

/* Scalars in shared memory, whose latency is much smaller. */
struct local_scalars {
  bsi_scalars scalars;
  double sums[BSI_MAX_SUMS];

  /* How many of them the method has, from the first on. */
  static __device__ int count(bsi_pass pass, int s) {
    const int of_idr = BISAI_MAX_SHADOW_DIMENSION * BISAI_MAX_SHADOW_DIMENSION,
              all = static_cast<int>(sizeof(bsi_scalars) / sizeof(double));
    return pass >= BSI_IDR_SHADOW ? all - of_idr + s * s
                                  : all - of_idr - 3 * BISAI_MAX_SHADOW_DIMENSION;
  }
  /* By a whole block, which then waits. */
  __device__ void load(bsi_pass pass, const bsi_recurrence &r) {
    double *copy = reinterpret_cast<double *>(&scalars);
    const double *original = reinterpret_cast<const double *>(r.scalars);
    const int doubles = count(pass, r.s);
    for (int i = threadIdx.x; i < doubles; i += blockDim.x) copy[i] = original[i];
    __syncthreads();
  }
  /* What follows the sums; by a whole block, which has waited for them. */
  __device__ void follow(bsi_pass pass, const bsi_recurrence &r) {
    if (threadIdx.x == 0) bsi_recurrence_scalars(pass, &r, &scalars, sums, r.status);
    __syncthreads();
    const double *copy = reinterpret_cast<const double *>(&scalars);
    double *original = reinterpret_cast<double *>(r.scalars);
    const int doubles = count(pass, r.s);
    for (int i = threadIdx.x; i < doubles; i += blockDim.x) original[i] = copy[i];
  }
};

__global__ void __launch_bounds__(THREADS)
    follow_alone(bsi_pass pass, const __grid_constant__ bsi_recurrence r) {
  __shared__ local_scalars local;
  bsi_wait_for_predecessor();
  for (int i = threadIdx.x; i < bsi_sums_of(pass, r.s); i += blockDim.x) local.sums[i] = r.sums[i];
  local.load(pass, r);
  local.follow(pass, r);
}

/* F(r, scalars) takes coefficients, f(i, sums) does the pass on values i of the vectors. */
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
    if (!bsi_finish(bsi_sum_of_block(sums), f.count(), r.work, ticket, alone ? local.sums : r.sums))
      return;
    if (!alone) return;
    __syncthreads();
    local.follow(pass, r);
  }
}

/* --- the passes --- */

template <int S, int BLOCKS = (S > 0 ? static_cast<int>(BSI_CHUNKS) : INT_MAX)> struct with_sums {
  static constexpr int SUMS = S, MOST = BLOCKS;
  const bsi_recurrence &r;
  __device__ with_sums(const bsi_recurrence &all, const bsi_scalars &) : r(all) {}
  __device__ int count() const { return S; }
};

struct cg_rho : with_sums<1> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const { sums[0] += r.z[i] * r.r[i]; }
};

struct cg_direction : with_sums<0> {
  const double beta;
  __device__ cg_direction(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), beta(scalars.beta) {}
  __device__ void operator()(int64_t i, double *) const {
    r.p[i] = beta == 0.0 ? r.z[i] : r.z[i] + beta * r.p[i];
  }
};

struct cg_curvature : with_sums<1> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const { sums[0] += r.p[i] * r.q[i]; }
};

struct cg_update : with_sums<1> {
  const double alpha, to_x;
  const bool keep;
  __device__ cg_update(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), alpha(scalars.alpha), to_x(alpha * scalars.to_x),
        keep(scalars.keep != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double p = r.p[i], q = r.q[i], x = r.x[i], old = r.r[i], now = old - alpha * q;
    if (keep) r.kept[i] = x;
    r.x[i] = x + to_x * p;
    r.r[i] = now;
    sums[0] += now * now;
  }
};

struct bicgstab_direction : with_sums<0> {
  const double beta, omega;
  __device__ bicgstab_direction(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), beta(scalars.beta), omega(scalars.omega) {}
  __device__ void operator()(int64_t i, double *) const {
    r.p[i] = beta == 0.0 ? r.r[i] : r.r[i] + beta * (r.p[i] - omega * r.q[i]);
  }
};

struct bicgstab_alpha : with_sums<1> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const { sums[0] += r.shadow[i] * r.q[i]; }
};

struct bicgstab_half : with_sums<0> {
  const double alpha;
  __device__ bicgstab_half(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), alpha(scalars.alpha) {}
  __device__ void operator()(int64_t i, double *) const { r.r[i] -= alpha * r.q[i]; }
};

struct bicgstab_omega : with_sums<3> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const {
    const double t = r.t[i], s = r.r[i];
    sums[0] += t * s;
    sums[1] += t * t;
    sums[2] += s * s;
  }
};

struct bicgstab_update : with_sums<2> {
  const double omega, alpha_to_x, omega_to_x;
  const bool keep;
  __device__ bicgstab_update(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), omega(scalars.omega), alpha_to_x(scalars.alpha * scalars.to_x),
        omega_to_x(omega * scalars.to_x), keep(scalars.keep != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double z = r.z[i], z2 = r.z2[i], t = r.t[i], old = r.r[i], x = r.x[i],
                 shadow = r.shadow[i];
    const double now = old - omega * t;
    if (keep) r.kept[i] = x;
    r.x[i] = x + (alpha_to_x * z + omega_to_x * z2);
    r.r[i] = now;
    sums[0] += now * now;
    sums[1] += shadow * now;
  }
};

/* Up to DOTS shadow vectors times w. */
template <typename F> struct shadow_products : with_sums<DOTS> {
  const double *w;
  __device__ shadow_products(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), w(F::of(all)) {}
  __device__ int count() const { return r.s; }
  __device__ void operator()(int64_t i, double (&sums)[DOTS]) const {
    const double value = w[i];
    double shadow[DOTS];
#pragma unroll
    for (int c = 0; c < DOTS; c++) shadow[c] = c < r.s ? r.shadow[c * r.ld + i] : 0.0;
#pragma unroll
    for (int c = 0; c < DOTS; c++) sums[c] += shadow[c] * value;
  }
};

struct the_residual {
  static __device__ const double *of(const bsi_recurrence &r) { return r.r; }
};
struct the_image {
  static __device__ const double *of(const bsi_recurrence &r) { return r.g + r.k * r.ld; }
};

/* a and γ stay in shared memory. */
template <int S, int BLOCKS> struct with_coefficients : with_sums<S, BLOCKS> {
  const double *a, *gamma;
  __device__ with_coefficients(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums<S, BLOCKS>(all, scalars), a(scalars.a), gamma(scalars.gamma) {}

  /* sum + Σ_{first ≤ c < end} coefficients[c]·columns_c[i] */
  __device__ double combine(double sum, int first, int end, const double *coefficients,
                            const double *columns, int64_t i) const {
    for (; first < end; first += COLUMNS) {
      double values[COLUMNS];
#pragma unroll
      for (int c = 0; c < COLUMNS; c++)
        values[c] = first + c < end ? columns[(first + c) * this->r.ld + i] : 0.0;
#pragma unroll
      for (int c = 0; c < COLUMNS; c++)
        if (first + c < end) sum += coefficients[first + c] * values[c];
    }
    return sum;
  }
};

struct idr_direction : with_coefficients<0, MOST_BLOCKS> {
  using with_coefficients::with_coefficients;
  __device__ void operator()(int64_t i, double *) const {
    r.p[i] = r.r[i] - combine(0.0, 0, r.s, gamma, r.g, i);
  }
};

struct idr_extend : with_coefficients<0, MOST_BLOCKS> {
  const double omega;
  __device__ idr_extend(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_coefficients(all, scalars), omega(scalars.omega) {}
  __device__ void operator()(int64_t i, double *) const {
    r.u[r.k * r.ld + i] = combine(omega * r.z[i], r.k, r.s, gamma, r.u, i);
  }
};

struct idr_update : with_coefficients<1, BSI_CHUNKS> {
  const double beta, to_x;
  double *g, *u;
  const bool last, keep;
  __device__ idr_update(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_coefficients(all, scalars), beta(scalars.beta), to_x(beta * scalars.to_x),
        g(all.g + all.k * all.ld), u(all.u + all.k * all.ld), last(all.k + 1 == all.s),
        keep(scalars.keep != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double old = r.r[i], x = r.x[i];
    const double new_g = g[i] - combine(0.0, 0, r.k, a, r.g, i),
                 new_u = u[i] - combine(0.0, 0, r.k, a, r.u, i);
    const double rest = combine(0.0, r.k + 1, r.s, gamma, r.g, i), now = old - beta * new_g;
    g[i] = new_g;
    u[i] = new_u;
    r.r[i] = now;
    if (keep) r.kept[i] = x;
    r.x[i] = x + to_x * new_u;
    if (!last) r.p[i] = now - rest;
    sums[0] += now * now;
  }
};

struct idr_omega : with_sums<2> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const {
    const double t = r.t[i], old = r.r[i];
    sums[0] += t * old;
    sums[1] += t * t;
  }
};

struct idr_last : with_sums<1> {
  const double omega, to_x;
  const bool keep;
  __device__ idr_last(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), omega(scalars.omega), to_x(omega * scalars.to_x),
        keep(scalars.keep != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double z = r.z[i], x = r.x[i], now = r.r[i] - omega * r.t[i];
    if (keep) r.kept[i] = x;
    r.x[i] = x + to_x * z;
    r.r[i] = now;
    sums[0] += now * now;
  }
};

/* No more blocks than there are places for partial sums. */
template <typename F>
bisai_status launch(bisai_context *context, const bsi_recurrence &r, bsi_pass pass, bool alone) {
  int64_t blocks = (r.n + THREADS - 1) / THREADS;
  if (blocks > F::MOST) blocks = F::MOST;
  if (blocks == 0) blocks = 1;
  bsi_launch_early(context, over_vectors<F>, dim3(static_cast<unsigned>(blocks)), dim3(THREADS), 0,
                   pass, r, alone, context->tickets);
  return bsi_launched(context, "recurrence");
}

bisai_status recurrence_scalars(bisai_context *context, const bsi_recurrence *r, bsi_pass pass) {
  bsi_launch_early(context, follow_alone, dim3(1), dim3(THREADS), 0, pass, *r);
  return bsi_launched(context, "recurrence");
}

/* Products with all shadow vectors. */
template <typename F>
bisai_status shadow(bisai_context *context, const bsi_recurrence &r, const double *w, bsi_pass pass,
                    bool alone) {
  if (r.s <= DOTS) return launch<shadow_products<F>>(context, r, pass, alone);
  const bisai_status status = context->backend->krylov->basis->dot_many(context, r.n, r.s, r.shadow,
                                                                        r.ld, w, r.work, r.sums);
  return status || !alone ? status : recurrence_scalars(context, &r, pass);
}

} // namespace

static bisai_status recurrence_pass(bisai_context *context, const bsi_recurrence *r, bsi_pass pass,
                                    bool alone) {
  switch (pass) {
  case BSI_CG_RHO: return launch<cg_rho>(context, *r, pass, alone);
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
  case BSI_IDR_COLUMN: return shadow<the_image>(context, *r, r->g + r->k * r->ld, pass, alone);
  case BSI_IDR_UPDATE: return launch<idr_update>(context, *r, pass, alone);
  case BSI_IDR_OMEGA: return launch<idr_omega>(context, *r, pass, alone);
  case BSI_IDR_LAST: return launch<idr_last>(context, *r, pass, alone);
  }
  return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown pass %d", static_cast<int>(pass));
}

namespace {
__global__ void shadow_vector(int64_t n, int c, double *y) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x;
  if (i < n) y[i] = bsi_shadow_value(i, c);
}
} // namespace

static bisai_status shadow_vector(bisai_context *context, int64_t n, int c, double *y) {
  if (n == 0) return BISAI_OK;
  shadow_vector<<<bsi_grid(n, THREADS), THREADS, 0, bsi_stream_of(context)>>>(n, c, y);
  return bsi_launched(context, "shadow vectors");
}

const bsi_recurrence_ops bsi_recurrence_cuda = {
    .pass = recurrence_pass, .scalars = recurrence_scalars, .shadow_vector = shadow_vector};
