/* SPDX-License-Identifier: BSD-3-Clause */
/* S(|T|^k) against boolean powers of dense matrices, counts known from the literature, patterns of
 * the caller. */
#include "fixture.h"

static bisai_pattern *power_of(bisai_context *c, const bisai_bcsr *a, bisai_triangle triangle,
                               int k) {
  bisai_pattern *pattern = NULL;
  EXPECT_OK(c, bisai_pattern_power(c, a, triangle, k, &pattern));
  assert_int_equal(bisai_pattern_triangle(pattern), triangle);
  assert_int_equal(bisai_pattern_block_rows(pattern), bisai_bcsr_block_rows(a));
  return pattern;
}

static bool *booleans(int32_t n) {
  bool *matrix = calloc((size_t)n * (size_t)n + 1, sizeof *matrix);
  assert_non_null(matrix);
  return matrix;
}

/* out ← a b over the booleans, row-major */
static void boolean_product(int32_t n, const bool *a, const bool *b, bool *out) {
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      bool any = false;
      for (int32_t k = 0; k < n && !any; k++) any = a[i * n + k] && b[k * n + j];
      out[i * n + j] = any;
    }
  }
}

/* The triangle, or all, with a full diagonal. */
static bool *triangle_of(const test_bcsr *a, bisai_triangle triangle) {
  const int32_t n = a->block_rows;
  bool *t = booleans(n);
  for (int32_t i = 0; i < n; i++) {
    t[i * n + i] = true;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t j = a->col_idx[p];
      t[i * n + j] =
          t[i * n + j] || triangle == BISAI_WHOLE || (triangle == BISAI_LOWER ? j < i : j > i);
    }
  }
  return t;
}

static void expect_pattern(int32_t n, const bool *expected, const bisai_pattern *pattern) {
  const int32_t *row_ptr, *col_idx;
  int32_t blocks = 0, longest = 0;
  bisai_pattern_arrays(pattern, &row_ptr, &col_idx);
  assert_int_equal(row_ptr[0], 0);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      if (expected[i * n + j]) {
        assert_true(blocks < row_ptr[i + 1]);
        assert_int_equal(col_idx[blocks++], j);
      }
    }
    assert_int_equal(row_ptr[i + 1], blocks);
  }
  for (int32_t j = 0; j < n; j++) {
    int32_t length = 0;
    for (int32_t i = 0; i < n; i++) length += expected[i * n + j] ? 1 : 0;
    longest = length > longest ? length : longest;
  }
  assert_int_equal(bisai_pattern_blocks(pattern), blocks);
  assert_int_equal(bisai_pattern_longest_column(pattern), longest);
}

static void expect_powers(const test_bcsr *a, int largest) {
  const int32_t n = a->block_rows;
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  for (int triangle = BISAI_LOWER; triangle <= BISAI_WHOLE; triangle++) {
    bool *t = triangle_of(a, (bisai_triangle)triangle), *power = booleans(n), *next = booleans(n);
    memcpy(power, t, (size_t)n * (size_t)n * sizeof *t);
    for (int k = 1; k <= largest; k++) {
      bisai_pattern *pattern = power_of(context, matrix, (bisai_triangle)triangle, k);
      expect_pattern(n, power, pattern);
      bisai_pattern_destroy(&pattern);
      assert_null(pattern);
      boolean_product(n, power, t, next);
      memcpy(power, next, (size_t)n * (size_t)n * sizeof *t);
    }
    free(t);
    free(power);
    free(next);
  }
  bisai_bcsr_destroy(&matrix);
}

static void powers_of_random_patterns_equal_boolean_powers(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    test_shape shape = {(int32_t)(3 * seed),
                        (int32_t)(3 * seed),
                        1 + (int32_t)(seed % 3),
                        0.5 + 0.25 * (double)seed,
                        (int32_t)(seed % 4),
                        (test_diagonal)(seed % 3),
                        TEST_FULL,
                        seed};
    test_bcsr a = test_bcsr_random(shape);
    expect_powers(&a, 5);
    test_bcsr_free(&a);
  }
}

/* A chain grows by one block a step; past its end nothing changes. */
static void powers_of_a_long_chain_grow_by_one_a_step(void **state) {
  (void)state;
  const int32_t n = 300;
  bisai_bcsr *chain = test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 1.0, 1.0));
  static const int powers[] = {1, 2, 17, 298, 299, 300, 1000, INT32_MAX};
  for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
    const int32_t k = powers[i] < n - 1 ? powers[i] : n - 1;
    for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
      bisai_pattern *pattern = power_of(context, chain, (bisai_triangle)triangle, powers[i]);
      assert_int_equal(bisai_pattern_blocks(pattern), n * (k + 1) - k * (k + 1) / 2);
      assert_int_equal(bisai_pattern_longest_column(pattern), k + 1);
      assert_int_equal(bisai_pattern_levels(pattern), n);
      bisai_pattern_destroy(&pattern);
    }
  }
  bisai_bcsr_destroy(&chain);
}

static void powers_of_grids_equal_boolean_powers(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(7, 6, 2, 1);
  expect_powers(&a, 5);
  test_bcsr_free(&a);
  a = test_bcsr_grid(1, 1, 2, 1);
  expect_powers(&a, 2);
  test_bcsr_free(&a);
}

/* Rows longer than a sort by insertion likes. */
static void powers_of_dense_rows_are_sorted(void **state) {
  (void)state;
  test_shape shape = test_shape_square(90, 1, 4);
  shape.blocks_per_row = 25.0;
  test_bcsr a = test_bcsr_random(shape);
  expect_powers(&a, 3);
  test_bcsr_free(&a);
}

static void levels_are_the_longest_chain(void **state) {
  (void)state;
  bisai_bcsr *diagonal =
      test_bcsr_take(context, test_bcsr_random((test_shape){.block_rows = 9,
                                                            .block_cols = 9,
                                                            .block_size = 2,
                                                            .diagonal = TEST_DIAGONAL_DOMINANT,
                                                            .seed = 1}));
  bisai_bcsr *empty = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 2, 1)));
  bisai_bcsr *grid = test_bcsr_take(context, test_bcsr_grid(7, 5, 1, 1));
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    bisai_pattern *pattern = power_of(context, diagonal, (bisai_triangle)triangle, 3);
    assert_int_equal(bisai_pattern_levels(pattern), 1);
    assert_int_equal(bisai_pattern_blocks(pattern), 9);
    bisai_pattern_destroy(&pattern);
    pattern = power_of(context, grid, (bisai_triangle)triangle, 1);
    assert_int_equal(bisai_pattern_levels(pattern), 7 + 5 - 1); /* diagonals of the grid */
    bisai_pattern_destroy(&pattern);
    pattern = power_of(context, empty, (bisai_triangle)triangle, 2);
    assert_int_equal(bisai_pattern_levels(pattern), 0);
    assert_int_equal(bisai_pattern_blocks(pattern), 0);
    bisai_pattern_destroy(&pattern);
  }
  bisai_bcsr_destroy(&diagonal);
  bisai_bcsr_destroy(&empty);
  bisai_bcsr_destroy(&grid);
}

/* Ma et al. 2021, Table 3: the lid-driven cavity's grid of 300 × 300. */
static void cavity_patterns_have_the_published_sizes(void **state) {
  (void)state;
  static const int32_t blocks[] = {538800, 1075202, 1788010}, longest[] = {3, 6, 10};
  bisai_bcsr *grid = test_bcsr_take(context, test_bcsr_grid(300, 300, 1, 1));
  assert_int_equal(bisai_bcsr_blocks(grid), 448800);
  for (int k = 1; k <= 3; k++) {
    bisai_pattern *lower = power_of(context, grid, BISAI_LOWER, k),
                  *upper = power_of(context, grid, BISAI_UPPER, k);
    assert_int_equal(bisai_pattern_blocks(lower) + bisai_pattern_blocks(upper), blocks[k - 1]);
    assert_int_equal(bisai_pattern_longest_column(lower), longest[k - 1]);
    assert_int_equal(bisai_pattern_longest_column(upper), longest[k - 1]);
    bisai_pattern_destroy(&lower);
    bisai_pattern_destroy(&upper);
  }
  bisai_bcsr_destroy(&grid);
}

/* Seven-point grid with nx·ny·nz block rows, pattern only. */
static bisai_bcsr *seven_point(int32_t nx, int32_t ny, int32_t nz) {
  const int32_t n = nx * ny * nz;
  int32_t blocks = 0;
  test_bcsr a = {
      n,   n, 1, malloc(((size_t)n + 1) * sizeof(int32_t)), malloc(7 * (size_t)n * sizeof(int32_t)),
      NULL};
  a.values = calloc(7 * (size_t)n, sizeof(double));
  a.row_ptr[0] = 0;
  for (int32_t row = 0; row < n; row++) {
    const int32_t x = row % nx, y = row / nx % ny, z = row / (nx * ny);
    const int32_t neighbours[] = {
        z > 0 ? row - nx * ny : -1, y > 0 ? row - nx : -1,      x > 0 ? row - 1 : -1,           row,
        x + 1 < nx ? row + 1 : -1,  y + 1 < ny ? row + nx : -1, z + 1 < nz ? row + nx * ny : -1};
    for (size_t i = 0; i < 7; i++)
      if (neighbours[i] >= 0) a.col_idx[blocks++] = neighbours[i];
    a.row_ptr[row + 1] = blocks;
  }
  return test_bcsr_take(context, a);
}

/* Ma et al. 2021, Table 1: atmosmodd, a grid of 148 × 148 × 58 cut into blocks of 4 along its first
 * direction. */
static void atmosmodd_patterns_have_the_published_sizes(void **state) {
  (void)state;
  static const int32_t blocks[] = {2508452, 6190586};
  bisai_bcsr *grid = seven_point(37, 148, 58);
  assert_int_equal(bisai_bcsr_block_rows(grid), 317608);
  assert_int_equal(bisai_bcsr_blocks(grid), 2190844);
  for (int k = 1; k <= 2; k++) {
    bisai_pattern *lower = power_of(context, grid, BISAI_LOWER, k),
                  *upper = power_of(context, grid, BISAI_UPPER, k);
    assert_int_equal(bisai_pattern_blocks(lower) + bisai_pattern_blocks(upper), blocks[k - 1]);
    bisai_pattern_destroy(&lower);
    bisai_pattern_destroy(&upper);
  }
  bisai_bcsr_destroy(&grid);
}

static void expect_same_pattern(const bisai_pattern *a, const bisai_pattern *b) {
  const int32_t *a_ptr, *a_idx, *b_ptr, *b_idx;
  bisai_pattern_arrays(a, &a_ptr, &a_idx);
  bisai_pattern_arrays(b, &b_ptr, &b_idx);
  assert_int_equal(bisai_pattern_block_rows(a), bisai_pattern_block_rows(b));
  assert_int_equal(bisai_pattern_blocks(a), bisai_pattern_blocks(b));
  assert_int_equal(bisai_pattern_levels(a), bisai_pattern_levels(b));
  assert_int_equal(bisai_pattern_longest_column(a), bisai_pattern_longest_column(b));
  assert_memory_equal(a_ptr, b_ptr, (size_t)(bisai_pattern_block_rows(a) + 1) * sizeof *a_ptr);
  assert_memory_equal(a_idx, b_idx, (size_t)bisai_pattern_blocks(a) * sizeof *a_idx);
}

static void thread_counts_give_the_same_pattern(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_random(test_shape_square(4000, 1, 5));
  for (int k = 1; k <= 3; k++) {
    for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
      bisai_context *contexts[3];
      bisai_pattern *patterns[3];
      for (int t = 0; t < 3; t++) {
        contexts[t] = test_context(2 * t + 1);
        bisai_bcsr *matrix = test_bcsr_make(contexts[t], &a);
        patterns[t] = power_of(contexts[t], matrix, (bisai_triangle)triangle, k);
        bisai_bcsr_destroy(&matrix);
        expect_same_pattern(patterns[0], patterns[t]);
      }
      for (int t = 0; t < 3; t++) {
        bisai_pattern_destroy(&patterns[t]);
        bisai_context_destroy(&contexts[t]);
      }
    }
  }
  test_bcsr_free(&a);
}

static void power_refuses_bad_arguments(void **state) {
  (void)state;
  bisai_pattern *const untouched = (bisai_pattern *)(uintptr_t)64;
  bisai_pattern *pattern = untouched;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 1, 1)), *tall;
  tall = test_bcsr_take(
      context, test_bcsr_random((test_shape){4, 3, 2, 2.0, 0, TEST_DIAGONAL_RANDOM, TEST_FULL, 1}));
  assert_int_equal(bisai_pattern_power(NULL, matrix, BISAI_LOWER, 1, &pattern),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, NULL, BISAI_LOWER, 1, &pattern));
  EXPECT_MESSAGE(context, "bisai_pattern_power: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, matrix, BISAI_LOWER, 1, NULL));
  EXPECT_MESSAGE(context, "bisai_pattern_power: pattern is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, matrix, BISAI_LOWER, 0, &pattern));
  EXPECT_MESSAGE(context, "power 0: at least 1 is needed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, matrix, BISAI_UPPER, -2, &pattern));
  EXPECT_MESSAGE(context, "power -2: at least 1 is needed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, matrix, (bisai_triangle)3, 1, &pattern));
  EXPECT_MESSAGE(context, "unknown triangle 3");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_power(context, tall, BISAI_LOWER, 1, &pattern));
  EXPECT_MESSAGE(context, "the matrix is not square: 4 × 3 blocks");
  assert_ptr_equal(pattern, untouched);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&tall);
}

/* --- the caller's patterns --- */

static void given_patterns_are_copied(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 1, 2, 5, 7}, col_idx[] = {0, 1, 0, 1, 2, 0, 3};
  bisai_pattern *pattern = NULL;
  EXPECT_OK(context, bisai_pattern_create(context, BISAI_LOWER, 4, row_ptr, col_idx, &pattern));
  static const bool expected[] = {1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 1};
  memset(row_ptr, 0, sizeof row_ptr);
  memset(col_idx, 0, sizeof col_idx);
  expect_pattern(4, expected, pattern);
  assert_int_equal(bisai_pattern_triangle(pattern), BISAI_LOWER);
  assert_int_equal(bisai_pattern_levels(pattern), 2);
  bisai_pattern_destroy(&pattern);

  int32_t upper_ptr[] = {0, 3, 4, 5}, upper_idx[] = {0, 1, 2, 1, 2};
  static const bool upper[] = {1, 1, 1, 0, 1, 0, 0, 0, 1};
  EXPECT_OK(context, bisai_pattern_create(context, BISAI_UPPER, 3, upper_ptr, upper_idx, &pattern));
  expect_pattern(3, upper, pattern);
  assert_int_equal(bisai_pattern_triangle(pattern), BISAI_UPPER);
  bisai_pattern_destroy(&pattern);
}

static void powers_pass_as_given_patterns(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(50, 1, 9)));
  for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
    bisai_pattern *power = power_of(context, matrix, (bisai_triangle)triangle, 2), *copy = NULL;
    const int32_t *row_ptr, *col_idx;
    bisai_pattern_arrays(power, &row_ptr, &col_idx);
    bisai_pattern_arrays(power, NULL, NULL);
    EXPECT_OK(context,
              bisai_pattern_create(context, (bisai_triangle)triangle, 50, row_ptr, col_idx, &copy));
    expect_same_pattern(power, copy);
    bisai_pattern_destroy(&power);
    bisai_pattern_destroy(&copy);
  }
  bisai_bcsr_destroy(&matrix);
}

typedef struct refusal {
  bisai_triangle triangle;
  int32_t block_rows, row_ptr[5];
  int32_t columns, col_idx[6];
  bisai_status status;
  const char *message;
} refusal;

static const refusal refusals[] = {
    {BISAI_LOWER,
     3,
     {0, 1, 3, 5},
     5,
     {0, 1, 0, 0, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 1: columns must ascend, 0 follows 1"},
    {BISAI_LOWER,
     3,
     {0, 1, 3, 6},
     6,
     {0, 0, 1, 0, 0, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 2: columns must ascend, 0 follows 0"},
    {BISAI_LOWER,
     3,
     {0, 2, 3, 4},
     4,
     {0, 1, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 0: column 1 is not in the lower triangle"},
    {BISAI_UPPER,
     3,
     {0, 1, 2, 4},
     4,
     {0, 1, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 2: column 1 is not in the upper triangle"},
    {BISAI_UPPER,
     3,
     {0, 2, 3, 4},
     4,
     {0, 3, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 0: column 3 is outside 0 … 2"},
    {BISAI_LOWER,
     3,
     {0, 1, 2, 3},
     3,
     {0, 1, -1},
     BISAI_INVALID_STRUCTURE,
     "block row 2: column -1 is outside 0 … 2"},
    {BISAI_LOWER,
     3,
     {0, 1, 2, 4},
     4,
     {0, 1, 0, 1},
     BISAI_MISSING_DIAGONAL,
     "block row 2 has no diagonal block"},
    {BISAI_UPPER,
     3,
     {0, 1, 1, 2},
     2,
     {0, 2},
     BISAI_MISSING_DIAGONAL,
     "block row 1 has no diagonal block"},
    {BISAI_LOWER,
     3,
     {1, 1, 2, 3},
     3,
     {0, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "row_ptr[0] is 1, expected 0: the arrays count from 0 (if yours count from 1, subtract 1 from "
     "row_ptr and col_idx)"},
    {BISAI_LOWER,
     3,
     {0, 2, 1, 3},
     3,
     {0, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 1: row_ptr decreases from 2 to 1"},
    /* col_idx is no longer than the last row pointer says: nothing may be read beyond before the
     * decrease is found */
    {BISAI_LOWER,
     3,
     {0, 1000, 2, 3},
     3,
     {0, 1, 2},
     BISAI_INVALID_STRUCTURE,
     "block row 1: row_ptr decreases from 1000 to 2"},
    {BISAI_LOWER, -1, {0}, 0, {0}, BISAI_INVALID_ARGUMENT, "negative size: -1 block rows"},
    {(bisai_triangle)5, 1, {0, 1}, 1, {0}, BISAI_INVALID_ARGUMENT, "unknown triangle 5"},
};

static void given_patterns_are_refused_by_row_and_column(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal *r = &refusals[i];
    bisai_pattern *const untouched = (bisai_pattern *)(uintptr_t)64;
    bisai_pattern *pattern = untouched;
    /* exact lengths on the heap, so that sanitizers see any step beyond */
    int32_t *exact = malloc((size_t)(r->columns > 0 ? r->columns : 1) * sizeof *exact);
    memcpy(exact, r->col_idx, (size_t)r->columns * sizeof *exact);
    EXPECT_STATUS(
        context, r->status,
        bisai_pattern_create(context, r->triangle, r->block_rows, r->row_ptr, exact, &pattern));
    EXPECT_MESSAGE(context, r->message);
    assert_ptr_equal(pattern, untouched);
    free(exact);
  }
  static const int32_t row_ptr[] = {0, 1}, col_idx[] = {0};
  bisai_pattern *pattern = NULL;
  assert_int_equal(bisai_pattern_create(NULL, BISAI_LOWER, 1, row_ptr, col_idx, &pattern),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_create(context, BISAI_LOWER, 1, NULL, col_idx, &pattern));
  EXPECT_MESSAGE(context, "bisai_pattern_create: row_ptr is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_create(context, BISAI_LOWER, 1, row_ptr, NULL, &pattern));
  EXPECT_MESSAGE(context, "bisai_pattern_create: col_idx is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_pattern_create(context, BISAI_LOWER, 1, row_ptr, col_idx, NULL));
  EXPECT_MESSAGE(context, "bisai_pattern_create: pattern is NULL");
  assert_null(pattern);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_of_random_patterns_equal_boolean_powers),
      cmocka_unit_test(powers_of_a_long_chain_grow_by_one_a_step),
      cmocka_unit_test(powers_of_grids_equal_boolean_powers),
      cmocka_unit_test(powers_of_dense_rows_are_sorted),
      cmocka_unit_test(levels_are_the_longest_chain),
      cmocka_unit_test(cavity_patterns_have_the_published_sizes),
      cmocka_unit_test(atmosmodd_patterns_have_the_published_sizes),
      cmocka_unit_test(thread_counts_give_the_same_pattern),
      cmocka_unit_test(power_refuses_bad_arguments),
      cmocka_unit_test(given_patterns_are_copied),
      cmocka_unit_test(powers_pass_as_given_patterns),
      cmocka_unit_test(given_patterns_are_refused_by_row_and_column),
  };
  return cmocka_run_group_tests_name("pattern", tests, setup, teardown);
}
