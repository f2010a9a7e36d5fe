/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_MAGMA_CUH
#define BENCH_MAGMA_CUH

#include "../block-jacobi/batches.cuh"

/* Returns the seconds in which MAGMA decomposes `count` blocks of m ≤ 32 rows at `blocks`; NAN in a
 * build without MAGMA. Ends the program unless the decompositions solve for a vector. */
double time_magma(const bench &b, int m, int64_t count, const double *blocks);

#endif
