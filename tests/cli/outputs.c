/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the command-line program writes: what it refuses before it computes, and what it keeps when
 * something fails. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/program.h"
#include "support/support.h"

static const char vector[] = "%%MatrixMarket matrix array real general\n5 1\n";

/* Runs, checks the exit status and what stderr begins with ("" means: nothing there). */
static void check(const program *p, const char *line, int status, const char *message) {
  const size_t length = strlen(message);
  if (p->status != status || strncmp(p->err, message, length) != 0 || (length == 0 && *p->err))
    fail_msg("%s\nexit status %d, expected %d\nstderr: %s\nexpected: %s", line, p->status, status,
             p->err, message);
}

static void expect(const char *line, int status, const char *message) {
  program p = run(line);
  check(&p, line, status, message);
  program_free(&p);
}

/* The same for a line of a shell, in which $BISAI_PROGRAM is the program. */
static void expect_shell(const char *line, int status, const char *message) {
  program_path();
  program_write("line.sh", line);
  program p = program_run("/bin/sh", "line.sh");
  check(&p, line, status, message);
  program_free(&p);
}

static void expect_file(const char *path, const char *beginning) {
  char *text = program_read(path);
  if (strncmp(text, beginning, strlen(beginning)) != 0)
    fail_msg("%s begins otherwise:\n%s", path, text);
  free(text);
}

static bool exists(const char *path) {
  struct stat entry;
  return lstat(path, &entry) == 0;
}

static void expect_no_part(const char *path) {
  DIR *folder = opendir(path);
  assert_non_null(folder);
  for (struct dirent *e = readdir(folder); e; e = readdir(folder))
    if (strstr(e->d_name, ".part")) fail_msg("%s was left", e->d_name);
  closedir(folder);
}

#ifdef BISAI_HAVE_JANSSON

/* The number of what is opened first would be that of standard output. */
static void a_closed_standard_output_is_nobodys_file(void **state) {
  (void)state;
  expect_shell("\"$BISAI_PROGRAM\" solve laplace5.mtx --json closed.json --output closed.mtx >&-\n",
               0, "");
  expect_file("closed.json", "{\n  \"version\"");
  expect_file("closed.mtx", vector);
  expect_shell("\"$BISAI_PROGRAM\" compare laplace5.mtx --json closed2.json <&- >&- 2>&-\n", 0, "");
  expect_file("closed2.json", "{\n  \"version\"");
  expect_shell("\"$BISAI_PROGRAM\" info nowhere.mtx --block-size 1 2>&-\n", 2, "");
  expect_shell("\"$BISAI_PROGRAM\" info laplace5.mtx >&-\n", 2,
               "bisai: standard output is closed\n");
  expect_shell("\"$BISAI_PROGRAM\" solve nowhere.mtx --json - >&-\n", 2,
               "bisai: --json: standard output is closed\n");
}

static void a_standard_output_that_takes_nothing_spoils_no_file(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  expect_shell(
      "\"$BISAI_PROGRAM\" solve laplace5.mtx --json full.json --output full.mtx > /dev/full\n", 2,
      "bisai: standard output: No space left on device\n");
  expect_file("full.json", "{\n  \"version\"");
  expect_file("full.mtx", vector);
}

static void one_file_is_not_two_outputs(void **state) {
  (void)state;
  program_write("old", "old");
  assert_int_equal(link("old", "hard"), 0);
  assert_int_equal(symlink("old", "soft"), 0);
  assert_int_equal(symlink("new", "dangling"), 0);
  assert_int_equal(symlink(".", "here"), 0);
  expect("solve nowhere.mtx --output old --json hard", 2,
         "bisai: --json: hard: the same file as --output\n");
  expect("solve nowhere.mtx --output hard --json soft", 2,
         "bisai: --json: soft: the same file as --output\n");
  expect("solve nowhere.mtx --output new --json ./new", 2,
         "bisai: --json: ./new: the same file as --output\n");
  expect("solve nowhere.mtx --output new --json here/new", 2,
         "bisai: --json: here/new: the same file as --output\n");
  expect("solve nowhere.mtx --output new --json dangling", 2,
         "bisai: --json: dangling: the same file as --output\n");
  expect("solve laplace5.mtx --json here/laplace5.mtx", 2,
         "bisai: --json: here/laplace5.mtx: the same file as the matrix\n");
  expect_shell("\"$BISAI_PROGRAM\" solve nowhere.mtx --json ./text > text\n", 2,
               "bisai: --json: ./text: the same file as standard output\n");
  expect_file("old", "old");
  assert_false(exists("new"));
}

static void results_of_an_earlier_run_are_kept_until_the_new_ones_are_whole(void **state) {
  (void)state;
  program_write("kept.json", "kept");
  program_write("kept.mtx", "kept");
  expect_shell("ulimit -f 1\nexec \"$BISAI_PROGRAM\" compare --case cavity --size 8 --json "
               "kept.json > /dev/null\n",
               2, "bisai: --json: kept.json: File too large\n");
  expect_file("kept.json", "kept");
  expect_shell("ulimit -f 1\nexec \"$BISAI_PROGRAM\" solve --case cavity --size 8 --output "
               "kept.mtx > /dev/null\n",
               2, "bisai: cannot write kept.mtx: File too large\n");
  expect_file("kept.mtx", "kept");
  expect_no_part(".");
}

static void json_goes_to_pipes_and_devices(void **state) {
  (void)state;
  expect_shell("mkfifo pipe\ncat pipe > piped.json &\n\"$BISAI_PROGRAM\" solve laplace5.mtx --json "
               "pipe\nstatus=$?\nwait\n"
               "exit $status\n",
               0, "");
  expect_file("piped.json", "{\n  \"version\"");
  struct stat entry;
  assert_int_equal(lstat("pipe", &entry), 0);
  assert_true(S_ISFIFO(entry.st_mode));
  expect("solve laplace5.mtx --json /dev/null --output /dev/null", 0, "");
}

#endif

static void a_link_that_leads_nowhere_makes_what_it_names(void **state) {
  (void)state;
  assert_int_equal(mkdir("elsewhere", 0777), 0);
  assert_int_equal(symlink("elsewhere/x.mtx", "link.mtx"), 0);
  expect("solve laplace5.mtx --rhs last6.mtx --output link.mtx", 0, "");
  expect_file("elsewhere/x.mtx", vector);
  struct stat entry;
  assert_int_equal(lstat("link.mtx", &entry), 0);
  assert_true(S_ISLNK(entry.st_mode));
}

/* The shell's words that make a process one without root's rights; skips the test where there are
 * none. */
static const char *without_rights(void) {
  if (geteuid() != 0) return "";
  static const char words[] = "setpriv --reuid 65534 --regid 65534 --clear-groups ";
  char line[256];
  assert_int_equal(chmod(".", 0711), 0);
  snprintf(line, sizeof line, "%s\"$BISAI_PROGRAM\" --version\n", words);
  program_write("line.sh", line);
  program p = program_run("/bin/sh", "line.sh");
  const bool can = p.status == 0;
  program_free(&p);
  if (!can) skip();
  return words;
}

static void closed_folders_are_found_out_before_the_matrix_is_read(void **state) {
  (void)state;
  program_path();
  const char *words = without_rights();
  char line[512];
  assert_int_equal(mkdir("closed", 0777), 0);
  program_write("closed/old.mtx", "old");
  assert_int_equal(chmod("closed/old.mtx", 0666), 0);
  assert_int_equal(chmod("closed", 0555), 0);
  snprintf(line, sizeof line, "%s\"$BISAI_PROGRAM\" solve nowhere.mtx --output closed/new.mtx\n",
           words);
  expect_shell(line, 2, "bisai: --output: closed/new.mtx: Permission denied\n");
  snprintf(line, sizeof line, "%s\"$BISAI_PROGRAM\" solve laplace5.mtx --output closed/old.mtx\n",
           words);
  expect_shell(line, 0, "");
  expect_file("closed/old.mtx", vector);
  snprintf(line, sizeof line,
           "%s\"$BISAI_PROGRAM\" convert nowhere.mtx closed/old.mtx --format petsc\n", words);
  expect_shell(line, 2, "bisai: OUTPUT's block size: closed/old.mtx.info: Permission denied\n");
  assert_int_equal(chmod("closed", 0777), 0);
}

static void names_that_are_too_long_are_found_out_before_the_matrix_is_read(void **state) {
  (void)state;
  char line[512], name[258];
  memset(name, 'n', 255);
  strcpy(name + 251, ".mtx");
  snprintf(line, sizeof line, "solve laplace5.mtx --output %s", name);
  expect(line, 0, "");
  expect_file(name, vector);
  strcpy(name + 251, "n.mtx");
  snprintf(line, sizeof line, "solve nowhere.mtx --output %s", name);
  program p = run(line);
  check(&p, line, 2, "bisai: --output: ");
  program_expect_in("stderr", p.err, "File name too long\n");
  program_free(&p);
}

static void files_beside_the_output_are_overwritten_by_force_alone(void **state) {
  (void)state;
  program_write("C_b.mtx", "kept");
  program_write("C.mtx", "named, and so replaced");
  expect("convert nowhere.mtx C.mtx --rhs last6.mtx", 2,
         "bisai: OUTPUT's right-hand side: C_b.mtx exists already; --force overwrites it\n");
  expect_file("C_b.mtx", "kept");
  expect_file("C.mtx", "named");
  expect("convert laplace5.mtx C.mtx --rhs last6.mtx --force", 0, "");
  expect_file("C_b.mtx", last6);
  /* Without a right-hand side nothing is written beside it. */
  expect("convert laplace5.mtx C.mtx", 0,
         "bisai: C_b.mtx is beside C.mtx: solve and compare will read it as the right-hand side\n");
  expect_file("C_b.mtx", last6);

  program_write("q.petsc.info", "kept");
  expect("convert nowhere.mtx q.petsc", 2,
         "bisai: OUTPUT's block size: q.petsc.info exists already; --force overwrites it\n");
  expect("convert nowhere.mtx q.petsc.gz", 2,
         "bisai: OUTPUT's block size: q.petsc.info exists already; --force overwrites it\n");
  expect_file("q.petsc.info", "kept");
  assert_false(exists("q.petsc"));
  expect("convert laplace5.mtx q.petsc --rhs last6.mtx --force", 0, "");
  expect_file("q.petsc.info", "-matload_block_size ");

  /* What the file itself holds is known when it is read, and nothing is written then. */
  program_write("D_b.mtx", "kept");
  expect("convert q.petsc D.mtx", 2,
         "bisai: OUTPUT's right-hand side: D_b.mtx exists already; --force overwrites it\n");
  assert_false(exists("D.mtx"));
  assert_int_equal(symlink("nothing", "E_b.mtx"), 0);
  expect("convert q.petsc E.mtx", 2,
         "bisai: OUTPUT's right-hand side: E_b.mtx exists already; --force overwrites it\n");
}

/* Not even by force. */
static void files_beside_the_output_are_never_inputs(void **state) {
  (void)state;
  program_write("I.petsc.info", laplace5);
  expect("convert I.petsc.info I.petsc --force", 2,
         "bisai: OUTPUT's block size: I.petsc.info: the same file as INPUT\n");
  expect_file("I.petsc.info", laplace5);
  program_write("J_b.mtx", last6);
  expect("convert laplace5.mtx J.mtx --rhs J_b.mtx --force", 2,
         "bisai: OUTPUT's right-hand side: J_b.mtx: the same file as --rhs\n");
  assert_int_equal(symlink("K.mtx", "K_b.mtx"), 0);
  expect("convert laplace5.mtx K.mtx --rhs last6.mtx --force", 2,
         "bisai: OUTPUT's right-hand side: K_b.mtx: the same file as OUTPUT\n");
  expect("convert laplace5.mtx /dev/null --rhs last6.mtx --format market", 2,
         "bisai: OUTPUT: /dev/null: not a file, so that no right-hand side can be written beside "
         "it; --rhs none leaves it out\n");
  expect("convert laplace5.mtx /dev/null --format market", 0, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef BISAI_HAVE_JANSSON
      cmocka_unit_test(a_closed_standard_output_is_nobodys_file),
      cmocka_unit_test(a_standard_output_that_takes_nothing_spoils_no_file),
      cmocka_unit_test(one_file_is_not_two_outputs),
      cmocka_unit_test(results_of_an_earlier_run_are_kept_until_the_new_ones_are_whole),
      cmocka_unit_test(json_goes_to_pipes_and_devices),
#endif
      cmocka_unit_test(a_link_that_leads_nowhere_makes_what_it_names),
      cmocka_unit_test(closed_folders_are_found_out_before_the_matrix_is_read),
      cmocka_unit_test(names_that_are_too_long_are_found_out_before_the_matrix_is_read),
      cmocka_unit_test(files_beside_the_output_are_overwritten_by_force_alone),
      cmocka_unit_test(files_beside_the_output_are_never_inputs),
  };
  return cmocka_run_group_tests_name("cli_outputs", tests, program_setup, program_teardown);
}
