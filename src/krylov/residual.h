/* SPDX-License-Identifier: BSD-3-Clause */
/* The true residual, and the scale of a solve. */
#ifndef BSI_RESIDUAL_H
#define BSI_RESIDUAL_H

#include "krylov/method.h"

/* residual ← scale·(b − A x) and true_norm; without a product where x is still zero. One more pass
 * over x finds out whether it is finite. Where the method begins with what the norm alone says,
 * that is enqueued before the host knows the norm and whether there will be a cycle. */
bisai_status bsi_compute_residual(bsi_run *run);
/* b_norm, and a scale of about 1/‖b‖ where squares, with A and M⁻¹ between them, might leave the
 * range of a double. Residuals of another size than 1 would also take away from the range of A that
 * can be mended. */
bisai_status bsi_measure_rhs(bsi_run *run);
/* y ← factor·x */
bisai_status bsi_multiple(bsi_run *run, double factor, const double *x, double *y);

#endif
