/* SPDX-License-Identifier: BSD-3-Clause */
/* The command-line program as scripts use it: exit statuses, messages, text, files. */
#include "support/program.h"
#include "support/support.h"

/* A zero 2 × 2 block on the diagonal, which block ILU(0) fills: rows 1–2 first. */
static const char saddle4[] = "%%MatrixMarket matrix coordinate real general\n4 4 9\n1 1 2\n2 2 "
                              "2\n1 3 1\n2 4 1\n3 1 1\n4 2 1\n"
                              "3 3 0\n4 4 0\n1 2 0.5\n";

static int setup(void **state) {
  program_setup(state);
  program_write("saddle4.mtx", saddle4);
  program_write("venkat50.mtx", laplace5);
  return 0;
}

static void help_and_version_go_to_stdout_and_exit_0(void **state) {
  (void)state;
  static const char *const options[] = {
      "--case",    "--size",           "--block-size", "--rhs",         "--tolerance",
      "--restart", "--max-iterations", "--backend",    "--threads",     "--methods",
      "--json",    "--plots",          "--ordering",   "--equilibrate", "--solver"};
  program p = run("compare --help");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    program_expect_in("compare --help", p.out, options[i]);
  program_free(&p);
  p = run("solve --help");
  assert_int_equal(p.status, 0);
  program_expect_in("solve --help", p.out, "--preconditioner");
  program_expect_in("solve --help", p.out, "--output");
  program_expect_in("solve --help", p.out, "gmres[:restart=M]");
  program_expect_in("solve --help", p.out, "idr[:s=S]");
  assert_null(strstr(p.out, "<solvers>"));
  program_free(&p);
  p = run("--version");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.out, "bisai " BISAI_VERSION "\n");
  program_free(&p);
  p = run("--help");
  assert_int_equal(p.status, 0);
  program_expect_in("--help", p.out, "compare");
  program_free(&p);
}

static void solve_says_by_its_exit_status_how_it_ended(void **state) {
  (void)state;
  program_expect("solve laplace5.mtx --block-size 1", 0, "");
  program_expect("solve --case cavity --size 8", 0, "");
  program_expect("solve --case cavity --size 8 --preconditioner none --max-iterations 3", 1, "");
  program_expect(
      "solve no_diagonal.mtx --block-size 1 --rhs first1.mtx --restart 1 --preconditioner none", 1,
      "bisai: no_diagonal: 4 of 4 diagonal entries are zero: try --preconditioner "
      "lu:matching=entries, then --solver idr:s=8 --preconditioner "
      "ilu:level=2:matching=entries\n"); /* stagnates */
  program_expect("solve no_diagonal.mtx --block-size 1 --preconditioner ilu", 3,
                 "bisai: no_diagonal: 4 of 4 diagonal entries are zero: try --preconditioner "
                 "lu:matching=entries, then --solver idr:s=8 --preconditioner "
                 "ilu:level=2:matching=entries\n");
  program_expect("solve saddle4.mtx --block-size 2 --preconditioner bjacobi", 3,
                 "bisai: saddle4: rows 3 to 4 have a zero diagonal and couple like a pressure: try "
                 "--preconditioner schur --restart 100, then "
                 "--preconditioner lu:matching=entries\n");
  program_expect("solve saddle4.mtx --block-size 2 --preconditioner ilu", 0, "");
  program_expect("solve half_zero.mtx --rhs ones --block-size 1 --preconditioner none", 3,
                 "bisai: half_zero: 1 row has only zeros: A is singular\n"); /* breaks down */
  program_expect("solve tiny_diagonal.mtx --block-size 1 --preconditioner isai:storage=fp16", 3,
                 "");
}

static void compare_exits_0_and_shows_failures_as_failures(void **state) {
  (void)state;
  program p = run("compare saddle4.mtx --block-size 2 --methods bjacobi,none,ilu");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_expect_in("the table", p.out, "singular_block\nnone ");
  program_expect_in("the table", p.out, "\nbjacobi: ");
  program_free(&p);
  p = run("compare no_diagonal.mtx --block-size 1 --methods ilu,isai");
  assert_int_equal(p.status, 0);
  program_expect_in("the table", p.out, "missing_diagonal\nisai:k=1 ");
  program_expect_in("the table", p.out, "No method converged.\n");
  program_expect_in("the table", p.out,
                    "\nilu: block row 0 has no diagonal block (block rows count from 0)\n");
  program_free(&p);
}

/* One step suffices for exact solves of a tridiagonal system, and for nothing else. */
static void weak_approximate_inverses_are_named_only_where_one_was_tried(void **state) {
  (void)state;
  static const char conclusion[] = "the approximate inverses tried are too weak for this system.\n";
  program p = run("compare laplace5.mtx --block-size 1 --max-iterations 1 --methods none,ilu,isai");
  program_expect_in("the table", p.out, conclusion);
  program_free(&p);
  p = run("compare laplace5.mtx --block-size 1 --max-iterations 1 --methods none,bjacobi,ilu");
  assert_null(strstr(p.out, conclusion));
  assert_null(strstr(p.out, "No method converged"));
  program_free(&p);
  /* beyond fp16: not tried */
  p = run("compare tiny_diagonal.mtx --block-size 1 --methods ilu,isai:storage=fp16");
  program_expect_in("the table", p.out, "overflow");
  assert_null(strstr(p.out, conclusion));
  program_free(&p);
}

/* What a set-up changed or left out is in the account and below the table. */
static void changes_by_the_set_up_are_said(void **state) {
  (void)state;
  static const char repaired[] =
      "4 singular diagonal blocks repaired by a shift, the first in block row 0 (from 0)\n";
  static const char advice[] = "The key shift=0.01 repairs singular and missing diagonal blocks.\n";
  program p = run("solve no_diagonal.mtx --block-size 1 --preconditioner bjacobi:shift=0.01");
  program_expect_in(
      "the account", p.out,
      "method   bjacobi shift=0.01, 4 diagonal blocks repaired, first in block row 0\n");
  program_expect_in("the account", p.out, "blocks   4 singular");
  program_expect_in("the account", p.out, repaired);
  program_free(&p);
  p = run("compare no_diagonal.mtx --block-size 1 --methods bjacobi:shift=0.01");
  program_expect_in("the table", p.out, "bjacobi:shift=0.01: 4 singular");
  assert_null(strstr(p.out, advice));
  program_free(&p);
  p = run("compare no_diagonal.mtx --block-size 1 --methods bjacobi");
  program_expect_in("the table", p.out, advice);
  program_free(&p);
  p = run("solve --case cavity --size 8 --preconditioner isai:k=3:drop=0.3:cap=3");
  program_expect_in("the account", p.out, " dropped before powering\n");
  program_expect_in("the account", p.out, " of NL and NU shortened, by ");
  program_expect_in("the account", p.out, " k=3 drop=0.3 cap=3 relax=0 ");
  program_free(&p);
}

static void orderings_and_scaling_are_said(void **state) {
  (void)state;
  program p = run("solve --case cavity --size 8 --preconditioner ilu --ordering rcm --equilibrate");
  assert_int_equal(p.status, 0);
  program_expect_in("the account", p.out,
                    "matrix   in rcm order, equilibrated, inside ilu, isai and sweeps\n");
  program_expect_in("the account", p.out, " blocks in L + U, ordering=rcm, equilibrated\n");
  program_expect_in("the account", p.out, "order    rcm, ");
  program_expect_in("the account", p.out, " (was 8), profile ");
  program_expect_in("the account", p.out, "scaling  rows and columns times powers of two from ");
  program_free(&p);
  p = run("solve --case cavity --size 8 --preconditioner ilu");
  program_expect_in("the account", p.out,
                    "order    natural, 15 levels of L and 15 of U, bandwidth 8, profile ");
  assert_null(strstr(p.out, "scaling"));
  program_free(&p);
}

static void one_of_a_kind_is_singular(void **state) {
  (void)state;
  program p = run("solve laplace5.mtx --block-size 5 --preconditioner ilu --max-iterations 1");
  assert_int_equal(p.status, 0);
  program_expect_in("the account", p.out, "laplace5: 1 block row of size 5, 1 block\n");
  program_expect_in("the account", p.out, "at most 1 iteration\n");
  program_expect_in("the account", p.out, "solve    1 iteration, ");
  program_free(&p);
}

/* The paper's size for a matrix that is known by name, unless auto is asked for. */
static void block_size_auto_means_the_automatic_choice_for_every_file(void **state) {
  (void)state;
  program p = run("info venkat50.mtx");
  program_expect_in("info", p.out, "block size   4, as in Ma et al. 2021\n");
  program_free(&p);
  p = run("info venkat50.mtx --block-size auto");
  program_expect_in("info", p.out, "block size   1, found in the pattern\n");
  program_free(&p);
  p = run("info --case cavity --size 4 --block-size auto");
  program_expect_in("info", p.out, "block size   3, the case's own\n");
  program_free(&p);
  p = run("info --case convdiff --size 4 --block-size auto");
  program_expect_in("info", p.out, "block size   4, the case's own\n");
  program_free(&p);
  program_expect("solve venkat50.mtx --block-size auto --tolerance 1e-3", 0, "");
  program_expect("solve venkat50.mtx --block-size auto", 0,
                 "bisai: venkat50: tolerance 1e-08, as in Ma et al. 2021\n");
  program_expect(
      "solve venkat50.mtx --tolerance 1e-3", 0,
      "bisai: venkat50: 5 rows are not a multiple of the block size 4: padded with 3 rows of "
      "the identity\n"
      "bisai: venkat50: block size 4, as in Ma et al. 2021\n");
}

/* Two rows a node, whose diagonal blocks are antidiagonal: no pivot of size 1 is there. */
static void a_size_that_does_better_is_named_after_a_failure(void **state) {
  (void)state;
  program_write("swapped.mtx", "%%MatrixMarket matrix coordinate real general\n"
                               "6 6 6\n1 2 1\n2 1 1\n3 4 1\n4 3 1\n5 6 1\n6 5 1\n");
  program_expect("solve swapped.mtx --block-size 1 --preconditioner ilu", 3,
                 "bisai: swapped: 6 diagonal blocks of size 1 cannot be inverted: try --block-size "
                 "2, which has none\n");
  program_expect("solve swapped.mtx --preconditioner ilu", 0, "");
}

/* Row 3 is empty: every block that has it is singular. */
static void sizes_that_cannot_do_better_are_not_named(void **state) {
  (void)state;
  program_write("empty_row.mtx", "%%MatrixMarket matrix coordinate real general\n"
                                 "6 6 6\n1 1 1\n2 2 1\n2 3 1\n4 4 1\n5 5 1\n6 6 1\n");
  program_expect("solve empty_row.mtx --preconditioner ilu", 3, "");
  program p = run("compare empty_row.mtx --methods ilu,mg");
  program_expect_in("the table", p.out, "mg: block row 2 is empty: the matrix is singular");
  assert_null(strstr(p.out, "shift=0.01"));
  program_free(&p);
}

static void padding_is_said_and_left_out_of_the_solution(void **state) {
  (void)state;
  program_expect(
      "solve laplace5.mtx --block-size 2 --rhs last6.mtx --output x.mtx --preconditioner ilu", 0,
      "bisai: laplace5: 5 rows are not a multiple of the block size 2: padded with 1 row of the "
      "identity\n");
  bisai_context *context = test_context(1);
  double x[5];
  EXPECT_OK(context, bisai_read_vector(context, "x.mtx", 5, x));
  const double exact[5] = {1, 2, 3, 4, 5};
  /* κ₂ = 13.9 and a residual of at most 2e-8·6, ‖A⁻¹‖₂ = 3.73: an error of at most 4.5e-7. */
  EXPECT_CLOSE(5, exact, x, 4.5e-7);
  bisai_context_destroy(&context);
}

static void no_solution_is_written_after_a_failed_set_up(void **state) {
  (void)state;
  program_expect("solve saddle4.mtx --block-size 2 --preconditioner bjacobi --output none.mtx", 3,
                 "bisai: saddle4: rows 3 to 4 have a zero diagonal and couple like a pressure: try "
                 "--preconditioner schur --restart 100, then "
                 "--preconditioner lu:matching=entries\n"
                 "bisai: --output: none.mtx: not written, because there is no solution\n");
  FILE *file = fopen("none.mtx", "r");
  assert_null(file);
}

static void info_counts_blocks_levels_and_patterns(void **state) {
  (void)state;
  program p = run("info --case cavity --size 16");
  assert_int_equal(p.status, 0);
  assert_string_equal(p.err, "");
  program_expect_in("info", p.out, "matrix       cavity: 768 rows, 10944 entries\n");
  program_expect_in("info", p.out, "block size   3, the case's own\n");
  program_expect_in(
      "info", p.out,
      "blocks       1216 in 256 block rows, at most 5 in one, 0 diagonal blocks missing\n");
  program_expect_in("info", p.out, "levels       31 for L, 31 for U");
  program_expect_in("info", p.out, "1472");
  program_expect_in("info", p.out, "2818");
  program_expect_in("info", p.out, "4490");
  /* 1216·76 + 4·257 + 16·768 bytes of A and 40·8·768 of vectors. */
  program_expect_in(
      "info", p.out,
      "                none          0.11              0.00        0.25        0.35\n");
  program_free(&p);
  p = run("info laplace5.mtx --block-size 2");
  assert_int_equal(p.status, 0);
  program_expect_in("info", p.out, "padding      1 row of the identity\n");
  program_free(&p);
}

/* Of 4 rows, row 3 and column 4 (from 1) have no entries, and row 2 zeros. */
static void an_empty_row_or_column_is_named(void **state) {
  (void)state;
  program_write("gap4.mtx",
                "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 1 2\n2 2 0\n4 1 1\n4 2 1\n"
                "4 3 1\n");
  program p = run("info gap4.mtx --block-size 1");
  program_expect_in(
      "info", p.out,
      "\nempty        block row 2; block column 3: the matrix is singular (counted from 0)\n");
  program_expect_in(
      "info", p.out,
      "\nzeros only   2 rows, first 1; column 3: the matrix is singular (counted from 0)\n");
  program_free(&p);
  p = run("info gap4.mtx --block-size 2");
  assert_null(strstr(p.out, "\nempty"));
  program_expect_in(
      "info", p.out,
      "\nzeros only   2 rows, first 1; column 3: the matrix is singular (counted from 0)\n");
  program_free(&p);
  p = run("info laplace5.mtx");
  assert_null(strstr(p.out, ": the matrix is singular"));
  program_free(&p);
  p = run("solve gap4.mtx --block-size 1 --preconditioner bjacobi:shift=0.01");
  assert_int_equal(p.status, 3);
  program_expect_in("the account", p.out, "block row 2 is empty: the matrix is singular");
  program_free(&p);
  p = run("solve gap4.mtx --block-size 1 --preconditioner none");
  assert_int_equal(p.status, 3);
  program_expect_in("the account", p.out, "block row 2 is empty: the matrix is singular");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help_and_version_go_to_stdout_and_exit_0),
      cmocka_unit_test(solve_says_by_its_exit_status_how_it_ended),
      cmocka_unit_test(compare_exits_0_and_shows_failures_as_failures),
      cmocka_unit_test(weak_approximate_inverses_are_named_only_where_one_was_tried),
      cmocka_unit_test(changes_by_the_set_up_are_said),
      cmocka_unit_test(orderings_and_scaling_are_said),
      cmocka_unit_test(one_of_a_kind_is_singular),
      cmocka_unit_test(block_size_auto_means_the_automatic_choice_for_every_file),
      cmocka_unit_test(a_size_that_does_better_is_named_after_a_failure),
      cmocka_unit_test(sizes_that_cannot_do_better_are_not_named),
      cmocka_unit_test(padding_is_said_and_left_out_of_the_solution),
      cmocka_unit_test(no_solution_is_written_after_a_failed_set_up),
      cmocka_unit_test(info_counts_blocks_levels_and_patterns),
      cmocka_unit_test(an_empty_row_or_column_is_named),
  };
  return cmocka_run_group_tests_name("cli", tests, setup, program_teardown);
}
