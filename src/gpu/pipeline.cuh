/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from global to shared memory that run while the thread goes on. */
#ifndef BSI_PIPELINE_CUH
#define BSI_PIPELINE_CUH

#include <cuda_pipeline_primitives.h>

#include "gpu/runtime.cuh"

/* Begins to copy 4, 8 or 16 bytes. */
static __device__ __forceinline__ void bsi_copy_ahead(void *shared, const void *global,
                                                      size_t bytes) {
  __pipeline_memcpy_async(shared, global, bytes);
}

/* The same, but writes zeros if the value is not `there`. */
static __device__ __forceinline__ void bsi_copy_ahead_or_zero(void *shared, const void *global,
                                                              size_t bytes, bool there) {
  __pipeline_memcpy_async(shared, global, bytes, there ? 0 : bytes);
}

/* Ends a group of copies. */
static __device__ __forceinline__ void bsi_commit_copies() { __pipeline_commit(); }

/* Waits for all groups of the thread. */
static __device__ __forceinline__ void bsi_wait_for_copies() { __pipeline_wait_prior(0); }

/* Begins to fetch memory into the second-level cache (compute capability 9.0): the multiples of 16
 * bytes from the one at or before `from` on. */
static __device__ __forceinline__ void bsi_fetch_ahead(const char *from, size_t bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const uintptr_t begin = reinterpret_cast<uintptr_t>(from) / 16 * 16,
                  size = (reinterpret_cast<uintptr_t>(from) + bytes - begin) / 16 * 16;
  if (size > 0)
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(begin),
                 "r"(static_cast<unsigned>(size)));
#else
  (void)from, (void)bytes;
#endif
}

#endif
