/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the device, which is allocated and released in the order of the stream. It comes from
 * the caller's allocator or from a pool of the context. The pool keeps what is released, so that a
 * repeated set-up asks the driver for nothing. */
#include <cstring>

#include "gpu/runtime.cuh"

namespace {

/* Returns NULL and sets *error when out of memory. */
void *take(bisai_context *context, size_t bytes, cudaError_t *error) {
  const bisai_device_allocator *own = &context->device_memory.allocator;
  void *memory = nullptr;
  *error = cudaErrorMemoryAllocation;
  if (own->allocate) return own->allocate(own->user, bytes, context->stream);
  *error = cudaMallocFromPoolAsync(&memory, bytes,
                                   static_cast<cudaMemPool_t>(context->device_memory.pool),
                                   bsi_stream_of(context));
  return *error == cudaSuccess ? memory : nullptr;
}

bisai_status copy(bisai_context *context, const char *what, void *to, const void *from,
                  size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return BISAI_OK;
  return bsi_gpu_status(context, what,
                        cudaMemcpyAsync(to, from, bytes, kind, bsi_stream_of(context)));
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
  void *memory = take(context, bytes, &error);
  if (memory) return memory;
  cudaGetLastError(); /* forgets the error: what was enqueued is not affected */
  bsi_fail(context, BISAI_OUT_OF_MEMORY, "cannot allocate %zu bytes on the device: %s", bytes,
           cudaGetErrorString(error));
  return nullptr;
}

static void release(bisai_context *context, void *memory) {
  const bisai_device_allocator *own = &context->device_memory.allocator;
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
  return bsi_gpu_status(context, "waiting for the device",
                        cudaStreamSynchronize(bsi_stream_of(context)));
}

static bisai_status fetch(bisai_context *context, void *host, const void *device, size_t bytes) {
  return bytes > 0 ? bsi_gpu_fetch(context, "copy from the device", host, device, bytes) : BISAI_OK;
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

/* Marks a number that is not yet written: a NaN that no arithmetic produces. */
static const unsigned long long cleared = 0x7ff4b15a1b15a1b1ull;

/* Reads of the memory between two queries of the device. A device that has failed never writes the
 * number. */
enum { READS = 4096 };

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

static void clear_shared(bisai_context *context, int count, double *shared) {
  (void)context;
  for (int i = 0; i < count; i++) reinterpret_cast<unsigned long long *>(shared)[i] = cleared;
}

static bisai_status await_shared(bisai_context *context, int count, const double *shared,
                                 double *values) {
  const volatile unsigned long long *words =
      reinterpret_cast<const volatile unsigned long long *>(shared);
  for (int i = 0; i < count; i++) {
    bool ended = false;
    for (int reads = 0; words[i] == cleared; reads++) {
      if (reads < READS) continue;
      reads = 0;
      if (ended)
        return bsi_fail(context, BISAI_DEVICE_ERROR,
                        "a number that was to come from the device did not");
      const cudaError_t error = cudaStreamQuery(bsi_stream_of(context));
      if (error != cudaSuccess && error != cudaErrorNotReady)
        return bsi_gpu_status(context, "waiting for the device", error);
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
                                        .clear_shared = clear_shared,
                                        .await_shared = await_shared};
