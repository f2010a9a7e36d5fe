/* SPDX-License-Identifier: BSD-3-Clause */
/* Solvers: memory, refused options and arguments, names of reasons. */
#include <math.h>

#include "systems.h"

enum { SIDE = 16, POINTS = SIDE * SIDE };

static void a_solve_allocates_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int flexible = 0; flexible < 2; flexible++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.flexible = flexible;
    bisai_solver *solver = NULL;
    EXPECT_OK(context, bisai_solver_create(context, POINTS, &options, &solver));
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, x, NULL));
    /* On a device b and x are copied, and nothing else. */
    assert_int_equal(atomic_load(&allocator.calls) - before, test_on_device() ? 2 : 0);
    bisai_solver_destroy(&solver);
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  assert_true(atomic_load(&allocator.live_blocks) == 0);
}

static void solvers_that_do_not_fit_into_memory_are_refused(void **state) {
  (void)state;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.flexible = true;
  /* Handle, state, basis, directions, scalars, work, status, history; on a device the status words
   * are pinned memory. */
  assert_int_equal(test_solver_allocations(&options), test_on_device() ? 7 : 8);
  bisai_context *context = test_context(1);
  bisai_solver *solver = NULL;
  /* Beyond what size_t can count; refused before any allocator is asked. */
  const int64_t sizes[] = {INT64_MAX, INT64_MAX / 16};
  for (int k = 0; k < 2; k++)
    EXPECT_STATUS(context, BISAI_OUT_OF_MEMORY,
                  bisai_solver_create(context, sizes[k], NULL, &solver));
  assert_null(solver);
  bisai_context_destroy(&context);
}

static void expect_refused(bisai_context *context, int64_t n, bisai_solver_options options,
                           const char *message) {
  bisai_solver *solver = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_create(context, n, &options, &solver));
  EXPECT_MESSAGE(context, message);
  assert_null(solver);
}

static void bad_options_are_refused_by_name(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const bisai_solver_options good = bisai_solver_options_default();
  bisai_solver_options o = good;
  expect_refused(context, -1, o, "n is -1, must not be negative");
  o.gmres.restart = 0;
  expect_refused(context, 4, o, "restart 0: at least 1 is needed");
  o = good;
  o.tolerance = -1e-8;
  expect_refused(context, 4, o, "tolerance is -1e-08, must be at least 0 and below 1");
  o.tolerance = NAN;
  bisai_solver *solver = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create(context, 4, &o, &solver));
  o.tolerance = 1;
  expect_refused(context, 4, o, "tolerance is 1, must be at least 0 and below 1");
  o = good;
  o.max_iterations = -5;
  expect_refused(context, 4, o, "max_iterations is -5, must not be negative");
  o = good;
  o.gmres.side = (bisai_side)2;
  expect_refused(context, 4, o, "unknown side 2");
  o = good;
  o.gmres.side = BISAI_LEFT;
  o.gmres.flexible = true;
  expect_refused(context, 4, o, "flexible GMRES preconditions on the right only");
  o = good;
  o.gmres.orthogonalization = (bisai_orthogonalization)4;
  expect_refused(context, 4, o, "unknown orthogonalization 4");
  o = good;
  o.stagnation_cycles = -1;
  expect_refused(context, 4, o, "stagnation_cycles is -1, must not be negative");
  o = good;
  o.struct_size = 3;
  char message[128];
  snprintf(message, sizeof message,
           "bisai_solver_options.struct_size is 3, expected %zu: start from its default", sizeof o);
  expect_refused(context, 4, o, message);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create(context, 4, NULL, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_solver_create(NULL, 4, NULL, &solver));
  bisai_context_destroy(&context);
}

static bisai_status never_called(void *user, int64_t n, const double *x, double *y) {
  (void)user, (void)n, (void)x, (void)y;
  fail_msg("multiplied");
  return BISAI_CALLBACK_FAILED;
}

static void bad_arguments_of_a_solve_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *three = test_identity(context, 3);
  const int32_t row_ptr[5] = {0, 0, 0, 0, 0};
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = 4;
  desc.block_cols = 3;
  desc.block_size = 1;
  desc.row_ptr = row_ptr;
  bisai_bcsr *rectangular = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &rectangular));
  bisai_solver *solver = NULL;
  EXPECT_OK(context, bisai_solver_create(context, 4, NULL, &solver));
  double b[4] = {1, 1, 1, 1}, x[4] = {7, 7, 7, 7};
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, three, NULL, b, x, &report));
  EXPECT_MESSAGE(context, "the matrix is 3 × 3, the solver is for 4 unknowns");
  assert_int_equal(BISAI_REASON_NONE, report.reason);
  assert_int_equal(0, report.iterations);
  assert_true(isnan(report.relative_residual));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, rectangular, NULL, b, x, NULL));
  EXPECT_MESSAGE(context, "the matrix is 4 × 3, the solver is for 4 unknowns");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, NULL, NULL, b, x, NULL));
  EXPECT_MESSAGE(context, "the operator is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, three, NULL, NULL, x, NULL));
  EXPECT_MESSAGE(context, "b is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, three, NULL, b, NULL, NULL));
  EXPECT_MESSAGE(context, "x is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, three, NULL, x, x, NULL));
  EXPECT_MESSAGE(context, "b and x are the same array");
  bisai_precond *precond = test_precond(context, three, BISAI_PRECOND_NONE);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve_operator(solver, never_called, NULL, precond, b, x, NULL));
  EXPECT_MESSAGE(context, "the preconditioner is for 3 unknowns, the solver for 4");
  bisai_precond_destroy(&precond);
  report.struct_size--;
  char message[128];
  snprintf(message, sizeof message,
           "bisai_solver_report.struct_size is %zu, expected %zu: set it to the struct's size in "
           "this version's headers",
           report.struct_size, sizeof report);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_solver_solve(solver, three, NULL, b, x, &report));
  EXPECT_MESSAGE(context, message);
  EXPECT_NEAR(7, x[0], 0);
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_solver_solve(NULL, three, NULL, b, x, NULL));
  bisai_solver_destroy(&solver);
  bisai_solver_destroy(&solver);
  bisai_solver_destroy(NULL);
  bisai_bcsr_destroy(&three);
  bisai_bcsr_destroy(&rectangular);
  bisai_context_destroy(&context);
}

static void a_solver_takes_other_limits_for_later_solves(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2), x[POINTS], expected[POINTS];
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_solver *solver = NULL, *other = NULL;
  options.max_iterations = 500;
  EXPECT_OK(context, bisai_solver_create(context, POINTS, &options, &solver));
  options.tolerance = 1e-3;
  EXPECT_OK(context, bisai_solver_create(context, POINTS, &options, &other));
  EXPECT_OK(context, bisai_solver_solve(other, matrix, NULL, b, expected, NULL));
  /* the method and its options are not taken */
  options.method = BISAI_CG;
  options.gmres.restart = 2;
  EXPECT_OK(context, bisai_solver_set_options(solver, &options));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, NULL, b, x, &report));
  EXPECT_CLOSE(POINTS, expected, x, 0);
  assert_true(report.relative_residual > 1e-5);
  options.tolerance = 1e-10;
  options.use_initial_guess = true;
  options.max_iterations = 3;
  EXPECT_OK(context, bisai_solver_set_options(solver, &options));
  EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                bisai_solver_solve(solver, matrix, NULL, b, x, &report));
  assert_int_equal(report.iterations, 3);
  assert_true(report.history[0] < 2e-3);
  options.max_iterations = 501;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_set_options(solver, &options));
  EXPECT_MESSAGE(context, "max_iterations is 501, and the solver was created for 500");
  options.max_iterations = 500;
  options.tolerance = 2;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_set_options(solver, &options));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_set_options(solver, NULL));
  assert_int_equal(bisai_solver_set_options(NULL, &options), BISAI_INVALID_ARGUMENT);
  free(b);
  bisai_solver_destroy(&solver);
  bisai_solver_destroy(&other);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void every_reason_has_a_name(void **state) {
  (void)state;
  static const char *const names[] = {"none",      "converged",  "max_iterations", "stagnated",
                                      "breakdown", "not_finite", "precond_failed", "stopped"};
  for (int k = 0; k < 8; k++) assert_string_equal(names[k], bisai_reason_string((bisai_reason)k));
  assert_string_equal("unknown reason", bisai_reason_string((bisai_reason)8));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_solve_allocates_nothing),
      cmocka_unit_test(solvers_that_do_not_fit_into_memory_are_refused),
      cmocka_unit_test(bad_options_are_refused_by_name),
      cmocka_unit_test(bad_arguments_of_a_solve_are_refused),
      cmocka_unit_test(a_solver_takes_other_limits_for_later_solves),
      cmocka_unit_test(every_reason_has_a_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
