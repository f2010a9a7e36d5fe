/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of a part, of a list of rows or of all of a matrix, as runs of consecutive rows. */
#ifndef BSI_ROW_RUNS_H
#define BSI_ROW_RUNS_H

#include <stdbool.h>

#include "core/threads/parallel.h"
#include "core/vector/row_list.h"

/* Of all rows the only run is [next, end), and of a list these are places in it. */
typedef struct bsi_row_runs {
  const bsi_row_list *list;
  int32_t next, end;
  bsi_rows rows;
} bsi_row_runs;

/* Begins with the runs of a part. NULL: of all n rows, by their weight (bsi_rows_of()). */
static inline bsi_row_runs bsi_row_runs_of(const bsi_row_list *list, int32_t n,
                                           const int32_t *row_ptr, bsi_part part) {
  if (list) {
    const bsi_range range = bsi_range_of(list->count, part);
    return (bsi_row_runs){.list = list, .next = (int32_t)range.begin, .end = (int32_t)range.end};
  }
  const bsi_rows rows = bsi_rows_of(n, row_ptr, part);
  return (bsi_row_runs){.next = rows.begin, .end = rows.end};
}

/* runs->rows ← the next run. Returns false if there is none. */
static inline bool bsi_next_run(bsi_row_runs *runs) {
  const int32_t begin = runs->next;
  if (begin >= runs->end) return false;
  if (!runs->list) {
    runs->next = runs->end;
    runs->rows = (bsi_rows){begin, runs->end};
    return true;
  }
  const int32_t *rows = runs->list->rows, first = rows[begin];
  int32_t at = begin;
  while (at < runs->end && rows[at] - first == at - begin) at++;
  runs->next = at;
  runs->rows = (bsi_rows){first, first + at - begin};
  return true;
}

#endif
