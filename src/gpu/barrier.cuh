/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of all thread blocks of a cooperative launch (bsi_launch_together()) for each other. */
#ifndef BSI_BARRIER_CUH
#define BSI_BARRIER_CUH

#include "gpu/launch.cuh"
#include "gpu/ptx.cuh"

/* What thread 0 of a block has seen of the ticket. */
struct bsi_arrival {
  unsigned before;
};

/* The first half of a wait of all blocks of the grid for each other. What a block writes between
 * the halves is not visible to the others. */
__device__ __forceinline__ bsi_arrival bsi_arrive(unsigned *ticket) {
  bsi_arrival seen = {0};
  __syncthreads();
  if (threadIdx.x == 0) {
    const unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
    seen.before = bsi_add_release(ticket, mine);
  }
  return seen;
}

/* The second half. What the blocks have written before the first half is visible to all of them
 * then. The ticket's upper bit flips each time, so that an even number of waits leaves the ticket
 * as it was. */
__device__ __forceinline__ void bsi_await(unsigned *ticket, bsi_arrival seen) {
  if (threadIdx.x == 0) {
    unsigned now;
    do now = bsi_load_acquire(ticket);
    while (((now ^ seen.before) & 0x80000000u) == 0);
  }
  __syncthreads();
}

/* Both halves. One thread of another warp than that of thread 0 calls meanwhile() in between.
 * Meanwhile: a function without arguments. */
template <typename Meanwhile>
__device__ __forceinline__ void bsi_wait_for_all(unsigned *ticket, Meanwhile meanwhile) {
  const bsi_arrival seen = bsi_arrive(ticket);
  if (threadIdx.x == BSI_WARP) meanwhile();
  bsi_await(ticket, seen);
}

#endif
