/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles that read copies in fp32. */
#include <math.h>

#include "mesh.h"
#include "multigrid/cycle/cycle_ops.h"
#include "multigrid/level/multigrid_ops.h"
#include "problem.h"

static bsi_multigrid_setup setup_in(bisai_value_type precision, bisai_smoother smoother) {
  bsi_multigrid_setup s = setup_of(BISAI_CYCLE_W, smoother);
  s.options.precision = precision;
  return s;
}

static double difference(int64_t n, const double *x, const double *y) {
  double *d = malloc((size_t)n * sizeof *d);
  for (int64_t i = 0; i < n; i++) d[i] = x[i] - y[i];
  const double norm = test_norm2(n, d) / test_norm2(n, x);
  free(d);
  return norm;
}

static void copies_have_the_digits_of_fp32(void **state) {
  (void)state;
  static const double others[] = {0.0, -0x1p-100, 0x1p60, 0x1p61, 1e-31, INFINITY, NAN};
  static const bool fit[2][7] = {{true, true, true, false, false, false, false},
                                 {true, true, true, false, true, false, false}};
  enum { COUNT = 5000 };
  double *from = test_vector_in_place(COUNT, 1);
  float *to = context->backend->memory->allocate(context, COUNT, sizeof *to);
  for (int k = 0; k < 14; k++) {
    const bool small = k >= 7;
    bool fits = !fit[small][k % 7];
    test_synchronize();
    from[COUNT - 2] = others[k % 7];
    /* the first array fits */
    const bsi_fp32_rounding arrays[] = {
        {COUNT - 2, from, to, false}, {0, NULL, NULL, false}, {COUNT, from, to, small}};
    EXPECT_OK(context,
              context->backend->multigrid->fp32_copy->copy(context, 3, arrays, NULL, &fits));
    assert_int_equal(fits, fit[small][k % 7]);
    test_synchronize();
    for (int i = 0; i < COUNT - 2; i++) assert_true(to[i] == (float)from[i]);
  }
  context->backend->memory->release(context, to);
  test_vector_free(from);
}

static void cycles_differ_by_the_rounding_of_fp32(void **state) {
  (void)state;
  static const bisai_smoother smoothers[] = {BISAI_SMOOTHER_JACOBI, BISAI_SMOOTHER_L1,
                                             BISAI_SMOOTHER_CHEBYSHEV, BISAI_SMOOTHER_ILU};
  bisai_precond_options nested = bisai_precond_options_default();
  nested.kind = BISAI_PRECOND_ILU;
  for (int s = 0; s < 4; s++)
    for (int bs = 1; bs <= 9; bs++) {
      double *results[3];
      for (int k = 0; k < 3; k++) {
        bsi_multigrid_setup setup = setup_in(k ? BISAI_FP32 : BISAI_FP64, smoothers[s]);
        setup.nested = (bsi_nested){&nested, bsi_precond_operator_create};
        problem p =
            make_problem(context, test_mesh_diffusion(30, 20, bs, TEST_ZERO_OUTSIDE, 0.2), &setup);
        assert_true(p.h.count >= 3);
        assert_int_equal(p.h.levels[0].fp32.in_use, k > 0);
        assert_int_equal(p.h.levels[1].fp32.in_use, k > 0);
        results[k] = k == 2 ? cycle_in_fp32(&p) : cycle(&p);
        free_problem(&p);
      }
      for (int k = 1; k < 3; k++) {
        const double apart = difference((int64_t)600 * bs, results[0], results[k]);
        assert_true(apart > 0.0 && apart < 1e-5); /* 6e-8, a few times */
      }
      free(results[0]), free(results[1]), free(results[2]);
    }
}

static void rectangular_transfers_have_copies_of_their_values(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)600 * 3 * 4, 6), *results[3];
  for (int k = 0; k < 3; k++) {
    bsi_multigrid_setup setup = setup_in(k ? BISAI_FP32 : BISAI_FP64, BISAI_SMOOTHER_JACOBI);
    setup.options.null_vectors = vectors;
    setup.options.null_count = 4;
    problem p = make_problem(context, test_bcsr_grid(30, 20, 3, 3), &setup);
    const bsi_level_fp32 *copies = &p.h.levels[0].fp32;
    assert_null(copies->prolongation);
    assert_null(copies->restriction);
    assert_int_equal(copies->prolongation_values != NULL, k > 0);
    assert_int_equal(copies->restriction_values != NULL, k > 0);
    assert_int_equal(copies->in_use, k > 0);
    results[k] = k == 2 ? cycle_in_fp32(&p) : cycle(&p);
    free_problem(&p);
  }
  for (int k = 1; k < 3; k++) {
    const double apart = difference((int64_t)600 * 3, results[0], results[k]);
    assert_true(apart > 0.0 && apart < 1e-5);
  }
  free(results[0]), free(results[1]), free(results[2]), free(vectors);
}

static test_bcsr scaled_grid(double factor) {
  test_bcsr a = test_bcsr_grid(30, 20, 2, 3);
  const int64_t values = (int64_t)a.row_ptr[a.block_rows] * 4;
  for (int64_t k = 0; k < values; k++) a.values[k] *= factor;
  return a;
}

/* An update may leave the range of fp32 and come back. */
static void values_out_of_range_stay_in_fp64(void **state) {
  (void)state;
  static const double factors[] = {1.0, 0x1p300, 1.0, 0x1p-300};
  const bsi_multigrid_setup wide = setup_in(BISAI_FP64, BISAI_SMOOTHER_JACOBI),
                            narrow = setup_in(BISAI_FP32, BISAI_SMOOTHER_JACOBI);
  problem p = make_problem(context, scaled_grid(2.0), &narrow);
  assert_true(p.h.levels[0].fp32.in_use);
  for (int k = 0; k < 4; k++) {
    const bool fits = factors[k] == 1.0;
    problem fresh = make_problem(context, scaled_grid(factors[k]), fits ? &narrow : &wide);
    bisai_bcsr *a = test_bcsr_take(context, scaled_grid(factors[k]));
    EXPECT_OK(context, bsi_hierarchy_update(a, &p.h));
    assert_int_equal(p.h.levels[0].fp32.in_use, fits);
    bisai_bcsr_destroy(&p.matrix);
    p.matrix = a;
    bsi_coarse_graph_destroy(context, &fresh.h.graph); /* levels with copies are in no graph */
    double *x = cycle(&p), *expected = cycle(&fresh);
    assert_memory_equal(expected, x, (size_t)p.n * sizeof *x);
    free(x), free(expected);
    free_problem(&fresh);
  }
  free_problem(&p);
}

static void kept_transfers_are_not_copied_again(void **state) {
  (void)state;
  for (int keep = 0; keep <= 1; keep++) {
    bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_JACOBI);
    setup.options.keep_transfers = keep;
    problem p = make_problem(context, scaled_grid(1.0), &setup);
    bisai_bcsr *a = test_bcsr_take(context, scaled_grid(2.0));
    const bsi_level *level = &p.h.levels[0];
    float *of_p = level->fp32.prolongation->values, *of_a = level->fp32.matrix->values;
    test_synchronize();
    const float before = of_p[0];
    of_p[0] = of_a[0] = 77.0f;
    EXPECT_OK(context, bsi_hierarchy_update(a, &p.h));
    test_synchronize();
    assert_true(level->fp32.in_use && of_a[0] == (float)((const double *)a->values)[0]);
    assert_true(of_p[0] == (keep ? 77.0f : before));
    bisai_bcsr_destroy(&p.matrix);
    p.matrix = a;
    free_problem(&p);
  }
}

/* CG needs a symmetric M. */
static void symmetric_cycles_stay_symmetric(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_CHEBYSHEV);
  setup.symmetric = true;
  setup.options.cycle = BISAI_CYCLE_V;
  problem p = make_problem(context, test_mesh_diffusion(24, 20, 3, TEST_ZERO_OUTSIDE, 0.0), &setup);
  assert_true(p.h.levels[0].fp32.in_use && p.h.levels[0].fp32.restriction);
  double *u = test_random_vector(p.n, 7), *v = test_random_vector(p.n, 8);
  memcpy(p.b, u, (size_t)p.n * sizeof *u);
  double *mu = cycle(&p);
  memcpy(p.b, v, (size_t)p.n * sizeof *v);
  double *mv = cycle(&p), left = 0.0, right = 0.0;
  for (int64_t i = 0; i < p.n; i++) left += v[i] * mu[i], right += u[i] * mv[i];
  /* rounding errors of fp64 */
  assert_true(fabs(left - right) <= 1e-12 * test_norm2(p.n, v) * test_norm2(p.n, mu));
  free(u), free(v), free(mu), free(mv);
  free_problem(&p);
}

static void values_of_b_that_are_not_finite_reach_x(void **state) {
  (void)state;
  static const double values[] = {NAN, INFINITY, -INFINITY};
  const bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_CHEBYSHEV);
  problem p = make_problem(context, test_mesh_diffusion(24, 20, 2, TEST_ZERO_OUTSIDE, 0.2), &setup);
  for (int k = 0; k < 3; k++) {
    bool finite = true;
    p.b[p.n / 2] = values[k];
    double *x = cycle_in_fp32(&p);
    for (int64_t i = 0; i < p.n; i++) finite = finite && isfinite(x[i]);
    assert_false(finite);
    free(x);
  }
  free_problem(&p);
}

/* K, cycles that work in the caller's vectors, and preconditioners as smoothers have fp64. */
static void these_cycles_have_vectors_in_fp64(void **state) {
  (void)state;
  enum { WAYS = 7 };
  bisai_precond_options nested = bisai_precond_options_default();
  nested.kind = BISAI_PRECOND_ILU;
  for (int k = 0; k < WAYS; k++) {
    bsi_multigrid_setup setup =
        setup_in(k == 0 ? BISAI_FP64 : BISAI_FP32, k == 1   ? BISAI_SMOOTHER_ILU
                                                   : k == 5 ? BISAI_SMOOTHER_CHEBYSHEV
                                                            : BISAI_SMOOTHER_L1);
    setup.nested = (bsi_nested){&nested, bsi_precond_operator_create};
    if (k == 2) setup.options.cycle = BISAI_CYCLE_K;
    if (k == 3) setup.options.pre = 0;
    if (k == 4) setup.options.post = 0;
    if (k == 5) setup.options.degree = 3;
    problem p =
        make_problem(context, test_mesh_diffusion(30, 20, 2, TEST_ZERO_OUTSIDE, 0.2), &setup);
    const bool possible = k == WAYS - 1 && bsi_ops_of(&p.h)->cycle->narrow_vectors;
    assert_int_equal(bsi_narrow_levels(&p.h) > 0, possible);
    free_problem(&p);
  }
}

/* The recorded operations read fp64. */
static void levels_with_copies_are_not_in_the_graph(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_JACOBI);
  for (int level = 1; level <= 2; level++) {
    problem p = make_problem(context, test_bcsr_grid(50, 40, 3, 3), &setup);
    assert_true(p.h.count >= 4);
    bsi_coarse_graph_destroy(context, &p.h.graph);
    EXPECT_OK(context, test_graph_create(&p.h, INT32_MAX));
    assert_int_equal(p.h.graph.level, level == 1 ? 0 : level);
    setup.least_copied = bsi_bcsr_product_bytes(p.h.levels[2].matrix);
    free_problem(&p);
  }
}

static void small_levels_have_no_copies(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_JACOBI);
  problem all = make_problem(context, test_bcsr_grid(30, 20, 2, 3), &setup);
  setup.least_copied = bsi_bcsr_product_bytes(all.h.levels[1].matrix);
  problem first = make_problem(context, test_bcsr_grid(30, 20, 2, 3), &setup);
  assert_non_null(first.h.levels[0].fp32.matrix);
  assert_null(first.h.levels[1].fp32.matrix);
  setup.options.precision = BISAI_FP64;
  problem none = make_problem(context, test_bcsr_grid(30, 20, 2, 3), &setup);
  assert_null(none.h.levels[0].fp32.matrix);
  assert_true(bsi_hierarchy_memory(&none.h) < bsi_hierarchy_memory(&first.h));
  assert_true(bsi_hierarchy_memory(&first.h) < bsi_hierarchy_memory(&all.h));
  assert_true(bsi_hierarchy_cycle_bytes(&none.h) > bsi_hierarchy_cycle_bytes(&first.h));
  free_problem(&all), free_problem(&first), free_problem(&none);
}

static void copies_without_memory_leave_nothing(void **state) {
  (void)state;
  if (test_on_device()) skip();
  const bsi_multigrid_setup setup = setup_in(BISAI_FP32, BISAI_SMOOTHER_JACOBI);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  for (int fail = 1; status == BISAI_OUT_OF_MEMORY; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *c = test_context_on(&allocator, 1);
    bisai_bcsr *a = test_bcsr_take(c, test_bcsr_grid(12, 10, 2, 3));
    const long long before = atomic_load(&allocator.live_blocks);
    bsi_hierarchy h = {0};
    allocator.fail_at = atomic_load(&allocator.calls) + fail;
    status = bsi_hierarchy_create(c, a, &setup, &h);
    allocator.fail_at = 0;
    bsi_hierarchy_destroy(c, &h);
    assert_int_equal(atomic_load(&allocator.live_blocks), before);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&c);
  }
  assert_int_equal(status, BISAI_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_have_the_digits_of_fp32),
      cmocka_unit_test(cycles_differ_by_the_rounding_of_fp32),
      cmocka_unit_test(rectangular_transfers_have_copies_of_their_values),
      cmocka_unit_test(values_out_of_range_stay_in_fp64),
      cmocka_unit_test(kept_transfers_are_not_copied_again),
      cmocka_unit_test(symmetric_cycles_stay_symmetric),
      cmocka_unit_test(values_of_b_that_are_not_finite_reach_x),
      cmocka_unit_test(these_cycles_have_vectors_in_fp64),
      cmocka_unit_test(levels_with_copies_are_not_in_the_graph),
      cmocka_unit_test(small_levels_have_no_copies),
      cmocka_unit_test(copies_without_memory_leave_nothing)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
