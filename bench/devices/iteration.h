/* SPDX-License-Identifier: BSD-3-Clause */
/* One iteration of GMRES(30) with approximate inverses, kernel by kernel. */
#ifndef BENCH_ITERATION_H
#define BENCH_ITERATION_H

#include "measurement.h"

void device_measure_iterations(device_bench *b, const double *rhs, double tolerance);

#endif
