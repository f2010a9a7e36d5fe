/* SPDX-License-Identifier: BSD-3-Clause */
/* What hierarchies keep for updates: the values are the same bits, the memory is what the account
 * says, and an update without memory may be followed by another one. */
#include "mesh.h"
#include "problem.h"

enum { NX = 22, NY = 18, BS = 2, VECTORS = 3, CASES = 8 };

static const bisai_multigrid_update ways[] = {
    BISAI_MULTIGRID_UPDATE_FAST, BISAI_MULTIGRID_UPDATE_AUTO, BISAI_MULTIGRID_UPDATE_LEAN};

/* Symmetric matrices and others, copies in fp32 on all levels, on one and on none, null vectors,
 * kept transfers, an R that is not smoothed, and neither P nor R. */
static bsi_multigrid_setup setup_for(int k, const double *vectors) {
  bsi_multigrid_setup s = setup_of(k % 3 == 2 ? BISAI_CYCLE_W : BISAI_CYCLE_V,
                                   k % 2 ? BISAI_SMOOTHER_CHEBYSHEV : BISAI_SMOOTHER_JACOBI);
  s.symmetric = k % 2;
  s.options.precision = k == 2 ? BISAI_FP64 : BISAI_FP32;
  s.least_copied = k == 3 ? 40000 : 0;
  s.options.keep_transfers = k == 5;
  if (k >= 6) s.options.complexity = k == 6 ? 1.25 : 1.18;
  if (k == 3 || k == 4) s.options.null_vectors = vectors;
  if (k == 3 || k == 4) s.options.null_count = VECTORS;
  return s;
}

static double wind_of(int k) { return k % 2 ? 0.0 : 0.3; }

static test_bcsr mesh(int k) {
  return test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, wind_of(k));
}

/* The same pattern with other values, which are symmetric if those are. */
static test_bcsr other_mesh(int k) {
  test_bcsr a = mesh(k);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      for (int32_t v = 0; v < BS * BS; v++)
        a.values[p * BS * BS + v] *= 1.0 + 0.1 * ((i + a.col_idx[p]) * 13 % 17) / 17.0;
  return a;
}

static void expect_same_cycles(problem *p, problem *expected) {
  double *x = cycle(p), *y = cycle(expected);
  assert_memory_equal(y, x, (size_t)p->n * sizeof *x);
  free(x), free(y);
}

static void take(problem *p, bisai_bcsr *a) {
  EXPECT_OK(p->context, bsi_hierarchy_update(a, &p->h));
}

static void all_ways_give_the_same_bits(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)NX * NY * BS * VECTORS, 3);
  for (int k = 0; k < CASES; k++) {
    bsi_multigrid_setup setup = setup_for(k, vectors);
    problem p[3];
    bisai_bcsr *b = test_bcsr_take(context, other_mesh(k));
    for (int w = 0; w < 3; w++) {
      setup.options.update = ways[w];
      p[w] = make_problem(context, mesh(k), &setup);
      memcpy(p[w].b, p[0].b, (size_t)p[0].n * sizeof *p[0].b);
    }
    assert_true(p[0].h.count > 1);
    assert_true((k < 6) == (p[0].h.levels[0].transfers.restriction.row_ptr != NULL));
    assert_true((k < 7) == (p[0].h.levels[0].transfers.prolongation.row_ptr != NULL));
    for (int w = 1; w < 3; w++) {
      expect_same_cycles(&p[w], &p[0]);
      assert_true(bsi_hierarchy_memory(&p[w].h) < bsi_hierarchy_memory(&p[0].h));
    }
    for (int w = 0; w < 3; w++) take(&p[w], b);
    for (int w = 1; w < 3; w++) expect_same_cycles(&p[w], &p[0]);
    assert_true(bsi_hierarchy_memory(&p[2].h) < bsi_hierarchy_memory(&p[0].h));
    for (int w = 0; w < 3; w++) take(&p[w], p[w].matrix);
    for (int w = 1; w < 3; w++) expect_same_cycles(&p[w], &p[0]);
    for (int w = 0; w < 3; w++) free_problem(&p[w]);
    bisai_bcsr_destroy(&b);
  }
  free(vectors);
}

/* Values out of the range of fp32 stay in fp64 until they come back. */
static void lean_hierarchies_leave_the_range_of_fp32_and_come_back(void **state) {
  (void)state;
  bsi_multigrid_setup setup = setup_for(1, NULL);
  problem fast = make_problem(context, mesh(1), &setup);
  setup.options.update = BISAI_MULTIGRID_UPDATE_LEAN;
  problem lean = make_problem(context, mesh(1), &setup);
  test_bcsr arrays = mesh(1);
  for (int32_t v = 0; v < arrays.row_ptr[arrays.block_rows] * BS * BS; v++)
    arrays.values[v] *= 0x1p300;
  bisai_bcsr *large = test_bcsr_take(context, arrays);
  const int64_t before = bsi_hierarchy_memory(&lean.h);
  memcpy(lean.b, fast.b, (size_t)fast.n * sizeof *fast.b);
  take(&fast, large), take(&lean, large);
  assert_false(lean.h.levels[0].fp32.in_use);
  assert_true(bsi_hierarchy_memory(&lean.h) > before);
  expect_same_cycles(&lean, &fast);
  take(&fast, fast.matrix), take(&lean, lean.matrix);
  assert_true(lean.h.levels[0].fp32.in_use);
  assert_true(bsi_hierarchy_memory(&lean.h) == before);
  expect_same_cycles(&lean, &fast);
  bisai_bcsr_destroy(&large);
  free_problem(&fast), free_problem(&lean);
}

static void hierarchies_for_no_updates_refuse_them(void **state) {
  (void)state;
  for (int k = 0; k < CASES; k++) {
    double *vectors = test_random_vector((int64_t)NX * NY * BS * VECTORS, 3);
    bsi_multigrid_setup setup = setup_for(k, vectors);
    problem fast = make_problem(context, mesh(k), &setup);
    setup.options.update = BISAI_MULTIGRID_UPDATE_LEAN;
    problem lean = make_problem(context, mesh(k), &setup);
    setup.options.update = BISAI_MULTIGRID_UPDATE_NONE;
    problem none = make_problem(context, mesh(k), &setup);
    assert_int_equal(bsi_hierarchy_check(none.matrix, &none.h), BISAI_UNSUPPORTED);
    assert_non_null(strstr(bisai_context_error(context), "update=none"));
    assert_true(bsi_hierarchy_memory(&none.h) < bsi_hierarchy_memory(&lean.h));
    memcpy(none.b, fast.b, (size_t)fast.n * sizeof *fast.b);
    expect_same_cycles(&none, &fast);
    free_problem(&fast), free_problem(&lean), free_problem(&none);
    free(vectors);
  }
}

static void accounts_are_what_the_hierarchy_holds(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)NX * NY * BS * VECTORS, 3);
  if (test_on_device()) skip(); /* a device has copies in host memory too */
  for (int k = 0; k < 4 * CASES; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = test_bcsr_take(own, mesh(k % CASES)),
               *b = test_bcsr_take(own, other_mesh(k % CASES));
    bsi_multigrid_setup setup = setup_for(k % CASES, vectors);
    setup.options.update = (bisai_multigrid_update)(k / CASES);
    const long long before = atomic_load(&allocator.live_bytes);
    const long long blocks_before = atomic_load(&allocator.live_blocks);
    bsi_hierarchy h;
    EXPECT_OK(own, bsi_hierarchy_create(own, a, &setup, &h));
    for (int updates = 0; updates < 2; updates++) {
      const int64_t held = atomic_load(&allocator.live_bytes) - before,
                    memory = bsi_hierarchy_memory(&h),
                    blocks = atomic_load(&allocator.live_blocks) - blocks_before;
      /* the allocator rounds up to cache lines */
      assert_true(memory <= held && held < memory + 64 * blocks);
      if (bsi_hierarchy_check(b, &h)) break;
      EXPECT_OK(own, bsi_hierarchy_update(b, &h));
    }
    bsi_hierarchy_destroy(own, &h);
    assert_int_equal(atomic_load(&allocator.live_bytes), before);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
    bisai_context_destroy(&own);
  }
  free(vectors);
}

/* Every allocation of an update fails once. The next update then gives what it should. */
static void updates_without_memory_may_be_repeated(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)NX * NY * BS * VECTORS, 3);
  if (test_on_device()) skip();
  for (int k = 0; k < CASES; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    bsi_multigrid_setup setup = setup_for(k, vectors);
    problem fast = make_problem(own, mesh(k), &setup);
    setup.options.update = BISAI_MULTIGRID_UPDATE_LEAN;
    problem lean = make_problem(own, mesh(k), &setup);
    bisai_bcsr *b = test_bcsr_take(own, other_mesh(k));
    memcpy(lean.b, fast.b, (size_t)fast.n * sizeof *fast.b);
    take(&fast, b);
    const long long live = atomic_load(&allocator.live_blocks);
    bisai_status status = BISAI_OUT_OF_MEMORY;
    int failures = 0;
    for (; status == BISAI_OUT_OF_MEMORY; failures++) {
      allocator.fail_at = atomic_load(&allocator.calls) + failures + 1;
      status = bsi_hierarchy_update(b, &lean.h);
      allocator.fail_at = 0;
      assert_int_equal(atomic_load(&allocator.live_blocks), live);
    }
    assert_int_equal(status, BISAI_OK);
    assert_true(failures > 3);
    expect_same_cycles(&lean, &fast);
    bisai_bcsr_destroy(&b);
    free_problem(&fast), free_problem(&lean);
    bisai_context_destroy(&own);
  }
  free(vectors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_ways_give_the_same_bits),
      cmocka_unit_test(lean_hierarchies_leave_the_range_of_fp32_and_come_back),
      cmocka_unit_test(hierarchies_for_no_updates_refuse_them),
      cmocka_unit_test(accounts_are_what_the_hierarchy_holds),
      cmocka_unit_test(updates_without_memory_may_be_repeated)};
  return cmocka_run_group_tests_name("multigrid_updates", tests, setup, teardown);
}
