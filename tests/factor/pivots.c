/* SPDX-License-Identifier: BSD-3-Clause */
/* Static pivots of block ILU: which blocks are small, what they become, and what stays. */
#include "fixture.h"

#include <math.h>

static bisai_factor_options with_pivots(double least_pivot) {
  bisai_factor_options options = bisai_factor_options_default();
  options.least_pivot = least_pivot;
  return options;
}

static bisai_factors *factorise(const test_bcsr *a, const bisai_factor_options *options) {
  bisai_factors *factors = NULL;
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  EXPECT_OK(context, bisai_factors_create(context, matrix, options, &factors));
  bisai_bcsr_destroy(&matrix);
  return factors;
}

static const double *diagonal_of_upper(const bisai_factors *factors, int32_t i) {
  const int32_t *row_ptr, bs = bisai_bcsr_block_size(bisai_factors_upper(factors));
  const void *values;
  bisai_bcsr_arrays(bisai_factors_upper(factors), &row_ptr, NULL, &values);
  return (const double *)values + (size_t)row_ptr[i] * (size_t)(bs * bs);
}

/* Rows of sum 1 and a pivot d: below 1e-3 it becomes d ± 1e-3, by its sign. */
static void small_pivots_are_enlarged_and_keep_their_sign(void **state) {
  (void)state;
  static const double pivots[] = {0.25, 1e-4, -1e-4, 0.0, -0.25, 2e-3},
                      enlarged[] = {0.25, 1.1e-3, -1.1e-3, 1e-3, -0.25, 2e-3};
  enum { N = sizeof pivots / sizeof *pivots };
  const bisai_factor_options options = with_pivots(1e-3);
  test_bcsr a = test_bcsr_tridiagonal(N + 1, 1, 1.0, 0.0);
  for (int32_t i = 0; i < N; i++) {
    *test_bcsr_block(&a, i, i) = pivots[i];
    *test_bcsr_block(&a, i, i + 1) = 1.0 - fabs(pivots[i]);
  }
  bisai_factors *factors = factorise(&a, &options);
  int32_t first = -1;
  assert_int_equal(bisai_factors_repairs(factors, &first), 3);
  assert_int_equal(first, 1);
  for (int32_t i = 0; i < N; i++) EXPECT_NEAR(enlarged[i], *diagonal_of_upper(factors, i), 1e-18);
  bisai_factors_destroy(&factors);
  test_bcsr_free(&a);
}

/* A block that is singular up to rounding errors: its last column is the sum of the others, or
 * almost zero. */
static void spoil(test_bcsr *a, int32_t i) {
  const int32_t bs = a->block_size;
  double *block = test_bcsr_block(a, i, i), *last = block + (bs - 1) * bs;
  for (int32_t r = 0; r < bs; r++) {
    last[r] = 1e-13 * (r + 1);
    for (int32_t c = 0; c + 1 < bs; c++) last[r] += block[c * bs + r];
  }
}

static double largest_row_sum(const test_bcsr *a, int32_t i) {
  const int32_t bs = a->block_size;
  double largest = 0.0;
  for (int32_t r = 0; r < bs; r++) {
    double sum = 0.0;
    for (int32_t q = a->row_ptr[i] * bs * bs + r; q < a->row_ptr[i + 1] * bs * bs; q += bs)
      sum += fabs(a->values[q]);
    largest = fmax(largest, sum);
  }
  return largest;
}

static void inverses_of_small_blocks_are_bounded(void **state) {
  (void)state;
  static const double least = 1e-6;
  const bisai_factor_options options = with_pivots(least), plain = with_pivots(0.0);
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr a = test_bcsr_grid(9, 1, bs, (uint64_t)bs);
    spoil(&a, 0); /* nothing is eliminated in row 0; blocks of later rows change */
    bisai_factors *factors = factorise(&a, &options), *unrepaired = factorise(&a, &plain);
    assert_true(bisai_factors_largest_condition(unrepaired, NULL) > (bs == 1 ? 0.0 : 1e9));
    assert_true(bisai_factors_repairs(factors, NULL) >= 1);
    assert_int_equal(bisai_factors_repairs(unrepaired, NULL), 0);
    for (int32_t i = 0; i < 9; i++) {
      const double *inverse = bisai_factors_inverse_diagonal(factors) + i * bs * bs;
      assert_true(test_dense_norm1(bs, bs, inverse) * least * largest_row_sum(&a, i) <= 10.0);
      double *product = test_dense_multiply(bs, bs, bs, diagonal_of_upper(factors, i), inverse),
             *identity = test_dense_identity(bs);
      EXPECT_CLOSE(bs * bs, identity, product, 1e-8); /* κ up to 1e7 */
      free(product), free(identity);
    }
    bisai_factors_destroy(&factors);
    bisai_factors_destroy(&unrepaired);
    test_bcsr_free(&a);
  }
}

/* diag(2, −0.999) s + s I is nearly singular again: ten times that is taken. */
static void a_shift_that_does_not_help_grows_tenfold(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 1};
  double values[12] = {0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1};
  test_bcsr a = {2, 2, 2, row_ptr, col_idx, values};
  const double s = 1e-4;
  values[0] = 2.0 * s;
  values[3] = -0.999 * s;
  const bisai_factor_options options = with_pivots(s / (1.0 + 2.0 * s)); /* least_pivot·ρ = s */
  bisai_factors *factors = factorise(&a, &options);
  assert_int_equal(bisai_factors_repairs(factors, NULL), 1);
  EXPECT_NEAR(12.0 * s, diagonal_of_upper(factors, 0)[0], 1e-15);
  EXPECT_NEAR(9.001 * s, diagonal_of_upper(factors, 0)[3], 1e-15);
  bisai_factors_destroy(&factors);
}

static void a_shift_gives_its_own_amount(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 1};
  double values[] = {1e-9, 1, 1};
  test_bcsr a = {2, 2, 1, row_ptr, col_idx, values};
  bisai_factor_options options = with_pivots(1e-8);
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.5;
  bisai_factors *factors = factorise(&a, &options);
  assert_int_equal(bisai_factors_repairs(factors, NULL), 1);
  EXPECT_NEAR(0.5, *diagonal_of_upper(factors, 0), 2e-9);
  bisai_factors_destroy(&factors);
}

/* The same bits as without the option; a diagonal block that is not stored counts as zeros. */
static void pivots_that_are_large_enough_are_not_touched(void **state) {
  (void)state;
  const bisai_factor_options options = with_pivots(1e-8), plain = with_pivots(0.0);
  for (int32_t bs = 1; bs <= 6; bs++) {
    test_bcsr a = test_bcsr_grid(6, 6, bs, 1);
    bisai_factors *factors = factorise(&a, &options), *expected = factorise(&a, &plain);
    assert_int_equal(bisai_factors_repairs(factors, NULL), 0);
    test_expect_same(bisai_factors_upper(expected), bisai_factors_upper(factors));
    test_expect_same(bisai_factors_lower(expected), bisai_factors_lower(factors));
    bisai_factors_destroy(&factors);
    bisai_factors_destroy(&expected);
    test_bcsr_free(&a);
  }
  int32_t row_ptr[] = {0, 1, 2}, col_idx[] = {1, 1};
  double values[] = {4, 1};
  test_bcsr missing = {2, 2, 1, row_ptr, col_idx, values};
  bisai_factors *factors = factorise(&missing, &options);
  EXPECT_NEAR(4e-8, *diagonal_of_upper(factors, 0), 1e-20);
  bisai_factors_destroy(&factors);
}

static void every_kind_with_factors_takes_pivots(void **state) {
  (void)state;
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                             BISAI_PRECOND_SWEEPS};
  test_bcsr a = test_bcsr_grid(5, 1, 2, 1);
  spoil(&a, 0);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = kinds[k];
    options.factor.least_pivot = 1e-4;
    bisai_precond *m = NULL;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &m));
    const bisai_precond_report report = test_report_of(context, m);
    assert_int_equal(report.repairs, 1);
    assert_int_equal(report.first_repair_row, 0);
    assert_true(strstr(bisai_precond_describe(m), " pivots=0.0001") != NULL);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&matrix);
}

static void shares_outside_their_range_are_refused(void **state) {
  (void)state;
  static const struct {
    double least;
    const char *message;
  } bad[] = {{-1e-8, "least_pivot -1e-08: must be from 0 to 1"},
             {1.5, "least_pivot 1.5: must be from 0 to 1"},
             {INFINITY, "least_pivot inf: must be from 0 to 1"}};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 2, 1));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    bisai_factors *factors = NULL;
    const bisai_factor_options options = with_pivots(bad[i].least);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_factors_create(context, matrix, &options, &factors));
    EXPECT_MESSAGE(context, bad[i].message);
    assert_null(factors);
    bisai_precond *precond = NULL;
    bisai_precond_options whole = bisai_precond_options_default();
    whole.kind = BISAI_PRECOND_ISAI;
    whole.factor.least_pivot = bad[i].least;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, matrix, &whole, &precond));
    EXPECT_MESSAGE(context, bad[i].message);
    assert_null(precond);
  }
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_pivots_are_enlarged_and_keep_their_sign),
      cmocka_unit_test(inverses_of_small_blocks_are_bounded),
      cmocka_unit_test(a_shift_that_does_not_help_grows_tenfold),
      cmocka_unit_test(a_shift_gives_its_own_amount),
      cmocka_unit_test(pivots_that_are_large_enough_are_not_touched),
      cmocka_unit_test(every_kind_with_factors_takes_pivots),
      cmocka_unit_test(shares_outside_their_range_are_refused),
  };
  return cmocka_run_group_tests_name("factor_pivots", tests, setup, teardown);
}
