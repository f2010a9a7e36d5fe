/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/gather.h"

#include <math.h>

/* all ← `count` values of each own scalar row of all processes, on the first process. */
static PetscErrorCode gather_values(MPI_Comm comm, PetscInt n, int count, const double *own,
                                    double **all) {
  PetscMPIInt rank, size, values, *counts, *offsets;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMPIIntCast(n * count, &values));
  PetscCall(PetscCalloc2(size, &counts, size + 1, &offsets));
  PetscCallMPI(MPI_Gather(&values, 1, MPI_INT, counts, 1, MPI_INT, 0, comm));
  for (int p = 0; p < size; p++) offsets[p + 1] = offsets[p] + counts[p];
  PetscCall(PetscMalloc1(rank == 0 ? offsets[size] : 0, all));
  PetscCallMPI(MPI_Gatherv(own, values, MPI_DOUBLE, *all, counts, offsets, MPI_DOUBLE, 0, comm));
  PetscCall(PetscFree2(counts, offsets));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode gather_matrix(Mat mat, MatReuse reuse, PetscInt block_size,
                                    bsi_ranks_gather *g) {
  PetscFunctionBegin;
  PetscCall(MatCreateSubMatrices(mat, 1, &g->rows, &g->rows, reuse, &g->matrices));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatSetBlockSize(g->matrices[0], block_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the matrix on the first process. The preconditioner is updated or, with `vectors` or
 * without one, made. */
static PetscErrorCode take_matrix(const bsi_ranks_setup *setup, const double *vectors, bool update,
                                  bsi_ranks_gather *g, bisai_status *status) {
  bisai_bcsr *old = NULL;
  PetscFunctionBegin;
  PetscCall(bsi_petsc_copy_refresh(&g->copy, setup->context, g->matrices[0], &old, status));
  if (!*status && update) *status = bisai_precond_update(g->precond, g->copy.matrix);
  if (!*status && !update) {
    g->options.multigrid.null_vectors = vectors;
    *status = bisai_precond_create(setup->context, g->copy.matrix, &g->options, &g->precond);
    g->options.multigrid.null_vectors = NULL;
  }
  if (*status) bisai_precond_destroy(&g->precond); /* it may read the old matrix */
  bisai_bcsr_destroy(&old);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_gather_create(const bsi_ranks_setup *setup, Mat mat, PetscInt block_size,
                                       const double *vectors, bsi_ranks_gather *gather,
                                       bsi_ranks_failure *failure) {
  const int count = setup->options.null_count;
  PetscErrorCode own = PETSC_SUCCESS;
  bisai_status status = BISAI_OK;
  double *all = NULL;
  PetscMPIInt rank;
  PetscInt n, first;
  Vec vector;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(setup->comm, &rank));
  PetscCall(MatGetSize(mat, &n, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, rank == 0 ? n : 0, 0, 1, &gather->rows));
  PetscCall(gather_matrix(mat, MAT_INITIAL_MATRIX, block_size, gather));
  PetscCall(MatGetLocalSize(mat, &n, &first));
  if (count > 0) PetscCall(gather_values(setup->comm, n, count, vectors, &all));
  if (rank == 0) own = take_matrix(setup, all, false, gather, &status);
  PetscCall(PetscFree(all));
  PetscCall(bsi_ranks_agree(setup, own, status, failure));
  PetscCall(MatCreateVecs(mat, NULL, &vector));
  PetscCall(VecScatterCreateToZero(vector, &gather->scatter, &gather->b));
  PetscCall(VecDuplicate(gather->b, &gather->x));
  PetscCall(VecDestroy(&vector));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_gather_update(const bsi_ranks_setup *setup, Mat mat,
                                       bsi_ranks_gather *gather, bsi_ranks_failure *failure) {
  PetscErrorCode own = PETSC_SUCCESS;
  bisai_status status = BISAI_OK;
  PetscMPIInt rank;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(setup->comm, &rank));
  PetscCall(gather_matrix(mat, MAT_REUSE_MATRIX, 1, gather));
  if (rank == 0) own = take_matrix(setup, NULL, true, gather, &status);
  PetscCall(bsi_ranks_agree(setup, own, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure on the first process gives infinity, with which the solver ends on all of them. */
PetscErrorCode bsi_ranks_gather_apply(bsi_ranks_gather *gather, Vec b, Vec x) {
  const PetscScalar *from;
  PetscScalar *to;
  PetscInt n;
  PetscFunctionBegin;
  PetscCall(VecScatterBegin(gather->scatter, b, gather->b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(gather->scatter, b, gather->b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(gather->x, &n));
  PetscCall(VecGetArrayRead(gather->b, &from));
  PetscCall(VecGetArrayWrite(gather->x, &to));
  if (gather->precond && bisai_precond_apply(gather->precond, from, to))
    for (PetscInt i = 0; i < n; i++) to[i] = INFINITY;
  PetscCall(VecRestoreArrayWrite(gather->x, &to));
  PetscCall(VecRestoreArrayRead(gather->b, &from));
  PetscCall(VecScatterBegin(gather->scatter, gather->x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(gather->scatter, gather->x, x, INSERT_VALUES, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_gather_destroy(bsi_ranks_gather *gather) {
  PetscFunctionBegin;
  bisai_precond_destroy(&gather->precond);
  bisai_bcsr_destroy(&gather->copy.matrix);
  if (gather->matrices) PetscCall(MatDestroySubMatrices(1, &gather->matrices));
  PetscCall(ISDestroy(&gather->rows));
  PetscCall(VecScatterDestroy(&gather->scatter));
  PetscCall(VecDestroy(&gather->b));
  PetscCall(VecDestroy(&gather->x));
  *gather = (bsi_ranks_gather){.rows = NULL};
  PetscFunctionReturn(PETSC_SUCCESS);
}
