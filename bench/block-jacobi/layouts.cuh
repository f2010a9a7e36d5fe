/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYOUTS_CUH
#define BENCH_LAYOUTS_CUH

#include "batches.cuh"

/* Times applications of inverses that are stored block by block and interleaved. */
void measure_layouts(bench &b, double bytes);

#endif
