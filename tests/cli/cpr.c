/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR in the command-line program: METHOD with the keys of its stages, files of weights, the
 * pressure in the text and in JSON. */
#include <math.h>

#include "results.h"

enum { SIDE = 12, CELLS = SIDE * SIDE };

/* Writes block (i, j) of an equation of water and one of oil; the unknowns are saturation and
 * pressure. */
static void write_block(FILE *out, int i, int j, double water, double oil, double pressure) {
  fprintf(out, "%d %d %.17g\n%d %d %.17g\n", 2 * i + 1, 2 * j + 1, water, 2 * i + 2, 2 * j + 1,
          oil);
  fprintf(out, "%d %d %.17g\n%d %d %.17g\n", 2 * i + 1, 2 * j + 2, 0.3 * pressure, 2 * i + 2,
          2 * j + 2, 0.7 * pressure);
}

/* Two phases on a grid: the pressure diffuses, the saturation is carried along the rows. */
static void write_reservoir(void) {
  FILE *out = fopen("two_phases.mtx", "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", 2 * CELLS, 2 * CELLS,
          4 * (CELLS + 4 * SIDE * (SIDE - 1)));
  for (int i = 0; i < CELLS; i++) {
    const int x = i % SIDE, y = i / SIDE;
    write_block(out, i, i, 1.5, -1.5, 4.001);
    if (x > 0) write_block(out, i, i - 1, -0.5, 0.5, -1);
    if (x < SIDE - 1) write_block(out, i, i + 1, 0, 0, -1);
    if (y > 0) write_block(out, i, i - SIDE, 0, 0, -1);
    if (y < SIDE - 1) write_block(out, i, i + SIDE, 0, 0, -1);
  }
  assert_int_equal(fclose(out), 0);
}

/* Writes an array of `rows` rows, which repeat two rows of `columns` values. */
static void write_rows(const char *path, int rows, int columns, const double *values) {
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns);
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < rows; i++) fprintf(out, "%.17g\n", values[i % 2 * columns + c]);
  assert_int_equal(fclose(out), 0);
}

static int setup(void **state) {
  const int failed = program_setup(state);
  write_reservoir();
  return failed;
}

/* The message about a METHOD. */
static void expect_refused(const char *method, const char *message) {
  char line[1024], expected[1024];
  snprintf(line, sizeof line, "solve two_phases.mtx --preconditioner %s", method);
  snprintf(expected, sizeof expected, "bisai: --preconditioner: %s\n", message);
  program_expect(line, 2, expected);
}

static void a_section_takes_its_own_keys_only(void **state) {
  (void)state;
  expect_refused("cpr:strength=0.1",
                 "cpr:strength=0.1: 'strength' is not a key of cpr (pressure, additive, keep, "
                 "weights, storage, first, second); it is one of first=mg");
  expect_refused("cpr:k=2", "cpr:k=2: 'k' is not a key of cpr (pressure, additive, keep, weights, "
                            "storage, first, second); it is one of first=mg");
  expect_refused("cpr:second=ilu:pressure=1",
                 "cpr:second=ilu:pressure=1: 'pressure' is not a key of second=ilu (level, pivots, "
                 "updates, shift, "
                 "ordering, matching, equilibrate, first, second); keys of cpr come before first= "
                 "and second=");
  expect_refused("cpr:second=ilu:cap=2", "cpr:second=ilu:cap=2: 'cap' is not a key of second=ilu "
                                         "(level, pivots, updates, shift, ordering, matching, "
                                         "equilibrate, first, second)");
  expect_refused("cpr:second=auto:relax=2",
                 "cpr:second=auto:relax=2: 'relax' is not a key of second=auto (first, second); "
                 "it is one of first=mg");
  expect_refused("cpr:second=isai:factors=petsc",
                 "cpr:second=isai:factors=petsc: 'factors' is not a key of second=isai (of, k, "
                 "symmetric, relax, storage, drop, cap, level, pivots, updates, shift, "
                 "ordering, matching, equilibrate, first, second)");
  expect_refused("ilu:second=isai",
                 "ilu:second=isai: 'second' is not a key of ilu (level, pivots, updates, shift, "
                 "ordering, matching, equilibrate, factors, apply)");
}

static void stages_are_named_once_and_rightly(void **state) {
  (void)state;
  expect_refused("cpr:first=ilu", "cpr:first=ilu: first must be mg");
  expect_refused("cpr:first", "cpr:first: 'first' needs a value");
  expect_refused("cpr:second", "cpr:second: 'second' needs a value");
  expect_refused("cpr:second=mg",
                 "cpr:second=mg: second must be auto, isai, ilu, sweeps or bjacobi");
  expect_refused("cpr:first=mg:first=mg", "cpr:first=mg:first=mg: 'first' is given twice");
  expect_refused("cpr:second=ilu:first=mg:second=ilu",
                 "cpr:second=ilu:first=mg:second=ilu: 'second' is given twice");
  expect_refused("cpr:second=sweeps",
                 "cpr:second=sweeps: second=sweeps needs its number, as in second=sweeps:n=3");
  expect_refused("cpr:first=mg:k=1:k=2", "cpr:first=mg:k=1:k=2: 'k' is given twice");
  expect_refused("cpr:pressure=32",
                 "cpr:pressure=32: pressure must be auto or an integer from 0 to 31");
  expect_refused("cpr:first=mg:complexity=0.5",
                 "cpr:first=mg:complexity=0.5: complexity must be auto or a number from 1 to "
                 "1000000");
  expect_refused("cpr:additive=1", "cpr:additive=1: 'additive' takes no value");
  expect_refused("cpr:second=bjacobi:digits=3",
                 "cpr:second=bjacobi:digits=3: digits needs storage=adaptive");
  expect_refused("cpr:weights=a.mtx:storage=b.mtx",
                 "cpr:weights=a.mtx:storage=b.mtx: weights and storage: only one of them can be "
                 "given");
}

/* The methods that both labels name have the same options. */
static void expect_label(const char *method, const char *label) {
  char line[1024], cell[512];
  snprintf(line, sizeof line, "compare two_phases.mtx --methods %s", method);
  snprintf(cell, sizeof cell, "\n%s ", label);
  program p = run(line);
  program_expect_in(line, p.out, cell);
  program_free(&p);
  snprintf(line, sizeof line, "compare two_phases.mtx --methods %s,%s", method, label);
  json_t *root = results(line), *given = run_of(root, 0), *again = run_of(root, 1);
  static const char *const keys[] = {"method",  "pressure", "additive", "keep_pressure", "weights",
                                     "storage", "first",    "second",   "iterations"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    assert_non_null(json_object_get(given, keys[i]));
    assert_true(json_equal(json_object_get(given, keys[i]), json_object_get(again, keys[i])));
  }
  json_decref(root);
}

static void a_label_is_the_method_that_it_names(void **state) {
  (void)state;
  const double sum[] = {1, 1};
  write_rows("sum.mtx", 2 * CELLS, 1, sum);
  expect_label("cpr", "cpr");
  expect_label("cpr:pressure=auto:first=mg:second=auto", "cpr");
  expect_label("cpr:second=isai", "cpr:second=isai:k=1");
  expect_label("cpr:second=sweeps:n=2:first=mg:n=3:smoother=sweeps",
               "cpr:first=mg:smoother=sweeps:n=3:second=sweeps:n=2");
  expect_label("cpr:keep:pressure=1:additive:first=mg:keep:k=2:smoother=isai:second=isai:k=2:"
               "storage=fp32",
               "cpr:pressure=1:additive:keep:first=mg:smoother=isai:keep:k=2:second=isai:k=2:"
               "storage=fp32");
  expect_label(
      "cpr:weights=./sum.mtx:second=bjacobi:shift=0.5:max=4:first=mg:pre=2:complexity=auto",
      "cpr:weights=./sum.mtx:first=mg:pre=2:second=bjacobi:max=4:shift=0.5");
}

static void the_pressure_is_found_and_told(void **state) {
  (void)state;
  json_t *root = results("compare two_phases.mtx --methods cpr,cpr:pressure=1,cpr:pressure=0,ilu");
  json_t *found = json_object_get(run_of(root, 0), "cpr"),
         *given = json_object_get(run_of(root, 1), "cpr"),
         *ellipticity = json_object_get(found, "ellipticity");
  assert_true(number(found, "pressure") == 1 && json_is_true(json_object_get(found, "found")));
  assert_int_equal(json_array_size(ellipticity), 2);
  assert_true(json_real_value(json_array_get(ellipticity, 0)) < 0.1);
  assert_true(json_real_value(json_array_get(ellipticity, 1)) > 0.7);
  assert_string_equal(text(found, "weights"), "quasi-impes");
  assert_string_equal(text(found, "second"), "ilu");
  assert_true(number(found, "excluded_rows") == 0 && number(found, "singular_rows") == 0);
  assert_true(json_is_null(json_object_get(found, "first_excluded_row")));
  assert_string_equal(text(run_of(root, 0), "pressure"), "auto");
  assert_true(number(run_of(root, 1), "pressure") == 1);
  assert_true(number(given, "pressure") == 1 && json_is_false(json_object_get(given, "found")));
  assert_true(json_is_null(json_object_get(given, "ellipticity")));
  const double iterations = number(run_of(root, 0), "iterations");
  assert_true(number(run_of(root, 1), "iterations") == iterations);
  assert_true(2 * iterations < number(run_of(root, 2), "iterations"));
  assert_true(2 * iterations < number(run_of(root, 3), "iterations"));
  assert_true(json_is_null(json_object_get(run_of(root, 3), "cpr")));
  json_decref(root);
}

static void the_stages_have_objects_with_their_keys(void **state) {
  (void)state;
  json_t *root = results("compare two_phases.mtx --methods "
                         "cpr,cpr:first=mg:post=3:second=isai:relax=2:drop=0.01,"
                         "cpr:second=bjacobi:max=4");
  const json_t *plain = run_of(root, 0), *keys = run_of(root, 1), *blocks = run_of(root, 2);
  const json_t *first = json_object_get(keys, "first"), *second = json_object_get(keys, "second");
  assert_string_equal(text(first, "method"), "mg");
  assert_string_equal(text(first, "complexity"), "auto");
  assert_true(number(first, "post") == 3);
  assert_string_equal(text(second, "method"), "isai");
  assert_true(number(second, "power") == 1 && number(second, "relax") == 2);
  assert_true(number(second, "drop") == 0.01);
  assert_true(json_is_null(json_object_get(keys, "power")));
  assert_int_equal(json_object_size(json_object_get(plain, "second")), 1);
  assert_string_equal(text(json_object_get(plain, "second"), "method"), "auto");
  assert_true(number(keys, "blocks") > 0); /* of isai */
  assert_true(json_is_null(json_object_get(blocks, "blocks")));
  assert_true(number(json_object_get(blocks, "diagonal"), "max_block") == 4);
  assert_true(json_is_null(json_object_get(blocks, "factor_s")));
  json_decref(root);
}

static void the_text_has_a_line_on_the_pressure(void **state) {
  (void)state;
  static const char *const lines[] = {"solve two_phases.mtx --preconditioner cpr",
                                      "info two_phases.mtx --block-size 2"};
  for (int k = 0; k < 2; k++) {
    program p = run(lines[k]);
    assert_int_equal(p.status, 0);
    program_expect_in(lines[k], p.out, "\npressure unknown 1 of 0 to 1 (ellipticity 0.");
    program_expect_in(lines[k], p.out, "), weights quasi-impes\n");
    program_free(&p);
  }
  program p = run("solve two_phases.mtx --preconditioner cpr:pressure=1");
  program_expect_in("solve", p.out,
                    "\npressure unknown 1 of 0 to 1 (given), weights quasi-impes\nlevel 0  144 "
                    "block rows of size 1, ");
  program_expect_in("solve", p.out, "the pressure matrix is ");
  program_free(&p);
  json_t *root = results("info two_phases.mtx"), *found = json_object_get(root, "cpr");
  assert_true(number(found, "pressure") == 1);
  json_decref(root);
  root = results("info laplace5.mtx --block-size 1");
  assert_true(json_is_null(json_object_get(root, "cpr")));
  json_decref(root);
}

/* Both equations, added, have no saturation in the diagonal block: the weights of quasi-IMPES. */
static void weights_and_storage_come_from_files(void **state) {
  (void)state;
  const double sum[] = {1, 1}, water[] = {1, 0}, storage[] = {1, 0.3, -1, 0.7};
  write_rows("sum.mtx", 2 * CELLS, 1, sum);
  write_rows("water.mtx", 2 * CELLS, 1, water);
  write_rows("storage.mtx", 2 * CELLS, 2, storage);
  json_t *root = results("compare two_phases.mtx --methods cpr,cpr:weights=sum.mtx,"
                         "cpr:storage=storage.mtx,cpr:weights=water.mtx:pressure=1");
  const double iterations = number(run_of(root, 0), "iterations");
  assert_true(number(run_of(root, 1), "iterations") == iterations);
  assert_true(number(run_of(root, 2), "iterations") == iterations);
  assert_true(number(run_of(root, 3), "iterations") != iterations);
  assert_string_equal(text(run_of(root, 0), "weights"), "quasi-impes");
  assert_string_equal(text(run_of(root, 1), "weights"), "sum.mtx");
  assert_string_equal(text(run_of(root, 2), "storage"), "storage.mtx");
  assert_string_equal(text(json_object_get(run_of(root, 1), "cpr"), "weights"), "given");
  assert_string_equal(text(json_object_get(run_of(root, 2), "cpr"), "weights"), "true-impes");
  json_decref(root);
  program p = run("compare two_phases.mtx --methods cpr:weights=./sum.mtx:second=ilu");
  program_expect_in("compare", p.out, "\ncpr:weights=./sum.mtx:second=ilu ");
  program_free(&p);
}

static void faults_of_files_are_named(void **state) {
  (void)state;
  const double ones[] = {1, 1, 1, 1, 1, 1};
  write_rows("wide.mtx", 2 * CELLS, 3, ones);
  write_rows("one.mtx", 2 * CELLS, 1, ones);
  write_rows("short.mtx", CELLS, 1, ones);
  program_expect("solve two_phases.mtx --preconditioner cpr:weights=wide.mtx", 2,
                 "bisai: wide.mtx: 3 columns; weights= needs 1, a value for each row\n");
  program_expect("compare two_phases.mtx --methods ilu,cpr:storage=wide.mtx", 2,
                 "bisai: wide.mtx: 3 columns; storage= needs 2, as many as a block has\n");
  program_expect("solve two_phases.mtx --preconditioner cpr:storage=one.mtx", 2,
                 "bisai: one.mtx: 1 column; storage= needs 2, as many as a block has\n");
  program_expect("solve two_phases.mtx --preconditioner cpr:weights=short.mtx", 2,
                 "bisai: short.mtx: line 2: a vector of 144 values; 288 are needed\n");
  program_expect("solve two_phases.mtx --preconditioner cpr:weights=none.mtx", 2,
                 "bisai: cannot open none.mtx: No such file or directory\n");
  expect_refused("cpr:weights=", "cpr:weights=: weights must be quasi-impes or a file");
  program_expect("solve two_phases.mtx --preconditioner cpr:weights=one.mtx --output one.mtx", 2,
                 "bisai: --output: one.mtx: the same file as weights=\n");
  program_expect("compare two_phases.mtx --methods ilu,cpr:storage=s.json --json ./s.json", 2,
                 "bisai: --json: ./s.json: the same file as storage=\n");
}

/* Near-null-space vectors are those of the pressure matrix: a row for each block row. */
static void null_vectors_of_cpr_are_those_of_the_pressure(void **state) {
  (void)state;
  const double constant[] = {1, 1};
  write_rows("pressure.mtx", CELLS, 1, constant);
  json_t *root = results("compare two_phases.mtx --methods cpr:first=mg:coarsest=50,"
                         "cpr:first=mg:coarsest=50:null=pressure.mtx");
  assert_true(number(run_of(root, 0), "iterations") == number(run_of(root, 1), "iterations"));
  assert_string_equal(text(json_object_get(run_of(root, 1), "first"), "null_vectors"),
                      "pressure.mtx");
  json_decref(root);
  write_rows("all.mtx", 2 * CELLS, 1, constant);
  program_expect("solve two_phases.mtx --preconditioner cpr:first=mg:null=all.mtx", 2,
                 "bisai: all.mtx: line 2: a vector of 288 values; 144 are needed\n");
}

/* The five rows of the matrix are padded to six. */
static void files_have_no_rows_for_padding(void **state) {
  (void)state;
  const double ones[] = {1, 1}, identity[] = {1, 0, 0, 1};
  write_rows("five.mtx", 5, 1, ones);
  write_rows("blocks.mtx", 5, 2, identity);
  json_t *root = results("compare laplace5.mtx --block-size 2 --methods "
                         "cpr:pressure=0:weights=five.mtx,cpr:pressure=1:storage=blocks.mtx,"
                         "cpr:pressure=0:storage=blocks.mtx");
  for (size_t i = 0; i < 3; i++) {
    assert_true(json_is_true(json_object_get(run_of(root, i), "converged")));
    assert_true(number(json_object_get(run_of(root, i), "cpr"), "singular_rows") == 0);
  }
  json_decref(root);
}

static void rows_without_weights_are_told(void **state) {
  (void)state;
  FILE *out = fopen("gap.mtx", "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix array real general\n%d 1\n", 2 * CELLS);
  for (int i = 0; i < 2 * CELLS; i++) fprintf(out, "%d\n", i / 2 != 7);
  assert_int_equal(fclose(out), 0);
  static const char message[] = "1 block row without pressure correction, the first 7 (from 0)\n";
  char expected[160];
  program p = run("solve two_phases.mtx --preconditioner cpr:weights=gap.mtx");
  assert_int_equal(p.status, 0);
  snprintf(expected, sizeof expected, "\nblocks   %s", message);
  program_expect_in("solve", p.out, expected);
  program_free(&p);
  p = run("compare two_phases.mtx --methods cpr:weights=gap.mtx");
  snprintf(expected, sizeof expected, "\ncpr:weights=gap.mtx: %s", message);
  program_expect_in("compare", p.out, expected);
  program_free(&p);
  json_t *root = results("solve two_phases.mtx --preconditioner cpr:weights=gap.mtx");
  const json_t *report = json_object_get(run_of(root, 0), "cpr");
  assert_true(number(report, "excluded_rows") == 1 && number(report, "first_excluded_row") == 7);
  json_decref(root);
}

static void a_solver_that_is_not_flexible_takes_no_k_cycles(void **state) {
  (void)state;
  program p = run("solve two_phases.mtx --solver bicgstab --preconditioner cpr:first=mg:cycle=k");
  assert_int_equal(p.status, 2);
  program_expect_in("solve", p.err,
                    "cpr:first=mg:cycle=k: cycle=k is not linear: --solver gmres:flexible");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_section_takes_its_own_keys_only),
      cmocka_unit_test(stages_are_named_once_and_rightly),
      cmocka_unit_test(a_label_is_the_method_that_it_names),
      cmocka_unit_test(the_pressure_is_found_and_told),
      cmocka_unit_test(the_stages_have_objects_with_their_keys),
      cmocka_unit_test(the_text_has_a_line_on_the_pressure),
      cmocka_unit_test(weights_and_storage_come_from_files),
      cmocka_unit_test(faults_of_files_are_named),
      cmocka_unit_test(null_vectors_of_cpr_are_those_of_the_pressure),
      cmocka_unit_test(files_have_no_rows_for_padding),
      cmocka_unit_test(rows_without_weights_are_told),
      cmocka_unit_test(a_solver_that_is_not_flexible_takes_no_k_cycles),
  };
  return cmocka_run_group_tests_name("cli_cpr", tests, setup, program_teardown);
}
