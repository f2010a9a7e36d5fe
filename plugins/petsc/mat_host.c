/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of a Mat of type "bisai" that its SeqBAIJ on the host does: everything that sets,
 * changes or reads single values. */
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"

static Mat host_of(Mat mat) { return ((bsi_mat *)mat->data)->host; }

static PetscErrorCode set_values(Mat mat, PetscInt rows, const PetscInt *row, PetscInt columns,
                                 const PetscInt *column, const PetscScalar *values,
                                 InsertMode mode) {
  PetscFunctionBegin;
  PetscCall(MatSetValues(host_of(mat), rows, row, columns, column, values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_blocks(Mat mat, PetscInt rows, const PetscInt *row, PetscInt columns,
                                 const PetscInt *column, const PetscScalar *values,
                                 InsertMode mode) {
  PetscFunctionBegin;
  PetscCall(MatSetValuesBlocked(host_of(mat), rows, row, columns, column, values, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_values(Mat mat, PetscInt rows, const PetscInt *row, PetscInt columns,
                                 const PetscInt *column, PetscScalar *values) {
  PetscFunctionBegin;
  PetscCall(MatGetValues(host_of(mat), rows, row, columns, column, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_option(Mat mat, MatOption option, PetscBool flag) {
  PetscFunctionBegin;
  PetscCall(bsi_mat_prepare(mat));
  PetscCall(MatSetOption(host_of(mat), option, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode begin_assembly(Mat mat, MatAssemblyType mode) {
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(host_of(mat), mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix of bisai gets the values when it is used next. */
static PetscErrorCode end_assembly(Mat mat, MatAssemblyType mode) {
  PetscFunctionBegin;
  PetscCall(MatAssemblyEnd(host_of(mat), mode));
  if (mode != MAT_FLUSH_ASSEMBLY) PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode zero_entries(Mat mat) {
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(host_of(mat)));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode zero_rows(Mat mat, PetscInt count, const PetscInt rows[],
                                PetscScalar diagonal, Vec x, Vec b) {
  PetscFunctionBegin;
  PetscCall(MatZeroRows(host_of(mat), count, rows, diagonal, x, b));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode zero_rows_columns(Mat mat, PetscInt count, const PetscInt rows[],
                                        PetscScalar diagonal, Vec x, Vec b) {
  PetscFunctionBegin;
  PetscCall(MatZeroRowsColumns(host_of(mat), count, rows, diagonal, x, b));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode scale(Mat mat, PetscScalar factor) {
  PetscFunctionBegin;
  PetscCall(MatScale(host_of(mat), factor));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode scale_diagonally(Mat mat, Vec left, Vec right) {
  PetscFunctionBegin;
  PetscCall(MatDiagonalScale(host_of(mat), left, right));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode shift(Mat mat, PetscScalar amount) {
  PetscFunctionBegin;
  PetscCall(MatShift(host_of(mat), amount));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode add_scaled(Mat mat, PetscScalar factor, Mat other, MatStructure structure) {
  bool ours;
  PetscFunctionBegin;
  PetscCall(bsi_mat_is_ours(other, &ours));
  PetscCall(MatAXPY(host_of(mat), factor, ours ? host_of(other) : other, structure));
  PetscCall(bsi_mat_tell(mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal(Mat mat, Vec diagonal) {
  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(host_of(mat), diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode invert_diagonal(Mat mat, const PetscScalar **inverses) {
  PetscFunctionBegin;
  PetscCall(MatInvertBlockDiagonal(host_of(mat), inverses));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode is_equal(Mat mat, Mat other, PetscBool *equal) {
  bool ours;
  PetscFunctionBegin;
  PetscCall(bsi_mat_is_ours(other, &ours));
  PetscCall(MatEqual(host_of(mat), ours ? host_of(other) : other, equal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_norm(Mat mat, NormType type, PetscReal *result) {
  PetscFunctionBegin;
  PetscCall(MatNorm(host_of(mat), type, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_info(Mat mat, MatInfoType type, MatInfo *info) {
  PetscFunctionBegin;
  PetscCall(MatGetInfo(host_of(mat), type, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_row(Mat mat, PetscInt row, PetscInt *count, PetscInt **columns,
                              PetscScalar **values) {
  PetscFunctionBegin;
  PetscCall(MatGetRow(host_of(mat), row, count, (const PetscInt **)columns,
                      (const PetscScalar **)values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_row(Mat mat, PetscInt row, PetscInt *count, PetscInt **columns,
                                  PetscScalar **values) {
  PetscFunctionBegin;
  PetscCall(MatRestoreRow(host_of(mat), row, count, (const PetscInt **)columns,
                          (const PetscScalar **)values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode increase_overlap(Mat mat, PetscInt count, IS sets[], PetscInt overlap) {
  PetscFunctionBegin;
  PetscCall(MatIncreaseOverlap(host_of(mat), count, sets, overlap));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_submatrix(Mat mat, IS rows, IS columns, MatReuse reuse, Mat *part) {
  PetscFunctionBegin;
  PetscCall(MatCreateSubMatrix(host_of(mat), rows, columns, reuse, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create_submatrices(Mat mat, PetscInt count, const IS rows[],
                                         const IS columns[], MatReuse reuse, Mat *parts[]) {
  PetscFunctionBegin;
  PetscCall(MatCreateSubMatrices(host_of(mat), count, rows, columns, reuse, parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bsi_mat_set_host_operations(Mat mat) {
  mat->ops->setvalues = set_values;
  mat->ops->setvaluesblocked = set_blocks;
  mat->ops->getvalues = get_values;
  mat->ops->setoption = set_option;
  mat->ops->assemblybegin = begin_assembly;
  mat->ops->assemblyend = end_assembly;
  mat->ops->zeroentries = zero_entries;
  mat->ops->zerorows = zero_rows;
  mat->ops->zerorowscolumns = zero_rows_columns;
  mat->ops->scale = scale;
  mat->ops->diagonalscale = scale_diagonally;
  mat->ops->shift = shift;
  mat->ops->axpy = add_scaled;
  mat->ops->getdiagonal = get_diagonal;
  mat->ops->invertblockdiagonal = invert_diagonal;
  mat->ops->equal = is_equal;
  mat->ops->norm = get_norm;
  mat->ops->getinfo = get_info;
  mat->ops->getrow = get_row;
  mat->ops->restorerow = restore_row;
  mat->ops->increaseoverlap = increase_overlap;
  mat->ops->createsubmatrix = create_submatrix;
  mat->ops->createsubmatrices = create_submatrices;
}
