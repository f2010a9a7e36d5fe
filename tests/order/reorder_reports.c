/* SPDX-License-Identifier: BSD-3-Clause */
/* What preconditioners that reorder and equilibrate report, and what they refuse. */
#include "reordered.h"

/* --- reports --- */

/* A grid of 20 × 4 points. */
enum { LINE = 20, LINES = 4, POINTS = LINE * LINES, SIZE = 2 };

/* The grid with its block rows in a random order. */
static bisai_bcsr *shuffled_grid(void) {
  test_bcsr grid = test_bcsr_grid(LINE, LINES, SIZE, 1);
  int32_t *shuffle = test_random_permutation(POINTS, 1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_permuted(&grid, shuffle));
  test_bcsr_free(&grid);
  free(shuffle);
  return matrix;
}

/* Block ILU of the grid line by line. */
static bisai_precond_report report_of_regular_grid(void) {
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(LINE, LINES, SIZE, 1));
  const bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report report = test_report_of(context, precond);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  return report;
}

/* Block ILU of the shuffled grid, reordered and equilibrated. */
static bisai_precond *reordered_ilu(const bisai_bcsr *shuffled) {
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = BISAI_ORDERING_RCM;
  options.factor.equilibrate = true;
  return test_precond_with(context, shuffled, &options);
}

static bisai_precond_report report_of_shuffled_grid(void) {
  bisai_bcsr *matrix = shuffled_grid();
  bisai_precond *precond = reordered_ilu(matrix);
  const bisai_precond_report report = test_report_of(context, precond);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  return report;
}

static void the_natural_ordering_reports_levels_bandwidth_and_profile(void **state) {
  (void)state;
  const bisai_precond_report report = report_of_regular_grid();
  assert_int_equal(report.factor.ordering, BISAI_ORDERING_NATURAL);
  assert_int_equal(report.factor.lower_levels, LINE + LINES - 1);
  assert_int_equal(report.factor.upper_levels, LINE + LINES - 1);
  assert_int_equal(report.factor.bandwidth, LINE);
  assert_int_equal(report.factor.natural_bandwidth, LINE);
  /* the points of the first line reach back by 1, and the others by a line */
  assert_int_equal(report.factor.profile, (LINE - 1) + (POINTS - LINE) * LINE);
  assert_int_equal(report.factor.natural_profile, report.factor.profile);
}

static void rcm_reports_a_smaller_bandwidth_and_profile(void **state) {
  (void)state;
  const bisai_precond_report report = report_of_shuffled_grid();
  assert_int_equal(report.factor.ordering, BISAI_ORDERING_RCM);
  assert_true(report.factor.natural_bandwidth > POINTS / 2);
  assert_true(report.factor.natural_profile > POINTS * 10);
  /* levels of the breadth-first search are short lines, and have a few points more */
  assert_true(report.factor.bandwidth <= LINES + 2);
  assert_true(report.factor.profile < POINTS * (LINES + 2));
}

static void the_report_says_whether_a_matrix_is_equilibrated(void **state) {
  (void)state;
  const bisai_precond_report plain = report_of_regular_grid(),
                             equilibrated = report_of_shuffled_grid();
  assert_false(plain.factor.equilibrated);
  EXPECT_NEAR(1.0, plain.factor.smallest_scale, 0.0);
  EXPECT_NEAR(1.0, plain.factor.largest_scale, 0.0);
  assert_true(equilibrated.factor.equilibrated);
}

static void the_report_counts_the_memory_and_traffic_of_reordering(void **state) {
  (void)state;
  const bisai_precond_report plain = report_of_regular_grid(),
                             reordered = report_of_shuffled_grid();
  assert_true(reordered.memory_bytes > plain.memory_bytes);
  /* for each of two vectors: read and write a block, read its scales, read its place */
  assert_int_equal(reordered.apply_bytes, plain.apply_bytes + 2 * POINTS * (3 * SIZE * 8 + 4));
}

static void the_time_of_ordering_is_part_of_the_set_up(void **state) {
  (void)state;
  const bisai_precond_report report = report_of_shuffled_grid();
  assert_true(report.order_seconds > 0.0 && report.order_seconds <= report.setup_seconds);
}

static void the_description_names_ordering_and_equilibration(void **state) {
  (void)state;
  bisai_bcsr *matrix = shuffled_grid();
  bisai_precond *precond = reordered_ilu(matrix);
  assert_string_equal(bisai_precond_describe(precond),
                      "ilu schedule=auto, 352 blocks in L + U, ordering=rcm, equilibrated");
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* --- the caller's rows --- */

/* The order of 20 block rows in which the caller's last one is eliminated first, so that nothing is
 * subtracted from its diagonal block. Messages and reports have the caller's number. */
enum { BACKWARDS = 20 };
static const int32_t backwards[BACKWARDS] = {19, 18, 17, 16, 15, 14, 13, 12, 11, 10,
                                             9,  8,  7,  6,  5,  4,  3,  2,  1,  0};

static bisai_precond_options backwards_options(bisai_precond_kind kind) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = backwards;
  return options;
}

/* Returns a grid whose last diagonal block is diag(first, others, others). */
static bisai_bcsr *grid_with_last_block(double first, double others) {
  test_bcsr a = test_bcsr_grid(5, 4, 3, 2);
  double *block = test_bcsr_block(&a, 19, 19);
  for (int v = 0; v < 9; v++) block[v] = v % 4 != 0 ? 0.0 : v == 0 ? first : others;
  return test_bcsr_take(context, a);
}

static void expect_refusal(const bisai_bcsr *matrix, const bisai_precond_options *options,
                           bisai_status status, const char *message) {
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, status, bisai_precond_create(context, matrix, options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_null(precond);
}

static void a_singular_block_is_named_by_the_callers_row(void **state) {
  (void)state;
  bisai_bcsr *matrix = grid_with_last_block(0.0, 0.0);
  const bisai_precond_options options = backwards_options(BISAI_PRECOND_ILU);
  expect_refusal(matrix, &options, BISAI_SINGULAR_BLOCK,
                 "block row 19: the diagonal block is singular");
  bisai_bcsr_destroy(&matrix);
}

static void a_repaired_block_is_reported_by_the_callers_row(void **state) {
  (void)state;
  bisai_bcsr *matrix = grid_with_last_block(0.0, 0.0);
  bisai_precond_options options = backwards_options(BISAI_PRECOND_ILU);
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(test_report_of(context, precond).first_repair_row, 19);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void the_largest_condition_is_reported_by_the_callers_row(void **state) {
  (void)state;
  bisai_bcsr *matrix = grid_with_last_block(1e7, 1.0);
  const bisai_precond_options options = backwards_options(BISAI_PRECOND_ILU);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_int_equal(test_report_of(context, precond).largest_condition_row, 19);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void a_block_too_small_for_its_storage_is_named_by_the_callers_row(void **state) {
  (void)state;
  bisai_bcsr *matrix = grid_with_last_block(1e12, 1e12);
  bisai_precond_options options = backwards_options(BISAI_PRECOND_ISAI);
  options.isai.storage = BISAI_FP16;
  expect_refusal(
      matrix, &options, BISAI_OVERFLOW,
      "NU: block (19, 19) is too small for its storage type and would be stored as zero");
  bisai_bcsr_destroy(&matrix);
}

static void a_missing_diagonal_block_is_named_by_the_callers_row(void **state) {
  (void)state;
  int32_t row_ptr[BACKWARDS + 1] = {0}, next[BACKWARDS];
  double ones[BACKWARDS];
  for (int32_t i = 0; i < BACKWARDS; i++) {
    row_ptr[i + 1] = i + 1;
    next[i] = (i + 1) % BACKWARDS;
    ones[i] = 1.0;
  }
  bisai_bcsr *matrix =
      test_bcsr_make(context, &(test_bcsr){BACKWARDS, BACKWARDS, 1, row_ptr, next, ones});
  const bisai_precond_options options = backwards_options(BISAI_PRECOND_ILU);
  expect_refusal(matrix, &options, BISAI_MISSING_DIAGONAL, "block row 19 has no diagonal block");
  bisai_bcsr_destroy(&matrix);
}

/* --- refusals --- */

static bisai_bcsr *three_rows(void) { return test_bcsr_take(context, test_bcsr_grid(3, 1, 2, 1)); }

static void an_unknown_ordering_is_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = three_rows();
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = (bisai_ordering)6;
  expect_refusal(matrix, &options, BISAI_INVALID_ARGUMENT, "unknown ordering 6");
  bisai_bcsr_destroy(&matrix);
}

static void a_given_ordering_needs_a_permutation(void **state) {
  (void)state;
  bisai_bcsr *matrix = three_rows();
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  expect_refusal(matrix, &options, BISAI_INVALID_ARGUMENT, "permutation is NULL");
  bisai_bcsr_destroy(&matrix);
}

static void a_permutation_has_each_row_once(void **state) {
  (void)state;
  static const int32_t twice[] = {0, 2, 0};
  bisai_bcsr *matrix = three_rows();
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = BISAI_ORDERING_GIVEN;
  options.factor.permutation = twice;
  expect_refusal(matrix, &options, BISAI_INVALID_ARGUMENT,
                 "permutation[2] is 0, which occurs twice");
  bisai_bcsr_destroy(&matrix);
}

static void a_permutation_goes_with_a_given_ordering_alone(void **state) {
  (void)state;
  static const int32_t natural[] = {0, 1, 2};
  bisai_bcsr *matrix = three_rows();
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = BISAI_ORDERING_RCM;
  options.factor.permutation = natural;
  expect_refusal(matrix, &options, BISAI_INVALID_ARGUMENT,
                 "a permutation goes with BISAI_ORDERING_GIVEN alone");
  bisai_bcsr_destroy(&matrix);
}

static void the_callers_factors_are_neither_reordered_nor_equilibrated(void **state) {
  (void)state;
  static const char message[] =
      "the caller's factors have an ordering and a scaling of their own: neither ordering nor "
      "matching nor equilibrate goes with them";
  bisai_bcsr *matrix = three_rows();
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  for (int equilibrate = 0; equilibrate <= 1; equilibrate++) {
    bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
    options.factor.factors = factors;
    options.factor.ordering = equilibrate ? BISAI_ORDERING_NATURAL : BISAI_ORDERING_RCM;
    options.factor.equilibrate = equilibrate;
    expect_refusal(matrix, &options, BISAI_INVALID_ARGUMENT, message);
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

static void only_fp64_matrices_are_reordered(void **state) {
  (void)state;
  test_bcsr a = random_matrix(1, 6);
  bisai_bcsr *matrix = test_bcsr_single(context, &a);
  test_bcsr_free(&a);
  bisai_precond_options options = options_of(BISAI_PRECOND_ILU);
  options.factor.ordering = BISAI_ORDERING_RCM;
  expect_refusal(matrix, &options, BISAI_UNSUPPORTED,
                 "the matrix must hold fp64 values to be factorised");
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_natural_ordering_reports_levels_bandwidth_and_profile),
      cmocka_unit_test(rcm_reports_a_smaller_bandwidth_and_profile),
      cmocka_unit_test(the_report_says_whether_a_matrix_is_equilibrated),
      cmocka_unit_test(the_report_counts_the_memory_and_traffic_of_reordering),
      cmocka_unit_test(the_time_of_ordering_is_part_of_the_set_up),
      cmocka_unit_test(the_description_names_ordering_and_equilibration),
      cmocka_unit_test(a_singular_block_is_named_by_the_callers_row),
      cmocka_unit_test(a_repaired_block_is_reported_by_the_callers_row),
      cmocka_unit_test(the_largest_condition_is_reported_by_the_callers_row),
      cmocka_unit_test(a_block_too_small_for_its_storage_is_named_by_the_callers_row),
      cmocka_unit_test(a_missing_diagonal_block_is_named_by_the_callers_row),
      cmocka_unit_test(an_unknown_ordering_is_refused),
      cmocka_unit_test(a_given_ordering_needs_a_permutation),
      cmocka_unit_test(a_permutation_has_each_row_once),
      cmocka_unit_test(a_permutation_goes_with_a_given_ordering_alone),
      cmocka_unit_test(the_callers_factors_are_neither_reordered_nor_equilibrated),
      cmocka_unit_test(only_fp64_matrices_are_reordered),
  };
  return cmocka_run_group_tests_name("reorder_reports", tests, setup, teardown);
}
