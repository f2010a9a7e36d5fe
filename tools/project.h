/* SPDX-License-Identifier: BSD-3-Clause */
/* The option --project: the null space of A taken out of x, and that of its transpose out of b. */
#ifndef TOOL_PROJECT_H
#define TOOL_PROJECT_H

#include <stdio.h>

#include "options.h"
#include "problem.h"

/* Finds or reads the vectors of the options, if there are any, and takes those of the transpose out
 * of b. Prints a message and returns false on failure, and if A does not map the vectors to
 * zero. */
bool project_load(bisai_context *context, const options *o, problem *p);

/* Takes the null space of A out of x. */
bisai_status project_solution(bisai_context *context, const problem *p, double *x);

/* Takes constants out of the `span` values of x. */
bisai_status project_constants(bisai_context *context, const problem *p, const constants *v,
                               double *x);

/* Prints what is taken out of b and x, in a line of the heading. */
void project_print(FILE *out, const problem *p);

#ifdef BISAI_HAVE_JANSSON
#include <jansson.h>

/* Returns an object, null without a projection, or NULL without enough memory. */
json_t *project_json(const problem *p);
#endif

#endif
