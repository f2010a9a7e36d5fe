/* SPDX-License-Identifier: BSD-3-Clause */
/* Saddle points in the command-line program: METHOD with the keys of both stages, labels, JSON. */
#include "results.h"

/* Stokes flow on a row of cells, of which each has a velocity at its right side and a pressure, but
 * for the last one: velocity i, pressure i. Rows alternate. */
enum { CELLS = 30, ROWS = 2 * CELLS };

static void write_flow(void) {
  FILE *out = fopen("flow.mtx", "w");
  assert_non_null(out);
  fprintf(out, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", ROWS, ROWS,
          CELLS + 2 * (CELLS - 1) + 2 * (2 * CELLS - 1));
  for (int i = 0; i < CELLS; i++) {
    const int u = 2 * i + 1, p = 2 * i + 2;
    fprintf(out, "%d %d 3\n", u, u);
    if (i > 0) fprintf(out, "%d %d -1\n%d %d -1\n", u, u - 2, u - 2, u);
    fprintf(out, "%d %d 1\n%d %d 1\n", u, p, p, u);
    if (i > 0) fprintf(out, "%d %d -1\n%d %d -1\n", u - 2, p, p, u - 2);
  }
  assert_int_equal(fclose(out), 0);
}

static int setup(void **state) {
  const int failed = program_setup(state);
  write_flow();
  return failed;
}

static void expect_refused(const char *method, const char *message) {
  char line[1024], expected[1024];
  snprintf(line, sizeof line, "solve flow.mtx --preconditioner %s", method);
  snprintf(expected, sizeof expected, "bisai: --preconditioner: %s\n", message);
  program_expect(line, 2, expected);
}

static void a_section_takes_the_keys_of_its_kind(void **state) {
  (void)state;
  expect_refused("schur:first=lu:n=3",
                 "schur:first=lu:n=3: 'n' is not a key of first=lu (storage, fill, memory, "
                 "ordering, matching, equilibrate, shift, first, second)");
  expect_refused(
      "schur:second=ilu:form=full",
      "schur:second=ilu:form=full: 'form' is not a key of second=ilu (level, pivots, "
      "updates, shift, ordering, matching, equilibrate, first, second); keys of schur come before "
      "first= and second=");
  /* what both stages take is said once */
  expect_refused(
      "schur:first=ilu:level=1:second=isai:level=2",
      "schur:first=ilu:level=1:second=isai:level=2: 'level' is not a key of "
      "second=isai (of, k, symmetric, relax, storage, drop, cap, first, second); it is one "
      "of first=ilu");
  expect_refused("schur:first=cpr", "schur:first=cpr: first must be auto, mg, ilu, isai, sweeps, "
                                    "bjacobi, lu or direct");
  expect_refused("schur:complement=mass",
                 "schur:complement=mass: complement must be auto, lsc, simple or diagonal");
  expect_refused("schur:form=diagonal", "schur:form=diagonal: form must be upper, lower or full");
}

static void labels_are_methods(void **state) {
  (void)state;
  static const char *const methods[][2] = {
      {"schur:component=auto:first=auto", "schur"},
      {"schur:form=lower:complement=simple:second=ilu:first=mg:cycle=w",
       "schur:complement=simple:form=lower:first=mg:cycle=w:second=ilu"},
      {"schur:first=bjacobi:second=lu:storage=fp32", "schur:first=bjacobi:second=lu:storage=fp32"}};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    char line[512];
    snprintf(line, sizeof line, "compare flow.mtx --block-size 2 --methods %s,%s", methods[k][0],
             methods[k][1]);
    json_t *root = results(line), *given = run_of(root, 0), *again = run_of(root, 1);
    assert_true(json_is_true(json_object_get(given, "converged")));
    assert_int_equal(integer(given, "iterations"), integer(again, "iterations"));
    assert_true(json_equal(json_object_get(given, "first"), json_object_get(again, "first")));
    assert_true(json_equal(json_object_get(given, "second"), json_object_get(again, "second")));
    json_decref(root);
    snprintf(line, sizeof line, "compare flow.mtx --block-size 2 --methods %s", methods[k][0]);
    program p = run(line);
    program_expect_in(line, p.out, methods[k][1]);
    program_free(&p);
  }
}

static void json_says_what_was_found(void **state) {
  (void)state;
  json_t *root = results("solve flow.mtx --block-size 1 --preconditioner "
                         "schur:complement=lsc:first=ilu:second=lu"),
         *one = run_of(root, 0), *saddle = json_object_get(one, "schur");
  assert_int_equal(integer(saddle, "velocities"), CELLS);
  assert_int_equal(integer(saddle, "pressures"), CELLS);
  assert_int_equal(integer(saddle, "velocity_size"), 1);
  assert_true(json_is_true(json_object_get(saddle, "found")));
  assert_true(json_is_false(json_object_get(saddle, "stabilised")));
  assert_string_equal(text(json_object_get(one, "first"), "method"), "ilu");
  assert_string_equal(text(json_object_get(one, "second"), "method"), "lu");
  assert_string_equal(text(one, "complement"), "lsc");
  json_decref(root);
}

static void a_matrix_without_pressures_is_no_saddle_point(void **state) {
  (void)state;
  program p = run("solve --case cavity --size 6 --preconditioner schur");
  assert_int_not_equal(p.status, 0);
  program_expect_in("schur", p.out,
                    "no rows with a zero diagonal entry, and all entries have the same sign");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_section_takes_the_keys_of_its_kind),
      cmocka_unit_test(labels_are_methods),
      cmocka_unit_test(json_says_what_was_found),
      cmocka_unit_test(a_matrix_without_pressures_is_no_saddle_point),
  };
  return cmocka_run_group_tests(tests, setup, program_teardown);
}
