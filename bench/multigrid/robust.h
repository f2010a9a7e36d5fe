/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of a method on changed copies of a system. */
#ifndef BENCH_ROBUST_H
#define BENCH_ROBUST_H

#include "record.h"

void measure_robust(multigrid_bench *b, const bench_system *system, const char *method);

#endif
