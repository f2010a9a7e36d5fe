/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole solve. */
#ifndef BSI_DRIVE_H
#define BSI_DRIVE_H

#include "krylov/run/solver_run.h"

/* Runs the solver's method to its end, or until it shall wait (run->pause.now). A status other than
 * BISAI_OK means that something called failed; otherwise run->reason says how it ended. */
bisai_status bsi_solve(bsi_solver_run *run);

#endif
