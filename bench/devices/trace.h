/* SPDX-License-Identifier: BSD-3-Clause */
/* Records the kernels of a program and their times by CUPTI. */
#ifndef BENCH_TRACE_H
#define BENCH_TRACE_H

#include "common/bench.h"

/* A run of a kernel, in seconds from an arbitrary origin. */
typedef struct device_kernel {
  /* name as the compiler writes it */
  const char *name;
  double start, end;
} device_kernel;

/* Records the kernels of the program between start and stop. The stop returns them in the order of
 * their start. Returns false if this build has no CUPTI or if CUPTI has no permission. */
bool device_trace_start(void);
int device_trace_stop(const device_kernel **kernels);

#endif
