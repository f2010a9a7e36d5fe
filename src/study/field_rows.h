/* SPDX-License-Identifier: BSD-3-Clause */
/* Unknowns that are stored field by field, compiled for both backends. With m fields of N = n/m
 * rows, row f·N + k is unknown f of node k. Then the patterns of a node within the fields, row
 * f·N + k in the columns f·N … f·N + N − 1, are alike, and entries in another field lie at places
 * that a field's own pattern has too. */
#ifndef BSI_STUDY_FIELD_ROWS_H
#define BSI_STUDY_FIELD_ROWS_H

#include "core/matrix/search.h"
#include "study/samples.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fewer nodes than BSI_STUDY_FEWEST_NODES may be alike by chance. */
enum { BSI_STUDY_FIELDS = 8, BSI_STUDY_SAMPLE_NODES = 1024, BSI_STUDY_FEWEST_NODES = 8 };

/* Sums over the sampled nodes for one m. */
typedef struct bsi_study_fields_count {
  /* places of field 0's own pattern and of another field's: in both, and in one of them */
  uint64_t common, either;
  /* entries in other fields, and those at places of the row's own pattern */
  uint64_t outside, matched;
  /* nodes whose unknown f is coupled to field g: [f·BSI_STUDY_FIELDS + g] */
  uint64_t coupled[BSI_STUDY_FIELDS * BSI_STUDY_FIELDS];
} bsi_study_fields_count;

/* The columns begin … end − 1 of a row within a field, whose first column is `first`. */
typedef struct bsi_study_segment {
  int32_t begin, end, first;
} bsi_study_segment;

BSI_INLINE bsi_study_segment bsi_study_segment_of(const int32_t *row_ptr, const int32_t *col_idx,
                                                  int32_t row, int32_t nodes, int field) {
  const int32_t begin = row_ptr[row], end = row_ptr[row + 1], first = field * nodes;
  const int32_t from = bsi_lower_bound(col_idx, begin, end, first);
  const bsi_study_segment s = {from, bsi_lower_bound(col_idx, from, end, first + nodes), first};
  return s;
}

/* Returns how many places two segments have in common. */
BSI_INLINE uint64_t bsi_study_common(const int32_t *col_idx, bsi_study_segment a,
                                     bsi_study_segment b) {
  uint64_t common = 0;
  while (a.begin < a.end && b.begin < b.end) {
    const int32_t x = col_idx[a.begin] - a.first, y = col_idx[b.begin] - b.first;
    common += x == y;
    a.begin += x <= y;
    b.begin += y <= x;
  }
  return common;
}

/* Returns the number of nodes that are sampled for m fields: none if m is no divisor. */
BSI_INLINE int32_t bsi_study_sampled_nodes(int32_t rows, int m) {
  const int32_t nodes = rows % m == 0 ? rows / m : 0;
  return nodes < BSI_STUDY_FEWEST_NODES   ? 0
         : nodes < BSI_STUDY_SAMPLE_NODES ? nodes
                                          : BSI_STUDY_SAMPLE_NODES;
}

/* What unknown f of a node adds to the sums. Bit g of `coupled`: it is coupled to field g. */
typedef struct bsi_study_field_row {
  uint64_t common, either, outside, matched;
  uint32_t coupled;
} bsi_study_field_row;

/* Returns what unknown `field` of sampled node s adds, for m fields. */
BSI_INLINE bsi_study_field_row bsi_study_field_row_of(const int32_t *row_ptr,
                                                      const int32_t *col_idx, int32_t rows, int m,
                                                      int32_t s, int field) {
  const int32_t nodes = rows / m, k = bsi_study_sample(nodes, bsi_study_sampled_nodes(rows, m), s),
                row = field * nodes + k;
  const bsi_study_segment own = bsi_study_segment_of(row_ptr, col_idx, row, nodes, field);
  bsi_study_field_row found = {0, 0, 0, 0, 0};
  if (field > 0) {
    const bsi_study_segment first = bsi_study_segment_of(row_ptr, col_idx, k, nodes, 0);
    found.common = bsi_study_common(col_idx, own, first);
    found.either = (uint64_t)(own.end - own.begin + first.end - first.begin) - found.common;
  }
  for (int g = 0; g < m; g++) {
    if (g == field) continue;
    const bsi_study_segment other = bsi_study_segment_of(row_ptr, col_idx, row, nodes, g);
    found.outside += (uint64_t)(other.end - other.begin);
    found.matched += bsi_study_common(col_idx, own, other);
    if (other.end > other.begin) found.coupled |= 1u << g;
  }
  return found;
}

#ifdef __cplusplus
}
#endif

#endif
