/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market files: what the format has, and vectors written. Reading rounds each number once
 * and computes nothing, so all comparisons are exact. */
#include <float.h>
#include <math.h>

#include "text.h"

/* `rows` are the expected values row by row, n × n without padding. */
static void expect_matrix(const bisai_bcsr *matrix, int32_t n, const double *rows) {
  assert_int_equal(bisai_bcsr_rows(matrix), n);
  const size_t padded = (size_t)(n + bisai_bcsr_padding(matrix));
  double *got = test_dense(matrix);
  for (size_t i = 0; i < padded; i++)
    for (size_t j = 0; j < padded; j++) {
      const double expected = i < (size_t)n && j < (size_t)n ? rows[i * (size_t)n + j] : i == j;
      EXPECT_NEAR(expected, got[j * padded + i], 0.0);
    }
  free(got);
}

static void expect_text(const char *text, int32_t n, const double *rows) {
  for (int32_t bs = 0; bs <= 4; bs++) {
    bisai_bcsr *matrix = read_text(text, bs);
    expect_matrix(matrix, n, rows);
    bisai_bcsr_destroy(&matrix);
  }
}

static void options_have_documented_defaults(void **state) {
  (void)state;
  const bisai_read_options options = bisai_read_options_default();
  assert_int_equal(options.struct_size, sizeof options);
  assert_int_equal(options.block_size, 0);
  assert_true(options.pad);
  assert_null(options.progress);
}

static void general_matrix_is_read_entry_by_entry(void **state) {
  (void)state;
  const double rows[] = {1.5, 0, -2, 0, 0, 1e-300, 300, 0, 0.1};
  expect_text("%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1.5\n1 3 -2\n2 3 "
              "1e-300\n3 1 3e2\n3 3 .1\n",
              3, rows);
}

static void numbers_come_in_many_spellings(void **state) {
  (void)state;
  const double rows[] = {7, -6, 0.5, 400, 0.25, 1000, 12, -0.0, 3};
  expect_text("%%MatrixMarket matrix coordinate real general\n3 3 9\n1 1 +7\n1 2 -6.\n1 3 .5\n2 1 "
              "4D2\n2 2 2.5d-01\n"
              "2 3 0.001E+6\n3 1 0012\n3 2 -0\n+3 03 30e-1\n",
              3, rows);
}

static void integers_and_patterns_become_doubles(void **state) {
  (void)state;
  const double integers[] = {0, -3, 9007199254740993.0, 4};
  expect_text("%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 2 -3\n2 1 "
              "9007199254740993\n2 2 +4\n",
              2, integers);
  const double pattern[] = {0, 1, 1, 1};
  expect_text("%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 2\n2 1\n2 2\n", 2,
              pattern);
}

static void symmetric_matrices_are_mirrored_from_either_triangle(void **state) {
  (void)state;
  const double rows[] = {1, 2, 0, 2, 0, -5, 0, -5, 3};
  expect_text(
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 -5\n3 3 3\n", 3,
      rows);
  expect_text(
      "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n2 3 -5\n1 2 2\n3 3 3\n1 1 1\n", 3,
      rows);
  const double pattern[] = {0, 0, 1, 0, 1, 0, 1, 0, 0};
  expect_text("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n", 3, pattern);
  const double diagonal[] = {4, 0, 0, 5};
  expect_text("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 2 5\n", 2,
              diagonal);
}

static void skew_symmetric_matrices_change_sign(void **state) {
  (void)state;
  const double rows[] = {0, -2, 0, 2, 0, 7, 0, -7, 0};
  expect_text("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 2 -7\n", 3,
              rows);
}

static void case_blanks_comments_and_line_ends_do_not_matter(void **state) {
  (void)state;
  const double rows[] = {1, 0, 2, 3};
  expect_text("%%MATRIXMARKET\tMatrix  COORDINATE Real\tGeneral  \r\n%\r\n\r\n  % comment\r\n \t2  "
              " 2 3 \r\n\r\n"
              "1\t1 1\r\n%between\r\n   2 1  2 \r\n2 2 3",
              2, rows);
  expect_text(
      "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n\n%\n  \n% end",
      2, rows);
}

static void duplicates_add_up(void **state) {
  (void)state;
  const double rows[] = {6, 0, 5, 5};
  expect_text("%%MatrixMarket matrix coordinate real general\n2 2 6\n1 1 1\n2 1 3\n1 1 2\n2 1 2\n2 "
              "2 5\n1 1 3\n",
              2, rows);
  const double mirrored[] = {0, 3, 3, 4};
  expect_text(
      "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n2 1 1\n2 2 2\n2 1 2\n2 2 2\n", 2,
      mirrored);
}

static void stored_zeros_are_entries(void **state) {
  (void)state;
  bisai_bcsr *matrix = read_text(
      "%%MatrixMarket matrix coordinate real general\n5 5 3\n1 5 0\n2 2 0.0\n2 2 -0e5\n", 1);
  assert_int_equal(bisai_bcsr_blocks(matrix), 2);
  bisai_bcsr_destroy(&matrix);
}

static void a_matrix_without_entries_is_legal(void **state) {
  (void)state;
  const double rows[9] = {0};
  expect_text("%%MatrixMarket matrix coordinate real general\n3 3 0\n", 3, rows);
}

static void padding_is_an_identity_or_refused(void **state) {
  (void)state;
  static const char text[] = "%%MatrixMarket matrix coordinate real general\n5 5 2\n1 5 2\n5 4 3\n";
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 4;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context,
            bisai_read_matrix(context, test_path_of(text, sizeof text - 1), &options, &matrix));
  assert_int_equal(bisai_bcsr_rows(matrix), 5);
  assert_int_equal(bisai_bcsr_padding(matrix), 3);
  assert_int_equal(bisai_bcsr_blocks(matrix), 3); /* two with entries, the last diagonal block */
  double rows[25] = {0};
  rows[4] = 2;
  rows[23] = 3;
  expect_matrix(matrix, 5, rows);
  bisai_bcsr_destroy(&matrix);

  options.pad = false;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, test_path_of(text, sizeof text - 1), &options, &matrix));
  EXPECT_MESSAGE(context, "block size 4 does not divide 5 × 5, and padding was not asked for");
  assert_null(matrix);
  options.block_size = 0;
  EXPECT_OK(context,
            bisai_read_matrix(context, test_path_of(text, sizeof text - 1), &options, &matrix));
  assert_int_equal(bisai_bcsr_padding(matrix), 0);
  bisai_bcsr_destroy(&matrix);
}

static void vectors_survive_a_round_trip_bit_by_bit(void **state) {
  (void)state;
  const double values[] = {0.0,          -0.0, 1.5,  -1.0 / 3,           DBL_MAX, -DBL_MAX, DBL_MIN,
                           DBL_TRUE_MIN, 0.1,  1e22, 123456789.123456789};
  enum { N = sizeof values / sizeof *values };
  const char *path = test_path("vector.mtx");
  EXPECT_OK(context, bisai_write_vector(context, path, N, values));
  double got[N];
  EXPECT_OK(context, bisai_read_vector(context, path, N, got));
  assert_memory_equal(values, got, sizeof values);
  path = test_path("none.mtx");
  EXPECT_OK(context, bisai_write_vector(context, path, 0, NULL));
  EXPECT_OK(context, bisai_read_vector(context, path, 0, NULL));
}

static void vectors_are_written_with_seventeen_digits(void **state) {
  (void)state;
  const double values[] = {0.1, -2};
  const char *path = test_path("digits.mtx");
  EXPECT_OK(context, bisai_write_vector(context, path, 2, values));
  char text[256] = {0};
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_true(fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  assert_string_equal(text,
                      "%%MatrixMarket matrix array real general\n2 1\n0.10000000000000001\n-2\n");
}

static void expect_vector(const char *text, int64_t n, const double *expected) {
  double got[8] = {(double)NAN, (double)NAN, (double)NAN, (double)NAN};
  EXPECT_OK(context, bisai_read_vector(context, test_path_of(text, strlen(text)), n, got));
  EXPECT_CLOSE(n, expected, got, 0.0);
}

static void vectors_are_arrays_or_sparse(void **state) {
  (void)state;
  const double values[] = {1.5, 0, -2};
  expect_vector("%%MatrixMarket matrix array real general\n% comment\n3 1\n1.5\n\n0\n% between\n-2",
                3, values);
  expect_vector("%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 -4\n1 1 1.5\n3 1 2\n", 3,
                values);
  const double integers[] = {7, -1};
  expect_vector("%%MatrixMarket matrix array integer general\n2 1\n7\n-1\n", 2, integers);
  const double pattern[] = {0, 1};
  expect_vector("%%MatrixMarket matrix coordinate pattern general\n2 1 1\n2 1\n", 2, pattern);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = NULL;
  bisai_read_options options = bisai_read_options_default();
  double value = 1;
  assert_int_equal(bisai_read_matrix(NULL, "x", NULL, &matrix), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_read_vector(NULL, "x", 1, &value), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_write_vector(NULL, "x", 1, &value), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_matrix(context, NULL, NULL, &matrix));
  EXPECT_MESSAGE(context, "bisai_read_matrix: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_matrix(context, "x", NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_read_matrix: matrix is NULL");
  options.block_size = 33;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, "x", &options, &matrix));
  EXPECT_MESSAGE(context, "block size 33 is outside 1 … 32");
  options.block_size = -1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, "x", &options, &matrix));
  EXPECT_MESSAGE(context, "block size -1 is outside 1 … 32");
  options.struct_size = 3;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_matrix(context, "x", &options, &matrix));
  char message[128];
  snprintf(message, sizeof message,
           "bisai_read_options.struct_size is 3, expected %zu: start from its default",
           sizeof options);
  EXPECT_MESSAGE(context, message);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_vector(context, NULL, 1, &value));
  EXPECT_MESSAGE(context, "bisai_read_vector: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_vector(context, "x", 1, NULL));
  EXPECT_MESSAGE(context, "bisai_read_vector: values is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_vector(context, "x", -1, &value));
  EXPECT_MESSAGE(context, "bisai_write_vector: negative length -1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_have_documented_defaults),
      cmocka_unit_test(general_matrix_is_read_entry_by_entry),
      cmocka_unit_test(numbers_come_in_many_spellings),
      cmocka_unit_test(integers_and_patterns_become_doubles),
      cmocka_unit_test(symmetric_matrices_are_mirrored_from_either_triangle),
      cmocka_unit_test(skew_symmetric_matrices_change_sign),
      cmocka_unit_test(case_blanks_comments_and_line_ends_do_not_matter),
      cmocka_unit_test(duplicates_add_up),
      cmocka_unit_test(stored_zeros_are_entries),
      cmocka_unit_test(a_matrix_without_entries_is_legal),
      cmocka_unit_test(padding_is_an_identity_or_refused),
      cmocka_unit_test(vectors_survive_a_round_trip_bit_by_bit),
      cmocka_unit_test(vectors_are_written_with_seventeen_digits),
      cmocka_unit_test(vectors_are_arrays_or_sparse),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
