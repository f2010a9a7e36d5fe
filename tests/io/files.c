/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: compressed, missing, damaged, not written to the end, large enough for progress, and real
 * ones. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "folder_fixture.h"
#include "support.h"

static const char small[] =
    "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 1 -2\n";

static void expect_small(const bisai_bcsr *matrix) {
  assert_int_equal(bisai_bcsr_rows(matrix), 2);
  const double expected[] = {1.5, -2, 0, 0};
  double *got = test_dense(matrix);
  EXPECT_CLOSE(4, expected, got, 0.0);
  free(got);
}

/* The same, by gzip -9n and by xz -9e. */
static const unsigned char small_gz[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x53, 0x55, 0xf5, 0x4d, 0x2c, 0x29,
    0xca, 0xac, 0xf0, 0x4d, 0x2c, 0xca, 0x4e, 0x2d, 0x51, 0xc8, 0x05, 0x73, 0x14, 0x92, 0xf3, 0xf3,
    0x8b, 0x52, 0x32, 0xf3, 0x12, 0x4b, 0x52, 0x15, 0x8a, 0x52, 0x13, 0x73, 0x14, 0xd2, 0x53, 0xf3,
    0x52, 0x8b, 0x12, 0x73, 0xb8, 0x8c, 0x14, 0x80, 0x90, 0xcb, 0x50, 0x01, 0x08, 0xf5, 0x4c, 0x81,
    0x3c, 0x43, 0x05, 0x5d, 0x23, 0x2e, 0x00, 0xfc, 0xcb, 0x5a, 0x0d, 0x43, 0x00, 0x00, 0x00};
static const unsigned char small_xz[] = {
    0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x01, 0x69, 0x22, 0xde, 0x36, 0x02, 0x00, 0x21,
    0x01, 0x1c, 0x00, 0x00, 0x00, 0x10, 0xcf, 0x58, 0xcc, 0xe0, 0x00, 0x42, 0x00, 0x3e, 0x5d,
    0x00, 0x12, 0xe1, 0x30, 0xc2, 0x74, 0x38, 0x61, 0xde, 0x3a, 0x4b, 0x4f, 0x5f, 0x43, 0xe3,
    0xfb, 0x8b, 0xa8, 0x9a, 0x11, 0xc8, 0x87, 0x49, 0xad, 0x30, 0xf2, 0x34, 0xb6, 0xb2, 0x4a,
    0xbd, 0x60, 0xea, 0x3e, 0xc8, 0xf8, 0x15, 0x1e, 0x52, 0xd0, 0xda, 0xed, 0x47, 0x38, 0xd1,
    0xe7, 0x78, 0x1f, 0x51, 0x3a, 0xa9, 0x59, 0xc7, 0x99, 0x42, 0x19, 0xe4, 0x86, 0xd5, 0x20,
    0x32, 0x60, 0x00, 0x00, 0x00, 0x00, 0xfc, 0xcb, 0x5a, 0x0d, 0x00, 0x01, 0x56, 0x43, 0xd3,
    0x5f, 0xb2, 0x23, 0x90, 0x42, 0x99, 0x0d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x01, 0x59, 0x5a};

static void plain_files_are_read(void **state) {
  (void)state;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_read_matrix(context, test_file("small.mtx", small, sizeof small - 1),
                                       NULL, &matrix));
  expect_small(matrix);
  bisai_bcsr_destroy(&matrix);
}

/* By what they hold: the names do not say it. */
static void expect_compressed(const char *name, const void *bytes, size_t count) {
  bisai_bcsr *matrix = NULL;
  const char *path = test_file(name, bytes, count);
  const bisai_status status = bisai_read_matrix(context, path, NULL, &matrix);
  if (status == BISAI_UNAVAILABLE) {
    EXPECT_MESSAGE(context, strstr(name, "gzip") ? "gzip files need a build with zlib"
                                                 : "compressed files need a build with libarchive");
    skip();
  }
  EXPECT_OK(context, status);
  expect_small(matrix);
  bisai_bcsr_destroy(&matrix);
  for (size_t cut = 8; cut < count; cut += 9) {
    test_file(name, bytes, cut);
    assert_int_not_equal(bisai_read_matrix(context, path, NULL, &matrix), BISAI_OK);
    assert_null(matrix);
  }
  char message[2048];
  snprintf(message, sizeof message, "cannot decompress %s: ", path);
  test_file(name, bytes, count / 2);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, path, NULL, &matrix));
  /* what follows is their library's */
  assert_memory_equal(bisai_context_error(context), message, strlen(message));
}

static void gzip_files_are_read_and_damaged_ones_refused(void **state) {
  (void)state;
  expect_compressed("small_gzip", small_gz, sizeof small_gz);
}

static void xz_files_are_read_and_damaged_ones_refused(void **state) {
  (void)state;
  expect_compressed("small_xz", small_xz, sizeof small_xz);
}

static void expect_no_file_left_open(const char *path) {
  const int lowest = dup(0);
  assert_true(lowest >= 0);
  close(lowest);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  long long fail_at = 2;
  for (; status == BISAI_OUT_OF_MEMORY && fail_at < 100; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, fail_at);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = NULL;
    status = bisai_read_matrix(own, path, NULL, &matrix);
    assert_true((status == BISAI_OK) == (matrix != NULL));
    if (status == BISAI_OUT_OF_MEMORY)
      assert_memory_equal(bisai_context_error(own), "cannot allocate ", 16);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    const int still_lowest = dup(0);
    assert_int_equal(still_lowest, lowest);
    close(still_lowest);
  }
  assert_true(!status || status == BISAI_UNAVAILABLE);
  assert_true(fail_at > 5);
}

static void failing_allocations_leave_no_file_open(void **state) {
  (void)state;
  expect_no_file_left_open(test_file("small_xz", small_xz, sizeof small_xz));
  expect_no_file_left_open(test_file("small_gzip", small_gz, sizeof small_gz));
}

static void missing_files_and_folders_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, "no/such.mtx", NULL, &matrix));
  EXPECT_MESSAGE(context, "cannot open no/such.mtx: No such file or directory");
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, "/", NULL, &matrix));
  EXPECT_MESSAGE(context, "cannot read /: Is a directory");
  double value;
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_vector(context, "no/such.mtx", 1, &value));
  EXPECT_MESSAGE(context, "cannot open no/such.mtx: No such file or directory");
  char path[201] = {0}, message[201];
  memset(path, 'x', 200);
  path[100] = '/';
  snprintf(message, sizeof message, "cannot open ...%s: No such file or directory", path + 80);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_read_matrix(context, path, NULL, &matrix));
  EXPECT_MESSAGE(context, message);
  assert_null(matrix);
}

static void failed_writes_leave_no_file(void **state) {
  (void)state;
  static double values[20000];
  for (int i = 0; i < 20000; i++) values[i] = 1.0 / (i + 1);
  char message[2048];

  EXPECT_STATUS(context, BISAI_IO_ERROR,
                bisai_write_vector(context, "no/such/folder.mtx", 1, values));
  EXPECT_MESSAGE(context, "cannot open no/such/folder.mtx: No such file or directory");

  const char *path = test_file("kept.mtx", "kept", 4);
  values[3] = (double)NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_write_vector(context, path, 20000, values));
  EXPECT_MESSAGE(context, "value 3 is NaN or infinity");
  assert_true(test_exists(path));
  values[3] = 0.25;

  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = 10000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  path = test_path("cut.mtx");
  const bisai_status status = bisai_write_vector(context, path, 20000, values);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_STATUS(context, BISAI_IO_ERROR, status);
  snprintf(message, sizeof message, "cannot write %s: File too large", path);
  EXPECT_MESSAGE(context, message);
  assert_false(test_exists(path));

  if (!test_exists("/dev/full")) skip();
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_vector(context, "/dev/full", 20000, values));
  EXPECT_MESSAGE(context, "cannot write /dev/full: No space left on device");
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_vector(context, "/dev/full", 1, values));
  assert_true(test_exists("/dev/full")); /* a device is no file to remove */
}

typedef struct seen {
  int calls;
  int64_t last, total;
} seen;

static void see(void *user, int64_t bytes_read, int64_t bytes_total) {
  seen *s = user;
  assert_true(bytes_read > s->last);
  s->calls++;
  s->last = bytes_read;
  s->total = bytes_total;
}

static void print_diagonal(test_text *text, int32_t n) {
  test_print(text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, n);
  for (int32_t i = 1; i <= n; i++) test_print(text, "%d %d %.17g\n", i, i, 1.0 / i);
}

static void progress_grows_to_the_size_of_the_file(void **state) {
  (void)state;
  test_text text = {0};
  print_diagonal(&text, 400000);
  assert_true(text.length > 3 << 22);
  seen progress = {0};
  bisai_read_options options = bisai_read_options_default();
  options.progress = see;
  options.progress_user = &progress;
  bisai_bcsr *matrix = NULL;
  const char *path = test_file("large.mtx", text.bytes, text.length);
  EXPECT_OK(context, bisai_read_matrix(context, path, &options, &matrix));
  assert_true(progress.calls >= 3);
  assert_int_equal(progress.last, text.length);
  assert_int_equal(progress.total, text.length);
  bisai_bcsr_destroy(&matrix);

  progress = (seen){0};
  path = test_file("small_gzip", small_gz, sizeof small_gz);
  const bisai_status status = bisai_read_matrix(context, path, &options, &matrix);
  if (status != BISAI_UNAVAILABLE) { /* compressed bytes */
    EXPECT_OK(context, status);
    assert_int_equal(progress.last, sizeof small_gz);
    assert_int_equal(progress.total, sizeof small_gz);
  }
  bisai_bcsr_destroy(&matrix);
  free(text.bytes);
}

static void chosen_block_sizes_of_real_matrices_are_the_known_ones(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int32_t rows, block_size, blocks;
  } known[] = {
      {"opm_matr33", 9, 3, 7},
      {"small_block3_matrix", 9, 3, 4},
      {"steam2", 600, 4, 860},
      {"bcsstk16", 4884, 3, 32890},
      {"2dcyl1", 1784, 4, 2166},
      {"SPE01_bsr3", 906, 3, 1788},
      {"pyamg_dg_p2", 276, 6, 380},
      {"opm_spe9_s7", 27000, 3, 60392},
      {"opm_spe1_thermal_s65", 1200, 4, 1780},
      {"sherman1", 1000, 1, 3750},
      {"bcsstk13", 2003, 1, 83883},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    bisai_bcsr *matrix = test_matrix_read(context, known[k].name, 0);
    assert_int_equal(bisai_bcsr_rows(matrix), known[k].rows);
    assert_int_equal(bisai_bcsr_block_size(matrix), known[k].block_size);
    assert_int_equal(bisai_bcsr_blocks(matrix), known[k].blocks);
    bisai_bcsr_destroy(&matrix);
  }
}

static void real_solutions_solve_their_systems(void **state) {
  (void)state;
  static const char *const names[] = {"2dcyl1", "DK01R", "hymls_cavity2d_32x32_Re1000",
                                      "small_block3_matrix"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    bisai_bcsr *matrix = test_matrix_read(context, names[k], 0);
    const int32_t n = bisai_bcsr_rows(matrix);
    assert_int_equal(bisai_bcsr_padding(matrix), 0);
    double *vectors[2];
    for (int v = 0; v < 2; v++) {
      char name[128], path[4096];
      snprintf(name, sizeof name, "%s_%c", names[k], v == 0 ? 'b' : 'x');
      assert_true(test_matrix_path(name, path, sizeof path));
      vectors[v] = malloc((size_t)n * sizeof(double));
      EXPECT_OK(context, bisai_read_vector(context, path, n, vectors[v]));
    }
    /* The solutions come with 16 digits; DK01R's is the worst, at 8e-15. */
    assert_true(test_relative_residual(matrix, vectors[1], vectors[0]) < 1e-13);
    free(vectors[0]);
    free(vectors[1]);
    bisai_bcsr_destroy(&matrix);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_files_are_read),
      cmocka_unit_test(gzip_files_are_read_and_damaged_ones_refused),
      cmocka_unit_test(xz_files_are_read_and_damaged_ones_refused),
      cmocka_unit_test(failing_allocations_leave_no_file_open),
      cmocka_unit_test(missing_files_and_folders_are_refused),
      cmocka_unit_test(failed_writes_leave_no_file),
      cmocka_unit_test(progress_grows_to_the_size_of_the_file),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(chosen_block_sizes_of_real_matrices_are_the_known_ones),
      cmocka_unit_test(real_solutions_solve_their_systems),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(cmocka_run_group_tests_name("io_files_real", real, setup, teardown));
  return cmocka_run_group_tests(tests, setup, teardown);
}
