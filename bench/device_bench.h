/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the benchmark on a GPU. */
#ifndef BENCH_DEVICE_BENCH_H
#define BENCH_DEVICE_BENCH_H

#include "bench.h"
#include "device.h"

#ifdef BISAI_HAVE_CUSPARSE
#include <bisai/cusparse.h>
#endif

/* Everything that is measured on one matrix. */
typedef struct device_bench {
  bisai_context *context;
  /* bytes read and written a second */
  double copy_rate;
  int rounds, launches;
  FILE *json;
  bool comma;
  const char *name;
  bisai_bcsr *matrix;
  int32_t rows, bs, blocks;
  /* on the device, of four vectors */
  double *x, *y;
  bisai_factors *factors;
  bisai_precond *precond;
  int power;
#ifdef BISAI_HAVE_CUSPARSE
  bisai_cusparse_product *product;
  bisai_cusparse_ilu *ilu;
#endif
} device_bench;

/* Ends the program unless it is BISAI_OK. */
void device_need(const device_bench *b, bisai_status status, const char *what);
/* Until the device is idle. */
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

/* indices and values */
double device_matrix_bytes(const device_bench *b, double blocks, double width);
double device_vector_bytes(const device_bench *b);

/* Bytes that a copy on the device reads and writes a second, the best of a few. */
double device_copy_rate(bisai_context *context);

/* A preconditioner of the system in `b` with the factors that are there; ISAI of power `b->power`.
 */
bisai_precond *device_make_precond(device_bench *b, bisai_precond_kind kind);

/* Block products in every storage, on grids, with cuSPARSE's beside. */
void device_measure_products(device_bench *b);

/* On the system in `b`, its factors made: set-up, triangular solves, GMRES, other solvers. `rhs` is
 * on the device. */
void device_measure_setup(device_bench *b);
void device_measure_solves(device_bench *b);
void device_measure_gmres(device_bench *b, const double *rhs, double tolerance);
void device_measure_solvers(device_bench *b, const double *rhs);

/* What one iteration of GMRES(30) with approximate inverses is made of. */
void device_measure_iterations(device_bench *b, const double *rhs, double tolerance);

/* A kernel as it ran, seconds from some beginning. */
typedef struct device_kernel {
  /* as the compiler writes it */
  const char *name;
  double start, end;
} device_kernel;

/* Watches the kernels of the program from here to the stop, which gives them in the order in which
 * they began; false where CUPTI is not in this build or not allowed to. */
bool device_trace_start(void);
int device_trace_stop(const device_kernel **kernels);

#endif
