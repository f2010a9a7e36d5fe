/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_CUBLAS_CUH
#define BENCH_CUBLAS_CUH

#include "batches.cuh"

/* Times cuBLAS on `count` blocks of m rows at `blocks`, in seconds; NAN if cuBLAS has no such
 * routine. */
struct cublas_times {
  double matinv, getrf, getri, getrs;
};
cublas_times time_cublas(const bench &b, int m, int64_t count, const double *blocks);

#endif
