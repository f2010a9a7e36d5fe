/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai info --json: its keys, its values, and that it tells what the text tells. */
#include <math.h>

#include "results.h"

/* Rows 3 and 5 have no entry, row 2 has a zero. */
static const char gaps[] =
    "%%MatrixMarket matrix coordinate real general\n6 6 4\n1 1 2\n2 2 0\n4 4 1\n6 1 1\n";

static int setup(void **state) {
  program_setup(state);
  program_write("gaps.mtx", gaps);
  return 0;
}

/* The keys of an object, in order, which blanks separate. */
static void expect_keys(json_t *object, const char *keys) {
  char found[512] = "";
  const char *key;
  json_t *value;
  assert_true(json_is_object(object));
  json_object_foreach(object, key, value) {
    assert_true(strlen(found) + strlen(key) + 2 < sizeof found);
    strcat(found, *found ? " " : "");
    strcat(found, key);
  }
  assert_string_equal(found, keys);
}

static bool is_null(json_t *object, const char *key) {
  return json_is_null(json_object_get(object, key));
}

/* Entry i of the array `key`. */
static json_t *entry(json_t *root, const char *key, size_t i) {
  json_t *value = json_array_get(json_object_get(root, key), i);
  if (!value) fail_msg("'%s' has no entry %zu", key, i);
  return value;
}

static void json_has_exactly_the_keys_of_the_contract(void **state) {
  (void)state;
  json_t *root = results("info laplace5.mtx");
  expect_keys(
      root,
      "version matrix empty_blocks zeros levels study block_sizes patterns diagonal_blocks "
      "hierarchy mg_device_peak_bytes mg_repairs mg_error_factor cpr cpr_repairs cpr_error_factor "
      "iteration_bytes");
  assert_string_equal(text(root, "version"), BISAI_VERSION);
  expect_keys(json_object_get(root, "matrix"),
              "name rows entries block_size block_size_from padding block_rows blocks "
              "longest_row missing_diagonals asymmetry");
  expect_keys(json_object_get(root, "empty_blocks"), "rows first_row columns first_column");
  expect_keys(json_object_get(root, "zeros"), "rows first_row columns first_column");
  expect_keys(json_object_get(root, "levels"), "lower upper");
  assert_int_equal(json_array_size(json_object_get(root, "block_sizes")), 8);
  for (size_t i = 0; i < 8; i++)
    expect_keys(
        entry(root, "block_sizes", i),
        "block_size block_rows blocks filled bytes missing_diagonals singular_diagonals chosen");
  assert_int_equal(json_array_size(json_object_get(root, "patterns")), 3);
  for (size_t i = 0; i < 3; i++)
    expect_keys(entry(root, "patterns", i),
                "k lower_blocks upper_blocks longest_lower longest_upper");
  assert_int_equal(json_array_size(json_object_get(root, "diagonal_blocks")), 5);
  for (size_t i = 0; i < 5; i++)
    expect_keys(entry(root, "diagonal_blocks", i), "max blocks mean_rows largest bytes");
  assert_int_equal(json_array_size(json_object_get(root, "iteration_bytes")), 10);
  for (size_t i = 0; i < 10; i++)
    expect_keys(entry(root, "iteration_bytes", i), "method matrix preconditioner vectors all");
  json_decref(root);
}

/* The figures of a tridiagonal matrix of 5 rows, by hand. */
static void values_are_those_of_a_matrix_that_is_counted_by_hand(void **state) {
  (void)state;
  json_t *root = results("info laplace5.mtx --block-size 1"),
         *matrix = json_object_get(root, "matrix");
  assert_string_equal(text(matrix, "name"), "laplace5");
  assert_string_equal(text(matrix, "block_size_from"), "given");
  assert_int_equal(integer(matrix, "rows"), 5);
  assert_int_equal(integer(matrix, "entries"), 13);
  assert_int_equal(integer(matrix, "block_size"), 1);
  assert_int_equal(integer(matrix, "padding"), 0);
  assert_int_equal(integer(matrix, "block_rows"), 5);
  assert_int_equal(integer(matrix, "blocks"), 13);
  assert_int_equal(integer(matrix, "longest_row"), 3);
  assert_int_equal(integer(matrix, "missing_diagonals"), 0);
  assert_true(real(matrix, "asymmetry") == 0);
  assert_int_equal(integer(json_object_get(root, "levels"), "lower"), 5);
  assert_int_equal(integer(json_object_get(root, "levels"), "upper"), 5);
  assert_int_equal(integer(json_object_get(root, "zeros"), "rows"), 0);
  assert_true(is_null(json_object_get(root, "zeros"), "first_row"));
  /* Blocks of 2: three block rows, the last one padded, tridiagonal. */
  json_t *two = entry(root, "block_sizes", 1);
  assert_int_equal(integer(two, "block_rows"), 3);
  assert_int_equal(integer(two, "blocks"), 7);
  assert_int_equal(integer(two, "bytes"), 7 * (8 * 4 + 4));
  assert_true(fabs(real(two, "filled") - 13.0 / 28) < 1e-15); /* rounding of one division */
  assert_true(json_is_false(json_object_get(two, "chosen")));
  assert_true(json_is_true(json_object_get(entry(root, "block_sizes", 0), "chosen")));
  /* L^k has k subdiagonals. */
  static const int blocks[] = {9, 12, 14};
  for (size_t k = 0; k < 3; k++) {
    json_t *pattern = entry(root, "patterns", k);
    assert_int_equal(integer(pattern, "k"), k + 1);
    assert_int_equal(integer(pattern, "lower_blocks"), blocks[k]);
    assert_int_equal(integer(pattern, "upper_blocks"), blocks[k]);
    assert_int_equal(integer(pattern, "longest_lower"), k + 2);
    assert_int_equal(integer(pattern, "longest_upper"), k + 2);
  }
  json_t *none = entry(root, "iteration_bytes", 0), *isai = entry(root, "iteration_bytes", 5);
  assert_string_equal(text(none, "method"), "none");
  assert_int_equal(integer(none, "matrix"), 13 * 12 + 4 * 6 + 16 * 5);
  assert_int_equal(integer(none, "preconditioner"), 0);
  assert_int_equal(integer(none, "vectors"), 40 * 8 * 5);
  assert_int_equal(integer(none, "all"), 260 + 1600);
  assert_string_equal(text(isai, "method"), "isai:k=1");
  assert_int_equal(integer(isai, "preconditioner"), 2 * (9 * 12 + 4 * 6 + 16 * 5));
  for (size_t i = 0; i < 5; i++) {
    json_t *found = entry(root, "diagonal_blocks", i);
    assert_int_equal(integer(found, "max"), 2 << i);
    assert_true(integer(found, "largest") <= integer(found, "max"));
    /* of one division */
    assert_true(fabs(real(found, "mean_rows") * (double)integer(found, "blocks") - 5) < 1e-14);
  }
  json_decref(root);
}

/* Rows 3 and 4 are constraints of rows 1 and 2. */
static const char constrained[] =
    "%%MatrixMarket matrix coordinate real general\n5 5 10\n1 1 2\n2 2 4\n1 2 -1\n2 1 -1\n"
    "3 1 1\n1 3 1\n4 2 1\n2 4 1\n5 5 -3\n4 4 0\n";

static void what_the_entries_say_is_told(void **state) {
  (void)state;
  program_write("constrained.mtx", constrained);
  json_t *root = results("info constrained.mtx --block-size 1"),
         *study = json_object_get(root, "study"), *saddle = json_object_get(study, "saddle"),
         *diagonal = json_object_get(study, "diagonal"), *fields = json_object_get(study, "fields");
  expect_keys(study,
              "entries symmetry diagonal couplings null scales saddle order fields unknowns");
  expect_keys(saddle, "rows first_row last_row share inner zero_block components");
  assert_int_equal(integer(saddle, "rows"), 2);
  assert_int_equal(integer(saddle, "first_row"), 2);
  assert_int_equal(integer(saddle, "last_row"), 3);
  assert_true(json_is_true(json_object_get(saddle, "zero_block")));
  assert_int_equal(integer(diagonal, "positive"), 2);
  assert_int_equal(integer(diagonal, "first_negative"), 4);
  assert_true(json_is_true(json_object_get(diagonal, "mixed_signs")));
  assert_true(json_is_true(json_object_get(json_object_get(study, "symmetry"), "symmetric")));
  assert_int_equal(integer(json_object_get(study, "entries"), "nonzeros"), 9);
  assert_int_equal(integer(json_object_get(study, "entries"), "single_rows"), 1);
  assert_int_equal(integer(fields, "count"), 1);
  assert_true(is_null(fields, "agreement") && is_null(study, "unknowns"));
  json_decref(root);
  program p = run("info constrained.mtx --block-size 1");
  program_expect_in("info", p.out,
                    "\ndiagonal     2 positive, 1 negative, 2 zero, both signs in one component; "
                    "1 block missing, first 2; 1 block singular, first 3\n"
                    "dominance    60.0 % of the rows\n"
                    "couplings    50.0 % with the sign opposite to the diagonal, 0.0 % weak\n");
  program_expect_in("info", p.out,
                    "\nsaddle       2 rows with a zero on the diagonal, rows 2 to 3; a zero block\n"
                    "eliminated   1 row with a diagonal entry alone\n"
                    "scales       largest entries of rows 1.0e+00 to 4.0e+00, diagonal 2.0e+00 to "
                    "4.0e+00\norder        bandwidth 2, profile 1.0 block rows\n");
  program_free(&p);
}

/* A free chain in fields: three unknowns of a node, each a chain, and coupled to each other. */
static void singular_matrices_and_fields_are_told(void **state) {
  (void)state;
  enum { NODES = 12, FIELDS = 3 };
  FILE *out = fopen("fields.mtx", "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", NODES * FIELDS,
          NODES * FIELDS, FIELDS * FIELDS * (3 * NODES - 2));
  for (int f = 0; f < FIELDS; f++)
    for (int g = 0; g < FIELDS; g++)
      for (int k = 0; k < NODES; k++)
        for (int l = k > 0 ? k - 1 : 0; l <= k + 1 && l < NODES; l++) {
          const int ends = (k == 0) + (k == NODES - 1);
          const double chain = l == k ? 2 - ends : -1;
          fprintf(out, "%d %d %g\n", f * NODES + k + 1, g * NODES + l + 1,
                  f == g ? 3 * chain : chain);
        }
  fclose(out);
  program p = run("info fields.mtx --block-size 1");
  program_expect_in(
      "info", p.out,
      "\nnull space   A maps the constant in all rows to zero, its transpose maps the "
      "constant in all rows to zero\n");
  program_expect_in(
      "info", p.out,
      "\nfields       3, stored one after the other: rows k, k + 12, ... belong to one "
      "node\n");
  program_free(&p);
  json_t *root = results("info fields.mtx --block-size 2"),
         *fields = json_object_get(json_object_get(root, "study"), "fields");
  assert_int_equal(integer(fields, "count"), FIELDS);
  assert_true(real(fields, "agreement") == 1);
  json_decref(root);
}

static void what_makes_a_matrix_singular_is_told(void **state) {
  (void)state;
  json_t *root = results("info gaps.mtx --block-size 1"),
         *empty = json_object_get(root, "empty_blocks"), *zeros = json_object_get(root, "zeros");
  assert_int_equal(integer(empty, "rows"), 2);
  assert_int_equal(integer(empty, "first_row"), 2);
  assert_int_equal(integer(empty, "columns"), 3);
  assert_int_equal(integer(empty, "first_column"), 2);
  assert_int_equal(integer(zeros, "rows"), 3);
  assert_int_equal(integer(zeros, "first_row"), 1);
  assert_int_equal(integer(zeros, "columns"), 4);
  assert_int_equal(integer(zeros, "first_column"), 1);
  assert_int_equal(integer(json_object_get(root, "matrix"), "missing_diagonals"), 3);
  assert_int_equal(integer(entry(root, "block_sizes", 0), "missing_diagonals"), 3);
  /* the zero too */
  assert_int_equal(integer(entry(root, "block_sizes", 0), "singular_diagonals"), 4);
  assert_true(is_null(root, "diagonal_blocks"));
  json_decref(root);
}

/* What a method refuses without a shift is not shown as if it were accepted. */
static void a_hierarchy_that_needs_a_shift_says_so(void **state) {
  (void)state;
  enum { ROWS = 1200 };
  FILE *out = fopen("hole.mtx", "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", ROWS, ROWS,
          3 * ROWS - 2);
  for (int i = 1; i <= ROWS; i++) {
    fprintf(out, "%d %d %d\n", i, i, i == 8 || i == 9 ? 0 : 2);
    if (i > 1) fprintf(out, "%d %d -1\n", i, i - 1);
    if (i < ROWS) fprintf(out, "%d %d -1\n", i, i + 1);
  }
  fclose(out);
  program p = run("info hole.mtx --block-size 1");
  assert_int_equal(p.status, 0);
  program_expect_in(
      "info", p.out,
      "with shift=0.01: 2 singular diagonal blocks repaired, the first in block row 7 "
      "(from 0); without a shift mg refuses this matrix\nlevel 0  1200 block rows ");
  program_free(&p);
  json_t *root = results("info hole.mtx --block-size 1"),
         *repairs = json_object_get(root, "mg_repairs");
  assert_true(json_is_object(json_object_get(root, "hierarchy")));
  expect_keys(repairs, "shift repairs first_repair_row");
  assert_int_equal(integer(repairs, "repairs"), 2);
  assert_int_equal(integer(repairs, "first_repair_row"), 7);
  assert_true(is_null(root, "cpr_repairs"));
  json_decref(root);
  p = run("solve hole.mtx --block-size 1 --preconditioner mg");
  assert_int_equal(p.status, 3);
  program_expect_in("solve", p.out, "\nresult   singular_block: block row 7: ");
  program_free(&p);
  root = results("info laplace5.mtx");
  assert_true(is_null(root, "mg_repairs") && is_null(root, "cpr_repairs"));
  json_decref(root);
}

/* Diagonals of sizes over 8 are not studied. */
static void a_size_over_eight_has_a_line_of_its_own(void **state) {
  (void)state;
  json_t *root = results("info --case convdiff --size 8 --block-size 16"),
         *last = entry(root, "block_sizes", 8);
  assert_int_equal(json_array_size(json_object_get(root, "block_sizes")), 9);
  assert_int_equal(integer(last, "block_size"), 16);
  assert_true(json_is_true(json_object_get(last, "chosen")));
  assert_true(is_null(last, "missing_diagonals"));
  assert_true(is_null(last, "singular_diagonals"));
  json_decref(root);
  root = results("info --case cavity --size 5");
  assert_string_equal(text(json_object_get(root, "matrix"), "block_size_from"), "case");
  json_decref(root);
  root = results("info laplace5.mtx");
  assert_string_equal(text(json_object_get(root, "matrix"), "block_size_from"), "pattern");
  json_decref(root);
}

static void a_file_takes_the_json_beside_the_text(void **state) {
  (void)state;
  program alone = run("info laplace5.mtx");
  program both = run("info laplace5.mtx --json info.json");
  assert_int_equal(both.status, 0);
  assert_string_equal(both.err, "");
  assert_string_equal(both.out, alone.out);
  program_expect_in("info", both.out, "matrix       laplace5: 5 rows, 13 entries\n");
  program_free(&alone);
  program_free(&both);
  json_t *file = json_load_file("info.json", 0, NULL), *output = results("info laplace5.mtx");
  assert_non_null(file);
  assert_true(json_equal(file, output));
  json_decref(file);
  json_decref(output);
}

static void places_that_cannot_be_written_are_refused_first(void **state) {
  (void)state;
  program p = run("info laplace5.mtx --json ./laplace5.mtx");
  assert_int_equal(p.status, 2);
  assert_string_equal(p.out, "");
  assert_string_equal(p.err, "bisai: --json: ./laplace5.mtx: the same file as the matrix\n");
  program_free(&p);
  p = run("info nowhere.mtx --json no/such.json");
  assert_int_equal(p.status, 2);
  assert_string_equal(p.out, "");
  program_expect_in("info", p.err, "bisai: --json: no/such.json: ");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_has_exactly_the_keys_of_the_contract),
      cmocka_unit_test(values_are_those_of_a_matrix_that_is_counted_by_hand),
      cmocka_unit_test(what_the_entries_say_is_told),
      cmocka_unit_test(singular_matrices_and_fields_are_told),
      cmocka_unit_test(what_makes_a_matrix_singular_is_told),
      cmocka_unit_test(a_hierarchy_that_needs_a_shift_says_so),
      cmocka_unit_test(a_size_over_eight_has_a_line_of_its_own),
      cmocka_unit_test(a_file_takes_the_json_beside_the_text),
      cmocka_unit_test(places_that_cannot_be_written_are_refused_first),
  };
  return cmocka_run_group_tests(tests, setup, program_teardown);
}
