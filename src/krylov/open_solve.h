/* SPDX-License-Identifier: BSD-3-Clause */
/* A solve in parts, for a caller that lets it wait while something else runs. */
#ifndef BSI_OPEN_SOLVE_H
#define BSI_OPEN_SOLVE_H

#include "core/context/staging.h"
#include "krylov/run/solver_run.h"

typedef struct bsi_open_solve {
  /* the caller may set run.pause before it continues, and run.stop to end the solve */
  bsi_solver_run run;
  bsi_staged from, to;
  /* in the parts so far */
  double seconds;
} bsi_open_solve;

/* Checks what bisai_solver_solve() checks. bsi_solve_end() must follow, whatever is returned. */
bisai_status bsi_solve_begin(bisai_solver *solver, bsi_operator op, bisai_precond *precond,
                             const double *b, double *x, bsi_open_solve *open);

/* Runs to the end of the solve, or until it shall wait: run.pause.now. */
bisai_status bsi_solve_continue(bsi_open_solve *open);

/* y ← A x for vectors of the caller in backend memory, between two parts. */
bisai_status bsi_solve_multiply(bsi_open_solve *open, const double *x, double *y);

/* Brings x to the caller, releases what the solve held, and fills the report unless it is NULL.
 * Returns the status of the solve, or why x could not be brought. */
bisai_status bsi_solve_end(bsi_open_solve *open, bisai_status status, bisai_solver_report *report);

#endif
