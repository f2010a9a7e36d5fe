/* SPDX-License-Identifier: BSD-3-Clause */
/* Several vectors out of one Matrix Market file. */
#include "folder_fixture.h"

#define ARRAY "%%MatrixMarket matrix array real general\n"
#define COORDINATE "%%MatrixMarket matrix coordinate real general\n"

enum { N = 4, COLUMNS = 3, MOST = 32 };

static const char array[] = ARRAY "% a comment\n4 3\n1\n2\n3\n4\n10\n20\n30\n40\n-1\n0\n0.5\n0\n";
static const char coordinates[] = COORDINATE "4 3 11\n3 3 0.25\n1 1 1\n2 1 2\n3 1 3\n4 1 4\n"
                                             "1 2 10\n2 2 20\n3 2 30\n4 2 40\n1 3 -1\n"
                                             "3 3 0.25\n";
static const double rows[N][COLUMNS] = {{1, 10, -1}, {2, 20, 0}, {3, 30, 0.5}, {4, 40, 0}};

static const char *file_of(const char *text) {
  const char *path = test_path("vectors.mtx");
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
  return path;
}

static void expect_rows(const char *text) {
  double *values = NULL;
  int32_t count = 0;
  EXPECT_OK(context, bisai_read_vectors(context, file_of(text), N, MOST, &values, &count));
  assert_int_equal(count, COLUMNS);
  assert_memory_equal(values, rows, sizeof rows);
  bisai_vectors_destroy(context, &values);
  assert_null(values);
}

static void vectors_are_stored_row_by_row(void **state) {
  (void)state;
  expect_rows(array);
  expect_rows(coordinates);
}

static void expect_refusal(const char *text, bisai_status status, const char *message) {
  double mark = 0.0, *values = &mark;
  int32_t count = -7;
  EXPECT_STATUS(context, status,
                bisai_read_vectors(context, file_of(text), N, COLUMNS, &values, &count));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(values, &mark);
  assert_int_equal(count, -7);
}

static void faults_of_vectors_name_line_and_sizes(void **state) {
  (void)state;
  expect_refusal(ARRAY "5 1\n", BISAI_INVALID_ARGUMENT,
                 "line 2: a vector of 5 values; 4 are needed");
  expect_refusal(ARRAY "4 5\n", BISAI_UNSUPPORTED, "line 2: 5 columns; at most 3 are possible");
  expect_refusal(ARRAY "4 0\n", BISAI_UNSUPPORTED, "line 2: 0 columns; at least one is needed");
  expect_refusal(ARRAY "4 2\n1\n2\n3\n4\n5\n", BISAI_PARSE_ERROR,
                 "line 7: the file ends after 5 of 8 entries");
  expect_refusal(ARRAY "4 1\n1\n2\nx\n4\n", BISAI_PARSE_ERROR, "line 5: 'x' is not a number");
  expect_refusal(ARRAY "4 1\n1\n2\nnan\n4\n", BISAI_NOT_FINITE,
                 "line 5: nan is not a finite number");
  expect_refusal(COORDINATE "4 2 2\n1 2 1e308\n1 2 1e308\n", BISAI_NOT_FINITE,
                 "line 4: the values of row 1 add up to infinity");
  expect_refusal("%%MatrixMarket matrix array real symmetric\n4 4\n", BISAI_PARSE_ERROR,
                 "line 1: a vector cannot be symmetric");
}

static void files_of_other_formats_are_refused(void **state) {
  (void)state;
  double *values = NULL, written[N] = {1, 2, 3, 4};
  int32_t count = 0;
  const char *path = test_path("vector.petsc");
  EXPECT_OK(context, bisai_write_vector(context, path, N, written));
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_read_vectors(context, path, N, MOST, &values, &count));
  EXPECT_MESSAGE(context,
                 "several vectors are read from Matrix Market files and arrays of NumPy only");
  EXPECT_STATUS(context, BISAI_IO_ERROR,
                bisai_read_vectors(context, "no/such.mtx", N, MOST, &values, &count));
}

static void wrong_arguments_of_vectors_are_named(void **state) {
  (void)state;
  double *values = NULL;
  int32_t count = 0;
  assert_int_equal(bisai_read_vectors(NULL, "x", 1, 1, &values, &count), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_vectors(context, NULL, 1, 1, &values, &count));
  EXPECT_MESSAGE(context, "bisai_read_vectors: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_vectors(context, "x", 1, 1, NULL, &count));
  EXPECT_MESSAGE(context, "bisai_read_vectors: values is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_vectors(context, "x", 1, 1, &values, NULL));
  EXPECT_MESSAGE(context, "bisai_read_vectors: count is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_read_vectors(context, "x", 0, 1, &values, &count));
  EXPECT_MESSAGE(context, "bisai_read_vectors: 0 values of at most 1 vectors");
  bisai_vectors_destroy(NULL, &values);
  bisai_vectors_destroy(context, NULL);
}

static void failing_allocations_leave_no_vectors(void **state) {
  (void)state;
  const char *path = file_of(array);
  long long calls = 1;
  bool read = false;
  for (; !read; calls++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, calls);
    bisai_context *own = test_context_on(&allocator, 1);
    double *values = NULL;
    int32_t count = 0;
    if (own) {
      const bisai_status status = bisai_read_vectors(own, path, N, MOST, &values, &count);
      read = status == BISAI_OK;
      if (!read) {
        assert_int_equal(status, BISAI_OUT_OF_MEMORY);
        assert_null(values);
      }
      bisai_vectors_destroy(own, &values);
    }
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  assert_true(calls > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vectors_are_stored_row_by_row),
      cmocka_unit_test(faults_of_vectors_name_line_and_sizes),
      cmocka_unit_test(files_of_other_formats_are_refused),
      cmocka_unit_test(wrong_arguments_of_vectors_are_named),
      cmocka_unit_test(failing_allocations_leave_no_vectors),
  };
  return cmocka_run_group_tests_name("io_vectors", tests, setup, teardown);
}
