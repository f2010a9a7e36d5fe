/* SPDX-License-Identifier: BSD-3-Clause */
/* Orderings by themselves: permutations of every graph, and what each is for, against brute force
 * on dense arrays. */
#include <pthread.h>

#include "fixture.h"

static const bisai_ordering computed[] = {BISAI_ORDERING_NATURAL, BISAI_ORDERING_RCM,
                                          BISAI_ORDERING_ND, BISAI_ORDERING_COLOUR,
                                          BISAI_ORDERING_MD};
enum { ORDERINGS = sizeof computed / sizeof *computed };

/* Whether the build can compute it; nested dissection needs METIS, and says so. */
static bool available(bisai_ordering ordering) {
  if (ordering != BISAI_ORDERING_ND) return true;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_tridiagonal(1, 1, 1, 0));
  int32_t one = -7;
  const bisai_status status = bisai_order_compute(context, matrix, ordering, &one);
  if (status) {
    EXPECT_STATUS(context, BISAI_UNAVAILABLE, status);
    EXPECT_MESSAGE(context, "nested dissection needs METIS, which this build does not have");
    assert_int_equal(one, -7);
  }
  bisai_bcsr_destroy(&matrix);
  return !status;
}

static int32_t *order(const bisai_bcsr *matrix, bisai_ordering ordering) {
  int32_t *permutation = malloc(((size_t)bisai_bcsr_block_rows(matrix) + 1) * sizeof *permutation);
  assert_non_null(permutation);
  EXPECT_OK(context, bisai_order_compute(context, matrix, ordering, permutation));
  return permutation;
}

/* n × n booleans: the graph of A + Aᵀ in the order of `permutation`. */
static bool *dense_graph(const bisai_bcsr *matrix, const int32_t *permutation) {
  const int32_t n = bisai_bcsr_block_rows(matrix), *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  bool *graph = calloc((size_t)n * (size_t)n + 1, sizeof *graph);
  int32_t *place = calloc((size_t)n + 1, sizeof *place);
  assert_non_null(graph);
  assert_non_null(place);
  for (int32_t i = 0; i < n; i++) place[permutation[i]] = i;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      const int32_t a = place[i], b = place[col_idx[p]];
      graph[a * n + b] = graph[b * n + a] = true;
    }
  }
  free(place);
  return graph;
}

static int32_t bandwidth_of(const bisai_bcsr *matrix, const int32_t *permutation) {
  const int32_t n = bisai_bcsr_block_rows(matrix);
  bool *graph = dense_graph(matrix, permutation);
  int32_t most = 0;
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < i; j++)
      if (graph[i * n + j] && i - j > most) most = i - j;
  }
  free(graph);
  return most;
}

/* Entries of the lower triangle after complete elimination. */
static int64_t fill_of(const bisai_bcsr *matrix, const int32_t *permutation) {
  const int32_t n = bisai_bcsr_block_rows(matrix);
  bool *graph = dense_graph(matrix, permutation);
  int64_t count = 0;
  for (int32_t k = 0; k < n; k++) {
    for (int32_t i = k + 1; i < n; i++) {
      if (!graph[i * n + k]) continue;
      count++;
      for (int32_t j = k + 1; j < n; j++) graph[i * n + j] |= graph[k * n + j];
    }
  }
  free(graph);
  return count;
}

static bisai_bcsr *shuffled_grid(int32_t x, int32_t y, uint64_t seed) {
  test_bcsr grid = test_bcsr_grid(x, y, 1, seed);
  int32_t *shuffle = test_random_permutation(x * y, seed);
  test_bcsr shuffled = test_bcsr_permuted(&grid, shuffle);
  free(shuffle);
  test_bcsr_free(&grid);
  return test_bcsr_take(context, shuffled);
}

static void expect_permutations(const bisai_bcsr *matrix) {
  const int32_t n = bisai_bcsr_block_rows(matrix);
  for (int k = 0; k < ORDERINGS; k++) {
    if (!available(computed[k])) continue;
    int32_t *first = order(matrix, computed[k]), *again = order(matrix, computed[k]);
    EXPECT_OK(context, bisai_order_check(context, n, first));
    assert_memory_equal(first, again, (size_t)n * sizeof *first);
    free(first);
    free(again);
  }
}

static void every_ordering_is_a_permutation(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    /* few blocks a row: many components, rows alone, unsymmetric patterns; on some, rows without a
     * diagonal block too */
    const double blocks = seed % 3 == 0 ? 0.3 : seed % 3 == 1 ? 1.0 : 4.0;
    test_shape shape =
        test_shape_square((int32_t)(seed * seed % 197), (int32_t)(seed % 4 + 1), seed);
    shape.blocks_per_row = blocks;
    shape.empty_every = 5;
    shape.diagonal = seed % 2 ? TEST_DIAGONAL_DOMINANT : TEST_DIAGONAL_NONE;
    shape.part = seed % 5 == 4 ? TEST_LOWER : TEST_FULL;
    bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(shape));
    expect_permutations(matrix);
    bisai_bcsr_destroy(&matrix);
  }
}

static void no_rows_and_one_row_are_ordered(void **state) {
  (void)state;
  for (int32_t n = 0; n <= 2; n++) {
    for (int diagonal = 0; diagonal <= 2; diagonal++) {
      test_shape shape = test_shape_square(n, 2, 1);
      shape.diagonal = (test_diagonal)diagonal;
      bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(shape));
      expect_permutations(matrix);
      bisai_bcsr_destroy(&matrix);
    }
  }
}

static void natural_is_the_identity(void **state) {
  (void)state;
  bisai_bcsr *matrix = shuffled_grid(4, 3, 1);
  int32_t *permutation = order(matrix, BISAI_ORDERING_NATURAL);
  for (int32_t i = 0; i < 12; i++) assert_int_equal(permutation[i], i);
  free(permutation);
  bisai_bcsr_destroy(&matrix);
}

/* A path 3 – 0 – 4 – 1 – 2: from an end, and back. */
static void rcm_walks_a_path_from_end_to_end(void **state) {
  (void)state;
  const int32_t path[] = {3, 0, 4, 1, 2};
  int32_t place[5];
  for (int32_t i = 0; i < 5; i++) place[path[i]] = i;
  test_bcsr line = test_bcsr_grid(5, 1, 2, 1), mixed = test_bcsr_permuted(&line, place);
  bisai_bcsr *matrix = test_bcsr_take(context, mixed);
  int32_t *permutation = order(matrix, BISAI_ORDERING_RCM);
  const bool forward = permutation[0] == path[0];
  for (int32_t i = 0; i < 5; i++) assert_int_equal(permutation[i], forward ? path[i] : path[4 - i]);
  free(permutation);
  test_bcsr_free(&line);
  bisai_bcsr_destroy(&matrix);
}

static void rcm_finds_the_band_of_a_shuffled_grid(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 5; seed++) {
    bisai_bcsr *matrix = shuffled_grid(40, 10, seed);
    int32_t *natural = order(matrix, BISAI_ORDERING_NATURAL),
            *rcm = order(matrix, BISAI_ORDERING_RCM);
    assert_true(bandwidth_of(matrix, natural) > 300);
    assert_in_range(bandwidth_of(matrix, rcm), 10, 12); /* 10: the grid by its short side */
    free(natural);
    free(rcm);
    bisai_bcsr_destroy(&matrix);
  }
}

/* Two grids side by side: each has a band of its own. */
static void rcm_keeps_components_apart(void **state) {
  (void)state;
  test_bcsr one = test_bcsr_grid(20, 5, 1, 1), both = {200, 200, 1, NULL, NULL, NULL};
  const int32_t blocks = test_bcsr_blocks(&one);
  both.row_ptr = calloc(201, sizeof *both.row_ptr);
  both.col_idx = calloc(2 * (size_t)blocks, sizeof *both.col_idx);
  both.values = calloc(2 * (size_t)blocks, sizeof *both.values);
  for (int32_t i = 0; i < 200; i++) { /* even rows belong to one grid, odd rows to the other */
    const int32_t from = one.row_ptr[i / 2], length = one.row_ptr[i / 2 + 1] - from;
    both.row_ptr[i + 1] = both.row_ptr[i] + length;
    for (int32_t p = 0; p < length; p++)
      both.col_idx[both.row_ptr[i] + p] = 2 * one.col_idx[from + p] + i % 2;
  }
  bisai_bcsr *matrix = test_bcsr_take(context, both);
  int32_t *permutation = order(matrix, BISAI_ORDERING_RCM);
  assert_in_range(bandwidth_of(matrix, permutation), 5, 7);
  for (int32_t i = 1; i < 200; i++)
    assert_int_equal(permutation[i] % 2, permutation[i / 100 * 100] % 2);
  free(permutation);
  test_bcsr_free(&one);
  bisai_bcsr_destroy(&matrix);
}

/* Reading the permutation the wrong way round would give the fill of a shuffled matrix. */
static void nested_dissection_saves_fill(void **state) {
  (void)state;
  if (!available(BISAI_ORDERING_ND)) skip();
  bisai_bcsr *matrix = shuffled_grid(24, 24, 3),
             *grid = test_bcsr_take(context, test_bcsr_grid(24, 24, 1, 1));
  int32_t *natural = order(grid, BISAI_ORDERING_NATURAL), *nd = order(matrix, BISAI_ORDERING_ND);
  assert_true(10 * fill_of(matrix, nd) < 6 * fill_of(grid, natural));
  free(natural);
  free(nd);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&grid);
}

typedef struct dissector {
  bisai_context *context;
  bisai_bcsr *matrix;
  const int32_t *expected;
  int failures, differences;
} dissector;

static void *dissect_again_and_again(void *arguments) {
  dissector *d = arguments;
  const size_t n = (size_t)bisai_bcsr_block_rows(d->matrix);
  int32_t *permutation = malloc(n * sizeof *permutation);
  for (int i = 0; i < 20 && permutation; i++) {
    d->failures +=
        bisai_order_compute(d->context, d->matrix, BISAI_ORDERING_ND, permutation) != BISAI_OK;
    d->differences += memcmp(permutation, d->expected, n * sizeof *permutation) != 0;
  }
  d->failures += !permutation;
  free(permutation);
  return NULL;
}

/* METIS draws from rand(), which a process has once. */
static void nested_dissections_of_two_threads_do_not_disturb_each_other(void **state) {
  (void)state;
  if (!available(BISAI_ORDERING_ND)) skip();
  test_bcsr a = test_bcsr_grid(60, 60, 1, 3);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  int32_t *expected = order(matrix, BISAI_ORDERING_ND);
  dissector dissectors[2];
  pthread_t threads[2];
  for (int t = 0; t < 2; t++) {
    bisai_context *own = test_context(1);
    dissectors[t] = (dissector){own, test_bcsr_make(own, &a), expected, 0, 0};
  }
  for (int t = 0; t < 2; t++)
    assert_int_equal(pthread_create(&threads[t], NULL, dissect_again_and_again, &dissectors[t]), 0);
  for (int t = 0; t < 2; t++) {
    assert_int_equal(pthread_join(threads[t], NULL), 0);
    assert_int_equal(dissectors[t].failures, 0);
    assert_int_equal(dissectors[t].differences, 0);
    bisai_bcsr_destroy(&dissectors[t].matrix);
    bisai_context_destroy(&dissectors[t].context);
  }
  free(expected);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

/* First fit on the dense graph, rows in the matrix's own order. */
static int32_t first_fit(const bool *graph, int32_t n, int32_t *colour) {
  int32_t colours = 0;
  for (int32_t i = 0; i < n; i++) {
    bool fits = false;
    for (colour[i] = 0; !fits; colour[i] += !fits) {
      fits = true;
      for (int32_t j = 0; j < i; j++) fits &= !(graph[i * n + j] && colour[j] == colour[i]);
    }
    if (colour[i] + 1 > colours) colours = colour[i] + 1;
  }
  return colours;
}

static void expect_levels(const bisai_bcsr *matrix, bisai_ordering ordering, int32_t levels) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_ILU;
  options.factor.ordering = ordering;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  const bisai_precond_report report = test_report_of(context, precond);
  assert_int_equal(report.factor.lower_levels, levels);
  assert_int_equal(report.factor.upper_levels, levels);
  bisai_precond_destroy(&precond);
}

static void colours_are_independent_and_as_many_as_levels(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 12; seed++) {
    test_shape shape = test_shape_square(60, 2, seed);
    shape.blocks_per_row = (double)(seed % 4);
    test_bcsr random = test_bcsr_random(shape), symmetric = test_bcsr_symmetrised(&random);
    bisai_bcsr *matrix = test_bcsr_take(context, symmetric);
    int32_t *natural = order(matrix, BISAI_ORDERING_NATURAL),
            *permutation = order(matrix, BISAI_ORDERING_COLOUR);
    bool *graph = dense_graph(matrix, natural);
    int32_t colour[60];
    const int32_t colours = first_fit(graph, 60, colour);
    for (int32_t i = 1; i < 60; i++) {
      const int32_t before = permutation[i - 1], here = permutation[i];
      assert_true(colour[before] < colour[here] ||
                  (colour[before] == colour[here] && before < here));
    }
    expect_levels(matrix, BISAI_ORDERING_COLOUR, colours);
    free(graph);
    free(natural);
    free(permutation);
    test_bcsr_free(&random);
    bisai_bcsr_destroy(&matrix);
  }
}

static void a_grid_is_red_and_black(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(7, 5, 3, 1));
  expect_levels(matrix, BISAI_ORDERING_NATURAL, 7 + 5 - 1);
  expect_levels(matrix, BISAI_ORDERING_COLOUR, 2);
  int32_t *permutation = order(matrix, BISAI_ORDERING_COLOUR);
  for (int32_t i = 0; i < 35; i++) /* 7 columns: the colour is the parity of the number */
    assert_int_equal(permutation[i], i < 18 ? 2 * i : 2 * (i - 18) + 1);
  free(permutation);
  bisai_bcsr_destroy(&matrix);
}

/* --- bad input --- */

/* Drops the stored block (i, j). */
static void drop_block(test_bcsr *a, int32_t i, int32_t j) {
  const size_t area = (size_t)(a->block_size * a->block_size);
  int32_t q = a->row_ptr[i];
  while (a->col_idx[q] != j) q++;
  const size_t behind = (size_t)(a->row_ptr[a->block_rows] - q - 1);
  memmove(a->col_idx + q, a->col_idx + q + 1, behind * sizeof *a->col_idx);
  memmove(a->values + (size_t)q * area, a->values + ((size_t)q + 1) * area,
          behind * area * sizeof *a->values);
  for (int32_t r = i + 1; r <= a->block_rows; r++) a->row_ptr[r]--;
}

/* Symmetric patterns are graphs already. Others are merged with their transpose. Both are shared
 * out over the threads. */
static void patterns_of_equal_graphs_have_equal_orders_on_any_number_of_threads(void **state) {
  (void)state;
  enum { EDGE = 90, N = EDGE * EDGE };
  test_bcsr whole = test_bcsr_grid(EDGE, EDGE, 1, 1), partly = test_bcsr_grid(EDGE, EDGE, 1, 1);
  drop_block(&partly, N - 1, N - 2); /* found by the last thread only */
  drop_block(&partly, 5, 5);
  for (int k = 0; k < ORDERINGS; k++) {
    if (!available(computed[k])) continue;
    int32_t *expected = NULL;
    for (int threads = 1; threads <= 4; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *a = test_bcsr_make(c, &whole), *b = test_bcsr_make(c, &partly);
      int32_t *got = malloc(N * sizeof *got), *other = malloc(N * sizeof *other);
      EXPECT_OK(c, bisai_order_compute(c, a, computed[k], got));
      EXPECT_OK(c, bisai_order_compute(c, b, computed[k], other));
      if (!expected) expected = memcpy(malloc(N * sizeof *got), got, N * sizeof *got);
      assert_memory_equal(expected, got, N * sizeof *got);
      assert_memory_equal(expected, other, N * sizeof *got);
      free(got), free(other);
      bisai_bcsr_destroy(&a);
      bisai_bcsr_destroy(&b);
      bisai_context_destroy(&c);
    }
    free(expected);
  }
  test_bcsr_free(&whole);
  test_bcsr_free(&partly);
}

static void order_refuses_bad_arguments(void **state) {
  (void)state;
  test_shape shape = test_shape_square(3, 2, 1);
  shape.block_cols = 4;
  bisai_bcsr *wide = test_bcsr_take(context, test_bcsr_random(shape));
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(3, 1, 2, 1));
  int32_t p[3] = {9, 9, 9};
  assert_int_equal(bisai_order_compute(NULL, matrix, BISAI_ORDERING_RCM, p),
                   BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_compute(context, NULL, BISAI_ORDERING_RCM, p));
  EXPECT_MESSAGE(context, "bisai_order_compute: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_compute(context, matrix, BISAI_ORDERING_RCM, NULL));
  EXPECT_MESSAGE(context, "bisai_order_compute: permutation is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_compute(context, wide, BISAI_ORDERING_RCM, p));
  EXPECT_MESSAGE(context, "the matrix is not square: 3 × 4 blocks");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_compute(context, matrix, BISAI_ORDERING_GIVEN, p));
  EXPECT_MESSAGE(context, "a given ordering cannot be computed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_order_compute(context, matrix, (bisai_ordering)6, p));
  EXPECT_MESSAGE(context, "unknown ordering 6");
  assert_int_equal(p[0] + p[1] + p[2], 27);
  bisai_bcsr_destroy(&wide);
  bisai_bcsr_destroy(&matrix);
}

static void check_names_the_first_bad_entry(void **state) {
  (void)state;
  const int32_t good[] = {2, 0, 1}, twice[] = {2, 0, 2}, high[] = {0, 3, 1}, low[] = {0, -1, 1};
  assert_int_equal(bisai_order_check(NULL, 3, good), BISAI_INVALID_ARGUMENT);
  EXPECT_OK(context, bisai_order_check(context, 3, good));
  EXPECT_OK(context, bisai_order_check(context, 0, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_order_check(context, 3, twice));
  EXPECT_MESSAGE(context, "permutation[2] is 2, which occurs twice");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_order_check(context, 3, high));
  EXPECT_MESSAGE(context, "permutation[1] is 3, outside 0 … 2");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_order_check(context, 3, low));
  EXPECT_MESSAGE(context, "permutation[1] is -1, outside 0 … 2");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_order_check(context, 3, NULL));
  EXPECT_MESSAGE(context, "permutation is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_order_check(context, -1, good));
  EXPECT_MESSAGE(context, "negative number of block rows: -1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_ordering_is_a_permutation),
      cmocka_unit_test(no_rows_and_one_row_are_ordered),
      cmocka_unit_test(natural_is_the_identity),
      cmocka_unit_test(rcm_walks_a_path_from_end_to_end),
      cmocka_unit_test(rcm_finds_the_band_of_a_shuffled_grid),
      cmocka_unit_test(rcm_keeps_components_apart),
      cmocka_unit_test(nested_dissection_saves_fill),
      cmocka_unit_test(nested_dissections_of_two_threads_do_not_disturb_each_other),
      cmocka_unit_test(colours_are_independent_and_as_many_as_levels),
      cmocka_unit_test(a_grid_is_red_and_black),
      cmocka_unit_test(patterns_of_equal_graphs_have_equal_orders_on_any_number_of_threads),
      cmocka_unit_test(order_refuses_bad_arguments),
      cmocka_unit_test(check_names_the_first_bad_entry),
  };
  return cmocka_run_group_tests_name("order", tests, setup, teardown);
}
