/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai computes the pressure equations of the own rows in host memory (bisai/pressure.h), and
 * PETSc transposes their matrix. Applications work on the backend of the hierarchy. */
#include "petsc/ranks/cpr.h"

#include <bisai/pressure.h>

#include "petsc/ranks/matrices.h"
#include "petsc/ranks/ranks_impl.h"
#include "petsc/ranks/view.h"

struct bsi_ranks_cpr {
  bsi_ranks_setup setup;
  bisai_cpr_options options;
  bsi_ranks_source source;
  bsi_ranks_rows rows;
  /* the number of each block column of the rows among all */
  PetscInt *column;
  bisai_pressure *pressure;
  /* the pressure matrix, and its transpose */
  Mat matrix, transposed;
  bsi_ranks *hierarchy;
  bisai_pressure_stage *stage;
  /* an error of PETSc in a callback */
  PetscErrorCode code;
};

/* --- what processes do together --- */

static bsi_ranks_blocks blocks_of(const bsi_ranks_cpr *cpr, const double *values) {
  const bsi_ranks_rows *rows = &cpr->rows;
  return (bsi_ranks_blocks){rows->n, 1, rows->row_ptr, rows->col_idx, values, cpr->column};
}

static PetscErrorCode fill(bsi_ranks_cpr *cpr, const double *values) {
  const bsi_ranks_blocks blocks = blocks_of(cpr, values);
  PetscFunctionBegin;
  if (cpr->matrix)
    PetscCall(bsi_ranks_mat_fill(&blocks, cpr->matrix));
  else
    PetscCall(bsi_ranks_mat_create(cpr->setup.comm, &blocks, &cpr->matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* mirrored ← the entries of own row i of the transpose. */
static PetscErrorCode take_row(const bsi_ranks_cpr *cpr, PetscInt i, double *mirrored) {
  const bsi_ranks_rows *rows = &cpr->rows;
  const PetscScalar *values;
  const PetscInt *columns;
  PetscInt count, at;
  PetscFunctionBegin;
  PetscCall(MatGetRow(cpr->transposed, rows->first + i, &count, &columns, &values));
  for (int32_t q = rows->row_ptr[i]; q < rows->row_ptr[i + 1]; q++) {
    PetscCall(PetscFindInt(cpr->column[rows->col_idx[q]], count, columns, &at));
    mirrored[q] = at < 0 ? 0.0 : values[at];
  }
  PetscCall(MatRestoreRow(cpr->transposed, rows->first + i, &count, &columns, &values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode transpose(bsi_ranks_cpr *cpr, const double *values, double *mirrored) {
  PetscFunctionBegin;
  PetscCall(fill(cpr, values));
  PetscCall(MatTranspose(cpr->matrix, cpr->transposed ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX,
                         &cpr->transposed));
  for (PetscInt i = 0; i < cpr->rows.n; i++) PetscCall(take_row(cpr, i, mirrored));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static bisai_status mirror(void *user, const double *values, double *mirrored) {
  bsi_ranks_cpr *cpr = user;
  cpr->code = transpose(cpr, values, mirrored);
  return cpr->code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status exchange(void *user, const double *own, double *ghosts) {
  bsi_ranks_cpr *cpr = user;
  cpr->code = bsi_ranks_rows_exchange(&cpr->rows, 1, own, ghosts);
  return cpr->code ? BISAI_EXTERNAL_ERROR : BISAI_OK;
}

static bisai_status add(void *user, int count, int64_t *values) {
  const bsi_ranks_cpr *cpr = user;
  const int code =
      MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, cpr->setup.comm);
  return code == MPI_SUCCESS ? BISAI_OK : BISAI_EXTERNAL_ERROR;
}

/* Computes the pressure equations of all processes. */
static PetscErrorCode compute(bsi_ranks_cpr *cpr, bsi_ranks_failure *failure) {
  const bisai_pressure_calls calls = {cpr, exchange, mirror, add};
  PetscFunctionBegin;
  const bisai_status status = bisai_pressure_compute(cpr->pressure, &calls);
  PetscCall(bsi_ranks_agree(&cpr->setup, cpr->code, status, failure));
  if (!failure->status) PetscCall(fill(cpr, bisai_pressure_values(cpr->pressure)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- creation --- */

/* Reads the own rows, and reserves what needs this process alone. */
static PetscErrorCode read_rows(bsi_ranks_cpr *cpr, PetscInt block_size,
                                bsi_ranks_failure *failure) {
  bsi_ranks_rows *rows = &cpr->rows;
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  PetscErrorCode own =
      bsi_ranks_rows_read(cpr->source.mat, block_size, false, cpr->setup.context, rows, &status);
  if (!own && !status)
    status = bisai_pressure_create(cpr->setup.context, rows->matrix, &cpr->options, &cpr->pressure);
  PetscCall(bsi_ranks_agree(&cpr->setup, own, status, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(bsi_ranks_rows_connect(cpr->source.mat, rows));
  PetscCall(PetscMalloc1((size_t)(rows->n + rows->ghosts), &cpr->column));
  for (PetscInt i = 0; i < rows->n; i++) cpr->column[i] = rows->first + i;
  for (PetscInt j = 0; j < rows->ghosts; j++) cpr->column[rows->n + j] = rows->ghost[j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make_hierarchy(bsi_ranks_cpr *cpr, const bsi_ranks_options *given,
                                     bsi_ranks_failure *failure) {
  bsi_ranks_options o = *given;
  PetscInt rows;
  PetscFunctionBegin;
  PetscCall(MatGetSize(cpr->matrix, &rows, NULL));
  const bisai_precond_options first =
      bisai_pressure_stage_options(cpr->setup.context, given->precond, rows, 0);
  o.precond = &first;
  PetscCall(bsi_ranks_create(cpr->matrix, &o, &cpr->hierarchy, failure));
  if (failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  const bisai_status status =
      bisai_pressure_stage_create(cpr->pressure, cpr->hierarchy->levels, &cpr->stage);
  PetscCall(bsi_ranks_agree(&cpr->hierarchy->setup, PETSC_SUCCESS, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode make(bsi_ranks_cpr *cpr, Mat mat, const bsi_ranks_options *options,
                           bsi_ranks_failure *failure) {
  PetscInt block_size;
  PetscFunctionBegin;
  PetscCall(MatGetBlockSize(mat, &block_size));
  PetscCall(bsi_ranks_source_take(mat, &cpr->source));
  PetscCall(read_rows(cpr, block_size, failure));
  if (!failure->status) PetscCall(compute(cpr, failure));
  if (!failure->status) PetscCall(make_hierarchy(cpr, options, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_create(Mat mat, const bsi_ranks_options *options,
                                    bsi_ranks_cpr **result, bsi_ranks_failure *failure) {
  bisai_status status = BISAI_OK;
  bsi_ranks_cpr *cpr;
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(PetscNew(&cpr));
  cpr->setup.comm = PetscObjectComm((PetscObject)mat);
  cpr->options = options->precond->cpr;
  PetscCall(bsi_petsc_context(BISAI_BACKEND_HOST, options->threads, &cpr->setup.context, &status));
  PetscCall(bsi_ranks_agree(&cpr->setup, PETSC_SUCCESS, status, failure));
  if (!failure->status) PetscCall(make(cpr, mat, options, failure));
  if (failure->status)
    PetscCall(bsi_ranks_cpr_destroy(&cpr));
  else
    *result = cpr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- updates --- */

/* Takes the values of the own rows. */
static PetscErrorCode take_values(bsi_ranks_cpr *cpr, bool *same, bsi_ranks_failure *failure) {
  bisai_status status = BISAI_OK;
  PetscFunctionBegin;
  const PetscErrorCode own = bsi_ranks_rows_update(cpr->source.mat, &cpr->rows, same, &status);
  int all = *same;
  if (!own && !status && *same) status = bisai_pressure_update(cpr->pressure, cpr->rows.matrix);
  PetscCall(bsi_ranks_agree(&cpr->setup, own, status, failure));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, cpr->setup.comm));
  *same = all != 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode update_stage(bsi_ranks_cpr *cpr, bsi_ranks_failure *failure) {
  PetscFunctionBegin;
  const bisai_status status = bisai_pressure_stage_update(cpr->stage);
  PetscCall(bsi_ranks_agree(&cpr->hierarchy->setup, PETSC_SUCCESS, status, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_update(bsi_ranks_cpr *cpr, Mat mat, bool *kept,
                                    bsi_ranks_failure *failure) {
  PetscFunctionBegin;
  *failure = (bsi_ranks_failure){BISAI_OK, ""};
  PetscCall(bsi_ranks_source_refresh(mat, &cpr->source, kept));
  if (*kept) PetscCall(take_values(cpr, kept, failure));
  if (!*kept || failure->status) PetscFunctionReturn(PETSC_SUCCESS);
  if (cpr->options.keep_pressure) {
    bisai_pressure_keep(cpr->pressure);
    PetscCall(update_stage(cpr, failure));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(compute(cpr, failure));
  if (!failure->status) PetscCall(bsi_ranks_update(cpr->hierarchy, cpr->matrix, kept, failure));
  if (!failure->status && *kept) PetscCall(update_stage(cpr, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* --- use --- */

bisai_context *bsi_ranks_cpr_context(const bsi_ranks_cpr *cpr) {
  return bsi_ranks_context(cpr->hierarchy);
}

static PetscErrorCode check(const bsi_ranks_cpr *cpr, bisai_status status) {
  PetscFunctionBegin;
  PetscCheck(!status, PETSC_COMM_SELF, bsi_petsc_error(status), "bisai: %s",
             bsi_petsc_message(bsi_ranks_cpr_context(cpr), status));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_begin(bsi_ranks_cpr *cpr, const double *v, const double **rest) {
  PetscFunctionBegin;
  PetscCall(check(cpr, bisai_pressure_stage_begin(cpr->stage, v, rest)));
  /* the second stage may work on another stream */
  PetscCall(check(cpr, bisai_context_synchronize(bsi_ranks_cpr_context(cpr))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_end(const bsi_ranks_cpr *cpr, double *x) {
  PetscFunctionBegin;
  PetscCall(check(cpr, bisai_pressure_stage_end(cpr->stage, x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_view(const bsi_ranks_cpr *cpr, PetscViewer viewer) {
  const bisai_cpr_report r = bisai_pressure_report(cpr->pressure);
  int64_t excluded = r.excluded_rows;
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &excluded, 1, MPI_INT64_T, MPI_SUM, cpr->setup.comm));
  PetscCall(PetscViewerASCIIPrintf(
      viewer, "  cpr over all processes: pressure: unknown %d of each block (%s), weights %s\n",
      r.pressure, r.found ? "measured" : "given", bisai_weights_string(r.weights)));
  if (excluded > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  block rows without pressure correction: %lld\n",
                                     (long long)excluded));
  PetscCall(bsi_ranks_view(cpr->hierarchy, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bsi_ranks_cpr_destroy(bsi_ranks_cpr **result) {
  bsi_ranks_cpr *cpr = *result;
  PetscFunctionBegin;
  *result = NULL;
  if (!cpr) PetscFunctionReturn(PETSC_SUCCESS);
  bisai_pressure_stage_destroy(&cpr->stage);
  PetscCall(bsi_ranks_destroy(&cpr->hierarchy));
  PetscCall(MatDestroy(&cpr->matrix));
  PetscCall(MatDestroy(&cpr->transposed));
  bisai_pressure_destroy(&cpr->pressure);
  PetscCall(bsi_ranks_rows_destroy(&cpr->rows));
  PetscCall(MatDestroy(&cpr->source.mat));
  PetscCall(PetscFree(cpr->column));
  bisai_context_destroy(&cpr->setup.context);
  PetscCall(PetscFree(cpr));
  PetscFunctionReturn(PETSC_SUCCESS);
}
