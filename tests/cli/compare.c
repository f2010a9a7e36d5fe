/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program chooses by itself: the methods of a comparison, and the end of a run without
 * hope. */
#include "results.h"

enum { SINGULAR_ROWS = 6 };

/* Diffusion on a line of n points with Neumann conditions: A·1 = 0. `skew` makes A or its
 * transpose differ from that. */
static void write_line(const char *path, int n, double down, double up) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, 3 * n - 2);
  for (int i = 1; i <= n; i++) {
    if (i > 1) fprintf(file, "%d %d %g\n", i, i - 1, -down);
    fprintf(file, "%d %d %g\n", i, i, (i > 1 ? down : 0) + (i < n ? up : 0));
    if (i < n) fprintf(file, "%d %d %g\n", i, i + 1, -up);
  }
  assert_int_equal(fclose(file), 0);
}

static int setup(void **state) {
  program_setup(state);
  write_line("neumann.mtx", SINGULAR_ROWS, 1, 1);
  write_line("upwind.mtx", SINGULAR_ROWS, 2, 1);
  return 0;
}

static void expect_methods(const char *line, size_t count, const char *const *methods,
                           size_t by_cg) {
  json_t *root = results(line);
  assert_int_equal(json_array_size(json_object_get(root, "runs")), count);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(text(run_of(root, i), "method"), methods[i]);
    if (strcmp(methods[i], "auto") != 0)
      assert_string_equal(text(run_of(root, i), "solver"), i < count - by_cg ? "gmres" : "cg");
  }
  json_decref(root);
}

static void a_matrix_that_may_be_definite_gets_lines_by_cg(void **state) {
  (void)state;
  static const char *const methods[] = {"none", "bjacobi", "ilu",     "isai", "isai", "isai",
                                        "mg",   "auto",    "bjacobi", "ilu",  "mg"};
  expect_methods("compare laplace5.mtx", 11, methods, 3);
  expect_methods("compare neumann.mtx", 11, methods, 3);
  expect_methods("compare --case reaction --size 8", 11, methods, 3);
  expect_methods("compare laplace5.mtx --solver gmres", 8, methods, 0);
  expect_methods("compare laplace5.mtx --solver gmres --ordering rcm", 7, methods, 0);
  expect_methods("compare laplace5.mtx --methods none,bjacobi", 2, methods, 0);
  expect_methods("compare upwind.mtx", 8, methods, 0); /* not symmetric */
  expect_methods("compare no_diagonal.mtx", 8, methods, 0);
  program p = run("compare laplace5.mtx");
  program_expect_in("the table", p.out, "\nmg (cg) ");
  program_expect_in("the table", p.out, "\n(cg): solved by CG, ");
  program_free(&p);
}

/* GMRES(2) on a line of 1000 points: ten cycles take a small part of the residual only. */
static void a_run_without_hope_ends_early_and_says_so(void **state) {
  (void)state;
  static const char system[] = "line.mtx --block-size 1 --restart 2";
  char line[200];
  write_line("line.mtx", 1000, 1, 1);
  snprintf(line, sizeof line, "compare %s --methods none,mg", system);
  json_t *root = results(line);
  assert_string_equal(text(run_of(root, 0), "reason"), "hopeless");
  /* it would go on to 10,000; it is judged after iteration 300 */
  assert_in_range(integer(run_of(root, 0), "iterations"), 302, 5000);
  assert_true(number(run_of(root, 0), "relative_residual") < 1);
  json_decref(root);
  program p = run(line);
  program_expect_in("the table", p.out, "  hopeless\n");
  program_expect_in("the table", p.out, "\nnone: ended at iteration ");
  program_expect_in("the table", p.out, " iterations, and 10000 are allowed\n");
  program_free(&p);
  snprintf(line, sizeof line, "solve %s --preconditioner none --max-iterations 60", system);
  root = results_with(1, line);
  assert_string_equal(text(run_of(root, 0), "reason"), "max_iterations");
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_matrix_that_may_be_definite_gets_lines_by_cg),
      cmocka_unit_test(a_run_without_hope_ends_early_and_says_so),
  };
  return cmocka_run_group_tests_name("cli_compare", tests, setup, program_teardown);
}
