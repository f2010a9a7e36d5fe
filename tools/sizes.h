/* SPDX-License-Identifier: BSD-3-Clause */
/* Block sizes that may work better after a failure. */
#ifndef SIZES_H
#define SIZES_H

#include "run_method.h"

/* Names other block sizes on stderr that may work better, if a method was refused because of its
 * diagonal blocks or did not converge. */
void sizes_suggest(bisai_context *context, const problem *p, int count, const run_result *results);

#endif
