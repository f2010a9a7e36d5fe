/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a run that cuSPARSE does: block ILU(0) and its triangular solves, patterns,
 * products. In a build without cuSPARSE every call fails with BISAI_UNAVAILABLE. */
#ifndef TOOL_CUSPARSE_METHODS_H
#define TOOL_CUSPARSE_METHODS_H

#include <bisai/krylov.h>

#include "method.h"
#include "options.h"
#include "problem.h"

typedef struct cusparse_parts cusparse_parts;

/* Returns true if the method needs cusparse_prepare(). */
bool cusparse_is_needed(const method *m);

/* Makes factors and patterns, and puts them into the options of the preconditioner. The
 * preconditioner must not outlive *parts. After a failure the context has the message. */
bisai_status cusparse_prepare(bisai_context *context, const problem *p, const method *m,
                              bisai_precond_options *setup, cusparse_parts **parts);

/* Makes the products after the preconditioner has been created, and adds the times that the
 * preconditioner does not know. *used ← the preconditioner to solve with, which is `precond` or
 * belongs to the parts. */
bisai_status cusparse_complete(cusparse_parts *parts, const problem *p, const method *m,
                               bisai_precond *precond, bisai_precond **used,
                               bisai_precond_report *report);

/* Returns the operator to solve with. NULL: the matrix. */
bisai_apply_function cusparse_operator(const cusparse_parts *parts, void **user);

const char *cusparse_describe(const cusparse_parts *parts); /* valid as long as the parts */
/* Returns the seconds of analyses that are needed once, or NaN if there are none. */
double cusparse_analysis(const cusparse_parts *parts);

void cusparse_free(cusparse_parts **parts);

#endif
