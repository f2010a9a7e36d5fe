/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of steps give the bits of single steps. */
#include "mesh.h"
#include "problem.h"

/* No chain reaches that far. */
static const bsi_bandwidth far = {1 << 24, 1 << 24};

/* Chains on the first levels, which have copies in fp32 too. */
static bsi_multigrid_setup setup_for(bisai_smoother smoother, bisai_cycle cycle) {
  bsi_multigrid_setup s = setup_of(cycle, smoother);
  s.options.precision = BISAI_FP32;
  s.symmetric = true;
  s.least_copied = 1 << 21;
  return s;
}

static problem make_mesh(bisai_context *c, int32_t nx, int32_t ny, int bs,
                         const bsi_multigrid_setup *setup) {
  return make_problem(c, test_mesh_diffusion(nx, ny, bs, TEST_ZERO_OUTSIDE, 0.0), setup);
}

/* Does a cycle with another reach of level 0, and returns a copy of the result. */
static double *cycle_with(problem *p, bsi_bandwidth reach) {
  const bsi_bandwidth before = p->h.levels[0].bandwidth;
  p->h.levels[0].bandwidth = reach;
  double *result = cycle(p);
  p->h.levels[0].bandwidth = before;
  return result;
}

static bool same(const problem *p, const double *x, const double *y) {
  return memcmp(x, y, (size_t)p->n * sizeof *x) == 0;
}

static void chains_give_the_bits_of_single_steps(void **state) {
  (void)state;
  static const struct {
    bisai_smoother smoother;
    bisai_cycle cycle;
    int pre, post, degree;
  } cases[] = {{BISAI_SMOOTHER_CHEBYSHEV, BISAI_CYCLE_V, 1, 1, 2},
               {BISAI_SMOOTHER_CHEBYSHEV, BISAI_CYCLE_W, 1, 1, 3},
               {BISAI_SMOOTHER_CHEBYSHEV, BISAI_CYCLE_V, 0, 2, 4},
               {BISAI_SMOOTHER_JACOBI, BISAI_CYCLE_W, 1, 1, 2},
               {BISAI_SMOOTHER_JACOBI, BISAI_CYCLE_K, 2, 3, 2},
               {BISAI_SMOOTHER_L1, BISAI_CYCLE_VW, 2, 0, 2}};
  /* the parts of eight threads are shorter than the reach of rows of 600 nodes */
  static const int threads[] = {1, 2, 8}, widths[] = {60, 600};
  double *first = NULL;
  if (test_on_device()) skip();
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (int wide = 0; wide < 2; wide++, free(first), first = NULL)
      for (int t = 0; t < 3; t++) {
        test_allocator allocator;
        test_allocator_reset(&allocator, 0);
        bisai_context *own = test_context_on(&allocator, threads[t]);
        bsi_multigrid_setup setup = setup_for(cases[k].smoother, cases[k].cycle);
        setup.options.pre = cases[k].pre, setup.options.post = cases[k].post;
        setup.options.degree = cases[k].degree;
        problem p = make_mesh(own, 24000 / widths[wide], widths[wide], k % 2 ? 3 : 2, &setup);
        assert_int_equal(p.h.levels[0].bandwidth.below, widths[wide]);
        assert_int_equal(p.h.levels[0].bandwidth.above, widths[wide]);
        double *chained = cycle(&p), *single = cycle_with(&p, far);
        assert_true(same(&p, chained, single));
        if (!first) first = cycle_with(&p, far);
        assert_true(same(&p, chained, first));
        free(chained), free(single);
        free_problem(&p);
        bisai_context_destroy(&own);
      }
}

/* Without their distance, steps read rows that are not there yet. This shows that there are
 * chains. */
static void steps_keep_their_distance(void **state) {
  (void)state;
  if (test_on_device()) skip();
  const bsi_multigrid_setup setup = setup_for(BISAI_SMOOTHER_CHEBYSHEV, BISAI_CYCLE_V);
  bisai_context *own = test_context(1);
  problem p = make_mesh(own, 40, 600, 2, &setup);
  double *right = cycle(&p), *wrong = cycle_with(&p, (bsi_bandwidth){0, 0}), *again = cycle(&p);
  assert_false(same(&p, right, wrong));
  assert_true(same(&p, right, again));
  free(right), free(wrong), free(again);
  free_problem(&p);
  bisai_context_destroy(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_give_the_bits_of_single_steps),
                                     cmocka_unit_test(steps_keep_their_distance)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
