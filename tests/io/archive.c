/* SPDX-License-Identifier: BSD-3-Clause */
/* Archives as the SuiteSparse collection has them, made byte by byte: which file is the matrix, its
 * right-hand side, what is refused. */
#include "bytes.h"
#include "folder_fixture.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define ARRAY "%%MatrixMarket matrix array real general\n"

/* Matrices that their one entry tells apart. */
static const char one[] = REAL "2 2 1\n1 1 1\n", two[] = REAL "2 2 1\n1 1 2\n";

static void skip_without_libarchive(bisai_status status) {
  if (status != BISAI_UNAVAILABLE) return;
  EXPECT_MESSAGE(context, "archives need a build with libarchive");
  skip();
}

/* Ends the archive, writes it as `file`, reads it, frees it: the first value, or 0 after a
 * failure. */
static double read_first(test_text *text, const char *file) {
  tar_end(text);
  bisai_bcsr *matrix = NULL;
  const bisai_status status =
      bisai_read_matrix(context, test_file(file, text->bytes, text->length), NULL, &matrix);
  free(text->bytes);
  *text = (test_text){0};
  skip_without_libarchive(status);
  assert_true((status == BISAI_OK) == (matrix != NULL));
  if (status) return 0;
  double *dense = test_dense(matrix);
  const double first = dense[0];
  free(dense);
  bisai_bcsr_destroy(&matrix);
  return first;
}

static void the_matrix_is_the_file_named_as_the_archive(void **state) {
  (void)state;
  test_text text = {0};
  tar_member(&text, '5', "A/", NULL, 0);
  tar_text(&text, "B/B.mtx", one);
  tar_text(&text, "A/A.mtx", two);
  assert_true(read_first(&text, "A.tar") == 2);
  tar_text(&text, "B/B.mtx", one);
  tar_text(&text, "A/A.mtx", two);
  assert_true(read_first(&text, "B.tar.gz") == 1); /* whatever the ending promises */
  tar_text(&text, "B.mtx", one);
  tar_text(&text, "../../A.mtx", two); /* nothing is unpacked */
  assert_true(read_first(&text, "A.tgz") == 2);
}

static void otherwise_the_file_named_as_its_folder(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A_b.mtx", one);
  tar_text(&text, "A/A.mtx", two);
  tar_text(&text, "A/A_coord.mtx", one);
  assert_true(read_first(&text, "other.tar") == 2);
  tar_text(&text, "./x/A/other_than.mtx", one);
  tar_text(&text, "./x/A/A.mtx", two);
  assert_true(read_first(&text, "other.tar") == 2);
}

static void otherwise_the_only_one(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "readme.txt", "no matrix");
  tar_text(&text, "A.mtx.gz", "no .mtx");
  tar_text(&text, ".mtx", "no name");
  tar_member(&text, '2', "link.mtx", NULL, 0);
  tar_text(&text, "dir/B.mtx", two);
  assert_true(read_first(&text, "other.tar") == 2);
}

/* As written before 1988: the header does not name its format, and only its sum tells that it is
 * one. */
static void the_oldest_archives_are_read(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", two);
  unsigned sum = 0;
  memset(text.bytes + 257, 0, 8);
  memset(text.bytes + 148, ' ', 8);
  for (int i = 0; i < 512; i++) sum += (unsigned char)text.bytes[i];
  snprintf(text.bytes + 148, 8, "%06o", sum);
  assert_true(read_first(&text, "A.tar") == 2);
}

/* Reads an archive that was written as x.tar and expects the message, with and without a file. */
static void expect_refused(test_text *text, bisai_status status, const char *message) {
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 1);
  bisai_bcsr *matrix = NULL;
  const char *path = test_file("x.tar", text->bytes, text->length);
  const bisai_status got = bisai_read_matrix(own, path, NULL, &matrix);
  if (got != BISAI_UNAVAILABLE) {
    EXPECT_STATUS(own, status, got);
    EXPECT_MESSAGE(own, message);
  }
  assert_null(matrix);
  assert_int_equal(atomic_load(&allocator.live_blocks), 1);
  assert_true(atomic_load(&allocator.peak_bytes) < 4 << 20);
  bisai_context_destroy(&own);
  free(text->bytes);
  *text = (test_text){0};
  skip_without_libarchive(got);
}

static void archives_without_one_matrix_are_refused(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", one);
  tar_text(&text, "B/B.mtx", one);
  tar_text(&text, "B/C.mtx", one);
  tar_end(&text);
  expect_refused(&text, BISAI_UNSUPPORTED,
                 "the archive holds 2 matrices, none of which has its name: A/A.mtx, B/B.mtx");
  for (int i = 0; i < 40; i++) {
    char name[32];
    snprintf(name, sizeof name, "a_long_folder/%02d.mtx", i);
    tar_text(&text, name, one);
  }
  tar_end(&text);
  expect_refused(&text, BISAI_UNSUPPORTED,
                 "the archive holds 40 matrices, none of which has its name: a_long_folder/00.mtx, "
                 "a_long_folder/01.mtx, "
                 "a_long_folder/02.mtx, a_long_folder/03.mtx, a_long_folder/04.mtx, ...");
  tar_text(&text, "nothing.txt", "here");
  tar_end(&text);
  expect_refused(&text, BISAI_PARSE_ERROR, "the archive has no .mtx file");
  tar_text(&text, "es\033cape.mtx", one); /* would act on a terminal that shows the message */
  tar_text(&text, "new\nline.txt", one);
  tar_end(&text);
  expect_refused(
      &text, BISAI_PARSE_ERROR,
      "the archive has no .mtx file with a name of at most 511 bytes and without control "
      "characters: 0 too long, 1 with control characters");
  char name[1005]; /* GNU tar's way of a long name: a member of type L before the file */
  memset(name, 'a', sizeof name);
  memcpy(name + 1000, ".mtx", 5);
  tar_member(&text, 'L', "././@LongLink", name, sizeof name);
  tar_text(&text, "cut", one);
  tar_end(&text);
  expect_refused(
      &text, BISAI_PARSE_ERROR,
      "the archive has no .mtx file with a name of at most 511 bytes and without control "
      "characters: 1 too long, 0 with control characters");
  test_text inner = {0};
  tar_text(&inner, "A/A.mtx", one);
  tar_end(&inner);
  tar_member(&text, '0', "A/A.tar", inner.bytes, inner.length);
  tar_end(&text);
  expect_refused(&text, BISAI_PARSE_ERROR, "the archive has no .mtx file");
  free(inner.bytes);
}

static void failures_name_the_file_inside(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", REAL "2 2 1\n3 1 1\n");
  tar_end(&text);
  expect_refused(&text, BISAI_PARSE_ERROR, "A/A.mtx: line 3: row 3 is outside 1 … 2");
  tar_text(&text, "A/A.mtx", REAL "2 2 2147483647\n1 1 1\n");
  tar_end(&text);
  expect_refused(&text, BISAI_PARSE_ERROR,
                 "A/A.mtx: line 3: the file ends after 1 of 2147483647 entries");
}

/* Cut anywhere within the matrix or before it; what is cut behind it is not missed. */
static void beginnings_of_archives_are_refused(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", two);
  assert_true(read_first(&text, "A.tar") == 2); /* skips without libarchive */
  tar_text(&text, "A/A_b.mtx", ARRAY "2 1\n1\n2\n");
  tar_text(&text, "A/A.mtx", two);
  const size_t needed = text.length; /* its last block whole */
  for (size_t length = 0; length <= text.length; length += length < 1024 ? 64 : 1) {
    bisai_bcsr *matrix = NULL;
    const char *path = test_file("A.tar", text.bytes, length);
    const bisai_status status = bisai_read_matrix(context, path, NULL, &matrix);
    if ((status == BISAI_OK) != (length >= needed))
      fail_msg("%zu of %zu bytes: %s", length, needed, bisai_context_error(context));
    bisai_bcsr_destroy(&matrix);
  }
  free(text.bytes);
}

/* Found by fuzzing: libarchive asks to try again, for ever. The file is in tests/fuzz/corpus. */
static void damaged_maps_of_sparse_files_are_refused(void **state) {
  (void)state;
  char path[4096];
  snprintf(path, sizeof path, "%s/fuzz/corpus/archive/damaged_sparse.tar", getenv("BISAI_TESTS"));
  bisai_bcsr *matrix = NULL;
  const bisai_status status = bisai_read_matrix(context, path, NULL, &matrix);
  skip_without_libarchive(status);
  EXPECT_STATUS(context, BISAI_IO_ERROR, status);
  EXPECT_IN_MESSAGE(context, "cannot unpack");
  assert_null(matrix);
}

typedef struct right_hand_side {
  const char *name, *text;
  /* −1: refused */
  int64_t columns;
  double values[2];
  bisai_status status;
  const char *message;
} right_hand_side;

static const right_hand_side sides[] = {
    {"an_array", ARRAY "2 1\n1\n-2\n", 1, {1, -2}, BISAI_OK, ""},
    {"an_array_of_two_columns", ARRAY "2 2\n1\n-2\n3\n4\n", 2, {1, -2}, BISAI_OK, ""},
    {"a_sparse_column", REAL "2 1 1\n2 1 7\n", 1, {0, 7}, BISAI_OK, ""},
    {"three_sparse_columns", REAL "2 3 3\n1 3 5\n2 1 7\n1 2 4\n", 3, {0, 7}, BISAI_OK, ""},
    {"no_columns",
     ARRAY "2 0\n",
     -1,
     {0},
     BISAI_UNSUPPORTED,
     "A/A_b.mtx: line 2: 0 columns; at least one is needed"},
    {"another_length",
     ARRAY "3 1\n1\n2\n3\n",
     -1,
     {0},
     BISAI_INVALID_ARGUMENT,
     "A/A_b.mtx: line 2: a vector of 3 values; 2 are needed"},
    {"a_second_column_cut_off",
     ARRAY "2 2\n1\n-2\n3\n",
     -1,
     {0},
     BISAI_PARSE_ERROR,
     "A/A_b.mtx: line 5: the file ends after 3 of 4 entries"},
    {"complex_values",
     "%%MatrixMarket matrix array complex general\n2 1\n1 0\n1 0\n",
     -1,
     {0},
     BISAI_UNSUPPORTED,
     "A/A_b.mtx: line 1: complex values are not supported"},
};

static void right_hand_side_is_found(void **state) {
  const right_hand_side *r = *state;
  for (int after = 0; after < 2; after++) {
    test_text text = {0};
    if (after) tar_text(&text, "A/A.mtx", one);
    tar_text(&text, "B/A_b.mtx", "another's");
    tar_text(&text, "A/A_b.mtx", r->text);
    if (!after) tar_text(&text, "A/A.mtx", one);
    tar_end(&text);
    double values[2];
    int64_t columns = -1;
    const char *path = test_file("A.tar", text.bytes, text.length);
    const bisai_status status = bisai_read_rhs(context, path, 2, values, &columns);
    free(text.bytes);
    skip_without_libarchive(status);
    EXPECT_STATUS(context, r->status, status);
    if (status) {
      EXPECT_MESSAGE(context, r->message);
      continue;
    }
    assert_int_equal(columns, r->columns);
    assert_memory_equal(values, r->values, sizeof values);
    const bisai_status as_vector = bisai_read_vector(context, path, 2, values);
    if (r->columns == 1) {
      EXPECT_OK(context, as_vector);
      continue;
    }
    char message[80];
    snprintf(message, sizeof message, "%d columns; a vector (one column) is needed",
             (int)r->columns);
    EXPECT_STATUS(context, BISAI_UNSUPPORTED, as_vector);
    EXPECT_MESSAGE(context, message);
  }
}

static void archives_may_lack_a_right_hand_side(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", one);
  tar_text(&text, "A/A_x.mtx", ARRAY "2 1\n1\n-2\n");
  tar_end(&text);
  double values[2];
  int64_t columns = -1;
  const char *path = test_file("A.tar", text.bytes, text.length);
  const bisai_status status = bisai_read_rhs(context, path, 2, values, &columns);
  free(text.bytes);
  skip_without_libarchive(status);
  EXPECT_OK(context, status);
  assert_int_equal(columns, 0);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_read_vector(context, path, 2, values));
  EXPECT_MESSAGE(context, "there is no right-hand side with the matrix");
  columns = -1; /* nor has a plain file one */
  EXPECT_OK(context,
            bisai_read_rhs(context, test_file("A.mtx", one, strlen(one)), 2, values, &columns));
  assert_int_equal(columns, 0);
  int32_t size = -1;
  EXPECT_OK(context, bisai_read_block_size(context, path, &size));
  assert_int_equal(size, 0);
}

static bisai_status read_through_pipe(const test_text *text, bisai_bcsr **matrix) {
  const char *path = test_path("pipe");
  char command[4096];
  snprintf(command, sizeof command,
           "rm -f %s; mkfifo %s && { timeout 60 sh -c 'cat %s > %s' > /dev/null 2>&1 & }", path,
           path, test_file("A.tar", text->bytes, text->length), path);
  assert_int_equal(system(command), 0);
  return bisai_read_matrix(context, path, NULL, matrix);
}

/* Members are gone through more than once, and a pipe passes only once: a temporary file keeps
 * them. */
static void archives_may_come_through_a_pipe(void **state) {
  (void)state;
  enum { NOISE = 300000 }; /* more than any buffer */
  char *noise = calloc(NOISE, 1);
  assert_non_null(noise);
  test_text text = {0};
  tar_text(&text, "B/C.mtx", one);
  tar_member(&text, '0', "A/large.bin", noise, NOISE);
  tar_text(&text, "A/A.mtx", two);
  tar_end(&text);
  free(noise);
  bisai_bcsr *matrix = NULL;
  bisai_status status = read_through_pipe(&text, &matrix);
  if (status) free(text.bytes);
  skip_without_libarchive(status);
  EXPECT_OK(context, status);
  double *dense = test_dense(matrix);
  assert_true(dense[0] == 2);
  free(dense);
  bisai_bcsr_destroy(&matrix);

  const char *folder = getenv("TMPDIR");
  char *kept = folder ? strdup(folder) : NULL;
  setenv("TMPDIR", "/no/such/folder", 1);
  status = read_through_pipe(&text, &matrix);
  if (kept)
    setenv("TMPDIR", kept, 1);
  else
    unsetenv("TMPDIR");
  free(kept);
  EXPECT_STATUS(context, BISAI_IO_ERROR, status);
  EXPECT_MESSAGE(context,
                 "cannot make a temporary file in /no/such/folder: No such file or directory");
  assert_null(matrix);
  free(text.bytes);
}

typedef struct seen {
  int64_t last, total;
} seen;

static void see(void *user, int64_t bytes_read, int64_t bytes_total) {
  seen *s = user;
  assert_true(bytes_read > s->last);
  *s = (seen){bytes_read, bytes_total};
}

static void progress_counts_the_second_pass_alone(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A_b.mtx", ARRAY "2 1\n1\n-2\n");
  tar_text(&text, "A/A.mtx", one);
  tar_end(&text);
  seen progress = {0};
  bisai_read_options options = bisai_read_options_default();
  options.progress = see;
  options.progress_user = &progress;
  bisai_bcsr *matrix = NULL;
  const char *path = test_file("x.tar", text.bytes, text.length);
  const bisai_status status = bisai_read_matrix(context, path, &options, &matrix);
  bisai_bcsr_destroy(&matrix);
  const int64_t length = (int64_t)text.length;
  free(text.bytes);
  skip_without_libarchive(status);
  EXPECT_OK(context, status);
  assert_true(progress.total == length);
}

int main(void) {
  const struct CMUnitTest others[] = {
      cmocka_unit_test(the_matrix_is_the_file_named_as_the_archive),
      cmocka_unit_test(otherwise_the_file_named_as_its_folder),
      cmocka_unit_test(otherwise_the_only_one),
      cmocka_unit_test(the_oldest_archives_are_read),
      cmocka_unit_test(archives_without_one_matrix_are_refused),
      cmocka_unit_test(failures_name_the_file_inside),
      cmocka_unit_test(beginnings_of_archives_are_refused),
      cmocka_unit_test(damaged_maps_of_sparse_files_are_refused),
      cmocka_unit_test(archives_may_lack_a_right_hand_side),
      cmocka_unit_test(archives_may_come_through_a_pipe),
      cmocka_unit_test(progress_counts_the_second_pass_alone),
  };
  enum { OTHERS = sizeof others / sizeof *others, SIDES = sizeof sides / sizeof *sides };
  struct CMUnitTest all[OTHERS + SIDES];
  memcpy(all, others, sizeof others);
  for (size_t k = 0; k < SIDES; k++)
    all[OTHERS + k] = (struct CMUnitTest){sides[k].name, right_hand_side_is_found, NULL, NULL,
                                          (void *)(uintptr_t)&sides[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
