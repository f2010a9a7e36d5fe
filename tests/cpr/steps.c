/* SPDX-License-Identifier: BSD-3-Clause */
/* The pressure matrix, its couplings and reach, and the steps between vectors and pressures against
 * plain loops. */
#include "cells.h"
#include "cpr/ellipticity.h"

static double *vector(bisai_context *c, int64_t n, uint64_t seed) {
  double *values = test_random_vector(n, seed), *there = placed(c, values, (size_t)n, 8);
  free(values);
  return there;
}

/* The same structure with blocks of one value, without values. */
static bisai_bcsr *reserve(bisai_context *c, const cells *s) {
  bisai_bcsr *p = NULL;
  EXPECT_OK(c, bsi_bcsr_reserve(c, &(bsi_bcsr_sizes){s->n, s->n, 1, s->matrix->blocks, BISAI_FP64},
                                NULL, NULL, &p));
  p->rows = s->n;
  EXPECT_OK(c, c->backend->memory->copy(c, p->row_ptr, s->matrix->row_ptr,
                                        ((size_t)s->n + 1) * sizeof *p->row_ptr));
  EXPECT_OK(c, c->backend->memory->copy(c, p->col_idx, s->matrix->col_idx,
                                        (size_t)p->blocks * sizeof *p->col_idx));
  return p;
}

/* --- the pressure matrix --- */

static void the_pressure_matrix_of_two_cells_by_hand(void **state) {
  (void)state;
  /* rows of blocks: [1 2; 3 4] [5 6; 7 8] and [9 10; 11 12] */
  test_bcsr a = {2, 2, 2, malloc(12), malloc(12), malloc(96)};
  memcpy(a.row_ptr, ((int32_t[]){0, 2, 3}), 12);
  memcpy(a.col_idx, ((int32_t[]){0, 1, 1}), 12);
  memcpy(a.values, ((double[]){1, 3, 2, 4, 5, 7, 6, 8, 9, 11, 10, 12}), 96);
  cells s = cells_take(context, a);
  double *w = placed(context, (double[]){10, 1, 0, 0}, 4, 8), *values = placed(context, NULL, 3, 8),
         *columns = placed(context, NULL, 6, 8);
  EXPECT_OK(context, ops(context)->reduce(context, s.matrix, w, 1, values, columns));
  EXPECT_CLOSE(3, ((double[]){24, 68, 1}), values, 0.0); /* the weights of row 1 are zero */
  EXPECT_CLOSE(6, ((double[]){2, 4, 6, 8, 10, 12}), columns, 0.0);
  drop(context, w), drop(context, values), drop(context, columns);
  cells_free(context, &s);
}

static void the_pressure_matrix_equals_plain_loops(void **state) {
  (void)state;
  enum { N = 40 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    cells s = cells_random(context, N, bs, 1);
    const size_t blocks = (size_t)s.matrix->blocks;
    double *w = vector(context, (int64_t)N * bs, 2),
           *values = placed(context, NULL, blocks, sizeof *values),
           *columns = placed(context, NULL, blocks * (size_t)bs, sizeof *columns);
    for (int32_t i = 5; i < N; i += 9) memset(w + (ptrdiff_t)i * bs, 0, (size_t)bs * sizeof *w);
    for (int p = 0; p<bs; p += bs> 9 ? 5 : 1) {
      EXPECT_OK(context, ops(context)->reduce(context, s.matrix, w, p, values, columns));
      for (int32_t i = 0; i < N; i++)
        for (int32_t q = s.a.row_ptr[i]; q < s.a.row_ptr[i + 1]; q++) {
          double sum = 0.0, size = 0.0;
          for (int r = 0; r < bs; r++) {
            const double term = w[(ptrdiff_t)i * bs + r] * entry(&s, q, r, p);
            sum += term, size += fabs(term);
            assert_true(columns[(ptrdiff_t)q * bs + r] == entry(&s, q, r, p));
          }
          if (i % 9 == 5) sum = s.a.col_idx[q] == i;
          EXPECT_NEAR(sum, values[q], 1e-15 * bs * size); /* a sum of bs products */
        }
    }
    drop(context, w), drop(context, values), drop(context, columns);
    cells_free(context, &s);
  }
}

static void either_result_can_be_left_out(void **state) {
  (void)state;
  for (int k = 0; k < SIZES; k++) {
    cells s = cells_random(context, 30, sizes[k], 3);
    const size_t blocks = (size_t)s.matrix->blocks, all = blocks * (size_t)s.bs;
    double *w = vector(context, (int64_t)30 * s.bs, 2), *both = placed(context, NULL, blocks, 8),
           *columns = placed(context, NULL, all, 8), *one = placed(context, NULL, blocks, 8),
           *other = placed(context, NULL, all, 8);
    EXPECT_OK(context, ops(context)->reduce(context, s.matrix, w, 0, both, columns));
    EXPECT_OK(context, ops(context)->reduce(context, s.matrix, w, 0, one, NULL));
    EXPECT_OK(context, ops(context)->reduce(context, s.matrix, w, 0, NULL, other));
    assert_memory_equal(both, one, blocks * sizeof *one);
    assert_memory_equal(columns, other, all * sizeof *other);
    drop(context, w), drop(context, both), drop(context, columns), drop(context, one);
    drop(context, other);
    cells_free(context, &s);
  }
}

/* --- couplings --- */

static int64_t sum_of(bisai_context *c, const bisai_bcsr *p, const int32_t *diagonal) {
  int64_t *sum = placed(c, (int64_t[]){-1}, 1, sizeof *sum);
  EXPECT_OK(c, ops(c)->couple(c, p, diagonal, sum));
  const int64_t got = *sum;
  drop(c, sum);
  return got;
}

static int64_t measured(bisai_context *c, test_bcsr arrays) {
  cells s = cells_take(c, arrays);
  const int64_t sum = sum_of(c, s.matrix, s.diagonal);
  cells_free(c, &s);
  return sum;
}

static void the_couplings_of_four_cells_by_hand(void **state) {
  (void)state;
  /* tridiag(−1, 4, −1): 1/4 at both ends, and 1/2; then one way only */
  assert_int_equal(measured(context, test_bcsr_tridiagonal(4, 1, 4.0, -1.0)), 3 * (1 << 19));
  test_bcsr one_way = test_bcsr_tridiagonal(4, 1, 4.0, -1.0);
  for (int32_t i = 0; i < 4; i++)
    for (int32_t q = one_way.row_ptr[i]; q < one_way.row_ptr[i + 1]; q++)
      if (one_way.col_idx[q] > i) one_way.values[q] = 0.0;
  assert_int_equal(measured(context, one_way), 0);
  /* strong couplings count 1 for each row */
  assert_int_equal(measured(context, test_bcsr_tridiagonal(4, 1, 1.0, 3.0)), 4 << 20);
}

static void couplings_equal_plain_loops(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    test_shape shape = test_shape_square(60, 1, seed);
    shape.blocks_per_row = 8.0;
    test_bcsr a = test_bcsr_random(shape);
    double expected = 0.0;
    for (int32_t i = 0; i < 60; i++) {
      double sum = 0.0;
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
        const int32_t j = a.col_idx[q];
        const double *mirrored = test_bcsr_block(&a, j, i);
        if (j != i && mirrored)
          sum += sqrt(fabs(a.values[q] * *mirrored /
                           (*test_bcsr_block(&a, i, i) * *test_bcsr_block(&a, j, j))));
      }
      expected += rint(BSI_ELLIPTICITY_ONE * fmin(1.0, sum));
    }
    assert_true(expected > 0.0);
    assert_int_equal(measured(context, a), (int64_t)expected);
  }
}

/* The products and the quotients are out of range, but not the couplings. */
static void couplings_do_not_depend_on_scales(void **state) {
  (void)state;
  int64_t expected = -1;
  for (int variant = 0; variant < 4; variant++) {
    test_bcsr a = test_bcsr_grid(12, 11, 1, 3);
    for (int32_t i = 0; i < a.block_rows; i++)
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
        const int32_t j = a.col_idx[q];
        if (variant == 1) a.values[q] = ldexp(a.values[q], 600);
        if (variant == 2) a.values[q] = ldexp(a.values[q], i % 3 * 100 - j % 5 * 60);
        if (variant == 3) a.values[q] = ldexp(a.values[q], -900);
      }
    const int64_t sum = measured(context, a);
    if (variant == 0) expected = sum;
    assert_true(sum > 0);
    assert_int_equal(sum, expected);
  }
}

/* --- reach --- */

static int64_t reach_of(bisai_context *c, const cells *s, int pressure) {
  int64_t *sum = placed(c, (int64_t[]){-1}, 1, sizeof *sum);
  EXPECT_OK(c, ops(c)->reach(c, s->matrix, s->diagonal, pressure, sum));
  const int64_t got = *sum;
  drop(c, sum);
  return got;
}

static void the_reach_in_two_cells_by_hand(void **state) {
  (void)state;
  /* rows of blocks: [4 0; 2 8] [-1 5; 3 2] and [0 0; 0 4] [0 1; 1 4] */
  test_bcsr a = {2, 2, 2, malloc(12), malloc(16), malloc(128)};
  memcpy(a.row_ptr, ((int32_t[]){0, 2, 4}), 12);
  memcpy(a.col_idx, ((int32_t[]){0, 1, 0, 1}), 16);
  memcpy(a.values, ((double[]){4, 2, 0, 8, -1, 3, 5, 2, 0, 0, 0, 4, 0, 1, 1, 4}), 128);
  cells s = cells_take(context, a);
  /* 1/4, more than 1, nothing, nothing; then without own part, 1/4, nothing, 1 */
  assert_int_equal(reach_of(context, &s, 0), (1 << 18) + (1 << 20));
  assert_int_equal(reach_of(context, &s, 1), (1 << 20) + (1 << 18) + (1 << 20));
  cells_free(context, &s);
}

static void the_reach_equals_plain_loops(void **state) {
  (void)state;
  enum { N = 40 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    cells s = cells_random(context, N, bs, 1);
    for (int p = 0; p<bs; p += bs> 9 ? 5 : 1) {
      double expected = 0.0;
      for (int32_t i = 0; i < N; i++)
        for (int l = 0; l < bs; l++) {
          double others = 0.0, own = 0.0;
          for (int32_t q = s.a.row_ptr[i]; q < s.a.row_ptr[i + 1]; q++)
            *(s.a.col_idx[q] == i ? &own : &others) += fabs(entry(&s, q, l, p));
          expected += rint(BSI_ELLIPTICITY_ONE * (others == 0.0 ? 0.0 : fmin(1.0, others / own)));
        }
      assert_int_equal(reach_of(context, &s, p), (int64_t)expected);
    }
    cells_free(context, &s);
  }
}

/* Each equation and each unknown has a factor of its own. */
static void the_reach_does_not_depend_on_scales_of_equations(void **state) {
  (void)state;
  enum { N = 60, BS = 3 };
  cells s = cells_random(context, N, BS, 2);
  test_bcsr scaled = test_bcsr_random(test_shape_square(N, BS, 2));
  for (int32_t i = 0; i < N; i++)
    for (int32_t q = scaled.row_ptr[i]; q < scaled.row_ptr[i + 1]; q++)
      for (int v = 0; v < BS * BS; v++)
        scaled.values[q * BS * BS + v] =
            ldexp(scaled.values[q * BS * BS + v], (i * 7 + v % BS * 11) % 80 - 40 + v / BS * 5);
  cells t = cells_take(context, scaled);
  for (int p = 0; p < BS; p++) assert_int_equal(reach_of(context, &s, p), reach_of(context, &t, p));
  cells_free(context, &s), cells_free(context, &t);
}

/* --- vectors --- */

static void steps_between_vectors_and_pressures_equal_plain_loops(void **state) {
  (void)state;
  enum { N = 40 };
  for (int k = 0; k < SIZES; k++) {
    const int bs = sizes[k];
    const int64_t rows = (int64_t)N * bs;
    cells s = cells_random(context, N, bs, 1);
    bisai_bcsr *p = reserve(context, &s);
    double *w = vector(context, rows, 2), *v = vector(context, rows, 3), *z = vector(context, N, 4),
           *columns = vector(context, (int64_t)p->blocks * bs, 5), *r = placed(context, NULL, N, 8),
           *rest = placed(context, NULL, (size_t)rows, 8);
    EXPECT_OK(context, ops(context)->gather(context, N, bs, w, v, r));
    EXPECT_OK(context, ops(context)->subtract(context, p, bs, columns, z, v, rest));
    for (int32_t i = 0; i < N; i++) {
      double sum = 0.0;
      for (int l = 0; l < bs; l++) sum += w[i * bs + l] * v[i * bs + l];
      EXPECT_NEAR(sum, r[i], 1e-15 * bs); /* a sum of bs products below 1 */
      for (int l = 0; l < bs; l++) {
        double left = v[i * bs + l];
        for (int32_t q = s.a.row_ptr[i]; q < s.a.row_ptr[i + 1]; q++)
          left -= columns[q * bs + l] * z[s.a.col_idx[q]];
        EXPECT_NEAR(left, rest[i * bs + l], 1e-14); /* the same for some ten blocks */
      }
    }
    for (int pressure = 0; pressure<bs; pressure += bs> 9 ? 5 : 1) {
      double *x = vector(context, rows, 6), *before = test_random_vector(rows, 6);
      EXPECT_OK(context, ops(context)->add(context, N, bs, pressure, z, x));
      for (int32_t i = 0; i < N; i++)
        for (int l = 0; l < bs; l++)
          assert_true(x[i * bs + l] == before[i * bs + l] + (l == pressure ? z[i] : 0.0));
      drop(context, x), free(before);
    }
    drop(context, w), drop(context, v), drop(context, z), drop(context, columns);
    drop(context, r), drop(context, rest);
    bisai_bcsr_destroy(&p);
    cells_free(context, &s);
  }
}

static void steps_without_cells_do_nothing(void **state) {
  (void)state;
  cells s = cells_random(context, 1, 2, 1);
  s.a.block_rows = s.a.block_cols = 0;
  s.a.row_ptr[0] = s.a.row_ptr[1] = 0;
  bisai_bcsr_destroy(&s.matrix);
  s.matrix = test_bcsr_make(context, &s.a);
  s.n = 0;
  bisai_bcsr *p = reserve(context, &s);
  double *one = placed(context, (double[]){7.0}, 1, 8);
  EXPECT_OK(context, ops(context)->reduce(context, s.matrix, one, 1, one, one));
  EXPECT_OK(context, ops(context)->gather(context, 0, 2, one, one, one));
  EXPECT_OK(context, ops(context)->subtract(context, p, 2, one, one, one, one));
  EXPECT_OK(context, ops(context)->add(context, 0, 2, 1, one, one));
  assert_int_equal(sum_of(context, p, s.diagonal), 0);
  assert_int_equal(reach_of(context, &s, 1), 0);
  assert_true(one[0] == 7.0);
  drop(context, one);
  bisai_bcsr_destroy(&p);
  cells_free(context, &s);
}

/* --- all of them --- */

/* Enough values for several threads. */
static void steps_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { EDGE = 140, N = EDGE * EDGE };
  for (int bs = 1; bs <= 9; bs += 4) {
    const size_t rows = (size_t)N * (size_t)bs;
    test_bcsr arrays = test_bcsr_grid(EDGE, EDGE, bs, 1);
    double *first[4] = {NULL};
    int64_t couplings = -1, reach = -1;
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *c = test_context(threads);
      cells s = cells_take(c, arrays);
      bisai_bcsr *p = reserve(c, &s);
      const size_t blocks = (size_t)p->blocks,
                   lengths[] = {blocks, blocks * (size_t)bs, rows, rows};
      double *w = vector(c, (int64_t)rows, 2), *v = vector(c, (int64_t)rows, 3),
             *r = placed(c, NULL, N, 8), *got[4];
      for (int g = 0; g < 4; g++) got[g] = placed(c, NULL, lengths[g], 8);
      EXPECT_OK(c, ops(c)->reduce(c, s.matrix, w, 0, p->values, got[1]));
      const int64_t sum = sum_of(c, p, s.diagonal), reached = reach_of(c, &s, bs - 1);
      EXPECT_OK(c, ops(c)->gather(c, N, bs, w, v, r));
      EXPECT_OK(c, ops(c)->subtract(c, p, bs, got[1], r, v, got[2]));
      memcpy(got[3], v, rows * sizeof *v);
      EXPECT_OK(c, ops(c)->add(c, N, bs, bs - 1, r, got[3]));
      memcpy(got[0], p->values, blocks * sizeof *v);
      if (threads == 1) couplings = sum, reach = reached;
      assert_int_equal(sum, couplings);
      assert_int_equal(reached, reach);
      for (int g = 0; g < 4; g++) {
        if (threads == 1) first[g] = memcpy(malloc(lengths[g] * 8), got[g], lengths[g] * 8);
        assert_memory_equal(first[g], got[g], lengths[g] * 8);
        drop(c, got[g]);
      }
      drop(c, w), drop(c, v), drop(c, r);
      bisai_bcsr_destroy(&p);
      cells_leave(c, &s);
      bisai_context_destroy(&c);
    }
    for (int g = 0; g < 4; g++) free(first[g]);
    test_bcsr_free(&arrays);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_pressure_matrix_of_two_cells_by_hand),
      cmocka_unit_test(the_pressure_matrix_equals_plain_loops),
      cmocka_unit_test(either_result_can_be_left_out),
      cmocka_unit_test(the_couplings_of_four_cells_by_hand),
      cmocka_unit_test(couplings_equal_plain_loops),
      cmocka_unit_test(couplings_do_not_depend_on_scales),
      cmocka_unit_test(the_reach_in_two_cells_by_hand),
      cmocka_unit_test(the_reach_equals_plain_loops),
      cmocka_unit_test(the_reach_does_not_depend_on_scales_of_equations),
      cmocka_unit_test(steps_between_vectors_and_pressures_equal_plain_loops),
      cmocka_unit_test(steps_without_cells_do_nothing),
      cmocka_unit_test(steps_do_not_depend_on_the_number_of_threads),
  };
  return cmocka_run_group_tests_name("cpr_steps", tests, setup, teardown);
}
