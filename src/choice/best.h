/* SPDX-License-Identifier: BSD-3-Clause */
/* The best x so far. */
#ifndef BSI_BEST_H
#define BSI_BEST_H

#include "choice/trial.h"

typedef struct bsi_best {
  /* backend memory */
  double *x;
  /* of x, by its true residual */
  double relative_residual;
  /* the candidate whose trial gave x; −1 */
  int candidate;
  /* Trials begin from x. They do not where x is worse than 0, has stagnated, or is so large that
   * rounding it changes A x by more than the tolerance. */
  bool goes_on;
  /* ‖b‖, or 0 while it is unknown; two vectors in backend memory, or NULL */
  double norm, *work;
} bsi_best;

/* Keeps x of a trial of candidate `which` if it is the best so far. */
bisai_status bsi_best_keep(const bsi_task *task, const double *b, int which, bsi_trial *trial,
                           bsi_best *best);

/* Releases the vectors, but not x. */
void bsi_best_release(bisai_context *context, bsi_best *best);

#endif
