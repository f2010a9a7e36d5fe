/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SETUPS_CUH
#define BENCH_SETUPS_CUH

#include "batches.cuh"

/* Times set-ups with all strategies of extraction: of tridiagonal and arrow matrices of 10,000 to
 * most_rows rows, of patterns of large matrices, and of the matrices in the files. */
void measure_setups(bench &b, double most_rows, const std::vector<std::string> &files);

/* Launches the kernels of each strategy once, for blocks of 32 rows, so that a profiler can look at
 * them. */
void launch_kernels(const bench &b);

#endif
