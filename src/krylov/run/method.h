/* SPDX-License-Identifier: BSD-3-Clause */
/* What a solver, a method and a solve are. */
#ifndef BSI_METHOD_H
#define BSI_METHOD_H

#include <bisai/krylov.h>

#include "core/context/context_impl.h"
#include "core/context/option_table.h"
#include "krylov/run/forecast.h"

struct bsi_solver_run;

/* The largest number of residuals in the history: a huge max_iterations must not take gigabytes. */
enum { BSI_HISTORY_LIMIT = 1 << 20 };

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
  /* NULL, or refuses options whose ranges are right. Called for every choice of a method. */
  bisai_status (*check_options)(bisai_context *, const bisai_solver_options *);
  /* NULL, or refuses A and M: bisai_solver_check() */
  bisai_status (*check_system)(const bisai_solver *, const bisai_bcsr *, const bisai_precond *,
                               double *asymmetry);
  /* NULL: M must be linear. Otherwise returns true if the options allow an M that is not. */
  bool (*takes_nonlinear)(const bisai_solver_options *);
  /* Reserves the vectors and scalars that the solver and the state point to. Lowers options that
   * ask for more than the system can use. False: out of memory. */
  bool (*reserve)(bisai_solver *);
  /* NULL, or releases what the state alone holds */
  void (*release)(bisai_solver *);
  /* The upper bound of the number of steps in a cycle. */
  int (*longest_cycle)(const bisai_solver *);
  /* NULL: estimates are norms of b − A x. Otherwise turns `residual` into the vector whose norm is
   * estimated, and gives that norm; at the first start it also sets `reference`. */
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
  bisai_status (*best_of_cycle)(struct bsi_solver_run *, const double **x, double *norm);
  /* NULL, or fills the method's part of the report. */
  void (*report)(const bisai_solver *, bisai_solver_report *);
} bsi_method;

/* bsi_method_gmres, … */
#define BSI_DECLARE_METHOD(enumerator, word, name, title) extern const bsi_method bsi_method_##name;
BISAI_METHOD_LIST(BSI_DECLARE_METHOD)
#undef BSI_DECLARE_METHOD

#define BSI_SOLVER_OPTION(member) BSI_OPTION_IN(bisai_solver_options, member)

struct bisai_solver {
  bisai_context *context;
  const bsi_method *method;
  /* the method's own, method->state_size bytes */
  void *state;
  bisai_solver_options options;
  int64_t n;
  /* distance of consecutive vectors */
  int64_t ld;

  /* one allocation of vectors, among them the next four */
  double *vectors;
  /* scale·(b − A x) at the start of a cycle */
  double *residual;
  /* M⁻¹v or A v */
  double *spare;
  /* the best iterate whose true residual is known */
  double *best;
  /* free between two cycles, unless it holds the best x within the last one */
  double *scratch;

  /* one allocation of scalars in backend memory, among them the next four */
  double *scalars;
  double *norm2, *one, *shrink, *x_norm2;

  /* the most steps that are enqueued at the same time */
  int slots;
  /* two words for each slot and one more, in memory that host and device share */
  double *status;
  /* BSI_CHUNKS values for each sum */
  double *work;
  /* host memory: max_iterations + 1 values, at most BSI_HISTORY_LIMIT */
  double *history;
  /* times the applications of the preconditioner */
  bsi_clock clock;
  /* of vectors that are read again in every step, so that products should leave them in the
   * cache */
  int64_t cached_bytes;
  int64_t memory_bytes;
};

/* y ← A x by a matrix or by a function. */
typedef struct bsi_operator {
  const bisai_bcsr *matrix;
  bisai_apply_function multiply;
  void *user;
} bsi_operator;

/* How a cycle ended. */
typedef enum bsi_cycle_end {
  /* there was none yet */
  BSI_CYCLE_NONE,
  /* after all its steps, at the iteration limit, or by the monitor */
  BSI_CYCLE_FULL,
  BSI_CYCLE_TARGET,
  BSI_CYCLE_BREAKDOWN,
  BSI_CYCLE_NOT_FINITE
} bsi_cycle_end;

/* One solve. Norms are of vectors multiplied by `scale`. */
typedef struct bsi_solver_run {
  bisai_solver *solver;
  bsi_operator op;
  /* products within cycles; NULL without a matrix: bsi_precond_operator() */
  const bisai_bcsr *matrix;
  bisai_precond *precond;
  const double *b;
  double *x;

  /* 1, or a power of 2 that keeps squares of tiny and huge right-hand sides in range */
  double scale;
  /* 1, or a power of 2 by which products with A are multiplied, because their squares would leave
   * that range */
  double factor;
  /* of A; NaN if it was not measured */
  double asymmetry;
  /* ‖b‖ */
  double b_norm;
  /* the divisor of relative estimates: ‖b‖, or ‖M⁻¹b‖ with left preconditioning */
  double reference;
  /* a cycle ends at an estimate of at most this */
  double target;
  /* ‖b − A x‖ of the present x; NaN while unknown, infinity if x is not finite */
  double true_norm;
  /* the same at the start of the solve */
  double first_norm;
  /* the same at the start of the last cycle */
  double start_norm;
  /* of `best`; infinity while there is none */
  double best_norm;
  /* the last relative residual that was recorded */
  double estimate;
  /* when the cycle will end */
  bsi_forecast forecast;
  /* stagnation: the true residual that later cycles have to reduce */
  double anchor;
  /* the number of consecutive cycles that did not reduce it */
  int stalled;
  /* slow progress: the last true residual of at most half of the one before it, and the iterations
   * and the cycles until then */
  double halved;
  int halved_iterations, halved_cycles;
  /* the solve ended because so many iterations did not halve the residual; otherwise 0 */
  int slow_iterations;

  /* an x had NaN or infinity */
  bool bad_x;
  /* the first such entry; -1: only other processes have one */
  int64_t bad_entry;

  /* the method's `prepare` has been called for this cycle */
  bool prepared;
  bsi_cycle_end end;
  /* of the last cycle */
  bisai_breakdown breakdown;
  /* GMRES, after a breakdown: ‖A M⁻¹ v‖ of the first vector v of the basis */
  double growth;
  /* BiCGSTAB: the shadow residual is the first shadow vector of IDR(s), not a residual */
  bool other_shadow;
  int cycles;
  /* asked for by the monitor */
  bool stop;
  bisai_reason reason;
  int iterations, applications;
  /* iterations, including those whose status the host has not read yet */
  int enqueued;
  /* the number of timed applications: all on the host, few on a GPU */
  int timed;
  /* the time of these */
  double apply_seconds;
  /* the first timed application has been ignored */
  bool warm;
  /* an application was timed, and the clock has not been read since */
  bool timing;
  /* the step of that application */
  int timed_step;
} bsi_solver_run;

static inline bool bsi_preconditioned_left(const bsi_solver_run *run) {
  return run->precond && run->solver->options.gmres.side == BISAI_LEFT;
}

#endif
