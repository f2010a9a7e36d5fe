/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/matrices.h"

#include <math.h>

/* The most scalar columns of a block row. */
static PetscInt longest_row(const bisai_piece_view *v) {
  PetscInt longest = 0;
  for (int32_t i = 0; i < v->rows; i++)
    longest = PetscMax(longest, v->row_ptr[i + 1] - v->row_ptr[i]);
  return longest * v->width;
}

static PetscErrorCode preallocate(const bsi_ranks_blocks *blocks, PetscInt first, Mat mat) {
  const bisai_piece_view *v = &blocks->view;
  const PetscInt last = first + blocks->own_columns;
  const size_t rows = (size_t)v->rows * (size_t)v->height;
  PetscInt *own, *other;
  PetscFunctionBegin;
  PetscCall(PetscCalloc2(rows, &own, rows, &other));
  for (int32_t i = 0; i < v->rows; i++)
    for (int r = 0; r < v->height; r++)
      for (int32_t p = v->row_ptr[i]; p < v->row_ptr[i + 1]; p++) {
        const PetscInt column = blocks->column[v->col_idx[p]];
        *(column >= first && column < last ? &own[i * v->height + r] : &other[i * v->height + r]) +=
            v->width;
      }
  PetscCall(MatMPIAIJSetPreallocation(mat, 0, own, 0, other));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* columns, values ← the scalar rows of block row i, row by row. */
static PetscInt list_row(const bsi_ranks_blocks *blocks, int32_t i, PetscInt *columns,
                         PetscScalar *values) {
  const bisai_piece_view *v = &blocks->view;
  const int h = v->height, w = v->width;
  const int32_t begin = v->row_ptr[i], length = v->row_ptr[i + 1] - begin;
  for (int32_t k = 0; k < length; k++)
    for (int c = 0; c < w; c++) {
      columns[k * w + c] = blocks->column[v->col_idx[begin + k]] * w + c;
      for (int r = 0; r < h; r++)
        values[(size_t)r * (size_t)(length * w) + (size_t)(k * w + c)] =
            v->values ? v->values[(size_t)(begin + k) * (size_t)(h * w) + (size_t)(c * h + r)]
                      : (double)(r == c);
    }
  return length * w;
}

PetscErrorCode bsi_ranks_mat_fill(const bsi_ranks_blocks *blocks, Mat mat) {
  const bisai_piece_view *v = &blocks->view;
  const PetscInt longest = longest_row(v);
  PetscInt first, rows[BISAI_MAX_BLOCK_SIZE], *columns;
  PetscScalar *values;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(mat, &first, NULL));
  PetscCall(PetscMalloc2(longest, &columns, (size_t)longest * (size_t)v->height, &values));
  for (int32_t i = 0; i < v->rows; i++) {
    const PetscInt count = list_row(blocks, i, columns, values);
    for (int r = 0; r < v->height; r++) rows[r] = first + (PetscInt)i * v->height + r;
    PetscCall(MatSetValues(mat, v->height, rows, count, columns, values, INSERT_VALUES));
  }
  PetscCall(PetscFree2(columns, values));
  PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_mat_create(MPI_Comm comm, const bsi_ranks_blocks *blocks, Mat *mat) {
  const bisai_piece_view *v = &blocks->view;
  PetscInt first = 0;
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, mat));
  PetscCall(MatSetSizes(*mat, (PetscInt)v->rows * v->height, blocks->own_columns * v->width,
                        PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*mat, MATMPIAIJ));
  PetscCall(MatSetBlockSizes(*mat, v->height, v->width));
  PetscCallMPI(MPI_Exscan(&blocks->own_columns, &first, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(preallocate(blocks, first, *mat));
  PetscCall(MatSetOption(*mat, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(bsi_ranks_mat_fill(blocks, *mat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of a Mat, whose columns ascend. */
typedef struct row {
  PetscInt count, at;
  const PetscInt *columns;
  const PetscScalar *values;
} row;

/* Returns the value in a column, or 0, and passes it. */
static double take(row *r, PetscInt column) {
  const bool there = r->at < r->count && r->columns[r->at] == column;
  return there ? r->values[r->at++] : 0.0;
}

/* The diagonal entries of all columns that the own rows have. */
typedef struct diagonal {
  PetscInt first, last, ghosts;
  const PetscInt *ghost;
  const PetscScalar *own, *other;
} diagonal;

static double entry_of(const diagonal *d, PetscInt column) {
  PetscInt place = -1;
  if (column >= d->first && column < d->last) return d->own[column - d->first];
  if (PetscFindInt(column, d->ghosts, d->ghost, &place) || place < 0) return 0.0;
  return d->other[place];
}

/* Returns the largest difference of two rows in the measure of bisai_bcsr_asymmetry(). */
static double difference(row a, row b, PetscInt i, const diagonal *d) {
  double most = 0.0;
  while (a.at < a.count || b.at < b.count) {
    const bool from_a = b.at == b.count || (a.at < a.count && a.columns[a.at] <= b.columns[b.at]);
    const PetscInt j = from_a ? a.columns[a.at] : b.columns[b.at];
    const double x = take(&a, j), y = take(&b, j);
    const double size =
        fmax(fmax(fabs(x), fabs(y)), sqrt(fabs(entry_of(d, i))) * sqrt(fabs(entry_of(d, j))));
    if (x != y) most = fmax(most, fabs(x - y) / size);
  }
  return most;
}

static PetscErrorCode compare(Mat mat, Mat transposed, const diagonal *d, double *most) {
  PetscFunctionBegin;
  for (PetscInt i = d->first; i < d->last; i++) {
    row a = {.at = 0}, b = {.at = 0};
    PetscCall(MatGetRow(mat, i, &a.count, &a.columns, &a.values));
    PetscCall(MatGetRow(transposed, i, &b.count, &b.columns, &b.values));
    *most = fmax(*most, difference(a, b, i, d));
    PetscCall(MatRestoreRow(transposed, i, &b.count, &b.columns, &b.values));
    PetscCall(MatRestoreRow(mat, i, &a.count, &a.columns, &a.values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares with a transpose, given the diagonal. */
static PetscErrorCode measure(Mat mat, Mat transposed, Vec own, double *most) {
  diagonal d;
  VecScatter scatter;
  IS from;
  Vec other;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(mat, &d.first, &d.last));
  PetscCall(MatGetGhosts(mat, &d.ghosts, &d.ghost));
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, d.ghosts, d.ghost, PETSC_USE_POINTER, &from));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, d.ghosts, &other));
  PetscCall(VecScatterCreate(own, from, other, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, own, other, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, own, other, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(own, &d.own));
  PetscCall(VecGetArrayRead(other, &d.other));
  PetscCall(compare(mat, transposed, &d, most));
  PetscCall(VecRestoreArrayRead(other, &d.other));
  PetscCall(VecRestoreArrayRead(own, &d.own));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&other));
  PetscCall(ISDestroy(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_mat_is_symmetric(Mat mat, bool *symmetric) {
  Mat transposed;
  Vec own;
  double most = 0.0;
  PetscFunctionBegin;
  PetscCall(MatTranspose(mat, MAT_INITIAL_MATRIX, &transposed));
  PetscCall(MatCreateVecs(mat, NULL, &own));
  PetscCall(MatGetDiagonal(mat, own));
  PetscCall(measure(mat, transposed, own, &most));
  PetscCall(VecDestroy(&own));
  PetscCall(MatDestroy(&transposed));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX,
                             PetscObjectComm((PetscObject)mat)));
  *symmetric = most <= BISAI_SYMMETRY_LIMIT;
  PetscFunctionReturn(PETSC_SUCCESS);
}
