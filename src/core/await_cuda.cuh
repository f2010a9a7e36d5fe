/* Values that thread blocks of one launch hand to each other without barriers. For *_cuda.cu only.
 *
 * A value that is not there yet is a pattern of bits that no arithmetic makes; who needs it reads it until it is something else, so that
 * handing over costs one trip through the L2 cache. Memory is filled with that pattern (bytes of 0xff) beforehand. */
#ifndef BSI_AWAIT_CUDA_CUH
#define BSI_AWAIT_CUDA_CUH

#include "core/launch_cuda.cuh"

static __device__ __forceinline__ bool bsi_is_absent(double x) { return __double_as_longlong(x) == -1ll; }

static __device__ __forceinline__ double bsi_peek(const double *x) {
  double value;
  asm volatile("ld.relaxed.gpu.global.f64 %0, [%1];" : "=d"(value) : "l"(x));
  return value;
}

static __device__ __forceinline__ double bsi_await(const double *x) {
  double value;
  do value = bsi_peek(x);
  while (bsi_is_absent(value));
  return value;
}

/* A caller's NaN may have the bits of an absent value: another takes its place. */
static __device__ __forceinline__ void bsi_hand_over(double *x, double value) {
  if (isnan(value)) value = __longlong_as_double(0x7ff8000000000000ll);
  asm volatile("st.relaxed.gpu.global.f64 [%0], %1;" ::"l"(x), "d"(value) : "memory");
}

#endif
