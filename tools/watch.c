/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <math.h>

#include "signals.h"

watch watch_start(progress *shown, const bisai_solver_options *how, bool judges) {
  const bool judged = judges && how->method == BISAI_GMRES;
  return (watch){.shown = shown,
                 .cycle = judged ? how->gmres.restart : 0,
                 .allowed = how->max_iterations,
                 .tolerance = how->tolerance};
}

/* Returns the iterations that the run needs at the pace of the last cycles. */
static double needed_at_this_pace(const watch *w, int iteration, double residual, double before) {
  const double pace = log(before / residual) / ((double)WATCH_CYCLES * w->cycle);
  return pace > 0 ? iteration + log(residual / w->tolerance) / pace : INFINITY;
}

static bool has_hope(watch *w, int iteration, double residual) {
  if (w->cycle == 0 || iteration == 0 || iteration % w->cycle != 0) return true;
  const int cycle = iteration / w->cycle;
  double *place = &w->residual[cycle % WATCH_CYCLES];
  const double before = *place;
  *place = residual;
  if (cycle <= WATCH_FIRST_CYCLE || iteration <= WATCH_FIRST_ITERATION ||
      !(residual > w->tolerance))
    return true;
  const double needed = needed_at_this_pace(w, iteration, residual, before);
  if (needed <= (double)WATCH_EXCESS * w->allowed) return true;
  w->needed = needed;
  return false;
}

int watch_iteration(void *user, int iteration, double relative_residual) {
  watch *w = user;
  progress_residual(w->shown, iteration, relative_residual);
  return signals_caught() != 0 || !has_hope(w, iteration, relative_residual);
}
