/* SPDX-License-Identifier: BSD-3-Clause */
/* Applications against dense formulas: z = NU (NL v), relaxation sweeps x ← x + N(b − T x),
 * block-Jacobi sweeps x ← D⁻¹(b − T_off x), exact solves.
 *
 * All of it is a handful of products with matrices of norm near 1 (dominant diagonals): 1e-13 of
 * the largest entry is some hundred eps for sums of up to a few hundred terms. */
#include "fixture.h"
#include "systems.h"

#include <math.h>

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static void expect_same_vector(int64_t n, const double *expected, const double *got) {
  EXPECT_CLOSE(n, expected, got, 1e-13 * fmax(1.0, test_norm2(n, expected)));
}

/* Applies to a random vector that must stay as it was; the result is the caller's. */
static double *applied(bisai_precond *precond, int64_t n, const double *v) {
  double *kept = malloc((size_t)(n + 1) * sizeof *kept), *z = test_nan_vector(n);
  memcpy(kept, v, (size_t)n * sizeof *kept);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  assert_memory_equal(kept, v, (size_t)n * sizeof *kept);
  free(kept);
  return z;
}

/* x = N b, then `relax` times x ← x + N (b − T x) */
static double *dense_relaxed(int64_t n, const double *inverse, const double *t, int relax,
                             const double *b) {
  double *x = test_dense_multiply(n, n, 1, inverse, b);
  for (int sweep = 0; sweep < relax; sweep++) {
    double *rest = test_dense_multiply(n, n, 1, t, x);
    for (int64_t i = 0; i < n; i++) rest[i] = b[i] - rest[i];
    double *step = test_dense_multiply(n, n, 1, inverse, rest);
    for (int64_t i = 0; i < n; i++) x[i] += step[i];
    free(rest);
    free(step);
  }
  return x;
}

/* x = D⁻¹ b, then `sweeps` times x ← D⁻¹ (b − T_off x); D the diagonal blocks. */
static double *dense_swept(int64_t n, int32_t bs, const double *t, int sweeps, const double *b) {
  double *diagonal = test_dense_identity(n), *off = malloc((size_t)(n * n) * sizeof *off);
  memcpy(off, t, (size_t)(n * n) * sizeof *off);
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = j / bs * bs; i < j / bs * bs + bs; i++) {
      diagonal[j * n + i] = t[j * n + i];
      off[j * n + i] = 0.0;
    }
  }
  double *inverse = test_dense_inverse(n, diagonal), *x = test_dense_multiply(n, n, 1, inverse, b);
  for (int sweep = 0; sweep < sweeps; sweep++) {
    double *rest = test_dense_multiply(n, n, 1, off, x);
    for (int64_t i = 0; i < n; i++) rest[i] = b[i] - rest[i];
    free(x);
    x = test_dense_multiply(n, n, 1, inverse, rest);
    free(rest);
  }
  free(diagonal);
  free(off);
  free(inverse);
  return x;
}

/* A matrix, and factors of our own or, `given`, general ones that have nothing to do with it. */
static bisai_factors *general_factors(int32_t n, int32_t bs, uint64_t seed) {
  test_shape shape = test_shape_square(n, bs, seed);
  bisai_factors *factors = NULL;
  shape.part = TEST_LOWER;
  bisai_bcsr *lower = test_bcsr_take(context, test_bcsr_random(shape));
  shape.part = TEST_UPPER;
  bisai_bcsr *upper = test_bcsr_take(context, test_bcsr_random(shape));
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
  return factors;
}

static void expect_isai_application(bisai_precond *precond, int64_t n, int relax) {
  const bisai_factors *factors = bisai_precond_factors(precond);
  double *lower = test_dense(bisai_factors_lower(factors)),
         *upper = test_dense(bisai_factors_upper(factors));
  double *nl = test_dense(bisai_precond_lower_inverse(precond)),
         *nu = test_dense(bisai_precond_upper_inverse(precond));
  double *v = test_random_vector(n, 41), *z = applied(precond, n, v);
  double *middle = dense_relaxed(n, nl, lower, relax, v),
         *expected = dense_relaxed(n, nu, upper, relax, middle);
  expect_same_vector(n, expected, z);
  free(lower);
  free(upper);
  free(nl);
  free(nu);
  free(v);
  free(z);
  free(middle);
  free(expected);
}

static void isai_multiplies_by_both_inverses_and_relaxes(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], blocks = bs > 8 ? 7 : 15;
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(blocks, bs, (uint64_t)bs)));
    bisai_factors *factors = general_factors(blocks, bs, (uint64_t)(50 + bs));
    for (int relax = 0; relax <= 3; relax++) {
      for (int storage = BISAI_FP64; storage <= BISAI_BF16; storage++) {
        bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
        options.isai.relax = relax;
        options.isai.storage = (bisai_value_type)storage;
        options.factor.factors = relax % 2 == 0 ? NULL : factors;
        bisai_precond *precond = test_precond_with(context, matrix, &options);
        expect_isai_application(precond, (int64_t)blocks * bs, relax);
        bisai_precond_destroy(&precond);
      }
    }
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
  }
}

static void sweeps_follow_their_formula(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s], blocks = bs > 8 ? 7 : 15;
    const int64_t n = (int64_t)blocks * bs;
    bisai_bcsr *matrix = test_bcsr_take(
        context, test_bcsr_random(test_shape_square(blocks, bs, (uint64_t)(100 + bs))));
    bisai_factors *factors = general_factors(blocks, bs, (uint64_t)(150 + bs));
    for (int sweeps = 0; sweeps <= 4; sweeps++) {
      for (int given = 0; given < 2; given++) {
        bisai_precond_options options = test_precond_options(BISAI_PRECOND_SWEEPS);
        options.sweeps.count = sweeps;
        options.factor.factors = given == 0 ? NULL : factors;
        bisai_precond *precond = test_precond_with(context, matrix, &options);
        const bisai_factors *used = bisai_precond_factors(precond);
        double *lower = test_dense(bisai_factors_lower(used)),
               *upper = test_dense(bisai_factors_upper(used));
        double *v = test_random_vector(n, 42), *z = applied(precond, n, v);
        double *middle = dense_swept(n, bs, lower, sweeps, v),
               *expected = dense_swept(n, bs, upper, sweeps, middle);
        expect_same_vector(n, expected, z);
        bisai_precond_destroy(&precond);
        free(lower);
        free(upper);
        free(v);
        free(z);
        free(middle);
        free(expected);
      }
    }
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&matrix);
  }
}

/* T N = I ∓ G^{k+1} for the Neumann series cut after k: on a five-point grid G^{k+1} lies outside
 * S(|T|^k), so the series is ISAI(k). */
static void sweeps_are_isai_where_paths_never_meet(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 5; bs++) {
    const int64_t n = 63 * (int64_t)bs;
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 7, bs, (uint64_t)bs));
    double *v = test_random_vector(n, 43);
    for (int k = 1; k <= 4; k++) {
      bisai_precond_options options = test_precond_options(BISAI_PRECOND_SWEEPS);
      options.sweeps.count = k;
      bisai_precond *sweeps = test_precond_with(context, matrix, &options);
      options = test_precond_options(BISAI_PRECOND_ISAI);
      options.isai.power = k;
      bisai_precond *isai = test_precond_with(context, matrix, &options);
      double *x = applied(sweeps, n, v), *y = applied(isai, n, v);
      expect_same_vector(n, x, y);
      free(x);
      free(y);
      bisai_precond_destroy(&sweeps);
      bisai_precond_destroy(&isai);
    }
    free(v);
    bisai_bcsr_destroy(&matrix);
  }
}

/* On richer patterns they are not the same: a program that only swept would pass the test above. */
static void sweeps_are_not_isai_where_paths_meet(void **state) {
  (void)state;
  test_shape shape = test_shape_square(40, 2, 3);
  shape.blocks_per_row = 8.0;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(shape));
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_SWEEPS);
  options.sweeps.count = 2;
  bisai_precond *sweeps = test_precond_with(context, matrix, &options);
  options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.power = 2;
  bisai_precond *isai = test_precond_with(context, matrix, &options);
  double *v = test_random_vector(80, 44), *x = applied(sweeps, 80, v), *y = applied(isai, 80, v);
  assert_true(test_max_difference(80, x, y) > 1e-10);
  free(v);
  free(x);
  free(y);
  bisai_precond_destroy(&sweeps);
  bisai_precond_destroy(&isai);
  bisai_bcsr_destroy(&matrix);
}

static void ilu_applies_the_exact_solves(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    const int64_t n = 25 * (int64_t)bs;
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(25, bs, (uint64_t)(200 + bs))));
    double *v = test_random_vector(n, 45), *expected = test_nan_vector(n);
    for (int schedule = BISAI_SCHEDULE_AUTO; schedule <= BISAI_SCHEDULE_LEVELS; schedule++) {
      bisai_precond_options options = test_precond_options(BISAI_PRECOND_ILU);
      options.ilu.schedule = (bisai_schedule)schedule;
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      EXPECT_OK(context, bisai_factors_solve(bisai_precond_factors(precond), BISAI_SCHEDULE_SERIAL,
                                             v, expected));
      double *z = applied(precond, n, v);
      assert_memory_equal(expected, z, (size_t)n * sizeof *z);
      free(z);
      bisai_precond_destroy(&precond);
    }
    free(v);
    free(expected);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Every way of applying, by one list. */
static bisai_precond_options variant(int number) {
  bisai_precond_options options = test_precond_options((bisai_precond_kind)(number % 5));
  TEST_SET_OPTION(options, isai.relax, number < 5 ? 0 : 2);
  TEST_SET_OPTION(options, sweeps.count, number < 5 ? 1 : 4);
  TEST_SET_OPTION(options, bjacobi.storage, number < 5 ? BISAI_FP64 : BISAI_FP32);
  TEST_SET_OPTION(options, isai.storage, number < 5 ? BISAI_FP64 : BISAI_FP32);
  TEST_SET_OPTION(options, ilu.schedule, number < 5 ? BISAI_SCHEDULE_AUTO : BISAI_SCHEDULE_LEVELS);
  return options;
}
enum { VARIANTS = 10 };

static void many_vectors_are_applied_like_single_ones(void **state) {
  (void)state;
  static const int32_t counts[] = {0, 1, 2, 3, 4, 5, 9};
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    const int64_t n = 20 * (int64_t)bs;
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_bcsr_random(test_shape_square(20, bs, (uint64_t)(250 + bs))));
    for (int number = 0; number < VARIANTS; number++) {
      const bisai_precond_options options = variant(number);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        for (int64_t pad = 0; pad <= 5; pad += 5) {
          const int64_t ldv = n + pad, ldz = n + 2 * pad;
          double *v = test_random_vector(ldv * (counts[k] + 1), 46),
                 *z = test_nan_vector(ldz * (counts[k] + 1));
          EXPECT_OK(context, bisai_precond_apply_many(precond, counts[k], v, ldv, z, ldz));
          for (int32_t c = 0; c < counts[k]; c++) {
            double *expected = applied(precond, n, v + c * ldv);
            expect_same_vector(n, expected, z + c * ldz);
            for (int64_t i = n; i < ldz; i++) assert_true(isnan(z[c * ldz + i]));
            free(expected);
          }
          assert_true(isnan(z[counts[k] * ldz]));
          free(v);
          free(z);
        }
      }
      bisai_precond_destroy(&precond);
    }
    bisai_bcsr_destroy(&matrix);
  }
}

static void thread_counts_give_the_same_bits(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 5};
  for (int32_t bs = 1; bs <= 9; bs++) {
    test_bcsr arrays =
        test_bcsr_random(test_shape_square(30000 / (bs * bs), bs, (uint64_t)(300 + bs)));
    const int64_t n = (int64_t)arrays.block_rows * bs;
    double *v = test_random_vector(5 * n, 47), *first = malloc((size_t)(6 * n) * sizeof *first);
    for (int number = 0; number < VARIANTS; number++) {
      for (size_t t = 0; t < 3; t++) {
        bisai_context *other = test_context(threads[t]);
        bisai_bcsr *matrix = test_bcsr_make(other, &arrays);
        const bisai_precond_options options = variant(number);
        bisai_precond *precond = test_precond_with(other, matrix, &options);
        double *z = test_nan_vector(6 * n);
        EXPECT_OK(other, bisai_precond_apply(precond, v, z));
        EXPECT_OK(other, bisai_precond_apply_many(precond, 5, v, n, z + n, n));
        if (t == 0) memcpy(first, z, (size_t)(6 * n) * sizeof *z);
        assert_memory_equal(first, z, (size_t)(6 * n) * sizeof *z);
        free(z);
        bisai_precond_destroy(&precond);
        bisai_bcsr_destroy(&matrix);
        bisai_context_destroy(&other);
      }
    }
    free(v);
    free(first);
    test_bcsr_free(&arrays);
  }
}

static void nothing_is_left_of_an_earlier_application(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 6, 3, 2));
  double *v = test_random_vector(108, 48), *bad = test_nan_vector(108);
  for (int number = 0; number < VARIANTS; number++) {
    const bisai_precond_options options = variant(number);
    bisai_precond *precond = test_precond_with(context, matrix, &options);
    double *first = applied(precond, 108, v);
    double *spoilt = test_nan_vector(108);
    EXPECT_OK(context, bisai_precond_apply(precond, bad, spoilt));
    double *second = applied(precond, 108, v);
    assert_memory_equal(first, second, 108 * sizeof *first);
    free(first);
    free(spoilt);
    free(second);
    bisai_precond_destroy(&precond);
  }
  free(v);
  free(bad);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(isai_multiplies_by_both_inverses_and_relaxes),
      cmocka_unit_test(sweeps_follow_their_formula),
      cmocka_unit_test(sweeps_are_isai_where_paths_never_meet),
      cmocka_unit_test(sweeps_are_not_isai_where_paths_meet),
      cmocka_unit_test(ilu_applies_the_exact_solves),
      cmocka_unit_test(many_vectors_are_applied_like_single_ones),
      cmocka_unit_test(thread_counts_give_the_same_bits),
      cmocka_unit_test(nothing_is_left_of_an_earlier_application),
  };
  return cmocka_run_group_tests_name("apply", tests, setup, teardown);
}
