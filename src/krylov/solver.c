/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver handle: options, memory, argument checks, report. Solves are in cycles.c, the methods
 * in files of their own. */
#include "krylov/cycles.h"
#include "krylov/memory.h"

#include <math.h>
#include <stdio.h>

#include "core/context_impl.h"
#include "core/matrix_ops.h"
#include "core/staging.h"
#include "core/words.h"

bisai_solver_options bisai_solver_options_default(void) {
  return (bisai_solver_options){.struct_size = sizeof(bisai_solver_options),
                                .restart = 30,
                                .tolerance = 1e-8,
                                .max_iterations = 10000,
                                .orthogonalization = BISAI_CLASSICAL_SELECTIVE,
                                .stagnation_cycles = 10,
                                .method = BISAI_GMRES,
                                .shadow_dimension = 4};
}

BSI_DEFINE_WORDS(method, BISAI_METHOD_LIST, "unknown method")
BSI_DEFINE_WORDS(side, BISAI_SIDE_LIST, "unknown side")
BSI_DEFINE_WORDS(orthogonalization, BISAI_ORTHOGONALIZATION_LIST, "unknown orthogonalization")
BSI_DEFINE_WORDS(reason, BISAI_REASON_LIST, "unknown reason")
BSI_DEFINE_STRING(breakdown, BISAI_BREAKDOWN_LIST, "unknown breakdown")

static const bsi_method *method_of(bisai_method method) {
  static const bsi_method *const methods[] = {&bsi_gmres, &bsi_cg, &bsi_bicgstab, &bsi_idr};
  return methods[method];
}

static bisai_status check_options(bisai_context *context, int64_t n,
                                  const bisai_solver_options *o) {
  const bisai_status status =
      bsi_check_struct(context, "bisai_solver_options", o->struct_size, sizeof *o);
  if (status) return status;
  if (n < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "n is %lld, must not be negative",
                    (long long)n);
  if (o->restart < 1)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "restart is %d, must be at least 1",
                    o->restart);
  if (!(o->tolerance >= 0 && o->tolerance < 1))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "tolerance is %g, must be at least 0 and below 1", o->tolerance);
  if (o->max_iterations < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "max_iterations is %d, must not be negative",
                    o->max_iterations);
  if (o->side != BISAI_RIGHT && o->side != BISAI_LEFT)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown side %d", (int)o->side);
  if (o->flexible && o->side == BISAI_LEFT)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "flexible GMRES preconditions on the right only");
  if (o->orthogonalization < BISAI_CLASSICAL || o->orthogonalization > BISAI_CLASSICAL_SELECTIVE)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown orthogonalization %d",
                    (int)o->orthogonalization);
  if (o->method < BISAI_GMRES || o->method > BISAI_IDR)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "unknown method %d", (int)o->method);
  if (o->method != BISAI_GMRES && (o->side == BISAI_LEFT || o->flexible))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "%s: only GMRES is flexible or preconditioned on the left",
                    bisai_method_string(o->method));
  if (o->shadow_dimension < 1 || o->shadow_dimension > BISAI_IDR_MOST)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "shadow_dimension is %d, must be 1 to %d",
                    o->shadow_dimension, BISAI_IDR_MOST);
  if (o->stagnation_cycles < 0)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "stagnation_cycles is %d, must not be negative", o->stagnation_cycles);
  return BISAI_OK;
}

static bool reserve_all(bisai_solver *solver) {
  if (!solver->method->reserve(solver)) return false;
  const size_t words = 2 * (size_t)solver->slots + 1;
  solver->status = solver->context->backend->memory->allocate_shared(solver->context, words);
  if (!solver->status) return false;
  solver->memory_bytes += (int64_t)(words * sizeof(double));
  if (solver->context->backend->clock->open(solver->context, &solver->clock)) return false;
  const int last = solver->options.max_iterations;
  const size_t length = (size_t)(last < BSI_HISTORY_MOST ? last : BSI_HISTORY_MOST - 1) + 1;
  solver->history = bsi_allocate(solver->context, length, sizeof(double));
  if (!solver->history) return false;
  solver->memory_bytes += (int64_t)(length * sizeof(double) + sizeof *solver);
  return true;
}

/* More directions than unknowns there are not (n is only a part of them where processes add up),
 * nor longer cycles than steps: a larger restart is the same method and would only take memory. */
static int useful_restart(int64_t n, const bisai_solver_options *o) {
  int64_t most = o->restart < o->max_iterations ? o->restart : o->max_iterations;
  if (!o->reduce && n < most) most = n;
  return most > 0 ? (int)most : 1;
}

/* There are no more independent shadow vectors than unknowns. */
static int useful_shadow(int64_t n, const bisai_solver_options *o) {
  return o->reduce || n >= o->shadow_dimension ? o->shadow_dimension : n > 0 ? (int)n : 1;
}

bisai_status bisai_solver_create(bisai_context *context, int64_t n,
                                 const bisai_solver_options *options, bisai_solver **solver) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!solver)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_solver_create: solver is NULL");
  const bisai_solver_options o = options ? *options : bisai_solver_options_default();
  const bisai_status status = check_options(context, n, &o);
  if (status) return status;
  if (n > INT64_MAX - 8) return bsi_fail(context, BISAI_OUT_OF_MEMORY, "n is %lld", (long long)n);

  bisai_solver *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) return BISAI_OUT_OF_MEMORY;
  *s = (bisai_solver){.context = context, .options = o, .n = n, .ld = (n + 7) / 8 * 8};
  s->method = method_of(o.method);
  s->options.restart = useful_restart(n, &o);
  s->options.shadow_dimension = useful_shadow(n, &o);
  if (!reserve_all(s)) {
    bisai_solver_destroy(&s);
    return BISAI_OUT_OF_MEMORY;
  }
  *solver = s;
  return BISAI_OK;
}

void bisai_solver_destroy(bisai_solver **solver) {
  if (!solver || !*solver) return;
  bisai_solver *s = *solver;
  bisai_context *context = s->context;
  *solver = NULL;
  context->backend->memory->release(context, s->vectors);
  context->backend->memory->release(context, s->search);
  context->backend->memory->release(context, s->scalars);
  context->backend->memory->release(context, s->work);
  context->backend->memory->release_shared(context, s->status);
  context->backend->clock->close(context, &s->clock);
  bsi_release(context, s->history);
  bsi_release(context, s);
}

static void fill_report(const bsi_run *run, double seconds, bisai_solver_report *report) {
  const bisai_solver *s = run->solver;
  const double mean = run->timed > 0 ? run->apply_seconds / run->timed : 0;
  *report = (bisai_solver_report){
      .struct_size = sizeof *report,
      .reason = run->reason,
      .iterations = run->iterations,
      .relative_residual = run->true_norm / run->b_norm,
      .estimated_residual = run->estimate,
      .solve_seconds = seconds,
      .apply_seconds =
          run->timed == run->applications ? run->apply_seconds : mean * run->applications,
      .applications = run->applications,
      .apply30_seconds = 30 * mean,
      .memory_bytes = s->memory_bytes,
      .history = s->history,
      .history_length = run->iterations < BSI_HISTORY_MOST ? run->iterations + 1 : BSI_HISTORY_MOST,
      .method = s->options.method,
      .shadow_dimension = s->options.method == BISAI_IDR ? s->options.shadow_dimension : 0,
      .restarts = run->cycles > 0 ? run->cycles - 1 : 0,
      .breakdown = run->breakdown,
      .asymmetry = run->asymmetry,
  };
}

/* What a matrix with an empty block row or column has to do with a failure: "; block column 1 is
 * empty: the matrix is singular", or "". */
static void say_empty(const bsi_run *run, size_t size, char *text) {
  const bisai_solver *s = run->solver;
  const bsi_backend *backend = s->context->backend;
  text[0] = '\0';
  for (int columns = 0; columns < 2 && run->op.matrix && text[0] == '\0'; columns++) {
    int64_t index = -1;
    if (backend->matrix->find_empty(s->context, run->op.matrix, columns, s->spare, &index) ||
        index < 0)
      continue;
    snprintf(text, size, "; block %s %lld is empty: the matrix is singular",
             columns ? "column" : "row", (long long)index);
  }
}

/* Names the entry of x, or of the initial guess where there was no other x. */
static bisai_status conclude_not_finite(const bsi_run *run, const char *empty) {
  bisai_context *context = run->solver->context;
  const int iterations = run->iterations;
  if (!isfinite(run->b_norm)) return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in b");
  if (!run->bad_x)
    return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity after iteration %d%s", iterations,
                    empty);
  char entry[64] = "another process's part";
  if (run->bad_entry >= 0) snprintf(entry, sizeof entry, "entry %lld", (long long)run->bad_entry);
  if (run->cycles == 0)
    return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in %s of the initial guess", entry);
  return bsi_fail(context, BISAI_NOT_FINITE, "NaN or infinity in %s of x after iteration %d%s",
                  entry, iterations, empty);
}

/* The status of a solve in which nothing failed outright. */
static bisai_status conclude(const bsi_run *run) {
  bisai_context *context = run->solver->context;
  const int iterations = run->iterations;
  const double relative = run->true_norm / run->b_norm;
  char empty[96] = "";
  if (run->reason >= BISAI_REASON_MAX_ITERATIONS && run->reason <= BISAI_REASON_NOT_FINITE)
    say_empty(run, sizeof empty, empty);
  switch (run->reason) {
  case BISAI_REASON_NONE:
  case BISAI_REASON_PRECOND_FAILED:
  case BISAI_REASON_CONVERGED: return BISAI_OK;
  case BISAI_REASON_MAX_ITERATIONS:
    return bsi_fail(context, BISAI_MAX_ITERATIONS,
                    "not converged after %d iterations: relative residual %.3e, tolerance %.3e%s",
                    iterations, relative, run->solver->options.tolerance, empty);
  case BISAI_REASON_STAGNATED:
    return bsi_fail(context, BISAI_STAGNATED,
                    "stagnated at relative residual %.3e, tolerance %.3e: no progress in %d cycles "
                    "up to iteration %d%s",
                    relative, run->solver->options.tolerance,
                    run->solver->options.stagnation_cycles, iterations, empty);
  case BISAI_REASON_BREAKDOWN:
    return bsi_fail(context, BISAI_BREAKDOWN, "iteration %d: %s, at relative residual %.3e%s",
                    iterations, bisai_breakdown_string(run->breakdown), relative, empty);
  case BISAI_REASON_NOT_FINITE: return conclude_not_finite(run, empty);
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

static bisai_status solve(bisai_solver *solver, bsi_operator op, bisai_precond *precond,
                          const double *b, double *x, bisai_solver_report *report) {
  if (!solver) return BISAI_INVALID_ARGUMENT;
  const double start = bsi_now();
  if (report) {
    const bisai_status status = bsi_check_report(solver->context, "bisai_solver_report",
                                                 report->struct_size, sizeof *report);
    if (status) return status;
  }
  bsi_run run = {.solver = solver,
                 .op = op,
                 .precond = precond,
                 .scale = 1,
                 .factor = 1,
                 .asymmetry = NAN,
                 .b_norm = NAN,
                 .true_norm = NAN,
                 .estimate = NAN,
                 .best_norm = INFINITY};
  solver->history[0] = NAN;
  bsi_staged from = {0}, to = {0};
  bisai_status status = check_arguments(solver, &op, precond, b, x);
  if (!status) status = bisai_solver_check(solver, op.matrix, precond, &run.asymmetry);
  if (!status) status = bsi_stage_input(solver->context, solver->n, 1, b, 0, &from);
  if (!status)
    status = bsi_stage_output(solver->context, solver->n, 1, solver->options.use_initial_guess, x,
                              0, &to);
  run.b = from.data;
  run.x = to.data;
  if (!status) status = bsi_solve(&run);
  if (!status) status = conclude(&run);
  status = bsi_stage_return(solver->context, status, &to);
  bsi_stage_release(solver->context, &from);
  if (report) fill_report(&run, bsi_now() - start, report);
  return status;
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
