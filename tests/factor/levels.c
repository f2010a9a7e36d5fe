/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU(k): the pattern against levels computed densely by their definition, the values against
 * dense elimination on that pattern, complete levels against dense solves. */
#include "fixture.h"

#include <math.h>

#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "factor/symbolic.h"

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0], NO_LEVEL = 1 << 20 };

static bisai_factors *factorise(bisai_context *c, const bisai_bcsr *a, int level) {
  bisai_factors *factors = NULL;
  bisai_factor_options options = bisai_factor_options_default();
  options.level = level;
  EXPECT_OK(c, bisai_factors_create(c, a, &options, &factors));
  return factors;
}

static bisai_factors *factorise_take(bisai_context *c, const test_bcsr *a, int level) {
  bisai_bcsr *matrix = test_bcsr_make(c, a);
  bisai_factors *factors = factorise(c, matrix, level);
  bisai_bcsr_destroy(&matrix);
  return factors;
}

/* lev_ij of all n² blocks in the order of Gaussian elimination: the definition, dropping nothing
 * before the end. */
static int *dense_levels(const test_bcsr *a) {
  const int32_t n = a->block_rows;
  int *level = malloc(sizeof *level * (size_t)n * (size_t)n);
  assert_non_null(level);
  for (int32_t k = 0; k < n * n; k++) level[k] = NO_LEVEL;
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) level[i * n + a->col_idx[q]] = 0;
  for (int32_t p = 0; p < n; p++)
    for (int32_t i = p + 1; i < n; i++)
      for (int32_t j = p + 1; j < n; j++) {
        const int through = level[i * n + p] + level[p * n + j] + 1;
        if (through < level[i * n + j]) level[i * n + j] = through;
      }
  return level;
}

/* L and U together hold exactly the blocks of level ≤ k. */
static void expect_pattern(const test_bcsr *a, const int *level, int k,
                           const bisai_factors *factors) {
  const int32_t n = a->block_rows, *l_ptr, *l_idx, *u_ptr, *u_idx;
  bisai_bcsr_arrays(bisai_factors_lower(factors), &l_ptr, &l_idx, NULL);
  bisai_bcsr_arrays(bisai_factors_upper(factors), &u_ptr, &u_idx, NULL);
  for (int32_t i = 0; i < n; i++) {
    int32_t l = l_ptr[i], u = u_ptr[i];
    for (int32_t j = 0; j < n; j++) {
      if (level[i * n + j] > k) continue;
      assert_int_equal(j < i ? l_idx[l++] : u_idx[u++], j);
    }
    assert_int_equal(l, l_ptr[i + 1]);
    assert_int_equal(u, u_ptr[i + 1]);
  }
}

/* a_ij ← a_ij − Σ over the blocks, by scalar-indexed loops on the dense matrix, where the level
 * allows: block IKJ. */
static void dense_block_ilu(const test_bcsr *a, const int *level, int k, double *dense) {
  const int32_t n = a->block_rows, bs = a->block_size;
  const int64_t rows = (int64_t)n * bs;
#define AT(i, j, r, c) dense[((int64_t)(j)*bs + (c)) * rows + (int64_t)(i)*bs + (r)]
  double *pivot = malloc(sizeof *pivot * (size_t)(bs * bs)),
         *scaled = malloc(sizeof *scaled * (size_t)(bs * bs));
  assert_true(pivot && scaled);
  for (int32_t i = 1; i < n; i++)
    for (int32_t p = 0; p < i; p++) {
      if (level[i * n + p] > k) continue;
      for (int32_t v = 0; v < bs * bs; v++) pivot[v] = AT(p, p, v % bs, v / bs);
      double *inverse = test_dense_inverse(bs, pivot);
      assert_non_null(inverse);
      for (int32_t v = 0; v < bs * bs; v++) {
        scaled[v] = 0.0;
        for (int32_t m = 0; m < bs; m++)
          scaled[v] += AT(i, p, v % bs, m) * inverse[(v / bs) * bs + m];
      }
      free(inverse);
      for (int32_t v = 0; v < bs * bs; v++) AT(i, p, v % bs, v / bs) = scaled[v];
      for (int32_t j = p + 1; j < n; j++) {
        if (level[p * n + j] > k || level[i * n + j] > k) continue;
        for (int32_t v = 0; v < bs * bs; v++)
          for (int32_t m = 0; m < bs; m++)
            AT(i, j, v % bs, v / bs) -= scaled[m * bs + v % bs] * AT(p, j, m, v / bs);
      }
    }
  free(pivot);
  free(scaled);
#undef AT
}

/* Both factors equal the dense elimination on the pattern, which holds zeros elsewhere. */
static void expect_values(const test_bcsr *a, const int *level, int k,
                          const bisai_factors *factors) {
  const int64_t rows = (int64_t)a->block_rows * a->block_size;
  double *expected = test_dense_from_arrays(a);
  /* dominant: growth ≤ 2 */
  const double tolerance = 1e-13 * test_dense_norm1(rows, rows, expected);
  dense_block_ilu(a, level, k, expected);
  double *lower = test_dense(bisai_factors_lower(factors)),
         *upper = test_dense(bisai_factors_upper(factors));
  for (int64_t v = 0; v < rows * rows; v++) lower[v] += upper[v];
  for (int64_t v = 0; v < rows; v++) lower[v * (rows + 1)] -= 1.0;
  EXPECT_CLOSE(rows * rows, expected, lower, tolerance);
  free(expected);
  free(lower);
  free(upper);
}

static test_bcsr random_matrix(int32_t n, int32_t bs, double blocks_per_row, uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  shape.blocks_per_row = blocks_per_row;
  return test_bcsr_random(shape);
}

static void pattern_and_values_are_those_of_the_definition(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    for (int kind = 0; kind < 4; kind++) {
      const int32_t bs = block_sizes[s], n = bs > 8 ? 10 : 18;
      test_bcsr a = kind == 3 ? test_bcsr_grid(5, bs > 8 ? 2 : 4, bs, 3)
                              : random_matrix(n, bs, 0.7 + kind, (uint64_t)(10 * bs + kind));
      int *level = dense_levels(&a);
      for (int k = 0; k < 5; k++) {
        bisai_factors *factors = factorise_take(context, &a, k);
        expect_pattern(&a, level, k, factors);
        expect_values(&a, level, k, factors);
        bisai_factors_destroy(&factors);
      }
      free(level);
      test_bcsr_free(&a);
    }
  }
}

static void many_random_patterns_are_those_of_the_definition(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 200; seed++) {
    test_bcsr a =
        random_matrix(1 + (int32_t)(seed % 45), 1, 0.3 + (double)(seed % 7) / 2.0, 1000 + seed);
    int *level = dense_levels(&a);
    for (int k = 0; k < 8; k++) {
      bisai_factors *factors = factorise_take(context, &a, k);
      expect_pattern(&a, level, k, factors);
      bisai_factors_destroy(&factors);
    }
    free(level);
    test_bcsr_free(&a);
  }
}

/* Any level from n − 1 on keeps all fill: a direct solver. */
static void large_levels_give_complete_factors(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], n = bs > 8 ? 9 : 20;
    const int64_t rows = (int64_t)n * bs;
    test_bcsr a = random_matrix(n, bs, 1.5, (uint64_t)(500 + bs));
    double *dense = test_dense_from_arrays(&a), *b = test_random_vector(rows, 5),
           *x = test_random_vector(rows, 6);
    double *expected = test_dense_solve(rows, dense, b);
    static const int larger[] = {0, 1, 1000000};
    for (int l = 0; l < 4; l++) {
      bisai_factors *factors = factorise_take(context, &a, l < 3 ? n - 1 + larger[l] : INT32_MAX);
      EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, x));
      EXPECT_CLOSE(rows, expected, x, 1e-13);
      bisai_factors_destroy(&factors);
    }
    test_bcsr_free(&a);
    free(dense);
    free(b);
    free(x);
    free(expected);
  }
}

/* An arrow that points to the upper left fills completely at level 1, one that points to the lower
 * right not at all. */
static void arrows_fill_as_known(void **state) {
  (void)state;
  enum { N = 30 };
  for (int first = 0; first < 2; first++) {
    int32_t row_ptr[N + 1] = {0}, col_idx[3 * N];
    double values[3 * N];
    int32_t q = 0;
    const int32_t tip = first ? 0 : N - 1;
    for (int32_t i = 0; i < N; i++) {
      for (int32_t j = 0; j < N; j++) {
        if (i != j && i != tip && j != tip) continue;
        values[q] = i == j ? 2.0 * N : 1.0;
        col_idx[q++] = j;
      }
      row_ptr[i + 1] = q;
    }
    test_bcsr a = {N, N, 1, row_ptr, col_idx, values};
    bisai_factors *factors = factorise_take(context, &a, 1);
    assert_int_equal(bisai_bcsr_blocks(bisai_factors_lower(factors)),
                     first ? N * (N - 1) / 2 : N - 1);
    assert_int_equal(bisai_bcsr_blocks(bisai_factors_upper(factors)),
                     first ? N * (N + 1) / 2 : 2 * N - 1);
    bisai_factors_destroy(&factors);
  }
}

static void expect_same(const bisai_bcsr *a, const bisai_bcsr *b) {
  const size_t area = (size_t)(bisai_bcsr_block_size(a) * bisai_bcsr_block_size(a));
  const int32_t *ptr[2], *idx[2];
  const void *values[2];
  bisai_bcsr_arrays(a, &ptr[0], &idx[0], &values[0]);
  bisai_bcsr_arrays(b, &ptr[1], &idx[1], &values[1]);
  assert_int_equal(bisai_bcsr_blocks(a), bisai_bcsr_blocks(b));
  assert_memory_equal(ptr[0], ptr[1], ((size_t)bisai_bcsr_block_rows(a) + 1) * sizeof(int32_t));
  assert_memory_equal(idx[0], idx[1], (size_t)bisai_bcsr_blocks(a) * sizeof(int32_t));
  assert_memory_equal(values[0], values[1], (size_t)bisai_bcsr_blocks(a) * area * sizeof(double));
}

static void expect_same_factors(const bisai_factors *a, const bisai_factors *b) {
  expect_same(bisai_factors_lower(a), bisai_factors_lower(b));
  expect_same(bisai_factors_upper(a), bisai_factors_upper(b));
  const size_t n = (size_t)bisai_bcsr_block_rows(bisai_factors_upper(a)),
               bs = (size_t)bisai_bcsr_block_size(bisai_factors_upper(a));
  assert_memory_equal(bisai_factors_inverse_diagonal(a), bisai_factors_inverse_diagonal(b),
                      n * bs * bs * sizeof(double));
}

static void update_equals_a_fresh_factorisation_and_allocates_nothing(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *counted = test_context_on(&allocator, 2);
    test_bcsr a = test_bcsr_grid(9, 7, bs, 4), b = test_bcsr_grid(9, 7, bs, 5);
    bisai_bcsr *first = test_bcsr_make(counted, &a), *second = test_bcsr_make(counted, &b);
    bisai_factors *updated = factorise(counted, first, 2), *fresh = factorise(counted, second, 2);
    const long long calls = atomic_load(&allocator.calls);
    EXPECT_OK(counted, bisai_factors_update(updated, second));
    assert_int_equal(atomic_load(&allocator.calls), calls);
    expect_same_factors(updated, fresh); /* so that the fill began at zero again */
    bisai_factors_destroy(&updated);
    bisai_factors_destroy(&fresh);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
    bisai_context_destroy(&counted);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    test_bcsr_free(&a);
    test_bcsr_free(&b);
  }
}

/* Every pattern within that of L + U but the one of creation, and those beyond it. */
static void update_refuses_other_patterns(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 3, 1, 1);
  const int32_t blocks = test_bcsr_blocks(&a);
  bisai_factors *factors = factorise_take(context, &a, 1);
  const int32_t *l_ptr, *l_idx;
  bisai_bcsr_arrays(bisai_factors_lower(factors), &l_ptr, &l_idx, NULL);
  int refused = 0;
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
      const int32_t before = a.col_idx[q];
      for (int32_t j = 0; j < a.block_cols; j++) { /* one block moves to column j */
        if (before == i || test_bcsr_block(&a, i, j)) continue;
        a.col_idx[q] = j;
        bisai_bcsr *moved = test_bcsr_make(context, &a);
        EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, moved));
        EXPECT_MESSAGE(context, "the pattern changed: other block columns than at creation");
        bisai_bcsr_destroy(&moved);
        a.col_idx[q] = before;
        refused++;
      }
    }
  assert_true(refused > 100);
  /* a block moves to the next or the last row */
  a.row_ptr[6]--;
  bisai_bcsr *shifted = test_bcsr_make(context, &a);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, shifted));
  bisai_bcsr_destroy(&shifted);
  a.row_ptr[6]++;
  bisai_bcsr *complete = test_bcsr_take(context, random_matrix(12, 1, 60, 1));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, complete));
  bisai_bcsr_destroy(&complete);
  bisai_bcsr *same = test_bcsr_make(context, &a);
  EXPECT_OK(context, bisai_factors_update(factors, same));
  assert_int_equal(bisai_bcsr_blocks(same), blocks);
  bisai_bcsr_destroy(&same);
  bisai_factors_destroy(&factors);
  test_bcsr_free(&a);
}

static void threads_give_the_same_bits(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    /* few levels of many rows: they run in parallel */
    test_bcsr a = random_matrix(3000, bs, 0.4, (uint64_t)bs);
    bisai_context *contexts[2] = {test_context(1), test_context(5)};
    bisai_factors *factors[2];
    for (int t = 0; t < 2; t++) factors[t] = factorise_take(contexts[t], &a, 2);
    expect_same_factors(factors[0], factors[1]);
    for (int t = 0; t < 2; t++) {
      bisai_factors_destroy(&factors[t]);
      bisai_context_destroy(&contexts[t]);
    }
    test_bcsr_free(&a);
  }
}

static void sizes_0_and_1_are_legal(void **state) {
  (void)state;
  for (int32_t n = 0; n < 2; n++)
    for (int level = 0; level < 3; level++) {
      test_bcsr a = test_bcsr_grid(n, 1, 2, 1);
      bisai_factors *factors = factorise_take(context, &a, level);
      assert_int_equal(bisai_bcsr_blocks(bisai_factors_lower(factors)), 0);
      assert_int_equal(bisai_bcsr_blocks(bisai_factors_upper(factors)), n);
      bisai_factors_destroy(&factors);
      test_bcsr_free(&a);
    }
}

/* More blocks than an index counts would need gigabytes, so that the limit is an argument
 * inside. */
static bisai_status reserve(const bisai_bcsr *matrix, int level, int32_t blocks, double visits,
                            bisai_factors *made) {
  const bsi_fill_limit limit = {.blocks = blocks, .visits = visits};
  return bsi_factors_reserve(context, matrix, level, false, &limit, made);
}

static void too_many_blocks_are_refused_by_row(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 6, 1, 1));
  bisai_factors *factors = factorise(context, matrix, 3);
  const int32_t lower = bisai_bcsr_blocks(bisai_factors_lower(factors)),
                upper = bisai_bcsr_blocks(bisai_factors_upper(factors));
  assert_true(upper > lower);
  char expected[96];
  bisai_factors made = {.context = context};
  EXPECT_OK(context, reserve(matrix, 3, upper, INFINITY, &made));
  assert_int_equal(made.upper->blocks, upper);
  bisai_bcsr_destroy(&made.lower);
  bisai_bcsr_destroy(&made.upper);
  context->backend->memory->release(context, made.ilu.lower_fill);
  context->backend->memory->release(context, made.ilu.upper_fill);
  made = (bisai_factors){.context = context};
  EXPECT_STATUS(context, BISAI_INDEX_OVERFLOW, reserve(matrix, 3, upper - 1, INFINITY, &made));
  snprintf(expected, sizeof expected, "block row 35: U of ILU(3) has more than %d blocks",
           upper - 1);
  EXPECT_MESSAGE(context, expected);
  EXPECT_STATUS(context, BISAI_INDEX_OVERFLOW, reserve(matrix, 3, 2, INFINITY, &made));
  EXPECT_MESSAGE(context, "block row 0: U of ILU(3) has more than 2 blocks");
  EXPECT_STATUS(context, BISAI_INDEX_OVERFLOW, reserve(matrix, 3, upper, 20, &made));
  EXPECT_IN_MESSAGE(context, ": ILU(3) takes more than 20 steps to find its blocks");
  assert_null(made.lower);
  assert_null(made.upper);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);

  test_shape shape = test_shape_square(40, 2, 7);
  shape.part = TEST_LOWER;
  shape.blocks_per_row = 6.0;
  bisai_bcsr *triangle = test_bcsr_take(context, test_bcsr_random(shape));
  const int32_t all = bisai_bcsr_blocks(triangle) - 40;
  EXPECT_STATUS(context, BISAI_INDEX_OVERFLOW, reserve(triangle, 0, all - 1, INFINITY, &made));
  EXPECT_IN_MESSAGE(context, ": L of ILU(0) has more than ");
  bisai_bcsr_destroy(&triangle);
}

static void bad_levels_are_refused(void **state) {
  (void)state;
  bisai_factors *factors = NULL;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 2, 1));
  bisai_factor_options options = bisai_factor_options_default();
  assert_int_equal(options.level, 0);
  options.level = -1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_create(context, matrix, &options, &factors));
  EXPECT_MESSAGE(context, "level -1: at least 0 is needed");
  assert_null(factors);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pattern_and_values_are_those_of_the_definition),
      cmocka_unit_test(many_random_patterns_are_those_of_the_definition),
      cmocka_unit_test(large_levels_give_complete_factors),
      cmocka_unit_test(arrows_fill_as_known),
      cmocka_unit_test(update_equals_a_fresh_factorisation_and_allocates_nothing),
      cmocka_unit_test(update_refuses_other_patterns),
      cmocka_unit_test(threads_give_the_same_bits),
      cmocka_unit_test(sizes_0_and_1_are_legal),
      cmocka_unit_test(too_many_blocks_are_refused_by_row),
      cmocka_unit_test(bad_levels_are_refused),
  };
  return cmocka_run_group_tests_name("factor_levels", tests, setup, teardown);
}
