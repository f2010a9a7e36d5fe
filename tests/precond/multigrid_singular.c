/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid of singular matrices: Neumann problems and free elastic bodies, whose coarsest matrix
 * has a pseudo-inverse. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "smoothers.h"
#include "systems.h"

/* The smoothers without factors come first. ILU of a singular matrix has a last pivot of rounding
 * errors. */
enum { WITHOUT_FACTORS = 3 };

static bisai_status solve(const bisai_bcsr *a, bisai_precond *m, bool cg, const double *b,
                          double *x, int32_t *iterations) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = cg ? BISAI_CG : BISAI_GMRES;
  options.tolerance = 1e-8;
  options.max_iterations = 150;
  if (!cg) options.gmres.flexible = true;
  bisai_solver_report r = test_report();
  memset(x, 0, (size_t)bisai_precond_rows(m) * sizeof *x);
  const bisai_status status = test_solve(context, &options, a, m, b, x, &r);
  *iterations = r.iterations;
  return status;
}

/* b = A·random */
static void expect_solved(const bisai_bcsr *a, const bisai_precond_options *o, bool cg,
                          int32_t nullity, int32_t most) {
  bisai_precond *m = test_precond_with(context, a, o);
  const int64_t n = bisai_precond_rows(m);
  double *y = test_random_vector(n, 3), *b = malloc((size_t)n * sizeof *b),
         *x = malloc((size_t)n * sizeof *x);
  int32_t iterations = 0;
  EXPECT_OK(context, bisai_bcsr_multiply(a, y, b));
  const bisai_status status = solve(a, m, cg, b, x, &iterations);
  if (status || iterations > most) print_message("%s\n", bisai_precond_describe(m));
  EXPECT_STATUS(context, BISAI_OK, status);
  assert_in_range(iterations, 1, most);
  assert_true(test_relative_residual(a, x, b) <= 2e-8);
  /* x has no large part in the null space */
  assert_true(test_norm2(n, x) <= 100.0 * test_norm2(n, y));
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, nullity);
  bisai_precond_destroy(&m);
  free(y), free(b), free(x);
}

static void neumann_problems_are_solved(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int s = 0; s < WITHOUT_FACTORS; s++)
      for (int wind = 0; wind < 2; wind++) {
        bisai_bcsr *a =
            test_bcsr_take(context, test_mesh_diffusion(30, 27, bs, TEST_FREE, 0.2 * wind));
        for (int cycle = BISAI_CYCLE_V; cycle <= BISAI_CYCLE_VW; cycle++) {
          bisai_precond_options o = with_smoother(s, 60);
          o.multigrid.cycle = (bisai_cycle)cycle;
          expect_solved(a, &o, false, bs, 40);
          if (wind == 0 && cycle != BISAI_CYCLE_K) expect_solved(a, &o, true, bs, 40);
        }
        bisai_bcsr_destroy(&a);
      }
}

static void small_singular_matrices_have_a_pseudo_inverse(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int wind = 0; wind < 2; wind++) {
      bisai_bcsr *a =
          test_bcsr_take(context, test_mesh_diffusion(12, 10, bs, TEST_FREE, 0.2 * wind));
      bisai_precond_options o = with_smoother(0, 1024);
      expect_solved(a, &o, false, bs, 2);
      if (wind == 0) expect_solved(a, &o, true, bs, 2);
      bisai_bcsr_destroy(&a);
    }
}

static void free_bodies_are_solved(void **state) {
  (void)state;
  enum { EDGE = 5 };
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE);
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_springs(EDGE, EDGE, EDGE, TEST_FREE));
  for (int s = 0; s < WITHOUT_FACTORS; s++)
    for (int32_t coarsest = 150; coarsest <= 400; coarsest += 250) {
      bisai_precond_options o = with_smoother(s, coarsest);
      o.multigrid.null_vectors = modes;
      o.multigrid.null_count = 6;
      expect_solved(a, &o, true, 6, coarsest == 150 ? 40 : 3);
      expect_solved(a, &o, false, 6, coarsest == 150 ? 40 : 3);
    }
  free(modes);
  bisai_bcsr_destroy(&a);
}

static void each_component_has_its_own_null_space(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_beside(
      test_mesh_diffusion(17, 15, 2, TEST_FREE, 0.0),
      test_mesh_beside(test_mesh_diffusion(16, 16, 2, TEST_FREE, 0.0),
                       test_mesh_beside(test_mesh_diffusion(15, 18, 2, TEST_ZERO_OUTSIDE, 0.0),
                                        test_mesh_diffusion(15, 18, 2, TEST_FREE, 0.0))));
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int s = 0; s < WITHOUT_FACTORS; s++) {
    bisai_precond_options o = with_smoother(s, 200);
    expect_solved(a, &o, true, 6, 40);
    expect_solved(a, &o, false, 6, 40);
  }
  bisai_bcsr_destroy(&a);
}

/* The aggregates of the last levels are the components, so that the coarsest matrix is zero. */
static void a_coarsest_matrix_of_zeros_is_solved(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int32_t nx = 2; nx <= 40; nx += 19)
      for (int s = 0; s < WITHOUT_FACTORS; s++) {
        bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(nx, 20, bs, TEST_FREE, 0.0));
        bisai_precond_options o = with_smoother(s, bs);
        o.multigrid.complexity = 10.0;
        expect_solved(a, &o, true, bs, 50);
        expect_solved(a, &o, false, bs, 50);
        bisai_bcsr_destroy(&a);
      }
}

/* A mesh and 60 small ones, all without boundary. Of these, one row is left on some coarse level,
 * with values of rounding errors for blocks of two, and with exact zeros for blocks of one. */
static test_bcsr islands(int32_t bs, int scale) {
  test_bcsr arrays = test_mesh_diffusion(50, 50, bs, TEST_FREE, 0.0);
  for (int32_t k = 0; k < 60; k++)
    arrays =
        test_mesh_beside(arrays, test_mesh_diffusion(1 + k % 3, 2 + k % 4, bs, TEST_FREE, 0.0));
  for (int32_t v = 0; v < bs * bs * test_bcsr_blocks(&arrays); v++)
    arrays.values[v] = ldexp(arrays.values[v], scale);
  return arrays;
}

static void small_components_without_boundary_are_solved(void **state) {
  (void)state;
  for (int k = 0; k < 3 * 2 * WITHOUT_FACTORS; k++) {
    const int32_t bs = 1 + k / WITHOUT_FACTORS % 2;
    const int scale = 332 * (k / WITHOUT_FACTORS / 2 - 1); /* 10^−100, 1, 10^100 */
    bisai_bcsr *a = test_bcsr_take(context, islands(bs, scale));
    for (int32_t coarsest = 40; coarsest <= 1000; coarsest += 960) {
      bisai_precond_options o = with_smoother(k % WITHOUT_FACTORS, coarsest);
      bisai_precond *m = test_precond_with(context, a, &o);
      assert_true(test_report_of(context, m).multigrid.levels >= (coarsest == 40 ? 3 : 2));
      const int64_t n = bisai_precond_rows(m);
      double *y = test_random_vector(n, 3), *b = malloc((size_t)n * sizeof *b),
             *x = malloc((size_t)n * sizeof *x);
      int32_t iterations = 0;
      EXPECT_OK(context, bisai_bcsr_multiply(a, y, b));
      for (int cg = 0; cg < 2; cg++) {
        EXPECT_OK(context, solve(a, m, cg, b, x, &iterations));
        assert_in_range(iterations, 1, 30);
        assert_true(test_norm2(n, x) <= 10.0 * test_norm2(n, y));
      }
      bisai_precond_destroy(&m);
      free(y), free(b), free(x);
    }
    bisai_bcsr_destroy(&a);
  }
}

static void an_inconsistent_right_hand_side_is_suspected(void **state) {
  (void)state;
  enum { N = 30 * 30 };
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(30, 30, 1, TEST_FREE, 0.0));
  bisai_precond_options o = with_smoother(0, 60);
  bisai_precond *m = test_precond_with(context, a, &o);
  double b[N], x[N];
  int32_t iterations;
  for (int i = 0; i < N; i++) b[i] = 1.0 + i % 7;
  for (int cg = 0; cg < 2; cg++) {
    const bisai_status status = solve(a, m, cg, b, x, &iterations);
    assert_true(status == BISAI_MAX_ITERATIONS || status == BISAI_STAGNATED ||
                status == BISAI_BREAKDOWN);
    EXPECT_IN_MESSAGE(context, "; A maps constants to zero, and no A x has the constant part of b");
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* --- updates --- */

static void updates_compute_the_pseudo_inverse_again(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  for (int k = 0; k < 4; k++) {
    test_bcsr arrays = k < 2 ? test_mesh_diffusion(20, 20, 2, TEST_FREE, 0.0) : islands(2, 0);
    bisai_bcsr *a = test_bcsr_make(own, &arrays);
    for (int32_t v = 0; v < 4 * test_bcsr_blocks(&arrays); v++) arrays.values[v] *= 2.0;
    bisai_bcsr *b = test_bcsr_take(own, arrays);
    bisai_precond_options o = with_smoother(k == 3, k == 1 ? 1024 : 60);
    o.multigrid.update = BISAI_MULTIGRID_UPDATE_FAST;
    bisai_precond *expected = test_precond_with(own, b, &o), *m = test_precond_with(own, a, &o);
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(own, bisai_precond_update(m, b));
    assert_int_equal(atomic_load(&allocator.calls), before);
    assert_true(test_same_bits(own, expected, m));
    bisai_precond_destroy(&expected);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
  bisai_context_destroy(&own);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

/* Soft nodes between stiff ones have weak couplings. If they stayed out of all aggregates, the
 * coarse matrices would be regular. */
static void null_spaces_are_found_where_coefficients_jump(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int jump = 0; jump <= 5; jump++) {
      bisai_bcsr *a = test_bcsr_take(context, test_mesh_elements(60, 60, bs, jump, false));
      bisai_precond_options o = with_smoother(0, 60);
      o.multigrid.smoother = BISAI_SMOOTHER_AUTO;
      expect_solved(a, &o, true, bs, 60);
      bisai_bcsr_destroy(&a);
    }
}

/* The pattern of both boundaries is the same. */
static void updates_may_end_a_null_space_and_not_begin_one(void **state) {
  (void)state;
  bisai_bcsr *singular = test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_FREE, 0.0)),
             *regular =
                 test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.0));
  bisai_precond_options o = with_smoother(0, 60);
  bisai_precond *m = test_precond_with(context, singular, &o);
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, 2);
  assert_non_null(strstr(bisai_precond_describe(m), ", 3 levels of 400, "));
  assert_non_null(strstr(bisai_precond_describe(m), "singular by 2"));
  EXPECT_OK(context, bisai_precond_update(m, regular));
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, 0);
  EXPECT_OK(context, bisai_precond_update(m, singular));
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, 2);
  bisai_precond_destroy(&m);
  m = test_precond_with(context, regular, &o);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(m, singular));
  EXPECT_MESSAGE(context, "multigrid, level 2: the new values make the matrix of 8 block rows "
                          "singular: a new preconditioner takes them");
  EXPECT_OK(context, bisai_precond_update(m, regular));
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, 0);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&singular);
  bisai_bcsr_destroy(&regular);
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  test_bcsr a = islands(1, 0);
  const bisai_precond_options o = with_smoother(1, 40);
  test_expect_failing_allocations_survived(&a, &o, 40);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(neumann_problems_are_solved),
      cmocka_unit_test(null_spaces_are_found_where_coefficients_jump),
      cmocka_unit_test(small_singular_matrices_have_a_pseudo_inverse),
      cmocka_unit_test(free_bodies_are_solved),
      cmocka_unit_test(each_component_has_its_own_null_space),
      cmocka_unit_test(a_coarsest_matrix_of_zeros_is_solved),
      cmocka_unit_test(small_components_without_boundary_are_solved),
      cmocka_unit_test(an_inconsistent_right_hand_side_is_suspected),
      cmocka_unit_test(updates_compute_the_pseudo_inverse_again),
      cmocka_unit_test(updates_may_end_a_null_space_and_not_begin_one),
      cmocka_unit_test(creation_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests_name("multigrid_singular", tests, setup, teardown);
}
