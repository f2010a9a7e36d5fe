/* SPDX-License-Identifier: BSD-3-Clause */
/* The run of the benchmark on a GPU: its matrix, groups of operations, output, bytes. */
#ifndef BENCH_MEASUREMENT_H
#define BENCH_MEASUREMENT_H

#include "common/bench.h"
#include "common/device.h"

#ifdef BISAI_HAVE_CUSPARSE
#include <bisai/cusparse.h>
#endif

/* The matrix that is measured, with its sizes. */
typedef struct device_system {
  const char *name;
  bisai_bcsr *matrix;
  int32_t rows, bs, blocks;
} device_system;

/* One matrix and everything that is measured on it. */
typedef struct device_bench {
  bisai_context *context;
  /* bytes read and written in a second */
  double copy_rate;
  int rounds, launches;
  bench_json json;
  device_system system;
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

/* Waits until the device is idle. */
void device_wait(const device_bench *b);

/* A call of the library, which is timed `count` times together: the device then need not wait for
 * the host. */
typedef struct device_call {
  const char *name;
  device_bench *bench;
  bisai_status (*call)(device_bench *);
  int count;
} device_call;

/* Operations that are timed in turns. */
enum { DEVICE_MOST = 16 };
typedef struct device_group {
  bench_operation operations[DEVICE_MOST];
  device_call calls[DEVICE_MOST];
  int count;
} device_group;

void device_heading(device_bench *b);
void device_add(device_group *g, const char *name, double bytes, double (*run)(void *),
                void *argument);
/* Adds a call. The group stays where it is. */
void device_add_call(device_group *g, const char *name, double bytes, device_bench *b,
                     bisai_status (*call)(device_bench *), int count);
void device_measure(device_bench *b, device_group *g);
void device_print(device_bench *b, const bench_operation *op);

/* bytes of indices and values */
double device_matrix_bytes(const device_bench *b, double blocks, double width);
double device_vector_bytes(const device_bench *b);

/* Makes a preconditioner of the system in `b` with its factors. ISAI has power `b->power`.
 */
bisai_precond *device_make_precond(device_bench *b, bisai_precond_kind kind);

#endif
