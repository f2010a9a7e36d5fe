/* SPDX-License-Identifier: BSD-3-Clause */
/* What a method and a solver are. */
#ifndef BSI_METHOD_H
#define BSI_METHOD_H

#include <bisai/krylov.h>

#include "core/context/context_impl.h"
#include "core/context/option_table.h"

struct bsi_solver_run;

/* The largest number of residuals in the history: a huge max_iterations must not take gigabytes. */
enum { BSI_HISTORY_LIMIT = 1 << 20 };

/* What a method refuses. */
typedef struct bsi_method_check {
  /* NULL, or refuses options whose ranges are right. Called for every choice of a method. */
  bisai_status (*options)(bisai_context *, const bisai_solver_options *);
  /* NULL, or refuses A and M: bisai_solver_check() */
  bisai_status (*system)(const bisai_solver *, const bisai_bcsr *, const bisai_precond *,
                         double *asymmetry);
  /* NULL: M must be linear. Otherwise returns true if the options allow an M that is not. */
  bool (*takes_nonlinear)(const bisai_solver_options *);
} bsi_method_check;

/* What a method does in a cycle. */
typedef struct bsi_method_cycle {
  /* The upper bound of the number of steps in a cycle. */
  int (*longest)(const bisai_solver *);
  /* NULL: estimates are norms of b − A x. Otherwise turns `residual` into the vector whose norm is
   * estimated, and gives that norm; at the first start it also sets the reference. */
  bisai_status (*measure)(struct bsi_solver_run *, double *norm);
  /* NULL, or the part of `start` that depends on norm2 alone; also *seen ← norm2, in memory that
   * host and device share. */
  bisai_status (*prepare)(struct bsi_solver_run *, double *seen);
  /* Begins a cycle. `norm` is the norm of `residual`. */
  bisai_status (*start)(struct bsi_solver_run *, double norm);
  /* NULL, or changes how cycles begin, after a breakdown that would end the solve. Returns false if
   * there is no other way to begin. */
  bool (*change_start)(struct bsi_solver_run *);
  /* Enqueues step j of the cycle. */
  bisai_status (*step)(struct bsi_solver_run *, int j, double *status);
  /* Sets how a step ended, from its status, whose first word is a finite norm. */
  void (*judge)(struct bsi_solver_run *, const double *status);
  /* Updates x after `steps` steps. NULL: each step updates x. */
  bisai_status (*correct)(struct bsi_solver_run *, int steps);
  /* NULL, or the best x within the last cycle, by the estimates, and its estimate. */
  bisai_status (*best)(struct bsi_solver_run *, const double **x, double *norm);
} bsi_method_cycle;

/* A method. Its file defines one, bsi_method_NAME. A solve is made of cycles, each from one true
 * residual to the next. A cycle is made of steps, and a step is an iteration. Everything is
 * enqueued; the host reads only the two status words of a step. */
typedef struct bsi_method {
  /* the options of this method alone */
  bsi_option_list options;
  /* bytes of bisai_solver::state, which begins as zeros */
  size_t state_size;
  /* applications of M⁻¹ in a step */
  int applications;
  /* a new cycle may succeed after a breakdown */
  bool restartable;
  bsi_method_check check;
  /* Reserves the vectors and scalars that the solver and the state point to. Lowers options that
   * ask for more than the system can use. False: out of memory. */
  bool (*reserve)(bisai_solver *);
  /* NULL, or releases what the state alone holds */
  void (*release)(bisai_solver *);
  bsi_method_cycle cycle;
  /* NULL, or fills the method's part of the report. */
  void (*report)(const bisai_solver *, bisai_solver_report *);
} bsi_method;

/* bsi_method_gmres, … */
#define BSI_DECLARE_METHOD(enumerator, word, name, title) extern const bsi_method bsi_method_##name;
BISAI_METHOD_LIST(BSI_DECLARE_METHOD)
#undef BSI_DECLARE_METHOD

#define BSI_SOLVER_OPTION(member) BSI_OPTION_IN(bisai_solver_options, member)

/* One allocation of vectors, and where in it some of them are. */
typedef struct bsi_solver_vectors {
  double *memory;
  /* b − A x at the start of a cycle, scaled: bsi_run_scaling::vectors */
  double *residual;
  /* M⁻¹v or A v */
  double *spare;
  /* the best iterate whose true residual is known */
  double *best;
  /* free between two cycles, unless it holds the best x within the last one */
  double *scratch;
} bsi_solver_vectors;

/* One allocation of scalars in backend memory, and where in it some of them are. */
typedef struct bsi_solver_scalars {
  double *memory;
  double *norm2, *one, *shrink, *x_norm2;
} bsi_solver_scalars;

/* What the host reads of the steps. */
typedef struct bsi_solver_status {
  /* the most steps that are enqueued at the same time */
  int slots;
  /* two words for each slot and one more, in memory that host and device share */
  double *words;
} bsi_solver_status;

struct bisai_solver {
  bisai_context *context;
  const bsi_method *method;
  /* the method's own, method->state_size bytes */
  void *state;
  bisai_solver_options options;
  /* options.max_iterations at the creation: the history has room for them */
  int reserved_iterations;
  int64_t n;
  /* distance of consecutive vectors */
  int64_t ld;
  bsi_solver_vectors vectors;
  bsi_solver_scalars scalars;
  bsi_solver_status status;
  /* BSI_CHUNKS values for each sum */
  double *work;
  /* host memory: reserved_iterations + 1 values, at most BSI_HISTORY_LIMIT */
  double *history;
  /* times the applications of the preconditioner */
  bsi_clock clock;
  /* of vectors that are read again in every step, so that products should leave them in the
   * cache */
  int64_t cached_bytes;
  int64_t memory_bytes;
};

#endif
