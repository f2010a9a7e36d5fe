/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of PETSc from calls of bisai: starting and ending PETSc, and its errors as statuses. */
#ifndef BSI_PETSC_CALLS_H
#define BSI_PETSC_CALLS_H

#include <bisai/petsc.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

/* Part of a call, in PETSc's style: an error of PETSc is returned, a failure of bisai is left in
 * *status. */
typedef PetscErrorCode (*bsi_petsc_body)(void *arguments, bisai_status *status);

/* Runs a body with PETSc's errors turned into a status and a message. Refuses contexts without host
 * memory, and when PETSc does not run. */
bisai_status bsi_petsc_run(bisai_context *context, bsi_petsc_body body, void *arguments);

/* Leaves a formatted message. */
bisai_status bsi_petsc_fail(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Seconds of a monotonic clock. */
double bsi_petsc_now(void);

#endif
