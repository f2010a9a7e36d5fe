/* SPDX-License-Identifier: BSD-3-Clause */
/* The recurrence of Chebyshev polynomials in D⁻¹A, which damp the eigenvalues from high/ratio to
 * `high` (Saad, Iterative Methods, Algorithm 12.1). */
#ifndef BSI_CHEBYSHEV_H
#define BSI_CHEBYSHEV_H

#include "multigrid/smoothers/relaxation.h"

/* The interval of the eigenvalues, and ρ of the recurrence. */
typedef struct bsi_chebyshev {
  bool finite;
  double centre, half_width, rho;
} bsi_chebyshev;

/* Returns the recurrence before its first step. An infinite `high` leaves x as it is. */
bsi_chebyshev bsi_chebyshev_begin(double high, double ratio);
/* The coefficients of the next step. `user` is a bsi_chebyshev. */
bsi_coefficients bsi_chebyshev_coefficients;

#endif
