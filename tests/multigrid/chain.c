/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of steps give the bits of single steps. */
#include "core/context_impl.h"
#include "fixture.h"
#include "mesh.h"
#include "multigrid/hierarchy.h"

/* No chain reaches that far. */
static const bsi_reach far = {1 << 24, 1 << 24};

typedef struct problem {
  test_allocator allocator;
  bisai_context *context;
  bisai_bcsr *matrix;
  bsi_hierarchy h;
  int64_t n;
  double *b, *x;
} problem;

static bsi_multigrid_setup setup_of(bisai_smoother smoother, bisai_cycle cycle) {
  bsi_multigrid_setup s = {.options = bisai_precond_options_default().multigrid};
  s.options.smoother = smoother;
  s.options.cycle = cycle;
  s.options.nodes = BISAI_NODES_BLOCK;
  s.options.coarsest = 100;
  s.options.complexity = 10.0;
  s.symmetric = true;
  s.least_narrow = 1 << 21; /* the first levels */
  return s;
}

static void make_problem(problem *p, int32_t nx, int32_t ny, int bs, int threads,
                         const bsi_multigrid_setup *setup) {
  *p = (problem){.n = (int64_t)nx * ny * bs};
  test_allocator_reset(&p->allocator, 0);
  p->context = test_context_on(&p->allocator, threads);
  p->matrix = test_bcsr_take(p->context, test_mesh_diffusion(nx, ny, bs, TEST_ZERO_OUTSIDE, 0.0));
  EXPECT_OK(p->context, bsi_hierarchy_create(p->context, p->matrix, setup, &p->h));
  p->b = test_random_vector(p->n, 4);
  p->x = test_random_vector(p->n, 5);
}

static void free_problem(problem *p) {
  bsi_hierarchy_destroy(p->context, &p->h);
  bisai_bcsr_destroy(&p->matrix);
  bisai_context_destroy(&p->context);
  free(p->b), free(p->x);
}

/* Returns a copy of the result, with another reach of level 0 if it is given. */
static double *cycle(problem *p, const bsi_reach *reach) {
  const bsi_reach before = p->h.levels[0].reach;
  double *result = malloc((size_t)p->n * sizeof *result);
  if (reach) p->h.levels[0].reach = *reach;
  EXPECT_OK(p->context, bsi_hierarchy_cycle(&p->h, p->b, p->x));
  p->h.levels[0].reach = before;
  memcpy(result, p->x, (size_t)p->n * sizeof *result);
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
        bsi_multigrid_setup setup = setup_of(cases[k].smoother, cases[k].cycle);
        setup.options.pre = cases[k].pre, setup.options.post = cases[k].post;
        setup.options.degree = cases[k].degree;
        problem p;
        make_problem(&p, 24000 / widths[wide], widths[wide], k % 2 ? 3 : 2, threads[t], &setup);
        assert_int_equal(p.h.levels[0].reach.below, widths[wide]);
        assert_int_equal(p.h.levels[0].reach.above, widths[wide]);
        double *chained = cycle(&p, NULL), *single = cycle(&p, &far);
        assert_true(same(&p, chained, single));
        if (!first) first = cycle(&p, &far);
        assert_true(same(&p, chained, first));
        free(chained), free(single);
        free_problem(&p);
      }
}

/* Without their distance, steps read rows that are not there yet. This shows that there are
 * chains. */
static void steps_keep_their_distance(void **state) {
  (void)state;
  if (test_on_device()) skip();
  const bsi_multigrid_setup setup = setup_of(BISAI_SMOOTHER_CHEBYSHEV, BISAI_CYCLE_V);
  problem p;
  make_problem(&p, 40, 600, 2, 1, &setup);
  double *right = cycle(&p, NULL), *wrong = cycle(&p, &(bsi_reach){0, 0}), *again = cycle(&p, NULL);
  assert_false(same(&p, right, wrong));
  assert_true(same(&p, right, again));
  free(right), free(wrong), free(again);
  free_problem(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(chains_give_the_bits_of_single_steps),
                                     cmocka_unit_test(steps_keep_their_distance)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
