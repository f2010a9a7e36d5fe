/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector kernels and the dense part of GMRES on the host, against simple loops. Sizes lie around
 * the borders of the vector lanes, of the shortest chunk (256) and of the parallel threshold. */
#include <math.h>

#include "core/context/backend.h"
#include "core/context/context_impl.h"
#include "krylov/passes/krylov_ops.h"
#include "support.h"

static const int64_t sizes[] = {0,   1,   2,    3,     4,     5,      255,
                                256, 257, 4097, 65536, 65537, 100003, 270001};
enum { SIZES = sizeof sizes / sizeof *sizes, MOST = 9 };

/* `count` vectors with NaN between them, so that reading past a vector's end shows. */
static double *random_basis(int64_t n, int64_t ld, int count) {
  double *basis = malloc((size_t)(ld * count + 1) * sizeof *basis);
  for (int c = 0; c < count; c++) {
    double *v = test_random_vector(n, (uint64_t)(100 + c));
    for (int64_t i = 0; i < ld; i++) basis[c * ld + i] = i < n ? v[i] : NAN;
    free(v);
  }
  return basis;
}

static void simple_operations_match_loops_and_stop_at_the_end(void **state) {
  (void)state;
  bisai_context *context = test_context(3);
  for (int k = 0; k < SIZES; k++) {
    const int64_t n = sizes[k];
    double *x = test_random_vector(n, 1), *y = test_random_vector(n + 1, 2);
    double *expected = malloc((size_t)(n + 1) * sizeof *expected);
    y[n] = expected[n] = 7;
    for (int64_t i = 0; i < n; i++) expected[i] = x[i] + y[i];
    EXPECT_OK(context, bsi_backend_host.vectors->add(context, n, x, y));
    EXPECT_CLOSE(n + 1, expected, y, 0);
    for (int64_t i = 0; i < n; i++) expected[i] = x[i] - y[i];
    EXPECT_OK(context, bsi_backend_host.vectors->subtract_from(context, n, x, y));
    EXPECT_CLOSE(n + 1, expected, y, 0);
    for (int64_t i = 0; i < n; i++) expected[i] = x[i];
    EXPECT_OK(context, bsi_backend_host.vectors->copy(context, n, x, y));
    EXPECT_CLOSE(n + 1, expected, y, 0);
    for (int64_t i = 0; i < n; i++) expected[i] = -2.5;
    EXPECT_OK(context, bsi_backend_host.vectors->set(context, n, -2.5, y));
    EXPECT_CLOSE(n + 1, expected, y, 0);
    free(x);
    free(y);
    free(expected);
  }
  bisai_context_destroy(&context);
}

static void dot_many_matches_a_loop(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  double *work = malloc(BSI_CHUNKS * MOST * sizeof *work);
  for (int k = 0; k < SIZES; k++) {
    const int64_t n = sizes[k], ld = n + 3;
    double *basis = random_basis(n, ld, MOST), *w = test_random_vector(n, 5);
    for (int count = 0; count <= MOST; count++) {
      double out[MOST + 1];
      for (int c = 0; c <= MOST; c++) out[c] = NAN;
      EXPECT_OK(context, bsi_backend_host.krylov->basis->dot_many(
                             context, (bsi_basis){n, count, basis, ld, 0}, w, work, out));
      for (int c = 0; c < count; c++) {
        long double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += (long double)basis[c * ld + i] * w[i];
        /* The bound of recursive summation, n·eps·Σ|x||y| with terms below 1, would be n²·eps;
         * chunks stay far below n·eps. */
        EXPECT_NEAR((double)sum, out[c], 2.3e-16 * (double)(n + 1));
      }
      assert_true(isnan(out[count]));
    }
    free(basis);
    free(w);
  }
  free(work);
  bisai_context_destroy(&context);
}

static void axpy_many_matches_a_loop_and_fuses_the_norm(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  double *work = malloc(BSI_CHUNKS * sizeof *work);
  double coefficients[MOST];
  for (int c = 0; c < MOST; c++) coefficients[c] = 0.5 - 0.3 * c;
  for (int k = 0; k < SIZES; k++) {
    const int64_t n = sizes[k], ld = n + 1;
    double *basis = random_basis(n, ld, MOST), *w = test_random_vector(n + 1, 6);
    double *expected = malloc((size_t)(n + 1) * sizeof *expected);
    w[n] = expected[n] = 11;
    for (int count = 0; count <= MOST; count++) {
      long double square = 0;
      for (int64_t i = 0; i < n; i++) {
        long double value = w[i];
        for (int c = 0; c < count; c++) value -= (long double)coefficients[c] * basis[c * ld + i];
        expected[i] = (double)value;
        square += value * value;
      }
      double norm2 = NAN;
      EXPECT_OK(context, bsi_backend_host.krylov->basis->axpy_many(
                             context, (bsi_basis){n, count, basis, ld, 0}, coefficients, -1, w,
                             work, &norm2));
      EXPECT_CLOSE(n + 1, expected, w,
                   /* nine terms below 3, repeated nine times: a few dozen roundings of 1e-15 */
                   1e-13);
      EXPECT_NEAR((double)square, norm2, 1e-13 * (double)(square + 1));
      EXPECT_OK(context,
                bsi_backend_host.krylov->basis->axpy_many(
                    context, (bsi_basis){n, count, basis, ld, 0}, coefficients, 0, w, NULL, NULL));
      EXPECT_CLOSE(n + 1, expected, w, 1e-13);
    }
    free(basis);
    free(w);
    free(expected);
  }
  free(work);
  bisai_context_destroy(&context);
}

static void reductions_have_the_same_bits_for_any_number_of_threads(void **state) {
  (void)state;
  enum { COUNT = 6 };
  const int64_t n = 100003;
  double *basis = random_basis(n, n, COUNT), *work = malloc(BSI_CHUNKS * COUNT * sizeof *work);
  double reference[COUNT + 1] = {0};
  double *first = malloc((size_t)n * sizeof *first);
  for (int threads = 1; threads <= 7; threads++) {
    bisai_context *context = test_context(threads);
    double *w = test_random_vector(n, 9), out[COUNT + 1];
    EXPECT_OK(context, bsi_backend_host.krylov->basis->dot_many(
                           context, (bsi_basis){n, COUNT, basis, n, 0}, w, work, out));
    EXPECT_OK(context,
              bsi_backend_host.krylov->basis->axpy_many(context, (bsi_basis){n, COUNT, basis, n, 0},
                                                        out, -1e-4, w, work, out + COUNT));
    if (threads == 1) {
      memcpy(reference, out, sizeof out);
      memcpy(first, w, (size_t)n * sizeof *w);
    }
    assert_memory_equal(reference, out, sizeof out);
    assert_memory_equal(first, w, (size_t)n * sizeof *w);
    free(w);
    bisai_context_destroy(&context);
  }
  free(first);
  free(basis);
  free(work);
}

static void scaling_by_the_norm_makes_unit_vectors_and_leaves_zero_zero(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  double x[3] = {3, 0, 4}, y[3] = {NAN, NAN, NAN};
  const double unit[3] = {0.6, 0, 0.8}, zero[3] = {0, 0, 0};
  double norm2 = 25;
  EXPECT_OK(context, bsi_backend_host.krylov->basis->scale_by_norm(context, 3, &norm2, x, y));
  EXPECT_CLOSE(3, unit, y, 2e-16);
  EXPECT_OK(context, bsi_backend_host.krylov->basis->scale_by_norm(context, 3, &norm2, x, x));
  EXPECT_CLOSE(3, unit, x, 2e-16);
  norm2 = 0;
  EXPECT_OK(context, bsi_backend_host.krylov->basis->scale_by_norm(context, 3, &norm2, x, y));
  EXPECT_CLOSE(3, zero, y, 0);
  bisai_context_destroy(&context);
}

/* The small dense part of a cycle of GMRES(m). */
static bsi_cycle cycle_of(int m, double *H, double *cosines, double *sines, double *g,
                          double *status) {
  return (bsi_cycle){
      .m = m, .hessenberg = H, .cosines = cosines, .sines = sines, .rhs = g, .status = status};
}

/* Feeds a 3 × 2 Hessenberg matrix column by column and compares with the normal equations, solved
 * by hand: H = [1 2; 2 1; 0 2], β = 3: HᵀH = [5 4; 4 9], Hᵀβe₁ = [3; 6], so y = [3·9 − 4·6; 5·6 −
 * 4·3]/29 = [3; 18]/29. */
static void rotations_solve_the_small_least_squares_problem(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { M = 2 };
  double H[M * (M + 1)], cosines[M], sines[M], g[M + 1] = {3, NAN, NAN}, status[2 * M], y[M];
  for (size_t i = 0; i < sizeof H / sizeof *H; i++) H[i] = NAN;
  const double h0[1] = {1}, h1[2] = {1.5, 0.25}, correction[2] = {0.5, 0.75}, norm2[2] = {4, 4};
  const bsi_cycle cycle = cycle_of(M, H, cosines, sines, g, status);
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->rotate(context, &cycle, 0, h0, NULL, norm2));
  EXPECT_NEAR(3 * 2 / sqrt(5), status[0], 1e-15);
  EXPECT_NEAR(2, status[1], 0);
  EXPECT_OK(context,
            bsi_backend_host.krylov->gmres->rotate(context, &cycle, 1, h1, correction, norm2 + 1));
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->coefficients(context, M, 2, H, g, y));
  EXPECT_NEAR(3.0 / 29, y[0], 1e-15);
  EXPECT_NEAR(18.0 / 29, y[1], 1e-15);
  const double r[3] = {3 - y[0] - 2 * y[1], -2 * y[0] - y[1], -2 * y[1]};
  EXPECT_NEAR(test_norm2(3, r), status[2], 2e-15);
  bisai_context_destroy(&context);
}

static void a_dependent_column_brings_nothing(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  enum { M = 2 };
  /* Column 1 is a multiple of column 0 up to rounding and nothing is left beneath it. */
  double H[M * (M + 1)], cosines[M], sines[M], g[M + 1] = {1}, status[2 * M], y[M];
  const double h0[1] = {1}, h1[2] = {3, 3}, one = 1, dust = 1e-34, zero = 0;
  const bsi_cycle cycle = cycle_of(M, H, cosines, sines, g, status);
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->rotate(context, &cycle, 0, h0, NULL, &one));
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->rotate(context, &cycle, 1, h1, NULL, &dust));
  EXPECT_NEAR(status[0], status[2], 0);
  EXPECT_NEAR(0, status[3], 0);
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->coefficients(context, M, 2, H, g, y));
  EXPECT_NEAR(0.5, y[0], 1e-15);
  EXPECT_NEAR(0, y[1], 0);
  /* A first column of nothing at all. */
  g[0] = 1;
  EXPECT_OK(context,
            bsi_backend_host.krylov->gmres->rotate(context, &cycle, 0, &zero, NULL, &zero));
  EXPECT_NEAR(1, status[0], 0);
  EXPECT_OK(context, bsi_backend_host.krylov->gmres->coefficients(context, M, 1, H, g, y));
  EXPECT_NEAR(0, y[0], 0);
  bisai_context_destroy(&context);
}

static void a_column_that_is_not_finite_says_so(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double bad[] = {NAN, INFINITY, -INFINITY};
  for (int k = 0; k < 3; k++) {
    double H[2], cosine, sine, g[2] = {1}, status[2] = {0, 0};
    const double one = 1;
    const bsi_cycle cycle = cycle_of(1, H, &cosine, &sine, g, status);
    EXPECT_OK(context,
              bsi_backend_host.krylov->gmres->rotate(context, &cycle, 0, &bad[k], NULL, &one));
    assert_true(isnan(status[0]));
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simple_operations_match_loops_and_stop_at_the_end),
      cmocka_unit_test(dot_many_matches_a_loop),
      cmocka_unit_test(axpy_many_matches_a_loop_and_fuses_the_norm),
      cmocka_unit_test(reductions_have_the_same_bits_for_any_number_of_threads),
      cmocka_unit_test(scaling_by_the_norm_makes_unit_vectors_and_leaves_zero_zero),
      cmocka_unit_test(rotations_solve_the_small_least_squares_problem),
      cmocka_unit_test(a_dependent_column_brings_nothing),
      cmocka_unit_test(a_column_that_is_not_finite_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
