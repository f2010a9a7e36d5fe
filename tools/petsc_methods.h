/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a run that PETSc does: block ILU factors, triangular solves, or the whole solver. In
 * a build without PETSc every call fails with BISAI_UNAVAILABLE. The first use starts PETSc and
 * MPI. */
#ifndef TOOL_PETSC_METHODS_H
#define TOOL_PETSC_METHODS_H

#include <bisai/krylov.h>

#include "method.h"
#include "options.h"
#include "problem.h"

typedef struct petsc_parts petsc_parts;

/* Returns true if the method needs petsc_prepare(). */
bool petsc_is_needed(const method *m);

/* Makes the factors for petsc-ilu and factors=petsc, and puts them into the options of the
 * preconditioner. The preconditioner must not outlive *parts. After a failure the context has the
 * message. */
bisai_status petsc_prepare(bisai_context *context, const problem *p, const options *o,
                           const method *m, bisai_precond_options *setup, petsc_parts **parts);
/* Adds the times and blocks that the preconditioner does not know, after its creation. */
void petsc_complete(const petsc_parts *parts, bisai_precond_report *report);

/* The method `petsc`. */
bisai_status petsc_create(bisai_context *context, const problem *p, const options *o,
                          const method *m, bisai_monitor monitor, void *user, petsc_parts **parts);
bisai_status petsc_solve(petsc_parts *parts, const problem *p, double *x,
                         bisai_solver_report *report);

/* Returns a description, which is valid as long as the parts. */
const char *petsc_describe(const petsc_parts *parts);

void petsc_free(petsc_parts **parts);

/* Ends PETSc if it was started. All objects of PETSc must be destroyed before. */
void petsc_end(bisai_context *context);

#endif
