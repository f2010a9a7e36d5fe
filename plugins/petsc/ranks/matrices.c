/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/matrices.h"

#include <math.h>

/* The most scalar columns of a block row. */
static PetscInt longest_row(const bsi_ranks_blocks *b) {
  PetscInt longest = 0;
  for (PetscInt i = 0; i < b->rows; i++)
    longest = PetscMax(longest, b->row_ptr[i + 1] - b->row_ptr[i]);
  return longest * b->block_size;
}

static PetscErrorCode preallocate(const bsi_ranks_blocks *b, PetscInt first, Mat mat) {
  const PetscInt last = first + b->rows, bs = b->block_size;
  const size_t rows = (size_t)(b->rows * bs);
  PetscInt *own, *other;
  PetscFunctionBegin;
  PetscCall(PetscCalloc2(rows, &own, rows, &other));
  for (PetscInt i = 0; i < b->rows; i++)
    for (PetscInt r = 0; r < bs; r++)
      for (int32_t p = b->row_ptr[i]; p < b->row_ptr[i + 1]; p++) {
        const PetscInt column = b->column[b->col_idx[p]];
        *(column >= first && column < last ? &own[i * bs + r] : &other[i * bs + r]) += bs;
      }
  PetscCall(MatMPIAIJSetPreallocation(mat, 0, own, 0, other));
  PetscCall(PetscFree2(own, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* columns, values ← the scalar rows of block row i, row by row. */
static PetscInt list_row(const bsi_ranks_blocks *b, PetscInt i, PetscInt *columns,
                         PetscScalar *values) {
  const PetscInt bs = b->block_size, begin = b->row_ptr[i], length = b->row_ptr[i + 1] - begin;
  for (PetscInt k = 0; k < length; k++)
    for (PetscInt c = 0; c < bs; c++) {
      columns[k * bs + c] = b->column[b->col_idx[begin + k]] * bs + c;
      for (PetscInt r = 0; r < bs; r++)
        values[(size_t)r * (size_t)(length * bs) + (size_t)(k * bs + c)] =
            b->values[(size_t)(begin + k) * (size_t)(bs * bs) + (size_t)(c * bs + r)];
    }
  return length * bs;
}

PetscErrorCode bsi_ranks_mat_fill(const bsi_ranks_blocks *b, Mat mat) {
  const PetscInt longest = longest_row(b), bs = b->block_size;
  PetscInt first, rows[BISAI_MAX_BLOCK_SIZE], *columns;
  PetscScalar *values;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(mat, &first, NULL));
  PetscCall(PetscMalloc2(longest, &columns, (size_t)longest * (size_t)bs, &values));
  for (PetscInt i = 0; i < b->rows; i++) {
    const PetscInt count = list_row(b, i, columns, values);
    for (PetscInt r = 0; r < bs; r++) rows[r] = first + i * bs + r;
    PetscCall(MatSetValues(mat, bs, rows, count, columns, values, INSERT_VALUES));
  }
  PetscCall(PetscFree2(columns, values));
  PetscCall(MatAssemblyBegin(mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(mat, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_mat_create(MPI_Comm comm, const bsi_ranks_blocks *b, Mat *mat) {
  const PetscInt n = b->rows * b->block_size;
  PetscInt first = 0;
  PetscFunctionBegin;
  PetscCall(MatCreate(comm, mat));
  PetscCall(MatSetSizes(*mat, n, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(*mat, MATMPIAIJ));
  PetscCall(MatSetBlockSize(*mat, b->block_size));
  PetscCallMPI(MPI_Exscan(&b->rows, &first, 1, MPIU_INT, MPI_SUM, comm));
  PetscCall(preallocate(b, first, *mat));
  PetscCall(MatSetOption(*mat, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
  PetscCall(bsi_ranks_mat_fill(b, *mat));
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

static PetscErrorCode is_symmetric(Mat mat, bool *symmetric) {
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

/* Returns value (r, c) of block q. */
static double value_of(const bsi_ranks_rows *rows, int32_t q, PetscInt r, PetscInt c) {
  const PetscInt bs = rows->block_size;
  return rows->values[(size_t)q * (size_t)(bs * bs) + (size_t)(c * bs + r)];
}

/* Returns the place of block (i, j) of the own rows, or −1. */
static int32_t place_of(const bsi_ranks_rows *rows, int32_t i, int32_t j) {
  int32_t low = rows->row_ptr[i], high = rows->row_ptr[i + 1];
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (rows->col_idx[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows->row_ptr[i + 1] && rows->col_idx[low] == j ? low : -1;
}

/* Returns true if block q = (i, j) of own rows differs from the mirrored one. */
static bool differs(const bsi_ranks_rows *rows, int32_t i, int32_t q) {
  const int32_t j = rows->col_idx[q], mirror = place_of(rows, j, i), at = place_of(rows, i, i),
                there = place_of(rows, j, j);
  for (PetscInt c = 0; c < rows->block_size; c++)
    for (PetscInt r = 0; r < rows->block_size; r++) {
      const double x = value_of(rows, q, r, c), y = mirror < 0 ? 0.0 : value_of(rows, mirror, c, r),
                   here = at < 0 ? 0.0 : value_of(rows, at, r, r),
                   other = there < 0 ? 0.0 : value_of(rows, there, c, c),
                   size = fmax(fmax(fabs(x), fabs(y)), sqrt(fabs(here)) * sqrt(fabs(other)));
      if (x != y && !(fabs(x - y) <= BISAI_SYMMETRY_LIMIT * size)) return true;
    }
  return false;
}

/* A transpose of the whole matrix takes far longer than a look at own rows, which end most
 * comparisons. */
PetscErrorCode bsi_ranks_rows_are_symmetric(MPI_Comm comm, const bsi_ranks_rows *rows, Mat mat,
                                            bool *symmetric) {
  int different = 0;
  PetscBool host = PETSC_FALSE;
  Mat copy = mat;
  PetscFunctionBegin;
  for (int32_t i = 0; i < (int32_t)rows->n && !different; i++)
    for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1] && !different; q++)
      different = rows->col_idx[q] < rows->n && differs(rows, i, q);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &different, 1, MPI_INT, MPI_MAX, comm));
  *symmetric = !different;
  if (different) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)mat, MATMPIAIJ, &host));
  if (!host) PetscCall(MatConvert(mat, MATMPIAIJ, MAT_INITIAL_MATRIX, &copy));
  PetscCall(is_symmetric(copy, symmetric));
  if (!host) PetscCall(MatDestroy(&copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
