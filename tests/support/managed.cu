/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that the host can read too, so that the bodies of the tests look into matrices and
 * vectors whatever the backend. Device memory that it cannot read is for tests that allocate a
 * hundred thousand times: no page of it moves between host and device. */
#include "managed.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include <cuda_runtime.h>

namespace {

/* The bytes of all arrays that the host does not reach. */
struct array_sizes {
  std::mutex lock;
  std::unordered_map<void *, size_t> bytes;
};

array_sizes &all_sizes() {
  static array_sizes sizes;
  return sizes;
}

/* Lets the device's pool keep what is released. Otherwise each wait would return it to the
 * driver. */
bool keep_released_memory() {
  int device = 0;
  cudaMemPool_t pool;
  unsigned long long everything = ~0ull;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess &&
         cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &everything) == cudaSuccess;
}

} // namespace

void *managed_allocate(size_t bytes) {
  void *memory = nullptr;
  if (cudaMallocManaged(&memory, bytes) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}

/* A later call would otherwise report that memory was released twice. */
void managed_release(void *memory) {
  const cudaError_t error = cudaFree(memory);
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cannot release device memory: %s\n", cudaGetErrorString(error));
  std::abort();
}

void managed_synchronize(void) { cudaDeviceSynchronize(); }

void *device_allocate(size_t bytes, void *stream) {
  static const bool kept = keep_released_memory();
  const cudaStream_t on = static_cast<cudaStream_t>(stream);
  void *memory = nullptr;
  if (!kept || cudaMallocAsync(&memory, bytes, on) != cudaSuccess ||
      cudaMemsetAsync(memory, 0xff, bytes, on) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  array_sizes &sizes = all_sizes();
  const std::lock_guard<std::mutex> locked(sizes.lock);
  sizes.bytes[memory] = bytes;
  return memory;
}

size_t device_release(void *memory, void *stream) {
  array_sizes &sizes = all_sizes();
  const std::lock_guard<std::mutex> locked(sizes.lock);
  const size_t bytes = sizes.bytes.at(memory);
  sizes.bytes.erase(memory);
  cudaMemsetAsync(memory, 0xff, bytes, static_cast<cudaStream_t>(stream));
  cudaFreeAsync(memory, static_cast<cudaStream_t>(stream));
  return bytes;
}
