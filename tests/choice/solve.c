/* SPDX-License-Identifier: BSD-3-Clause */
/* bisai_solve(), the solver that keeps its choice, and the kind `auto`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <bisai/solve.h>

#include "support/mesh.h"

typedef struct setting {
  bisai_context *context;
  bisai_bcsr *matrix;
  int64_t n;
  double *b, *x;
} setting;

/* Takes the arrays of a matrix. */
static setting begin(bisai_context *context, test_bcsr arrays) {
  setting s = {.context = context, .matrix = test_bcsr_take(context, arrays)};
  s.n = (int64_t)bisai_bcsr_block_rows(s.matrix) * bisai_bcsr_block_size(s.matrix);
  s.b = test_random_vector(s.n, 7);
  s.x = test_nan_vector(s.n);
  return s;
}

static void end(setting *s) {
  free(s->b);
  free(s->x);
  bisai_bcsr_destroy(&s->matrix);
}

static double residual(const setting *s) {
  double *y = malloc((size_t)s->n * sizeof *y), above = 0, below = 0;
  EXPECT_OK(s->context, bisai_bcsr_multiply(s->matrix, s->x, y));
  for (int64_t i = 0; i < s->n; i++) {
    above += (s->b[i] - y[i]) * (s->b[i] - y[i]);
    below += s->b[i] * s->b[i];
  }
  free(y);
  return sqrt(above / below);
}

static bisai_solve_report solve_one(setting *s, const bisai_solve_options *options) {
  bisai_solve_report report = {.struct_size = sizeof report};
  EXPECT_OK(s->context, bisai_solve(s->context, s->matrix, s->b, s->x, options, &report));
  assert_true(residual(s) <= 2e-8);
  assert_int_equal(BISAI_REASON_CONVERGED, report.solver.reason);
  assert_null(report.choice.trials);
  assert_true(report.choice.count > 0 && report.choice.chosen == report.choice.count - 1);
  assert_non_null(strstr(report.reason, " was chosen "));
  return report;
}

static void systems_of_many_kinds_are_solved_without_options(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  setting definite = begin(context, test_bcsr_definite(200, 2, 3));
  bisai_solve_report report = solve_one(&definite, NULL);
  assert_true(report.solver_options.method == BISAI_CG ||
              report.precond_options.kind == BISAI_PRECOND_LU);
  end(&definite);
  setting grid = begin(context, test_bcsr_grid(20, 20, 3, 5));
  solve_one(&grid, NULL);
  end(&grid);
  setting random = begin(context, test_bcsr_random(test_shape_square(60, 1, 9)));
  solve_one(&random, NULL);
  end(&random);
  bisai_context_destroy(&context);
}

/* Row i has its large entry in column i + 1, and zeros on the diagonal. */
static void rows_in_the_wrong_order_are_matched(void **state) {
  (void)state;
  enum { ROWS = 300 };
  bisai_context *context = test_context(1);
  int32_t row_ptr[ROWS + 1], col_idx[2 * ROWS];
  double values[2 * ROWS];
  for (int32_t i = 0; i < ROWS; i++) {
    const int32_t large = (i + 1) % ROWS, small = (i + 7) % ROWS;
    row_ptr[i] = 2 * i;
    col_idx[2 * i] = large < small ? large : small;
    col_idx[2 * i + 1] = large < small ? small : large;
    values[2 * i] = large < small ? 4 : 1;
    values[2 * i + 1] = large < small ? 1 : 4;
  }
  row_ptr[ROWS] = 2 * ROWS;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = ROWS;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  setting s = {.context = context, .n = ROWS};
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &s.matrix));
  s.b = test_random_vector(ROWS, 7);
  s.x = test_nan_vector(ROWS);
  const bisai_solve_report report = solve_one(&s, NULL);
  assert_int_equal(BISAI_MATCHING_ENTRIES, report.precond_options.factor.matching);
  end(&s);
  bisai_context_destroy(&context);
}

static void a_choice_is_kept_and_takes_new_values(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_grid(15, 15, 2, 5));
  bisai_auto_solver *solver = NULL;
  bisai_solve_report report = {.struct_size = sizeof report};
  EXPECT_OK(context, bisai_auto_solver_create(context, NULL, &solver));
  assert_null(bisai_auto_solver_precond(solver));
  EXPECT_OK(context, bisai_auto_solver_solve(solver, s.matrix, s.b, s.x, &report));
  const bisai_precond *chosen = bisai_auto_solver_precond(solver);
  assert_non_null(chosen);
  assert_true(report.choice.trials[report.choice.chosen].status == BISAI_OK);
  for (int update = 0; update < 2; update++) {
    if (update) bisai_auto_solver_update(solver);
    EXPECT_OK(context, bisai_auto_solver_solve(solver, s.matrix, s.b, s.x, &report));
    assert_true(residual(&s) <= 2e-8 && bisai_auto_solver_precond(solver) == chosen);
  }
  bisai_auto_solver_destroy(&solver);
  bisai_auto_solver_destroy(&solver);
  end(&s);
  bisai_context_destroy(&context);
}

/* Solves, and returns the iterations. A choice allocates memory, and a solve by what was chosen
 * none, but for copies of b and x on a device. */
static int solve_by(setting *s, bisai_auto_solver *solver, test_allocator *allocator,
                    bool chooses) {
  bisai_solve_report report = {.struct_size = sizeof report};
  const long long calls = atomic_load(&allocator->calls);
  EXPECT_OK(s->context, bisai_auto_solver_solve(solver, s->matrix, s->b, s->x, &report));
  assert_true(residual(s) <= 2e-8);
  if (!test_on_device()) assert_int_equal(chooses, atomic_load(&allocator->calls) > calls);
  return report.solver.iterations;
}

/* The first values are dominated by the diagonal, the second ones are those of a mesh. */
static void a_choice_is_made_again_after_a_solve_of_twice_the_iterations(void **state) {
  (void)state;
  enum { SIDE = 40 };
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  test_bcsr mesh = test_mesh_diffusion(SIDE, SIDE, 1, TEST_ZERO_OUTSIDE, 0),
            easy = test_mesh_diffusion(SIDE, SIDE, 1, TEST_ZERO_OUTSIDE, 0);
  for (int32_t i = 0; i < SIDE * SIDE; i++) *test_bcsr_block(&easy, i, i) *= 30;
  setting s = begin(context, easy);
  bisai_auto_solver *solver = NULL;
  bisai_solve_options o = bisai_solve_options_default();
  o.precond.automatic.incomplete = true; /* complete factors need one iteration for all values */
  EXPECT_OK(context, bisai_auto_solver_create(context, &o, &solver));
  const int first = solve_by(&s, solver, &allocator, true);
  assert_int_equal(first, solve_by(&s, solver, &allocator, false));
  EXPECT_OK(context, bisai_bcsr_update(s.matrix, mesh.values, BISAI_COLUMN_MAJOR));
  bisai_auto_solver_update(solver);
  assert_true(solve_by(&s, solver, &allocator, false) > 2 * first);
  const int second = solve_by(&s, solver, &allocator, true);
  assert_int_equal(second, solve_by(&s, solver, &allocator, false));
  bisai_auto_solver_destroy(&solver);
  end(&s);
  test_bcsr_free(&mesh);
  bisai_context_destroy(&context);
}

static void a_given_preconditioner_and_solver_are_taken(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_grid(15, 15, 2, 5));
  bisai_solve_options o = bisai_solve_options_default();
  o.precond.kind = BISAI_PRECOND_BJACOBI;
  o.solver.method = BISAI_BICGSTAB;
  const bisai_solve_report report = solve_one(&s, &o);
  assert_int_equal(BISAI_PRECOND_BJACOBI, report.precond_options.kind);
  assert_int_equal(BISAI_BICGSTAB, report.solver.method);
  end(&s);
  bisai_context_destroy(&context);
}

static int stop(void *user, int iteration, double relative_residual) {
  (void)user, (void)relative_residual;
  return iteration >= 3;
}

static void what_cannot_be_solved_ends_with_a_diagnosis(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_diagonal(4, (const double[]){1, 2, 0, 3}));
  EXPECT_STATUS(context, BISAI_STAGNATED, bisai_solve(context, s.matrix, s.b, s.x, NULL, NULL));
  end(&s);
  s = begin(context, test_bcsr_grid(30, 30, 1, 5));
  bisai_solve_options o = bisai_solve_options_default();
  o.solver.tolerance = 1e-14;
  o.solver.monitor = stop;
  o.precond.automatic.incomplete = true; /* complete factors need fewer than three iterations */
  EXPECT_STATUS(context, BISAI_STOPPED, bisai_solve(context, s.matrix, s.b, s.x, &o, NULL));
  EXPECT_IN_MESSAGE(context, "stopped by the monitor");
  o.solver.monitor = NULL;
  o.precond.automatic.work = 0;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solve(context, s.matrix, s.b, s.x, &o, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solve(context, s.matrix, s.b, s.b, NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solve(context, NULL, s.b, s.x, NULL, NULL));
  end(&s);
  bisai_context_destroy(&context);
}

/* A clamped beam of n points: fourth differences, with a condition of about n⁴. */
static test_bcsr beam(int32_t n) {
  static const double differences[] = {1, -4, 6, -4, 1};
  test_bcsr a = {.block_rows = n, .block_cols = n, .block_size = 1};
  a.row_ptr = calloc((size_t)n + 1, sizeof *a.row_ptr);
  a.col_idx = calloc(5 * (size_t)n, sizeof *a.col_idx);
  a.values = calloc(5 * (size_t)n, sizeof *a.values);
  assert_true(a.row_ptr && a.col_idx && a.values);
  for (int32_t i = 0, p = 0; i < n; i++) {
    for (int32_t k = -2; k <= 2; k++) {
      if (i + k < 0 || i + k >= n) continue;
      a.col_idx[p] = i + k;
      a.values[p++] = differences[k + 2];
    }
    a.row_ptr[i + 1] = p;
  }
  return a;
}

/* Rounding the x of constant loads alone leaves a residual of 10^-5. */
static void a_system_beyond_all_digits_ends_with_its_complete_factors(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, beam(2000));
  bisai_solve_report report = {.struct_size = sizeof report};
  for (int64_t i = 0; i < s.n; i++) s.b[i] = 1;
  EXPECT_STATUS(context, BISAI_STAGNATED, bisai_solve(context, s.matrix, s.b, s.x, NULL, &report));
  EXPECT_IN_MESSAGE(context, "double precision holds no better x");
  assert_true(report.choice.count <= 3 && report.solver.exhausted);
  assert_true(residual(&s) < 1e-2);
  end(&s);
  bisai_context_destroy(&context);
}

/* Trials that a budget ends have an estimate of the residual, and GMRES has not yet computed x. */
static void the_residual_of_an_unsolved_system_is_that_of_x(void **state) {
  (void)state;
  static const bisai_method methods[] = {BISAI_GMRES, BISAI_CG, BISAI_IDR};
  bisai_context *context = test_context(1);
  setting s = begin(context, test_mesh_diffusion(80, 80, 1, TEST_ZERO_OUTSIDE, 0));
  for (int which = 0; which < 3; which++) {
    bisai_solve_options o = bisai_solve_options_default();
    bisai_solve_report report = {.struct_size = sizeof report};
    char text[16];
    o.solver_given = o.precond.automatic.incomplete = true;
    o.solver.method = methods[which];
    o.solver.tolerance = 1e-300;
    o.precond.automatic.work = 1e-3;
    assert_int_not_equal(BISAI_OK, bisai_solve(context, s.matrix, s.b, s.x, &o, &report));
    const double computed = residual(&s);
    snprintf(text, sizeof text, "%.1e", report.solver.relative_residual);
    assert_non_null(strstr(report.reason, text));
    assert_true(fabs(report.solver.relative_residual - computed) <= 1e-3 * computed);
    assert_true(computed < 0.1);
  }
  end(&s);
  bisai_context_destroy(&context);
}

/* Fails unless the options are refused with this message by both ways to choose. */
static void expect_refused(const setting *s, bisai_precond_options precond, const char *part) {
  bisai_solve_options o = bisai_solve_options_default();
  bisai_precond *made = NULL;
  o.precond = precond;
  EXPECT_STATUS(s->context, BISAI_INVALID_ARGUMENT,
                bisai_solve(s->context, s->matrix, s->b, s->x, &o, NULL));
  EXPECT_IN_MESSAGE(s->context, part);
  EXPECT_STATUS(s->context, BISAI_INVALID_ARGUMENT,
                bisai_precond_create(s->context, s->matrix, &precond, &made));
  EXPECT_IN_MESSAGE(s->context, part);
}

static void options_that_a_choice_cannot_take_are_refused_by_name(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_grid(6, 6, 2, 5));
  const bisai_precond_options automatic = bisai_solve_options_default().precond;
  bisai_precond_options o = automatic;
  double *vectors = test_random_vector(2 * s.n, 3);
  o.isai.power = 3;
  expect_refused(&s, o, "auto does not take the option power, which is for ");
  o = automatic;
  o.automatic.work = -1;
  expect_refused(&s, o, "work -1: between 0 and 1e+09 is needed");
  o = automatic;
  o.multigrid.null_count = 2;
  expect_refused(&s, o, "null_count is 2, null_vectors is NULL");
  o.multigrid.null_vectors = vectors;
  vectors[5] = NAN;
  expect_refused(&s, o, "null_vectors: row 2 of vector 1 is ");
  for (int64_t i = 0; i < s.n; i++) vectors[2 * i + 1] = 0;
  expect_refused(&s, o, "null_vectors: vector 1 (from 0) is zero");
  free(vectors);
  end(&s);
  bisai_context_destroy(&context);
}

/* A given preconditioner, a choice, and a solver that has chosen: b and the guess are checked by
 * all, and x stays finite. */
static void vectors_that_are_not_finite_are_named(void **state) {
  (void)state;
  const double bad[] = {NAN, INFINITY};
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_grid(6, 6, 2, 5));
  for (int which = 0; which < 4; which++) {
    bisai_solve_options o = bisai_solve_options_default();
    bisai_solve_report report = {.struct_size = sizeof report};
    bisai_auto_solver *solver = NULL;
    if (which % 2) o.precond.kind = BISAI_PRECOND_ILU;
    EXPECT_OK(context, bisai_auto_solver_create(context, &o, &solver));
    if (which == 3) EXPECT_OK(context, bisai_auto_solver_solve(solver, s.matrix, s.b, s.x, NULL));
    const double kept = s.b[9];
    s.b[9] = bad[which % 2];
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  bisai_auto_solver_solve(solver, s.matrix, s.b, s.x, &report));
    EXPECT_IN_MESSAGE(context, "b is not finite in row 9");
    assert_string_equal("b is not finite in row 9", report.reason);
    assert_int_equal(BISAI_REASON_NOT_FINITE, report.solver.reason);
    for (int64_t i = 0; i < s.n; i++) assert_true(s.x[i] == 0);
    s.b[9] = kept;
    EXPECT_OK(context, bisai_auto_solver_solve(solver, s.matrix, s.b, s.x, &report));
    bisai_auto_solver_destroy(&solver);
    o.solver.use_initial_guess = true;
    s.x[3] = bad[which % 2];
    EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_solve(context, s.matrix, s.b, s.x, &o, &report));
    EXPECT_IN_MESSAGE(context, "the initial guess is not finite in row 3");
  }
  end(&s);
  bisai_context_destroy(&context);
}

/* With its rigid-body modes, multigrid takes fewer iterations. The kind `auto` reads the vectors
 * during creation only. */
static void near_null_vectors_of_the_caller_are_used(void **state) {
  (void)state;
  enum { SIDE = 22, MODES = 6 };
  bisai_context *context = test_context(2);
  setting s = begin(context, test_mesh_springs(SIDE, SIDE, SIDE, TEST_FIXED_FACE));
  int iterations[2];
  for (int with = 0; with < 2; with++) {
    bisai_precond_options o = bisai_precond_options_default();
    bisai_solver_options how = bisai_solver_options_default();
    bisai_solver_report report = {.struct_size = sizeof report};
    bisai_precond *precond = NULL;
    bisai_solver *solver = NULL;
    double *modes = test_mesh_modes(SIDE, SIDE, SIDE);
    o.kind = BISAI_PRECOND_AUTO;
    o.automatic.symmetric = o.automatic.incomplete = true;
    how.method = BISAI_CG;
    if (with) o.multigrid.null_vectors = modes;
    if (with) o.multigrid.null_count = MODES;
    EXPECT_OK(context, bisai_precond_create(context, s.matrix, &o, &precond));
    free(modes);
    assert_non_null(strstr(bisai_precond_describe(precond), "auto: mg"));
    EXPECT_OK(context, bisai_precond_update(precond, s.matrix));
    EXPECT_OK(context, bisai_solver_create(context, s.n, &how, &solver));
    EXPECT_OK(context, bisai_solver_solve(solver, s.matrix, precond, s.b, s.x, &report));
    iterations[with] = report.iterations;
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&precond);
  }
  if (iterations[1] >= iterations[0])
    fail_msg("%d iterations, and %d with constants", iterations[1], iterations[0]);
  end(&s);
  bisai_context_destroy(&context);
}

/* Solves with a bound of memory, and copies the trials. */
static bisai_solve_report solve_within(setting *s, double bytes, bisai_status expected,
                                       bisai_trial *trials) {
  bisai_solve_options o = bisai_solve_options_default();
  bisai_solve_report report = {.struct_size = sizeof report};
  bisai_auto_solver *solver = NULL;
  o.precond.automatic.memory = bytes;
  EXPECT_OK(s->context, bisai_auto_solver_create(s->context, &o, &solver));
  EXPECT_STATUS(s->context, expected,
                bisai_auto_solver_solve(solver, s->matrix, s->b, s->x, &report));
  memcpy(trials, report.choice.trials, (size_t)report.choice.count * sizeof *trials);
  bisai_auto_solver_destroy(&solver);
  return report;
}

static void candidates_that_need_too_much_memory_are_left_out(void **state) {
  (void)state;
  enum { MOST = 24, SIDE = 30, ROWS = 2 * SIDE * SIDE };
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_grid(SIDE, SIDE, 2, 5));
  bisai_trial trials[MOST];
  /* Enough for a solver with short recurrences, and not for the basis of GMRES(100). */
  const double scarce = 8.0 * ROWS * 80;
  bisai_solve_report report = solve_within(&s, scarce, BISAI_OK, trials);
  assert_true(residual(&s) <= 2e-8);
  assert_int_not_equal(BISAI_GMRES, report.solver_options.method);
  assert_int_equal(report.choice.chosen, report.choice.count - 1);
  if (!test_on_device()) assert_true(report.choice.count > 1); /* there CG is first */
  for (int i = 0; i < report.choice.count - 1; i++) {
    assert_int_equal(BISAI_OUT_OF_MEMORY, trials[i].status);
    assert_non_null(strstr(trials[i].why, "automatic.memory allows"));
  }
  report = solve_within(&s, 1, BISAI_STAGNATED, trials);
  EXPECT_IN_MESSAGE(context, "automatic.memory allows");
  assert_int_equal(-1, report.choice.chosen);
  end(&s);
  bisai_context_destroy(&context);
}

static void the_kind_auto_is_a_preconditioner(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  setting s = begin(context, test_bcsr_definite(150, 2, 3));
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    bisai_precond_options o = bisai_precond_options_default();
    bisai_solver_options how = bisai_solver_options_default();
    bisai_precond *precond = NULL;
    bisai_solver *solver = NULL;
    o.kind = BISAI_PRECOND_AUTO;
    o.automatic.symmetric = symmetric;
    if (symmetric) how.method = BISAI_CG;
    EXPECT_OK(context, bisai_precond_create(context, s.matrix, &o, &precond));
    EXPECT_OK(context, bisai_precond_update(precond, s.matrix));
    EXPECT_OK(context, bisai_solver_create(context, s.n, &how, &solver));
    EXPECT_OK(context, bisai_solver_solve(solver, s.matrix, precond, s.b, s.x, NULL));
    assert_true(residual(&s) <= 2e-8);
    assert_true(strncmp(bisai_precond_describe(precond), "auto: ", 6) == 0);
    const bisai_precond_report report = test_report_of(context, precond);
    assert_true(report.kind == BISAI_PRECOND_AUTO && report.automatic.count > 0);
    assert_in_range(report.automatic.chosen, 0, report.automatic.count - 1);
    assert_int_equal(report.automatic.trials[report.automatic.chosen].status, BISAI_OK);
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&precond);
  }
  end(&s);
  bisai_context_destroy(&context);
}

/* One application of complete factors solves the system. */
static void complete_factors_come_first_where_nothing_accelerates(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const test_bcsr systems[] = {test_bcsr_definite(150, 2, 3), test_bcsr_grid(9, 8, 3, 5)};
  for (int i = 0; i < 2; i++) {
    setting s = begin(context, systems[i]);
    bisai_precond_options o = bisai_precond_options_default();
    bisai_precond *precond = NULL;
    o.kind = BISAI_PRECOND_AUTO;
    o.automatic.inverse = true;
    EXPECT_OK(context, bisai_precond_create(context, s.matrix, &o, &precond));
    assert_true(strncmp(bisai_precond_describe(precond), "auto: lu", 8) == 0);
    EXPECT_OK(context, bisai_precond_apply(precond, s.b, s.x));
    assert_true(residual(&s) <= 1e-10);
    bisai_precond_destroy(&precond);
    end(&s);
  }
  bisai_context_destroy(&context);
}

static void failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  for (long long fail_at = 1; status && fail_at < 4000; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 1);
    setting s = begin(context, test_bcsr_grid(6, 6, 2, 5));
    test_allocator_reset(&allocator, fail_at);
    status = bisai_solve(context, s.matrix, s.b, s.x, NULL, NULL);
    assert_true(!status || status == BISAI_OUT_OF_MEMORY);
    test_allocator_reset(&allocator, 0);
    end(&s);
    bisai_context_destroy(&context);
  }
  assert_int_equal(BISAI_OK, status);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(systems_of_many_kinds_are_solved_without_options),
      cmocka_unit_test(rows_in_the_wrong_order_are_matched),
      cmocka_unit_test(a_choice_is_kept_and_takes_new_values),
      cmocka_unit_test(a_choice_is_made_again_after_a_solve_of_twice_the_iterations),
      cmocka_unit_test(a_given_preconditioner_and_solver_are_taken),
      cmocka_unit_test(what_cannot_be_solved_ends_with_a_diagnosis),
      cmocka_unit_test(the_residual_of_an_unsolved_system_is_that_of_x),
      cmocka_unit_test(a_system_beyond_all_digits_ends_with_its_complete_factors),
      cmocka_unit_test(options_that_a_choice_cannot_take_are_refused_by_name),
      cmocka_unit_test(vectors_that_are_not_finite_are_named),
      cmocka_unit_test(near_null_vectors_of_the_caller_are_used),
      cmocka_unit_test(candidates_that_need_too_much_memory_are_left_out),
      cmocka_unit_test(the_kind_auto_is_a_preconditioner),
      cmocka_unit_test(complete_factors_come_first_where_nothing_accelerates),
      cmocka_unit_test(failing_allocations_leave_nothing_behind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
