/* SPDX-License-Identifier: BSD-3-Clause */
/* What PETSc does in a run: its block ILU factors, its triangular solves, its whole solver. In a
 * build without PETSc all of it fails with BISAI_UNAVAILABLE. PETSc, and MPI with it, starts at the
 * first use. */
#ifndef TOOL_PETSC_METHODS_H
#define TOOL_PETSC_METHODS_H

#include <bisai/krylov.h>

#include "method.h"
#include "options.h"
#include "problem.h"

typedef struct petsc_parts petsc_parts;

/* Whether the method needs petsc_prepare(). */
bool petsc_is_needed(const method *m);

/* For petsc-ilu and factors=petsc: factors, and completes the options of the preconditioner, which
 * must not outlive *parts. The message of a failure is the context's. */
bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o,
                           const method *m, bisai_precond_options *setup, petsc_parts **parts);
/* After creation: the times and blocks that the preconditioner does not know. */
void petsc_complete(const petsc_parts *parts, bisai_precond_report *report);

/* The method petsc. */
bisai_status petsc_create(bisai_context *context, const problem *p, const options *o,
                          const method *m, bisai_monitor monitor, void *user, petsc_parts **parts);
bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x,
                         bisai_solver_report *report);

/* What they are, as long as they live. */
const char *petsc_describe(const petsc_parts *parts);

void petsc_free(petsc_parts **parts);

/* Ends PETSc where it was started; nothing made with it may be left. */
void petsc_end(bisai_context *context);

#endif
