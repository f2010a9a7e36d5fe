/* SPDX-License-Identifier: BSD-3-Clause */
/* Norms, largest magnitudes, start vectors and combinations against plain loops. */
#include <math.h>

#include "core/context/context_impl.h"
#include "fixture.h"

static const bsi_vector_ops *vectors(const bisai_context *c) { return c->backend->vectors; }

/* A copy in backend memory. */
static double *vector(bisai_context *c, int64_t n, const double *from) {
  double *to = c->backend->memory->allocate(c, (size_t)n + 1, sizeof *to);
  assert_non_null(to);
  if (n > 0) EXPECT_OK(c, c->backend->memory->upload(c, to, from, (size_t)n * sizeof *to));
  return to;
}

static double *random_values(bisai_context *c, int64_t n, uint64_t seed) {
  double *values = test_random_vector(n, seed), *there = vector(c, n, values);
  free(values);
  return there;
}

static void drop(bisai_context *c, void *array) { c->backend->memory->release(c, array); }

static double norm_of(bisai_context *c, int64_t n, const double *x) {
  double *there = vector(c, n, x), norm = -1.0;
  EXPECT_OK(c, vectors(c)->norms(c, 1, n, (const double *const[]){there}, &norm));
  drop(c, there);
  return norm;
}

static void norms_neither_overflow_nor_vanish(void **state) {
  (void)state;
  static const int64_t lengths[] = {1, 2, 5, 256, 4097, 300001};
  static const double scales[] = {1.0,     0x1p-1000, 0x1p-600, 0x1p-500, 0x1p-499,
                                  0x1p489, 0x1p490,   0x1p491,  0x1p1000};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
    const int64_t n = lengths[k];
    double *x = test_random_vector(n, 21);
    long double square = 0.0L;
    for (int64_t i = 0; i < n; i++) square += (long double)x[i] * x[i];
    const double expected = (double)sqrtl(square);
    for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
      double *scaled = test_random_vector(n, 21);
      for (int64_t i = 0; i < n; i++) scaled[i] *= scales[s];
      /* 256 chunks with sums of a thousand values */
      EXPECT_NEAR(1.0, norm_of(context, n, scaled) / scales[s] / expected, 1e-13);
      free(scaled);
    }
    free(x);
  }
}

static void norms_of_special_values_are_special(void **state) {
  (void)state;
  EXPECT_NEAR(0.0, norm_of(context, 0, NULL), 0);
  EXPECT_NEAR(0.0, norm_of(context, 2, (double[]){0.0, -0.0}), 0);
  EXPECT_NEAR(0x1p-1074, norm_of(context, 1, (double[]){0x1p-1074}), 0);
  EXPECT_NEAR(5e300, norm_of(context, 3, (double[]){3e300, 1e-300, -4e300}), 1e285);
  assert_true(isinf(norm_of(context, 2, (double[]){1.0, -INFINITY})));
  assert_true(isnan(norm_of(context, 2, (double[]){NAN, 1.0})));
  assert_true(isnan(norm_of(context, 2, (double[]){NAN, 1e300})));
}

static double largest_of(bisai_context *c, int64_t n, const double *x) {
  double *there = vector(c, n, x), largest = -1.0;
  EXPECT_OK(c, vectors(c)->largest(c, n, there, &largest));
  drop(c, there);
  return largest;
}

static void the_largest_magnitude_is_found_at_every_place(void **state) {
  (void)state;
  enum { N = 5000 };
  static const int places[] = {0, 1, 31, 32, 1023, 1024, N - 1};
  double *x = test_random_vector(N, 3); /* in [−1, 1) */
  for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
    const double before = x[places[k]];
    x[places[k]] = -1.5;
    EXPECT_NEAR(1.5, largest_of(context, N, x), 0);
    x[places[k]] = NAN;
    assert_true(isnan(largest_of(context, N, x)));
    x[places[k]] = before;
  }
  free(x);
  EXPECT_NEAR(0.0, largest_of(context, 0, NULL), 0);
  EXPECT_NEAR(0.0, largest_of(context, 2, (double[]){0.0, -0.0}), 0);
  EXPECT_NEAR(0x1p-1074, largest_of(context, 1, (double[]){-0x1p-1074}), 0);
  assert_true(isinf(largest_of(context, 2, (double[]){1.0, -INFINITY})));
}

static void a_start_vector_depends_on_the_index_alone(void **state) {
  (void)state;
  double *x = random_values(context, 100000, 1), *y = random_values(context, 100, 2), sum = 0.0;
  EXPECT_OK(context, vectors(context)->start(context, 100000, x));
  EXPECT_OK(context, vectors(context)->start(context, 100, y));
  assert_memory_equal(x, y, 100 * sizeof *x);
  for (int i = 0; i < 100000; i++) {
    assert_true(x[i] >= -1.0 && x[i] < 1.0);
    if (i > 0) assert_true(x[i] != x[i - 1]);
    sum += x[i];
  }
  /* five standard deviations of the sum of 100,000 uniform numbers */
  EXPECT_NEAR(0.0, sum, 5.0 * sqrt(100000.0 / 3.0));
  drop(context, x), drop(context, y);
}

static void combinations_equal_plain_loops_and_read_no_y_without_beta(void **state) {
  (void)state;
  enum { N = 70001 }; /* more than a thread takes alone */
  double *x = test_random_vector(N, 1), *y = test_random_vector(N, 2);
  double *nothing = malloc(N * sizeof *nothing);
  for (int i = 0; i < N; i++) nothing[i] = NAN;
  double *there = vector(context, N, x), *sum = vector(context, N, y),
         *product = vector(context, N, nothing);
  EXPECT_OK(context, vectors(context)->combine(context, N, 0.5, there, -2.0, sum));
  EXPECT_OK(context, vectors(context)->combine(context, N, 0.5, there, 0.0, product));
  for (int i = 0; i < N; i++) y[i] = 0.5 * x[i] - 2.0 * y[i], x[i] *= 0.5;
  EXPECT_CLOSE(N, y, sum, 0); /* products by powers of two are exact */
  EXPECT_CLOSE(N, x, product, 0);
  drop(context, there), drop(context, sum), drop(context, product);
  free(x), free(y), free(nothing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(norms_neither_overflow_nor_vanish),
      cmocka_unit_test(norms_of_special_values_are_special),
      cmocka_unit_test(the_largest_magnitude_is_found_at_every_place),
      cmocka_unit_test(a_start_vector_depends_on_the_index_alone),
      cmocka_unit_test(combinations_equal_plain_loops_and_read_no_y_without_beta)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
