/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar rows of a block matrix for output, in the order of the blocks, without padding and
 * without the zeros that only fill up blocks. */
#ifndef BSI_SCALAR_ROWS_H
#define BSI_SCALAR_ROWS_H

#include <bisai/bcsr.h>

typedef struct bsi_scalar_rows {
  const bisai_bcsr *matrix;
  bisai_context *context;
  /* the sizes in scalars, without padding */
  int32_t rows, cols, block_size;
  int64_t entries;
  /* the arrays of the block matrix, in host memory */
  const int32_t *row_ptr, *col_idx;
  const void *values;
  /* copies of arrays that are not in host memory */
  void *copies[3];
  /* of a matrix whose padding is inside the blocks: the rows that are none, and the number of each
   * row among them, or -1; otherwise NULL */
  int32_t *kept, *number;
  /* the entries of one row */
  int32_t *col;
  double *value;
} bsi_scalar_rows;

/* Opens the rows of a matrix, which is borrowed. Counts the entries and refuses NaN and
 * infinity. */
bisai_status bsi_scalar_rows_open(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_scalar_rows *rows);
void bsi_scalar_rows_close(bsi_scalar_rows *rows);

/* Fills s->col and s->value with the entries of a row by ascending columns, and returns their
 * number. The entries are all values that are not zero, and all values of a zero block, so that no
 * block is lost. */
int32_t bsi_scalar_row(const bsi_scalar_rows *s, int32_t number);

#endif
