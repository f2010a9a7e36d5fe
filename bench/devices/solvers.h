/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the other solvers on a GPU. */
#ifndef BENCH_SOLVERS_H
#define BENCH_SOLVERS_H

#include "measurement.h"

void device_measure_solvers(device_bench *b, const double *rhs);

#endif
