/* SPDX-License-Identifier: BSD-3-Clause */
/* The results as text: a comparison with one line for each method, and the report of a single
 * solve. */
#ifndef TOOL_TABLE_H
#define TOOL_TABLE_H

#include <stdio.h>

#include "run_method.h"

/* Prints the system, the backend and the solver. */
void table_heading(FILE *out, bisai_context *context, const problem *p, const options *o);

typedef struct table_shape {
  /* of the column of methods */
  int width;
  /* there is a column for the error of x, because a solution is known */
  bool error;
} table_shape;

table_shape table_shape_of(const problem *p, const method_list *methods);
void table_columns(FILE *out, table_shape shape);
void table_row(FILE *out, table_shape shape, const run_result *r);
/* Prints what went wrong, and what that means. */
void table_failures(FILE *out, const problem *p, int count, const run_result *results);

void table_solve(FILE *out, const problem *p, const run_result *r);

#endif
