/* SPDX-License-Identifier: BSD-3-Clause */
/* What bisai uses of CUDA, on a CPU: keywords, numbers of threads, functions of the device, and the
 * runtime. emulation.cpp says how. */
#ifndef BISAI_EMULATION_CUDA_RUNTIME_H
#define BISAI_EMULATION_CUDA_RUNTIME_H

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <math.h>
#include <type_traits>

/* --- keywords --- */

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define CUDART_CB
#define __align__(bytes) __attribute__((aligned(bytes)))
/* A system thread runs one thread block at a time. */
#define __shared__ static thread_local

/* --- types --- */

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct uint3 {
  unsigned x, y, z;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};

inline double2 make_double2(double x, double y) { return {x, y}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline int2 make_int2(int x, int y) { return {x, y}; }

/* --- the thread that runs --- */

extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;

/* --- waits of threads for each other --- */

namespace emulation {

enum exchange { SYNCHRONISE, SHUFFLE, BALLOT, LARGEST };

/* All lanes of the mask call, with the same kind. Returns what the kind gives the lane: the word of
 * lane `source`, the lanes whose word is not 0, the largest word. */
uint64_t exchange_in_warp(exchange kind, unsigned mask, uint64_t word, int source);

struct votes {
  int threads, sum;
};

/* Comes to barrier `number` of the thread block, and waits there if `stay` is true until `threads`
 * threads have come. 0 threads are all that have not ended. Returns how many came, and the sum of
 * their votes. */
votes wait_in_block(int number, int threads, int vote, bool stay);

/* The thread waits for another one by reading memory. Others run. */
void poll();

/* Fails: a device loads and copies words only from and to multiples of their bytes. */
[[noreturn]] void refuse_address(const void *at, size_t bytes);
inline void expect_word(const void *at, size_t bytes) {
  if (reinterpret_cast<uintptr_t>(at) % bytes != 0) refuse_address(at, bytes);
}
template <typename T> T load(const T *from) {
  expect_word(from, alignof(T));
  return *from;
}

/* Copies of the thread that wait_for_copies() does. */
void copy_later(void *to, const void *from, size_t bytes, size_t zeros);
void wait_for_copies();

/* The dynamic shared memory of the thread block. */
void *dynamic_shared_memory();
template <typename T> T *shared_memory() { return static_cast<T *>(dynamic_shared_memory()); }

template <typename T> T shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "a word");
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  word = exchange_in_warp(SHUFFLE, mask, word, source);
  memcpy(&value, &word, sizeof value);
  return value;
}

inline int lane() { return static_cast<int>(threadIdx.x % 32); }

} // namespace emulation

inline void __syncthreads() { emulation::wait_in_block(0, 0, 0, true); }
inline int __syncthreads_count(int vote) {
  return emulation::wait_in_block(0, 0, vote != 0, true).sum;
}
inline int __syncthreads_or(int vote) { return __syncthreads_count(vote) > 0; }
inline int __syncthreads_and(int vote) {
  const emulation::votes votes = emulation::wait_in_block(0, 0, vote != 0, true);
  return votes.sum == votes.threads;
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  emulation::exchange_in_warp(emulation::SYNCHRONISE, mask, 0, 0);
}
inline unsigned __ballot_sync(unsigned mask, int vote) {
  return static_cast<unsigned>(emulation::exchange_in_warp(emulation::BALLOT, mask, vote != 0, 0));
}
inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, !vote) == 0; }
template <typename T> T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  return emulation::shuffle(mask, value,
                            (emulation::lane() & ~(width - 1)) | (source & (width - 1)));
}
template <typename T> T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = emulation::lane(), source = lane ^ bits;
  return emulation::shuffle(mask, value, source / width <= lane / width ? source : lane);
}
template <typename T> T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = emulation::lane(), source = lane + static_cast<int>(by);
  return emulation::shuffle(mask, value, source / width == lane / width ? source : lane);
}
template <typename T> T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = emulation::lane(), source = lane % width - static_cast<int>(by);
  return emulation::shuffle(mask, value, source >= 0 ? lane - static_cast<int>(by) : lane);
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return static_cast<unsigned>(emulation::exchange_in_warp(emulation::LARGEST, mask, value, 0));
}
/* With the sign bits turned, the order of int is that of unsigned. */
inline int __reduce_max_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_max_sync(mask, static_cast<unsigned>(value) ^ 0x80000000u) ^
                          0x80000000u);
}

/* --- memory --- */

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
template <typename T> T __ldg(const T *from) { return emulation::load(from); }
template <typename T> T __ldcs(const T *from) { return emulation::load(from); }
template <typename T> T __ldca(const T *from) { return emulation::load(from); }
template <typename T> T __ldcg(const T *from) { return emulation::load(from); }

namespace emulation {
/* *at ← change(*at) as one step; returns the value before. */
template <typename T, typename Change> T replace(T *at, Change change) {
  T before;
  __atomic_load(at, &before, __ATOMIC_SEQ_CST);
  for (;;) {
    T after = change(before);
    if (__atomic_compare_exchange(at, &before, &after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return before;
  }
}
template <typename T> using same = std::common_type_t<T>;
} // namespace emulation

template <typename T> T atomicAdd(T *at, emulation::same<T> by) {
  return emulation::replace(at, [=](T x) { return static_cast<T>(x + by); });
}
template <typename T> T atomicMax(T *at, emulation::same<T> other) {
  return emulation::replace(at, [=](T x) { return x < other ? other : x; });
}
template <typename T> T atomicMin(T *at, emulation::same<T> other) {
  return emulation::replace(at, [=](T x) { return other < x ? other : x; });
}
template <typename T> T atomicAnd(T *at, emulation::same<T> bits) {
  return emulation::replace(at, [=](T x) { return x & bits; });
}
/* Without bits, the operation only reads, and may do so until another thread writes. */
template <typename T> T atomicOr(T *at, emulation::same<T> bits) {
  if (bits == 0) emulation::poll();
  return emulation::replace(at, [=](T x) { return x | bits; });
}
template <typename T> T atomicExch(T *at, emulation::same<T> other) {
  return emulation::replace(at, [=](T) { return other; });
}
template <typename T> T atomicCAS(T *at, emulation::same<T> expected, emulation::same<T> other) {
  return emulation::replace(at, [=](T x) { return x == expected ? other : x; });
}

/* --- arithmetic --- */

template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return std::fmax(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>)
    return std::fmin(static_cast<T>(a), static_cast<T>(b));
  else
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}

namespace emulation {
template <typename To, typename From> To bits_of(From from) {
  static_assert(sizeof(To) == sizeof(From), "as many bits");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
} // namespace emulation

inline long long __double_as_longlong(double x) { return emulation::bits_of<long long>(x); }
inline double __longlong_as_double(long long x) { return emulation::bits_of<double>(x); }
inline int __float_as_int(float x) { return emulation::bits_of<int>(x); }
inline float __int_as_float(int x) { return emulation::bits_of<float>(x); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline double __hiloint2double(int high, int low) {
  return emulation::bits_of<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 |
                                    static_cast<unsigned>(low));
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (by & 31));
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned choice) {
  const uint64_t bytes = static_cast<uint64_t>(high) << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned which = choice >> 4 * i & 15, byte = bytes >> 8 * (which & 7) & 255;
    result |= (which & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
  }
  return result;
}

/* --- the runtime --- */

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorCooperativeLaunchTooLarge = 720
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
enum { cudaHostAllocMapped = 2, cudaStreamNonBlocking = 1, cudaMemAttachGlobal = 1 };
enum { cudaMemAllocationTypePinned = 1, cudaMemLocationTypeDevice = 1 };
enum {
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh,
  cudaMemPoolAttrUsedMemCurrent,
  cudaMemPoolAttrUsedMemHigh
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeProgrammaticStreamSerialization = 6 };

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  int major, minor, multiProcessorCount, asyncEngineCount, l2CacheSize;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
};
struct cudaFuncAttributes {
  int ptxVersion;
};
struct cudaMemPoolProps {
  int allocType;
  struct {
    int type, id;
  } location;
};
struct cudaLaunchAttribute {
  int id;
  struct {
    int cooperative, programmaticStreamSerializationAllowed;
  } val;
};
using cudaStream_t = struct emulated_stream *;
using cudaEvent_t = struct emulated_event *;
using cudaMemPool_t = struct emulated_pool *;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};

const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned = cudaMemAttachGlobal);
cudaError_t cudaMallocAsync(void **, size_t, cudaStream_t);
cudaError_t cudaMallocFromPoolAsync(void **, size_t, cudaMemPool_t, cudaStream_t);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = nullptr);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *, const cudaMemPoolProps *);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, int, void *);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, int, void *);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *, int);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*)(void *), void *);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);

template <typename T> cudaError_t cudaMalloc(T **to, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(to), bytes);
}
template <typename T> cudaError_t cudaMallocManaged(T **to, size_t bytes) {
  return cudaMallocManaged(reinterpret_cast<void **>(to), bytes);
}

/* --- launches --- */

namespace emulation {

struct configuration {
  dim3 grid, block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
  bool together = false;
};

/* Runs `thread` for all threads of all thread blocks. Blocks that are launched together run side by
 * side, and others one after the other. Returns the error of the launch, which
 * cudaGetLastError() returns too. */
cudaError_t run(const configuration &how, const std::function<void()> &thread);

/* The thread blocks of a kernel that a processor holds, and the shared memory that each has. */
enum { RESIDENT_BLOCKS = 2, SHARED_BYTES = 227 * 1024 };

/* A kernel with the arguments of all its threads. */
template <typename... Parameters> struct launcher {
  void (*kernel)(Parameters...);
  configuration how;
  cudaError_t operator()(Parameters... arguments) const {
    return run(how, [&] { kernel(arguments...); });
  }
};

/* kernel<<<grid, block, shared, stream>>>(arguments) is written
 * emulation::kernel(kernel)(grid, block, shared, stream)(arguments). */
template <typename... Parameters> struct configurator {
  void (*kernel)(Parameters...);
  launcher<Parameters...> operator()(dim3 grid, dim3 block, size_t shared = 0,
                                     cudaStream_t stream = nullptr) const {
    return {kernel, {grid, block, shared, stream, false}};
  }
};
template <typename... Parameters>
configurator<Parameters...> kernel(void (*kernel)(Parameters...)) {
  return {kernel};
}

} // namespace emulation

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(Parameters...),
                               const Arguments &...arguments) {
  emulation::configuration as{how->gridDim, how->blockDim, how->dynamicSmemBytes, how->stream};
  for (unsigned i = 0; i < how->numAttrs; i++)
    if (how->attrs[i].id == cudaLaunchAttributeCooperative)
      as.together = how->attrs[i].val.cooperative != 0;
  return emulation::launcher<Parameters...>{kernel, as}(arguments...);
}

template <typename Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *to, Kernel *) {
  *to = {75};
  return cudaSuccess;
}
template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel *, cudaFuncAttribute, int bytes) {
  return bytes <= emulation::SHARED_BYTES ? cudaSuccess : cudaErrorInvalidValue;
}
template <typename Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t) {
  *blocks = emulation::RESIDENT_BLOCKS;
  return cudaSuccess;
}

#endif
