/* SPDX-License-Identifier: BSD-3-Clause */
/* Set-up, triangular solves and GMRES on a GPU, and those of cuSPARSE in the same run. */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include "measurement.h"

/* Time the system in `b`, which has factors. `rhs` is on the device. */
void device_measure_setup(device_bench *b);
void device_measure_solves(device_bench *b);
void device_measure_gmres(device_bench *b, const double *rhs, double tolerance);

#endif
