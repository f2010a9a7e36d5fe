/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of NumPy and matrices of SciPy, made array by array: all formats and types of numbers, and
 * files that are wrong in one way each. SciPy's own files are read by tests/python. */
#include <inttypes.h>
#include <math.h>

#include "io/formats/npz.h"

#include "bytes.h"
#include "folder_fixture.h"

/* Blocks of size 2: (0, 0), (0, 1), (1, 1). By columns. */
static const double dense[] = {4, 1, 0, 0, -1, 5, 0, 0, 2, 0, 6, 3, 0, 0, 2, 7},
                    rhs[] = {1, -2.5, 3, 1e-300};

/* An array: its type and shape, and its elements, which have fewer values as integers. */
typedef struct array {
  const char *name, *type, *shape;
  int count;
  const double *elements;
} array;

static const double csr_ptr[] = {0, 3, 5, 7, 9}, csr_col[] = {0, 1, 2, 3, 1, 3, 2, 3, 2},
                    csr_values[] = {4, -1, 2, 2, 5, 2, 6, 7, 3};
static const double rows[] = {0, 0, 0, 1, 1, 2, 2, 3, 3}, cols[] = {2, 0, 1, 1, 0, 3, 2, 3, 2},
                    coo_values[] = {2, 4, -1, 5, 1, 2, 6, 7, 3}, csc_ptr[] = {0, 2, 4, 7, 9},
                    csc_row[] = {0, 1, 0, 1, 0, 2, 3, 3, 2},
                    csc_values[] = {4, 1, -1, 5, 2, 6, 3, 7, 2}, bsr_ptr[] = {0, 2, 3},
                    bsr_col[] = {0, 1, 1}, bsr_values[] = {4, -1, 1, 5, 2, 0, 0, 0, 6, 2, 3, 7},
                    four[] = {4, 4};

static void put_element(bsi_output *output, const char *type, double value) {
  const bool big = type[0] == '>';
  const int bytes = type[2] - '0';
  unsigned char raw[8];
  int64_t integer = (int64_t)value;
  float narrow = (float)value;
  uint64_t bits = 0;
  if (type[1] != 'f')
    memcpy(&bits, &integer, 8);
  else if (bytes == 4)
    memcpy(&bits, &narrow, 4);
  else
    memcpy(&bits, &value, 8);
  for (int i = 0; i < bytes; i++) raw[i] = (unsigned char)(bits >> 8 * (big ? bytes - 1 - i : i));
  bsi_output_write(output, raw, (size_t)bytes);
}

static void put_array(bsi_output *output, const array *a) {
  char member[32];
  const int bytes = a->type[2] - '0';
  snprintf(member, sizeof member, "%s.npy", a->name);
  bsi_output_begin_member(
      output, member, bsi_npy_write_header(NULL, a->type, a->shape) + (int64_t)a->count * bytes);
  bsi_npy_write_header(output, a->type, a->shape);
  for (int k = 0; k < a->count; k++) {
    if (a->type[1] == 'S')
      bsi_output_write(output, a->name, (size_t)bytes);
    else
      put_element(output, a->type, a->elements[k]);
  }
}

/* Writes the arrays, and the word of a format unless it is NULL. Returns the path. */
static const char *make_file(const char *format, int count, const array *arrays) {
  const char *path = test_path("matrix.npz");
  bsi_output *output = NULL;
  EXPECT_OK(context, bsi_output_open(context, path, BSI_ZIP, BSI_PLAIN, &output));
  if (format) {
    bsi_output_begin_member(output, "format.npy", bsi_npy_write_header(NULL, "|S3", "()") + 3);
    bsi_npy_write_header(output, "|S3", "()");
    bsi_output_write(output, format, 3);
  }
  for (int k = 0; k < count; k++) put_array(output, &arrays[k]);
  EXPECT_OK(context, bsi_output_close(&output, BISAI_OK));
  return path;
}

static void expect_dense(const char *path, int32_t block_size) {
  bisai_system system = {.struct_size = sizeof system};
  EXPECT_OK(context, bisai_read_system(context, path, NULL, &system));
  double *got = test_dense(system.matrix);
  assert_int_equal(4, bisai_bcsr_rows(system.matrix));
  if (block_size) assert_int_equal(block_size, bisai_bcsr_block_size(system.matrix));
  const int64_t n = 4 + bisai_bcsr_padding(system.matrix);
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 4; i++) assert_true(got[j * n + i] == dense[4 * j + i]);
  free(got);
  bisai_system_clear(context, &system);
}

static void matrices_of_all_formats_are_read(void **state) {
  (void)state;
  const array csr[] = {{"indices", "<i4", "(9,)", 9, cols},
                       {"indptr", "<i8", "(5,)", 5, (const double[]){0, 3, 5, 7, 9}},
                       {"shape", "<i8", "(2,)", 2, four},
                       {"data", "<f8", "(9,)", 9, coo_values}};
  expect_dense(make_file("csr", 4, csr), 0);
  const array coo[] = {{"data", ">f4", "(9,)", 9, coo_values},
                       {"row", "<u2", "(9,)", 9, rows},
                       {"col", ">i4", "(9,)", 9, cols},
                       {"shape", "|u1", "(2,)", 2, four}};
  expect_dense(make_file("coo", 4, coo), 0);
  const array csc[] = {{"indices", "|i1", "(9,)", 9, csc_row},
                       {"indptr", "<u8", "(5,)", 5, csc_ptr},
                       {"shape", ">i8", "(2,)", 2, four},
                       {"data", "<i2", "(9,)", 9, csc_values}};
  expect_dense(make_file("csc", 4, csc), 0);
  const array bsr[] = {{"indices", "<i4", "(3,)", 3, bsr_col},
                       {"indptr", "<i4", "(3,)", 3, bsr_ptr},
                       {"shape", "<i8", "(2,)", 2, four},
                       {"data", ">f8", "(3, 2, 2)", 12, bsr_values},
                       {"b", "<f8", "(4,)", 4, rhs}};
  expect_dense(make_file("bsr", 5, bsr), 2);
}

static void a_right_hand_side_is_the_array_b(void **state) {
  (void)state;
  const array arrays[] = {{"b", "<f8", "(4, 1)", 4, rhs},
                          {"indices", "<i4", "(3,)", 3, bsr_col},
                          {"indptr", "<i4", "(3,)", 3, bsr_ptr},
                          {"shape", "<i8", "(2,)", 2, four},
                          {"data", "<f8", "(3, 2, 2)", 12, bsr_values}};
  const char *path = make_file("bsr", 5, arrays);
  bisai_system system = {.struct_size = sizeof system};
  double got[4];
  int64_t columns = -1;
  EXPECT_OK(context, bisai_read_system(context, path, NULL, &system));
  assert_memory_equal(system.rhs, rhs, sizeof rhs);
  bisai_system_clear(context, &system);
  EXPECT_OK(context, bisai_read_rhs(context, path, 4, got, &columns));
  assert_int_equal(1, columns);
  EXPECT_OK(context, bisai_read_vector(context, path, 4, got));
  assert_memory_equal(got, rhs, sizeof rhs);
  path = make_file("bsr", 4, arrays + 1);
  EXPECT_OK(context, bisai_read_rhs(context, path, 4, got, &columns));
  assert_int_equal(0, columns);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_read_vector(context, path, 4, got));
}

static const char *make_array(const char *type, const char *shape, bool by_columns, int count,
                              const double *elements) {
  const char *path = test_path("array.npy");
  bsi_output *output = NULL;
  EXPECT_OK(context, bsi_output_open(context, path, BSI_SINGLE, BSI_PLAIN, &output));
  if (by_columns) { /* version 2 */
    char text[160];
    const int length = snprintf(
        text, sizeof text, "{'descr': \"%s\", 'fortran_order': True, 'shape': %s}\n", type, shape);
    bsi_output_write(output, "\x93NUMPY\x02\x00", 8);
    const unsigned char bytes[] = {(unsigned char)length, 0, 0, 0};
    bsi_output_write(output, bytes, 4);
    bsi_output_write(output, text, (size_t)length);
  } else {
    bsi_npy_write_header(output, type, shape);
  }
  for (int k = 0; k < count; k++) put_element(output, type, elements[k]);
  EXPECT_OK(context, bsi_output_close(&output, BISAI_OK));
  return path;
}

static void vectors_are_read_and_written(void **state) {
  (void)state;
  double got[4], *many = NULL;
  int32_t count = 0;
  EXPECT_OK(context, bisai_write_vector(context, test_path("x.npy"), 4, rhs));
  EXPECT_OK(context, bisai_read_vector(context, test_path("x.npy"), 4, got));
  assert_memory_equal(got, rhs, sizeof rhs);
  EXPECT_OK(context,
            bisai_read_vector(context, make_array("<i8", "(3,)", false, 3, rows + 2), 3, got));
  assert_true(got[0] == 0 && got[1] == 1 && got[2] == 1);
  const double negative[] = {-3, 127};
  EXPECT_OK(context,
            bisai_read_vector(context, make_array(">i2", "(2,)", false, 2, negative), 2, got));
  assert_true(got[0] == -3 && got[1] == 127);
  for (int by_columns = 0; by_columns < 2; by_columns++) {
    const char *path = make_array("<f8", "(3, 2)", by_columns, 6, csc_values);
    EXPECT_OK(context, bisai_read_vectors(context, path, 3, 2, &many, &count));
    assert_int_equal(2, count);
    for (int i = 0; i < 3; i++)
      for (int c = 0; c < 2; c++)
        assert_true(many[2 * i + c] == csc_values[by_columns ? 3 * c + i : 2 * i + c]);
    bisai_vectors_destroy(context, &many);
  }
}

static void expect_vector_refused(bisai_status status, const char *path, int64_t n,
                                  const char *part) {
  double got[4];
  EXPECT_STATUS(context, status, bisai_read_vector(context, path, n, got));
  EXPECT_IN_MESSAGE(context, part);
}

static void wrong_arrays_are_refused(void **state) {
  (void)state;
  const double nan[] = {1, NAN};
  double *many = NULL;
  int32_t count = 0;
  expect_vector_refused(BISAI_INVALID_ARGUMENT, make_array("<f8", "(4,)", false, 4, rhs), 3,
                        "an array of 4 rows; 3 are needed");
  expect_vector_refused(BISAI_UNSUPPORTED, make_array("<f8", "(2, 2)", false, 4, rhs), 2,
                        "2 columns; a vector");
  expect_vector_refused(BISAI_UNSUPPORTED, make_array("<f8", "()", false, 1, rhs), 1,
                        "an array of 0 dimensions");
  expect_vector_refused(BISAI_PARSE_ERROR, make_array("<f8", "(1, 1, 1, 1)", false, 1, rhs), 1,
                        "no shape of at most 3 dimensions");
  expect_vector_refused(BISAI_PARSE_ERROR, make_array("<f8", "(-1,)", false, 1, rhs), 1, "shape");
  expect_vector_refused(BISAI_UNSUPPORTED, make_array("<f2", "(2,)", false, 2, rhs), 2,
                        "has the type f2");
  expect_vector_refused(BISAI_UNSUPPORTED, make_array("<c8", "(2,)", false, 2, rhs), 2,
                        "has the type c8");
  expect_vector_refused(BISAI_UNSUPPORTED, make_array("<M8", "(2,)", false, 2, rhs), 2,
                        "are not plain numbers");
  expect_vector_refused(BISAI_NOT_FINITE, make_array("<f8", "(2,)", false, 2, nan), 2, "value 1");
  expect_vector_refused(BISAI_PARSE_ERROR, make_array("<f8", "(3,)", false, 2, rhs), 3,
                        "the file ends within the values");
  expect_vector_refused(BISAI_PARSE_ERROR, make_array("<f8", "(3,)", false, 4, rhs), 3,
                        "bytes follow");
  const char *path = make_array("<f8", "(1, 3)", false, 3, rhs);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_read_vectors(context, path, 1, 2, &many, &count));
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_read_matrix(context, path, NULL, &matrix));
  EXPECT_IN_MESSAGE(context, "a dense array of NumPy");
  static const struct {
    const char *bytes;
    size_t count;
    const char *part;
  } headers[] = {{"\x93NUMPY\x01", 7, "ends within the header"},
                 {"\x93NUMPY\x07\0\x02\0{}", 12, "unknown version"},
                 {"\x93NUMPY\x01\0\x02\0{}", 12, "no fortran_order"},
                 {"\x93NUMPY\x02\0\0\0\1\0{}", 14, "is too long"}};
  for (size_t k = 0; k < sizeof headers / sizeof *headers; k++) {
    const char *file = test_path("header.npy");
    EXPECT_OK(context, bisai_write_bytes(context, file, headers[k].bytes, headers[k].count));
    expect_vector_refused(BISAI_PARSE_ERROR, file, 1, headers[k].part);
  }
}

static void expect_refused(bisai_status status, const char *path, const char *part) {
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(context, status, bisai_read_matrix(context, path, NULL, &matrix));
  EXPECT_IN_MESSAGE(context, part);
  assert_null(matrix);
}

static void wrong_matrices_are_refused(void **state) {
  (void)state;
  const double falls[] = {0, 3, 2, 7, 9}, begins[] = {1, 3, 5, 7, 9}, far[] = {0, 1, 4},
               below[] = {0, 1, -1}, wide[] = {4, 6}, nothing[] = {0, 0};
  array a[] = {{"indices", "<i4", "(9,)", 9, csr_col},
               {"indptr", "<i4", "(5,)", 5, csr_ptr},
               {"shape", "<i4", "(2,)", 2, four},
               {"data", "<f8", "(9,)", 9, csr_values}};
  const array good[] = {a[0], a[1], a[2], a[3]};
  expect_refused(BISAI_PARSE_ERROR, make_file(NULL, 4, a), "no array format");
  expect_refused(BISAI_UNSUPPORTED, make_file("dok", 4, a), "the format is dok");
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 3, a), "without the array data");
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 3, a + 1), "without the array indices");
  expect_refused(BISAI_PARSE_ERROR, make_file("coo", 4, a), "without the array row");
  expect_refused(BISAI_PARSE_ERROR, make_file("bsr", 4, a), "blocks of 1 × 1");
  a[3] = (array){"indptr", "<i4", "(5,)", 5, csr_ptr};
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 4, a), "indptr is there twice");
  a[3] = good[3];
  a[1].elements = falls;
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 4, a), "has 3 before 2 at 1");
  a[1].elements = begins;
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 4, a), "begins with 1");
  a[1] = (array){"indptr", "<i4", "(3,)", 3, csr_ptr};
  expect_refused(BISAI_PARSE_ERROR, make_file("csr", 4, a), "3 elements, and 5 are needed");
  a[1] = (array){"indptr", "<f8", "(5,)", 5, csr_ptr};
  expect_refused(BISAI_UNSUPPORTED, make_file("csr", 4, a), "indptr has the type f8");
  a[1] = good[1];
  a[2].elements = wide;
  expect_refused(BISAI_UNSUPPORTED, make_file("csr", 4, a), "4 × 6: the matrix must be square");
  a[2].elements = nothing;
  expect_refused(BISAI_UNSUPPORTED, make_file("csr", 4, a), "0 × 0");
  a[2] = (array){"shape", "<i4", "(3,)", 3, csr_col};
  expect_refused(BISAI_UNSUPPORTED, make_file("csr", 4, a), "shape has 3 numbers");
  a[2] = good[2];
  array b[] = {{"indices", "<i4", "(3,)", 3, far},
               {"indptr", "<i4", "(3,)", 3, bsr_ptr},
               {"shape", "<i8", "(2,)", 2, four},
               {"data", "<f8", "(3, 2, 2)", 12, bsr_values}};
  expect_refused(BISAI_PARSE_ERROR, make_file("bsr", 4, b), "number 2 is 4, outside 0 … 1");
  b[0].elements = below;
  expect_refused(BISAI_PARSE_ERROR, make_file("bsr", 4, b), "number 2 is -1, outside");
  b[0].elements = bsr_col;
  b[3].shape = "(2, 3, 2)";
  expect_refused(BISAI_PARSE_ERROR, make_file("bsr", 4, b), "blocks of 3 × 2 do not divide");
  b[3].shape = "(6, 2)";
  expect_refused(BISAI_UNSUPPORTED, make_file("bsr", 4, b), "data has 2 dimensions");
}

/* Blocks, blocks with padding, and a right-hand side. */
static void what_is_written_is_read_again(void **state) {
  (void)state;
  for (int padded = 0; padded < 2; padded++) {
    const char *path = test_path("again.npz");
    bisai_read_options options = bisai_read_options_default();
    bisai_write_options how = bisai_write_options_default();
    bisai_bcsr *matrix = NULL;
    bisai_system system = {.struct_size = sizeof system};
    const array coo[] = {{"data", "<f8", "(9,)", 9, coo_values},
                         {"row", "<i4", "(9,)", 9, rows},
                         {"col", "<i4", "(9,)", 9, cols},
                         {"shape", "<i4", "(2,)", 2, four}};
    options.block_size = padded ? 3 : 2;
    EXPECT_OK(context, bisai_read_matrix(context, make_file("coo", 4, coo), &options, &matrix));
    how.rhs = rhs;
    EXPECT_OK(context, bisai_write_matrix(context, path, matrix, &how));
    options.block_size = padded ? 3 : 0;
    EXPECT_OK(context, bisai_read_system(context, path, &options, &system));
    test_expect_same(matrix, system.matrix);
    assert_memory_equal(system.rhs, rhs, sizeof rhs);
    bisai_system_clear(context, &system);
    bisai_bcsr_destroy(&matrix);
  }
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_vector(context, test_path("x.npz"), 4, rhs));
}

/* Whichever byte of every third is changed, and wherever the file ends, reading ends without a
 * crash; the checks of zip find changed data. */
static void changed_bytes_are_survived(void **state) {
  (void)state;
  const array bsr[] = {{"indices", "<i4", "(3,)", 3, bsr_col},
                       {"indptr", "<i4", "(3,)", 3, bsr_ptr},
                       {"shape", "<i8", "(2,)", 2, four},
                       {"data", "<f8", "(3, 2, 2)", 12, bsr_values}};
  size_t length = 0;
  char *bytes = test_read(make_file("bsr", 4, bsr), &length);
  const char *path = test_path("changed.npz");
  for (size_t k = 0; k < length; k += 3) {
    bisai_bcsr *matrix = NULL;
    bytes[k] = (char)(bytes[k] ^ (1 << k % 8));
    EXPECT_OK(context, bisai_write_bytes(context, path, bytes, length));
    if (!bisai_read_matrix(context, path, NULL, &matrix)) bisai_bcsr_destroy(&matrix);
    assert_null(matrix);
    bytes[k] = (char)(bytes[k] ^ (1 << k % 8));
    EXPECT_OK(context, bisai_write_bytes(context, path, bytes, k));
    if (!bisai_read_matrix(context, path, NULL, &matrix)) bisai_bcsr_destroy(&matrix);
  }
  free(bytes);
}

static void failing_allocations_publish_nothing(void **state) {
  (void)state;
  const array csc[] = {{"indices", "<i4", "(9,)", 9, csc_row},
                       {"indptr", "<i4", "(5,)", 5, csc_ptr},
                       {"shape", "<i4", "(2,)", 2, four},
                       {"data", "<f8", "(9,)", 9, csc_values},
                       {"b", "<f8", "(4,)", 4, rhs}};
  const char *path = make_file("csc", 5, csc);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  for (long long fail_at = 2; status == BISAI_OUT_OF_MEMORY; fail_at++) {
    assert_true(fail_at < 100);
    test_allocator allocator;
    test_allocator_reset(&allocator, fail_at);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_system system = {.struct_size = sizeof system};
    status = bisai_read_system(own, path, NULL, &system);
    assert_true((status == BISAI_OK) == (system.matrix != NULL));
    bisai_system_clear(own, &system);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  assert_int_equal(status, BISAI_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_of_all_formats_are_read),
      cmocka_unit_test(a_right_hand_side_is_the_array_b),
      cmocka_unit_test(vectors_are_read_and_written),
      cmocka_unit_test(wrong_arrays_are_refused),
      cmocka_unit_test(wrong_matrices_are_refused),
      cmocka_unit_test(what_is_written_is_read_again),
      cmocka_unit_test(changed_bytes_are_survived),
      cmocka_unit_test(failing_allocations_publish_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
