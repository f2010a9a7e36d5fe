/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/choose.h"

#include <math.h>
#include <stdio.h>

#include "choice/consistency.h"
#include "choice/work.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "study/parts.h"

/* An ILU(2) attempt, whose work the budget is a multiple of. */
enum { ATTEMPT_LEVEL = 2, ATTEMPT_ITERATIONS = 200 };

bisai_status bsi_choice_check(bisai_context *context, const bisai_auto_options *o) {
  if (!(o->work > 0) || !isfinite(o->work))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "automatic.work is %g, must be above 0",
                    o->work);
  if (!(o->seconds >= 0) || !(o->memory >= 0))
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "automatic.seconds is %g and automatic.memory is %g, must not be negative",
                    o->seconds, o->memory);
  return BISAI_OK;
}

static double budget_of(const bsi_task *task) {
  bsi_candidate attempt = {.precond = bisai_precond_options_default(),
                           .solver = bisai_solver_options_default()};
  attempt.precond.kind = BISAI_PRECOND_ILU;
  attempt.precond.factor.level = ATTEMPT_LEVEL;
  bsi_work_predict(task, &attempt);
  return task->precond.automatic.work * (attempt.setup + ATTEMPT_ITERATIONS * attempt.step);
}

static bisai_status study(bsi_choice *c) {
  const double start = bsi_now();
  const bisai_status status = bsi_study_briefly(c->task.context, c->task.matrix, &c->study);
  c->study_seconds = bsi_now() - start;
  c->task.study = &c->study;
  return status;
}

/* A b of the choice's own is made consistent. Where the caller's has no solution, no candidate is
 * tried, unless the caller names the preconditioner. */
static bisai_status check_consistency(bsi_choice *c, const double *b) {
  c->least = 0;
  if (c->task.made) return bsi_consistency_project(&c->task, c->task.made);
  return c->task.precond_given ? BISAI_OK : bsi_consistency_bound(&c->task, b, &c->least);
}

static bisai_status prepare(bsi_choice *c, const double *b, double *best) {
  const double seconds = c->task.precond.automatic.seconds;
  c->race =
      (bsi_race){.task = &c->task, .b = b, .best = {.x = best, .candidate = -1}, .winner = -1};
  BSI_TRY(study(c));
  BSI_TRY(check_consistency(c, b));
  if (c->least > 0) {
    c->race.best.relative_residual = 1; /* of x = 0 */
    return BISAI_OK;
  }
  BSI_TRY(bsi_work_measure(&c->task));
  c->race.best.relative_residual = c->task.solver.use_initial_guess ? 0.999 : INFINITY;
  c->race.best.goes_on = c->task.solver.use_initial_guess;
  c->race.budget = budget_of(&c->task);
  c->race.end = seconds > 0 ? bsi_now() + seconds : INFINITY;
  return bsi_candidates_list(&c->task, &c->race.candidates);
}

static void record(bsi_choice *c) {
  double all = 0;
  c->chosen = -1;
  for (int i = 0; i < c->race.begun; i++) {
    const bsi_trial *t = &c->race.trials[c->race.order[i]];
    c->trials[i] = t->result;
    if (c->race.order[i] == c->race.winner)
      c->chosen = i;
    else
      all += t->result.setup_seconds + t->result.solve_seconds;
  }
  c->lost_seconds = all;
}

bisai_status bsi_choose(bsi_choice *c, const double *b, double *x) {
  bisai_context *context = c->task.context;
  const bsi_vector_ops *vectors = context->backend->vectors;
  const int64_t n = (int64_t)c->task.matrix->block_rows * c->task.matrix->block_size;
  bisai_status status = prepare(c, b, x);
  if (!status) status = bsi_race_run(&c->race);
  const bsi_trial *winner = bsi_choice_winner(c);
  if (!status && winner) status = vectors->copy(context, n, winner->x, x);
  record(c);
  bsi_race_release(&c->race, status ? -1 : c->race.winner);
  return status;
}

bsi_trial *bsi_choice_winner(bsi_choice *c) {
  return c->race.winner < 0 ? NULL : &c->race.trials[c->race.winner];
}

int bsi_choice_best(const bsi_choice *c) { return c->race.best.candidate; }

void bsi_choice_report(const bsi_choice *c, bisai_auto_report *report) {
  *report = (bisai_auto_report){.trials = c->trials,
                                .count = c->race.begun,
                                .chosen = c->chosen,
                                .study_seconds = c->study_seconds,
                                .lost_seconds = c->lost_seconds};
}

void bsi_choice_say(const bsi_choice *c, size_t size, char *text) {
  const int best = bsi_choice_best(c);
  if (c->least > 0) {
    snprintf(text, size,
             "A is singular, and A x = b has no solution: every x has a relative residual of %.1e "
             "or more; bisai_project() takes out of b what A cannot map to",
             c->least);
  } else if (c->race.winner >= 0) {
    const bisai_trial *t = &c->race.trials[c->race.winner].result;
    const int others = bsi_race_tried(&c->race) - 1;
    snprintf(text, size, "%s with %s was chosen%s%.0d%s", t->method, t->solver,
             others > 0 ? " after " : " as the first candidate", others,
             others == 0   ? ""
             : others == 1 ? " other trial"
                           : " other trials");
  } else if (best >= 0) {
    const bisai_trial *t = &c->race.trials[best].result;
    snprintf(text, size,
             "none of %d trials solved the system; the best relative residual is %.1e, by %s "
             "with %s%s",
             bsi_race_tried(&c->race), c->race.best.relative_residual, t->method, t->solver,
             c->race.exhausted ? ": double precision holds no better x" : "");
  } else {
    snprintf(text, size, "%s: %s",
             c->race.iterations > 0 ? "no trial has improved the initial guess"
                                    : "no preconditioner could be set up",
             c->race.begun > 0 ? c->race.trials[c->race.order[c->race.begun - 1]].result.why : "");
  }
}

void bsi_choice_release(bsi_choice *c) {
  if (c->race.winner >= 0) bsi_trial_release(c->task.context, &c->race.trials[c->race.winner]);
  c->race.winner = -1;
}
