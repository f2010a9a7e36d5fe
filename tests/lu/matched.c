/* SPDX-License-Identifier: BSD-3-Clause */
/* Complete factors of matrices whose large entries are not on the diagonal: matchings of entries
 * and of blocks, in both storages, against dense products and solves. */
#include "../order/matching.h"
#include "preconds.h"
#include "systems.h"

enum { ROWS = 36, MANY = 3 };

static bisai_precond_options lu_with(bisai_matching matching, bisai_value_type storage) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_LU;
  o.factor.matching = matching;
  o.lu.storage = storage;
  return o;
}

static const bisai_matching matchings[] = {BISAI_MATCHING_ENTRIES, BISAI_MATCHING_BLOCKS};

/* A matrix for a matching: entries come from rows that are shuffled one by one. Rows and columns
 * are scaled by up to 2^±exponent. */
static test_bcsr shuffled(int32_t bs, bisai_matching matching, uint64_t seed, double exponent) {
  return matching_shuffled(ROWS / bs, bs, matching == BISAI_MATCHING_BLOCKS ? bs : 1, exponent,
                           seed);
}

/* Fails unless M⁻¹ A x = x, in the sense that the residual of each row is `tolerance` of the sum of
 * the magnitudes that it adds up. */
static void expect_inverse(bisai_precond *m, const bisai_bcsr *matrix, double tolerance) {
  const int64_t n = bisai_precond_rows(m);
  double *x = test_random_vector(n * MANY, 1), *z = test_nan_vector(n * MANY),
         *dense = test_dense(matrix);
  for (int64_t k = 0; k < n * MANY; k++) x[k] /= test_largest(n, dense + k % n * n);
  double *v = test_dense_multiply(n, n, MANY, dense, x);
  EXPECT_OK(context, bisai_precond_apply_many(m, MANY, v, n, z, n));
  double *back = test_dense_multiply(n, n, MANY, dense, z);
  for (int64_t k = 0; k < n * MANY; k++) {
    const double *of = x + k / n * n;
    double row = 0;
    for (int64_t j = 0; j < n; j++) row += fabs(dense[j * n + k % n] * of[j]);
    EXPECT_NEAR(v[k], back[k], tolerance * row);
  }
  free(x), free(v), free(z), free(back), free(dense);
}

/* Rounding of a row is 10⁻¹⁶ times the condition of the scaled matrix, which is below 10⁵, and the
 * growth of pivots; or 10⁻⁷ in fp32, where nothing is scaled and the condition is below 50. */
static void applications_are_exact_to_the_digits_of_the_storage(void **state) {
  (void)state;
  static const bisai_ordering orderings[] = {BISAI_ORDERING_NATURAL, BISAI_ORDERING_RCM,
                                             BISAI_ORDERING_MD};
  for (int which = 0; which < 2; which++)
    for (int32_t bs = 1; bs <= 4; bs++)
      for (int how = 0; how < 6; how++) {
        test_bcsr a = shuffled(bs, matchings[which], (uint64_t)(3 * bs + how), how < 3 ? 20 : 0);
        bisai_bcsr *matrix = test_bcsr_take(context, a);
        bisai_precond_options options =
            lu_with(matchings[which], how < 3 ? BISAI_FP64 : BISAI_FP32);
        options.factor.ordering = orderings[how % 3];
        options.factor.equilibrate = how % 2;
        bisai_precond *m = test_precond_with(context, matrix, &options);
        expect_inverse(m, matrix, how < 3 ? 1e-8 : 1e-5);
        bisai_precond_destroy(&m);
        bisai_bcsr_destroy(&matrix);
      }
}

/* GMRES corrects what single precision loses. */
static void solves_are_those_of_dense_elimination(void **state) {
  (void)state;
  for (int how = 0; how < 8; how++) {
    const int32_t bs = how % 2 + 1;
    const bisai_matching matching = matchings[how / 2 % 2];
    const bisai_value_type storage = how < 4 ? BISAI_FP64 : BISAI_FP32;
    bisai_bcsr *matrix = test_bcsr_take(context, shuffled(bs, matching, 40, 0));
    const bisai_precond_options options = lu_with(matching, storage);
    bisai_precond *m = test_precond_with(context, matrix, &options);
    bisai_solver_options solver = bisai_solver_options_default();
    bisai_solver_report report = test_report();
    solver.tolerance = 1e-13;
    double *b = test_random_vector(ROWS, 9), *x = test_nan_vector(ROWS),
           *dense = test_dense(matrix), *expected = test_dense_solve(ROWS, dense, b);
    assert_non_null(expected);
    EXPECT_OK(context, test_solve(context, &solver, matrix, m, b, x, &report));
    assert_true(report.iterations <= (storage == BISAI_FP64 ? 2 : 6));
    EXPECT_CLOSE(ROWS, expected, x, 1e-10 * test_largest(ROWS, expected)); /* κ is below 10³ */
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&matrix);
    free(b), free(x), free(dense), free(expected);
  }
}

/* Other values with the same best matching. */
static test_bcsr changed(test_bcsr a) {
  for (int32_t v = 0; v < test_bcsr_blocks(&a) * a.block_size * a.block_size; v++)
    a.values[v] *= 1.5 + 0.125 * (v % 3);
  return a;
}

static void updates_are_as_creation(void **state) {
  (void)state;
  for (int how = 0; how < 16; how++) {
    const int32_t bs = how % 2 + 1;
    const bisai_matching matching = matchings[how / 2 % 2];
    bisai_bcsr *a = test_bcsr_take(context, shuffled(bs, matching, 2, 20)),
               *b = test_bcsr_take(context, changed(shuffled(bs, matching, 2, 20)));
    bisai_precond_options options = lu_with(matching, how & 4 ? BISAI_FP32 : BISAI_FP64);
    options.factor.equilibrate = how & 8;
    test_expect_update_as_creation(context, a, b, &options);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

/* Two rows are nearly the same: a pivot is below the shift, whichever rows it is looked for in.
 * GMRES corrects what its enlargement changes, and x stays small. */
static void tiny_pivots_are_raised_after_a_matching(void **state) {
  (void)state;
  enum { N = 6 };
  double *dense = test_random_vector(N * N, 3);
  for (int j = 0; j < N; j++) dense[j * N + 5] = dense[j * N + 4];
  dense[5 * N + 5] += 1e-9;
  bisai_bcsr *matrix = test_bcsr_take(context, matching_blocks_of(N, 1, dense));
  free(dense);
  bisai_precond_options options = lu_with(BISAI_MATCHING_ENTRIES, BISAI_FP64);
  options.shift = BISAI_SHIFT_IN_BLOCKS;
  options.shift_amount = 1e-6;
  bisai_precond *m = test_precond_with(context, matrix, &options);
  assert_int_equal(1, test_report_of(context, m).repairs);
  bisai_solver_options solver = bisai_solver_options_default();
  double x[N], b[N];
  for (int i = 0; i < N; i++) x[i] = i + 1;
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, x, b));
  EXPECT_OK(context, test_solve(context, &solver, matrix, m, b, x, NULL));
  assert_true(test_relative_residual(matrix, x, b) <= 2e-8);
  for (int i = 0; i < N; i++) assert_true(fabs(x[i]) < 1e4);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&matrix);
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  for (int which = 0; which < 2; which++) {
    test_bcsr a = shuffled(2, matchings[which], 8, 20);
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *matrix = test_bcsr_make(own, &a);
    const long long live = atomic_load(&allocator.live_blocks);
    const bisai_precond_options options = lu_with(matchings[which], BISAI_FP32);
    bisai_status status = BISAI_OUT_OF_MEMORY;
    long long fail_at = 0;
    while (status == BISAI_OUT_OF_MEMORY) {
      bisai_precond *m = NULL;
      allocator.fail_at = atomic_load(&allocator.calls) + ++fail_at;
      status = bisai_precond_create(own, matrix, &options, &m);
      assert_true((m != NULL) == !status);
      bisai_precond_destroy(&m);
      assert_int_equal(live, atomic_load(&allocator.live_blocks));
    }
    assert_int_equal(BISAI_OK, status);
    assert_true(fail_at > 20);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
    bisai_context_destroy(&own);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(applications_are_exact_to_the_digits_of_the_storage),
      cmocka_unit_test(solves_are_those_of_dense_elimination),
      cmocka_unit_test(updates_are_as_creation),
      cmocka_unit_test(tiny_pivots_are_raised_after_a_matching),
      cmocka_unit_test(failing_allocations_leave_nothing)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
