/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of the pressure equations against dense solutions, and the rules for cells without
 * them. */
#include "cells.h"

/* Weights in backend memory, and what was counted. */
typedef struct weights {
  double *w;
  bsi_weight_stats stats;
} weights;

/* `given` and `storage` are in host memory, or NULL. */
static weights weigh(bisai_context *c, const cells *s, int pressure, const double *given,
                     const double *storage) {
  const size_t rows = (size_t)s->n * (size_t)s->bs;
  double *g = given ? placed(c, given, rows, sizeof *g) : NULL,
         *d = storage ? placed(c, storage, rows * (size_t)s->bs, sizeof *d) : NULL;
  weights result = {placed(c, NULL, rows, sizeof *result.w), BSI_WEIGHT_STATS_NONE};
  const bsi_weighing weighing = {s->matrix, s->diagonal, g, d, pressure};
  EXPECT_OK(c, ops(c)->weigh(c, &weighing, result.w, &result.stats));
  drop(c, g), drop(c, d);
  return result;
}

static void expect_stats(bsi_weight_stats expected, bsi_weight_stats got) {
  assert_int_equal(expected.singular, got.singular);
  assert_int_equal(expected.reversed, got.reversed);
  assert_int_equal(expected.excluded, got.excluded);
  assert_int_equal(expected.first_singular, got.first_singular);
  assert_int_equal(expected.first_excluded, got.first_excluded);
}

/* The blocks of a diagonal matrix; `values` has them one after the other. */
static cells single_cells(int32_t n, int bs, const double *values) {
  const size_t count = (size_t)n * (size_t)(bs * bs);
  test_bcsr a = {n,
                 n,
                 bs,
                 malloc(((size_t)n + 1) * sizeof(int32_t)),
                 malloc((size_t)n * sizeof(int32_t)),
                 malloc(count * sizeof(double))};
  for (int32_t i = 0; i <= n; i++) a.row_ptr[i] = i;
  for (int32_t i = 0; i < n; i++) a.col_idx[i] = i;
  memcpy(a.values, values, count * sizeof *values);
  return cells_take(context, a);
}

/* --- weights from blocks --- */

static void weights_of_two_cells_by_hand(void **state) {
  (void)state;
  /* D = [2 4; 1 3] and its negative */
  cells s = single_cells(2, 2, (double[]){2, 1, 4, 3, -2, -1, -4, -3});
  weights first = weigh(context, &s, 0, NULL, NULL), second = weigh(context, &s, 1, NULL, NULL);
  EXPECT_CLOSE(4, ((double[]){0.75, -1, -0.75, 1}), first.w, 0.0);
  EXPECT_CLOSE(4, ((double[]){-0.5, 1, 0.5, -1}), second.w, 0.0);
  expect_stats(BSI_WEIGHT_STATS_NONE, first.stats);
  expect_stats(BSI_WEIGHT_STATS_NONE, second.stats);
  drop(context, first.w), drop(context, second.w);
  cells_free(context, &s);
}

/* w ← the solution of Dᵀ w = e_p with max |w| = 1, where column c of Dᵀ begins at d + c·bs. */
static void solve_densely(int bs, int p, const double *d, double *w) {
  double *unit = calloc((size_t)bs, sizeof *unit), largest = 0.0;
  unit[p] = 1.0;
  double *solution = test_dense_solve(bs, d, unit);
  assert_non_null(solution);
  for (int k = 0; k < bs; k++) largest = fmax(largest, fabs(solution[k]));
  for (int k = 0; k < bs; k++) w[k] = solution[k] / largest;
  free(unit), free(solution);
}

static void weights_solve_the_transposed_diagonal_blocks(void **state) {
  (void)state;
  enum { N = 30 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    cells s = cells_random(context, N, bs, 1);
    double *expected = malloc((size_t)(N * bs) * sizeof *expected);
    for (int p = 0; p<bs; p += bs> 9 ? 5 : 1) {
      for (int32_t i = 0; i < N; i++) {
        double *transposed =
            test_dense_transpose(bs, bs, s.a.values + (size_t)s.diagonal[i] * (size_t)(bs * bs));
        solve_densely(bs, p, transposed, expected + (ptrdiff_t)i * bs);
        free(transposed);
      }
      weights got = weigh(context, &s, p, NULL, NULL);
      EXPECT_CLOSE((int64_t)N * bs, expected, got.w, 1e-13); /* blocks of condition 100 or less */
      expect_stats(BSI_WEIGHT_STATS_NONE, got.stats);
      drop(context, got.w);
    }
    free(expected);
    cells_free(context, &s);
  }
}

static void weights_solve_the_storage_that_is_given_by_rows(void **state) {
  (void)state;
  enum { N = 20 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    cells s = cells_random(context, N, bs, 1), other = cells_random(context, N, bs, 2);
    double *expected = malloc((size_t)(N * bs) * sizeof *expected),
           *storage = malloc((size_t)(N * bs * bs) * sizeof *storage);
    const int p = bs - 1;
    int64_t reversed = 0;
    for (int32_t i = 0; i < N; i++) {
      double *rows = storage + (ptrdiff_t)i * bs * bs, *w = expected + (ptrdiff_t)i * bs, d = 0.0;
      const int32_t q = other.diagonal[i], here = s.diagonal[i];
      for (int r = 0; r < bs; r++)
        for (int c = 0; c < bs; c++) rows[r * bs + c] = entry(&other, q, r, c) * (i % 2 ? 1 : -1);
      solve_densely(bs, p, rows, w); /* rows of D are columns of Dᵀ */
      for (int r = 0; r < bs; r++) d += w[r] * entry(&s, here, r, p);
      for (int r = 0; r < bs && d < 0.0; r++) w[r] = -w[r];
      reversed += d < 0.0;
    }
    weights got = weigh(context, &s, p, NULL, storage);
    EXPECT_CLOSE((int64_t)N * bs, expected, got.w, 1e-13); /* as above */
    assert_int_equal(got.stats.reversed, reversed);
    assert_true(reversed > 0); /* the negative blocks */
    assert_int_equal(got.stats.singular + got.stats.excluded, 0);
    drop(context, got.w);
    free(expected), free(storage);
    cells_free(context, &s), cells_free(context, &other);
  }
}

static void storage_of_the_diagonal_blocks_gives_the_same_weights(void **state) {
  (void)state;
  enum { N = 50 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    cells s = cells_random(context, N, bs, 3);
    double *storage = malloc((size_t)(N * bs * bs) * sizeof *storage);
    for (int32_t i = 0; i < N; i++)
      for (int r = 0; r < bs; r++)
        for (int c = 0; c < bs; c++)
          storage[((ptrdiff_t)i * bs + r) * bs + c] = entry(&s, s.diagonal[i], r, c);
    for (int p = 0; p<bs; p += bs> 9 ? 5 : 1) {
      weights expected = weigh(context, &s, p, NULL, NULL),
              got = weigh(context, &s, p, NULL, storage);
      EXPECT_CLOSE((int64_t)N * bs, expected.w, got.w, 1e-13); /* inverses of D and Dᵀ */
      expect_stats(expected.stats, got.stats);
      drop(context, expected.w), drop(context, got.w);
    }
    free(storage);
    cells_free(context, &s);
  }
}

/* --- weights of the caller --- */

static void given_weights_get_their_size_and_their_signs(void **state) {
  (void)state;
  enum { N = 40 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k], p = bs / 2;
    cells s = cells_random(context, N, bs, 4);
    double *given = test_random_vector((int64_t)N * bs, 5);
    weights got = weigh(context, &s, p, given, NULL);
    int64_t reversed = 0;
    for (int32_t i = 0; i < N; i++) {
      double *w = given + (ptrdiff_t)i * bs, d = 0.0, largest = 0.0;
      for (int r = 0; r < bs; r++) {
        d += w[r] * entry(&s, s.diagonal[i], r, p);
        largest = fmax(largest, fabs(w[r]));
      }
      for (int r = 0; r < bs; r++) w[r] /= d < 0.0 ? -largest : largest;
      reversed += d < 0.0;
    }
    assert_memory_equal(given, got.w, (size_t)(N * bs) * sizeof *given);
    assert_true(reversed > 0 && reversed < N);
    assert_int_equal(got.stats.reversed, reversed);
    assert_int_equal(got.stats.singular + got.stats.excluded, 0);
    drop(context, got.w);
    free(given);
    cells_free(context, &s);
  }
}

static void computed_weights_given_again_are_the_same_bits(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++) {
    cells s = cells_random(context, 40, sizes[k], 6);
    weights computed = weigh(context, &s, 0, NULL, NULL),
            again = weigh(context, &s, 0, computed.w, NULL);
    assert_memory_equal(computed.w, again.w, (size_t)(40 * s.bs) * sizeof *again.w);
    drop(context, computed.w), drop(context, again.w);
    cells_free(context, &s);
  }
}

/* --- rules --- */

/* Cells whose first unknown is the pressure. Columns of 3 × 3 blocks, one block a line. */
static const double awkward[][9] = {
    {2, 0, 0, 0, 3, 0, 0, 0, 4},                  /* 0: regular */
    {2, 0, 0, 0, 0, 0, 0, 0, 0},                  /* 1: singular */
    {-2, 1, 1, 0, 0, 0, 0, 0, 0},                 /* 2: singular, and negative */
    {0, 0, 0, 0, 3, 0, 0, 0, 4},                  /* 3: nothing on the diagonal */
    {0, 0, 0, 0, 0, 0, 0, 0, 0},                  /* 4: no values at all */
    {0, 3, 0, 3, 0, 0, 0, 0, 1},                  /* 5: a zero on the diagonal, but regular */
    {2, 0, 0, (double)NAN, 3, 0, 0, 0, 4},        /* 6: no inverse, but a diagonal entry */
    {(double)NAN, 0, 0, 0, 3, 0, 0, 0, 4},        /* 7: no number */
    {(double)INFINITY, 0, 0, 0, 3, 0, 0, 0, 4},   /* 8: no finite one */
    {1, 0, 0, 0, 1e-320, 0, 0, 0, 1},             /* 9: an inverse that overflows */
    {1, 1, 1, 1, 1, 1, 1, 1, 1},                  /* 10: of rank 1 */
    {-1e-3, 0, 0, 0, 3, 0, 0, 0, 4},              /* 11: negative: so is its weight */
    {1e300, 1e300, 0, -1e300, 1e300, 0, 0, 0, 1}, /* 12: large */
    {1e-300, 0, 0, 0, 1, 0, 0, 0, 1},             /* 13: small */
    {1e-320, 0, 0, 0, 1, 0, 0, 0, 1}              /* 14: an entry whose inverse overflows */
};
enum { AWKWARD = sizeof awkward / sizeof *awkward };

static void awkward_cells_follow_the_rules(void **state) {
  (void)state;
  static const double expected[AWKWARD][3] = {
      [0] = {1, 0, 0}, [1] = {1, 0, 0},  [2] = {-1, 0, 0},  [5] = {0, 1, 0},  [6] = {1, 0, 0},
      [9] = {1, 0, 0}, [10] = {1, 0, 0}, [11] = {-1, 0, 0}, [12] = {1, 1, 0}, [13] = {1, 0, 0}};
  /* a matrix refuses values that are not finite */
  double finite[AWKWARD][9];
  for (int i = 0; i < AWKWARD; i++)
    for (int v = 0; v < 9; v++) finite[i][v] = isfinite(awkward[i][v]) ? awkward[i][v] : 0.0;
  cells s = single_cells(AWKWARD, 3, &finite[0][0]);
  memcpy(s.matrix->values, awkward, sizeof awkward);
  weights got = weigh(context, &s, 0, NULL, NULL);
  EXPECT_CLOSE(3 * AWKWARD, &expected[0][0], got.w, 0.0);
  /* 1, 2, 3, 4, 6, 7, 8, 9, 10, 14; 2; 3, 4, 7, 8, 14 */
  expect_stats((bsi_weight_stats){10, 1, 5, 1, 3}, got.stats);
  drop(context, got.w);
  cells_free(context, &s);
}

/* An elimination leaves pivots of the size of rounding errors. */
static void blocks_that_are_singular_but_for_rounding_are_singular(void **state) {
  (void)state;
  enum { N = 30 };
  for (int bs = 2; bs <= 32; bs += bs < 9 ? 1 : 23) {
    test_bcsr a = test_bcsr_random(test_shape_square(N, bs, 1));
    double expected[N * 32] = {0};
    for (int32_t i = 0; i < N; i++) { /* the last equation is 0.3 times the first */
      double *block = test_bcsr_block(&a, i, i);
      for (int c = 0; c < bs; c++) block[c * bs + bs - 1] = 0.3 * block[c * bs];
      expected[i * bs] = block[0] < 0.0 ? -1.0 : 1.0;
    }
    cells s = cells_take(context, a);
    weights got = weigh(context, &s, 0, NULL, NULL);
    EXPECT_CLOSE((int64_t)N * bs, expected, got.w, 0.0);
    assert_int_equal(got.stats.singular, N);
    assert_int_equal(got.stats.first_singular, 0);
    assert_int_equal(got.stats.excluded, 0);
    drop(context, got.w);
    cells_free(context, &s);
  }
}

static void given_weights_without_a_diagonal_entry_are_excluded(void **state) {
  (void)state;
  /* the pressure is the second of two unknowns: columns (1, 0) and (1, −1) */
  enum { N = 6 };
  double blocks[N][4];
  for (int i = 0; i < N; i++) memcpy(blocks[i], (double[]){1, 0, 1, -1}, sizeof blocks[i]);
  static const double given[2 * N] = {1, 1, 0, 0, 1, 1 + 1e-15, 1e10, 2e10, 2e-320, 0, -0.5, -0.25};
  static const double expected[2 * N] = {0, 0, 0, 0, 0, 0, -0.5, -1, 1, 0, 1, 0.5};
  cells s = single_cells(N, 2, &blocks[0][0]);
  weights got = weigh(context, &s, 1, given, NULL);
  EXPECT_CLOSE(2 * N, expected, got.w, 0.0);
  expect_stats((bsi_weight_stats){0, 2, 3, -1, 0}, got.stats);
  drop(context, got.w);
  cells_free(context, &s);
}

static void a_matrix_without_cells_has_no_weights(void **state) {
  (void)state;
  cells s = single_cells(1, 2, (double[]){1, 0, 0, 1});
  s.a.block_rows = s.a.block_cols = 0;
  s.a.row_ptr[0] = s.a.row_ptr[1] = 0;
  bisai_bcsr_destroy(&s.matrix);
  s.matrix = test_bcsr_make(context, &s.a);
  s.n = 0;
  weights got = weigh(context, &s, 0, NULL, NULL);
  expect_stats(BSI_WEIGHT_STATS_NONE, got.stats);
  drop(context, got.w);
  cells_free(context, &s);
}

static void weights_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { EDGE = 95, N = EDGE * EDGE };
  for (int bs = 1; bs <= 9; bs += 2) {
    double *first = malloc((size_t)(N * bs) * sizeof *first);
    bsi_weight_stats stats = BSI_WEIGHT_STATS_NONE;
    test_bcsr arrays = test_bcsr_grid(EDGE, EDGE, bs, 7);
    for (int32_t i = 11; i < N; i += 13) /* singular ones, of which every second is excluded */
      memset(test_bcsr_block(&arrays, i, i), 0, (size_t)(bs * bs) * sizeof(double));
    for (int32_t i = 24; i < N; i += 26) test_bcsr_block(&arrays, i, i)[0] = -1.0;
    for (int threads = 1; threads <= 5; threads++) {
      bisai_context *c = test_context(threads);
      cells s = cells_take(c, arrays);
      weights got = weigh(c, &s, 0, NULL, NULL);
      if (threads == 1) {
        memcpy(first, got.w, (size_t)(N * bs) * sizeof *first);
        stats = got.stats;
        assert_int_equal(stats.first_singular, 11);
        assert_int_equal(stats.first_excluded, 11);
        assert_true(stats.excluded > 300);
      }
      assert_memory_equal(first, got.w, (size_t)(N * bs) * sizeof *first);
      expect_stats(stats, got.stats);
      drop(c, got.w);
      cells_leave(c, &s);
      bisai_context_destroy(&c);
    }
    free(first);
    test_bcsr_free(&arrays);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_of_two_cells_by_hand),
      cmocka_unit_test(weights_solve_the_transposed_diagonal_blocks),
      cmocka_unit_test(weights_solve_the_storage_that_is_given_by_rows),
      cmocka_unit_test(storage_of_the_diagonal_blocks_gives_the_same_weights),
      cmocka_unit_test(given_weights_get_their_size_and_their_signs),
      cmocka_unit_test(computed_weights_given_again_are_the_same_bits),
      cmocka_unit_test(awkward_cells_follow_the_rules),
      cmocka_unit_test(blocks_that_are_singular_but_for_rounding_are_singular),
      cmocka_unit_test(given_weights_without_a_diagonal_entry_are_excluded),
      cmocka_unit_test(a_matrix_without_cells_has_no_weights),
      cmocka_unit_test(weights_do_not_depend_on_the_number_of_threads),
  };
  return cmocka_run_group_tests_name("cpr_weights", tests, setup, teardown);
}
