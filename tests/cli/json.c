/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON of the command-line program, which scripts read. */
#include <math.h>

#include <sys/resource.h>

#include "results.h"

static int setup(void **state) {
  program_setup(state);
  program_write("venkat50.mtx", laplace5);
  return 0;
}

/* The keys of an object, in order. */
static void expect_keys(json_t *object, const char *const *keys, size_t count) {
  assert_int_equal(json_object_size(object), count);
  const char *key;
  json_t *value;
  size_t i = 0;
  json_object_foreach(object, key, value) { assert_string_equal(key, keys[i++]); }
}

static const char *const run_keys[] = {"method",
                                       "power",
                                       "relax",
                                       "sweeps",
                                       "storage",
                                       "converged",
                                       "iterations",
                                       "relative_residual",
                                       "factor_s",
                                       "pattern_s",
                                       "values_s",
                                       "setup_s",
                                       "apply30_s",
                                       "solve_s",
                                       "blocks",
                                       "reason",
                                       "level",
                                       "shift",
                                       "pivots",
                                       "updates",
                                       "drop",
                                       "cap",
                                       "repairs",
                                       "first_repair_row",
                                       "dropped_lower",
                                       "dropped_upper",
                                       "shortened_columns",
                                       "cut_blocks",
                                       "factor_blocks",
                                       "order",
                                       "factors",
                                       "patterns",
                                       "products",
                                       "analysis_s",
                                       "diagonal",
                                       "hierarchy",
                                       "cpr",
                                       "schur",
                                       "restarts",
                                       "breakdown",
                                       "memory_bytes",
                                       "total_s",
                                       "repeats",
                                       "least_total_s",
                                       "symmetric",
                                       "note",
                                       "solver",
                                       "error",
                                       "choice",
                                       "of"};
enum { RUN_KEYS = sizeof run_keys / sizeof run_keys[0] };

static void json_has_exactly_the_keys_of_the_contract(void **state) {
  (void)state;
  static const char *const top[] = {"version",
                                    "backend",
                                    "device",
                                    "matrix",
                                    "rhs",
                                    "rhs_file",
                                    "rhs_columns",
                                    "solution",
                                    "project",
                                    "tolerance",
                                    "solver",
                                    "restart",
                                    "side",
                                    "flexible",
                                    "orthogonalization",
                                    "fp64_basis",
                                    "assume_symmetric",
                                    "shadow_dimension",
                                    "runs",
                                    "verdict"};
  static const char *const matrix[] = {"name", "block_rows", "block_size", "blocks", "asymmetry"};
  json_t *root = results("compare --case cavity --size 5 --backend host");
  expect_keys(root, top, 20);
  assert_string_equal(text(root, "version"), BISAI_VERSION);
  assert_string_equal(text(root, "backend"), "host");
  assert_true(strlen(text(root, "device")) > 0);
  json_t *m = json_object_get(root, "matrix");
  expect_keys(m, matrix, 5);
  assert_true(real(m, "asymmetry") > 0.1); /* the cavity's convection */
  assert_string_equal(text(m, "name"), "cavity");
  assert_int_equal(integer(m, "block_rows"), 25);
  assert_int_equal(integer(m, "block_size"), 3);
  assert_int_equal(integer(m, "blocks"), 105);
  assert_true(real(root, "tolerance") == 1e-5);
  assert_string_equal(text(root, "rhs"), "case");
  assert_true(json_is_null(json_object_get(root, "rhs_columns")));
  assert_string_equal(text(root, "solver"), "gmres");
  assert_true(json_is_null(json_object_get(root, "shadow_dimension")));
  assert_int_equal(integer(root, "restart"), 30);
  for (size_t i = 0; i < 6; i++) expect_keys(run_of(root, i), run_keys, RUN_KEYS);
  json_decref(root);
}

static void the_solver_and_what_is_its_own_are_named(void **state) {
  (void)state;
  static const char *const solvers[] = {"cg:force:flexible", "bicgstab", "idr", "idr:s=2"};
  for (int k = 0; k < 4; k++) {
    char line[128];
    snprintf(line, sizeof line,
             "solve --case convdiff --size 6 --solver %s --max-iterations 20 --preconditioner ilu",
             solvers[k]);
    json_t *root = results_with(k == 0 ? 1 : 0, line);
    const char *name = text(root, "solver");
    assert_int_equal(0, strncmp(name, solvers[k], strlen(name)));
    assert_true(json_is_null(json_object_get(root, "restart")));
    assert_int_equal(k == 0 ? JSON_TRUE : JSON_NULL,
                     json_typeof(json_object_get(root, "flexible")));
    if (k < 2)
      assert_true(json_is_null(json_object_get(root, "shadow_dimension")));
    else
      assert_int_equal(integer(root, "shadow_dimension"), k == 2 ? 4 : 2);
    json_decref(root);
  }
}

static void a_choice_is_written_in_c(void **state) {
  (void)state;
  json_t *root = results("solve --case convdiff --size 6");
  json_t *choice = json_object_get(run_of(root, 0), "choice");
  const char *c = text(choice, "c");
  static const char first[] =
      "bisai_precond_options p = bisai_precond_options_default();\np.kind = ";
  assert_int_equal(0, strncmp(c, first, strlen(first)));
  assert_non_null(strstr(c, ";\nbisai_solver_options s = bisai_solver_options_default();\n"));
  assert_true(c[strlen(c) - 1] == '\n');
  json_decref(root);
}

static void default_methods_are_the_eight_of_the_contract(void **state) {
  (void)state;
  static const char *const methods[] = {"none", "bjacobi", "ilu", "isai",
                                        "isai", "isai",    "mg",  "auto"};
  json_t *root = results("compare --case convdiff --size 4");
  assert_true(real(root, "tolerance") == 1e-8);
  assert_int_equal(json_array_size(json_object_get(root, "runs")), 8);
  for (size_t i = 0; i < 8; i++) {
    json_t *run = run_of(root, i);
    assert_string_equal(text(run, "method"), methods[i]);
    if (i < 3 || i >= 6) continue;
    assert_int_equal(integer(run, "power"), (int)i - 2);
    assert_int_equal(integer(run, "relax"), 0);
    assert_string_equal(text(run, "storage"), "fp64");
  }
  json_decref(root);
}

static void blocks_of_block_jacobi_are_an_object(void **state) {
  (void)state;
  static const char *const keys[] = {"max_block",     "found_by",
                                     "form",          "digits",
                                     "formats",       "extraction",
                                     "damping",       "blocks",
                                     "largest",       "by_size",
                                     "by_format",     "bytes",
                                     "near_singular", "near_singular_block",
                                     "relax_radius",  "find_s"};
  json_t *root =
      results("compare --case cavity --size 6 --methods "
              "bjacobi,bjacobi:max=2:form=lu,bjacobi:max=8:storage=adaptive:digits=1:formats=ieee,"
              "bjacobi:relax=2:damping=0.7");
  json_t *natural = json_object_get(run_of(root, 0), "diagonal"),
         *small = json_object_get(run_of(root, 1), "diagonal"),
         *adaptive = json_object_get(run_of(root, 2), "diagonal"),
         *relaxed = json_object_get(run_of(root, 3), "diagonal");
  expect_keys(natural, keys, sizeof keys / sizeof *keys);
  assert_true(json_is_null(json_object_get(natural, "relax_radius")));
  assert_int_equal(integer(run_of(root, 3), "relax"), 2);
  assert_true(real(relaxed, "damping") == 0.7);
  assert_true(real(relaxed, "relax_radius") > 0.0);
  assert_int_equal(integer(natural, "max_block"), 0);
  assert_int_equal(integer(natural, "blocks"), 36);
  assert_int_equal(integer(json_object_get(natural, "by_size"), "3"), 36);
  assert_int_equal(integer(json_object_get(natural, "by_format"), "fp64"), 36);
  assert_int_equal(integer(natural, "bytes"), 36 * 9 * 8);
  assert_true(json_is_null(json_object_get(natural, "digits")));
  assert_true(json_is_null(json_object_get(natural, "formats")));
  assert_string_equal(text(small, "form"), "lu");
  /* rows of a node have one pattern: 2 and 1 */
  assert_int_equal(integer(json_object_get(small, "by_size"), "2"), 36);
  assert_int_equal(integer(json_object_get(small, "by_size"), "1"), 36);
  assert_string_equal(text(run_of(root, 2), "storage"), "adaptive");
  assert_int_equal(integer(adaptive, "digits"), 1);
  assert_string_equal(text(adaptive, "formats"), "ieee");
  assert_true(integer(adaptive, "bytes") < integer(adaptive, "blocks") * 64 * 8);
  json_decref(root);
}

/* What each method must have ('y') and what does not apply to it and is null ('n'), in the order of
 * `run_keys` from "power" on. */
static void what_does_not_apply_is_null(void **state) {
  (void)state;
  static const char *const applies[] = {
      "nnnnyyynnnynyny"
      "nnnnnnnnnnnnnnnnnnnnnnynyyyynnynnn", /* none */
      "nynyyyynnyyyyny"
      "nynnnnynnnnnnnnnnnynnnynyyyynnynnn", /* bjacobi */
      "nnnnyyyynnyyyny"
      "yyyynnynnnnnyyynynnnnnynyyyynnynnn", /* ilu */
      "yynyyyyyyyyyyyy"
      "yyyyyyynyyyyyyyyynnnnnynyyyyynynny", /* isai */
      "nnynyyyynyyyyny"
      "yyyynnynnnnnyyynnnnnnnynyyyynnynnn", /* sweeps */
      "yyynyyynyyyyyny"
      "yynnnnynnnnnnnnnnnnynnynyyyynnynnn", /* mg */
      "nnnyyyyyyyyyyny"
      "nnnnnnynnnnnyynnnnnyynynyyyynnynnn", /* cpr */
  };
  json_t *root = results("compare --case cavity --size 5 --methods "
                         "none,bjacobi,ilu,isai:storage=fp32:k=2:relax=1,sweeps:n=3,mg,cpr");
  for (size_t i = 0; i < 7; i++) {
    json_t *run = run_of(root, i);
    for (size_t k = 1; k < RUN_KEYS; k++) {
      const bool is_null = json_is_null(json_object_get(run, run_keys[k]));
      if (is_null != (applies[i][k - 1] == 'n'))
        fail_msg("%s of run %zu is %s", run_keys[k], i, is_null ? "null" : "not null");
    }
  }
  json_t *isai = run_of(root, 3), *sweeps = run_of(root, 4);
  assert_int_equal(integer(isai, "power"), 2);
  assert_int_equal(integer(isai, "relax"), 1);
  assert_string_equal(text(isai, "storage"), "fp32");
  assert_int_equal(integer(sweeps, "sweeps"), 3);
  assert_true(real(isai, "setup_s") >= real(isai, "factor_s"));
  assert_true(real(isai, "apply30_s") > 0);
  json_decref(root);
}

/* [1 1 0; 0 . 1; 0 1 2], whose second diagonal entry is missing; and what keys leave out of a made
 * case. */
static void what_the_set_up_changed_is_told(void **state) {
  (void)state;
  program_write(
      "saddle.mtx",
      "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n1 2 1\n2 3 1\n3 2 1\n3 3 2\n");
  json_t *root = results(
      "compare saddle.mtx --block-size 1 --methods ilu,ilu:shift=0.25:level=1,bjacobi:shift=0.25");
  assert_string_equal(text(run_of(root, 0), "reason"), "missing_diagonal");
  for (size_t i = 1; i < 3; i++) {
    assert_int_equal(integer(run_of(root, i), "repairs"), 1);
    assert_int_equal(integer(run_of(root, i), "first_repair_row"), 1);
  }
  assert_int_equal(integer(run_of(root, 1), "level"), 1);
  assert_true(real(run_of(root, 1), "shift") == 0.25 && real(run_of(root, 2), "shift") == 0.25);
  json_decref(root);
  root = results(
      "compare --case cavity --size 12 --methods isai:k=3,isai:k=3:cap=4,isai:k=3:drop=0.2");
  json_t *full = run_of(root, 0), *capped = run_of(root, 1), *dropped = run_of(root, 2);
  assert_int_equal(integer(full, "cut_blocks") + integer(full, "shortened_columns") +
                       integer(full, "dropped_upper"),
                   0);
  assert_true(integer(capped, "shortened_columns") > 0 && integer(capped, "cap") == 4);
  assert_int_equal(integer(full, "blocks"),
                   integer(capped, "blocks") + integer(capped, "cut_blocks"));
  assert_true(integer(dropped, "dropped_lower") + integer(dropped, "dropped_upper") > 0);
  assert_true(integer(dropped, "blocks") < integer(full, "blocks"));
  assert_true(real(dropped, "drop") == 0.2);
  json_decref(root);
}

/* A grid has the two colours of a chequerboard. */
static void orderings_are_told(void **state) {
  (void)state;
  static const char *const keys[] = {
      "ordering",        "lower_levels",  "upper_levels", "natural_bandwidth", "bandwidth",
      "natural_profile", "profile",       "matching",     "moved_rows",        "equilibrated",
      "smallest_scale",  "largest_scale", "order_s"};
  json_t *root =
      results("compare --case convdiff --size 8 --block-size 1 --methods ilu --ordering colour");
  json_t *order = json_object_get(run_of(root, 0), "order");
  expect_keys(order, keys, sizeof keys / sizeof keys[0]);
  assert_string_equal(text(order, "ordering"), "colour");
  assert_int_equal(integer(order, "lower_levels"), 2);
  assert_int_equal(integer(order, "upper_levels"), 2);
  assert_int_equal(integer(order, "natural_bandwidth"), 64);
  assert_true(integer(order, "bandwidth") > 64 &&
              integer(order, "profile") > integer(order, "natural_profile"));
  assert_true(json_is_false(json_object_get(order, "equilibrated")) &&
              real(order, "largest_scale") == 1.0);
  assert_int_equal(integer(run_of(root, 0), "factor_blocks"), 8 * 8 * (8 + 6 * 7));
  json_decref(root);
  root = results("compare --case convdiff --size 8 --block-size 1 --methods ilu");
  order = json_object_get(run_of(root, 0), "order");
  assert_string_equal(text(order, "ordering"), "natural");
  assert_int_equal(integer(order, "lower_levels"), 3 * 7 + 1);
  assert_string_equal(text(order, "matching"), "none");
  json_decref(root);
  root =
      results("compare --case convdiff --size 8 --block-size 1 --ordering rcm --matching entries "
              "--methods ilu,ilu:ordering=natural:matching=none,isai:matching=blocks,bjacobi");
  static const char *const orderings[] = {"rcm", "natural", "rcm"}, *const matchings[] = {"entries",
                                                                                          "none",
                                                                                          "blocks"};
  for (size_t i = 0; i < 3; i++) {
    order = json_object_get(run_of(root, i), "order");
    assert_string_equal(text(order, "ordering"), orderings[i]);
    assert_string_equal(text(order, "matching"), matchings[i]);
    assert_int_equal(integer(order, "moved_rows"), 0); /* the diagonal is dominant */
  }
  json_decref(root);
  root =
      results("compare tiny_diagonal.mtx --block-size 1 --methods isai:storage=fp16 --equilibrate");
  assert_string_equal(text(run_of(root, 0), "reason"), "converged");
  order = json_object_get(run_of(root, 0), "order");
  assert_true(json_is_true(json_object_get(order, "equilibrated")));
  assert_true(real(order, "smallest_scale") == 512.0); /* 1e-6 < 2^-19: half is 2^9 */
  json_decref(root);
}

/* A set-up that failed: no iterations, no times, and the reason. */
static void expect_failed_setup(json_t *run, const char *reason) {
  assert_string_equal(text(run, "reason"), reason);
  assert_true(json_is_false(json_object_get(run, "converged")));
  static const char *const keys[] = {"iterations", "relative_residual", "factor_s",
                                     "pattern_s",  "values_s",          "setup_s",
                                     "apply30_s",  "solve_s",           "blocks"};
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (!json_is_null(json_object_get(run, keys[i])))
      fail_msg("%s of a failed set-up is not null", keys[i]);
  }
}

static void failures_are_runs_with_their_reason_in_order(void **state) {
  (void)state;
  json_t *root =
      results("compare half_zero.mtx --rhs ones --block-size 1 --methods bjacobi,none,ilu");
  expect_failed_setup(run_of(root, 0), "singular_block");
  assert_string_equal(text(run_of(root, 1), "reason"), "failed"); /* breakdown */
  assert_true(json_is_integer(json_object_get(run_of(root, 1), "iterations")));
  expect_failed_setup(run_of(root, 2), "singular_block");
  json_decref(root);

  root = results(
      "compare no_diagonal.mtx --block-size 1 --rhs first1.mtx --restart 1 --methods isai,none");
  expect_failed_setup(run_of(root, 0), "missing_diagonal");
  assert_string_equal(text(run_of(root, 1), "reason"), "stagnated");
  EXPECT_NEAR(1, real(run_of(root, 1), "relative_residual"), 1e-15); /* x stays 0 */
  json_decref(root);

  root = results("compare tiny_diagonal.mtx --block-size 1 --methods "
                 "isai:storage=fp16,isai:storage=bf16,isai");
  expect_failed_setup(run_of(root, 0), "overflow");
  assert_string_equal(text(run_of(root, 1), "reason"), "converged");
  assert_string_equal(text(run_of(root, 2), "reason"), "converged");
  json_decref(root);

  root = results_with(1, "solve --case cavity --size 8 --preconditioner ilu --max-iterations 2");
  assert_string_equal(text(run_of(root, 0), "reason"), "max_iterations");
  assert_int_equal(integer(run_of(root, 0), "iterations"), 2);
  assert_true(json_is_false(json_object_get(run_of(root, 0), "converged")));
  json_decref(root);
}

static void the_residual_is_that_of_the_written_solution(void **state) {
  (void)state;
  json_t *root =
      results("solve laplace5.mtx --rhs ones --block-size 2 --tolerance 1e-3 --preconditioner isai "
              "--output x.mtx");
  bisai_context *context = test_context(1);
  double x[7] = {0}, sum = 0;
  EXPECT_OK(context, bisai_read_vector(context, "x.mtx", 5, x + 1));
  for (int i = 1; i <= 5; i++) {
    const double r = 1 - (2 * x[i] - x[i - 1] - x[i + 1]);
    sum += r * r;
  }
  const double expected = sqrt(sum / 5);
  /* x has 17 digits in the file; what differs is the rounding of b − A x, a few units of the last
   * place of |A||x| ≤ 18. */
  EXPECT_NEAR(expected, real(run_of(root, 0), "relative_residual"), 1e-14);
  assert_true(expected <= 2e-3);
  bisai_context_destroy(&context);
  json_decref(root);
}

static void residuals_are_right_where_squares_leave_the_range_of_a_double(void **state) {
  (void)state;
  static const char *const sizes[] = {"6e200", "6e-200", "6e300", "6e-300"};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    char rhs[128];
    snprintf(rhs, sizeof rhs, "%%%%MatrixMarket matrix array real general\n5 1\n0\n0\n0\n0\n%s\n",
             sizes[i]);
    program_write("extreme.mtx", rhs);
    json_t *root =
        results("compare laplace5.mtx --block-size 1 --rhs extreme.mtx --methods none,ilu");
    for (size_t k = 0; k < 2; k++) {
      assert_string_equal(text(run_of(root, k), "reason"), "converged");
      assert_true(real(run_of(root, k), "relative_residual") <= 2e-8);
    }
    json_decref(root);
  }
  /* x = 1e500 is beyond a double: what is left is x = 0. */
  program_write("tiny.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-300\n");
  program_write("extreme.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e200\n");
  json_t *root =
      results_with(3, "solve tiny.mtx --block-size 1 --rhs extreme.mtx --preconditioner none");
  assert_string_equal(text(run_of(root, 0), "reason"), "not_finite");
  EXPECT_NEAR(1, real(run_of(root, 0), "relative_residual"), 1e-15);
  json_decref(root);
}

static void a_restart_beyond_the_system_takes_no_memory(void **state) {
  (void)state;
  json_t *root =
      results("solve --case convdiff --size 8 --restart 2147483647 --preconditioner ilu");
  assert_int_equal(integer(root, "restart"), 2147483647);
  const json_int_t iterations = integer(run_of(root, 0), "iterations");
  json_decref(root);
  root = results("solve --case convdiff --size 8 --restart 512 --preconditioner ilu");
  assert_int_equal(integer(run_of(root, 0), "iterations"), iterations);
  json_decref(root);
  root = results_with(1, "solve --case convdiff --size 64 --restart 2147483647 --max-iterations 5 "
                         "--preconditioner none");
  assert_int_equal(integer(run_of(root, 0), "iterations"), 5);
  json_decref(root);
}

/* A basis of 33 GB where 16 may be had; sanitizers take more than that for themselves. */
static void a_set_up_is_reported_also_where_the_solver_finds_no_memory(void **state) {
  (void)state;
  struct rlimit before, bounded;
  if (TEST_SANITIZED || getrlimit(RLIMIT_AS, &before) != 0) skip();
  bounded = before;
  bounded.rlim_cur = (rlim_t)16 << 30;
  if (bounded.rlim_cur > before.rlim_max || setrlimit(RLIMIT_AS, &bounded) != 0) skip();
  json_t *root = results(
      "compare --case convdiff --size 40 --restart 64000 --max-iterations 64000 --methods isai");
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  json_t *run = run_of(root, 0);
  assert_string_equal(text(run, "reason"), "failed");
  assert_true(real(run, "setup_s") >= real(run, "factor_s"));
  assert_true(real(run, "pattern_s") >= 0);
  assert_true(real(run, "values_s") >= 0);
  assert_true(integer(run, "blocks") > 2 * 16000);
  assert_true(json_is_null(json_object_get(run, "iterations")));
  json_decref(root);
}

static void json_goes_to_a_file_beside_the_table(void **state) {
  (void)state;
  program p = run("compare --case cavity --size 4 --methods ilu --json out.json");
  assert_int_equal(p.status, 0);
  assert_non_null(strstr(p.out, "\nilu "));
  program_free(&p);
  json_t *root = json_load_file("out.json", 0, NULL);
  assert_non_null(root);
  assert_int_equal(json_array_size(json_object_get(root, "runs")), 1);
  json_decref(root);
}

static void a_matrix_of_the_paper_has_its_block_size_and_tolerance(void **state) {
  (void)state;
  json_t *root = results("solve venkat50.mtx --preconditioner ilu");
  assert_string_equal(text(json_object_get(root, "matrix"), "name"), "venkat50");
  assert_int_equal(integer(json_object_get(root, "matrix"), "block_size"), 4);
  assert_true(real(root, "tolerance") == 1e-8);
  json_decref(root);
  root = results("solve venkat50.mtx --preconditioner ilu --block-size 1 --tolerance 1e-4");
  assert_int_equal(integer(json_object_get(root, "matrix"), "block_size"), 1);
  assert_true(real(root, "tolerance") == 1e-4);
  json_decref(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_has_exactly_the_keys_of_the_contract),
      cmocka_unit_test(a_choice_is_written_in_c),
      cmocka_unit_test(the_solver_and_what_is_its_own_are_named),
      cmocka_unit_test(default_methods_are_the_eight_of_the_contract),
      cmocka_unit_test(blocks_of_block_jacobi_are_an_object),
      cmocka_unit_test(what_does_not_apply_is_null),
      cmocka_unit_test(what_the_set_up_changed_is_told),
      cmocka_unit_test(orderings_are_told),
      cmocka_unit_test(failures_are_runs_with_their_reason_in_order),
      cmocka_unit_test(the_residual_is_that_of_the_written_solution),
      cmocka_unit_test(residuals_are_right_where_squares_leave_the_range_of_a_double),
      cmocka_unit_test(a_restart_beyond_the_system_takes_no_memory),
      cmocka_unit_test(a_set_up_is_reported_also_where_the_solver_finds_no_memory),
      cmocka_unit_test(json_goes_to_a_file_beside_the_table),
      cmocka_unit_test(a_matrix_of_the_paper_has_its_block_size_and_tolerance),
  };
  return cmocka_run_group_tests_name("cli_json", tests, setup, program_teardown);
}
