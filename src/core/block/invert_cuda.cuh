/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of blocks by the lanes of a warp, by the rules of core/block/block_invert.h.
 *
 * Blocks are in shared memory. All lanes call, and all get the same result. For cofactors a lane
 * computes one entry of the inverse. For elimination the lanes share the entries of a step, each of
 * which takes the operations of bsi_gauss_jordan(). */
#ifndef BSI_INVERT_CUDA_CUH
#define BSI_INVERT_CUDA_CUH

#include "core/block/block_repair.h"
#include "gpu/warp.cuh"

/* Returns ‖a‖₁. A lane adds up a column. */
template <int BS>
static __device__ __forceinline__ double bsi_warp_norm1(const int bs, const double *a) {
  const int lane = threadIdx.x % BSI_WARP;
  double sum = 0.0;
  if (lane < bs)
    for (int r = 0; r < bs; r++) sum += fabs(a[lane * bs + r]);
  return bsi_warp_max_magnitude(sum);
}

/* Returns the largest column sum of a block of BS columns whose entries the lanes hold, one each.
 * The lanes without an entry hold zeros. */
template <int BS>
static __device__ __forceinline__ double bsi_warp_norm1_of_entries(double magnitude) {
  const int lane = threadIdx.x % BSI_WARP;
  double sum = 0.0;
#pragma unroll
  for (int r = 0; r < BS; r++) sum += __shfl_sync(BSI_FULL_WARP, magnitude, lane * BS + r);
  return bsi_warp_max_magnitude(lane < BS ? sum : 0.0);
}

/* m ← a⁻¹. Returns false if a is singular. m does not overlap a. */
static __device__ __forceinline__ bool bsi_warp_gauss_jordan(const int bs, const double *a,
                                                             double *m) {
  const int lane = threadIdx.x % BSI_WARP, values = bs * bs;
  int own_pivot = lane;
  for (int v = lane; v < values; v += BSI_WARP) m[v] = a[v];
  __syncwarp();
  for (int k = 0; k < bs; k++) {
    int pivot = k;
    double best = fabs(m[k * bs + k]);
    for (int r = k + 1; r < bs; r++) {
      const double magnitude = fabs(m[k * bs + r]);
      if (magnitude > best) {
        best = magnitude;
        pivot = r;
      }
    }
    if (lane == k) own_pivot = pivot;
    __syncwarp();
    if (pivot != k && lane < bs) {
      const double swap = m[lane * bs + k];
      m[lane * bs + k] = m[lane * bs + pivot];
      m[lane * bs + pivot] = swap;
    }
    __syncwarp();
    const double value = m[k * bs + k];
    if (value == 0.0 || !isfinite(value)) return false;
    __syncwarp();
    if (lane < bs) m[lane * bs + k] = (lane == k ? 1.0 : m[lane * bs + k]) / value;
    __syncwarp();
    for (int v = lane; v < values; v += BSI_WARP) {
      const int r = v % bs, c = v / bs;
      if (r != k && c != k) m[v] -= m[k * bs + r] * m[c * bs + k];
    }
    __syncwarp();
    const double diagonal = m[k * bs + k];
    if (lane < bs && lane != k) m[k * bs + lane] *= -diagonal;
    __syncwarp();
  }
  for (int k = bs - 1; k >= 0; k--) {
    const int pivot = __shfl_sync(BSI_FULL_WARP, own_pivot, k);
    if (pivot == k) continue;
    if (lane < bs) {
      const double swap = m[k * bs + lane];
      m[k * bs + lane] = m[pivot * bs + lane];
      m[pivot * bs + lane] = swap;
    }
    __syncwarp();
  }
  bool finite = true;
  for (int v = lane; v < values; v += BSI_WARP) finite &= isfinite(m[v]);
  return __all_sync(BSI_FULL_WARP, finite);
}

/* inverse ← a⁻¹ by cofactors. Returns false if the result is not accurate enough. */
template <int BS>
static __device__ __forceinline__ bool bsi_warp_cofactors(const double *a, double norm,
                                                          double *inverse, double *condition) {
  constexpr int values = BS * BS;
  const int lane = threadIdx.x % BSI_WARP, r = lane % BS, c = lane / BS;
  double entry = 0.0;
  if (lane < values) {
    const double minor = bsi_minor(BS, a, c, r);
    entry = (r + c) % 2 == 0 ? minor : -minor;
  }
  double determinant = 0.0;
#pragma unroll
  for (int k = 0; k < BS; k++) determinant += a[k] * __shfl_sync(BSI_FULL_WARP, entry, k * BS);
  entry /= determinant;
  if (lane < values) inverse[lane] = entry;
  determinant = fabs(determinant);
  *condition = norm * bsi_warp_norm1_of_entries<BS>(lane < values ? fabs(entry) : 0.0);
  double residual = r == c ? -1.0 : 0.0;
#pragma unroll
  for (int k = 0; k < BS; k++)
    residual += a[k * BS + r] * __shfl_sync(BSI_FULL_WARP, entry, (c * BS + k) % BSI_WARP);
  residual = bsi_warp_norm1_of_entries<BS>(lane < values ? fabs(residual) : 0.0);
  __syncwarp();
  return *condition <= BSI_COFACTOR_CONDITION_LIMIT &&
         determinant >= BSI_COFACTOR_DETERMINANT_MIN &&
         determinant <= BSI_COFACTOR_DETERMINANT_MAX &&
         residual <= BSI_COFACTOR_RESIDUAL_LIMIT * BS * *condition;
}

/* As bsi_block_invert().
 *   BS: the block size, or 0 if it is known at run time only */
template <int BS>
static __device__ __forceinline__ bsi_block_result bsi_warp_invert(const int bs, const double *a,
                                                                   double *inverse,
                                                                   double *condition) {
  const double norm = bsi_warp_norm1<BS>(bs, a);
  if constexpr (BS >= 2 && BS <= 5)
    if (bsi_warp_cofactors<BS>(a, norm, inverse, condition)) return BSI_BLOCK_OK;
  if (!bsi_warp_gauss_jordan(bs, a, inverse)) {
    *condition = INFINITY;
    return BSI_BLOCK_SINGULAR;
  }
  *condition = norm * bsi_warp_norm1<BS>(bs, inverse);
  return BS >= 2 && BS <= 5 ? BSI_BLOCK_FALLBACK : BSI_BLOCK_OK;
}

/* As bsi_block_invert_shifted(). */
template <int BS>
static __device__ __forceinline__ bsi_block_result
bsi_warp_invert_shifted(const int bs, double *a, const double amount, const double *row,
                        const int32_t count, double *inverse, double *condition) {
  const int lane = threadIdx.x % BSI_WARP;
  double shift = 0.0;
  for (;;) {
    const bsi_block_result result = bsi_warp_invert<BS>(bs, a, inverse, condition);
    if (result != BSI_BLOCK_SINGULAR) return shift > 0.0 ? BSI_BLOCK_REPAIRED : result;
    if (amount == 0.0) return result;
    double more = 9.0 * shift;
    if (shift == 0.0) {
      double sum = 0.0;
      for (int64_t c = 0; lane < bs && c < static_cast<int64_t>(count) * bs; c++)
        sum += fabs(row[c * bs + lane]);
      const double norm = bsi_warp_max_magnitude(sum);
      more = fmax(amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
    }
    if (!isfinite(more)) return result;
    shift += more;
    __syncwarp();
    if (lane < bs) a[lane * bs + lane] += more;
    __syncwarp();
  }
}

/* As bsi_block_invert_repaired(). */
template <int BS>
static __device__ __forceinline__ bsi_block_result
bsi_warp_invert_repaired(const int bs, double *a, const bsi_repair repair, const double *row,
                         const int32_t count, double *inverse, double *condition) {
  if (repair.least_pivot == 0.0)
    return bsi_warp_invert_shifted<BS>(bs, a, repair.amount, row, count, inverse, condition);
  const int lane = threadIdx.x % BSI_WARP;
  double sum = 0.0, shift = 0.0;
  for (int64_t c = 0; lane < bs && c < static_cast<int64_t>(count) * bs; c++)
    sum += fabs(row[c * bs + lane]);
  const double norm = bsi_warp_max_magnitude(sum);
  for (;;) {
    const bsi_block_result result = bsi_warp_invert<BS>(bs, a, inverse, condition);
    __syncwarp();
    if (result != BSI_BLOCK_SINGULAR && !bsi_is_small_pivot(bsi_warp_norm1<BS>(bs, inverse),
                                                            repair.least_pivot * norm, shift > 0.0))
      return shift > 0.0 ? BSI_BLOCK_REPAIRED : result;
    const double more =
        shift > 0.0 ? 9.0 * shift : fmax(repair.amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
    if (!isfinite(more)) return BSI_BLOCK_SINGULAR;
    const double added = bsi_signed_shift(bs, a, more);
    shift += more;
    __syncwarp();
    if (lane < bs) a[lane * bs + lane] += added;
    __syncwarp();
  }
}

#endif
