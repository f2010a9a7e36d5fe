/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that the host can read too, so that the bodies of the tests look into matrices and
 * vectors whatever the backend. */
#include "managed.h"

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

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
