/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's binary files, made byte by byte: good ones of both widths, and those that are wrong in
 * one way each. */
#include <math.h>

#include "bytes.h"
#include "folder_fixture.h"
#include "path_of.h"

enum { VECTOR = 1211214, MATRIX = 1211216, INDEX_SET = 1211218 };

/* 4 −1 0 | −1 4 −1 | 0 −0.5 4, and a vector. */
static const int64_t lengths[] = {2, 3, 2}, columns[] = {0, 1, 0, 1, 2, 1, 2};
static const double values[] = {4, -1, -1, 4, -1, -0.5, 4},
                    dense[] = {4, -1, 0, -1, 4, -0.5, 0, -1, 4}, rhs[] = {1, -2.5, 1e-300};

static void add_integers(test_text *text, int width, int count, const int64_t *integers) {
  for (int i = 0; i < count; i++) bytes_integer(text, width, integers[i]);
}

static void add_doubles(test_text *text, int count, const double *doubles) {
  for (int i = 0; i < count; i++) bytes_double(text, doubles[i]);
}

static void add_matrix(test_text *text, int width) {
  const int64_t header[] = {MATRIX, 3, 3, 7};
  add_integers(text, width, 4, header);
  add_integers(text, width, 3, lengths);
  add_integers(text, width, 7, columns);
  add_doubles(text, 7, values);
}

static void add_vector(test_text *text, int width) {
  const int64_t header[] = {VECTOR, 3};
  add_integers(text, width, 2, header);
  add_doubles(text, 3, rhs);
}

static bisai_status read_bytes(bisai_context *own, const test_text *text, bisai_bcsr **matrix) {
  const bisai_read_options options = bisai_read_options_default();
  return bisai_read_matrix(own, test_path_of(text->bytes, text->length), &options, matrix);
}

static void expect_matrix(const bisai_bcsr *matrix) {
  assert_int_equal(bisai_bcsr_rows(matrix), 3);
  double *got = test_dense(matrix);
  const int64_t n = 3 + bisai_bcsr_padding(matrix);
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++) assert_true(got[j * n + i] == dense[j * 3 + i]);
  free(got);
}

static void matrices_and_vectors_of_both_widths_are_read(void **state) {
  (void)state;
  for (int width = 4; width <= 8; width += 4) {
    test_text text = {0};
    bisai_bcsr *matrix = NULL;
    double got[3];
    int64_t found = -1;
    add_matrix(&text, width);
    EXPECT_OK(context, read_bytes(context, &text, &matrix));
    expect_matrix(matrix);
    bisai_bcsr_destroy(&matrix);
    EXPECT_OK(context,
              bisai_read_rhs(context, test_path_of(text.bytes, text.length), 3, got, &found));
    assert_int_equal(found, 0);
    EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                  bisai_read_vector(context, test_path_of(text.bytes, text.length), 3, got));
    EXPECT_MESSAGE(context, "there is no right-hand side with the matrix");

    const size_t before = text.length;
    add_vector(&text, width);
    EXPECT_OK(context, read_bytes(context, &text, &matrix));
    expect_matrix(matrix);
    bisai_bcsr_destroy(&matrix);
    EXPECT_OK(context,
              bisai_read_rhs(context, test_path_of(text.bytes, text.length), 3, got, &found));
    assert_int_equal(found, 1);
    assert_memory_equal(got, rhs, sizeof rhs);
    EXPECT_OK(context, bisai_read_vector(context, test_path_of(text.bytes, text.length), 3, got));
    memset(got, 0, sizeof got);
    EXPECT_OK(context,
              bisai_read_vector(context, test_path_of(text.bytes + before, text.length - before), 3,
                                got));
    assert_memory_equal(got, rhs, sizeof rhs);
    free(text.bytes);
  }
}

/* Whatever its length, a beginning of a file is refused with a message, unless all that is missing
 * is the vector. */
static void beginnings_of_files_are_refused(void **state) {
  (void)state;
  for (int width = 4; width <= 8; width += 4) {
    test_text text = {0};
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    add_matrix(&text, width);
    const size_t whole = text.length;
    add_vector(&text, width);
    for (size_t length = 0; length < text.length; length++) {
      const test_text part = {.bytes = text.bytes, .length = length};
      bisai_bcsr *matrix = NULL;
      double got[3];
      int64_t found = 0;
      const bool good = length == whole || length >= whole + (size_t)width;
      const bisai_status status = read_bytes(own, &part, &matrix);
      if ((status == BISAI_OK) != good)
        fail_msg("width %d, %zu bytes: %s", width, length, bisai_context_error(own));
      if (!good) assert_true(*bisai_context_error(own) != '\0');
      assert_true(good == (matrix != NULL));
      bisai_bcsr_destroy(&matrix);
      const bisai_status rhs_status =
          bisai_read_rhs(own, test_path_of(part.bytes, length), 3, got, &found);
      assert_true(rhs_status || found == 0);
      assert_int_equal(atomic_load(&allocator.live_blocks), 1);
    }
    bisai_context_destroy(&own);
    free(text.bytes);
  }
}

/* A file of 3 × 3 with some of its integers (class, rows, columns, entries, lengths, columns) or
 * values replaced. */
typedef struct malformed {
  const char *name;
  struct {
    /* among the 14 integers; after them the values; 0: no such change */
    int place;
    int64_t integer;
    double value;
  } changes[3];
  bisai_status status;
  const char *message;
} malformed;

enum { ROWS = 1, COLS, ENTRIES, LENGTHS, COLUMNS = LENGTHS + 3, VALUES = COLUMNS + 7 };

static const malformed matrices[] = {
    {"a_negative_number_of_rows",
     {{ROWS, -3, 0}},
     BISAI_PARSE_ERROR,
     "byte 4: the number of rows -3 is negative"},
    {"a_negative_number_of_columns",
     {{COLS, -1, 0}},
     BISAI_PARSE_ERROR,
     "byte 8: the number of columns -1 is negative"},
    {"a_negative_number_of_entries",
     {{ENTRIES, -2, 0}},
     BISAI_PARSE_ERROR,
     "byte 12: the number of entries -2 is negative"},
    {"a_dense_matrix",
     {{ENTRIES, -1, 0}},
     BISAI_UNSUPPORTED,
     "byte 16: a dense matrix; a sparse one is needed"},
    {"a_rectangular_matrix",
     {{COLS, 4, 0}},
     BISAI_UNSUPPORTED,
     "byte 16: 3 × 4: the matrix must be square"},
    {"a_matrix_without_rows",
     {{ROWS, 0, 0}, {COLS, 0, 0}},
     BISAI_UNSUPPORTED,
     "byte 16: 0 × 0: the matrix is empty"},
    {"a_promise_of_many_rows",
     {{ROWS, INT32_MAX, 0}, {COLS, INT32_MAX, 0}},
     BISAI_PARSE_ERROR,
     "byte 16: 8589934672 bytes must follow, and the file has 96"},
    {"a_promise_of_many_entries",
     {{ENTRIES, INT32_MAX, 0}},
     BISAI_PARSE_ERROR,
     "byte 16: 25769803776 bytes must follow, and the file has 96"},
    {"a_negative_length",
     {{LENGTHS + 1, -1, 0}},
     BISAI_PARSE_ERROR,
     "row 1: its length -1 is outside 0 … 3"},
    {"a_row_longer_than_the_matrix",
     {{LENGTHS, 4, 0}},
     BISAI_PARSE_ERROR,
     "row 0: its length 4 is outside 0 … 3"},
    {"lengths_that_add_up_to_too_much",
     {{LENGTHS, 3, 0}},
     BISAI_PARSE_ERROR,
     "row 2: its length 2 leads beyond the announced 7 entries"},
    {"lengths_that_add_up_to_too_little",
     {{LENGTHS + 2, 1, 0}},
     BISAI_PARSE_ERROR,
     "the rows have 6 entries, 7 are announced"},
    {"a_negative_column",
     {{COLUMNS + 2, -1, 0}},
     BISAI_PARSE_ERROR,
     "row 1: column -1 is outside 0 … 2"},
    {"a_column_beyond_the_last",
     {{COLUMNS + 6, 3, 0}},
     BISAI_PARSE_ERROR,
     "row 2: column 3 is outside 0 … 2"},
    {"a_column_twice",
     {{COLUMNS + 1, 0, 0}},
     BISAI_PARSE_ERROR,
     "row 0: column 0 follows column 0: columns must ascend"},
    {"columns_that_descend",
     {{COLUMNS + 3, 2, 0}, {COLUMNS + 4, 1, 0}},
     BISAI_PARSE_ERROR,
     "row 1: column 1 follows column 2: columns must ascend"},
    {"nan",
     {{VALUES + 4, 0, (double)NAN}},
     BISAI_NOT_FINITE,
     "entry (1, 2), counted from 0, is NaN or infinity"},
    {"infinity",
     {{VALUES, 0, -(double)INFINITY}},
     BISAI_NOT_FINITE,
     "entry (0, 0), counted from 0, is NaN or infinity"},
};

static test_text changed(const malformed *m) {
  int64_t integers[VALUES] = {MATRIX, 3, 3, 7};
  double reals[7];
  memcpy(integers + LENGTHS, lengths, sizeof lengths);
  memcpy(integers + COLUMNS, columns, sizeof columns);
  memcpy(reals, values, sizeof values);
  for (int i = 0; i < 3; i++) {
    const int place = m->changes[i].place;
    if (place >= VALUES)
      reals[place - VALUES] = m->changes[i].value;
    else if (place > 0)
      integers[place] = m->changes[i].integer;
  }
  test_text text = {0};
  add_integers(&text, 4, VALUES, integers);
  add_doubles(&text, 7, reals);
  return text;
}

/* From memory and from a file; nothing published, nothing left, no more memory than the file
 * deserves. */
static void expect_refused(const test_text *text, bisai_status status, const char *message) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 1);
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(own, status, read_bytes(own, text, &matrix));
  EXPECT_MESSAGE(own, message);
  EXPECT_STATUS(
      own, status,
      bisai_read_matrix(own, test_file("malformed", text->bytes, text->length), NULL, &matrix));
  EXPECT_MESSAGE(own, message);
  assert_null(matrix);
  assert_int_equal(atomic_load(&allocator.live_blocks), 1);
  assert_true(atomic_load(&allocator.peak_bytes) < 1 << 20);
  bisai_context_destroy(&own);
}

static void matrix_is_refused(void **state) {
  const malformed *m = *state;
  test_text text = changed(m);
  expect_refused(&text, m->status, m->message);
  free(text.bytes);
}

static void what_follows_a_matrix_is_looked_at(void **state) {
  (void)state;
  test_text text = {0};
  bisai_bcsr *matrix = NULL;
  add_matrix(&text, 4);
  const size_t length = text.length;
  add_matrix(&text, 4);
  expect_refused(&text, BISAI_UNSUPPORTED, "byte 112: a second matrix");
  text.length = length;
  bytes_integer(&text, 4, 7);
  expect_refused(&text, BISAI_PARSE_ERROR,
                 "byte 112: no object of PETSc (or the values before are complex)");
  text.length = length;
  add_doubles(&text, 7, values); /* imaginary parts, for one who knows */
  expect_refused(&text, BISAI_UNSUPPORTED, "byte 112: complex values are not supported");
  text.length = length;
  const int64_t set[] = {INDEX_SET, 2, 0, 1};
  add_integers(&text, 4, 4, set);
  EXPECT_OK(context, read_bytes(context, &text, &matrix));
  bisai_bcsr_destroy(&matrix);
  double got[3];
  int64_t found = -1;
  EXPECT_OK(context,
            bisai_read_rhs(context, test_path_of(text.bytes, text.length), 3, got, &found));
  assert_int_equal(found, 0);
  free(text.bytes);
}

static void objects_that_are_no_matrix_are_refused(void **state) {
  (void)state;
  test_text text = {0};
  add_vector(&text, 4);
  expect_refused(&text, BISAI_UNSUPPORTED, "a vector of PETSc; a matrix is needed");
  text.length = 0;
  const int64_t set[] = {INDEX_SET, 1, 0};
  add_integers(&text, 8, 3, set);
  expect_refused(&text, BISAI_UNSUPPORTED, "an index set of PETSc; a matrix is needed");
  text.length = 0;
  const int64_t wide[] = {MATRIX, INT64_C(1) << 31, INT64_C(1) << 31, 1};
  add_integers(&text, 8, 4, wide);
  expect_refused(&text, BISAI_INDEX_OVERFLOW,
                 "byte 32: more than 2147483647 rows, columns or entries");
  free(text.bytes);
}

static void expect_vector_refused(const test_text *text, bisai_status status, const char *message) {
  double got[3];
  int64_t found = 0;
  EXPECT_STATUS(context, status,
                bisai_read_vector(context, test_path_of(text->bytes, text->length), 3, got));
  EXPECT_MESSAGE(context, message);
  EXPECT_STATUS(context, status,
                bisai_read_rhs(context, test_path_of(text->bytes, text->length), 3, got, &found));
}

static void vectors_are_refused(void **state) {
  (void)state;
  test_text text = {0};
  bytes_integer(&text, 4, VECTOR);
  bytes_integer(&text, 4, -1);
  expect_vector_refused(&text, BISAI_PARSE_ERROR, "byte 4: the number of values -1 is negative");
  text.length = 4;
  bytes_integer(&text, 4, 2);
  add_doubles(&text, 2, rhs);
  expect_vector_refused(&text, BISAI_INVALID_ARGUMENT, "a vector of 2 values; 3 are needed");
  text.length = 4;
  bytes_integer(&text, 4, 3);
  add_doubles(&text, 2, rhs);
  expect_vector_refused(&text, BISAI_PARSE_ERROR,
                        "byte 8: 24 bytes must follow, and the file has 16");
  bytes_double(&text, (double)NAN);
  expect_vector_refused(&text, BISAI_NOT_FINITE, "value 2 of the vector is NaN or infinity");
  add_doubles(&text, 3, rhs);
  expect_vector_refused(&text, BISAI_UNSUPPORTED, "byte 32: complex values are not supported");
  text.length = 0;
  add_matrix(&text, 4);
  text.length -= 8;
  expect_vector_refused(&text, BISAI_PARSE_ERROR,
                        "byte 16: 96 bytes must follow, and the file has 88");
  free(text.bytes);
}

/* Writes `said` to A.info (none: removes it) and returns the block size that A and A.gz are read
 * with, or −1 with a message. */
static int block_size_said(const char *said) {
  const char *path = test_path("A.info");
  if (said)
    test_file("A.info", said, strlen(said));
  else
    remove(path);
  test_text text = {0};
  bisai_bcsr *matrix = NULL;
  add_matrix(&text, 4);
  path = test_file("A.gz", text.bytes, text.length); /* plain: what it holds counts */
  int32_t size = 0;
  const bisai_status status = bisai_read_matrix(context, path, NULL, &matrix);
  assert_int_equal(status, bisai_read_block_size(context, path, &size));
  if (matrix && size > 0) assert_int_equal(size, bisai_bcsr_block_size(matrix));
  bisai_bcsr_destroy(&matrix);
  path = test_file("A", text.bytes, text.length);
  assert_int_equal(status, bisai_read_matrix(context, path, NULL, &matrix));
  const int got = status ? -1 : size;
  bisai_bcsr_destroy(&matrix);
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 1; /* what is asked for goes before */
  EXPECT_OK(context, bisai_read_matrix(context, path, &options, &matrix));
  assert_int_equal(bisai_bcsr_block_size(matrix), 1);
  bisai_bcsr_destroy(&matrix);
  free(text.bytes);
  return got;
}

/* A line that was cut off, or that a script filled in with nothing. */
static void info_with_a_key_and_no_value_is_refused(void **state) {
  (void)state;
  static const char *const wrong[] = {"-matload_block_size\n", "-matload_block_size",
                                      "  -matload_block_size \t\r\n",
                                      "% note\n-matload_block_size\n-matload_block_size 2\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(block_size_said(wrong[i]), -1);
    char message[2048];
    snprintf(message, sizeof message, "cannot use %s: its -matload_block_size has no value",
             test_path("A.info"));
    bisai_bcsr *matrix = NULL;
    EXPECT_STATUS(context, BISAI_IO_ERROR,
                  bisai_read_matrix(context, test_path("A"), NULL, &matrix));
    EXPECT_MESSAGE(context, message);
  }
}

static void info_beside_a_file_says_the_block_size(void **state) {
  (void)state;
  assert_int_equal(block_size_said(NULL), 0);
  assert_int_equal(block_size_said(""), 0);
  assert_int_equal(block_size_said("-matload_block_size 3\n"), 3);
  assert_int_equal(block_size_said("-vecload_block_size 5\n  -matload_block_size\t2,2"), 2);
  /* what PETSc writes when it knows of no blocks */
  assert_int_equal(block_size_said("-matload_block_size 1\n"), 0);
  assert_int_equal(block_size_said("-matload_block_sizes 3\n"), 0);
  static const char *const wrong[] = {"-matload_block_size 33\n",  "-matload_block_size 0\n",
                                      "-matload_block_size 2,3\n", "-matload_block_size x\n",
                                      "-matload_block_size -2\n",  "-matload_block_size 2x\n"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_int_equal(block_size_said(wrong[i]), -1);
    char message[2048];
    snprintf(message, sizeof message,
             "cannot use %s: its -matload_block_size is not a number from 1 to 32",
             test_path("A.info"));
    bisai_bcsr *matrix = NULL;
    EXPECT_STATUS(context, BISAI_IO_ERROR,
                  bisai_read_matrix(context, test_path("A"), NULL, &matrix));
    EXPECT_MESSAGE(context, message);
  }
}

static void arguments_are_checked(void **state) {
  (void)state;
  int32_t size = 0;
  int64_t found = 0;
  double value = 0;
  assert_int_equal(bisai_read_block_size(NULL, "A", &size), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_read_rhs(NULL, "A", 1, &value, &found), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_block_size(context, NULL, &size));
  EXPECT_MESSAGE(context, "bisai_read_block_size: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_block_size(context, "A", NULL));
  EXPECT_MESSAGE(context, "bisai_read_block_size: block_size is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_rhs(context, NULL, 1, &value, &found));
  EXPECT_MESSAGE(context, "bisai_read_rhs: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_read_rhs(context, "A", 1, &value, NULL));
  EXPECT_MESSAGE(context, "bisai_read_rhs: columns is NULL");
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_rhs(context, "no/such", 1, &value, &found));
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_block_size(context, "no/such", &size));
}

/* Every allocation fails once. */
static void failing_allocations_publish_nothing(void **state) {
  (void)state;
  test_text text = {0};
  add_matrix(&text, 4);
  add_vector(&text, 4);
  test_file("B.info", "-matload_block_size 2\n", 22);
  const char *path = test_file("B", text.bytes, text.length);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  for (long long fail_at = 2; status == BISAI_OUT_OF_MEMORY; fail_at++) {
    assert_true(fail_at < 100);
    test_allocator allocator;
    test_allocator_reset(&allocator, fail_at);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = NULL;
    status = bisai_read_matrix(own, path, NULL, &matrix);
    assert_true((status == BISAI_OK) == (matrix != NULL));
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  assert_int_equal(status, BISAI_OK);
  free(text.bytes);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(matrices_and_vectors_of_both_widths_are_read),
      cmocka_unit_test(beginnings_of_files_are_refused),
      cmocka_unit_test(what_follows_a_matrix_is_looked_at),
      cmocka_unit_test(objects_that_are_no_matrix_are_refused),
      cmocka_unit_test(vectors_are_refused),
      cmocka_unit_test(info_beside_a_file_says_the_block_size),
      cmocka_unit_test(info_with_a_key_and_no_value_is_refused),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(failing_allocations_publish_nothing),
  };
  enum { OTHERS = sizeof others / sizeof *others, MATRICES = sizeof matrices / sizeof *matrices };
  struct CMUnitTest all[OTHERS + MATRICES];
  memcpy(all, others, sizeof others);
  for (size_t k = 0; k < MATRICES; k++)
    all[OTHERS + k] = (struct CMUnitTest){matrices[k].name, matrix_is_refused, NULL, NULL,
                                          (void *)(uintptr_t)&matrices[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
