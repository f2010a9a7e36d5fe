/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of blocks by the lanes of a warp, by the rules of core/block_math.h, and what many of
 * them met. For *_cuda.cu only.
 *
 * Blocks are in shared memory; all lanes call, and all get the same result. Cofactors are one entry
 * a lane; elimination takes the entries of a step side by side, each by the operations of
 * bsi_gauss_jordan(). */
#ifndef BSI_INVERT_CUDA_CUH
#define BSI_INVERT_CUDA_CUH

#include <cstring>

#include "core/block_math.h"
#include "core/triangular.h"
#include "gpu/launch.cuh"

/* The largest of magnitudes, NaN if any is: their bits are in the order of their values, NaN's
 * above all. Valid in every lane. */
template <int LANES> static __device__ __forceinline__ double bsi_warp_largest(double magnitude) {
  unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(magnitude));
#pragma unroll
  for (int step = LANES / 2; step > 0; step /= 2)
    bits = max(bits, __shfl_xor_sync(BSI_FULL_WARP, bits, step));
  return __longlong_as_double(static_cast<long long>(__shfl_sync(BSI_FULL_WARP, bits, 0)));
}

/* Lanes that hold a column each. */
template <int BS> constexpr int bsi_column_lanes = BS == 0 ? BSI_WARP : BS > 4 ? 8 : BS > 2 ? 4 : 2;

/* ‖a‖₁ with a column a lane. */
template <int BS>
static __device__ __forceinline__ double bsi_warp_norm1(const int bs, const double *a) {
  const int lane = threadIdx.x % BSI_WARP;
  double sum = 0.0;
  if (lane < bs)
    for (int r = 0; r < bs; r++) sum += fabs(a[lane * bs + r]);
  return bsi_warp_largest<bsi_column_lanes<BS>>(sum);
}

/* The largest column sum of values that lanes hold one each, those beyond the block zeros. */
template <int BS>
static __device__ __forceinline__ double bsi_warp_norm1_of_entries(double magnitude) {
  const int lane = threadIdx.x % BSI_WARP;
  double sum = 0.0;
#pragma unroll
  for (int r = 0; r < BS; r++) sum += __shfl_sync(BSI_FULL_WARP, magnitude, lane * BS + r);
  return bsi_warp_largest<bsi_column_lanes<BS>>(lane < BS ? sum : 0.0);
}

/* m ← a⁻¹; m does not overlap a. */
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

/* Whether the inverse by cofactors is made and to be trusted. */
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

/* As bsi_block_invert(); BS = 0: the block size `bs` at run time. */
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
      const double norm = bsi_warp_largest<BSI_WARP>(sum);
      more = fmax(amount * (norm == 0.0 ? 1.0 : norm), DBL_MIN);
    }
    if (!isfinite(more)) return result;
    shift += more;
    __syncwarp();
    if (lane < bs) a[lane * bs + lane] += more;
    __syncwarp();
  }
}

/* What inversions met, in words of the context's first_fault: the first rows start as ~0, the
 * others as 0. */
enum {
  BSI_MET_SINGULAR_ROW,
  BSI_MET_INFINITE_ROW,
  BSI_MET_REPAIR_ROW,
  BSI_MET_CONDITION_ROW,
  BSI_MET_FALLBACKS,
  BSI_MET_REPAIRS,
  /* the bits of the largest */
  BSI_MET_CONDITION,
  BSI_MET_WORDS
};

static inline cudaError_t bsi_met_nothing(const bisai_context *context) {
  unsigned long long *words = context->first_fault;
  const size_t rows = BSI_MET_FALLBACKS * sizeof *words, all = BSI_MET_WORDS * sizeof *words;
  const cudaError_t error = cudaMemsetAsync(words, 0xff, rows, bsi_stream_of(context));
  if (error != cudaSuccess) return error;
  return cudaMemsetAsync(words + BSI_MET_FALLBACKS, 0, all - rows, bsi_stream_of(context));
}

/* One inversion without its condition; by one lane. */
static __device__ __forceinline__ void bsi_met(unsigned long long *words, bsi_block_result result,
                                               int64_t row) {
  const unsigned long long mine = static_cast<unsigned long long>(row);
  if (result == BSI_BLOCK_SINGULAR) atomicMin(words + BSI_MET_SINGULAR_ROW, mine);
  if (result == BSI_BLOCK_FALLBACK) atomicAdd(words + BSI_MET_FALLBACKS, 1ull);
  if (result != BSI_BLOCK_REPAIRED) return;
  atomicAdd(words + BSI_MET_REPAIRS, 1ull);
  atomicMin(words + BSI_MET_REPAIR_ROW, mine);
}

/* The largest condition of many rows in any order, and once it is known the first row that has it.
 * Zero and NaN are not counted. */
static __device__ __forceinline__ void bsi_met_condition(unsigned long long *words,
                                                         double condition) {
  if (condition > 0.0)
    atomicMax(words + BSI_MET_CONDITION,
              static_cast<unsigned long long>(__double_as_longlong(condition)));
}
static __device__ __forceinline__ void bsi_met_condition_row(unsigned long long *words,
                                                             double condition, int64_t row) {
  if (condition > 0.0 &&
      static_cast<unsigned long long>(__double_as_longlong(condition)) == words[BSI_MET_CONDITION])
    atomicMin(words + BSI_MET_CONDITION_ROW, static_cast<unsigned long long>(row));
}

/* Waits; adds what was met to the statistics. A singular block's condition is infinite. */
static inline bisai_status bsi_met_fetch(bisai_context *context, const char *what,
                                         bsi_invert_stats *stats) {
  unsigned long long words[BSI_MET_WORDS];
  const cudaStream_t stream = bsi_stream_of(context);
  cudaError_t error =
      cudaMemcpyAsync(words, context->first_fault, sizeof words, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  if (error != cudaSuccess)
    return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
  bsi_invert_stats met;
  met.singular_row = static_cast<int32_t>(words[BSI_MET_SINGULAR_ROW]);
  met.infinite_row = static_cast<int32_t>(words[BSI_MET_INFINITE_ROW]);
  met.first_repair_row = static_cast<int32_t>(words[BSI_MET_REPAIR_ROW]);
  met.fallbacks = static_cast<int64_t>(words[BSI_MET_FALLBACKS]);
  met.repairs = static_cast<int64_t>(words[BSI_MET_REPAIRS]);
  memcpy(&met.largest_condition, words + BSI_MET_CONDITION, sizeof met.largest_condition);
  met.largest_condition_row = static_cast<int32_t>(words[BSI_MET_CONDITION_ROW]);
  if (met.singular_row >= 0) {
    met.largest_condition = INFINITY;
    met.largest_condition_row = met.singular_row;
  }
  bsi_invert_stats_merge(stats, &met);
  return BISAI_OK;
}

#endif
