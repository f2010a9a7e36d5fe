/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bisai/stages.h>

#include "cusparse_methods.h"
#include "label.h"
#include "measure.h"
#include "message.h"
#include "petsc_methods.h"
#include "progress.h"
#include "project.h"
#include "signals.h"
#include "watch.h"

enum { WARM_UP_ITERATIONS = 32 }; /* a cycle of GMRES(30) and the start of the next */

static const char *setup_reason(bisai_status status) {
  switch (status) {
  case BISAI_SINGULAR_BLOCK: return "singular_block";
  case BISAI_MISSING_DIAGONAL: return "missing_diagonal";
  case BISAI_OVERFLOW: return "overflow";
  case BISAI_NOT_FINITE: return "not_finite";
  case BISAI_UNAVAILABLE:
  case BISAI_UNSUPPORTED: return "unavailable";
  case BISAI_NOT_SYMMETRIC: return "not_symmetric";
  case BISAI_NOT_LINEAR: return "not_linear";
  default: return "failed";
  }
}

static const char *solve_reason(bisai_reason reason) {
  switch (reason) {
  case BISAI_REASON_NONE:
  case BISAI_REASON_BREAKDOWN:
  case BISAI_REASON_PRECOND_FAILED: return "failed";
  default: return bisai_reason_string(reason);
  }
}

static void set_message(run_result *r, const char *reason, const char *message) {
  char text[1024];
  snprintf(text, sizeof text, "%s%s", message, message_base(message));
  char *old = r->texts.message;
  r->reason = reason;
  r->texts.message = strdup(text);
  free(old);
}

static void fail(bisai_context *context, bisai_status status, const char *reason, run_result *r) {
  const char *message = bisai_context_error(context);
  set_message(r, reason, *message ? message : bisai_status_string(status));
}

/* Returns the place of a part of a message, or NULL. Parts end at ": ": "pressure matrix" and
 * "null_vectors" in "pressure matrix: null_vectors: vector 1 (from 0) is zero". */
static const char *find_part(const char *message, const char *part) {
  const size_t length = strlen(part);
  const char *end;
  for (; (end = strstr(message, ": ")); message = end + 2)
    if ((size_t)(end - message) == length && strncmp(message, part, length) == 0) return message;
  return NULL;
}

/* Sets the outcome of a set-up that refused an option or the values of a file. The message of the
 * library names the option: names the key and the file instead. */
static void refuse(bisai_context *context, run_result *r) {
  const char *message = bisai_context_error(context), *place = NULL;
  char text[1024];
  for (int i = 0; i < METHOD_FILES && r->m.files[i].option && !place; i++) {
    const method_file *f = &r->m.files[i];
    place = find_part(message, f->option->name);
    if (place)
      snprintf(text, sizeof text, "%.*s%s=%s%s", (int)(place - message), message, f->option->key,
               f->path, place + strlen(f->option->name));
  }
  r->bad_input = true;
  set_message(r, "failed", place ? text : message);
}

static void keep_history(run_result *r) {
  size_t bytes = (size_t)r->solve.history_length * sizeof *r->history;
  if (r->solve.history && bytes) {
    r->history = malloc(bytes);
    if (r->history) memcpy(r->history, r->solve.history, bytes);
  }
  r->solve.history = NULL;
}

/* Sets the outcome of a run that was ended because it has no hope. */
static void give_up(const watch *w, run_result *r) {
  char text[240];
  if (isfinite(w->needed)) {
    snprintf(text, sizeof text,
             "ended at iteration %d, relative residual %.3e: at its pace it would need %.0f "
             "iterations, and %d are allowed",
             r->solve.iterations, r->residual, w->needed, w->allowed);
  } else {
    snprintf(text, sizeof text,
             "ended at iteration %d, relative residual %.3e: the last %d cycles did not reduce it",
             r->solve.iterations, r->residual, WATCH_CYCLES);
  }
  set_message(r, "hopeless", text);
}

/* Sets the outcome of a run that a signal stopped. */
static void stop(run_result *r) {
  char text[160];
  const char *name = signals_name(signals_caught());
  if (r->solved) {
    snprintf(text, sizeof text, "interrupted by %s at iteration %d, relative residual %.3e", name,
             r->solve.iterations, r->residual);
  } else {
    snprintf(text, sizeof text, "interrupted by %s before the solve", name);
  }
  set_message(r, "stopped", text);
}

/* Sets the outcome of a solve that ended with `status`. */
static void judge(bisai_context *context, const problem *p, bisai_status status, double *x,
                  const watch *w, run_result *r) {
  r->solved = true;
  keep_history(r);
  r->reason = solve_reason(r->solve.reason);
  if (status) fail(context, status, r->reason, r);
  status = project_solution(context, p, x);
  if (!status) status = measure_residual(p, x, &r->residual);
  if (!status) status = measure_error(context, p, x, &r->error);
  r->converged = r->solve.reason == BISAI_REASON_CONVERGED && r->residual <= 2 * p->tolerance;
  if (status) {
    set_message(r, "failed",
                status == BISAI_OUT_OF_MEMORY ? "no memory to recompute residual and error"
                                              : bisai_status_string(status));
  } else if (r->solve.reason == BISAI_REASON_CONVERGED && !isfinite(r->residual)) {
    set_message(r, "not_finite", "the recomputed residual is not finite");
  } else if (r->solve.reason == BISAI_REASON_CONVERGED && !r->converged) {
    set_message(r, "failed", "the recomputed residual exceeds twice the tolerance");
  } else if (r->solve.reason == BISAI_REASON_STOPPED && w->needed > 0 && !signals_caught()) {
    give_up(w, r);
  } else if (r->solve.reason == BISAI_REASON_STOPPED) {
    stop(r);
  }
}

/* `theirs` describes the part of PETSc or cuSPARSE. */
static void describe(run_result *r, const char *own, const char *petsc, const char *cusparse) {
  char text[960] = "";
  /* the library's description is "callback" */
  bool callback = r->m.program == METHOD_PETSC_ILU || r->m.program == METHOD_CUSPARSE_ILU;
  const char *const parts[] = {callback ? "" : own, petsc, cusparse};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const size_t length = strlen(text);
    if (*parts[i])
      snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "", parts[i]);
  }
  r->texts.description = strdup(text);
}

static bisai_precond_options preconditioner(const options *o, const method *m) {
  bisai_precond_options result = m->options;
  /* the factors of petsc-ilu exist */
  if (m->program != METHOD_OF_LIBRARY) result.factor.level = 0;
  options_reorder(o, m, &result.factor);
  return result;
}

static bisai_solver_options solver_of(const problem *p, const options *o, const method *m) {
  bisai_solver_options how = o->solver;
  how.tolerance = p->tolerance;
  if (m->by_cg) how.method = BISAI_CG;
  return how;
}

static bisai_status solve(bisai_solver *solver, const problem *p, const cusparse_parts *fast,
                          bisai_precond *precond, double *x, bisai_solver_report *report) {
  void *user = NULL;
  bisai_apply_function multiply = fast ? cusparse_operator(fast, &user) : NULL;
  if (multiply)
    return bisai_solver_solve_operator(solver, multiply, user, precond, p->rhs, x, report);
  return bisai_solver_solve(solver, p->matrix, precond, p->rhs, x, report);
}

/* Refuses a matrix that the solver cannot work with, before a set-up that would be for nothing. The
 * solver that judges has no unknowns, so that the set-up has the memory. */
static bool matrix_fits(bisai_context *context, const problem *p, const options *o, run_result *r) {
  const bisai_solver_options how = solver_of(p, o, &r->m);
  bisai_solver *judge = NULL;
  bisai_status status = bisai_solver_create(context, 0, &how, &judge);
  if (!status) status = bisai_solver_check(judge, p->matrix, NULL, NULL);
  if (status) fail(context, status, setup_reason(status), r);
  bisai_solver_destroy(&judge);
  return status == BISAI_OK;
}

/* Runs a method of the library, or its solver with parts of PETSc or cuSPARSE. */
static void run_bisai(bisai_context *context, const problem *p, const options *o, progress *shown,
                      double *x, run_result *r) {
  petsc_parts *parts = NULL;
  cusparse_parts *fast = NULL;
  bisai_precond *precond = NULL, *used = NULL;
  bisai_solver *solver = NULL;
  bisai_precond_options setup = preconditioner(o, &r->m);
  bisai_status status =
      petsc_is_needed(&r->m) ? petsc_prepare(context, p, o, &r->m, &setup, &parts) : BISAI_OK;
  if (!status && cusparse_is_needed(&r->m))
    status = cusparse_prepare(context, p, &r->m, &setup, &fast);
  if (!status) status = bisai_precond_create(context, p->matrix, &setup, &precond);
  if (status == BISAI_INVALID_ARGUMENT) refuse(context, r);
  if (status && !r->bad_input) fail(context, status, setup_reason(status), r);
  if (status) goto done;
  r->setup.struct_size = sizeof r->setup;
  bisai_precond_get_report(precond, &r->setup);
  used = precond;
  if (parts) petsc_complete(parts, &r->setup);
  if (fast) {
    status = cusparse_complete(fast, p, &r->m, precond, &used, &r->setup);
    r->repeats.analysis_seconds = cusparse_analysis(fast);
  }
  describe(r, bisai_precond_describe(precond), parts ? petsc_describe(parts) : "",
           fast ? cusparse_describe(fast) : "");
  if (status) {
    fail(context, status, setup_reason(status), r);
    goto done;
  }
  r->set_up = true;

  bisai_solver_options how = solver_of(p, o, &r->m);
  watch watched = watch_start(shown, &how, o->give_up);
  how.monitor = watch_iteration;
  how.monitor_user = &watched;
  how.monitor_late = true; /* lets a device have steps ahead, as without a monitor */
  progress_show(shown, "solve");
  status = bisai_solver_create(context, p->unknowns, &how, &solver);
  if (status) {
    fail(context, status, "failed", r);
    goto done;
  }
  /* The solve may have the matrix or the preconditioner as functions, about which nothing is
   * known. */
  status = bisai_solver_check(solver, p->matrix, precond, NULL);
  if (status) {
    fail(context, status, setup_reason(status), r);
    goto done;
  }
  signals_keep();
  if (signals_caught()) {
    stop(r);
    goto done;
  }
  r->solve.struct_size = sizeof r->solve;
  status = solve(solver, p, fast, used, x, &r->solve);
  judge(context, p, status, x, &watched, r);
done:
  bisai_solver_destroy(&solver);
  cusparse_free(&fast);
  bisai_precond_destroy(&precond);
  petsc_free(&parts);
}

/* Keeps what the choice reports. */
static void keep_choice(const bisai_solve_report *report, run_result *r) {
  const size_t bytes = (size_t)report->choice.count * sizeof *r->choice.trials;
  r->choice.chosen = report->choice.chosen;
  r->choice.study = report->choice.study_seconds;
  r->choice.lost = report->choice.lost_seconds;
  r->choice.precond = report->precond_options;
  r->choice.solver = report->solver_options;
  r->choice.trials = bytes > 0 ? malloc(bytes) : NULL;
  if (!r->choice.trials) return;
  memcpy(r->choice.trials, report->choice.trials, bytes);
  r->choice.count = report->choice.count;
}

/* Lets the library choose the preconditioner, and the solver unless the user has chosen it. */
static void run_automatic(bisai_context *context, const problem *p, const options *o,
                          progress *shown, double *x, run_result *r) {
  bisai_auto_solver *solver = NULL;
  bisai_solve_report report = {.struct_size = sizeof report};
  bisai_solve_options how = bisai_solve_options_default();
  how.precond = preconditioner(o, &r->m);
  how.solver = solver_of(p, o, &r->m);
  how.solver_given = o->solver_given || o->restart > 0 || r->m.by_cg;
  watch watched = watch_start(shown, &how.solver, false);
  how.solver.monitor = watch_iteration;
  how.solver.monitor_user = &watched;
  how.solver.monitor_late = true;
  bisai_status status = bisai_auto_solver_create(context, &how, &solver);
  if (status) {
    refuse(context, r);
    return;
  }
  signals_keep(); /* the best x of the trials */
  status = bisai_auto_solver_solve(solver, p->matrix, p->rhs, x, &report);
  r->set_up = bisai_auto_solver_precond(solver) != NULL;
  r->setup = report.precond;
  r->solve = report.solver;
  r->setup.setup_seconds = report.seconds - report.solver.solve_seconds;
  keep_choice(&report, r);
  r->texts.note = strdup(report.reason);
  describe(r, bisai_precond_describe(bisai_auto_solver_precond(solver)), "", "");
  if (status == BISAI_INVALID_ARGUMENT)
    refuse(context, r);
  else if (status == BISAI_OUT_OF_MEMORY)
    fail(context, status, "failed", r);
  else
    judge(context, p, status, x, &watched, r);
  bisai_auto_solver_destroy(&solver);
}

static void run_petsc(bisai_context *context, const problem *p, const options *o, progress *shown,
                      double *x, run_result *r) {
  petsc_parts *parts = NULL;
  const bisai_solver_options how = solver_of(p, o, &r->m);
  watch watched = watch_start(shown, &how, o->give_up);
  bisai_status status = petsc_create(context, p, o, &r->m, watch_iteration, &watched, &parts);
  if (status) {
    fail(context, status, setup_reason(status), r);
    return;
  }
  r->setup.struct_size = sizeof r->setup;
  petsc_complete(parts, &r->setup);
  describe(r, "", petsc_describe(parts), "");
  r->set_up = true;
  progress_show(shown, "solve by PETSc");
  r->solve.struct_size = sizeof r->solve;
  signals_keep();
  status = petsc_solve(parts, p, x, &r->solve);
  judge(context, p, status, x, &watched, r);
  petsc_free(&parts);
}

static void run_once(bisai_context *context, const problem *p, const options *o, const method *m,
                     const char *first, double *x, run_result *r) {
  *r = (run_result){.m = *m,
                    .reason = "failed",
                    .texts.message = strdup(""),
                    .residual = NAN,
                    .error = NAN,
                    .repeats.analysis_seconds = NAN};
  method_label(m, r->label);
  progress shown;
  progress_start(&shown, r->label, first);
  memset(x, 0, (size_t)p->unknowns * sizeof *x);
  if (m->program == METHOD_PETSC)
    run_petsc(context, p, o, &shown, x, r);
  else if (matrix_fits(context, p, o, r))
    (method_is(m, BISAI_PRECOND_AUTO) ? run_automatic : run_bisai)(context, p, o, &shown, x, r);
  progress_end(&shown);
}

/* Runs the set-up and a few iterations, which loads kernels and touches memory. */
static void warm_up(bisai_context *context, const problem *p, const options *o, const method *m,
                    double *x) {
  options few = *o;
  run_result forgotten;
  if (few.solver.max_iterations > WARM_UP_ITERATIONS)
    few.solver.max_iterations = WARM_UP_ITERATIONS;
  run_once(context, p, &few, m, "warm-up", x, &forgotten);
  run_result_free(&forgotten);
}

static int compare_totals(const void *a, const void *b) {
  double x = run_total(a), y = run_total(b);
  return (x > y) - (x < y);
}

/* Repeats a method that has converged, and keeps the run with the median total time. */
static void repeat(bisai_context *context, const problem *p, const options *o, double *x,
                   run_result *r) {
  run_result *all = o->repeat > 1 ? calloc((size_t)o->repeat, sizeof *all) : NULL;
  int runs = 1;
  r->repeats.runs = 1;
  r->repeats.least_seconds = run_total(r);
  if (!all) return;
  all[0] = *r;
  while (runs < o->repeat && all[runs - 1].converged && !signals_caught()) {
    run_once(context, p, o, &r->m, "set-up", x, &all[runs]);
    if (all[runs].converged)
      runs++;
    else
      run_result_free(&all[runs]);
  }
  qsort(all, (size_t)runs, sizeof *all, compare_totals);
  const int median = (runs - 1) / 2;
  *r = all[median];
  r->repeats.runs = runs;
  r->repeats.least_seconds = run_total(&all[0]);
  for (int i = 0; i < runs; i++)
    if (i != median) run_result_free(&all[i]);
  free(all);
}

void run_method(bisai_context *context, const problem *p, const options *o, const method *m,
                double *x, run_result *r) {
  const bool repeats = o->repeat > 0;
  if (repeats) warm_up(context, p, o, m, x);
  run_once(context, p, o, m, "set-up", x, r);
  if (repeats && r->converged) repeat(context, p, o, x, r);
}

void run_result_free(run_result *r) {
  free(r->texts.note);
  free(r->texts.message);
  free(r->texts.description);
  free(r->history);
  free(r->choice.trials);
  *r = (run_result){0};
}

const char *run_message(const run_result *r) {
  return r->texts.message && *r->texts.message ? r->texts.message : r->reason;
}

bool run_has_factor(const run_result *r) {
  const bool factors =
      bisai_precond_options_take(&r->m.options, "factor.level") &&
      !(method_is(&r->m, BISAI_PRECOND_ISAI) && r->m.options.isai.of == BISAI_INVERSE_OF_MATRIX);
  return r->set_up && (r->m.program != METHOD_OF_LIBRARY || factors);
}

bool run_has_levels(const run_result *r) { return r->set_up && r->setup.factor.lower_levels > 0; }

bool run_has_pattern(const run_result *r) {
  return r->set_up && method_uses(&r->m, BISAI_PRECOND_ISAI);
}

bool run_has_structure(const run_result *r) {
  return run_has_pattern(r) ||
         (r->set_up && (method_is(&r->m, BISAI_PRECOND_MULTIGRID) || method_has_stages(&r->m)));
}

bool run_has_values(const run_result *r) {
  return r->set_up && !method_is(&r->m, BISAI_PRECOND_NONE) && !method_is_exact(&r->m);
}

bool run_has_memory(const run_result *r) {
  return r->set_up && r->m.program == METHOD_OF_LIBRARY && !petsc_is_needed(&r->m) &&
         !cusparse_is_needed(&r->m);
}

double run_total(const run_result *r) { return r->setup.setup_seconds + r->solve.solve_seconds; }

bool run_has_apply(const run_result *r) {
  return r->solved && !method_is(&r->m, BISAI_PRECOND_NONE) && r->solve.applications > 0;
}
