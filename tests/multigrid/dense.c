/* SPDX-License-Identifier: BSD-3-Clause */
/* Dense inverses and products with them, against plain references. */
#include <math.h>

#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "fixture.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/multigrid_ops.h"

static const bsi_dense_ops *ops(const bisai_context *c) { return c->backend->multigrid->dense; }

static double *reserved(bisai_context *c, int64_t n) {
  double *there = c->backend->memory->allocate(c, (size_t)n, sizeof *there);
  assert_non_null(there);
  return there;
}

static void drop(bisai_context *c, double *array) { c->backend->memory->release(c, array); }

typedef struct result {
  int64_t n;
  /* in backend memory */
  double *inverse;
  double smallest, largest;
} result;

static result inverted(bisai_context *c, const test_bcsr *a) {
  result r = {.n = (int64_t)a->block_rows * a->block_size, .smallest = -1.0, .largest = -1.0};
  bisai_bcsr *matrix = test_bcsr_make(c, a);
  double *work = reserved(c, r.n * r.n);
  r.inverse = reserved(c, r.n * r.n);
  EXPECT_OK(c, ops(c)->invert(c, matrix, work, r.inverse, &r.smallest, &r.largest));
  drop(c, work);
  bisai_bcsr_destroy(&matrix);
  return r;
}

/* A dense matrix as blocks of one value. */
static test_bcsr of_values(int32_t n, const double *values) {
  test_bcsr a = {n, n, 1, NULL, NULL, NULL};
  a.row_ptr = malloc((size_t)(n + 1) * sizeof *a.row_ptr);
  a.col_idx = malloc((size_t)(n * n) * sizeof *a.col_idx);
  a.values = malloc((size_t)(n * n) * sizeof *a.values);
  for (int32_t i = 0; i <= n; i++) a.row_ptr[i] = i * n;
  for (int32_t i = 0; i < n * n; i++) {
    a.col_idx[i] = i % n;
    a.values[i] = values[i % n * n + i / n];
  }
  return a;
}

static test_bcsr full(int32_t n, uint64_t seed) {
  double *values = test_random_vector((int64_t)n * n, seed);
  test_bcsr a = of_values(n, values);
  free(values);
  return a;
}

/* Returns the largest entry of A X − I, of X A − I too. */
static double distance_from_identity(const test_bcsr *a, const result *r) {
  double *dense = test_dense_from_arrays(a), *identity = test_dense_identity(r->n);
  double *right = test_dense_multiply(r->n, r->n, r->n, dense, r->inverse),
         *left = test_dense_multiply(r->n, r->n, r->n, r->inverse, dense);
  const double one = test_max_difference(r->n * r->n, right, identity),
               other = test_max_difference(r->n * r->n, left, identity);
  free(dense), free(identity), free(right), free(left);
  return one > other ? one : other;
}

static void an_inverse_of_three_rows_by_hand(void **state) {
  (void)state;
  /* rows (0 2 0), (0 0 −4), (8 0 0) */
  test_bcsr a = of_values(3, (double[]){0, 0, 8, 2, 0, 0, 0, -4, 0});
  result r = inverted(context, &a);
  EXPECT_CLOSE(9, ((double[]){0, 0.5, 0, 0, 0, -0.25, 0.125, 0, 0}), r.inverse, 0);
  EXPECT_NEAR(2.0, r.smallest, 0);
  EXPECT_NEAR(8.0, r.largest, 0);
  drop(context, r.inverse);
  test_bcsr_free(&a);
}

static void inverses_multiply_to_the_identity_at_every_size(void **state) {
  (void)state;
  static const int32_t larger[] = {47, 48, 63, 64, 65, 95, 96, 97, 127, 129, 200, 257, 320};
  const int32_t count = 40 + (int32_t)(sizeof larger / sizeof *larger);
  for (int32_t k = 0; k < count; k++) {
    const int32_t n = k < 40 ? k + 1 : larger[k - 40];
    test_bcsr a = full(n, 100 + (uint64_t)n);
    result r = inverted(context, &a);
    assert_true(r.smallest > 0.0 && r.largest >= r.smallest);
    /* Random matrices have a condition of some n², here below 10⁶. A device takes an inverse if it
     * maps A x to x up to 1e-10 for one vector x. Errors of others may be a hundred times that. */
    EXPECT_NEAR(0.0, distance_from_identity(&a, &r), 1e-8);
    drop(context, r.inverse);
    test_bcsr_free(&a);
  }
}

static void inverses_of_sparse_blocks_equal_the_reference(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 32};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    test_shape shape = test_shape_square(150 / sizes[k] + 1, sizes[k], 7);
    test_bcsr a = test_bcsr_random(shape);
    result r = inverted(context, &a);
    double *dense = test_dense_from_arrays(&a), *expected = test_dense_inverse(r.n, dense);
    assert_non_null(expected);
    /* the matrix is dominated by its diagonal */
    EXPECT_CLOSE(r.n * r.n, expected, r.inverse, 1e-14 * test_dense_norm1(r.n, r.n, expected));
    free(dense), free(expected);
    drop(context, r.inverse);
    test_bcsr_free(&a);
  }
}

static void permutations_are_inverted_exactly(void **state) {
  (void)state;
  for (int32_t n = 2; n <= 300; n += 37) {
    int32_t *permutation = test_random_permutation(n, (uint64_t)n);
    test_bcsr a = {n,           n,
                   1,           malloc((size_t)(n + 1) * sizeof(int32_t)),
                   permutation, malloc((size_t)n * sizeof(double))};
    for (int32_t i = 0; i <= n; i++) a.row_ptr[i] = i;
    for (int32_t i = 0; i < n; i++) a.values[i] = i % 2 ? 0.5 : -4.0;
    result r = inverted(context, &a);
    double *expected = calloc((size_t)(n * n), sizeof *expected);
    for (int32_t i = 0; i < n; i++) expected[i * n + permutation[i]] = 1.0 / a.values[i];
    EXPECT_CLOSE(n * n, expected, r.inverse, 0);
    EXPECT_NEAR(0.5, r.smallest, 0);
    EXPECT_NEAR(4.0, r.largest, 0);
    free(expected);
    drop(context, r.inverse);
    test_bcsr_free(&a);
  }
}

static void expect_singular(bisai_context *c, test_bcsr a, double limit) {
  result r = inverted(c, &a);
  assert_true(r.smallest <= limit * r.largest);
  drop(c, r.inverse);
  test_bcsr_free(&a);
}

static void singular_matrices_have_small_pivots(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 200; n = 2 * n + 1) {
    for (int32_t gone = 0; gone < n; gone += 1 + n / 5) {
      test_bcsr column = full(n, 3), row = full(n, 4);
      for (int32_t i = 0; i < n; i++) column.values[i * n + gone] = 0.0;
      for (int32_t i = 0; i < n; i++) row.values[gone * n + i] = 0.0;
      expect_singular(context, column, 0.0);
      expect_singular(context, row, 0.0);
    }
    /* row sums of zero: the last pivot is a rounding error */
    test_bcsr sums = full(n, 5);
    for (int32_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (int32_t k = 0; k < n; k++)
        if (k != i) sum += sums.values[i * n + k];
      sums.values[i * n + i] = -sum;
    }
    expect_singular(context, sums, 1e-13);
  }
}

static void values_that_are_not_finite_are_reported_as_singular(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 150; n += 73) {
    for (int32_t place = 0; place < n * n; place += n * n / 3 + 1) {
      test_bcsr a = full(n, 3);
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      double *work = reserved(context, n * n), *inverse = reserved(context, n * n), smallest, most;
      for (int infinite = 0; infinite <= 1; infinite++) {
        ((double *)matrix->values)[place] = infinite ? -INFINITY : NAN;
        smallest = -1.0;
        EXPECT_OK(context, ops(context)->invert(context, matrix, work, inverse, &smallest, &most));
        EXPECT_NEAR(0.0, smallest, 0);
      }
      drop(context, work), drop(context, inverse);
      bisai_bcsr_destroy(&matrix);
      test_bcsr_free(&a);
    }
  }
  /* the reciprocal overflows */
  expect_singular(context, of_values(2, (double[]){1.0, 0.0, 0.0, 1e-310}), 0.0);
}

static void scales_of_the_whole_matrix_change_nothing_else(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 170; n += 33) {
    test_bcsr a = full(n, 8);
    result plain = inverted(context, &a);
    for (int sign = -1; sign <= 1; sign += 2) {
      const double scale = ldexp(1.0, sign * 340); /* some 10^±102 */
      test_bcsr b = full(n, 8);
      for (int32_t i = 0; i < n * n; i++) b.values[i] *= scale;
      result r = inverted(context, &b);
      for (int32_t i = 0; i < n * n; i++) r.inverse[i] *= scale;
      assert_memory_equal(plain.inverse, r.inverse, (size_t)(n * n) * sizeof *r.inverse);
      EXPECT_NEAR(plain.smallest, r.smallest / scale, 0);
      EXPECT_NEAR(plain.largest, r.largest / scale, 0);
      drop(context, r.inverse);
      test_bcsr_free(&b);
    }
    drop(context, plain.inverse);
    test_bcsr_free(&a);
  }
}

static void badly_scaled_rows_keep_their_digits(void **state) {
  (void)state;
  const int32_t n = 130;
  test_bcsr a = full(n, 9);
  for (int32_t i = 0; i < n; i++) {
    const double scale = ldexp(1.0, i % 13 * 10 - 60);
    for (int32_t k = 0; k < n; k++) a.values[i * n + k] *= scale;
    a.values[i * n + i] += scale * n; /* the scaled rows are well conditioned */
  }
  result r = inverted(context, &a);
  /* columns of the inverse carry the reciprocal scales */
  for (int32_t i = 0; i < n; i++) {
    const double scale = ldexp(1.0, i % 13 * 10 - 60);
    for (int32_t k = 0; k < n; k++) {
      r.inverse[i * n + k] *= scale;
      a.values[i * n + k] /= scale;
    }
  }
  /* pivots follow the scales, so that values grow; without scales the distance is 10⁻¹⁴ */
  EXPECT_NEAR(0.0, distance_from_identity(&a, &r), 1e-10);
  drop(context, r.inverse);
  test_bcsr_free(&a);
}

static void inverses_have_the_same_bits_for_every_number_of_threads(void **state) {
  (void)state;
  const int32_t n = 331;
  test_bcsr a = full(n, 10);
  result first = inverted(context, &a);
  double *x = test_random_vector(n, 1), *y = malloc((size_t)n * sizeof *y);
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *c = test_context(threads);
    result r = inverted(c, &a);
    assert_memory_equal(first.inverse, r.inverse, (size_t)(n * n) * sizeof *r.inverse);
    double *in = reserved(c, n), *out = reserved(c, n);
    EXPECT_OK(c, c->backend->memory->upload(c, in, x, (size_t)n * sizeof *x));
    EXPECT_OK(c, ops(c)->multiply(c, n, r.inverse, in, out));
    if (threads == 1) memcpy(y, out, (size_t)n * sizeof *y);
    assert_memory_equal(y, out, (size_t)n * sizeof *y);
    drop(c, in), drop(c, out), drop(c, r.inverse);
    bisai_context_destroy(&c);
  }
  free(x), free(y);
  drop(context, first.inverse);
  test_bcsr_free(&a);
}

static void products_equal_plain_loops(void **state) {
  (void)state;
  static const int32_t sizes[] = {1,  2,  3,   4,   5,   31,  32,  33,  63,
                                  64, 65, 127, 128, 129, 250, 512, 777, 1030};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int32_t n = sizes[k];
    double *matrix = test_random_vector((int64_t)n * n, 3), *x = test_random_vector(n, 4),
           *expected = calloc((size_t)n, sizeof *expected), *m = reserved(context, (int64_t)n * n),
           *in = reserved(context, n), *out = reserved(context, n);
    const bsi_memory_ops *memory = context->backend->memory;
    EXPECT_OK(context, memory->upload(context, m, matrix, (size_t)(n * n) * sizeof *m));
    EXPECT_OK(context, memory->upload(context, in, x, (size_t)n * sizeof *in));
    for (int32_t c = 0; c < n; c++)
      for (int32_t r = 0; r < n; r++) expected[r] += matrix[c * n + r] * x[c];
    for (int32_t r = 0; r < n; r++) out[r] = NAN;
    EXPECT_OK(context, ops(context)->multiply(context, n, m, in, out));
    EXPECT_CLOSE(n, expected, out, 2.3e-16 * n);
    drop(context, m), drop(context, in), drop(context, out);
    free(matrix), free(x), free(expected);
  }
}

/* Compares a few columns of a matrix of the largest size with unit vectors. */
static void the_largest_matrix_is_inverted(void **state) {
  (void)state;
  const int32_t n = test_on_device() ? 2048 : 512; /* takes seconds on the host */
  test_shape shape = test_shape_square(n / 4, 4, 12);
  test_bcsr a = test_bcsr_random(shape);
  result r = inverted(context, &a);
  double *unit = calloc((size_t)n, sizeof *unit), *product = malloc((size_t)n * sizeof *product);
  for (int32_t k = 0; k < n; k += 97) {
    memset(product, 0, (size_t)n * sizeof *product);
    for (int32_t i = 0; i < a.block_rows; i++)
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
        for (int c = 0; c < 4; c++)
          for (int row = 0; row < 4; row++)
            product[4 * i + row] +=
                a.values[(q * 4 + c) * 4 + row] * r.inverse[(int64_t)k * n + 4 * a.col_idx[q] + c];
    unit[k] = 1.0;
    EXPECT_CLOSE(n, unit, product, 1e-13);
    unit[k] = 0.0;
  }
  free(unit), free(product);
  drop(context, r.inverse);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_inverse_of_three_rows_by_hand),
      cmocka_unit_test(inverses_multiply_to_the_identity_at_every_size),
      cmocka_unit_test(inverses_of_sparse_blocks_equal_the_reference),
      cmocka_unit_test(permutations_are_inverted_exactly),
      cmocka_unit_test(singular_matrices_have_small_pivots),
      cmocka_unit_test(values_that_are_not_finite_are_reported_as_singular),
      cmocka_unit_test(scales_of_the_whole_matrix_change_nothing_else),
      cmocka_unit_test(badly_scaled_rows_keep_their_digits),
      cmocka_unit_test(inverses_have_the_same_bits_for_every_number_of_threads),
      cmocka_unit_test(products_equal_plain_loops),
      cmocka_unit_test(the_largest_matrix_is_inverted)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
