/* SPDX-License-Identifier: BSD-3-Clause */
/* Smaller patterns of approximate inverses: blocks dropped before powering and columns cut, against
 * their definitions by brute force. */
#include <math.h>

#include "fixture.h"
#include "isai.h"

enum { FAR = 1 << 20 };

static bisai_precond *make(bisai_context *c, const bisai_bcsr *matrix, const bisai_factors *factors,
                           int power, double drop, int32_t limit) {
  bisai_precond_options options = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  options.kind = BISAI_PRECOND_ISAI;
  options.isai.power = power;
  options.factor.factors = factors;
  options.isai.drop_tolerance = drop;
  options.isai.column_limit = limit;
  EXPECT_OK(c, bisai_precond_create(c, matrix, &options, &precond));
  return precond;
}

static double frobenius(const double *block, int32_t values) { return test_norm2(values, block); }

/* Steps from i to j in the graph of T that dropping leaves: all pairs, by relaxation. Counts what
 * was dropped. */
static int *distances(const bisai_bcsr *t, double drop, int64_t *dropped) {
  const int32_t n = bisai_bcsr_block_rows(t), bs = bisai_bcsr_block_size(t), *row_ptr, *col_idx;
  const void *stored;
  bisai_bcsr_arrays(t, &row_ptr, &col_idx, &stored);
  const double *values = stored;
  int *distance = malloc(sizeof *distance * (size_t)(n * n + 1));
  assert_non_null(distance);
  *dropped = 0;
  for (int32_t v = 0; v < n * n; v++) distance[v] = v / n == v % n ? 0 : FAR;
  for (int32_t i = 0; i < n; i++) {
    double diagonal = sqrt((double)bs);
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++)
      if (col_idx[q] == i) diagonal = frobenius(values + (size_t)(q * bs * bs), bs * bs);
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      if (col_idx[q] == i) continue;
      const bool small = frobenius(values + (size_t)(q * bs * bs), bs * bs) < drop * diagonal;
      *dropped += small;
      if (!small) distance[i * n + col_idx[q]] = 1;
    }
  }
  for (int32_t m = 0; m < n; m++)
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++)
        if (distance[i * n + m] + distance[m * n + j] < distance[i * n + j])
          distance[i * n + j] = distance[i * n + m] + distance[m * n + j];
  return distance;
}

static bool stored_at(const bisai_bcsr *a, int32_t i, int32_t j) {
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(a, &row_ptr, &col_idx, NULL);
  for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++)
    if (col_idx[q] == j) return true;
  return false;
}

/* How many of column j's candidates come before row i: fewer steps, or as many and nearer to the
 * diagonal. */
static int rank_in_column(const int *distance, int32_t n, int power, int32_t i, int32_t j) {
  int rank = 0;
  for (int32_t r = 0; r < n; r++) {
    const int d = distance[r * n + j], mine = distance[i * n + j];
    if (d <= power && (d < mine || (d == mine && abs(r - j) < abs(i - j)))) rank++;
  }
  return rank;
}

/* N's pattern is the definition's; adds up what was left out. */
static void expect_reduced(const bisai_bcsr *t, const bisai_bcsr *inverse, int power, double drop,
                           int32_t limit, int64_t *dropped, bisai_precond_report *expected) {
  const int32_t n = bisai_bcsr_block_rows(t);
  int *distance = distances(t, drop, dropped);
  for (int32_t j = 0; j < n; j++) {
    int32_t length = 0, kept = 0;
    for (int32_t i = 0; i < n; i++) {
      const bool candidate = distance[i * n + j] <= power;
      const bool wanted =
          candidate && (limit == 0 || rank_in_column(distance, n, power, i, j) < limit);
      if (stored_at(inverse, i, j) != wanted)
        fail_msg("block (%d, %d): %s", i, j, wanted ? "missing" : "not wanted");
      length += candidate;
      kept += wanted;
    }
    expected->isai.blocks += kept;
    expected->isai.shortened_columns += kept < length;
    expected->isai.cut_blocks += length - kept;
    if (kept > expected->isai.longest_column) expected->isai.longest_column = kept;
  }
  test_isai_expect_solved(t, inverse);
  free(distance);
}

static void expect_case(const test_bcsr *a, int power, double drop, int32_t limit) {
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  bisai_precond *precond = make(context, matrix, NULL, power, drop, limit);
  const bisai_factors *factors = bisai_precond_factors(precond);
  const bisai_precond_report report = test_report_of(context, precond);
  bisai_precond_report expected = {0};
  expect_reduced(bisai_factors_lower(factors), bisai_precond_lower_inverse(precond), power, drop,
                 limit, &expected.isai.dropped_lower, &expected);
  expect_reduced(bisai_factors_upper(factors), bisai_precond_upper_inverse(precond), power, drop,
                 limit, &expected.isai.dropped_upper, &expected);
  assert_int_equal(report.isai.dropped_lower, expected.isai.dropped_lower);
  assert_int_equal(report.isai.dropped_upper, expected.isai.dropped_upper);
  assert_int_equal(report.isai.shortened_columns, expected.isai.shortened_columns);
  assert_int_equal(report.isai.cut_blocks, expected.isai.cut_blocks);
  assert_int_equal(report.isai.blocks, expected.isai.blocks);
  assert_int_equal(report.isai.longest_column, expected.isai.longest_column);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void patterns_are_those_of_the_definition(void **state) {
  (void)state;
  static const double drops[] = {0.0, 0.05, 0.15, 0.4, 100.0};
  static const int32_t limits[] = {0, 1, 2, 3, 7, 1000};
  for (int32_t bs = 1; bs <= 9; bs++) {
    for (int kind = 0; kind < 2; kind++) {
      test_shape shape = test_shape_square(24, bs, (uint64_t)(77 + bs));
      shape.blocks_per_row = 4.0;
      test_bcsr a = kind == 0 ? test_bcsr_random(shape) : test_bcsr_grid(6, 4, bs, (uint64_t)bs);
      for (int d = 0; d < 5; d++)
        for (int l = 0; l < 6; l++) expect_case(&a, 1 + (d + l) % 4, drops[d], limits[l]);
      test_bcsr_free(&a);
    }
  }
}

static void sizes_0_and_1_are_legal(void **state) {
  (void)state;
  for (int32_t n = 0; n < 2; n++) {
    test_bcsr a = test_bcsr_grid(n, 1, 2, 1);
    expect_case(&a, 2, 0.5, 1);
    test_bcsr_free(&a);
  }
}

/* A general L of the caller's: its own diagonal blocks are what its blocks are compared with. */
static void a_general_lower_factor_is_measured_by_its_own_diagonal(void **state) {
  (void)state;
  static const int32_t l_ptr[] = {0, 1, 3, 6}, l_idx[] = {0, 0, 1, 0, 1, 2}, u_ptr[] = {0, 1, 2, 3},
                       u_idx[] = {0, 1, 2};
  static const double l[] = {1, 1, 100, 1, 3, 20}, u[] = {1e200, 1, 1};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  bisai_bcsr *lower = NULL, *upper = NULL;
  desc.block_rows = desc.block_cols = 3;
  desc.block_size = 1;
  desc.row_ptr = l_ptr, desc.col_idx = l_idx, desc.values = l;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &lower));
  desc.row_ptr = u_ptr, desc.col_idx = u_idx, desc.values = u;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &upper));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_precond *precond = make(context, lower, factors, 1, 0.1, 0);
  const bisai_precond_report report = test_report_of(context, precond);
  assert_int_equal(report.isai.dropped_lower, 2); /* 1 < 10 in row 1; 1 < 2 but 3 ≥ 2 in row 2 */
  assert_int_equal(report.isai.dropped_upper, 0);
  assert_false(stored_at(bisai_precond_lower_inverse(precond), 1, 0));
  assert_false(stored_at(bisai_precond_lower_inverse(precond), 2, 0));
  assert_true(stored_at(bisai_precond_lower_inverse(precond), 2, 1));
  bisai_precond_destroy(&precond);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

/* What is left out is decided at creation: other values, the same pattern. */
static void updates_keep_the_pattern(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(7, 7, 2, 1);
  bisai_bcsr *first = test_bcsr_make(context, &a);
  for (int32_t v = 0; v < 4 * test_bcsr_blocks(&a); v++) a.values[v] *= 1e-3;
  for (int32_t i = 0; i < 49; i++)
    for (int r = 0; r < 2; r++) test_bcsr_block(&a, i, i)[3 * r] += 1.0;
  bisai_bcsr *second = test_bcsr_make(context, &a);
  bisai_precond *precond = make(context, first, NULL, 2, 0.1, 5),
                *fresh = make(context, second, NULL, 2, 0.1, 5);
  const bisai_precond_report before = test_report_of(context, precond),
                             other = test_report_of(context, fresh);
  assert_true(other.isai.dropped_lower > before.isai.dropped_lower);
  EXPECT_OK(context, bisai_precond_update(precond, second));
  const bisai_precond_report after = test_report_of(context, precond);
  assert_int_equal(after.isai.blocks, before.isai.blocks);
  assert_int_equal(after.isai.dropped_lower, before.isai.dropped_lower);
  assert_int_equal(after.isai.dropped_upper, before.isai.dropped_upper);
  assert_int_equal(after.isai.shortened_columns, before.isai.shortened_columns);
  assert_int_equal(after.isai.cut_blocks, before.isai.cut_blocks);
  test_isai_expect_solved(bisai_factors_upper(bisai_precond_factors(precond)),
                          bisai_precond_upper_inverse(precond));
  assert_non_null(strstr(bisai_precond_describe(precond), "isai k=2 drop=0.1 cap=5 relax=0"));
  bisai_precond_destroy(&precond);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  test_bcsr_free(&a);
}

static void threads_give_the_same_pattern_and_report(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_random(test_shape_square(3000, 2, 9));
  bisai_context *contexts[2] = {test_context(1), test_context(4)};
  bisai_precond *precond[2];
  bisai_precond_report report[2];
  const void *values[2];
  for (int t = 0; t < 2; t++) {
    bisai_bcsr *matrix = test_bcsr_make(contexts[t], &a);
    precond[t] = make(contexts[t], matrix, NULL, 3, 0.15, 3);
    report[t] = test_report_of(contexts[t], precond[t]);
    bisai_bcsr_arrays(bisai_precond_lower_inverse(precond[t]), NULL, NULL, &values[t]);
    bisai_bcsr_destroy(&matrix);
  }
  assert_true(report[0].isai.shortened_columns > 100 && report[0].isai.dropped_lower > 100);
  assert_int_equal(report[0].isai.shortened_columns, report[1].isai.shortened_columns);
  assert_int_equal(report[0].isai.cut_blocks, report[1].isai.cut_blocks);
  assert_int_equal(report[0].isai.blocks, report[1].isai.blocks);
  assert_memory_equal(values[0], values[1],
                      4 * sizeof(double) *
                          (size_t)bisai_bcsr_blocks(bisai_precond_lower_inverse(precond[0])));
  for (int t = 0; t < 2; t++) {
    bisai_precond_destroy(&precond[t]);
    bisai_context_destroy(&contexts[t]);
  }
  test_bcsr_free(&a);
}

static void bad_reductions_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 1, 1));
  bisai_precond *precond = NULL;
  static const struct {
    double drop;
    int32_t limit;
    const char *message;
  } bad[] = {{-0.1, 0, "drop_tolerance -0.1: must be at least 0 and finite"},
             {INFINITY, 0, "drop_tolerance inf: must be at least 0 and finite"},
             {NAN, 0, NULL},
             {0, -1, "column_limit -1: at least 0 is needed"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = BISAI_PRECOND_ISAI;
    options.isai.drop_tolerance = bad[i].drop;
    options.isai.column_limit = bad[i].limit;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_precond_create(context, matrix, &options, &precond));
    if (bad[i].message) EXPECT_MESSAGE(context, bad[i].message);
  }
  assert_null(precond);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(patterns_are_those_of_the_definition),
      cmocka_unit_test(sizes_0_and_1_are_legal),
      cmocka_unit_test(a_general_lower_factor_is_measured_by_its_own_diagonal),
      cmocka_unit_test(updates_keep_the_pattern),
      cmocka_unit_test(threads_give_the_same_pattern_and_report),
      cmocka_unit_test(bad_reductions_are_refused),
  };
  return cmocka_run_group_tests_name("pattern_reduced", tests, setup, teardown);
}
