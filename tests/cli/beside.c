/* SPDX-License-Identifier: BSD-3-Clause */
/* NAME_b.mtx beside NAME.mtx: when solve, compare and convert take it for the right-hand side. */
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/program.h"
#include "support/support.h"

static const char last12[] = "%%MatrixMarket matrix array real general\n5 1\n0\n0\n0\n0\n12\n";
static const char four[] = "%%MatrixMarket matrix array real general\n4 1\n1\n1\n1\n1\n";

/* Every test begins with A.mtx, and nothing beside it has its name. */
static int setup(void **state) {
  program_setup(state);
  program_write("A.mtx", laplace5);
  return 0;
}

/* Standard output in its beginning only. */
static void expect(const char *line, int status, const char *out, const char *err) {
  program_expect_ended(shell(line), line, status, out, err);
}

/* The last value of the solution, which is 5 for last6, 10 for last12, 2.5 for ones, and 1 without
 * a right-hand side. */
static void expect_last(const char *arguments, double expected) {
  char line[512];
  snprintf(line, sizeof line,
           "$B solve %s --block-size 1 --preconditioner ilu --output - 2> /dev/null | tail -n 1",
           arguments);
  program p = shell(line);
  const double last = strtod(p.out, NULL);
  /* rounding of ILU */
  if (!(fabs(last - expected) < 1e-12)) fail_msg("%s: %s is not %g", arguments, p.out, expected);
  program_free(&p);
}

#define MATRIX "matrix   A: 5 block rows of size 1, 13 blocks\n"
#define BESIDE MATRIX "rhs      A_b.mtx, beside the matrix\nbackend"
#define OTHER MATRIX "backend"
#define NONE "rhs      A x with x_i = 1, i = 1 to n\nbackend"

static void it_is_taken_and_said(void **state) {
  (void)state;
  expect("$B solve A.mtx --block-size 1", 0, MATRIX NONE, "");
  program_write("A_b.mtx", last6);
  expect("$B solve A.mtx --block-size 1", 0, BESIDE, "");
  expect("$B compare A.mtx --block-size 1 --methods ilu", 0, BESIDE, "");
  expect_last("A.mtx", 5);
  assert_int_equal(mkdir("far", 0777), 0);
  expect("cd far; $B solve ../A.mtx --block-size 1", 0,
         MATRIX "rhs      ../A_b.mtx, beside the matrix\nbackend", "");
#ifdef BISAI_HAVE_JANSSON
  expect("$B solve A.mtx --json - | grep '\"rhs'", 0,
         "  \"rhs\": \"beside\",\n  \"rhs_file\": \"A_b.mtx\",\n  \"rhs_columns\": null,\n", "");
  expect("$B solve A.mtx --rhs A_b.mtx --json - | grep '\"rhs'", 0,
         "  \"rhs\": \"file\",\n  \"rhs_file\": \"A_b.mtx\",\n  \"rhs_columns\": null,\n", "");
  expect("$B solve A.mtx --rhs ones --json - | grep '\"rhs'", 0,
         "  \"rhs\": \"ones\",\n  \"rhs_file\": null,\n  \"rhs_columns\": null,\n", "");
#endif
}

static void another_right_hand_side_that_is_asked_for_takes_its_place(void **state) {
  (void)state;
  program_write("A_b.mtx", last6);
  program_write("other.mtx", last12);
  expect("$B solve A.mtx --block-size 1 --rhs ones", 0, OTHER, "");
  expect("$B solve A.mtx --block-size 1 --rhs other.mtx", 0, OTHER, "");
  expect_last("A.mtx --rhs other.mtx", 10);
  expect_last("A.mtx --rhs ones", 2.5);
  /* What is not even looked at may be anything. */
  program_write("A_b.mtx", "nonsense");
  expect("$B solve A.mtx --block-size 1 --rhs ones", 0, OTHER, "");
}

static void only_a_matrix_market_file_has_it_beside_itself(void **state) {
  (void)state;
  program_write("A_b.mtx", last6);
  program_write("A_b.petsc", last6);
  program_write("stdin_b.mtx", last6);
  program_write("pipe_b.mtx", last6);
  expect("$B solve - --block-size 1 < A.mtx", 0,
         "matrix   stdin: 5 block rows of size 1, 13 blocks\n" NONE, "");
  expect("mkfifo pipe.mtx; cat A.mtx > pipe.mtx & $B solve pipe.mtx --block-size 1", 0,
         "matrix   pipe: 5 block rows of size 1, 13 blocks\n" NONE, "");
  expect("cp A.mtx A; $B solve A --block-size 1", 0, MATRIX NONE, "");
  expect("$B convert A.mtx A.petsc --rhs none --block-size 1 && $B solve A.petsc", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to A.petsc\n" MATRIX NONE, "");
  expect("mkdir B; cp A.mtx B.mtx; mkdir B_b.mtx; $B solve B.mtx --block-size 1", 0,
         "matrix   B: 5 block rows of size 1, 13 blocks\n" NONE, "");
}

static void either_may_be_compressed(void **state) {
  (void)state;
  program_write("A_b.mtx", last12);
  expect("gzip -k A.mtx; $B solve A.mtx.gz --block-size 1", 0, BESIDE, "");
  expect_last("A.mtx.gz", 10);
  expect("xz -k A.mtx; $B solve A.mtx.xz --block-size 1", 0, BESIDE, "");
  /* That with the matrix's own ending comes first. */
  program_write("packed", last6);
  expect("gzip -c packed > A_b.mtx.gz; $B solve A.mtx.gz --block-size 1", 0,
         MATRIX "rhs      A_b.mtx.gz, beside the matrix\nbackend", "");
  expect_last("A.mtx.gz", 5);
  expect_last("A.mtx", 10);
  expect_last("A.mtx.xz", 10);
  expect("rm A_b.mtx; $B solve A.mtx --block-size 1", 0,
         MATRIX "rhs      A_b.mtx.gz, beside the matrix\nbackend", "");
  expect("$B convert A.mtx C.mtx.xz --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.mtx.xz\nrhs      A_b.mtx.gz, beside the "
         "matrix, to C_b.mtx.xz\n",
         "");
  expect_last("C.mtx.xz", 5);
}

static void one_of_another_length_is_ignored_with_a_warning(void **state) {
  (void)state;
  program_write("A_b.mtx", four);
#define IGNORED                                                                                    \
  "bisai: A_b.mtx: line 2: a vector of 4 values; 5 are needed\nbisai: A_b.mtx: ignored as "        \
  "a right-hand side\n"
  expect("$B solve A.mtx --block-size 1", 0, MATRIX NONE, IGNORED);
  expect("$B convert A.mtx C.mtx --block-size 1; test ! -e C_b.mtx", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.mtx\n", IGNORED);
  expect("$B convert A.mtx A.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to A.mtx\n", IGNORED);
  program_expect_file("A_b.mtx", four);
  expect_last("A.mtx", 1);
}

static void one_that_cannot_be_read_is_no_dead_end(void **state) {
  (void)state;
  program_write("A_b.mtx", "nonsense");
  expect("$B solve A.mtx", 2, "",
         "bisai: A_b.mtx: line 1: expected '%%MatrixMarket', found 'nonsense'\n"
         "bisai: A: --rhs ones ignores the right-hand side beside the matrix\n");
  program_write("A_b.mtx", laplace5); /* perhaps another matrix of the user's */
  program p = shell("$B solve A.mtx");
  assert_int_equal(p.status, 2);
  program_expect_in("solve", p.err,
                    "bisai: A: --rhs ones ignores the right-hand side beside the matrix\n");
  program_free(&p);
}

static void conversions_take_it_along(void **state) {
  (void)state;
  program_write("A_b.mtx", last6);
  expect("$B convert A.mtx C.petsc --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.petsc\nrhs      A_b.mtx, beside the "
         "matrix, to C.petsc\n",
         "");
  expect("$B convert A.mtx C.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.mtx\nrhs      A_b.mtx, beside the matrix, "
         "to C_b.mtx\n",
         "");
  program_expect_file("C_b.mtx", last6);
  expect("$B convert A.mtx D.mtx --block-size 1 --rhs none; test ! -e D_b.mtx", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to D.mtx\n", "");
  /* In place, or beside a link to the same folder, it stays what it is. */
  program_write("A_b.mtx", last12);
  expect("ln -s . here; $B convert A.mtx here/A.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to here/A.mtx\nrhs      A_b.mtx, beside the "
         "matrix, left as it is\n",
         "");
  program_expect_file("A_b.mtx", last12);
  expect("$B convert A.mtx - --block-size 1 > /dev/null", 2, "",
         "bisai: OUTPUT: standard output: not a file, so that no right-hand side can be written "
         "beside it; --rhs none leaves it out\n");
}

static void it_is_an_input_that_outputs_do_not_overwrite(void **state) {
  (void)state;
  program_write("A_b.mtx", last6);
  expect("$B solve A.mtx --output ./A_b.mtx", 2, "",
         "bisai: --output: ./A_b.mtx: the same file as the right-hand side beside the matrix\n");
  expect("$B convert A.mtx A_b.mtx", 2, "",
         "bisai: OUTPUT: A_b.mtx: the same file as the right-hand side beside INPUT\n");
  program_expect_file("A_b.mtx", last6);
}

static void an_old_one_beside_a_new_matrix_is_told(void **state) {
  (void)state;
  program_write("C_b.mtx", last6);
  expect("$B convert A.mtx C.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.mtx\n",
         "bisai: C_b.mtx is beside C.mtx: solve and compare will read it as the right-hand side\n");
  expect("$B convert A.mtx C.petsc --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to C.petsc\n", "");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, program_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(it_is_taken_and_said),
      TEST(another_right_hand_side_that_is_asked_for_takes_its_place),
      TEST(only_a_matrix_market_file_has_it_beside_itself),
      TEST(either_may_be_compressed),
      TEST(one_of_another_length_is_ignored_with_a_warning),
      TEST(one_that_cannot_be_read_is_no_dead_end),
      TEST(conversions_take_it_along),
      TEST(it_is_an_input_that_outputs_do_not_overwrite),
      TEST(an_old_one_beside_a_new_matrix_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
