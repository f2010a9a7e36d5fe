/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with A in the steps of a cycle, which may read a copy of A in fp32 when the residual is
 * small.
 *
 * A product that errs by e‖A z‖ changes the residual by e times the residual at that step: the
 * errors that a method may make grow as its residual falls (Simoncini and Szyld, SIAM J. Sci.
 * Comput. 25 (2003) 454–477; van den Eshof and Sleijpen, SIAM J. Matrix Anal. Appl. 26 (2004)
 * 125–153). How large e is depends on z: a smooth z loses digits in A z. It is measured once, by
 * both products. This also finds a copy whose A has changed since. Only the first cycle rounds, and
 * only if it is going to end at the target, so that later cycles mend what it may have lost. They
 * also follow a breakdown: the copy of a definite matrix may be indefinite. */
#ifndef BSI_LATE_PRODUCTS_H
#define BSI_LATE_PRODUCTS_H

#include "krylov/run/solver_run.h"

/* Takes the copy of A for a solve, if the preconditioner has one. */
void bsi_late_products_begin(bsi_solver_run *run);
/* y ← factor·A x in a step. `spare` has n values, or is NULL if there is no room. */
bisai_status bsi_multiply_in_step(bsi_solver_run *run, const double *x, double *y, double *spare);

#endif
