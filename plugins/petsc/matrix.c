/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions between bisai_bcsr and Mat. Both store the blocks of a SeqBAIJ column by column.
 * However, MatSetValuesBlocked() and MatSeqBAIJSetPreallocationCSR() read blocks row by row by
 * default. */
#include "petsc/matrix.h"

#include "petsc/calls.h"
#include "petsc/mat_data.h"

bisai_status bsi_petsc_check_factorable(bisai_context *context, const bisai_bcsr *matrix,
                                        int level) {
  if (!matrix) return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "matrix is NULL");
  if (level < 0)
    return bsi_petsc_fail(context, BISAI_INVALID_ARGUMENT, "level is %d; it must be at least 0",
                          level);
  int32_t n = bisai_bcsr_block_rows(matrix), columns = bisai_bcsr_block_cols(matrix);
  if (n != columns)
    return bsi_petsc_fail(context, BISAI_INVALID_ARGUMENT,
                          "the matrix is not square: %d × %d blocks", (int)n, (int)columns);
  if (bisai_bcsr_value_type(matrix) != BISAI_FP64 || bisai_bcsr_unit_diagonal(matrix))
    return bisai_context_fail(context, BISAI_UNSUPPORTED,
                              "PETSc needs fp64 values and stored diagonal blocks");
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  for (int32_t i = 0; i < n; i++) {
    int32_t p = row_ptr[i];
    while (p < row_ptr[i + 1] && col_idx[p] < i) p++;
    if (p == row_ptr[i + 1] || col_idx[p] != i)
      return bsi_petsc_fail(context, BISAI_MISSING_DIAGONAL, "block row %d has no diagonal block",
                            (int)i);
  }
  return BISAI_OK;
}

PetscErrorCode bsi_petsc_mat(const bisai_bcsr *matrix, Mat *mat) {
  const PetscInt n = bisai_bcsr_block_rows(matrix), bs = bisai_bcsr_block_size(matrix);
  const int32_t *row_ptr, *col_idx;
  const void *values;
  PetscInt *lengths, *columns;
  PetscFunctionBegin;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const double *blocks = values;
  PetscInt longest = 0;
  PetscCall(PetscMalloc1(n, &lengths));
  for (PetscInt i = 0; i < n; i++) {
    lengths[i] = row_ptr[i + 1] - row_ptr[i];
    longest = PetscMax(longest, lengths[i]);
  }
  PetscCall(MatCreateSeqBAIJ(PETSC_COMM_SELF, bs, n * bs, bisai_bcsr_block_cols(matrix) * bs, 0,
                             lengths, mat));
  PetscCall(PetscFree(lengths));
  PetscCall(MatSetOption(*mat, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(PetscMalloc1(longest, &columns));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt p = 0; p < row_ptr[i + 1] - row_ptr[i]; p++) columns[p] = col_idx[row_ptr[i] + p];
    /* The consecutive column-major blocks of a block row form one array of scalar columns. */
    PetscCall(MatSetValuesBlocked(*mat, 1, &i, row_ptr[i + 1] - row_ptr[i], columns,
                                  blocks + (size_t)row_ptr[i] * (size_t)(bs * bs), INSERT_VALUES));
  }
  PetscCall(PetscFree(columns));
  PetscCall(MatAssemblyBegin(*mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef struct to_mat {
  const bisai_bcsr *matrix;
  Mat mat;
} to_mat;

static PetscErrorCode make_mat(void *arguments, bisai_status *status) {
  to_mat *o = arguments;
  (void)status;
  PetscFunctionBegin;
  PetscErrorCode code = bsi_petsc_mat(o->matrix, &o->mat);
  if (code) PetscCall(MatDestroy(&o->mat));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_to_mat(bisai_context *context, const bisai_bcsr *matrix, Mat *result) {
  if (!matrix || !result)
    return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "matrix or result is NULL");
  if (bisai_bcsr_value_type(matrix) != BISAI_FP64 || bisai_bcsr_unit_diagonal(matrix))
    return bisai_context_fail(context, BISAI_UNSUPPORTED,
                              "PETSc needs fp64 values and stored diagonal blocks");
  to_mat o = {matrix, NULL};
  bisai_status status = bsi_petsc_run(context, make_mat, &o);
  if (!status) *result = o.mat;
  return status;
}

typedef struct from_mat {
  bisai_context *context;
  Mat mat;
  bisai_bcsr *result;
} from_mat;

static PetscErrorCode read_mat(void *arguments, bisai_status *status) {
  from_mat *o = arguments;
  Mat readable;
  PetscFunctionBegin;
  PetscCall(bsi_mat_readable(o->mat, &readable));
  PetscCall(bsi_petsc_read(o->context, readable, &o->result, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_from_mat(bisai_context *context, Mat mat, bisai_bcsr **result) {
  if (!mat || !result)
    return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "mat or result is NULL");
  from_mat o = {.context = context, .mat = mat};
  const bisai_status status = bsi_petsc_run_anywhere(context, read_mat, &o);
  if (!status)
    *result = o.result;
  else
    bisai_bcsr_destroy(&o.result);
  return status;
}
