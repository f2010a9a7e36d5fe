/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver handle: options, memory, argument checks, report. Solves are in drive.c, the methods
 * in files of their own. */
#include "krylov/causes.h"
#include "krylov/drive.h"
#include "krylov/methods/methods.h"
#include "krylov/open_solve.h"
#include "krylov/run/operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/context/context_impl.h"
#include "core/context/staging.h"

static bisai_status check_options(bisai_context *context, int64_t n,
                                  const bisai_solver_options *o) {
  BSI_TRY(bsi_check_struct(context, "bisai_solver_options", o->struct_size, sizeof *o));
  if (n < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "n is %lld, must not be negative",
                    (long long)n);
  BSI_TRY(bsi_solver_options_check(context, o));
  if (n > INT64_MAX - 8) return bsi_fail(context, BISAI_OUT_OF_MEMORY, "n is %lld", (long long)n);
  return BISAI_OK;
}

static bisai_solver *allocate(bisai_context *context, int64_t n, const bisai_solver_options *o) {
  const bsi_method *method = bsi_method_of(o->method);
  bisai_solver *s = bsi_allocate(context, 1, sizeof *s);
  void *state = s ? bsi_allocate(context, 1, method->state_size) : NULL;
  if (!state) {
    bsi_release(context, s);
    return NULL;
  }
  memset(state, 0, method->state_size);
  *s = (bisai_solver){.context = context,
                      .method = method,
                      .state = state,
                      .options = *o,
                      .reserved_iterations = o->max_iterations,
                      .n = n,
                      .ld = (n + 7) / 8 * 8};
  return s;
}

static bool reserve_all(bisai_solver *solver) {
  if (!solver->method->reserve(solver)) return false;
  const size_t words = 2 * (size_t)solver->status.slots + 1;
  solver->status.words = solver->context->backend->memory->allocate_shared(solver->context, words);
  if (!solver->status.words) return false;
  solver->memory_bytes += (int64_t)(words * sizeof(double));
  if (solver->context->backend->clock->open(solver->context, &solver->clock)) return false;
  const int last = solver->options.max_iterations;
  const size_t length = (size_t)(last < BSI_HISTORY_LIMIT ? last : BSI_HISTORY_LIMIT - 1) + 1;
  solver->history = bsi_allocate(solver->context, length, sizeof(double));
  if (!solver->history) return false;
  solver->memory_bytes +=
      (int64_t)(length * sizeof(double) + sizeof *solver + solver->method->state_size);
  return true;
}

bisai_status bisai_solver_create(bisai_context *context, int64_t n,
                                 const bisai_solver_options *options, bisai_solver **solver) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!solver)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_solver_create: solver is NULL");
  const bisai_solver_options o = options ? *options : bisai_solver_options_default();
  const bisai_status status = check_options(context, n, &o);
  if (status) return status;
  bisai_solver *s = allocate(context, n, &o);
  if (!s) return BISAI_OUT_OF_MEMORY;
  if (!reserve_all(s)) {
    bisai_solver_destroy(&s);
    return BISAI_OUT_OF_MEMORY;
  }
  *solver = s;
  return BISAI_OK;
}

bisai_status bisai_solver_set_options(bisai_solver *solver, const bisai_solver_options *options) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  bisai_context *context = solver->context;
  bisai_solver_options *o = &solver->options;
  if (!options) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "options is NULL");
  BSI_TRY(check_options(context, solver->n, options));
  if (options->max_iterations > solver->reserved_iterations)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "max_iterations is %d, and the solver was created for %d",
                    options->max_iterations, solver->reserved_iterations);
  o->tolerance = options->tolerance;
  o->max_iterations = options->max_iterations;
  o->stagnation_cycles = options->stagnation_cycles;
  o->use_initial_guess = options->use_initial_guess;
  o->monitor_late = options->monitor_late;
  o->monitor = options->monitor;
  o->monitor_user = options->monitor_user;
  return BISAI_OK;
}

void bisai_solver_destroy(bisai_solver **solver) {
  if (!solver || !*solver) return;
  bisai_solver *s = *solver;
  bisai_context *context = s->context;
  *solver = NULL;
  if (s->method->release) s->method->release(s);
  context->backend->memory->release(context, s->vectors.memory);
  context->backend->memory->release(context, s->scalars.memory);
  context->backend->memory->release(context, s->work);
  context->backend->memory->release_shared(context, s->status.words);
  context->backend->clock->close(context, &s->clock);
  bsi_release(context, s->history);
  bsi_release(context, s->state);
  bsi_release(context, s);
}

/* Refuses a nonlinear M unless the method is flexible. */
static bisai_status check_linear(const bisai_solver *s, const bisai_precond *precond) {
  const bsi_method *method = s->method;
  bisai_precond_report report = {.struct_size = sizeof report};
  if (!precond || (method->check.takes_nonlinear && method->check.takes_nonlinear(&s->options)))
    return BISAI_OK;
  BSI_TRY(bisai_precond_get_report(precond, &report));
  if (!report.nonlinear) return BISAI_OK;
  const char *text = bisai_precond_describe(precond);
  return bsi_fail(s->context, BISAI_NOT_LINEAR,
                  "%s needs a linear preconditioner, which %.*s is not: gmres.flexible and, for "
                  "symmetric matrices, cg.flexible take it",
                  bisai_method_string(s->options.method), (int)strcspn(text, ","), text);
}

bisai_status bisai_solver_check(const bisai_solver *solver, const bisai_bcsr *matrix,
                                const bisai_precond *precond, double *asymmetry) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  double measured = NAN;
  bisai_status status = check_linear(solver, precond);
  if (!status && solver->method->check.system)
    status = solver->method->check.system(solver, matrix, precond, &measured);
  if (asymmetry) *asymmetry = measured;
  return status;
}

static void fill_report(const bsi_solver_run *run, double seconds, bisai_solver_report *report) {
  const bisai_solver *s = run->solver;
  const double mean = run->timing.count > 0 ? run->timing.seconds / run->timing.count : 0;
  *report = (bisai_solver_report){
      .struct_size = sizeof *report,
      .reason = run->reason,
      .iterations = run->counts.iterations,
      .relative_residual = run->norms.residual / run->norms.b,
      .estimated_residual = run->norms.estimate,
      .solve_seconds = seconds,
      .apply_seconds = run->timing.count == run->counts.applications
                           ? run->timing.seconds
                           : mean * run->counts.applications,
      .applications = run->counts.applications,
      .apply30_seconds = 30 * mean,
      .memory_bytes = s->memory_bytes,
      .history = s->history,
      .history_length = run->counts.iterations < BSI_HISTORY_LIMIT ? run->counts.iterations + 1
                                                                   : BSI_HISTORY_LIMIT,
      .method = s->options.method,
      .restarts = run->counts.cycles > 0 ? run->counts.cycles - 1 : 0,
      .breakdown = run->cycle.breakdown,
      .cg = {.asymmetry = run->system.asymmetry},
      .exhausted = run->norms.exhausted,
  };
  if (s->method->report) s->method->report(s, report);
}

/* Names the entry of x, or of the initial guess if there was no cycle. */
static bisai_status conclude_not_finite(const bsi_solver_run *run, const char *cause) {
  bisai_context *context = run->solver->context;
  const int iterations = run->counts.iterations;
  if (!isfinite(run->norms.b)) return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in b");
  if (!run->bad_entry.found)
    return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity after iteration %d%s", iterations,
                    cause);
  char entry[64] = "another process's part";
  if (run->bad_entry.index >= 0)
    snprintf(entry, sizeof entry, "entry %lld", (long long)run->bad_entry.index);
  if (run->counts.cycles == 0)
    return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in %s of the initial guess", entry);
  return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in %s of x after iteration %d%s",
                  entry, iterations, cause);
}

/* The status of a solve in which no call failed. */
static bisai_status conclude(bsi_solver_run *run) {
  bisai_context *context = run->solver->context;
  const int iterations = run->counts.iterations;
  const double relative = run->norms.residual / run->norms.b;
  char cause[160] = "";
  if (run->reason >= BISAI_REASON_MAX_ITERATIONS && run->reason <= BISAI_REASON_NOT_FINITE)
    bsi_say_cause(run, sizeof cause, cause);
  switch (run->reason) {
  case BISAI_REASON_NONE:
  case BISAI_REASON_PRECOND_FAILED:
  case BISAI_REASON_CONVERGED: return BISAI_OK;
  case BISAI_REASON_MAX_ITERATIONS:
    return bsi_fail(context, BISAI_MAX_ITERATIONS,
                    "not converged after %d iterations: relative residual %.3e, tolerance %.3e%s",
                    iterations, relative, run->solver->options.tolerance, cause);
  case BISAI_REASON_STAGNATED:
    if (run->progress.slow_iterations > 0)
      return bsi_fail(context, BISAI_STAGNATED,
                      "stagnated at relative residual %.3e, tolerance %.3e: the last %d iterations "
                      "up to iteration %d did not halve it%s",
                      relative, run->solver->options.tolerance, run->progress.slow_iterations,
                      iterations, cause);
    return bsi_fail(context, BISAI_STAGNATED,
                    "stagnated at relative residual %.3e, tolerance %.3e: no progress in %d cycles "
                    "up to iteration %d%s",
                    relative, run->solver->options.tolerance,
                    run->solver->options.stagnation_cycles, iterations, cause);
  case BISAI_REASON_BREAKDOWN:
    return bsi_fail(context, BISAI_BREAKDOWN, "iteration %d: %s, at relative residual %.3e%s",
                    iterations, bisai_breakdown_string(run->cycle.breakdown), relative, cause);
  case BISAI_REASON_NOT_FINITE: return conclude_not_finite(run, cause);
  case BISAI_REASON_STOPPED:
    return bsi_fail(context, BISAI_STOPPED,
                    "stopped by the monitor at iteration %d, relative residual %.3e", iterations,
                    relative);
  }
  return BISAI_OK;
}

static bisai_status check_arguments(bisai_solver *solver, const bsi_operator *op,
                                    const bisai_precond *precond, const double *b,
                                    const double *x) {
  bisai_context *context = solver->context;
  const bool empty = solver->n == 0;
  const char *missing = !op->matrix && !op->multiply ? "the operator"
                        : empty                      ? NULL
                        : !b                         ? "b"
                        : !x                         ? "x"
                                                     : NULL;
  if (missing) return bsi_fail(context, BISAI_INVALID_ARGUMENT, "%s is NULL", missing);
  if (b == x && !empty)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "b and x are the same array");
  if (precond && bisai_precond_rows(precond) != solver->n)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "the preconditioner is for %lld unknowns, the solver for %lld",
                    (long long)bisai_precond_rows(precond), (long long)solver->n);
  if (!op->matrix) return BISAI_OK;
  const int64_t bs = bisai_bcsr_block_size(op->matrix);
  const int64_t rows = bisai_bcsr_block_rows(op->matrix) * bs,
                cols = bisai_bcsr_block_cols(op->matrix) * bs;
  if (rows == solver->n && cols == solver->n) return BISAI_OK;
  return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                  "the matrix is %lld × %lld, the solver is for %lld unknowns", (long long)rows,
                  (long long)cols, (long long)solver->n);
}

bisai_status bsi_solve_begin(bisai_solver *solver, bsi_operator op, bisai_precond *precond,
                             const double *b, double *x, bsi_open_solve *open) {
  *open = (bsi_open_solve){
      .run = {.solver = solver,
              .system = {.op = op, .matrix = op.matrix, .precond = precond, .asymmetry = NAN},
              .scaling = {.vectors = 1, .products = 1},
              .norms = {.b = NAN, .residual = NAN, .estimate = NAN, .best = INFINITY}}};
  solver->history[0] = NAN;
  BSI_TRY(check_arguments(solver, &op, precond, b, x));
  BSI_TRY(bisai_solver_check(solver, op.matrix, precond, &open->run.system.asymmetry));
  BSI_TRY(bsi_stage_input(solver->context, solver->n, 1, b, 0, &open->from));
  BSI_TRY(bsi_stage_output(solver->context, solver->n, 1, solver->options.use_initial_guess, x, 0,
                           &open->to));
  open->run.system.b = open->from.data;
  open->run.system.x = open->to.data;
  return BISAI_OK;
}

bisai_status bsi_solve_continue(bsi_open_solve *open) {
  const double start = bsi_now();
  bisai_status status = bsi_solve(&open->run);
  if (!status && !open->run.pause.now) status = conclude(&open->run);
  open->seconds += bsi_now() - start;
  return status;
}

/* Products within cycles may take a smaller copy of A. */
bisai_status bsi_solve_multiply(bsi_open_solve *open, const double *x, double *y) {
  bsi_run_system *system = &open->run.system;
  const bisai_bcsr *smaller = system->matrix;
  system->matrix = system->op.matrix;
  const bisai_status status = bsi_multiply_given(&open->run, x, y);
  system->matrix = smaller;
  return status;
}

bisai_status bsi_solve_end(bsi_open_solve *open, bisai_status status, bisai_solver_report *report) {
  bisai_context *context = open->run.solver->context;
  const double start = bsi_now();
  status = bsi_stage_return(context, status, &open->to);
  bsi_stage_release(context, &open->from);
  if (report) fill_report(&open->run, open->seconds + bsi_now() - start, report);
  return status;
}

static bisai_status solve(bisai_solver *solver, bsi_operator op, bisai_precond *precond,
                          const double *b, double *x, bisai_solver_report *report) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  const double start = bsi_now();
  if (report) {
    const bisai_status status = bsi_check_report(solver->context, "bisai_solver_report",
                                                 report->struct_size, sizeof *report);
    if (status) return status;
  }
  bsi_open_solve open;
  bisai_status status = bsi_solve_begin(solver, op, precond, b, x, &open);
  open.seconds = bsi_now() - start;
  if (!status) status = bsi_solve_continue(&open);
  return bsi_solve_end(&open, status, report);
}

bisai_status bisai_solver_solve(bisai_solver *solver, const bisai_bcsr *matrix,
                                bisai_precond *precond, const double *b, double *x,
                                bisai_solver_report *report) {
  return solve(solver, (bsi_operator){.matrix = matrix}, precond, b, x, report);
}

bisai_status bisai_solver_solve_operator(bisai_solver *solver, bisai_apply_function multiply,
                                         void *user, bisai_precond *precond, const double *b,
                                         double *x, bisai_solver_report *report) {
  return solve(solver, (bsi_operator){.multiply = multiply, .user = user}, precond, b, x, report);
}
