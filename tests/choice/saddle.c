/* SPDX-License-Identifier: BSD-3-Clause */
/* What is chosen for saddle points without blocks, on a host. A device begins with other kinds,
 * because launches count there. */
#include <bisai/solve.h>

#include "support/staggered.h"

enum { SIDE = 64, ROWS = 2 * SIDE * (SIDE - 1) + SIDE * SIDE };

/* Solves for a known random x without complete factors, and returns what was chosen. */
static bisai_precond_options chosen(int threads, double *x) {
  bisai_context *context = test_context(threads);
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_staggered(SIDE, 0));
  double *exact = test_random_vector(ROWS, 3), *b = malloc(ROWS * sizeof *b);
  bisai_solve_options options = bisai_solve_options_default();
  bisai_solve_report report = {.struct_size = sizeof report};
  options.precond.automatic.incomplete = true;
  EXPECT_OK(context, bisai_bcsr_multiply(a, exact, b));
  EXPECT_OK(context, bisai_solve(context, a, b, x, &options, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.solver.reason);
  assert_true(test_relative_residual(a, x, b) <= 2e-8);
  free(exact), free(b);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
  return report.precond_options;
}

static void flow_is_preconditioned_by_its_blocks(void **state) {
  (void)state;
  double *x = test_nan_vector(ROWS), *same = test_nan_vector(ROWS);
  assert_int_equal(BISAI_PRECOND_SCHUR, chosen(1, x).kind);
  assert_int_equal(BISAI_PRECOND_SCHUR, chosen(2, same).kind);
  assert_memory_equal(x, same, ROWS * sizeof *x);
  free(x), free(same);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(flow_is_preconditioned_by_its_blocks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
