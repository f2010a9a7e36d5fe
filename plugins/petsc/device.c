/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/device.h"

#include <petscdevice.h>

static bool is_host(const bisai_context *context) {
  return bisai_context_backend(context) == BISAI_BACKEND_HOST;
}

void bsi_petsc_list_backends(const char *words[BSI_PETSC_BACKENDS + 3]) {
  for (int i = 0; i < BSI_PETSC_BACKENDS; i++) words[i] = bisai_backend_string((bisai_backend)i);
  words[BSI_PETSC_BACKENDS] = "bisai_backend";
  words[BSI_PETSC_BACKENDS + 1] = "BISAI_BACKEND_";
  words[BSI_PETSC_BACKENDS + 2] = NULL;
}

bool bsi_petsc_has_gpu(void) {
#if defined(PETSC_HAVE_CUDA)
  return !bisai_backend_missing(BISAI_BACKEND_CUDA, -1);
#else
  return false;
#endif
}

#if defined(PETSC_HAVE_CUDA)
/* *stream ← PETSc's current stream, a cudaStream_t; NULL if this version of PETSc does not show its
 * stream or the current context is not one of CUDA. */
static PetscErrorCode current_stream(PetscDeviceContext *device, void **stream) {
  PetscFunctionBegin;
  *stream = NULL;
  PetscCall(PetscDeviceContextGetCurrentContext(device));
#if PETSC_VERSION_GE(3, 20, 0)
  /* cudaStreamLegacy: NULL means the same stream, but for bisai a stream of its own */
  void *const legacy = (void *)1;
  PetscDeviceType type;
  void *handle = NULL;
  PetscCall(PetscDeviceContextGetDeviceType(*device, &type));
  if (type != PETSC_DEVICE_CUDA) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscDeviceContextGetStreamHandle(*device, &handle));
  *stream = *(void **)handle ? *(void **)handle : legacy;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode bsi_petsc_context(bisai_backend backend, int threads, bisai_context **context,
                                 bisai_status *status) {
  bisai_context_options how = bisai_context_options_default();
  PetscFunctionBegin;
  how.backend = backend;
  how.threads = threads;
#if defined(PETSC_HAVE_CUDA)
  if (backend == BISAI_BACKEND_CUDA && bsi_petsc_has_gpu()) {
    PetscDeviceContext device;
    PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
    PetscCall(current_stream(&device, &how.stream));
  }
#endif
  *status = bisai_context_create(&how, context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_HAVE_CUDA)
/* *device ← PETSc's current context if its stream is not that of `context`, otherwise NULL. */
static PetscErrorCode other_stream(const bisai_context *context, PetscDeviceContext *device) {
  void *stream;
  PetscFunctionBegin;
  PetscCall(current_stream(device, &stream));
  if (stream && stream == bisai_context_stream(context)) *device = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode bsi_petsc_enter(const bisai_context *context) {
  PetscFunctionBegin;
  if (is_host(context)) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA)
  PetscDeviceContext device;
  PetscCall(other_stream(context, &device));
  if (device) PetscCall(PetscDeviceContextSynchronize(device));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_leave(bisai_context *context, bisai_status *status) {
  PetscFunctionBegin;
  if (is_host(context)) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(PETSC_HAVE_CUDA)
  PetscDeviceContext device;
  PetscCall(other_stream(context, &device));
  if (device) {
    const bisai_status waited = bisai_context_synchronize(context);
    if (!*status) *status = waited;
  }
#else
  (void)status; /* PETSc has its vectors in host memory, and bisai has waited */
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_log_flops(const bisai_context *context, PetscLogDouble flops) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  if (!is_host(context)) {
    PetscCall(PetscLogGpuFlops(flops));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)context;
#endif
  PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the array of y; `reads` is set. */
static PetscErrorCode take_result(bsi_petsc_arrays *arrays) {
  PetscFunctionBegin;
  if (is_host(arrays->context)) {
    if (arrays->reads)
      PetscCall(VecGetArray(arrays->y, &arrays->to));
    else
      PetscCall(VecGetArrayWrite(arrays->y, &arrays->to));
  } else {
    if (arrays->reads)
      PetscCall(VecGetArrayAndMemType(arrays->y, &arrays->to, NULL));
    else
      PetscCall(VecGetArrayWriteAndMemType(arrays->y, &arrays->to, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode give_result_back(bsi_petsc_arrays *arrays) {
  PetscFunctionBegin;
  if (is_host(arrays->context)) {
    if (arrays->reads)
      PetscCall(VecRestoreArray(arrays->y, &arrays->to));
    else
      PetscCall(VecRestoreArrayWrite(arrays->y, &arrays->to));
  } else {
    if (arrays->reads)
      PetscCall(VecRestoreArrayAndMemType(arrays->y, &arrays->to));
    else
      PetscCall(VecRestoreArrayWriteAndMemType(arrays->y, &arrays->to));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take(bsi_petsc_arrays *arrays) {
  PetscFunctionBegin;
  if (is_host(arrays->context)) {
    PetscCall(VecGetArrayRead(arrays->x, &arrays->from));
    PetscCall(take_result(arrays));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetArrayReadAndMemType(arrays->x, &arrays->from, NULL));
  PetscCall(take_result(arrays));
  PetscCall(bsi_petsc_enter(arrays->context));
  PetscCall(PetscLogGpuTimeBegin());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_take(bisai_context *context, Vec x, Vec y, bsi_petsc_arrays *arrays) {
  PetscFunctionBegin;
  *arrays = (bsi_petsc_arrays){.context = context, .x = x, .y = y};
  PetscCall(take(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_take_guess(bisai_context *context, Vec x, Vec y,
                                    bsi_petsc_arrays *arrays) {
  PetscFunctionBegin;
  *arrays = (bsi_petsc_arrays){.context = context, .x = x, .y = y, .reads = true};
  PetscCall(take(arrays));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_give_back(bsi_petsc_arrays *arrays, bisai_status *status) {
  PetscFunctionBegin;
  if (is_host(arrays->context)) {
    PetscCall(give_result_back(arrays));
    PetscCall(VecRestoreArrayRead(arrays->x, &arrays->from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(bsi_petsc_leave(arrays->context, status));
  PetscCall(give_result_back(arrays));
  PetscCall(VecRestoreArrayReadAndMemType(arrays->x, &arrays->from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns true if the arrays of a dense Mat may be on the GPU. */
static bool may_be_on_gpu(const bisai_context *context) {
#if PETSC_VERSION_GE(3, 19, 0)
  return !is_host(context);
#else
  (void)context;
  return false;
#endif
}

PetscErrorCode bsi_petsc_take_columns(bisai_context *context, Mat x, Mat y,
                                      bsi_petsc_columns *arrays) {
  PetscFunctionBegin;
  *arrays = (bsi_petsc_columns){.context = context, .x = x, .y = y};
  if (!may_be_on_gpu(context)) {
    PetscCall(MatDenseGetArrayRead(x, &arrays->from));
    PetscCall(MatDenseGetArrayWrite(y, &arrays->to));
  }
#if PETSC_VERSION_GE(3, 19, 0)
  if (may_be_on_gpu(context)) {
    PetscCall(MatDenseGetArrayReadAndMemType(x, &arrays->from, NULL));
    PetscCall(MatDenseGetArrayWriteAndMemType(y, &arrays->to, NULL));
  }
#endif
  PetscCall(bsi_petsc_enter(context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_give_columns_back(bsi_petsc_columns *arrays, bisai_status *status) {
  PetscFunctionBegin;
  PetscCall(bsi_petsc_leave(arrays->context, status));
  if (!may_be_on_gpu(arrays->context)) {
    PetscCall(MatDenseRestoreArrayWrite(arrays->y, &arrays->to));
    PetscCall(MatDenseRestoreArrayRead(arrays->x, &arrays->from));
  }
#if PETSC_VERSION_GE(3, 19, 0)
  if (may_be_on_gpu(arrays->context)) {
    PetscCall(MatDenseRestoreArrayWriteAndMemType(arrays->y, &arrays->to));
    PetscCall(MatDenseRestoreArrayReadAndMemType(arrays->x, &arrays->from));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
