/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of kernels share: CUDA calls that must succeed, arrays and contexts on a device.
 */
#ifndef BISAI_TEST_DEVICE_H
#define BISAI_TEST_DEVICE_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <bisai/context.h>

#include "runner.h"

/* A CUDA call without which the program cannot go on. */
#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error = (call);                                                              \
    if (error != cudaSuccess) {                                                                    \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                   \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

/* A copy of a vector on the device. */
template <typename T> struct device_array {
  T *data = nullptr;
  size_t count;
  explicit device_array(const std::vector<T> &from) : count(from.size()) {
    CHECK(cudaMalloc(reinterpret_cast<void **>(&data), (count + 1) * sizeof(T)));
    if (count) CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyDefault));
    /* the copy may be under way still, and streams of their own do not wait for it */
    CHECK(cudaDeviceSynchronize());
  }
  device_array(const device_array &) = delete;
  ~device_array() { cudaFree(data); }
  std::vector<T> fetch() const {
    std::vector<T> to(count);
    if (count) CHECK(cudaMemcpy(to.data(), data, count * sizeof(T), cudaMemcpyDefault));
    return to;
  }
};

/* A context of the library on a backend, freed at the end of the scope. */
struct context_on {
  bisai_context *made = nullptr;
  explicit context_on(bisai_backend backend) {
    bisai_context_options options = bisai_context_options_default();
    options.backend = backend;
    options.threads = 1;
    if (bisai_context_create(&options, &made)) {
      std::printf("no context on backend %d\n", static_cast<int>(backend));
      std::exit(1);
    }
  }
  context_on(const context_on &) = delete;
  ~context_on() { bisai_context_destroy(&made); }
  operator bisai_context *() const { return made; }
};

#endif
