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
#include "krylov/run/late_products.h"
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

/* A step is long if A has more bytes, whose product takes 24 µs on an H200. */
enum { LONG_STEP = 100000000 };

static void record_residual(bsi_solver_run *run, double relative) {
  const bisai_solver_options *options = &run->solver->options;
  run->norms.estimate = relative;
  if (run->counts.iterations < BSI_HISTORY_LIMIT)
    run->solver->history[run->counts.iterations] = relative;
  if (options->monitor &&
      options->monitor(options->monitor_user, run->counts.iterations, relative) != 0)
    run->stop = true;
}

static bool steps_update_x(const bisai_solver *s) { return !s->method->cycle.correct; }

/* Begins a cycle from the true residual. Saves x in `best` if it is the best so far. */
static bisai_status start_cycle(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bool first = run->cycle.end == BSI_CYCLE_NONE;
  double norm = run->norms.residual;
  run->norms.start = run->norms.residual;
  run->cycle.breakdown = BISAI_BREAKDOWN_NONE;
  run->counts.cycles++;
  run->late.used = false;
  if (run->norms.residual < run->norms.best) {
    BSI_TRY(bsi_backend_of(run)->vectors->copy(s->context, s->n, run->system.x, s->vectors.best));
    run->norms.best = run->norms.residual;
  }
  if (s->method->cycle.measure) BSI_TRY(s->method->cycle.measure(run, &norm));
  if (first) run->norms.target = s->options.tolerance * run->norms.reference;
  run->forecast = bsi_forecast_begin(norm);
  BSI_TRY(s->method->cycle.start(run, norm));
  run->cycle.end = BSI_CYCLE_FULL;
  if (!isfinite(norm) || !isfinite(run->norms.reference)) {
    run->cycle.end = BSI_CYCLE_NOT_FINITE;
  } else if (norm == 0 || run->norms.reference == 0) {
    run->cycle.end = BSI_CYCLE_BREAKDOWN;
    run->cycle.breakdown = BISAI_BREAKDOWN_SPACE;
  }
  if (first)
    record_residual(run, run->cycle.end == BSI_CYCLE_FULL ? norm / run->norms.reference
                                                          : run->norms.residual / run->norms.b);
  if (steps_update_x(s)) run->norms.residual = NAN;
  const int left = s->options.max_iterations - run->counts.iterations,
            longest = s->method->cycle.longest(s);
  run->cycle.steps = (bsi_cycle_steps){.limit = longest < left ? longest : left,
                                       .applications = run->counts.applications};
  run->cycle.open = true;
  return BISAI_OK;
}

static double *status_of(const bisai_solver *s, int j) {
  return s->status.words + 2 * (j % s->status.slots);
}

/* Waits for step j and records its estimate. */
static bisai_status await_step(bsi_solver_run *run, int j) {
  bisai_solver *s = run->solver;
  double fetched[2] = {NAN, NAN};
  BSI_TRY(bsi_backend_of(run)->memory->await_shared(s->context, 2, status_of(s, j), fetched));
  if (!isfinite(fetched[0]) || !isfinite(fetched[1])) {
    run->cycle.end = BSI_CYCLE_NOT_FINITE;
    return BISAI_OK;
  }
  run->cycle.steps.good = j + 1;
  run->counts.iterations++;
  bsi_forecast_add(&run->forecast, fetched[0]);
  record_residual(run, fetched[0] / run->norms.reference);
  s->method->cycle.judge(run, fetched);
  if (run->cycle.end == BSI_CYCLE_FULL && run->pause.ask)
    run->pause.now = run->pause.ask(run->pause.user, run->counts.iterations, run->norms.estimate);
  return BISAI_OK;
}

/* Returns true if a step takes a device longer than the host takes to enqueue one. Steps of several
 * processes do not depend on what one of them has. */
static bool steps_are_long(const bsi_solver_run *run) {
  const bisai_bcsr *a = run->system.matrix;
  if (!a || run->solver->options.reduce) return false;
  const int64_t bs = bisai_bcsr_block_size(a), block = 8 * bs * bs + 4;
  return bisai_bcsr_blocks(a) * block > LONG_STEP;
}

/* Returns how many steps the host enqueues beyond the one whose status it reads next. The more they
 * are, the older are the estimates by which steps round. */
static int steps_ahead(const bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  const int lookahead = bsi_backend_of(run)->krylov->lookahead,
            most = lookahead > 1 && steps_are_long(run) ? 1 : lookahead,
            left = bsi_forecast_left(&run->forecast, run->norms.target);
  if (s->options.monitor && !s->options.monitor_late && steps_update_x(s)) return 0;
  return left - 1 < most ? left - 1 : most;
}

/* Runs steps until one ends the cycle, or until the solve shall wait. The host enqueues a few steps
 * beyond the last one whose status it knows. Steps after the end do not change the results of
 * earlier steps. They are not counted, and their failures are ignored. */
static bisai_status run_cycle(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  bsi_cycle_steps *steps = &run->cycle.steps;
  bisai_status status = BISAI_OK;
  while (steps->seen < steps->limit && run->cycle.end == BSI_CYCLE_FULL && !run->stop &&
         !run->pause.now) {
    const int ahead = steps_ahead(run);
    while (!status && steps->sent < steps->limit && steps->sent <= steps->seen + ahead) {
      if (!run->timing.pending) run->timing.step = steps->sent;
      backend->memory->clear_shared(s->context, 2, status_of(s, steps->sent));
      status = s->method->cycle.step(run, steps->sent, status_of(s, steps->sent));
      if (status) break;
      steps->sent++;
      run->counts.enqueued++;
    }
    if (steps->seen == steps->sent) return status;
    bisai_status awaited = await_step(run, steps->seen++);
    if (!awaited && steps->seen > run->timing.step + (run->timing.warm ? TIMED_EVERY : 0))
      awaited = bsi_read_clock(run);
    if (awaited) return awaited;
  }
  run->reason = BISAI_REASON_NONE;
  run->counts.applications =
      steps->applications + (run->system.precond ? s->method->applications * steps->seen : 0);
  return BISAI_OK;
}

/* Brings x to the last good step. */
static bisai_status correct(bsi_solver_run *run, int steps) {
  run->norms.residual = NAN;
  return run->solver->method->cycle.correct ? run->solver->method->cycle.correct(run, steps)
                                            : BISAI_OK;
}

/* --- decisions --- */

/* A true residual that confirms an estimate may be up to twice the tolerance, but at most halfway
 * from the tolerance to 1. A residual that is not below the first one has not converged. */
static bool converged(const bsi_solver_run *run) {
  const double tolerance = run->solver->options.tolerance;
  const bool believed = run->cycle.end == BSI_CYCLE_TARGET || run->cycle.end == BSI_CYCLE_BREAKDOWN;
  if (run->cycle.end != BSI_CYCLE_NONE && !(run->norms.residual < run->norms.first)) return false;
  return run->norms.residual <=
         (believed ? fmin(2 * tolerance, (1 + tolerance) / 2) : tolerance) * run->norms.b;
}

/* Takes the best x within the last cycle, by the estimates, if it promises to be better than x and
 * `best`. The better of these two is in `best` afterwards. If the true residual does not confirm
 * the estimate, x becomes `best` again. */
static bisai_status take_best_of_cycle(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const double *candidate = NULL;
  double estimate = INFINITY;
  if (!s->method->cycle.best ||
      (run->cycle.end == BSI_CYCLE_TARGET && isfinite(run->norms.residual)) || converged(run))
    return BISAI_OK;
  BSI_TRY(s->method->cycle.best(run, &candidate, &estimate));
  if (!(estimate < run->norms.start && estimate < run->norms.best) ||
      run->norms.residual <= estimate)
    return BISAI_OK;
  if (run->norms.residual < run->norms.best) {
    BSI_TRY(backend->vectors->copy(s->context, s->n, run->system.x, s->vectors.best));
    run->norms.best = run->norms.residual;
  }
  BSI_TRY(backend->vectors->copy(s->context, s->n, candidate, run->system.x));
  BSI_TRY(bsi_compute_residual(run));
  if (run->norms.residual < run->norms.best) return BISAI_OK;
  BSI_TRY(backend->vectors->copy(s->context, s->n, s->vectors.best, run->system.x));
  return bsi_compute_residual(run);
}

/* Ends the cycle: x and its true residual. */
static bisai_status end_cycle(bsi_solver_run *run) {
  run->cycle.open = false;
  run->counts.enqueued = run->counts.iterations;
  if (run->cycle.steps.good > 0) BSI_TRY(correct(run, run->cycle.steps.good));
  BSI_TRY(bsi_compute_residual(run));
  return take_best_of_cycle(run);
}

static void note_halved(bsi_solver_run *run) {
  run->progress.halved = run->norms.residual;
  run->progress.halved_iterations = run->counts.iterations;
  run->progress.halved_cycles = run->counts.cycles;
}

/* Later cycles have to reduce the present true residual. */
static void expect_progress(bsi_solver_run *run) {
  run->progress.anchor = run->norms.residual;
  run->progress.stalled = 0;
  note_halved(run);
}

/* Returns true if many iterations have not halved the residual, and if it would not reach the
 * tolerance in the iterations that are left, even at ten times this pace. */
static bool is_slow(const bsi_solver_run *run) {
  const bisai_solver_options *options = &run->solver->options;
  const int iterations = run->counts.iterations - run->progress.halved_iterations,
            left = options->max_iterations - run->counts.iterations;
  if (iterations < SLOW_ITERATIONS ||
      run->counts.cycles - run->progress.halved_cycles < options->stagnation_cycles)
    return false;
  const double change = run->norms.residual / run->progress.halved;
  return run->norms.residual * pow(change, FASTER * (double)left / iterations) >
         options->tolerance * run->norms.b;
}

static bool stagnated(bsi_solver_run *run) {
  const int cycles = run->solver->options.stagnation_cycles;
  run->progress.stalled++;
  if (run->norms.residual <= (1 - least_reduction) * run->progress.anchor) {
    run->progress.anchor = run->norms.residual;
    run->progress.stalled = 0;
  }
  if (run->norms.residual <= run->progress.halved / 2) note_halved(run);
  if (cycles == 0) return false;
  if (run->progress.stalled < cycles && is_slow(run))
    run->progress.slow_iterations = run->counts.iterations - run->progress.halved_iterations;
  return run->progress.stalled >= cycles || run->progress.slow_iterations > 0;
}

/* Decides if and why the solve ends, from the true residual of x and the end of the last cycle. */
static bisai_reason judge(bsi_solver_run *run) {
  const bisai_solver_options *options = &run->solver->options;
  if (converged(run)) return BISAI_REASON_CONVERGED;
  if (!isfinite(run->norms.residual) || run->cycle.end == BSI_CYCLE_NOT_FINITE)
    return BISAI_REASON_NOT_FINITE;
  if (run->stop) return BISAI_REASON_STOPPED;
  const bool restartable = run->solver->method->restartable || run->late.used ||
                           run->cycle.breakdown == BISAI_BREAKDOWN_GROWTH;
  if (run->cycle.end == BSI_CYCLE_BREAKDOWN &&
      !(restartable && run->norms.residual <= (1 - least_reduction) * run->norms.start))
    return run->norms.residual > rounding_level * run->norms.b ? BISAI_REASON_BREAKDOWN
                                                               : BISAI_REASON_STAGNATED;
  if (run->counts.iterations >= options->max_iterations) return BISAI_REASON_MAX_ITERATIONS;
  if (run->cycle.end == BSI_CYCLE_NONE) {
    expect_progress(run);
    return BISAI_REASON_NONE;
  }
  if (stagnated(run)) return BISAI_REASON_STAGNATED;
  /* The preconditioned residual was small enough, but the true one was not: lower the target in
   * proportion. */
  if (run->cycle.end == BSI_CYCLE_TARGET && bsi_preconditioned_left(run))
    run->norms.target *= options->tolerance * run->norms.b / run->norms.residual;
  return BISAI_REASON_NONE;
}

/* The products of cycles take a smaller copy of A if the preconditioner has one. */
static bisai_status choose_matrix(bsi_solver_run *run) {
  if (!run->system.op.matrix || !run->system.precond) return BISAI_OK;
  const bisai_status status = bsi_precond_operator(run->solver->context, run->system.precond,
                                                   run->system.op.matrix, &run->system.matrix);
  if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
  return status;
}

/* Does everything before the first cycle. Sets the reason if the solve ends here. */
static bisai_status begin(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  const double one = 1;
  if (!s->options.use_initial_guess)
    BSI_TRY(backend->vectors->set(s->context, s->n, 0, run->system.x));
  BSI_TRY(backend->memory->upload(s->context, s->scalars.one, &one, sizeof one));
  BSI_TRY(bsi_measure_rhs(run));
  run->norms.reference = run->norms.b;
  run->norms.best = INFINITY;
  if (run->norms.b == 0) {
    BSI_TRY(backend->vectors->set(s->context, s->n, 0, run->system.x));
    run->norms.residual = 0;
    run->norms.b = run->norms.reference = 1;
    run->reason = BISAI_REASON_CONVERGED;
  } else if (!isfinite(run->norms.b)) {
    run->reason = BISAI_REASON_NOT_FINITE;
  } else {
    BSI_TRY(bsi_compute_residual(run));
    run->norms.first = run->norms.residual;
    run->reason = judge(run);
    if (!run->reason) BSI_TRY(choose_matrix(run));
    bsi_late_products_begin(run);
  }
  if (run->reason && run->reason != BISAI_REASON_NOT_FINITE)
    record_residual(run, run->norms.residual / run->norms.b);
  return BISAI_OK;
}

/* Copies `best` to x unless x is better. If both are as good, `best` is older, and x may have
 * become huge in the null space of A. */
static void restore_best(bsi_solver_run *run) {
  bisai_solver *s = run->solver;
  if (run->norms.residual < run->norms.best || isinf(run->norms.best)) return;
  if (!bsi_backend_of(run)->vectors->copy(s->context, s->n, s->vectors.best, run->system.x))
    run->norms.residual = run->norms.best;
}

/* image ← A M⁻¹r with the true residual r; *size ← ‖image‖/‖r‖, which is 0 or infinite if squares
 * leave the range of a double. */
static bisai_status measure_image(bsi_solver_run *run, double *image, double *size) {
  bisai_solver *s = run->solver;
  const double norm = run->norms.residual;
  const double *residual = s->vectors.residual;
  BSI_TRY(bsi_compute_residual(run));
  if (run->system.precond) {
    const bisai_status status =
        bsi_precond_apply(run->system.precond, residual, s->vectors.spare, s->cached_bytes, false);
    if (status) run->reason = BISAI_REASON_PRECOND_FAILED;
    if (status) return status;
    residual = s->vectors.spare;
  }
  BSI_TRY(bsi_multiply_given(run, residual, image));
  BSI_TRY(bsi_norm(run, image, size));
  *size /= run->cycle.prepared ? 1 : norm;
  return BISAI_OK;
}

/* Restarts a failed solve once if squares of the entries of A M⁻¹r leave the range of a double but
 * the entries do not. The solve goes on from the best x, with a multiple of A that brings the size
 * of A M⁻¹r near that of r. */
static bisai_status mend_range(bsi_solver_run *run) {
  enum { FAR = 500, FARTHEST = 1000 };
  bisai_solver *s = run->solver;
  const bsi_backend *backend = bsi_backend_of(run);
  double *image = s->vectors.scratch, size = NAN;
  if (run->scaling.products != 1 || run->counts.iterations >= s->options.max_iterations ||
      isinf(run->norms.best))
    return BISAI_OK;
  restore_best(run);
  const double norm = run->norms.residual;
  BSI_TRY(measure_image(run, image, &size));
  if (isnan(size) || (size >= 1e-100 && size <= 1e100)) return BISAI_OK;
  const int first = size < 1 ? FAR : -FAR;
  double shrink = ldexp(1, -2 * first);
  BSI_TRY(backend->memory->upload(s->context, s->scalars.shrink, &shrink, sizeof shrink));
  BSI_TRY(backend->krylov->basis->scale_by_norm(s->context, s->n, s->scalars.shrink, image, image));
  BSI_TRY(bsi_norm(run, image, &size));
  size /= run->cycle.prepared ? 1 : norm;
  if (!isfinite(size) || size == 0) return BISAI_OK;
  const int exponent = first - ilogb(size), limit = exponent < 0 ? -FARTHEST : FARTHEST;
  /* The exponent is even, so that the root of `shrink` is exact. */
  run->scaling.products = ldexp(1, (abs(exponent) < FARTHEST ? exponent : limit) / 2 * 2);
  shrink = 1 / run->scaling.products;
  BSI_TRY(backend->memory->upload(s->context, s->scalars.shrink, &shrink, sizeof shrink));
  expect_progress(run);
  run->bad_entry.found = false;
  run->reason = BISAI_REASON_NONE;
  return bsi_compute_residual(run);
}

/* Returns true if squares may have left the range of a double. BiCGSTAB sees that as ω = 0 and goes
 * on. */
static bool failed(const bsi_solver_run *run) {
  return run->reason == BISAI_REASON_BREAKDOWN || run->reason == BISAI_REASON_NOT_FINITE ||
         run->reason == BISAI_REASON_STAGNATED ||
         (run->reason == BISAI_REASON_NONE && run->cycle.breakdown == BISAI_BREAKDOWN_OMEGA);
}

/* Begins again from the best x after a breakdown, if the method knows another way to begin. */
static bisai_status begin_otherwise(bsi_solver_run *run) {
  const bisai_solver *s = run->solver;
  if (!s->method->cycle.change_start || run->counts.iterations >= s->options.max_iterations ||
      !s->method->cycle.change_start(run))
    return BISAI_OK;
  restore_best(run);
  expect_progress(run);
  run->reason = BISAI_REASON_NONE;
  return bsi_compute_residual(run);
}

/* Does what follows a cycle: judges, and begins again where that may help. */
static bisai_status follow_cycle(bsi_solver_run *run) {
  run->reason = judge(run);
  if (failed(run)) BSI_TRY(mend_range(run));
  return run->reason == BISAI_REASON_BREAKDOWN ? begin_otherwise(run) : BISAI_OK;
}

bisai_status bsi_solve(bsi_solver_run *run) {
  bisai_status status = run->begun ? BISAI_OK : begin(run);
  run->begun = true;
  run->pause.now = false;
  while (!status && run->reason == BISAI_REASON_NONE) {
    if (!run->cycle.open) status = start_cycle(run);
    if (!status) status = run_cycle(run);
    if (!status && run->pause.now && !run->stop) return BISAI_OK;
    if (!status) status = end_cycle(run);
    if (!status) status = follow_cycle(run);
  }
  restore_best(run);
  if (!status) status = bsi_read_clock(run);
  return status;
}
