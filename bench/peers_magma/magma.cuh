/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_MAGMA_CUH
#define BENCH_MAGMA_CUH

#include "../block-jacobi/batches.cuh"

/* Seconds of MAGMA's batched routines for blocks of m ≤ 32 rows; NAN in a build without MAGMA. */
struct magma_times {
  /* LU with pivoting, and the inverses from it */
  double getrf, getri;
};

/* Times `count` blocks at `blocks`. Ends the program unless the inverses are right. */
magma_times time_magma(const bench &b, int m, int64_t count, const double *blocks);

#endif
