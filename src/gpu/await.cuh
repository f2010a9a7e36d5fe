/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that thread blocks of one launch pass to each other without barriers.
 *
 * The memory is filled beforehand with a bit pattern that no arithmetic produces (bytes of 0xff),
 * which means that the value is absent. The reader polls until the value changes, so that passing a
 * value costs one trip through the L2 cache. */
#ifndef BSI_AWAIT_CUH
#define BSI_AWAIT_CUH

#include <algorithm>

#include "gpu/launch.cuh"
#include "gpu/ptx.cuh"

static __device__ __forceinline__ bool bsi_is_absent(double x) {
  return __double_as_longlong(x) == -1ll;
}

/* Reads a value, which may be absent. */
static __device__ __forceinline__ double bsi_peek(const double *x) { return bsi_load_relaxed(x); }

/* Polls until the value is present. */
static __device__ __forceinline__ double bsi_await(const double *x) {
  double value;
  do value = bsi_peek(x);
  while (bsi_is_absent(value));
  return value;
}

/* A caller's NaN may have the bits of an absent value. Another NaN replaces it. */
static __device__ __forceinline__ double bsi_present(double value) {
  return isnan(value) ? __longlong_as_double(0x7ff8000000000000ll) : value;
}

/* Writes a value, which is present then. */
static __device__ __forceinline__ void bsi_hand_over(double *x, double value) {
  bsi_store_relaxed(x, bsi_present(value));
}

/* Returns the bytes of shared memory, at least `needed`, of a thread block of `warps` warps with a
 * row each. They limit how many thread blocks are resident, so that rows of about `ahead` levels
 * are under way and not many more: warps poll, and thousands that poll long before their turn slow
 * down those whose turn it is (docs/tuning.md, "Exact triangular solves"). */
static inline size_t bsi_bytes_to_thin_out(const bisai_context *context, int64_t rows,
                                           int64_t levels, int ahead, int warps, size_t needed) {
  const bsi_device_limits *has = &context->limits;
  const int64_t wanted =
      ahead * rows / (levels > 0 ? levels : 1) / (static_cast<int64_t>(has->processors) * warps) +
      1;
  const int64_t blocks = wanted < 2 ? 2 : wanted;
  const size_t filler = static_cast<size_t>(
      std::min(has->shared / blocks - BSI_SHARED_TAKEN, static_cast<int64_t>(has->block_shared)));
  return blocks * warps >= 64 || filler < needed ? needed : filler;
}

#endif
