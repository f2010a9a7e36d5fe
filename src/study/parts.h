/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a study that the host does on every backend. */
#ifndef BSI_STUDY_PARTS_H
#define BSI_STUDY_PARTS_H

#include <bisai/study.h>

#include "core/matrix/bcsr_impl.h"
#include "study/study_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Studies what the choice of a method asks: all rows, a small sample, the constants, and the
 * unknowns where A is not symmetric. Neither fields nor levels. */
bisai_status bsi_study_briefly(bisai_context *context, const bisai_bcsr *matrix,
                               bisai_matrix_study_report *study);

/* Fills the report from the sums, maxima and minima. */
void bsi_study_report_fill(const bsi_study_view *a, const bsi_study_record *record,
                           bisai_matrix_study_report *study);

/* Returns the constants that the record does not exclude. */
bisai_study_constants bsi_study_constants_of(int bs, const bsi_study_record *record);

/* The ranges of rows in which the constants are 1. */
enum { BSI_STUDY_RANGES = BISAI_MAX_BLOCK_SIZE + 1 };
int32_t bsi_study_ranges(const bisai_study_constants *constants, int32_t bs, int64_t rows,
                         bsi_study_range ranges[BSI_STUDY_RANGES]);

/* Adds the constant in the rows of study->saddle to those of study->null. */
bisai_status bsi_study_find_pressure(bisai_context *context, const bsi_study_view *a,
                                     bisai_matrix_study_report *study);

/* study->null.left ← the constants that the transpose maps to zero. `probes` are those of
 * bsi_study_ops.rows. */
bisai_status bsi_study_find_left(bisai_context *context, const bsi_study_view *a,
                                 const double *probes, bisai_matrix_study_report *study);

/* *inconsistency ← that of b, whose `rows` values the caller keeps in host or backend memory. */
bisai_status bsi_study_measure_rhs(bisai_context *context, int bs, int64_t rows,
                                   const bisai_study_constants *left, const double *rhs,
                                   double *inconsistency);

/* Finds unknowns that are stored field by field, and the levels in the order of the matrix. */
bisai_status bsi_study_find_fields(bisai_context *context, const bsi_study_view *a,
                                   bisai_study_fields *fields);
bisai_status bsi_study_count_levels(bisai_context *context, const bsi_study_view *a,
                                    bisai_study_order *order);

/* Returns the levels of the first rows. `level` has `rows` entries. */
int32_t bsi_study_levels_of(int32_t rows, const int32_t *row_ptr, const int32_t *col_idx,
                            int32_t *level);

/* The structure of the first rows, which the host reads; on a host that of the matrix itself. */
typedef struct bsi_first_rows {
  int32_t rows;
  const int32_t *row_ptr, *col_idx;
  int32_t *own_ptr, *own_idx;
} bsi_first_rows;

/* Fetches so many of the first rows that the host reads them in about a millisecond. The caller
 * releases them, after a failure too. */
bisai_status bsi_study_fetch_rows(bisai_context *context, const bsi_study_view *a,
                                  bsi_first_rows *first);
void bsi_study_release_rows(bisai_context *context, bsi_first_rows *first);

/* Measures the ellipticity of each unknown. */
bisai_status bsi_study_measure_unknowns(bisai_context *context, const bsi_study_view *a,
                                        bisai_study_unknowns *unknowns);

#ifdef __cplusplus
}
#endif

#endif
