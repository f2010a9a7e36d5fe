/* SPDX-License-Identifier: BSD-3-Clause */
/* Seeded random block matrices as plain arrays: ragged rows, empty rows, every block size. */
#include "support.h"

#include <math.h>

static void *checked(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  assert_non_null(memory);
  return memory;
}

test_random test_random_seed(uint64_t seed) {
  test_random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
  test_random_uniform(&random, 0.0, 1.0);
  return random;
}

double test_random_uniform(test_random *random, double low, double high) {
  random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (high - low) * (double)(random->state >> 11) * 0x1p-53;
}

int32_t test_random_integer(test_random *random, int32_t low, int32_t high) {
  double span = (double)high - (double)low + 1.0;
  return low + (int32_t)floor(test_random_uniform(random, 0.0, span));
}

double *test_random_vector(int64_t n, uint64_t seed) {
  test_random random = test_random_seed(seed);
  double *values = checked((size_t)n, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = test_random_uniform(&random, -1.0, 1.0);
  return values;
}

double *test_nan_vector(int64_t n) {
  double *values = checked((size_t)n, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = (double)NAN;
  return values;
}

test_shape test_shape_square(int32_t block_rows, int32_t block_size, uint64_t seed) {
  return (test_shape){.block_rows = block_rows,
                      .block_cols = block_rows,
                      .block_size = block_size,
                      .blocks_per_row = 3.0,
                      .diagonal = TEST_DIAGONAL_DOMINANT,
                      .part = TEST_FULL,
                      .seed = seed};
}

static bool in_part(test_part part, int32_t row, int32_t col) {
  switch (part) {
  case TEST_LOWER: return col <= row;
  case TEST_UPPER: return col >= row;
  case TEST_STRICTLY_LOWER: return col < row;
  case TEST_STRICTLY_UPPER: return col > row;
  case TEST_FULL:
  default: return true;
  }
}

/* Adds to the diagonal what makes every scalar row strictly dominant: 1 plus the absolute sum of
 * the row. */
static void make_dominant(test_bcsr *matrix) {
  int32_t bs = matrix->block_size;
  size_t area = (size_t)bs * (size_t)bs;
  for (int32_t row = 0; row < matrix->block_rows; row++) {
    for (int32_t r = 0; r < bs; r++) {
      double sum = 1.0;
      double *diagonal = NULL;
      for (int32_t p = matrix->row_ptr[row]; p < matrix->row_ptr[row + 1]; p++) {
        double *block = matrix->values + (size_t)p * area;
        for (int32_t c = 0; c < bs; c++) sum += fabs(block[c * bs + r]);
        if (matrix->col_idx[p] == row) diagonal = block + r * bs + r;
      }
      if (diagonal != NULL) *diagonal += *diagonal < 0.0 ? -sum : sum;
    }
  }
}

/* Marks in `take` the columns of one row and returns their number. */
static int32_t choose_columns(const test_shape *shape, int32_t row, test_random *random,
                              bool *take) {
  int32_t n = shape->block_cols, count = 0;
  memset(take, 0, (size_t)n * sizeof *take);
  bool empty = shape->empty_every > 0 && (row + 1) % shape->empty_every == 0;
  if (!empty && n > 0) {
    int32_t most = (int32_t)ceil(2.0 * shape->blocks_per_row);
    int32_t tries = test_random_integer(random, 0, most);
    if (row % 7 == 3) tries *= 3;
    for (int32_t t = 0; t < tries; t++) {
      int32_t col = test_random_integer(random, 0, n - 1);
      take[col] =
          in_part(shape->part, row, col) && (col != row || shape->diagonal == TEST_DIAGONAL_RANDOM);
    }
  }
  if (shape->diagonal == TEST_DIAGONAL_DOMINANT && row < n && in_part(shape->part, row, row))
    take[row] = true;
  for (int32_t col = 0; col < n; col++) count += take[col] ? 1 : 0;
  return count;
}

test_bcsr test_bcsr_random(test_shape shape) {
  test_random random = test_random_seed(shape.seed);
  test_bcsr matrix = {shape.block_rows, shape.block_cols, shape.block_size, NULL, NULL, NULL};
  size_t area = (size_t)shape.block_size * (size_t)shape.block_size;
  bool *take = checked((size_t)shape.block_cols, sizeof *take);
  matrix.row_ptr = checked((size_t)shape.block_rows + 1, sizeof *matrix.row_ptr);
  matrix.col_idx = checked(0, sizeof *matrix.col_idx);
  int32_t blocks = 0;
  for (int32_t row = 0; row < shape.block_rows; row++) {
    int32_t count = choose_columns(&shape, row, &random, take);
    int32_t *grown = realloc(matrix.col_idx, (size_t)(blocks + count + 1) * sizeof *grown);
    assert_non_null(grown);
    matrix.col_idx = grown;
    for (int32_t col = 0; col < shape.block_cols; col++)
      if (take[col]) matrix.col_idx[blocks++] = col;
    matrix.row_ptr[row + 1] = blocks;
  }
  free(take);
  matrix.values = checked((size_t)blocks * area, sizeof *matrix.values);
  for (size_t i = 0; i < (size_t)blocks * area; i++)
    matrix.values[i] = test_random_uniform(&random, -1.0, 1.0);
  if (shape.diagonal == TEST_DIAGONAL_DOMINANT) make_dominant(&matrix);
  return matrix;
}

test_bcsr test_bcsr_grid(int32_t grid_x, int32_t grid_y, int32_t block_size, uint64_t seed) {
  test_random random = test_random_seed(seed);
  int32_t n = grid_x * grid_y, blocks = 0;
  size_t area = (size_t)block_size * (size_t)block_size;
  test_bcsr matrix = {n, n, block_size, NULL, NULL, NULL};
  matrix.row_ptr = checked((size_t)n + 1, sizeof *matrix.row_ptr);
  matrix.col_idx = checked(5 * (size_t)n, sizeof *matrix.col_idx);
  for (int32_t row = 0; row < n; row++) {
    int32_t x = row % grid_x, y = row / grid_x;
    if (y > 0) matrix.col_idx[blocks++] = row - grid_x;
    if (x > 0) matrix.col_idx[blocks++] = row - 1;
    matrix.col_idx[blocks++] = row;
    if (x + 1 < grid_x) matrix.col_idx[blocks++] = row + 1;
    if (y + 1 < grid_y) matrix.col_idx[blocks++] = row + grid_x;
    matrix.row_ptr[row + 1] = blocks;
  }
  matrix.values = checked((size_t)blocks * area, sizeof *matrix.values);
  for (size_t i = 0; i < (size_t)blocks * area; i++)
    matrix.values[i] = test_random_uniform(&random, -1.0, 1.0);
  make_dominant(&matrix);
  return matrix;
}

test_bcsr test_bcsr_tridiagonal(int32_t block_rows, int32_t block_size, double d, double o) {
  test_bcsr matrix = test_bcsr_grid(block_rows, 1, block_size, 1);
  size_t area = (size_t)block_size * (size_t)block_size;
  memset(matrix.values, 0, (size_t)test_bcsr_blocks(&matrix) * area * sizeof *matrix.values);
  for (int32_t row = 0; row < block_rows; row++) {
    for (int32_t p = matrix.row_ptr[row]; p < matrix.row_ptr[row + 1]; p++) {
      for (int32_t r = 0; r < block_size; r++) {
        matrix.values[(size_t)p * area + (size_t)(r * block_size + r)] =
            matrix.col_idx[p] == row ? d : o;
      }
    }
  }
  return matrix;
}

test_bcsr test_bcsr_diagonal(int32_t n, const double *values) {
  test_bcsr matrix = {.block_rows = n, .block_cols = n, .block_size = 1};
  matrix.row_ptr = checked((size_t)n + 1, sizeof *matrix.row_ptr);
  matrix.col_idx = checked((size_t)n, sizeof *matrix.col_idx);
  matrix.values = checked((size_t)n, sizeof *matrix.values);
  for (int32_t i = 0; i <= n; i++) matrix.row_ptr[i] = i;
  for (int32_t i = 0; i < n; i++) {
    matrix.col_idx[i] = i;
    matrix.values[i] = values[i];
  }
  return matrix;
}

int32_t *test_random_permutation(int32_t n, uint64_t seed) {
  test_random random = test_random_seed(seed);
  int32_t *permutation = checked((size_t)n, sizeof *permutation);
  for (int32_t i = 0; i < n; i++) {
    const int32_t j = test_random_integer(&random, 0, i);
    permutation[i] = permutation[j];
    permutation[j] = i;
  }
  return permutation;
}

/* Every block (i, j) of an n × n matrix that `source` has blocks for, asked for by place: O(n²),
 * for small ones. */
static test_bcsr by_place(const test_bcsr *source, const int32_t *permutation, bool symmetric) {
  const int32_t n = source->block_rows;
  const size_t area = (size_t)source->block_size * (size_t)source->block_size;
  const size_t most = (size_t)test_bcsr_blocks(source) * (symmetric ? 2 : 1);
  test_bcsr made = {n, n, source->block_size, NULL, NULL, NULL};
  made.row_ptr = checked((size_t)n + 1, sizeof *made.row_ptr);
  made.col_idx = checked(most, sizeof *made.col_idx);
  made.values = checked(most * area, sizeof *made.values);
  int32_t blocks = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      const int32_t row = permutation ? permutation[i] : i, col = permutation ? permutation[j] : j;
      const double *block = test_bcsr_block(source, row, col);
      if (!block && !(symmetric && test_bcsr_block(source, col, row))) continue;
      if (block) memcpy(made.values + (size_t)blocks * area, block, area * sizeof *block);
      made.col_idx[blocks++] = j;
    }
    made.row_ptr[i + 1] = blocks;
  }
  return made;
}

test_bcsr test_bcsr_permuted(const test_bcsr *matrix, const int32_t *permutation) {
  return by_place(matrix, permutation, false);
}

test_bcsr test_bcsr_symmetrised(const test_bcsr *matrix) { return by_place(matrix, NULL, true); }

test_bcsr test_bcsr_definite(int32_t block_rows, int32_t block_size, uint64_t seed) {
  test_shape shape = test_shape_square(block_rows, block_size, seed);
  shape.diagonal = TEST_DIAGONAL_DOMINANT; /* stored everywhere; its values are made again */
  test_bcsr half = test_bcsr_random(shape), made = test_bcsr_symmetrised(&half);
  for (int32_t i = 0; i < block_rows; i++)
    for (int32_t p = made.row_ptr[i]; p < made.row_ptr[i + 1]; p++) {
      double *here = made.values + (size_t)p * (size_t)(block_size * block_size);
      const double *there = test_bcsr_block(&made, made.col_idx[p], i);
      for (int c = 0; c < block_size; c++)
        for (int r = 0; r < block_size; r++) {
          if (made.col_idx[p] < i || (made.col_idx[p] == i && r > c))
            here[c * block_size + r] = there[r * block_size + c];
          if (made.col_idx[p] == i && r == c) here[c * block_size + r] = 0.0;
        }
    }
  make_dominant(&made);
  test_bcsr_free(&half);
  return made;
}

int32_t test_bcsr_blocks(const test_bcsr *matrix) { return matrix->row_ptr[matrix->block_rows]; }

double *test_bcsr_block(const test_bcsr *matrix, int32_t row, int32_t col) {
  for (int32_t p = matrix->row_ptr[row]; p < matrix->row_ptr[row + 1]; p++) {
    if (matrix->col_idx[p] == col)
      return matrix->values + (size_t)p * (size_t)(matrix->block_size * matrix->block_size);
  }
  return NULL;
}

void test_bcsr_free(test_bcsr *matrix) {
  free(matrix->row_ptr);
  free(matrix->col_idx);
  free(matrix->values);
  *matrix = (test_bcsr){0};
}

static bisai_bcsr *make(bisai_context *context, const test_bcsr *matrix, bisai_value_type type,
                        const void *values, bisai_ownership ownership) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = matrix->block_rows;
  desc.block_cols = matrix->block_cols;
  desc.block_size = matrix->block_size;
  desc.row_ptr = matrix->row_ptr;
  desc.col_idx = matrix->col_idx;
  desc.values = values;
  desc.value_type = type;
  desc.ownership = ownership;
  bisai_bcsr *result = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &result));
  return result;
}

bisai_bcsr *test_bcsr_make(bisai_context *context, const test_bcsr *matrix) {
  return make(context, matrix, BISAI_FP64, matrix->values, BISAI_COPY);
}

bisai_bcsr *test_bcsr_borrow(bisai_context *context, const test_bcsr *matrix) {
  return make(context, matrix, BISAI_FP64, matrix->values, BISAI_BORROW);
}

bisai_bcsr *test_bcsr_single(bisai_context *context, const test_bcsr *matrix) {
  const size_t count =
      (size_t)test_bcsr_blocks(matrix) * (size_t)(matrix->block_size * matrix->block_size);
  float *values = checked(count, sizeof *values);
  for (size_t v = 0; v < count; v++) values[v] = (float)matrix->values[v];
  bisai_bcsr *result = make(context, matrix, BISAI_FP32, values, BISAI_COPY);
  free(values);
  return result;
}

void test_expect_same(const bisai_bcsr *a, const bisai_bcsr *b) {
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col;
  const void *a_values, *b_values;
  bisai_bcsr_arrays(a, &a_ptr, &a_col, &a_values);
  bisai_bcsr_arrays(b, &b_ptr, &b_col, &b_values);
  assert_int_equal(bisai_bcsr_rows(a), bisai_bcsr_rows(b));
  assert_int_equal(bisai_bcsr_padding(a), bisai_bcsr_padding(b));
  assert_int_equal(bisai_bcsr_block_size(a), bisai_bcsr_block_size(b));
  assert_int_equal(bisai_bcsr_blocks(a), bisai_bcsr_blocks(b));
  const size_t blocks = (size_t)bisai_bcsr_blocks(a), bs = (size_t)bisai_bcsr_block_size(a);
  assert_memory_equal(a_ptr, b_ptr, ((size_t)bisai_bcsr_block_rows(a) + 1) * sizeof *a_ptr);
  if (blocks == 0) return;
  assert_memory_equal(a_col, b_col, blocks * sizeof *a_col);
  assert_memory_equal(a_values, b_values, blocks * bs * bs * sizeof(double));
}

bisai_bcsr *test_bcsr_take(bisai_context *context, test_bcsr matrix) {
  bisai_bcsr *made = test_bcsr_make(context, &matrix);
  test_bcsr_free(&matrix);
  return made;
}
