/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai convert, and what solve and info make of the files that it writes. */
#include <unistd.h>

#include "support/bytes.h"
#include "support/program.h"

/* Runs, and checks the exit status and both outputs, `out` in its beginning only. */
static void expect(const char *line, int status, const char *out, const char *err) {
  program p = run(line);
  if (strstr(p.err, "need a build with ")) {
    program_free(&p);
    skip();
  }
  program_expect_ended(p, line, status, out, err);
}

static const char laplace5_out[] = "%%MatrixMarket matrix coordinate real general\n5 5 13\n1 1 "
                                   "2\n1 2 -1\n2 1 -1\n2 2 2\n2 3 -1\n3 2 -1\n3 3 2\n"
                                   "3 4 -1\n4 3 -1\n4 4 2\n4 5 -1\n5 4 -1\n5 5 2\n";

static void matrices_go_round_through_petsc(void **state) {
  (void)state;
  expect("convert laplace5.mtx A.petsc --block-size 1", 0,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to A.petsc\n", "");
  expect("convert A.petsc A.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to A.mtx\n", "");
  program_expect_file("A.mtx", laplace5_out);
  assert_int_equal(access("A_b.mtx", F_OK), -1); /* no right-hand side, no file */
}

static void the_right_hand_side_goes_along(void **state) {
  (void)state;
  expect("convert laplace5.mtx B.petsc --block-size 1 --rhs last6.mtx", 0,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to B.petsc\nrhs      last6.mtx, to "
         "B.petsc\n",
         "");
  expect("solve B.petsc --preconditioner ilu", 0,
         "matrix   B: 5 block rows of size 1, 13 blocks\nrhs      the file's own\nbackend", "");
  expect("solve B.petsc --preconditioner ilu --rhs ones", 0,
         "matrix   B: 5 block rows of size 1, 13 blocks\nbackend", "");
  expect("convert B.petsc C.mtx", 0,
         "matrix   B: 5 rows, 13 blocks of size 1, to C.mtx\nrhs      the file's own, to C_b.mtx\n",
         "");
  program_expect_file("C.mtx", laplace5_out);
  program_expect_file("C_b.mtx", last6);
  expect("convert B.petsc D.petsc --rhs none", 0,
         "matrix   B: 5 rows, 13 blocks of size 1, to D.petsc\n", "");
  expect("solve D.petsc", 0,
         "matrix   D: 5 block rows of size 1, 13 blocks\nrhs      A x with x_i = 1, i = 1 to "
         "n\nbackend",
         "");
  expect("convert laplace5.mtx E --format market --rhs ones --block-size 1", 0,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to E\nrhs      ones, to E_b\n", "");
  program_expect_file("E_b", "%%MatrixMarket matrix array real general\n5 1\n1\n1\n1\n1\n1\n");
}

static void cases_are_written(void **state) {
  (void)state;
  expect("convert --case cavity --size 4 cavity.bin", 0,
         "matrix   cavity: 48 rows, 64 blocks of size 3, to cavity.bin\nrhs      the case's own, "
         "to cavity.bin\n",
         "");
  expect("info cavity.bin", 0,
         "matrix       cavity: 48 rows, 316 entries\nblock size   3, as the file's .info says\n",
         "");
}

static void archives_are_written_and_read(void **state) {
  (void)state;
  expect("convert laplace5.mtx venkat50.tar.gz --rhs last6.mtx --block-size 1", 0,
         "matrix   laplace5: 5 rows, 13 blocks of size 1, to venkat50.tar.gz\nrhs      last6.mtx, "
         "to venkat50.tar.gz\n",
         "");
  /* Known by its name, as NAME.mtx is. */
  expect("solve venkat50.tar.gz --block-size 1 --preconditioner ilu", 0,
         "matrix   venkat50: 5 block rows of size 1, 13 blocks\nrhs      the file's own\n",
         "bisai: venkat50: tolerance 1e-08, as in Ma et al. 2021\n");
  expect("solve laplace5.mtx --block-size 1 --rhs venkat50.tar.gz", 0, "matrix", "");
}

static void the_first_of_several_columns_is_said(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", laplace5);
  tar_text(&text, "A/A_b.mtx",
           "%%MatrixMarket matrix array real general\n5 2\n0\n0\n0\n0\n6\n1\n2\n3\n4\n5\n");
  tar_write(&text, "A.tar");
  expect("solve A.tar --block-size 1", 0,
         "matrix   A: 5 block rows of size 1, 13 blocks\nrhs      the file's own, the first of 2 "
         "columns\nbackend",
         "");
  expect("convert A.tar F.mtx --block-size 1", 0,
         "matrix   A: 5 rows, 13 blocks of size 1, to F.mtx\nrhs      the file's own, the first of "
         "2 columns, to "
         "F_b.mtx\n",
         "");
  program_expect_file("F_b.mtx", last6);
}

static void a_right_hand_side_that_cannot_be_used_is_no_dead_end(void **state) {
  (void)state;
  test_text text = {0};
  tar_text(&text, "A/A.mtx", laplace5);
  tar_text(&text, "A/A_b.mtx", "%%MatrixMarket matrix array complex general\n5 1\n");
  tar_write(&text, "complex.tar");
  expect("solve complex.tar --block-size 1", 2, "",
         "bisai: complex.tar: A/A_b.mtx: line 1: complex values are not supported\n"
         "bisai: complex: --rhs ones ignores the right-hand side in the file\n");
  expect("solve complex.tar --block-size 1 --rhs ones", 0, "matrix", "");
}

static void bad_conversions_exit_2_with_their_exact_message(void **state) {
  (void)state;
  static const struct {
    const char *line, *message;
  } wrong[] = {
      {"convert", "bisai: give a FILE, or --case and --size\n"},
      {"convert laplace5.mtx", "bisai: give an OUTPUT\n"},
      {"convert --case cavity --size 4", "bisai: give an OUTPUT\n"},
      {"convert --case cavity x.mtx", "bisai: --case needs --size\n"},
      {"convert a.mtx b.mtx c.mtx", "bisai: 'c.mtx': only one INPUT and one OUTPUT are allowed\n"},
      {"convert --case cavity --size 4 a.mtx b.mtx",
       "bisai: FILE and --case: give only one of them\n"},
      {"convert '' b.mtx", "bisai: INPUT: the name is empty\n"},
      {"convert laplace5.mtx ''", "bisai: OUTPUT: the name is empty\n"},
      {"convert laplace5.mtx x.mtx --format mtx",
       "bisai: --format: 'mtx' is not a format (market, petsc, suitesparse)\n"},
      {"convert laplace5.mtx x.mtx --rhs ''", "bisai: --rhs: the name is empty\n"},
      {"convert nowhere.mtx x.mtx", "bisai: cannot open nowhere.mtx: No such file or directory\n"},
      {"convert laplace5.mtx x.mtx --rhs nowhere.mtx",
       "bisai: cannot open nowhere.mtx: No such file or directory\n"},
      {"convert laplace5.mtx last6.mtx --rhs last6.mtx",
       "bisai: OUTPUT: last6.mtx: the same file as --rhs\n"},
      {"convert laplace5.mtx x.dat --block-size 1",
       "bisai: the ending of x.dat is none of .mtx, .petsc, .bin (also .gz, .xz, .bz2, .zst), "
       ".tar.gz and .npz\n"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    expect(wrong[i].line, 2, "", wrong[i].message);
  assert_int_equal(access("x.mtx", F_OK), -1);
  program p = run("convert laplace5.mtx no/such/folder.mtx");
  assert_int_equal(p.status, 2);
  program_expect_in("stderr", p.err, "OUTPUT: no/such/folder.mtx");
  program_free(&p);
}

static void help_tells_the_formats(void **state) {
  (void)state;
  program p = run("convert --help");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_expect_in("convert --help", p.out, "--rhs");
  program_expect_in("convert --help", p.out, "--format");
  program_expect_in("convert --help", p.out, "--block-size");
  program_expect_in("convert --help", p.out, "INPUT OUTPUT");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_go_round_through_petsc),
      cmocka_unit_test(the_right_hand_side_goes_along),
      cmocka_unit_test(cases_are_written),
      cmocka_unit_test(archives_are_written_and_read),
      cmocka_unit_test(the_first_of_several_columns_is_said),
      cmocka_unit_test(a_right_hand_side_that_cannot_be_used_is_no_dead_end),
      cmocka_unit_test(bad_conversions_exit_2_with_their_exact_message),
      cmocka_unit_test(help_tells_the_formats),
  };
  return cmocka_run_group_tests(tests, program_setup, program_teardown);
}
