/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorded operations of small levels do what the operations do one by one. */
#include <math.h>

#include "apply/apply_ops.h"
#include "core/context/context_impl.h"
#include "problem.h"

/* Every level of the test but the first has fewer scalar rows. */
enum { MOST_ROWS = 5000 };

/* Compares a cycle without a graph and one with it. */
static void expect_same_cycle(bisai_context *c, problem *p) {
  double *expected = malloc((size_t)p->n * sizeof *expected);
  bsi_coarse_graph_destroy(c, &p->h.graph);
  EXPECT_OK(c, bsi_hierarchy_cycle(&p->h, p->b, p->x));
  memcpy(expected, p->x, (size_t)p->n * sizeof *expected);
  EXPECT_OK(c, test_graph_create(&p->h, MOST_ROWS));
  assert_int_equal(p->h.graph.level, 1);
  for (int64_t i = 0; i < p->n; i++) p->x[i] = NAN;
  EXPECT_OK(c, bsi_hierarchy_cycle(&p->h, p->b, p->x));
  /* on a device, sums are in another order */
  EXPECT_CLOSE(p->n, expected, p->x, test_on_device() ? 1e-8 * test_norm2(p->n, expected) : 0.0);
  free(expected);
}

static void a_graph_does_the_steps_of_every_cycle(void **state) {
  (void)state;
  static const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_K};
  static const bisai_smoother smoothers[] = {BISAI_SMOOTHER_JACOBI, BISAI_SMOOTHER_L1,
                                             BISAI_SMOOTHER_CHEBYSHEV};
  static const int sizes[] = {1, 2, 3, 4, 5, 8, 11};
  for (int k = 0; k < 3; k++)
    for (int s = 0; s < 3; s++)
      for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++) {
        const bsi_multigrid_setup setup = setup_of(cycles[k], smoothers[s]);
        problem p = make_problem(context, test_bcsr_grid(50, 40, sizes[b], 3), &setup);
        assert_true(p.h.count >= 3);
        expect_same_cycle(context, &p);
        free_problem(&p);
      }
}

static void a_graph_does_any_number_of_smoothings(void **state) {
  (void)state;
  for (int pre = 0; pre <= 2; pre++)
    for (int post = 0; post <= 2; post++) {
      bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
      setup.options.pre = pre;
      setup.options.post = post;
      problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
      expect_same_cycle(context, &p);
      free_problem(&p);
    }
}

static void a_graph_ends_with_a_smoothed_matrix(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_K, BISAI_SMOOTHER_CHEBYSHEV);
  setup.options.coarsest = 1;
  setup.options.levels = 3;
  problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
  assert_int_equal(p.h.count, 3);
  assert_null(p.h.coarse.inverse);
  expect_same_cycle(context, &p);
  free_problem(&p);
}

static void a_graph_does_rectangular_transfers(void **state) {
  (void)state;
  const int64_t n = 2000 * 3;
  double *vectors = test_random_vector(n * 4, 6);
  bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
  setup.options.null_vectors = vectors;
  setup.options.null_count = 4;
  problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
  assert_int_equal(p.h.levels[1].matrix->block_size, 4);
  expect_same_cycle(context, &p);
  free_problem(&p);
  free(vectors);
}

/* W corrects twice: with M of a V-cycle, x = M b + M (b − A M b). The tail has six steps for each
 * of the two cycles, because the second one needs neither the residual nor the sum. */
static void a_second_cycle_begins_with_the_first_result(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
  setup.options.levels = 3;
  setup.options.coarsest = 200;
  problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
  bsi_level *level = &p.h.levels[1];
  const int64_t n = bsi_level_rows(level);
  assert_int_equal(p.h.count, 3);
  assert_non_null(p.h.coarse.inverse);
  bsi_coarse_graph_destroy(context, &p.h.graph);
  EXPECT_OK(context, test_graph_create(&p.h, MOST_ROWS));
  assert_int_equal(p.h.graph.count, 12);
  bsi_coarse_graph_destroy(context, &p.h.graph);
  double *twice = malloc((size_t)n * sizeof *twice), *once = malloc((size_t)n * sizeof *once);
  for (int64_t i = 0; i < n; i++) level->work.b[i] = p.b[i];
  EXPECT_OK(context, bsi_hierarchy_correct(&p.h, 1));
  test_synchronize();
  memcpy(twice, level->work.solution, (size_t)n * sizeof *twice);
  p.h.setup.options.cycle = BISAI_CYCLE_V;
  EXPECT_OK(context, bsi_hierarchy_correct(&p.h, 1));
  test_synchronize();
  memcpy(once, level->work.solution, (size_t)n * sizeof *once);
  EXPECT_OK(context, bsi_multiply_vector(context, level->matrix, -1.0, level->work.solution, 1.0,
                                         level->work.b, level->work.b));
  EXPECT_OK(context, bsi_hierarchy_correct(&p.h, 1));
  test_synchronize();
  for (int64_t i = 0; i < n; i++) once[i] += level->work.solution[i];
  EXPECT_CLOSE(n, once, twice, 1e-10 * test_norm2(n, once)); /* rounding */
  free(twice), free(once);
  free_problem(&p);
}

/* A cycle of level 1 has five steps of its own, and one of level 2 has six with the inverse. Level
 * 2 corrects once if its coarse corrections are exact, and twice if level 3 is smoothed or if
 * restrictions are unweighted. */
static void the_level_above_an_exact_one_corrects_once(void **state) {
  (void)state;
  for (int k = 0; k <= 2; k++) {
    const bool exact = k > 0, unweighted = k > 1;
    bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
    setup.options.levels = 4;
    setup.options.coarsest = exact ? 60 : 1;
    setup.options.unweighted = unweighted;
    problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
    assert_int_equal(p.h.count, 4);
    assert_int_equal(p.h.coarse.inverse != NULL, exact);
    bsi_coarse_graph_destroy(context, &p.h.graph);
    EXPECT_OK(context, test_graph_create(&p.h, MOST_ROWS));
    assert_int_equal(p.h.graph.level, 1);
    const int of_level_2 = unweighted ? 2 * 6 : exact ? 6 : 2 * (5 + 8);
    assert_int_equal(p.h.graph.count, 2 * (5 + of_level_2));
    free_problem(&p);
  }
}

static void a_graph_takes_the_values_of_an_update(void **state) {
  (void)state;
  const bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_K, BISAI_SMOOTHER_CHEBYSHEV);
  problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
  bsi_coarse_graph_destroy(context, &p.h.graph);
  EXPECT_OK(context, test_graph_create(&p.h, MOST_ROWS));
  const int32_t count = p.h.graph.count;
  test_bcsr other = test_bcsr_grid(50, 40, 3, 8);
  bisai_bcsr *matrix = test_bcsr_take(context, other);
  EXPECT_OK(context, bsi_hierarchy_update(matrix, &p.h));
  assert_int_equal(p.h.graph.count, count);
  EXPECT_OK(context, bsi_hierarchy_cycle(&p.h, p.b, p.x));
  double *updated = malloc((size_t)p.n * sizeof *updated);
  memcpy(updated, p.x, (size_t)p.n * sizeof *updated);
  bsi_coarse_graph_destroy(context, &p.h.graph);
  EXPECT_OK(context, bsi_hierarchy_cycle(&p.h, p.b, p.x));
  EXPECT_CLOSE(p.n, p.x, updated, test_on_device() ? 1e-10 * test_norm2(p.n, p.x) : 0.0);
  free(updated);
  bisai_bcsr_destroy(&matrix);
  free_problem(&p);
}

static void a_graph_has_small_levels_only(void **state) {
  (void)state;
  const bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_JACOBI);
  problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
  assert_true(p.h.count >= 4);
  for (int l = 1; l < p.h.count - 1; l++) {
    const int64_t rows = bsi_level_rows(&p.h.levels[l]);
    bsi_coarse_graph_destroy(context, &p.h.graph);
    EXPECT_OK(context, test_graph_create(&p.h, rows));
    assert_int_equal(p.h.graph.level, l);
    bsi_coarse_graph_destroy(context, &p.h.graph);
    EXPECT_OK(context, test_graph_create(&p.h, rows - 1));
    assert_int_equal(p.h.graph.level, l + 1 < p.h.count - 1 ? l + 1 : 0);
  }
  free_problem(&p);
}

/* Levels with more steps than the limit do them one by one. */
static void a_graph_has_a_limited_number_of_steps(void **state) {
  (void)state;
  static const int32_t times[] = {1, 300, 800, 3000, 100000};
  static const int levels[] = {1, 1, 2, 0, 0};
  for (int k = 0; k < 5; k++) {
    bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
    setup.symmetric = true;
    setup.options.pre = setup.options.post = times[k];
    problem p = make_problem(context, test_bcsr_tridiagonal(270, 2, 2.1, -1.0), &setup);
    assert_int_equal(p.h.count, 4);
    bsi_coarse_graph_destroy(context, &p.h.graph);
    EXPECT_OK(context, test_graph_create(&p.h, MOST_ROWS));
    assert_int_equal(p.h.graph.level, levels[k]);
    assert_in_range(p.h.graph.count, levels[k] ? 10 : 0, levels[k] ? 4096 : 0);
    if (levels[k] == 2) {
      double *got = cycle(&p);
      bsi_coarse_graph_destroy(context, &p.h.graph);
      double *expected = cycle(&p);
      const double tolerance = test_on_device() ? 1e-8 * test_norm2(p.n, expected) : 0.0;
      EXPECT_CLOSE(p.n, expected, got, tolerance);
      free(got), free(expected);
    }
    free_problem(&p);
  }
}

static void nested_smoothers_have_no_graph(void **state) {
  (void)state;
  bisai_precond_options nested = bisai_precond_options_default();
  nested.kind = BISAI_PRECOND_ISAI;
  bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_ISAI);
  setup.nested = (bsi_nested){&nested, bsi_precond_operator_create};
  problem p = make_problem(context, test_bcsr_grid(50, 40, 2, 3), &setup);
  EXPECT_OK(context, test_graph_create(&p.h, MOST_ROWS));
  assert_int_equal(p.h.graph.level, 0);
  EXPECT_OK(context, bsi_hierarchy_cycle(&p.h, p.b, p.x));
  free_problem(&p);
}

static void a_graph_without_memory_leaves_nothing(void **state) {
  (void)state;
  if (test_on_device()) skip();
  for (int fail = 1; fail <= 3; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *c = test_context_on(&allocator, 1);
    const bsi_multigrid_setup setup = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_JACOBI);
    problem p = make_problem(c, test_bcsr_grid(50, 40, 2, 3), &setup);
    const long long before = atomic_load(&allocator.live_blocks);
    allocator.fail_at = atomic_load(&allocator.calls) + fail;
    EXPECT_STATUS(c, fail <= 2 ? BISAI_OUT_OF_MEMORY : BISAI_OK,
                  test_graph_create(&p.h, MOST_ROWS));
    allocator.fail_at = 0;
    bsi_coarse_graph_destroy(c, &p.h.graph);
    assert_int_equal(atomic_load(&allocator.live_blocks), before);
    EXPECT_OK(c, bsi_hierarchy_cycle(&p.h, p.b, p.x));
    free_problem(&p);
    bisai_context_destroy(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_graph_does_the_steps_of_every_cycle),
                                     cmocka_unit_test(a_graph_does_any_number_of_smoothings),
                                     cmocka_unit_test(a_graph_ends_with_a_smoothed_matrix),
                                     cmocka_unit_test(a_graph_does_rectangular_transfers),
                                     cmocka_unit_test(a_second_cycle_begins_with_the_first_result),
                                     cmocka_unit_test(the_level_above_an_exact_one_corrects_once),
                                     cmocka_unit_test(a_graph_takes_the_values_of_an_update),
                                     cmocka_unit_test(a_graph_has_small_levels_only),
                                     cmocka_unit_test(a_graph_has_a_limited_number_of_steps),
                                     cmocka_unit_test(nested_smoothers_have_no_graph),
                                     cmocka_unit_test(a_graph_without_memory_leaves_nothing)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
