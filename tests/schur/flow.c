/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of SCHUR on Stokes flow on staggered grids, and on real matrices. */
#include "saddles.h"
#include "support/fixture.h"
#include "support/preconds.h"
#include "support/staggered.h"
#include "support/systems.h"

static bisai_bcsr *stokes(int side, double time) {
  return test_bcsr_take(context, test_bcsr_staggered(side, time));
}

/* Solves for a known random x by GMRES(60), and returns the iterations. */
static int iterations(const bisai_bcsr *a, const bisai_precond_options *o) {
  bisai_precond *m = test_precond_with(context, a, o);
  const int64_t n = bisai_precond_rows(m);
  double *exact = test_random_vector(n, 3), *b = malloc((size_t)n * sizeof *b),
         *x = calloc((size_t)n, sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report r = test_report();
  options.tolerance = 1e-8;
  options.gmres.restart = 60;
  options.max_iterations = 300;
  EXPECT_OK(context, bisai_bcsr_multiply(a, exact, b));
  EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &r));
  assert_true(test_relative_residual(a, x, b) <= 2e-8);
  free(exact), free(b), free(x);
  bisai_precond_destroy(&m);
  return r.iterations;
}

/* The diagonal Schur complement takes 21 to 26 iterations on 32² to 128² cells. */
static void iterations_of_steady_flow_do_not_grow_with_the_grid(void **state) {
  (void)state;
  const bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  for (int side = 12; side <= 48; side *= 2) {
    bisai_bcsr *a = stokes(side, 0.0);
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_schur_report r = test_report_of(context, m).schur;
    assert_int_equal(r.complement, BISAI_SCHUR_COMPLEMENT_DIAGONAL);
    assert_int_equal(r.pressures, side * side);
    bisai_precond_destroy(&m);
    assert_in_range(iterations(a, &o), 1, 28);
    bisai_bcsr_destroy(&a);
  }
}

/* In small time steps K is nearly diagonal, and so is its commutator with the gradient. */
static void small_time_steps_take_the_commutator(void **state) {
  (void)state;
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  bisai_bcsr *a = stokes(24, 10.0);
  bisai_precond *m = test_precond_with(context, a, &o);
  assert_int_equal(test_report_of(context, m).schur.complement, BISAI_SCHUR_COMPLEMENT_LSC);
  bisai_precond_destroy(&m);
  const int by_lsc = iterations(a, &o);
  o.schur.complement = BISAI_SCHUR_COMPLEMENT_DIAGONAL;
  assert_in_range(by_lsc, 1, 16);
  assert_true(iterations(a, &o) > 2 * by_lsc);
  bisai_bcsr_destroy(&a);
}

/* E is singular, because a constant pressure has no effect: its factors are repaired. */
static void stages_that_factorise_repair_the_singular_complement(void **state) {
  (void)state;
  bisai_bcsr *a = stokes(12, 0.0);
  for (int k = BISAI_SCHUR_STAGE_ILU; k <= BISAI_SCHUR_STAGE_LU; k++) {
    bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
    o.schur.complement = BISAI_SCHUR_COMPLEMENT_SIMPLE;
    o.schur.second = (bisai_schur_stage)k;
    assert_in_range(iterations(a, &o), 1, 90);
  }
  bisai_bcsr_destroy(&a);
}

typedef struct flow {
  const char *name;
  int block_size, from, most;
} flow;

static void real_matrices_take_known_iterations(void **state) {
  (void)state;
  /* measured: 18, 23, 18, 19, 47, 29 */
  static const flow flows[] = {
      {"hymls_cavity2d_32x32_Re0", 3, -1, 20}, {"hymls_cavity2d_64x64_Re0", 3, -1, 25},
      {"hymls_cavity3d_16_Re0", 4, -1, 20},    {"hymls_taylorcouette_8", 4, -1, 21},
      {"muelu_meshtying2D", 1, -1, 47},        {"teko_ml_small", 1, 1538, 32}};
  for (size_t k = 0; k < sizeof flows / sizeof *flows; k++) {
    bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
    o.schur.from = flows[k].from;
    bisai_bcsr *a = test_matrix_read(context, flows[k].name, flows[k].block_size);
    assert_in_range(iterations(a, &o), 1, flows[k].most);
    bisai_bcsr_destroy(&a);
  }
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(iterations_of_steady_flow_do_not_grow_with_the_grid),
      cmocka_unit_test(small_time_steps_take_the_commutator),
      cmocka_unit_test(stages_that_factorise_repair_the_singular_complement),
  };
  const struct CMUnitTest real[] = {
      cmocka_unit_test(real_matrices_take_known_iterations),
  };
  if (test_wants_real(argc, argv))
    return test_real_matrices(
        cmocka_run_group_tests_name("schur_flow_real", real, setup, teardown));
  return cmocka_run_group_tests_name("schur_flow", tests, setup, teardown);
}
