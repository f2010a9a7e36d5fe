/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory that the host can read too, so that the bodies of the tests look into matrices and
 * vectors whatever the backend. */
#include "managed.h"

#include <cuda_runtime.h>

void *managed_allocate(size_t bytes) {
  void *memory = nullptr;
  if (cudaMallocManaged(&memory, bytes) == cudaSuccess) return memory;
  cudaGetLastError();
  return nullptr;
}

void managed_release(void *memory) { cudaFree(memory); }

void managed_synchronize(void) { cudaDeviceSynchronize(); }
