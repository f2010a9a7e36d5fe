/* SPDX-License-Identifier: BSD-3-Clause */
/* What MAGMA's kernel of batched LU, for blocks of up to 32 rows, needs of the rest of MAGMA: the
 * kernel and the table of its shapes are then compiled from MAGMA's sources alone. */
#ifndef BENCH_MAGMA_INTERNAL_CUH
#define BENCH_MAGMA_INTERNAL_CUH

#include <algorithm>
#include <cstdio>

#include <cuda_runtime.h>

#define MAGMA_HAVE_CUDA 1
#define MAGMA_D_ZERO 0.0
#define MAGMA_D_ONE 1.0
#define MAGMA_D_REAL(x) (x)
#define MAGMA_D_IMAG(x) 0.0
#define MAGMA_D_DIV(a, b) ((a) / (b))

using std::max;
using std::min;

typedef int magma_int_t;

struct magma_queue {
  cudaStream_t stream;
  cudaStream_t cuda_stream() const { return stream; }
};
typedef magma_queue *magma_queue_t;

constexpr magma_int_t magma_ceildiv(magma_int_t a, magma_int_t b) { return (a + b - 1) / b; }

constexpr magma_int_t magma_ceilpow2(magma_int_t n) {
  magma_int_t power = 1;
  while (power < n) power *= 2;
  return power;
}

/* Returns 100 times the compute capability, as MAGMA counts it. */
static inline magma_int_t magma_getdevice_arch() {
  int device = 0, major = 0, minor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  return 100 * major + 10 * minor;
}

static inline void magma_xerbla(const char *name, magma_int_t argument) {
  std::fprintf(stderr, "%s: argument %d is wrong\n", name, argument);
}

extern "C" magma_int_t magma_get_dgetrf_batched_ntcol(magma_int_t m, magma_int_t n);

#endif
