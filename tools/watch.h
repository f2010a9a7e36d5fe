/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches a solve: shows its progress, stops it after a signal, and may end a run without hope.
 *
 * GMRES(m) has no hope if, at the end of a cycle after the 20th and after iteration 300, the pace
 * of the last 10 cycles would need more than ten times the allowed iterations to reach the
 * tolerance. The pace of a restarted method seldom changes by such a factor. It may all the same:
 * on hypre_beam_tet_dof2475, ILU(0) reduces nothing from iteration 300 to 900, and converges at
 * 2693. Other methods are not judged: their residuals rise and fall, and a slow beginning says
 * little. */
#ifndef TOOL_WATCH_H
#define TOOL_WATCH_H

#include <stdbool.h>

#include <bisai/krylov.h>

#include "progress.h"

enum { WATCH_CYCLES = 10, WATCH_FIRST_CYCLE = 20, WATCH_FIRST_ITERATION = 300, WATCH_EXCESS = 10 };

typedef struct watch {
  progress *shown;
  /* iterations of a cycle; 0: the run is not judged */
  int cycle;
  int allowed;
  double tolerance;
  /* the residuals at the ends of the last cycles; that of cycle c is residual[c % WATCH_CYCLES] */
  double residual[WATCH_CYCLES];
  /* the iterations that the run would need; 0: it was not ended */
  double needed;
} watch;

/* `judges`: a run without hope is ended. */
watch watch_start(progress *shown, const bisai_solver_options *how, bool judges);

/* A bisai_monitor, whose user is the watch. */
int watch_iteration(void *user, int iteration, double relative_residual);

#endif
