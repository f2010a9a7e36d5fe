/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudo-inverses: Penrose's equations, the nullity, symmetry, scalings. */
#include "multigrid/coarse/pseudo_inverse.h"

#include <math.h>

#include "fixture.h"

typedef struct result {
  double *room, *inverse;
  int32_t nullity;
} result;

static result pseudo_inverse_on(bisai_context *c, int64_t n, const double *a) {
  result r = {.room = malloc((size_t)bsi_pseudo_room(n) * sizeof(double)), .nullity = -1};
  for (int64_t i = 0; i < bsi_pseudo_room(n); i++) r.room[i] = (double)NAN;
  memcpy(r.room, a, (size_t)(n * n) * sizeof *a);
  assert_null(bsi_pseudo_invert(c, n, (double)n, r.room, &r.inverse, &r.nullity));
  return r;
}

static result pseudo_inverse(int64_t n, const double *a) {
  return pseudo_inverse_on(context, n, a);
}

/* A product of random n × rank and rank × n factors. */
static double *of_rank(int64_t n, int64_t rank, uint64_t seed) {
  double *left = test_random_vector(n * rank, seed),
         *right = test_random_vector(n * rank, seed + 1),
         *a = test_dense_multiply(n, rank, n, left, right);
  free(left), free(right);
  return a;
}

static double *product3(int64_t n, const double *a, const double *b, const double *c) {
  double *ab = test_dense_multiply(n, n, n, a, b), *abc = test_dense_multiply(n, n, n, ab, c);
  free(ab);
  return abc;
}

/* A X A = A and X A X = X. `lost` are the digits that the condition of the regular part costs. */
static void expect_generalised(int64_t n, const double *a, const double *x, double lost) {
  double *axa = product3(n, a, x, a), *xax = product3(n, x, a, x);
  EXPECT_CLOSE(n * n, a, axa, lost * 1e-14 * (double)n * test_largest(n * n, a));
  EXPECT_CLOSE(n * n, x, xax, lost * 1e-14 * (double)n * test_largest(n * n, x));
  free(axa), free(xax);
}

static void a_pseudo_inverse_of_two_rows_by_hand(void **state) {
  (void)state;
  /* A = 4 u uᵀ with u = (1, −1)/√2 */
  result r = pseudo_inverse(2, (double[]){2, -2, -2, 2});
  assert_int_equal(r.nullity, 1);
  EXPECT_CLOSE(4, ((double[]){0.125, -0.125, -0.125, 0.125}), r.inverse, 1e-16);
  free(r.room);
}

static void a_matrix_of_zeros_has_the_pseudo_inverse_zero(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 40; n += 13) {
    double *zeros = calloc((size_t)(n * n), sizeof *zeros);
    result r = pseudo_inverse(n, zeros);
    assert_int_equal(r.nullity, n);
    EXPECT_CLOSE(n * n, zeros, r.inverse, 0);
    free(zeros), free(r.room);
  }
}

static void all_ranks_are_found(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 2, 3, 7, 33, 64, 101};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    const int64_t n = sizes[s];
    for (int64_t rank = 0; rank <= n; rank += n > 30 ? n / 7 : 1) {
      double *a = of_rank(n, rank, (uint64_t)rank + 1);
      result r = pseudo_inverse(n, a);
      assert_int_equal(r.nullity, n - rank);
      expect_generalised(n, a, r.inverse, 1e5); /* condition numbers of random factors, squared */
      free(a), free(r.room);
    }
  }
}

static void pseudo_inverses_of_symmetric_matrices_are_symmetric(void **state) {
  (void)state;
  enum { N = 60 };
  for (int64_t rank = 1; rank <= N; rank += 7) {
    double *factor = test_random_vector(N * rank, 3),
           *turned = test_dense_transpose(N, rank, factor),
           *a = test_dense_multiply(N, rank, N, factor, turned);
    result r = pseudo_inverse(N, a);
    assert_int_equal(r.nullity, N - rank);
    double *transposed = test_dense_transpose(N, N, r.inverse);
    /* condition numbers are below 10⁴ */
    EXPECT_CLOSE(N * N, transposed, r.inverse, 1e-10 * test_largest(N * N, r.inverse));
    free(factor), free(turned), free(a), free(transposed), free(r.room);
  }
}

/* Rows and columns of sizes 10^±100 do not hide the rank. */
static void scaled_rows_and_columns_have_the_same_rank(void **state) {
  (void)state;
  enum { N = 30, RANK = 22 };
  double *a = of_rank(N, RANK, 5);
  test_random random = test_random_seed(6);
  for (int i = 0; i < N; i++) {
    const double row = ldexp(1.0, test_random_integer(&random, -332, 332)),
                 column = ldexp(1.0, test_random_integer(&random, -60, 60));
    for (int k = 0; k < N; k++) {
      a[k * N + i] *= row;
      a[i * N + k] *= column;
    }
  }
  result r = pseudo_inverse(N, a);
  assert_int_equal(r.nullity, N - RANK);
  /* relative to the size of each value */
  double *axa = product3(N, a, r.inverse, a);
  for (int i = 0; i < N * N; i++)
    if (a[i] != 0.0) EXPECT_NEAR(1.0, axa[i] / a[i], 1e-4); /* small values lose digits */
  free(a), free(axa), free(r.room);
}

static void nullities_survive_rounding_errors(void **state) {
  (void)state;
  /* a periodic chain, whose values are not exact */
  enum { N = 500 };
  double *a = calloc((size_t)N * N, sizeof *a);
  test_random random = test_random_seed(7);
  for (int i = 0; i < N; i++) {
    const int j = (i + 1) % N;
    const double k = test_random_uniform(&random, 0.1, 10.0);
    a[i * N + i] += k, a[j * N + j] += k, a[i * N + j] -= k, a[j * N + i] -= k;
  }
  result r = pseudo_inverse(N, a);
  assert_int_equal(r.nullity, 1);
  free(a), free(r.room);
}

/* The first N − 1 columns are dependent up to 10⁻⁹: only the last component of the null vector is
 * small. Pivots in the order of the columns would find a regular matrix. */
static void null_vectors_with_small_components_are_found(void **state) {
  (void)state;
  enum { N = 50 };
  double *a = test_random_vector(N * N, 8), null[N];
  for (int k = 0; k < N - 1; k++) null[k] = 1.0;
  null[N - 1] = 1e-9;
  double length = 0.0;
  for (int k = 0; k < N; k++) length += null[k] * null[k];
  for (int i = 0; i < N; i++) { /* A (I − v vᵀ/vᵀv) */
    double image = 0.0;
    for (int k = 0; k < N; k++) image += a[k * N + i] * null[k];
    for (int k = 0; k < N; k++) a[k * N + i] -= image * null[k] / length;
  }
  result r = pseudo_inverse(N, a);
  assert_int_equal(r.nullity, 1);
  expect_generalised(N, a, r.inverse, 1e5); /* as in all_ranks_are_found */
  free(a), free(r.room);
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { N = 300, RANK = 290 };
  double *a = of_rank(N, RANK, 9), first[N * N];
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *c = test_context(threads);
    result r = pseudo_inverse_on(c, N, a);
    assert_int_equal(r.nullity, N - RANK);
    if (threads == 1) memcpy(first, r.inverse, sizeof first);
    assert_memory_equal(first, r.inverse, sizeof first);
    free(r.room);
    bisai_context_destroy(&c);
  }
  free(a);
}

static void nan_and_infinity_are_refused(void **state) {
  (void)state;
  double room[4 * 4 + 3 * 2] = {1, 0, 0, (double)NAN}, *inverse = NULL;
  int32_t nullity;
  assert_string_equal(bsi_pseudo_invert(context, 2, 2.0, room, &inverse, &nullity),
                      "the coarsest matrix");
  room[3] = (double)INFINITY;
  assert_string_equal(bsi_pseudo_invert(context, 2, 2.0, room, &inverse, &nullity),
                      "the coarsest matrix");
  assert_null(inverse);
}

static void overflow_of_the_result_is_refused(void **state) {
  (void)state;
  double room[4 * 4 + 3 * 2] = {1e-310, -1e-310, -1e-310, 1e-310}, *inverse = NULL;
  int32_t nullity;
  assert_string_equal(bsi_pseudo_invert(context, 2, 2.0, room, &inverse, &nullity),
                      "the pseudo-inverse of the coarsest matrix");
  assert_null(inverse);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_pseudo_inverse_of_two_rows_by_hand),
      cmocka_unit_test(a_matrix_of_zeros_has_the_pseudo_inverse_zero),
      cmocka_unit_test(all_ranks_are_found),
      cmocka_unit_test(pseudo_inverses_of_symmetric_matrices_are_symmetric),
      cmocka_unit_test(scaled_rows_and_columns_have_the_same_rank),
      cmocka_unit_test(nullities_survive_rounding_errors),
      cmocka_unit_test(null_vectors_with_small_components_are_found),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(nan_and_infinity_are_refused),
      cmocka_unit_test(overflow_of_the_result_is_refused),
  };
  return cmocka_run_group_tests_name("pseudo", tests, setup, teardown);
}
