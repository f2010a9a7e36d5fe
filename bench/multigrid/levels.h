/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and times of the levels of a cycle of multigrid. */
#ifndef BENCH_LEVELS_H
#define BENCH_LEVELS_H

#include "record.h"

void measure_levels(multigrid_bench *b, const bench_system *system, const bench_method *method);

#endif
