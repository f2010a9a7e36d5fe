/* SPDX-License-Identifier: BSD-3-Clause */
/* GMRES with a basis so large that late vectors of it are rounded to fp32, beside GMRES with all
 * vectors in fp64. */
#include "fixture.h"
#include "mesh.h"
#include "systems.h"

#include <stdlib.h>

/* The basis has 8·N·(RESTART + 1) bytes = 72 MB. */
enum { SIDE = 100, N = SIDE * SIDE, RESTART = 900 };

typedef struct solution {
  double *x;
  bisai_solver_report report;
} solution;

static solution solve(const bisai_bcsr *matrix, bisai_precond *precond,
                      const bisai_solver_options *options, const double *b) {
  solution s = {.x = calloc(N, sizeof *s.x), .report = test_report()};
  bisai_solver *solver = NULL;
  assert_non_null(s.x);
  EXPECT_OK(context, bisai_solver_create(context, N, options, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, s.x, &s.report));
  bisai_solver_destroy(&solver);
  return s;
}

static void compare(const bisai_bcsr *matrix, bisai_precond *precond, bisai_solver_options options,
                    const double *b) {
  const solution rounded = solve(matrix, precond, &options, b),
                 again = solve(matrix, precond, &options, b);
  options.gmres.fp64_basis = true;
  const solution exact = solve(matrix, precond, &options, b);
  const double most = options.gmres.side == BISAI_LEFT ? 1e3 : 2.0;
  assert_true(abs(rounded.report.iterations - exact.report.iterations) <= 1);
  assert_true(rounded.report.relative_residual <= most * options.tolerance);
  assert_int_equal(exact.report.restarts, rounded.report.restarts);
  assert_memory_equal(rounded.x, again.x, N * sizeof *again.x);
  assert_memory_not_equal(rounded.x, exact.x, N * sizeof *exact.x);
  free(rounded.x);
  free(again.x);
  free(exact.x);
}

/* Both tolerances let vectors be rounded: the first one all, the second one late ones. */
static void rounding_changes_no_count(bisai_solver_options options, bool with_precond) {
  static const double tolerances[] = {1e-5, 1e-8};
  bisai_precond_options kind = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  kind.kind = BISAI_PRECOND_ISAI;
  bisai_bcsr *matrix =
      test_bcsr_take(context, test_mesh_diffusion(SIDE, SIDE, 1, TEST_ZERO_OUTSIDE, 0.3));
  double *b = test_random_vector(N, 3);
  if (with_precond) EXPECT_OK(context, bisai_precond_create(context, matrix, &kind, &precond));
  options.gmres.restart = RESTART;
  for (int t = 0; t < 2; t++) {
    options.tolerance = tolerances[t];
    compare(matrix, precond, options, b);
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  free(b);
}

static void preconditioned_on_the_right(void **state) {
  (void)state;
  rounding_changes_no_count(bisai_solver_options_default(), true);
}

static void without_a_preconditioner_and_in_two_passes(void **state) {
  (void)state;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.orthogonalization = BISAI_CLASSICAL_REFINED;
  rounding_changes_no_count(options, false);
}

static void flexible_and_in_one_pass(void **state) {
  (void)state;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.flexible = true;
  options.gmres.orthogonalization = BISAI_CLASSICAL;
  rounding_changes_no_count(options, true);
}

static void preconditioned_on_the_left(void **state) {
  (void)state;
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.side = BISAI_LEFT;
  rounding_changes_no_count(options, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(preconditioned_on_the_right),
      cmocka_unit_test(without_a_preconditioner_and_in_two_passes),
      cmocka_unit_test(flexible_and_in_one_pass),
      cmocka_unit_test(preconditioned_on_the_left),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
