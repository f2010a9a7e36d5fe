/* SPDX-License-Identifier: BSD-3-Clause */
/* A system on a grid. */
#ifndef BENCH_STENCIL_H
#define BENCH_STENCIL_H

#include "common/bench.h"

/* A stencil of seven points in three dimensions (five points if nz = 1) and b = 1. Each point has
 * `block_size` coupled unknowns. Diagonal blocks are 6.05 I, off-diagonal blocks −1.3 I and −0.7 I,
 * and pseudo-random couplings within ±0.1 are added everywhere. */
bisai_status bench_stencil(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs);

#endif
