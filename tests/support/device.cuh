/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of kernels share. No test framework: they must build where only a compiler, CMake
 * and CUDA are. */
#ifndef TEST_DEVICE_CUH
#define TEST_DEVICE_CUH

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <bisai/context.h>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const cudaError_t error = (call);                                                              \
    if (error != cudaSuccess) {                                                                    \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                   \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

inline int passed, failed;

inline void verdict(bool good, const char *format, ...) {
  good ? passed++ : failed++;
  if (good) return;
  va_list arguments;
  va_start(arguments, format);
  std::printf("FAILED: ");
  std::vprintf(format, arguments);
  std::printf("\n");
  va_end(arguments);
}

/* BISAI_TEST_SHORT asks for few and small cases: compute-sanitizer takes a hundred times as
 * long. */
inline bool short_form() {
  static const bool asked = std::getenv("BISAI_TEST_SHORT") != nullptr;
  return asked;
}

/* Block sizes that a short form leaves out: those kept go every way that there is. */
inline bool left_out(int block_size) {
  return short_form() && block_size != 1 && block_size != 3 && block_size != 5 && block_size != 8 &&
         block_size != 9;
}

/* Uniform in −1 … 1. */
inline double next_random() {
  static unsigned long long state = 20211121ull;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<double>(state >> 11) / 9007199254740992.0 * 2.0 - 1.0;
}

inline std::vector<double> random_vector(size_t count) {
  std::vector<double> x(count);
  for (double &value : x) value = next_random();
  return x;
}

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

/* A context of the library there, made and freed with this. */
struct context_on {
  bisai_context *made = nullptr;
  explicit context_on(bisai_backend backend) {
    bisai_context_options options = bisai_context_options_default();
    options.backend = backend;
    options.threads = 1;
    if (bisai_context_create(&options, &made) != BISAI_OK) {
      std::printf("no context on backend %d\n", static_cast<int>(backend));
      std::exit(1);
    }
  }
  context_on(const context_on &) = delete;
  ~context_on() { bisai_context_destroy(&made); }
  operator bisai_context *() const { return made; }
};

/* Runs the tests where there is a device; otherwise 77, which CTest counts as skipped. */
inline int run_on_device(void (*tests)()) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device\n");
    return 77;
  }
  tests();
  CHECK(cudaDeviceSynchronize());
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

#endif
