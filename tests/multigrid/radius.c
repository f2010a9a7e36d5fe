/* SPDX-License-Identifier: BSD-3-Clause */
/* The bound of ρ(D⁻¹A) of symmetric matrices: it is not too low where coefficients jump, and CG
 * with multigrid therefore converges. */
#include <math.h>

#include "mesh.h"
#include "multigrid/diagonal/lanczos.h"
#include "multigrid/diagonal/radius.h"
#include "problem.h"

static const double jumps[] = {0.0, 0.5, 1.0, 1.5, 2.0, 3.0};
enum { JUMPS = sizeof jumps / sizeof *jumps };

static bsi_multigrid_setup symmetric_setup(void) {
  bsi_multigrid_setup s = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_CHEBYSHEV);
  s.symmetric = true;
  return s;
}

/* --- the bound --- */

/* n rows that are all coupled: 1 on the diagonal and c beside it, eigenvalues 1 − c and
 * 1 + (n − 1) c. */
static test_bcsr clique(int32_t n, double c) {
  test_bcsr a = {.block_rows = n, .block_cols = n, .block_size = 1};
  a.row_ptr = calloc((size_t)n + 1, sizeof *a.row_ptr);
  a.col_idx = calloc((size_t)(n * n), sizeof *a.col_idx);
  a.values = calloc((size_t)(n * n), sizeof *a.values);
  assert_true(a.row_ptr && a.col_idx && a.values);
  for (int32_t i = 0; i <= n; i++) a.row_ptr[i] = i * n;
  for (int32_t p = 0; p < n * n; p++) a.col_idx[p] = p % n;
  for (int32_t p = 0; p < n * n; p++) a.values[p] = p / n == p % n ? 1.0 : c;
  return a;
}

/* ρ is 3.4. Chebyshev of degree 2 grows where ρ exceeds the bound, and CG then breaks down. */
static void the_radius_of_a_few_rows_among_many_is_found(void **state) {
  (void)state;
  const bsi_multigrid_setup setup = symmetric_setup();
  problem m = make_problem(
      context, test_mesh_beside(test_bcsr_tridiagonal(20000, 1, 2.0, -1.0), clique(6, 0.48)),
      &setup);
  assert_true(m.h.levels[0].diagonal.radius >= 3.4 && m.h.levels[0].diagonal.radius < 1.2 * 3.4);
  free_problem(&m);
}

/* Returns ρ(D⁻¹A) from below, by so many power steps that they miss little. */
static double true_radius(problem *m, const bsi_level *level) {
  enum { STEPS = 300 };
  const int64_t n = bsi_level_rows(level);
  double *x = test_vector_in_place(n, 7), *y = test_vector_in_place(n, 8), before = 1.0,
         growth = 0.0;
  for (int step = 0; step < STEPS; step++) {
    EXPECT_OK(context, bsi_scaled_product(&m->h, level, x, y));
    test_synchronize();
    double square = 0.0;
    for (int64_t i = 0; i < n; i++) square += y[i] * y[i];
    growth = sqrt(square) / before;
    for (int64_t i = 0; i < n; i++) x[i] = y[i] / sqrt(square);
    before = 1.0;
  }
  test_vector_free(x);
  test_vector_free(y);
  return growth;
}

static void bounds_are_above_the_radius_on_all_levels(void **state) {
  (void)state;
  for (int k = 0; k < JUMPS; k++)
    for (int dirichlet = 0; dirichlet < 2; dirichlet++)
      for (int32_t bs = 1; bs <= 3; bs += 2) {
        const bsi_multigrid_setup setup = symmetric_setup();
        problem m =
            make_problem(context, test_mesh_elements(30, 30, bs, jumps[k], dirichlet), &setup);
        assert_true(m.h.count > 2);
        for (int l = 0; l < m.h.count - 1; l++) {
          const double radius = true_radius(&m, &m.h.levels[l]);
          assert_true(m.h.levels[l].diagonal.radius >= radius);
          assert_true(m.h.levels[l].diagonal.radius <= 1.2 * radius);
          assert_true(m.h.levels[l].diagonal.growth <= m.h.levels[l].diagonal.radius);
        }
        free_problem(&m);
      }
}

/* Powers of two scale without rounding. The sums are the same, and so are all of their bits. */
static void bounds_depend_on_neither_scaling_nor_threads(void **state) {
  (void)state;
  double radius = 0.0;
  for (int k = 0; k < 6; k++) {
    const bsi_multigrid_setup setup = symmetric_setup();
    bisai_context *own = test_context(k % 3 + 1);
    test_bcsr arrays = test_mesh_elements(120, 120, 2, 2.0, true);
    const double scale = k < 3 ? 1.0 : ldexp(1.0, k % 2 == 0 ? 400 : -400);
    for (int64_t v = 0; v < 4 * (int64_t)test_bcsr_blocks(&arrays); v++) arrays.values[v] *= scale;
    problem m = make_problem(own, arrays, &setup);
    if (k == 0) radius = m.h.levels[0].diagonal.radius;
    assert_true(m.h.levels[0].diagonal.radius == radius);
    free_problem(&m);
    bisai_context_destroy(&own);
  }
}

/* A Lanczos process of a 2 × 2 matrix ends after two steps: its bound is the eigenvalue. */
static void a_process_that_ends_gives_the_eigenvalue(void **state) {
  (void)state;
  /* T = (2 1; 1 2): α₀ = 1/2, β₀ = 1/4, α₁ = 2/3, and no residual is left */
  const double steps[BSI_LANCZOS_COEFFICIENTS] = {0.5, 0.25, 2.0 / 3.0, 0.0};
  bsi_radius radius;
  assert_true(bsi_lanczos_radius(steps, &radius));
  EXPECT_NEAR(3.0, radius.bound, 1e-14);
  assert_true(radius.growth > 2.0 && radius.growth < 3.0);
}

static void processes_of_indefinite_matrices_give_no_bound(void **state) {
  (void)state;
  const double negative[BSI_LANCZOS_COEFFICIENTS] = {0.5, 0.25, -1.0, 0.1};
  const double nothing[BSI_LANCZOS_COEFFICIENTS] = {0.0};
  bsi_radius radius;
  assert_false(bsi_lanczos_radius(negative, &radius));
  assert_false(bsi_lanczos_radius(nothing, &radius));
}

/* --- what it is for --- */

/* Returns the iterations of CG with the defaults of multigrid. */
static int iterations_of(test_bcsr arrays) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_solver_options s = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  const int64_t n = (int64_t)arrays.block_rows * arrays.block_size;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  bisai_precond *m = NULL;
  bisai_solver *solver = NULL;
  o.kind = BISAI_PRECOND_MULTIGRID;
  s.method = BISAI_CG;
  /* b = A x̂ is in the range of a singular A */
  double *exact = test_random_vector(n, 3), *b = calloc((size_t)n, sizeof *b),
         *x = calloc((size_t)n, sizeof *x);
  EXPECT_OK(context, bisai_bcsr_multiply(a, exact, b));
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
  EXPECT_OK(context, bisai_solver_create(context, n, &s, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, a, m, b, x, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  free(exact), free(b), free(x);
  return report.iterations;
}

static void cg_converges_where_coefficients_jump(void **state) {
  (void)state;
  for (int k = 0; k < JUMPS; k++)
    for (int dirichlet = 0; dirichlet < 2; dirichlet++)
      for (int32_t bs = 1; bs <= 2; bs++)
        assert_true(iterations_of(test_mesh_elements(70, 70, bs, jumps[k], dirichlet)) <= 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_process_that_ends_gives_the_eigenvalue),
      cmocka_unit_test(processes_of_indefinite_matrices_give_no_bound),
      cmocka_unit_test(the_radius_of_a_few_rows_among_many_is_found),
      cmocka_unit_test(bounds_are_above_the_radius_on_all_levels),
      cmocka_unit_test(bounds_depend_on_neither_scaling_nor_threads),
      cmocka_unit_test(cg_converges_where_coefficients_jump),
  };
  return cmocka_run_group_tests_name("radius", tests, setup, teardown);
}
