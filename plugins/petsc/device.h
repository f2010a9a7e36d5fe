/* SPDX-License-Identifier: BSD-3-Clause */
/* Where PETSc's objects have their values, and how bisai works on them there: contexts on PETSc's
 * device and stream, and vectors in host or device memory. */
#ifndef BSI_PETSC_DEVICE_H
#define BSI_PETSC_DEVICE_H

#include <petscmat.h>

#include "petsc/calls.h"

/* The number of words of bisai_backend. */
#define BSI_PETSC_BACKEND_COUNT(enumerator, word) +1
enum { BSI_PETSC_BACKENDS = 0 BISAI_BACKEND_LIST(BSI_PETSC_BACKEND_COUNT) };
#undef BSI_PETSC_BACKEND_COUNT

/* Lists the words of bisai_backend for PetscOptionsEnum(). */
void bsi_petsc_list_backends(const char *words[BSI_PETSC_BACKENDS + 3]);

/* Returns true if PETSc and bisai can use a GPU in this program. */
bool bsi_petsc_has_gpu(void);

/* Creates a context. On a GPU it uses the device that PETSc has selected for this process, and
 * PETSc's current stream. */
PetscErrorCode bsi_petsc_context(bisai_backend backend, int threads, bisai_context **context,
                                 bisai_status *status);

/* Orders the context's work after the work that PETSc has enqueued. The work needs no order if both
 * use the same stream; otherwise the call waits. */
PetscErrorCode bsi_petsc_enter(const bisai_context *context);

/* Orders PETSc's later work after the context's work. *status receives a failure, unless it already
 * holds one. */
PetscErrorCode bsi_petsc_leave(bisai_context *context, bisai_status *status);

/* Logs operations of the backend for -log_view. */
PetscErrorCode bsi_petsc_log_flops(const bisai_context *context, PetscLogDouble flops);

/* The arrays of two vectors during an operation y ← f(x). */
typedef struct bsi_petsc_arrays {
  bisai_context *context;
  Vec x, y;
  const PetscScalar *from;
  PetscScalar *to;
  /* y is read too */
  bool reads;
} bsi_petsc_arrays;

/* Takes the arrays from the memory in which the backend works. On a GPU they stay in host memory if
 * the vectors are of a type of the host; bisai then copies them. */
PetscErrorCode bsi_petsc_take(bisai_context *context, Vec x, Vec y, bsi_petsc_arrays *arrays);

/* The same for y ← f(x, y). */
PetscErrorCode bsi_petsc_take_guess(bisai_context *context, Vec x, Vec y, bsi_petsc_arrays *arrays);

/* Gives the arrays back. y has changed. */
PetscErrorCode bsi_petsc_give_back(bsi_petsc_arrays *arrays, bisai_status *status);

/* The same for the columns of two dense Mats. */
typedef struct bsi_petsc_columns {
  bisai_context *context;
  Mat x, y;
  const PetscScalar *from;
  PetscScalar *to;
} bsi_petsc_columns;

PetscErrorCode bsi_petsc_take_columns(bisai_context *context, Mat x, Mat y,
                                      bsi_petsc_columns *arrays);
PetscErrorCode bsi_petsc_give_columns_back(bsi_petsc_columns *arrays, bisai_status *status);

#endif
