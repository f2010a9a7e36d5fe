/* SPDX-License-Identifier: BSD-3-Clause */
/* A Mat of type "bisai" has its values twice. A SeqBAIJ on the host takes MatSetValues() and all
 * operations that change or read single values. A matrix of bisai on the host or on a GPU does the
 * products. It is updated when it is used and the SeqBAIJ has changed. On several processes an
 * MPIBAIJ takes the values, and petsc/ranks/mat_parts.h does the products. */
#include "petsc/mat_data.h"

#include "petsc/device.h"
#include "petsc/mat_impl.h"
#include "petsc/ranks/parts.h"

static bsi_mat *data_of(Mat mat) { return mat->data; }

PetscErrorCode bsi_mat_is_ours(Mat mat, bool *is) {
  PetscBool same = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(
      PetscObjectTypeCompareAny((PetscObject)mat, &same, BSI_MAT_TYPE, BSI_MAT_TYPE_OF_RANKS, ""));
  *is = same == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_backend bsi_mat_backend(Mat mat) {
  const bsi_mat *m = data_of(mat);
  if (m->asked != BISAI_BACKEND_AUTO) return m->asked;
  return bsi_petsc_has_gpu() ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
}

Mat bsi_mat_host(Mat mat) { return data_of(mat)->host; }

PetscErrorCode bsi_mat_readable(Mat mat, Mat *readable) {
  bool ours = false;
  PetscFunctionBegin;
  PetscCall(bsi_mat_is_ours(mat, &ours));
  *readable = ours && bsi_mat_host(mat) ? bsi_mat_host(mat) : mat;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Keeps the message of a failure, because the context may end before the caller reads it. */
static void keep_message(bsi_mat *m, const bisai_context *context, bisai_status status) {
  const char *message = context ? bisai_context_error(context) : "";
  if (!*message) message = bisai_status_string(status);
  (void)PetscStrncpy(m->message, message, sizeof m->message);
}

const char *bsi_mat_message(Mat mat) { return data_of(mat)->message; }

static PetscErrorCode open_values(Mat mat, bsi_mat_values **values, bisai_status *status) {
  bsi_mat *m = data_of(mat);
  const bisai_backend backend = bsi_mat_backend(mat);
  const char *const missing = bisai_backend_missing(backend, -1);
  int threads;
  PetscFunctionBegin;
  PetscCheck(!missing, PETSC_COMM_SELF, PETSC_ERR_SUP, "bisai: -mat_bisai_backend %s: %s",
             bisai_backend_string(backend), missing);
  PetscCall(bsi_petsc_narrow("-mat_bisai_threads", m->threads, &threads));
  PetscCall(PetscNew(values));
  (*values)->references = 1;
  PetscCall(bsi_petsc_context(backend, threads, &(*values)->context, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Reads the host's values into `values`. A new object takes them if their pattern has changed, or
 * if a preconditioner other than that of `held` reads the old ones. */
static PetscErrorCode read_host(Mat mat, const bsi_mat_values *held, bisai_status *status) {
  bsi_mat *m = data_of(mat);
  bsi_mat_values *values = m->values;
  bisai_bcsr *replaced = NULL;
  bool follows = false;
  PetscFunctionBegin;
  if (values) PetscCall(bsi_petsc_copy_follows(&values->copy, m->host, &follows));
  const bool fresh = !follows || values->references > (values == held ? 2 : 1);
  if (fresh) values = NULL;
  if (fresh) PetscCall(open_values(mat, &values, status));
  if (!*status)
    PetscCall(bsi_petsc_copy_refresh(&values->copy, values->context, m->host, &replaced, status));
  if (*status) keep_message(m, values->context, *status);
  if (fresh && *status) bsi_mat_release(&values);
  if (fresh && !*status) {
    bsi_mat_release(&m->values);
    m->values = values;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode refresh(Mat mat, const bsi_mat_values *held, bisai_status *status) {
  bsi_mat *m = data_of(mat);
  PetscObjectState state;
  PetscFunctionBegin;
  *status = BISAI_OK;
  PetscCall(PetscObjectStateGet((PetscObject)m->host, &state));
  if (m->values && m->state == state) PetscFunctionReturn(PETSC_SUCCESS);
  if (m->values) bisai_bcsr_destroy(&m->values->transposed);
  PetscCall(read_host(mat, held, status));
  if (*status) PetscFunctionReturn(PETSC_SUCCESS);
  m->state = state;
#if defined(PETSC_HAVE_CUDA)
  if (bsi_mat_backend(mat) == BISAI_BACKEND_CUDA) {
    const bisai_bcsr *a = m->values->copy.matrix;
    const double bs = bisai_bcsr_block_size(a);
    PetscCall(PetscLogCpuToGpu(8.0 * bisai_bcsr_blocks(a) * bs * bs));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_share(Mat mat, const bsi_mat_values *held, bsi_mat_values **values,
                             bisai_status *status) {
  bsi_mat *m = data_of(mat);
  PetscFunctionBegin;
  PetscCall(refresh(mat, held, status));
  if (!*status) {
    m->values->references++;
    *values = m->values;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_use(Mat mat) {
  bisai_status status;
  PetscFunctionBegin;
  PetscCall(refresh(mat, NULL, &status));
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s", bsi_mat_message(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The pattern of an MPIBAIJ has no arrays, but PETSc counts its changes on all processes. */
static PetscErrorCode pattern_of(Mat host, bsi_petsc_pattern *pattern) {
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)host), &size));
  *pattern = (bsi_petsc_pattern){.col_idx = NULL};
  PetscCall(PetscObjectGetId((PetscObject)host, &pattern->mat));
  PetscCall(MatGetNonzeroState(host, &pattern->state));
  if (size == 1) PetscCall(bsi_petsc_pattern_of(host, pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_tell(Mat mat) {
  bsi_mat *m = data_of(mat);
  bsi_petsc_pattern pattern;
  PetscObjectState state;
  PetscBool assembled;
  PetscFunctionBegin;
  PetscCall(MatAssembled(m->host, &assembled));
  if (!assembled) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)m->host, &state));
  PetscCall(pattern_of(m->host, &pattern));
  if (!bsi_petsc_is_same_pattern(&m->pattern, &pattern)) mat->nonzerostate++;
  if (state != m->told) PetscCall(PetscObjectStateIncrease((PetscObject)mat));
  m->told = state;
  m->pattern = pattern;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_choose_vectors(Mat mat) {
  PetscFunctionBegin;
#if defined(PETSC_HAVE_CUDA)
  const bool on_gpu = bsi_mat_backend(mat) == BISAI_BACKEND_CUDA;
  PetscCall(PetscFree(mat->defaultvectype));
  PetscCall(PetscStrallocpy(on_gpu ? VECCUDA : VECSTANDARD, &mat->defaultvectype));
#else
  (void)mat;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_prepare(Mat mat) {
  bsi_mat *m = data_of(mat);
  PetscInt rows, columns, own, own_columns, bs;
  PetscFunctionBegin;
  if (m->host) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLayoutSetUp(mat->rmap));
  PetscCall(PetscLayoutSetUp(mat->cmap));
  PetscCall(MatGetSize(mat, &rows, &columns));
  PetscCall(MatGetBlockSize(mat, &bs));
  PetscCall(MatGetLocalSize(mat, &own, &own_columns));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)mat), &m->host));
  PetscCall(MatSetSizes(m->host, own, own_columns, rows, columns));
  PetscCall(MatSetBlockSize(m->host, bs));
  PetscCall(MatSetType(m->host, MATBAIJ));
  PetscCall(bsi_mat_choose_vectors(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_adopt(Mat mat, Mat host) {
  bsi_mat *m = data_of(mat);
  PetscBool assembled;
  PetscFunctionBegin;
  PetscCall(bsi_mat_parts_destroy(&m->parts));
  PetscCall(MatDestroy(&m->host));
  m->host = host;
  m->state = 0;
  bsi_mat_release(&m->values);
  PetscCall(PetscLayoutReference(host->rmap, &mat->rmap));
  PetscCall(PetscLayoutReference(host->cmap, &mat->cmap));
  PetscCall(MatAssembled(host, &assembled));
  mat->assembled = assembled;
  mat->preallocated = PETSC_TRUE;
  mat->nonzerostate++;
  PetscCall(bsi_mat_choose_vectors(mat));
  PetscCall(PetscObjectStateIncrease((PetscObject)mat));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}
