/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of trials.
 *
 * The list of candidates begins with the one that is expected to be the cheapest. A trial goes on
 * while its residuals predict less than PATIENCE times the work of the alternative: the next
 * candidate, or a trial that waits. It waits otherwise, keeps its basis, and may go on later. */
#include "choice/race.h"

#include <math.h>

#include "choice/bounds.h"
#include "choice/work.h"
#include "core/context/context_impl.h"

/* A prediction is worth that much of an expectation. */
#define PATIENCE 2.0
/* A trial does at least this share of the work of its set-up, of the alternative, and of the work
 * that it has done before. */
#define SHARE_OF_SETUP 0.5
#define SHARE_OF_ALTERNATIVE 0.25
#define SHARE_OF_PAST 0.5
/* A guess may be too low by this factor. */
#define LOW_GUESS 2.0

/* Iterations that may take this many times the work of complete factors are tried first: often they
 * take less than expected, and if not, it is soon seen. Not so on saddle points. */
#define WORTH_OF_ITERATIONS 2.0
/* After a trial that did not solve the system, others of its family are expected to take this many
 * times the iterations. */
#define HARDER 2.0

/* So many trials keep their memory while they wait. */
enum { MOST_WAITING = 3 };

/* Complete factors, methods of several levels or parts, and methods of one level. */
static int family_of(bisai_precond_kind kind) {
  switch (kind) {
  case BISAI_PRECOND_LU:
  case BISAI_PRECOND_DIRECT: return 2;
  case BISAI_PRECOND_MULTIGRID:
  case BISAI_PRECOND_CPR:
  case BISAI_PRECOND_SCHUR: return 1;
  default: return 0;
  }
}

/* The expected work of a new candidate, which grows with the trials of its family that did not
 * solve the system. A candidate that is expected to need more iterations than trials have left over
 * comes last. */
static double work_of(const bsi_race *race, int which) {
  const bsi_candidate *c = &race->candidates.items[which];
  if (race->begun > 0 && c->iterations > race->task->solver.max_iterations - race->iterations)
    return INFINITY;
  const int family = family_of(c->precond.kind);
  double iterations = c->iterations;
  for (int i = 0; i < race->begun && family < 2; i++)
    if (family_of(race->candidates.items[race->order[i]].precond.kind) == family)
      iterations *= HARDER;
  return c->setup + iterations * c->step;
}

/* The work of the others at which a new candidate is next. What the race has cost counts too. */
static double threshold(const bsi_race *race, int which) {
  const bsi_candidate *c = &race->candidates.items[which];
  const bool first = race->begun == 0 && !bsi_task_is_saddle(race->task);
  const double certain = first && c->precond.kind == BISAI_PRECOND_LU ? WORTH_OF_ITERATIONS : 1;
  return fmax(certain * work_of(race, which), c->hurdle - race->work);
}

/* The candidate with the least expected work of those that have not begun. */
static int next_new(const bsi_race *race, int without) {
  int best = -1;
  for (int i = 0; i < race->candidates.count; i++) {
    if (i == without || race->trials[i].state != BSI_TRIAL_NEW) continue;
    if (best < 0 || threshold(race, i) < threshold(race, best)) best = i;
  }
  return best;
}

/* The waiting trial with the least work left, without one. */
static int next_waiting(const bsi_race *race, int without) {
  int best = -1;
  for (int i = 0; i < race->candidates.count; i++) {
    const bsi_trial *t = &race->trials[i];
    if (i == without || t->state != BSI_TRIAL_WAITS) continue;
    if (best < 0 || bsi_trial_left(t) < bsi_trial_left(&race->trials[best])) best = i;
  }
  return best;
}

/* The least work until the end by another candidate than `now`, or infinity. Those whose work is a
 * guess count only with `guesses`. */
static double alternative_to(const bsi_race *race, int now, bool guesses) {
  const int waiting = next_waiting(race, now);
  double least = waiting < 0 ? INFINITY : bsi_trial_left(&race->trials[waiting]);
  for (int i = 0; i < race->candidates.count; i++)
    if (i != now && race->trials[i].state == BSI_TRIAL_NEW &&
        (guesses || !race->candidates.items[i].guessed))
      least = fmin(least, work_of(race, i));
  return least;
}

static int choose_next(const bsi_race *race) {
  const int waiting = next_waiting(race, -1), new = next_new(race, -1);
  if (waiting < 0 || new < 0) return waiting < 0 ? new : waiting;
  const double left = bsi_trial_left(&race->trials[waiting]);
  return left <= PATIENCE * threshold(race, new) ? waiting : new;
}

/* Ends the least promising of too many waiting trials. */
static void limit_waiting(bsi_race *race) {
  int count = 0;
  for (int i = 0; i < race->candidates.count; i++)
    if (race->trials[i].state == BSI_TRIAL_WAITS) count++;
  if (count > MOST_WAITING) bsi_bounds_end_worst(race, -1, "others promised more");
}

/* Begins a trial that is new, and lets it go on. */
static bisai_status go_on(bsi_race *race, int which) {
  bsi_trial *t = &race->trials[which];
  const double alternative = PATIENCE * alternative_to(race, which, true),
               known = PATIENCE * alternative_to(race, which, false),
               likely = fmin(known, LOW_GUESS * alternative), before = t->work;
  if (t->state == BSI_TRIAL_NEW) {
    race->order[race->begun++] = which;
    t->bounds.end = race->end;
    const bsi_fill_limit fill = bsi_bounds_fill(race->task, t->candidate);
    race->task->context->fill_limit = &fill;
    const bisai_status status =
        bsi_trial_begin(race->task, race->b, race->best.goes_on ? race->best.x : NULL, t);
    race->task->context->fill_limit = NULL;
    if (status) return status;
    bsi_bounds_check_memory(race, which);
  }
  if (t->state != BSI_TRIAL_WAITS) return BISAI_OK;
  const double least = before > 0 ? SHARE_OF_PAST * t->work
                                  : fmax(SHARE_OF_SETUP * t->work,
                                         isfinite(likely) ? SHARE_OF_ALTERNATIVE * likely : 0);
  return bsi_trial_run(race->task->context, alternative, least, race->budget - race->work, t);
}

/* Counts the iterations of a trial, which all others may no longer take. */
static void count_iterations(bsi_race *race, bsi_trial *t) {
  race->iterations += t->result.iterations - t->counted;
  t->counted = t->result.iterations;
  for (int i = 0; i < race->candidates.count; i++)
    race->trials[i].bounds.iterations =
        race->task->solver.max_iterations - race->iterations + race->trials[i].counted;
}

static bisai_status run_trial(bsi_race *race, int which) {
  bsi_trial *t = &race->trials[which];
  const double before = t->work;
  bisai_status status = go_on(race, which);
  race->work += t->work - before;
  count_iterations(race, t);
  race->stopped = t->opened && t->open.run.stop;
  if (!status) status = bsi_best_keep(race->task, race->b, which, t, &race->best);
  bsi_trial_say_why(t);
  race->exhausted = t->exhausted;
  if (t->state == BSI_TRIAL_FAILED) bsi_trial_release(race->task->context, t);
  if (t->state == BSI_TRIAL_SOLVED) race->winner = which;
  limit_waiting(race);
  return status;
}

static bool is_over(const bsi_race *race) {
  return race->winner >= 0 || race->stopped || race->exhausted || race->work > race->budget ||
         race->iterations >= race->task->solver.max_iterations || bsi_now() > race->end;
}

/* Replaces the guess of a complete factorisation by an estimate, and an estimate that still makes
 * it the next candidate by a prediction. Two candidates share it: with and without a matching. */
static bisai_status predict(bsi_race *race, bsi_candidate *c) {
  bisai_context *context = race->task->context;
  if (!c->estimated) return bsi_work_estimate_lu(race->task, &race->candidates);
  const size_t rows = (size_t)bisai_bcsr_block_rows(race->task->matrix);
  if (!race->permutation)
    race->permutation = bsi_allocate(context, rows, sizeof *race->permutation);
  if (!race->permutation) return BISAI_OUT_OF_MEMORY;
  BSI_TRY(bsi_work_predict_lu(race->task, alternative_to(race, -1, false), race->permutation, c));
  for (int i = 0; i < race->candidates.count; i++)
    if (race->candidates.items[i].guessed)
      bsi_work_share_lu(race->task, c, race->permutation, &race->candidates.items[i]);
  return BISAI_OK;
}

/* Ends the trials that wait, one of which may have the best x. */
static bisai_status finish_waiting(bsi_race *race) {
  for (int i = 0; i < race->candidates.count; i++) {
    bsi_trial *t = &race->trials[i];
    if (t->state != BSI_TRIAL_WAITS) continue;
    BSI_TRY(bsi_trial_finish(race->task->context, t));
    BSI_TRY(bsi_best_keep(race->task, race->b, i, t, &race->best));
    if (t->state == BSI_TRIAL_SOLVED) race->winner = i;
    if (race->winner >= 0) break;
  }
  return BISAI_OK;
}

bisai_status bsi_race_run(bsi_race *race) {
  race->winner = -1;
  for (int i = 0; i < race->candidates.count; i++)
    race->trials[i] = (bsi_trial){.candidate = &race->candidates.items[i],
                                  .bounds.iterations = race->task->solver.max_iterations};
  while (!is_over(race)) {
    const int next = choose_next(race);
    if (next < 0) break;
    if (race->trials[next].state == BSI_TRIAL_NEW && !bsi_bounds_admit(race, next)) continue;
    if (race->candidates.items[next].guessed)
      BSI_TRY(predict(race, &race->candidates.items[next]));
    else
      BSI_TRY(run_trial(race, next));
  }
  return race->winner < 0 ? finish_waiting(race) : BISAI_OK;
}

int bsi_race_tried(const bsi_race *race) {
  int tried = 0;
  for (int i = 0; i < race->begun; i++)
    if (race->trials[race->order[i]].state != BSI_TRIAL_LEFT_OUT) tried++;
  return tried;
}

void bsi_race_release(bsi_race *race, int keep) {
  bsi_release(race->task->context, race->permutation);
  race->permutation = NULL;
  bsi_best_release(race->task->context, &race->best);
  for (int i = 0; i < race->candidates.count; i++)
    if (i != keep) bsi_trial_release(race->task->context, &race->trials[i]);
}
