/* SPDX-License-Identifier: BSD-3-Clause */
/* Block ILU(0) and exact triangular solves, against dense products and eliminations.
 *
 * Diagonally dominant matrices have growth factor ≤ 2 (Higham, section 9.5), so that L U reproduces
 * A to a few eps·‖A‖ and solves are accurate to a few eps; 1e-13 leaves a factor of some hundreds
 * for the length of the sums. */
#include "fixture.h"

#include <float.h>
#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_factors *factorise(bisai_context *c, const bisai_bcsr *a) {
  bisai_factors *factors = NULL;
  EXPECT_OK(c, bisai_factors_create(c, a, NULL, &factors));
  return factors;
}

/* Every block stored, diagonally dominant. */
static test_bcsr full_matrix(int32_t n, int32_t bs, uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  shape.blocks_per_row = 60.0 * n;
  test_bcsr full = test_bcsr_random(shape);
  while (test_bcsr_blocks(&full) < n * n) { /* rows are ragged: draw until all are complete */
    test_bcsr_free(&full);
    shape.seed += 1000;
    full = test_bcsr_random(shape);
  }
  return full;
}

/* Block (i, j) of a dense matrix with n block rows. */
static double entry(const double *dense, int64_t rows, int32_t bs, int32_t i, int32_t j, int32_t r,
                    int32_t c) {
  return dense[((int64_t)j * bs + c) * rows + (int64_t)i * bs + r];
}

/* |L U − A| ≤ 1e-13·‖A‖ on A's blocks. */
static void expect_factors_match(const test_bcsr *a, const bisai_factors *factors) {
  const int32_t bs = a->block_size;
  const int64_t n = (int64_t)a->block_rows * bs;
  double *lower = test_dense(bisai_factors_lower(factors)),
         *upper = test_dense(bisai_factors_upper(factors));
  double *product = test_dense_multiply(n, n, n, lower, upper), *dense = test_dense_from_arrays(a);
  const double tolerance = 1e-13 * test_dense_norm1(n, n, dense);
  for (int32_t i = 0; i < a->block_rows; i++) {
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      for (int32_t k = 0; k < bs * bs; k++) {
        const int32_t r = k % bs, c = k / bs, j = a->col_idx[p];
        EXPECT_NEAR(entry(dense, n, bs, i, j, r, c), entry(product, n, bs, i, j, r, c), tolerance);
      }
    }
  }
  free(lower);
  free(upper);
  free(product);
  free(dense);
}

/* L strictly lower with implied diagonal, U with its diagonal first; together A's pattern. */
static void expect_pattern_kept(const test_bcsr *a, const bisai_factors *factors) {
  const bisai_bcsr *lower = bisai_factors_lower(factors), *upper = bisai_factors_upper(factors);
  const int32_t *l_ptr, *l_idx, *u_ptr, *u_idx;
  bisai_bcsr_arrays(lower, &l_ptr, &l_idx, NULL);
  bisai_bcsr_arrays(upper, &u_ptr, &u_idx, NULL);
  assert_true(bisai_bcsr_unit_diagonal(lower));
  assert_false(bisai_bcsr_unit_diagonal(upper));
  for (int32_t i = 0; i < a->block_rows; i++) {
    int32_t l = l_ptr[i], u = u_ptr[i];
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      assert_int_equal(a->col_idx[p] < i ? l_idx[l++] : u_idx[u++], a->col_idx[p]);
    assert_int_equal(l, l_ptr[i + 1]);
    assert_int_equal(u, u_ptr[i + 1]);
    assert_int_equal(u_idx[u_ptr[i]], i);
  }
}

/* D·D⁻¹ = I with D the diagonal blocks of U. */
static void expect_inverse_diagonal(const bisai_factors *factors) {
  const bisai_bcsr *upper = bisai_factors_upper(factors);
  const int32_t bs = bisai_bcsr_block_size(upper), *u_ptr;
  const void *values;
  double *identity = test_dense_identity(bs);
  bisai_bcsr_arrays(upper, &u_ptr, NULL, &values);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(upper); i++) {
    const double *block = (const double *)values + (size_t)u_ptr[i] * (size_t)(bs * bs);
    const double *inverse = bisai_factors_inverse_diagonal(factors) + (size_t)i * (size_t)(bs * bs);
    const double kappa = test_dense_norm1(bs, bs, block) * test_dense_norm1(bs, bs, inverse);
    double *product = test_dense_multiply(bs, bs, bs, block, inverse);
    EXPECT_CLOSE(bs * bs, identity, product, 32.0 * bs * DBL_EPSILON * kappa);
    free(product);
  }
  free(identity);
}

static void factors_multiply_to_the_matrix_on_its_pattern(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    for (int kind = 0; kind < 3; kind++) {
      test_shape shape = test_shape_square(bs > 8 ? 12 : 25, bs, (uint64_t)(10 * bs + kind));
      shape.empty_every = kind == 1 ? 4 : 0;
      shape.blocks_per_row = kind == 1 ? 6.0 : 3.0;
      test_bcsr a = kind == 2 ? test_bcsr_grid(5, 4, bs, 3) : test_bcsr_random(shape);
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      bisai_factors *factors = factorise(context, matrix);
      bisai_bcsr_destroy(&matrix); /* read during the call only */
      expect_pattern_kept(&a, factors);
      expect_factors_match(&a, factors);
      expect_inverse_diagonal(factors);
      bisai_factors_destroy(&factors);
      assert_null(factors);
      test_bcsr_free(&a);
    }
  }
}

/* Nothing is dropped on a full pattern: A x = b is solved directly. */
static void full_pattern_gives_the_exact_factorisation(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], blocks = bs > 8 ? 4 : 7;
    test_bcsr a = full_matrix(blocks, bs, (uint64_t)bs);
    const int64_t n = (int64_t)blocks * bs;
    double *dense = test_dense_from_arrays(&a), *b = test_random_vector(n, 5),
           *x = test_random_vector(n, 6);
    double *expected = test_dense_solve(n, dense, b);
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bisai_factors *factors = factorise(context, matrix);
    expect_factors_match(&a, factors);
    EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, x));
    EXPECT_CLOSE(n, expected, x, 1e-13);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
    free(dense);
    free(b);
    free(x);
    free(expected);
  }
}

/* tridiag(−1, 2, −1): pivots (i + 2)/(i + 1), multipliers −(i)/(i + 1). */
static void tridiagonal_matrix_has_the_factors_known_by_hand(void **state) {
  (void)state;
  const int32_t n = 40;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 2.0, -1.0));
  bisai_factors *factors = factorise(context, matrix);
  const void *l, *u;
  bisai_bcsr_arrays(bisai_factors_lower(factors), NULL, NULL, &l);
  bisai_bcsr_arrays(bisai_factors_upper(factors), NULL, NULL, &u);
  for (int32_t i = 0; i < n; i++) {
    EXPECT_NEAR((i + 2.0) / (i + 1.0), ((const double *)u)[2 * i], 1e-14);
    if (i > 0) EXPECT_NEAR(-(double)i / (i + 1.0), ((const double *)l)[i - 1], 1e-14);
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

static void tridiagonal_systems_are_solved_exactly(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(30, 1, bs, (uint64_t)bs));
    bisai_factors *factors = factorise(context, matrix);
    const int64_t n = 30 * (int64_t)bs;
    double *b = test_random_vector(n, 1), *x = test_random_vector(n, 2);
    EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_SERIAL, b, x));
    assert_true(test_relative_residual(matrix, x, b) < 1e-13);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
    free(b);
    free(x);
  }
}

/* L (U x) = b in dense arithmetic; also with x in place of b. */
static void solve_inverts_both_factors(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(20, bs, (uint64_t)(70 + bs))));
    bisai_factors *factors = factorise(context, matrix);
    const int64_t n = 20 * (int64_t)bs;
    double *lower = test_dense(bisai_factors_lower(factors)),
           *upper = test_dense(bisai_factors_upper(factors));
    double *b = test_random_vector(n, 3), *x = test_random_vector(n, 4);
    double *middle = test_dense_solve(n, lower, b), *expected = test_dense_solve(n, upper, middle);
    EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, x));
    EXPECT_CLOSE(n, expected, x, 1e-13);
    EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, b));
    assert_memory_equal(b, x, (size_t)n * sizeof *x);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
    free(lower);
    free(upper);
    free(b);
    free(x);
    free(middle);
    free(expected);
  }
}

/* [I B; C 0]: block (1, 1) is zero before the factorisation and −C B after. */
static void saddle_points_are_factorised(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  double values[16] = {1, 0, 0, 1, 2, 1, 1, 3, 1, 1, 0, 2, 0, 0, 0, 0};
  test_bcsr a = {2, 2, 2, row_ptr, col_idx, values};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_factors *factors = factorise(context, matrix);
  expect_factors_match(&a, factors);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

static void factor_without_rows_is_legal(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 3, 1)));
  bisai_factors *factors = factorise(context, matrix);
  double none = 1.0;
  assert_int_equal(bisai_bcsr_blocks(bisai_factors_lower(factors)), 0);
  EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, &none, &none));
  EXPECT_OK(context, bisai_factors_solve(factors, BISAI_SCHEDULE_LEVELS, &none, &none));
  assert_true(none == 1.0);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

/* Removes block (row, row). */
static void drop_diagonal(test_bcsr *a, int32_t row) {
  const size_t area = (size_t)(a->block_size * a->block_size);
  const int32_t blocks = test_bcsr_blocks(a);
  int32_t p = a->row_ptr[row];
  while (a->col_idx[p] != row) p++;
  memmove(a->col_idx + p, a->col_idx + p + 1, (size_t)(blocks - p - 1) * sizeof *a->col_idx);
  memmove(a->values + (size_t)p * area, a->values + (size_t)(p + 1) * area,
          (size_t)(blocks - p - 1) * area * sizeof *a->values);
  for (int32_t i = row + 1; i <= a->block_rows; i++) a->row_ptr[i]--;
}

static void expect_no_factors(const test_bcsr *a, bisai_status status, const char *message) {
  bisai_factors *const untouched = (bisai_factors *)(uintptr_t)64;
  bisai_factors *factors = untouched;
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  EXPECT_STATUS(context, status, bisai_factors_create(context, matrix, NULL, &factors));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(factors, untouched);
  bisai_bcsr_destroy(&matrix);
}

static void missing_diagonal_names_the_first_row(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 3, 2, 1);
  drop_diagonal(&a, 11);
  expect_no_factors(&a, BISAI_MISSING_DIAGONAL, "block row 11 has no diagonal block");
  drop_diagonal(&a, 7);
  expect_no_factors(&a, BISAI_MISSING_DIAGONAL, "block row 7 has no diagonal block");
  drop_diagonal(&a, 0);
  expect_no_factors(&a, BISAI_MISSING_DIAGONAL, "block row 0 has no diagonal block");
  test_bcsr_free(&a);
}

/* Rows without a sub-diagonal part, so that their pivots are A's own blocks, and enough rows for
 * the levels to run in parallel. */
static void singular_block_names_the_first_row(void **state) {
  (void)state;
  static const int32_t singular[] = {3999, 2001, 1742, 0};
  for (int32_t bs = 1; bs <= 4; bs++) {
    test_shape shape = test_shape_square(4000, bs, (uint64_t)bs);
    shape.part = TEST_UPPER;
    test_bcsr a = test_bcsr_random(shape);
    char expected[64];
    for (size_t i = 0; i < sizeof singular / sizeof singular[0]; i++) {
      /* its first column */
      memset(test_bcsr_block(&a, singular[i], singular[i]), 0, (size_t)bs * sizeof(double));
      snprintf(expected, sizeof expected, "block row %d: the diagonal block is singular",
               singular[i]);
      expect_no_factors(&a, BISAI_SINGULAR_BLOCK, expected);
    }
    test_bcsr_free(&a);
  }
}

/* Regular in A, singular once row 0 has been subtracted: [1 1; 1 1]. */
static void pivot_that_becomes_singular_is_named(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(5, 3, 1.0, 1.0);
  expect_no_factors(&a, BISAI_SINGULAR_BLOCK, "block row 1: the diagonal block is singular");
  test_bcsr_free(&a);
}

static void factor_refuses_bad_arguments(void **state) {
  (void)state;
  bisai_factors *factors = NULL;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 2, 1)), *wide, *single = NULL;
  wide = test_bcsr_take(context, test_bcsr_random((test_shape){
                                     3, 4, 2, 2.0, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, 1}));
  assert_int_equal(bisai_factors_create(NULL, matrix, NULL, &factors), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_create(context, NULL, NULL, &factors));
  EXPECT_MESSAGE(context, "bisai_factors_create: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_factors_create(context, matrix, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_factors_create: factors is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_create(context, wide, NULL, &factors));
  EXPECT_MESSAGE(context, "the matrix is not square: 3 × 4 blocks");

  char expected[128];
  bisai_factor_options options = bisai_factor_options_default();
  assert_int_equal(options.struct_size, sizeof options);
  EXPECT_OK(context, bisai_factors_create(context, matrix, &options, &factors));
  bisai_factors_destroy(&factors);
  options.struct_size = 5;
  snprintf(expected, sizeof expected,
           "bisai_factor_options.struct_size is 5, expected %zu: start from its default",
           sizeof options);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_create(context, matrix, &options, &factors));
  EXPECT_MESSAGE(context, expected);

  test_bcsr one = test_bcsr_tridiagonal(1, 1, 1.0, 0.0);
  single = test_bcsr_single(context, &one);
  test_bcsr_free(&one);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_factors_create(context, single, NULL, &factors));
  EXPECT_MESSAGE(context, "the matrix must hold fp64 values to be factorised");
  assert_null(factors);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&wide);
  bisai_bcsr_destroy(&single);
}

static void solve_refuses_bad_arguments(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 1, 1));
  bisai_factors *factors = factorise(context, matrix);
  double b[4] = {1, 2, 3, 4}, x[4];
  assert_int_equal(bisai_factors_solve(NULL, BISAI_SCHEDULE_AUTO, b, x), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, NULL, x));
  EXPECT_MESSAGE(context, "bisai_factors_solve: b is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_solve(factors, BISAI_SCHEDULE_AUTO, b, NULL));
  EXPECT_MESSAGE(context, "bisai_factors_solve: x is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_solve(factors, (bisai_schedule)3, b, x));
  EXPECT_MESSAGE(context, "unknown schedule 3");
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

/* --- the caller's own factors --- */

static test_bcsr triangle(int32_t n, int32_t bs, test_part part, uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  shape.part = part;
  return test_bcsr_random(shape);
}

static void expect_given_factors_solve(const test_bcsr *l, const test_bcsr *u, bool unit) {
  const int64_t n = (int64_t)l->block_rows * l->block_size;
  bisai_bcsr *lower = test_bcsr_make(context, l), *upper = test_bcsr_make(context, u);
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_bcsr_destroy(&lower); /* copied */
  bisai_bcsr_destroy(&upper);
  assert_true(bisai_bcsr_unit_diagonal(bisai_factors_lower(factors)) == unit);
  double *dense_l = test_dense_from_arrays(l), *dense_u = test_dense_from_arrays(u);
  for (int64_t i = 0; unit && i < n; i++) dense_l[i * n + i] = 1.0;
  double *stored_l = test_dense(bisai_factors_lower(factors)),
         *stored_u = test_dense(bisai_factors_upper(factors));
  assert_memory_equal(stored_l, dense_l, (size_t)(n * n) * sizeof(double));
  assert_memory_equal(stored_u, dense_u, (size_t)(n * n) * sizeof(double));
  expect_inverse_diagonal(factors);
  double *b = test_random_vector(n, 1), *x = test_random_vector(n, 2);
  double *middle = test_dense_solve(n, dense_l, b),
         *expected = test_dense_solve(n, dense_u, middle);
  for (int schedule = BISAI_SCHEDULE_AUTO; schedule <= BISAI_SCHEDULE_LEVELS; schedule++) {
    EXPECT_OK(context, bisai_factors_solve(factors, (bisai_schedule)schedule, b, x));
    /* a random unit lower triangle is not dominant: its solution may be large, so relative to the
     * largest entry */
    EXPECT_CLOSE(n, expected, x, 1e-12 * fmax(1.0, test_norm2(n, expected)));
  }
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_update(factors, bisai_factors_upper(factors)));
  EXPECT_MESSAGE(context, "factors given by the caller have no matrix to be updated from");
  bisai_factors_destroy(&factors);
  free(dense_l);
  free(dense_u);
  free(stored_l);
  free(stored_u);
  free(b);
  free(x);
  free(middle);
  free(expected);
}

static void given_factors_are_solved_with_unit_and_general_lower_diagonal(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    const size_t area = (size_t)(bs * bs);
    test_bcsr unit = triangle(12, bs, TEST_STRICTLY_LOWER, (uint64_t)bs);
    for (size_t i = 0; i < (size_t)test_bcsr_blocks(&unit) * area; i++) unit.values[i] /= 2.0 * bs;
    test_bcsr general = triangle(12, bs, TEST_LOWER, (uint64_t)(20 + bs));
    test_bcsr upper = triangle(12, bs, TEST_UPPER, (uint64_t)(40 + bs));
    expect_given_factors_solve(&unit, &upper, true);
    expect_given_factors_solve(&general, &upper, false);
    test_bcsr_free(&unit);
    test_bcsr_free(&general);
    test_bcsr_free(&upper);
  }
}

static void expect_not_taken(const test_bcsr *l, const test_bcsr *u, bisai_status status,
                             const char *message) {
  bisai_bcsr *lower = test_bcsr_make(context, l), *upper = test_bcsr_make(context, u);
  bisai_factors *const untouched = (bisai_factors *)(uintptr_t)64;
  bisai_factors *factors = untouched;
  EXPECT_STATUS(context, status, bisai_factors_from_matrices(context, lower, upper, &factors));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(factors, untouched);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

static void given_factors_are_refused_by_name(void **state) {
  (void)state;
  test_bcsr lower = test_bcsr_tridiagonal(4, 2, 2.0, 1.0),
            upper = test_bcsr_tridiagonal(4, 2, 2.0, 1.0);
  test_bcsr good_lower = triangle(4, 2, TEST_LOWER, 1), good_upper = triangle(4, 2, TEST_UPPER, 2);
  expect_not_taken(&lower, &good_upper, BISAI_INVALID_STRUCTURE,
                   "lower: block (0, 1) lies in the other triangle");
  expect_not_taken(&good_lower, &upper, BISAI_INVALID_STRUCTURE,
                   "upper: block (1, 0) lies in the other triangle");

  test_bcsr holed = triangle(4, 2, TEST_LOWER, 1);
  drop_diagonal(&holed, 2);
  expect_not_taken(&holed, &good_upper, BISAI_MISSING_DIAGONAL,
                   "lower: block row 2 has no diagonal block");
  test_bcsr_free(&holed);
  holed = triangle(4, 2, TEST_UPPER, 2);
  drop_diagonal(&holed, 3);
  expect_not_taken(&good_lower, &holed, BISAI_MISSING_DIAGONAL,
                   "upper: block row 3 has no diagonal block");
  test_bcsr_free(&holed);

  test_bcsr singular = triangle(4, 2, TEST_UPPER, 2);
  memset(test_bcsr_block(&singular, 1, 1), 0, 4 * sizeof(double));
  expect_not_taken(&good_lower, &singular, BISAI_SINGULAR_BLOCK,
                   "upper: block row 1: the diagonal block is singular");
  test_bcsr_free(&singular);
  singular = triangle(4, 2, TEST_LOWER, 1);
  memset(test_bcsr_block(&singular, 3, 3), 0, 4 * sizeof(double));
  expect_not_taken(&singular, &good_upper, BISAI_SINGULAR_BLOCK,
                   "lower: block row 3: the diagonal block is singular");
  test_bcsr_free(&singular);

  test_bcsr longer = triangle(5, 2, TEST_UPPER, 1);
  expect_not_taken(&good_lower, &longer, BISAI_INVALID_ARGUMENT,
                   "lower has 4 block rows of size 2, upper 5 of size 2");
  test_bcsr_free(&longer);
  test_bcsr wide =
      test_bcsr_random((test_shape){4, 6, 2, 1.0, 0, TEST_DIAGONAL_DOMINANT, TEST_UPPER, 1});
  expect_not_taken(&good_lower, &wide, BISAI_INVALID_ARGUMENT, "upper is not square: 4 × 6 blocks");
  test_bcsr_free(&wide);

  bisai_bcsr *matrix = test_bcsr_make(context, &good_lower);
  bisai_factors *factors = NULL;
  assert_int_equal(bisai_factors_from_matrices(NULL, matrix, matrix, &factors),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_from_matrices(context, NULL, matrix, &factors));
  EXPECT_MESSAGE(context, "bisai_factors_from_matrices: lower is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_from_matrices(context, matrix, NULL, &factors));
  EXPECT_MESSAGE(context, "bisai_factors_from_matrices: upper is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_from_matrices(context, matrix, matrix, NULL));
  EXPECT_MESSAGE(context, "bisai_factors_from_matrices: factors is NULL");
  assert_null(factors);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&lower);
  test_bcsr_free(&upper);
  test_bcsr_free(&good_lower);
  test_bcsr_free(&good_upper);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(factors_multiply_to_the_matrix_on_its_pattern),
      cmocka_unit_test(full_pattern_gives_the_exact_factorisation),
      cmocka_unit_test(tridiagonal_matrix_has_the_factors_known_by_hand),
      cmocka_unit_test(tridiagonal_systems_are_solved_exactly),
      cmocka_unit_test(solve_inverts_both_factors),
      cmocka_unit_test(saddle_points_are_factorised),
      cmocka_unit_test(factor_without_rows_is_legal),
      cmocka_unit_test(missing_diagonal_names_the_first_row),
      cmocka_unit_test(singular_block_names_the_first_row),
      cmocka_unit_test(pivot_that_becomes_singular_is_named),
      cmocka_unit_test(factor_refuses_bad_arguments),
      cmocka_unit_test(solve_refuses_bad_arguments),
      cmocka_unit_test(given_factors_are_solved_with_unit_and_general_lower_diagonal),
      cmocka_unit_test(given_factors_are_refused_by_name),
  };
  return cmocka_run_group_tests_name("factor", tests, setup, teardown);
}
