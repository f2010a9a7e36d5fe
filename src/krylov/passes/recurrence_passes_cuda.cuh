/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of CG, BiCGSTAB and IDR(s) on one index of the vectors: equations in
 * krylov/passes/recurrence_state.h. For krylov/passes/recurrence_cuda.cu only.
 *
 * A pass is a type that takes its coefficients from the scalars when it is made. Its operator()
 * does index i of the vectors and adds to the sums of its thread. */
#ifndef BSI_RECURRENCE_PASSES_CUDA_CUH
#define BSI_RECURRENCE_PASSES_CUDA_CUH

#include <climits>

#include "gpu/runtime.cuh"
#include "krylov/passes/recurrence_state.h"

namespace {

/* Columns of G and U that a thread loads at once, and shadow vectors that a pass sums at once.
 * MAX_BLOCKS: the most thread blocks of a pass that reads many coefficients and sums nothing: a
 * block reads the coefficients once. */
constexpr int COLUMNS = 4, DOTS = 8, MAX_BLOCKS = 2 * BSI_CHUNKS;

/* What the passes have in common.
 * S: the sums of the pass.
 * B: the most thread blocks; there are BSI_CHUNKS places for the partial sums of each sum. */
template <int S, int B = (S > 0 ? static_cast<int>(BSI_CHUNKS) : INT_MAX)> struct with_sums {
  static constexpr int SUMS = S, BLOCKS = B;
  const bsi_recurrence &r;
  __device__ with_sums(const bsi_recurrence &all, const bsi_scalars &) : r(all) {}
  __device__ int count() const { return S; }
};

struct cg_rho : with_sums<1> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const { sums[0] += r.z[i] * r.r[i]; }
};

struct cg_flexible_rho : with_sums<2> {
  using with_sums::with_sums;
  __device__ void operator()(int64_t i, double *sums) const {
    const double z = r.z[i];
    sums[0] += z * r.r[i];
    sums[1] += z * r.q[i];
  }
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
        keep(scalars.saved.next != 0.0) {}
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
        omega_to_x(omega * scalars.to_x), keep(scalars.saved.next != 0.0) {}
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

/* The inner products of w with up to DOTS shadow vectors.
 * W: W::of() is w. */
template <typename W> struct shadow_products : with_sums<DOTS> {
  const double *w;
  __device__ shadow_products(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums(all, scalars), w(W::of(all)) {}
  __device__ int count() const { return r.idr.s; }
  __device__ void operator()(int64_t i, double (&sums)[DOTS]) const {
    const double value = w[i];
    double shadow[DOTS];
#pragma unroll
    for (int c = 0; c < DOTS; c++) shadow[c] = c < r.idr.s ? r.shadow[c * r.ld + i] : 0.0;
#pragma unroll
    for (int c = 0; c < DOTS; c++) sums[c] += shadow[c] * value;
  }
};

struct the_residual {
  static __device__ const double *of(const bsi_recurrence &r) { return r.r; }
};
struct the_image {
  static __device__ const double *of(const bsi_recurrence &r) { return r.idr.g + r.idr.k * r.ld; }
};

/* A pass that reads the coefficients a and γ from shared memory. S, B: as in with_sums. */
template <int S, int B> struct with_coefficients : with_sums<S, B> {
  const double *a, *gamma;
  __device__ with_coefficients(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_sums<S, B>(all, scalars), a(scalars.idr.a), gamma(scalars.idr.gamma) {}

  /* Returns sum + Σ_{first ≤ c < end} coefficients[c]·columns_c[i]. */
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

struct idr_direction : with_coefficients<0, MAX_BLOCKS> {
  using with_coefficients::with_coefficients;
  __device__ void operator()(int64_t i, double *) const {
    r.p[i] = r.r[i] - combine(0.0, 0, r.idr.s, gamma, r.idr.g, i);
  }
};

struct idr_extend : with_coefficients<0, MAX_BLOCKS> {
  const double omega;
  __device__ idr_extend(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_coefficients(all, scalars), omega(scalars.omega) {}
  __device__ void operator()(int64_t i, double *) const {
    r.idr.u[r.idr.k * r.ld + i] = combine(omega * r.z[i], r.idr.k, r.idr.s, gamma, r.idr.u, i);
  }
};

struct idr_update : with_coefficients<1, BSI_CHUNKS> {
  const double beta, to_x;
  double *g, *u;
  const bool last, keep;
  __device__ idr_update(const bsi_recurrence &all, const bsi_scalars &scalars)
      : with_coefficients(all, scalars), beta(scalars.beta), to_x(beta * scalars.to_x),
        g(all.idr.g + all.idr.k * all.ld), u(all.idr.u + all.idr.k * all.ld),
        last(all.idr.k + 1 == all.idr.s), keep(scalars.saved.next != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double old = r.r[i], x = r.x[i];
    const double new_g = g[i] - combine(0.0, 0, r.idr.k, a, r.idr.g, i),
                 new_u = u[i] - combine(0.0, 0, r.idr.k, a, r.idr.u, i);
    const double rest = combine(0.0, r.idr.k + 1, r.idr.s, gamma, r.idr.g, i),
                 now = old - beta * new_g;
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
        keep(scalars.saved.next != 0.0) {}
  __device__ void operator()(int64_t i, double *sums) const {
    const double z = r.z[i], x = r.x[i], now = r.r[i] - omega * r.t[i];
    if (keep) r.kept[i] = x;
    r.x[i] = x + to_x * z;
    r.r[i] = now;
    sums[0] += now * now;
  }
};

} // namespace

#endif
