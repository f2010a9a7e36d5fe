/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program chooses by itself: the methods of a comparison, the right-hand side of a
 * singular matrix, and the end of a run without hope. */
#include <math.h>

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

/* The transpose of the same, whose columns have the sum 0. */
static void write_columns(const char *path, int n, double down, double up) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", n, n, 3 * n - 2);
  for (int i = 1; i <= n; i++) {
    if (i > 1) fprintf(file, "%d %d %g\n", i - 1, i, -down);
    fprintf(file, "%d %d %g\n", i, i, (i > 1 ? down : 0) + (i < n ? up : 0));
    if (i < n) fprintf(file, "%d %d %g\n", i + 1, i, -up);
  }
  assert_int_equal(fclose(file), 0);
}

/* Two components in a node, of which only the second has no boundary value. */
static const char second_component[] =
    "%%MatrixMarket matrix coordinate real general\n"
    "6 6 14\n1 1 2\n1 3 -1\n2 2 1\n2 4 -1\n3 1 -1\n3 3 2\n3 5 -1\n4 2 -1\n4 4 2\n4 6 -1\n"
    "5 3 -1\n5 5 2\n6 4 -1\n6 6 1\n";

static int setup(void **state) {
  program_setup(state);
  write_line("neumann.mtx", SINGULAR_ROWS, 1, 1);
  write_line("upwind.mtx", SINGULAR_ROWS, 2, 1);
  write_columns("conserving.mtx", SINGULAR_ROWS, 2, 1);
  program_write("second.mtx", second_component);
  return 0;
}

static void expect_methods(const char *line, size_t count, const char *const *methods,
                           size_t by_cg) {
  json_t *root = results(line);
  assert_int_equal(json_array_size(json_object_get(root, "runs")), count);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(text(run_of(root, i), "method"), methods[i]);
    assert_string_equal(text(run_of(root, i), "solver"), i < count - by_cg ? "gmres" : "cg");
  }
  json_decref(root);
}

static void a_matrix_that_may_be_definite_gets_lines_by_cg(void **state) {
  (void)state;
  static const char *const methods[] = {"none", "bjacobi", "ilu",     "isai", "isai",
                                        "isai", "mg",      "bjacobi", "ilu",  "mg"};
  expect_methods("compare laplace5.mtx", 10, methods, 3);
  expect_methods("compare neumann.mtx", 10, methods, 3);
  expect_methods("compare --case reaction --size 8", 10, methods, 3);
  expect_methods("compare laplace5.mtx --solver gmres", 7, methods, 0);
  expect_methods("compare laplace5.mtx --methods none,bjacobi", 2, methods, 0);
  expect_methods("compare upwind.mtx", 7, methods, 0); /* not symmetric */
  expect_methods("compare no_diagonal.mtx", 7, methods, 0);
  program p = run("compare laplace5.mtx");
  program_expect_in("the table", p.out, "\nmg (cg) ");
  program_expect_in("the table", p.out, "\n(cg): solved by CG, ");
  program_free(&p);
}

/* x̂ − x is a constant: its differences vanish. */
static void expect_the_solution(const char *path) {
  bisai_context *context = test_context(1);
  double x[SINGULAR_ROWS];
  EXPECT_OK(context, bisai_read_vector(context, path, SINGULAR_ROWS, x));
  for (int i = 1; i < SINGULAR_ROWS; i++) {
    const double n = SINGULAR_ROWS, known = ((i + 1) * (i + 1) - i * i) / (n * n);
    /* κ of A without the constant is 14, and the residual is at most 2e-8 */
    assert_true(fabs(x[i] - x[i - 1] - known) < 1e-6);
  }
  bisai_context_destroy(&context);
}

static void a_singular_matrix_gets_a_right_hand_side_that_has_a_solution(void **state) {
  (void)state;
  static const char *const lines[] = {
      "solve neumann.mtx --block-size 1 --preconditioner none --output x.mtx",
      "solve neumann.mtx --block-size 2 --preconditioner none",
      "solve neumann.mtx --block-size 4 --preconditioner none", /* two rows of padding */
      "solve upwind.mtx --block-size 1 --preconditioner none",
      "solve conserving.mtx --block-size 1 --preconditioner none",
      "solve second.mtx --block-size 2 --preconditioner none"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    json_t *root = results(lines[k]);
    assert_string_equal(text(root, "rhs"), "consistent");
    json_decref(root);
  }
  expect_the_solution("x.mtx");
  program p = run("solve neumann.mtx --solver cg --preconditioner mg");
  assert_int_equal(p.status, 0);
  program_expect_in("the heading", p.out,
                    "\nrhs      A x with x_i = (i/n)^2, i = 1 to n, because A is singular: ");
  program_free(&p);
}

static void other_right_hand_sides_stay(void **state) {
  (void)state;
  json_t *root = results("solve laplace5.mtx --preconditioner ilu");
  assert_string_equal(text(root, "rhs"), "ones");
  json_decref(root);
  root = results_with(1, "solve neumann.mtx --rhs ones --block-size 1 --preconditioner bjacobi "
                         "--max-iterations 2");
  assert_string_equal(text(root, "rhs"), "ones");
  json_decref(root);
  program_write("ones6.mtx", "%%MatrixMarket matrix array real general\n6 1\n1\n1\n1\n1\n1\n-5\n");
  root = results("solve neumann.mtx --rhs ones6.mtx --block-size 1 --preconditioner none");
  assert_string_equal(text(root, "rhs"), "file");
  json_decref(root);
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
  /* it would go on to 10,000; 40 are 20 cycles */
  assert_in_range(integer(run_of(root, 0), "iterations"), 40, 5000);
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
      cmocka_unit_test(a_singular_matrix_gets_a_right_hand_side_that_has_a_solution),
      cmocka_unit_test(other_right_hand_sides_stay),
      cmocka_unit_test(a_run_without_hope_ends_early_and_says_so),
  };
  return cmocka_run_group_tests_name("cli_compare", tests, setup, program_teardown);
}
