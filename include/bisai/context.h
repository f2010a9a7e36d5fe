/* SPDX-License-Identifier: BSD-3-Clause */
/** @file context.h
 *  The context: where bisai computes, how it allocates, and what went wrong last. */
#ifndef BISAI_CONTEXT_H
#define BISAI_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <bisai/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Execution environment shared by the objects made from it. One context a thread at a time; it
 *  must outlive its objects. Objects that are used together should come from one context: a message
 *  is recorded in the context of the object that failed. */
typedef struct bisai_context bisai_context;

/** Where a context computes. */
typedef enum bisai_backend {
  /** the CUDA device if this build and this machine have one, otherwise the host */
  BISAI_BACKEND_AUTO = 0,
  /** the CPU */
  BISAI_BACKEND_HOST = 1,
  /** an NVIDIA GPU */
  BISAI_BACKEND_CUDA = 2
} bisai_backend;

/** The words of bisai_backend: X(enumerator, word). */
#define BISAI_BACKEND_LIST(X)                                                                      \
  X(BISAI_BACKEND_AUTO, "auto")                                                                    \
  X(BISAI_BACKEND_HOST, "host")                                                                    \
  X(BISAI_BACKEND_CUDA, "cuda")

/** "auto", "host", "cuda"; "unknown backend" for other values. */
BISAI_API const char *bisai_backend_string(bisai_backend value);

/** Looks up a word of bisai_backend_string().
 *  @param value  out; untouched where the word is unknown
 *  @returns      false for unknown words and NULL */
BISAI_API bool bisai_backend_parse(const char *word, bisai_backend *value);

/** Caller's host allocator. Both functions or neither. */
typedef struct bisai_allocator {
  /** Returns `bytes` > 0 bytes aligned to `alignment` (a power of two), or NULL. `bytes` is a
   *  multiple of `alignment`, as aligned_alloc() wants. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  /** Releases what `allocate` returned; never called with NULL. */
  void (*release)(void *user, void *pointer);
  /** passed through */
  void *user;
} bisai_allocator;

/** Caller's allocator of device memory. Both functions or neither. What is released may still be in
 *  use by work that was enqueued on `stream` before, and what is allocated may be used by work that
 *  is enqueued there afterwards. */
typedef struct bisai_device_allocator {
  /** Returns `bytes` > 0 bytes of device (or managed) memory aligned to 256 bytes, or NULL.
   *  `stream` is a cudaStream_t. */
  void *(*allocate)(void *user, size_t bytes, void *stream);
  /** Releases what `allocate` returned; never called with NULL. */
  void (*release)(void *user, void *pointer, void *stream);
  /** passed through */
  void *user;
} bisai_device_allocator;

/** Options of a context; start from bisai_context_options_default(). */
typedef struct bisai_context_options {
  /** set by bisai_context_options_default() */
  size_t struct_size;
  /** default BISAI_BACKEND_AUTO */
  bisai_backend backend;
  /** host threads, at most 4096; 0 (default): as many as the calling thread's affinity mask has
   *  processors, or fewer if the CPU quota of its control group or OMP_NUM_THREADS says so */
  int threads;
  /** of host memory; default: the C library's */
  bisai_allocator allocator;
  /** CUDA: which device; -1 (default): the calling thread's current one */
  int device;
  /** CUDA: a cudaStream_t of that device, on which all work is enqueued; NULL (default): one of the
   *  context's own, ordered with the legacy default stream as other blocking streams are.
   *  cudaStreamLegacy means that stream itself */
  void *stream;
  /** CUDA; default: a memory pool of the context, which keeps what is released for later use */
  bisai_device_allocator device_allocator;
} bisai_context_options;

/** Default options. */
BISAI_API bisai_context_options bisai_context_options_default(void);

/** Makes a context.
 *
 *  The threads of a context are started by the first call that has work for them. They wait for
 *  more work for a tenth of a millisecond at most, then sleep, and end with the context. All
 *  signals but those of faults and profilers are blocked in them. A context that lives through
 *  fork() starts new ones in the child; fork() must not be called while a call on the context runs.
 *  Where several contexts work at the same time, give each its share of the processors by
 *  bisai_context_options::threads.
 *
 *  On a CUDA device, calls enqueue their work on the context's stream and mostly return before it
 *  is done. Who reads results in device memory does so on the same stream or after
 *  bisai_context_synchronize(). Calls that are given host memory wait for the device before they
 *  return, and so does everything that has an outcome to judge: making and updating matrices,
 *  factors, patterns and preconditioners, and solves. A fault of the device (BISAI_DEVICE_ERROR) is
 *  returned by the first call that waits after it; from then on the context is of no more use but
 *  to be destroyed. Making a context makes its device the calling thread's current one, and it has
 *  to be the current one in every thread that uses the context.
 *  @param options  NULL: the defaults
 *  @param context  out; untouched on failure; free with bisai_context_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  NULL output, unknown struct_size or backend, threads out of
 *    range, half an allocator, device below -1
 *  @retval BISAI_UNAVAILABLE       CUDA asked for, but absent from this build or this machine:
 *    bisai_backend_missing() says why
 *  @retval BISAI_DEVICE_ERROR      a device that is there could not be set up
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_context_create(const bisai_context_options *options,
                                            bisai_context **context);

/** Why a context cannot have a backend: "this build has no CUDA backend", "no CUDA-capable device
 *  is detected", … NULL where it can.
 *  @param backend  BISAI_BACKEND_CUDA; the host and AUTO are always there
 *  @param device   as in bisai_context_options */
BISAI_API const char *bisai_backend_missing(bisai_backend backend, int device);

/** Frees *context and sets it to NULL; accepts NULL and pointers to NULL. Its objects must be
 *  gone. */
BISAI_API void bisai_context_destroy(bisai_context **context);

/** The message of the last failure in this context: which row, block, value, line or limit. "" when
 *  there was none. Owned by the context; overwritten by the next failure. */
BISAI_API const char *bisai_context_error(const bisai_context *context);

/** Leaves a message as the library itself does, for callbacks and for libraries built on this one:
 *  `return bisai_context_fail(…)`.
 *  @param context  NULL: nothing is recorded
 *  @param message  copied, cut after 255 characters; NULL: the text of the status
 *  @returns        `status` */
BISAI_API bisai_status bisai_context_fail(bisai_context *context, bisai_status status,
                                          const char *message);

/** The backend in use: BISAI_BACKEND_HOST or BISAI_BACKEND_CUDA, never AUTO. */
BISAI_API bisai_backend bisai_context_backend(const bisai_context *context);

/** A description of the device in use: the processor's model name, or the GPU's name and memory.
 *  Owned by the context. */
BISAI_API const char *bisai_context_device(const bisai_context *context);

/** Waits until everything is done that was enqueued on the context's stream. Nothing to wait for on
 *  the host.
 *  @retval BISAI_DEVICE_ERROR  what was enqueued has failed, or something enqueued by others on the
 *    same device */
BISAI_API bisai_status bisai_context_synchronize(bisai_context *context);

/** The stream in use, a cudaStream_t; NULL on the host. */
BISAI_API void *bisai_context_stream(const bisai_context *context);

/** The number of host threads in use, the calling one among them; 1 in a build without threads. */
BISAI_API int bisai_context_threads(const bisai_context *context);

#ifdef __cplusplus
}
#endif
#endif
