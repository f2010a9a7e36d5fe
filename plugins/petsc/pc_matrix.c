/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/pc_matrix.h"

#include <petsc/private/petscimpl.h>

#include "petsc/device.h"
#include "petsc/mat_data.h"

PetscErrorCode bsi_pc_backend(Mat mat, bisai_backend asked, bisai_backend *backend) {
  bool ours, on_gpu;
  PetscFunctionBegin;
  *backend = asked;
  if (asked != BISAI_BACKEND_AUTO) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_mat_is_ours(mat, &ours));
  PetscCall(bsi_petsc_is_on_gpu(mat, &on_gpu));
  *backend = on_gpu && bsi_petsc_has_gpu() ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
  if (ours) *backend = bsi_mat_backend(mat);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_own_block(Mat mat, Mat *block) {
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  PetscBool nest, shell, has = PETSC_TRUE;
  PetscMPIInt size;
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATNEST, &nest));
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATSHELL, &shell));
  PetscCheck(!nest, comm, PETSC_ERR_SUP,
             "bisai: the Mat has type nest: take -pc_type fieldsplit with bisai for its parts, or "
             "MatConvert to aij");
  PetscCheck(!shell, comm, PETSC_ERR_SUP,
             "bisai: the Mat has type shell, which has no entries: give KSPSetOperators an "
             "assembled matrix as the second one");
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCall(MatHasOperation(mat, MATOP_GET_DIAGONAL_BLOCK, &has));
  PetscCheck(has, comm, PETSC_ERR_SUP,
             "bisai: the Mat has type %s; baij, sbaij, aij or bisai is needed",
             ((PetscObject)mat)->type_name);
  PetscCall(MatGetDiagonalBlock(mat, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const bisai_bcsr *bsi_pc_matrix_get(const bsi_pc_matrix *matrix) {
  return matrix->shared ? matrix->shared->copy.matrix : matrix->copy.matrix;
}

void bsi_pc_matrix_destroy(bsi_pc_matrix *matrix) {
  bisai_bcsr_destroy(&matrix->copy.matrix);
  bsi_mat_release(&matrix->shared);
}

/* Takes the matrix of a Mat of type "bisai". */
static PetscErrorCode share(bsi_pc_matrix *matrix, bisai_context *context, Mat mat,
                            bsi_pc_matrix *old, bisai_status *status) {
  bsi_mat_values *values = NULL;
  PetscFunctionBegin;
  PetscCall(bsi_mat_share(mat, matrix->shared, &values, status));
  if (*status) {
    *status = bisai_context_fail(context, *status, bsi_mat_message(mat));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  *old = *matrix;
  *matrix = (bsi_pc_matrix){.shared = values};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_matrix_holds(const bsi_pc_matrix *matrix, Mat mat, bool *holds) {
  PetscObjectId id;
  PetscObjectState state;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)mat, &id));
  PetscCall(PetscObjectStateGet((PetscObject)mat, &state));
  *holds = bsi_pc_matrix_get(matrix) && matrix->mat == id && matrix->state == state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_pc_matrix_read(bsi_pc_matrix *matrix, bisai_context *context, Mat mat,
                                  bsi_pc_matrix *old, bisai_status *status) {
  PetscObjectId id;
  PetscObjectState state;
  bool ours;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)mat, &id));
  PetscCall(PetscObjectStateGet((PetscObject)mat, &state));
  *old = (bsi_pc_matrix){.shared = NULL};
  PetscCall(bsi_mat_is_ours(mat, &ours));
  if (ours && bsi_mat_backend(mat) == bisai_context_backend(context)) {
    PetscCall(share(matrix, context, mat, old, status));
  } else {
    PetscCall(bsi_mat_readable(mat, &mat));
    PetscCall(bsi_petsc_copy_refresh(&matrix->copy, context, mat, &old->copy.matrix, status));
    if (!*status) {
      old->shared = matrix->shared;
      matrix->shared = NULL;
    }
  }
  if (!*status) matrix->mat = id, matrix->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}
