/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over vectors on the device. Each thread block has a chunk of the vectors that depends on n
 * alone, and leaves one partial sum for each result. The block that finishes last adds them up in
 * order, so that the bits repeat. */
#ifndef BSI_SUMS_CUH
#define BSI_SUMS_CUH

#include "gpu/launch.cuh"

enum { BSI_MOST_THREADS = 1024 };

/* Returns how many thread blocks share a sum of n values: one if it does them in one launch. */
static inline unsigned bsi_thread_blocks_of_sum(int64_t n) {
  if (n <= 4 * BSI_MOST_THREADS) return 1;
  const unsigned chunks = bsi_grid(n, BSI_MOST_THREADS);
  return chunks < BSI_CHUNKS ? chunks : BSI_CHUNKS;
}

/* Thread s < COUNT gets the sum of sums[s] over the threads of the block. */
template <int COUNT> static __device__ double bsi_sum_of_block(const double (&sums)[COUNT]) {
  __shared__ double of_warp[COUNT][BSI_MOST_THREADS / BSI_WARP];
  const int lane = threadIdx.x % BSI_WARP, warp = threadIdx.x / BSI_WARP;
#pragma unroll
  for (int s = 0; s < COUNT; s++) {
    const double sum = bsi_warp_sum(sums[s]);
    if (lane == 0) of_warp[s][warp] = sum;
  }
  __syncthreads();
  double total = 0.0;
  if (threadIdx.x < COUNT)
    for (int w = 0; w < static_cast<int>(blockDim.x) / BSI_WARP; w++)
      total += of_warp[threadIdx.x][w];
  return total;
}

/* out[s] ← the sum over the thread blocks of their partial sums s < count, by the last of the
 * blocks that share `ticket`. All threads call, thread s with the block's sum s, which becomes
 * partials[s·BSI_CHUNKS + block]. Returns true in that last block, whose threads have to wait for
 * each other before they read the sums. */
static __device__ bool bsi_finish(double mine, int count, double *partials, unsigned *ticket,
                                  double *out) {
  __shared__ bool last;
  if (static_cast<int>(threadIdx.x) < count) {
    partials[threadIdx.x * BSI_CHUNKS + blockIdx.x] = mine;
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return false;
  __threadfence();
  if (threadIdx.x == 0) *ticket = 0;
  const int lane = threadIdx.x % BSI_WARP;
  for (int s = threadIdx.x / BSI_WARP; s < count; s += blockDim.x / BSI_WARP) {
    double sum = 0.0;
    for (int b = lane; b < static_cast<int>(gridDim.x); b += BSI_WARP)
      sum += __ldcg(partials + s * BSI_CHUNKS + b);
    sum = bsi_warp_sum(sum);
    if (lane == 0) out[s] = sum;
  }
  return true;
}

#endif
