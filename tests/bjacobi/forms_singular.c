/* SPDX-License-Identifier: BSD-3-Clause */
/* Singular diagonal blocks: block-Jacobi in every form refuses, repairs or counts them. */
#include <float.h>
#include <math.h>

#include "batch.h"
#include "fixture.h"
#include "systems.h"

/* A batch of all sizes with another block in the place of that of m rows. */
static test_batch batch_with(const double *block, int32_t m, int32_t *which) {
  test_batch b = test_batch_of(TEST_BATCH_RANDOM, 1, 9);
  int32_t i = 0;
  while (b.start[i + 1] - b.start[i] != m) i++;
  memcpy(b.block[i], block, (size_t)(m * m) * sizeof *block);
  for (int32_t r = 0, row = b.start[i]; r < m; r++)
    for (int32_t p = b.csr.row_ptr[row + r]; p < b.csr.row_ptr[row + r + 1]; p++) {
      const int32_t c = b.csr.col_idx[p] - row;
      if (c >= 0 && c < m) b.csr.values[p] = block[c * m + r];
    }
  *which = i;
  return b;
}

/* Fails unless every form names a block that is singular. */
static void expect_refused(const bisai_bcsr *matrix, int32_t blocks, const int32_t *start,
                           int32_t which) {
  char message[128];
  snprintf(message, sizeof message, "block %d (rows %d … %d): the diagonal block is singular",
           which, start[which], start[which + 1] - 1);
  for (int form = 0; form < TEST_FORMS; form++) {
    const bisai_precond_options options = test_form_options(form, blocks, start);
    bisai_precond *precond = NULL;
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                  bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_MESSAGE(context, message);
  }
}

/* Returns the largest sum of magnitudes of a block's rows, with entries outside of the block. */
static double norm_of_rows(const test_batch *b, int32_t which) {
  double norm = 0.0;
  for (int32_t row = b->start[which]; row < b->start[which + 1]; row++) {
    double sum = 0.0;
    for (int32_t p = b->csr.row_ptr[row]; p < b->csr.row_ptr[row + 1]; p++)
      sum += fabs(b->csr.values[p]);
    norm = fmax(norm, sum);
  }
  return norm;
}

/* Fails unless a form with a shift solves with D + s I, s = amount·‖rows‖∞. */
static void expect_repaired(const test_batch *b, const bisai_bcsr *matrix, int32_t which,
                            int form) {
  const int32_t from = b->start[which], m = b->start[which + 1] - from;
  double shifted[TEST_MOST_ROWS * TEST_MOST_ROWS];
  double *v = test_random_vector(b->rows, 1), *z = test_nan_vector(b->rows);
  bisai_precond_options options = test_form_options(form, b->blocks, b->start);
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.125;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const bisai_precond_report report = test_report_of(context, precond);
  assert_int_equal(report.repairs, 1);
  assert_int_equal(report.first_repair_row, which);
  memcpy(shifted, b->block[which], (size_t)(m * m) * sizeof *shifted);
  for (int32_t r = 0; r < m; r++) shifted[r * m + r] += 0.125 * norm_of_rows(b, which);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  test_expect_block_solved(form, m, shifted, v + from, z + from);
  bisai_precond_destroy(&precond);
  free(v);
  free(z);
}

static void expect_singular(const double *block, int32_t m) {
  int32_t which;
  test_batch b = batch_with(block, m, &which);
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  expect_refused(matrix, b.blocks, b.start, which);
  for (int form = 0; form < TEST_FORMS; form++) expect_repaired(&b, matrix, which, form);
  bisai_bcsr_destroy(&matrix);
  test_batch_free(&b);
}

/* Zero, a row or a column of zeros, two equal rows of numbers that elimination does not round. */
static void zero_and_rank_deficient_blocks_are_named(void **state) {
  (void)state;
  for (int32_t m = 1; m <= TEST_MOST_ROWS; m += m < 9 ? 1 : 23) {
    double block[TEST_MOST_ROWS * TEST_MOST_ROWS] = {0.0};
    expect_singular(block, m);
    for (int hole = 0; hole < 2; hole++) {
      for (int32_t c = 0; c < m; c++)
        for (int32_t r = 0; r < m; r++)
          block[c * m + r] = (hole == 0 ? r : c) == m / 2 ? 0.0
                             : r == c                     ? 4.0
                                                          : 1.0 / (1 + (r + 2 * c) % 7);
      expect_singular(block, m);
    }
    if (m == 1) continue;
    for (int32_t c = 0; c < m; c++)
      for (int32_t r = 0; r < m; r++) block[c * m + r] = r == c ? 2.0 : 0.0;
    block[m - 1] = 4.0; /* row m−1 is twice row 0 */
    block[(m - 1) * m + m - 1] = 0.0;
    expect_singular(block, m);
  }
}

static void blocks_that_only_rounding_makes_regular_are_counted(void **state) {
  (void)state;
  for (int32_t m = 2; m <= TEST_MOST_ROWS; m += 5) {
    double block[TEST_MOST_ROWS * TEST_MOST_ROWS] = {0.0};
    for (int32_t r = 0; r < m; r++) block[r * m + r] = 1.0;
    block[1] = block[m] = 1.0;
    block[m + 1] = 1.0 + DBL_EPSILON;
    int32_t which;
    test_batch b = batch_with(block, m, &which);
    bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
    for (int form = 0; form < TEST_FORMS; form++) {
      const bisai_precond_options options = test_form_options(form, b.blocks, b.start);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      const bisai_precond_report report = test_report_of(context, precond);
      assert_int_equal(report.bjacobi.near_singular, 1);
      assert_int_equal(report.bjacobi.near_singular_block, which);
      assert_int_equal(report.repairs, 0);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
    test_batch_free(&b);
  }
}

/* A diagonal that is not stored is a zero, natural blocks alone must be there as a whole. */
static void blocks_without_any_entry_are_singular(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4, 5, 6}, col_idx[] = {0, 2, 1, 3, 0, 1};
  double values[] = {1, 2, 3, 4, 5, 6};
  const test_bcsr a = {4, 4, 1, row_ptr, col_idx, values};
  static const int32_t halves[] = {0, 2, 4};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  expect_refused(matrix, 2, halves, 1);
  bisai_bcsr_destroy(&matrix);
}

/* The last pivot of every form is 2·10³⁰⁸, which fp64 does not have. Its reciprocal would be zero,
 * and all stored values finite. */
static void blocks_with_an_infinite_pivot_are_singular(void **state) {
  (void)state;
  static const int32_t sizes[] = {2, 8, 11, 20, TEST_MOST_ROWS};
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
    const int32_t m = sizes[k], block_ptr[] = {0, m};
    int32_t row_ptr[TEST_MOST_ROWS + 1] = {0}, col_idx[TEST_MOST_ROWS * TEST_MOST_ROWS];
    double values[TEST_MOST_ROWS * TEST_MOST_ROWS];
    for (int32_t r = 0; r < m; r++) {
      for (int32_t c = 0; c < m; c++) {
        col_idx[r * m + c] = c;
        values[r * m + c] = r >= m - 2 && c >= m - 2 ? 1e308 : r == c;
      }
      row_ptr[r + 1] = (r + 1) * m;
    }
    values[m * m - 2] = -1e308;
    const test_bcsr a = {m, m, 1, row_ptr, col_idx, values};
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    expect_refused(matrix, 1, block_ptr, 0);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Rows 2 and 3 are a singular block, the second of two. */
static void what_was_repaired_is_called_a_block(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2, 4, 6, 8}, col_idx[] = {0, 1, 0, 1, 2, 3, 2, 3};
  double values[] = {2, 1, 1, 2, 1, 1, 1, 1};
  bisai_bcsr *matrix = test_bcsr_make(context, &(test_bcsr){4, 4, 1, row_ptr, col_idx, values});
  bisai_precond_options options = test_form_options(BISAI_FORM_INVERSE, 0, NULL);
  options.bjacobi.max_block = 2;
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 0.5;
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  assert_non_null(
      strstr(bisai_precond_describe(precond), "1 diagonal block repaired, first block 1"));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(zero_and_rank_deficient_blocks_are_named),
      cmocka_unit_test(blocks_that_only_rounding_makes_regular_are_counted),
      cmocka_unit_test(blocks_without_any_entry_are_singular),
      cmocka_unit_test(blocks_with_an_infinite_pivot_are_singular),
      cmocka_unit_test(what_was_repaired_is_called_a_block),
  };
  return cmocka_run_group_tests_name("bjacobi_forms_singular", tests, setup, teardown);
}
