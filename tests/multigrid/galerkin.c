/* SPDX-License-Identifier: BSD-3-Clause */
/* R A P of scalar matrices without A P, against the product of two products. */
#include "sparse.h"

#include "fixture.h"

static const bsi_galerkin_ops *ops(const bisai_context *c) {
  return c->backend->multigrid->galerkin;
}

typedef struct triple {
  bsi_sparse r, a, p;
} triple;

/* Makes random factors. R has `coarse` rows, and A has `fine`. */
static triple make_triple(bisai_context *c, int32_t coarse, int32_t fine, double of_r, double of_a,
                          double of_p, bool identity, uint64_t seed) {
  return (triple){
      test_sparse_random(c, (test_shape_of_blocks){coarse, fine, 1, 1, of_r, identity}, seed),
      test_sparse_random(c, (test_shape_of_blocks){fine, fine, 1, 1, of_a, false}, seed + 1),
      test_sparse_random(c, (test_shape_of_blocks){fine, coarse, 1, 1, of_p, identity}, seed + 2)};
}

static void destroy_triple(bisai_context *c, triple *t) {
  bsi_sparse_destroy(c, &t->r);
  bsi_sparse_destroy(c, &t->a);
  bsi_sparse_destroy(c, &t->p);
}

/* Creates R A P on `threads` threads, updates it with the same values, and expects the same
 * bits. */
static bsi_sparse create(const triple *t, int threads) {
  bisai_context *own = test_context(threads);
  bsi_sparse c = {0};
  EXPECT_OK(own, ops(own)->create(own, &t->r, &t->a, &t->p, INT64_MAX, &c));
  const size_t bytes = (size_t)c.blocks * sizeof *c.values;
  double *created = malloc(bytes + 1);
  memcpy(created, c.values, bytes);
  memset(c.values, 0xff, bytes);
  EXPECT_OK(own, ops(own)->update(own, &t->r, &t->a, &t->p, &c));
  assert_memory_equal(c.values, created, bytes);
  free(created);
  bisai_context_destroy(&own);
  return c;
}

static void expect_triple(const triple *t) {
  bsi_sparse ap = test_sparse_product(context, &t->a, &t->p),
             expected = test_sparse_product(context, &t->r, &ap);
  for (int threads = 1; threads <= 3; threads++) {
    bsi_sparse got = create(t, threads);
    test_sparse_expect_structure(&expected, &got);
    /* sums of at most 10⁵ products of magnitude at most 1, in another order */
    EXPECT_CLOSE(expected.blocks, expected.values, got.values, 1e-10);
    bsi_sparse_destroy(context, &got);
  }
  bsi_sparse_destroy(context, &ap);
  bsi_sparse_destroy(context, &expected);
}

static void expect_random_triple(int32_t coarse, int32_t fine, double of_r, double of_a,
                                 double of_p, bool identity, uint64_t seed) {
  triple t = make_triple(context, coarse, fine, of_r, of_a, of_p, identity, seed);
  expect_triple(&t);
  destroy_triple(context, &t);
}

static void a_triple_product_by_hand(void **state) {
  (void)state;
  int32_t r_ptr[] = {0, 2}, r_col[] = {0, 1}, a_ptr[] = {0, 2, 3}, a_col[] = {0, 1, 0},
          p_ptr[] = {0, 1, 2}, p_col[] = {0, 0};
  double r[] = {1, 2}, a[] = {3, 4, 5}, p[] = {6, 7};
  triple t = {test_sparse_make(context, (bsi_sparse){1, 2, 1, 1, 2, r_ptr, r_col, r, {0}, false}),
              test_sparse_make(context, (bsi_sparse){2, 2, 1, 1, 3, a_ptr, a_col, a, {0}, false}),
              test_sparse_make(context, (bsi_sparse){2, 1, 1, 1, 2, p_ptr, p_col, p, {0}, false})};
  bsi_sparse c = create(&t, 1);
  assert_int_equal(c.blocks, 1);
  assert_true(c.values[0] == (3 + 2 * 5) * 6 + 4 * 7);
  bsi_sparse_destroy(context, &c);
  destroy_triple(context, &t);
}

static void triple_products_equal_products_of_products(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    expect_random_triple(40, 300, 12.0, 6.0, 2.5, false, seed);
    expect_random_triple(900, 4000, 9.0, 7.0, 3.5, false, seed);
  }
}

static void identity_transfers_add_up_rows(void **state) {
  (void)state;
  expect_random_triple(700, 4000, 5.0, 7.0, 1.0, true, 3);
}

/* A row of R A has room for 1024 values. */
static void rows_beyond_the_room_are_multiplied_in_turn(void **state) {
  (void)state;
  expect_random_triple(30, 6000, 900.0, 8.0, 3.0, false, 4);
  expect_random_triple(3, 1100, 1000.0, 900.0, 2.0, false, 5);
}

/* C has more values than A, so that rows are computed twice. */
static void coarse_matrices_may_have_more_values_than_the_fine_one(void **state) {
  (void)state;
  expect_random_triple(600, 900, 5.0, 1.5, 8.0, false, 6);
}

static void triple_products_without_rows_or_values_are_empty(void **state) {
  (void)state;
  expect_random_triple(0, 0, 0.0, 0.0, 0.0, false, 7);
  expect_random_triple(0, 5, 0.0, 2.0, 0.0, false, 7);
  expect_random_triple(4, 9, 0.0, 2.0, 0.0, false, 7);
}

static void triple_products_beyond_a_limit_have_no_arrays(void **state) {
  (void)state;
  triple t = make_triple(context, 500, 3000, 9.0, 7.0, 3.0, false, 8);
  bsi_sparse whole = create(&t, 1);
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *own = test_context(threads);
    for (int64_t most = whole.blocks; most >= 0; most = most == 0 ? -1 : most / 3) {
      bsi_sparse c = {0};
      EXPECT_OK(own, ops(own)->create(own, &t.r, &t.a, &t.p, most, &c));
      assert_true((c.row_ptr != NULL) == (most == whole.blocks));
      assert_true((c.values != NULL) == (most == whole.blocks));
      bsi_sparse_destroy(own, &c);
    }
    bisai_context_destroy(&own);
  }
  bsi_sparse_destroy(context, &whole);
  destroy_triple(context, &t);
}

static void terms_of_a_product_are_counted(void **state) {
  (void)state;
  triple t = make_triple(context, 50, 3000, 9.0, 7.0, 9.0, false, 9);
  int64_t expected = 0;
  for (int32_t k = 0; k < 3000; k++) {
    int64_t in_column = 0;
    for (int32_t q = 0; q < t.a.blocks; q++) in_column += t.a.col_idx[q] == k;
    expected += in_column * (t.p.row_ptr[k + 1] - t.p.row_ptr[k]);
  }
  assert_int_equal(ops(context)->terms(context, &t.a, &t.p), expected);
  destroy_triple(context, &t);
}

/* Creation holds C and its room at the end, and no more before. */
static void the_room_of_a_creation_is_known(void **state) {
  enum { ARRAYS = 8, ALIGNMENT = 64 };
  (void)state;
  for (int threads = 1; threads <= 2; threads++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, threads);
    triple t = make_triple(own, 300, 2000, 9.0, 7.0, 3.0, false, 12);
    bsi_sparse c = {0};
    const long long before = atomic_load(&allocator.live_bytes);
    atomic_store(&allocator.peak_bytes, before);
    EXPECT_OK(own, ops(own)->create(own, &t.r, &t.a, &t.p, INT64_MAX, &c));
    const int64_t held = atomic_load(&allocator.peak_bytes) - before,
                  known = ops(own)->room(own, &t.r, &t.a, &t.p, INT64_MAX) + bsi_sparse_memory(&c);
    assert_in_range(held, known, known + ARRAYS * ALIGNMENT);
    bsi_sparse_destroy(own, &c);
    destroy_triple(own, &t);
    bisai_context_destroy(&own);
  }
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failures = 0;
  for (int fail_at = 1; status; fail_at++) {
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    triple t = make_triple(own, 300, 2000, 9.0, 7.0, 3.0, false, 10);
    bsi_sparse c = {0};
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = ops(own)->create(own, &t.r, &t.a, &t.p, INT64_MAX, &c);
    if (status) {
      EXPECT_STATUS(own, BISAI_OUT_OF_MEMORY, status);
      failures++;
    }
    bsi_sparse_destroy(own, &c);
    destroy_triple(own, &t);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_bytes), 0);
  }
  assert_true(failures >= 8);
}

static void updates_allocate_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  triple t = make_triple(own, 300, 2000, 9.0, 7.0, 3.0, false, 11);
  bsi_sparse c = {0};
  EXPECT_OK(own, ops(own)->create(own, &t.r, &t.a, &t.p, INT64_MAX, &c));
  const long long before = atomic_load(&allocator.calls);
  EXPECT_OK(own, ops(own)->update(own, &t.r, &t.a, &t.p, &c));
  assert_int_equal(atomic_load(&allocator.calls), before);
  bsi_sparse_destroy(own, &c);
  destroy_triple(own, &t);
  bisai_context_destroy(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_triple_product_by_hand),
      cmocka_unit_test(triple_products_equal_products_of_products),
      cmocka_unit_test(identity_transfers_add_up_rows),
      cmocka_unit_test(rows_beyond_the_room_are_multiplied_in_turn),
      cmocka_unit_test(coarse_matrices_may_have_more_values_than_the_fine_one),
      cmocka_unit_test(triple_products_without_rows_or_values_are_empty),
      cmocka_unit_test(triple_products_beyond_a_limit_have_no_arrays),
      cmocka_unit_test(terms_of_a_product_are_counted),
      cmocka_unit_test(the_room_of_a_creation_is_known),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(updates_allocate_nothing),
  };
  return cmocka_run_group_tests_name("galerkin", tests, setup, teardown);
}
