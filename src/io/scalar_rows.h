/* SPDX-License-Identifier: BSD-3-Clause */
/* The scalar rows of a block matrix as files hold them: without padding, without the zeros that
 * only fill up blocks. */
#ifndef BSI_SCALAR_ROWS_H
#define BSI_SCALAR_ROWS_H

#include <bisai/bcsr.h>

typedef struct bsi_scalar_rows {
  const bisai_bcsr *matrix;
  bisai_context *context;
  /* scalar, without padding */
  int32_t rows, cols, block_size;
  int64_t entries;
  /* host memory, of blocks */
  const int32_t *row_ptr, *col_idx;
  const void *values;
  /* of what is elsewhere */
  void *copies[3];
  /* room for a row */
  int32_t *col;
  double *value;
} bsi_scalar_rows;

/* Counts the entries and refuses NaN and infinity. The matrix is borrowed. */
bisai_status bsi_scalar_rows_open(bisai_context *context, const bisai_bcsr *matrix,
                                  bsi_scalar_rows *rows);
void bsi_scalar_rows_close(bsi_scalar_rows *rows);

/* Fills rows->col and rows->value with the entries of a row, by columns that ascend, and returns
 * how many there are: all that are not zero, and of a block that is zero all, so that no block is
 * lost. */
int32_t bsi_scalar_row(const bsi_scalar_rows *rows, int32_t row);

#endif
