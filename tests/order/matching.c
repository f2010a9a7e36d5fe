/* SPDX-License-Identifier: BSD-3-Clause */
/* Maximum product matching: against all permutations of tiny matrices, and by its duals, which
 * prove that no permutation has a larger product. */
#include "matching.h"

enum { MOST = 6 };

static double determinant(int32_t n, const double *a) {
  if (n == 1) return a[0];
  double sum = 0.0, minor[MOST * MOST];
  for (int32_t j = 0; j < n; j++) {
    int32_t at = 0;
    for (int32_t c = 0; c < n; c++)
      for (int32_t r = 1; r < n && c != j; r++) minor[at++] = a[c * n + r];
    sum += (j % 2 ? -1.0 : 1.0) * a[j * n] * determinant(n - 1, minor);
  }
  return sum;
}

/* log₂ of the weight of every entry or block of a dense matrix of weights; −INFINITY: none. */
static double *weights_of(const test_bcsr *a, bisai_matching unit) {
  const int32_t bs = a->block_size, scale = unit == BISAI_MATCHING_ENTRIES ? bs : 1,
                n = a->block_rows * scale;
  double *weights = calloc((size_t)n * (size_t)n, sizeof *weights);
  for (int32_t k = 0; k < n * n; k++) weights[k] = -INFINITY;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const double *block = a->values + p * bs * bs;
      if (unit == BISAI_MATCHING_BLOCKS)
        weights[a->col_idx[p] * n + i] = log2(fabs(determinant(bs, block))) / bs;
      for (int32_t v = 0; v < bs * bs && unit == BISAI_MATCHING_ENTRIES; v++)
        weights[(a->col_idx[p] * bs + v / bs) * n + i * bs + v % bs] = log2(fabs(block[v]));
    }
  return weights;
}

/* The largest sum of weights of all permutations of the rows that are not used yet. */
static double best_of_all(int32_t n, const double *weights, int32_t column, unsigned used) {
  double best = column == n ? 0.0 : -INFINITY;
  for (int32_t i = 0; i < n && column < n; i++)
    if (!(used >> i & 1))
      best =
          fmax(best, weights[column * n + i] + best_of_all(n, weights, column + 1, used | 1u << i));
  return best;
}

/* Few blocks, with zeros inside. */
static test_bcsr tiny(int32_t rows, int32_t bs, uint64_t seed) {
  test_shape shape = test_shape_square(rows, bs, seed);
  shape.diagonal = TEST_DIAGONAL_RANDOM;
  shape.blocks_per_row = 2.0;
  test_bcsr a = test_bcsr_random(shape);
  test_random random = test_random_seed(seed);
  for (int32_t v = 0; v < test_bcsr_blocks(&a) * bs * bs; v++)
    a.values[v] = test_random_integer(&random, 0, 3) == 0
                      ? 0.0
                      : a.values[v] * exp2(test_random_uniform(&random, -9.0, 9.0));
  return a;
}

static void expect_best(int32_t rows, int32_t bs, bisai_matching unit, uint64_t seed, int *found) {
  test_bcsr a = tiny(rows, bs, seed);
  const int32_t n = unit == BISAI_MATCHING_ENTRIES ? rows * bs : rows;
  double *weights = weights_of(&a, unit), sum = 0.0;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  int32_t row_of[MOST];
  const double best = best_of_all(n, weights, 0, 0);
  const bisai_status status = bisai_order_match(context, matrix, unit, row_of, NULL, NULL);
  EXPECT_STATUS(context, isinf(best) ? BISAI_SINGULAR_BLOCK : BISAI_OK, status);
  for (int32_t j = 0; j < n && !status; j++) sum += weights[j * n + row_of[j]];
  if (!status) EXPECT_NEAR(best, sum, 1e-12 * (1.0 + fabs(best))); /* rounding of logarithms */
  found[status != BISAI_OK]++;
  free(weights);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void no_permutation_has_a_larger_product(void **state) {
  (void)state;
  int found[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 60; seed++) {
    for (int32_t n = 1; n <= MOST; n++) {
      expect_best(n, 1, BISAI_MATCHING_ENTRIES, seed, found);
      for (int32_t bs = 1; bs <= 3; bs++) expect_best(n, bs, BISAI_MATCHING_BLOCKS, seed, found);
    }
    expect_best(3, 2, BISAI_MATCHING_ENTRIES, seed, found);
    expect_best(2, 3, BISAI_MATCHING_ENTRIES, seed, found);
  }
  assert_true(found[0] > 100 && found[1] > 100);
}

/* Feasible duals that are tight on the matching prove that it is the best. */
static void expect_optimal(const bisai_bcsr *matrix, const test_bcsr *a, bisai_matching unit) {
  const int32_t n = a->block_rows * (unit == BISAI_MATCHING_ENTRIES ? a->block_size : 1);
  double *weights = weights_of(a, unit), *rows = calloc((size_t)n, sizeof *rows),
         *cols = calloc((size_t)n, sizeof *cols);
  int32_t *row_of = calloc((size_t)n, sizeof *row_of);
  EXPECT_OK(context, bisai_order_match(context, matrix, unit, row_of, rows, cols));
  EXPECT_OK(context, bisai_order_check(context, n, row_of));
  for (int32_t j = 0; j < n; j++) {
    /* rounding of logarithms of up to 40 and of sums of them along paths */
    EXPECT_NEAR(0.0, weights[j * n + row_of[j]] + rows[row_of[j]] + cols[j], 1e-11);
    for (int32_t i = 0; i < n; i++) assert_true(weights[j * n + i] + rows[i] + cols[j] <= 1e-11);
  }
  free(weights), free(rows), free(cols), free(row_of);
}

static void duals_prove_that_the_matching_is_best(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    for (int32_t bs = 1; bs <= 4; bs++) {
      test_bcsr a = matching_shuffled(60 / bs, bs, 1, 20, seed);
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      expect_optimal(matrix, &a, BISAI_MATCHING_ENTRIES);
      bisai_bcsr_destroy(&matrix);
      test_bcsr_free(&a);
      a = matching_shuffled(30, bs, bs, 20, seed);
      matrix = test_bcsr_make(context, &a);
      expect_optimal(matrix, &a, BISAI_MATCHING_BLOCKS);
      bisai_bcsr_destroy(&matrix);
      test_bcsr_free(&a);
    }
  }
}

/* Long augmenting paths: every row prefers the column of the row before. */
static void long_paths_are_found(void **state) {
  (void)state;
  enum { N = 200 };
  test_bcsr a = test_bcsr_tridiagonal(N, 1, 1.0, 2.0);
  for (int32_t i = 0; i + 1 < N; i++) *test_bcsr_block(&a, i, i + 1) = 0.0;
  *test_bcsr_block(&a, 0, 0) = 1e-3;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  expect_optimal(matrix, &a, BISAI_MATCHING_ENTRIES);
  int32_t row_of[N];
  EXPECT_OK(context,
            bisai_order_match(context, matrix, BISAI_MATCHING_ENTRIES, row_of, NULL, NULL));
  for (int32_t j = 0; j < N; j++) assert_int_equal(row_of[j], j); /* the only one */
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* By hand: rows 0 and 1 swapped, the largest product is 3 · 5 · 2. */
static void a_matching_by_hand(void **state) {
  (void)state;
  static const double dense[] = {1, 3, 0, 5, 4, 0, 0, 1, 2};
  static const int32_t expected[] = {1, 0, 2};
  test_bcsr a = matching_blocks_of(3, 1, dense);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  int32_t row_of[3];
  double rows[3], cols[3];
  EXPECT_OK(context,
            bisai_order_match(context, matrix, BISAI_MATCHING_ENTRIES, row_of, rows, cols));
  assert_memory_equal(row_of, expected, sizeof expected);
  EXPECT_NEAR(-log2(3.0), rows[1] + cols[0], 1e-15);
  EXPECT_NEAR(-log2(5.0), rows[0] + cols[1], 1e-15);
  EXPECT_NEAR(-1.0, rows[2] + cols[2], 1e-15);
  bisai_bcsr_destroy(&matrix);
}

/* The product of determinants does not depend on the scaling of rows and columns. */
static void a_matching_of_blocks_ignores_scaling(void **state) {
  (void)state;
  enum { BLOCKS = 20, BS = 3 };
  for (uint64_t seed = 1; seed <= 5; seed++) {
    test_shape shape = test_shape_square(BLOCKS, BS, seed);
    test_bcsr a = test_bcsr_random(shape);
    int32_t before[BLOCKS], after[BLOCKS];
    for (int scaled = 0; scaled < 2; scaled++) {
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      EXPECT_OK(context, bisai_order_match(context, matrix, BISAI_MATCHING_BLOCKS,
                                           scaled ? after : before, NULL, NULL));
      bisai_bcsr_destroy(&matrix);
      for (int32_t i = 0; i < BLOCKS; i++)
        for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
          for (int32_t v = 0; v < BS * BS; v++)
            a.values[p * BS * BS + v] *=
                exp2((i * 7 + v % BS) % 23) * exp2((a.col_idx[p] * 5 + v / BS) % 17);
    }
    assert_memory_equal(before, after, sizeof before);
    test_bcsr_free(&a);
  }
}

static void expect_refused(const double *dense, int32_t rows, int32_t bs, bisai_matching unit,
                           bisai_status status, const char *message) {
  bisai_bcsr *matrix = test_bcsr_take(context, matching_blocks_of(rows, bs, dense));
  int32_t row_of[MOST] = {-7};
  EXPECT_STATUS(context, status, bisai_order_match(context, matrix, unit, row_of, NULL, NULL));
  EXPECT_MESSAGE(context, message);
  assert_int_equal(row_of[0], -7);
  bisai_bcsr_destroy(&matrix);
}

static void structurally_singular_matrices_are_refused_by_row(void **state) {
  (void)state;
  static const double empty_row[] = {1, 0, 1, 1, 0, 1, 1, 0, 1},
                      /* rows 0, 2 and 3 in columns 1 and 3 alone */
      crowded[] = {0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 2, 3},
                      singular_blocks[] = {1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  expect_refused(empty_row, 3, 1, BISAI_MATCHING_ENTRIES, BISAI_SINGULAR_BLOCK,
                 "row 1 has no nonzeros: it cannot be matched");
  expect_refused(crowded, 4, 1, BISAI_MATCHING_ENTRIES, BISAI_SINGULAR_BLOCK,
                 "row 3 cannot be matched: it and 2 others have nonzeros in only 2 columns");
  expect_refused(singular_blocks, 2, 2, BISAI_MATCHING_BLOCKS, BISAI_SINGULAR_BLOCK,
                 "block row 0 has no regular blocks: it cannot be matched");
}

static void arguments_that_make_no_sense_are_refused(void **state) {
  (void)state;
  static const double one = 1.0;
  int32_t row_of[1];
  bisai_bcsr *matrix = test_bcsr_take(context, matching_blocks_of(1, 1, &one));
  assert_int_equal(bisai_order_match(NULL, matrix, BISAI_MATCHING_BLOCKS, row_of, NULL, NULL),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_match(context, NULL, BISAI_MATCHING_BLOCKS, row_of, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_order_match: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_match(context, matrix, BISAI_MATCHING_BLOCKS, NULL, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_order_match: row_of is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_match(context, matrix, BISAI_MATCHING_NONE, row_of, NULL, NULL));
  EXPECT_MESSAGE(context, "matching 0 is not one to compute");
  bisai_bcsr_destroy(&matrix);
  test_bcsr wide = test_bcsr_random((test_shape){
      .block_rows = 2, .block_cols = 3, .block_size = 1, .blocks_per_row = 1.0, .seed = 1});
  matrix = test_bcsr_take(context, wide);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_match(context, matrix, BISAI_MATCHING_ENTRIES, row_of, NULL, NULL));
  EXPECT_MESSAGE(context, "the matrix is not square: 2 × 3 blocks");
  bisai_bcsr_destroy(&matrix);
  test_bcsr narrow = test_bcsr_diagonal(1, &one);
  matrix = test_bcsr_single(context, &narrow);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_order_match(context, matrix, BISAI_MATCHING_ENTRIES, row_of, NULL, NULL));
  EXPECT_MESSAGE(context, "a matching needs fp64 values and stored diagonal blocks");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&narrow);
}

static void words_of_matchings_are_looked_up(void **state) {
  (void)state;
  bisai_matching value = BISAI_MATCHING_NONE;
  assert_true(bisai_matching_parse("blocks", &value));
  assert_int_equal(value, BISAI_MATCHING_BLOCKS);
  assert_false(bisai_matching_parse("rows", &value));
  assert_string_equal(bisai_matching_string(BISAI_MATCHING_ENTRIES), "entries");
  assert_string_equal(bisai_matching_string((bisai_matching)9), "unknown matching");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_matching_by_hand),
      cmocka_unit_test(no_permutation_has_a_larger_product),
      cmocka_unit_test(duals_prove_that_the_matching_is_best),
      cmocka_unit_test(long_paths_are_found),
      cmocka_unit_test(a_matching_of_blocks_ignores_scaling),
      cmocka_unit_test(structurally_singular_matrices_are_refused_by_row),
      cmocka_unit_test(arguments_that_make_no_sense_are_refused),
      cmocka_unit_test(words_of_matchings_are_looked_up),
  };
  return cmocka_run_group_tests_name("matching", tests, setup, teardown);
}
