/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the backend: vectors, copies, allocators that count. */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "bench.h"

/* Returns a copy of n values in the memory of the context's backend; NULL: zeros. */
double *vector_create(const bisai_context *context, size_t n, const double *host);
void vector_destroy(const bisai_context *context, double *vector);

/* Returns the bytes that a copy in the backend's memory reads and writes in a second, the best of a
 * few copies. */
double copy_rate_of(bisai_context *context);

/* Calls of the allocators of a context with the hooks of count_allocations(). */
typedef struct allocations {
  long host, device;
} allocations;

/* Makes the context of the options count allocations. `counts` outlives the context. */
void count_allocations(allocations *counts, bisai_context_options *options);

#endif
