/* SPDX-License-Identifier: BSD-3-Clause */
/* CG and GMRES whose late products read the copy of A in fp32 that multigrid has. */
#include "fixture.h"
#include "mesh.h"
#include "systems.h"

#include <stdlib.h>

/* The product with a matrix of so many nodes moves 2.4 MB or more, so that multigrid copies it. */
enum { SIDE = 200 };

static const double TOLERANCE = 1e-8;

typedef struct solution {
  double *x;
  bisai_solver_report report;
} solution;

static bisai_precond *multigrid(const bisai_bcsr *matrix, bool copies) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.precision = copies ? BISAI_FP32 : BISAI_FP64;
  return test_precond_with(context, matrix, &o);
}

static bisai_solver_options options_of(bisai_method method, bool fp64) {
  bisai_solver_options o = bisai_solver_options_default();
  o.method = method;
  o.tolerance = TOLERANCE;
  o.gmres.fp64_basis = fp64;
  return o;
}

static solution solve(const bisai_bcsr *matrix, bisai_precond *precond, bisai_solver_options o,
                      int64_t n) {
  solution s = {.x = calloc((size_t)n, sizeof *s.x), .report = test_report()};
  double *b = test_random_vector(n, 3);
  bisai_solver *solver = NULL;
  assert_non_null(s.x);
  EXPECT_OK(context, bisai_solver_create(context, n, &o, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, s.x, &s.report));
  assert_true(s.report.relative_residual <= 2.0 * TOLERANCE);
  bisai_solver_destroy(&solver);
  free(b);
  return s;
}

static bisai_bcsr *mesh(int bs, double wind) {
  return test_bcsr_take(context, test_mesh_diffusion(SIDE, SIDE, bs, TEST_ZERO_OUTSIDE, wind));
}

/* A copy in fp32 changes neither counts nor residuals, and the bits of x repeat. */
static void expect_same_count(bisai_method method, int bs, double wind) {
  const int64_t n = (int64_t)SIDE * SIDE * bs;
  bisai_bcsr *a = mesh(bs, wind);
  bisai_precond *copied = multigrid(a, true), *plain = multigrid(a, false);
  const solution late = solve(a, copied, options_of(method, false), n),
                 again = solve(a, copied, options_of(method, false), n),
                 exact = solve(a, plain, options_of(method, false), n);
  assert_true(abs(late.report.iterations - exact.report.iterations) <= 1);
  assert_int_equal(late.report.restarts, exact.report.restarts);
  assert_memory_equal(late.x, again.x, (size_t)n * sizeof *late.x);
  free(late.x);
  free(again.x);
  free(exact.x);
  bisai_precond_destroy(&copied);
  bisai_precond_destroy(&plain);
  bisai_bcsr_destroy(&a);
}

static void counts_are_those_of_products_in_fp64(void **state) {
  (void)state;
  expect_same_count(BISAI_CG, 1, 0.0);
  expect_same_count(BISAI_CG, 3, 0.0);
  expect_same_count(BISAI_GMRES, 1, 0.3);
  expect_same_count(BISAI_GMRES, 2, 0.3);
}

static void fp64_keeps_all_products_of_gmres(void **state) {
  (void)state;
  const int64_t n = (int64_t)SIDE * SIDE;
  bisai_bcsr *a = mesh(1, 0.3);
  bisai_precond *m = multigrid(a, true);
  const solution late = solve(a, m, options_of(BISAI_GMRES, false), n),
                 exact = solve(a, m, options_of(BISAI_GMRES, true), n);
  assert_int_equal(late.report.iterations, exact.report.iterations);
  assert_memory_not_equal(late.x, exact.x, (size_t)n * sizeof *late.x);
  free(late.x);
  free(exact.x);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* The preconditioner was made for other values, and so was its copy of A. */
static void a_copy_of_other_values_is_not_read(void **state) {
  (void)state;
  const int64_t n = (int64_t)SIDE * SIDE;
  bisai_bcsr *a = mesh(1, 0.3), *other = mesh(1, 0.1);
  bisai_precond *m = multigrid(a, true);
  test_bcsr fresh = test_mesh_diffusion(SIDE, SIDE, 1, TEST_ZERO_OUTSIDE, 0.1);
  EXPECT_OK(context, bisai_bcsr_update(a, fresh.values, BISAI_COLUMN_MAJOR));
  const solution changed = solve(a, m, options_of(BISAI_GMRES, false), n),
                 exact = solve(other, m, options_of(BISAI_GMRES, true), n);
  assert_int_equal(changed.report.iterations, exact.report.iterations);
  assert_memory_equal(changed.x, exact.x, (size_t)n * sizeof *changed.x);
  free(changed.x);
  free(exact.x);
  test_bcsr_free(&fresh);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&other);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_are_those_of_products_in_fp64),
      cmocka_unit_test(fp64_keeps_all_products_of_gmres),
      cmocka_unit_test(a_copy_of_other_values_is_not_read),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
