/* SPDX-License-Identifier: BSD-3-Clause */
/* What MAGMA's batched LU and inversion of blocks of up to 32 rows need of the rest of MAGMA: they
 * are then compiled from a few of MAGMA's files alone. */
#ifndef BENCH_MAGMA_INTERNAL_CUH
#define BENCH_MAGMA_INTERNAL_CUH

#include <algorithm>
#include <cassert>
#include <cstdio>

#include <cuda_runtime.h>

#define MAGMA_HAVE_CUDA 1
#define MAGMA_D_ZERO 0.0
#define MAGMA_D_ONE 1.0
#define MAGMA_D_REAL(x) (x)
#define MAGMA_D_IMAG(x) 0.0
#define MAGMA_D_DIV(a, b) ((a) / (b))
#define MAGMA_D_EQUAL(a, b) ((a) == (b))
#define MAGMA_UNUSED(x) ((void)(x))
#define make_FloatingPoint(x, y) (x)
/* of MAGMA's zlaswp_device.cuh */
#define ZLASWP_COL_NTH 32
#define MAX_NTHREADS 1024

using std::max;
using std::min;

typedef int magma_int_t;

typedef double *double_ptr;

enum magma_side_t { MagmaLeft, MagmaRight };
enum magma_uplo_t { MagmaUpper, MagmaLower, MagmaFull };
enum magma_trans_t { MagmaNoTrans, MagmaTrans, MagmaConjTrans };
enum magma_diag_t { MagmaNonUnit, MagmaUnit };

struct magma_queue {
  cudaStream_t stream;
  cudaStream_t cuda_stream() const { return stream; }
  magma_int_t get_maxBatch() const { return 65535; }
};
typedef magma_queue *magma_queue_t;

static inline void magma_queue_sync(magma_queue_t queue) { cudaStreamSynchronize(queue->stream); }

__device__ static inline double conj(double x) { return x; }
__device__ static inline double div(double a, double b) { return a / b; }

__host__ __device__ constexpr magma_int_t magma_ceildiv(magma_int_t a, magma_int_t b) {
  return (a + b - 1) / b;
}

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

extern "C" {

magma_int_t magma_get_dgetrf_batched_ntcol(magma_int_t m, magma_int_t n);

void magmablas_dlaset_batched(magma_uplo_t uplo, magma_int_t m, magma_int_t n, double offdiag,
                              double diag, double **a, magma_int_t ld, magma_int_t count,
                              magma_queue_t queue);

void magma_dlaswp_columnserial_batched(magma_int_t n, double **a, magma_int_t ld, magma_int_t k1,
                                       magma_int_t k2, magma_int_t **pivots, magma_int_t count,
                                       magma_queue_t queue);

void magmablas_dtrsm_small_batched(magma_side_t side, magma_uplo_t uplo, magma_trans_t trans,
                                   magma_diag_t diag, magma_int_t m, magma_int_t n, double alpha,
                                   double **a, magma_int_t ai, magma_int_t aj, magma_int_t lda,
                                   double **b, magma_int_t bi, magma_int_t bj, magma_int_t ldb,
                                   magma_int_t count, magma_queue_t queue);
}

/* MAGMA's recursion ends at 32 rows for a left side. */
#define magmablas_dtrsm_recursive_batched magmablas_dtrsm_small_batched

#endif
