/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/overlap.h"

/* *rows ← whole blocks of the rows that are reached from the own ones. */
static PetscErrorCode list_rows(Mat mat, PetscInt layers, IS *rows) {
  PetscInt begin, end, bs, count, blocks = 0, *list;
  const PetscInt *found;
  IS scalar;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(mat, &begin, &end));
  PetscCall(MatGetBlockSize(mat, &bs));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, end - begin, begin, 1, &scalar));
  PetscCall(MatIncreaseOverlap(mat, 1, &scalar, layers));
  PetscCall(ISSort(scalar));
  PetscCall(ISGetLocalSize(scalar, &count));
  PetscCall(ISGetIndices(scalar, &found));
  PetscCall(PetscMalloc1(count, &list));
  for (PetscInt k = 0; k < count; k++)
    if (blocks == 0 || list[blocks - 1] != found[k] / bs) list[blocks++] = found[k] / bs;
  PetscCall(ISRestoreIndices(scalar, &found));
  PetscCall(ISDestroy(&scalar));
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, bs, blocks, list, PETSC_OWN_POINTER, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(Mat mat, PetscInt layers, bsi_overlap *o) {
  PetscInt begin, end, n, bs;
  IS places;
  PetscFunctionBegin;
  PetscCall(list_rows(mat, layers, &o->rows));
  PetscCall(ISGetLocalSize(o->rows, &n));
  PetscCall(MatGetBlockSize(mat, &bs));
  PetscCall(MatGetOwnershipRange(mat, &begin, &end));
  o->own = end - begin;
  if (o->own > 0) PetscCall(ISLocate(o->rows, begin, &o->first));
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)mat), bs, o->own, PETSC_DETERMINE,
                                  NULL, &o->all));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &o->here));
  PetscCall(VecDuplicate(o->here, &o->result));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &places));
  PetscCall(VecScatterCreate(o->all, o->rows, o->here, places, &o->scatter));
  PetscCall(ISDestroy(&places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_overlap_take(Mat mat, PetscInt layers, bsi_overlap *overlap, Mat *matrix) {
  PetscObjectId id;
  PetscObjectState pattern;
  PetscInt bs;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)mat, &id));
  PetscCall(MatGetNonzeroState(mat, &pattern));
  const bool first = !overlap->rows || overlap->id != id || overlap->pattern != pattern;
  if (first) PetscCall(bsi_overlap_destroy(overlap));
  overlap->id = id;
  overlap->pattern = pattern;
  if (first) PetscCall(make(mat, layers, overlap));
  PetscCall(MatCreateSubMatrices(mat, 1, &overlap->rows, &overlap->rows,
                                 first ? MAT_INITIAL_MATRIX : MAT_REUSE_MATRIX, &overlap->matrix));
  PetscCall(MatGetBlockSize(mat, &bs));
  if (first) PetscCall(MatSetBlockSize(overlap->matrix[0], bs));
  *matrix = overlap->matrix[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_overlap_gather(const bsi_overlap *overlap, const double *own,
                                  const double **here) {
  PetscFunctionBegin;
  PetscCall(VecPlaceArray(overlap->all, own));
  PetscCall(VecScatterBegin(overlap->scatter, overlap->all, overlap->here, INSERT_VALUES,
                            SCATTER_FORWARD));
  PetscCall(
      VecScatterEnd(overlap->scatter, overlap->all, overlap->here, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecResetArray(overlap->all));
  PetscCall(VecGetArrayRead(overlap->here, here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_overlap_result(const bsi_overlap *overlap, double **result) {
  PetscFunctionBegin;
  PetscCall(VecGetArrayWrite(overlap->result, result));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_overlap_restrict(const bsi_overlap *overlap, const double **here,
                                    double **result, double *own) {
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(own, *result + overlap->first, overlap->own));
  PetscCall(VecRestoreArrayWrite(overlap->result, result));
  PetscCall(VecRestoreArrayRead(overlap->here, here));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_overlap_destroy(bsi_overlap *overlap) {
  PetscFunctionBegin;
  if (overlap->matrix) PetscCall(MatDestroySubMatrices(1, &overlap->matrix));
  PetscCall(VecScatterDestroy(&overlap->scatter));
  PetscCall(VecDestroy(&overlap->all));
  PetscCall(VecDestroy(&overlap->here));
  PetscCall(VecDestroy(&overlap->result));
  PetscCall(ISDestroy(&overlap->rows));
  *overlap = (bsi_overlap){.rows = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
