/* SPDX-License-Identifier: BSD-3-Clause */
#include "systems.h"

#include <math.h>

bisai_status dense_operator_multiply(void *user, int64_t n, const double *x, double *y) {
  test_synchronize();
  dense_operator *op = user;
  op->calls++;
  if (op->calls == op->fail_at) return BISAI_IO_ERROR;
  for (int64_t i = 0; i < n; i++) {
    y[i] = 0;
    for (int64_t j = 0; j < n; j++) y[i] += op->a[i + j * n] * x[j];
  }
  if (op->calls == op->nan_at) y[n - 1] = NAN;
  return BISAI_OK;
}

double *test_dominant(int n, double size) {
  double *a = test_random_vector(n * n, 3);
  for (int i = 0; i < n * n; i++) a[i] *= 0.3 * size;
  for (int i = 0; i < n; i++) a[i + i * n] = (4 + 0.1 * i) * size;
  return a;
}

double test_dense_residual(int n, const double *a, const double *b, const double *x) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double r = b[i];
    for (int j = 0; j < n; j++) r -= a[i + j * n] * x[j];
    sum += r / b[0] * (r / b[0]);
  }
  return sqrt(sum);
}

bisai_status diagonal_operator_multiply(void *user, int64_t n, const double *v, double *z) {
  test_synchronize();
  diagonal_operator *op = user;
  op->calls++;
  if (op->calls == op->fail_at) return BISAI_UNSUPPORTED;
  for (int64_t i = 0; i < n; i++) z[i] = op->scale[i] * v[i];
  return BISAI_OK;
}

bisai_precond *test_precond_callback(bisai_context *context, const bisai_bcsr *matrix,
                                     bisai_apply_function apply, void *user) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_CALLBACK;
  options.callback.apply = apply;
  options.callback.user = user;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  return precond;
}

bool test_has_kind(bisai_context *context, bisai_precond_kind kind) {
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(2, 1, 4.0, 1.0));
  const bisai_precond_options options = test_precond_options(kind);
  bisai_precond *precond = NULL;
  const bisai_status status = bisai_precond_create(context, matrix, &options, &precond);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  return status != BISAI_UNAVAILABLE;
}

bisai_precond *test_precond_with(bisai_context *context, const bisai_bcsr *matrix,
                                 const bisai_precond_options *options) {
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, options, &precond));
  return precond;
}

bisai_precond_options test_precond_options(bisai_precond_kind kind) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = kind;
  return options;
}

bisai_precond *test_precond(bisai_context *context, const bisai_bcsr *matrix,
                            bisai_precond_kind kind) {
  const bisai_precond_options options = test_precond_options(kind);
  return test_precond_with(context, matrix, &options);
}

bisai_bcsr *test_identity(bisai_context *context, int32_t n) {
  return test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 1, 0));
}

bisai_bcsr *test_convdiff(bisai_context *context, int32_t side) {
  const int32_t n = side * side;
  test_bcsr m = {.block_rows = n, .block_cols = n, .block_size = 1};
  m.row_ptr = calloc((size_t)n + 1, sizeof *m.row_ptr);
  m.col_idx = malloc(5 * (size_t)n * sizeof *m.col_idx);
  m.values = malloc(5 * (size_t)n * sizeof *m.values);
  const double values[5] = {-1.2, -1.4, 4, -0.6, -0.8};
  int32_t next = 0;
  for (int32_t row = 0; row < n; row++) {
    const int32_t x = row % side, y = row / side;
    const bool there[5] = {y > 0, x > 0, true, x + 1 < side, y + 1 < side};
    const int32_t columns[5] = {row - side, row - 1, row, row + 1, row + side};
    for (int k = 0; k < 5; k++) {
      if (!there[k]) continue;
      m.col_idx[next] = columns[k];
      m.values[next++] = values[k];
    }
    m.row_ptr[row + 1] = next;
  }
  return test_bcsr_take(context, m);
}

bisai_solver_report test_report(void) {
  bisai_solver_report report;
  memset(&report, 0xff, sizeof report);
  report.struct_size = sizeof report;
  return report;
}

bisai_status test_solve(bisai_context *context, const bisai_solver_options *options,
                        const bisai_bcsr *matrix, bisai_precond *precond, const double *b,
                        double *x, bisai_solver_report *report) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  bisai_solver *solver = NULL;
  EXPECT_OK(context, bisai_solver_create(context, n, options, &solver));
  const bisai_status status = bisai_solver_solve(solver, matrix, precond, b, x, report);
  bisai_solver_destroy(&solver);
  return status;
}

bisai_status test_solve_dense(bisai_context *context, const bisai_solver_options *options,
                              int64_t n, dense_operator *op, bisai_precond *precond,
                              const double *b, double *x, bisai_solver_report *report) {
  bisai_solver *solver = NULL;
  EXPECT_OK(context, bisai_solver_create(context, n, options, &solver));
  const bisai_status status =
      bisai_solver_solve_operator(solver, dense_operator_multiply, op, precond, b, x, report);
  bisai_solver_destroy(&solver);
  return status;
}

bisai_status test_add_twins(void *user, double *values, int count) {
  test_synchronize();
  test_twins *t = user;
  t->calls++;
  t->values += count;
  if (t->calls == t->fail_at) return BISAI_UNAVAILABLE;
  for (int i = 0; i < count; i++) values[i] *= t->processes;
  return BISAI_OK;
}

bool test_all_finite(int64_t n, const double *x) {
  for (int64_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

int test_stop_at(void *user, int iteration, double relative) {
  (void)relative;
  return iteration == *(const int *)user;
}

void test_expect_stopped(bisai_context *context, bisai_solver_options options,
                         const bisai_bcsr *matrix, const double *b, int stop) {
  const int64_t n = bisai_bcsr_rows(matrix);
  double *x = test_nan_vector(n), *limited = test_nan_vector(n);
  options.max_iterations = stop;
  EXPECT_STATUS(context, BISAI_MAX_ITERATIONS,
                test_solve(context, &options, matrix, NULL, b, limited, NULL));
  options.max_iterations = 100;
  options.monitor = test_stop_at;
  options.monitor_user = &stop;
  bisai_solver_report report = test_report();
  EXPECT_STATUS(context, BISAI_STOPPED, test_solve(context, &options, matrix, NULL, b, x, &report));
  assert_int_equal(BISAI_REASON_STOPPED, report.reason);
  assert_int_equal(stop, report.iterations);
  assert_memory_equal(limited, x, (size_t)n * sizeof *x);
  free(x), free(limited);
}

int test_solver_allocations(const bisai_solver_options *options) {
  for (int made = 0;; made++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 1);
    allocator.fail_at = atomic_load(&allocator.calls) + made + 1;
    bisai_solver *solver = NULL;
    const bisai_status status = bisai_solver_create(context, 10, options, &solver);
    assert_int_equal(status == BISAI_OK, solver != NULL);
    bisai_solver_destroy(&solver);
    bisai_context_destroy(&context);
    assert_true(atomic_load(&allocator.live_blocks) == 0);
    if (!status) return made;
    assert_int_equal(BISAI_OUT_OF_MEMORY, status);
  }
}
