/* SPDX-License-Identifier: BSD-3-Clause */
/* What the entries of a matrix say. A pass over all rows, which takes about as long as some
 * products with A, counts and compares; mirror images, ellipticity and fields are measured in
 * samples, because they search and invert. */
#include <bisai/study.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "study/parts.h"
#include "study/samples.h"

/* In a smaller system, CPR saves less time than it takes to see whether a pressure is there. */
enum { ROWS_OF_CPR = 2000 };

static bisai_status check(bisai_context *context, const bisai_bcsr *a, int64_t rows) {
  if (a->block_rows != a->block_cols)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "bisai_matrix_study: the matrix is not square: %d × %d blocks", a->block_rows,
                    a->block_cols);
  if (rows < 0 || rows > (int64_t)a->block_rows * a->block_size)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT,
                    "bisai_matrix_study: rows is %lld, and the matrix has %lld", (long long)rows,
                    (long long)a->block_rows * a->block_size);
  if (a->type != BISAI_FP64)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "bisai_matrix_study: the values are %s, and only fp64 can be studied",
                    bisai_value_type_string(a->type));
  if (a->unit_diagonal)
    return bsi_fail(context, BISAI_UNSUPPORTED,
                    "bisai_matrix_study: the matrix does not store its diagonal");
  return BISAI_OK;
}

/* Studies all rows, and what depends on them alone. */
static bisai_status study_rows(bisai_context *context, const bsi_study_view *a, uint32_t *zeros,
                               bisai_matrix_study_report *study) {
  const bsi_study_ops *ops = context->backend->matrix->study;
  const int32_t count = bsi_study_sample_size(a);
  double probes[2 * BISAI_MAX_BLOCK_SIZE];
  bsi_study_record record;
  bsi_study_clear(&record);
  BSI_TRY(ops->rows(context, a, zeros, study->symmetry.symmetric ? NULL : probes, &record));
  BSI_TRY(ops->sample(context, a, count, &record));
  bsi_study_report_fill(a, &record, study);
  study->symmetry.sampled_rows = count;
  if (study->saddle.rows > 0) BSI_TRY(ops->inner(context, a, zeros, &study->saddle.inner));
  study->saddle.zero_block = study->saddle.rows > 0 && study->saddle.inner == 0;
  BSI_TRY(bsi_study_find_left(context, a, probes, study));
  return bsi_study_find_pressure(context, a, study);
}

static bisai_status study_matrix(bisai_context *context, const bisai_bcsr *matrix,
                                 const bsi_study_view *a, bisai_matrix_study_report *study) {
  const bsi_memory_ops *memory = context->backend->memory;
  bisai_study_symmetry *symmetry = &study->symmetry;
  uint32_t *zeros = memory->allocate(context, (size_t)a->block_rows, sizeof *zeros);
  bisai_status status = zeros ? BISAI_OK : BISAI_OUT_OF_MEMORY;
  if (!status)
    status = bsi_bcsr_asymmetry_within(context, matrix, BISAI_SYMMETRY_LIMIT, &symmetry->asymmetry);
  symmetry->symmetric = symmetry->asymmetry <= BISAI_SYMMETRY_LIMIT;
  if (!status) status = study_rows(context, a, zeros, study);
  memory->release(context, zeros);
  if (!status && !(a->brief && (symmetry->symmetric || a->rows < ROWS_OF_CPR)))
    status = bsi_study_measure_unknowns(context, a, &study->unknowns);
  if (!status && !a->brief) status = bsi_study_find_fields(context, a, &study->fields);
  if (!status && !a->brief) status = bsi_study_count_levels(context, a, &study->order);
  return status;
}

static bsi_study_view view_of(const bisai_bcsr *matrix, int64_t rows) {
  return (bsi_study_view){.block_rows = matrix->block_rows,
                          .block_size = matrix->block_size,
                          .blocks = matrix->blocks,
                          .rows = rows > 0 ? rows : bsi_bcsr_span(matrix),
                          .row_ptr = matrix->row_ptr,
                          .col_idx = matrix->col_idx,
                          .values = matrix->values};
}

bisai_status bsi_study_briefly(bisai_context *context, const bisai_bcsr *matrix,
                               bisai_matrix_study_report *study) {
  BSI_TRY(check(context, matrix, 0));
  bsi_study_view a = view_of(matrix, 0);
  a.brief = true;
  *study = (bisai_matrix_study_report){.struct_size = sizeof *study};
  return study_matrix(context, matrix, &a, study);
}

bisai_status bisai_matrix_study(bisai_context *context, const bisai_bcsr *matrix, int64_t rows,
                                const double *rhs, bisai_matrix_study_report *study) {
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !study)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_matrix_study: %s is NULL",
                    matrix ? "study" : "matrix");
  BSI_TRY(
      bsi_check_report(context, "bisai_matrix_study_report", study->struct_size, sizeof *study));
  BSI_TRY(check(context, matrix, rows));
  const bsi_study_view a = view_of(matrix, rows);
  bisai_matrix_study_report found = {.struct_size = sizeof found};
  BSI_TRY(study_matrix(context, matrix, &a, &found));
  if (rhs)
    BSI_TRY(bsi_study_measure_rhs(context, a.block_size, a.rows, &found.null.left, rhs,
                                  &found.null.inconsistency));
  *study = found;
  return BISAI_OK;
}

bisai_status bisai_matrix_study_rhs(bisai_context *context, const bisai_bcsr *matrix,
                                    const bisai_matrix_study_report *study, const double *rhs,
                                    double *inconsistency) {
  double measured = 0.0;
  if (!context) return BISAI_INVALID_ARGUMENT;
  if (!matrix || !study || !rhs || !inconsistency)
    return bsi_fail(context, BISAI_INVALID_ARGUMENT, "bisai_matrix_study_rhs: %s is NULL",
                    !matrix  ? "matrix"
                    : !study ? "study"
                    : !rhs   ? "rhs"
                             : "inconsistency");
  BSI_TRY(
      bsi_check_report(context, "bisai_matrix_study_report", study->struct_size, sizeof *study));
  BSI_TRY(bsi_study_measure_rhs(context, matrix->block_size, study->entries.rows, &study->null.left,
                                rhs, &measured));
  *inconsistency = measured;
  return BISAI_OK;
}
