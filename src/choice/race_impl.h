/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a race. */
#ifndef BSI_RACE_IMPL_H
#define BSI_RACE_IMPL_H

#include "choice/best.h"

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
  bsi_best best;
  /* monitor of the caller */
  int iterations;
  /* the caller's monitor has ended the race; a trial has shown that no x is good enough */
  bool stopped, exhausted;
  /* the ordering of a complete factorisation, once it was predicted */
  int32_t *permutation;
} bsi_race;

#endif
