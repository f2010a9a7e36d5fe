/* SPDX-License-Identifier: BSD-3-Clause */
/* The results as text: a comparison with one line for each method, and the report of a single
 * solve. */
#ifndef TOOL_TABLE_H
#define TOOL_TABLE_H

#include <stdio.h>

#include "run_method.h"

/* Prints the system, the backend and the solver. */
void table_heading(FILE *out, bisai_context *context, const problem *p, const options *o);

int table_width(const method_list *methods); /* of the column of methods */
void table_columns(FILE *out, int width);
void table_row(FILE *out, int width, const run_result *r);
/* Prints what went wrong, and what that means. */
void table_failures(FILE *out, const problem *p, int count, const run_result *results);

void table_solve(FILE *out, const problem *p, const run_result *r);

#endif
