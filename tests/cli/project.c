/* SPDX-License-Identifier: BSD-3-Clause */
/* Null spaces taken out of b and x by --project. */
#include <math.h>

#include "results.h"

enum { SIDE = 12, ROWS = SIDE * SIDE };

/* Diffusion on a grid of SIDE × SIDE points without boundary values: A·1 = 0. With `wind` A or its
 * transpose maps the constant to zero, and the other does not. */
static void write_grid(const char *path, double wind, bool transposed) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", ROWS, ROWS,
          ROWS + 4 * SIDE * (SIDE - 1));
  for (int i = 0; i < ROWS; i++) {
    double diagonal = 0;
    for (int k = 0; k < 4; k++) {
      const int at = k % 2 ? i / SIDE : i % SIDE, next = at + (k < 2 ? -1 : 1),
                j = i + (k < 2 ? -1 : 1) * (k % 2 ? SIDE : 1);
      if (next < 0 || next >= SIDE) continue;
      const double value = k < 2 ? 1 + wind : 1;
      diagonal += value;
      fprintf(file, "%d %d %.17g\n", 1 + (transposed ? j : i), 1 + (transposed ? i : j), -value);
    }
    fprintf(file, "%d %d %.17g\n", i + 1, i + 1, diagonal);
  }
  assert_int_equal(fclose(file), 0);
}

/* An array of `columns` whose values are of(row, column). */
static void write_array(const char *path, int rows, int columns, double (*of)(int, int)) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%%%%MatrixMarket matrix array real general\n%d %d\n", rows, columns);
  for (int c = 0; c < columns; c++)
    for (int i = 0; i < rows; i++) fprintf(file, "%.17g\n", of(i, c));
  assert_int_equal(fclose(file), 0);
}

static double rough(int i, int c) {
  (void)c;
  return i * i % 17 + 1;
}

static double constant(int i, int c) {
  (void)i, (void)c;
  return 3;
}

static double of_a_component(int i, int c) { return i % 2 == c ? 2 : 0; }

static double straight(int i, int c) {
  (void)c;
  return i % SIDE;
}

/* Two components in a node, neither with boundary values. */
static const char both[] =
    "%%MatrixMarket matrix coordinate real general\n"
    "6 6 14\n1 1 1\n1 3 -1\n2 2 2\n2 4 -2\n3 1 -1\n3 3 2\n3 5 -1\n4 2 -2\n4 4 4\n4 6 -2\n"
    "5 3 -1\n5 5 1\n6 4 -2\n6 6 2\n";

/* Four velocities, and three pressures that are known up to a constant. */
static const char flow[] =
    "%%MatrixMarket matrix coordinate real general\n"
    "7 7 20\n1 1 5\n1 2 -1\n1 5 1\n1 6 -1\n2 1 -2\n2 2 5\n2 6 1\n2 7 -1\n3 3 4\n3 5 2\n"
    "3 6 -2\n4 4 4\n4 6 2\n4 7 -2\n5 1 1\n5 3 1\n6 1 -1\n6 2 1\n6 3 -1\n7 2 -1\n";

static int setup(void **state) {
  program_setup(state);
  write_grid("neumann.mtx", 0, false);
  write_grid("upwind.mtx", 0.5, false);
  write_grid("conserving.mtx", 0.5, true);
  write_array("b.mtx", ROWS, 1, rough);
  write_array("constant.mtx", ROWS, 1, constant);
  write_array("straight.mtx", ROWS, 1, straight);
  program_write("both.mtx", both);
  program_write("flow.mtx", flow);
  write_array("b7.mtx", 7, 1, rough);
  write_array("b6.mtx", 6, 1, rough);
  write_array("components.mtx", 6, 2, of_a_component);
  return 0;
}

static const char *const methods[] = {"none", "bjacobi", "ilu", "isai", "isai:relax=2", "mg"};

static double mean_of_x(int rows) {
  bisai_context *context = test_context(1);
  double *x = calloc((size_t)rows, sizeof *x), sum = 0;
  EXPECT_OK(context, bisai_read_vector(context, "x.mtx", rows, x));
  for (int i = 0; i < rows; i++) sum += x[i];
  free(x);
  bisai_context_destroy(&context);
  return sum / rows;
}

static void inconsistent_neumann_systems_are_solved(void **state) {
  (void)state;
  double sum = 0, squares = 0;
  for (int i = 0; i < ROWS; i++) sum += rough(i, 0), squares += rough(i, 0) * rough(i, 0);
  const double removed = fabs(sum) / sqrt(ROWS * squares);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
    for (int file = 0; file < 2; file++) {
      char line[300];
      snprintf(line, sizeof line,
               "solve neumann.mtx --rhs b.mtx --block-size %d --preconditioner %s --output x.mtx",
               file ? 5 : 1, methods[k]); /* 144 rows: one of padding */
      if (!file) {
        program p = run(line);
        assert_int_not_equal(p.status, 0);
        program_free(&p);
      }
      strcat(line, file ? " --project constant.mtx" : " --project constants");
      json_t *root = results(line), *project = json_object_get(root, "project");
      assert_string_equal(text(project, "from"), file ? "constant.mtx" : "constants");
      assert_int_equal(integer(project, "vectors"), 1);
      assert_int_equal(integer(project, "transposed_vectors"), 1);
      EXPECT_NEAR(removed, real(project, "removed"), 1e-14);
      json_decref(root);
      /* |x| is at most 10³ */
      assert_true(fabs(mean_of_x(ROWS)) < 1e-12);
    }
}

static void the_heading_says_what_is_taken_out(void **state) {
  (void)state;
  program p = run("compare neumann.mtx --rhs b.mtx --project constants --methods ilu");
  program_expect_in("the heading", p.out,
                    "\nproject  b without the null space of A^T (1 vector), which is 8.");
  program_expect_in("the heading", p.out, " of its norm; x without 1 constant\n");
  program_free(&p);
  p = run("solve neumann.mtx --rhs b.mtx --project constant.mtx");
  program_expect_in("the heading", p.out, " of its norm; x without 1 vector of constant.mtx\n");
  program_free(&p);
}

static void a_null_space_of_one_side_is_taken_out_there(void **state) {
  (void)state;
  program p = run("solve conserving.mtx --rhs b.mtx --project constants --preconditioner mg");
  assert_int_equal(p.status, 0);
  program_expect_in("the heading", p.out,
                    "; x as it is, because the null space of A is not known\n");
  program_free(&p);
  p = run("solve upwind.mtx --project constants --preconditioner mg --output x.mtx");
  assert_int_equal(p.status, 0);
  program_expect_in(
      "the heading", p.out,
      "\nproject  b as it is, because the null space of A^T is not known; x without 1 constant\n");
  program_free(&p);
  assert_true(fabs(mean_of_x(ROWS)) < 1e-14); /* x̂ is at most 1 */
  json_t *root = results("solve upwind.mtx --project constants --preconditioner mg");
  assert_true(json_is_null(json_object_get(json_object_get(root, "project"), "removed")));
  assert_true(real(run_of(root, 0), "error") < 1e-6); /* κ is about 100 */
  json_decref(root);
}

static void each_component_has_its_constant(void **state) {
  (void)state;
  static const char *const from[] = {"constants", "components.mtx"};
  for (int k = 0; k < 2; k++) {
    char line[200];
    snprintf(line, sizeof line,
             "solve both.mtx --block-size 2 --rhs b6.mtx --preconditioner none --project %s",
             from[k]);
    json_t *root = results(line);
    assert_int_equal(integer(json_object_get(root, "project"), "vectors"), 2);
    json_decref(root);
  }
}

static void the_constant_of_a_pressure_is_taken_out(void **state) {
  (void)state;
  program p = run("solve flow.mtx --rhs b7.mtx --block-size 1");
  assert_int_equal(p.status, 1);
  program_expect_in("the message", p.err,
                    "A is singular, and A x = b has no solution: the columns of A have the sum "
                    "zero in rows 5 to 7, and b has not (");
  program_expect_in("the message", p.err, " of its norm): try --project constants\n");
  program_free(&p);
  p = run("solve flow.mtx --rhs b7.mtx --block-size 1 --project constants --output x.mtx");
  assert_int_equal(p.status, 0);
  program_expect_in("the heading", p.out, "x without 1 constant\n");
  program_free(&p);
  bisai_context *context = test_context(1);
  double x[7];
  EXPECT_OK(context, bisai_read_vector(context, "x.mtx", 7, x));
  EXPECT_NEAR(0, x[4] + x[5] + x[6], 1e-12);
  bisai_context_destroy(&context);
  p = run("info flow.mtx --block-size 1");
  program_expect_in("the facts", p.out,
                    "null space   A maps the constant in rows 4 to 6 to zero, its transpose maps "
                    "the constant in rows 4 to 6 to zero\n");
  program_free(&p);
}

static void b_in_the_null_space_gives_x_equal_to_zero(void **state) {
  (void)state;
  json_t *root = results("solve neumann.mtx --rhs constant.mtx --project constants");
  assert_true(real(json_object_get(root, "project"), "removed") == 1);
  assert_int_equal(integer(run_of(root, 0), "iterations"), 0);
  json_decref(root);
}

static void vectors_that_are_not_in_the_null_space_are_refused(void **state) {
  (void)state;
  program_expect("solve laplace5.mtx --project constants", 2,
                 "bisai: --project constants: neither A nor its transpose maps a constant to "
                 "zero\n");
  program_expect("solve neumann.mtx --project ''", 2, "bisai: --project: the name is empty\n");
  program_expect("solve neumann.mtx --project -", 2,
                 "bisai: --project: the vectors come from a file, not from standard input\n");
  program_expect("solve neumann.mtx --project b6.mtx", 2,
                 "bisai: b6.mtx: line 2: a vector of 6 values; 144 are needed\n");
  program_expect("compare neumann.mtx --project constant.mtx --json constant.mtx", 2,
                 "bisai: --json: constant.mtx: the same file as --project\n");
  program p = run("solve neumann.mtx --project straight.mtx");
  assert_int_equal(p.status, 2);
  program_expect_in("the message", p.err,
                    "bisai: --project: straight.mtx: A does not map column 1 to zero: A v has ");
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(inconsistent_neumann_systems_are_solved),
      cmocka_unit_test(the_heading_says_what_is_taken_out),
      cmocka_unit_test(a_null_space_of_one_side_is_taken_out_there),
      cmocka_unit_test(each_component_has_its_constant),
      cmocka_unit_test(the_constant_of_a_pressure_is_taken_out),
      cmocka_unit_test(b_in_the_null_space_gives_x_equal_to_zero),
      cmocka_unit_test(vectors_that_are_not_in_the_null_space_are_refused),
  };
  return cmocka_run_group_tests_name("cli_project", tests, setup, program_teardown);
}
