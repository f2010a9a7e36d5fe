/* SPDX-License-Identifier: BSD-3-Clause */
/* The program in pipes: the matrix from standard input, the solution or the matrix to standard
 * output, the report to standard error. */
#include <unistd.h>

#include "support/program.h"
#include "support/support.h"

/* Standard error in its beginning only. */
static void expect(const char *line, int status, const char *out, const char *err) {
  program p = shell(line);
  if (p.status != status || strcmp(p.out, out) != 0 || strncmp(p.err, err, strlen(err)) != 0)
    fail_msg("%s\nexit status %d, expected %d\nstdout: %s\nexpected: %s\nstderr: %s\nexpected: %s",
             line, p.status, status, p.out, out, p.err, err);
  program_free(&p);
}

#define HEADING "matrix   stdin: 5 block rows of size 1, 13 blocks\nbackend"
#define SOLVE "$B solve - --block-size 1 --rhs last6.mtx --preconditioner ilu "

/* The solution is written as to a file. */
static void the_solution_goes_to_standard_output_and_the_report_to_standard_error(void **state) {
  (void)state;
  program p = shell(SOLVE "--output x.mtx < laplace5.mtx");
  assert_int_equal(p.status, 0);
  char *x = program_read("x.mtx");
  expect("cat laplace5.mtx | " SOLVE "--output -", 0, x, HEADING);
  expect(SOLVE "--output - < laplace5.mtx | cat", 0, x, HEADING);
  expect(SOLVE "--output - < laplace5.mtx; test ! -e ./-", 0, x, HEADING);
  free(x);
  program_free(&p);
}

static void what_standard_output_holds_already_is_kept(void **state) {
  (void)state;
  expect("{ echo before; " SOLVE
         "--output - < laplace5.mtx; echo after; } > all; head -n 1 all; tail -n 1 all; "
         "grep -c MatrixMarket all",
         0, "before\nafter\n1\n", HEADING);
  expect("echo before > all; " SOLVE "--output - < laplace5.mtx >> all; head -n 2 all", 0,
         "before\n%%MatrixMarket matrix array real general\n", HEADING);
}

static void a_matrix_goes_through_pipes_of_conversions(void **state) {
  (void)state;
  static const char full[] = "%%MatrixMarket matrix coordinate real general\n5 5 13\n1 1 2\n1 2 "
                             "-1\n2 1 -1\n2 2 2\n2 3 -1\n3 2 -1\n3 3 2\n"
                             "3 4 -1\n4 3 -1\n4 4 2\n4 5 -1\n5 4 -1\n5 5 2\n";
  expect("$B convert laplace5.mtx - --block-size 1", 0, full,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to standard output\n");
  expect(
      "$B convert - - --block-size 1 --format petsc < laplace5.mtx | $B convert - - 2> /dev/null",
      0, full, "matrix   stdin: 5 rows, 13 blocks of size 1, to standard output\n");
  expect("$B convert laplace5.mtx - --block-size 1 --format petsc --rhs last6.mtx 2> /dev/null "
         "| $B convert - out.mtx > /dev/null && cat out_b.mtx",
         0, last6, "");
}

static void an_archive_goes_through_a_pipe(void **state) {
  (void)state;
  program p = run("convert laplace5.mtx laplace5.tar.gz --format suitesparse --block-size 1");
  const bool without_archives = strstr(p.err, "need a build with ") != NULL;
  program_free(&p);
  if (without_archives) skip();
  expect(
      "$B convert laplace5.mtx - --format suitesparse --block-size 1 --rhs last6.mtx 2> /dev/null "
      "| $B solve - --block-size 1 --preconditioner ilu | head -n 2",
      0, "matrix   stdin: 5 block rows of size 1, 13 blocks\nrhs      the file's own\n", "");
}

static void standard_output_takes_one_thing(void **state) {
  (void)state;
#ifdef BISAI_HAVE_JANSSON
  expect("$B solve nowhere.mtx --output - --json -", 2, "",
         "bisai: --output - and --json -: only one of them can go to standard output\n");
  expect("$B solve laplace5.mtx --rhs last6.mtx --output - --json x.json 2> /dev/null | head -n 1; "
         "grep -c runs x.json",
         0, "%%MatrixMarket matrix array real general\n1\n", "");
#endif
  expect("$B convert laplace5.mtx - --rhs last6.mtx", 2, "",
         "bisai: OUTPUT: standard output: not a file, so that no right-hand side can be written "
         "beside it; --rhs none leaves it out\n");
}

/* By another name than -, what is written would be mixed with the text. */
static void a_pipe_behind_standard_output_takes_nothing_else(void **state) {
  (void)state;
  if (access("/dev/stdout", F_OK) != 0) skip();
  expect("{ $B solve laplace5.mtx --output /dev/stdout; echo $?; } | cat", 0, "2\n",
         "bisai: --output: /dev/stdout: the same file as standard output\n");
  expect("{ $B convert laplace5.mtx /dev/stdout --format petsc; echo $?; } | cat", 0, "2\n",
         "bisai: OUTPUT: /dev/stdout: the same file as standard output\n");
#ifdef BISAI_HAVE_JANSSON
  expect("{ $B info laplace5.mtx --json /dev/stdout; echo $?; } | cat", 0, "2\n",
         "bisai: --json: /dev/stdout: the same file as standard output\n");
#endif
}

static void nothing_goes_to_standard_output_without_a_solution(void **state) {
  (void)state;
  expect("$B solve no_diagonal.mtx --block-size 1 --preconditioner ilu --output - 2> report; s=$?; "
         "grep 'not written' report >&2; exit $s",
         3, "", "bisai: --output: standard output: not written, because there is no solution\n");
}

static void a_standard_output_that_takes_nothing_fails(void **state) {
  (void)state;
  expect("$B solve nowhere.mtx --output - >&-", 2, "",
         "bisai: --output: standard output is closed\n");
  expect("$B convert nowhere.mtx - >&-", 2, "", "bisai: OUTPUT: standard output is closed\n");
  if (access("/dev/full", W_OK) != 0) skip();
  expect("$B convert laplace5.mtx - > /dev/full", 2, "",
         "bisai: standard output: No space left on device\n");
  expect(
      "$B solve laplace5.mtx --output - 2> report > /dev/full; s=$?; tail -n 1 report >&2; exit $s",
      2, "", "bisai: standard output: No space left on device\n");
  /* More than a pipe holds: the writer must not wait for a copier that has given up. */
  expect("$B convert --case cavity --size 60 --rhs none - > /dev/full", 2, "",
         "bisai: standard output: No space left on device\n");
}

/* argp prints these, and ends the program. The long help fails before the last of it is written. */
static void help_that_is_not_written_fails(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  expect("$B --version > /dev/full", 2, "", "bisai: standard output: No space left on device\n");
  expect("$B --help > /dev/full", 2, "", "bisai: standard output: ");
  expect("$B solve --help > /dev/full", 2, "", "bisai: standard output: ");
  expect("$B help convert > /dev/full", 2, "", "bisai: standard output: ");
  expect("$B compare --usage > /dev/full", 2, "", "bisai: standard output: ");
}

/* The text goes to standard error, because the solution or the matrix takes standard output. */
static void a_text_that_standard_error_does_not_take_fails(void **state) {
  (void)state;
  if (access("/dev/full", W_OK) != 0) skip();
  expect("$B solve laplace5.mtx --output - > x.mtx 2> /dev/full", 2, "", "");
  expect("$B convert laplace5.mtx - > x.mtx 2> /dev/full", 2, "", "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_solution_goes_to_standard_output_and_the_report_to_standard_error),
      cmocka_unit_test(what_standard_output_holds_already_is_kept),
      cmocka_unit_test(a_matrix_goes_through_pipes_of_conversions),
      cmocka_unit_test(an_archive_goes_through_a_pipe),
      cmocka_unit_test(standard_output_takes_one_thing),
      cmocka_unit_test(a_pipe_behind_standard_output_takes_nothing_else),
      cmocka_unit_test(nothing_goes_to_standard_output_without_a_solution),
      cmocka_unit_test(a_standard_output_that_takes_nothing_fails),
      cmocka_unit_test(help_that_is_not_written_fails),
      cmocka_unit_test(a_text_that_standard_error_does_not_take_fails),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
