/* SPDX-License-Identifier: BSD-3-Clause */
/* Strengths against their definition. */
#include "fixture.h"

#include "graph.h"

/* A coupling differs from the exact one by the rounding of two weights, half of 2⁻¹⁰ each, and of
 * its own. */
#define COUPLING_ERROR 0x1.01p-10

/* min(1, ‖D_i⁻¹ A_ij‖_F/√bs), 0 for a block that is not stored. */
static double weight(const test_bcsr *a, int32_t i, int32_t j) {
  const int bs = a->block_size;
  const double *block = test_bcsr_block(a, i, j);
  if (!block || i == j) return 0.0;
  double *inverse = test_dense_inverse(bs, test_bcsr_block(a, i, i)),
         *product = test_dense_multiply(bs, bs, bs, inverse, block);
  const double norm = test_norm2(bs * bs, product) / sqrt(bs);
  free(inverse);
  free(product);
  return fmin(norm, 1.0);
}

static double coupling(const test_bcsr *a, int32_t i, int32_t j) {
  const double here = weight(a, i, j), there = weight(a, j, i), least = (double)TEST_LEAST_RETURN;
  return sqrt(fmax(here, least * there) * fmax(there, least * here));
}

/* The dense matrix of couplings, without those of rows that stay out. Returns the roles of the
 * rows, the largest coupling of each row in `left`, and in `largest` that of all couplings. */
static double *couplings(const test_bcsr *a, uint8_t *role, double *largest, double *left) {
  const int32_t n = a->block_rows;
  const double full = 0.99 / sqrt(a->block_size);
  double *dense = calloc((size_t)n * (size_t)n, sizeof *dense);
  for (int32_t i = 0; i < n; i++) {
    double sum = 0.0, weights = 0.0;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      sum += dense[i * n + a->col_idx[p]] = coupling(a, i, a->col_idx[p]);
      weights += weight(a, i, a->col_idx[p]);
    }
    role[i] = sum > 0.1 && weights > 0.001 ? BSI_ROW_IN
              : weights >= full            ? BSI_ROW_FOLLOWS
                                           : BSI_ROW_OUT;
    /* no test is about sums at the limits up to rounding */
    assert_true(fabs(sum - 0.1) > 1.5e-4 && fabs(weights - 0.001) > 1e-5);
    assert_true(sum > 0.1 || fabs(weights - full) > 5e-4 * full);
  }
  for (int32_t i = 0; i < n; i++) {
    largest[i] = left[i] = 0.0;
    for (int32_t j = 0; j < n; j++) {
      if (role[j] != BSI_ROW_FOLLOWS) largest[i] = fmax(largest[i], dense[i * n + j]);
      if (role[i] == BSI_ROW_OUT || role[j] != BSI_ROW_IN) dense[i * n + j] = 0.0;
      left[i] = fmax(left[i], dense[i * n + j]);
    }
  }
  return dense;
}

typedef struct census {
  int32_t strong, followers, out;
} census;

/* Couplings at the threshold may be strong or not. */
static census expect_strengths(const test_bcsr *a, double threshold, const float *strength) {
  const int32_t n = a->block_rows;
  census found = {0};
  uint8_t *role = malloc((size_t)n);
  double *largest = malloc(2 * (size_t)n * sizeof *largest), *left = largest + n,
         *dense = couplings(a, role, largest, left);
  for (int32_t i = 0; i < n; i++) {
    int32_t strong = 0, followed = 0;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t j = a->col_idx[p];
      const double expected = dense[i * n + j], limit = threshold * fmax(largest[i], largest[j]),
                   got = (double)strength[p];
      strong += got > 0.0;
      followed += got < 0.0;
      if (got != 0.0) EXPECT_NEAR(expected, fabs(got), COUPLING_ERROR * expected);
      if (expected == 0.0 || role[i] == BSI_ROW_FOLLOWS ||
          expected < limit * (1.0 - 3.0 * COUPLING_ERROR))
        assert_true(got <= 0.0);
      else if (expected > limit * (1.0 + 3.0 * COUPLING_ERROR))
        assert_true(got > 0.0);
      if (got < 0.0) {
        EXPECT_NEAR(expected, left[i], 3.0 * COUPLING_ERROR * expected);
        assert_true(role[i] == BSI_ROW_FOLLOWS || largest[j] > largest[i]);
      }
    }
    if (strong > 0 || left[i] == 0.0 ||
        left[i] < threshold * largest[i] * (1.0 - 3.0 * COUPLING_ERROR))
      assert_int_equal(followed, 0);
    else if (left[i] > threshold * largest[i] * (1.0 + 3.0 * COUPLING_ERROR))
      assert_int_equal(followed, 1);
    found.strong += strong;
    found.followers += followed;
    found.out += left[i] == 0.0;
  }
  free(largest);
  free(role);
  free(dense);
  return found;
}

/* --- tests --- */

static void strengths_are_those_of_the_definition(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 17, 32};
  static const double thresholds[] = {0.0, 0.5, 1.0};
  int32_t followers = 0, out = 0;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
    test_shape shape = test_shape_square(40, sizes[s], s + 1);
    shape.empty_every = 7;
    shape.blocks_per_row = 15; /* many of them mirrored */
    test_bcsr one_sided = test_bcsr_random(shape), a = test_bcsr_definite(40, sizes[s], s + 1);
    const test_bcsr *matrices[] = {&one_sided, &a};
    for (int m = 0; m < 2; m++) {
      graph g = graph_of(context, matrices[m]);
      int32_t strong[3];
      for (int t = 0; t < 3; t++) {
        weigh(&g, matrices[m], thresholds[t]);
        const census found = expect_strengths(matrices[m], thresholds[t], g.strength);
        strong[t] = found.strong;
        followers += found.followers;
        out += found.out;
      }
      assert_true(strong[0] > strong[1] && strong[1] >= strong[2]);
      graph_free(&g);
    }
    test_bcsr_free(&one_sided);
    test_bcsr_free(&a);
  }
  assert_true(followers > 0);
  assert_true(out > 0);
}

/* block ← x I + y J, where J maps every vector to its mean */
static void set_means(const test_bcsr *a, int32_t i, int32_t j, double x, double y) {
  const int32_t bs = a->block_size;
  double *block = test_bcsr_block(a, i, j);
  for (int32_t k = 0; k < bs * bs; k++) block[k] = y / bs + (k % (bs + 1) == 0 ? x : 0.0);
}

/* Row 0 couples to the stiff rows 1 and 2 alone, by a hundredth of the root of their diagonals. Its
 * own sums are zero, so that it must not stay out. With 1 more on its diagonal it may. */
static void a_soft_row_with_the_sum_zero_follows_a_stiff_one(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 6, 9};
  for (int k = 0; k < 10; k++) {
    const bool held = k % 2 == 1;
    test_bcsr a = test_bcsr_tridiagonal(3, sizes[k / 2], 0.0, -1.0);
    set_means(&a, 0, 0, 100.0, held ? -98.0 : -99.0);
    set_means(&a, 0, 1, 0.0, -1.0);
    set_means(&a, 1, 0, 0.0, -1.0);
    set_means(&a, 1, 1, 1e4, 0.0);
    set_means(&a, 1, 2, -1e4, 1.0);
    set_means(&a, 2, 1, -1e4, 1.0);
    set_means(&a, 2, 2, 1e4, 0.0);
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.25);
    assert_true(held ? g.strength[1] == 0.0f : g.strength[1] < 0.0f);
    assert_true(g.strength[4] > 0.0f && g.strength[2] == 0.0f);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

/* Row 0 is held by rows 1 and 2, which stay out. Rows 3 and 4 are a pair. */
static void a_row_whose_neighbours_stay_out_follows_no_other(void **state) {
  (void)state;
  static const int32_t edges[][2] = {{0, 1}, {0, 2}, {0, 3}, {3, 4}};
  static const double values[] = {0.07, 0.07, 0.001, 0.5};
  int32_t row_ptr[6], col_idx[25];
  double dense[25] = {0};
  for (int32_t k = 0; k < 25; k++) {
    row_ptr[k / 5 + 1] = k + 1;
    col_idx[k] = k % 5;
    dense[k] = k % 6 == 0 ? 1.0 : 0.0;
  }
  row_ptr[0] = 0;
  for (int k = 0; k < 4; k++)
    dense[5 * edges[k][0] + edges[k][1]] = dense[5 * edges[k][1] + edges[k][0]] = -values[k];
  const test_bcsr a = {5, 5, 1, row_ptr, col_idx, dense};
  graph g = graph_of(context, &a);
  for (int weak = 0; weak < 2; weak++) {
    weigh(&g, &a, weak ? 0.25 : 0.01);
    aggregate(&g);
    assert_int_equal(g.count, 1);
    assert_int_equal(g.aggregate[0], weak ? -1 : 0);
    assert_int_equal(g.aggregate[3], 0);
  }
  graph_free(&g);
}

/* Powers of 2 change no digit. */
static void strengths_do_not_depend_on_scalings(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_definite(50, 3, 5);
  graph g = graph_of(context, &a);
  weigh(&g, &a, 0.25);
  float *before = malloc((size_t)g.matrix->blocks * sizeof *before);
  memcpy(before, g.strength, (size_t)g.matrix->blocks * sizeof *before);
  graph_free(&g);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
      for (int k = 0; k < 9; k++) a.values[9 * p + k] *= ldexp(1.0, 30 - i) * ldexp(1.0, 300);
  g = graph_of(context, &a);
  weigh(&g, &a, 0.25);
  assert_memory_equal(before, g.strength, (size_t)g.matrix->blocks * sizeof *before);
  graph_free(&g);
  free(before);
  test_bcsr_free(&a);
}

static void weak_and_large_values_do_no_harm(void **state) {
  (void)state;
  static const double factors[] = {0.0, 1e-300, 1e200, 1e300};
  for (int k = 0; k < 4; k++) {
    test_bcsr a = diffusion(6, 5, 2, 1.0, false);
    for (int32_t i = 0; i < a.block_rows; i++)
      for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++)
        for (int v = 0; v < 4; v++) a.values[4 * p + v] *= a.col_idx[p] == i ? 1.0 : factors[k];
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.25);
    for (int32_t p = 0; p < g.matrix->blocks; p++) assert_true(isfinite(g.strength[p]));
    aggregate(&g);
    assert_int_equal(g.count > 0, factors[k] > 1.0);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

static void all_keys_differ(void **state) {
  (void)state;
  /* the function is one-to-one if its inverse gives every index back */
  test_random random = test_random_seed(1);
  for (int k = 0; k < 100000; k++) {
    const int32_t i = k < 1000   ? k
                      : k < 2000 ? INT32_MAX - (k - 1000)
                                 : test_random_integer(&random, 0, INT32_MAX - 1);
    const uint32_t key = bsi_aggregation_key(i);
    uint32_t h = key ^ key >> 16;
    h *= 0x43021123u;
    h ^= h >> 15 ^ h >> 30;
    h *= 0x1d69e2a5u;
    h ^= h >> 16;
    assert_int_equal(h, (uint32_t)i + 1u);
    assert_true(key != 0 && key != UINT32_MAX);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strengths_are_those_of_the_definition),
      cmocka_unit_test(a_soft_row_with_the_sum_zero_follows_a_stiff_one),
      cmocka_unit_test(a_row_whose_neighbours_stay_out_follows_no_other),
      cmocka_unit_test(strengths_do_not_depend_on_scalings),
      cmocka_unit_test(weak_and_large_values_do_no_harm),
      cmocka_unit_test(all_keys_differ),
  };
  return cmocka_run_group_tests_name("multigrid_strength", tests, setup, teardown);
}
