/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface between the parts of the benchmark on a GPU. */
#ifndef BENCH_DEVICE_BENCH_H
#define BENCH_DEVICE_BENCH_H

#include "bench.h"
#include "device.h"

#ifdef BISAI_HAVE_CUSPARSE
#include <bisai/cusparse.h>
#endif

/* One matrix and everything that is measured on it. */
typedef struct device_bench {
  bisai_context *context;
  /* bytes read and written in a second */
  double copy_rate;
  int rounds, launches;
  FILE *json;
  bool comma;
  const char *name;
  bisai_bcsr *matrix;
  int32_t rows, bs, blocks;
  /* four vectors on the device */
  double *x, *y;
  bisai_factors *factors;
  bisai_precond *precond;
  int power;
#ifdef BISAI_HAVE_CUSPARSE
  bisai_cusparse_product *product;
  bisai_cusparse_ilu *ilu;
#endif
} device_bench;

/* Ends the program unless the status is BISAI_OK. */
void device_need(const device_bench *b, bisai_status status, const char *what);
/* Waits until the device is idle. */
void device_wait(const device_bench *b);

/* Operations that are timed in turns. */
enum { DEVICE_MOST = 16 };
typedef struct device_group {
  bench_operation operations[DEVICE_MOST];
  int count;
} device_group;

void device_heading(device_bench *b);
void device_add(device_group *g, const char *name, double bytes, double (*run)(void *),
                void *argument);
void device_measure(device_bench *b, device_group *g);
void device_print(device_bench *b, const bench_operation *op);

/* bytes of indices and values */
double device_matrix_bytes(const device_bench *b, double blocks, double width);
double device_vector_bytes(const device_bench *b);

/* Makes a preconditioner of the system in `b` with its factors. ISAI has power `b->power`.
 */
bisai_precond *device_make_precond(device_bench *b, bisai_precond_kind kind);

/* Times block products in every storage format and on grids, and those of cuSPARSE. */
void device_measure_products(device_bench *b);

/* Time the system in `b`, which has factors: set-up, triangular solves, GMRES, other solvers. `rhs`
 * is on the device. */
void device_measure_setup(device_bench *b);
void device_measure_solves(device_bench *b);
void device_measure_gmres(device_bench *b, const double *rhs, double tolerance);
void device_measure_solvers(device_bench *b, const double *rhs);

/* Times the kernels of one iteration of GMRES(30) with approximate inverses. */
void device_measure_iterations(device_bench *b, const double *rhs, double tolerance);

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
