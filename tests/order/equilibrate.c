/* SPDX-License-Identifier: BSD-3-Clause */
/* Equilibration inside a preconditioner. */
#include "reordered.h"

/* Powers of two round nothing, and dominant blocks have the same pivots before and after. */
static void equilibration_keeps_every_bit_in_fp64(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    const int32_t n = bs * ROWS;
    bisai_bcsr *matrix = test_bcsr_take(context, badly_scaled(bs, (uint64_t)bs));
    double *v = test_random_vector(MANY * n, 1), *x = test_random_vector(MANY * n, 2),
           *y = test_random_vector(MANY * n, 3);
    for (int kind = 0; kind < KINDS; kind++) {
      bisai_precond_options options = options_of(kinds[kind]);
      options.factor.ordering = bs % 2 ? BISAI_ORDERING_COLOUR : BISAI_ORDERING_NATURAL;
      bisai_precond *plain = test_precond_with(context, matrix, &options);
      options.factor.equilibrate = true;
      bisai_precond *equilibrated = test_precond_with(context, matrix, &options);
      EXPECT_OK(context, bisai_precond_apply_many(plain, MANY, v, n, x, n));
      EXPECT_OK(context, bisai_precond_apply_many(equilibrated, MANY, v, n, y, n));
      assert_memory_equal(x, y, MANY * (size_t)n * sizeof *x);
      bisai_precond_destroy(&plain);
      bisai_precond_destroy(&equilibrated);
    }
    free(v), free(x), free(y);
    bisai_bcsr_destroy(&matrix);
  }
}

static double magnitude(const double *block, int32_t values) {
  double largest = 0.0;
  for (int32_t v = 0; v < values; v++) largest = fmax(largest, fabs(block[v]));
  return largest;
}

/* Whichever block row comes first stands in U as it is in Dr A Dc. */
static void equilibrated_rows_have_largest_values_near_one(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 4; bs++) {
    bisai_bcsr *matrix = test_bcsr_take(context, badly_scaled(bs, 20 + (uint64_t)bs));
    bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
    options.factor.equilibrate = true;
    for (int32_t row = 0; row < ROWS; row++) {
      int32_t permutation[ROWS];
      for (int32_t i = 0; i < ROWS; i++) permutation[i] = i == 0 ? row : i - (i <= row);
      options.factor.ordering = BISAI_ORDERING_GIVEN;
      options.factor.permutation = permutation;
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      const int32_t *row_ptr;
      const void *values;
      bisai_bcsr_arrays(bisai_factors_upper(bisai_precond_factors(precond)), &row_ptr, NULL,
                        &values);
      const double largest = magnitude(values, row_ptr[1] * bs * bs);
      assert_true(largest >= 0.25 && largest < 2.0);
      const bisai_precond_report report = test_report_of(context, precond);
      assert_true(report.factor.equilibrated);
      assert_true(report.factor.smallest_scale < 1e-3 && report.factor.largest_scale > 1e3);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

/* diag(4, 1/16): exponents 3 and −3; each side takes back half of that, rounded towards 0. */
static void equilibration_of_a_diagonal_by_hand(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(2, 1, 4.0, 0.0);
  *test_bcsr_block(&a, 1, 1) = 0.0625;
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.equilibrate = true;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report report = test_report_of(context, precond);
  EXPECT_NEAR(0.5, report.factor.smallest_scale, 0.0);
  EXPECT_NEAR(2.0, report.factor.largest_scale, 0.0);
  const double v[] = {1.0, 1.0};
  double z[2];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  EXPECT_NEAR(0.25, z[0], 0.0);
  EXPECT_NEAR(16.0, z[1], 0.0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void equilibration_saves_the_range_of_fp16(void **state) {
  (void)state;
  const int32_t n = 3 * ROWS;
  bisai_bcsr *matrix = test_bcsr_take(context, badly_scaled(3, 5));
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  bisai_precond *exact = test_precond_with(context, matrix, &options), *narrow = NULL;
  options.isai.storage = BISAI_FP16;
  EXPECT_STATUS(context, BISAI_OVERFLOW, bisai_precond_create(context, matrix, &options, &narrow));
  assert_null(narrow);
  options.factor.equilibrate = true;
  narrow = test_precond_with(context, matrix, &options);
  /* each result against its own size: rows of z differ by 1e12 and more */
  double *v = test_random_vector(n, 1), *x = test_random_vector(n, 2),
         *y = test_random_vector(n, 3);
  EXPECT_OK(context, bisai_precond_apply(exact, v, x));
  EXPECT_OK(context, bisai_precond_apply(narrow, v, y));
  double worst = 0.0;
  for (int32_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i] - y[i]) / (fabs(x[i]) + 1e-300));
  assert_true(worst < 0.5); /* eps of fp16 is 1e-3; cancellation in a component costs some of it */
  free(v), free(x), free(y);
  bisai_precond_destroy(&exact);
  bisai_precond_destroy(&narrow);
  bisai_bcsr_destroy(&matrix);
}

static void bcsstk16_fits_fp16_equilibrated(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_matrix_read(context, "bcsstk16", 3);
  bisai_precond_options options = options_of(BISAI_PRECOND_ISAI);
  options.isai.storage = BISAI_FP16;
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_OVERFLOW, bisai_precond_create(context, matrix, &options, &precond));
  options.factor.equilibrate = true;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void zero_rows_and_columns_are_named(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 3, 2, 1);
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.equilibrate = true;
  options.factor.ordering = BISAI_ORDERING_RCM;
  bisai_precond *precond = NULL;
  for (int32_t p = a.row_ptr[7]; p < a.row_ptr[8]; p++)
    memset(a.values + 4 * p, 0, 4 * sizeof *a.values);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 7 is zero: it cannot be equilibrated");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
  a = test_bcsr_grid(4, 3, 2, 1);
  for (int32_t i = 0; i < 12; i++) {
    double *block = test_bcsr_block(&a, i, 5);
    if (block) memset(block, 0, 4 * sizeof *block);
  }
  matrix = test_bcsr_take(context, a);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block column 5 is zero: it cannot be equilibrated");
  assert_null(precond);
  bisai_bcsr_destroy(&matrix);
  /* one scalar row of zeros keeps the factor 1; that its block is singular the factorisation
   * says */
  a = test_bcsr_grid(4, 3, 2, 1);
  for (int32_t p = a.row_ptr[7]; p < a.row_ptr[8]; p++) a.values[4 * p] = a.values[4 * p + 2] = 0.0;
  matrix = test_bcsr_take(context, a);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 7: the diagonal block is singular");
  bisai_bcsr_destroy(&matrix);
}

/* Subnormal and huge values: factors stop at 2^±500. */
static void extreme_values_do_not_overflow_the_scaling(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(3, 1, 1.0, 0.0);
  *test_bcsr_block(&a, 0, 0) = 1e300;
  *test_bcsr_block(&a, 2, 2) = 0x1p-1070;
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.equilibrate = true;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report report = test_report_of(context, precond);
  EXPECT_NEAR(0x1p-498, report.factor.smallest_scale, 0.0); /* 1e300 < 2^997: 997 / 2 */
  EXPECT_NEAR(0x1p500, report.factor.largest_scale, 0.0);
  const double v[] = {1e300, 1.0, 0.0};
  double z[3];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  EXPECT_NEAR(1.0, z[0], 4e-16);
  EXPECT_NEAR(0.0, z[2], 0.0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equilibration_keeps_every_bit_in_fp64),
      cmocka_unit_test(equilibrated_rows_have_largest_values_near_one),
      cmocka_unit_test(equilibration_of_a_diagonal_by_hand),
      cmocka_unit_test(equilibration_saves_the_range_of_fp16),
      cmocka_unit_test(zero_rows_and_columns_are_named),
      cmocka_unit_test(extreme_values_do_not_overflow_the_scaling),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(bcsstk16_fits_fp16_equilibrated),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(
        cmocka_run_group_tests_name("equilibrate_real", real, setup, teardown));
  return cmocka_run_group_tests_name("equilibrate", tests, setup, teardown);
}
