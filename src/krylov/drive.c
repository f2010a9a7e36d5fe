/* SPDX-License-Identifier: BSD-3-Clause */
/* A solve by any method. It is made of cycles, and each cycle ends with a true residual:
 *
 *   r = b − A x
 *   until ‖r‖ is small enough:
 *     steps of the method until its estimate of ‖r‖ is small enough, then x and r = b − A x
 *
 * Vectors and scalars stay in the backend's memory. The host reads two numbers for each step, on a
 * GPU some steps later. */
#include <math.h>
#include <stdlib.h>

#include "core/context/context_impl.h"
#include "krylov/drive.h"
#include "krylov/passes/krylov_ops.h"
#include "krylov/run/operations.h"
#include "krylov/run/residual.h"
#include "precond/application.h"

/* A reduction of the residual by less than this share counts as none: of several cycles
 * (stagnation) or of a cycle that ended in a breakdown. */
static const double least_reduction = 1e-6;

/* A solve ends if it has not halved its residual for SLOW_ITERATIONS, and FASTER times its pace
 * would not reach the tolerance. Of 1,786 solves by GMRES(5) to GMRES(100) that converged on real
 * matrices within 10,000 iterations, one took longer than 1,650 iterations to halve a residual, and
 * its pace was high enough. */
enum { SLOW_ITERATIONS = 2500, FASTER = 10 };

/* Below this share of ‖b‖ a residual that cannot be reduced further consists of rounding errors and
 * does not show a singular matrix. */
static const double rounding_level = 1e-12;

/* If reading the clock means waiting, one application in so many steps is timed. */
enum { TIMED_EVERY = 30 };

static void record_residual(bsi_solver_run *run, double relative) {
  const bisai_solver_options *options = &run->solver->options;
  run->estimate = relative;
  if (run->iterations < BSI_HISTORY_LIMIT) run->solver->history[run->iterations] = relative;
  if (options->monitor && options->monitor(options->monitor_user, run->iterations, relative) != 0)
    run->stop = true;
}

static bool steps_update_x(const bisai_solver *s) { return !s->method->correct; }

/* Begins a cycle from the true residual. Saves x in `best` if it is the best so far. */
static bisai_status start_cycle(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bool first = run->end == BSI_CYCLE_NONE;
  double norm = run->true_norm;
  run->start_norm = run->true_norm;
  run->breakdown = BISAI_BREAKDOWN_NONE;
  run->cycles++;
  if (run->true_norm < run->best_norm) {
    BSI_TRY(bsi_backend_of(run)->vectors->copy(s->context, s->n, run->x, s->best));
    run->best_norm = run->true_norm;
  }
  if (s->method->measure) BSI_TRY(s->method->measure(run, &norm));
  if (first) run->target = s->options.tolerance * run->reference;
  run->forecast = bsi_forecast_begin(norm);
  BSI_TRY(s->method->start(run, norm));
  run->end = BSI_CYCLE_FULL;
  if (!isfinite(norm) || !isfinite(run->reference)) {
    run->end = BSI_CYCLE_NOT_FINITE;
  } else if (norm == 0 || run->reference == 0) {
    run->end = BSI_CYCLE_BREAKDOWN;
    run->breakdown = BISAI_BREAKDOWN_SPACE;
  }
  if (first)
    record_residual(run, run->end == BSI_CYCLE_FULL ? norm / run->reference
                                                    : run->true_norm / run->b_norm);
  if (steps_update_x(s)) run->true_norm = NAN;
  return BISAI_OK;
}

static double *status_of(const bisai_solver *s, int j) { return s->status + 2 * (j % s->slots); }

/* Waits for step j and records its estimate. *steps ← the number of good steps so far. */
static bisai_status await_step(bsi_solver_run *run, int j, int *steps) {
  bisai_solver *s = run->solver;
  double fetched[2] = {NAN, NAN};
  BSI_TRY(bsi_backend_of(run)->memory->await_shared(s->context, 2, status_of(s, j), fetched));
  if (!isfinite(fetched[0]) || !isfinite(fetched[1])) {
    run->end = BSI_CYCLE_NOT_FINITE;
    return BISAI_OK;
  }
  *steps = j + 1;
  run->iterations++;
  bsi_forecast_add(&run->forecast, fetched[0]);
  record_residual(run, fetched[0] / run->reference);
  s->method->judge(run, fetched);
  return BISAI_OK;
}

/* Returns how many steps the host enqueues beyond the one whose status it reads next. */
static int steps_ahead(const bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  const int most = bsi_backend_of(run)->krylov->lookahead,
            left = bsi_forecast_left(&run->forecast, run->target);
  if (s->options.monitor && !s->options.monitor_late && steps_update_x(s)) return 0;
  return left - 1 < most ? left - 1 : most;
}

/* Runs steps until one ends the cycle. The host enqueues a few steps beyond the last one whose
 * status it knows. Steps after the end do not change the results of earlier steps. They are not
 * counted, and their failures are ignored. */
static bisai_status run_cycle(bsi_solver_run *run, int *steps) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const int left = s->options.max_iterations - run->iterations,
            longest = s->method->longest_cycle(s);
  const int limit = longest < left ? longest : left, applications = run->applications;
  int sent = 0, seen = 0;
  bisai_status status = BISAI_OK;
  while (seen < limit && run->end == BSI_CYCLE_FULL && !run->stop) {
    const int ahead = steps_ahead(run);
    while (!status && sent < limit && sent <= seen + ahead) {
      if (!run->timing) run->timed_step = sent;
      backend->memory->clear_shared(s->context, 2, status_of(s, sent));
      status = s->method->step(run, sent, status_of(s, sent));
      if (status) break;
      sent++;
      run->enqueued++;
    }
    if (seen == sent) return status;
    bisai_status awaited = await_step(run, seen++, steps);
    if (!awaited && seen > run->timed_step + (run->warm ? TIMED_EVERY : 0))
      awaited = bsi_read_clock(run);
    if (awaited) return awaited;
  }
  run->reason = BISAI_REASON_NONE;
  run->enqueued = run->iterations;
  run->applications = applications + (run->precond ? s->method->applications * seen : 0);
  return BISAI_OK;
}

/* Brings x to the last good step. */
static bisai_status correct(bsi_solver_run *run, int steps) {
  run->true_norm = NAN;
  return run->solver->method->correct ? run->solver->method->correct(run, steps) : BISAI_OK;
}

/* --- decisions --- */

/* A true residual that confirms an estimate may be up to twice the tolerance, but at most halfway
 * from the tolerance to 1. A residual that is not below the first one has not converged. */
static bool converged(const bsi_solver_run *run) {
  const double tolerance = run->solver->options.tolerance;
  const bool believed = run->end == BSI_CYCLE_TARGET || run->end == BSI_CYCLE_BREAKDOWN;
  if (run->end != BSI_CYCLE_NONE && !(run->true_norm < run->first_norm)) return false;
  return run->true_norm <=
         (believed ? fmin(2 * tolerance, (1 + tolerance) / 2) : tolerance) * run->b_norm;
}

/* Takes the best x within the last cycle, by the estimates, if it promises to be better than x and
 * `best`. The better of these two is in `best` afterwards. If the true residual does not confirm
 * the estimate, x becomes `best` again. */
static bisai_status take_best_of_cycle(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const double *candidate = NULL;
  double estimate = INFINITY;
  if (!s->method->best_of_cycle || (run->end == BSI_CYCLE_TARGET && isfinite(run->true_norm)) ||
      converged(run))
    return BISAI_OK;
  BSI_TRY(s->method->best_of_cycle(run, &candidate, &estimate));
  if (!(estimate < run->start_norm && estimate < run->best_norm) || run->true_norm <= estimate)
    return BISAI_OK;
  if (run->true_norm < run->best_norm) {
    BSI_TRY(backend->vectors->copy(s->context, s->n, run->x, s->best));
    run->best_norm = run->true_norm;
  }
  BSI_TRY(backend->vectors->copy(s->context, s->n, candidate, run->x));
  BSI_TRY(bsi_compute_residual(run));
  if (run->true_norm < run->best_norm) return BISAI_OK;
  BSI_TRY(backend->vectors->copy(s->context, s->n, s->best, run->x));
  return bsi_compute_residual(run);
}

static void note_halved(bsi_solver_run *run) {
  run->halved = run->true_norm;
  run->halved_iterations = run->iterations;
  run->halved_cycles = run->cycles;
}

/* Later cycles have to reduce the present true residual. */
static void expect_progress(bsi_solver_run *run) {
  run->anchor = run->true_norm;
  run->stalled = 0;
  note_halved(run);
}

/* Returns true if many iterations have not halved the residual, and if it would not reach the
 * tolerance in the iterations that are left, even at ten times this pace. */
static bool is_slow(const bsi_solver_run *run) {
  const bisai_solver_options *options = &run->solver->options;
  const int iterations = run->iterations - run->halved_iterations,
            left = options->max_iterations - run->iterations;
  if (iterations < SLOW_ITERATIONS || run->cycles - run->halved_cycles < options->stagnation_cycles)
    return false;
  const double change = run->true_norm / run->halved;
  return run->true_norm * pow(change, FASTER * (double)left / iterations) >
         options->tolerance * run->b_norm;
}

static bool stagnated(bsi_solver_run *run) {
  const int cycles = run->solver->options.stagnation_cycles;
  run->stalled++;
  if (run->true_norm <= (1 - least_reduction) * run->anchor) {
    run->anchor = run->true_norm;
    run->stalled = 0;
  }
  if (run->true_norm <= run->halved / 2) note_halved(run);
  if (cycles == 0) return false;
  if (run->stalled < cycles && is_slow(run))
    run->slow_iterations = run->iterations - run->halved_iterations;
  return run->stalled >= cycles || run->slow_iterations > 0;
}

/* Decides if and why the solve ends, from the true residual of x and the end of the last cycle. */
static bisai_reason judge(bsi_solver_run *run) {
  const bisai_solver_options *options = &run->solver->options;
  if (converged(run)) return BISAI_REASON_CONVERGED;
  if (!isfinite(run->true_norm) || run->end == BSI_CYCLE_NOT_FINITE) return BISAI_REASON_NOT_FINITE;
  if (run->stop) return BISAI_REASON_STOPPED;
  const bool restartable =
      run->solver->method->restartable || run->breakdown == BISAI_BREAKDOWN_GROWTH;
  if (run->end == BSI_CYCLE_BREAKDOWN &&
      !(restartable && run->true_norm <= (1 - least_reduction) * run->start_norm))
    return run->true_norm > rounding_level * run->b_norm ? BISAI_REASON_BREAKDOWN
                                                         : BISAI_REASON_STAGNATED;
  if (run->iterations >= options->max_iterations) return BISAI_REASON_MAX_ITERATIONS;
  if (run->end == BSI_CYCLE_NONE) {
    expect_progress(run);
    return BISAI_REASON_NONE;
  }
  if (stagnated(run)) return BISAI_REASON_STAGNATED;
  /* The preconditioned residual was small enough, but the true one was not: lower the target in
   * proportion. */
  if (run->end == BSI_CYCLE_TARGET && bsi_preconditioned_left(run))
    run->target *= options->tolerance * run->b_norm / run->true_norm;
  return BISAI_REASON_NONE;
}

/* The products of cycles take a smaller copy of A if the preconditioner has one. */
static bisai_status choose_matrix(bsi_solver_run *run) {
  if (!run->op.matrix || !run->precond) return BISAI_OK;
  const bisai_status status =
      bsi_precond_operator(run->solver->context, run->precond, run->op.matrix, &run->matrix);
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

/* Does everything before the first cycle. Sets the reason if the solve ends here. */
static bisai_status begin(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const double one = 1;
  if (!s->options.use_initial_guess) BSI_TRY(backend->vectors->set(s->context, s->n, 0, run->x));
  BSI_TRY(backend->memory->upload(s->context, s->one, &one, sizeof one));
  BSI_TRY(bsi_measure_rhs(run));
  run->reference = run->b_norm;
  run->best_norm = INFINITY;
  if (run->b_norm == 0) {
    BSI_TRY(backend->vectors->set(s->context, s->n, 0, run->x));
    run->true_norm = 0;
    run->b_norm = run->reference = 1;
    run->reason = BISAI_REASON_CONVERGED;
  } else if (!isfinite(run->b_norm)) {
    run->reason = BISAI_REASON_NOT_FINITE;
  } else {
    BSI_TRY(bsi_compute_residual(run));
    run->first_norm = run->true_norm;
    run->reason = judge(run);
    if (!run->reason) BSI_TRY(choose_matrix(run));
  }
  if (run->reason && run->reason != BISAI_REASON_NOT_FINITE)
    record_residual(run, run->true_norm / run->b_norm);
  return BISAI_OK;
}

/* Copies `best` to x unless x is better. If both are as good, `best` is older, and x may have
 * become huge in the null space of A. */
static void restore_best(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  if (run->true_norm < run->best_norm || isinf(run->best_norm)) return;
  if (!bsi_backend_of(run)->vectors->copy(s->context, s->n, s->best, run->x))
    run->true_norm = run->best_norm;
}

/* image ← A M⁻¹r with the true residual r; *size ← ‖image‖/‖r‖, which is 0 or infinite if squares
 * leave the range of a double. */
static bisai_status measure_image(bsi_solver_run *run, double *image, double *size) {
  bisai_solver *s = run->solver;
  const double norm = run->true_norm;
  const double *residual = s->residual;
  BSI_TRY(bsi_compute_residual(run));
  if (run->precond) {
    const bisai_status status =
        bsi_precond_apply(run->precond, residual, s->spare, s->cached_bytes);
    if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
    if (status) return status;
    residual = s->spare;
  }
  BSI_TRY(bsi_multiply_given(run, residual, image));
  BSI_TRY(bsi_norm(run, image, size));
  *size /= run->prepared ? 1 : norm;
  return BISAI_OK;
}

/* Restarts a failed solve once if squares of the entries of A M⁻¹r leave the range of a double but
 * the entries do not. The solve goes on from the best x, with a multiple of A that brings the size
 * of A M⁻¹r near that of r. */
static bisai_status mend_range(bsi_solver_run *run) {
  enum { FAR = 500, FARTHEST = 1000 };
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *image = s->scratch, size = NAN;
  if (run->factor != 1 || run->iterations >= s->options.max_iterations || isinf(run->best_norm))
    return BISAI_OK;
  restore_best(run);
  const double norm = run->true_norm;
  BSI_TRY(measure_image(run, image, &size));
  if (isnan(size) || (size >= 1e-100 && size <= 1e100)) return BISAI_OK;
  const int first = size < 1 ? FAR : -FAR;
  double shrink = ldexp(1, -2 * first);
  BSI_TRY(backend->memory->upload(s->context, s->shrink, &shrink, sizeof shrink));
  BSI_TRY(backend->krylov->basis->scale_by_norm(s->context, s->n, s->shrink, image, image));
  BSI_TRY(bsi_norm(run, image, &size));
  size /= run->prepared ? 1 : norm;
  if (!isfinite(size) || size == 0) return BISAI_OK;
  const int exponent = first - ilogb(size), limit = exponent < 0 ? -FARTHEST : FARTHEST;
  /* The exponent is even, so that the root of `shrink` is exact. */
  run->factor = ldexp(1, (abs(exponent) < FARTHEST ? exponent : limit) / 2 * 2);
  shrink = 1 / run->factor;
  BSI_TRY(backend->memory->upload(s->context, s->shrink, &shrink, sizeof shrink));
  expect_progress(run);
  run->bad_x = false;
  run->reason = BISAI_REASON_NONE;
  return bsi_compute_residual(run);
}

/* Returns true if squares may have left the range of a double. BiCGSTAB sees that as ω = 0 and goes
 * on. */
static bool failed(const bsi_solver_run *run) {
  return run->reason == BISAI_REASON_BREAKDOWN || run->reason == BISAI_REASON_NOT_FINITE ||
         run->reason == BISAI_REASON_STAGNATED ||
         (run->reason == BISAI_REASON_NONE && run->breakdown == BISAI_BREAKDOWN_OMEGA);
}

/* Begins again from the best x after a breakdown, if the method knows another way to begin. */
static bisai_status begin_otherwise(bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  if (!s->method->change_start || run->iterations >= s->options.max_iterations ||
      !s->method->change_start(run))
    return BISAI_OK;
  restore_best(run);
  expect_progress(run);
  run->reason = BISAI_REASON_NONE;
  return bsi_compute_residual(run);
}

bisai_status bsi_solve(bsi_solver_run *run) {
  bisai_status status = begin(run);
  while (!status && run->reason == BISAI_REASON_NONE) {
    int steps = 0;
    status = start_cycle(run);
    if (!status) status = run_cycle(run, &steps);
    if (!status && steps > 0) status = correct(run, steps);
    if (!status) status = bsi_compute_residual(run);
    if (!status) status = take_best_of_cycle(run);
    if (!status) run->reason = judge(run);
    if (!status && failed(run)) status = mend_range(run);
    if (!status && run->reason == BISAI_REASON_BREAKDOWN) status = begin_otherwise(run);
  }
  restore_best(run);
  if (!status) status = bsi_read_clock(run);
  return status;
}
