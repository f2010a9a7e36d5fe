/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuSPARSE does in a run: block ILU(0) and its triangular solves, patterns, products. In a
 * build without it all of it fails with BISAI_UNAVAILABLE. */
#ifndef TOOL_CUSPARSE_METHODS_H
#define TOOL_CUSPARSE_METHODS_H

#include <bisai/krylov.h>

#include "method.h"
#include "options.h"
#include "problem.h"

typedef struct cusparse_parts cusparse_parts;

/* Whether the method needs cusparse_prepare(). */
bool cusparse_is_needed(const method *m);

/* Factors and patterns; completes the options of the preconditioner, which must not outlive *parts.
 * The message of a failure is the context's. */
bisai_status cusparse_prepare(bisai_context *context, const problem *p, const method *m,
                              bisai_precond_options *setup, cusparse_parts **parts);

/* After creation: products, and the times that the preconditioner does not know. *used is the
 * preconditioner to solve with, `precond` or one of the parts'. */
bisai_status cusparse_complete(cusparse_parts *parts, const problem *p, const method *m,
                               bisai_precond *precond, bisai_precond **used,
                               bisai_precond_report *report);

/* The operator to solve with, NULL: the matrix. */
bisai_apply_function cusparse_operator(const cusparse_parts *parts, void **user);

const char *cusparse_describe(const cusparse_parts *parts); /* as long as they live */
/* seconds of one-time analyses; NaN without */
double cusparse_analysis(const cusparse_parts *parts);

void cusparse_free(cusparse_parts **parts);

#endif
