/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices written in every format and read back: the same bits, whatever the block size; PETSc's
 * bytes; what cannot be written. */
#include <locale.h>
#include <time.h>

#include "bytes.h"
#include "written.h"

static bool is_archive(const char *name) { return strstr(name, ".t") != NULL; }
static bool is_petsc(const char *name) { return strstr(name, ".petsc") || strstr(name, ".bin"); }
/* Readers go by the bytes and not by the name, so that only the bytes show whether a file is
 * compressed. */
static void expect_compression(const char *path) {
  static const struct {
    const char *endings, *magic;
  } kinds[] = {{".gz .tgz", "\x1f\x8b"},
               {".xz .txz", "\xfd"
                            "7zXZ"},
               {".bz2 .tbz2", "BZh"},
               {".zst .tzst", "\x28\xb5\x2f\xfd"}};
  char start[8] = {0};
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_true(fread(start, 1, sizeof start, file) > 0);
  fclose(file);
  const char *ending = strrchr(path, '.');
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const bool named = ending && strstr(kinds[k].endings, ending) != NULL;
    assert_int_equal(memcmp(start, kinds[k].magic, strlen(kinds[k].magic)) == 0, named);
  }
}

static bool is_plain(const char *name) {
  return strcmp(name, "A.mtx") == 0 || strcmp(name, "A.petsc") == 0 || strcmp(name, "A.bin") == 0;
}

/* Writes, or skips the file where the build cannot. */
static bool write_file(const char *path, const bisai_bcsr *matrix, const double *rhs) {
  bisai_write_options options = bisai_write_options_default();
  options.rhs = rhs;
  const bisai_status status = bisai_write_matrix(context, path, matrix, &options);
  if (status == BISAI_UNAVAILABLE) {
    assert_false(test_exists(path));
    return false;
  }
  EXPECT_OK(context, status);
  return true;
}

/* .gz is written by libarchive and read by zlib, which the build may lack. */
static bool is_readable(const char *path) {
  bisai_bcsr *matrix = NULL;
  const bisai_status status = bisai_read_matrix(context, path, NULL, &matrix);
  bisai_bcsr_destroy(&matrix);
  if (status == BISAI_UNAVAILABLE) EXPECT_MESSAGE(context, "gzip files need a build with zlib");
  return status != BISAI_UNAVAILABLE;
}

static void every_format_keeps_every_bit(void **state) {
  (void)state;
  int written = 0;
  for (int32_t bs = 1; bs <= 9; bs++) {
    bisai_bcsr *matrix = sample(23, bs);
    const int64_t n = bisai_bcsr_rows(matrix);
    double *rhs = test_random_vector(n, 3), *got = malloc((size_t)n * sizeof *got);
    for (int k = 0; k < NAMES; k++) {
      const bool holds_rhs = is_archive(names[k]) || is_petsc(names[k]);
      char path[2048];
      snprintf(path, sizeof path, "%s", test_path(names[k]));
      if (!write_file(path, matrix, holds_rhs ? rhs : NULL)) {
        assert_false(is_plain(names[k]));
        continue;
      }
      written++;
      expect_compression(path);
      if (!is_readable(path)) continue;
      bisai_bcsr *read = read_back(path, bs);
      test_expect_same(matrix, read);
      bisai_bcsr_destroy(&read);
      int64_t columns = -1;
      EXPECT_OK(context, bisai_read_rhs(context, path, n, got, &columns));
      assert_int_equal(columns, holds_rhs);
      if (holds_rhs) assert_memory_equal(rhs, got, (size_t)n * sizeof *got);
      if (is_petsc(names[k]) && bs > 1) { /* FILE.info */
        read = read_back(path, 0);
        assert_int_equal(bisai_bcsr_block_size(read), bs);
        bisai_bcsr_destroy(&read);
      }
    }
    free(rhs);
    free(got);
    bisai_bcsr_destroy(&matrix);
  }
  assert_true(written >= 9 * 3);
}

/* UTF-8, Latin-1 and a long name, in whatever locale the process is: tests run in "C". */
static void archives_take_names_of_any_bytes(void **state) {
  (void)state;
  static const char *const files[] = {"\xc3\xa9.tar", "\xe9t\xe9.tar.xz",
                                      "\xe6\xa0\xbc\xe5\xad\x90 5.tar",
                                      "a_long_name_of_more_than_a_hundred_bytes_which_does_not_fit_"
                                      "into_the_first_field_of_a_header_\xc3\xa9.tar"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    bisai_bcsr *matrix = sample(5, 2);
    const int64_t n = bisai_bcsr_rows(matrix);
    double *rhs = test_random_vector(n, 3), *got = malloc((size_t)n * sizeof *got);
    const char *path = test_path(files[k]);
    if (write_file(path, matrix, rhs)) {
      bisai_bcsr *read = read_back(path, 2);
      test_expect_same(matrix, read);
      bisai_bcsr_destroy(&read);
      int64_t columns = -1;
      EXPECT_OK(context, bisai_read_rhs(context, path, n, got, &columns));
      assert_int_equal(columns, 1);
      assert_memory_equal(rhs, got, (size_t)n * sizeof *got);
    }
    free(rhs);
    free(got);
    bisai_bcsr_destroy(&matrix);
  }
}

static void vectors_keep_every_bit(void **state) {
  (void)state;
  static const char *const files[] = {"b.mtx", "b", "b.txt.gz", "b.mtx.xz", "b.petsc", "b.bin.zst"};
  enum { N = 1000 };
  double *values = test_random_vector(N, 5), got[N];
  for (int i = 0; i < N; i++) values[i] *= pow(10.0, i % 600 - 300);
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    const char *path = test_path(files[k]);
    const bisai_status status = bisai_write_vector(context, path, N, values);
    if (status == BISAI_UNAVAILABLE) continue;
    EXPECT_OK(context, status);
    expect_compression(path);
    const bisai_status read = bisai_read_vector(context, path, N, got);
    if (read == BISAI_UNAVAILABLE) continue;
    EXPECT_OK(context, read);
    assert_memory_equal(values, got, sizeof got);
  }
  EXPECT_OK(context, bisai_write_vector(context, test_path("none.petsc"), 0, NULL));
  EXPECT_OK(context, bisai_read_vector(context, test_path("none.petsc"), 0, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_vector(context, test_path("b.tar"), N, values));
  EXPECT_MESSAGE(context, "an archive is not for a vector alone: b.tar");
  free(values);
}

static void the_bytes_are_the_known_ones(void **state) {
  (void)state;
  bisai_bcsr *matrix = by_hand();
  write_file(test_path("A.mtx"), matrix, NULL);
  test_expect_text(
      test_path("A.mtx"),
      "%%MatrixMarket matrix coordinate real general\n4 4 7\n1 1 1\n2 2 0.10000000000000001\n"
      "3 3 0\n3 4 0\n4 1 -2\n4 3 0\n4 4 0\n");
  static const double rhs[] = {1, 2, 3, 0.5};
  write_file(test_path("A.petsc"), matrix, rhs);
  test_expect_text(test_path("A.petsc.info"), "-matload_block_size 2\n-vecload_block_size 2\n");
  static const int64_t head[] = {1211216, 4, 4, 7, 1, 1, 2, 3, 0, 1, 2, 3, 0, 2, 3};
  static const double values[] = {1, 0.1, 0, 0, -2, 0, 0};
  test_text expected = {0};
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) bytes_integer(&expected, 4, head[i]);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) bytes_double(&expected, values[i]);
  bytes_integer(&expected, 4, 1211214);
  bytes_integer(&expected, 4, 4);
  for (int i = 0; i < 4; i++) bytes_double(&expected, rhs[i]);
  size_t length = 0;
  char *bytes = test_read(test_path("A.petsc"), &length);
  assert_int_equal(length, expected.length);
  assert_memory_equal(bytes, expected.bytes, length);
  free(bytes);
  free(expected.bytes);
  bisai_bcsr_destroy(&matrix);
}

static void the_locale_does_not_matter(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) skip();
  bisai_bcsr *matrix = by_hand();
  write_file(test_path("A.mtx"), matrix, NULL);
  setlocale(LC_ALL, "C");
  bisai_bcsr *read = read_back(test_path("A.mtx"), 2);
  test_expect_same(matrix, read);
  bisai_bcsr_destroy(&read);
  bisai_bcsr_destroy(&matrix);
}

/* Compressed ones too: nothing in them depends on the time. */
static void the_same_matrix_gives_the_same_file(void **state) {
  (void)state;
  bisai_bcsr *matrix = sample(9, 3);
  for (int k = 0; k < NAMES; k++) {
    char first[64], second[64];
    snprintf(first, sizeof first, "%s", names[k]);
    snprintf(second, sizeof second, "%s", names[k]);
    size_t lengths[2];
    if (!write_file(test_path(first), matrix, NULL)) continue;
    char *a = test_read(test_path(first), &lengths[0]);
    if (k == 0) {
      const time_t start = time(NULL);
      while (time(NULL) == start) continue;
    }
    write_file(test_path(second), matrix, NULL);
    char *b = test_read(test_path(second), &lengths[1]);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(a, b, lengths[0]);
    free(a);
    free(b);
  }
  bisai_bcsr_destroy(&matrix);
}

/* 7 rows in blocks of 3: the padding is not written, and PETSc is told no block size that does not
 * divide them. */
static void padding_is_left_out(void **state) {
  (void)state;
  bisai_bcsr *scalar = sample(7, 1);
  EXPECT_OK(context, bisai_write_matrix(context, test_path("S.mtx"), scalar, NULL));
  for (int k = 0; k < NAMES; k++) {
    bisai_bcsr *padded = read_back(test_path("S.mtx"), 3);
    assert_int_equal(bisai_bcsr_padding(padded), 2);
    if (write_file(test_path(names[k]), padded, NULL) && is_readable(test_path(names[k]))) {
      bisai_bcsr *read = read_back(test_path(names[k]), 3);
      test_expect_same(padded, read);
      bisai_bcsr_destroy(&read);
    }
    bisai_bcsr_destroy(&padded);
  }
  test_expect_text(test_path("A.petsc.info"), "-matload_block_size 1\n");
  bisai_bcsr_destroy(&scalar);
}

static void narrow_values_and_implied_diagonals_are_written_out(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(4, 3, 2, 11));
  bisai_factor_options options = bisai_factor_options_default();
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, &options, &factors));
  const bisai_bcsr *both[] = {bisai_factors_lower(factors), bisai_factors_upper(factors)};
  for (int k = 0; k < 2; k++) {
    EXPECT_OK(context, bisai_write_matrix(context, test_path("T.petsc"), both[k], NULL));
    bisai_bcsr *read = read_back(test_path("T.petsc"), 0);
    double *expected = test_dense(both[k]), *got = test_dense(read);
    const int64_t n = bisai_bcsr_rows(read);
    assert_int_equal(n, 24);
    assert_memory_equal(expected, got, (size_t)(n * n) * sizeof *got);
    free(expected);
    free(got);
    bisai_bcsr_destroy(&read);
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);

  int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {1, 0, 1};
  double values[] = {0.1, -3, 1e30};
  matrix = test_bcsr_single(context, &(test_bcsr){2, 2, 1, row_ptr, col_idx, values});
  EXPECT_OK(context, bisai_write_matrix(context, test_path("N.bin"), matrix, NULL));
  bisai_bcsr *read = read_back(test_path("N.bin"), 1);
  double *got = test_dense(read);
  const double expected[] = {0, -3, (double)0.1f, (double)1e30f};
  assert_memory_equal(got, expected, sizeof expected);
  free(got);
  bisai_bcsr_destroy(&read);
  bisai_bcsr_destroy(&matrix);
}

static void rectangular_and_empty_matrices_are_written(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 1}, col_idx[] = {2};
  static const double values[] = {1.5, 0, 2, 3};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = 1;
  desc.block_cols = 3;
  desc.block_size = 2;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  EXPECT_OK(context, bisai_write_matrix(context, test_path("R.mtx"), matrix, NULL));
  test_expect_text(test_path("R.mtx"),
                   "%%MatrixMarket matrix coordinate real general\n2 6 3\n1 5 1.5\n1 6 2\n2 6 3\n");
  bisai_bcsr_destroy(&matrix);
  desc.block_rows = desc.block_cols = 0;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  EXPECT_OK(context, bisai_write_matrix(context, test_path("E.mtx"), matrix, NULL));
  test_expect_text(test_path("E.mtx"), "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
  bisai_bcsr_destroy(&matrix);
}

static void a_format_may_be_asked_for(void **state) {
  (void)state;
  bisai_bcsr *matrix = sample(5, 2);
  for (int format = BISAI_FORMAT_MATRIX_MARKET; format <= BISAI_FORMAT_SUITESPARSE; format++) {
    bisai_write_options options = bisai_write_options_default();
    options.format = (bisai_format)format;
    const bisai_status status = bisai_write_matrix(context, test_path("A.other"), matrix, &options);
    if (status == BISAI_UNAVAILABLE) continue;
    EXPECT_OK(context, status);
    bisai_bcsr *read = read_back(test_path("A.other"), 2);
    test_expect_same(matrix, read);
    bisai_bcsr_destroy(&read);
  }
  bisai_bcsr_destroy(&matrix);
}

static void arguments_are_checked(void **state) {
  (void)state;
  bisai_bcsr *matrix = by_hand();
  bisai_write_options options = bisai_write_options_default();
  double rhs[] = {1, 2, (double)NAN, 4};
  const char *path = test_path("nothing.mtx");
  assert_int_equal(bisai_write_matrix(NULL, path, matrix, NULL), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_matrix(context, NULL, matrix, NULL));
  EXPECT_MESSAGE(context, "bisai_write_matrix: path is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_matrix(context, path, NULL, NULL));
  EXPECT_MESSAGE(context, "bisai_write_matrix: matrix is NULL");
  options.rhs = rhs;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_write_matrix(context, path, matrix, &options));
  EXPECT_MESSAGE(context, "value 2 is NaN or infinity");
  rhs[2] = 3;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_matrix(context, path, matrix, &options));
  EXPECT_MESSAGE(context,
                 "a Matrix Market file has no room for a right-hand side beside the matrix");
  options.format = (bisai_format)5;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_matrix(context, path, matrix, &options));
  EXPECT_MESSAGE(context, "unknown format 5");
  options.struct_size = 1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_matrix(context, path, matrix, &options));
  static const char *const unknown[] = {"nothing", "nothing.dat", ".mtx", "nothing.gz",
                                        ".petsc.gz"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    char message[256];
    snprintf(message, sizeof message,
             "the ending of %s is none of .mtx, .petsc, .bin (also .gz, .xz, .bz2, .zst), .tar.gz "
             "and .npz",
             unknown[i]);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_write_matrix(context, test_path(unknown[i]), matrix, NULL));
    EXPECT_MESSAGE(context, message);
  }
  char name[200] = {0};
  memset(name, 'n', 128);
  strcat(name, ".tar");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_matrix(context, name, matrix, NULL));
  EXPECT_MESSAGE(context, "the name of an archive has 1 to 127 bytes before its ending");
  assert_false(test_exists(path));
  bisai_bcsr_destroy(&matrix);
}

static void matrices_that_are_not_finite_are_not_written(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* a device does not borrow host memory */
  test_bcsr a = test_bcsr_tridiagonal(2, 1, 1.0, 0.0);
  bisai_bcsr *matrix = test_bcsr_borrow(context, &a);
  *test_bcsr_block(&a, 1, 1) = (double)INFINITY;
  const char *path = test_file("kept.mtx", "kept", 4);
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_write_matrix(context, path, matrix, NULL));
  EXPECT_MESSAGE(context, "entry (1, 1), counted from 0, is NaN or infinity");
  test_expect_text(path, "kept");
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void padding_inside_blocks_is_not_written(void **state) {
  (void)state;
  /* rows 1 and 4 are the first node, row 2 is the second one, rows 0 and 3 are the third */
  const int32_t row_ptr[] = {0, 2, 4, 6, 8, 10}, col_idx[] = {0, 2, 1, 4, 2, 0, 3, 1, 4, 2};
  const double values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 5;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  desc.node = (int32_t[]){2, 0, 1, 2, 0};
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  const char *path = test_path("A.mtx");
  assert_true(write_file(path, matrix, NULL));
  test_expect_text(path, "%%MatrixMarket matrix coordinate real general\n5 5 10\n"
                         "1 1 3\n1 2 4\n2 2 9\n2 3 10\n3 3 5\n3 4 6\n4 3 2\n4 4 1\n"
                         "5 1 8\n5 5 7\n");
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_format_keeps_every_bit),
      cmocka_unit_test(padding_inside_blocks_is_not_written),
      cmocka_unit_test(archives_take_names_of_any_bytes),
      cmocka_unit_test(vectors_keep_every_bit),
      cmocka_unit_test(the_bytes_are_the_known_ones),
      cmocka_unit_test(the_locale_does_not_matter),
      cmocka_unit_test(the_same_matrix_gives_the_same_file),
      cmocka_unit_test(padding_is_left_out),
      cmocka_unit_test(narrow_values_and_implied_diagonals_are_written_out),
      cmocka_unit_test(rectangular_and_empty_matrices_are_written),
      cmocka_unit_test(a_format_may_be_asked_for),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(matrices_that_are_not_finite_are_not_written),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
