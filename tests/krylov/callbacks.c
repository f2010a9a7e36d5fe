/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES with callbacks: operators and preconditioners that fail or return NaN, the reduction hook,
 * and the messages of each. */
#include <math.h>

#include "systems.h"

enum { SIDE = 16, POINTS = SIDE * SIDE };

/* The operator is called once a step and once at each restart (5 steps and a residual a cycle, no
 * product for x = 0). */
static void nan_from_the_operator_leaves_the_best_finite_iterate(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { N = 30 };
  double *b = test_random_vector(N, 2), *a = test_random_vector(N * N, 3), x[N];
  for (int i = 0; i < N; i++) a[i + i * N] += 8;
  double previous = 1;
  for (int call = 1; call <= 14; call++) {
    dense_operator op = {.a = a, .nan_at = call};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.restart = 5;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
    assert_int_equal(BISAI_REASON_NOT_FINITE, report.reason);
    assert_true(test_all_finite(N, x));
    const int steps[] = {0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 10, 11};
    assert_int_equal(steps[call - 1], report.iterations);
    if (call == 6 || call == 12) { /* the residual after a cycle: that iterate cannot be trusted */
      assert_true(report.relative_residual > previous);
    } else {
      assert_true(report.relative_residual <= previous);
      previous = report.relative_residual;
    }
  }
  free(a);
  free(b);
  bisai_context_destroy(&context);
}

static void a_failing_operator_is_passed_up_and_keeps_the_last_cycle(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { N = 30 };
  double *b = test_random_vector(N, 2), *a = test_random_vector(N * N, 3), x[N], after_five[N];
  for (int i = 0; i < N; i++) a[i + i * N] += 8;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = 5;
  options.max_iterations = 5;
  dense_operator healthy = {.a = a}, op = {.a = a, .fail_at = 9};
  bisai_solver_report report = test_report(), first = test_report();
  EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                test_solve_dense(context, &options, N, &healthy, NULL, b, after_five, &first));
  options.max_iterations = 100;
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
  EXPECT_MESSAGE(context,
                 "iteration 7: the operator's callback returned status 12 (input/output error)");
  assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
  assert_int_equal(7, report.iterations);
  assert_memory_equal(after_five, x, sizeof x);
  EXPECT_NEAR(first.relative_residual, report.relative_residual, 0);
  /* the residual after the second cycle: back to the first */
  op = (dense_operator){.a = a, .fail_at = 12};
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
  assert_memory_equal(after_five, x, sizeof x);
  EXPECT_NEAR(first.relative_residual, report.relative_residual, 0);
  /* the residual after the first cycle: back to x = 0 */
  op = (dense_operator){.a = a, .fail_at = 6};
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
  EXPECT_NEAR(0, test_norm2(N, x), 0);
  EXPECT_NEAR(1, report.relative_residual, 0);
  free(a);
  free(b);
  bisai_context_destroy(&context);
}

static void a_failing_preconditioner_is_passed_up_on_every_side(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2), x[POINTS], scale[POINTS];
  for (int i = 0; i < POINTS; i++) scale[i] = 0.25;
  for (int variant = 0; variant < 3; variant++) {
    for (int call = 1; call <= 13; call++) {
      diagonal_operator op = {.scale = scale, .fail_at = call};
      bisai_precond *precond =
          test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
      bisai_solver_options options = bisai_solver_options_default();
      options.gmres.restart = 5;
      options.gmres.side = variant == 1 ? BISAI_LEFT : BISAI_RIGHT;
      options.gmres.flexible = variant == 2;
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                    test_solve(context, &options, matrix, precond, b, x, &report));
      EXPECT_MESSAGE(context, "the preconditioner's callback returned status 11 (not supported)");
      assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
      assert_int_equal(call, op.calls);
      assert_int_equal(call, report.applications);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-15);
      bisai_precond_destroy(&precond);
    }
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Squares of 2^1000 overflow: before the solve begins once more with a multiple of A, M⁻¹ is
 * applied beside the iterations. */
static void a_preconditioner_that_fails_between_two_attempts_is_the_reason(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(2, 1, 0x1p1000, 0x1p999));
  const double b[] = {0.5, -0.25}, scale[] = {1, 2};
  double x[2];
  int failures = 0;
  bisai_status status = BISAI_OK;
  for (int call = 1; call <= 16; call++) {
    diagonal_operator op = {.scale = scale, .fail_at = call};
    bisai_precond *precond =
        test_precond_callback(context, matrix, diagonal_operator_multiply, &op);
    bisai_solver_report report = test_report();
    status = test_solve(context, NULL, matrix, precond, b, x, &report);
    if (status) assert_int_equal(BISAI_CALLBACK_FAILED, status);
    assert_int_equal(status ? BISAI_REASON_PRECOND_FAILED : BISAI_REASON_CONVERGED, report.reason);
    failures += status != BISAI_OK;
    bisai_precond_destroy(&precond);
  }
  assert_int_equal(BISAI_OK, status); /* a call that is never made */
  /* At least the one between the attempts and the one that makes x. On a device, calls of steps
   * enqueued beyond the end count for nothing. */
  assert_true(failures >= 2);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void a_preconditioner_whose_update_failed_is_not_ready(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_identity(context, 4);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
  int32_t blocks = bisai_bcsr_blocks(matrix);
  double *zeros = calloc((size_t)blocks, sizeof *zeros), x[4];
  const double b[4] = {1, 2, 3, 4};
  EXPECT_OK(context, bisai_bcsr_update(matrix, zeros, BISAI_COLUMN_MAJOR));
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, matrix));
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, BISAI_NOT_READY,
                test_solve(context, NULL, matrix, precond, b, x, &report));
  assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
  free(zeros);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* k steps in one cycle: ‖b‖, the last residual, ‖x‖, and in each step the batch of products and the
 * norm; modified Gram–Schmidt sums every product on its own, refinement adds a batch. */
static void every_sum_goes_through_the_reduction_hook_once(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  double *b = test_random_vector(POINTS, 2), x[POINTS], alone[POINTS];
  const int k = 7, calls[3] = {3 + 2 * k, 3 + 3 * k, 3 + k * (k + 1) / 2 + k};
  const int values[3] = {3 + k * (k + 1) / 2 + k, 3 + k * (k + 1) + k, 3 + k * (k + 1) / 2 + k};
  for (int variant = 0; variant < 3; variant++) {
    test_twins hook = {.processes = 1};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.orthogonalization = (bisai_orthogonalization)variant;
    options.max_iterations = k;
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve(context, &options, matrix, NULL, b, alone, NULL));
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve(context, &options, matrix, NULL, b, x, NULL));
    /* A device takes fused steps where nobody adds to its sums. */
    EXPECT_CLOSE(POINTS, alone, x, test_on_device() ? 1e-12 : 0.0);
    assert_int_equal(calls[variant], hook.calls);
    assert_int_equal(values[variant], hook.values);
  }
  free(b);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Four processes with the same part each take the iterations of one and the same solution: sums
 * times 4 are norms times 2, exactly. */
static void identical_processes_solve_as_one(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_convdiff(context, SIDE);
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ISAI);
  double *b = test_random_vector(POINTS, 2), x[POINTS], alone[POINTS];
  for (int left = 0; left < 2; left++) {
    test_twins hook = {.processes = 4};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.side = left ? BISAI_LEFT : BISAI_RIGHT;
    bisai_solver_report one = test_report(), four = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, alone, &one));
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &four));
    assert_int_equal(one.iterations, four.iterations);
    EXPECT_NEAR(one.relative_residual, four.relative_residual, 1e-15);
    EXPECT_CLOSE(POINTS, alone, x, 1e-12);
  }
  free(b);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void a_failing_reduction_is_passed_up(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, b[2] = {3, 5};
  double x[2];
  dense_operator op = {.a = a};
  for (int call = 1; call <= 5; call++) {
    test_twins hook = {.processes = 1, .fail_at = call};
    bisai_solver_options options = bisai_solver_options_default();
    options.gmres.orthogonalization =
        BISAI_CLASSICAL; /* two reductions an iteration, whatever cancels */
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                  test_solve_dense(context, &options, 2, &op, NULL, b, x, &report));
    char message[128];
    snprintf(message, sizeof message,
             "iteration %d: the reduction hook returned status 10 (not available in this build or "
             "on this machine)",
             call < 4 ? 0 : 1);
    EXPECT_MESSAGE(context, message);
    assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
    assert_int_equal(call, hook.calls);
  }
  bisai_context_destroy(&context);
}

static bisai_status leaves_a_message(void *user, int64_t n, const double *x, double *y) {
  (void)n, (void)x, (void)y;
  return bisai_context_fail(user, BISAI_IO_ERROR, "the mesh is gone");
}

static bisai_status sum_leaves_a_message(void *user, double *values, int count) {
  (void)values, (void)count;
  return bisai_context_fail(user, BISAI_IO_ERROR, "a process is gone");
}

static void messages_of_callbacks_end_those_of_the_solve(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double b[2] = {3, 5};
  double x[2];
  for (int with_sum = 0; with_sum < 2; with_sum++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.reduce = with_sum ? sum_leaves_a_message : NULL;
    options.reduce_user = context;
    bisai_solver *solver = NULL;
    EXPECT_OK(context, bisai_solver_create(context, 2, &options, &solver));
    EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                  bisai_solver_solve_operator(solver, leaves_a_message, context, NULL, b, x, NULL));
    EXPECT_MESSAGE(context, with_sum ? "iteration 0: the reduction hook returned status 12 "
                                       "(input/output error): a process is gone"
                                     : "iteration 0: the operator's callback returned status 12 "
                                       "(input/output error): the mesh is gone");
    bisai_solver_destroy(&solver);
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nan_from_the_operator_leaves_the_best_finite_iterate),
      cmocka_unit_test(a_failing_operator_is_passed_up_and_keeps_the_last_cycle),
      cmocka_unit_test(a_failing_preconditioner_is_passed_up_on_every_side),
      cmocka_unit_test(a_preconditioner_that_fails_between_two_attempts_is_the_reason),
      cmocka_unit_test(a_preconditioner_whose_update_failed_is_not_ready),
      cmocka_unit_test(every_sum_goes_through_the_reduction_hook_once),
      cmocka_unit_test(identical_processes_solve_as_one),
      cmocka_unit_test(a_failing_reduction_is_passed_up),
      cmocka_unit_test(messages_of_callbacks_end_those_of_the_solve),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
