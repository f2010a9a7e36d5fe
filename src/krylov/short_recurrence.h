/* SPDX-License-Identifier: BSD-3-Clause */
/* What CG, BiCGSTAB and IDR(s) share. */
#ifndef BSI_SHORT_RECURRENCE_H
#define BSI_SHORT_RECURRENCE_H

#include "krylov/method.h"

/* `count` vectors, of which the last two are `kept` and `best`, and everything else in backend
 * memory. */
bool bsi_recurrence_reserve(bisai_solver *solver, size_t count, int sums);
/* Begins a cycle with these scalars. */
bisai_status bsi_recurrence_start(bsi_run *run, double norm, bsi_scalars *scalars);
/* What step j works on. */
bsi_recurrence bsi_recurrence_at(const bsi_run *run, double *status);
/* One pass, and what follows its sums over all processes. */
bisai_status bsi_recurrence_pass(bsi_run *run, const bsi_recurrence *r, bsi_pass pass);
int bsi_recurrence_longest_cycle(const bisai_solver *solver);
void bsi_recurrence_judge(bsi_run *run, const double *status);

#endif
