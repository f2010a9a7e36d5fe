/* SPDX-License-Identifier: BSD-3-Clause */
/* The scales of pressure equations: they make up for scales of rows, and leave symmetric matrices
 * as they are. */
#include "cpr/scales.h"
#include "cells.h"
#include "mesh.h"

/* P of `s` and its weights after scaling, in backend memory. The weights are one for each row. */
typedef struct scaled {
  const double *values;
  double *weights;
} scaled;

/* The weights are 1 before. */
static scaled scale(bisai_context *c, const cells *s) {
  bsi_scaling scaling = {0};
  double *ones = malloc(((size_t)s->n + 1) * sizeof *ones);
  for (int32_t i = 0; i < s->n; i++) ones[i] = 1.0;
  scaled r = {s->matrix->values, placed(c, ones, (size_t)s->n, sizeof *ones)};
  free(ones);
  EXPECT_OK(c, bsi_scaling_create(c, s->matrix, s->diagonal, &scaling));
  assert_int_equal(bsi_scaling_memory(&scaling), 4 * (s->matrix->blocks + 2 * s->n));
  EXPECT_OK(c, bsi_scales_apply(c, &scaling, 1, r.weights));
  EXPECT_OK(c, c->backend->memory->synchronize(c));
  bsi_scaling_destroy(c, &scaling);
  return r;
}

/* Multiplies row i by 2^e with a random −most ≤ e ≤ most. */
static void scale_rows(test_bcsr *a, uint64_t seed, int most) {
  test_random random = test_random_seed(seed);
  for (int32_t i = 0; i < a->block_rows; i++) {
    const int e = test_random_integer(&random, -most, most);
    for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
      a->values[q] = ldexp(a->values[q], e);
  }
}

/* The mean of |log₂ |p_ij/p_ji|| over all pairs. */
static double imbalance(const test_bcsr *a, const double *values) {
  double sum = 0.0;
  int64_t pairs = 0;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) {
      const double *mirrored = test_bcsr_block(a, a->col_idx[q], i);
      if (a->col_idx[q] == i || !mirrored) continue;
      sum += fabs(log2(fabs(values[q] / values[mirrored - a->values])));
      pairs++;
    }
  return sum / (double)pairs;
}

static void two_cells_by_hand(void **state) {
  (void)state;
  /* 2 −1; −4 8: s = 1/2, 1/8 */
  test_bcsr a = {2, 2, 1, malloc(12), malloc(16), malloc(32)};
  memcpy(a.row_ptr, ((int32_t[]){0, 2, 4}), 12);
  memcpy(a.col_idx, ((int32_t[]){0, 1, 0, 1}), 16);
  memcpy(a.values, ((double[]){2, -1, -4, 8}), 32);
  cells s = cells_take(context, a);
  const scaled r = scale(context, &s);
  EXPECT_CLOSE(4, ((double[]){1, -0.5, -0.5, 1}), r.values, 0.0);
  EXPECT_CLOSE(2, ((double[]){0.5, 0.125}), r.weights, 0.0);
  drop(context, r.weights);
  cells_free(context, &s);
}

/* Coefficients that differ by 2²⁰ in all, and rows that differ by as much. */
static test_bcsr jumping_diffusion(int32_t nx, int32_t ny, uint64_t seed) {
  test_bcsr a = test_mesh_diffusion(nx, ny, 1, TEST_ZERO_OUTSIDE, 0.0);
  double *k = test_random_vector(a.block_rows, seed);
  for (int32_t i = 0; i < a.block_rows; i++) {
    double sum = 1e-3, *diagonal = test_bcsr_block(&a, i, i);
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
      if (a.col_idx[q] == i) continue;
      a.values[q] = -exp2(5.0 * (k[i] + k[a.col_idx[q]]));
      sum -= a.values[q];
    }
    *diagonal = sum;
  }
  free(k);
  return a;
}

static void rows_of_any_scale_come_into_conservation_form(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    test_bcsr a = jumping_diffusion(40, 30, seed);
    scale_rows(&a, seed + 5, 10);
    assert_true(imbalance(&a, a.values) > 5.0);
    cells s = cells_take(context, a);
    const scaled r = scale(context, &s);
    /* 0.06 to 0.07: 16 sweeps leave errors that vary slowly */
    assert_true(imbalance(&a, r.values) < 0.1);
    for (int32_t i = 0; i < s.n; i++) {
      const double before = a.values[s.diagonal[i]];
      EXPECT_NEAR(1.0, r.values[s.diagonal[i]] / (before * r.weights[i]), 1e-15); /* a rounding */
    }
    drop(context, r.weights);
    cells_free(context, &s);
  }
}

/* Powers of two change nothing, to the bit. */
static void matrices_do_not_depend_on_scales_of_rows(void **state) {
  (void)state;
  double *first = NULL;
  for (uint64_t seed = 1; seed <= 4; seed++) {
    test_bcsr a = jumping_diffusion(31, 23, 1);
    scale_rows(&a, seed, seed == 4 ? 300 : 10);
    cells s = cells_take(context, a);
    const scaled r = scale(context, &s);
    const size_t bytes = (size_t)s.matrix->blocks * sizeof *first;
    if (!first) first = memcpy(malloc(bytes), r.values, bytes);
    assert_memory_equal(first, r.values, bytes);
    drop(context, r.weights);
    cells_free(context, &s);
  }
  free(first);
}

static void symmetric_matrices_stay_as_they_are(void **state) {
  (void)state;
  for (int rounding = 0; rounding < 2; rounding++) {
    test_bcsr a = jumping_diffusion(21, 18, 3);
    for (int32_t q = 0; q < test_bcsr_blocks(&a) && rounding; q += 2) a.values[q] *= 1.0 + 4e-16;
    cells s = cells_take(context, a);
    const scaled r = scale(context, &s);
    assert_memory_equal(r.values, a.values, (size_t)s.matrix->blocks * sizeof *a.values);
    for (int32_t i = 0; i < s.n; i++) assert_true(r.weights[i] == 1.0);
    drop(context, r.weights);
    cells_free(context, &s);
  }
}

/* Entries of less than 2^¼ apart need few sweeps. A weak pair counts little. */
static void small_differences_become_smaller(void **state) {
  (void)state;
  test_bcsr a = jumping_diffusion(40, 30, 2);
  double *factor = test_random_vector(a.block_rows, 3);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) a.values[q] *= exp2(0.3 * factor[i]);
  const double before = imbalance(&a, a.values);
  cells s = cells_take(context, a);
  const scaled r = scale(context, &s);
  assert_true(before > 0.15 && before < 0.25 && imbalance(&a, r.values) < 0.4 * before);
  drop(context, r.weights), free(factor);
  cells_free(context, &s);
}

/* Zeros, subnormal values and what has overflowed are in no pair. */
static void rows_without_pairs_keep_their_scales(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    const double upper[] = {0.0, 1e-320, (double)INFINITY, (double)NAN};
    cells s = cells_take(context, test_bcsr_tridiagonal(6, 1, 8.0, -1.0));
    double *values = s.matrix->values;
    for (int32_t i = 0; i < 6; i++)
      for (int32_t q = s.a.row_ptr[i]; q < s.a.row_ptr[i + 1]; q++)
        if (s.a.col_idx[q] > i) values[q] = upper[variant];
    const scaled r = scale(context, &s);
    for (int32_t i = 0; i < 6; i++) assert_true(r.weights[i] == 1.0);
    drop(context, r.weights);
    cells_free(context, &s);
  }
}

/* Each cell passes 2¹⁴⁰ times as much to the next one as its own entry, and gets 2⁻¹⁴⁰ times as
 * much. x would grow by 280 from cell to cell. */
static void diagonal_entries_do_not_leave_the_range_of_numbers(void **state) {
  (void)state;
  for (int size = -600; size <= 600; size += 300) {
    test_bcsr a = test_bcsr_tridiagonal(40, 1, 2.0, -1.0);
    for (int32_t i = 0; i < a.block_rows; i++)
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
        const int away = a.col_idx[q] - i;
        a.values[q] = ldexp(a.values[q], size + 140 * away);
      }
    cells s = cells_take(context, a);
    const scaled r = scale(context, &s);
    const double most = ldexp(1.01, size > 499 ? size + 1 : 500),
                 least = ldexp(0.99, size < -501 ? size + 1 : -500);
    for (int32_t i = 0; i < s.n; i++) {
      const double d = r.values[s.diagonal[i]];
      assert_true(d >= least && d <= most);
      for (int32_t q = s.a.row_ptr[i]; q < s.a.row_ptr[i + 1]; q++)
        assert_true(isfinite(r.values[q]) && r.values[q] != 0.0);
    }
    drop(context, r.weights);
    cells_free(context, &s);
  }
}

static void no_cells_are_no_fault(void **state) {
  (void)state;
  cells s = cells_take(context, test_bcsr_tridiagonal(0, 1, 1.0, 1.0));
  const scaled r = scale(context, &s);
  drop(context, r.weights);
  cells_free(context, &s);
}

static void scales_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  double *first = NULL;
  for (int threads = 1; threads <= 4; threads++) {
    bisai_context *c = test_context(threads);
    test_bcsr a = jumping_diffusion(130, 110, 4);
    scale_rows(&a, 5, 10);
    cells s = cells_take(c, a);
    const scaled r = scale(c, &s);
    const size_t bytes = (size_t)s.matrix->blocks * sizeof *first;
    if (!first) first = memcpy(malloc(bytes), r.values, bytes);
    assert_memory_equal(first, r.values, bytes);
    drop(c, r.weights);
    cells_free(c, &s);
    bisai_context_destroy(&c);
  }
  free(first);
}

static void logarithms_are_near_those_of_the_library(void **state) {
  (void)state;
  for (int k = -3000; k <= 3000; k++) {
    const double a = exp2(k / 3.0);
    if (a < 1e-307 || a > 1e307) continue;
    EXPECT_NEAR(k / 3.0, (double)bsi_log2(-a) / BSI_LOG_ONE, 0.008);
    EXPECT_NEAR(1.0, exp2(k / 3.0) / bsi_exp2((int32_t)lrint(k / 3.0 * BSI_LOG_ONE)), 0.004);
  }
  assert_true(bsi_exp2(0) == 1.0 && bsi_exp2(-5 * BSI_LOG_ONE) == 1.0 / 32);
  assert_true(bsi_exp2(INT32_MAX) == ldexp(1.0, 1000) && bsi_exp2(INT32_MIN) == ldexp(1.0, -1000));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_cells_by_hand),
      cmocka_unit_test(rows_of_any_scale_come_into_conservation_form),
      cmocka_unit_test(matrices_do_not_depend_on_scales_of_rows),
      cmocka_unit_test(symmetric_matrices_stay_as_they_are),
      cmocka_unit_test(small_differences_become_smaller),
      cmocka_unit_test(rows_without_pairs_keep_their_scales),
      cmocka_unit_test(diagonal_entries_do_not_leave_the_range_of_numbers),
      cmocka_unit_test(no_cells_are_no_fault),
      cmocka_unit_test(scales_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(logarithms_are_near_those_of_the_library),
  };
  return cmocka_run_group_tests_name("cpr_scales", tests, setup, teardown);
}
