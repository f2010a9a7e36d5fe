/* Memory of the device. */
#include "core/backend_cuda.h"
#include "core/launch_cuda.cuh"

#include <cstring>

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

/* What `expect` leaves: a NaN that no arithmetic makes. */
static const unsigned long long expected = 0x7ff4b15a1b15a1b1ull;

/* Looks at the memory between two questions to the device, whose failure would leave it as it is for ever. */
enum { LOOKS = 4096 };

double *bsi_allocate_shared_cuda(bisai_context *context, size_t count) {
  void *memory = nullptr;
  const cudaError_t error = cudaHostAlloc(&memory, (count + 1) * sizeof(double), cudaHostAllocMapped);
  if (error == cudaSuccess) return static_cast<double *>(memory);
  cudaGetLastError();
  bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes of pinned memory: %s", count * sizeof(double),
           cudaGetErrorString(error));
  return nullptr;
}

void bsi_release_shared_cuda(bisai_context *context, double *shared) {
  if (!shared) return;
  cudaStreamSynchronize(bsi_stream_of(context)); /* discarded steps may still be writing */
  cudaFreeHost(shared);
}

void bsi_expect_cuda(bisai_context *context, int count, double *shared) {
  (void)context;
  for (int i = 0; i < count; i++) reinterpret_cast<unsigned long long *>(shared)[i] = expected;
}

bisai_status bsi_collect_cuda(bisai_context *context, int count, const double *shared, double *values) {
  const volatile unsigned long long *words = reinterpret_cast<const volatile unsigned long long *>(shared);
  for (int i = 0; i < count; i++) {
    bool ended = false;
    for (int look = 0; words[i] == expected; look++) {
      if (look < LOOKS) continue;
      look = 0;
      if (ended) return bsi_fail(context, BISAI_DEVICE_ERROR, "a number that was to come from the device did not");
      const cudaError_t error = cudaStreamQuery(bsi_stream_of(context));
      if (error != cudaSuccess && error != cudaErrorNotReady) return failure(context, "waiting for the device", error);
      ended = error == cudaSuccess;
    }
    const unsigned long long word = words[i];
    memcpy(values + i, &word, sizeof word);
  }
  return BISAI_OK;
}
