/* SPDX-License-Identifier: BSD-3-Clause */
/* Where written files take their place: folders that allow no new file or no replacement, links,
 * names that are long or gone, and writes that a signal ends. */
#define _GNU_SOURCE /* unshare */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder_fixture.h"

enum { PATH = 2048, NOBODY = 65534, SOMEBODY = 65533, SKIPPED = 77, LIMIT = 20000 };

static const double values[3] = {1, 2.5, -3};
static const char written[] = "%%MatrixMarket matrix array real general\n3 1\n1\n2.5\n-3\n";

/* A folder with these rights and this owner, and perhaps an old file in it that everybody may
 * write. */
static void make_folder(const char *name, mode_t mode, uid_t owner, bool with_file, char *path) {
  char folder[PATH];
  assert_int_equal(chmod(test_path("."), 0711), 0); /* open for nobody */
  snprintf(folder, sizeof folder, "%s", test_path(name));
  assert_int_equal(mkdir(folder, 0777), 0);
  snprintf(path, PATH, "%.1900s/x.mtx", folder);
  if (with_file) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs("an old file that is longer than the new one, and of which nothing may be "
                      "left behind the new end",
                      file) > 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0666), 0);
    if (geteuid() == 0) assert_int_equal(chown(path, owner, (gid_t)-1), 0);
  }
  if (geteuid() == 0) assert_int_equal(chown(folder, owner, (gid_t)-1), 0);
  assert_int_equal(chmod(folder, mode), 0);
}

/* What a process without root's rights makes of a path: 0 checked and written, 1 refused by both, 2
 * checked and not written, 3 written though refused by the check. */
static int outcome_for_nobody(const char *path) {
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)) _exit(SKIPPED);
    bisai_context *own = NULL;
    bisai_context_options host = bisai_context_options_default();
    host.backend = BISAI_BACKEND_HOST;
    if (bisai_context_create(&host, &own)) _exit(SKIPPED);
    const bool checked = bisai_write_check(own, path) == BISAI_OK;
    const bool done = bisai_write_vector(own, path, 3, values) == BISAI_OK;
    _exit(checked ? (done ? 0 : 2) : (done ? 3 : 1));
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == SKIPPED) skip();
  return WEXITSTATUS(status);
}

static void an_old_file_in_a_closed_folder_is_overwritten(void **state) {
  (void)state;
  char path[PATH];
  make_folder("closed", 0555, geteuid(), true, path);
  assert_int_equal(outcome_for_nobody(path), 0);
  test_expect_text(path, written);
  assert_int_equal(chmod(test_path("closed"), 0755), 0);
}

static void a_new_file_in_a_closed_folder_is_refused(void **state) {
  (void)state;
  char path[PATH];
  make_folder("closed_empty", 0555, geteuid(), false, path);
  assert_int_equal(outcome_for_nobody(path), 1);
  assert_int_equal(test_entries(test_path("closed_empty")), 0);
}

static void a_file_that_may_not_be_written_is_refused(void **state) {
  (void)state;
  char path[PATH];
  make_folder("open", 0777, geteuid(), true, path);
  assert_int_equal(chmod(path, 0444), 0);
  assert_int_equal(outcome_for_nobody(path), 1);
  assert_int_equal(test_entries(test_path("open")), 1);
}

/* Nobody may make files there, but not replace somebody's. */
static void a_file_of_another_user_in_a_sticky_folder_is_overwritten(void **state) {
  (void)state;
  char path[PATH];
  if (geteuid() != 0) skip(); /* only root makes files of others */
  make_folder("sticky", 01777, SOMEBODY, true, path);
  assert_int_equal(outcome_for_nobody(path), 0);
  test_expect_text(path, written);
  struct stat about;
  assert_int_equal(stat(path, &about), 0);
  assert_int_equal(about.st_uid, SOMEBODY);
  assert_int_equal(test_entries(test_path("sticky")), 1);
}

static void a_mount_point_is_overwritten(void **state) {
  (void)state;
  char path[PATH];
  make_folder("mounted", 0777, geteuid(), true, path);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) { /* in a mount namespace of its own, so that nothing stays mounted */
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(path, path, "none", MS_BIND, NULL) != 0 || rename(path, test_path("elsewhere")) == 0)
      _exit(SKIPPED);
    _exit(bisai_write_check(context, path) || bisai_write_vector(context, path, 3, values));
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  if (WEXITSTATUS(status) == SKIPPED) skip();
  assert_int_equal(WEXITSTATUS(status), 0);
  test_expect_text(path, written);
  assert_int_equal(test_entries(test_path("mounted")), 1);
}

/* The name that it has meanwhile would be longer than a file system takes. */
static void a_file_with_the_longest_name_is_replaced_as_a_whole(void **state) {
  (void)state;
  char path[PATH], name[256];
  memset(name, 'n', 255);
  memcpy(name + 251, ".mtx", 5);
  make_folder("long", 0777, geteuid(), false, path);
  memcpy(strrchr(path, '/') + 1, name, sizeof name);
  EXPECT_OK(context, bisai_write_check(context, path));
  assert_int_equal(test_entries(test_path("long")), 0);
  EXPECT_OK(context, bisai_write_vector(context, path, 3, values));
  test_expect_text(path, written);
  struct stat before, after;
  assert_int_equal(stat(path, &before), 0);
  const int kept = open(path, O_RDONLY); /* so that its number is not taken again */
  EXPECT_OK(context, bisai_write_vector(context, path, 3, values));
  assert_int_equal(stat(path, &after), 0);
  assert_int_not_equal(before.st_ino, after.st_ino);
  close(kept);
  assert_int_equal(test_entries(test_path("long")), 1);
  memcpy(path + strlen(path) - 4, "n.mtx", 6);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_check(context, path));
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_vector(context, path, 3, values));
}

static void a_link_that_leads_nowhere_makes_what_it_names(void **state) {
  (void)state;
  char folder[PATH], path[PATH];
  make_folder("links", 0777, geteuid(), false, path);
  snprintf(folder, sizeof folder, "%s", test_path("links"));
  snprintf(path, sizeof path, "%.1900s/first", folder);
  assert_int_equal(symlink("inner/second", path), 0);
  snprintf(path, sizeof path, "%.1900s/inner", folder);
  assert_int_equal(mkdir(path, 0777), 0);
  snprintf(path, sizeof path, "%.1900s/inner/second", folder);
  assert_int_equal(symlink("../target.mtx", path), 0);
  snprintf(path, sizeof path, "%.1900s/first", folder);
  EXPECT_OK(context, bisai_write_check(context, path));
  assert_int_equal(test_entries(folder), 2);
  EXPECT_OK(context, bisai_write_vector(context, path, 3, values));
  test_expect_text(path, written);
  snprintf(path, sizeof path, "%.1900s/target.mtx", folder);
  test_expect_text(path, written);
  snprintf(path, sizeof path, "%.1900s/first", folder);
  struct stat about;
  assert_int_equal(lstat(path, &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(test_entries(folder), 3);
}

static void a_circle_of_links_is_refused(void **state) {
  (void)state;
  char path[PATH];
  snprintf(path, sizeof path, "%s", test_path("circle"));
  assert_int_equal(symlink("circle", path), 0);
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_check(context, path));
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_vector(context, path, 3, values));
}

static void a_file_without_a_name_is_written_where_it_is(void **state) {
  (void)state;
  char path[PATH], text[256] = {0};
  snprintf(path, sizeof path, "%s", test_file("gone", "old", 3));
  const int file = open(path, O_RDWR);
  assert_true(file >= 0);
  assert_int_equal(unlink(path), 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  struct stat about;
  if (stat(path, &about) != 0) {
    close(file);
    skip();
  }
  EXPECT_OK(context, bisai_write_check(context, path));
  EXPECT_OK(context, bisai_write_vector(context, path, 3, values));
  assert_int_equal(pread(file, text, sizeof text - 1, 0), sizeof written - 1);
  assert_string_equal(text, written);
  close(file);
}

static bool same(const char *a, const char *b) {
  bool result = true;
  char first[PATH], second[PATH];
  snprintf(first, sizeof first, "%s", a[0] == '/' ? a : test_path(a));
  snprintf(second, sizeof second, "%s", b[0] == '/' ? b : test_path(b));
  EXPECT_OK(context, bisai_write_same_file(context, first, second, &result));
  return result;
}

static void names_of_one_file_are_known(void **state) {
  (void)state;
  char hard[PATH], link_path[PATH];
  snprintf(hard, sizeof hard, "%s", test_path("same_hard"));
  snprintf(link_path, sizeof link_path, "%s", test_path("same_link"));
  assert_int_equal(link(test_file("same", "old", 3), hard), 0);
  assert_int_equal(symlink("same", link_path), 0);
  test_file("other", "old", 3);
  assert_true(same("same", "same"));
  assert_true(same("same", "same_hard"));
  assert_true(same("same_link", "./same_hard"));
  assert_false(same("same", "other"));
  assert_false(same("same", "new"));
  assert_true(same("new", "./new"));
  assert_false(same("new", "new2"));
  /* no such folder: nothing can be written */
  assert_true(same("nowhere/new", "nowhere/../nowhere/new") == false);
  assert_true(symlink("new", test_path("to_new")) == 0 && symlink(".", test_path("here")) == 0);
  assert_true(same("to_new", "here/new"));
  assert_false(same("/dev/null", "/dev/null"));
  bool result = true;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_write_same_file(context, "x", NULL, &result));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_same_file(context, "x", "y", NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_check(context, NULL));
}

static void bytes_are_written_as_they_are(void **state) {
  (void)state;
  char path[PATH];
  snprintf(path, sizeof path, "%s", test_path("bytes.mtx.gz"));
  EXPECT_OK(context, bisai_write_bytes(context, path, "{}\n", 3));
  test_expect_text(path, "{}\n");
  EXPECT_OK(context, bisai_write_bytes(context, path, NULL, 0));
  test_expect_text(path, "");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_bytes(context, path, NULL, 1));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_write_bytes(context, NULL, "", 0));
  EXPECT_STATUS(context, BISAI_IO_ERROR, bisai_write_bytes(context, "no/such/folder", "", 0));
}

/* The system's limit on files sends a signal in the middle of the write. */
static void end_writing(int number) {
  bisai_write_abandon(context);
  _exit(number == SIGXFSZ ? 7 : 8);
}

static void a_write_that_a_signal_ends_leaves_nothing_behind(void **state) {
  (void)state;
  char path[PATH], folder[PATH];
  make_folder("abandoned", 0777, geteuid(), true, path);
  snprintf(folder, sizeof folder, "%s", test_path("abandoned"));
  struct stat before, after;
  assert_int_equal(stat(path, &before), 0);
  bisai_write_abandon(NULL);
  bisai_write_abandon(context);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    double *many = test_random_vector(LIMIT, 1);
    const struct rlimit limit = {LIMIT, LIMIT};
    signal(SIGXFSZ, end_writing);
    if (setrlimit(RLIMIT_FSIZE, &limit) == 0) bisai_write_vector(context, path, LIMIT, many);
    _exit(9);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 7);
  assert_int_equal(test_entries(folder), 1);
  assert_int_equal(stat(path, &after), 0);
  assert_int_equal(before.st_size, after.st_size);
  assert_int_equal(before.st_ino, after.st_ino);
}

static void failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  char folder[PATH], path[PATH], other[PATH];
  make_folder("allocations", 0777, geteuid(), false, path);
  snprintf(folder, sizeof folder, "%s", test_path("allocations"));
  snprintf(other, sizeof other, "%.1900s/link", folder);
  assert_int_equal(symlink("x.mtx", other), 0);
  for (int what = 0; what < 3; what++) {
    bisai_status status = BISAI_OUT_OF_MEMORY;
    for (long long fail_at = 1; status == BISAI_OUT_OF_MEMORY; fail_at++) {
      assert_true(fail_at < 100);
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *own = test_context_on(&allocator, 1);
      const long long before = atomic_load(&allocator.live_blocks);
      allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
      bool one = false;
      status = what == 0   ? bisai_write_check(own, other)
               : what == 1 ? bisai_write_same_file(own, path, other, &one)
                           : bisai_write_bytes(own, other, "x", 1);
      assert_int_equal(atomic_load(&allocator.live_blocks), before);
      assert_true(one == (what == 1 && !status));
      assert_int_equal(test_entries(folder), what == 2 && !status ? 2 : 1);
      bisai_context_destroy(&own);
    }
    EXPECT_OK(context, status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_old_file_in_a_closed_folder_is_overwritten),
      cmocka_unit_test(a_new_file_in_a_closed_folder_is_refused),
      cmocka_unit_test(a_file_that_may_not_be_written_is_refused),
      cmocka_unit_test(a_file_of_another_user_in_a_sticky_folder_is_overwritten),
      cmocka_unit_test(a_mount_point_is_overwritten),
      cmocka_unit_test(a_file_with_the_longest_name_is_replaced_as_a_whole),
      cmocka_unit_test(a_link_that_leads_nowhere_makes_what_it_names),
      cmocka_unit_test(a_circle_of_links_is_refused),
      cmocka_unit_test(a_file_without_a_name_is_written_where_it_is),
      cmocka_unit_test(names_of_one_file_are_known),
      cmocka_unit_test(bytes_are_written_as_they_are),
      cmocka_unit_test(a_write_that_a_signal_ends_leaves_nothing_behind),
      cmocka_unit_test(failing_allocations_leave_nothing_behind),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
