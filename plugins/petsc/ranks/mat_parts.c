/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/mat_parts.h"

#include "petsc/device.h"
#include "petsc/mat_data.h"
#include "petsc/mat_impl.h"
#include "petsc/ranks/failure.h"
#include "petsc/ranks/parts.h"
#include "petsc/ranks/rows.h"

static bsi_mat *data_of(Mat mat) { return mat->data; }

/* --- the parts --- */

/* *part ← a Mat of type "bisai" with the values of a SeqBAIJ and the options of the whole Mat. */
static PetscErrorCode wrap(Mat mat, Mat values, Mat *part) {
  const bsi_mat *m = data_of(mat);
  PetscInt rows, columns;
  PetscFunctionBegin;
  PetscCall(MatGetSize(values, &rows, &columns));
  PetscCall(MatCreate(PETSC_COMM_SELF, part));
  PetscCall(MatSetSizes(*part, rows, columns, rows, columns));
  PetscCall(MatSetType(*part, BSI_MAT_TYPE));
  ((bsi_mat *)(*part)->data)->asked = m->asked;
  ((bsi_mat *)(*part)->data)->threads = m->threads;
  PetscCall(PetscObjectReference((PetscObject)values));
  PetscCall(bsi_mat_adopt(*part, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(Mat mat, bsi_mat_parts *parts) {
  Mat own, other;
  const PetscInt *columns;
  PetscInt count, bs;
  Vec x;
  IS from;
  PetscFunctionBegin;
  PetscCall(MatMPIBAIJGetSeqBAIJ(data_of(mat)->host, &own, &other, &columns));
  PetscCall(wrap(mat, own, &parts->own));
  PetscCall(wrap(mat, other, &parts->other));
  PetscCall(MatGetSize(other, NULL, &count));
  PetscCall(MatGetBlockSize(mat, &bs));
  PetscCall(ISCreateBlock(PETSC_COMM_SELF, bs, count / bs, columns, PETSC_COPY_VALUES, &from));
  PetscCall(MatCreateVecs(parts->other, &parts->ghosts, NULL));
  PetscCall(MatCreateVecs(mat, &x, NULL));
  PetscCall(VecScatterCreate(x, from, parts->ghosts, NULL, &parts->halo));
  PetscCall(VecDestroy(&x));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A conversion of an MPIBAIJ may give it another SeqBAIJ of the same pattern. */
static PetscErrorCode follow(Mat values, Mat part) {
  PetscFunctionBegin;
  if (bsi_mat_host(part) == values) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectReference((PetscObject)values));
  PetscCall(bsi_mat_adopt(part, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells both parts that their values have changed, if those of the MPIBAIJ have. Some of its
 * operations leave the states of its SeqBAIJ as they were. */
static PetscErrorCode tell(Mat host, bsi_mat_parts *parts) {
  PetscObjectState state;
  const PetscInt *columns;
  Mat own, other;
  PetscFunctionBegin;
  PetscCall(MatMPIBAIJGetSeqBAIJ(host, &own, &other, &columns));
  PetscCall(follow(own, parts->own));
  PetscCall(follow(other, parts->other));
  PetscCall(PetscObjectStateGet((PetscObject)host, &state));
  if (state == parts->state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateIncrease((PetscObject)bsi_mat_host(parts->own)));
  PetscCall(PetscObjectStateIncrease((PetscObject)bsi_mat_host(parts->other)));
  PetscCall(bsi_mat_tell(parts->own));
  PetscCall(bsi_mat_tell(parts->other));
  parts->state = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* *parts ← those of the present pattern and values. All processes call it: the pattern of an
 * MPIBAIJ changes on all of them. */
static PetscErrorCode take(Mat mat, bsi_mat_parts **parts) {
  bsi_mat *m = data_of(mat);
  PetscObjectId id;
  PetscObjectState pattern;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)m->host, &id));
  PetscCall(MatGetNonzeroState(m->host, &pattern));
  if (m->parts && (m->parts->id != id || m->parts->pattern != pattern))
    PetscCall(bsi_mat_parts_destroy(&m->parts));
  if (!m->parts) {
    PetscCall(PetscNew(&m->parts));
    PetscCall(make(mat, m->parts));
    m->parts->id = id;
    m->parts->pattern = pattern;
  }
  PetscCall(tell(m->host, m->parts));
  *parts = m->parts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_diagonal_block(Mat mat, Mat *block) {
  bsi_mat_parts *parts;
  PetscFunctionBegin;
  PetscCall(take(mat, &parts));
  *block = parts->own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- products --- */

/* The own columns are multiplied while the ghosts travel. */
static PetscErrorCode multiply(Mat mat, Vec x, Vec y) {
  bsi_mat_parts *p;
  PetscFunctionBegin;
  PetscCall(take(mat, &p));
  PetscCall(VecScatterBegin(p->halo, x, p->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscUseTypeMethod(p->own, mult, x, y);
  PetscCall(VecScatterEnd(p->halo, x, p->ghosts, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(bsi_mat_multiply_onto(p->other, p->ghosts, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode multiply_transposed(Mat mat, Vec x, Vec y) {
  bsi_mat_parts *p;
  PetscFunctionBegin;
  PetscCall(take(mat, &p));
  PetscUseTypeMethod(p->other, multtranspose, x, p->ghosts);
  PetscUseTypeMethod(p->own, multtranspose, x, y);
  PetscCall(VecScatterBegin(p->halo, p->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(p->halo, p->ghosts, y, ADD_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- values --- */

static PetscErrorCode preallocate(Mat mat, PetscInt bs, PetscInt own, const PetscInt owns[],
                                  PetscInt other, const PetscInt others[]) {
  PetscFunctionBegin;
  PetscCall(MatSetBlockSize(mat, PetscAbs(bs)));
  PetscCall(bsi_mat_prepare(mat));
  PetscCall(MatMPIBAIJSetPreallocation(data_of(mat)->host, bs, own, owns, other, others));
  mat->preallocated = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_ghosts(Mat mat, PetscInt *count, const PetscInt *ghosts[]) {
  PetscFunctionBegin;
  PetscCall(MatGetGhosts(data_of(mat)->host, count, ghosts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the blocks of own columns and of ghosts. */
static PetscErrorCode reserve(const bsi_ranks_rows *rows, Mat host) {
  PetscInt *own, *other;
  PetscFunctionBegin;
  PetscCall(PetscCalloc2(rows->n, &own, rows->n, &other));
  for (PetscInt i = 0; i < rows->n; i++)
    for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1]; q++)
      (rows->col_idx[q] < rows->n ? own : other)[i]++;
  PetscCall(MatMPIBAIJSetPreallocation(host, rows->block_size, 0, own, 0, other));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fill(const bsi_ranks_rows *rows, Mat host) {
  const PetscInt size = rows->block_size * rows->block_size;
  PetscFunctionBegin;
  PetscCall(MatSetOption(host, MAT_ROW_ORIENTED, PETSC_FALSE));
  PetscCall(MatSetOption(host, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  for (PetscInt i = 0; i < rows->n; i++)
    for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1]; q++) {
      const PetscInt place = rows->col_idx[q], row = rows->first + i,
                     column = place < rows->n ? rows->first + place : rows->ghost[place - rows->n];
      PetscCall(MatSetValuesBlocked(host, 1, &row, 1, &column,
                                    rows->values + (size_t)q * (size_t)size, INSERT_VALUES));
    }
  PetscCall(MatAssemblyBegin(host, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(host, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(host, MAT_NO_OFF_PROC_ENTRIES, PETSC_FALSE));
  PetscCall(MatSetOption(host, MAT_ROW_ORIENTED, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_parts_convert(Mat mat, Mat *host) {
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  bsi_ranks_setup setup = {.comm = comm};
  bsi_ranks_failure failure = {BISAI_OK, ""};
  bsi_ranks_rows rows = {.n = 0};
  bisai_status status = BISAI_OK;
  PetscErrorCode own = PETSC_SUCCESS;
  PetscInt n, columns, bs;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(mat, &n, &columns));
  PetscCall(MatGetBlockSize(mat, &bs));
  PetscCall(bsi_petsc_context(BISAI_BACKEND_HOST, 1, &setup.context, &status));
  if (!status) own = bsi_ranks_rows_read(mat, bs, false, setup.context, &rows, &status);
  PetscCall(bsi_ranks_agree(&setup, own, status, &failure));
  PetscCheck(!failure.status, comm, bsi_petsc_error(failure.status), "bisai: %s", failure.message);
  PetscCall(MatCreate(comm, host));
  PetscCall(MatSetSizes(*host, n, columns, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*host, MATMPIBAIJ));
  PetscCall(reserve(&rows, *host));
  PetscCall(fill(&rows, *host));
  PetscCall(bsi_ranks_rows_destroy(&rows));
  bisai_context_destroy(&setup.context);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_mat_set_parts(Mat mat) {
  PetscFunctionBegin;
  mat->ops->mult = multiply;
  mat->ops->multtranspose = multiply_transposed;
  mat->ops->getdiagonalblock = get_diagonal_block;
  mat->ops->getghosts = get_ghosts;
  PetscCall(
      PetscObjectComposeFunction((PetscObject)mat, "MatMPIBAIJSetPreallocation_C", preallocate));
  PetscFunctionReturn(PETSC_SUCCESS);
}
