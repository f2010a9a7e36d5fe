/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of sparse matrices of square blocks go to the block products of apply. */
#ifndef BSI_SQUARE_H
#define BSI_SQUARE_H

#include "apply/apply_ops.h"
#include "multigrid/spgemm/block_matrix.h"

/* Returns true if bsi_square_multiply() takes the matrix. */
static inline bool bsi_is_square(const bsi_block_matrix *m) {
  return m->values && !m->narrow && m->height == m->width;
}

/* y ← m x + beta·y, in these rows or, with NULL, in all. */
static inline bisai_status bsi_square_multiply(bisai_context *context, const bsi_block_matrix *m,
                                               const struct bsi_row_list *rows, bsi_vector x,
                                               double beta, bsi_vector y) {
  bisai_bcsr view = {0};
  view.block_rows = m->rows;
  view.block_cols = m->cols;
  view.block_size = m->height;
  view.blocks = m->blocks;
  view.type = BISAI_FP64;
  view.row_ptr = m->row_ptr;
  view.col_idx = m->col_idx;
  view.values = m->values;
  return bsi_multiply_rows(context, &view, rows, 1.0, x, beta, y, y);
}

#endif
