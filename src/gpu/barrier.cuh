/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of all thread blocks of a cooperative launch (bsi_launch_together()) for each other. */
#ifndef BSI_GPU_BARRIER_CUH
#define BSI_GPU_BARRIER_CUH

#include "gpu/launch.cuh"

/* Waits for all blocks of the grid, while one thread of another warp calls meanwhile(). What the
 * blocks have written before is visible to all of them then. The ticket's upper bit flips each
 * time, so that an even number of waits leaves the ticket as it was. The last block need not poll.
 * Meanwhile: a function without arguments. */
template <typename Meanwhile>
__device__ __forceinline__ void bsi_wait_for_all(unsigned *ticket, Meanwhile meanwhile) {
  __syncthreads();
  if (threadIdx.x == BSI_WARP) meanwhile();
  if (threadIdx.x == 0) {
    const unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    unsigned before, now;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(ticket), "r"(mine)
                 : "memory");
    now = before + mine;
    while (((now ^ before) & 0x80000000u) == 0)
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(ticket) : "memory");
  }
  __syncthreads();
}

#endif
