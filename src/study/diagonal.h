/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study finds at the diagonal of a block row, compiled for both backends. */
#ifndef BSI_STUDY_DIAGONAL_H
#define BSI_STUDY_DIAGONAL_H

#include "core/block/block_invert.h"
#include "core/matrix/search.h"
#include "study/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counts scalar row `row`, whose diagonal entry is 0. */
BSI_INLINE void bsi_study_zero_diagonal(double off, uint64_t row, bsi_study_record *record) {
  record->sums[BSI_STUDY_ZERO_DIAGONALS]++;
  if (off > 0.0) {
    record->sums[BSI_STUDY_SADDLE_ROWS]++;
    bsi_study_least(record, BSI_STUDY_FIRST_SADDLE, row);
    bsi_study_most(record, BSI_STUDY_LAST_SADDLE, row + 1);
  } else {
    record->sums[BSI_STUDY_ZERO_ROWS]++;
    bsi_study_least(record, BSI_STUDY_FIRST_ZERO_ROW, row);
  }
}

/* Counts the diagonal entry d of scalar row `row` of component r. */
BSI_INLINE void bsi_study_diagonal_entry(double d, double off, uint64_t row, int r,
                                         bsi_study_record *record) {
  const double size = fabs(d);
  record->sums[BSI_STUDY_DOMINANT_ROWS] += size > 0.0 && off <= size * (1.0 + BSI_STUDY_ZERO);
  if (d > 0.0) {
    record->sums[BSI_STUDY_POSITIVE]++;
    record->bits[BSI_STUDY_HAS_POSITIVE] |= UINT64_C(1) << r;
  } else if (d < 0.0) {
    record->sums[BSI_STUDY_NEGATIVE]++;
    record->bits[BSI_STUDY_HAS_NEGATIVE] |= UINT64_C(1) << r;
    bsi_study_least(record, BSI_STUDY_FIRST_NEGATIVE, row);
    bsi_study_most(record, BSI_STUDY_LAST_NEGATIVE, row + 1);
  } else {
    bsi_study_zero_diagonal(off, row, record);
    return;
  }
  bsi_study_most(record, BSI_STUDY_LARGEST_DIAGONAL, bsi_study_bits(size));
  bsi_study_least(record, BSI_STUDY_SMALLEST_DIAGONAL, bsi_study_bits(size));
  if (off > 0.0) return;
  record->sums[BSI_STUDY_SINGLE_ROWS]++;
  bsi_study_least(record, BSI_STUDY_FIRST_SINGLE, row);
}

/* Returns the sum of row r of |D⁻¹| O, from O 1 = Σ_j |a_ij| outside of D. `off` has Σ_j |a_ij|,
 * j ≠ i, for the scalar rows. */
BSI_INLINE double bsi_study_dominated(const int bs, const double *block, const double *inverse,
                                      const double *off, int r) {
  double sum = 0.0;
  for (int k = 0; k < bs; k++) {
    double outside = off[k];
    for (int c = 0; c < bs; c++)
      if (c != k) outside -= fabs(block[c * bs + k]);
    sum += fabs(inverse[k * bs + r]) * (outside > BSI_STUDY_ZERO * off[k] ? outside : 0.0);
  }
  return sum;
}

/* Counts a diagonal block and whether its row dominates. */
BSI_INLINE void bsi_study_diagonal_block(bool singular, double condition, bool dominant, int32_t i,
                                         bsi_study_record *record) {
  if (singular) {
    record->sums[BSI_STUDY_SINGULAR]++;
    bsi_study_least(record, BSI_STUDY_FIRST_SINGULAR, (uint64_t)i);
  } else {
    bsi_study_most(record, BSI_STUDY_CONDITION, bsi_study_bits(condition));
    record->sums[BSI_STUDY_DOMINANT_BLOCKS] += dominant;
  }
}

/* Inverts and counts a diagonal block. */
BSI_INLINE void bsi_study_invert_diagonal(const int bs, const double *block, const double *off,
                                          int32_t i, double *inverse, bsi_study_record *record) {
  double condition = 1.0;
  bool singular, dominant;
  if (bs == 1) {
    singular = block[0] == 0.0;
    dominant = off[0] <= fabs(block[0]) * (1.0 + BSI_STUDY_ZERO);
  } else {
    singular = bsi_block_invert(bs, block, inverse, &condition) == BSI_BLOCK_SINGULAR;
    dominant = !singular;
    for (int r = 0; r < bs && dominant; r++)
      dominant = bsi_study_dominated(bs, block, inverse, off, r) <= 1.0 + BSI_STUDY_ZERO;
  }
  bsi_study_diagonal_block(singular, condition, dominant, i, record);
}

/* What is known of a block row: the place of its diagonal block, or −1, and the components of its
 * rows whose diagonal entry is 0. */
typedef struct bsi_study_block {
  int32_t diagonal;
  uint32_t zeros;
} bsi_study_block;

/* Counts block row i, whose scalar rows have the sums `off`, but not its diagonal block. */
BSI_INLINE bsi_study_block bsi_study_block_row(const int bs, const bsi_study_view *a, int32_t i,
                                               const double *off, bsi_study_record *record) {
  const int32_t begin = a->row_ptr[i], end = a->row_ptr[i + 1],
                p = bsi_find_diagonal(a->row_ptr, a->col_idx, i);
  const double *block = a->values + (size_t)(p < 0 ? 0 : p) * (size_t)(bs * bs);
  const int64_t first = (int64_t)i * bs;
  bsi_study_block found = {p, 0};
  int single = 0, rows = 0;
  for (int r = 0; r < bs && first + r < a->rows; r++, rows++) {
    const double d = p < 0 ? 0.0 : block[r * bs + r];
    bsi_study_diagonal_entry(d, off[r], (uint64_t)(first + r), r, record);
    single += d != 0.0 && off[r] == 0.0;
    if (d == 0.0) found.zeros |= 1u << r;
  }
  record->sums[BSI_STUDY_PARTLY_SINGLE] += single > 0 && single < rows;
  if (begin < end) {
    const int64_t below = (int64_t)i - a->col_idx[begin], above = (int64_t)a->col_idx[end - 1] - i;
    if (below > 0) record->sums[BSI_STUDY_PROFILE] += (uint64_t)below;
    bsi_study_most(record, BSI_STUDY_BANDWIDTH,
                   (uint64_t)(below > above ? below
                              : above > 0   ? above
                                            : 0));
  }
  if (p < 0) {
    record->sums[BSI_STUDY_MISSING]++;
    bsi_study_least(record, BSI_STUDY_FIRST_MISSING, (uint64_t)i);
  }
  return found;
}

/* Returns how many entries of scalar row r of block row i, whose diagonal entry is 0, lie in
 * columns of such rows. `zeros` are the results of bsi_study_block_row(). */
BSI_INLINE int64_t bsi_study_inner_entries(const bsi_study_view *a, const uint32_t *zeros,
                                           int32_t i, int r) {
  const int bs = a->block_size;
  int64_t inner = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const uint32_t among = zeros[a->col_idx[p]];
    const double *values = a->values + (size_t)p * (size_t)(bs * bs) + r;
    for (int c = 0; c < bs && among >> c; c++) inner += (among >> c & 1u) && values[c * bs] != 0.0;
  }
  return inner;
}

#ifdef __cplusplus
}
#endif

#endif
