/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid in the command-line program: near-null-space vectors of a file, the hierarchy in the
 * text and in JSON. */
#include <math.h>

#include "results.h"

/* Without the rotations, coarse levels do not represent the modes of the clamped body. */
static void near_null_vectors_of_a_file_save_iterations(void **state) {
  (void)state;
  json_t *root = results("compare --case elasticity --size 12 --solver cg --write-null modes.mtx "
                         "--methods mg,mg:null=modes.mtx,mg:null=components");
  const double without = number(run_of(root, 0), "iterations");
  assert_true(number(run_of(root, 1), "iterations") < 0.75 * without);
  assert_true(number(run_of(root, 2), "iterations") == without);
  assert_string_equal(text(run_of(root, 0), "null_vectors"), "components");
  assert_string_equal(text(run_of(root, 1), "null_vectors"), "modes.mtx");
  const json_t *hierarchy = json_object_get(run_of(root, 1), "hierarchy");
  const json_t *second = json_array_get(json_object_get(hierarchy, "levels"), 1);
  assert_true(number(second, "block_size") == 6);
  json_decref(root);
}

static void the_file_of_the_vectors_is_named_in_the_label(void **state) {
  (void)state;
  program_expect("convert --case elasticity --size 4 A.mtx --write-null modes.mtx", 0, "");
  program p = run("compare A.mtx --block-size 3 --methods mg:null=./modes.mtx:cycle=v");
  assert_int_equal(p.status, 0);
  program_expect_in("compare", p.out, "mg:cycle=v:null=./modes.mtx ");
  program_free(&p);
}

/* Blocks of 4 pad the 81 rows of the case. The vectors have no rows for padding. */
static void vectors_go_with_padded_matrices(void **state) {
  (void)state;
  json_t *root = results("solve --case elasticity --size 3 --block-size 4 --write-null modes.mtx "
                         "--preconditioner mg:coarsest=20:null=modes.mtx");
  assert_true(json_is_true(json_object_get(run_of(root, 0), "converged")));
  json_decref(root);
}

static void faults_of_the_file_of_vectors_are_named(void **state) {
  (void)state;
  program_write("short.mtx", "%%MatrixMarket matrix array real general\n5 2\n1\n");
  program_write("wide.mtx", "%%MatrixMarket matrix array real general\n6 33\n");
  program_expect("solve laplace5.mtx --preconditioner mg:null=", 2,
                 "bisai: --preconditioner: mg:null=: null must be components or a file\n");
  program_expect("solve laplace5.mtx --preconditioner mg:null", 2,
                 "bisai: --preconditioner: mg:null: 'null' needs a value\n");
  program_expect("solve laplace5.mtx --preconditioner mg:null=a.mtx:null=b.mtx", 2,
                 "bisai: --preconditioner: mg:null=a.mtx:null=b.mtx: 'null' is given twice\n");
  program_expect("solve laplace5.mtx --preconditioner mg:null=none.mtx", 2,
                 "bisai: cannot open none.mtx: No such file or directory\n");
  program_expect("solve laplace5.mtx --preconditioner mg:null=short.mtx", 2,
                 "bisai: short.mtx: line 3: the file ends after 1 of 10 entries\n");
  program_expect("compare --case cavity --size 3 --methods ilu,mg:null=wide.mtx", 2,
                 "bisai: wide.mtx: line 2: 33 columns; at most 32 are possible\n");
  program_expect("compare --case cavity --size 3 --methods mg:null=short.mtx", 2,
                 "bisai: short.mtx: line 2: a vector of 5 values; 27 are needed\n");
}

static void results_do_not_overwrite_the_file_of_vectors(void **state) {
  (void)state;
  program_expect("solve laplace5.mtx --preconditioner mg:null=x.mtx --output ./x.mtx", 2,
                 "bisai: --output: ./x.mtx: the same file as null=\n");
  program_expect("compare laplace5.mtx --methods ilu,mg:null=x.json --json x.json", 2,
                 "bisai: --json: x.json: the same file as null=\n");
}

static void complexities_are_those_of_the_levels(void **state) {
  (void)state;
  json_t *root = results("solve --case cavity --size 40 --preconditioner mg:coarsest=100");
  const json_t *hierarchy = json_object_get(run_of(root, 0), "hierarchy");
  const json_t *levels = json_object_get(hierarchy, "levels"), *level;
  double values = 0, rows = 0;
  size_t l;
  assert_true(json_array_size(levels) > 2);
  json_array_foreach(levels, l, level) {
    const double bs = number(level, "block_size");
    values += number(level, "blocks") * bs * bs;
    rows += number(level, "block_rows") * bs;
  }
  assert_true(number(json_array_get(levels, 0), "blocks") == 7840);
  assert_true(fabs(number(hierarchy, "operator_complexity") - values / (7840 * 9)) < 1e-12);
  assert_true(fabs(number(hierarchy, "grid_complexity") - rows / 4800) < 1e-12);
  assert_string_equal(text(hierarchy, "smoother"), "jacobi");
  assert_string_equal(text(hierarchy, "nodes"), "block");
  assert_true(json_is_false(json_object_get(hierarchy, "symmetric")));
  assert_true(json_is_true(json_object_get(hierarchy, "coarsest_inverted")));
  assert_string_equal(text(hierarchy, "ended_by"), "rows");
  assert_true(number(hierarchy, "peak_bytes") >= number(hierarchy, "bytes"));
  json_decref(root);
}

static void other_methods_have_no_hierarchy(void **state) {
  (void)state;
  json_t *root = results("compare laplace5.mtx --methods none,bjacobi,ilu,isai");
  for (size_t i = 0; i < 4; i++)
    assert_true(json_is_null(json_object_get(run_of(root, i), "hierarchy")));
  json_decref(root);
}

/* The coarsest level is at the end of the list. */
static void the_text_has_a_line_for_each_level(void **state) {
  (void)state;
  static const char *const lines[] = {"solve --case reaction --size 24 --preconditioner mg",
                                      "info --case reaction --size 24"};
  for (int k = 0; k < 2; k++) {
    program p = run(lines[k]);
    assert_int_equal(p.status, 0);
    program_expect_in(lines[k], p.out, "\nlevel 0  576 block rows of size 2, 2784 blocks, ");
    program_expect_in(lines[k], p.out, "\nlevel 1  ");
    program_expect_in(lines[k], p.out, " blocks, inverted\nlevels   cycle ");
    program_expect_in(lines[k], p.out, "smoother chebyshev, nodes block, A is symmetric\n");
    program_expect_in(lines[k], p.out, "\n         matrices of at most 171 rows are not ");
    program_free(&p);
  }
}

/* The sum over all arrays is what the program says of the hierarchy. */
static void the_memory_of_the_levels_is_told_array_by_array(void **state) {
  (void)state;
  json_t *root = results("info --case reaction --size 24"),
         *hierarchy = json_object_get(root, "hierarchy"), *level, *part;
  const char *word;
  size_t l;
  double bytes = 0;
  json_array_foreach(json_object_get(hierarchy, "levels"), l, level) {
    json_object_foreach(json_object_get(level, "memory"), word, part) {
      bisai_multigrid_part known;
      assert_true(bisai_multigrid_part_parse(word, &known));
      assert_true(number(part, "bytes") > 0 && number(part, "reads") >= 0);
      bytes += number(part, "bytes");
    }
  }
  assert_true(bytes == number(hierarchy, "bytes"));
  json_decref(root);
  program p = run("info --case reaction --size 24 --memory");
  assert_int_equal(p.status, 0);
  program_expect_in("info --memory", p.out, "\n  inverted diagonal blocks ");
  program_expect_in("info --memory", p.out, "\n            most in set-up ");
  program_free(&p);
}

static void matrices_are_compared_with_mg_too(void **state) {
  (void)state;
  static const struct {
    const char *line;
    size_t count;
  } comparisons[] = {{"compare --case cavity --size 4", 8},
                     {"compare --case convdiff --size 4", 8},
                     {"compare --case elasticity --size 3 --solver cg", 8},
                     {"compare --case reaction --size 8 --solver cg", 8},
                     {"compare --case reservoir --size 4", 9},
                     {"compare laplace5.mtx --solver gmres", 8}};
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    json_t *root = results(comparisons[i].line);
    const size_t count = json_array_size(json_object_get(root, "runs"));
    assert_int_equal(count, comparisons[i].count);
    const bool seventh = strcmp(text(run_of(root, 6), "method"), "mg") == 0,
               cpr = strcmp(text(run_of(root, 7), "method"), "cpr") == 0,
               last = strcmp(text(run_of(root, count - 1), "method"), "auto") == 0;
    assert_true(seventh && last);
    assert_int_equal(cpr, count > 8);
    json_decref(root);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(near_null_vectors_of_a_file_save_iterations),
      cmocka_unit_test(the_file_of_the_vectors_is_named_in_the_label),
      cmocka_unit_test(vectors_go_with_padded_matrices),
      cmocka_unit_test(faults_of_the_file_of_vectors_are_named),
      cmocka_unit_test(results_do_not_overwrite_the_file_of_vectors),
      cmocka_unit_test(complexities_are_those_of_the_levels),
      cmocka_unit_test(other_methods_have_no_hierarchy),
      cmocka_unit_test(the_text_has_a_line_for_each_level),
      cmocka_unit_test(the_memory_of_the_levels_is_told_array_by_array),
      cmocka_unit_test(matrices_are_compared_with_mg_too),
  };
  return cmocka_run_group_tests_name("cli_multigrid", tests, program_setup, program_teardown);
}
