/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of CG, BiCGSTAB and IDR(s). */
#ifndef BSI_SHORT_RECURRENCE_H
#define BSI_SHORT_RECURRENCE_H

#include "krylov/passes/recurrence_state.h"
#include "krylov/run/solver_run.h"

/* The state of each of these methods begins with the operands of its passes. A step completes a
 * copy of them (bsi_recurrence_at()). */
static inline bsi_recurrence *bsi_recurrence_of(const bisai_solver *solver) {
  return (bsi_recurrence *)solver->state;
}

/* Reserves `count` vectors, of which the last two are `kept` and `best`, and everything else in
 * backend memory. */
bool bsi_recurrence_reserve(bisai_solver *solver, size_t count, int sums);
/* Begins a cycle with these scalars. */
bisai_status bsi_recurrence_start(bsi_solver_run *run, double norm, bsi_scalars *scalars);
/* The operands of a step. */
bsi_recurrence bsi_recurrence_at(const bsi_solver_run *run, double *status);
/* Runs one pass, and the scalar work that follows its sums over all processes. */
bisai_status bsi_recurrence_pass(bsi_solver_run *run, const bsi_recurrence *r, bsi_pass pass);
int bsi_recurrence_longest_cycle(const bisai_solver *solver);
void bsi_recurrence_judge(bsi_solver_run *run, const double *status);
/* The `kept` x and its estimate. */
bisai_status bsi_recurrence_best_of_cycle(bsi_solver_run *run, const double **x, double *norm);

/* The members of bsi_method that these methods have in common. */
#define BSI_SHORT_RECURRENCE                                                                       \
  .cycle.longest = bsi_recurrence_longest_cycle, .cycle.judge = bsi_recurrence_judge,              \
  .cycle.best = bsi_recurrence_best_of_cycle

#endif
