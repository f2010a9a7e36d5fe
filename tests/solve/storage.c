/* SPDX-License-Identifier: BSD-3-Clause */
/* How NL and NU are stored: the nearest value of the type, and what does not fit is an error. */
#include "fixture.h"
#include "isai.h"

#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static const double *blocks_of(const bisai_bcsr *matrix) {
  const void *values;
  bisai_bcsr_arrays(matrix, NULL, NULL, &values);
  return values;
}

/* The stored value is the nearest to x; where its neighbour is as near, its last bit is even. */
static void expect_nearest(bisai_value_type type, const void *values, size_t i, double x) {
  if (type == BISAI_FP32) {
    assert_true(((const float *)values)[i] == (float)x);
    return;
  }
  const uint16_t bits = ((const uint16_t *)values)[i];
  const double error = fabs(test_value(type, &bits, 0) - x);
  for (int step = -1; step <= 1; step += 2) {
    if ((bits & 0x7fff) == 0 && step < 0) continue;
    const uint16_t neighbour = (uint16_t)(bits + step);
    const double other = fabs(test_value(type, &neighbour, 0) - x);
    assert_true(error < other || (error <= other && (bits & 1) == 0));
  }
}

static void narrow_storage_holds_the_nearest_values(void **state) {
  (void)state;
  static const bisai_value_type types[] = {BISAI_FP32, BISAI_FP16, BISAI_BF16};
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(40, bs, (uint64_t)(200 + bs))));
    bisai_precond *wide = test_isai_of(context, matrix, NULL, 3, BISAI_FP64);
    for (size_t t = 0; t < 3; t++) {
      bisai_precond *narrow = test_isai_of(context, matrix, NULL, 3, types[t]);
      for (int triangle = BISAI_LOWER; triangle <= BISAI_UPPER; triangle++) {
        const bisai_bcsr *n = test_inverse_of(narrow, (bisai_triangle)triangle);
        const double *exact = blocks_of(test_inverse_of(wide, (bisai_triangle)triangle));
        const void *values;
        bisai_bcsr_arrays(n, NULL, NULL, &values);
        assert_int_equal(bisai_bcsr_value_type(n), types[t]);
        for (size_t i = 0; i < (size_t)bisai_bcsr_blocks(n) * (size_t)(bs * bs); i++)
          expect_nearest(types[t], values, i, exact[i]);
      }
      bisai_precond_destroy(&narrow);
    }
    bisai_precond_destroy(&wide);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Block-diagonal matrix whose block `row` is `value`·I: NU's block is I/value. */
static bisai_bcsr *diagonal_with(int32_t n, int32_t bs, int32_t row, double value) {
  test_bcsr arrays = test_bcsr_tridiagonal(n, bs, 1.0, 0.0);
  int32_t p = arrays.row_ptr[row];
  while (arrays.col_idx[p] != row) p++;
  for (int32_t r = 0; r < bs; r++)
    arrays.values[(size_t)p * (size_t)(bs * bs) + (size_t)(r * bs + r)] = value;
  return test_bcsr_take(context, arrays);
}

static void expect_refused_storage(bisai_bcsr *matrix, bisai_value_type storage,
                                   bisai_status status, const char *message) {
  bisai_precond *const untouched = (bisai_precond *)(uintptr_t)64;
  bisai_precond *precond = untouched;
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.storage = storage;
  EXPECT_STATUS(context, status, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(precond, untouched);
}

static void overflow_on_narrowing_names_the_block(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    bisai_bcsr *matrix = diagonal_with(200, bs, 137, 1e-5);
    bisai_precond *precond = test_isai_of(context, matrix, NULL, 1, BISAI_BF16);
    bisai_precond_destroy(&precond);
    expect_refused_storage(matrix, BISAI_FP16, BISAI_OVERFLOW,
                           "NU: block (137, 137) does not fit its storage type");
    bisai_bcsr_destroy(&matrix);
    matrix = diagonal_with(200, bs, 61, 1e-39);
    expect_refused_storage(matrix, BISAI_FP32, BISAI_OVERFLOW,
                           "NU: block (61, 61) does not fit its storage type");
    expect_refused_storage(matrix, BISAI_BF16, BISAI_OVERFLOW,
                           "NU: block (61, 61) does not fit its storage type");
    precond = test_isai_of(context, matrix, NULL, 1, BISAI_FP64);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

/* The largest half is 65504; 65520 is the first double that rounds beyond it. */
static void the_largest_half_is_stored_and_the_next_is_not(void **state) {
  (void)state;
  int32_t l_ptr[] = {0, 0, 1}, l_idx[] = {0};
  for (int beyond = 0; beyond < 2; beyond++) {
    double entry = beyond == 0 ? -65519.0 : -65520.0; /* NL = [1; −entry 1] */
    bisai_bcsr *lower = test_bcsr_make(context, &(test_bcsr){2, 2, 1, l_ptr, l_idx, &entry}),
               *upper = test_bcsr_take(context, test_bcsr_diagonal(2, (double[]){1.0, 1.0}));
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = BISAI_PRECOND_ISAI;
    options.factor.factors = factors;
    options.isai.storage = BISAI_FP16;
    bisai_precond *precond = NULL;
    const bisai_status status = bisai_precond_create(context, upper, &options, &precond);
    if (beyond == 0) {
      EXPECT_OK(context, status);
      const void *values;
      bisai_bcsr_arrays(bisai_precond_lower_inverse(precond), NULL, NULL, &values);
      assert_int_equal(((const uint16_t *)values)[1], 0x7bff);
      bisai_precond_destroy(&precond);
    } else {
      EXPECT_STATUS(context, BISAI_OVERFLOW, status);
      EXPECT_MESSAGE(context, "NL: block (1, 0) does not fit its storage type");
      assert_null(precond);
    }
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&lower);
    bisai_bcsr_destroy(&upper);
  }
}

/* U = [1e-200 1e200; 0 1e-200]: NU's corner would be −1e600. */
static void values_beyond_doubles_are_not_finite(void **state) {
  (void)state;
  int32_t u_ptr[] = {0, 2, 3}, u_idx[] = {0, 1, 1}, l_ptr[] = {0, 0, 0};
  double u[] = {1e-200, 1e200, 1e-200};
  bisai_bcsr *lower = test_bcsr_make(context, &(test_bcsr){2, 2, 1, l_ptr, u_idx, u}),
             *upper = test_bcsr_make(context, &(test_bcsr){2, 2, 1, u_ptr, u_idx, u});
  bisai_factors *factors = NULL;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.factor.factors = factors;
  EXPECT_STATUS(context, BISAI_NOT_FINITE,
                bisai_precond_create(context, upper, &options, &precond));
  EXPECT_MESSAGE(context, "NU: block (0, 1) is not finite");
  assert_null(precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(narrow_storage_holds_the_nearest_values),
      cmocka_unit_test(overflow_on_narrowing_names_the_block),
      cmocka_unit_test(the_largest_half_is_stored_and_the_next_is_not),
      cmocka_unit_test(values_beyond_doubles_are_not_finite),
  };
  return cmocka_run_group_tests_name("storage", tests, setup, teardown);
}
