/* SPDX-License-Identifier: BSD-3-Clause */
/* Inverses of one block: Gauss–Jordan for sizes 1–32, cofactors for 2–5 with their guard.
 *
 * Error bound used throughout: an inverse X of A computed with partial pivoting has ‖A X − I‖ ≤
 * c·bs·eps·κ(A) with a modest c (Higham, Accuracy and Stability, section 14.4: growth factor times
 * a low power of bs, in practice below 1). c = 32 leaves room for growth in unlucky random blocks;
 * leaving out the pivoting exceeds it by many orders of magnitude. */
#include "support.h"

#include <float.h>
#include <math.h>

#include "core/block/block_invert.h"

#define C_BOUND 32.0
enum { MAX_VALUES = BISAI_MAX_BLOCK_SIZE * BISAI_MAX_BLOCK_SIZE };

static double at(int bs, const double *a, int r, int c) { return a[c * bs + r]; }

static void fill_random(int bs, test_random *random, double *a) {
  for (int i = 0; i < bs * bs; i++) a[i] = test_random_uniform(random, -1.0, 1.0);
}

/* max over columns of ‖A X − I‖₁, in long double where the platform has it, so that the check adds
 * no error of its own */
static double residual(int bs, const double *a, const double *x) {
  long double worst = 0.0L;
  for (int c = 0; c < bs; c++) {
    long double sum = 0.0L;
    for (int r = 0; r < bs; r++) {
      long double entry = r == c ? -1.0L : 0.0L;
      for (int k = 0; k < bs; k++)
        entry += (long double)at(bs, a, r, k) * (long double)at(bs, x, k, c);
      sum += fabsl(entry);
    }
    worst = sum > worst || isnan(sum) ? sum : worst;
  }
  return (double)worst;
}

static double kappa1(int bs, const double *a, const double *x) {
  return test_dense_norm1(bs, bs, a) * test_dense_norm1(bs, bs, x);
}

static void expect_inverse(const char *what, int bs, const double *a, const double *x,
                           double kappa) {
  double found = residual(bs, a, x), bound = C_BOUND * bs * DBL_EPSILON * kappa;
  if (!(found <= bound))
    fail_msg("%s, bs %d: |A X - I| = %.3g > %.3g, kappa %.3g", what, bs, found, bound, kappa);
}

static void expect_inverted(const char *what, int bs, const double *a) {
  double x[MAX_VALUES], y[MAX_VALUES], condition = (double)NAN;
  for (int i = 0; i < MAX_VALUES; i++) x[i] = y[i] = (double)NAN;
  if (!bsi_gauss_jordan(bs, a, x)) fail_msg("%s, bs %d: Gauss-Jordan found it singular", what, bs);
  expect_inverse(what, bs, a, x, kappa1(bs, a, x));
  if (bsi_block_invert(bs, a, y, &condition) == BSI_BLOCK_SINGULAR)
    fail_msg("%s, bs %d: found singular", what, bs);
  expect_inverse(what, bs, a, y, kappa1(bs, a, x));
  /* both inverses agree to eps·κ, so both conditions to a relative eps·κ; blocks with κ near 1/eps
   * are tested elsewhere */
  if (kappa1(bs, a, x) < 1e9) EXPECT_NEAR(1.0, condition / kappa1(bs, a, x), 1e-5);
}

static void random_blocks_of_every_size_are_inverted(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)bs);
    for (int trial = 0; trial < 40; trial++) {
      double a[MAX_VALUES];
      fill_random(bs, &random, a);
      expect_inverted("random", bs, a);
    }
  }
}

/* Rows and columns of falling size: entries (r, c) scaled by 2^-(r + c). */
static void graded_blocks_are_inverted(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(100 + bs));
    for (int direction = 0; direction < 2; direction++) {
      double a[MAX_VALUES];
      fill_random(bs, &random, a);
      for (int c = 0; c < bs; c++) {
        for (int r = 0; r < bs; r++) {
          int power = direction == 0 ? r + c : 2 * bs - r - c;
          a[c * bs + r] = ldexp(a[c * bs + r] + (r == c ? 2.0 : 0.0), -power);
        }
      }
      expect_inverted("graded", bs, a);
    }
  }
}

/* P·T with P a cyclic shift or a reversal: zero diagonal, exactly invertible. No pivoting: division
 * by zero at once. */
static void permutations_with_zero_diagonal_need_pivoting(void **state) {
  (void)state;
  for (int bs = 2; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    for (int shift = 1; shift<bs; shift += bs> 8 ? 5 : 1) {
      double a[MAX_VALUES] = {0}, x[MAX_VALUES], condition;
      for (int c = 0; c < bs; c++)
        a[c * bs + (c + shift) % bs] = (double)(1 << (c % 8)) * (c % 2 == 0 ? 1.0 : -1.0);
      assert_true(bsi_gauss_jordan(bs, a, x));
      for (int c = 0; c < bs; c++) {
        for (int r = 0; r < bs; r++) {
          double expected = (r + shift) % bs == c ? 1.0 / at(bs, a, c, r) : 0.0;
          assert_true(at(bs, x, r, c) == expected); /* powers of two: exact */
        }
      }
      assert_int_equal(bsi_block_invert(bs, a, x, &condition), BSI_BLOCK_OK);
      assert_true(residual(bs, a, x) == 0.0);
    }
  }
}

/* A tiny but non-zero diagonal: elimination without pivoting runs and loses every digit. */
static void tiny_diagonals_need_pivoting(void **state) {
  (void)state;
  for (int bs = 2; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(200 + bs));
    double a[MAX_VALUES];
    fill_random(bs, &random, a);
    for (int c = 0; c < bs; c++) a[c * bs + c] = 1e-20;
    if (bs > 2) {
      a[1] += 1.0;
      a[bs] += 1.0;
    }
    expect_inverted("tiny diagonal", bs, a);
  }
}

/* One row and one column scaled by 1e±200 and 1e±150; compared, scaled back exactly, with the
 * inverse of the unscaled block. Scaling changes the pivot order: the first pivot is then any entry
 * of the row that was scaled up, small ones too, so the growth factor is that of one unpivoted step
 * (up to 1/|smallest entry|) and the tolerance is 1e-10 of the largest entry instead of bs·eps. */
static void badly_scaled_blocks_are_inverted(void **state) {
  (void)state;
  static const int powers[][2] = {{-664, 0},   {0, -664},   {498, 0},    {0, 498},
                                  {-664, 498}, {498, -664}, {-300, -300}};
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(300 + bs));
    for (size_t s = 0; s < sizeof powers / sizeof powers[0]; s++) {
      double a[MAX_VALUES], scaled[MAX_VALUES], x[MAX_VALUES], y[MAX_VALUES], condition;
      fill_random(bs, &random, a);
      for (int c = 0; c < bs; c++) a[c * bs + c] += 2.0 * bs;
      const int row = test_random_integer(&random, 0, bs - 1),
                column = test_random_integer(&random, 0, bs - 1);
      for (int c = 0; c < bs; c++) {
        for (int r = 0; r < bs; r++) {
          scaled[c * bs + r] = ldexp(a[c * bs + r], (r == row ? powers[s][0] : 0) +
                                                        (c == column ? powers[s][1] : 0));
        }
      }
      assert_true(bsi_gauss_jordan(bs, a, x));
      assert_int_not_equal(bsi_block_invert(bs, scaled, y, &condition), BSI_BLOCK_SINGULAR);
      for (int c = 0; c < bs; c++) {
        for (int r = 0; r < bs; r++) {
          y[c * bs + r] = ldexp(y[c * bs + r],
                                (c == row ? powers[s][0] : 0) + (r == column ? powers[s][1] : 0));
        }
      }
      EXPECT_CLOSE(bs * bs, x, y, 1e-10 * test_dense_norm1(bs, bs, x));
    }
  }
}

/* ‖A‖ beyond 1e±100 as a whole: determinants of sizes 3–5 leave the range of doubles, the inverse
 * does not. */
static void uniformly_scaled_blocks_are_inverted(void **state) {
  (void)state;
  static const double scales[] = {1e-200, 1e-150, 1e-100, 1e-60, 1e60, 1e100, 1e150, 1e200};
  for (int bs = 1; bs <= 9; bs++) {
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
      test_random random = test_random_seed((uint64_t)(400 + bs));
      double a[MAX_VALUES];
      fill_random(bs, &random, a);
      for (int i = 0; i < bs * bs; i++) a[i] = scales[s] * (a[i] + (i % (bs + 1) == 0 ? 2.0 : 0.0));
      expect_inverted("scaled", bs, a);
    }
  }
}

typedef enum spectrum { GEOMETRIC, ONE_LARGE, ONE_SMALL } spectrum;

static double singular_value(int bs, spectrum kind, double kappa, int k) {
  switch (kind) {
  case ONE_LARGE: return k == 0 ? 1.0 : 1.0 / kappa;
  case ONE_SMALL: return k == bs - 1 ? 1.0 / kappa : 1.0;
  case GEOMETRIC:
  default: return pow(kappa, -(double)k / (bs > 1 ? bs - 1 : 1));
  }
}

/* H₁ diag(1 … 1/κ) H₂ with Householder reflections: singular values known, κ₂ = κ. */
static void fill_with_condition(int bs, spectrum kind, double kappa, test_random *random,
                                double *a) {
  double u[BISAI_MAX_BLOCK_SIZE], v[BISAI_MAX_BLOCK_SIZE], uu = 0.0, vv = 0.0;
  for (int i = 0; i < bs; i++) {
    u[i] = test_random_uniform(random, -1.0, 1.0);
    v[i] = test_random_uniform(random, -1.0, 1.0);
    uu += u[i] * u[i];
    vv += v[i] * v[i];
  }
  for (int c = 0; c < bs; c++) {
    for (int r = 0; r < bs; r++) {
      double sum = 0.0;
      for (int k = 0; k < bs; k++) {
        double sigma = singular_value(bs, kind, kappa, k);
        sum += ((r == k) - 2.0 * u[r] * u[k] / uu) * sigma * ((c == k) - 2.0 * v[k] * v[c] / vv);
      }
      a[c * bs + r] = sum;
    }
  }
}

/* Where one singular value stands far above the others the determinant is smaller than its rounding
 * errors long before κ = 1/eps: cofactors then return anything, and a condition computed from them
 * too. */
static void nearly_singular_blocks_are_inverted_as_well_as_their_condition_allows(void **state) {
  (void)state;
  for (int bs = 2; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(500 + bs));
    for (int digits = 3; digits <= 15; digits++) {
      for (int trial = 0; trial < (bs <= 5 ? 60 : 3); trial++) {
        const spectrum kind = (spectrum)(trial % 3);
        const double kappa = pow(10.0, digits);
        double a[MAX_VALUES], x[MAX_VALUES], condition = 0.0;
        fill_with_condition(bs, kind, kappa, &random, a);
        assert_int_not_equal(bsi_block_invert(bs, a, x, &condition), BSI_BLOCK_SINGULAR);
        /* κ₂/bs ≤ κ₁ ≤ bs·κ₂; entries were rounded to eps, so that near κ = 1/eps the true κ is
         * anything above 1e13 */
        if (digits <= 13)
          assert_true(condition > kappa / (1.5 * bs) && condition < 1.5 * bs * kappa);
        else
          assert_true(condition > 1e12);
        expect_inverse("nearly singular", bs, a, x, condition);
      }
    }
  }
}

/* A cofactor's rounding errors are eps·∏‖column‖, so X is off by that over |det|. */
static void cofactors_and_gauss_jordan_agree(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_random random = test_random_seed((uint64_t)(600 + bs));
    for (int trial = 0; trial < 500; trial++) {
      double a[25], x[25], y[25], columns = 1.0;
      fill_random(bs, &random, a);
      for (int c = 0; c < bs; c++) columns *= test_norm2(bs, a + c * bs);
      double determinant = bsi_cofactor_inverse(bs, a, x);
      assert_true(bsi_gauss_jordan(bs, a, y));
      double loss = columns / fabs(determinant) + kappa1(bs, a, y);
      EXPECT_CLOSE(bs * bs, y, x, C_BOUND * bs * DBL_EPSILON * loss * test_dense_norm1(bs, bs, y));
    }
  }
}

/* Integers small enough that every product is exact; inverse = adjugate/determinant by hand. */
static void cofactors_are_exact_on_hand_checked_blocks(void **state) {
  (void)state;
  const double a2[] = {4, 2, 7, 6}; /* [4 7; 2 6], det 10 */
  const double b2[] = {0.6, -0.2, -0.7, 0.4};
  const double a3[] = {2, 1, 0, 0, 1, 4, 1, 0, 1}; /* [2 0 1; 1 1 0; 0 4 1], det 6 */
  const double b3[] = {1.0 / 6,  -1.0 / 6, 4.0 / 6, 4.0 / 6, 2.0 / 6,
                       -8.0 / 6, -1.0 / 6, 1.0 / 6, 2.0 / 6};
  double x[9];
  bsi_cofactor_inverse(2, a2, x);
  EXPECT_CLOSE(4, b2, x, DBL_EPSILON);
  bsi_cofactor_inverse(3, a3, x);
  EXPECT_CLOSE(9, b3, x, 2.0 * DBL_EPSILON);
}

/* The guard: κ₁ > 1e6 must not be answered by cofactors. That Gauss–Jordan answered is checked by
 * equality. */
static void condition_beyond_1e6_falls_back_to_gauss_jordan(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_random random = test_random_seed((uint64_t)(700 + bs));
    int fallbacks = 0;
    for (int trial = 0; trial < 600; trial++) {
      double a[25], x[25], y[25], condition = 0.0;
      fill_with_condition(bs, (spectrum)(trial % 3),
                          pow(10.0, test_random_uniform(&random, 0.0, 14.0)), &random, a);
      bsi_block_result result = bsi_block_invert(bs, a, x, &condition);
      assert_true(bsi_gauss_jordan(bs, a, y));
      if (kappa1(bs, a, y) > 1.01e6) {
        assert_int_equal(result, BSI_BLOCK_FALLBACK);
        assert_memory_equal(x, y, (size_t)(bs * bs) * sizeof *x);
        fallbacks++;
      }
    }
    assert_true(fallbacks > 200);
  }
}

/* Cofactors are what well-conditioned blocks get: otherwise the guard would refuse everything and
 * the tests above pass. */
static void well_conditioned_blocks_are_inverted_by_cofactors(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_random random = test_random_seed((uint64_t)(750 + bs));
    for (int trial = 0; trial < 200; trial++) {
      double a[25], x[25], y[25], condition = 0.0;
      fill_with_condition(bs, (spectrum)(trial % 3),
                          pow(10.0, test_random_uniform(&random, 0.0, 1.0)), &random, a);
      assert_int_equal(bsi_block_invert(bs, a, x, &condition), BSI_BLOCK_OK);
      bsi_cofactor_inverse(bs, a, y);
      /* The compiler fuses multiplications and additions as it likes in each of the two. */
      for (int v = 0; v < bs * bs; v++)
        assert_true(fabs(x[v] - y[v]) <= 1e-13 * bsi_block_norm1(bs, y));
    }
  }
}

static void sizes_without_cofactors_never_report_a_fallback(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs = bs == 1 ? 6 : bs + 1) {
    test_random random = test_random_seed((uint64_t)(800 + bs));
    double a[MAX_VALUES], x[MAX_VALUES], condition;
    fill_with_condition(bs, GEOMETRIC, 1e9, &random, a);
    assert_int_equal(bsi_block_invert(bs, a, x, &condition), BSI_BLOCK_OK);
  }
}

static void expect_singular(const char *what, int bs, const double *a) {
  double x[MAX_VALUES], condition = 0.0;
  if (bsi_block_invert(bs, a, x, &condition) != BSI_BLOCK_SINGULAR)
    fail_msg("%s, bs %d: inverted, condition %.3g", what, bs, condition);
  if (bsi_gauss_jordan(bs, a, x)) fail_msg("%s, bs %d: inverted by Gauss-Jordan", what, bs);
}

static void exactly_singular_blocks_are_reported(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(900 + bs));
    double a[MAX_VALUES] = {0};
    expect_singular("zero block", bs, a);
    for (int line = 0; line < bs; line++) {
      fill_random(bs, &random, a);
      for (int i = 0; i < bs; i++) a[line * bs + i] = 0.0;
      expect_singular("zero column", bs, a);
      fill_random(bs, &random, a);
      for (int i = 0; i < bs; i++) a[i * bs + line] = 0.0;
      expect_singular("zero row", bs, a);
    }
    for (int line = 1; line < bs; line++) {
      fill_random(bs, &random, a);
      memcpy(a + line * bs, a, (size_t)bs * sizeof *a);
      expect_singular("equal columns", bs, a);
    }
  }
}

/* Lower triangles of ±1 with two equal rows: elimination is exact in doubles, so the zero pivot is
 * too. */
static void equal_rows_are_reported(void **state) {
  (void)state;
  for (int bs = 2; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    for (int row = 0; row + 1 < bs; row++) {
      double a[MAX_VALUES] = {0};
      for (int r = 0; r < bs; r++) {
        const int source = r == row + 1 ? row : r;
        for (int c = 0; c <= source; c++)
          a[c * bs + r] = c == source ? 1.0 : ((source + c) % 3 == 0 ? -1.0 : 0.0);
      }
      expect_singular("equal rows", bs, a);
    }
  }
}

/* With values that round, two equal rows may leave a pivot of size eps: allowed, but then the
 * condition must tell. */
static void equal_rows_that_round_are_reported_or_have_a_huge_condition(void **state) {
  (void)state;
  for (int bs = 2; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(1000 + bs));
    for (int trial = 0; trial < 20; trial++) {
      double a[MAX_VALUES], x[MAX_VALUES], condition = 0.0;
      fill_random(bs, &random, a);
      for (int c = 0; c < bs; c++) a[c * bs + bs - 1] = a[c * bs];
      bsi_block_result result = bsi_block_invert(bs, a, x, &condition);
      assert_true(result == BSI_BLOCK_SINGULAR || condition > 1e13);
    }
  }
}

static void nan_and_infinity_are_reported_as_singular(void **state) {
  (void)state;
  static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    test_random random = test_random_seed((uint64_t)(1100 + bs));
    for (int position = 0; position<bs * bs; position += bs> 8 ? 13 : 1) {
      for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double a[MAX_VALUES];
        fill_random(bs, &random, a);
        a[position] = bad[i];
        expect_singular("not finite", bs, a);
        memset(a, 0, sizeof a);
        for (int c = 0; c < bs; c++) a[c * bs + c] = 1.0;
        a[position] = bad[i];
        expect_singular("not finite in an identity", bs, a);
      }
    }
  }
}

/* 1/x overflows below 2^-1024. */
static void inverse_that_is_not_finite_is_reported_as_singular(void **state) {
  (void)state;
  for (int bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++) {
    double a[MAX_VALUES] = {0};
    for (int c = 0; c < bs; c++) a[c * bs + c] = c == bs / 2 ? 0x1p-1060 : 1.0;
    expect_singular("inverse overflows", bs, a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_blocks_of_every_size_are_inverted),
      cmocka_unit_test(graded_blocks_are_inverted),
      cmocka_unit_test(permutations_with_zero_diagonal_need_pivoting),
      cmocka_unit_test(tiny_diagonals_need_pivoting),
      cmocka_unit_test(badly_scaled_blocks_are_inverted),
      cmocka_unit_test(uniformly_scaled_blocks_are_inverted),
      cmocka_unit_test(nearly_singular_blocks_are_inverted_as_well_as_their_condition_allows),
      cmocka_unit_test(cofactors_and_gauss_jordan_agree),
      cmocka_unit_test(cofactors_are_exact_on_hand_checked_blocks),
      cmocka_unit_test(condition_beyond_1e6_falls_back_to_gauss_jordan),
      cmocka_unit_test(well_conditioned_blocks_are_inverted_by_cofactors),
      cmocka_unit_test(sizes_without_cofactors_never_report_a_fallback),
      cmocka_unit_test(exactly_singular_blocks_are_reported),
      cmocka_unit_test(equal_rows_are_reported),
      cmocka_unit_test(equal_rows_that_round_are_reported_or_have_a_huge_condition),
      cmocka_unit_test(nan_and_infinity_are_reported_as_singular),
      cmocka_unit_test(inverse_that_is_not_finite_is_reported_as_singular),
  };
  return cmocka_run_group_tests_name("block_math", tests, NULL, NULL);
}
