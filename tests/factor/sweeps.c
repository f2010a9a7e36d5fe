/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of factors by sweeps: what a sweep meets, when factors are exact, and that bits depend on
 * nothing else. */
#include "fixture.h"

#include <math.h>

static bisai_factors *factorise(bisai_context *c, const bisai_bcsr *a, int level, int sweeps) {
  bisai_factors *factors = NULL;
  bisai_factor_options options = bisai_factor_options_default();
  options.level = level;
  options.update_sweeps = sweeps;
  EXPECT_OK(c, bisai_factors_create(c, a, &options, &factors));
  return factors;
}

static void expect_same_factors(const bisai_factors *a, const bisai_factors *b) {
  const bisai_bcsr *upper = bisai_factors_upper(a);
  const size_t bs = (size_t)bisai_bcsr_block_size(upper), n = (size_t)bisai_bcsr_block_rows(upper);
  test_expect_same(bisai_factors_lower(a), bisai_factors_lower(b));
  test_expect_same(upper, bisai_factors_upper(b));
  assert_memory_equal(bisai_factors_inverse_diagonal(a), bisai_factors_inverse_diagonal(b),
                      n * bs * bs * sizeof(double));
}

static void change_values(test_bcsr *a, uint64_t seed) {
  test_random random = test_random_seed(seed);
  const size_t count = (size_t)test_bcsr_blocks(a) * (size_t)(a->block_size * a->block_size);
  for (size_t i = 0; i < count; i++) a->values[i] *= test_random_uniform(&random, 0.9, 1.1);
}

/* Factors of tridiag(−1, 2, −1): U = 2, 3/2, 4/3. A sweep for the diagonal 4 meets those. */
static void a_sweep_meets_the_factors_that_were_there(void **state) {
  (void)state;
  static const double lower[] = {-1.0 / 2.0, -1.0 / 1.5},
                      upper[] = {4.0, -1.0, 3.5, -1.0, 4.0 - 1.0 / 1.5},
                      inverse[] = {1.0 / 4.0, 1.0 / 3.5, 1.0 / (4.0 - 1.0 / 1.5)};
  bisai_bcsr *first = test_bcsr_take(context, test_bcsr_tridiagonal(3, 1, 2.0, -1.0)),
             *second = test_bcsr_take(context, test_bcsr_tridiagonal(3, 1, 4.0, -1.0));
  bisai_factors *factors = factorise(context, first, 0, 1);
  const void *l, *u;
  EXPECT_OK(context, bisai_factors_update(factors, second));
  bisai_bcsr_arrays(bisai_factors_lower(factors), NULL, NULL, &l);
  bisai_bcsr_arrays(bisai_factors_upper(factors), NULL, NULL, &u);
  EXPECT_CLOSE(2, lower, l, 1e-15);
  EXPECT_CLOSE(5, upper, u, 1e-15);
  EXPECT_CLOSE(3, inverse, bisai_factors_inverse_diagonal(factors), 1e-15);
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
}

/* A row of level l of L is exact after l + 1 sweeps: it then meets exact rows, and is computed as
 * in the exact factorisation. A grid of 6 × 5 has 10 levels without fill, and 30 rows have at
 * most 30. */
static void as_many_sweeps_as_levels_give_the_exact_bits(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++)
    for (int level = 0; level < 2; level++) {
      test_bcsr a = test_bcsr_grid(6, 5, bs, (uint64_t)bs);
      bisai_bcsr *first = test_bcsr_make(context, &a);
      change_values(&a, 8);
      bisai_bcsr *second = test_bcsr_make(context, &a);
      bisai_factors *swept = factorise(context, first, level, level == 0 ? 10 : 30),
                    *fresh = factorise(context, second, level, 0);
      EXPECT_OK(context, bisai_factors_update(swept, second));
      expect_same_factors(swept, fresh);
      bisai_factors_destroy(&swept);
      bisai_factors_destroy(&fresh);
      bisai_bcsr_destroy(&first);
      bisai_bcsr_destroy(&second);
      test_bcsr_free(&a);
    }
}

/* ‖L U − L* U*‖ shrinks: the error of a row is that of the rows that it meets times couplings over
 * diagonals, which are small in these matrices. */
static void every_sweep_brings_the_factors_nearer(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(12, 12, 3, 5);
  bisai_bcsr *first = test_bcsr_make(context, &a);
  change_values(&a, 9);
  bisai_bcsr *second = test_bcsr_make(context, &a);
  bisai_factors *fresh = factorise(context, second, 0, 0);
  const int64_t values = 9 * (int64_t)bisai_bcsr_blocks(bisai_factors_upper(fresh));
  const void *exact, *u;
  bisai_bcsr_arrays(bisai_factors_upper(fresh), NULL, NULL, &exact);
  double before = INFINITY;
  for (int sweeps = 1; sweeps <= 4; sweeps++) {
    bisai_factors *swept = factorise(context, first, 0, sweeps);
    EXPECT_OK(context, bisai_factors_update(swept, second));
    bisai_bcsr_arrays(bisai_factors_upper(swept), NULL, NULL, &u);
    const double error = test_max_difference(values, exact, u);
    assert_true(error < 0.5 * before);
    before = error;
    bisai_factors_destroy(&swept);
  }
  bisai_factors_destroy(&fresh);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  test_bcsr_free(&a);
}

static void sweeps_allocate_nothing_and_have_the_same_bits_for_any_threads(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    test_bcsr a = test_bcsr_random(test_shape_square(bs > 4 ? 300 : 3000, bs, (uint64_t)bs)),
              b = test_bcsr_random(test_shape_square(bs > 4 ? 300 : 3000, bs, (uint64_t)bs));
    change_values(&b, 3);
    bisai_factors *factors[2];
    bisai_context *contexts[2];
    test_allocator allocator[2];
    for (int t = 0; t < 2; t++) {
      test_allocator_reset(&allocator[t], 0);
      contexts[t] = test_context_on(&allocator[t], t == 0 ? 1 : 4);
      bisai_bcsr *first = test_bcsr_make(contexts[t], &a),
                 *second = test_bcsr_make(contexts[t], &b);
      factors[t] = factorise(contexts[t], first, 0, 2);
      const long long calls = atomic_load(&allocator[t].calls);
      EXPECT_OK(contexts[t], bisai_factors_update(factors[t], second));
      assert_int_equal(atomic_load(&allocator[t].calls), calls);
      bisai_bcsr_destroy(&first);
      bisai_bcsr_destroy(&second);
    }
    expect_same_factors(factors[0], factors[1]);
    for (int t = 0; t < 2; t++) {
      bisai_factors_destroy(&factors[t]);
      bisai_context_destroy(&contexts[t]);
      assert_int_equal(atomic_load(&allocator[t].live_blocks), 0);
    }
    test_bcsr_free(&a);
    test_bcsr_free(&b);
  }
}

/* z ← M⁻¹ v after an update from the first matrix to the second. */
static void update_and_apply(const bisai_precond_options *options, const bisai_bcsr *first,
                             const bisai_bcsr *second, const double *v, double *z) {
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, first, options, &precond));
  EXPECT_OK(context, bisai_precond_update(precond, second));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  test_synchronize();
  bisai_precond_destroy(&precond);
}

/* A grid of 6 × 5 has 10 levels: ten sweeps are exact, and one is not. */
static void preconditioners_update_their_factors_by_sweeps(void **state) {
  (void)state;
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI,
                                             BISAI_PRECOND_SWEEPS};
  enum { N = 90 };
  test_bcsr a = test_bcsr_grid(6, 5, 3, 4);
  bisai_bcsr *first = test_bcsr_make(context, &a);
  change_values(&a, 8);
  bisai_bcsr *second = test_bcsr_make(context, &a);
  double *v = test_random_vector(N, 1), exact[N], once[N], often[N];
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bisai_precond_options options = bisai_precond_options_default();
    options.kind = kinds[k];
    update_and_apply(&options, first, second, v, exact);
    options.factor.update_sweeps = 1;
    update_and_apply(&options, first, second, v, once);
    options.factor.update_sweeps = 10;
    update_and_apply(&options, first, second, v, often);
    assert_memory_equal(exact, often, sizeof exact);
    assert_true(test_max_difference(N, exact, once) > 0.0);
  }
  free(v);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  test_bcsr_free(&a);
}

static void after_a_failed_update_factors_are_exact(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(5, 5, 3, 2);
  bisai_bcsr *good = test_bcsr_make(context, &a);
  memset(test_bcsr_block(&a, 0, 0), 0, 9 * sizeof(double));
  bisai_bcsr *bad = test_bcsr_make(context, &a);
  bisai_factors *swept = factorise(context, good, 0, 1), *fresh = factorise(context, good, 0, 0);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(swept, bad));
  EXPECT_MESSAGE(context, "block row 0: the diagonal block is singular");
  EXPECT_OK(context, bisai_factors_update(swept, good));
  expect_same_factors(swept, fresh);
  bisai_factors_destroy(&swept);
  bisai_factors_destroy(&fresh);
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
  test_bcsr_free(&a);
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 4, 2, 1);
  for (long long fail_at = 1;; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *c = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = test_bcsr_make(c, &a);
    bisai_factors *factors = NULL;
    bisai_factor_options options = bisai_factor_options_default();
    options.update_sweeps = 1;
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    const bisai_status status = bisai_factors_create(c, matrix, &options, &factors);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&c);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    if (!status) break;
    assert_int_equal(status, BISAI_OUT_OF_MEMORY);
  }
  test_bcsr_free(&a);
}

static void negative_numbers_are_refused(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(3, 3, 2, 1));
  bisai_factors *factors = NULL;
  bisai_factor_options options = bisai_factor_options_default();
  options.update_sweeps = -1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_factors_create(context, matrix, &options, &factors));
  EXPECT_MESSAGE(context, "update_sweeps -1: must not be negative");
  assert_null(factors);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_sweep_meets_the_factors_that_were_there),
      cmocka_unit_test(as_many_sweeps_as_levels_give_the_exact_bits),
      cmocka_unit_test(every_sweep_brings_the_factors_nearer),
      cmocka_unit_test(sweeps_allocate_nothing_and_have_the_same_bits_for_any_threads),
      cmocka_unit_test(preconditioners_update_their_factors_by_sweeps),
      cmocka_unit_test(after_a_failed_update_factors_are_exact),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(negative_numbers_are_refused),
  };
  return cmocka_run_group_tests_name("factor_sweeps", tests, setup, teardown);
}
