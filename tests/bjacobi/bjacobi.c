/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi: z_i = A_ii⁻¹ v_i. */
#include "fixture.h"
#include "preconds.h"

#include <float.h>
#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_status create(bisai_context *c, const bisai_bcsr *matrix, bisai_precond **precond) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  return bisai_precond_create(c, matrix, &options, precond);
}

static bisai_precond *bjacobi_of(bisai_context *c, const bisai_bcsr *matrix) {
  bisai_precond *precond = NULL;
  EXPECT_OK(c, create(c, matrix, &precond));
  return precond;
}

/* z is the solution of every diagonal block's own system, to 32·bs·eps·κ (see test_block_math). */
static void expect_applied(const test_bcsr *a, bisai_precond *precond) {
  const int32_t bs = a->block_size;
  const int64_t n = (int64_t)a->block_rows * bs;
  double *v = test_random_vector(n, 1), *z = test_random_vector(n, 2);
  for (int64_t i = 0; i < n; i++) z[i] = (double)NAN;
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int32_t i = 0; i < a->block_rows; i++) {
    const double *block = test_bcsr_block(a, i, i);
    double *expected = test_dense_solve(bs, block, v + (int64_t)i * bs);
    assert_non_null(expected);
    const double tolerance =
        32.0 * bs * DBL_EPSILON * test_dense_condition1(bs, block) * test_norm2(bs, expected);
    EXPECT_CLOSE(bs, expected, z + (int64_t)i * bs, tolerance);
    free(expected);
  }
  free(v);
  free(z);
}

static void every_block_size_solves_its_diagonal_blocks(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    test_bcsr a = test_bcsr_random(test_shape_square(15, block_sizes[s], (uint64_t)s));
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bisai_precond *precond = bjacobi_of(context, matrix);
    bisai_bcsr_destroy(&matrix); /* read during the call only */
    expect_applied(&a, precond);
    bisai_precond_destroy(&precond);
    test_bcsr_free(&a);
  }
}

/* Random diagonal blocks with a zero diagonal each: without pivoting the sizes beyond 5 fail. */
static void blocks_with_zero_diagonals_are_pivoted(void **state) {
  (void)state;
  for (int32_t bs = 2; bs <= 9; bs++) {
    test_bcsr a = test_bcsr_random(test_shape_square(20, bs, (uint64_t)(50 + bs)));
    test_random random = test_random_seed((uint64_t)bs);
    for (int32_t i = 0; i < a.block_rows; i++) {
      double *block = test_bcsr_block(&a, i, i);
      for (int32_t k = 0; k < bs * bs; k++) {
        block[k] = k % (bs + 1) == 0 ? 0.0
                                     : test_random_uniform(&random, -1.0, 1.0) +
                                           (k / bs == (k + 1) % bs ? 3.0 : 0.0);
      }
    }
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bisai_precond *precond = bjacobi_of(context, matrix);
    expect_applied(&a, precond);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
  }
}

static void diagonal_blocks_alone_matter(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(5, 5, 3, 1);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond *first = bjacobi_of(context, matrix);
  for (int32_t i = 0; i < a.block_rows; i++) {
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      for (int32_t k = 0; k < 9 && a.col_idx[p] != i; k++) a.values[9 * p + k] = 1e300;
  }
  bisai_bcsr *other = test_bcsr_make(context, &a);
  bisai_precond *second = bjacobi_of(context, other);
  assert_true(test_same_bits(context, first, second));
  bisai_precond_destroy(&first);
  bisai_precond_destroy(&second);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&other);
  test_bcsr_free(&a);
}

static void expect_refused(const test_bcsr *a, bisai_status status, const char *message) {
  bisai_precond *const untouched = (bisai_precond *)(uintptr_t)64;
  bisai_precond *precond = untouched;
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  EXPECT_STATUS(context, status, create(context, matrix, &precond));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(precond, untouched);
  bisai_bcsr_destroy(&matrix);
}

static void missing_diagonal_names_the_first_row(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 1, 2, 4, 5}, col_idx[] = {0, 3, 0, 2, 1};
  double values[5] = {1, 1, 1, 1, 1};
  test_bcsr a = {4, 4, 1, row_ptr, col_idx, values};
  expect_refused(&a, BISAI_MISSING_DIAGONAL, "block row 1 has no diagonal block");
  int32_t empty_ptr[] = {0, 0, 0};
  a = (test_bcsr){2, 2, 1, empty_ptr, col_idx, values};
  expect_refused(&a, BISAI_MISSING_DIAGONAL, "block row 0 is empty: the matrix is singular");
}

/* Rows of no, few and all columns around a diagonal of powers of two, but none in the columns
 * beside it: in a holed row there is a block instead of the diagonal one; in a shifted row instead
 * of the one two columns to the left. All have as many blocks. */
typedef enum spoilt { HOLED, SHIFTED } spoilt;

static test_bcsr ragged(int32_t n, int32_t wide, spoilt how, int32_t count,
                        const int32_t *spoilt_rows) {
  test_bcsr a = {n, n, 1, calloc((size_t)n + 1, sizeof *a.row_ptr), NULL, NULL};
  const size_t most = (size_t)n * 10;
  a.col_idx = malloc(most * sizeof *a.col_idx);
  a.values = malloc(most * sizeof *a.values);
  int32_t q = 0;
  for (int32_t i = 0; i < n; i++) {
    const int32_t left = i == wide ? n : i % 4, right = i == wide ? n : i / 4 % 5;
    bool spoil = false;
    for (int32_t k = 0; k < count; k++)
      spoil = spoil || (spoilt_rows[k] == i && (how == HOLED || i > 0));
    const int32_t from = i == wide || i < 6 ? 0 : i - 6, to = i == wide || i + 7 > n ? n : i + 7;
    for (int32_t c = from; c < to; c++) {
      const bool aside = c < i - 1 ? i - c <= left + 1 && !(spoil && how == SHIFTED && c == i - 2)
                                   : c > i + 1 && c - i <= right + 1;
      const bool own = spoil && how == HOLED ? c == (i + 1 < n ? i + 1 : i - 1)
                                             : c == i || (spoil && how == SHIFTED && c == i + 1);
      if (!aside && !own) continue;
      a.col_idx[q] = c;
      a.values[q++] = c == i ? ldexp(1.0, i % 30 - 15) : 3.0;
    }
    a.row_ptr[i + 1] = q;
  }
  return a;
}

static void diagonals_are_found_in_rows_of_any_length(void **state) {
  (void)state;
  enum { N = 9000 };
  static const int32_t rows[] = {8998, 8193, 4097, 33, 0};
  test_bcsr good = ragged(N, 4100, HOLED, 0, NULL);
  bisai_bcsr *matrix = test_bcsr_make(context, &good);
  bisai_precond *precond = bjacobi_of(context, matrix);
  double *v = test_random_vector(N, 1), *z = test_random_vector(N, 2);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int32_t i = 0; i < N; i++) assert_true(z[i] == ldexp(v[i], 15 - i % 30));
  for (int k = 0; k < 5; k++) {
    char expected[80];
    test_bcsr holed = ragged(N, 4100, HOLED, k + 1, rows),
              shifted = ragged(N, 4100, SHIFTED, k + 1, rows);
    snprintf(expected, sizeof expected, "block row %d has no diagonal block", rows[k]);
    expect_refused(&holed, BISAI_MISSING_DIAGONAL, expected);
    const int32_t first = rows[k] > 0 ? rows[k] : 33; /* row 0 has nothing to its left */
    bisai_bcsr *others[] = {test_bcsr_take(context, holed), test_bcsr_take(context, shifted)};
    for (int how = 0; how < 2; how++) {
      snprintf(expected, sizeof expected,
               "the pattern changed: block row %d has its diagonal block elsewhere",
               how == HOLED ? rows[k] : first);
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, others[how]));
      EXPECT_MESSAGE(context, expected);
    }
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = BISAI_PRECOND_BJACOBI;
    options.shift = BISAI_SHIFT_IN_BLOCKS;
    bisai_precond *repaired = NULL;
    EXPECT_OK(context, bisai_precond_create(context, others[HOLED], &options, &repaired));
    const bisai_precond_report report = test_report_of(context, repaired);
    assert_int_equal(report.repairs, k + 1);
    assert_int_equal(report.first_repair_row, rows[k]);
    EXPECT_OK(context, bisai_precond_update(repaired, others[HOLED]));
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(repaired, matrix));
    snprintf(expected, sizeof expected,
             "the pattern changed: block row %d has its diagonal block elsewhere", rows[k]);
    EXPECT_MESSAGE(context, expected);
    bisai_precond_destroy(&repaired);
    for (int how = 0; how < 2; how++) bisai_bcsr_destroy(&others[how]);
  }
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&good);
  free(v);
  free(z);
}

/* Enough rows that several threads invert them; the first is named whichever finds its own
 * first. */
static void singular_block_names_the_first_row(void **state) {
  (void)state;
  static const int32_t singular[] = {2999, 1234, 17};
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr a = test_bcsr_tridiagonal(3000, bs, 2.0, 1.0);
    for (size_t i = 0; i < sizeof singular / sizeof singular[0]; i++) {
      char expected[64];
      snprintf(expected, sizeof expected, "block row %d: the diagonal block is singular",
               singular[i]);
      test_bcsr_block(&a, singular[i], singular[i])[bs * bs - 1] = 0.0; /* its last column */
      expect_refused(&a, BISAI_SINGULAR_BLOCK, expected);
    }
    test_bcsr_free(&a);
  }
}

/* Zero blocks before the factorisation are regular after it: block-Jacobi fails, ILU works. */
static void saddle_points_fail_here_and_work_with_ilu(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4}, col_idx[] = {0, 1, 0, 1};
  double values[16] = {1, 0, 0, 1, 2, 1, 1, 3, 1, 1, 0, 2, 0, 0, 0, 0};
  test_bcsr a = {2, 2, 2, row_ptr, col_idx, values};
  expect_refused(&a, BISAI_SINGULAR_BLOCK, "block row 1: the diagonal block is singular");
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create_text(context, matrix, "ilu", &precond));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* Values are read as doubles: anything narrower must be refused, at set-up and at update. */
static void narrow_matrices_are_refused(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(2, 1, 2.0, 0.0);
  bisai_bcsr *narrow = test_bcsr_single(context, &a), *wide = test_bcsr_take(context, a);
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, create(context, narrow, &precond));
  assert_null(precond);
  precond = bjacobi_of(context, wide);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_update(precond, narrow));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&wide);
  bisai_bcsr_destroy(&narrow);
}

static void matrix_without_rows_is_legal(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 4, 1)));
  bisai_precond *precond = bjacobi_of(context, matrix);
  double none = 1.0;
  EXPECT_OK(context, bisai_precond_apply(precond, &none, &none));
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void fallbacks_and_the_largest_condition_are_reported(void **state) {
  (void)state;
  for (int32_t bs = 2; bs <= 6; bs++) {
    test_bcsr a = test_bcsr_tridiagonal(700, bs, 1.0, 0.25);
    test_bcsr_block(&a, 123, 123)[bs * bs - 1] = 1e-9;
    test_bcsr_block(&a, 600, 600)[0] = 1e-8;
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bisai_precond *precond = bjacobi_of(context, matrix);
    bisai_precond_report report = test_report_of(context, precond);
    assert_int_equal(report.kind, BISAI_PRECOND_BJACOBI);
    /* without cofactors, which a device does not use here, there is nothing to fall back from */
    assert_int_equal(report.fallbacks, bs <= 5 && !test_on_device() ? 2 : 0);
    assert_int_equal(report.repairs, 0);
    EXPECT_NEAR(1.0, report.largest_condition / 1e9, 1e-12);
    assert_int_equal(report.largest_condition_row, 123);
    assert_int_equal(report.factor.blocks, 0);
    assert_int_equal(report.isai.blocks, 0);
    assert_true(report.factor_seconds == 0.0);
    assert_true(report.memory_bytes >= 700 * 8 * (int64_t)bs * bs);
    assert_int_equal(report.apply_bytes, 700 * 8 * (int64_t)bs * bs + 2 * 8 * 700 * (int64_t)bs);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
  }
}

static void update_equals_a_fresh_set_up_and_allocates_nothing(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    const int64_t n = 600 * (int64_t)bs;
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *counted = test_context_on(&allocator, 3);
    test_bcsr a = test_bcsr_grid(30, 20, bs, 1);
    bisai_bcsr *first = test_bcsr_make(counted, &a);
    for (int32_t i = 0; i < 600; i++) test_bcsr_block(&a, i, i)[0] += 1.0 + i;
    bisai_bcsr *second = test_bcsr_take(counted, a);
    bisai_precond *updated = bjacobi_of(counted, first), *fresh = bjacobi_of(counted, second);
    double *v = test_random_vector(n, 3), *x = test_random_vector(n, 4),
           *y = test_random_vector(n, 5);
    const long long calls = atomic_load(&allocator.calls);
    EXPECT_OK(counted, bisai_precond_update(updated, second));
    assert_int_equal(atomic_load(&allocator.calls), calls);
    EXPECT_OK(counted, bisai_precond_apply(updated, v, x));
    /* where v and x are copied */
    if (!test_on_device()) assert_int_equal(atomic_load(&allocator.calls), calls);
    EXPECT_OK(counted, bisai_precond_apply(fresh, v, y));
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    bisai_precond_destroy(&updated);
    bisai_precond_destroy(&fresh);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
    bisai_context_destroy(&counted);
    free(v);
    free(x);
    free(y);
  }
}

static void failed_update_is_not_ready_until_one_succeeds(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 4, 2, 1);
  bisai_bcsr *good = test_bcsr_make(context, &a);
  memset(test_bcsr_block(&a, 9, 9), 0, 4 * sizeof(double));
  bisai_bcsr *bad = test_bcsr_make(context, &a);
  bisai_precond *precond = bjacobi_of(context, good);
  double *v = test_random_vector(32, 1), x[32], y[32];
  EXPECT_OK(context, bisai_precond_apply(precond, v, x));
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, bad));
  EXPECT_MESSAGE(context, "block row 9: the diagonal block is singular");
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, y));
  EXPECT_MESSAGE(context, "the preconditioner's last update failed");
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply_many(precond, 1, v, 32, y, 32));
  EXPECT_OK(context, bisai_precond_update(precond, good));
  EXPECT_OK(context, bisai_precond_apply(precond, v, y));
  assert_memory_equal(x, y, sizeof x);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
  test_bcsr_free(&a);
  free(v);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_block_size_solves_its_diagonal_blocks),
      cmocka_unit_test(blocks_with_zero_diagonals_are_pivoted),
      cmocka_unit_test(diagonal_blocks_alone_matter),
      cmocka_unit_test(missing_diagonal_names_the_first_row),
      cmocka_unit_test(diagonals_are_found_in_rows_of_any_length),
      cmocka_unit_test(singular_block_names_the_first_row),
      cmocka_unit_test(saddle_points_fail_here_and_work_with_ilu),
      cmocka_unit_test(narrow_matrices_are_refused),
      cmocka_unit_test(matrix_without_rows_is_legal),
      cmocka_unit_test(fallbacks_and_the_largest_condition_are_reported),
      cmocka_unit_test(update_equals_a_fresh_set_up_and_allocates_nothing),
      cmocka_unit_test(failed_update_is_not_ready_until_one_succeeds),
  };
  return cmocka_run_group_tests_name("bjacobi", tests, setup, teardown);
}
