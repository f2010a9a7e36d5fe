/* SPDX-License-Identifier: BSD-3-Clause */
/* One method on one problem: set-up, solve, and the residual recomputed. */
#ifndef TOOL_RUN_METHOD_H
#define TOOL_RUN_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/krylov.h>

#include "method.h"
#include "options.h"
#include "problem.h"

typedef struct run_result {
  method m;
  char label[METHOD_LABEL];
  /* the preconditioner exists: `setup` is filled */
  bool set_up;
  /* the solve ran, with whatever outcome: `solve` and `residual` are filled */
  bool solved;
  /* the recomputed residual is at most 2·tolerance */
  bool converged;
  /* of the list in bisai(1) */
  const char *reason;
  /* what went wrong, "" or NULL: use run_message() */
  char *message;
  /* why the program chose this method; NULL: the user did */
  char *note;
  /* of the preconditioner */
  char *description;
  /* ‖b − A x‖/‖b‖ over the original rows; infinite or NaN where x is */
  double residual;
  /* solve.history_length values */
  double *history;
  /* of another library's one-time analyses; NaN without */
  double analysis_seconds;
  /* times that it was run after a warm-up; the result is that of the median total time */
  int repeats;
  /* the least total time of them */
  double least_seconds;
  bisai_precond_report setup;
  bisai_solver_report solve;
} run_result;

/* Runs a method from x = 0 and leaves the final iterate in x (problem->unknowns values). Failures
 * are in the result. With o->repeat above 0 it is warmed up first, and repeated so many times if it
 * converges. */
void run_method(bisai_context *context, const problem *p, const options *o, const method *m,
                double *x, run_result *r);

/* The one method of `solve`. Where it is the program's choice and CG cannot have it, the next one:
 * bjacobi. */
void run_chosen(bisai_context *context, const problem *p, const options *o, double *x,
                run_result *r);

const char *run_message(const run_result *r); /* what went wrong, or at least the reason */

void run_result_free(run_result *r);

/* Seconds or bytes or counts that this method has; the rest is null in JSON and "-" in tables. */
bool run_has_factor(const run_result *r);  /* factor_seconds */
bool run_has_levels(const run_result *r);  /* levels, bandwidth, profile, scales */
bool run_has_pattern(const run_result *r); /* pattern_seconds, inverse_blocks */
bool run_has_values(const run_result *r);  /* values_seconds */
bool run_has_apply(const run_result *r);   /* apply30_seconds */
bool run_has_memory(const run_result *r);  /* memory_bytes: no other library has a part of it */

double run_total(const run_result *r); /* seconds of set-up and solve together */

#endif
