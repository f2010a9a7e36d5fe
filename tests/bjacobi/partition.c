/* SPDX-License-Identifier: BSD-3-Clause */
/* Which blocks block-Jacobi takes: supervariable agglomeration against the sequential rule, natural
 * and given blocks. */
#include "fixture.h"

static bisai_precond_options options_of(int32_t most) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  options.bjacobi.max_block = most;
  options.shift = BISAI_SHIFT_IN_BLOCKS; /* values do not matter here */
  return options;
}

/* The blocks of a matrix; *count of them, to be freed. */
static int32_t *blocks_of(bisai_context *c, const bisai_bcsr *matrix,
                          const bisai_precond_options *options, bisai_precond_report *report) {
  bisai_precond *precond = NULL;
  EXPECT_OK(c, bisai_precond_create(c, matrix, options, &precond));
  *report = test_report_of(c, precond);
  int32_t *start = malloc(((size_t)report->bjacobi.blocks + 1) * sizeof *start);
  EXPECT_OK(c, bisai_precond_get_blocks(precond, start));
  bisai_precond_destroy(&precond);
  return start;
}

/* --- the rule, one row after the other --- */

static bool same_pattern(const test_bcsr *a, int32_t row, int32_t other) {
  const int32_t i = row / a->block_size, j = other / a->block_size,
                length = a->row_ptr[i + 1] - a->row_ptr[i];
  if (length != a->row_ptr[j + 1] - a->row_ptr[j]) return false;
  for (int32_t p = 0; p < length; p++)
    if (a->col_idx[a->row_ptr[i] + p] != a->col_idx[a->row_ptr[j] + p]) return false;
  return true;
}

static int32_t *expected_blocks(const test_bcsr *a, int32_t most, int32_t *blocks) {
  const int32_t rows = a->block_rows * a->block_size;
  int32_t *piece = malloc(((size_t)rows + 1) * sizeof *piece),
          *start = malloc(((size_t)rows + 1) * sizeof *start);
  int32_t pieces = 0;
  for (int32_t row = 0; row < rows; row++) {
    if (pieces == 0 || !same_pattern(a, row, row - 1) || row - piece[pieces - 1] == most)
      piece[pieces++] = row;
  }
  piece[pieces] = rows;
  *blocks = 0;
  for (int32_t p = 0; p < pieces; p++)
    if (p == 0 || piece[p + 1] - start[*blocks - 1] > most) start[(*blocks)++] = piece[p];
  start[*blocks] = rows;
  free(piece);
  return start;
}

static void expect_blocks(bisai_context *c, const test_bcsr *a, int32_t most) {
  int32_t blocks;
  int32_t *expected = expected_blocks(a, most, &blocks);
  bisai_bcsr *matrix = test_bcsr_make(c, a);
  bisai_precond_report report;
  const bisai_precond_options options = options_of(most);
  int32_t *found = blocks_of(c, matrix, &options, &report), sizes[33] = {0}, largest = 0;
  assert_int_equal(report.bjacobi.blocks, blocks);
  assert_memory_equal(found, expected, ((size_t)blocks + 1) * sizeof *found);
  for (int32_t b = 0; b < blocks; b++) {
    const int32_t size = expected[b + 1] - expected[b];
    assert_in_range(size, 1, most);
    sizes[size]++;
    if (size > largest) largest = size;
  }
  assert_memory_equal(report.bjacobi.by_size, sizes, sizeof sizes);
  assert_int_equal(report.bjacobi.largest_block, largest);
  bisai_bcsr_destroy(&matrix);
  free(expected);
  free(found);
}

/* A band of random width whose rows repeat their pattern in runs of random lengths, some of them
 * longer than any bound. The last row is full, so that no column is empty. */
static test_bcsr runs(int32_t block_rows, int32_t bs, int32_t longest, uint64_t seed) {
  test_random random = test_random_seed(seed);
  test_bcsr a = {block_rows, block_rows, bs, NULL, NULL, NULL};
  a.row_ptr = calloc((size_t)block_rows + 1, sizeof *a.row_ptr);
  a.col_idx = malloc((size_t)block_rows * 5 * sizeof *a.col_idx);
  int32_t left = 0, first = 0, length = 0, count = 0;
  for (int32_t i = 0; i < block_rows; i++) {
    if (left-- == 0) {
      left = test_random_integer(&random, 0, longest - 1);
      length = test_random_integer(&random, 1, 4);
      first = i < block_rows - 4 ? i : block_rows - 4 < 0 ? 0 : block_rows - 4;
    }
    if (i == block_rows - 1) first = 0, length = block_rows;
    for (int32_t p = 0; p < length && first + p < block_rows; p++) a.col_idx[count++] = first + p;
    a.row_ptr[i + 1] = count;
  }
  a.values = calloc((size_t)count * (size_t)(bs * bs), sizeof *a.values);
  for (int32_t p = 0; p < count * bs * bs; p++) a.values[p] = 1.0 + p % 7;
  return a;
}

/* --- tests --- */

static void small_supervariables_are_merged_by_hand(void **state) {
  (void)state;
  /* rows 0 1 | 2 | 3 4 5 | 6 have one pattern each */
  int32_t row_ptr[] = {0, 2, 4, 5, 7, 9, 11, 13},
          col_idx[] = {0, 1, 0, 1, 2, 3, 4, 3, 4, 3, 4, 5, 6};
  double values[13];
  for (int i = 0; i < 13; i++) values[i] = 1.0 + i;
  const test_bcsr a = {7, 7, 1, row_ptr, col_idx, values};
  static const struct {
    int32_t most, blocks, start[8];
  } cases[] = {{1, 7, {0, 1, 2, 3, 4, 5, 6, 7}},
               {2, 4, {0, 2, 3, 5, 7}},
               {3, 3, {0, 3, 6, 7}},
               {4, 2, {0, 3, 7}},
               {5, 2, {0, 3, 7}},
               {6, 2, {0, 6, 7}},
               {7, 1, {0, 7}},
               {32, 1, {0, 7}}};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    bisai_precond_report report;
    const bisai_precond_options options = options_of(cases[k].most);
    int32_t *found = blocks_of(context, matrix, &options, &report);
    assert_int_equal(report.bjacobi.blocks, cases[k].blocks);
    assert_memory_equal(found, cases[k].start, ((size_t)cases[k].blocks + 1) * sizeof *found);
    free(found);
  }
  bisai_bcsr_destroy(&matrix);
}

static void blocks_are_those_of_the_sequential_rule(void **state) {
  (void)state;
  static const int32_t bounds[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 24, 31, 32},
                       sizes[] = {1, 2, 3, 4, 5, 7, 9, 32};
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    for (size_t m = 0; m < sizeof bounds / sizeof bounds[0]; m++) {
      for (int32_t longest = 1; longest <= 81; longest += 40) {
        test_bcsr a = runs(1 + 1500 / sizes[s], sizes[s], longest, 100 * s + m);
        expect_blocks(context, &a, bounds[m]);
        test_bcsr_free(&a);
      }
    }
  }
}

/* Rows enough for every thread to have its segment; runs of one row, of a few, and across whole
 * segments. */
static void blocks_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  static const int32_t longest[] = {1, 3, 20, 200, 30000};
  for (int threads = 1; threads <= 8; threads++) {
    bisai_context *c = test_context(threads);
    for (size_t k = 0; k < sizeof longest / sizeof longest[0]; k++) {
      test_bcsr a = runs(40001, 1, longest[k], 7 + k), b = runs(12347, 3, longest[k], 8 + k);
      static const int32_t bounds[] = {1, 5, 8, 32};
      for (size_t m = 0; m < 4; m++) {
        expect_blocks(c, &a, bounds[m]);
        expect_blocks(c, &b, bounds[m]);
      }
      test_bcsr_free(&a);
      test_bcsr_free(&b);
    }
    bisai_context_destroy(&c);
  }
}

static void natural_and_given_blocks_are_taken_as_they_are(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(5, 4, 3, 1);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  bisai_precond_report report;
  bisai_precond_options options = options_of(0);
  int32_t *found = blocks_of(context, matrix, &options, &report);
  assert_int_equal(report.bjacobi.blocks, 20);
  assert_int_equal(report.bjacobi.by_size[3], 20);
  for (int32_t b = 0; b <= 20; b++) assert_int_equal(found[b], 3 * b);
  free(found);
  static const int32_t mixed[] = {0, 1, 33, 35, 60}, even[] = {0, 8, 16, 24, 32, 40, 48, 56, 60};
  const int32_t *const given[] = {mixed, even};
  static const int32_t counts[] = {4, 8}, largest[] = {32, 8};
  for (int k = 0; k < 2; k++) {
    /* read during creation only */
    int32_t *temporary = malloc(((size_t)counts[k] + 1) * sizeof *temporary);
    memcpy(temporary, given[k], ((size_t)counts[k] + 1) * sizeof *temporary);
    options.bjacobi.block_ptr = temporary;
    options.bjacobi.block_count = counts[k];
    bisai_precond *precond = NULL;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
    free(temporary);
    int32_t back[9];
    EXPECT_OK(context, bisai_precond_get_blocks(precond, back));
    assert_memory_equal(back, given[k], ((size_t)counts[k] + 1) * sizeof *back);
    report = test_report_of(context, precond);
    assert_int_equal(report.bjacobi.blocks, counts[k]);
    assert_int_equal(report.bjacobi.largest_block, largest[k]);
    assert_int_equal(report.largest_condition_row < counts[k], true);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&matrix);
}

static void expect_refused(const bisai_bcsr *matrix, const bisai_precond_options *options,
                           const char *message) {
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(context, matrix, options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_null(precond);
}

static void arguments_are_refused_by_name_and_value(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 4, 3, 1));
  bisai_precond_options options = options_of(33);
  expect_refused(matrix, &options, "max_block 33: 0 … 32 are possible");
  options.bjacobi.max_block = -1;
  expect_refused(matrix, &options, "max_block -1: 0 … 32 are possible");
  options = options_of(0);
  options.bjacobi.block_count = 3;
  expect_refused(matrix, &options, "block_count 3 without block_ptr");
  int32_t start[] = {0, 20, 40, 60};
  options.bjacobi.block_ptr = start;
  options.bjacobi.max_block = 8;
  expect_refused(matrix, &options, "max_block 8: blocks are given by block_ptr or found, not both");
  options.bjacobi.max_block = 0;
  options.bjacobi.block_count = -1;
  expect_refused(matrix, &options, "block_count -1: at least 0 is needed");
  options.bjacobi.block_count = 2;
  expect_refused(matrix, &options, "block_ptr[2] is 40, the matrix has 60 scalar rows");
  options.bjacobi.block_count = 3;
  start[0] = 1;
  expect_refused(matrix, &options, "block_ptr[0] is 1, not 0");
  start[0] = 0;
  start[1] = 40;
  expect_refused(matrix, &options, "block_ptr[1] is 40 after 0: a block has 1 … 32 rows, not 40");
  start[1] = 20;
  start[2] = 20;
  expect_refused(matrix, &options, "block_ptr[2] is 20 after 20: a block has 1 … 32 rows, not 0");
  start[1] = 0x7fffffff;
  start[0] = -5;
  expect_refused(matrix, &options, "block_ptr[0] is -5, not 0");
  options = options_of(0);
  options.bjacobi.form = (bisai_form)4;
  expect_refused(matrix, &options, "unknown form 4");
  options = options_of(0);
  options.bjacobi.extraction = (bisai_extraction)5;
  expect_refused(matrix, &options, "unknown extraction 5");
  options = options_of(0);
  options.bjacobi.storage = (bisai_value_type)7;
  expect_refused(matrix, &options, "unknown storage 7");
  options.bjacobi.storage = BISAI_ADAPTIVE;
  options.bjacobi.form = BISAI_FORM_GAUSS_HUARD;
  expect_refused(matrix, &options,
                 "adaptive storage goes with the form inverse alone, not with gh");
  options.bjacobi.form = BISAI_FORM_INVERSE;
  options.bjacobi.digits = 0;
  expect_refused(matrix, &options, "digits 0: 1 … 15 are possible");
  options.bjacobi.digits = 2;
  options.bjacobi.formats = (bisai_formats)3;
  expect_refused(matrix, &options, "unknown formats 3");
  options.bjacobi.formats = BISAI_FORMATS_ALL;
  options.bjacobi.digits = 16;
  expect_refused(matrix, &options, "digits 16: 1 … 15 are possible");
  bisai_precond *isai = NULL;
  EXPECT_OK(context, bisai_precond_create_text(context, matrix, "isai", &isai));
  int32_t blocks[64];
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_get_blocks(isai, blocks));
  EXPECT_MESSAGE(context, "isai has no blocks of its own");
  bisai_precond_destroy(&isai);
  options = options_of(4);
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &isai));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_get_blocks(isai, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_get_blocks: block_ptr is NULL");
  assert_int_equal(bisai_precond_get_blocks(NULL, blocks), BISAI_INVALID_ARGUMENT);
  bisai_precond_destroy(&isai);
  bisai_bcsr_destroy(&matrix);
}

static void matrices_without_rows_have_no_blocks(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 3, 1)));
  static const int32_t none[] = {0};
  for (int k = 0; k < 2; k++) {
    bisai_precond_options options = options_of(k == 0 ? 8 : 0);
    options.bjacobi.block_ptr = k == 0 ? NULL : none;
    options.bjacobi.form = k == 0 ? BISAI_FORM_LU : BISAI_FORM_INVERSE;
    options.bjacobi.storage = k == 0 ? BISAI_FP32 : BISAI_ADAPTIVE;
    bisai_precond_report report;
    int32_t *found = blocks_of(context, matrix, &options, &report);
    assert_int_equal(report.bjacobi.blocks, 0);
    assert_int_equal(report.bjacobi.largest_block, 0);
    assert_int_equal(found[0], 0);
    free(found);
  }
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_supervariables_are_merged_by_hand),
      cmocka_unit_test(blocks_are_those_of_the_sequential_rule),
      cmocka_unit_test(blocks_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(natural_and_given_blocks_are_taken_as_they_are),
      cmocka_unit_test(arguments_are_refused_by_name_and_value),
      cmocka_unit_test(matrices_without_rows_have_no_blocks),
  };
  return cmocka_run_group_tests_name("partition", tests, setup, teardown);
}
