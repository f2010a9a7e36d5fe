/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void version(int number, char text[16]) {
  std::snprintf(text, 16, "%d.%d", number / 1000, number % 1000 / 10);
}

template <typename T> uint16_t bits(T value) {
  uint16_t result;
  std::memcpy(&result, &value, sizeof result);
  return result;
}

} // namespace

void *bench_device_allocate(size_t bytes) {
  void *memory;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1));
  return memory;
}

void bench_device_release(void *memory) { check(cudaFree(memory)); }

void bench_device_upload(void *device, const void *host, size_t bytes) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
}

void bench_device_download(void *host, const void *device, size_t bytes) {
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void bench_device_wait(void) { check(cudaDeviceSynchronize()); }

bench_pool bench_device_pool(bool reset) {
  int device;
  cudaMemPool_t pool;
  size_t idle, all;
  uint64_t used, most, reserved, zero = 0;
  check(cudaDeviceSynchronize());
  check(cudaGetDevice(&device));
  check(cudaDeviceGetDefaultMemPool(&pool, device));
  if (reset) check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  check(cudaMemGetInfo(&idle, &all));
  const int64_t outside = static_cast<int64_t>(all - idle - reserved);
  return {outside + static_cast<int64_t>(used), outside + static_cast<int64_t>(most)};
}

double bench_device_copy(void *to, const void *from, size_t bytes, int count, void *stream) {
  const cudaStream_t on = static_cast<cudaStream_t>(stream);
  cudaEvent_t start, end;
  float milliseconds;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  check(cudaEventRecord(start, on));
  for (int i = 0; i < count; i++)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on));
  check(cudaEventRecord(end, on));
  check(cudaEventSynchronize(end));
  check(cudaEventElapsedTime(&milliseconds, start, end));
  check(cudaEventDestroy(start));
  check(cudaEventDestroy(end));
  return 1e-3 * milliseconds / count;
}

uint16_t bench_to_fp16(double value) { return bits(__double2half(value)); }
uint16_t bench_to_bf16(double value) { return bits(__double2bfloat16(value)); }

void bench_device_versions(char runtime[16], char driver[16]) {
  int number;
  check(cudaRuntimeGetVersion(&number));
  version(number, runtime);
  check(cudaDriverGetVersion(&number));
  version(number, driver);
}
