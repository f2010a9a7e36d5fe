/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPIAIJ keeps its own rows in two SeqAIJ: the columns of the own rows, and those of other
 * processes, of which it lists the numbers. */
#include "petsc/ranks/rows.h"

PetscErrorCode bsi_ranks_source_take(Mat mat, bsi_ranks_source *source) {
  PetscBool aij = PETSC_FALSE;
  MatType type;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)mat, &source->id));
  PetscCall(MatGetNonzeroState(mat, &source->pattern));
  PetscCall(MatGetType(mat, &type));
  PetscCall(PetscStrbeginswith(type, MATMPIAIJ, &aij));
  source->copied = !aij;
  if (aij) PetscCall(PetscObjectReference((PetscObject)mat));
  source->mat = mat;
  if (!aij) PetscCall(MatConvert(mat, MATMPIAIJ, MAT_INITIAL_MATRIX, &source->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_source_refresh(Mat mat, bsi_ranks_source *source, bool *same) {
  PetscObjectId id;
  PetscObjectState pattern;
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)mat, &id));
  PetscCall(MatGetNonzeroState(mat, &pattern));
  *same = id == source->id && pattern == source->pattern;
  if (*same && source->copied)
    PetscCall(MatConvert(mat, MATMPIAIJ, MAT_REUSE_MATRIX, &source->mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One of the two SeqAIJ. */
typedef struct half {
  Mat mat;
  PetscInt rows;
  const PetscInt *ptr, *columns;
  const PetscScalar *values;
  /* the block column of each scalar column, and the place in it; NULL: blocks follow each other */
  PetscInt *block, *component;
} half;

typedef struct halves {
  half part[2];
} halves;

/* Where a block row has its blocks. */
typedef struct place {
  /* for each block column: the last block row that has it, or its place */
  PetscInt *mark;
  PetscInt *found;
} place;

static PetscErrorCode take_half(Mat mat, half *h) {
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  *h = (half){.mat = mat};
  PetscCall(MatGetRowIJ(mat, 0, PETSC_FALSE, PETSC_FALSE, &h->rows, &h->ptr, &h->columns, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_LIB, "bisai: the rows of a Mat cannot be read");
  PetscCall(MatSeqAIJGetArrayRead(mat, &h->values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode give_back(halves *h) {
  PetscBool done = PETSC_FALSE;
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    half *part = &h->part[k];
    PetscCall(MatSeqAIJRestoreArrayRead(part->mat, &part->values));
    PetscCall(MatRestoreRowIJ(part->mat, 0, PETSC_FALSE, PETSC_FALSE, &part->rows, &part->ptr,
                              &part->columns, &done));
    PetscCall(PetscFree2(part->block, part->component));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes both halves, and lists the ghosts if they are not known. */
static PetscErrorCode take(Mat mat, bsi_ranks_rows *rows, halves *h) {
  const PetscInt *columns = NULL;
  PetscInt count = 0, ghosts = 0, last = -1;
  Mat own, other;
  half *part = &h->part[1];
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(mat, &own, &other, &columns));
  PetscCall(take_half(own, &h->part[0]));
  PetscCall(take_half(other, part));
  PetscCall(MatGetSize(other, NULL, &count));
  PetscCall(PetscMalloc2(count, &part->block, count, &part->component));
  if (!rows->ghost) PetscCall(PetscMalloc1(count, &rows->ghost));
  for (PetscInt k = 0; k < count; k++) { /* the columns ascend */
    const PetscInt column = columns[k] / rows->block_size;
    if (column != last) rows->ghost[ghosts++] = last = column;
    part->block[k] = rows->n + ghosts - 1;
    part->component[k] = columns[k] % rows->block_size;
  }
  rows->ghosts = ghosts;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the block column of an entry of scalar row `row`, or −1 if it is left out. */
static PetscInt block_of(const bsi_ranks_rows *rows, const half *part, PetscInt entry,
                         PetscInt row) {
  const PetscInt column = part->columns[entry];
  const bool diagonal = !part->block && column == row;
  if (rows->drops_zeros && !diagonal && part->values[entry] == 0.0) return -1;
  return part->block ? part->block[column] : column / rows->block_size;
}

/* Lists the block columns of block row i. Returns their number. */
static PetscInt list_row(const bsi_ranks_rows *rows, const halves *h, PetscInt i, place *to) {
  const PetscInt bs = rows->block_size;
  PetscInt count = 0;
  for (PetscInt r = 2 * i * bs; r < 2 * (i + 1) * bs; r++) { /* each row in both halves */
    const half *part = &h->part[r % 2];
    for (PetscInt p = part->ptr[r / 2]; p < part->ptr[r / 2 + 1]; p++) {
      const PetscInt j = block_of(rows, part, p, r / 2);
      if (j < 0 || to->mark[j] == i) continue;
      to->mark[j] = i;
      to->found[count++] = j;
    }
  }
  return count;
}

/* Makes row_ptr, and col_idx if there is room for it. */
static PetscErrorCode list_rows(bsi_ranks_rows *rows, const halves *h, place *to) {
  PetscInt blocks = 0;
  PetscFunctionBegin;
  for (PetscInt j = 0; j < rows->n + rows->ghosts; j++) to->mark[j] = -1;
  for (PetscInt i = 0; i < rows->n; i++) {
    const PetscInt count = list_row(rows, h, i, to);
    PetscCheck(blocks <= INT32_MAX - count, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "bisai: a process has more than 2^31 blocks");
    rows->row_ptr[i] = (int32_t)blocks;
    if (rows->col_idx) PetscCall(PetscSortInt(count, to->found));
    for (PetscInt k = 0; rows->col_idx && k < count; k++)
      rows->col_idx[blocks + k] = (int32_t)to->found[k];
    blocks += count;
  }
  rows->row_ptr[rows->n] = (int32_t)blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Writes the values of block row i. *same ← false if an entry has no block. */
static void fill_row(bsi_ranks_rows *rows, const halves *h, PetscInt i, PetscInt *mark,
                     bool *same) {
  const PetscInt bs = rows->block_size;
  const int32_t begin = rows->row_ptr[i], end = rows->row_ptr[i + 1];
  double *values = rows->values + (size_t)begin * (size_t)(bs * bs);
  for (int32_t q = begin; q < end; q++) mark[rows->col_idx[q]] = q;
  for (size_t k = 0; k < (size_t)(end - begin) * (size_t)(bs * bs); k++) values[k] = 0.0;
  for (PetscInt r = 2 * i * bs; r < 2 * (i + 1) * bs; r++) {
    const half *part = &h->part[r % 2];
    for (PetscInt p = part->ptr[r / 2]; p < part->ptr[r / 2 + 1]; p++) {
      const PetscInt column = part->columns[p], j = block_of(rows, part, p, r / 2);
      const PetscInt c = part->component ? part->component[column] : column % bs;
      if (j < 0) continue;
      *same = *same && mark[j] >= begin;
      if (mark[j] < begin) continue;
      values[(mark[j] - begin) * bs * bs + c * bs + r / 2 % bs] = part->values[p];
    }
  }
}

static void fill(bsi_ranks_rows *rows, const halves *h, PetscInt *mark, bool *same) {
  *same = true;
  for (PetscInt j = 0; j < rows->n + rows->ghosts; j++) mark[j] = -1;
  for (PetscInt i = 0; i < rows->n; i++) fill_row(rows, h, i, mark, same);
}

static PetscErrorCode read_arrays(bsi_ranks_rows *rows, const halves *h) {
  const size_t values = (size_t)(rows->block_size * rows->block_size);
  const PetscInt all = rows->n + rows->ghosts;
  place to;
  bool same;
  PetscFunctionBegin;
  PetscCheck(all <= INT32_MAX / rows->block_size, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "bisai: a process has more than 2^31 rows and columns");
  PetscCall(PetscMalloc1((size_t)rows->n + 1, &rows->row_ptr));
  PetscCall(PetscMalloc2(all, &to.mark, all, &to.found));
  PetscCall(list_rows(rows, h, &to));
  PetscCall(PetscMalloc1(rows->row_ptr[rows->n], &rows->col_idx));
  PetscCall(PetscMalloc1((size_t)rows->row_ptr[rows->n] * values, &rows->values));
  PetscCall(list_rows(rows, h, &to));
  fill(rows, h, to.mark, &same);
  PetscCall(PetscFree2(to.mark, to.found));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_rows_read(Mat mat, PetscInt block_size, bool drop_zeros,
                                   bisai_context *context, bsi_ranks_rows *rows,
                                   bisai_status *status) {
  PetscInt first, last;
  halves h;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(mat, &first, &last));
  *rows = (bsi_ranks_rows){.n = (last - first) / block_size,
                           .first = first / block_size,
                           .block_size = block_size,
                           .drops_zeros = drop_zeros};
  PetscCall(MatGetNonzeroState(mat, &rows->pattern));
  PetscCall(take(mat, rows, &h));
  PetscCall(read_arrays(rows, &h));
  PetscCall(give_back(&h));
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = (int32_t)rows->n;
  desc.block_cols = (int32_t)(rows->n + rows->ghosts);
  desc.block_size = (int32_t)block_size;
  desc.row_ptr = rows->row_ptr;
  desc.col_idx = rows->col_idx;
  desc.values = rows->values;
  rows->borrows = bisai_context_backend(context) == BISAI_BACKEND_HOST;
  if (rows->borrows) desc.ownership = BISAI_BORROW;
  *status = bisai_bcsr_create(context, &desc, &rows->matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_rows_connect(Mat mat, bsi_ranks_rows *rows) {
  MPI_Comm comm = PetscObjectComm((PetscObject)mat);
  PetscLayout layout;
  PetscFunctionBegin;
  PetscCall(PetscLayoutCreate(comm, &layout));
  PetscCall(PetscLayoutSetLocalSize(layout, rows->n));
  PetscCall(PetscLayoutSetUp(layout));
  PetscCall(PetscSFCreate(comm, &rows->halo));
  PetscCall(PetscSFSetGraphLayout(rows->halo, layout, rows->ghosts, NULL, PETSC_OWN_POINTER,
                                  rows->ghost));
  PetscCall(PetscSFSetUp(rows->halo));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_rows_update(Mat mat, bsi_ranks_rows *rows, bool *same,
                                     bisai_status *status) {
  PetscObjectState pattern;
  PetscInt *mark;
  halves h;
  PetscFunctionBegin;
  PetscCall(MatGetNonzeroState(mat, &pattern));
  *same = pattern == rows->pattern;
  if (!*same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take(mat, rows, &h));
  PetscCall(PetscMalloc1((size_t)(rows->n + rows->ghosts), &mark));
  fill(rows, &h, mark, same);
  PetscCall(PetscFree(mark));
  PetscCall(give_back(&h));
  if (*same && !rows->borrows)
    *status = bisai_bcsr_update(rows->matrix, rows->values, BISAI_COLUMN_MAJOR);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_rows_exchange(const bsi_ranks_rows *rows, PetscInt count,
                                       const double *own, double *ghosts) {
  PetscMPIInt values;
  MPI_Datatype unit;
  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast(count, &values));
  PetscCallMPI(MPI_Type_contiguous(values, MPI_DOUBLE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(rows->halo, unit, own, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(rows->halo, unit, own, ghosts, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_rows_destroy(bsi_ranks_rows *rows) {
  PetscFunctionBegin;
  bisai_bcsr_destroy(&rows->matrix);
  PetscCall(PetscSFDestroy(&rows->halo));
  PetscCall(PetscFree(rows->ghost));
  PetscCall(PetscFree(rows->row_ptr));
  PetscCall(PetscFree(rows->col_idx));
  PetscCall(PetscFree(rows->values));
  *rows = (bsi_ranks_rows){.n = 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}
