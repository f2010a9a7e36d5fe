/* SPDX-License-Identifier: BSD-3-Clause */
/* What may solve a system that no run has solved, on standard error.
 *
 * The proposals come from the facts of the matrix (facts.h) by rules that were measured on real
 * matrices. Where no method is known to be likely, the hint says what is special about the matrix,
 * and proposes nothing. */
#ifndef HINTS_H
#define HINTS_H

#include "run_method.h"

/* Says nothing if a run converged, or if no run failed because of the matrix. */
void hints_say(bisai_context *context, const options *o, problem *p, int count,
               const run_result *results);

#endif
