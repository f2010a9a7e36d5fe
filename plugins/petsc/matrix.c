/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions between bisai_bcsr and Mat. Both store the blocks of a SeqBAIJ column by column.
 * However, MatSetValuesBlocked() and MatSeqBAIJSetPreallocationCSR() read blocks row by row by
 * default. */
#include "petsc/matrix.h"

#include <limits.h>

#include "petsc/calls.h"

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
  if (status == BISAI_OK) *result = o.mat;
  return status;
}

/* A Mat and the arrays that it lends during a conversion. */
typedef struct view {
  bisai_context *context;
  Mat mat;
  /* true for SeqBAIJ, false for SeqAIJ */
  PetscBool blocked;
  PetscInt rows, columns, block_size, count;
  const PetscInt *row_ptr, *col_idx;
  const PetscScalar *values;
  bisai_bcsr *result;
} view;

/* Creates a matrix of bisai from the view. 64-bit indices are copied into 32-bit indices. */
static bisai_status make_bcsr(view *v, const int32_t *row_ptr, const int32_t *col_idx) {
  const PetscInt bs = v->block_size;
  if (!v->blocked) {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = (int32_t)v->rows, desc.cols = (int32_t)v->columns, desc.block_size = (int32_t)bs;
    desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = v->values;
    return bisai_bcsr_from_csr(v->context, &desc, &v->result);
  }
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = (int32_t)(v->rows / bs), desc.block_cols = (int32_t)(v->columns / bs);
  desc.block_size = (int32_t)bs;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = v->values;
  return bisai_bcsr_create(v->context, &desc, &v->result);
}

static PetscErrorCode convert(view *v, bisai_status *status) {
  PetscFunctionBegin;
#if defined(PETSC_USE_64BIT_INDICES)
  int32_t *row_ptr, *col_idx;
  const PetscInt nonzeros = v->row_ptr[v->count];
  if (nonzeros > INT_MAX || v->rows > INT_MAX || v->columns > INT_MAX) {
    *status = bisai_context_fail(v->context, BISAI_UNSUPPORTED,
                                 "the matrix needs indices of more than 32 bits");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc2(v->count + 1, &row_ptr, nonzeros, &col_idx));
  for (PetscInt i = 0; i <= v->count; i++) row_ptr[i] = (int32_t)v->row_ptr[i];
  for (PetscInt p = 0; p < nonzeros; p++) col_idx[p] = (int32_t)v->col_idx[p];
  *status = make_bcsr(v, row_ptr, col_idx);
  PetscCall(PetscFree2(row_ptr, col_idx));
#else
  *status = make_bcsr(v, v->row_ptr, v->col_idx);
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode read_mat(void *arguments, bisai_status *status) {
  view *v = arguments;
  PetscBool scalar = PETSC_FALSE, done = PETSC_FALSE, assembled = PETSC_FALSE;
  MatFactorType factored = MAT_FACTOR_NONE;
  MatType type = NULL;
  PetscFunctionBegin;
  PetscCall(MatGetType(v->mat, &type));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)v->mat, MATSEQBAIJ, &v->blocked));
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)v->mat, MATSEQAIJ, &scalar));
  if (!v->blocked && !scalar) {
    *status = bsi_petsc_fail(
        v->context, BISAI_UNSUPPORTED,
        "the Mat has type %s; seqbaij or seqaij is needed. In parallel, use bisai on each process "
        "(-pc_type bjacobi -sub_pc_type bisai, or asm)",
        type ? type : "unknown");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatAssembled(v->mat, &assembled));
  PetscCall(MatGetFactorType(v->mat, &factored));
  PetscCheck(assembled, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "the Mat is not assembled");
  PetscCheck(factored == MAT_FACTOR_NONE, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE,
             "the Mat is factored");
  PetscCall(MatGetSize(v->mat, &v->rows, &v->columns));
  PetscCall(MatGetBlockSize(v->mat, &v->block_size));
  PetscCall(
      MatGetRowIJ(v->mat, 0, PETSC_FALSE, v->blocked, &v->count, &v->row_ptr, &v->col_idx, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "the Mat gives no access to its structure");
  if (v->blocked) {
    PetscScalar *values;
    PetscCall(MatSeqBAIJGetArray(v->mat, &values));
    v->values = values;
    PetscCall(convert(v, status));
    PetscCall(MatSeqBAIJRestoreArray(v->mat, &values));
  } else {
    PetscCall(MatSeqAIJGetArrayRead(v->mat, &v->values));
    PetscCall(convert(v, status));
    PetscCall(MatSeqAIJRestoreArrayRead(v->mat, &v->values));
  }
  PetscCall(MatRestoreRowIJ(v->mat, 0, PETSC_FALSE, v->blocked, &v->count, &v->row_ptr, &v->col_idx,
                            &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bisai_petsc_from_mat(bisai_context *context, Mat mat, bisai_bcsr **result) {
  if (!mat || !result)
    return bisai_context_fail(context, BISAI_INVALID_ARGUMENT, "mat or result is NULL");
  view v = {.context = context, .mat = mat};
  bisai_status status = bsi_petsc_run(context, read_mat, &v);
  if (status == BISAI_OK) {
    *result = v.result;
  } else {
    bisai_bcsr_destroy(&v.result);
  }
  return status;
}
