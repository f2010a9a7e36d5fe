/* SPDX-License-Identifier: BSD-3-Clause */
/* --write-null of the command-line program: the near-null-space vectors of a case in a file. */
#include <stdio.h>

#include "support/program.h"
#include "support/support.h"

static void expect_same_files(const char *a, const char *b) {
  char *first = program_read(a), *second = program_read(b);
  assert_string_equal(first, second);
  free(first);
  free(second);
}

/* The eight nodes of one element lie at ±1/2 from the centre. */
static void the_rigid_body_modes_of_one_element_are_those_written_by_hand(void **state) {
  (void)state;
  program_expect("convert --case elasticity --size 2 one.mtx --write-null modes.mtx", 0, "");
  char expected[4096] = "%%MatrixMarket matrix array real general\n24 6\n";
  for (int mode = 0; mode < 6; mode++) {
    for (int node = 0; node < 8; node++) {
      const double x = node % 2 - 0.5, y = node / 2 % 2 - 0.5, z = node / 4 - 0.5;
      const double values[6][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1},
                                   {0, -z, y}, {z, 0, -x}, {-y, x, 0}};
      for (int d = 0; d < 3; d++) sprintf(expected + strlen(expected), "%g\n", values[mode][d]);
    }
  }
  char *text = program_read("modes.mtx");
  assert_string_equal(expected, text);
  free(text);
}

static void every_command_writes_the_same_vectors(void **state) {
  (void)state;
  program_expect("convert --case elasticity --size 4,3,3 four.mtx --write-null a.mtx", 0, "");
  program_expect("solve --case elasticity --size 4,3,3 --write-null b.mtx", 0, "");
  program_expect(
      "compare --case elasticity:contrast=10 --size 4,3,3 --methods ilu --write-null c.mtx", 0, "");
  expect_same_files("a.mtx", "b.mtx");
  expect_same_files("a.mtx", "c.mtx");
}

static void padding_has_no_part_in_the_vectors(void **state) {
  (void)state;
  program_expect("solve --case elasticity --size 3 --write-null plain.mtx", 0, "");
  program_expect(
      "solve --case elasticity --size 3 --block-size 4 --write-null padded.mtx", 0,
      "bisai: elasticity: 81 rows are not a multiple of the block size 4: padded with 3 rows of "
      "the identity\n");
  expect_same_files("plain.mtx", "padded.mtx");
}

static void eliminated_nodes_have_no_rows_in_the_vectors(void **state) {
  (void)state;
  program_expect("solve --case elasticity:clamped=eliminated --size 3 --write-null part.mtx", 0,
                 "");
  char *text = program_read("part.mtx");
  program_expect_in("part.mtx", text, "\n54 6\n");
  free(text);
}

static void the_vectors_overwrite_no_other_file(void **state) {
  (void)state;
  program_expect("solve --case elasticity --size 3 --output x.mtx --write-null ./x.mtx", 2,
                 "bisai: --write-null: ./x.mtx: the same file as --output\n");
  program_expect("convert --case elasticity --size 3 A.mtx --write-null A.mtx", 2,
                 "bisai: --write-null: A.mtx: the same file as OUTPUT\n");
  program_expect("convert --case elasticity --size 3 A.mtx --write-null A_b.mtx", 2,
                 "bisai: OUTPUT's right-hand side: A_b.mtx: the same file as --write-null\n");
  program_expect("convert --case elasticity --size 3 A.petsc --write-null A.petsc.info", 2,
                 "bisai: OUTPUT's block size: A.petsc.info: the same file as --write-null\n");
  program_expect("solve --case elasticity --size 3 --write-null nowhere/n.mtx", 2,
                 "bisai: --write-null: nowhere/n.mtx: No such file or directory\n");
}

/* The message names the key and the file, not the field of C. Refusals of input exit with 2. */
static void vectors_that_are_no_good_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    const char *method, *message;
  } cases[] = {
      {"mg:null=zero.mtx", "null=zero.mtx: vector 1 (from 0) is zero"},
      {"auto:null=zero.mtx", "null=zero.mtx: vector 1 (from 0) is zero"},
      {"cpr:first=mg:null=short.mtx", "pressure matrix: null=short.mtx: vector 0 (from 0) is zero"},
      {"mg:smoother=jacobi:level=3", "the smoother jacobi does not take the option level"}};
  enum { ROWS = 81, NODES = 27 };
  char text[32 * ROWS] = "%%MatrixMarket matrix array real general\n81 2\n";
  for (int i = 0; i < 2 * ROWS; i++) strcat(text, i < ROWS ? "1\n" : "0\n");
  program_write("zero.mtx", text);
  strcpy(text, "%%MatrixMarket matrix array real general\n27 1\n");
  for (int i = 0; i < NODES; i++) strcat(text, "0\n");
  program_write("short.mtx", text);
  program_write("none.mtx", "%%MatrixMarket matrix array real general\n81 0\n");
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char line[160];
    snprintf(line, sizeof line, "solve --case elasticity --size 3 --preconditioner %s",
             cases[k].method);
    program p = run(line);
    assert_int_equal(p.status, 2);
    program_expect_in(line, p.out, cases[k].message);
    program_free(&p);
    snprintf(line, sizeof line, "compare --case elasticity --size 3 --methods none,%s",
             cases[k].method);
    p = run(line);
    assert_int_equal(p.status, 2);
    program_expect_in(line, p.out, "\nnone ");
    program_expect_in(line, p.out, cases[k].message);
    program_free(&p);
  }
  program_expect("solve --case elasticity --size 3 --preconditioner mg:null=none.mtx", 2,
                 "bisai: none.mtx: line 2: 0 columns; at least one is needed\n");
  program p = run("solve --case elasticity --size 3 --preconditioner mg:null=C:modes.mtx");
  assert_int_equal(p.status, 2);
  program_expect_in("a colon", p.err, "'modes.mtx' is not a key of mg (");
  program_expect_in("a colon", p.err, "); the name of a file cannot have a colon\n");
  program_free(&p);
}

/* 20³ nodes are enough for multigrid to be chosen. */
static void a_choice_is_repeated_with_its_vectors(void **state) {
  (void)state;
  static const char line[] = "solve --case elasticity --size 20 --write-null modes.mtx "
                             "--preconditioner auto:null=modes.mtx";
  program p = run(line);
  assert_int_equal(0, p.status);
  program_expect_in(line, p.out, "\nagain    --preconditioner mg:null=modes.mtx --solver cg\n");
  program_expect_in(line, p.out, "p.multigrid.null_vectors = null_vectors;");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_rigid_body_modes_of_one_element_are_those_written_by_hand),
      cmocka_unit_test(vectors_that_are_no_good_are_refused_by_name),
      cmocka_unit_test(a_choice_is_repeated_with_its_vectors),
      cmocka_unit_test(every_command_writes_the_same_vectors),
      cmocka_unit_test(padding_has_no_part_in_the_vectors),
      cmocka_unit_test(eliminated_nodes_have_no_rows_in_the_vectors),
      cmocka_unit_test(the_vectors_overwrite_no_other_file),
  };
  return cmocka_run_group_tests_name("cli_null_space", tests, program_setup, program_teardown);
}
