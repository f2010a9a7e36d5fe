/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice for one system: study, candidates, trials, report. */
#ifndef BSI_CHOOSE_H
#define BSI_CHOOSE_H

#include <bisai/solve.h>

#include "choice/race.h"

typedef struct bsi_choice {
  bsi_task task;
  bisai_matrix_study_report study;
  bsi_race race;
  /* what the report lists */
  bisai_trial trials[BSI_CANDIDATES];
  /* the index of the winner in them; −1: none */
  int chosen;
  double study_seconds, lost_seconds;
  /* every x has at least this relative residual, which is above the tolerance; 0: not known */
  double least;
} bsi_choice;

/* Checks the options of the choice. */
bisai_status bsi_choice_check(bisai_context *context, const bisai_auto_options *o);

/* Tries candidates on A x = b. choice->task has everything but the study. b and x are in backend
 * memory; x is a guess if task.solver.use_initial_guess, and otherwise 0. x ← the solution, or the
 * best that was found. The winner's trial keeps its preconditioner and its solver. */
bisai_status bsi_choose(bsi_choice *choice, const double *b, double *x);

/* Returns the trial that solved the system, or NULL. */
bsi_trial *bsi_choice_winner(bsi_choice *choice);

/* Returns the index of the candidate whose trial gave the best x; −1: none did. */
int bsi_choice_best(const bsi_choice *choice);

void bsi_choice_report(const bsi_choice *choice, bisai_auto_report *report);

/* text ← one sentence on the choice. */
void bsi_choice_say(const bsi_choice *choice, size_t size, char *text);

void bsi_choice_release(bsi_choice *choice);

#endif
