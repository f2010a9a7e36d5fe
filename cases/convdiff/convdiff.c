/* SPDX-License-Identifier: BSD-3-Clause */
/* Convection-diffusion on a grid of nx × ny × nz points with a seven-point stencil, x fastest
 * (README.md).
 *
 * Row r = (z·ny + y)·nx + x has 6 on the diagonal, −1.4 for the lower neighbour and −0.6 for the
 * higher neighbour in each direction. Dirichlet neighbours are dropped, and b = 1. In blocks of 4
 * along x, 148 × 148 × 58 points give the block pattern of atmosmodd (Ma et al. 2021, table 1):
 * 317608 block rows, 2190844 blocks. */
#include <stdlib.h>

#include "cases.h"

static const double to_lower = -1.4, to_higher = -0.6, on_diagonal = 6;

/* Points and stored entries of the grid. 0 points if they exceed the index type. */
static int64_t count(int32_t nx, int32_t ny, int32_t nz, int64_t *entries) {
  int64_t x = nx, y = ny, z = nz;
  if (x * y > INT32_MAX || x * y * z > INT32_MAX) return 0;
  *entries = 7 * x * y * z - 2 * (x * y + y * z + z * x);
  return *entries > INT32_MAX ? 0 : x * y * z;
}

const char *case_convdiff_refusal(int32_t nx, int32_t ny, int32_t nz) {
  int64_t entries;
  if (nx < 1 || ny < 1 || nz < 1)
    return "convection-diffusion needs at least 1 point in each direction";
  if (count(nx, ny, nz, &entries) == 0)
    return "convection-diffusion takes at most 2^31 - 1 entries (7 for each point)";
  return NULL;
}

static void fill(int32_t nx, int32_t ny, int32_t nz, int32_t *row_ptr, int32_t *col_idx,
                 double *values) {
  const int32_t stride[3] = {1, nx, nx * ny}, size[3] = {nx, ny, nz};
  int32_t row = 0, entries = 0, at[3];
  for (at[2] = 0; at[2] < nz; ++at[2]) {
    for (at[1] = 0; at[1] < ny; ++at[1]) {
      for (at[0] = 0; at[0] < nx; ++at[0], ++row) {
        row_ptr[row] = entries;
        for (int d = 2; d >= 0; --d) {
          if (at[d] == 0) continue;
          col_idx[entries] = row - stride[d];
          values[entries++] = to_lower;
        }
        col_idx[entries] = row;
        values[entries++] = on_diagonal;
        for (int d = 0; d < 3; ++d) {
          if (at[d] == size[d] - 1) continue;
          col_idx[entries] = row + stride[d];
          values[entries++] = to_higher;
        }
      }
    }
  }
  row_ptr[row] = entries;
}

bisai_status case_convdiff(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  if (case_convdiff_refusal(nx, ny, nz)) return BISAI_INVALID_ARGUMENT;
  int64_t entries = 0;
  const int64_t rows = count(nx, ny, nz, &entries);
  int32_t *row_ptr = malloc((size_t)(rows + 1) * sizeof *row_ptr);
  int32_t *col_idx = malloc((size_t)entries * sizeof *col_idx);
  double *values = malloc((size_t)entries * sizeof *values);
  double *b = calloc((size_t)rows + BISAI_MAX_BLOCK_SIZE, sizeof *b);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  if (!row_ptr || !col_idx || !values || !b) goto done;
  fill(nx, ny, nz, row_ptr, col_idx, values);
  for (int64_t i = 0; i < rows; ++i) {
    b[i] = 1;
  }

  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = (int32_t)rows;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = block_size ? block_size : CASE_CONVDIFF_BLOCK_SIZE;
  desc.pad = true;
  status = bisai_bcsr_from_csr(context, &desc, matrix);
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
