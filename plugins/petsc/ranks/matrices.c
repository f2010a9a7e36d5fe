/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/matrices.h"

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
