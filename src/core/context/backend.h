/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract between the algorithms and the device on which they run.
 *
 * A backend has operations on its device, memory, clocks and vectors, which this file declares, and
 * one struct of operations for each room that has any. A room declares its struct in
 * room/room_ops.h; its *_host.c and *_cuda.cu implement the operations as static functions, and
 * each file exports one table. src/backends.c, above all rooms, puts the tables together.
 *
 * "Backend memory" holds vectors, blocks and per-iteration scalars: host memory on the host, device
 * memory on a GPU. On a GPU a call only enqueues work on the context's stream, unless its comment
 * says that it waits. Vectors may be empty in every call. */
#ifndef BSI_BACKEND_H
#define BSI_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bisai/bcsr.h>
#include <bisai/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct bsi_matrix_ops;    /* core/matrix/matrix_ops.h */
struct bsi_order_ops;     /* order/order_ops.h */
struct bsi_factor_ops;    /* factor/factor_ops.h */
struct bsi_pattern_ops;   /* pattern/pattern_ops.h */
struct bsi_solve_ops;     /* solve/solve_ops.h */
struct bsi_apply_ops;     /* apply/apply_ops.h */
struct bsi_bjacobi_ops;   /* bjacobi/bjacobi_ops.h */
struct bsi_multigrid_ops; /* multigrid/multigrid_ops.h */
struct bsi_cpr_ops;       /* cpr/cpr_ops.h */
struct bsi_krylov_ops;    /* krylov/passes/krylov_ops.h */

/* A sum is made of this many partial sums whatever the number of threads, so that its bits repeat.
 * The `work` argument of a reduction has BSI_CHUNKS doubles for each sum. */
enum { BSI_CHUNKS = 256 };

/* The device of a context. */
typedef struct bsi_device_ops {
  /* Returns why there is no device, or NULL. */
  const char *(*missing)(int device);
  /* Completes a context in which everything that does not depend on the backend is set. After a
   * failure `close` releases what this has made. */
  bisai_status (*open)(bisai_context *, const bisai_context_options *);
  void (*close)(bisai_context *);
} bsi_device_ops;

/* Bytes that the host fetches. */
typedef struct bsi_fetched {
  void *to;
  const void *from;
  size_t bytes;
} bsi_fetched;

/* The most arrays that are fetched together. */
enum { BSI_FETCHED = 4 };

/* Memory of the backend. */
typedef struct bsi_memory_ops {
  /* Backend memory is host memory, so that the host's functions may read and write it. */
  bool is_host;
  /* Waits for everything that has been enqueued. */
  bisai_status (*synchronize)(bisai_context *);
  /* Allocates as bsi_allocate() does. */
  void *(*allocate)(bisai_context *, size_t count, size_t size);
  void (*release)(bisai_context *, void *);
  /* Host memory may be reused after the return, unless it is page-locked. */
  bisai_status (*upload)(bisai_context *, void *backend_memory, const void *host, size_t bytes);
  /* Waits. */
  bisai_status (*fetch)(bisai_context *, void *host, const void *backend_memory, size_t bytes);
  /* Fetches `count` arrays, one after the other. Waits once. */
  bisai_status (*fetch_together)(bisai_context *, int count, const bsi_fetched *);
  /* Copies within backend memory. */
  bisai_status (*copy)(bisai_context *, void *to, const void *from, size_t bytes);
  /* Reports the memory of the context's pool, as bisai_context_device_memory() does. */
  bisai_status (*report)(bisai_context *, bool restart, bisai_device_memory *);
  /* Returns to the device what the pool keeps. */
  bisai_status (*trim)(bisai_context *);
  /* Returns true if the backend can work on a caller's array itself rather than on a copy. */
  bool (*reaches)(const bisai_context *, const void *);

  /* Shared memory is seen by the backend and by the host. The backend writes numbers there that the
   * host reads later. */
  double *(*allocate_shared)(bisai_context *, size_t count);
  void (*release_shared)(bisai_context *, double *);
  /* Marks the numbers as not yet written. No work that writes them may be under way. */
  void (*clear_shared)(bisai_context *, int count, double *shared);
  /* values ← the numbers, after each has been written since it was cleared. Waits for that only. */
  bisai_status (*await_shared)(bisai_context *, int count, const double *shared, double *values);
} bsi_memory_ops;

/* A clock measures the time that the backend takes between a start and a stop. */
typedef struct bsi_clock {
  double seconds;
  /* CUDA: events */
  void *from, *to;
} bsi_clock;

typedef struct bsi_clock_ops {
  bisai_status (*open)(bisai_context *, bsi_clock *);
  /* Accepts a clock that is not open. */
  void (*close)(bisai_context *, bsi_clock *);
  bisai_status (*start)(bisai_context *, bsi_clock *);
  bisai_status (*stop)(bisai_context *, bsi_clock *);
  /* Gives the seconds between the last start and stop. Waits for the stop. */
  bisai_status (*read)(bisai_context *, const bsi_clock *, double *seconds);
} bsi_clock_ops;

/* The most norms that are computed together. */
enum { BSI_NORMS = 2 };

/* norms[k] ← ‖x[k]‖₂ for each k < count ≤ BSI_NORMS, scaled so that squares neither overflow nor
 * vanish. Waits. */
typedef bisai_status bsi_compute_norms(bisai_context *, int count, int64_t n,
                                       const double *const *x, double *norms);
/* *largest ← the largest magnitude of x; NaN if a value is NaN. Waits. */
typedef bisai_status bsi_find_largest(bisai_context *, int64_t n, const double *x, double *largest);

/* Vectors of n doubles in backend memory. */
typedef struct bsi_vector_ops {
  bisai_status (*set)(bisai_context *, int64_t n, double value, double *y);
  bisai_status (*copy)(bisai_context *, int64_t n, const double *x, double *y);
  /* y ← x + y */
  bisai_status (*add)(bisai_context *, int64_t n, const double *x, double *y);
  /* y ← b − y */
  bisai_status (*subtract_from)(bisai_context *, int64_t n, const double *b, double *y);
  /* y ← alpha·x + beta·y. y is not read if beta is 0. */
  bisai_status (*combine)(bisai_context *, int64_t n, double alpha, const double *x, double beta,
                          double *y);
  /* x_i ← a number in [−1, 1) that depends on i alone. */
  bisai_status (*start)(bisai_context *, int64_t n, double *x);
  bsi_compute_norms *norms;
  /* norms() without a wait: a record of `norms_bytes` bytes in backend memory gets what is found.
   * NULL, and no bytes: norms() does not wait either. */
  size_t norms_bytes;
  bisai_status (*record_norms)(bisai_context *, int count, int64_t n, const double *const *x,
                               void *record);
  /* Reads the copy of a record in host memory. */
  void (*read_norms)(const void *record, int count, double *norms);
  bsi_find_largest *largest;
} bsi_vector_ops;

/* Loads the code of an operation, for which its first call would wait: a device takes milliseconds
 * for a file of many kernels. NULL: there is nothing to load. */
typedef bisai_status bsi_load_code(bisai_context *);

typedef struct bsi_backend {
  bisai_backend kind;
  const bsi_device_ops *device;
  const bsi_memory_ops *memory;
  const bsi_clock_ops *clock;
  const bsi_vector_ops *vectors;
  const struct bsi_matrix_ops *matrix;
  const struct bsi_order_ops *order;
  const struct bsi_factor_ops *factor;
  const struct bsi_pattern_ops *pattern;
  const struct bsi_solve_ops *solve;
  const struct bsi_apply_ops *apply;
  const struct bsi_bjacobi_ops *bjacobi;
  const struct bsi_multigrid_ops *multigrid;
  const struct bsi_cpr_ops *cpr;
  const struct bsi_krylov_ops *krylov;
} bsi_backend;

extern const bsi_device_ops bsi_device_host, bsi_device_cuda;
extern const bsi_memory_ops bsi_memory_host, bsi_memory_cuda;
extern const bsi_clock_ops bsi_clock_host, bsi_clock_cuda;
extern const bsi_vector_ops bsi_vectors_host, bsi_vectors_cuda;

/* src/backends.c */
extern const bsi_backend bsi_backend_host, bsi_backend_cuda;
/* Loads the largest parts of what nearly every solve calls. */
bsi_load_code bsi_backend_load;

/* NAME_host or NAME_cuda, the one of the backend of a context. For functions that need no table. */
#ifdef BISAI_HAVE_CUDA
#define BSI_ON_BACKEND(context, name)                                                              \
  ((context)->backend->memory->is_host ? name##_host : name##_cuda)
#else
#define BSI_ON_BACKEND(context, name) ((void)(context), name##_host)
#endif

/* Measures the asymmetry of a matrix with the threads or the stream of `context`, which need not be
 * the matrix's. The matrix keeps the result until its next update. The other outputs are those of
 * bisai_bcsr_asymmetry(). */
bisai_status bsi_bcsr_asymmetry(bisai_context *context, const bisai_bcsr *matrix, double *asymmetry,
                                bool *mirrored);

/* *asymmetry ← the same if it is at most `enough`; otherwise the measurement may end early, with
 * any value above `enough`. */
bisai_status bsi_bcsr_asymmetry_within(bisai_context *context, const bisai_bcsr *matrix,
                                       double enough, double *asymmetry);

/* *symmetric ← the asymmetry is at most BISAI_SYMMETRY_LIMIT, and every block has a mirror image.
 * Ends as soon as it is known that this is not so. *asymmetry ← that of a symmetric matrix, unless
 * `asymmetry` is NULL. */
bisai_status bsi_bcsr_is_symmetric(bisai_context *context, const bisai_bcsr *matrix,
                                   bool *symmetric, double *asymmetry);

/* Makes both functions call a matrix symmetric without a measurement, until its next public update.
 * For matrices that are symmetric by construction, but for rounding errors of any size. */
void bsi_bcsr_call_symmetric(bisai_bcsr *matrix);

#ifdef __cplusplus
}
#endif

#endif
