/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the device, given and taken in the order of the stream: by the caller's allocator, or
 * from a pool of the context that keeps what is released, so that a set-up made again asks the
 * driver for nothing. */
#include "core/context_impl.h"
#include "core/launch_cuda.cuh"

#include <cstring>

namespace {

bisai_status failure(bisai_context *context, const char *what, cudaError_t error) {
  return bsi_fail(context, BISAI_DEVICE_ERROR, "%s: %s", what, cudaGetErrorString(error));
}

void *allocate(bisai_context *context, size_t bytes, cudaError_t *error) {
  const bisai_device_allocator *own = &context->device_allocator;
  void *memory = nullptr;
  *error = cudaErrorMemoryAllocation;
  if (own->allocate) return own->allocate(own->user, bytes, context->stream);
  *error = cudaMallocFromPoolAsync(&memory, bytes, static_cast<cudaMemPool_t>(context->pool),
                                   bsi_stream_of(context));
  return *error == cudaSuccess ? memory : nullptr;
}

bisai_status copy(bisai_context *context, const char *what, void *to, const void *from,
                  size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return BISAI_OK;
  const cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, bsi_stream_of(context));
  return error == cudaSuccess ? BISAI_OK : failure(context, what, error);
}

} // namespace

static void *allocate(bisai_context *context, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) {
    bsi_fail(context, BISAI_OUT_OF_MEMORY,
             "an array of %zu elements of %zu bytes exceeds the address space", count, size);
    return nullptr;
  }
  const size_t bytes = count * size > 0 ? count * size : 1;
  cudaError_t error;
  void *memory = allocate(context, bytes, &error);
  if (memory) return memory;
  cudaGetLastError(); /* running out of memory spoils nothing */
  bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes on the device: %s", bytes,
           cudaGetErrorString(error));
  return nullptr;
}

static void release(bisai_context *context, void *memory) {
  const bisai_device_allocator *own = &context->device_allocator;
  if (!memory) return;
  if (own->release)
    own->release(own->user, memory, context->stream);
  else
    cudaFreeAsync(memory, bsi_stream_of(context));
}

static bisai_status upload(bisai_context *context, void *device, const void *host, size_t bytes) {
  return copy(context, "copy to the device", device, host, bytes, cudaMemcpyHostToDevice);
}

static bisai_status synchronize(bisai_context *context) {
  const cudaError_t error = cudaStreamSynchronize(bsi_stream_of(context));
  return error == cudaSuccess ? BISAI_OK : failure(context, "waiting for the device", error);
}

static bisai_status fetch(bisai_context *context, void *host, const void *device, size_t bytes) {
  const bisai_status status =
      copy(context, "copy from the device", host, device, bytes, cudaMemcpyDeviceToHost);
  return status || bytes == 0 ? status : synchronize(context);
}

static bisai_status copy(bisai_context *context, void *to, const void *from, size_t bytes) {
  return copy(context, "copy on the device", to, from, bytes, cudaMemcpyDeviceToDevice);
}

static bool reaches(const bisai_context *, const void *array) {
  cudaPointerAttributes attributes;
  if (cudaPointerGetAttributes(&attributes, array) == cudaSuccess)
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  cudaGetLastError();
  return false;
}

/* What `expect` leaves: a NaN that no arithmetic makes. */
static const unsigned long long expected = 0x7ff4b15a1b15a1b1ull;

/* Looks at the memory between two questions to the device, whose failure would leave it as it is
 * for ever. */
enum { LOOKS = 4096 };

static double *allocate_shared(bisai_context *context, size_t count) {
  void *memory = nullptr;
  const cudaError_t error =
      cudaHostAlloc(&memory, (count + 1) * sizeof(double), cudaHostAllocMapped);
  if (error == cudaSuccess) return static_cast<double *>(memory);
  cudaGetLastError();
  bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes of pinned memory: %s",
           count * sizeof(double), cudaGetErrorString(error));
  return nullptr;
}

static void release_shared(bisai_context *context, double *shared) {
  if (!shared) return;
  cudaStreamSynchronize(bsi_stream_of(context)); /* discarded steps may still be writing */
  cudaFreeHost(shared);
}

static void expect(bisai_context *context, int count, double *shared) {
  (void)context;
  for (int i = 0; i < count; i++) reinterpret_cast<unsigned long long *>(shared)[i] = expected;
}

static bisai_status collect(bisai_context *context, int count, const double *shared,
                            double *values) {
  const volatile unsigned long long *words =
      reinterpret_cast<const volatile unsigned long long *>(shared);
  for (int i = 0; i < count; i++) {
    bool ended = false;
    for (int look = 0; words[i] == expected; look++) {
      if (look < LOOKS) continue;
      look = 0;
      if (ended)
        return bsi_fail(context, BISAI_DEVICE_ERROR,
                        "a number that was to come from the device did not");
      const cudaError_t error = cudaStreamQuery(bsi_stream_of(context));
      if (error != cudaSuccess && error != cudaErrorNotReady)
        return failure(context, "waiting for the device", error);
      ended = error == cudaSuccess;
    }
    const unsigned long long word = words[i];
    memcpy(values + i, &word, sizeof word);
  }
  return BISAI_OK;
}

const bsi_memory_ops bsi_memory_cuda = {.synchronize = synchronize,
                                        .allocate = allocate,
                                        .release = release,
                                        .upload = upload,
                                        .fetch = fetch,
                                        .copy = copy,
                                        .reaches = reaches,
                                        .allocate_shared = allocate_shared,
                                        .release_shared = release_shared,
                                        .clear_shared = expect,
                                        .await_shared = collect};
