/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the device, which is allocated and released in the order of the stream. It comes from
 * the caller's allocator or from a pool of the context. The pool keeps what is released, so that a
 * repeated set-up asks the driver for nothing. */
#include <cstring>

#include "gpu/launch.cuh"

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

/* Threads of the kernels that move a few words. */
enum { FEW_THREADS = 256 };

/* Arrays that the host fetches. */
struct fetches {
  int count;
  bsi_fetched of[BSI_FETCHED];
};

/* Copies the arrays to memory of the host, one behind the other, and then writes `number`. */
__global__ void __launch_bounds__(FEW_THREADS)
    hand_over(const fetches f, unsigned char *to, volatile unsigned long long *arrived,
              unsigned long long number) {
  bsi_wait_for_predecessor();
  for (int k = 0; k < f.count; to += f.of[k++].bytes) {
    const unsigned char *from = static_cast<const unsigned char *>(f.of[k].from);
    const int bytes = static_cast<int>(f.of[k].bytes);
    for (int i = static_cast<int>(threadIdx.x); i < bytes; i += FEW_THREADS) to[i] = from[i];
  }
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *arrived = number;
}

__global__ void __launch_bounds__(FEW_THREADS)
    set_words(unsigned long long *words, int ones, int zeros) {
  bsi_wait_for_predecessor();
  for (int i = static_cast<int>(threadIdx.x); i < ones + zeros; i += FEW_THREADS)
    words[i] = i < ones ? ~0ull : 0ull;
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
  context->fetches.waits++;
  return bsi_gpu_status(context, "waiting for the device",
                        cudaStreamSynchronize(bsi_stream_of(context)));
}

static bisai_status fetch(bisai_context *context, void *host, const void *device, size_t bytes) {
  return bytes > 0 ? bsi_gpu_fetch(context, "copy from the device", host, device, bytes) : BISAI_OK;
}

static bisai_status fetch_together(bisai_context *context, int count, const bsi_fetched *fetched) {
  return bsi_gpu_fetch_together(context, "copy from the device", count, fetched);
}

static bisai_status copy(bisai_context *context, void *to, const void *from, size_t bytes) {
  return copy(context, "copy on the device", to, from, bytes, cudaMemcpyDeviceToDevice);
}

static bisai_status report(bisai_context *context, bool restart, bisai_device_memory *memory) {
  const auto pool = static_cast<cudaMemPool_t>(context->device_memory.pool);
  uint64_t used = 0, most = 0, held = 0, restarted = 0;
  BSI_TRY(synchronize(context));
  cudaError_t error = cudaSuccess;
  if (pool) error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  if (pool && !error) error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most);
  if (pool && !error)
    error = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &held);
  if (pool && !error && restart)
    error = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &restarted);
  BSI_TRY(bsi_gpu_status(context, "reading the memory of the device", error));
  memory->used_bytes = static_cast<int64_t>(used);
  memory->most_used_bytes = static_cast<int64_t>(most > used ? most : used);
  memory->pool_bytes = static_cast<int64_t>(held);
  return BISAI_OK;
}

static bisai_status trim(bisai_context *context) {
  const auto pool = static_cast<cudaMemPool_t>(context->device_memory.pool);
  BSI_TRY(synchronize(context));
  return bsi_gpu_status(context, "returning memory to the device",
                        pool ? cudaMemPoolTrimTo(pool, 0) : cudaSuccess);
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

/* Waits until a word in memory of the host no longer has a value. *word ← what it has then. */
static bisai_status await_word(bisai_context *context, const volatile unsigned long long *there,
                               unsigned long long before, unsigned long long *word) {
  bool ended = false;
  context->fetches.waits++;
  for (int reads = 0; (*word = *there) == before; reads++) {
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
  return BISAI_OK;
}

static bisai_status await_shared(bisai_context *context, int count, const double *shared,
                                 double *values) {
  for (int i = 0; i < count; i++) {
    unsigned long long word = 0;
    BSI_TRY(await_word(context, reinterpret_cast<const volatile unsigned long long *>(shared + i),
                       cleared, &word));
    memcpy(values + i, &word, sizeof word);
  }
  return BISAI_OK;
}

const bsi_memory_ops bsi_memory_cuda = {.synchronize = synchronize,
                                        .allocate = allocate,
                                        .release = release,
                                        .upload = upload,
                                        .fetch = fetch,
                                        .fetch_together = fetch_together,
                                        .copy = copy,
                                        .report = report,
                                        .trim = trim,
                                        .reaches = reaches,
                                        .allocate_shared = allocate_shared,
                                        .release_shared = release_shared,
                                        .clear_shared = clear_shared,
                                        .await_shared = await_shared};

bisai_status bsi_gpu_set_words(bisai_context *context, const char *what, void *words, int ones,
                               int zeros) {
  bsi_launch_early(context, set_words, 1, FEW_THREADS, 0, words, ones, zeros);
  return bsi_launched(context, what);
}

/* Copies of the runtime, which may be large. */
static bisai_status fetch_many(bisai_context *context, const char *what, const fetches &f) {
  for (int k = 0; k < f.count; k++)
    BSI_TRY(bsi_gpu_fetch_later(context, what, f.of[k].to, f.of[k].from, f.of[k].bytes));
  context->fetches.waits++;
  return bsi_gpu_status(context, what, cudaStreamSynchronize(bsi_stream_of(context)));
}

bisai_status bsi_gpu_fetch_together(bisai_context *context, const char *what, int count,
                                    const bsi_fetched *fetched) {
  fetches f = {};
  size_t bytes = 0;
  f.count = count;
  for (int k = 0; k < count; k++) {
    f.of[k] = fetched[k];
    bytes += fetched[k].bytes;
  }
  if (bytes > BSI_BOUNCE_BYTES) return fetch_many(context, what, f);
  const char *bounce = reinterpret_cast<const char *>(context->fetches.bounce);
  auto *arrived = reinterpret_cast<volatile unsigned long long *>(
      reinterpret_cast<char *>(context->fetches.bounce) + BSI_BOUNCE_BYTES);
  const unsigned long long before = *arrived;
  unsigned long long number = 0;
  bsi_launch_early(context, hand_over, 1, FEW_THREADS, 0, f,
                   reinterpret_cast<unsigned char *>(context->fetches.bounce), arrived, before + 1);
  BSI_TRY(bsi_launched(context, what));
  BSI_TRY(await_word(context, arrived, before, &number));
  __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the bytes arrived before the number */
  for (int k = 0; k < count; bounce += f.of[k++].bytes) memcpy(f.of[k].to, bounce, f.of[k].bytes);
  return BISAI_OK;
}

bisai_status bsi_gpu_fetch(bisai_context *context, const char *what, void *host, const void *device,
                           size_t bytes) {
  const bsi_fetched only = {host, device, bytes};
  return bsi_gpu_fetch_together(context, what, 1, &only);
}
