/* What every kernel's launch needs. For *_cuda.cu only. */
#ifndef BSI_LAUNCH_CUDA_CUH
#define BSI_LAUNCH_CUDA_CUH

#include <cuda_runtime.h>

#include "core/context.h"

enum { BSI_WARP = 32 };
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

#endif
