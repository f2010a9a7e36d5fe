/* SPDX-License-Identifier: BSD-3-Clause */
/* What every kernel's launch needs. For *_cuda.cu only. */
#ifndef BSI_LAUNCH_CUDA_CUH
#define BSI_LAUNCH_CUDA_CUH

#include <cuda_runtime.h>

#include "core/context_impl.h"

/* BSI_SHARED_TAKEN: bytes of shared memory that the system takes of each thread block's. */
enum { BSI_WARP = 32, BSI_SHARED_TAKEN = 1024 };
constexpr unsigned BSI_EVERYONE = 0xffffffffu;

static inline cudaStream_t bsi_stream_of(const bisai_context *context) {
  return static_cast<cudaStream_t>(context->stream);
}

/* Thread blocks of `threads` for `work` threads; the caller has none for no work. */
static inline unsigned bsi_grid(int64_t work, int threads) {
  return static_cast<unsigned>((work + threads - 1) / threads);
}

/* What the last launch says, as a status that names it. */
static inline bisai_status bsi_launched(bisai_context *context, const char *what) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return BISAI_OK;
  return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
}

/* What bsi_launch_early() launches may be on its way while its predecessor in the stream ends
 * (compute capability 9.0): most of what a launch costs is hidden. The kernel's first step is then
 * bsi_wait_for_predecessor(), by every thread, before anything is read or written; it returns when
 * all earlier work of the stream is done and seen. */
__device__ __forceinline__ void bsi_wait_for_predecessor() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

template <typename... Parameters, typename... Arguments>
static inline void bsi_launch_early(const bisai_context *context, void (*kernel)(Parameters...),
                                    dim3 grid, dim3 block, size_t shared, Arguments... arguments) {
  cudaLaunchConfig_t how = {};
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  how.gridDim = grid;
  how.blockDim = block;
  how.dynamicSmemBytes = shared;
  how.stream = bsi_stream_of(context);
  how.attrs = &early;
  how.numAttrs = context->early_launches ? 1 : 0;
  cudaLaunchKernelEx(&how, kernel, static_cast<Parameters>(arguments)...);
}

#endif
