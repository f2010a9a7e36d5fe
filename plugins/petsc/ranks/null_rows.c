/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of the matrix without a boundary has vectors that A maps to zero. When one aggregate of it
 * is left, its rows of the coarse matrix are zero but for rounding errors, and so are rows of
 * vectors that T lacks. As bisai on one process, rows r are looked for where Tᵀ D⁻¹ A P x is nearly
 * 0 for a random x. With the row of the identity, the correction there is the restricted residual,
 * which is zero up to rounding if the system has a solution. */
#include "petsc/ranks/null_rows.h"

#include <math.h>

/* For a P x in the null space of A, D⁻¹A P x is at most this part of P x. */
#define NULL_PART 1e-10

/* x ← random numbers in [−1, 1), the same in each run. */
static PetscErrorCode fill_random(Vec x) {
  PetscRandom random;
  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)x), &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums ← the own rows of Tᵀ v */
static void add_aggregates(const bsi_ranks_operators *level, PetscInt columns, const double *v,
                           double *sums) {
  const bisai_piece_view t = bisai_piece_get(level->piece, BISAI_PIECE_TENTATIVE);
  const int h = t.height, w = t.width;
  for (PetscInt k = 0; k < columns; k++) sums[k] = 0.0;
  for (int32_t i = 0; i < t.rows; i++)
    for (int32_t p = t.row_ptr[i]; p < t.row_ptr[i + 1]; p++)
      for (int c = 0; c < w; c++)
        for (int r = 0; r < h; r++)
          sums[t.col_idx[p] * w + c] +=
              (t.values ? t.values[((size_t)p * (size_t)w + (size_t)c) * (size_t)h + (size_t)r]
                        : (double)(r == c)) *
              v[(size_t)i * (size_t)h + (size_t)r];
}

/* sums ← the own rows of Tᵀ D⁻¹ A P x for a random x. *limit ← what counts as zero there. */
static PetscErrorCode look(const bsi_ranks_operators *level, PetscInt columns, double *sums,
                           double *limit) {
  PetscReal norm;
  PetscScalar *values;
  PetscInt n;
  Vec x, fine, image;
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(level->prolongation, &x, &fine));
  PetscCall(VecDuplicate(fine, &image));
  PetscCall(fill_random(x));
  PetscCall(MatMult(level->prolongation, x, fine));
  PetscCall(MatMult(level->matrix, fine, image));
  PetscCall(VecNorm(fine, NORM_2, &norm));
  PetscCall(VecGetSize(fine, &n));
  *limit = NULL_PART * norm / sqrt((double)n);
  PetscCall(VecGetArray(image, &values));
  bisai_piece_scale(level->piece, values, values);
  add_aggregates(level, columns, values, sums);
  PetscCall(VecRestoreArray(image, &values));
  PetscCall(VecDestroy(&image));
  PetscCall(VecDestroy(&fine));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_replace_null_rows(const bsi_ranks_operators *level, Mat coarse) {
  PetscInt n, first, found = 0, all, *rows;
  double *sums, limit = 0;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(coarse, &n, NULL));
  PetscCall(PetscMalloc2(n, &sums, n, &rows));
  PetscCall(look(level, n, sums, &limit));
  PetscCall(MatGetOwnershipRange(coarse, &first, NULL));
  for (PetscInt r = 0; r < n; r++)
    if (fabs(sums[r]) <= limit) rows[found++] = first + r;
  PetscCallMPI(
      MPI_Allreduce(&found, &all, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)coarse)));
  if (all > 0) {
    PetscCall(MatSetOption(coarse, MAT_KEEP_NONZERO_PATTERN, PETSC_TRUE));
    PetscCall(MatZeroRowsColumns(coarse, found, rows, 1.0, NULL, NULL));
  }
  PetscCall(PetscFree2(sums, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}
