/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that no thread writes while a kernel runs. */
#ifndef BSI_READ_ONLY_CUH
#define BSI_READ_ONLY_CUH

#include "gpu/runtime.cuh"

/* Loads through the read-only cache. Stores to other arrays do not hold up these loads. */
template <typename T> struct bsi_read_only {
  const T *array;
  __device__ __forceinline__ T operator[](int64_t i) const { return __ldg(array + i); }
};

#endif
