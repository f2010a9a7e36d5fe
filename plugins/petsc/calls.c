/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/calls.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double bsi_petsc_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bisai_status bsi_petsc_fail(bisai_context *context, bisai_status status, const char *format, ...) {
  char message[BSI_PETSC_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return bisai_context_fail(context, status, message);
}

/* Keeps only the first message. It describes the error; the later messages trace the callers. */
static PetscErrorCode keep_message(MPI_Comm comm, int line, const char *function, const char *file,
                                   PetscErrorCode code, PetscErrorType type, const char *message,
                                   void *kept) {
  (void)comm, (void)line, (void)file;
  char *text = kept;
  if (type == PETSC_ERROR_INITIAL || !*text)
    snprintf(text, BSI_PETSC_MESSAGE, "PETSc, %s(): %s", function ? function : "",
             message && *message ? message : "failed");
  return code;
}

static bisai_status status_of(PetscErrorCode code) {
  switch ((int)code) {
  case PETSC_ERR_MEM: return BISAI_OUT_OF_MEMORY;
  case PETSC_ERR_SUP:
  case PETSC_ERR_MISSING_FACTOR: return BISAI_UNSUPPORTED;
  case PETSC_ERR_MAT_LU_ZRPVT: return BISAI_SINGULAR_BLOCK;
  case PETSC_ERR_FP: return BISAI_NOT_FINITE;
  case PETSC_ERR_INT_OVERFLOW: return BISAI_INDEX_OVERFLOW;
  default: return BISAI_EXTERNAL_ERROR;
  }
}

static bool runs(void) {
  PetscBool started = PETSC_FALSE, ended = PETSC_FALSE;
  PetscInitialized(&started);
  PetscFinalized(&ended);
  return started && !ended;
}

bisai_status bsi_petsc_run(bisai_context *context, bsi_petsc_body body, void *arguments) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (bisai_context_backend(context) != BISAI_BACKEND_HOST)
    return bisai_context_fail(
        context, BISAI_UNAVAILABLE,
        "PETSc works on host memory and needs a context with the host backend");
  return bsi_petsc_run_anywhere(context, body, arguments);
}

bisai_status bsi_petsc_run_anywhere(bisai_context *context, bsi_petsc_body body, void *arguments) {
  char message[BSI_PETSC_MESSAGE] = "";
  bisai_status status = BISAI_OK;
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!runs())
    return bisai_context_fail(
        context, BISAI_INVALID_ARGUMENT,
        "PETSc is not initialised: call PetscInitialize() or bisai_petsc_start() first");
  if (PetscPushErrorHandler(keep_message, message))
    return bisai_context_fail(context, BISAI_OUT_OF_MEMORY, "out of memory in PETSc");
  PetscErrorCode code = body(arguments, &status);
  PetscPopErrorHandler();
  if (code) return bisai_context_fail(context, status_of(code), *message ? message : NULL);
  return status;
}

PetscErrorCode bsi_petsc_agree(MPI_Comm comm, PetscErrorCode *code, char *message) {
  PetscMPIInt rank, size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  int first = *code ? rank : size, number = (int)*code;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, first, comm));
  PetscCallMPI(MPI_Bcast(message, BSI_PETSC_MESSAGE, MPI_CHAR, first, comm));
  *code = (PetscErrorCode)number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_start(bisai_context *context, bool *started) {
  if (!context || !started)
    return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "started is NULL");
  if (runs()) {
    *started = false;
    return BISAI_OK;
  }
  int mpi_ended = 0;
  MPI_Finalized(&mpi_ended);
  if (mpi_ended)
    return bisai_context_fail(context, BISAI_UNAVAILABLE,
                              "MPI is finalised: MPI and PETSc cannot be initialised again");
  /* The program handles its signals itself. */
  PetscErrorCode code = PetscOptionsSetValue(NULL, "-no_signal_handler", "true");
  if (!code) code = PetscInitializeNoArguments();
  if (code)
    return bsi_petsc_fail(context, BISAI_EXTERNAL_ERROR, "PetscInitialize() failed with error %d",
                          (int)code);
  *started = true;
  return BISAI_OK;
}

bisai_status bisai_petsc_stop(bisai_context *context) {
  if (!runs()) return BISAI_OK;
  PetscErrorCode code = PetscFinalize();
  if (!code) return BISAI_OK;
  return bsi_petsc_fail(context, BISAI_EXTERNAL_ERROR, "PetscFinalize() failed with error %d",
                        (int)code);
}

PetscErrorCode bsi_petsc_error(bisai_status status) {
  if (status == BISAI_OUT_OF_MEMORY) return PETSC_ERR_MEM;
  if (status == BISAI_UNSUPPORTED || status == BISAI_UNAVAILABLE) return PETSC_ERR_SUP;
  if (status == BISAI_INVALID_ARGUMENT) return PETSC_ERR_ARG_OUTOFRANGE;
  if (status == BISAI_NOT_SYMMETRIC) return PETSC_ERR_ARG_INCOMP;
  return PETSC_ERR_LIB;
}

const char *bsi_petsc_message(const bisai_context *context, bisai_status status) {
  const char *message = bisai_context_error(context);
  return *message ? message : bisai_status_string(status);
}

PetscErrorCode bsi_petsc_narrow(const char *name, PetscInt value, int *result) {
  const int64_t wide = value;
  PetscFunctionBegin;
  PetscCheck(wide >= INT32_MIN && wide <= INT32_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: %s is %" PetscInt_FMT ", which exceeds 32 bits", name, value);
  *result = (int)wide;
  PetscFunctionReturn(PETSC_SUCCESS);
}
