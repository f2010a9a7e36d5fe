/* SPDX-License-Identifier: BSD-3-Clause */
/* Derivatives of a Mat of type "bisai" by finite differences of a function, for -snes_fd_color. The
 * BAIJ on the host receives them. Its columns that share a colour are block columns. Grids of
 * PETSc colour scalar columns unless the type is BAIJ. Scalar columns of two block columns that
 * share a block row then have different colours, so that the colours of the first scalar columns
 * serve for the block columns. */
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"

static Mat host_of(Mat mat) { return ((bsi_mat *)mat->data)->host; }

/* number[c] ← the place of colour c among those that have a block column on any process, or -1;
 * *used ← how many these are. */
static PetscErrorCode number_colours(MPI_Comm comm, PetscInt count, PetscInt *number,
                                     PetscInt *used) {
  PetscMPIInt colours;
  PetscFunctionBegin;
  *used = 0;
  PetscCall(PetscMPIIntCast(count, &colours));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, number, colours, MPIU_INT, MPI_MAX, comm));
  for (PetscInt c = 0; c < count; c++) number[c] = number[c] > 0 ? (*used)++ : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The colours of every bs-th own column, numbered anew without gaps. */
static PetscErrorCode colour_blocks(MPI_Comm comm, PetscInt blocks, PetscInt bs, PetscInt count,
                                    const ISColoringValue *colours, ISColoring *result) {
  ISColoringValue *own;
  PetscInt *number, used;
  PetscFunctionBegin;
  PetscCall(PetscMalloc1(blocks, &own));
  PetscCall(PetscCalloc1(count, &number));
  for (PetscInt i = 0; i < blocks; i++) number[colours[i * bs]] = 1;
  PetscCall(number_colours(comm, count, number, &used));
  for (PetscInt i = 0; i < blocks; i++) own[i] = (ISColoringValue)number[colours[i * bs]];
  PetscCall(PetscFree(number));
  PetscCall(ISColoringCreate(comm, used, blocks, own, PETSC_OWN_POINTER, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *whole ← a colouring has the colours of scalar columns. The same on all processes, of which some
 * may have no columns. */
static PetscErrorCode has_scalar_columns(MPI_Comm comm, PetscInt places, PetscInt columns,
                                         PetscInt bs, int *whole) {
  /* the places are not the scalar columns, and not the block columns */
  int faults[2] = {places != columns, places != columns / bs};
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, faults, 2, MPI_INT, MPI_MAX, comm));
  PetscCheck(!faults[0] || !faults[1], comm, PETSC_ERR_ARG_SIZ,
             "bisai: the colouring has %" PetscInt_FMT " columns; the Mat has %" PetscInt_FMT
             " columns in %" PetscInt_FMT " block columns",
             places, columns, columns / bs);
  *whole = faults[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *result ← a reference to a colouring of the block columns. */
static PetscErrorCode take_blocks(Mat host, ISColoring given, ISColoring *result) {
  MPI_Comm comm = PetscObjectComm((PetscObject)host);
  const ISColoringValue *colours;
  ISColoringType type;
  PetscInt places, count, columns, bs;
  PetscMPIInt size;
  int whole = 0;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(ISColoringGetType(given, &type));
  PetscCheck(size == 1 || type == IS_COLORING_GLOBAL, comm, PETSC_ERR_SUP,
             "bisai: the colouring has columns of other processes: take IS_COLORING_GLOBAL");
  PetscCall(ISColoringGetColors(given, &places, &count, &colours));
  PetscCall(MatGetLocalSize(host, NULL, &columns));
  PetscCall(MatGetBlockSize(host, &bs));
  PetscCall(has_scalar_columns(comm, places, columns, bs, &whole));
  if (whole) {
    PetscCall(colour_blocks(comm, columns / bs, bs, count, colours, result));
  } else {
    PetscCall(ISColoringReference(given));
    *result = given;
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

/* Of several processes, each colours the whole structure. PETSc knows blocks of MPIBAIJ only, and
 * takes the columns of any other type for scalar ones. */
static PetscErrorCode get_whole(Mat mat, Mat *whole) {
  Mat scalar;
  PetscFunctionBegin;
  PetscCall(MatConvert(host_of(mat), MATMPIAIJ, MAT_INITIAL_MATRIX, &scalar));
  PetscCall(MatGetSeqNonzeroStructure(scalar, whole));
  PetscCall(MatDestroy(&scalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void bsi_mat_set_coloring(Mat mat, bool alone) {
  mat->ops->fdcoloringcreate = create;
  mat->ops->fdcoloringsetup = set_up;
  mat->ops->fdcoloringapply = apply;
  mat->ops->getseqnonzerostructure = get_whole;
  if (!alone) return;
  mat->ops->getrowij = get_rows;
  mat->ops->restorerowij = restore_rows;
  mat->ops->getcolumnij = get_columns;
  mat->ops->restorecolumnij = restore_columns;
}
