/* SPDX-License-Identifier: BSD-3-Clause */
/* A candidate at work: its set-up, and its solve in parts. */
#ifndef BSI_TRIAL_H
#define BSI_TRIAL_H

#include "choice/candidate.h"
#include "krylov/open_solve.h"

/* The decrease of the residual is measured over up to this many iterations. */
enum { BSI_TRIAL_WINDOW = 64 };

typedef enum bsi_trial_state {
  /* not begun, or released to be begun again */
  BSI_TRIAL_NEW,
  /* set up; its solve waits */
  BSI_TRIAL_WAITS,
  BSI_TRIAL_SOLVED,
  BSI_TRIAL_FAILED,
  /* a bound kept it from beginning */
  BSI_TRIAL_LEFT_OUT
} bsi_trial_state;

/* What the residuals of a trial say. */
typedef struct bsi_trial_pace {
  /* logarithms of the smallest residuals up to an iteration, in a ring */
  double logs[BSI_TRIAL_WINDOW];
  int iterations;
  /* of the first residual, and of the tolerance */
  double first, target;
  /* the iteration at which the last prediction expected the end, and by how much predictions are
   * multiplied, because former ones were too low */
  double promised, doubt;
} bsi_trial_pace;

/* How long a trial may go on: bsi_trial_run(). */
typedef struct bsi_trial_bounds {
  double alternative, least, most;
  /* the iterations that all trials may take together, without those of others */
  int iterations;
  /* bsi_now() when it has to wait, or infinity */
  double end;
} bsi_trial_bounds;

typedef struct bsi_trial {
  const bsi_candidate *candidate;
  bsi_trial_state state;
  bisai_precond *precond;
  bisai_solver *solver;
  bsi_open_solve open;
  bool opened;
  /* backend memory */
  double *x;
  bsi_trial_pace pace;
  /* seconds of the model: so far, and of an iteration */
  double work, step;
  bsi_trial_bounds bounds;
  /* iterations that the race has counted */
  int counted;
  /* complete factors stopped where rounding x causes the residual: no method has a better x */
  bool exhausted;
  bisai_trial result;
} bsi_trial;

/* Names the candidate in the result, which has nothing else. */
void bsi_trial_name(bsi_trial *trial);

/* Sets the candidate up for n unknowns. x begins as `guess`, or as 0 if that is NULL. A failure of
 * the candidate is the state FAILED, and BISAI_OK is returned. */
bisai_status bsi_trial_begin(const bsi_task *task, const double *b, const double *guess,
                             bsi_trial *trial);

/* Continues the solve. It waits when `least` more work or a fifth of its iterations has been done
 * and the residuals predict more work than `alternative`, or when `most` work has been done and the
 * end is not near. */
bisai_status bsi_trial_run(bisai_context *context, double alternative, double least, double most,
                           bsi_trial *trial);

/* Returns the work that is left as the residuals predict it; infinite if they do not decrease, or
 * predict more iterations than the trial may take. */
double bsi_trial_left(const bsi_trial *trial);

/* Returns true if the trial has to wait after its last iteration. */
bool bsi_trial_should_wait(const bsi_trial *trial);

/* Says in the result why a trial waits. */
void bsi_trial_say_why(bsi_trial *trial);

/* Ends the solve of a trial that waits: x and the residual become those of its last iteration. */
bisai_status bsi_trial_finish(bisai_context *context, bsi_trial *trial);

/* Returns x of a trial that waits or has ended, and gives its relative residual, which is true or
 * estimated. */
const double *bsi_trial_x(const bsi_trial *trial, double *residual, bool *estimated);

/* Ends the solve and releases everything. The result stays. */
void bsi_trial_release(bisai_context *context, bsi_trial *trial);

#endif
