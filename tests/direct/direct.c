/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner direct against dense solves and against lu; without UMFPACK what it says. */
#include "systems.h"

#include <math.h>

static bisai_context *context;

#ifdef BISAI_HAVE_UMFPACK

enum { MANY = 3 };

static void applications_are_exact_for_every_block_size(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 7; bs++) {
    test_shape shape = test_shape_square(30 + bs, bs, (uint64_t)bs);
    shape.empty_every = bs % 3 == 0 ? 5 : 0;
    test_bcsr a = test_bcsr_random(shape);
    const int64_t n = (int64_t)a.block_rows * bs;
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_DIRECT);
    double *dense = test_dense_from_arrays(&a), *v = test_random_vector(MANY * n, 11),
           *z = test_nan_vector(MANY * n);
    const double limit = 1e-13 * test_dense_condition1(n, dense);
    EXPECT_OK(context, bisai_precond_apply_many(precond, MANY, v, n, z, n));
    for (int c = 0; c < MANY; c++) {
      double *x = test_dense_solve(n, dense, v + c * n);
      assert_non_null(x);
      EXPECT_CLOSE(n, x, z + c * n, limit * test_largest(n, x));
      free(x);
    }
    free(dense), free(v), free(z);
    bisai_precond_destroy(&precond);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
  }
}

/* Two codes that have nothing in common find the same solution. */
static void lu_and_direct_agree(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(40, 30, 3, 5));
  bisai_precond *own = test_precond(context, matrix, BISAI_PRECOND_LU),
                *other = test_precond(context, matrix, BISAI_PRECOND_DIRECT);
  const int64_t n = bisai_precond_rows(own);
  double *v = test_random_vector(n, 1), *x = test_nan_vector(n), *y = test_nan_vector(n);
  EXPECT_OK(context, bisai_precond_apply(own, v, x));
  EXPECT_OK(context, bisai_precond_apply(other, v, y));
  EXPECT_CLOSE(n, x, y, 1e-11 * test_largest(n, x));
  const bisai_precond_report r = test_report_of(context, other);
  assert_true(r.direct.lower > n && r.direct.upper > n && r.direct.flops > 0.0);
  assert_true(r.direct.condition > 0.0 && r.direct.condition <= 1.0);
  assert_true(r.memory_bytes > 8 * (r.direct.lower + r.direct.upper));
  free(v), free(x), free(y);
  bisai_precond_destroy(&own);
  bisai_precond_destroy(&other);
  bisai_bcsr_destroy(&matrix);
}

static void an_update_gives_the_bits_of_a_new_set_up(void **state) {
  (void)state;
  bisai_bcsr *first = test_bcsr_take(context, test_bcsr_grid(9, 8, 2, 1)),
             *second = test_bcsr_take(context, test_bcsr_grid(9, 8, 2, 2)),
             *third = test_bcsr_take(context, test_bcsr_tridiagonal(72, 2, 4.0, 1.0));
  bisai_precond *updated = test_precond(context, first, BISAI_PRECOND_DIRECT),
                *made = test_precond(context, second, BISAI_PRECOND_DIRECT);
  EXPECT_OK(context, bisai_precond_update(updated, second));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(updated, third));
  EXPECT_MESSAGE(context, "the pattern changed: other blocks than at creation, in block row 0");
  const int64_t n = bisai_precond_rows(made);
  double *v = test_random_vector(n, 3), *x = test_nan_vector(n), *y = test_nan_vector(n);
  EXPECT_OK(context, bisai_precond_apply(made, v, x));
  EXPECT_OK(context, bisai_precond_apply(updated, v, y));
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  free(v), free(x), free(y);
  bisai_precond_destroy(&updated);
  bisai_precond_destroy(&made);
  bisai_bcsr_destroy(&first);
  bisai_bcsr_destroy(&second);
  bisai_bcsr_destroy(&third);
}

static void a_singular_matrix_is_named(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(12, 2, 2.0, 0.0);
  test_bcsr_block(&a, 5, 5)[3] = 0.0;
  bisai_bcsr *matrix = test_bcsr_make(context, &a),
             *regular = test_bcsr_take(context, test_bcsr_tridiagonal(12, 2, 2.0, 0.0));
  const bisai_precond_options options = test_precond_options(BISAI_PRECOND_DIRECT);
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "block row 5: a pivot is zero");
  precond = test_precond_with(context, regular, &options);
  double v[24], z[24];
  for (int i = 0; i < 24; i++) v[i] = 1.0;
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(precond, matrix));
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, z));
  EXPECT_OK(context, bisai_precond_update(precond, regular));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  for (int i = 0; i < 24; i++) EXPECT_NEAR(0.5, z[i], 0.0);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&regular);
  test_bcsr_free(&a);
}

static void an_empty_matrix_is_taken(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(0, 3, 1.0, 0.0));
  bisai_precond *precond = test_precond(context, matrix, BISAI_PRECOND_DIRECT);
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  EXPECT_OK(context, bisai_precond_apply(precond, NULL, NULL));
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

/* Those of bisai; UMFPACK's are by malloc(). */
static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 5, 2, 3);
  for (long long fail = 1;; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = test_bcsr_make(own, &a);
    const bisai_precond_options options = test_precond_options(BISAI_PRECOND_DIRECT);
    bisai_precond *precond = NULL;
    const long long before = allocator.live_blocks;
    allocator.calls = 0;
    allocator.fail_at = fail;
    const bisai_status status = bisai_precond_create(own, matrix, &options, &precond);
    const bool failed = fail <= allocator.calls;
    EXPECT_STATUS(own, failed ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
    bisai_precond_destroy(&precond);
    assert_int_equal(allocator.live_blocks, before);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    if (!failed) break;
    assert_true(fail < 100);
  }
  test_bcsr_free(&a);
}

#else

static void a_build_without_umfpack_says_so(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(4, 3, 2, 1));
  const bisai_precond_options options = test_precond_options(BISAI_PRECOND_DIRECT);
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, BISAI_UNAVAILABLE,
                bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, "direct needs UMFPACK, which this build does not have; lu needs nothing");
  assert_null(precond);
  bisai_bcsr_destroy(&matrix);
}

#endif

static int open_context(void **state) {
  (void)state;
  context = test_context(0);
  return 0;
}

static int close_context(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef BISAI_HAVE_UMFPACK
      cmocka_unit_test(applications_are_exact_for_every_block_size),
      cmocka_unit_test(lu_and_direct_agree),
      cmocka_unit_test(an_update_gives_the_bits_of_a_new_set_up),
      cmocka_unit_test(a_singular_matrix_is_named),
      cmocka_unit_test(an_empty_matrix_is_taken),
      cmocka_unit_test(failing_allocations_leave_nothing)
#else
      cmocka_unit_test(a_build_without_umfpack_says_so)
#endif
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
