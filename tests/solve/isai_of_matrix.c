/* SPDX-License-Identifier: BSD-3-Clause */
/* ISAI of the matrix itself: A(J, J) N(J, j) = I(J, j), and FSPAI for a definite A, against dense
 * elimination of each small system, for every block size, power and storage.
 *
 * Matrices with dominant diagonals have small systems with κ near 10: 1e-12 is some thousand eps
 * for sums of up to a few hundred terms. */
#include "fixture.h"
#include "systems.h"

#include <math.h>

enum { N = 30 };

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_precond_options of_matrix(bool symmetric, int power) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.of = BISAI_INVERSE_OF_MATRIX;
  options.isai.symmetric = symmetric;
  options.isai.power = power;
  return options;
}

/* The scalar rows of column j's blocks in the pattern of N, and their number. */
static int rows_of_column(const bisai_bcsr *n, int32_t j, int64_t *rows) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  const int bs = bisai_bcsr_block_size(n);
  int count = 0;
  bisai_bcsr_arrays(n, &row_ptr, &col_idx, &values);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(n); i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      for (int r = 0; r < bs && col_idx[p] == j; r++) rows[count++] = (int64_t)i * bs + r;
  return count;
}

/* A(J, J) of a dense A, and the values of a column of a dense N in these rows. */
static double *part_of(int64_t n, const double *a, int m, const int64_t *rows) {
  double *part = malloc((size_t)(m * m + 1) * sizeof *part);
  for (int c = 0; c < m; c++)
    for (int r = 0; r < m; r++) part[c * m + r] = a[rows[c] * n + rows[r]];
  return part;
}

static double *column_of(int64_t n, const double *inverse, int64_t column, int m,
                         const int64_t *rows) {
  double *part = malloc((size_t)(m + 1) * sizeof *part);
  for (int r = 0; r < m; r++) part[r] = inverse[column * n + rows[r]];
  return part;
}

/* Fails unless the columns of N are the solutions of their systems, by dense elimination. */
static void expect_solutions(const bisai_bcsr *a, const bisai_bcsr *inverse) {
  const int bs = bisai_bcsr_block_size(a);
  const int64_t n = (int64_t)bisai_bcsr_block_rows(a) * bs;
  double *dense = test_dense(a), *found = test_dense(inverse);
  int64_t *rows = malloc((size_t)n * sizeof *rows);
  for (int64_t j = 0; j < n; j++) {
    const int m = rows_of_column(inverse, (int32_t)(j / bs), rows);
    double *system = part_of(n, dense, m, rows), *column = column_of(n, found, j, m, rows),
           *one = calloc((size_t)m + 1, sizeof *one);
    for (int r = 0; r < m; r++) one[r] = rows[r] == j;
    double *expected = test_dense_solve(m, system, one);
    EXPECT_CLOSE(m, expected, column, 1e-12 * fmax(1.0, test_largest(m, expected)));
    free(system);
    free(column);
    free(one);
    free(expected);
  }
  free(rows);
  free(dense);
  free(found);
}

/* Fails unless A(J, J) N(J, j) vanishes but in block j, where N(j, j) is upper triangular with a
 * positive diagonal and N(j, j)ᵀ times it is the identity: N(J, j) is no other matrix. */
static void expect_factors(const bisai_bcsr *a, double sign, const bisai_bcsr *inverse) {
  const int bs = bisai_bcsr_block_size(a);
  const int64_t n = (int64_t)bisai_bcsr_block_rows(a) * bs;
  double *dense = test_dense(a), *found = test_dense(inverse);
  int64_t *rows = malloc((size_t)n * sizeof *rows);
  for (int64_t v = 0; v < n * n; v++) dense[v] *= sign;
  for (int64_t j = 0; j < n; j++) {
    const int m = rows_of_column(inverse, (int32_t)(j / bs), rows);
    assert_true(rows[m - 1] == (j / bs + 1) * bs - 1); /* an upper triangle */
    double *system = part_of(n, dense, m, rows), *column = column_of(n, found, j, m, rows);
    double *product = test_dense_multiply(m, m, 1, system, column);
    for (int r = 0; r < m - bs; r++) EXPECT_NEAR(0.0, product[r], 1e-12);
    assert_true(found[j * n + j] > 0);
    for (int64_t c = j / bs * bs; c < (j / bs + 1) * bs; c++) {
      double sum = 0;
      if (c > j) assert_true(found[j * n + c] == 0);
      for (int r = 0; r < bs; r++) sum += found[c * n + j / bs * bs + r] * product[m - bs + r];
      EXPECT_NEAR(c == j, sum, 1e-12);
    }
    free(system);
    free(column);
    free(product);
  }
  free(rows);
  free(dense);
  free(found);
}

/* Fails unless an application is N v, or ±N Nᵀ v. */
static void expect_application(bisai_precond *precond, bool symmetric, double sign) {
  const bisai_bcsr *inverse = bisai_precond_upper_inverse(precond);
  const int64_t n = bisai_precond_rows(precond);
  double *v = test_random_vector(n, 5), *z = malloc((size_t)n * sizeof *z);
  double *dense = test_dense(inverse), *transposed = test_dense_transpose(n, n, dense);
  double *half = symmetric ? test_dense_multiply(n, n, 1, transposed, v) : test_random_vector(n, 5);
  double *expected = test_dense_multiply(n, n, 1, dense, half);
  for (int64_t i = 0; i < n; i++) expected[i] *= sign;
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  EXPECT_CLOSE(n, expected, z, 1e-13 * fmax(1.0, test_norm2(n, expected)));
  assert_null(bisai_precond_lower_inverse(precond));
  assert_null(bisai_precond_factors(precond));
  free(v);
  free(z);
  free(dense);
  free(transposed);
  free(half);
  free(expected);
}

static void columns_solve_their_systems(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++)
    for (int power = 1; power <= 3; power++) {
      const int32_t bs = block_sizes[s], rows = 6 + 48 / bs; /* dense products cost n³ */
      bisai_bcsr *matrix = test_bcsr_take(
          context, test_bcsr_random(test_shape_square(rows, bs, (uint64_t)(40 + bs))));
      const bisai_precond_options options = of_matrix(false, power);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      bisai_pattern *pattern = NULL;
      EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_WHOLE, power, &pattern));
      const bisai_precond_report report = test_report_of(context, precond);
      assert_int_equal(bisai_pattern_blocks(pattern), report.isai.blocks);
      assert_int_equal(bisai_pattern_longest_column(pattern), report.isai.longest_column);
      assert_int_equal(BISAI_SYMMETRY_NONE, report.symmetry);
      expect_solutions(matrix, bisai_precond_upper_inverse(precond));
      expect_application(precond, false, 1.0);
      bisai_pattern_destroy(&pattern);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
    }
}

/* Without row exchanges the first pivot would be zero. */
static void zeros_on_the_diagonal_need_row_exchanges(void **state) {
  (void)state;
  for (int s = 1; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    test_bcsr arrays = test_bcsr_random(test_shape_square(10, bs, (uint64_t)(70 + bs)));
    for (int32_t i = 0; i < 10; i++) { /* swaps the first two columns of each diagonal block */
      double *block = test_bcsr_block(&arrays, i, i);
      for (int r = 0; r < bs; r++) {
        const double value = block[r];
        block[r] = block[bs + r];
        block[bs + r] = value;
      }
      block[0] = 0;
    }
    bisai_bcsr *matrix = test_bcsr_take(context, arrays);
    const bisai_precond_options options = of_matrix(false, 2);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    expect_solutions(matrix, bisai_precond_upper_inverse(precond));
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

static void a_definite_matrix_gets_triangular_factors_of_its_inverse(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++)
    for (int power = 1; power <= 3; power++)
      for (int negative = 0; negative < 2; negative++) {
        const int32_t bs = block_sizes[s], rows = 6 + 48 / bs;
        const double sign = negative ? -1.0 : 1.0;
        test_bcsr arrays = test_bcsr_definite(rows, bs, (uint64_t)(300 + bs));
        for (int32_t v = 0; v < test_bcsr_blocks(&arrays) * bs * bs; v++) arrays.values[v] *= sign;
        bisai_bcsr *matrix = test_bcsr_take(context, arrays);
        const bisai_precond_options options = of_matrix(true, power);
        bisai_precond *precond = test_precond_with(context, matrix, &options);
        expect_factors(matrix, sign, bisai_precond_upper_inverse(precond));
        expect_application(precond, true, sign);
        const bisai_precond_report report = test_report_of(context, precond);
        assert_int_equal(BISAI_SYMMETRY_VALUES, report.symmetry);
        assert_true(report.isai.asymmetry == 0);
        bisai_precond_destroy(&precond);
        bisai_bcsr_destroy(&matrix);
      }
}

static void narrow_storage_rounds_the_inverse_alone(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++)
    for (int storage = BISAI_FP32; storage <= BISAI_BF16; storage++) {
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, 3, 17));
      bisai_precond_options options = of_matrix(symmetric, 2);
      bisai_precond *whole = test_precond_with(context, matrix, &options);
      options.isai.storage = (bisai_value_type)storage;
      bisai_precond *narrow = test_precond_with(context, matrix, &options);
      double *one = test_dense(bisai_precond_upper_inverse(whole)),
             *other = test_dense(bisai_precond_upper_inverse(narrow));
      /* half a unit in the last of 24, 11 and 8 bits, of values of at most 1 */
      static const double rounding[] = {0, 6e-8, 4.9e-4, 4e-3};
      EXPECT_CLOSE(9 * N * N, one, other, rounding[storage]);
      expect_application(narrow, symmetric, 1.0);
      free(one);
      free(other);
      bisai_precond_destroy(&whole);
      bisai_precond_destroy(&narrow);
      bisai_bcsr_destroy(&matrix);
    }
}

/* With all block rows in each column N is A⁻¹, and N Nᵀ too. */
static void with_a_full_pattern_it_solves_exactly(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(N, 2, 4.0, -1.0));
    const bisai_precond_options options = of_matrix(symmetric, N);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    double *x = test_random_vector(2 * N, 1), *b = malloc(2 * N * sizeof *b),
           *z = malloc(2 * N * sizeof *z);
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, x, b));
    EXPECT_OK(context, bisai_precond_apply(precond, b, z));
    EXPECT_CLOSE(2 * N, x, z, 1e-14);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    free(x);
    free(b);
    free(z);
  }
}

/* Long columns: systems of up to 80 and 240 rows, which are too large for a warp, and then for
 * the shared memory of a device. */
static void large_systems_are_solved(void **state) {
  (void)state;
  enum { LONG = 80 };
  for (int bs = 1; bs <= 3; bs += 2)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(LONG, bs, 23));
      const bisai_precond_options options = of_matrix(symmetric, 6);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      assert_true(test_report_of(context, precond).isai.longest_column > LONG / 2);
      if (symmetric)
        expect_factors(matrix, 1.0, bisai_precond_upper_inverse(precond));
      else
        expect_solutions(matrix, bisai_precond_upper_inverse(precond));
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
    }
}

static void several_vectors_are_applied_as_each_alone(void **state) {
  (void)state;
  enum { COUNT = 6 };
  for (int symmetric = 0; symmetric < 2; symmetric++)
    for (int s = 0; s < BLOCK_SIZES; s++) {
      const int64_t n = N * block_sizes[s], ld = n + 3;
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, block_sizes[s], 17));
      const bisai_precond_options options = of_matrix(symmetric, 2);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      double *v = test_random_vector(COUNT * ld, 8), *z = test_random_vector(COUNT * ld, 9),
             *alone = malloc((size_t)n * sizeof *alone);
      EXPECT_OK(context, bisai_precond_apply_many(precond, COUNT, v, ld, z, ld));
      for (int c = 0; c < COUNT; c++) {
        EXPECT_OK(context, bisai_precond_apply(precond, v + c * ld, alone));
        EXPECT_CLOSE(n, alone, z + c * ld, 1e-14 * test_norm2(n, alone));
      }
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      free(v);
      free(z);
      free(alone);
    }
}

/* The values of N, which the caller frees. */
static double *values_of(const bisai_precond *precond) {
  return test_dense(bisai_precond_upper_inverse(precond));
}

static void an_update_equals_creation_to_the_bit(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    test_bcsr arrays = test_bcsr_definite(N, 3, 90);
    bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
    const bisai_precond_options options = of_matrix(symmetric, 2);
    bisai_precond *updated = test_precond_with(context, matrix, &options);
    for (int32_t p = 0; p < test_bcsr_blocks(&arrays) * 9; p++) arrays.values[p] *= -1.5;
    for (int32_t i = 0; i < N; i++) *test_bcsr_block(&arrays, i, i) -= 0.25 * i;
    EXPECT_OK(context, bisai_bcsr_update(matrix, arrays.values, BISAI_COLUMN_MAJOR));
    EXPECT_OK(context, bisai_precond_update(updated, matrix));
    bisai_precond *created = test_precond_with(context, matrix, &options);
    double *one = values_of(updated), *other = values_of(created);
    assert_memory_equal(one, other, 9 * N * N * sizeof *one);
    expect_application(updated, symmetric, symmetric ? -1.0 : 1.0);
    free(one);
    free(other);
    bisai_precond_destroy(&created);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&arrays);
    matrix = test_bcsr_take(context, test_bcsr_tridiagonal(N, 3, 4.0, -1.0));
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(updated, matrix));
    EXPECT_IN_MESSAGE(context, "the pattern changed: 88 blocks, expected ");
    bisai_precond_destroy(&updated);
    bisai_bcsr_destroy(&matrix);
  }
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_definite(2100, 2, 5);
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    double *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *own = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(own, &arrays);
      const bisai_precond_options options = of_matrix(symmetric, 1);
      bisai_precond *precond = test_precond_with(own, matrix, &options);
      double *v = test_random_vector(4200, 12), *z = malloc(4200 * sizeof *z);
      EXPECT_OK(own, bisai_precond_apply(precond, v, z));
      if (!first) first = z;
      assert_memory_equal(first, z, 4200 * sizeof *z);
      if (first != z) free(z);
      free(v);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
    }
    free(first);
  }
  test_bcsr_free(&arrays);
}

static int iterations_with(bisai_precond_options options, bisai_method method,
                           const bisai_bcsr *matrix) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  bisai_solver_options how = bisai_solver_options_default();
  how.method = method;
  double *b = test_random_vector(n, 21), *x = malloc((size_t)n * sizeof *x);
  bisai_solver_report report = test_report();
  EXPECT_OK(context, test_solve(context, &how, matrix, precond, b, x, &report));
  assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
  free(b);
  free(x);
  bisai_precond_destroy(&precond);
  return report.iterations;
}

/* 60 × 60 points, −Δ: the larger the pattern, the fewer iterations of CG and of GMRES. */
static void larger_patterns_take_fewer_iterations(void **state) {
  (void)state;
  enum { SIDE = 60 };
  test_bcsr arrays = test_bcsr_grid(SIDE, SIDE, 1, 1);
  for (int32_t i = 0; i < SIDE * SIDE; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
      arrays.values[p] = arrays.col_idx[p] == i ? 4 : -1;
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  bisai_precond_options jacobi = bisai_precond_options_default();
  jacobi.kind = BISAI_PRECOND_BJACOBI;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    const bisai_method method = symmetric ? BISAI_CG : BISAI_GMRES;
    int last = iterations_with(jacobi, method, matrix);
    for (int power = 1; power <= 3; power++) {
      const int now = iterations_with(of_matrix(symmetric, power), method, matrix);
      assert_true(now < last);
      last = now;
    }
  }
  bisai_bcsr_destroy(&matrix);
}

static void patterns_are_given_or_reduced(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_definite(N, 2, 8));
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    bisai_pattern *pattern = NULL;
    EXPECT_OK(context, bisai_pattern_power(context, matrix, symmetric ? BISAI_UPPER : BISAI_WHOLE,
                                           2, &pattern));
    bisai_precond_options options = of_matrix(symmetric, 2);
    bisai_precond *powered = test_precond_with(context, matrix, &options);
    options.isai.power = 1;
    if (symmetric)
      options.isai.upper_pattern = pattern;
    else
      options.isai.whole_pattern = pattern;
    bisai_precond *given = test_precond_with(context, matrix, &options);
    double *one = values_of(powered), *other = values_of(given);
    assert_memory_equal(one, other, 4 * N * N * sizeof *one);
    assert_string_equal(symmetric ? "isai of=matrix patterns=given symmetric storage=fp64"
                                  : "isai of=matrix patterns=given storage=fp64",
                        strtok((char *)(uintptr_t)bisai_precond_describe(given), ","));
    free(one);
    free(other);
    bisai_precond_destroy(&powered);
    bisai_precond_destroy(&given);
    bisai_pattern_destroy(&pattern);
    /* everything but the diagonal is dropped: M is block-Jacobi's */
    options = of_matrix(symmetric, 1);
    options.isai.drop_tolerance = 1e3;
    bisai_precond *dropped = test_precond_with(context, matrix, &options);
    const bisai_precond_report report = test_report_of(context, dropped);
    assert_int_equal(N, report.isai.blocks);
    assert_int_equal(bisai_bcsr_blocks(matrix) - N, report.isai.dropped_upper);
    bisai_precond_options jacobi = bisai_precond_options_default();
    jacobi.kind = BISAI_PRECOND_BJACOBI;
    bisai_precond *blocks = test_precond_with(context, matrix, &jacobi);
    double *v = test_random_vector(2 * N, 3), z[2 * N], expected[2 * N];
    EXPECT_OK(context, bisai_precond_apply(dropped, v, z));
    EXPECT_OK(context, bisai_precond_apply(blocks, v, expected));
    EXPECT_CLOSE(2 * N, expected, z, 1e-14);
    free(v);
    bisai_precond_destroy(&blocks);
    bisai_precond_destroy(&dropped);
  }
  bisai_precond_options options = of_matrix(true, 3);
  options.isai.column_limit = 2;
  bisai_precond *cut = test_precond_with(context, matrix, &options);
  assert_int_equal(2, test_report_of(context, cut).isai.longest_column);
  assert_true(test_report_of(context, cut).isai.cut_blocks > 0);
  bisai_precond_destroy(&cut);
  bisai_bcsr_destroy(&matrix);
}

static void options_without_effect_are_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(4, 1, 4.0, -1.0));
  bisai_precond *none = NULL;
  bisai_pattern *upper = NULL, *whole = NULL;
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_UPPER, 1, &upper));
  EXPECT_OK(context, bisai_pattern_power(context, matrix, BISAI_WHOLE, 1, &whole));
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
#define EXPECT_REFUSED(symmetric, assignment, name)                                                \
  do {                                                                                             \
    bisai_precond_options o = of_matrix(symmetric, 1);                                             \
    o.assignment;                                                                                  \
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,                                                 \
                  bisai_precond_create(context, matrix, &o, &none));                               \
    EXPECT_MESSAGE(context, name);                                                                 \
  } while (0)
  EXPECT_REFUSED(false, factor.level = 1, "isai of the matrix takes no level");
  EXPECT_REFUSED(false, factor.least_pivot = 0.1, "isai of the matrix takes no least_pivot");
  EXPECT_REFUSED(false, factor.update_sweeps = 1, "isai of the matrix takes no update_sweeps");
  EXPECT_REFUSED(false, factor.factors = factors, "isai of the matrix takes no factors");
  EXPECT_REFUSED(false, factor.matching = BISAI_MATCHING_BLOCKS,
                 "isai of the matrix takes no matching");
  EXPECT_REFUSED(false, shift = BISAI_SHIFT_IN_BLOCKS, "isai of the matrix takes no shift");
  EXPECT_REFUSED(false, isai.relax = 1, "isai of the matrix takes no relax");
  EXPECT_REFUSED(false, isai.lower_pattern = upper, "isai of the matrix takes no lower_pattern");
  EXPECT_REFUSED(false, isai.upper_pattern = upper,
                 "isai of the matrix takes no upper_pattern without symmetric");
  EXPECT_REFUSED(false, isai.column_limit = 3,
                 "isai of the matrix takes no column_limit without symmetric");
  EXPECT_REFUSED(true, isai.whole_pattern = whole,
                 "isai of the matrix takes no whole_pattern with symmetric");
  EXPECT_REFUSED(false, isai.whole_pattern = upper,
                 "whole_pattern is a pattern of another triangle");
  EXPECT_REFUSED(true, isai.upper_pattern = whole,
                 "upper_pattern is a pattern of another triangle");
#undef EXPECT_REFUSED
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.whole_pattern = whole;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "whole_pattern: NL and NU are triangular");
  assert_null(none);
  assert_int_equal(-1, bisai_pattern_levels(whole));
  bisai_factors_destroy(&factors);
  bisai_pattern_destroy(&upper);
  bisai_pattern_destroy(&whole);
  bisai_bcsr_destroy(&matrix);
}

static void what_has_no_inverse_is_named(void **state) {
  (void)state;
  bisai_precond *none = NULL;
  test_bcsr arrays = test_bcsr_tridiagonal(5, 2, 4.0, -1.0);
  double *block = test_bcsr_block(&arrays, 3, 3);
  block[0] = -4;
  bisai_bcsr *matrix = test_bcsr_make(context, &arrays);
  bisai_precond_options options = of_matrix(true, 1);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "the matrix is not definite, as the system of block column 3 of its "
                          "inverse shows");
  bisai_bcsr_destroy(&matrix);
  for (int32_t j = 2; j < 5; j++) memset(test_bcsr_block(&arrays, 3, j), 0, 4 * sizeof *block);
  matrix = test_bcsr_make(context, &arrays);
  options = of_matrix(false, 1);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "block column 2 of the inverse: its system is singular");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&arrays);
  arrays = test_bcsr_tridiagonal(5, 2, 4.0, -1.0);
  for (int32_t p = 0; p < 13 * 4; p++) arrays.values[p] *= 1e-12;
  matrix = test_bcsr_make(context, &arrays);
  bisai_bcsr *single = test_bcsr_single(context, &arrays);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_create(context, single, &options, &none));
  EXPECT_MESSAGE(context, "isai of the matrix needs fp64 values");
  bisai_bcsr_destroy(&single);
  options.isai.storage = BISAI_FP16;
  EXPECT_STATUS(context, BISAI_OVERFLOW, bisai_precond_create(context, matrix, &options, &none));
  EXPECT_MESSAGE(context, "the inverse: block (0, 0) does not fit its storage type");
  assert_null(none);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&arrays);
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_definite(40, 3, 1);
  for (int symmetric = 0; symmetric < 2; symmetric++)
    for (int power = 1; power <= 6; power += 5)
      for (long long fail_at = 1;; fail_at++) {
        test_allocator allocator;
        test_allocator_reset(&allocator, 0);
        bisai_context *c = test_context_on(&allocator, 2);
        bisai_bcsr *matrix = test_bcsr_make(c, &arrays);
        bisai_precond *precond = NULL;
        const bisai_precond_options options = of_matrix(symmetric, power);
        allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
        const bisai_status status = bisai_precond_create(c, matrix, &options, &precond);
        allocator.fail_at = 0;
        assert_true(status ? !precond : precond != NULL);
        if (!status) { /* updates and applications allocate nothing */
          double *v = test_vector_in_place(120, 1), *z = test_vector_in_place(120, 2);
          const long long calls = atomic_load(&allocator.calls);
          EXPECT_OK(c, bisai_precond_update(precond, matrix));
          EXPECT_OK(c, bisai_precond_apply(precond, v, z));
          assert_int_equal(calls, atomic_load(&allocator.calls));
          test_vector_free(v);
          test_vector_free(z);
        }
        bisai_precond_destroy(&precond);
        bisai_bcsr_destroy(&matrix);
        bisai_context_destroy(&c);
        assert_int_equal(atomic_load(&allocator.live_blocks), 0);
        if (!status) break;
        assert_int_equal(status, BISAI_OUT_OF_MEMORY);
      }
  test_bcsr_free(&arrays);
}

static void a_matrix_without_rows_has_an_inverse(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(0, 2, 1.0, 1.0));
    const bisai_precond_options options = of_matrix(symmetric, 2);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    EXPECT_OK(context, bisai_precond_apply(precond, NULL, NULL));
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_solve_their_systems),
      cmocka_unit_test(zeros_on_the_diagonal_need_row_exchanges),
      cmocka_unit_test(a_definite_matrix_gets_triangular_factors_of_its_inverse),
      cmocka_unit_test(narrow_storage_rounds_the_inverse_alone),
      cmocka_unit_test(with_a_full_pattern_it_solves_exactly),
      cmocka_unit_test(large_systems_are_solved),
      cmocka_unit_test(several_vectors_are_applied_as_each_alone),
      cmocka_unit_test(an_update_equals_creation_to_the_bit),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(larger_patterns_take_fewer_iterations),
      cmocka_unit_test(patterns_are_given_or_reduced),
      cmocka_unit_test(options_without_effect_are_refused_by_name),
      cmocka_unit_test(what_has_no_inverse_is_named),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(a_matrix_without_rows_has_an_inverse),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
