/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors that are made anew: updates, thread counts and schedules give the same bits as a fresh
 * serial factorisation. */
#include "fixture.h"

#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_factors *factorise(bisai_context *c, const bisai_bcsr *a) {
  bisai_factors *factors = NULL;
  EXPECT_OK(c, bisai_factors_create(c, a, NULL, &factors));
  return factors;
}

static void expect_same_factors(const bisai_factors *a, const bisai_factors *b) {
  const bisai_bcsr *upper = bisai_factors_upper(a);
  const size_t bs = (size_t)bisai_bcsr_block_size(upper), n = (size_t)bisai_bcsr_block_rows(upper);
  int32_t row_a = -2, row_b = -3;
  test_expect_same(bisai_factors_lower(a), bisai_factors_lower(b));
  test_expect_same(upper, bisai_factors_upper(b));
  assert_memory_equal(bisai_factors_inverse_diagonal(a), bisai_factors_inverse_diagonal(b),
                      n * bs * bs * sizeof(double));
  assert_true(bisai_factors_fallbacks(a) == bisai_factors_fallbacks(b));
  assert_true(bisai_factors_largest_condition(a, &row_a) ==
              bisai_factors_largest_condition(b, &row_b));
  assert_int_equal(row_a, row_b);
}

static void change_values(test_bcsr *a, uint64_t seed) {
  test_random random = test_random_seed(seed);
  const size_t count = (size_t)test_bcsr_blocks(a) * (size_t)(a->block_size * a->block_size);
  for (size_t i = 0; i < count; i++) a->values[i] *= test_random_uniform(&random, 0.9, 1.1);
}

static void update_equals_a_fresh_factorisation_and_allocates_nothing(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *counted = test_context_on(&allocator, 3);
    test_bcsr a = test_bcsr_random(test_shape_square(bs > 4 ? 60 : 1500, bs, (uint64_t)(200 + bs)));
    bisai_bcsr *first = test_bcsr_make(counted, &a);
    change_values(&a, 8);
    bisai_bcsr *second = test_bcsr_make(counted, &a);
    bisai_factors *updated = factorise(counted, first), *fresh = factorise(counted, second);
    double *b = test_random_vector((int64_t)a.block_rows * bs, 1);
    const long long calls = atomic_load(&allocator.calls);
    EXPECT_OK(counted, bisai_factors_update(updated, second));
    assert_int_equal(atomic_load(&allocator.calls), calls);
    EXPECT_OK(counted, bisai_factors_solve(updated, BISAI_SCHEDULE_LEVELS, b, b));
    /* where b is copied */
    if (!test_on_device()) assert_int_equal(atomic_load(&allocator.calls), calls);
    expect_same_factors(updated, fresh);
    EXPECT_OK(counted, bisai_factors_update(updated, first));
    EXPECT_OK(counted, bisai_factors_update(updated, second));
    expect_same_factors(updated, fresh);
    bisai_factors_destroy(&updated);
    bisai_factors_destroy(&fresh);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
    bisai_context_destroy(&counted);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    test_bcsr_free(&a);
    free(b);
  }
}

static void failed_update_is_not_ready_until_one_succeeds(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(5, 5, 3, 2);
  bisai_bcsr *good = test_bcsr_make(context, &a);
  memset(test_bcsr_block(&a, 0, 0), 0, 9 * sizeof(double));
  bisai_bcsr *bad = test_bcsr_make(context, &a);
  bisai_factors *factors = factorise(context, good), *fresh = factorise(context, good);
  double b[75] = {1.0}, x[75], y[75];
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
  EXPECT_MESSAGE(context, "block row 0: the diagonal block is singular");
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, x));
  EXPECT_MESSAGE(context, "the factors' last update failed");
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
  EXPECT_OK(context, bisai_factors_update(factors, good));
  expect_same_factors(factors, fresh);
  EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, x));
  EXPECT_OK(context, bisai_factors_solve(fresh, BISAI_SCHEDULE_AUTO, b, y));
  assert_memory_equal(x, y, sizeof x);
  bisai_factors_destroy(&factors);
  bisai_factors_destroy(&fresh);
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
  test_bcsr_free(&a);
}

static void update_refuses_other_sizes(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(3, 3, 2, 1));
  bisai_bcsr *longer = test_bcsr_take(context, test_bcsr_grid(3, 4, 2, 1));
  bisai_bcsr *coarser = test_bcsr_take(context, test_bcsr_grid(3, 3, 3, 1));
  bisai_bcsr *thinner = test_bcsr_take(context, test_bcsr_grid(9, 1, 2, 1));
  bisai_factors *factors = factorise(context, matrix);
  assert_int_equal(bisai_factors_update(NULL, matrix), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, NULL));
  EXPECT_MESSAGE(context, "bisai_factors_update: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, longer));
  EXPECT_MESSAGE(
      context, "the pattern changed: 12 block rows of size 2 with 46 blocks, expected 9, 2 and 33");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, coarser));
  EXPECT_MESSAGE(
      context, "the pattern changed: 9 block rows of size 3 with 33 blocks, expected 9, 2 and 33");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, thinner));
  EXPECT_MESSAGE(
      context, "the pattern changed: 9 block rows of size 2 with 25 blocks, expected 9, 2 and 33");
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&longer);
  bisai_bcsr_destroy(&coarser);
  bisai_bcsr_destroy(&thinner);
}

static void thread_counts_and_schedules_give_the_same_bits(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 5};
  for (int32_t bs = 1; bs <= 9; bs++) {
    for (int kind = 0; kind < 2; kind++) {
      /* few wide levels, where levels are chosen; a grid has many narrow ones */
      test_bcsr a =
          kind == 0
              ? test_bcsr_random(test_shape_square(bs > 4 ? 1000 : 4000, bs, (uint64_t)(300 + bs)))
              : test_bcsr_grid(20, 15, bs, (uint64_t)bs);
      const int64_t n = (int64_t)a.block_rows * bs;
      double *b = test_random_vector(n, 1), *x = test_random_vector(n, 2), *first_x = NULL;
      bisai_context *contexts[3];
      bisai_factors *factors[3];
      for (size_t t = 0; t < 3; t++) {
        contexts[t] = test_context(threads[t]);
        bisai_bcsr *matrix = test_bcsr_make(contexts[t], &a);
        factors[t] = factorise(contexts[t], matrix);
        bisai_bcsr_destroy(&matrix);
        expect_same_factors(factors[0], factors[t]);
        for (int schedule = BISAI_SCHEDULE_AUTO; schedule <= BISAI_SCHEDULE_LEVELS; schedule++) {
          x[n - 1] = (double)NAN;
          EXPECT_OK(contexts[t], bisai_factors_solve(factors[t], (bisai_schedule)schedule, b, x));
          if (first_x == NULL) {
            first_x = test_random_vector(n, 3);
            memcpy(first_x, x, (size_t)n * sizeof *x);
          }
          assert_memory_equal(first_x, x, (size_t)n * sizeof *x);
        }
      }
      for (size_t t = 0; t < 3; t++) {
        bisai_factors_destroy(&factors[t]);
        bisai_context_destroy(&contexts[t]);
      }
      free(b);
      free(x);
      free(first_x);
      test_bcsr_free(&a);
    }
  }
}

/* Block-diagonal matrix of identities; block 3 is diag(1, 1e-7), block 5 diag(1, 1e-5). */
/* Enough blocks for several threads. */
static void every_number_of_threads_sees_other_patterns_and_missing_diagonals(void **state) {
  (void)state;
  enum { EDGE = 130, ROW = 9000, LATER = 15000 };
  test_bcsr a = test_bcsr_grid(EDGE, EDGE, 1, 5);
  for (int threads = 1; threads <= 8; threads++) {
    bisai_context *own = test_context(threads);
    bisai_bcsr *matrix = test_bcsr_make(own, &a);
    bisai_factors *factors = factorise(own, matrix), *none = NULL;
    EXPECT_OK(own, bisai_factors_update(factors, matrix));
    int32_t *last = a.col_idx + a.row_ptr[ROW + 1] - 1;
    --*last;
    bisai_bcsr *other = test_bcsr_make(own, &a);
    ++*last;
    EXPECT_STATUS(own, BISAI_INVALID_ARGUMENT, bisai_factors_update(factors, other));
    EXPECT_MESSAGE(own, "the pattern changed: other block columns than at creation");
    for (int32_t row = ROW; row <= LATER; row += LATER - ROW)
      for (int32_t p = a.row_ptr[row] + 1; p < a.row_ptr[row] + 3; p++) a.col_idx[p]--;
    bisai_bcsr *hollow = test_bcsr_make(own, &a);
    for (int32_t row = ROW; row <= LATER; row += LATER - ROW)
      for (int32_t p = a.row_ptr[row] + 1; p < a.row_ptr[row] + 3; p++) a.col_idx[p]++;
    EXPECT_STATUS(own, BISAI_MISSING_DIAGONAL, bisai_factors_create(own, hollow, NULL, &none));
    EXPECT_MESSAGE(own, "block row 9000 has no diagonal block");
    assert_null(none);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&other);
    bisai_bcsr_destroy(&hollow);
    bisai_context_destroy(&own);
  }
  test_bcsr_free(&a);
}

static void fallbacks_and_the_largest_condition_are_reported(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(8, 2, 1.0, 0.0);
  test_bcsr_block(&a, 3, 3)[3] = 1e-7;
  test_bcsr_block(&a, 5, 5)[3] = 1e-5;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_factors *factors = factorise(context, matrix);
  int32_t row = -1;
  EXPECT_NEAR(1.0, bisai_factors_largest_condition(factors, &row) / 1e7, 1e-14);
  assert_int_equal(row, 3);
  assert_true(bisai_factors_largest_condition(factors, NULL) > 1.0);
  assert_int_equal(bisai_factors_fallbacks(factors), 1);
  test_bcsr_block(&a, 3, 3)[3] = 1.0;
  bisai_bcsr *better = test_bcsr_make(context, &a);
  EXPECT_OK(context, bisai_factors_update(factors, better));
  EXPECT_NEAR(1.0, bisai_factors_largest_condition(factors, &row) / 1e5, 1e-14);
  assert_int_equal(row, 5);
  assert_int_equal(bisai_factors_fallbacks(factors), 0);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&better);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(update_equals_a_fresh_factorisation_and_allocates_nothing),
      cmocka_unit_test(failed_update_is_not_ready_until_one_succeeds),
      cmocka_unit_test(update_refuses_other_sizes),
      cmocka_unit_test(thread_counts_and_schedules_give_the_same_bits),
      cmocka_unit_test(every_number_of_threads_sees_other_patterns_and_missing_diagonals),
      cmocka_unit_test(fallbacks_and_the_largest_condition_are_reported),
  };
  return cmocka_run_group_tests_name("factor_update", tests, setup, teardown);
}
