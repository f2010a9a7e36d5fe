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

#ifdef __cplusplus
}
#endif

#endif
