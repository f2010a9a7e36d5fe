/* SPDX-License-Identifier: BSD-3-Clause */
/* Systems with the five-point stencil on a square grid, and the pattern of a grid of triangles. */
#include <stdlib.h>

#include "cases.h"

bisai_status case_five_points(bisai_context *context, int32_t n, int32_t stencil_size,
                              case_fill *fill, int32_t block_size, bisai_bcsr **matrix,
                              double **rhs) {
  size_t rows = (size_t)n * (size_t)n, blocks = 5 * rows - 4 * (size_t)n, bs = (size_t)stencil_size;
  int32_t *row_ptr = malloc((rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc(blocks * sizeof *col_idx);
  double *values = calloc(blocks * bs * bs, sizeof *values);
  double *b = calloc(rows * bs + BISAI_MAX_BLOCK_SIZE, sizeof *b);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (!row_ptr || !col_idx || !values || !b) goto done;
  fill(n, row_ptr, col_idx, values, b);

  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = (int32_t)rows;
  desc.block_size = stencil_size;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  status = case_create(context, &desc, block_size, matrix);
  if (status == BISAI_OK) {
    *rhs = b;
    b = NULL;
  }
done:
  free(b);
  free(values);
  free(col_idx);
  free(row_ptr);
  return status;
}

/* n nodes in a line have 3n − 2 pairs that are the same or next to each other, and of the two
 * diagonals of a square only one counts. */
int64_t case_triangles_blocks(int32_t ni, int32_t nj) {
  return ((int64_t)3 * ni - 2) * ((int64_t)3 * nj - 2) - (int64_t)2 * (ni - 1) * (nj - 1);
}

void case_triangles_pattern(int32_t ni, int32_t nj, int32_t *row_ptr, int32_t *col_idx) {
  static const int32_t around[][2] = {{-1, -1}, {0, -1}, {-1, 0}, {0, 0}, {1, 0}, {0, 1}, {1, 1}};
  int32_t count = 0;
  for (int32_t j = 0; j < nj; ++j) {
    for (int32_t i = 0; i < ni; ++i) {
      row_ptr[j * ni + i] = count;
      for (size_t a = 0; a < sizeof around / sizeof around[0]; ++a) {
        const int32_t x = i + around[a][0], y = j + around[a][1];
        if (x >= 0 && x < ni && y >= 0 && y < nj) col_idx[count++] = y * ni + x;
      }
    }
  }
  row_ptr[ni * nj] = count;
}
