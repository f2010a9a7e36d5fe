/* SPDX-License-Identifier: BSD-3-Clause */
/* What a complete factorisation is predicted to hold and to cost, against elimination on boolean
 * matrices, and figures that are known by hand. */
#include "mesh.h"

#include "lu/predict.h"
#include "lu/tree.h"

static bisai_context *context;

/* Eliminates the pattern of P (A + Aᵀ) Pᵀ. Returns the blocks of L + U. *flops ← what is computed
 * with them. */
static int64_t eliminate(const test_bcsr *a, const int32_t *permutation, double *flops) {
  const int32_t n = a->block_rows;
  const double bs = a->block_size;
  bool *s = calloc((size_t)n * (size_t)n + 1, sizeof *s);
  int32_t *place = malloc((size_t)(n + 1) * sizeof *place);
  assert_true(s && place);
  for (int32_t i = 0; i < n; i++) place[permutation[i]] = i;
  for (int32_t i = 0; i < n; i++) {
    s[i * n + i] = true;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      s[place[i] * n + place[a->col_idx[p]]] = s[place[a->col_idx[p]] * n + place[i]] = true;
  }
  int64_t blocks = 0;
  *flops = 0.0;
  for (int32_t k = 0; k < n; k++) {
    int32_t below = 0;
    for (int32_t i = k + 1; i < n; i++) {
      if (!s[i * n + k]) continue;
      below++;
      for (int32_t j = k + 1; j < n; j++) s[i * n + j] |= s[k * n + j];
    }
    blocks += 1 + 2 * below;
    *flops += bs * bs * bs * (2.0 / 3.0 + 2.0 * below + 2.0 * below * below);
  }
  free(s), free(place);
  return blocks;
}

static void expect_predicted(const test_bcsr *a, bisai_ordering ordering) {
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  int32_t *permutation = malloc((size_t)(a->block_rows + 1) * sizeof *permutation);
  assert_non_null(permutation);
  bsi_lu_prediction p, again;
  EXPECT_OK(context, bsi_lu_predict(context, matrix, ordering, permutation, &p));
  EXPECT_OK(context, bisai_order_check(context, a->block_rows, permutation));
  double flops;
  assert_int_equal(p.blocks, eliminate(a, permutation, &flops));
  EXPECT_NEAR(flops, p.flops, 1e-9 * flops);
  assert_true(p.values >= p.blocks * a->block_size * a->block_size);
  EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_GIVEN, permutation, &again));
  assert_int_equal(p.blocks, again.blocks);
  assert_int_equal(p.values, again.values);
  free(permutation);
  bisai_bcsr_destroy(&matrix);
}

static void predicted_blocks_and_work_are_those_of_elimination(void **state) {
  (void)state;
  static const bisai_ordering orderings[] = {BISAI_ORDERING_RCM, BISAI_ORDERING_COLOUR,
                                             BISAI_ORDERING_NATURAL, BISAI_ORDERING_MD};
  for (uint64_t seed = 0; seed < 60; seed++) {
    test_shape shape =
        test_shape_square((int32_t)(1 + seed * 7 % 90), (int32_t)(1 + seed % 4), seed);
    shape.blocks_per_row = 0.5 + (double)(seed % 5);
    shape.empty_every = seed % 3 == 0 ? 4 : 0;
    test_bcsr a = test_bcsr_random(shape);
    expect_predicted(&a, orderings[seed % 4]);
    test_bcsr_free(&a);
  }
}

static void grids_are_predicted_as_elimination_does(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs++) {
    test_bcsr a = test_bcsr_grid(13, 9, bs, 5);
    expect_predicted(&a, BISAI_ORDERING_NATURAL);
    expect_predicted(&a, BISAI_ORDERING_RCM);
    expect_predicted(&a, BISAI_ORDERING_MD);
    test_bcsr_free(&a);
  }
}

/* A block tridiagonal matrix in its own order has no fill: n + 2 (n − 1) blocks. */
static void a_tridiagonal_matrix_has_no_fill(void **state) {
  (void)state;
  enum { N = 50 };
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(N, 2, 4.0, -1.0));
  int32_t permutation[N];
  for (int32_t i = 0; i < N; i++) permutation[i] = i;
  bsi_lu_prediction p;
  EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_GIVEN, permutation, &p));
  assert_int_equal(p.blocks, 3 * N - 2);
  EXPECT_NEAR(8.0 * ((N - 1) * (2.0 / 3.0 + 4.0) + 2.0 / 3.0), p.flops, 1e-9);
  bisai_bcsr_destroy(&matrix);
}

/* The leaves of a tree come first, in any order. With more than 400 rows it is a star, whose centre
 * has more neighbours than 10 √n and is left for the end. */
static void minimum_degree_leaves_trees_without_fill(void **state) {
  (void)state;
  for (int32_t n = 1; n <= 600; n += 37) {
    int32_t *row_ptr = malloc((size_t)(n + 1) * sizeof *row_ptr),
            *col_idx = malloc(2 * (size_t)n * sizeof *col_idx),
            *permutation = malloc((size_t)n * sizeof *permutation);
    double *values = calloc(2 * (size_t)n, sizeof *values);
    assert_true(row_ptr && col_idx && permutation && values);
    test_random random = test_random_seed((uint64_t)n);
    row_ptr[0] = 0;
    for (int32_t i = 0, p = 0; i < n; i++) {
      if (i > 0) col_idx[p++] = n > 400 ? 0 : test_random_integer(&random, 0, i - 1);
      col_idx[p++] = i;
      row_ptr[i + 1] = p;
    }
    test_bcsr a = {n, n, 1, row_ptr, col_idx, values};
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    bsi_lu_prediction p;
    EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_MD, permutation, &p));
    EXPECT_OK(context, bisai_order_check(context, n, permutation));
    assert_int_equal(p.blocks, 3 * n - 2);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
    free(permutation);
  }
}

/* Eliminates, of the rows that are left, one with the fewest neighbours. Returns the blocks of
 * L + U. */
static int64_t eliminate_least(const test_bcsr *a) {
  const int32_t n = a->block_rows;
  bool *s = calloc((size_t)n * (size_t)n, sizeof *s), *done = calloc((size_t)n, sizeof *done);
  assert_true(s && done);
  for (int32_t i = 0; i < n; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      s[i * n + a->col_idx[p]] = s[a->col_idx[p] * n + i] = a->col_idx[p] != i;
  int64_t blocks = n;
  for (int32_t step = 0; step < n; step++) {
    int32_t best = -1, least = n;
    for (int32_t i = 0; i < n; i++) {
      int32_t degree = 0;
      for (int32_t j = 0; j < n; j++) degree += s[i * n + j] && !done[j];
      if (!done[i] && degree < least) best = i, least = degree;
    }
    done[best] = true;
    blocks += 2 * least;
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = 0; j < n; j++)
        if (i != j && s[best * n + i] && s[best * n + j] && !done[i] && !done[j])
          s[i * n + j] = true;
  }
  free(s), free(done);
  return blocks;
}

/* Ties and bounds of degrees make a difference of some percent. */
static void minimum_degree_fills_as_little_as_exact_degrees(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 12; seed++) {
    test_shape shape = test_shape_square(150, 1, seed);
    shape.blocks_per_row = 0.5 + 0.5 * (double)(seed % 5);
    test_bcsr a = seed % 3 ? test_bcsr_random(shape) : test_bcsr_grid(14, 12, 1, seed);
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    int32_t permutation[168];
    bsi_lu_prediction p;
    EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_MD, permutation, &p));
    assert_true((double)p.blocks <= 1.2 * (double)eliminate_least(&a));
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free(&a);
  }
}

/* In the orders of their rows, and in others. */
static void estimates_of_meshes_are_within_a_factor_of_four(void **state) {
  (void)state;
  const test_bcsr meshes[] = {test_bcsr_grid(60, 60, 1, 5), test_bcsr_grid(50, 60, 3, 9),
                              test_mesh_springs(12, 12, 12, TEST_FREE),
                              test_mesh_springs(20, 18, 16, TEST_FREE)};
  for (size_t k = 0; k < sizeof meshes / sizeof *meshes; k++) {
    bisai_bcsr *matrix = test_bcsr_make(context, &meshes[k]);
    int32_t *permutation = malloc((size_t)meshes[k].block_rows * sizeof *permutation);
    bsi_lu_prediction p;
    double flops = 0;
    EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_MD, permutation, &p));
    EXPECT_OK(context, bsi_lu_estimate(context, matrix, &flops));
    assert_true(flops < 4 * p.flops && p.flops < 4 * flops);
    free(permutation);
    bisai_bcsr_destroy(&matrix);
    test_bcsr_free((test_bcsr *)&meshes[k]);
  }
}

/* Two copies of a matrix that are not coupled. */
static test_bcsr two_of(const test_bcsr *a) {
  const int32_t n = a->block_rows, blocks = a->row_ptr[n];
  const size_t values = (size_t)blocks * (size_t)(a->block_size * a->block_size);
  test_bcsr two = {.block_rows = 2 * n, .block_cols = 2 * n, .block_size = a->block_size};
  two.row_ptr = malloc((size_t)(2 * n + 1) * sizeof *two.row_ptr);
  two.col_idx = malloc(2 * (size_t)blocks * sizeof *two.col_idx);
  two.values = malloc(2 * values * sizeof *two.values);
  assert_true(two.row_ptr && two.col_idx && two.values);
  for (int32_t i = 0; i <= 2 * n; i++)
    two.row_ptr[i] = i <= n ? a->row_ptr[i] : blocks + a->row_ptr[i - n];
  for (int32_t p = 0; p < 2 * blocks; p++)
    two.col_idx[p] = p < blocks ? a->col_idx[p] : n + a->col_idx[p - blocks];
  for (size_t k = 0; k < 2 * values; k++) two.values[k] = a->values[k % values];
  return two;
}

/* Each component is estimated by itself. */
static void estimates_of_components_add_up(void **state) {
  (void)state;
  test_bcsr grid = test_bcsr_grid(20, 20, 2, 5);
  test_bcsr twice = two_of(&grid);
  bisai_bcsr *one = test_bcsr_make(context, &grid), *two = test_bcsr_make(context, &twice);
  double flops = 0, sum = 0;
  EXPECT_OK(context, bsi_lu_estimate(context, one, &flops));
  EXPECT_OK(context, bsi_lu_estimate(context, two, &sum));
  EXPECT_NEAR(2 * flops, sum, 1e-9 * sum);
  bisai_bcsr_destroy(&one);
  bisai_bcsr_destroy(&two);
  test_bcsr_free(&grid);
  test_bcsr_free(&twice);
}

static void an_empty_matrix_has_an_empty_prediction(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(0, 2, 4.0, -1.0));
  int32_t permutation[1];
  bsi_lu_prediction p;
  EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_NATURAL, permutation, &p));
  assert_int_equal(p.blocks, 0);
  assert_int_equal(p.values, 0);
  assert_int_equal(p.levels, 0);
  double flops = 1;
  EXPECT_OK(context, bsi_lu_estimate(context, matrix, &flops));
  EXPECT_NEAR(0, flops, 0);
  bisai_bcsr_destroy(&matrix);
}

/* The counts are 64-bit numbers: a dense matrix of 70000 rows has 4.9·10⁹ blocks. */
static void counts_have_64_bits(void **state) {
  (void)state;
  enum { N = 70000 };
  int32_t *numbers = malloc(4 * N * sizeof *numbers);
  assert_non_null(numbers);
  bsi_lu_tree tree = {N, numbers, numbers + N, numbers + 2 * N, numbers + 3 * N};
  for (int32_t j = 0; j < N; j++) {
    tree.order[j] = tree.place[j] = j;
    tree.parent[j] = j + 1 < N ? j + 1 : -1;
    tree.count[j] = N - j;
  }
  bsi_supernodes nodes;
  bsi_lu_prediction p;
  EXPECT_OK(context, bsi_supernodes_create(context, &tree, 1, &nodes));
  EXPECT_OK(context, bsi_lu_sum_up(context, &tree, &nodes, 1, &p));
  assert_int_equal(p.blocks, (int64_t)N * N);
  assert_int_equal(p.values, (int64_t)N * N);
  assert_int_equal(p.levels, p.supernodes);
  bsi_supernodes_destroy(context, &nodes);
  free(numbers);
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 5, 2, 3);
  int32_t permutation[30];
  for (long long fail = 1;; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    bisai_bcsr *matrix = test_bcsr_make(own, &a);
    const long long before = allocator.live_blocks;
    allocator.calls = 0;
    allocator.fail_at = fail;
    bsi_lu_prediction p;
    double flops;
    bisai_status status = bsi_lu_predict(own, matrix, BISAI_ORDERING_MD, permutation, &p);
    if (!status) status = bsi_lu_estimate(own, matrix, &flops);
    const bool failed = fail <= allocator.calls;
    assert_int_equal(allocator.live_blocks, before);
    EXPECT_STATUS(own, failed ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    if (!failed) break;
    assert_true(fail < 100);
  }
  test_bcsr_free(&a);
}

static int open_context(void **state) {
  (void)state;
  context = test_context(0);
  return 0;
}

static int close_context(void **state) {
  (void)state;
  bisai_context_destroy(&context);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predicted_blocks_and_work_are_those_of_elimination),
      cmocka_unit_test(grids_are_predicted_as_elimination_does),
      cmocka_unit_test(a_tridiagonal_matrix_has_no_fill),
      cmocka_unit_test(minimum_degree_leaves_trees_without_fill),
      cmocka_unit_test(minimum_degree_fills_as_little_as_exact_degrees),
      cmocka_unit_test(estimates_of_meshes_are_within_a_factor_of_four),
      cmocka_unit_test(estimates_of_components_add_up),
      cmocka_unit_test(an_empty_matrix_has_an_empty_prediction),
      cmocka_unit_test(counts_have_64_bits),
      cmocka_unit_test(failing_allocations_leave_nothing)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
