/* SPDX-License-Identifier: BSD-3-Clause */
/* How good a solution x is, measured apart from the solver. Rows of padding are left out. */
#ifndef TOOL_MEASURE_H
#define TOOL_MEASURE_H

#include "problem.h"

/* Sets ‖b − A x‖/‖b‖ from a separate product. 0/0 = 0. */
bisai_status measure_residual(const problem *p, const double *x, double *value);

/* Sets ‖x − x̂‖/‖x̂‖, or NaN if no solution x̂ is known or x is not finite. The null space
 * of A, which is that of --project or constants, is taken out of x − x̂, because b says nothing
 * about it. If only the transpose maps constants to zero, the null space of A is not known, and
 * neither is the error. */
bisai_status measure_error(bisai_context *context, const problem *p, const double *x,
                           double *value);

#endif
