/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program reads through pipes, where every file can be opened once only. */
#include "support/bytes.h"
#include "support/program.h"

static void write_archive(const char *path, bool rhs_first) {
  test_text text = {0};
  if (rhs_first) tar_text(&text, "A/A_b.mtx", last6);
  tar_text(&text, "A/A.mtx", laplace5);
  if (!rhs_first) tar_text(&text, "A/A_b.mtx", last6);
  tar_write(&text, path);
}

/* Outputs of an earlier line are removed first. */
static void expect(const char *line, int status, const char *out, const char *err) {
  remove("out.mtx");
  remove("out_b.mtx");
  program_expect_ended(shell(line), line, status, out, err);
}

static int setup(void **state) {
  program_setup(state);
  expect("$B convert laplace5.mtx A.petsc --block-size 1 --rhs last6.mtx", 0, "matrix", "");
  write_archive("A.tar", false);
  write_archive("rhs_first.tar", true);
  return 0;
}

static void right_hand_sides_come_through_pipes(void **state) {
  (void)state;
  static const char *const files[] = {"A.petsc", "A.tar", "rhs_first.tar"};
  static const char *const names[] = {"/dev/stdin", "-"};
  for (size_t f = 0; f < sizeof files / sizeof *files; f++)
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
      char line[200];
      snprintf(line, sizeof line, "cat %s | $B solve %s --block-size 1 --preconditioner ilu",
               files[f], names[n]);
      expect(line, 0,
             "matrix   stdin: 5 block rows of size 1, 13 blocks\nrhs      the file's own\nbackend",
             "");
      snprintf(line, sizeof line, "cat %s | $B compare %s --block-size 1 --methods none,ilu",
               files[f], names[n]);
      expect(line, 0,
             "matrix   stdin: 5 block rows of size 1, 13 blocks\nrhs      the file's own\nbackend",
             "");
      snprintf(line, sizeof line, "cat %s | $B convert %s out.mtx --block-size 1", files[f],
               names[n]);
      expect(line, 0,
             "matrix   stdin: 5 rows, 13 blocks of size 1, to out.mtx\nrhs      the file's own, to "
             "out_b.mtx\n",
             "");
      program_expect_file("out_b.mtx", last6);
    }
  expect("gzip -c A.petsc | $B solve - --preconditioner ilu", 0,
         "matrix   stdin: 5 block rows of size 1, 13 blocks\nrhs      the file's own\nbackend", "");
}

/* `feed FILE` writes it to a named pipe, once. */
#define FEED                                                                                       \
  "rm -f pipe; mkfifo pipe; feed() { timeout 60 sh -c \"cat $1 > pipe\" > feed.log 2>&1 & }; "

static void named_pipes_are_opened_once(void **state) {
  (void)state;
  expect(FEED "feed A.petsc; $B solve pipe --preconditioner ilu", 0,
         "matrix   pipe: 5 block rows of size 1, 13 blocks\nrhs      the file's own\nbackend", "");
  expect(FEED "feed laplace5.mtx; $B solve pipe --block-size 1", 0,
         "matrix   pipe: 5 block rows of size 1, 13 blocks\nrhs      A x with x_i = 1, i = 1 to "
         "n\nbackend",
         "");
  expect(FEED "feed A.petsc; $B info pipe", 0,
         "matrix       pipe: 5 rows, 13 entries\nblock size   1, ", "");
  expect(FEED "feed A.petsc; $B convert pipe out.mtx --block-size 1", 0,
         "matrix   pipe: 5 rows, 13 blocks of size 1, to out.mtx\nrhs      the file's own, to "
         "out_b.mtx\n",
         "");
  program_expect_file("out_b.mtx", last6);
  expect(
      FEED "feed last6.mtx; $B convert laplace5.mtx out.mtx --block-size 1 --rhs pipe", 0,
      "matrix   laplace5: 5 rows, 13 blocks of size 1, to out.mtx\nrhs      pipe, to out_b.mtx\n",
      "");
  program_expect_file("out_b.mtx", last6);
}

static void a_dash_is_standard_input(void **state) {
  (void)state;
  expect("$B info - < laplace5.mtx", 0, "matrix       stdin: 5 rows, 13 entries\n", "");
  expect("cat last6.mtx | $B convert laplace5.mtx out.mtx --block-size 1 --rhs -", 0,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to out.mtx\nrhs      /dev/stdin, to "
         "out_b.mtx\n",
         "");
  program_expect_file("out_b.mtx", last6);
  expect("$B convert - out.mtx --rhs - --block-size 1 < A.petsc", 0,
         "matrix   stdin: 5 rows, 13 blocks of size 1, to out.mtx\nrhs      /dev/stdin, to "
         "out_b.mtx\n",
         "");
  expect("cat A.petsc | $B solve - --rhs -", 2, "",
         "bisai: --rhs: /dev/stdin: the same input as the matrix, which can be read only once\n");
  expect("$B convert --case cavity --size 4 --format petsc ./- && test -s ./-", 0,
         "matrix   cavity", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_hand_sides_come_through_pipes),
      cmocka_unit_test(named_pipes_are_opened_once),
      cmocka_unit_test(a_dash_is_standard_input),
  };
  return cmocka_run_group_tests(tests, setup, program_teardown);
}
