/* SPDX-License-Identifier: BSD-3-Clause */
/* Block sizes that may do better after a failure. */
#ifndef SIZES_H
#define SIZES_H

#include "run_method.h"

/* Says on stderr which other block sizes may do better, if a method was refused for its diagonal
 * blocks or did not converge. */
void sizes_suggest(bisai_context *context, const problem *p, int count, const run_result *results);

#endif
