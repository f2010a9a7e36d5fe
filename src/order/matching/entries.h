/* SPDX-License-Identifier: BSD-3-Clause */
/* What a matching matches: the entries of rows, with their costs. */
#ifndef BSI_MATCHING_ENTRIES_H
#define BSI_MATCHING_ENTRIES_H

#include <bisai/order.h>

#include "core/matrix/bcsr_impl.h"

/* What is needed to find a matching (see matching.c). */
typedef struct bsi_matching_work {
  /* row i is matched to column column_of[i] by entry[i]; -1: not yet */
  int32_t *column_of, *entry;
  /* log₂ of the largest weight of each row */
  double *row_max;
  /* for each column the length of the shortest path to it; INFINITY: not reached */
  double *distance;
  /* the row and the entry from which a column is reached */
  int32_t *parent, *via;
  /* a heap of columns, the place of each column in it, and the columns that have been reached */
  int32_t *heap, *place, *reached;
} bsi_matching_work;

/* Arrays are in host memory. */
typedef struct bsi_matching {
  bisai_context *context;
  /* BISAI_MATCHING_ENTRIES: scalar rows. BISAI_MATCHING_BLOCKS: block rows */
  bisai_matching unit;
  /* the number of rows and of columns */
  int32_t n;
  /* n + 1 */
  int32_t *ptr;
  /* for each entry its column */
  int32_t *columns;
  /* for each entry its value or block in A; NULL: entry p is p */
  int32_t *source;
  /* with `source` the positions of the values that are no entries, because they are zero */
  int32_t *zeros;
  int32_t zero_count;
  /* for each entry log₂(largest weight of its row / its weight); INFINITY: it has no weight */
  double *cost;
  /* the values of a matrix that is not in host memory; otherwise NULL */
  double *fetched;
  /* the result: column j is matched to row row_of[j] */
  int32_t *row_of;
  /* the duals: 2^(row_log[i] + col_log[j]) scales weights to at most 1, and to 1 on the matching */
  double *row_log, *col_log;
  bsi_matching_work work;
} bsi_matching;

/* Lists the entries of A and reserves their costs. `values` are those of A in host memory. */
bisai_status bsi_matching_list(bsi_matching *m, const bisai_bcsr *a, const double *values);
/* Computes the costs and the largest weights of the rows. */
void bsi_matching_weigh(bsi_matching *m, const bisai_bcsr *a, const double *values);
int64_t bsi_matching_memory(const bsi_matching *matching);

#endif
