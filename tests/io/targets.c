/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands where a matrix is written: a file until the new one is complete, nothing after a
 * failure, links, pipes. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "written.h"

static void files_that_cannot_be_written_completely_are_removed(void **state) {
  (void)state;
  bisai_bcsr *matrix = sample(2000, 4);
  bisai_write_options options = bisai_write_options_default();
  EXPECT_STATUS(context, BISAI_IO_ERROR,
                bisai_write_matrix(context, "no/such/folder.mtx", matrix, NULL));
  EXPECT_MESSAGE(context, "cannot open no/such/folder.mtx: No such file or directory");
  struct rlimit before, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  limit = before;
  limit.rlim_cur = 20000;
  signal(SIGXFSZ, SIG_IGN);
  for (int k = 0; k < NAMES; k++) {
    const char *path = test_path(names[k]);
    char message[2048];
    snprintf(message, sizeof message, "cannot write %s: File too large", path);
    remove(path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const bisai_status status = bisai_write_matrix(context, path, matrix, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(test_exists(path));
    if (status == BISAI_UNAVAILABLE) continue;
    EXPECT_STATUS(context, BISAI_IO_ERROR, status);
    EXPECT_MESSAGE(context, message);
  }
  /* A device is no file to remove. */
  options.format = BISAI_FORMAT_MATRIX_MARKET;
  if (test_exists("/dev/full")) {
    EXPECT_STATUS(context, BISAI_IO_ERROR,
                  bisai_write_matrix(context, "/dev/full", matrix, &options));
    EXPECT_MESSAGE(context, "cannot write /dev/full: No space left on device");
    assert_true(test_exists("/dev/full"));
  }
  bisai_bcsr_destroy(&matrix);
}

/* A folder stands where FILE.info has to be: then there is no FILE either. */
static void a_matrix_without_its_info_is_not_left(void **state) {
  (void)state;
  bisai_bcsr *matrix = by_hand();
  char path[2048];
  snprintf(path, sizeof path, "%s/", test_path("I.petsc.info"));
  char command[4096];
  snprintf(command, sizeof command, "mkdir %s", path);
  assert_int_equal(system(command), 0);
  EXPECT_STATUS(context, BISAI_IO_ERROR,
                bisai_write_matrix(context, test_path("I.petsc"), matrix, NULL));
  assert_false(test_exists(test_path("I.petsc")));
  bisai_bcsr_destroy(&matrix);
}

static void what_was_there_is_kept_until_all_is_written(void **state) {
  (void)state;
  bisai_bcsr *large = sample(2000, 4), *small = by_hand();
  char path[2048], info[2048];
  snprintf(path, sizeof path, "%s", test_file("old.mtx", "old", 3));
  const int before = test_entries(test_path("."));
  struct rlimit unlimited, limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  limit = unlimited;
  limit.rlim_cur = 20000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const bisai_status status = bisai_write_matrix(context, path, large, NULL);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  EXPECT_STATUS(context, BISAI_IO_ERROR, status);
  test_expect_text(path, "old");
  assert_int_equal(test_entries(test_path(".")), before);

  snprintf(path, sizeof path, "%s", test_file("K.petsc", "old", 3));
  snprintf(info, sizeof info, "%s", test_path("K.petsc.info"));
  assert_int_equal(mkdir(info, 0777), 0);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_matrix(context, path, small, NULL));
  test_expect_text(path, "old");
  assert_int_equal(test_entries(test_path(".")), before + 2);
  bisai_bcsr_destroy(&large);
  bisai_bcsr_destroy(&small);
}

/* The file that a link leads to gets the matrix and keeps its rights. */
static void links_stay_links(void **state) {
  (void)state;
  bisai_bcsr *matrix = by_hand();
  char path[2048], link[2048];
  snprintf(path, sizeof path, "%s", test_file("led-to.mtx", "old", 3));
  snprintf(link, sizeof link, "%s", test_path("link.mtx"));
  assert_int_equal(chmod(path, 0640), 0);
  assert_int_equal(symlink("led-to.mtx", link), 0);
  EXPECT_OK(context, bisai_write_matrix(context, link, matrix, NULL));
  struct stat about;
  assert_int_equal(lstat(link, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_mode & 07777, 0640);
  bisai_bcsr *read = read_back(path, 2);
  test_expect_same(matrix, read);
  bisai_bcsr_destroy(&read);
  bisai_bcsr_destroy(&matrix);
}

/* Neither replaced nor removed, and without a .info. */
static void pipes_stay_pipes(void **state) {
  (void)state;
  bisai_bcsr *matrix = by_hand();
  char path[2048];
  snprintf(path, sizeof path, "%s", test_path("pipe.petsc"));
  assert_int_equal(mkfifo(path, 0600), 0);
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  EXPECT_OK(context, bisai_write_matrix(context, path, matrix, NULL));
  unsigned char bytes[4096];
  assert_true(read(reader, bytes, sizeof bytes) > 16);
  assert_memory_equal(bytes, "\x00\x12\x7b\x50", 4); /* PETSc's number for a matrix */
  close(reader);
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  assert_true(S_ISFIFO(about.st_mode));
  assert_false(test_exists(test_path("pipe.petsc.info")));
  bisai_bcsr_destroy(&matrix);
}

static void failing_allocations_leave_no_file(void **state) {
  (void)state;
  static const char *const files[] = {"F.mtx", "F.petsc", "F.tar.gz"};
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    char path[2048];
    snprintf(path, sizeof path, "%s", test_path(files[k]));
    bisai_status status = BISAI_OUT_OF_MEMORY;
    for (long long fail_at = 1; status == BISAI_OUT_OF_MEMORY; fail_at++) {
      assert_true(fail_at < 100);
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *own = test_context_on(&allocator, 1);
      bisai_bcsr *matrix = test_bcsr_take(own, test_bcsr_grid(3, 3, 2, 1));
      const long long before = atomic_load(&allocator.live_blocks);
      allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
      status = bisai_write_matrix(own, path, matrix, NULL);
      assert_int_equal(atomic_load(&allocator.live_blocks), before);
      assert_true(test_exists(path) == (status == BISAI_OK));
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
    }
    assert_true(!status || status == BISAI_UNAVAILABLE);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_that_cannot_be_written_completely_are_removed),
      cmocka_unit_test(a_matrix_without_its_info_is_not_left),
      cmocka_unit_test(what_was_there_is_kept_until_all_is_written),
      cmocka_unit_test(links_stay_links),
      cmocka_unit_test(pipes_stay_pipes),
      cmocka_unit_test(failing_allocations_leave_no_file),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
