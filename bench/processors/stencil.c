/* SPDX-License-Identifier: BSD-3-Clause */
#include "stencil.h"

static const double on_diagonal = 6.05, to_lower = -1.3, to_higher = -0.7, coupling = 0.1;

/* Returns a number of Marsaglia's xorshift64*, uniform in −1 … 1. */
static double random_value(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return (double)(int64_t)(*state * 0x2545f4914f6cdd1d) * 0x1p-63;
}

static double *put_block(double *values, int32_t bs, double diagonal, uint64_t *state) {
  for (int32_t c = 0; c < bs; c++)
    for (int32_t r = 0; r < bs; r++)
      *values++ = (r == c ? diagonal : 0) + coupling / bs * random_value(state);
  return values;
}

static void fill(const int32_t size[3], int32_t bs, int32_t *row_ptr, int32_t *col_idx,
                 double *values) {
  const int32_t stride[3] = {1, size[0], size[0] * size[1]};
  uint64_t state = 20210901;
  int32_t row = 0, blocks = 0, at[3];
  for (at[2] = 0; at[2] < size[2]; at[2]++)
    for (at[1] = 0; at[1] < size[1]; at[1]++)
      for (at[0] = 0; at[0] < size[0]; at[0]++, row++) {
        row_ptr[row] = blocks;
        for (int d = 2; d >= 0; d--) {
          if (at[d] == 0) continue;
          col_idx[blocks++] = row - stride[d];
          values = put_block(values, bs, to_lower, &state);
        }
        col_idx[blocks++] = row;
        values = put_block(values, bs, on_diagonal, &state);
        for (int d = 0; d < 3; d++) {
          if (at[d] == size[d] - 1) continue;
          col_idx[blocks++] = row + stride[d];
          values = put_block(values, bs, to_higher, &state);
        }
      }
  row_ptr[row] = blocks;
}

bisai_status bench_stencil(bisai_context *context, int32_t nx, int32_t ny, int32_t nz,
                           int32_t block_size, bisai_bcsr **matrix, double **rhs) {
  const int32_t size[3] = {nx, ny, nz};
  const size_t rows = (size_t)nx * (size_t)ny * (size_t)nz,
               per_block = (size_t)block_size * (size_t)block_size;
  const size_t blocks = 7 * rows;
  if (rows > INT32_MAX / 7) bench_fail("%d × %d × %d points are too many", nx, ny, nz);
  int32_t *row_ptr = bench_allocate(rows + 1, sizeof *row_ptr),
          *col_idx = bench_allocate(blocks, sizeof *col_idx);
  double *values = bench_allocate(blocks * per_block, sizeof *values);
  fill(size, block_size, row_ptr, col_idx, values);
  const bisai_status status =
      bench_take_arrays(context, (int32_t)rows, block_size, row_ptr, col_idx, values, matrix);
  *rhs = bench_allocate(rows * (size_t)block_size, sizeof **rhs);
  for (size_t i = 0; i < rows * (size_t)block_size; i++) (*rhs)[i] = 1;
  return status;
}
