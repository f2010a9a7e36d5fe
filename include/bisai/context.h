/* SPDX-License-Identifier: BSD-3-Clause */
/** @file context.h
 *  The context: the backend, the allocators and the last error message. */
#ifndef BISAI_CONTEXT_H
#define BISAI_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A context has a backend with its threads or its device, the allocators, and the message of the
 *  last failure. All other objects are created from a context, which must outlive them. Only one
 *  thread may use a context at a time. Objects that are used together should come from one context:
 *  a failure records its message in the context of the object that failed. */
typedef struct bisai_context bisai_context;

/** The backends: the devices on which a context computes. */
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

/** Returns "auto", "host" or "cuda", and "unknown backend" for other values. */
BISAI_API const char *bisai_backend_string(bisai_backend value);

/** Looks up a word of bisai_backend_string().
 *  @param value  out; unchanged if the word is unknown
 *  @returns      false for an unknown word and for NULL */
BISAI_API bool bisai_backend_parse(const char *word, bisai_backend *value);

/** The caller's allocator of host memory. Either both functions are set or neither is. */
typedef struct bisai_allocator {
  /** Returns `bytes` bytes of memory aligned to `alignment`, or NULL. `bytes` is positive and a
   *  multiple of `alignment`, as aligned_alloc() requires. `alignment` is a power of two. */
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  /** Releases memory of `allocate`; never called with NULL. */
  void (*release)(void *user, void *pointer);
  /** passed to both functions */
  void *user;
} bisai_allocator;

/** The caller's allocator of device memory. Either both functions are set or neither is. Both are
 *  ordered on `stream`: work that was enqueued before the release may still use the memory, and
 *  only work that is enqueued after the allocation uses it. */
typedef struct bisai_device_allocator {
  /** Returns `bytes` bytes of device (or managed) memory aligned to 256 bytes, or NULL. `bytes` is
   *  positive. `stream` is a cudaStream_t. */
  void *(*allocate)(void *user, size_t bytes, void *stream);
  /** Releases memory of `allocate`; never called with NULL. */
  void (*release)(void *user, void *pointer, void *stream);
  /** passed to both functions */
  void *user;
} bisai_device_allocator;

/** Options of a context; start from bisai_context_options_default(). */
typedef struct bisai_context_options {
  /** set by bisai_context_options_default() */
  size_t struct_size;
  /** default BISAI_BACKEND_AUTO */
  bisai_backend backend;
  /** the number of host threads, at most 4096. 0 (default): the number of processors in the calling
   *  thread's affinity mask, limited by the CPU quota of its control group and by
   *  OMP_NUM_THREADS */
  int threads;
  /** allocator of host memory; default: that of the C library */
  bisai_allocator allocator;
  /** CUDA: the number of the device; -1 (default): the current device of the calling thread */
  int device;
  /** CUDA: the cudaStream_t of that device on which all work is enqueued. NULL (default): the
   *  context creates a blocking stream, which synchronises with the legacy default stream.
   *  cudaStreamLegacy: the legacy default stream itself */
  void *stream;
  /** CUDA: allocator of device memory; default: a memory pool of the context, which keeps released
   *  memory for later allocations */
  bisai_device_allocator device_allocator;
} bisai_context_options;

/** Returns the default options. */
BISAI_API bisai_context_options bisai_context_options_default(void);

/** Creates a context.
 *
 *  The first call that has work for several threads starts the threads of the context. An idle
 *  thread polls for at most a tenth of a millisecond and then sleeps. The threads end with the
 *  context. They block all signals except those of faults and profilers. After fork(), a context
 *  starts new threads in the child. fork() must not be called during a call on the context. If
 *  several contexts work at the same time, give each its share of the processors by
 *  bisai_context_options::threads.
 *
 *  On a CUDA device, calls enqueue their work on the context's stream. Most calls return before the
 *  work is done. Read results in device memory on the same stream, or after
 *  bisai_context_synchronize(). Calls with arguments in host memory wait for the device before they
 *  return. Calls whose outcome must be checked also wait: solves, and the creation and the update
 *  of matrices, factors, patterns and preconditioners. A fault of the device (BISAI_DEVICE_ERROR)
 *  is returned by the next call that waits; after the fault, the context can only be destroyed.
 *  Creating a context makes its device the current device of the calling thread. The device must be
 *  the current one in every thread that uses the context.
 *  @param options  NULL: the defaults
 *  @param context  out; unchanged on failure; free with bisai_context_destroy()
 *  @retval BISAI_INVALID_ARGUMENT  `context` is NULL, struct_size or the backend is unknown,
 *                                  threads is out of range, only one function of an allocator is
 *                                  set, or the device is below -1
 *  @retval BISAI_UNAVAILABLE       this build or this machine does not have the requested CUDA
 *                                  backend; bisai_backend_missing() gives the reason
 *  @retval BISAI_DEVICE_ERROR      the device exists but could not be initialised
 *  @retval BISAI_OUT_OF_MEMORY */
BISAI_API bisai_status bisai_context_create(const bisai_context_options *options,
                                            bisai_context **context);

/** Returns the reason why a backend is not available, for example "this build has no CUDA backend"
 *  or "no CUDA-capable device is detected". Returns NULL if it is available.
 *  @param backend  BISAI_BACKEND_CUDA; BISAI_BACKEND_HOST and BISAI_BACKEND_AUTO are always
 *                  available
 *  @param device   as in bisai_context_options */
BISAI_API const char *bisai_backend_missing(bisai_backend backend, int device);

/** Frees *context and sets it to NULL; accepts NULL and pointers to NULL. All objects of the
 *  context must be destroyed before. */
BISAI_API void bisai_context_destroy(bisai_context **context);

/** Returns the message of the last failure in this context. The message names the row, block,
 *  value, line or limit. It is "" if no call has failed. The context owns the string; the next
 *  failure overwrites it. */
BISAI_API const char *bisai_context_error(const bisai_context *context);

/** Records a message, as the library does for its own failures. Callbacks and libraries that are
 *  built on bisai use it in the form `return bisai_context_fail(…)`. If a callback fails, the
 *  library's message names the callback and ends with the last message of this context that was
 *  recorded during the callback.
 *  @param context  NULL: nothing is recorded
 *  @param message  copied and cut after 255 characters; NULL: the text of the status
 *  @returns        `status` */
BISAI_API bisai_status bisai_context_fail(bisai_context *context, bisai_status status,
                                          const char *message);

/** Returns the backend in use: BISAI_BACKEND_HOST or BISAI_BACKEND_CUDA, never AUTO. */
BISAI_API bisai_backend bisai_context_backend(const bisai_context *context);

/** Returns a description of the device in use: the processor's model name, or the GPU's name and
 *  memory. The context owns the string. */
BISAI_API const char *bisai_context_device(const bisai_context *context);

/** Waits for all work that was enqueued on the context's stream. Returns at once on the host.
 *  @retval BISAI_DEVICE_ERROR  enqueued work has failed, either work of the context or work of
 *                              others on the same device */
BISAI_API bisai_status bisai_context_synchronize(bisai_context *context);

/** Returns the stream in use, a cudaStream_t; NULL on the host. */
BISAI_API void *bisai_context_stream(const bisai_context *context);

/** Returns the number of host threads in use, including the calling thread; 1 in a build without
 *  threads. */
BISAI_API int bisai_context_threads(const bisai_context *context);

/** The memory that a context has on its CUDA device. All numbers are 0 on the host, and where
 *  bisai_context_options::device_allocator allocates. */
typedef struct bisai_device_memory {
  /** set by the caller to sizeof(bisai_device_memory) */
  size_t struct_size;
  /** the bytes that the objects of the context hold */
  int64_t used_bytes;
  /** the most that they and the calls on them have held at a time, since the context was created or
   *  this number was last restarted */
  int64_t most_used_bytes;
  /** the bytes that the pool of the context has taken from the device: those in use, and those kept
   *  for later allocations, which other libraries cannot have */
  int64_t pool_bytes;
} bisai_device_memory;

/** Reports the device memory of a context. Waits for the work that was enqueued.
 *  @param restart  true: most_used_bytes is counted anew after this call
 *  @param memory   in and out: struct_size is set by the caller
 *  @retval BISAI_INVALID_ARGUMENT  an argument is NULL, or struct_size is unknown
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_context_device_memory(bisai_context *context, bool restart,
                                                   bisai_device_memory *memory);

/** Returns to the device what the pool of the context keeps for later allocations, so that other
 *  libraries can have it: a set-up may need several times the memory of the preconditioner that it
 *  makes. The next set-up takes longer, because it asks the driver for memory again. Waits for the
 *  work that was enqueued. Does nothing on the host, and where
 *  bisai_context_options::device_allocator allocates.
 *  @retval BISAI_INVALID_ARGUMENT  `context` is NULL
 *  @retval BISAI_DEVICE_ERROR */
BISAI_API bisai_status bisai_context_trim(bisai_context *context);

#ifdef __cplusplus
}
#endif
#endif
