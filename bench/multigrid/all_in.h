/* SPDX-License-Identifier: BSD-3-Clause */
/* "All in": set-up from nothing but the matrix, and solve. Updates, their allocations, memory. */
#ifndef BENCH_ALL_IN_H
#define BENCH_ALL_IN_H

#include "record.h"

void measure_all_in(multigrid_bench *b, const bench_system *system, const bench_method *method);

#endif
