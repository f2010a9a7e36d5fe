/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a BCSR matrix into blocks of another size, through its scalar entries. Every stored entry is
 * kept, also zeros. */
#include <stdlib.h>

#include "cases.h"

/* Scalar row i·bs + r holds row r of each block of block row i, in order. */
static void expand(const bisai_bcsr *matrix, const int32_t *block_ptr, const int32_t *block_col,
                   const double *from, int32_t *row_ptr, int32_t *col_idx, double *values) {
  int32_t block_rows = bisai_bcsr_block_rows(matrix), bs = bisai_bcsr_block_size(matrix),
          entries = 0;
  for (int32_t i = 0; i < block_rows; i++) {
    for (int32_t r = 0; r < bs; r++) {
      row_ptr[i * bs + r] = entries;
      for (int32_t p = block_ptr[i]; p < block_ptr[i + 1]; p++) {
        for (int32_t c = 0; c < bs; c++) {
          col_idx[entries] = block_col[p] * bs + c;
          values[entries++] = from[((int64_t)p * bs + c) * bs + r];
        }
      }
    }
  }
  row_ptr[block_rows * bs] = entries;
}

static bisai_status fetch_and_expand(const bisai_bcsr *matrix, int32_t *row_ptr, int32_t *col_idx,
                                     double *values) {
  size_t rows = (size_t)bisai_bcsr_block_rows(matrix), blocks = (size_t)bisai_bcsr_blocks(matrix);
  size_t bs = (size_t)bisai_bcsr_block_size(matrix);
  int32_t *block_ptr = malloc((rows + 1) * sizeof *block_ptr),
          *block_col = malloc((blocks + 1) * sizeof *block_col);
  double *from = malloc((blocks * bs * bs + 1) * sizeof *from);
  bisai_status status = block_ptr && block_col && from
                            ? bisai_bcsr_fetch(matrix, block_ptr, block_col, from)
                            : BISAI_OUT_OF_MEMORY;
  if (!status) expand(matrix, block_ptr, block_col, from, row_ptr, col_idx, values);
  free(from);
  free(block_col);
  free(block_ptr);
  return status;
}

bisai_status case_reblock(bisai_context *context, const bisai_bcsr *matrix, int32_t block_size,
                          bisai_bcsr **result) {
  int32_t bs = bisai_bcsr_block_size(matrix);
  int64_t rows = (int64_t)bisai_bcsr_block_rows(matrix) * bs,
          entries = (int64_t)bisai_bcsr_blocks(matrix) * bs * bs;
  if (entries > INT32_MAX) return BISAI_INDEX_OVERFLOW;
  int32_t *row_ptr = malloc((size_t)(rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc((size_t)(entries + 1) * sizeof *col_idx);
  double *values = malloc((size_t)(entries + 1) * sizeof *values);
  bisai_status status = row_ptr && col_idx && values
                            ? fetch_and_expand(matrix, row_ptr, col_idx, values)
                            : BISAI_OUT_OF_MEMORY;
  if (!status) {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = desc.cols = (int32_t)rows;
    desc.row_ptr = row_ptr;
    desc.col_idx = col_idx;
    desc.values = values;
    desc.block_size = block_size;
    desc.pad = true;
    status = bisai_bcsr_from_csr(context, &desc, result);
  }
  free(values);
  free(col_idx);
  free(row_ptr);
  return status;
}
