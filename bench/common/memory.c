/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { COPY_BYTES = 1 << 28 };

#ifdef BISAI_HAVE_CUDA
#include "device.h"

static bool on_device(const bisai_context *context) {
  return bisai_context_backend(context) == BISAI_BACKEND_CUDA;
}

static void *allocate_on_device(void *user, size_t bytes, void *stream) {
  (void)stream;
  ((allocations *)user)->device++;
  return bench_device_allocate(bytes);
}

/* cudaFree waits for the stream. */
static void release_on_device(void *user, void *pointer, void *stream) {
  (void)user;
  (void)stream;
  bench_device_release(pointer);
}
#endif

double *vector_create(const bisai_context *context, size_t n, const double *host) {
  double *zeros = host ? NULL : bench_allocate(n, sizeof *zeros), *vector;
  if (zeros) memset(zeros, 0, n * sizeof *zeros);
  const double *from = host ? host : zeros;
#ifdef BISAI_HAVE_CUDA
  if (on_device(context)) {
    vector = bench_device_allocate(n * sizeof *vector);
    bench_device_upload(vector, from, n * sizeof *vector);
    free(zeros);
    return vector;
  }
#endif
  (void)context;
  vector = bench_allocate(n, sizeof *vector);
  memcpy(vector, from, n * sizeof *vector);
  free(zeros);
  return vector;
}

void vector_destroy(const bisai_context *context, double *vector) {
#ifdef BISAI_HAVE_CUDA
  if (on_device(context)) {
    bench_device_release(vector);
    return;
  }
#endif
  (void)context;
  free(vector);
}

double copy_rate_of(bisai_context *context) {
#ifdef BISAI_HAVE_CUDA
  if (on_device(context)) return bench_device_copy_rate(COPY_BYTES, bisai_context_stream(context));
#endif
  bench_copy copy;
  double best = INFINITY;
  bench_copy_create(&copy, COPY_BYTES, bisai_context_threads(context));
  for (int round = 0; round < 5; round++) best = fmin(best, bench_copy_memcpy(&copy));
  bench_copy_destroy(&copy);
  return 2.0 * COPY_BYTES / best;
}

static void *allocate_on_host(void *user, size_t bytes, size_t alignment) {
  ((allocations *)user)->host++;
  return aligned_alloc(alignment, bytes);
}

static void release_on_host(void *user, void *pointer) {
  (void)user;
  free(pointer);
}

void count_allocations(allocations *counts, bisai_context_options *options) {
  *counts = (allocations){0};
  options->allocator = (bisai_allocator){allocate_on_host, release_on_host, counts};
#ifdef BISAI_HAVE_CUDA
  if (options->backend == BISAI_BACKEND_CUDA)
    options->device_allocator =
        (bisai_device_allocator){allocate_on_device, release_on_device, counts};
#endif
}
