/* SPDX-License-Identifier: BSD-3-Clause */
/* Compressed files with one byte changed, cut off, or with something behind their end: whatever is
 * read from them is what was written, or an error. */
#include "bytes.h"
#include "folder_fixture.h"
#include "path_of.h"

/* Eleven rows whose digits a compressor mostly stores as they are, so that a changed byte of the
 * file changes a digit. */
static void print_matrix(test_text *text) {
  test_print(text, "%%%%MatrixMarket matrix coordinate real general\n11 11 22\n");
  for (int i = 0; i < 11; i++)
    test_print(text, "%d %d %d.%d\n%d %d -0.%d\n", i + 1, i + 1, 40 + i * i, 7 * i, i + 1,
               (i * 5 + 1) % 11 + 1, 13 + i);
}

static void print_rhs(test_text *text) {
  test_print(text, "%%%%MatrixMarket matrix array real general\n11 1\n");
  for (int i = 0; i < 11; i++) test_print(text, "%d.%d\n", 3 * i + 1, i);
}

/* What a file gives: the matrix as a dense one, and the right-hand side; `dense` is NULL after a
 * failure of either. */
typedef struct content {
  double *dense, rhs[11];
  int64_t columns;
} content;

static void expect_cannot_decompress(const char *path, const char *reason) {
  char message[256];
  snprintf(message, sizeof message, "cannot decompress %s: %s", path, reason);
  EXPECT_MESSAGE(context, message);
}

static content read_content(const char *bytes, size_t count) {
  content c = {.columns = 0};
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 1;
  bisai_bcsr *matrix = NULL;
  memset(c.rhs, 0, sizeof c.rhs);
  const bisai_status status =
      bisai_read_matrix(context, test_path_of(bytes, count), &options, &matrix);
  assert_true((status == BISAI_OK) == (matrix != NULL));
  if (status) return c;
  /* As a changed name of a member may lead to another matrix, so a changed number of rows is
   * one. */
  if (bisai_bcsr_rows(matrix) == 11 &&
      !bisai_read_rhs(context, test_path_of(bytes, count), 11, c.rhs, &c.columns))
    c.dense = test_dense(matrix);
  bisai_bcsr_destroy(&matrix);
  return c;
}

static bool is_same(const content *a, const content *b) {
  return memcmp(a->dense, b->dense, 121 * sizeof(double)) == 0 && a->columns == b->columns &&
         memcmp(a->rhs, b->rhs, sizeof a->rhs) == 0;
}

/* The standard output of a command, which is to be freed. Without bytes if the command is not
 * there. */
static test_text output_of(const char *command) {
  test_text text = {0};
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  char buffer[4096];
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    bytes_append(&text, buffer, count);
  const int result = pclose(pipe);
  if (result == 0) return text;
  free(text.bytes);
  print_message("%s: exit %d\n", command, result);
  return (test_text){0};
}

/* Without bytes if the command is not there. */
static test_text compress(const char *how, const test_text *plain) {
  char command[8192];
  const char *path = test_file("plain", plain->bytes, plain->length);
  snprintf(command, sizeof command, "%s < %s", how, path);
  return output_of(command);
}

/* The matrix, or an archive of the matrix and its right-hand side. */
static test_text plain_file(bool archive) {
  test_text matrix = {0}, rhs = {0}, archived = {0};
  print_matrix(&matrix);
  if (!archive) return matrix;
  print_rhs(&rhs);
  tar_text(&archived, "memory/memory.mtx", matrix.bytes);
  tar_text(&archived, "memory/memory_b.mtx", rhs.bytes);
  tar_end(&archived);
  free(rhs.bytes);
  free(matrix.bytes);
  return archived;
}

/* Skips the test if the command or the library that reads its output is not there. */
static void need(const char *command, bool archive) {
  test_text plain = plain_file(archive), file = compress(command, &plain);
  content whole = {0};
  if (file.bytes) whole = read_content(file.bytes, file.length);
  const bool absent =
      !file.bytes || (!whole.dense && strstr(bisai_context_error(context), "need a build with"));
  free(whole.dense);
  free(file.bytes);
  free(plain.bytes);
  if (absent) skip();
}

typedef struct format {
  const char *name, *command;
  bool archive;
} format;

static void expect_damage_noticed(const format *f, test_text *file, const content *whole) {
  for (size_t at = 0; at < file->length; at++) {
    const char kept = file->bytes[at];
    for (int bit = 0; bit < 8; bit++) {
      file->bytes[at] = (char)(kept ^ 1 << bit);
      content damaged = read_content(file->bytes, file->length);
      if (damaged.dense && !is_same(whole, &damaged))
        fail_msg("%s: bit %d of byte %zu is changed, and another matrix is read", f->name, bit, at);
      free(damaged.dense);
    }
    file->bytes[at] = kept;
  }
}

/* Only what is behind all data and checks may be missing. */
static void expect_ends_noticed(const format *f, test_text *file) {
  for (size_t length = 0; length < file->length; length++) {
    content cut = read_content(file->bytes, length);
    if (cut.dense)
      fail_msg("%s: read from the first %zu of %zu bytes", f->name, length, file->length);
    free(cut.dense);
  }
}

static void damage_is_noticed(void **state) {
  const format *f = *state;
  need(f->command, f->archive);
  test_text plain = plain_file(f->archive), file = compress(f->command, &plain);
  content whole = read_content(file.bytes, file.length);
  assert_non_null(whole.dense);
  assert_int_equal(whole.columns, f->archive);
  expect_damage_noticed(f, &file, &whole);
  expect_ends_noticed(f, &file);
  free(whole.dense);
  free(file.bytes);
  free(plain.bytes);
}

static void members_of_gzip_files_are_read_on_and_checked(void **state) {
  (void)state;
  need("gzip", false);
  test_text matrix = {0}, part = {0};
  print_matrix(&matrix);
  bytes_append(&part, matrix.bytes, 100);
  test_text two = compress("gzip -n -1", &part);
  const size_t first = two.length;
  part.length = 0;
  bytes_append(&part, matrix.bytes + 100, matrix.length - 100);
  test_text second = compress("gzip -n -1", &part);
  bytes_append(&two, second.bytes, second.length);
  content plain = read_content(matrix.bytes, matrix.length),
          whole = read_content(two.bytes, two.length);
  assert_non_null(whole.dense);
  assert_true(is_same(&plain, &whole));
  const format f = {"two members", NULL, false};
  expect_damage_noticed(&f, &two, &whole);
  for (size_t length = 0; length < two.length; length++) {
    content cut = read_content(two.bytes, length);
    if (cut.dense)
      fail_msg("read from the first %zu of %zu + %zu bytes", length, first, second.length);
  }
  free(whole.dense);
  free(plain.dense);
  free(second.bytes);
  free(two.bytes);
  free(part.bytes);
  free(matrix.bytes);
}

static void nothing_may_follow_a_gzip_file(void **state) {
  (void)state;
  need("gzip", false);
  static const char *const behind[] = {"garbage", "\x1f", "\x1f\x8b", "\x1f\x8b\x08"};
  test_text matrix = {0};
  print_matrix(&matrix);
  test_text file = compress("gzip -n", &matrix);
  const size_t length = file.length;
  for (size_t k = 0; k < sizeof behind / sizeof *behind; k++) {
    file.length = length;
    bytes_append(&file, behind[k], strlen(behind[k]));
    bisai_bcsr *read = NULL;
    const bisai_read_options options = bisai_read_options_default();
    const char *path = test_path_of(file.bytes, file.length);
    EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, path, &options, &read));
    expect_cannot_decompress(path, k == 0 ? "what follows the last gzip member is not gzip"
                                          : "the gzip file is cut off");
    assert_null(read);
  }
  free(file.bytes);
  free(matrix.bytes);
}

/* Tapes and disk images are filled up with zeros, which gzip leaves out, too. */
static void zeros_may_fill_up_a_gzip_file(void **state) {
  (void)state;
  need("gzip", false);
  static const char zeros[3000] = {0};
  test_text matrix = {0};
  print_matrix(&matrix);
  test_text file = compress("gzip -n", &matrix);
  content plain = read_content(matrix.bytes, matrix.length);
  static const size_t counts[] = {1, 511, sizeof zeros, 100 * sizeof zeros};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
    test_text padded = {0};
    bytes_append(&padded, file.bytes, file.length);
    for (size_t left = counts[k]; left > 0; left -= left < sizeof zeros ? left : sizeof zeros)
      bytes_append(&padded, zeros, left < sizeof zeros ? left : sizeof zeros);
    content read = read_content(padded.bytes, padded.length);
    assert_non_null(read.dense);
    assert_true(is_same(&plain, &read));
    free(read.dense);
    /* a member behind zeros is not read by gzip, and refused here */
    bytes_append(&padded, file.bytes, file.length);
    read = read_content(padded.bytes, padded.length);
    assert_null(read.dense);
    free(padded.bytes);
  }
  free(plain.dense);
  free(file.bytes);
  free(matrix.bytes);
}

/* A matrix behind which a vector stands in the file is not believed before the vector's bytes have
 * been checked, too. */
static void what_is_not_asked_for_is_checked_too(void **state) {
  (void)state;
  need("gzip", false);
  test_text plain = {0};
  /* a matrix of one entry */
  for (int k = 0; k < 4; k++) bytes_integer(&plain, 4, k == 0 ? 1211216 : 1);
  bytes_integer(&plain, 4, 1);
  bytes_integer(&plain, 4, 0);
  bytes_double(&plain, 3);
  bytes_integer(&plain, 4, 1211214);
  bytes_integer(&plain, 4, 1);
  bytes_double(&plain, 5);
  test_text file = compress("gzip -n -1", &plain);
  bisai_bcsr *matrix = NULL;
  const bisai_read_options options = bisai_read_options_default();
  const bisai_status status =
      bisai_read_matrix(context, test_path_of(file.bytes, file.length), &options, &matrix);
  EXPECT_OK(context, status);
  bisai_bcsr_destroy(&matrix);
  file.bytes[file.length - 8] ^= 1; /* of the CRC */
  const char *path = test_path_of(file.bytes, file.length);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, path, &options, &matrix));
  expect_cannot_decompress(path, "incorrect data check");
  assert_null(matrix);
  free(file.bytes);
  free(plain.bytes);
}

int main(void) {
  static const format formats[] = {
      {"damage_to_gzip_is_noticed", "gzip -n", false},
      {"damage_to_gzip_without_huffman_codes_is_noticed",
       "python3 -c 'import sys,zlib;c=zlib.compressobj(0,8,31);"
       "sys.stdout.buffer.write(c.compress(sys.stdin.buffer.read())+c.flush())'",
       false},
      {"damage_to_xz_is_noticed", "xz", false},
      {"damage_to_bzip2_is_noticed", "bzip2", false},
      {"damage_to_zstd_with_its_check_is_noticed", "zstd -q --check", false},
      {"damage_to_lz4_with_its_check_is_noticed", "lz4 -q", false},
      {"damage_to_archives_by_gzip_is_noticed", "gzip -n", true},
      {"damage_to_archives_by_xz_is_noticed", "xz", true},
      {"damage_to_archives_by_bzip2_is_noticed", "bzip2", true},
      {"damage_to_archives_by_zstd_is_noticed", "zstd -q --check", true},
  };
  const struct CMUnitTest others[] = {
      cmocka_unit_test(members_of_gzip_files_are_read_on_and_checked),
      cmocka_unit_test(nothing_may_follow_a_gzip_file),
      cmocka_unit_test(zeros_may_fill_up_a_gzip_file),
      cmocka_unit_test(what_is_not_asked_for_is_checked_too),
  };
  enum { OTHERS = sizeof others / sizeof *others, FORMATS = sizeof formats / sizeof *formats };
  struct CMUnitTest all[OTHERS + FORMATS];
  memcpy(all, others, sizeof others);
  for (size_t k = 0; k < FORMATS; k++)
    all[OTHERS + k] = (struct CMUnitTest){formats[k].name, damage_is_noticed, NULL, NULL,
                                          (void *)(uintptr_t)&formats[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
