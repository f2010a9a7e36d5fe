/* SPDX-License-Identifier: BSD-3-Clause */
/* The right-hand side A x̂ where the user gives none, and the error of x against x̂. */
#include <math.h>

#include "results.h"

enum { ROWS = 6 };

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
  write_line("neumann.mtx", ROWS, 1, 1);
  write_line("upwind.mtx", ROWS, 2, 1);
  write_columns("conserving.mtx", ROWS, 2, 1);
  program_write("second.mtx", second_component);
  return 0;
}

static void a_regular_matrix_gets_b_equal_to_a_times_ones(void **state) {
  (void)state;
  static const char *const lines[] = {
      "solve laplace5.mtx --block-size 1 --preconditioner ilu",
      "solve laplace5.mtx --block-size 2 --preconditioner ilu", /* a row of padding */
      "compare laplace5.mtx --block-size 1 --methods ilu"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    json_t *root = results(lines[k]);
    assert_string_equal(text(root, "rhs"), "consistent");
    assert_string_equal(text(root, "solution"), "ones");
    /* exact factors, κ = 14 */
    assert_true(real(run_of(root, 0), "error") < 1e-14);
    json_decref(root);
  }
  program p = run("solve laplace5.mtx --block-size 1");
  program_expect_in("the heading", p.out, "\nrhs      A x with x_i = 1, i = 1 to n\n");
  program_expect_in("the account", p.out, " of x: ||x - y|| / ||y|| with y_i = 1\n");
  program_free(&p);
  p = run("compare laplace5.mtx --block-size 1 --methods ilu");
  program_expect_in("the table", p.out, "  residual      of x  reason\n");
  program_expect_in("the table", p.out, "\nerror of x: ||x - y|| / ||y|| with y_i = 1.\n");
  program_free(&p);
}

static void the_error_is_that_of_the_x_that_is_written(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double x[5], sum = 0;
  json_t *root = results_with(
      1,
      "solve laplace5.mtx --block-size 1 --preconditioner none --max-iterations 2 --output x.mtx");
  EXPECT_OK(context, bisai_read_vector(context, "x.mtx", 5, x));
  for (int i = 0; i < 5; i++) sum += (x[i] - 1) * (x[i] - 1);
  const double error = sqrt(sum / 5);
  assert_true(error > 0.01);
  EXPECT_NEAR(error, real(run_of(root, 0), "error"), 1e-15);
  json_decref(root);
  bisai_context_destroy(&context);
}

static void the_error_leaves_out_constants_that_a_maps_to_zero(void **state) {
  (void)state;
  static const char *const lines[] = {
      "solve neumann.mtx --block-size 1 --preconditioner none",
      "solve neumann.mtx --block-size 4 --preconditioner none", /* two rows of padding */
      "solve upwind.mtx --block-size 1 --preconditioner none",
      "solve second.mtx --block-size 2 --preconditioner none"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    json_t *root = results(lines[k]);
    assert_string_equal(text(root, "solution"), "squares");
    /* κ of A without the constant is 14, and the residual is at most 2e-8 */
    assert_true(real(run_of(root, 0), "error") < 1e-6);
    json_decref(root);
  }
  /* A maps another vector to zero, which nobody knows */
  json_t *root = results("solve conserving.mtx --block-size 1 --preconditioner none");
  assert_string_equal(text(root, "solution"), "squares");
  assert_true(json_is_null(json_object_get(run_of(root, 0), "error")));
  json_decref(root);
}

static void without_a_known_solution_there_is_no_error(void **state) {
  (void)state;
  static const char *const lines[] = {"solve laplace5.mtx --rhs ones",
                                      "solve laplace5.mtx --rhs last6.mtx",
                                      "solve --case reaction --size 8 --preconditioner mg"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    json_t *root = results(lines[k]);
    assert_true(json_is_null(json_object_get(root, "solution")));
    assert_true(json_is_null(json_object_get(run_of(root, 0), "error")));
    json_decref(root);
    program p = run(lines[k]);
    assert_null(strstr(p.out, "\nerror"));
    program_free(&p);
  }
}

/* x̂ − x is a constant: its differences vanish. */
static void expect_the_solution(const char *path) {
  bisai_context *context = test_context(1);
  double x[ROWS];
  EXPECT_OK(context, bisai_read_vector(context, path, ROWS, x));
  for (int i = 1; i < ROWS; i++) {
    const double n = ROWS, known = ((i + 1) * (i + 1) - i * i) / (n * n);
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
  json_t *root = results("solve laplace5.mtx --rhs ones --preconditioner ilu");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_regular_matrix_gets_b_equal_to_a_times_ones),
      cmocka_unit_test(the_error_is_that_of_the_x_that_is_written),
      cmocka_unit_test(the_error_leaves_out_constants_that_a_maps_to_zero),
      cmocka_unit_test(without_a_known_solution_there_is_no_error),
      cmocka_unit_test(a_singular_matrix_gets_a_right_hand_side_that_has_a_solution),
      cmocka_unit_test(other_right_hand_sides_stay),
  };
  return cmocka_run_group_tests_name("cli_solution", tests, setup, program_teardown);
}
