/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials of candidates until one of them has solved the system. */
#ifndef BSI_RACE_H
#define BSI_RACE_H

#include "choice/trial.h"

typedef struct bsi_race {
  const bsi_task *task;
  const double *b;
  bsi_candidates candidates;
  bsi_trial trials[BSI_CANDIDATES];
  /* trials in the order of their begin */
  int order[BSI_CANDIDATES];
  int begun;
  /* the trial that solved the system; −1 */
  int winner;
  /* seconds of the model: so far, and the budget */
  double work, budget;
  /* bsi_now() when trials end, or infinity */
  double end;
  /* the best x so far, in backend memory, and its relative residual */
  double *best;
  double best_residual;
  /* monitor of the caller */
  int iterations;
  bool stopped;
  /* the ordering of a complete factorisation, once it was predicted */
  int32_t *permutation;
} bsi_race;

/* Runs trials of race->candidates. Returns BISAI_OK, with or without a winner, unless memory or a
 * function of the caller fails. */
bisai_status bsi_race_run(bsi_race *race);

/* Releases all trials but `keep`, which may be −1. */
void bsi_race_release(bsi_race *race, int keep);

#endif
