/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays and factors of CPR's caller: updates read weights and storage again, and need none of
 * the other arrays. */
#include <math.h>

#include "cpr_variants.h"
#include "fixture.h"
#include "preconds.h"
#include "systems.h"

static void given_arrays_are_read_again(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1);
  for (int which = 0; which < 2; which++) {
    double *array = test_random_vector((int64_t)N * BS, 1);
    bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_ILU);
    o.cpr.pressure = P;
    o.multigrid.coarsest = 1024; /* P is inverted, so that there are no aggregates of creation */
    for (int32_t k = 0; k < N * BS; k++)
      array[k] = 0.1 * array[k] + (which ? k % (BS + 1) == 0 : 1);
    if (which)
      o.cpr.storage = array;
    else
      o.cpr.weights = array;
    bisai_precond *m = test_precond_with(context, a, &o), *same = test_precond_with(context, a, &o);
    for (int32_t k = 0; k < N * BS; k++) array[k] *= 1.0 + 0.1 * (k % 7);
    EXPECT_OK(context, bisai_precond_update(m, a));
    bisai_precond *expected = test_precond_with(context, a, &o);
    assert_false(test_same_bits(context, expected, same));
    test_expect_equal(context, expected, m);
    o.cpr.keep_pressure = true;
    bisai_precond *kept = test_precond_with(context, a, &o);
    for (int32_t k = 0; k < N * BS; k++) array[k] = (double)NAN; /* not read */
    EXPECT_OK(context, bisai_precond_update(kept, a));
    test_expect_equal(context, expected, kept);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&same);
    bisai_precond_destroy(&kept);
    bisai_precond_destroy(&expected);
    free(array);
  }
  bisai_bcsr_destroy(&a);
}

static void arrays_that_are_not_finite_are_refused_and_change_nothing(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
  for (int which = 0; which < 2; which++) {
    double *array = malloc((size_t)N * BS * sizeof *array);
    bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_ILU);
    o.cpr.pressure = P;
    for (int32_t k = 0; k < N * BS; k++) array[k] = which ? k / BS % BS == k % BS : 1.0;
    if (which)
      o.cpr.storage = array;
    else
      o.cpr.weights = array;
    bisai_precond *m = test_precond_with(context, a, &o),
                  *expected = test_precond_with(context, a, &o);
    array[100] = (double)NAN;
    test_expect_update_refused(context, m, b, BISAI_INVALID_ARGUMENT,
                               which ? "storage: value 1 of block row 11"
                                     : "weights: value 1 of block row 33");
    array[100] = which ? 100 / BS % BS == 100 % BS : 1.0;
    test_expect_equal(context, expected, m);
    EXPECT_OK(context, bisai_precond_update(m, a));
    test_expect_equal(context, expected, m);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&expected);
    free(array);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

static void arrays_of_creation_may_go(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1);
  bisai_pattern *pattern = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, a, BISAI_LOWER, 2, &pattern));
  double *vectors = test_random_vector((int64_t)2 * CELLS, 1);
  int32_t *order = test_random_permutation(CELLS, 1),
          *blocks = malloc((CELLS + 1) * sizeof *blocks);
  for (int32_t i = 0; i <= CELLS; i++) blocks[i] = i * BS;
  bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_ISAI), of_blocks = variant_of(4);
  o.multigrid.null_vectors = vectors;
  o.multigrid.null_count = 2;
  o.isai.lower_pattern = pattern;
  of_blocks.bjacobi.block_ptr = blocks;
  of_blocks.bjacobi.block_count = CELLS;
  bisai_precond *m = test_precond_with(context, a, &o),
                *second = test_precond_with(context, a, &of_blocks);
  o = variant_of(BISAI_CPR_SECOND_STAGE_ILU);
  o.factor.ordering = BISAI_ORDERING_GIVEN;
  o.factor.permutation = order;
  bisai_precond *third = test_precond_with(context, a, &o);
  free(vectors), free(order), free(blocks);
  bisai_pattern_destroy(&pattern);
  bisai_precond *all[] = {m, second, third};
  for (int k = 0; k < 3; k++) {
    double *before = test_applied(context, all[k]);
    EXPECT_OK(context, bisai_precond_update(all[k], a));
    double *after = test_applied(context, all[k]);
    assert_memory_equal(before, after, N * sizeof *before);
    free(before), free(after);
    bisai_precond_destroy(&all[k]);
  }
  bisai_bcsr_destroy(&a);
}

/* The caller brings his factors up to date, and CPR uses them. */
static void factors_of_the_caller_are_used(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *b = flow(context, 2);
  memset(test_bcsr_block(&arrays, 0, 0), 0, BS * BS * sizeof(double));
  bisai_bcsr *bad = test_bcsr_take(context, arrays);
  static const bisai_cpr_second_stage seconds[] = {
      BISAI_CPR_SECOND_STAGE_AUTO, BISAI_CPR_SECOND_STAGE_ILU, BISAI_CPR_SECOND_STAGE_SWEEPS};
  for (int k = 0; k < 3; k++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, a, NULL, &factors));
    bisai_precond_options o = variant_of(seconds[k]);
    o.factor.factors = factors; /* and no ordering */
    bisai_precond_options own = variant_of(seconds[k]);
    bisai_precond *expected = test_precond_with(context, a, &own);
    bisai_precond *m = test_precond_with(context, a, &o);
    double *x = test_applied(context, expected), *y = test_applied(context, m), v[N] = {1.0}, z[N];
    assert_memory_equal(x, y, N * sizeof *x);
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(m, v, z));
    EXPECT_IN_MESSAGE(context, "factors");
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_update(m, a));
    EXPECT_OK(context, bisai_factors_update(factors, b));
    EXPECT_OK(context, bisai_precond_update(m, b));
    EXPECT_OK(context, bisai_precond_update(expected, b));
    free(x), free(y);
    x = test_applied(context, expected), y = test_applied(context, m);
    assert_memory_equal(x, y, N * sizeof *x);
    free(x), free(y);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&expected);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  bisai_bcsr_destroy(&bad);
}

/* On a device, an array in host memory is copied through memory that is taken for the call. */
static void updates_copy_arrays_of_the_host_once(void **state) {
  (void)state;
  double *array = test_random_vector((int64_t)N * BS, 6);
  for (int storage = 0; storage < 2; storage++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = flow(own, 1);
    bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_ILU);
    o.cpr.pressure = P;
    o.multigrid.update = BISAI_MULTIGRID_UPDATE_FAST;
    *(storage ? &o.cpr.storage : &o.cpr.weights) = array;
    bisai_precond *m = test_precond_with(own, a, &o);
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(own, bisai_precond_update(m, a));
    assert_in_range(atomic_load(&allocator.calls) - before, 0, test_on_device() ? 1 : 0);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  free(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(given_arrays_are_read_again),
      cmocka_unit_test(arrays_that_are_not_finite_are_refused_and_change_nothing),
      cmocka_unit_test(arrays_of_creation_may_go),
      cmocka_unit_test(factors_of_the_caller_are_used),
      cmocka_unit_test(updates_copy_arrays_of_the_host_once),
  };
  return cmocka_run_group_tests_name("cpr_arrays", tests, setup, teardown);
}
