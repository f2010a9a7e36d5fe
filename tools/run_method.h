/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of one method on one problem: set-up, solve, and the recomputed residual. */
#ifndef TOOL_RUN_METHOD_H
#define TOOL_RUN_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/krylov.h>
#include <bisai/solve.h>

#include "method.h"
#include "options.h"
#include "problem.h"

/* What a run says, as strings that it owns. */
typedef struct run_texts {
  /* what went wrong, or "" or NULL: use run_message() */
  char *message;
  /* why the program chose this method; NULL: the user chose it */
  char *note;
  /* description of the preconditioner */
  char *description;
} run_texts;

/* The runs after a warm-up. The result is that of the run with the median total time. */
typedef struct run_repeats {
  int runs;
  double least_seconds; /* their least total time */
  /* seconds of another library's analyses that are needed once; NaN if there are none */
  double analysis_seconds;
} run_repeats;

typedef struct run_result {
  method m;
  char label[METHOD_LABEL];
  /* the preconditioner exists, and `setup` is filled */
  bool set_up;
  /* the solve ran, whatever its outcome, and `solve` and `residual` are filled */
  bool solved;
  /* the recomputed residual is at most 2·tolerance */
  bool converged;
  /* set-up refused what the user gave: a key, or values of a file */
  bool bad_input;
  /* a reason of the list in bisai(1) */
  const char *reason;
  run_texts texts;
  /* ‖b − A x‖/‖b‖ over the original rows; infinite or NaN if x is */
  double residual;
  /* ‖x − x̂‖/‖x̂‖ (measure.h); NaN if x̂ is not known */
  double error;
  /* solve.history_length values */
  double *history;
  run_repeats repeats;
  bisai_precond_report setup;
  bisai_solver_report solve;
  /* auto: its trials, `count` of them, and the options of the one that was chosen */
  struct {
    bisai_trial *trials;
    int count, chosen;
    /* seconds in the study, and in trials that were not chosen */
    double study, lost;
    bisai_precond_options precond;
    bisai_solver_options solver;
  } choice;
} run_result;

/* Runs a method from x = 0 and leaves the final iterate in x (problem->unknowns values). Failures
 * are in the result. If o->repeat is above 0, the method is warmed up first and run o->repeat times
 * if it converges. */
void run_method(bisai_context *context, const problem *p, const options *o, const method *m,
                double *x, run_result *r);

const char *run_message(const run_result *r); /* what went wrong, or at least the reason */

void run_result_free(run_result *r);

/* Return true if the method has these times, bytes or counts. Others are null in JSON and "-" in
 * tables. */
bool run_has_factor(const run_result *r);    /* factor_seconds */
bool run_has_levels(const run_result *r);    /* levels, bandwidth, profile, scales */
bool run_has_pattern(const run_result *r);   /* inverse_blocks */
bool run_has_structure(const run_result *r); /* pattern_seconds: of patterns or levels */
bool run_has_values(const run_result *r);    /* values_seconds */
bool run_has_apply(const run_result *r);     /* apply30_seconds */
bool run_has_memory(const run_result *r); /* memory_bytes; false if another library holds a part */

double run_total(const run_result *r); /* seconds of set-up and solve together */

#endif
