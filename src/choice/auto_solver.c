/* SPDX-License-Identifier: BSD-3-Clause */
/* A solver that chooses, and keeps what it has chosen. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bisai/solve.h>

#include "choice/choose.h"
#include "core/context/context_impl.h"
#include "core/context/staging.h"
#include "core/matrix/matrix_ops.h"
#include "precond/precond_impl.h"

/* A solve that takes more than this multiple of the iterations of the first one asks for a new
 * choice. */
enum { GROWTH_OF_ITERATIONS = 2 };

struct bisai_auto_solver {
  bisai_context *context;
  bisai_solve_options options;
  bsi_choice choice;
  /* the choice has a winner */
  bool chosen;
  /* the preconditioner is that of older values; it has become worse */
  bool stale, worse;
  /* of the solve that chose */
  int first_iterations;
  /* b and x of the present call */
  bsi_staged from, to;
};

bisai_solve_options bisai_solve_options_default(void) {
  return (bisai_solve_options){.struct_size = sizeof(bisai_solve_options),
                               .precond = bisai_precond_options_default(),
                               .solver = bisai_solver_options_default()};
}

static bisai_status check_options(bisai_context *context, const bisai_solve_options *o) {
  bisai_solver *checked = NULL;
  bisai_status status = bsi_check_struct(context, "bisai_solve_options", o->struct_size, sizeof *o);
  if (!status)
    status = bsi_check_struct(context, "bisai_precond_options", o->precond.struct_size,
                              sizeof o->precond);
  if (!status) status = bsi_precond_options_check(context, &o->precond);
  if (!status) status = bsi_precond_ranges_check(context, &o->precond);
  if (!status) status = bsi_choice_check(context, &o->precond.automatic);
  if (!status) status = bisai_solver_create(context, 0, &o->solver, &checked);
  bisai_solver_destroy(&checked);
  return status;
}

bisai_status bisai_auto_solver_create(bisai_context *context, const bisai_solve_options *options,
                                      bisai_auto_solver **solver) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!solver)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_auto_solver_create: solver is NULL");
  const bisai_solve_options o = options ? *options : bisai_solve_options_default();
  const bisai_status status = check_options(context, &o);
  if (status) return status;
  bisai_auto_solver *s = bsi_allocate(context, 1, sizeof *s);
  if (!s) return BISAI_OUT_OF_MEMORY;
  memset(s, 0, sizeof *s);
  s->context = context;
  s->options = o;
  s->choice.race.winner = -1;
  *solver = s;
  return BISAI_OK;
}

void bisai_auto_solver_destroy(bisai_auto_solver **solver) {
  if (!solver || !*solver) return;
  bisai_auto_solver *s = *solver;
  *solver = NULL;
  if (s->chosen) bsi_choice_release(&s->choice);
  bsi_release(s->context, s);
}

void bisai_auto_solver_update(bisai_auto_solver *solver) {
  if (solver) solver->stale = true;
}

const bisai_precond *bisai_auto_solver_precond(const bisai_auto_solver *s) {
  return s && s->chosen ? s->choice.race.trials[s->choice.race.winner].precond : NULL;
}

static bisai_status check_arguments(bisai_auto_solver *s, const bisai_bcsr *matrix, const double *b,
                                    const double *x, bisai_solve_report *report) {
  if (!matrix || ((!b || !x) && bisai_bcsr_block_rows(matrix) > 0))
    return bsi_fail(s->context, BISAI_INVALID_ARGUMENT, "bisai_auto_solver_solve: %s is NULL",
                    !matrix ? "matrix"
                    : !b    ? "b"
                            : "x");
  if (b == x && b)
    return bsi_fail(s->context, BISAI_INVALID_ARGUMENT, "b and x are the same array");
  if (bisai_bcsr_block_rows(matrix) != bisai_bcsr_block_cols(matrix))
    return bsi_fail(s->context, BISAI_INVALID_ARGUMENT, "the matrix is not square: %d × %d blocks",
                    bisai_bcsr_block_rows(matrix), bisai_bcsr_block_cols(matrix));
  if (s->options.precond.kind == BISAI_PRECOND_AUTO)
    BSI_TRY(bsi_null_vectors_check(s->context, &s->options.precond.multigrid,
                                   (int64_t)bisai_bcsr_block_rows(matrix) *
                                       bisai_bcsr_block_size(matrix)));
  return report ? bsi_check_report(s->context, "bisai_solve_report", report->struct_size,
                                   sizeof *report)
                : BISAI_OK;
}

static bisai_status choose(bisai_auto_solver *s, const bisai_bcsr *matrix,
                           bisai_solver_report *solved) {
  if (s->chosen) bsi_choice_release(&s->choice);
  s->chosen = s->stale = s->worse = false;
  s->choice.task = (bsi_task){.context = s->context,
                              .matrix = matrix,
                              .precond = s->options.precond,
                              .solver = s->options.solver,
                              .precond_given = s->options.precond.kind != BISAI_PRECOND_AUTO,
                              .solver_given = s->options.solver_given ||
                                              s->options.precond.kind != BISAI_PRECOND_AUTO};
  bisai_status status = bsi_choose(&s->choice, s->from.data, s->to.data);
  bsi_trial *winner = bsi_choice_winner(&s->choice);
  if (status || !winner) return status;
  s->chosen = true;
  if (winner->opened) status = bsi_solve_end(&winner->open, BISAI_OK, solved);
  winner->opened = false;
  s->first_iterations = winner->result.iterations;
  return status;
}

/* Solves by what was chosen before. *solved ← false if that fails and another choice may help. */
static bisai_status solve_again(bisai_auto_solver *s, const bisai_bcsr *matrix,
                                bisai_solver_report *report, bool *solved) {
  bsi_trial *t = bsi_choice_winner(&s->choice);
  *solved = false;
  if (s->stale || matrix != s->choice.task.matrix) {
    if (bisai_precond_update(t->precond, matrix)) return BISAI_OK;
    s->choice.task.matrix = matrix;
    s->stale = false;
  }
  t->solver->options.use_initial_guess = s->options.solver.use_initial_guess;
  const bisai_status status =
      bisai_solver_solve(t->solver, matrix, t->precond, s->from.data, s->to.data, report);
  *solved = !status || status == BISAI_STOPPED;
  s->worse = report->iterations > GROWTH_OF_ITERATIONS * s->first_iterations;
  return status == BISAI_STOPPED ? status : BISAI_OK;
}

/* The status of a call that has chosen nothing. */
static bisai_status say_unsolved(bisai_auto_solver *s) {
  char text[240];
  bsi_choice_say(&s->choice, sizeof text, text);
  if (s->choice.race.stopped)
    return bsi_fail(s->context, BISAI_STOPPED, "stopped by the monitor: %s", text);
  if (s->choice.race.iterations >= s->options.solver.max_iterations)
    return bsi_fail(s->context, BISAI_MAX_ITERATIONS, "%s", text);
  return bsi_fail(s->context, BISAI_STAGNATED, "%s", text);
}

static void fill_report(const bisai_auto_solver *s, bool refused, const bisai_solver_report *solved,
                        bisai_solve_report *report) {
  *report = (bisai_solve_report){.struct_size = sizeof *report,
                                 .precond_options = s->options.precond,
                                 .solver_options = s->options.solver,
                                 .solver = *solved};
  if (refused) {
    report->solver.reason = BISAI_REASON_NOT_FINITE;
    snprintf(report->reason, sizeof report->reason, "%s", bisai_context_error(s->context));
    return;
  }
  bsi_choice_report(&s->choice, &report->choice);
  bsi_choice_say(&s->choice, sizeof report->reason, report->reason);
  if (!s->chosen) {
    report->solver.reason = s->choice.race.stopped ? BISAI_REASON_STOPPED
                            : s->choice.race.iterations >= s->options.solver.max_iterations
                                ? BISAI_REASON_MAX_ITERATIONS
                                : BISAI_REASON_STAGNATED;
    report->solver.iterations = s->choice.race.iterations;
    report->solver.relative_residual = s->choice.race.best.relative_residual;
    report->solver.exhausted = s->choice.race.exhausted;
    return;
  }
  const bsi_trial *t = &s->choice.race.trials[s->choice.race.winner];
  report->precond = t->precond->report;
  report->precond_options = t->candidate->precond;
  report->solver_options = t->candidate->solver;
}

static bisai_status solve(bisai_auto_solver *s, const bisai_bcsr *matrix,
                          bisai_solver_report *solved) {
  bool done = false;
  bisai_status status = BISAI_OK;
  if (s->chosen && !s->worse) status = solve_again(s, matrix, solved, &done);
  if (done || status) return status;
  BSI_TRY(choose(s, matrix, solved));
  return s->chosen ? BISAI_OK : say_unsolved(s);
}

static bisai_status check_finite(bisai_context *context, int64_t n, const double *values,
                                 const char *name) {
  int64_t index = -1;
  BSI_TRY(
      context->backend->matrix->blocks->find_not_finite(context, BISAI_FP64, n, values, &index));
  return index < 0 ? BISAI_OK
                   : bsi_fail(context, BISAI_NOT_FINITE, "%s is not finite in row %lld", name,
                              (long long)index);
}

/* Sets x to zero unless it is a guess, so that it is finite if b is not. */
static bisai_status check_vectors(const bisai_auto_solver *s, int64_t n) {
  const bool guess = s->options.solver.use_initial_guess;
  if (guess)
    BSI_TRY(check_finite(s->context, n, s->to.data, "the initial guess"));
  else
    BSI_TRY(s->context->backend->vectors->set(s->context, n, 0, s->to.data));
  return check_finite(s->context, n, s->from.data, "b");
}

bisai_status bisai_auto_solver_solve(bisai_auto_solver *s, const bisai_bcsr *matrix,
                                     const double *b, double *x, bisai_solve_report *report) {
  if (!s) return BISAI_INVALID_ARGUMENT;
  const double start = bsi_now();
  bisai_status status = check_arguments(s, matrix, b, x, report);
  if (status) return status;
  const int64_t n = bisai_bcsr_block_rows(matrix) * (int64_t)bisai_bcsr_block_size(matrix);
  bisai_solver_report solved = {.struct_size = sizeof solved, .relative_residual = NAN};
  status = bsi_stage_input(s->context, n, 1, b, 0, &s->from);
  if (!status)
    status = bsi_stage_output(s->context, n, 1, s->options.solver.use_initial_guess, x, 0, &s->to);
  if (!status) status = check_vectors(s, n);
  const bool refused = status == BISAI_NOT_FINITE;
  if (!status) status = solve(s, matrix, &solved);
  status = bsi_stage_return(s->context, status, &s->to);
  bsi_stage_release(s->context, &s->from);
  s->from = s->to = (bsi_staged){0};
  if (report) {
    fill_report(s, refused, &solved, report);
    report->seconds = bsi_now() - start;
  }
  return status;
}

bisai_status bisai_solve(bisai_context *context, const bisai_bcsr *matrix, const double *b,
                         double *x, const bisai_solve_options *options,
                         bisai_solve_report *report) {
  bisai_auto_solver *solver = NULL;
  bisai_status status = bisai_auto_solver_create(context, options, &solver);
  if (status) return status;
  status = bisai_auto_solver_solve(solver, matrix, b, x, report);
  bisai_auto_solver_destroy(&solver);
  if (report) {
    report->choice.trials = NULL;
    report->solver.history = NULL;
  }
  return status;
}
