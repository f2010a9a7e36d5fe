/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the unknowns of a block are components at a point of a mesh or points of a mesh line,
 * compiled for both backends.
 *
 * A slowly varying vector is nearly in the null space. If unknowns are components, a vector that is
 * constant in one component and zero in the others is such a vector, so that the entries of a row
 * that belong to one component nearly cancel. If they are points, only the constant vector is one:
 * all entries of a row nearly cancel, and those that belong to one place in the blocks do not. */
#ifndef BSI_VOTES_H
#define BSI_VOTES_H

#include "core/block/block_math.h"
#include "core/context/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts the votes of the scalar rows of A. Waits. */
typedef bisai_status bsi_count_votes(bisai_context *, const bisai_bcsr *a, int64_t *components,
                                     int64_t *points);
bsi_count_votes bsi_count_votes_host, bsi_count_votes_cuda;

#ifdef __cplusplus
}
#endif

/* What a scalar row says. A row without entries off the diagonal says nothing. */
typedef enum bsi_vote { BSI_VOTE_NONE, BSI_VOTE_COMPONENTS, BSI_VOTE_POINTS } bsi_vote;

/* Sums above this part of the magnitudes of a row do not cancel. */
#define BSI_POINTS_LEAST_SUM 0.05
/* The sum of the row is small if it is at most this part of the largest sum of a component. */
#define BSI_POINTS_RATIO 0.5

/* Returns the vote of scalar row r of block row i. */
BSI_INLINE bsi_vote bsi_vote_of_row(const int bs, const int32_t *row_ptr, const int32_t *col_idx,
                                    const void *values, int32_t i, int r) {
  const double *v = (const double *)values;
  double magnitudes = 0.0, others = 0.0, all = 0.0, largest = 0.0;
  for (int c = 0; c < bs; c++) {
    double sum = 0.0;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const double value = v[((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r];
      sum += value;
      magnitudes += fabs(value);
      if (col_idx[p] != i || c != r) others += fabs(value);
    }
    all += sum;
    if (fabs(sum) > largest) largest = fabs(sum);
  }
  if (others == 0.0) return BSI_VOTE_NONE;
  return largest > BSI_POINTS_LEAST_SUM * magnitudes && fabs(all) <= BSI_POINTS_RATIO * largest
             ? BSI_VOTE_POINTS
             : BSI_VOTE_COMPONENTS;
}

#endif
