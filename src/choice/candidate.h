/* SPDX-License-Identifier: BSD-3-Clause */
/* A preconditioner and a solver that may solve a system, and what they are expected to cost. */
#ifndef BSI_CANDIDATE_H
#define BSI_CANDIDATE_H

#include <bisai/krylov.h>
#include <bisai/precond.h>
#include <bisai/study.h>

#include "lu/predict.h"

typedef struct bsi_candidate {
  bisai_precond_options precond;
  bisai_solver_options solver;
  /* expected, in seconds of the model: of the set-up, and of an iteration */
  double setup, step;
  /* expected iterations */
  double iterations;
  /* what it needs, in bytes */
  double memory;
  /* `setup` is a guess that bsi_work_predict_lu() replaces, and that bsi_work_estimate_lu() has
   * made better; it has been replaced */
  bool guessed, estimated, predicted;
  /* of a guess: the least work of all others that is worth a prediction */
  double hurdle;
  bsi_lu_prediction factorisation;
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
  /* pairs of blocks (i, k), (k, j) with i, j > k, and the levels of a triangular solve, which only
   * a device has to know */
  double pairs, levels;
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

/* Returns true if some rows have a zero on the diagonal and are not coupled with each other, and
 * the matrix has no blocks. In blocks of velocities and pressures these zeros do no harm. */
bool bsi_task_is_saddle(const bsi_task *task);

#endif
