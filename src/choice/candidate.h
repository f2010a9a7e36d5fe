/* SPDX-License-Identifier: BSD-3-Clause */
/* A preconditioner and a solver that may solve a system, and what they are expected to cost. */
#ifndef BSI_CANDIDATE_H
#define BSI_CANDIDATE_H

#include <bisai/krylov.h>
#include <bisai/precond.h>
#include <bisai/study.h>

typedef struct bsi_candidate {
  bisai_precond_options precond;
  bisai_solver_options solver;
  /* expected, in seconds of the model: of the set-up, and of an iteration */
  double setup, step;
  /* expected iterations */
  double iterations;
  /* what it needs, in bytes */
  double memory;
  /* `setup` is a guess that bsi_work_predict_lu() replaces; it has been replaced */
  bool guessed, predicted;
  /* the ordering that was found for the prediction; NULL: that of the options */
  const int32_t *permutation;
} bsi_candidate;

/* What candidates are made for. */
typedef struct bsi_task {
  bisai_context *context;
  const bisai_bcsr *matrix;
  const bisai_matrix_study_report *study;
  /* the options that all candidates share */
  bisai_precond_options precond;
  bisai_solver_options solver;
  /* b, in backend memory, if it is not the caller's */
  double *made;
  /* pairs of blocks (i, k), (k, j) with i, j > k */
  double pairs;
  /* the caller has chosen the preconditioner, or the method of the solver */
  bool precond_given, solver_given;
} bsi_task;

enum { BSI_CANDIDATES = 24 };

/* The candidates of a system. */
typedef struct bsi_candidates {
  bsi_candidate items[BSI_CANDIDATES];
  int count;
} bsi_candidates;

/* Lists the candidates of a task, the one to begin with first. */
bisai_status bsi_candidates_list(const bsi_task *task, bsi_candidates *list);

/* Returns the expected work of a candidate until the system is solved. */
static inline double bsi_candidate_work(const bsi_candidate *c) {
  return c->setup + c->iterations * c->step;
}

#endif
