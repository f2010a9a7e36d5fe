/* SPDX-License-Identifier: BSD-3-Clause */
#include "petsc/ranks/ranks.h"

#include "petsc/null_space.h"
#include "petsc/ranks/ranks_impl.h"
#include "petsc/ranks/symmetry.h"

/* --- rows --- */

/* Reads the own rows in blocks of this size, or without zeros in blocks of one value. */
static PetscErrorCode read_rows(bsi_ranks *ranks, PetscInt block_size, bool drop_zeros,
                                bsi_ranks_failure *failure) {
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_rows_destroy(&ranks->rows));
  const PetscErrorCode own = bsi_ranks_rows_read(ranks->source.mat, block_size, drop_zeros,
                                                 ranks->setup.context, &ranks->rows, &status);
  PetscCall(bsi_ranks_agree(&ranks->setup, own, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* nodes=auto: the scalar rows of all processes vote. */
static PetscErrorCode choose_nodes(const bsi_ranks *ranks, bool *scalar,
                                   bsi_ranks_failure *failure) {
  const bisai_multigrid_options *o = &ranks->options.multigrid;
  int64_t votes[2] = {0, 0};
  PetscFunctionBegin;
  *scalar = o->nodes == BISAI_AGGREGATION_UNIT_SCALAR;
  if (o->nodes != BISAI_AGGREGATION_UNIT_AUTO || o->null_count > 0)
    PetscFunctionReturn(PETSC_SUCCESS);
  const bisai_status status =
      bisai_ranks_vote(ranks->setup.context, ranks->rows.matrix, &votes[0], &votes[1]);
  PetscCall(bsi_ranks_agree(&ranks->setup, PETSC_SUCCESS, status, failure));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, votes, 2, MPI_INT64_T, MPI_SUM, ranks->setup.comm));
  *scalar = votes[1] > votes[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode take_rows(bsi_ranks *ranks, Mat mat, bsi_ranks_failure *failure) {
  PetscInt block_size;
  bool scalar = false;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(mat, &block_size));
  PetscCall(bsi_ranks_source_take(mat, &ranks->source));
  PetscCall(read_rows(ranks, block_size, false, failure));
  if (failure->status || block_size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(choose_nodes(ranks, &scalar, failure));
  if (!failure->status && scalar) PetscCall(read_rows(ranks, 1, true, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vectors of the options or of the Mat. The caller frees *own. */
static PetscErrorCode take_vectors(bsi_ranks *ranks, Mat mat, double **own) {
  bisai_multigrid_options *o = &ranks->options.multigrid;
  PetscFunctionBegin;
  *own = NULL;
  if (o->null_vectors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_petsc_near_null_space(mat, &o->null_count, own));
  o->null_vectors = *own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- creation --- */

static PetscErrorCode take_failure(const bsi_ranks *ranks, bisai_status status,
                                   bsi_ranks_failure *failure) {
  PetscFunctionBegin;
  failure->status = status;
  if (status)
    PetscCall(PetscStrncpy(failure->message, bsi_petsc_message(ranks->setup.context, status),
                           sizeof failure->message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_levels(bsi_ranks *ranks, bsi_ranks_failure *failure) {
  const bsi_ranks_rows *rows = &ranks->rows;
  int64_t *ghosts;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_rows_are_symmetric(ranks->setup.comm, rows, &ranks->symmetric));
  PetscCall(PetscMalloc1(rows->ghosts, &ghosts));
  for (PetscInt j = 0; j < rows->ghosts; j++) ghosts[j] = rows->ghost[j];
  const bisai_ranks_rows of = {rows->matrix, ghosts, ranks->symmetric};
  const bisai_status status =
      bisai_ranks_create(ranks->setup.context, &of, &ranks->table, &ranks->options, &ranks->levels);
  PetscCall(PetscFree(ghosts));
  PetscCall(take_failure(ranks, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode fill(bsi_ranks *ranks, Mat mat, bsi_ranks_failure *failure) {
  double *own;
  PetscFunctionBegin;
  PetscCall(take_vectors(ranks, mat, &own));
  PetscCall(take_rows(ranks, mat, failure));
  ranks->options.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  if (!failure->status) PetscCall(make_levels(ranks, failure));
  ranks->options.multigrid.null_vectors = NULL;
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses what needs all rows on one process. */
static PetscErrorCode check(const bsi_ranks *ranks) {
  const bisai_multigrid_options *o = &ranks->options.multigrid;
  PetscFunctionBegin;
  PetscCheck(o->smoother == BISAI_SMOOTHER_AUTO || o->smoother == BISAI_SMOOTHER_JACOBI ||
                 o->smoother == BISAI_SMOOTHER_CHEBYSHEV,
             ranks->setup.comm, PETSC_ERR_SUP,
             "bisai: -pc_bisai_mg_smoother %s needs a matrix on one process: take jacobi or "
             "chebyshev, or -pc_bisai_mg_distributed 0",
             bisai_smoother_string(o->smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_create(Mat mat, const bsi_ranks_options *options, bsi_ranks **result,
                                bsi_ranks_failure *failure) {
  const bisai_precond_options *o = options->precond;
  bisai_status status = BISAI_OK;
  bsi_ranks *ranks;
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(PetscNew(&ranks));
  ranks->setup.comm = PetscObjectComm((PetscObject)mat);
  ranks->options = bisai_ranks_options_default();
  ranks->options.multigrid = o->multigrid;
  ranks->options.shift_amount = o->shift == BISAI_SHIFT_NONE ? 0.0 : o->shift_amount;
  ranks->options.gather = options->gather;
  PetscCall(check(ranks));
  PetscCall(bsi_ranks_transport_create(ranks->setup.comm, &ranks->transport, &ranks->table));
  PetscCall(bsi_petsc_context(options->backend, options->threads, &ranks->setup.context, &status));
  PetscCall(bsi_ranks_agree(&ranks->setup, PETSC_SUCCESS, status, failure));
  if (!failure->status)
    PetscCall(bsi_ranks_transport_choose(options->transport, ranks->setup.comm,
                                         ranks->setup.context, &ranks->transport, &ranks->table));
  if (!failure->status) PetscCall(fill(ranks, mat, failure));
  if (failure->status)
    PetscCall(bsi_ranks_destroy(&ranks));
  else
    *result = ranks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- updates --- */

/* Takes the values of the own rows. *kept ← false if the Mat has others than a hierarchy can
 * take. */
static PetscErrorCode refresh(bsi_ranks *ranks, Mat mat, bool *kept, bsi_ranks_failure *failure) {
  bisai_status status = BISAI_OK;
  bool symmetric;
  PetscFunctionBegin;
  PetscCall(bsi_ranks_source_refresh(mat, &ranks->source, kept));
  if (!*kept) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscErrorCode own = bsi_ranks_rows_update(ranks->source.mat, &ranks->rows, kept, &status);
  int all = *kept;
  PetscCall(bsi_ranks_agree(&ranks->setup, own, status, failure));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, ranks->setup.comm));
  *kept = all != 0;
  if (!*kept || !ranks->symmetric || ranks->options.multigrid.unweighted)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_rows_are_symmetric(ranks->setup.comm, &ranks->rows, &symmetric));
  *kept = symmetric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_update(bsi_ranks *ranks, Mat mat, bool *kept, bsi_ranks_failure *failure) {
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(refresh(ranks, mat, kept, failure));
  if (!*kept || failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(take_failure(ranks, bisai_ranks_update(ranks->levels, ranks->rows.matrix), failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- use --- */

PetscErrorCode bsi_ranks_apply(bsi_ranks *ranks, const double *v, double *z) {
  PetscFunctionBegin;
  const bisai_status status = bisai_ranks_apply(ranks->levels, v, z);
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             bsi_petsc_message(ranks->setup.context, status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bisai_status bsi_ranks_apply_transpose(bsi_ranks *ranks, const double *v, double *z) {
  return bisai_ranks_apply_transpose(ranks->levels, v, z);
}

bisai_context *bsi_ranks_context(const bsi_ranks *ranks) { return ranks->setup.context; }

PetscErrorCode bsi_ranks_destroy(bsi_ranks **result) {
  bsi_ranks *ranks = *result;
  PetscFunctionBegin;
  *result = NULL;
  if (!ranks) PetscFunctionReturn(PETSC_SUCCESS);
  bisai_ranks_destroy(&ranks->levels);
  PetscCall(bsi_ranks_rows_destroy(&ranks->rows));
  PetscCall(MatDestroy(&ranks->source.mat));
  PetscCall(bsi_ranks_transport_destroy(&ranks->transport));
  bisai_context_destroy(&ranks->setup.context);
  PetscCall(PetscFree(ranks));
  PetscFunctionReturn(PETSC_SUCCESS);
}
