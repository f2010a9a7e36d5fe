/* SPDX-License-Identifier: BSD-3-Clause */
/* The true residual, and the scale of a solve. */
#ifndef BSI_RESIDUAL_H
#define BSI_RESIDUAL_H

#include "krylov/run/solver_run.h"

/* vectors.residual ← scale·(b − A x); norms.residual ← its norm. There is no product while x is
 * zero. One more pass over x checks that x is finite. The method's `prepare` is enqueued before the
 * host knows the norm, and before it knows if there will be a cycle. */
bisai_status bsi_compute_residual(bsi_solver_run *run);
/* Sets norms.b. Sets a scale of about 1/‖b‖ if squares of vectors, with A and M⁻¹ applied, might
 * leave the range of a double. Scaled residuals near 1 leave the most room for the size of A. */
bisai_status bsi_measure_rhs(bsi_solver_run *run);
/* y ← factor·x */
bisai_status bsi_multiple(bsi_solver_run *run, double factor, const double *x, double *y);

#endif
