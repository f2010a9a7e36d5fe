/* SPDX-License-Identifier: BSD-3-Clause */
/* Launches of kernels. */
#ifndef BSI_LAUNCH_CUH
#define BSI_LAUNCH_CUH

#include "gpu/runtime.cuh"
#include "gpu/warp.cuh"

/* Bytes of shared memory that the system takes for each thread block. */
enum { BSI_SHARED_TAKEN = 1024 };

/* Thread blocks of `threads` threads for `work` threads. No work would need none, which cannot be
 * launched: the caller returns before. */
static inline unsigned bsi_grid(int64_t work, int threads) {
  return static_cast<unsigned>((work + threads - 1) / threads);
}

/* The first step of a kernel that bsi_launch_early() launches, before any thread reads or writes
 * memory. Returns when all earlier work of the stream is done and visible. */
__device__ __forceinline__ void bsi_wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/* Lets a successor that bsi_launch_early() launches start as soon as all thread blocks of this
 * kernel have called this or ended. A successor that waits at its end only runs beside this one. */
__device__ __forceinline__ void bsi_release_successor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

/* Launches a kernel that may start while its predecessor in the stream ends (compute capability
 * 9.0), which hides most of the time that a launch takes. */
template <typename... Parameters, typename... Arguments>
static inline void bsi_launch_early(const bisai_context *context, void (*kernel)(Parameters...),
                                    dim3 grid, dim3 block, size_t shared, Arguments... arguments) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = grid;
  how.blockDim = block;
  how.dynamicSmemBytes = shared;
  how.stream = bsi_stream_of(context);
  how.attrs = &early;
  how.numAttrs = context->limits.early_launches ? 1 : 0;
  cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...);
}

/* *blocks ← the thread blocks of `threads` threads without dynamic shared memory that the device
 * holds at the same time. A failure is reported as one of `what`. */
template <typename... Parameters>
static inline bisai_status bsi_resident_blocks(bisai_context *context, const char *what,
                                               void (*kernel)(Parameters...), int threads,
                                               int *blocks) {
  int of_processor = 0;
  const bisai_status status = bsi_gpu_status(
      context, what,
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_processor, kernel, threads, 0));
  *blocks = of_processor * context->limits.processors;
  return status;
}

/* Launches a cooperative kernel: all its thread blocks are resident together, so that they may wait
 * for each other. A failure is reported as one of `what`. */
template <typename... Parameters, typename... Arguments>
static inline bisai_status bsi_launch_together(bisai_context *context, const char *what,
                                               void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                               size_t shared, Arguments... arguments) {
  cudaLaunchAttribute together = {};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = grid;
  how.blockDim = block;
  how.dynamicSmemBytes = shared;
  how.stream = bsi_stream_of(context);
  how.attrs = &together;
  how.numAttrs = 1;
  return bsi_gpu_status(context, what,
                        cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...));
}

#endif
