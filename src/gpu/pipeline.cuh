/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from global to shared memory that run while the thread goes on. */
#ifndef BSI_GPU_PIPELINE_CUH
#define BSI_GPU_PIPELINE_CUH

#include <cuda_pipeline_primitives.h>

#include "gpu/runtime.cuh"

/* Begins to copy 4, 8 or 16 bytes. */
static __device__ __forceinline__ void bsi_copy_ahead(void *shared, const void *global,
                                                      size_t bytes) {
  __pipeline_memcpy_async(shared, global, bytes);
}

/* Ends a group of copies. */
static __device__ __forceinline__ void bsi_commit_copies() { __pipeline_commit(); }

/* Waits for all groups of the thread. */
static __device__ __forceinline__ void bsi_wait_for_copies() { __pipeline_wait_prior(0); }

#endif
