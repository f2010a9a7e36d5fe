/* SPDX-License-Identifier: BSD-3-Clause */
/* What `auto` tried, as a table and as JSON. */
#ifndef TOOL_CHOICE_H
#define TOOL_CHOICE_H

#include <stdio.h>

#include "run_method.h"

/* Prints a line for each trial, and the options and the C statements that repeat the chosen one.
 * Prints nothing for other methods. */
void choice_print(FILE *out, const run_result *r);

#ifdef BISAI_HAVE_JANSSON
#include <jansson.h>
/* Returns the trials, or null for other methods. */
json_t *choice_json(const run_result *r);
#endif

#endif
