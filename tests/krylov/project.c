/* SPDX-License-Identifier: BSD-3-Clause */
/* Null spaces taken out of vectors. */
#include <math.h>

#include <bisai/project.h>

#include "support/support.h"

enum { N = 1000, LD = 1003, MANY = 7 };

static void means_and_combinations_vanish(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double ones[] = {1, 1, 1, 1}, skewed[] = {1, 0, 0, 1, 1, 0};
  double x[] = {1, 2, 3, 6}, y[] = {3, 4, 5}, huge[] = {1e300, 0, 0, -1e300};
  EXPECT_OK(context, bisai_project(context, 4, 1, ones, 0, x));
  EXPECT_CLOSE(4, ((const double[]){-2, -1, 0, 3}), x, 1e-15);
  EXPECT_OK(context, bisai_project(context, 3, 2, skewed, 3, y));
  EXPECT_CLOSE(3, ((const double[]){0, 0, 5}), y, 1e-15);
  EXPECT_OK(context, bisai_project(context, 3, 0, NULL, 0, y));
  EXPECT_CLOSE(3, ((const double[]){0, 0, 5}), y, 1e-15);
  EXPECT_OK(context, bisai_project(context, 4, 1, ones, 0, huge));
  EXPECT_CLOSE(4, ((const double[]){1e300, 0, 0, -1e300}), huge, 0);
  bisai_context_destroy(&context);
}

/* x − V c, where c solves the normal equations VᵀV c = Vᵀx by elimination. */
static void subtract_by_normal_equations(int count, const double *v, double *x) {
  long double a[MANY][MANY + 1];
  for (int i = 0; i < count; i++)
    for (int j = 0; j <= count; j++) {
      const double *with = j < count ? v + j * LD : x;
      a[i][j] = 0;
      for (int k = 0; k < N; k++) a[i][j] += (long double)v[i * LD + k] * with[k];
    }
  for (int p = 0; p < count; p++)
    for (int i = 0; i < count; i++) {
      const long double factor = i == p ? 0 : a[i][p] / a[p][p];
      for (int j = p; j <= count; j++) a[i][j] -= factor * a[p][j];
    }
  for (int k = 0; k < N; k++) {
    long double rest = x[k];
    for (int i = 0; i < count; i++) rest -= a[i][count] / a[i][i] * v[i * LD + k];
    x[k] = (double)rest;
  }
}

static void it_is_the_distance_from_the_span(void **state) {
  (void)state;
  for (int count = 1; count <= MANY; count++) {
    bisai_context *context = test_context(2);
    double *v = test_random_vector(MANY * LD, 1), *x = test_random_vector(N, 2),
           *expected = test_random_vector(N, 2);
    /* vectors of other lengths, and one that is nearly a combination of the others */
    for (int k = 0; k < N; k++) {
      v[k] *= 1e8;
      if (count > 2) v[2 * LD + k] = v[LD + k] + 1e-3 * v[2 * LD + k];
    }
    subtract_by_normal_equations(count, v, expected);
    EXPECT_OK(context, bisai_project(context, N, count, v, LD, x));
    /* rounding of the vectors, whose condition number is about 10³ */
    EXPECT_CLOSE(N, expected, x, 1e-12);
    free(v);
    free(x);
    free(expected);
    bisai_context_destroy(&context);
  }
}

static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  enum { LONG = 100001 };
  double *v = test_random_vector(3 * LONG, 3), *first = test_random_vector(LONG, 4);
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *context = test_context(threads);
    double *x = test_random_vector(LONG, 4);
    EXPECT_OK(context, bisai_project(context, LONG, 3, v, LONG, x));
    if (threads == 1) memcpy(first, x, LONG * sizeof *x);
    assert_memory_equal(first, x, LONG * sizeof *x);
    free(x);
    bisai_context_destroy(&context);
  }
  free(v);
  free(first);
}

static void bad_vectors_are_named_and_leave_x(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double v[] = {1, 2, 3, 2, 4, 6, 0, 0, 0, 1, NAN, 2}, before[] = {1, 2, 3};
  double x[] = {1, 2, 3}, bad[] = {1, INFINITY, 3};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, 2, v, 3, x));
  EXPECT_MESSAGE(context, "vectors: vector 1 (from 0) is a combination of those before it");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, 1, v + 6, 3, x));
  EXPECT_MESSAGE(context, "vectors: vector 0 (from 0) is zero");
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_project(context, 3, 1, v + 9, 3, x));
  EXPECT_MESSAGE(context, "vectors: vector 0 (from 0) is not finite");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, 2, v, 2, x));
  EXPECT_MESSAGE(context, "bisai_project: n = 3, count = 2, ld = 2");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 0, 1, v, 3, x));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, -1, v, 3, x));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, 1, NULL, 3, x));
  EXPECT_MESSAGE(context, "bisai_project: vectors is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_project(context, 3, 1, v, 3, NULL));
  EXPECT_MESSAGE(context, "bisai_project: x is NULL");
  assert_int_equal(bisai_project(NULL, 3, 1, v, 3, x), BISAI_INVALID_ARGUMENT);
  EXPECT_CLOSE(3, before, x, 0);
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_project(context, 3, 1, v, 3, bad));
  EXPECT_MESSAGE(context, "bisai_project: x is not finite");
  bisai_context_destroy(&context);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  const double v[] = {1, 1, 1};
  bisai_status status = BISAI_OUT_OF_MEMORY;
  for (int late = 1; status; late++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    double x[] = {1, 2, 6};
    bisai_context *context = test_context_on(&allocator, 1);
    allocator.fail_at = atomic_load(&allocator.calls) + late;
    status = bisai_project(context, 3, 1, v, 3, x);
    assert_true(status ? status == BISAI_OUT_OF_MEMORY : late > 3);
    EXPECT_CLOSE(3, status ? ((const double[]){1, 2, 6}) : ((const double[]){-2, -1, 3}), x, 1e-15);
    bisai_context_destroy(&context);
    assert_true(atomic_load(&allocator.live_blocks) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_and_combinations_vanish),
      cmocka_unit_test(it_is_the_distance_from_the_span),
      cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(bad_vectors_are_named_and_leave_x),
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests_name("krylov_project", tests, NULL, NULL);
}
