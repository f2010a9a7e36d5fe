/* SPDX-License-Identifier: BSD-3-Clause */
/* Some of the rows of a matrix, for products of these rows alone. */
#ifndef BSI_ROW_LIST_H
#define BSI_ROW_LIST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bsi_row_list {
  int32_t count;
  /* `count` block rows, ascending, in backend memory */
  const int32_t *rows;
} bsi_row_list;

/* Returns the end of the consecutive rows that begin at rows[at]. */
static inline int32_t bsi_run_of_rows(const bsi_row_list *list, int32_t at, int32_t end) {
  const int32_t first = list->rows[at], begin = at;
  while (at < end && list->rows[at] - first == at - begin) at++;
  return at;
}

#ifdef __cplusplus
}
#endif

#endif
