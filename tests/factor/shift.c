/* SPDX-License-Identifier: BSD-3-Clause */
/* Shifts of singular diagonal blocks, in block ILU and block-Jacobi: what is added, counted and
 * named, and that nothing else changes. */
#include "fixture.h"

#include <math.h>

static bisai_factor_options shifted(double amount, int level) {
  bisai_factor_options options = bisai_factor_options_default();
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = amount;
  options.level = level;
  return options;
}

static bisai_factors *factorise(bisai_context *c, const test_bcsr *a, double amount, int level) {
  const bisai_factor_options options = shifted(amount, level);
  bisai_factors *factors = NULL;
  bisai_bcsr *matrix = test_bcsr_make(c, a);
  EXPECT_OK(c, bisai_factors_create(c, matrix, &options, &factors));
  bisai_bcsr_destroy(&matrix);
  return factors;
}

static const double *diagonal_of_upper(const bisai_factors *factors, int32_t i) {
  const int32_t *row_ptr, bs = bisai_bcsr_block_size(bisai_factors_upper(factors));
  const void *values;
  bisai_bcsr_arrays(bisai_factors_upper(factors), &row_ptr, NULL, &values);
  return (const double *)values + (size_t)row_ptr[i] * (size_t)(bs * bs);
}

/* Block tridiagonal of dominant blocks; the diagonal blocks of rows 0 and 2 lose their first
 * column, those of row 2 its neighbours too. */
static test_bcsr with_singular_rows(int32_t bs) {
  test_bcsr a = test_bcsr_grid(5, 1, bs, (uint64_t)bs);
  const size_t area = (size_t)(bs * bs) * sizeof(double);
  memset(test_bcsr_block(&a, 0, 0), 0, (size_t)bs * sizeof(double));
  memset(test_bcsr_block(&a, 2, 2), 0, (size_t)bs * sizeof(double));
  memset(test_bcsr_block(&a, 2, 1), 0, area);
  return a;
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

/* U's block is A's with the documented amount on its diagonal, in rows that nothing is eliminated
 * in. */
static void the_documented_amount_is_added_to_singular_blocks(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr a = with_singular_rows(bs);
    static const double amounts[] = {0.01, 1e-6, 3.0};
    for (int s = 0; s < 3; s++) {
      bisai_factors *factors = factorise(context, &a, amounts[s], 0);
      int32_t first = -1;
      assert_int_equal(bisai_factors_repairs(factors, &first), 2);
      assert_int_equal(first, 0);
      assert_int_equal(bisai_factors_repairs(factors, NULL), 2);
      for (int32_t i = 0; i < 3; i += 2) {
        double expected[81];
        memcpy(expected, test_bcsr_block(&a, i, i), (size_t)(bs * bs) * sizeof(double));
        for (int32_t r = 0; r < bs; r++)
          expected[r * (bs + 1)] += amounts[s] * largest_row_sum(&a, i);
        EXPECT_CLOSE(bs * bs, expected, diagonal_of_upper(factors, i),
                     1e-14 * largest_row_sum(&a, i));
        double *product = test_dense_multiply(bs, bs, bs, expected,
                                              bisai_factors_inverse_diagonal(factors) +
                                                  (size_t)(i * bs * bs)),
               *identity = test_dense_identity(bs);
        EXPECT_CLOSE(bs * bs, identity, product, 1e-7); /* κ up to 1e7 with the smallest amount */
        free(product);
        free(identity);
      }
      bisai_factors_destroy(&factors);
    }
    test_bcsr_free(&a);
  }
}

/* The same bits with a shift that has nothing to do. */
static void regular_blocks_are_not_touched(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 6, 3, 1);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_factors *plain = NULL, *factors = factorise(context, &a, 0.5, 0);
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &plain));
  int32_t first = 7;
  assert_int_equal(bisai_factors_repairs(factors, &first), 0);
  assert_int_equal(first, -1);
  for (int32_t i = 0; i < 36; i++)
    assert_memory_equal(diagonal_of_upper(plain, i), diagonal_of_upper(factors, i),
                        9 * sizeof(double));
  bisai_factors_destroy(&factors);
  bisai_factors_destroy(&plain);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* diag(0, −s) + s I is singular too: ten times that is taken. A row of zeros gets the amount
 * itself. */
static void a_shift_that_does_not_help_grows_tenfold(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 3, 4}, col_idx[] = {0, 1, 1, 2};
  double values[16] = {0, 0, 0, 0, 1.98, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1};
  test_bcsr a = {3, 3, 2, row_ptr, col_idx, values};
  const double s = 0.01 * values[4];
  values[3] = -s; /* exactly, so that the first shift gives diag(s, 0) */
  bisai_factors *factors = factorise(context, &a, 0.01, 0);
  assert_int_equal(bisai_factors_repairs(factors, NULL), 2);
  const double *first = diagonal_of_upper(factors, 0), *second = diagonal_of_upper(factors, 1);
  EXPECT_NEAR(10.0 * s, first[0], 1e-15);
  EXPECT_NEAR(9.0 * s, first[3], 1e-15);
  EXPECT_NEAR(0.01, second[0], 0);
  EXPECT_NEAR(0.01, second[3], 0);
  bisai_factors_destroy(&factors);
}

/* U_11 = 1e20·[1 1; 1 1] from a matrix whose rows are of size 1: rounding swallows the shift until
 * it has grown enough. */
static void a_shift_below_rounding_grows_until_it_counts(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  double values[16] = {1e-20, 0, 0, 1, 1, 0, 1, 0, -1, -1, 0, 0, 0, 0, 0, 0};
  test_bcsr a = {2, 2, 2, row_ptr, col_idx, values};
  bisai_factors *factors = factorise(context, &a, 1e-3, 0);
  int32_t row;
  assert_int_equal(bisai_factors_repairs(factors, &row), 1);
  assert_int_equal(row, 1);
  const double *pivot = diagonal_of_upper(factors, 1);
  assert_true(pivot[0] > pivot[1] && pivot[3] > pivot[2]);
  EXPECT_NEAR(1.0, pivot[0] / 1e20, 1e-9);
  bisai_factors_destroy(&factors);
}

/* [D B; C] without its second diagonal block: −C D⁻¹ B stands there after the elimination, and is
 * regular. */
static void missing_diagonal_blocks_count_as_zero(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 3, 4, 5}, col_idx[] = {0, 1, 2, 0, 0};
  double values[20] = {2, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0};
  test_bcsr a = {3, 3, 2, row_ptr, col_idx, values};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_factors *factors = NULL;
  EXPECT_STATUS(context, BISAI_MISSING_DIAGONAL,
                bisai_factors_create(context, matrix, NULL, &factors));
  for (int level = 0; level < 2; level++) {
    factors = factorise(context, &a, 0.25, level);
    int32_t row = -1;
    assert_int_equal(bisai_factors_repairs(factors, &row), 1);
    assert_int_equal(row, 2);
    static const double second[] = {-0.5, 0, 0, -0.5}, third[] = {0.25, 0, 0, 0.25};
    EXPECT_CLOSE(4, second, diagonal_of_upper(factors, 1), 0);
    EXPECT_CLOSE(4, third, diagonal_of_upper(factors, 2), 0);
    assert_int_equal(bisai_bcsr_blocks(bisai_factors_upper(factors)), level == 0 ? 5 : 6);
    EXPECT_OK(context, bisai_factors_update(factors, matrix));
    EXPECT_CLOSE(4, second, diagonal_of_upper(factors, 1), 0);
    EXPECT_CLOSE(4, third, diagonal_of_upper(factors, 2), 0);
    assert_int_equal(bisai_factors_repairs(factors, NULL), 1);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&matrix);
}

/* Repairs in many rows, which several threads share. */
static void repairs_do_not_depend_on_the_threads(void **state) {
  (void)state;
  test_shape shape = test_shape_square(4000, 2, 5);
  shape.blocks_per_row = 0.3;
  test_bcsr a = test_bcsr_random(shape);
  for (int32_t i = 17; i < 4000; i += 13) {
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
      memset(a.values + 4 * (size_t)q, 0, 4 * sizeof(double));
  }
  bisai_factors *factors[2];
  bisai_context *contexts[2] = {test_context(1), test_context(3)};
  for (int t = 0; t < 2; t++) {
    factors[t] = factorise(contexts[t], &a, 0.1, 1);
    int32_t first;
    assert_int_equal(bisai_factors_repairs(factors[t], &first), (4000 - 17 + 12) / 13);
    assert_int_equal(first, 17);
  }
  assert_memory_equal(bisai_factors_inverse_diagonal(factors[0]),
                      bisai_factors_inverse_diagonal(factors[1]), 4000 * 4 * sizeof(double));
  for (int t = 0; t < 2; t++) {
    bisai_factors_destroy(&factors[t]);
    bisai_context_destroy(&contexts[t]);
  }
  test_bcsr_free(&a);
}

/* A shift cannot repair what is not finite, and such rows stay refused. */
static void overflow_is_still_refused(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {0, 0, 1};
  double values[] = {1e-200, 1e200, 1};
  test_bcsr a = {2, 2, 1, row_ptr, col_idx, values};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_factors *factors = NULL;
  const bisai_factor_options options = shifted(0.01, 0);
  EXPECT_STATUS(context, BISAI_NOT_FINITE,
                bisai_factors_create(context, matrix, &options, &factors));
  EXPECT_MESSAGE(context, "block row 1: the factors overflow");
  bisai_bcsr_destroy(&matrix);
}

static void bad_shifts_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 2, 1));
  bisai_factors *factors = NULL;
  bisai_precond *precond = NULL;
  static const struct {
    int shift;
    double amount;
    const char *message;
  } bad[] = {{2, 0.1, "unknown shift 2"},
             {-1, 0.1, "unknown shift -1"},
             {1, 0.0, "shift_amount 0: must be positive and finite"},
             {1, -1.0, "shift_amount -1: must be positive and finite"},
             {1, INFINITY, "shift_amount inf: must be positive and finite"},
             {1, NAN, NULL}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    bisai_factor_options options = shifted(bad[i].amount, 0);
    options.shift = (bisai_shift)bad[i].shift;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_factors_create(context, matrix, &options, &factors));
    if (bad[i].message) EXPECT_MESSAGE(context, bad[i].message);
    bisai_precond_options whole = bisai_precond_options_default();
    whole.kind = BISAI_PRECOND_ISAI;
    whole.shift = options.shift;
    whole.shift_amount = options.shift_amount;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, matrix, &whole, &precond));
    if (bad[i].message) EXPECT_MESSAGE(context, bad[i].message);
  }
  assert_null(factors);
  assert_null(precond);
  bisai_bcsr_destroy(&matrix);
}

static void the_amount_of_no_shift_does_not_matter(void **state) {
  (void)state;
  static const double amounts[] = {0.0, -1.0, INFINITY, NAN};
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 2, 1));
  for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) {
    bisai_factors *factors = NULL;
    bisai_precond *precond = NULL;
    bisai_factor_options options = bisai_factor_options_default();
    bisai_precond_options whole = bisai_precond_options_default();
    whole.kind = BISAI_PRECOND_ISAI;
    options.shift_amount = whole.shift_amount = amounts[i];
    EXPECT_OK(context, bisai_factors_create(context, matrix, &options, &factors));
    EXPECT_OK(context, bisai_precond_create(context, matrix, &whole, &precond));
    bisai_precond_destroy(&precond);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&matrix);
}

/* --- inside preconditioners --- */

static bisai_precond *precondition(const bisai_bcsr *matrix, bisai_precond_kind kind, int level) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  options.kind = kind;
  TEST_SET_OPTION(options, factor.level, level);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

static void every_preconditioner_reports_its_repairs(void **state) {
  (void)state;
  test_bcsr a = with_singular_rows(3);
  bisai_bcsr *matrix = test_bcsr_make(context, &a),
             *regular = test_bcsr_take(context, test_bcsr_grid(5, 1, 3, 1));
  static const struct {
    bisai_precond_kind kind;
    const char *description;
  } cases[] = {
      {BISAI_PRECOND_BJACOBI,
       "bjacobi shift=0.01, 2 diagonal blocks repaired, first in block row 0"},
      {BISAI_PRECOND_ILU, "ilu schedule=auto level=1 shift=0.01, 13 blocks in L + U, 2 diagonal "
                          "blocks repaired, first in "
                          "block row 0"},
      {BISAI_PRECOND_ISAI, "isai k=1 relax=0 storage=fp64 level=1 shift=0.01, 18 blocks, 2 "
                           "diagonal blocks repaired, first in block row 0"},
      {BISAI_PRECOND_SWEEPS, "sweeps n=1 level=1 shift=0.01, 13 blocks in L + U, 2 diagonal blocks "
                             "repaired, first in block row 0"},
  };
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    bisai_precond *precond = precondition(matrix, cases[c].kind, 1);
    bisai_precond_report report = test_report_of(context, precond);
    assert_int_equal(report.repairs, 2);
    assert_int_equal(report.first_repair_row, 0);
    assert_string_equal(bisai_precond_describe(precond), cases[c].description);
    EXPECT_OK(context, bisai_precond_update(precond, regular));
    report = test_report_of(context, precond);
    assert_int_equal(report.repairs, 0);
    assert_int_equal(report.first_repair_row, -1);
    assert_null(strstr(bisai_precond_describe(precond), "repaired"));
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&regular);
  test_bcsr_free(&a);
}

/* Row 1 has no diagonal block: z = v / (0.01·4) there. */
static void block_jacobi_takes_missing_blocks_as_zero(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 0}, both_idx[] = {0, 1, 1};
  double values[] = {2, 1, -4}, v[] = {1, 1}, z[2];
  test_bcsr a = {2, 2, 1, row_ptr, col_idx, values}, other = {2, 2, 1, row_ptr, both_idx, values};
  bisai_bcsr *matrix = test_bcsr_make(context, &a), *moved = test_bcsr_make(context, &other);
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  options.kind = BISAI_PRECOND_BJACOBI;
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  EXPECT_NEAR(0.5, z[0], 0);
  EXPECT_NEAR(25.0, z[1], 1e-14);
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, moved));
  EXPECT_MESSAGE(context, "the pattern changed: block row 1 has its diagonal block elsewhere");
  bisai_precond_destroy(&precond);
  EXPECT_OK(context, bisai_precond_create(context, moved, &options, &precond));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, matrix));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&moved);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_documented_amount_is_added_to_singular_blocks),
      cmocka_unit_test(regular_blocks_are_not_touched),
      cmocka_unit_test(a_shift_that_does_not_help_grows_tenfold),
      cmocka_unit_test(a_shift_below_rounding_grows_until_it_counts),
      cmocka_unit_test(missing_diagonal_blocks_count_as_zero),
      cmocka_unit_test(repairs_do_not_depend_on_the_threads),
      cmocka_unit_test(overflow_is_still_refused),
      cmocka_unit_test(bad_shifts_are_refused),
      cmocka_unit_test(the_amount_of_no_shift_does_not_matter),
      cmocka_unit_test(every_preconditioner_reports_its_repairs),
      cmocka_unit_test(block_jacobi_takes_missing_blocks_as_zero),
  };
  return cmocka_run_group_tests_name("factor_shift", tests, setup, teardown);
}
