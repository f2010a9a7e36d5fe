/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner lu against dense solves: orderings, pivots, shifts, storage, limits. */
#include "systems.h"

#include <math.h>

enum { MANY = 3 };

static bisai_context *context;

static bisai_precond_options lu_options(void) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_LU;
  return o;
}

/* Fails unless M⁻¹ is the dense inverse for a few vectors, up to `tolerance`·κ₁. */
static void expect_inverse(bisai_precond *precond, const test_bcsr *a, double tolerance) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  double *dense = test_dense_from_arrays(a), *v = test_random_vector(MANY * n, 11),
         *z = test_nan_vector(MANY * n);
  const double limit = tolerance * test_dense_condition1(n, dense);
  EXPECT_OK(context, bisai_precond_apply_many(precond, MANY, v, n, z, n));
  for (int c = 0; c < MANY; c++) {
    double *x = test_dense_solve(n, dense, v + c * n);
    assert_non_null(x);
    EXPECT_CLOSE(n, x, z + c * n, limit * test_largest(n, x));
    free(x);
  }
  free(dense), free(v), free(z);
}

static void expect_exact(const test_bcsr *a, const bisai_precond_options *options) {
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  bisai_precond *precond = test_precond_with(context, matrix, options);
  expect_inverse(precond, a, 1e-13);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void applications_are_exact_for_every_ordering_and_block_size(void **state) {
  (void)state;
  static const bisai_ordering orderings[] = {BISAI_ORDERING_NATURAL, BISAI_ORDERING_RCM,
                                             BISAI_ORDERING_COLOUR};
  for (int32_t bs = 1; bs <= 9; bs++)
    for (int o = 0; o < 3; o++) {
      test_shape shape = test_shape_square(30 + bs, bs, (uint64_t)(10 * bs + o));
      shape.empty_every = bs % 3 == 0 ? 5 : 0;
      test_bcsr a = test_bcsr_random(shape);
      bisai_precond_options options = lu_options();
      options.factor.ordering = orderings[o];
      options.factor.equilibrate = o == 2;
      expect_exact(&a, &options);
      test_bcsr_free(&a);
    }
}

static void a_given_ordering_is_kept(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(9, 7, 3, 4);
  int32_t *permutation = test_random_permutation(a.block_rows, 5);
  bisai_precond_options options = lu_options();
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = permutation;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(test_report_of(context, precond).factor.ordering, BISAI_ORDERING_GIVEN);
  expect_inverse(precond, &a, 1e-13);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(permutation);
  test_bcsr_free(&a);
}

/* A dense matrix is one supernode, which is cut beyond 128 columns. */
static void supernodes_are_cut(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 7, 30, 32};
  for (int s = 0; s < 4; s++) {
    const int32_t bs = sizes[s], rows = 300 / bs;
    test_shape shape = test_shape_square(rows, bs, (uint64_t)s);
    shape.blocks_per_row = rows;
    test_bcsr a = test_bcsr_random(shape);
    const bisai_precond_options options = lu_options();
    expect_exact(&a, &options);
    test_bcsr_free(&a);
  }
}

/* In one supernode pivots are chosen as in a dense matrix: any regular matrix will do. */
static void pivots_are_found_in_a_supernode(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    test_shape shape = test_shape_square(3, 1 + (int32_t)(seed % 5), seed);
    shape.blocks_per_row = 30.0;
    shape.diagonal = TEST_DIAGONAL_NONE;
    test_bcsr a = test_bcsr_random(shape);
    if (test_bcsr_blocks(&a) == 6) { /* all blocks but the diagonal */
      const bisai_precond_options options = lu_options();
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      expect_inverse(precond, &a, 1e-12);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
    }
    test_bcsr_free(&a);
  }
}

static void single_precision_takes_half_the_memory_and_keeps_six_digits(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(20, 20, 4, 6);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond_options options = lu_options();
  bisai_precond *wide = test_precond_with(context, matrix, &options);
  options.lu.storage = BISAI_FP32;
  bisai_precond *narrow = test_precond_with(context, matrix, &options);
  const int64_t n = bisai_precond_rows(wide);
  double *v = test_random_vector(n, 1), *x = test_nan_vector(n), *y = test_nan_vector(n);
  EXPECT_OK(context, bisai_precond_apply(wide, v, x));
  EXPECT_OK(context, bisai_precond_apply(narrow, v, y));
  const double difference = test_max_difference(n, x, y) / test_largest(n, x);
  assert_true(difference > 1e-12 && difference < 1e-5);
  const bisai_precond_report w = test_report_of(context, wide), s = test_report_of(context, narrow);
  assert_true(w.memory_bytes - s.memory_bytes == 4 * w.lu.values);
  assert_true(s.symmetry == BISAI_SYMMETRY_NONE && w.symmetry == BISAI_SYMMETRY_VALUES);
  free(v), free(x), free(y);
  bisai_precond_destroy(&wide);
  bisai_precond_destroy(&narrow);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* A diagonal matrix without its sixth entry. */
static void a_singular_matrix_is_named_by_the_callers_row(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(12, 1, 2.0, 0.0);
  *test_bcsr_block(&a, 5, 5) = 0.0;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond_options options = lu_options();
  options.factor.ordering = BISAI_ORDERING_RCM;
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 5: a pivot is zero, and a shift would raise it");
  assert_null(precond);
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.25;
  precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report r = test_report_of(context, precond);
  assert_int_equal(r.repairs, 1);
  assert_int_equal(r.first_repair_row, 5);
  assert_int_equal(r.symmetry, BISAI_SYMMETRY_NONE);
  EXPECT_NEAR(2.0, r.lu.smallest_pivot, 0.0);
  double v[12], z[12];
  for (int i = 0; i < 12; i++) v[i] = 1.0;
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int i = 0; i < 12; i++) EXPECT_NEAR(i == 5 ? 2.0 : 0.5, z[i], 0.0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void an_empty_row_is_named(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 1, 2}, col_idx[] = {0, 2};
  const double values[] = {1.0, 1.0};
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context,
                                       &(bisai_bcsr_desc){.struct_size = sizeof(bisai_bcsr_desc),
                                                          .block_rows = 3,
                                                          .block_cols = 3,
                                                          .block_size = 1,
                                                          .row_ptr = row_ptr,
                                                          .col_idx = col_idx,
                                                          .values = values},
                                       &matrix));
  const bisai_precond_options options = lu_options();
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_MISSING_DIAGONAL,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 1 is empty: the matrix is singular");
  bisai_bcsr_destroy(&matrix);
}

/* NaN comes in through borrowed arrays. */
static void values_that_are_not_finite_are_named(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* a device borrows no arrays of the host, and a copy is checked */
  test_bcsr a = test_bcsr_tridiagonal(5, 2, 3.0, 1.0);
  bisai_bcsr *matrix = test_bcsr_borrow(context, &a);
  const bisai_precond_options options = lu_options();
  bisai_precond *precond = NULL;
  test_bcsr_block(&a, 3, 2)[1] = NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_IN_MESSAGE(context, "block (3, 2) holds a NaN or infinity");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* The second pivot is 10³⁰⁸ + 10³⁰⁸. */
static void factors_that_overflow_are_named(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(2, 1, 1.0, 1.0);
  *test_bcsr_block(&a, 0, 0) = 1.0;
  *test_bcsr_block(&a, 0, 1) = -1e308;
  *test_bcsr_block(&a, 1, 1) = 1e308;
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  const int32_t permutation[] = {0, 1};
  bisai_precond_options options = lu_options();
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = permutation;
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_NOT_FINITE,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 1: the factors overflow");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void too_much_fill_is_refused_with_what_was_predicted(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(20, 20, 2, 7);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond_options options = lu_options();
  options.factor.ordering = BISAI_ORDERING_RCM;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report r = test_report_of(context, precond);
  bisai_precond_destroy(&precond);
  EXPECT_NEAR((double)r.lu.blocks / test_bcsr_blocks(&a), r.lu.fill, 1e-12);
  options.lu.fill = 0.99 * r.lu.fill;
  EXPECT_STATUS(context, BISAI_OUT_OF_MEMORY,
                bisai_precond_create(context, matrix, &options, &precond));
  char expected[64];
  snprintf(expected, sizeof expected, "L + U would have %lld blocks", (long long)r.lu.blocks);
  EXPECT_IN_MESSAGE(context, expected);
  options.lu.fill = 1.01 * r.lu.fill;
  precond = test_precond_with(context, matrix, &options);
  bisai_precond_destroy(&precond);
  options.lu.memory = 0.99e-9 * 8.0 * (double)r.lu.values;
  EXPECT_STATUS(context, BISAI_OUT_OF_MEMORY,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_IN_MESSAGE(context, "L + U would take ");
  options.lu.storage = BISAI_FP32;
  precond = test_precond_with(context, matrix, &options);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void an_empty_matrix_is_taken(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(0, 3, 1.0, 0.0));
  const bisai_precond_options options = lu_options();
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  EXPECT_OK(context, bisai_precond_apply(precond, NULL, NULL));
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  assert_int_equal(test_report_of(context, precond).lu.blocks, 0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static int open_context(void **state) {
  (void)state;
  context = test_context(0);
  return 0;
}

static int close_context(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(applications_are_exact_for_every_ordering_and_block_size),
      cmocka_unit_test(a_given_ordering_is_kept),
      cmocka_unit_test(supernodes_are_cut),
      cmocka_unit_test(pivots_are_found_in_a_supernode),
      cmocka_unit_test(single_precision_takes_half_the_memory_and_keeps_six_digits),
      cmocka_unit_test(a_singular_matrix_is_named_by_the_callers_row),
      cmocka_unit_test(an_empty_row_is_named),
      cmocka_unit_test(values_that_are_not_finite_are_named),
      cmocka_unit_test(factors_that_overflow_are_named),
      cmocka_unit_test(too_much_fill_is_refused_with_what_was_predicted),
      cmocka_unit_test(an_empty_matrix_is_taken)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
