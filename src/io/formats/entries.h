/* SPDX-License-Identifier: BSD-3-Clause */
/* The entries of a sparse matrix in the order of a file, and their grouping by rows in place. */
#ifndef BSI_ENTRIES_H
#define BSI_ENTRIES_H

#include <bisai/context.h>

#include <stdint.h>

#include "core/context/limit.h"

/* Entry k is (row[k], col[k]), counted from 0. */
typedef struct bsi_entries {
  int32_t count, capacity;
  int32_t *row, *col;
  double *value;
} bsi_entries;

/* Makes room for more entries when the arrays are full. `total` entries are announced; the arrays
 * grow only as entries arrive, so that a wrong total does not cost memory. Moves one array after
 * the other, the largest first: at most 18 bytes for every entry of the total at a time. */
bisai_status bsi_entries_grow(bisai_context *context, bsi_entries *entries, int32_t total,
                              const bsi_limit *limit);

/* Adds (j, i, sign·value) for every (i, j, value) off the diagonal. Needs at most 20 bytes for
 * every entry of the result. */
bisai_status bsi_entries_mirror(bisai_context *context, bsi_entries *entries, double sign,
                                const bsi_limit *limit);

/* Orders the entries by row and frees `row`. Row i has entries row_ptr[i] … row_ptr[i+1]-1, in no
 * particular order. The caller owns row_ptr. Needs 4 bytes a row. */
bisai_status bsi_entries_group(bisai_context *context, bsi_entries *entries, int32_t rows,
                               const bsi_limit *limit, int32_t **row_ptr);

void bsi_entries_free(bisai_context *context, bsi_entries *entries);

static inline void bsi_entries_append(bsi_entries *entries, int32_t row, int32_t col,
                                      double value) {
  entries->row[entries->count] = row;
  entries->col[entries->count] = col;
  entries->value[entries->count++] = value;
}

#endif
