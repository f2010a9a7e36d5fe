/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of the context: errors, memory, backend. */
#ifndef BSI_CONTEXT_IMPL_H
#define BSI_CONTEXT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/context.h>

#include "core/backend.h"

enum { BSI_ALIGNMENT = 64 };
enum {
  /* reductions that may count in the context's tickets at the same time */
  BSI_TICKETS = 64,
  /* words of the context's first_fault */
  BSI_FAULTS = 8
};

#ifdef __cplusplus
extern "C" {
#endif

/* What a CUDA device has to offer. */
typedef struct bsi_device_limits {
  /* multiprocessors; bytes of shared memory of each */
  int processors, shared;
  /* bytes of it that a thread block may have */
  int block_shared;
  /* bytes of the second level's */
  int cache;
} bsi_device_limits;

struct bisai_context {
  const bsi_backend *backend;
  bisai_allocator allocator;
  int threads;
  struct bsi_team *team;
  /* CUDA: the stream that everything is enqueued on */
  void *stream;
  bool owns_stream;
  /* CUDA: what device memory comes from, where the caller brings no allocator: */
  void *pool;
  bisai_device_allocator device_allocator;
  /* CUDA: BSI_TICKETS zeros in device memory; kernels that count in them leave zeros behind */
  unsigned *tickets;
  /* CUDA: BSI_FAULTS in device memory, for kernels that look for the first of something */
  unsigned long long *first_fault;
  /* CUDA: vectors that are read again and again while products are made; 0 unless a solver is at
   * work */
  int64_t kept_bytes;
  /* CUDA */
  bsi_device_limits limits;
  /* CUDA: kernels may start before their predecessor ends: gpu/launch.cuh */
  bool early_launches;
  /* files that are being written, the latest first: io/new_file.h */
  struct bsi_new_file *volatile unfinished;
  char error[256];
  char device[96];
};

/* Records a message (context may be NULL) and returns `status`, so that failures read `return
 * bsi_fail(…)`. */
bisai_status bsi_fail(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#ifdef __clang_analyzer__ /* It sees one file at a time, and has to know which status comes back. */
#define bsi_fail(context, status, ...) ((void)(bsi_fail)(context, status, __VA_ARGS__), status)
#endif

/* Returns the status of a failing call from the calling function, which must have nothing to
 * release. A function that owns something has one exit instead. */
#define BSI_TRY(call)                                                                              \
  do {                                                                                             \
    const bisai_status bsi_tried = (call);                                                         \
    if (bsi_tried) return bsi_tried;                                                               \
  } while (0)

/* `bytes` rounded up to a multiple of the alignment: allocators like aligned_alloc() refuse
 * anything else. */
static inline size_t bsi_allocation_size(size_t bytes) {
  return (bytes + BSI_ALIGNMENT - 1) / BSI_ALIGNMENT * BSI_ALIGNMENT;
}

/* count · size bytes of host memory, never 0 bytes; NULL with a message when out of memory or out
 * of range. */
void *bsi_allocate(bisai_context *context, size_t count, size_t size);
void bsi_release(bisai_context *context, void *pointer);

/* Seconds of a monotonic clock. */
double bsi_now(void);

/* Check the first field of every options struct, which its default sets, and of every report, which
 * the caller sets. */
bisai_status bsi_check_struct(bisai_context *context, const char *name, size_t given,
                              size_t expected);
bisai_status bsi_check_report(bisai_context *context, const char *name, size_t given,
                              size_t expected);

#ifdef __cplusplus
}
#endif

#endif
