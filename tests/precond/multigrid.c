/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid behind the interface of preconditioners: symmetry, convergence with every smoother and
 * cycle, which solvers take it, scalings, threads, nodes. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "smoothers.h"
#include "systems.h"

/* Matrices of some hundred rows have several levels. */
static bisai_precond_options multigrid(void) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = 30;
  return o;
}

static double dot(int64_t n, const double *x, const double *y) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
  return sum;
}

/* --- symmetry --- */

/* x·My = y·Mx */
static void expect_symmetric(bisai_precond *m) {
  const int64_t n = bisai_precond_rows(m);
  double *x = test_random_vector(n, 1), *y = test_random_vector(n, 2), *mx = malloc(8 * (size_t)n),
         *my = malloc(8 * (size_t)n);
  EXPECT_OK(context, bisai_precond_apply(m, x, mx));
  EXPECT_OK(context, bisai_precond_apply(m, y, my));
  /* sums of n products that cancel by chance; a cycle adds some rounding errors of its own */
  EXPECT_NEAR(dot(n, x, my), dot(n, y, mx), 1e-13 * test_norm2(n, x) * test_norm2(n, my));
  free(x), free(y), free(mx), free(my);
}

static void cycles_of_symmetric_matrices_are_symmetric(void **state) {
  (void)state;
  static const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_VW};
  for (int k = 0; k < 2 * 3 * SMOOTHERS; k++)
    for (int bs = 1; bs <= 4; bs += 3)
      for (int32_t count = 1; count <= 2; count++) {
        bisai_bcsr *a =
            test_bcsr_take(context, test_mesh_diffusion(19, 17, bs, TEST_ZERO_OUTSIDE, 0.0));
        bisai_precond_options o = multigrid();
        o.multigrid.smoother = smoothers[k % SMOOTHERS];
        o.multigrid.cycle = cycles[k / SMOOTHERS % 3];
        if (k / SMOOTHERS / 3) o.multigrid.coarsest = 0; /* smoothed */
        o.multigrid.pre = o.multigrid.post = count;
        bisai_precond *m = test_precond_with(context, a, &o);
        const bisai_precond_report r = test_report_of(context, m);
        assert_true(r.multigrid.levels > 2 || (bs == 1 && r.multigrid.levels == 2));
        assert_int_equal(r.multigrid.coarsest_inverted, o.multigrid.coarsest > 0);
        assert_true(r.multigrid.symmetric);
        assert_int_equal(r.symmetry, BISAI_SYMMETRY_VALUES);
        expect_symmetric(m);
        bisai_precond_destroy(&m);
        bisai_bcsr_destroy(&a);
      }
}

/* M is A⁻¹ but for the error, so that a definite M is what conjugate gradients need. */
static void cycles_of_rigid_bodies_are_symmetric_and_definite(void **state) {
  (void)state;
  enum { EDGE = 6, N = 3 * EDGE * EDGE * EDGE };
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE);
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_springs(EDGE, EDGE, EDGE, TEST_FIXED_FACE));
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = multigrid();
    o.multigrid.smoother = smoothers[s];
    o.multigrid.null_vectors = modes;
    o.multigrid.null_count = 6;
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_true(test_report_of(context, m).multigrid.levels > 1);
    expect_symmetric(m);
    for (uint64_t seed = 0; seed < 5; seed++) {
      double *x = test_random_vector(N, seed), *y = malloc(N * sizeof *y);
      EXPECT_OK(context, bisai_precond_apply(m, x, y));
      assert_true(dot(N, x, y) > 0.0);
      free(x), free(y);
    }
    bisai_precond_destroy(&m);
  }
  free(modes);
  bisai_bcsr_destroy(&a);
}

static void cycles_without_symmetry_say_so(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(9, 8, 2, TEST_ZERO_OUTSIDE, 0.0)),
             *b = test_bcsr_take(context, test_mesh_diffusion(9, 8, 2, TEST_ZERO_OUTSIDE, 0.1));
  bisai_precond_options o = multigrid();
  bisai_precond *m = test_precond_with(context, b, &o);
  assert_false(test_report_of(context, m).multigrid.symmetric);
  assert_int_equal(test_report_of(context, m).symmetry, BISAI_SYMMETRY_NONE);
  bisai_precond_destroy(&m);
  o.multigrid.pre = 2;
  m = test_precond_with(context, a, &o);
  assert_true(test_report_of(context, m).multigrid.symmetric);
  assert_int_equal(test_report_of(context, m).symmetry, BISAI_SYMMETRY_NONE);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* --- convergence --- */

typedef struct outcome {
  bisai_status status;
  int32_t iterations;
  double residual;
} outcome;

static outcome solve(bisai_context *c, bisai_method method, bool flexible, const bisai_bcsr *a,
                     bisai_precond *m, const double *b, double *x) {
  bisai_solver_options options = bisai_solver_options_default();
  options.method = method;
  options.tolerance = 1e-10;
  options.max_iterations = 200;
  if (method == BISAI_CG) options.cg.flexible = flexible;
  if (method == BISAI_GMRES) options.gmres.flexible = flexible;
  bisai_solver_report r = test_report();
  memset(x, 0, (size_t)bisai_precond_rows(m) * sizeof *x);
  const bisai_status status = test_solve(c, &options, a, m, b, x, &r);
  return (outcome){status, r.iterations, status ? INFINITY : test_relative_residual(a, x, b)};
}

/* Returns the iterations. */
static int32_t expect_solved(bisai_method method, bool flexible, const bisai_bcsr *a,
                             const bisai_precond_options *o, int32_t most) {
  bisai_precond *m = test_precond_with(context, a, o);
  const int64_t n = bisai_precond_rows(m);
  double *b = test_random_vector(n, 3), *x = malloc((size_t)n * sizeof *x + 1);
  const outcome r = solve(context, method, flexible, a, m, b, x);
  if (r.status || r.iterations > most) print_message("%s\n", bisai_precond_describe(m));
  EXPECT_STATUS(context, BISAI_OK, r.status);
  assert_in_range(r.iterations, 0, most);
  assert_true(r.residual <= 2e-10);
  free(b), free(x);
  bisai_precond_destroy(&m);
  return r.iterations;
}

static void every_smoother_solves_a_diffusion(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int s = 0; s < SMOOTHERS; s++)
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        bisai_bcsr *a = test_bcsr_take(
            context, test_mesh_diffusion(40, 35, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.3));
        bisai_precond_options o = multigrid();
        o.multigrid.smoother = smoothers[s];
        /* one level needs some 60 to 100 iterations */
        expect_solved(symmetric ? BISAI_CG : BISAI_GMRES, false, a, &o, 40);
        bisai_bcsr_destroy(&a);
      }
}

static void every_cycle_solves_with_every_solver_that_takes_it(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(40, 35, 2, TEST_ZERO_OUTSIDE, 0.0));
  static const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_VW, BISAI_CYCLE_K};
  for (int k = 0; k < 4; k++)
    for (int method = 0; method < BISAI_METHODS; method++) {
      bisai_precond_options o = multigrid();
      o.multigrid.cycle = cycles[k];
      const bool flexible = cycles[k] == BISAI_CYCLE_K;
      if (flexible && method != BISAI_CG && method != BISAI_GMRES) continue;
      expect_solved((bisai_method)method, flexible, a, &o, 40);
    }
  bisai_bcsr_destroy(&a);
}

static void k_cycles_are_refused_by_solvers_that_are_not_flexible(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(20, 20, 1, TEST_ZERO_OUTSIDE, 0.0));
  bisai_precond_options o = multigrid();
  o.multigrid.cycle = BISAI_CYCLE_K;
  bisai_precond *m = test_precond_with(context, a, &o);
  assert_true(test_report_of(context, m).nonlinear);
  double b[400], x[400];
  for (int i = 0; i < 400; i++) b[i] = 1.0;
  for (int method = 0; method < BISAI_METHODS; method++) {
    const outcome r = solve(context, (bisai_method)method, false, a, m, b, x);
    EXPECT_STATUS(context, BISAI_NOT_LINEAR, r.status);
    EXPECT_IN_MESSAGE(context, "mg cycle=k");
    for (int i = 0; i < 400; i++) assert_true(x[i] == 0.0);
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void rigid_bodies_need_fewer_iterations_than_constants(void **state) {
  (void)state;
  enum { EDGE = 9 };
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE);
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_springs(EDGE, EDGE, EDGE, TEST_FIXED_FACE));
  bisai_precond_options o = multigrid();
  o.multigrid.coarsest = 100;
  const int32_t constants = expect_solved(BISAI_CG, false, a, &o, 60);
  o.multigrid.null_vectors = modes;
  o.multigrid.null_count = 6;
  assert_true(expect_solved(BISAI_CG, false, a, &o, 40) < constants);
  free(modes);
  bisai_bcsr_destroy(&a);
}

/* The power of two next to 10^100. */
static void scaled_matrices_take_as_many_iterations(void **state) {
  (void)state;
  for (int s = 0; s < SMOOTHERS; s++)
    for (int wind = 0; wind < 2; wind++) {
      int32_t expected = -1;
      for (int power = -1; power <= 1; power++) {
        test_bcsr arrays = test_mesh_diffusion(30, 25, 2, TEST_FIXED_FACE, 0.3 * wind);
        const double factor = ldexp(1.0, 332 * power);
        for (int32_t v = 0; v < 4 * test_bcsr_blocks(&arrays); v++) arrays.values[v] *= factor;
        bisai_bcsr *a = test_bcsr_take(context, arrays);
        bisai_precond_options o = multigrid();
        o.multigrid.smoother = smoothers[s];
        o.multigrid.cycle = s % 2 ? BISAI_CYCLE_K : BISAI_CYCLE_AUTO;
        bisai_precond *m = test_precond_with(context, a, &o);
        double *b = test_random_vector(1500, 3), *x = malloc(1500 * sizeof *x);
        for (int i = 0; i < 1500; i++) b[i] *= factor;
        const outcome r = solve(context, BISAI_GMRES, true, a, m, b, x);
        EXPECT_STATUS(context, BISAI_OK, r.status);
        if (expected < 0) expected = r.iterations;
        assert_int_equal(r.iterations, expected);
        free(b), free(x);
        bisai_precond_destroy(&m);
        bisai_bcsr_destroy(&a);
      }
    }
}

/* --- threads and several vectors --- */

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { N = 90 * 80 * 3 };
  double *v = test_random_vector(N, 4), *first = malloc(N * sizeof *first),
         *z = malloc(N * sizeof *z);
  for (int k = 0; k < 4 * SMOOTHERS; k++)
    for (int threads = 1; threads <= 3; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *a =
          test_bcsr_take(c, test_mesh_diffusion(90, 80, 3, TEST_ZERO_OUTSIDE, k % 2 ? 0.0 : 0.3));
      bisai_precond_options o = multigrid();
      o.multigrid.smoother = smoothers[k % SMOOTHERS];
      o.multigrid.cycle = (bisai_cycle)(BISAI_CYCLE_V + k / SMOOTHERS);
      bisai_precond *m = test_precond_with(c, a, &o);
      EXPECT_OK(c, bisai_precond_apply(m, v, threads == 1 ? first : z));
      if (threads > 1) assert_memory_equal(z, first, N * sizeof *z);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
      bisai_context_destroy(&c);
    }
  free(v), free(first), free(z);
}

static void several_vectors_are_applied_as_one_at_a_time(void **state) {
  (void)state;
  enum { N = 20 * 20 * 2, LDV = N + 3, LDZ = N + 5, COUNT = 11 };
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.2));
  double *v = test_random_vector(COUNT * LDV, 5), *z = malloc(COUNT * LDZ * sizeof *z),
         *one = malloc(N * sizeof *one);
  for (int cycle = BISAI_CYCLE_V; cycle <= BISAI_CYCLE_VW; cycle++) {
    bisai_precond_options o = multigrid();
    o.multigrid.cycle = (bisai_cycle)cycle;
    bisai_precond *m = test_precond_with(context, a, &o);
    for (int i = 0; i < COUNT * LDZ; i++) z[i] = (double)NAN;
    EXPECT_OK(context, bisai_precond_apply_many(m, COUNT, v, LDV, z, LDZ));
    for (int c = 0; c < COUNT; c++) {
      EXPECT_OK(context, bisai_precond_apply(m, v + (size_t)c * LDV, one));
      assert_memory_equal(one, z + (size_t)c * LDZ, N * sizeof *one);
    }
    bisai_precond_destroy(&m);
  }
  free(v), free(z), free(one);
  bisai_bcsr_destroy(&a);
}

/* --- nodes --- */

static void scalar_nodes_of_lines_make_the_hierarchy_of_the_scalar_matrix(void **state) {
  (void)state;
  enum { NX = 24, NY = 28, N = NX * NY };
  bisai_bcsr *scalar =
      test_bcsr_take(context, test_mesh_diffusion(NX, NY, 1, TEST_ZERO_OUTSIDE, 0.0));
  double *v = test_random_vector(N, 7), *z = malloc(N * sizeof *z), *got = malloc(N * sizeof *got);
  for (int k = 0; k < 3 * SMOOTHERS; k++) {
    const int bs = k / SMOOTHERS == 0 ? 2 : k / SMOOTHERS == 1 ? 4 : 7;
    bisai_bcsr *lines = test_bcsr_take(context, test_mesh_lines(NX, NY, bs));
    bisai_precond_options o = multigrid();
    o.multigrid.smoother = smoothers[k % SMOOTHERS];
    bisai_precond *expected = test_precond_with(context, scalar, &o);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
    bisai_precond *m = test_precond_with(context, lines, &o);
    const bisai_multigrid_report r = test_report_of(context, expected).multigrid,
                                 s = test_report_of(context, m).multigrid;
    assert_int_equal(s.levels, r.levels);
    assert_memory_equal(s.rows, r.rows, sizeof r.rows);
    assert_memory_equal(s.blocks, r.blocks, sizeof r.blocks);
    EXPECT_OK(context, bisai_precond_apply(expected, v, z));
    EXPECT_OK(context, bisai_precond_apply(m, v, got));
    assert_memory_equal(z, got, N * sizeof *z);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&expected);
    bisai_bcsr_destroy(&lines);
  }
  free(v), free(z), free(got);
  bisai_bcsr_destroy(&scalar);
}

static void nodes_are_chosen_by_the_couplings(void **state) {
  (void)state;
  bisai_bcsr *lines = test_bcsr_take(context, test_mesh_lines(24, 28, 4)),
             *points = test_bcsr_take(context, test_mesh_diffusion(24, 7, 4, TEST_FREE, 0.0));
  bisai_precond_options o = multigrid();
  bisai_precond *of_lines = test_precond_with(context, lines, &o),
                *of_points = test_precond_with(context, points, &o);
  assert_int_equal(test_report_of(context, of_lines).multigrid.nodes,
                   BISAI_AGGREGATION_UNIT_SCALAR);
  assert_int_equal(test_report_of(context, of_points).multigrid.nodes,
                   BISAI_AGGREGATION_UNIT_BLOCK);
  assert_non_null(strstr(bisai_precond_describe(of_lines), "nodes=scalar"));
  bisai_precond_destroy(&of_lines);
  bisai_precond_destroy(&of_points);
  bisai_bcsr_destroy(&lines);
  bisai_bcsr_destroy(&points);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cycles_of_symmetric_matrices_are_symmetric),
      cmocka_unit_test(cycles_of_rigid_bodies_are_symmetric_and_definite),
      cmocka_unit_test(cycles_without_symmetry_say_so),
      cmocka_unit_test(every_smoother_solves_a_diffusion),
      cmocka_unit_test(every_cycle_solves_with_every_solver_that_takes_it),
      cmocka_unit_test(k_cycles_are_refused_by_solvers_that_are_not_flexible),
      cmocka_unit_test(rigid_bodies_need_fewer_iterations_than_constants),
      cmocka_unit_test(scaled_matrices_take_as_many_iterations),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(several_vectors_are_applied_as_one_at_a_time),
      cmocka_unit_test(scalar_nodes_of_lines_make_the_hierarchy_of_the_scalar_matrix),
      cmocka_unit_test(nodes_are_chosen_by_the_couplings),
  };
  return cmocka_run_group_tests_name("multigrid", tests, setup, teardown);
}
