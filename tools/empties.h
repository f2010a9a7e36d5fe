/* SPDX-License-Identifier: BSD-3-Clause */
/* Empty rows and columns of a matrix, which make it singular. */
#ifndef TOOL_EMPTIES_H
#define TOOL_EMPTIES_H

#include <stdbool.h>
#include <stdint.h>

#include <bisai/bcsr.h>

/* The numbers of empty rows and columns, and the first ones. */
typedef struct empties {
  int32_t rows, first_row, columns, first_column;
} empties;

/* Finds those of a square structure in host memory. Entries with the value zero do not count,
 * unless `values` is NULL. Returns false if there is no memory. */
bool empties_find(int32_t n, const int32_t *row_ptr, const int32_t *col_idx, const double *values,
                  empties *e);

/* Returns true if a block row or column of a square matrix has no block. Returns false if this
 * cannot be found out. */
bool empties_exist(const bisai_bcsr *matrix);

#endif
