/* Memory of the device. */
#include "core/backend_cuda.h"
#include "core/launch_cuda.cuh"

namespace {
bisai_status failure(bisai_context *context, const char *what, cudaError_t error) {
  return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
}
} // namespace

void *bsi_allocate_cuda(bisai_context *context, size_t count, size_t size) {
  void *memory = nullptr;
  if (size != 0 && count > SIZE_MAX / size) {
    bsi_fail(context, BISAI_OUT_OF_MEMORY, "an array of %zu elements of %zu bytes exceeds the address space", count,
             size);
    return nullptr;
  }
  const size_t bytes = count * size > 0 ? count * size : 1;
  const cudaError_t error = cudaMallocAsync(&memory, bytes, bsi_stream_of(context));
  if (error == cudaSuccess) return memory;
  cudaGetLastError(); /* running out of memory spoils nothing */
  bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes on the device: %s", bytes,
           cudaGetErrorString(error));
  return nullptr;
}

void bsi_release_cuda(bisai_context *context, void *memory) {
  if (memory) cudaFreeAsync(memory, bsi_stream_of(context));
}

bisai_status bsi_upload_cuda(bisai_context *context, void *device, const void *host, size_t bytes) {
  if (bytes == 0) return BISAI_OK;
  const cudaError_t error = cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, bsi_stream_of(context));
  return error == cudaSuccess ? BISAI_OK : failure(context, "copy to the device", error);
}

bisai_status bsi_fetch_cuda(bisai_context *context, void *host, const void *device, size_t bytes) {
  if (bytes == 0) return BISAI_OK;
  const cudaStream_t stream = bsi_stream_of(context);
  cudaError_t error = cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  return error == cudaSuccess ? BISAI_OK : failure(context, "copy from the device", error);
}
