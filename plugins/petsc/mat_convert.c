/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions, copies, files and views of a Mat of type "bisai". */
#include "petsc/device.h"
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"
#include "petsc/matrix.h"
#include "petsc/ranks/mat_parts.h"

/* Makes a Mat of type "bisai" with the options of `like`. */
static PetscErrorCode make(Mat like, Mat host, Mat *result) {
  PetscInt rows, columns, own, own_columns;
  bool ours;
  PetscFunctionBegin;
  PetscCall(MatGetSize(host, &rows, &columns));
  PetscCall(MatGetLocalSize(host, &own, &own_columns));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)host), result));
  PetscCall(MatSetSizes(*result, own, own_columns, rows, columns));
  PetscCall(MatSetType(*result, BSI_MAT_TYPE));
  PetscCall(bsi_mat_is_ours(like, &ours));
  if (ours) {
    const bsi_mat *from = like->data;
    bsi_mat *to = (*result)->data;
    to->asked = from->asked;
    to->threads = from->threads;
  }
  PetscCall(bsi_mat_adopt(*result, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *host ← a SeqBAIJ with the values of a Mat that bisai can read. */
static PetscErrorCode read_blocks(Mat mat, Mat *host) {
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_status status = BISAI_OK;
  char message[256] = "";
  PetscErrorCode code = PETSC_SUCCESS;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_context(BISAI_BACKEND_HOST, 1, &context, &status));
  if (!status) code = bsi_petsc_read(context, mat, &matrix, &status);
  if (!code && !status) code = bsi_petsc_mat(matrix, host);
  if (status && context) (void)PetscStrncpy(message, bisai_context_error(context), sizeof message);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  PetscCall(code);
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s", message);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *host ← a SeqBAIJ or MPIBAIJ with the values of a Mat. PETSc converts entries without
 * preallocation, which takes minutes in 3.18. */
static PetscErrorCode to_blocks(Mat mat, Mat *host) {
  PetscBool entries, upper, of_ranks = PETSC_FALSE;
  MatType type;
  PetscFunctionBegin;
  PetscCall(MatGetType(mat, &type));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &of_ranks));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)mat, MATSEQAIJ, &entries));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)mat, MATSEQSBAIJ, &upper));
  if (entries || upper)
    PetscCall(read_blocks(mat, host));
  else if (of_ranks)
    PetscCall(bsi_mat_parts_convert(mat, host));
  else
    PetscCall(MatConvert(mat, MATBAIJ, MAT_INITIAL_MATRIX, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_convert_from(Mat mat, MatType type, MatReuse reuse, Mat *result) {
  Mat host, converted;
  PetscFunctionBegin;
  (void)type;
  PetscCall(to_blocks(mat, &host));
  if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(bsi_mat_adopt(*result, host));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(make(mat, host, &converted));
  if (reuse == MAT_INPLACE_MATRIX)
    PetscCall(MatHeaderReplace(mat, &converted));
  else
    *result = converted;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_convert_to(Mat mat, MatType type, MatReuse reuse, Mat *result) {
  const bsi_mat *m = mat->data;
  PetscFunctionBegin;
  if (reuse == MAT_INPLACE_MATRIX) {
    Mat converted;
    PetscCall(MatConvert(m->host, type, MAT_INITIAL_MATRIX, &converted));
    PetscCall(MatHeaderReplace(mat, &converted));
  } else {
    PetscCall(MatConvert(m->host, type, reuse, result));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_duplicate(Mat mat, MatDuplicateOption option, Mat *result) {
  const bsi_mat *m = mat->data;
  Mat host;
  PetscFunctionBegin;
  PetscCall(MatDuplicate(m->host, option, &host));
  PetscCall(make(mat, host, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_transpose(Mat mat, MatReuse reuse, Mat *result) {
  const bsi_mat *m = mat->data;
  Mat host;
  PetscFunctionBegin;
  PetscCall(MatTranspose(m->host, MAT_INITIAL_MATRIX, &host));
  if (reuse == MAT_INITIAL_MATRIX)
    PetscCall(make(mat, host, result));
  else
    PetscCall(bsi_mat_adopt(reuse == MAT_INPLACE_MATRIX ? mat : *result, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_copy(Mat mat, Mat to, MatStructure structure) {
  bool ours;
  PetscFunctionBegin;
  PetscCall(bsi_mat_is_ours(to, &ours));
  PetscCall(MatCopy(bsi_mat_host(mat), ours ? bsi_mat_host(to) : to, structure));
  if (ours) PetscCall(bsi_mat_tell(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_load(Mat mat, PetscViewer viewer) {
  Mat host;
  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)mat), &host));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)host, ((PetscObject)mat)->prefix));
  PetscCall(MatSetType(host, MATBAIJ));
  PetscCall(MatLoad(host, viewer));
  PetscCall(bsi_mat_adopt(mat, host));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_view(Mat mat, PetscViewer viewer) {
  const bsi_mat *m = mat->data;
  PetscViewerFormat format;
  PetscBool text = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (!text || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL)) {
    if (m->host) PetscCall(MatView(m->host, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (m->values && m->values->copy.matrix) {
    const bisai_bcsr *a = m->values->copy.matrix;
    PetscCall(PetscViewerASCIIPrintf(viewer, "%d blocks of size %d in %d block rows\n",
                                     (int)bisai_bcsr_blocks(a), (int)bisai_bcsr_block_size(a),
                                     (int)bisai_bcsr_block_rows(a)));
    PetscCall(
        PetscViewerASCIIPrintf(viewer, "products on the %s: %s\n",
                               bisai_backend_string(bisai_context_backend(m->values->context)),
                               bisai_context_device(m->values->context)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
