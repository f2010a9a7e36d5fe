/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study finds in a row, compiled for both backends: first for a scalar row, then for the
 * diagonal block of a block row. */
#ifndef BSI_STUDY_ROWS_H
#define BSI_STUDY_ROWS_H

#include "core/block/block_invert.h"
#include "core/matrix/search.h"
#include "study/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A square matrix in backend memory. */
typedef struct bsi_study_view {
  int32_t block_rows, block_size, blocks;
  /* scalar rows without padding */
  int64_t rows;
  const int32_t *row_ptr, *col_idx;
  const double *values;
} bsi_study_view;

/* A scalar row without its diagonal entry. */
typedef struct bsi_study_row {
  /* of each component: the sum of the entries, and that of their magnitudes */
  double sums[BISAI_MAX_BLOCK_SIZE], sizes[BISAI_MAX_BLOCK_SIZE];
  /* the sum with the weights of bsi_study_weight(), and that of magnitudes */
  double probe, probe_size;
  double diagonal, largest;
  int32_t nonzeros;
} bsi_study_row;

/* Returns a weight from 1 to 8 that varies with the column. */
BSI_INLINE double bsi_study_weight(int64_t column) {
  return (double)(1u + ((uint32_t)column * 2654435761u >> 29));
}

BSI_INLINE void bsi_study_row_clear(const int bs, bsi_study_row *row) {
  BSI_UNROLL
  for (int c = 0; c < bs; c++) row->sums[c] = row->sizes[c] = 0.0;
  row->probe = row->probe_size = row->diagonal = row->largest = 0.0;
  row->nonzeros = 0;
}

/* Adds entry c of a block, whose value is off the diagonal. */
BSI_INLINE void bsi_study_entry_add(double value, int c, bool probing, int64_t column,
                                    bsi_study_row *row) {
  const double size = fabs(value);
  row->sums[c] += value;
  row->sizes[c] += size;
  if (size > row->largest) row->largest = size;
  row->nonzeros += value != 0.0;
  if (!probing) return;
  row->probe += bsi_study_weight(column) * value;
  row->probe_size += bsi_study_weight(column) * size;
}

/* Adds block p of block row i to its scalar row r. */
BSI_INLINE void bsi_study_row_add(const int bs, const bsi_study_view *a, bool probing, int32_t i,
                                  int r, int32_t p, bsi_study_row *row) {
  const double *values = a->values + (size_t)p * (size_t)(bs * bs) + r;
  const int32_t j = a->col_idx[p];
  const int64_t first = (int64_t)j * bs;
  if (j != i && first + bs <= a->rows) {
    BSI_UNROLL
    for (int c = 0; c < bs; c++) bsi_study_entry_add(values[c * bs], c, probing, first + c, row);
  } else {
    BSI_UNROLL
    for (int c = 0; c < bs; c++)
      if (first + c < a->rows && (j != i || c != r))
        bsi_study_entry_add(values[c * bs], c, probing, first + c, row);
  }
  if (j != i) return;
  row->diagonal = values[r * bs];
  if (!probing) return;
  row->probe += bsi_study_weight(first + r) * row->diagonal;
  row->probe_size += bsi_study_weight(first + r) * fabs(row->diagonal);
}

BSI_INLINE bool bsi_study_vanishes(double sum, double size) {
  return fabs(sum) <= BSI_STUDY_ZERO * size;
}

/* Takes out the constants for which a row, or a column of the transpose, does not add up to zero.
 * `sums` and `sizes` have a value for each component. */
BSI_INLINE void bsi_study_take_out(const int bs, const double *sums, const double *sizes,
                                   bsi_study_record *record) {
  double sum = 0.0, size = 0.0;
  BSI_UNROLL
  for (int c = 0; c < bs; c++) {
    if (!bsi_study_vanishes(sums[c], sizes[c]))
      record->bits[BSI_STUDY_NOT_NULL] |= UINT64_C(1) << c;
    if (sizes[c] > 0.0) record->bits[BSI_STUDY_SEEN] |= UINT64_C(1) << c;
    sum += sums[c];
    size += sizes[c];
  }
  if (!bsi_study_vanishes(sum, size)) record->bits[BSI_STUDY_NOT_ONES] |= 1;
}

/* Counts a whole row of component r. Returns Σ_j |a_ij|, j ≠ i. A device keeps arrays in registers
 * if loops are unrolled and no index varies with r. */
BSI_INLINE double bsi_study_row_end(const int bs, int r, bsi_study_row *row,
                                    bsi_study_record *record) {
  const double d = row->diagonal;
  double off = 0.0, coupled = 0.0, sum = 0.0;
  BSI_UNROLL
  for (int c = 0; c < bs; c++) {
    off += row->sizes[c];
    if (c != r) continue;
    coupled = row->sizes[c], sum = row->sums[c];
    row->sums[c] += d;
    row->sizes[c] += fabs(d);
  }
  record->sums[BSI_STUDY_NONZEROS] += (uint64_t)(row->nonzeros + (d != 0.0));
  if (d != 0.0 && coupled > 0.0) {
    const double share = (d > 0.0 ? sum : -sum) / coupled;
    record->sums[BSI_STUDY_OPPOSITE] += bsi_study_units(0.5 - 0.5 * share);
    record->sums[BSI_STUDY_OPPOSITE_ROWS]++;
  }
  if (fabs(d) > row->largest) row->largest = fabs(d);
  if (row->largest > 0.0) {
    bsi_study_most(record, BSI_STUDY_LARGEST_ROW, bsi_study_bits(row->largest));
    bsi_study_least(record, BSI_STUDY_SMALLEST_ROW, bsi_study_bits(row->largest));
  }
  bsi_study_take_out(bs, row->sums, row->sizes, record);
  return off;
}

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
  bool singular = block[0] == 0.0, dominant = off[0] <= fabs(block[0]) * (1.0 + BSI_STUDY_ZERO);
  if (bs > 1) {
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
    for (int c = 0; among >> c && c < bs; c++) inner += (among >> c & 1u) && values[c * bs] != 0.0;
  }
  return inner;
}

#ifdef __cplusplus
}
#endif

#endif
