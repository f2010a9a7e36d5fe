/* SPDX-License-Identifier: BSD-3-Clause */
/* How CG, BiCGSTAB and IDR(s) end: limits, NaN, failing callbacks, sums over processes, memory. */
#include <math.h>

#include "variants.h"

/* --- limits --- */

static void the_iteration_limit_is_exact_and_x_is_the_last_or_better(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    double estimates[14];
    for (int limit = 0; limit <= 13; limit++) {
      bisai_solver_options options = options_of(v);
      options.max_iterations = limit;
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                    test_solve(context, &options, matrix, NULL, b, x, &report));
      assert_int_equal(limit, report.iterations);
      assert_int_equal(limit + 1, report.history_length);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-15);
      estimates[limit] = report.estimated_residual;
      double least = 1;
      for (int k = 0; k < limit; k++) least = fmin(least, estimates[k]);
      if (report.estimated_residual < least)
        EXPECT_NEAR(report.estimated_residual, report.relative_residual, 1e-13);
      else
        assert_true(report.relative_residual <= fmin(2 * least, report.estimated_residual) + 1e-13);
    }
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

static void the_monitor_stops_the_solve_with_the_present_iterate(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2);
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    for (int stop = 0; stop <= 7; stop++)
      test_expect_stopped(context, options_of(v), matrix, b, stop);
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* On a device x is that of a few iterations more, which may converge meanwhile; what is reported is
 * true of it. */
static void a_late_monitor_stops_the_solve_soon(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  const int stops[] = {0, 3, 5, 7};
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    for (int k = 0; k < 4; k++) {
      bisai_solver_options options = options_of(v);
      options.monitor = test_stop_at;
      options.monitor_user = (void *)&stops[k];
      options.monitor_late = true;
      bisai_solver_report report = test_report();
      const bisai_status status = test_solve(context, &options, matrix, NULL, b, x, &report);
      if (status) EXPECT_STATUS(context, BISAI_STOPPED, status);
      assert_true(status == BISAI_STOPPED || report.relative_residual <= 2 * options.tolerance);
      assert_int_equal(stops[k], report.iterations);
      EXPECT_NEAR(test_relative_residual(matrix, x, b), report.relative_residual, 1e-13);
      assert_true(report.relative_residual <= 1);
    }
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* x is that of the iteration that converged, whatever was enqueued behind it: the residual of x is
 * what was reported. */
static void nothing_happens_to_x_after_convergence(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS], limited[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
    for (int digits = 1; digits <= 9; digits++) {
      bisai_solver_options options = options_of(v);
      options.tolerance = pow(10, -digits);
      bisai_solver_report report = test_report();
      EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &report));
      const int applications = report.applications;
      options.max_iterations = report.iterations;
      options.tolerance = 1e-15;
      EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                    test_solve(context, &options, matrix, precond, b, limited, &report));
      assert_memory_equal(limited, x, sizeof x);
      assert_int_equal(applications, report.applications);
    }
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* No fp64 residual of this system is 1e-18 of b; everything that can be had must be there all the
 * same, by way of restarts. */
static void a_tolerance_below_rounding_error_stagnates_at_a_good_solution(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    bisai_solver_options options = options_of(v);
    options.tolerance = 1e-18;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_STAGNATED,
                  test_solve(context, &options, matrix, NULL, b, x, &report));
    assert_int_equal(BISAI_REASON_STAGNATED, report.reason);
    assert_true(report.restarts >= 1);
    assert_true(report.relative_residual < 1e-14);
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* --- what is not finite, and what fails --- */

static void nan_in_the_vectors_is_named(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double a[4] = {2, 1, 1, 3}, good[2] = {3, 5}, bad[2] = {1, NAN};
  for (int v = 0; v < VARIANTS; v++) {
    dense_operator op = {.a = a};
    bisai_solver_options options = options_of(v);
    double x[2];
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve_dense(context, &options, 2, &op, NULL, bad, x, NULL));
    EXPECT_MESSAGE(context, "NaN or infinity in b");
    double guess[2] = {INFINITY, 1};
    options.use_initial_guess = true;
    EXPECT_STATUS(context, BISAI_NOT_FINITE,
                  test_solve_dense(context, &options, 2, &op, NULL, good, guess, NULL));
    EXPECT_MESSAGE(context, "NaN or infinity in entry 0 of the initial guess");
  }
  bisai_context_destroy(&context);
}

/* z ← 0.25 v; the call numbered `nan_at` has a NaN in it, or an infinity. */
typedef struct bad_preconditioner {
  int calls, nan_at;
  double value;
} bad_preconditioner;

static bisai_status spoil(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  bad_preconditioner *p = user;
  for (int64_t i = 0; i < n; i++) z[i] = 0.25 * v[i];
  if (++p->calls == p->nan_at) z[n / 2] = p->value;
  return BISAI_OK;
}

static void nan_from_the_preconditioner_leaves_the_last_finite_iterate(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS], limited[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    for (int call = 1; call <= 12; call++) {
      bad_preconditioner bad = {.nan_at = call, .value = call % 3 ? NAN : INFINITY},
                         fine = {.nan_at = 0};
      bisai_precond *precond = test_precond_callback(context, matrix, spoil, &bad);
      bisai_solver_options options = options_of(v);
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_NOT_FINITE,
                    test_solve(context, &options, matrix, precond, b, x, &report));
      assert_int_equal(BISAI_REASON_NOT_FINITE, report.reason);
      assert_int_equal(variants[v].method == BISAI_BICGSTAB ? (call - 1) / 2 : call - 1,
                       report.iterations);
      assert_true(test_all_finite(POINTS, x));
      assert_true(report.relative_residual <= 1);
      bisai_precond_destroy(&precond);
      options.max_iterations = report.iterations;
      precond = test_precond_callback(context, matrix, spoil, &fine);
      EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                    test_solve(context, &options, matrix, precond, b, limited, NULL));
      assert_memory_equal(limited, x, sizeof x);
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

static void failing_callbacks_are_passed_up(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { N = 30 };
  double *b = test_random_vector(N, 2), a[N * N] = {0}, x[N], scale[N];
  for (int i = 0; i < N; i++) {
    scale[i] = 0.25;
    for (int j = 0; j < N; j++) a[i + j * N] = i == j ? 4 : i == j + 1 || j == i + 1 ? -1 : 0;
  }
  bisai_bcsr *shape = test_identity(context, N);
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    for (int call = 1; call <= 8; call++) {
      dense_operator op = {.a = a, .fail_at = call};
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                    test_solve_dense(context, &options, N, &op, NULL, b, x, &report));
      const int iteration = variants[v].method == BISAI_BICGSTAB ? (call - 1) / 2 : call - 1;
      char message[128];
      snprintf(message, sizeof message,
               "iteration %d: the operator's callback returned status 12 (input/output error)",
               iteration);
      EXPECT_MESSAGE(context, message);
      assert_int_equal(iteration, report.iterations);
      assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
      EXPECT_NEAR(1, report.relative_residual, 0); /* of x = 0, the last that was looked at */
      EXPECT_NEAR(0, test_norm2(N, x), 0);
      op = (dense_operator){.a = a};
      diagonal_operator diagonal = {.scale = scale, .fail_at = call};
      bisai_precond *precond =
          test_precond_callback(context, shape, diagonal_operator_multiply, &diagonal);
      EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                    test_solve_dense(context, &options, N, &op, precond, b, x, &report));
      assert_int_equal(iteration, report.iterations);
      assert_int_equal(call, report.applications);
      bisai_precond_destroy(&precond);
    }
  }
  bisai_bcsr_destroy(&shape);
  free(b);
  bisai_context_destroy(&context);
}

/* --- sums over processes --- */

/* ‖b‖, the last residual, ‖x‖, the last two again where an earlier x was better; CG without M sums
 * p·q and r·r; BiCGSTAB one, three and two values; IDR(4) Pᵀr, four times Pᵀg and r·r, t·r with
 * t·t, and r·r; at first its shadow vectors, twice over: norms, and products from the second on. */
static void every_sum_goes_through_the_reduction_hook_once(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS], alone[POINTS];
  const int k = 10, of_shadow = 2 * 4 + 2 * 3; /* IDR(4): two cycles */
  const int calls[] = {3 + 2 * k, 3 + 3 * k, 0, 3 + of_shadow + 2 * (1 + 4 * 2 + 2)};
  const int values[] = {3 + 2 * k, 3 + 6 * k, 0, 3 + 2 * 4 + 2 * (1 + 2 + 3) + 2 * (4 + 4 * 5 + 3)};
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    test_twins hook = {.processes = 1};
    bisai_solver_options options = options_of(v);
    options.max_iterations = k;
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve(context, &options, matrix, NULL, b, alone, NULL));
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    bisai_solver_report report = test_report();
    EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                  test_solve(context, &options, matrix, NULL, b, x, &report));
    assert_memory_equal(alone, x, sizeof x);
    if (v < 4 && v != 2) {
      const int more = report.relative_residual < 0.99 * report.estimated_residual ? 2 : 0;
      assert_int_equal(calls[v] + more, hook.calls);
      assert_int_equal(values[v] + more, hook.values);
    }
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* Four processes with the same part each take the iterations of one and the same solution: sums
 * times 4 are norms times 2, exactly. */
static void identical_processes_solve_as_one(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS], alone[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_ILU);
    test_twins hook = {.processes = 4};
    bisai_solver_options options = options_of(v);
    bisai_solver_report one = test_report(), four = test_report();
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, alone, &one));
    options.reduce = test_add_twins;
    options.reduce_user = &hook;
    EXPECT_OK(context, test_solve(context, &options, matrix, precond, b, x, &four));
    assert_int_equal(one.iterations, four.iterations);
    EXPECT_CLOSE(POINTS, alone, x, 1e-12);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

static void a_failing_reduction_is_passed_up(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    for (int call = 1; call <= 30; call++) {
      test_twins hook = {.processes = 1, .fail_at = call};
      bisai_solver_options options = options_of(v);
      options.reduce = test_add_twins;
      options.reduce_user = &hook;
      bisai_solver_report report = test_report();
      EXPECT_STATUS(context, BISAI_CALLBACK_FAILED,
                    test_solve(context, &options, matrix, NULL, b, x, &report));
      assert_int_equal(BISAI_REASON_PRECOND_FAILED, report.reason);
      assert_int_equal(call, hook.calls);
      assert_true(test_all_finite(POINTS, x));
    }
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
}

/* --- memory and arguments --- */

static void a_solve_allocates_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 2);
  double *b = test_random_vector(POINTS, 2), x[POINTS];
  for (int v = 0; v < VARIANTS; v++) {
    bisai_bcsr *matrix = system_for(context, v);
    bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_BJACOBI);
    const bisai_solver_options options = options_of(v);
    bisai_solver *solver = NULL;
    bisai_solver_report report = test_report();
    EXPECT_OK(context, bisai_solver_create(context, POINTS, &options, &solver));
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, x, &report));
    /* On a device b and x are copied, and nothing else. */
    assert_int_equal(atomic_load(&allocator.calls) - before, test_on_device() ? 2 : 0);
    const int s = variants[v].s, vectors[] = {6, 9, 3 * s + 5};
    const int64_t bytes = 8 * POINTS * vectors[variants[v].method - BISAI_CG];
    assert_true(report.memory_bytes >= bytes);
    /* history, partial sums, scalars */
    assert_true(report.memory_bytes <= bytes + 8 * 10001 + 2048 * s + 16384);
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
  }
  free(b);
  bisai_context_destroy(&context);
  assert_true(atomic_load(&allocator.live_blocks) == 0);
}

static void solvers_that_do_not_fit_into_memory_are_refused(void **state) {
  (void)state;
  for (int v = 0; v < VARIANTS; v++) {
    const bisai_solver_options options = options_of(v);
    /* Handle, state, vectors, scalars, work, status, history; on a device the status words are
     * pinned memory. */
    assert_int_equal(test_solver_allocations(&options), test_on_device() ? 6 : 7);
  }
}

static void bad_options_are_refused_by_name(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_solver *solver = NULL;
  for (int v = 0; v < VARIANTS; v++) {
    for (int flexible = 0; flexible < 2; flexible++) {
      bisai_solver_options o = options_of(v);
      o.gmres.flexible = flexible;
      o.gmres.side = flexible ? BISAI_RIGHT : BISAI_LEFT;
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create(context, 4, &o, &solver));
      char message[128];
      snprintf(message, sizeof message,
               "%s: gmres.flexible, gmres.side and gmres.fp64_basis are options of gmres",
               bisai_method_string(variants[v].method));
      EXPECT_MESSAGE(context, message);
    }
  }
  const int dimensions[] = {0, -1, 33};
  for (int k = 0; k < 3; k++) {
    bisai_solver_options o = bisai_solver_options_default();
    o.idr.shadow_dimension = dimensions[k];
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create(context, 4, &o, &solver));
    char message[128];
    snprintf(message, sizeof message, "shadow_dimension %d: 1 … 32 are possible", dimensions[k]);
    EXPECT_MESSAGE(context, message);
  }
  for (int method = -1; method <= 4; method += 5) {
    bisai_solver_options o = bisai_solver_options_default();
    o.method = (bisai_method)method;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_solver_create(context, 4, &o, &solver));
    char message[128];
    snprintf(message, sizeof message, "unknown method %d", method);
    EXPECT_MESSAGE(context, message);
  }
  assert_null(solver);
  bisai_context_destroy(&context);
}

static void methods_and_breakdowns_have_names(void **state) {
  (void)state;
  static const char *const names[] = {"gmres", "cg", "bicgstab", "idr", "unknown method"};
  for (int k = 0; k < 5; k++) assert_string_equal(names[k], bisai_method_string((bisai_method)k));
  for (int k = 0; k < 10; k++)
    for (int l = 0; l < k; l++)
      assert_string_not_equal(bisai_breakdown_string((bisai_breakdown)k),
                              bisai_breakdown_string((bisai_breakdown)l));
  assert_string_equal("unknown breakdown", bisai_breakdown_string((bisai_breakdown)9));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_iteration_limit_is_exact_and_x_is_the_last_or_better),
      cmocka_unit_test(the_monitor_stops_the_solve_with_the_present_iterate),
      cmocka_unit_test(a_late_monitor_stops_the_solve_soon),
      cmocka_unit_test(nothing_happens_to_x_after_convergence),
      cmocka_unit_test(a_tolerance_below_rounding_error_stagnates_at_a_good_solution),
      cmocka_unit_test(nan_in_the_vectors_is_named),
      cmocka_unit_test(nan_from_the_preconditioner_leaves_the_last_finite_iterate),
      cmocka_unit_test(failing_callbacks_are_passed_up),
      cmocka_unit_test(every_sum_goes_through_the_reduction_hook_once),
      cmocka_unit_test(identical_processes_solve_as_one),
      cmocka_unit_test(a_failing_reduction_is_passed_up),
      cmocka_unit_test(a_solve_allocates_nothing),
      cmocka_unit_test(solvers_that_do_not_fit_into_memory_are_refused),
      cmocka_unit_test(bad_options_are_refused_by_name),
      cmocka_unit_test(methods_and_breakdowns_have_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
