/* SPDX-License-Identifier: BSD-3-Clause */
#include "choice/bounds.h"

#include <math.h>
#include <stdio.h>

#include "choice/work.h"
#include "core/context/context_impl.h"
#include "precond/precond_impl.h"

/* The search for the blocks of factors ends at this multiple of the blocks that are expected. The
 * expectation was at most 2 times too low for 103 systems (work.c). */
#define FILL_FACTOR 4.0
/* It goes on up to so many blocks and visits, which take some 0.1 s. */
#define FILL_LEAST_BLOCKS 1e6
#define FILL_LEAST_VISITS 3e7

bsi_fill_limit bsi_bounds_fill(const bsi_task *t, const bsi_candidate *c) {
  if (t->precond_given) return (bsi_fill_limit){.blocks = INT32_MAX, .visits = INFINITY};
  double visits;
  const double expected = bsi_work_fill(t, &c->precond, &visits),
               blocks = fmax(FILL_FACTOR * expected, FILL_LEAST_BLOCKS);
  return (bsi_fill_limit){.blocks = (int32_t)fmin(blocks, INT32_MAX),
                          .visits = fmax(FILL_FACTOR * FILL_FACTOR * visits, FILL_LEAST_VISITS)};
}

static double memory_of(const bsi_race *race) { return race->task->precond.automatic.memory; }

static double held_by(const bsi_trial *t) {
  const double precond = t->precond ? (double)t->precond->report.memory_bytes : 0,
               solver = t->solver ? (double)t->solver->memory_bytes : 0,
               x = t->x ? 8.0 * (double)bisai_precond_rows(t->precond) : 0;
  return precond + solver + x;
}

static double held(const bsi_race *race) {
  double bytes = 0;
  for (int i = 0; i < race->candidates.count; i++) bytes += held_by(&race->trials[i]);
  return bytes;
}

bool bsi_bounds_end_worst(bsi_race *race, int without, const char *why) {
  int worst = -1;
  for (int i = 0; i < race->candidates.count; i++) {
    const bsi_trial *t = &race->trials[i];
    if (i == without || t->state != BSI_TRIAL_WAITS) continue;
    if (worst < 0 || bsi_trial_left(t) > bsi_trial_left(&race->trials[worst])) worst = i;
  }
  if (worst < 0) return false;
  bsi_trial *t = &race->trials[worst];
  t->state = BSI_TRIAL_FAILED;
  snprintf(t->result.why, sizeof t->result.why, "%s", why);
  bsi_trial_release(race->task->context, t);
  return true;
}

/* Ends waiting trials until `more` bytes fit. */
static bool make_room(bsi_race *race, int without, double more) {
  while (held(race) + more > memory_of(race))
    if (!bsi_bounds_end_worst(race, without, "another trial needed its memory")) return false;
  return true;
}

static bool leave_out(bsi_race *race, int which, bisai_status status) {
  bsi_trial *t = &race->trials[which];
  race->order[race->begun++] = which;
  bsi_trial_name(t);
  t->state = BSI_TRIAL_LEFT_OUT;
  t->result.status = status;
  return false;
}

bool bsi_bounds_admit(bsi_race *race, int which) {
  bsi_trial *t = &race->trials[which];
  const bsi_candidate *c = t->candidate;
  const double most = memory_of(race), needed = bsi_work_memory(race->task, c);
  if (most > 0 && (needed > most || !make_room(race, which, needed))) {
    snprintf(t->result.why, sizeof t->result.why,
             "left out: it is expected to need %.3g MB, and automatic.memory allows %.3g MB",
             needed / 1e6, most / 1e6);
    return leave_out(race, which, BISAI_OUT_OF_MEMORY);
  }
  if (race->work > 0 && race->work + c->setup > race->budget) {
    snprintf(t->result.why, sizeof t->result.why,
             "left out: its set-up is expected to exceed the budget of work");
    return leave_out(race, which, BISAI_STOPPED);
  }
  return true;
}

void bsi_bounds_check_memory(bsi_race *race, int which) {
  bsi_trial *t = &race->trials[which];
  const double most = memory_of(race), holds = held_by(t);
  if (most <= 0 || make_room(race, which, 0)) return;
  t->state = BSI_TRIAL_FAILED;
  t->result.status = BISAI_OUT_OF_MEMORY;
  snprintf(t->result.why, sizeof t->result.why,
           "it holds %.3g MB, and automatic.memory allows %.3g MB", holds / 1e6, most / 1e6);
  bsi_trial_release(race->task->context, t);
}
