/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives of a Mat of type "bisai" by finite differences of a function, for -snes_fd_color. The
 * SeqBAIJ on the host receives them. Its columns that share a colour are block columns. Grids of
 * PETSc colour scalar columns unless the type is BAIJ. Scalar columns of two block columns that
 * share a block row then have different colours, so that the colours of the first scalar columns
 * serve for the block columns. */
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"

static Mat host_of(Mat mat) { return ((bsi_mat *)mat->data)->host; }

/* The colours of every bs-th column, numbered anew without gaps. */
static PetscErrorCode colour_blocks(PetscInt blocks, PetscInt bs, PetscInt count,
                                    const ISColoringValue *colours, ISColoring *result) {
  ISColoringValue *own;
  PetscInt *number, used = 0;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(blocks, &own));
  PetscCall(PetscMalloc1(count, &number));
  for (PetscInt c = 0; c < count; c++) number[c] = -1;
  for (PetscInt i = 0; i < blocks; i++) {
    const ISColoringValue colour = colours[i * bs];
    if (number[colour] < 0) number[colour] = used++;
    own[i] = (ISColoringValue)number[colour];
  }
  PetscCall(PetscFree(number));
  PetscCall(ISColoringCreate(PETSC_COMM_SELF, used, blocks, own, PETSC_OWN_POINTER, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *result ← a reference to a colouring of the block columns. */
static PetscErrorCode take_blocks(Mat host, ISColoring given, ISColoring *result) {
  const ISColoringValue *colours;
  PetscInt places, count, rows, bs;
  PetscFunctionBegin;
  PetscCall(ISColoringGetColors(given, &places, &count, &colours));
  PetscCall(MatGetSize(host, &rows, NULL));
  PetscCall(MatGetBlockSize(host, &bs));
  PetscCheck(places == rows || places == rows / bs, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "bisai: the colouring has %" PetscInt_FMT " columns; the Mat has %" PetscInt_FMT
             " columns in %" PetscInt_FMT " block columns",
             places, rows, rows / bs);
  if (places == rows / bs) {
    PetscCall(ISColoringReference(given));
    *result = given;
  } else {
    PetscCall(colour_blocks(rows / bs, bs, count, colours, result));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode create(Mat mat, ISColoring given, MatFDColoring colouring) {
  Mat host = host_of(mat);
  ISColoring blocks;
  PetscFunctionBegin;
  PetscCall(take_blocks(host, given, &blocks));
  PetscUseTypeMethod(host, fdcoloringcreate, blocks, colouring);
  PetscCall(ISColoringDestroy(&blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_up(Mat mat, ISColoring given, MatFDColoring colouring) {
  Mat host = host_of(mat);
  ISColoring blocks;
  PetscFunctionBegin;
  PetscCall(take_blocks(host, given, &blocks));
  PetscUseTypeMethod(host, fdcoloringsetup, blocks, colouring);
  PetscCall(ISColoringDestroy(&blocks));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode apply(Mat mat, MatFDColoring colouring, Vec x, void *context) {
  Mat host = host_of(mat);
  PetscFunctionBegin;
  PetscUseTypeMethod(host, fdcoloringapply, colouring, x, context);
  PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The structure, from which MatColoringApply() makes a colouring. */

static PetscErrorCode get_rows(Mat mat, PetscInt shift, PetscBool symmetric, PetscBool compressed,
                               PetscInt *n, const PetscInt *row_ptr[], const PetscInt *col_idx[],
                               PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(MatGetRowIJ(host_of(mat), shift, symmetric, compressed, n, row_ptr, col_idx, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_rows(Mat mat, PetscInt shift, PetscBool symmetric,
                                   PetscBool compressed, PetscInt *n, const PetscInt *row_ptr[],
                                   const PetscInt *col_idx[], PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(MatRestoreRowIJ(host_of(mat), shift, symmetric, compressed, n, row_ptr, col_idx, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_columns(Mat mat, PetscInt shift, PetscBool symmetric,
                                  PetscBool compressed, PetscInt *n, const PetscInt *col_ptr[],
                                  const PetscInt *row_idx[], PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(MatGetColumnIJ(host_of(mat), shift, symmetric, compressed, n, col_ptr, row_idx, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode restore_columns(Mat mat, PetscInt shift, PetscBool symmetric,
                                      PetscBool compressed, PetscInt *n, const PetscInt *col_ptr[],
                                      const PetscInt *row_idx[], PetscBool *done) {
  PetscFunctionBegin;
  PetscCall(
      MatRestoreColumnIJ(host_of(mat), shift, symmetric, compressed, n, col_ptr, row_idx, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bsi_mat_set_coloring(Mat mat) {
  mat->ops->fdcoloringcreate = create;
  mat->ops->fdcoloringsetup = set_up;
  mat->ops->fdcoloringapply = apply;
  mat->ops->getrowij = get_rows;
  mat->ops->restorerowij = restore_rows;
  mat->ops->getcolumnij = get_columns;
  mat->ops->restorecolumnij = restore_columns;
}
