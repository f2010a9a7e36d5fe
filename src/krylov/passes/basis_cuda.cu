/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of a Krylov basis on the device. Memory traffic bounds everything here. The basis is read
 * once, and a thread has the loads of VECTORS basis vectors under way. */
#include <algorithm>

#include "core/context/context_impl.h"
#include "gpu/for_each.cuh"
#include "gpu/sums.cuh"
#include "krylov/passes/krylov_ops.h"

namespace {

/* Threads of a block, and those of a block that also sums a norm over a long vector. VECTORS: basis
 * vectors at a time, so many that memory bounds the pass (docs/tuning.md, "Gram–Schmidt"). */
constexpr int THREADS = 256, NORM_THREADS = BSI_MOST_THREADS, VECTORS = BSI_BASIS_GROUP;

/* Loads value i of VECTORS basis vectors from number `first` on, all of one type. */
__device__ __forceinline__ void load_group(const bsi_basis &basis, int first, int64_t i,
                                           double (&v)[VECTORS]) {
  const double *vectors = basis.vectors + first * basis.ld;
  if (first < basis.count - basis.narrow) {
#pragma unroll
    for (int c = 0; c < VECTORS; c++)
      v[c] = first + c < basis.count ? __ldg(vectors + c * basis.ld + i) : 0.0;
    return;
  }
#pragma unroll
  for (int c = 0; c < VECTORS; c++)
    v[c] = first + c < basis.count
               ? __ldg(reinterpret_cast<const float *>(vectors + c * basis.ld) + i)
               : 0.0;
}

int chunks_of(int64_t n) {
  const int64_t chunks = (n + THREADS - 1) / THREADS;
  return static_cast<int>(chunks < BSI_CHUNKS ? chunks : BSI_CHUNKS);
}

/* out ← the inner products of w with `count` basis vectors. Thread block (x, y) takes the basis
 * vectors from VECTORS·y on. */
__global__ void __launch_bounds__(THREADS)
    dot(bsi_basis basis, const double *w, double *work, unsigned *tickets, double *out) {
  const int first = static_cast<int>(blockIdx.y) * VECTORS, left = basis.count - first,
            mine = left < VECTORS ? left : VECTORS;
  const int64_t n = basis.n;
  bsi_wait_for_predecessor();
  double sums[VECTORS] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * THREADS;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(THREADS) + threadIdx.x; i < n; i += stride) {
    double v[VECTORS];
    load_group(basis, first, i, v);
    const double value = __ldg(w + i);
#pragma unroll
    for (int c = 0; c < VECTORS; c++) sums[c] += v[c] * value;
  }
  bsi_finish(bsi_sum_of_block(sums), mine, work + static_cast<int64_t>(first) * BSI_CHUNKS,
             tickets + blockIdx.y, out + first);
}

/* w ← w + sign·Σ coefficients[c]·basis_c.
 * NORM: *norm2 ← w·w. */
template <bool NORM>
__global__ void __launch_bounds__(NORM_THREADS, 2)
    axpy(bsi_basis basis, const double *coefficients, double sign, double *w, double *work,
         unsigned *ticket, double *norm2) {
  const int64_t n = basis.n;
  const int count = basis.count;
  bsi_wait_for_predecessor();
  double sums[1] = {};
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x; i < n;
       i += stride) {
    double value = w[i];
    for (int first = 0; first < count; first += VECTORS) {
      double v[VECTORS];
      load_group(basis, first, i, v);
#pragma unroll
      for (int c = 0; c < VECTORS; c++)
        if (first + c < count) value += sign * __ldg(coefficients + first + c) * v[c];
    }
    w[i] = value;
    sums[0] += value * value;
  }
  if (NORM) bsi_finish(bsi_sum_of_block(sums), 1, work, ticket, norm2);
}

} // namespace

static bisai_status scale_by_norm(bisai_context *context, int64_t n, const double *norm2,
                                  const double *x, double *y) {
  return bsi_for_each(context, "vector scaling", n, [=] __device__(int64_t i) {
    const double square = __ldg(norm2);
    y[i] = square == 0.0 ? 0.0 : x[i] / sqrt(square);
  });
}

/* The last thread writes the scalars. */
static bisai_status gmres_start(bisai_context *context, int64_t n, const double *norm2, double *v,
                                double *beta, double *seen) {
  return bsi_for_each(context, "vector scaling", n + 1, [=] __device__(int64_t i) {
    const double square = __ldg(norm2), norm = sqrt(square);
    if (i < n) {
      v[i] = square == 0.0 ? 0.0 : v[i] / norm;
    } else {
      *beta = norm;
      *seen = square;
    }
  });
}

static bisai_status round_vector(bisai_context *context, int64_t n, const double *x, double *wide,
                                 float *narrow) {
  return bsi_for_each(context, "vector in fp32", (n + 1) / 2 * 2, [=] __device__(int64_t i) {
    const float value = i < n ? static_cast<float>(x[i]) : 0.0f;
    if (i < n) wide[i] = static_cast<double>(value);
    narrow[i] = value;
  });
}

/* A launch takes at most as many groups of vectors as there are tickets. */
static bisai_status dot_many(bisai_context *context, bsi_basis basis, const double *w, double *work,
                             double *out) {
  const char *what = "inner products";
  if (basis.n == 0)
    return bsi_for_each(context, what, basis.count, [=] __device__(int64_t c) { out[c] = 0.0; });
  for (int first = 0; first < basis.count; first += BSI_TICKETS * VECTORS) {
    const int left = basis.count - first,
              now = left < BSI_TICKETS * VECTORS ? left : BSI_TICKETS * VECTORS;
    const int wide = std::max(basis.count - basis.narrow - first, 0);
    const bsi_basis group = {basis.n, now, basis.vectors + first * basis.ld, basis.ld,
                             std::max(now - wide, 0)};
    const dim3 grid(static_cast<unsigned>(chunks_of(basis.n)),
                    static_cast<unsigned>((now + VECTORS - 1) / VECTORS));
    bsi_launch_early(context, dot, grid, THREADS, 0, group, w,
                     work + static_cast<int64_t>(first) * BSI_CHUNKS, context->tickets,
                     out + first);
    BSI_TRY(bsi_launched(context, what));
  }
  return BISAI_OK;
}

static bisai_status axpy_many(bisai_context *context, bsi_basis basis, const double *coefficients,
                              double sign, double *w, double *work, double *norm2) {
  const int64_t n = basis.n;
  if (n == 0) return norm2 ? context->backend->vectors->set(context, 1, 0.0, norm2) : BISAI_OK;
  /* The norm allows no more blocks than partial sums, so that they have to be larger. */
  const int threads = norm2 && n > BSI_CHUNKS * THREADS ? NORM_THREADS : THREADS;
  if (norm2)
    bsi_launch_early(context, axpy<true>, chunks_of(n), threads, 0, basis, coefficients, sign, w,
                     work, context->tickets, norm2);
  else
    bsi_launch_early(context, axpy<false>, bsi_grid(n, threads), threads, 0, basis, coefficients,
                     sign, w, nullptr, nullptr, nullptr);
  return bsi_launched(context, "linear combination");
}

const bsi_basis_ops bsi_basis_cuda = {.dot_many = dot_many,
                                      .axpy_many = axpy_many,
                                      .scale_by_norm = scale_by_norm,
                                      .start = gmres_start,
                                      .round = round_vector};
