/* SPDX-License-Identifier: BSD-3-Clause */
/* Singular systems whose b has no solution: the choice says so and tries nothing. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <bisai/project.h>
#include <bisai/solve.h>

#include "support/mesh.h"
#include "support/staggered.h"

enum { SIDE = 12 };

typedef struct outcome {
  bisai_status status;
  bisai_solve_report report;
} outcome;

/* Solves, and checks x of a system that is solved by the product. */
static outcome solve(bisai_context *context, const bisai_bcsr *a, const double *b, double *x,
                     const bisai_solve_options *options) {
  outcome o = {.report = {.struct_size = sizeof o.report}};
  o.status = bisai_solve(context, a, b, x, options, &o.report);
  if (!o.status) {
    const double most = options ? options->solver.tolerance : 1e-8;
    assert_true(test_relative_residual(a, x, b) <= 2 * most);
  }
  return o;
}

static int64_t rows_of(const bisai_bcsr *a) {
  return (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
}

/* Makes the sum of each column zero, within each component of a block: (1, …, 1)ᵀ A = 0. */
static void balance_columns(test_bcsr *a) {
  const int bs = a->block_size;
  for (int32_t j = 0; j < a->block_cols; j++)
    for (int r = 0; r < bs; r++)
      for (int c = 0; c < bs; c++) {
        double sum = 0;
        for (int32_t i = 0; i < a->block_rows; i++) {
          const double *block = i == j ? NULL : test_bcsr_block(a, i, j);
          if (block) sum += block[c * bs + r];
        }
        test_bcsr_block(a, j, j)[c * bs + r] = -sum;
      }
}

/* Diffusion without values at the boundary, symmetric, or with a wind. */
static bisai_bcsr *make_neumann(bisai_context *context, int bs, double wind) {
  test_bcsr arrays = test_mesh_diffusion(SIDE, SIDE + 1, bs, TEST_FREE, wind);
  if (wind != 0) balance_columns(&arrays);
  return test_bcsr_take(context, arrays);
}

/* b without its means over the rows c, c + bs, …, and the norm of the largest of these means. */
static double take_means_out(int64_t n, int bs, double *b) {
  double largest = 0;
  for (int c = 0; c < bs; c++) {
    double sum = 0;
    for (int64_t i = c; i < n; i += bs) sum += b[i];
    for (int64_t i = c; i < n; i += bs) b[i] -= sum * bs / (double)n;
    largest = fmax(largest, fabs(sum) / sqrt((double)(n / bs)));
  }
  return largest;
}

static void a_system_without_a_solution_ends_before_any_trial(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  for (int bs = 1; bs <= 3; bs++)
    for (int windy = 0; windy < 2; windy++) {
      bisai_bcsr *a = make_neumann(context, bs, windy ? 0.3 : 0);
      const int64_t n = rows_of(a);
      double *b = test_random_vector(n, 5), *x = test_nan_vector(n);
      const double size = test_norm2(n, b);
      outcome o = solve(context, a, b, x, NULL);
      assert_int_equal(BISAI_STAGNATED, o.status);
      assert_int_equal(BISAI_REASON_STAGNATED, o.report.solver.reason);
      assert_int_equal(0, o.report.choice.count);
      assert_int_equal(-1, o.report.choice.chosen);
      for (int64_t i = 0; i < n; i++) assert_true(x[i] == 0);
      assert_true(o.report.solver.relative_residual == 1);
      char least[200];
      snprintf(least, sizeof least,
               "A is singular, and A x = b has no solution: every x has a relative residual of "
               "%.1e or more; bisai_project()",
               take_means_out(n, bs, b) / size);
      EXPECT_IN_MESSAGE(context, least);
      assert_non_null(strstr(o.report.reason, least));
      o = solve(context, a, b, x, NULL);
      assert_int_equal(BISAI_OK, o.status);
      assert_true(o.report.choice.count > 0);
      free(b), free(x);
      bisai_bcsr_destroy(&a);
    }
  bisai_context_destroy(&context);
}

/* The pressure of flow in a closed box is known up to a constant. With factors of the rows of
 * velocities the matrix is not symmetric, and the constant stays in both null spaces. */
static void flow_that_cannot_leave_its_box_ends_before_any_trial(void **state) {
  (void)state;
  enum { CELLS = 10, VELOCITIES = 2 * CELLS * (CELLS - 1), ALL = VELOCITIES + CELLS * CELLS };
  bisai_context *context = test_context(2);
  for (int scaled = 0; scaled < 2; scaled++) {
    test_bcsr arrays = test_bcsr_staggered(CELLS, 1);
    for (int32_t i = 0; scaled && i < VELOCITIES; i++)
      for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++)
        arrays.values[p] *= 1 + i % 3;
    bisai_bcsr *a = test_bcsr_take(context, arrays);
    double *b = test_random_vector(ALL, 5), *x = test_nan_vector(ALL);
    assert_int_equal(BISAI_STAGNATED, solve(context, a, b, x, NULL).status);
    EXPECT_IN_MESSAGE(context, "A is singular, and A x = b has no solution");
    take_means_out(CELLS * CELLS, 1, b + VELOCITIES);
    const outcome o = solve(context, a, b, x, NULL);
    assert_int_equal(BISAI_OK, o.status);
    free(b), free(x);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

/* An x so large that its rounding is more than the residual is no solution. If the sums of columns
 * are 10⁻¹¹ of their magnitudes, Gaussian elimination leaves a residual between 1e-8 and 1e-5. */
static void a_nearly_singular_system_is_tried_where_digits_suffice(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  test_bcsr arrays = test_mesh_diffusion(SIDE, SIDE, 1, TEST_FREE, 0);
  const int64_t n = SIDE * SIDE;
  for (int32_t i = 0; i < n; i++) *test_bcsr_block(&arrays, i, i) *= 1 + 1e-11;
  double *dense = test_dense_from_arrays(&arrays), *b = test_random_vector(n, 5),
         *x = test_nan_vector(n), *reference = test_dense_solve(n, dense, b);
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  assert_non_null(reference);
  const double reached = test_relative_residual(a, reference, b);
  assert_true(reached > 2e-8 && reached < 1e-5);
  bisai_solve_options options = bisai_solve_options_default();
  for (int k = 0; k < 2; k++) {
    options.solver.tolerance = k == 0 ? 1e-8 : 1e-4;
    const outcome o = solve(context, a, b, x, &options);
    assert_int_equal(k == 0 ? BISAI_STAGNATED : BISAI_OK, o.status);
    assert_int_equal(k == 0, o.report.choice.count == 0);
  }
  free(dense), free(b), free(x), free(reference);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

static void a_given_preconditioner_is_tried_all_the_same(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *a = make_neumann(context, 1, 0);
  const int64_t n = rows_of(a);
  double *b = test_random_vector(n, 5), *x = test_nan_vector(n);
  bisai_solve_options options = bisai_solve_options_default();
  options.precond.kind = BISAI_PRECOND_BJACOBI;
  const outcome o = solve(context, a, b, x, &options);
  assert_true(o.status && o.report.choice.count == 1);
  assert_true(o.report.solver.relative_residual < 1);
  free(b), free(x);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

/* The vector of the trials of the kind `auto` is pseudo-random. */
static void the_kind_auto_is_tried_on_a_vector_with_a_solution(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int bs = 1; bs <= 3; bs++) {
    bisai_bcsr *a = make_neumann(context, bs, 0);
    bisai_precond_options o = bisai_precond_options_default();
    bisai_precond *precond = NULL;
    o.kind = BISAI_PRECOND_AUTO;
    EXPECT_OK(context, bisai_precond_create(context, a, &o, &precond));
    const bisai_precond_report report = test_report_of(context, precond);
    assert_in_range(report.automatic.chosen, 0, report.automatic.count - 1);
    assert_int_equal(BISAI_OK, report.automatic.trials[report.automatic.chosen].status);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&a);
  }
  bisai_context_destroy(&context);
}

static void failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failures = -1;
  for (long long fail_at = 1; status == BISAI_OUT_OF_MEMORY; fail_at++, failures++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 1);
    bisai_bcsr *a = make_neumann(context, 2, 0);
    double *b = test_random_vector(rows_of(a), 5), *x = test_nan_vector(rows_of(a));
    const long long live = atomic_load(&allocator.live_blocks);
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = solve(context, a, b, x, NULL).status;
    assert_int_equal(live, atomic_load(&allocator.live_blocks));
    free(b), free(x);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&context);
  }
  assert_int_equal(BISAI_STAGNATED, status);
  assert_true(failures > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_system_without_a_solution_ends_before_any_trial),
      cmocka_unit_test(flow_that_cannot_leave_its_box_ends_before_any_trial),
      cmocka_unit_test(a_nearly_singular_system_is_tried_where_digits_suffice),
      cmocka_unit_test(a_given_preconditioner_is_tried_all_the_same),
      cmocka_unit_test(the_kind_auto_is_tried_on_a_vector_with_a_solution),
      cmocka_unit_test(failing_allocations_leave_nothing_behind)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
