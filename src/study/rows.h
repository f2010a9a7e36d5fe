/* SPDX-License-Identifier: BSD-3-Clause */
/* What a study finds in a scalar row, compiled for both backends. */
#ifndef BSI_STUDY_ROWS_H
#define BSI_STUDY_ROWS_H

#include "study/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A square matrix in backend memory, and how it is studied. */
typedef struct bsi_study_view {
  int32_t block_rows, block_size, blocks;
  /* small samples, and no inverses of diagonal blocks */
  bool brief;
  /* scalar rows without padding */
  int64_t rows;
  const int32_t *row_ptr, *col_idx;
  const double *values;
} bsi_study_view;

/* Scalar rows first, first + step, … below `end`. */
typedef struct bsi_study_range {
  int64_t first, end, step;
} bsi_study_range;

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

#ifdef __cplusplus
}
#endif

#endif
