/* SPDX-License-Identifier: BSD-3-Clause */
/* The symmetry of A and M. */
#ifndef BSI_SYMMETRY_H
#define BSI_SYMMETRY_H

#include "krylov/run/method.h"

/* bsi_method::check_system of conjugate gradients; *asymmetry stays as it is if A is not
 * measured. */
bisai_status bsi_check_symmetry(const bisai_solver *solver, const bisai_bcsr *matrix,
                                const bisai_precond *precond, double *asymmetry);

#endif
