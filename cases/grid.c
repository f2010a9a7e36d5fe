/* SPDX-License-Identifier: BSD-3-Clause */
/* Systems from arrays in host memory, systems with the seven-point stencil on a box, and the
 * pattern of a grid of triangles. */
#include <stdlib.h>

#include "cases.h"

bisai_status case_make(bisai_context *context, const case_system *system, int32_t block_size,
                       bisai_bcsr **matrix, double **rhs) {
  const size_t rows = system->rows, blocks = system->blocks, size = (size_t)system->bs;
  case_arrays a = {.row_ptr = malloc((rows + 1) * sizeof *a.row_ptr),
                   .col_idx = malloc((blocks + 1) * sizeof *a.col_idx),
                   .values = calloc(blocks * size * size, sizeof *a.values),
                   .rhs = calloc(rows * size + BISAI_MAX_BLOCK_SIZE, sizeof *a.rhs)};
  bisai_bcsr *own = NULL;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (!a.row_ptr || !a.col_idx || !a.values || !a.rhs) goto done;
  status = system->fill(system->of, &a);
  if (status) goto done;

  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = (int32_t)rows;
  desc.block_size = system->bs;
  desc.row_ptr = a.row_ptr;
  desc.col_idx = a.col_idx;
  desc.values = a.values;
  status = bisai_bcsr_create(context, &desc, &own);
  if (!status && block_size != 0 && block_size != system->bs) {
    status = case_reblock(context, own, block_size, matrix);
  } else if (!status) {
    *matrix = own;
    own = NULL;
  }
  if (!status) {
    *rhs = a.rhs;
    a.rhs = NULL;
  }
done:
  bisai_bcsr_destroy(&own);
  free(a.rhs);
  free(a.values);
  free(a.col_idx);
  free(a.row_ptr);
  return status;
}

int64_t case_seven_points_entries(const int32_t size[3]) {
  const int64_t x = size[0], y = size[1], z = size[2];
  if (x * y > INT32_MAX || x * y * z > INT32_MAX) return 0;
  const int64_t entries = 7 * x * y * z - 2 * (x * y + y * z + z * x);
  return entries > INT32_MAX ? 0 : entries;
}

/* Columns come in the order of the coefficients. */
static void fill_seven_points(const int32_t size[3], case_seven_points_row *row_of,
                              int32_t *row_ptr, int32_t *col_idx, double *values, double *rhs) {
  const int32_t stride[3] = {1, size[0], size[0] * size[1]};
  int32_t row = 0, entries = 0, at[3];
  for (at[2] = 0; at[2] < size[2]; at[2]++) {
    for (at[1] = 0; at[1] < size[1]; at[1]++) {
      for (at[0] = 0; at[0] < size[0]; at[0]++, row++) {
        double coefficient[7];
        row_of(size, at, coefficient, &rhs[row]);
        row_ptr[row] = entries;
        for (int c = 0; c < 7; c++) {
          const int d = c < 3 ? 2 - c : c - 4, step = c < 3 ? -1 : c > 3;
          if (step < 0 ? at[d] == 0 : step > 0 && at[d] == size[d] - 1) continue;
          col_idx[entries] = step == 0 ? row : row + step * stride[d];
          values[entries++] = coefficient[c];
        }
      }
    }
  }
  row_ptr[row] = entries;
}

bisai_status case_seven_points(bisai_context *context, const int32_t size[3],
                               case_seven_points_row *row_of, int32_t block_size,
                               bisai_bcsr **matrix, double **rhs) {
  const size_t entries = (size_t)case_seven_points_entries(size),
               rows = (size_t)size[0] * (size_t)size[1] * (size_t)size[2];
  if (entries == 0) return BISAI_INVALID_ARGUMENT;
  int32_t *row_ptr = malloc((rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc(entries * sizeof *col_idx);
  double *values = malloc(entries * sizeof *values);
  double *b = calloc(rows + BISAI_MAX_BLOCK_SIZE, sizeof *b);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (!row_ptr || !col_idx || !values || !b) goto done;
  fill_seven_points(size, row_of, row_ptr, col_idx, values, b);

  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = (int32_t)rows;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = block_size;
  desc.pad = true;
  status = bisai_bcsr_from_csr(context, &desc, matrix);
  if (!status) {
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
  for (int32_t j = 0; j < nj; j++) {
    for (int32_t i = 0; i < ni; i++) {
      row_ptr[j * ni + i] = count;
      for (size_t a = 0; a < sizeof around / sizeof around[0]; a++) {
        const int32_t x = i + around[a][0], y = j + around[a][1];
        if (x >= 0 && x < ni && y >= 0 && y < nj) col_idx[count++] = y * ni + x;
      }
    }
  }
  row_ptr[ni * nj] = count;
}
