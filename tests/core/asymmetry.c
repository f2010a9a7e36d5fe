/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a matrix is from its transpose: by hand, against a dense reference, over updates, threads
 * and value types. */
#include "fixture.h"

#include <math.h>

static double asymmetry_of(const bisai_bcsr *matrix, bool *mirrored) {
  double asymmetry = (double)NAN;
  EXPECT_OK(context, bisai_bcsr_asymmetry(matrix, &asymmetry, mirrored));
  return asymmetry;
}

/* [a b; c d] in one block of size 2. */
static bisai_bcsr *two_by_two(double a, double b, double c, double d) {
  static const int32_t row_ptr[] = {0, 1}, col_idx[] = {0};
  const double values[] = {a, c, b, d};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = NULL;
  desc.block_rows = desc.block_cols = 1;
  desc.block_size = 2;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  return matrix;
}

static void asymmetry_of_two_rows_is_what_it_is_by_hand(void **state) {
  (void)state;
  static const struct {
    double a, b, c, d, expected;
  } cases[] = {
      {2, 1, 1, 3, 0},                           /* symmetric */
      {4, 1, 0, 9, 1.0 / 6.0},                   /* relative to √(4·9) */
      {4, 8, 6, 9, 0.25},                        /* … to the larger of both, which is more */
      {0, 5, -5, 0, 2},                          /* skew */
      {0, 5, 0, 1, 1},                           /* without a counterpart */
      {1e-300, 1e-300, 0, 1e-300, 1},            /* whose squares vanish … */
      {1e300, 1e300, 0, 1e300, 1},               /* … or overflow … */
      {1, 1.7e308, -1.7e308, 1, 2},              /* … as the difference does */
      {1e20, 1, 1 + 0x1p-30, 1, 0x1p-30 / 1e10}, /* small beside a large diagonal */
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    bisai_bcsr *matrix = two_by_two(cases[k].a, cases[k].b, cases[k].c, cases[k].d);
    bool mirrored = false;
    /* a few roundings */
    EXPECT_NEAR(cases[k].expected, asymmetry_of(matrix, &mirrored), 1e-15 * cases[k].expected);
    assert_true(mirrored);
    bisai_bcsr_destroy(&matrix);
  }
}

/* The definition, entry by entry. */
static double dense_asymmetry(int64_t n, const double *a) {
  double largest = 0;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      const double x = a[j * n + i], y = a[i * n + j];
      const double scale =
          fmax(fmax(fabs(x), fabs(y)), sqrt(fabs(a[i * n + i])) * sqrt(fabs(a[j * n + j])));
      if (fabs(x - y) > 0) largest = fmax(largest, fmin(2.0, fabs(x - y) / scale));
    }
  return largest;
}

static bool has_mirrors(const test_bcsr *a) {
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      if (!test_bcsr_block(a, a->col_idx[p], i)) return false;
  return true;
}

static void asymmetry_equals_the_definition_for_every_block_size(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 12; bs++)
    for (int with_mirrors = 0; with_mirrors < 2; with_mirrors++)
      for (int diagonal = TEST_DIAGONAL_RANDOM; diagonal <= TEST_DIAGONAL_NONE; diagonal++) {
        test_shape shape = test_shape_square(30, bs, (uint64_t)(40 + bs));
        shape.diagonal = (test_diagonal)diagonal;
        test_bcsr arrays = test_bcsr_random(shape);
        if (with_mirrors) {
          test_bcsr mirrored = test_bcsr_symmetrised(&arrays);
          test_bcsr_free(&arrays);
          arrays = mirrored;
        }
        double *dense = test_dense_from_arrays(&arrays);
        bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
        bool mirrored = !with_mirrors;
        assert_true(asymmetry_of(matrix, &mirrored) == dense_asymmetry(30 * bs, dense));
        assert_int_equal(has_mirrors(&arrays), mirrored);
        assert_true(mirrored || !with_mirrors);
        bisai_bcsr_destroy(&matrix);
        test_bcsr_free(&arrays);
        free(dense);
      }
}

/* A symmetric matrix, and the same with one value changed in its last bits. */
static void a_small_change_is_seen_after_an_update(void **state) {
  (void)state;
  test_bcsr half = test_bcsr_random(test_shape_square(50, 3, 8)),
            arrays = test_bcsr_symmetrised(&half);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++) {
      double *here = arrays.values + 9 * (size_t)p,
             *there = test_bcsr_block(&arrays, arrays.col_idx[p], i);
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) there[r * 3 + c] = here[c * 3 + r];
    }
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
  assert_true(asymmetry_of(matrix, NULL) == 0.0);
  double *changed = arrays.values + 9 * (size_t)arrays.row_ptr[17] +
                    (arrays.col_idx[arrays.row_ptr[17]] == 17 ? 3 : 0);
  *changed += 0x1p-45;
  EXPECT_OK(context, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
  const double seen = asymmetry_of(matrix, NULL);
  assert_true(seen > 0.0 && seen < 1e-13); /* 2⁻⁴⁵ = 3e-14 beside a diagonal of 1 and more */
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&arrays);
  test_bcsr_free(&half);
}

static void new_csr_values_are_measured_too(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  double values[] = {1, 1, 1, 1};
  bisai_csr_desc desc = bisai_csr_desc_default();
  bisai_bcsr *matrix = NULL;
  desc.rows = desc.cols = 2;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  assert_true(asymmetry_of(matrix, NULL) == 0.0);
  values[2] = 0.25;
  EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
  assert_true(asymmetry_of(matrix, NULL) == 0.75);
  bisai_bcsr_destroy(&matrix);
}

static void a_symmetric_scaling_by_powers_of_two_changes_no_bit(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_random(test_shape_square(40, 2, 5));
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
  const double before = asymmetry_of(matrix, NULL);
  for (int32_t i = 0; i < 40; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
      for (int v = 0; v < 4;
           v++) /* by 4 to an integer power, whose roots are powers of two as well */
        arrays.values[4 * p + v] *=
            ldexp(1.0, 2 * ((2 * i + v % 2) % 13 + (2 * arrays.col_idx[p] + v / 2) % 13));
  bisai_bcsr *scaled = test_bcsr_make(context, &arrays);
  assert_true(asymmetry_of(scaled, NULL) == before);
  bisai_bcsr_destroy(&scaled);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&arrays);
}

static void asymmetry_does_not_depend_on_threads(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_random(test_shape_square(20000, 2, 77));
  double first = 0;
  for (int threads = 1; threads <= 4; threads++) {
    bisai_context *own = test_context(threads);
    bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
    double asymmetry = 0;
    EXPECT_OK(own, bisai_bcsr_asymmetry(matrix, &asymmetry, NULL));
    if (threads == 1) first = asymmetry;
    assert_true(asymmetry == first && first > 0.0);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
  }
  test_bcsr_free(&arrays);
}

/* The diagonal of L is implied: its entries below the diagonal are compared with zeros, relative to
 * ones. */
static void an_implied_diagonal_counts(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(5, 1, 4.0, -1.0));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  bool mirrored = true;
  /* −1/4, −4/15, −15/56 … */
  EXPECT_NEAR(4.0 / 15.0, asymmetry_of(bisai_factors_lower(factors), &mirrored), 0.02);
  assert_false(mirrored);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

static void narrow_values_are_measured_as_they_are(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  static const uint16_t half[] = {0x3c00, 0x3c00, 0x3800, 0x3c00}; /* [1 1; 0.5 1] */
  static const uint16_t brain[] = {0x3f80, 0x3f80, 0x3f00, 0x3f80};
  static const float single[] = {1.0F, 1.0F, 0.5F, 1.0F};
  const void *const values[] = {single, half, brain};
  for (int type = BISAI_FP32; type <= BISAI_BF16; type++) {
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    bisai_bcsr *matrix = NULL;
    desc.block_rows = desc.block_cols = 2;
    desc.block_size = 1;
    desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values[type - BISAI_FP32];
    desc.value_type = (bisai_value_type)type;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
    assert_true(asymmetry_of(matrix, NULL) == 0.5);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Values that the caller writes to: each call looks at them again. */
static void borrowed_values_are_measured_each_time(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  double *values = test_vector_in_place(4, 1);
  for (int v = 0; v < 4; v++) values[v] = 1.0;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *matrix = NULL;
  desc.block_rows = desc.block_cols = 2;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  if (!test_on_device()) {
    desc.ownership = BISAI_BORROW;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
    assert_true(asymmetry_of(matrix, NULL) == 0.0);
    values[1] = 0.25;
    assert_true(asymmetry_of(matrix, NULL) == 0.75);
    bisai_bcsr_destroy(&matrix);
  }
  test_vector_free(values);
}

static void measuring_allocates_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = test_bcsr_take(own, test_bcsr_grid(20, 20, 3, 4));
  const long long before = allocator.calls;
  double asymmetry;
  EXPECT_OK(own, bisai_bcsr_asymmetry(matrix, &asymmetry, NULL));
  assert_int_equal(before, allocator.calls);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
}

static void rectangular_matrices_and_missing_results_are_refused(void **state) {
  (void)state;
  test_shape shape = test_shape_square(4, 2, 3);
  shape.block_cols = 5;
  shape.diagonal = TEST_DIAGONAL_RANDOM;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(shape));
  double asymmetry = 7;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_asymmetry(matrix, &asymmetry, NULL));
  EXPECT_MESSAGE(context, "the matrix is not square: 4 × 5 blocks");
  assert_true(asymmetry == 7);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_asymmetry(matrix, NULL, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_bcsr_asymmetry(NULL, &asymmetry, NULL));
  bisai_bcsr_destroy(&matrix);
}

static void an_empty_matrix_is_symmetric(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 0, 0};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_size = 2;
  desc.row_ptr = row_ptr;
  for (int32_t n = 0; n <= 2; n += 2) {
    bisai_bcsr *matrix = NULL;
    bool mirrored = false;
    desc.block_rows = desc.block_cols = n;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
    assert_true(asymmetry_of(matrix, &mirrored) == 0.0 && mirrored);
    bisai_bcsr_destroy(&matrix);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(asymmetry_of_two_rows_is_what_it_is_by_hand),
      cmocka_unit_test(asymmetry_equals_the_definition_for_every_block_size),
      cmocka_unit_test(a_small_change_is_seen_after_an_update),
      cmocka_unit_test(new_csr_values_are_measured_too),
      cmocka_unit_test(a_symmetric_scaling_by_powers_of_two_changes_no_bit),
      cmocka_unit_test(asymmetry_does_not_depend_on_threads),
      cmocka_unit_test(an_implied_diagonal_counts),
      cmocka_unit_test(narrow_values_are_measured_as_they_are),
      cmocka_unit_test(borrowed_values_are_measured_each_time),
      cmocka_unit_test(measuring_allocates_nothing),
      cmocka_unit_test(rectangular_matrices_and_missing_results_are_refused),
      cmocka_unit_test(an_empty_matrix_is_symmetric),
  };
  return cmocka_run_group_tests_name("asymmetry", tests, setup, teardown);
}
