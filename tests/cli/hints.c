/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program proposes after a failure. Each proposal on a regular system is tried here: it
 * solves the system. */
#include <stdio.h>

#include "support/program.h"
#include "support/support.h"

#define CG "--solver cg --preconditioner mg"
#define MG "--preconditioner mg"
#define IDR "--solver idr:s=8 --preconditioner ilu:level=2:shift=0.01"
#define LU "--preconditioner lu"
#define MATCHED_LU "--preconditioner lu:matching=entries"
#define SCHUR "--preconditioner schur --restart 100"
#define MATCHED_IDR "--solver idr:s=8 --preconditioner ilu:level=2:matching=entries"
#define FAIL "--block-size 1 --restart 2 --max-iterations 300 --preconditioner none"

/* Diffusion and convection on a line of n points. The row sums are 0 but for the ends, where
 * `fixed` is added to the diagonal. `first` is the diagonal entry of row 1 unless it is 0. */
static void write_line(const char *path, int n, double down, double up, double fixed,
                       double first) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, 3 * n - 2);
  for (int i = 1; i <= n; i++) {
    const double end = i == 1 ? fixed + up - down - up : i == n ? fixed + down - down - up : 0;
    if (i > 1) fprintf(file, "%d %d %.17g\n", i, i - 1, -down);
    fprintf(file, "%d %d %.17g\n", i, i, i == 1 && first != 0 ? first : down + up + end);
    if (i < n) fprintf(file, "%d %d %.17g\n", i, i + 1, -up);
  }
  assert_int_equal(fclose(file), 0);
}

/* Two unknowns in each of n nodes, the second with a zero on the diagonal: B = 1, and velocities
 * that are coupled along a line. */
static void write_saddle(const char *path, int n) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", 2 * n, 2 * n,
          5 * n - 2 + n - 1);
  for (int i = 0; i < n; i++) {
    fprintf(file, "%d %d 4\n%d %d 1\n%d %d -1\n", 2 * i + 1, 2 * i + 1, 2 * i + 1, 2 * i + 2,
            2 * i + 2, 2 * i + 1);
    if (i == 0) continue;
    fprintf(file, "%d %d -2\n%d %d -1.5\n%d %d 0.5\n", 2 * i + 1, 2 * i - 1, 2 * i - 1, 2 * i + 1,
            2 * i + 2, 2 * i - 1);
  }
  assert_int_equal(fclose(file), 0);
}

/* Groups of 4 to 6 points on a line, each with a multiplier, which fixes the sum of their values.
 * The multipliers are the last rows, or those at the ends of the groups. */
static void write_multipliers(const char *path, int groups, bool last) {
  enum { LEAST = 4, SIZES = 3 };
  FILE *file = fopen(path, "w");
  int points = 0, place = 1, previous = 0;
  for (int g = 0; g < groups; g++) points += LEAST + g % SIZES;
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", points + groups,
          points + groups, points + 2 * (points - 1) + 2 * points);
  for (int g = 0; g < groups; g++) {
    const int size = LEAST + g % SIZES, multiplier = last ? points + g + 1 : place + size;
    for (int i = 0; i < size; previous = place++, i++) {
      fprintf(file, "%d %d 2\n%d %d 1\n%d %d 1\n", place, place, place, multiplier, multiplier,
              place);
      if (previous > 0) fprintf(file, "%d %d -1\n%d %d -1\n", place, previous, previous, place);
    }
    place += !last;
  }
  assert_int_equal(fclose(file), 0);
}

/* Two unknowns in each of n nodes on a line, field by field. `held`: the second one is eliminated
 * in every tenth node. */
static void write_fields(const char *path, int n, bool held) {
  FILE *file = fopen(path, "w");
  int count = 0, entries = 0;
  int *place = malloc(2 * (size_t)n * sizeof *place);
  assert_true(file && place);
  for (int c = 0; c < 2; c++)
    for (int i = 0; i < n; i++) {
      const bool left_out = held && c == 1 && i % 10 == 0;
      count += !left_out;
      place[2 * i + c] = left_out ? 0 : count;
    }
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %20s\n", count, count, "");
  for (int i = 0; i < 4 * n; i++)
    for (int away = -1; away <= 1; away++) {
      const int k = i / 4, j = k + away, r = i / 2 % 2, c = i % 2;
      if (j < 0 || j >= n || !place[2 * k + r] || !place[2 * j + c]) continue;
      fprintf(file, "%d %d %g\n", place[2 * k + r], place[2 * j + c],
              (away == 0 ? 2 : -1) * (r == c ? 1 : 5e-4));
      entries++;
    }
  rewind(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d", count, count, entries);
  assert_int_equal(fclose(file), 0);
  free(place);
}

static int setup(void **state) {
  program_setup(state);
  write_line("definite.mtx", 2000, 1, 1, 1, 0);
  write_line("negative.mtx", 2000, -1, -1, -1, 0);
  write_line("skewed.mtx", 2000, 1.01, 1, 1, 0);
  write_line("mixed.mtx", 2000, 1, 1, 1, -3);
  write_line("singular.mtx", 2000, 1, 1, 0, 0);
  write_saddle("saddle.mtx", 400);
  write_multipliers("last.mtx", 99, true);
  write_multipliers("scattered.mtx", 99, false);
  write_fields("fields.mtx", 999, false);
  write_fields("held.mtx", 999, true);
  return 0;
}

static void expect_hint(const char *line, const char *hint) {
  program p = run(line);
  if (p.status == 0 || strcmp(p.err, hint) != 0)
    fail_msg("bisai %s\nexit status %d\nstderr: %s\nexpected: %s", line, p.status, p.err, hint);
  program_free(&p);
}

static void a_definite_matrix_gets_cg_with_mg(void **state) {
  (void)state;
  expect_hint("solve definite.mtx " FAIL,
              "bisai: definite: A is symmetric with a positive diagonal: try " CG ", then " IDR
              "\n");
  expect_hint("solve negative.mtx " FAIL,
              "bisai: negative: A is symmetric with a negative diagonal: try " CG ", then " IDR
              "\n");
  program_expect("solve definite.mtx --block-size 1 " CG, 0, "");
  program_expect("solve definite.mtx --block-size 1 " IDR, 0, "");
  program_expect("solve negative.mtx --block-size 1 " CG, 0, "");
}

static void other_matrices_with_diagonals_of_one_sign_get_mg(void **state) {
  (void)state;
  expect_hint("solve skewed.mtx " FAIL,
              "bisai: skewed: A is not symmetric: try " MG ", then " IDR "\n");
  program_expect("solve skewed.mtx --block-size 1 " MG, 0, "");
  program_expect("solve skewed.mtx --block-size 1 " IDR, 0, "");
}

static void what_was_tried_is_not_proposed(void **state) {
  (void)state;
  expect_hint("solve skewed.mtx --block-size 1 --restart 1 --max-iterations 300 --tolerance 1e-16 "
              "--preconditioner mg:levels=1",
              "bisai: skewed: A is not symmetric: try " IDR ", then " LU "\n");
}

static void an_indefinite_matrix_gets_complete_factors(void **state) {
  (void)state;
  expect_hint("solve mixed.mtx " FAIL,
              "bisai: mixed: 1 of 2000 diagonal entries are negative, so that A may be indefinite: "
              "try " IDR ", then " LU "\n");
  program_expect("solve mixed.mtx --block-size 1 " LU, 0, "");
  expect_hint("solve mixed.mtx --block-size 1 --tolerance 1e-16 --solver idr:s=8 "
              "--preconditioner ilu:level=200",
              "bisai: mixed: 1 of 2000 diagonal entries are negative, so that A may be indefinite: "
              "try " LU "\n");
}

static void zeros_on_the_diagonal_get_a_shift_or_a_matching(void **state) {
  (void)state;
  static const char hint[] =
      "bisai: saddle: 400 diagonal blocks of size 1 cannot be inverted: try --block-size 2, which "
      "has none\n";
  expect_hint("solve saddle.mtx --block-size 1 --preconditioner ilu", hint);
  program_expect("solve saddle.mtx --block-size 2 --preconditioner ilu", 0, "");
  /* one of the rows with zeros depends on the other */
  program_write("zeros.mtx", "%%MatrixMarket matrix coordinate real general\n"
                             "4 4 9\n1 1 4\n2 2 4\n1 3 1\n2 4 1\n3 1 3\n4 2 1\n1 2 1\n2 1 1\n"
                             "3 4 1\n");
  expect_hint("solve zeros.mtx --block-size 1 --preconditioner ilu",
              "bisai: zeros: rows 3 to 4 have a zero diagonal, as in saddle points: try " IDR
              ", then " MATCHED_LU "\n");
  program_expect("solve zeros.mtx --block-size 1 " MATCHED_LU, 0, "");
  program_expect("solve zeros.mtx --block-size 1 " IDR, 0, "");
  expect_hint("solve no_diagonal.mtx --block-size 1 --preconditioner ilu",
              "bisai: no_diagonal: 4 of 4 diagonal entries are zero: try " MATCHED_LU
              ", then " MATCHED_IDR "\n");
  program_expect("solve no_diagonal.mtx --block-size 1 " MATCHED_LU, 0, "");
  program_expect("solve no_diagonal.mtx --block-size 1 " MATCHED_IDR, 0, "");
}

static void rows_like_those_of_a_pressure_get_schur(void **state) {
  (void)state;
  expect_hint(
      "solve last.mtx --block-size 1 --preconditioner ilu",
      "bisai: last: rows 496 to 594 have a zero diagonal and couple like a pressure: try " SCHUR
      ", then " MATCHED_LU "\n");
  program_expect("solve last.mtx --block-size 1 " SCHUR, 0, "");
  program_expect("solve last.mtx --block-size 1 " MATCHED_LU, 0, "");
  expect_hint(
      "solve scattered.mtx --block-size 3 --restart 1 --max-iterations 300 --preconditioner none",
      "bisai: scattered: 99 of 594 diagonal entries are zero, and their rows couple like a "
      "pressure: try " SCHUR ", then " MATCHED_LU "\n");
  program_expect("solve scattered.mtx --block-size 3 " SCHUR, 0, "");
  expect_hint("solve last.mtx --block-size 1 --tolerance 1e-18 --restart 5 --max-iterations 300 "
              "--preconditioner schur",
              "bisai: last: rows 496 to 594 have a zero diagonal and couple like a pressure: "
              "try " MATCHED_LU ", then " IDR "\n");
}

static void a_singular_matrix_says_whether_b_is_consistent(void **state) {
  (void)state;
  expect_hint("solve singular.mtx --rhs ones " FAIL,
              "bisai: singular: A is singular, and A x = b has no solution: the columns of A have "
              "the sum zero in all rows, and b has not (1.0e+00 of its norm): try --project "
              "constants\n");
  program_expect("solve singular.mtx --rhs ones --block-size 1 --project constants " CG, 0, "");
  expect_hint("solve singular.mtx " FAIL,
              "bisai: singular: A is singular: it maps the constant in all rows to zero; b is "
              "consistent\n"
              "bisai: singular: A is symmetric with a positive diagonal: try " CG ", then " IDR
              "\n");
  program_expect("solve singular.mtx --block-size 1 " CG, 0, "");
}

static void poorly_filled_blocks_are_named(void **state) {
  (void)state;
  program p = run("solve definite.mtx --block-size 8 --max-iterations 300 --preconditioner none "
                  "--restart 2");
  program_expect_in("the hint", p.err, "bisai: definite: blocks of size 8 store ");
  program_expect_in("the hint", p.err,
                    " times the bytes of blocks of size 1: try --block-size 1\n");
  program_free(&p);
}

static void fields_and_nodes_are_proposed(void **state) {
  (void)state;
  static const char rest[] = "A is symmetric with a positive diagonal: try " CG ", then " IDR "\n";
  char hint[500];
  snprintf(hint, sizeof hint,
           "bisai: fields: the unknowns are stored in 2 fields: try --fields 2\nbisai: fields: %s",
           rest);
  expect_hint("solve fields.mtx " FAIL, hint);
  program_expect("solve fields.mtx --fields 2 " CG, 0, "");
  program_expect("solve fields.mtx --fields auto " CG, 0,
                 "bisai: fields: 999 nodes of 2 unknowns\n");
  snprintf(hint, sizeof hint,
           "bisai: held: groups of rows have the same columns, as the unknowns of a node: try "
           "--nodes auto\nbisai: held: %s",
           rest);
  expect_hint("solve held.mtx " FAIL, hint);
  program_expect("solve held.mtx --nodes auto " CG, 0,
                 "bisai: held: 999 nodes of at most 2 unknowns, padded with 100 rows of the "
                 "identity\n");
}

static void nothing_is_said_without_need(void **state) {
  (void)state;
  program p = run("compare definite.mtx --block-size 1 --methods none,ilu --restart 2");
  assert_string_equal(p.err, ""); /* ilu converged */
  program_free(&p);
  program_expect("solve definite.mtx --block-size 1 --preconditioner none --max-iterations 20", 1,
                 "");
  program_expect("solve --case cavity --size 20 --preconditioner none --max-iterations 400 "
                 "--restart 1",
                 1, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_definite_matrix_gets_cg_with_mg),
      cmocka_unit_test(other_matrices_with_diagonals_of_one_sign_get_mg),
      cmocka_unit_test(what_was_tried_is_not_proposed),
      cmocka_unit_test(an_indefinite_matrix_gets_complete_factors),
      cmocka_unit_test(zeros_on_the_diagonal_get_a_shift_or_a_matching),
      cmocka_unit_test(rows_like_those_of_a_pressure_get_schur),
      cmocka_unit_test(a_singular_matrix_says_whether_b_is_consistent),
      cmocka_unit_test(poorly_filled_blocks_are_named),
      cmocka_unit_test(fields_and_nodes_are_proposed),
      cmocka_unit_test(nothing_is_said_without_need),
  };
  return cmocka_run_group_tests_name("cli_hints", tests, setup, program_teardown);
}
