/* SPDX-License-Identifier: BSD-3-Clause */
/* The context's private struct, failures, allocation, and loops on its threads. */
#ifndef BSI_CONTEXT_IMPL_H
#define BSI_CONTEXT_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/context.h>

#include "core/context/backend.h"
#include "core/threads/now.h"
#include "core/threads/team.h"

enum { BSI_ALIGNMENT = 64 };
enum {
  /* the number of reductions that may count in the context's tickets at the same time */
  BSI_TICKETS = 64,
  /* the bytes of the context's record */
  BSI_RECORD_BYTES = 128,
  /* the bytes of the context's bounce buffer */
  BSI_BOUNCE_BYTES = 2048
};

#ifdef __cplusplus
extern "C" {
#endif

/* The most that the search for the blocks of ILU(k) may find and do. */
typedef struct bsi_fill_limit {
  /* blocks of L, and of U */
  int32_t blocks;
  /* visits of a block of U in an elimination of a row */
  double visits;
} bsi_fill_limit;

/* The device, and what a CUDA device can do. */
typedef struct bsi_device_limits {
  char name[96];
  /* the number of multiprocessors, and the bytes of shared memory of each */
  int processors, shared;
  /* bytes of shared memory that a thread block may have */
  int block_shared;
  /* bytes of the L2 cache */
  int cache;
  /* kernels may start before their predecessor ends: gpu/launch.cuh */
  bool early_launches;
} bsi_device_limits;

struct bisai_context {
  const bsi_backend *backend;
  bisai_allocator allocator;
  int threads;
  struct bsi_team *team;
  /* CUDA: the stream on which all work is enqueued */
  void *stream;
  bool owns_stream;
  /* CUDA: where device memory comes from, the caller's allocator or, without one, a pool */
  struct {
    bisai_device_allocator allocator;
    void *pool;
  } device_memory;
  /* CUDA: BSI_TICKETS zeros in device memory; a kernel that counts in them resets them to zero */
  unsigned *tickets;
  /* CUDA: BSI_RECORD_BYTES of device memory for what a kernel reports: gpu/record.cuh */
  void *record;
  struct {
    /* CUDA: BSI_BOUNCE_BYTES of page-locked memory, through which small copies to the host pass. To
     * pageable memory they would take longer */
    double *bounce;
    /* CUDA: how often the host has waited for the device */
    int64_t waits;
  } fetches;
  bsi_device_limits limits;
  /* NULL, or a limit that holds while set-ups are tried; who sets it takes it back */
  const bsi_fill_limit *fill_limit;
  /* the list of files that are being written, the latest first: io/output/new_file.h */
  struct bsi_new_file *volatile unfinished;
  char error[256];
  /* the number of messages that were recorded; tells whether a callback has recorded one */
  unsigned failures;
};

/* Records a message and returns `status`, so that failures read `return bsi_fail(…)`. The context
 * may be NULL. */
bisai_status bsi_fail(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts the place of a failure before its message: "PLACE: message". Returns `status`. Success and
 * BISAI_OUT_OF_MEMORY have no message. */
bisai_status bsi_fail_at(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Records that a callback of the caller failed, and returns BISAI_CALLBACK_FAILED. `before` is
 * context->failures before the callback was called: the message ends with what the callback has
 * recorded since then. */
bisai_status bsi_fail_callback(bisai_context *context, const char *callback, bisai_status returned,
                               unsigned before);
#ifdef __clang_analyzer__ /* The analyzer sees one file at a time; this names the status. */
#define bsi_fail(context, status, ...) ((void)(bsi_fail)(context, status, __VA_ARGS__), status)
#endif

/* Returns the status of a failing call from the calling function, which must own nothing. A
 * function that owns something has one exit instead. */
#define BSI_TRY(call)                                                                              \
  do {                                                                                             \
    const bisai_status bsi_tried = (call);                                                         \
    if (bsi_tried) return bsi_tried;                                                               \
  } while (0)

/* Rounds `bytes` up to a multiple of the alignment, because allocators like aligned_alloc() refuse
 * other sizes. */
static inline size_t bsi_allocation_size(size_t bytes) {
  return (bytes + BSI_ALIGNMENT - 1) / BSI_ALIGNMENT * BSI_ALIGNMENT;
}

/* Allocates count · size bytes of host memory, but never 0 bytes. Returns NULL and leaves a message
 * if there is not enough memory or the size is out of range. */
void *bsi_allocate(bisai_context *context, size_t count, size_t size);
void bsi_release(bisai_context *context, void *pointer);

/* Calls work(job, part) once for every part, on at most `threads` threads (at most
 * context->threads), and returns after the last call has returned. `work` must not begin another
 * run. With one thread there is one part. */
void bsi_run(bisai_context *context, int threads, bsi_parts parts, bsi_work *work, void *job);

/* Returns the memory for the partial result of a thread: BSI_PARTIAL_BYTES bytes, aligned to 64.
 * The caller initialises the partial results of all threads before a run and combines them after
 * it. */
void *bsi_partial(bisai_context *context, int thread);

/* Runs `work`, which passes indices to bsi_min_index() for the partial result of its thread, an
 * int32_t. Returns the smallest index, or -1 if there is none. */
int32_t bsi_find_first(bisai_context *context, int threads, bsi_work *work, void *job);

/* Check the first field of a struct. _default() functions set it in options structs, the caller
 * sets it in reports. */
bisai_status bsi_check_struct(bisai_context *context, const char *name, size_t given,
                              size_t expected);
bisai_status bsi_check_report(bisai_context *context, const char *name, size_t given,
                              size_t expected);

#ifdef __cplusplus
}
#endif

#endif
