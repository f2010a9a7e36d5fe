/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/null_space.h"

#include <bisai/precond.h>

#include "petsc/calls.h"

/* Copies a vector into column `column` of an array of n rows of `count` values. */
static PetscErrorCode copy_vector(Vec vector, PetscInt n, PetscInt count, PetscInt column,
                                  double *values) {
  const PetscScalar *from;
  PetscInt rows;
  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(vector, &rows));
  PetscCheck(rows == n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "bisai: a near-null-space vector has %" PetscInt_FMT " values; the Mat has "
             "%" PetscInt_FMT " rows",
             rows, n);
  PetscCall(VecGetArrayRead(vector, &from));
  for (PetscInt i = 0; i < n; i++) values[(size_t)i * (size_t)count + (size_t)column] = from[i];
  PetscCall(VecRestoreArrayRead(vector, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the constant and the vectors. After an error the caller frees the values. */
static PetscErrorCode copy_space(PetscBool constant, PetscInt vectors, const Vec *vector,
                                 PetscInt n, double *values) {
  const PetscInt first = constant ? 1 : 0, count = vectors + first;
  PetscFunctionBegin;
  for (PetscInt i = 0; constant && i < n; i++) values[(size_t)i * (size_t)count] = 1.0;
  for (PetscInt v = 0; v < vectors; v++)
    PetscCall(copy_vector(vector[v], n, count, first + v, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_petsc_near_null_space(Mat mat, int *count, double **values) {
  MatNullSpace space = NULL;
  PetscBool constant = PETSC_FALSE;
  PetscInt vectors = 0, n = 0;
  const Vec *vector = NULL;
  double *copy = NULL;
  PetscFunctionBegin;
  *count = 0;
  *values = NULL;
  PetscCall(MatGetNearNullSpace(mat, &space));
  if (!space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNullSpaceGetVecs(space, &constant, &vectors, &vector));
  PetscCall(MatGetLocalSize(mat, &n, NULL));
  const PetscInt all = vectors + (constant ? 1 : 0);
  PetscCheck(all <= BISAI_MULTIGRID_VECTORS, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: the near-null space has %" PetscInt_FMT " vectors; at most %d are possible",
             all, BISAI_MULTIGRID_VECTORS);
  if (all == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1((size_t)n * (size_t)all, &copy));
  const PetscErrorCode code = copy_space(constant, vectors, vector, n, copy);
  if (code) PetscCall(PetscFree(copy));
  PetscCall(code);
  *count = (int)all;
  *values = copy;
  PetscFunctionReturn(PETSC_SUCCESS);
}
