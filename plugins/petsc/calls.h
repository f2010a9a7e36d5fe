/* SPDX-License-Identifier: BSD-3-Clause */
/* Initialisation of PETSc, and translation of its errors into statuses. */
#ifndef BSI_PETSC_CALLS_H
#define BSI_PETSC_CALLS_H

#include <bisai/petsc.h>

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

#if PETSC_VERSION_LT(3, 23, 0)
typedef PetscOptionItems *bsi_petsc_option_items;
#else
typedef PetscOptionItems bsi_petsc_option_items;
#endif

/* The body of a call. It returns an error of PETSc as its value, and a failure of bisai in
 * *status. */
typedef PetscErrorCode (*bsi_petsc_body)(void *arguments, bisai_status *status);

/* Runs a body and translates an error of PETSc into a status and a message. Refuses contexts
 * without host memory. Fails if PETSc is not initialised. */
bisai_status bsi_petsc_run(bisai_context *context, bsi_petsc_body body, void *arguments);

/* Runs a body in the same way with a context of any backend. */
bisai_status bsi_petsc_run_anywhere(bisai_context *context, bsi_petsc_body body, void *arguments);

/* Records a formatted message and returns `status`. */
bisai_status bsi_petsc_fail(bisai_context *context, bisai_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the error of PETSc for a status. */
PetscErrorCode bsi_petsc_error(bisai_status status);

/* Returns the message of the last failure, which has this status. */
const char *bsi_petsc_message(const bisai_context *context, bisai_status status);

/* Converts a PetscInt, which may have 64 bits, into an int of 32 bits. */
PetscErrorCode bsi_petsc_narrow(const char *name, PetscInt value, int *result);

/* The bytes of a message. */
enum { BSI_PETSC_MESSAGE = 256 };

/* Gives every process of a communicator the failure of the lowest process that has one, so that all
 * raise it and none waits for another one. All of them call it, also those without rows.
 *   code     0 on a process without failure; on return the same on all
 *   message  of `code`, BSI_PETSC_MESSAGE bytes; on return the same on all that have a failure */
PetscErrorCode bsi_petsc_agree(MPI_Comm comm, PetscErrorCode *code, char *message);

/* Fails if the library was compiled for another version of PETSc than the one that runs, or for
 * other sizes of PetscInt and PetscScalar. */
PetscErrorCode bsi_petsc_check_version(void);

/* Returns the seconds of a monotonic clock. */
double bsi_petsc_now(void);

#endif
