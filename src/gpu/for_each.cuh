/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread for each index. */
#ifndef BSI_FOR_EACH_CUH
#define BSI_FOR_EACH_CUH

#include "gpu/launch.cuh"

constexpr int BSI_FOR_EACH_THREADS = 256;

/* F: the type of the function */
template <typename F> static __global__ void bsi_for_each_kernel(int64_t n, F f) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(BSI_FOR_EACH_THREADS) + threadIdx.x;
  bsi_wait_for_predecessor();
  if (i < n) f(i);
}

/* Enqueues f(i) for every i < n; a failure is reported as one of `what`. */
template <typename F>
static bisai_status bsi_for_each(bisai_context *context, const char *what, int64_t n, F f) {
  if (n == 0) return BISAI_OK;
  bsi_launch_early(context, bsi_for_each_kernel<F>, bsi_grid(n, BSI_FOR_EACH_THREADS),
                   BSI_FOR_EACH_THREADS, 0, n, f);
  return bsi_launched(context, what);
}

#endif
