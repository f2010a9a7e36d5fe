/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of all thread blocks of a cooperative launch (bsi_launch_together()) for each other. They
 * share a ticket, whose upper bit flips with each wait and is 0 when a kernel begins. A kernel
 * waits an even number of times, or arrives once more at its end. */
#ifndef BSI_BARRIER_CUH
#define BSI_BARRIER_CUH

#include "gpu/launch.cuh"
#include "gpu/ptx.cuh"

/* The first half of a wait of all blocks of the grid for each other. What a block writes between
 * the halves is not visible to the others. */
__device__ __forceinline__ void bsi_arrive(unsigned *ticket) {
  __syncthreads();
  if (threadIdx.x == 0)
    bsi_add_release(ticket, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
}

/* The second half. What the blocks have written before the first half is visible to all of them
 * then. `odd`: the kernel has waited an odd number of times before. */
__device__ __forceinline__ void bsi_await(unsigned *ticket, bool odd) {
  if (threadIdx.x == 0)
    while (bsi_load_acquire(ticket) >> 31 == static_cast<unsigned>(odd)) {
    }
  __syncthreads();
}

/* Both halves. One thread of another warp than that of thread 0 calls meanwhile() in between.
 * Meanwhile: a function without arguments. */
template <typename Meanwhile>
__device__ __forceinline__ void bsi_wait_for_all(unsigned *ticket, bool odd, Meanwhile meanwhile) {
  bsi_arrive(ticket);
  if (threadIdx.x == BSI_WARP) meanwhile();
  bsi_await(ticket, odd);
}

#endif
