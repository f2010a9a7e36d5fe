/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/trial.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bisai/text.h>

#include "choice/work.h"
#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

/* Before so many iterations residuals predict nothing. Methods with short recurrences oscillate. */
enum { FIRST_OF_GMRES = 12, FIRST_OF_OTHERS = 25, SHORTEST_WINDOW = 8 };

/* A prediction is wrong if the solve takes this many times the iterations. */
#define OVERTIME 1.5
/* A trial that promises no end takes no more than this share of the iterations that it may take. */
#define SHARE_OF_ITERATIONS 0.2

static void note_residual(bsi_trial_pace *p, int iteration, double residual) {
  const double log_of = residual > 0 ? log(residual) : -INFINITY;
  const int previous = (iteration + BSI_TRIAL_WINDOW - 1) % BSI_TRIAL_WINDOW;
  p->iterations = iteration;
  if (iteration == 0) p->first = log_of;
  p->logs[iteration % BSI_TRIAL_WINDOW] = iteration > 0 ? fmin(log_of, p->logs[previous]) : log_of;
}

/* The optimistic one of two paces: over the last half of the iterations, at most the window, and
 * over all of them. */
static double iterations_left(const bsi_trial_pace *p) {
  const int now = p->iterations;
  int window = now / 2;
  if (window >= BSI_TRIAL_WINDOW) window = BSI_TRIAL_WINDOW - 1;
  if (window < SHORTEST_WINDOW) window = SHORTEST_WINDOW;
  if (window > now) window = now;
  if (window == 0) return INFINITY;
  const double log_now = p->logs[now % BSI_TRIAL_WINDOW],
               before = p->logs[(now - window) % BSI_TRIAL_WINDOW],
               pace = fmax((before - log_now) / window, (p->first - log_now) / now);
  if (log_now <= p->target) return 0;
  return pace > 1e-9 ? (log_now - p->target) / pace : INFINITY;
}

static double doubted_iterations_left(const bsi_trial_pace *p) {
  return p->doubt * iterations_left(p);
}

double bsi_trial_left(const bsi_trial *trial) {
  const double iterations = doubted_iterations_left(&trial->pace),
               all = trial->pace.iterations + iterations;
  return all <= trial->bounds.iterations ? iterations * trial->step : INFINITY;
}

bool bsi_trial_should_wait(const bsi_trial *t) {
  const double left = bsi_trial_left(t);
  if (t->work >= t->bounds.most) return left > 0.5 * t->bounds.most;
  const bool stalls =
      isinf(left) && t->pace.iterations >= SHARE_OF_ITERATIONS * t->bounds.iterations;
  return (stalls || t->work >= t->bounds.least) && left > t->bounds.alternative;
}

void bsi_trial_say_why(bsi_trial *t) {
  if (t->state != BSI_TRIAL_WAITS) return;
  const double iterations = doubted_iterations_left(&t->pace);
  if (isfinite(iterations))
    snprintf(t->result.why, sizeof t->result.why, "predicted %.0f more iterations; %s", iterations,
             isfinite(bsi_trial_left(t)) ? "the next candidate was expected to be cheaper"
                                         : "fewer are left");
  else
    snprintf(t->result.why, sizeof t->result.why, "the residual did not decrease");
}

/* Doubles the doubt if the solve has not ended long after it was expected to. */
static void judge_promise(bsi_trial_pace *p) {
  if (p->iterations < p->promised) return;
  if (p->promised > 0) p->doubt *= 2;
  p->promised = p->iterations + OVERTIME * fmax(iterations_left(p), SHORTEST_WINDOW);
}

/* The first iterations of a trial, during which it goes on whatever they say. */
static int first_iterations(const bsi_trial *t) {
  return t->candidate->solver.method == BISAI_GMRES ? FIRST_OF_GMRES : FIRST_OF_OTHERS;
}

static bool ask(void *user, int iteration, double residual) {
  bsi_trial *t = user;
  note_residual(&t->pace, iteration, residual);
  t->work += t->step;
  t->result.iterations = iteration;
  t->result.relative_residual = residual;
  if (bsi_now() > t->bounds.end) return true;
  if (iteration < first_iterations(t)) return false;
  judge_promise(&t->pace);
  return bsi_trial_should_wait(t);
}

/* A solve with complete factors that stagnates with the residual of rounded entries has all digits
 * of x, unless pivots were raised, or one is so small that A may be singular and x too large. */
static bool has_all_digits(const bsi_trial *t) {
  const bisai_precond_report *r = &t->precond->report;
  return t->open.run.norms.exhausted && r->kind == BISAI_PRECOND_LU && r->repairs == 0 &&
         r->lu.smallest_pivot > DBL_EPSILON * r->lu.largest_pivot;
}

static bisai_status fail(bisai_context *context, bisai_status status, bsi_trial *t) {
  t->exhausted = status == BISAI_STAGNATED && has_all_digits(t);
  t->state = BSI_TRIAL_FAILED;
  t->result.status = status;
  snprintf(t->result.why, sizeof t->result.why, "%.255s", bisai_context_error(context));
  return status == BISAI_OUT_OF_MEMORY ? status : BISAI_OK;
}

static bisai_status begin(const bsi_task *task, const double *b, const double *guess,
                          bsi_trial *t) {
  bisai_context *context = task->context;
  const bsi_backend *backend = context->backend;
  const int64_t n = bisai_precond_rows(t->precond);
  bisai_solver_options how = t->candidate->solver;
  how.use_initial_guess = guess != NULL;
  t->x = backend->memory->allocate(context, (size_t)n, sizeof *t->x);
  if (!t->x) return BISAI_OUT_OF_MEMORY;
  if (guess) BSI_TRY(backend->vectors->copy(context, n, guess, t->x));
  BSI_TRY(bisai_solver_create(context, n, &how, &t->solver));
  t->opened = true;
  BSI_TRY(bsi_solve_begin(t->solver, (bsi_operator){.matrix = task->matrix}, t->precond, b, t->x,
                          &t->open));
  t->open.run.pause.ask = ask;
  t->open.run.pause.user = t;
  t->pace = (bsi_trial_pace){.target = log(how.tolerance), .doubt = 1};
  t->state = BSI_TRIAL_WAITS;
  return BISAI_OK;
}

void bsi_trial_name(bsi_trial *t) {
  t->result.relative_residual = 1;
  bisai_precond_options_text(&t->candidate->precond, NULL, sizeof t->result.method,
                             t->result.method);
  bisai_solver_options_text(&t->candidate->solver, sizeof t->result.solver, t->result.solver);
}

bisai_status bsi_trial_begin(const bsi_task *task, const double *b, const double *guess,
                             bsi_trial *t) {
  bisai_context *context = task->context;
  const double start = bsi_now();
  t->result = (bisai_trial){.status = BISAI_STOPPED};
  bsi_trial_name(t);
  bisai_precond_options options = t->candidate->precond;
  if (t->candidate->permutation) {
    options.factor.ordering = BISAI_ORDERING_GIVEN;
    options.factor.permutation = t->candidate->permutation;
  }
  bisai_status status = bisai_precond_create(context, task->matrix, &options, &t->precond);
  t->result.setup_seconds = bsi_now() - start;
  t->work = status ? t->candidate->setup : bsi_work_of_setup(task, t->candidate, t->precond);
  if (!status) {
    t->step = bsi_work_of_step(task, &t->candidate->solver, t->precond);
    status = begin(task, b, guess, t);
  }
  t->result.work = t->work;
  return status ? fail(context, status, t) : BISAI_OK;
}

bisai_status bsi_trial_run(bisai_context *context, double alternative, double least, double most,
                           bsi_trial *t) {
  bsi_solver_run *run = &t->open.run;
  const double start = bsi_now();
  t->bounds.alternative = alternative;
  t->bounds.least = t->work + least;
  t->bounds.most = fmax(most, t->bounds.least);
  const bisai_status status = bsi_solve_continue(&t->open);
  t->result.solve_seconds += bsi_now() - start;
  t->result.work = t->work;
  t->result.iterations = run->counts.iterations;
  if (!status && run->pause.now) return BISAI_OK;
  t->result.relative_residual = run->norms.residual / run->norms.b;
  if (status) return fail(context, status, t);
  t->result.status = BISAI_OK;
  t->state = BSI_TRIAL_SOLVED;
  return BISAI_OK;
}

/* A method whose steps do not change x has the x of the beginning of its cycle. */
const double *bsi_trial_x(const bsi_trial *t, double *residual, bool *estimated) {
  const bsi_solver_run *run = &t->open.run;
  *residual = INFINITY;
  *estimated = false;
  if (!t->opened || !run->begun) return NULL;
  if (!run->cycle.open)
    *residual = run->norms.residual / run->norms.b;
  else if (t->solver->method->cycle.correct)
    *residual = run->norms.start / run->norms.b;
  else
    *residual = run->norms.estimate, *estimated = true;
  if (!isfinite(*residual)) *residual = INFINITY;
  return run->system.x;
}

bisai_status bsi_trial_finish(bisai_context *context, bsi_trial *t) {
  char why[sizeof t->result.why];
  memcpy(why, t->result.why, sizeof why);
  t->open.run.stop = true;
  BSI_TRY(bsi_trial_run(context, INFINITY, 0, INFINITY, t));
  if (t->result.status == BISAI_STOPPED) memcpy(t->result.why, why, sizeof why);
  return BISAI_OK;
}

void bsi_trial_release(bisai_context *context, bsi_trial *t) {
  if (t->opened) bsi_solve_end(&t->open, BISAI_OK, NULL);
  t->opened = false;
  bisai_solver_destroy(&t->solver);
  bisai_precond_destroy(&t->precond);
  context->backend->memory->release(context, t->x);
  t->x = NULL;
}
