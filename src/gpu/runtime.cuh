/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime of the GPU: its stream, its errors as statuses, and memory in the order of the
 * stream. src/gpu alone includes the headers of CUDA. Kernels and the functions that launch them
 * stay in the rooms (*_cuda.cu) and use what this folder declares. */
#ifndef BSI_RUNTIME_CUH
#define BSI_RUNTIME_CUH

#include <cuda_runtime.h>

#include "core/context/context_impl.h"

using bsi_gpu_error = cudaError_t;
using bsi_gpu_stream = cudaStream_t;

static inline bsi_gpu_stream bsi_stream_of(const bisai_context *context) {
  return static_cast<bsi_gpu_stream>(context->stream);
}

/* Turns an error of the runtime into a status. The message of a failure begins with `what`. */
static inline bisai_status bsi_gpu_status(bisai_context *context, const char *what,
                                          bsi_gpu_error error) {
  if (error == cudaSuccess) return BISAI_OK;
  return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
}

/* Returns the status of the latest launches, and clears it. */
static inline bisai_status bsi_launched(bisai_context *context, const char *what) {
  return bsi_gpu_status(context, what, cudaGetLastError());
}

/* Sets each byte of device memory to `byte`. */
static inline bisai_status bsi_gpu_fill(bisai_context *context, const char *what, void *memory,
                                        int byte, size_t bytes) {
  return bsi_gpu_status(context, what,
                        cudaMemsetAsync(memory, byte, bytes, bsi_stream_of(context)));
}

/* Copies within device memory. */
static inline bisai_status bsi_gpu_copy(bisai_context *context, const char *what, void *to,
                                        const void *from, size_t bytes) {
  return bsi_gpu_status(
      context, what,
      cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, bsi_stream_of(context)));
}

/* Copies to the host, which may read the result after the next wait. */
static inline bisai_status bsi_gpu_fetch_later(bisai_context *context, const char *what, void *host,
                                               const void *device, size_t bytes) {
  return bsi_gpu_status(
      context, what,
      cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, bsi_stream_of(context)));
}

/* Copies to the host and waits. A kernel writes few bytes into memory that the host reads
 * meanwhile, which takes less time than a copy and a wait of the runtime. */
bisai_status bsi_gpu_fetch(bisai_context *context, const char *what, void *host, const void *device,
                           size_t bytes);

/* The same for `count` arrays. Waits once. */
bisai_status bsi_gpu_fetch_together(bisai_context *context, const char *what, int count,
                                    const bsi_fetched *fetched);

/* Sets `ones` words of device memory to ~0, and `zeros` words after them to 0. */
bisai_status bsi_gpu_set_words(bisai_context *context, const char *what, void *words, int ones,
                               int zeros);

/* Loads a kernel, and with it the file that has it. */
template <typename Kernel>
static inline bisai_status bsi_gpu_load(bisai_context *context, Kernel *kernel) {
  cudaFuncAttributes attributes;
  return bsi_gpu_status(context, "loading of kernels", cudaFuncGetAttributes(&attributes, kernel));
}

/* Lets a kernel be launched with this many bytes of shared memory for each thread block. Up to 48
 * KiB need no permission. */
template <typename Kernel>
static inline bisai_status bsi_gpu_allow_shared(bisai_context *context, const char *what,
                                                Kernel *kernel, size_t bytes) {
  return bsi_gpu_status(context, what,
                        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             static_cast<int>(bytes)));
}

#endif
