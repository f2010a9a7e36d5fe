/* SPDX-License-Identifier: BSD-3-Clause */
/* What a solve is. */
#ifndef BSI_SOLVER_RUN_H
#define BSI_SOLVER_RUN_H

#include "krylov/run/forecast.h"
#include "krylov/run/method.h"

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

/* A x = b, and M */
typedef struct bsi_run_system {
  bsi_operator op;
  /* products within cycles; NULL without a matrix: bsi_precond_operator() */
  const bisai_bcsr *matrix;
  bisai_precond *precond;
  const double *b;
  double *x;
  /* of A; NaN if it was not measured */
  double asymmetry;
} bsi_run_system;

typedef struct bsi_run_scaling {
  /* 1, or a power of 2 that keeps squares of tiny and huge right-hand sides in range */
  double vectors;
  /* 1, or a power of 2 by which products with A are multiplied, because their squares would leave
   * that range */
  double products;
} bsi_run_scaling;

/* Norms of vectors multiplied by bsi_run_scaling::vectors. */
typedef struct bsi_run_norms {
  /* ‖b‖ */
  double b;
  /* the divisor of relative estimates: ‖b‖, or ‖M⁻¹b‖ with left preconditioning */
  double reference;
  /* a cycle ends at an estimate of at most this */
  double target;
  /* ‖b − A x‖ of the present x; NaN while unknown, infinity if x is not finite */
  double residual;
  /* the residual of a solve that stagnated is what rounding x causes */
  bool exhausted;
  /* the same at the start of the solve */
  double first;
  /* the same at the start of the last cycle */
  double start;
  /* of `best`; infinity while there is none */
  double best;
  /* the last relative residual that was recorded */
  double estimate;
} bsi_run_norms;

/* What says whether a solve gets on. */
typedef struct bsi_run_progress {
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
} bsi_run_progress;

/* An entry of x that was NaN or infinite. */
typedef struct bsi_run_bad_entry {
  bool found;
  /* the first one; -1: only other processes have one */
  int64_t index;
} bsi_run_bad_entry;

/* The steps of the present cycle. */
typedef struct bsi_cycle_steps {
  /* at most that many */
  int limit;
  /* enqueued, of known status, and good */
  int sent, seen, good;
  /* bsi_run_counts::applications at its start */
  int applications;
} bsi_cycle_steps;

/* How the present cycle began, and how the last one ended. */
typedef struct bsi_run_cycle {
  /* the cycle has begun, and its correction has not been added to x */
  bool open;
  /* the method's `prepare` has been called for this cycle */
  bool prepared;
  bsi_cycle_steps steps;
  bsi_cycle_end end;
  /* of the last cycle */
  bisai_breakdown breakdown;
  /* GMRES, after a breakdown: ‖A M⁻¹ v‖ of the first vector v of the basis */
  double growth;
  /* BiCGSTAB: the shadow residual is the first shadow vector of IDR(s), not a residual */
  bool other_shadow;
} bsi_run_cycle;

typedef struct bsi_run_counts {
  int cycles, iterations, applications;
  /* iterations, including those whose status the host has not read yet */
  int enqueued;
} bsi_run_counts;

/* The time of applications of M⁻¹. */
typedef struct bsi_run_timing {
  /* the number of timed applications: all on the host, few on a GPU */
  int count;
  /* the time of these */
  double seconds;
  /* the first timed application has been ignored */
  bool warm;
  /* an application was timed, and the clock has not been read since */
  bool pending;
  /* the step of that application */
  int step;
} bsi_run_timing;

/* Products of late steps: krylov/run/late_products.h */
typedef struct bsi_late_products {
  /* A in fp32; NULL: all products read A */
  const bisai_bcsr *rounded;
  /* ‖A z − rounded z‖/‖A z‖ of one z; NaN: not measured */
  double error;
  /* the last cycle had rounded products */
  bool used;
} bsi_late_products;

/* Lets a solve wait between two steps. */
typedef struct bsi_run_pause {
  /* NULL, or returns true after an iteration if the solve shall wait */
  bool (*ask)(void *user, int iteration, double relative_residual);
  void *user;
  /* the solve waits; bsi_solve() continues it */
  bool now;
} bsi_run_pause;

/* One solve. */
typedef struct bsi_solver_run {
  bisai_solver *solver;
  bsi_run_system system;
  bsi_run_scaling scaling;
  bsi_run_norms norms;
  /* when the cycle will end */
  bsi_forecast forecast;
  bsi_run_progress progress;
  bsi_run_bad_entry bad_entry;
  bsi_run_cycle cycle;
  bsi_run_counts counts;
  bsi_run_timing timing;
  bsi_late_products late;
  bsi_run_pause pause;
  /* asked for by the monitor */
  bool stop;
  bool begun;
  bisai_reason reason;
} bsi_solver_run;

static inline bool bsi_preconditioned_left(const bsi_solver_run *run) {
  return run->system.precond && run->solver->options.gmres.side == BISAI_LEFT;
}

#endif
