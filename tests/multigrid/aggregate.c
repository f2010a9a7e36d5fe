/* SPDX-License-Identifier: BSD-3-Clause */
/* Aggregates against a sequential form of the rule. */
#include "fixture.h"

#include "graph.h"

/* --- the rule, one row after the other --- */

typedef struct sequential {
  const test_bcsr *a;
  const float *strength;
  /* the root of the aggregate of each row; −1: none */
  int32_t *root;
} sequential;

static bool has_edge(const sequential *s, int32_t i) {
  for (int32_t p = s->a->row_ptr[i]; p < s->a->row_ptr[i + 1]; p++)
    if (s->strength[p] > 0.0f) return true;
  return false;
}

/* Lists the rows of `inside` within two steps of row i, not i itself; some of them twice. */
static int32_t within_two(const sequential *s, const bool *inside, int32_t i, int32_t *list) {
  const test_bcsr *a = s->a;
  int32_t count = 0;
  for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
    const int32_t j = a->col_idx[p];
    if (s->strength[p] <= 0.0f || !inside[j]) continue;
    if (j != i) list[count++] = j;
    for (int32_t q = a->row_ptr[j]; q < a->row_ptr[j + 1]; q++)
      if (s->strength[q] > 0.0f && inside[a->col_idx[q]] && a->col_idx[q] != i)
        list[count++] = a->col_idx[q];
  }
  return count;
}

/* is_root ← roots of the rows `inside`. */
static void find_roots(const sequential *s, const bool *inside, bool *is_root) {
  const int32_t n = s->a->block_rows;
  enum { OUT, UNDECIDED, ROOT };
  char *before = malloc((size_t)n + 1), *after = malloc((size_t)n + 1);
  int32_t *list = malloc(((size_t)test_bcsr_blocks(s->a) * (size_t)n + 1) * sizeof *list), left = 0;
  for (int32_t i = 0; i < n; i++) {
    after[i] = inside[i] ? UNDECIDED : OUT;
    left += after[i] == UNDECIDED;
  }
  while (left > 0) {
    memcpy(before, after, (size_t)n);
    left = 0;
    for (int32_t i = 0; i < n; i++) {
      if (before[i] != UNDECIDED) continue;
      const int32_t count = within_two(s, inside, i, list);
      bool largest = true, covered = false;
      for (int32_t k = 0; k < count; k++) {
        covered = covered || before[list[k]] == ROOT;
        largest = largest && (before[list[k]] != UNDECIDED ||
                              bsi_aggregation_key(list[k]) < bsi_aggregation_key(i));
      }
      after[i] = covered ? OUT : largest ? ROOT : UNDECIDED;
      left += after[i] == UNDECIDED;
    }
  }
  for (int32_t i = 0; i < n; i++) is_root[i] = after[i] == ROOT;
  free(before);
  free(after);
  free(list);
}

/* Returns the strongest coupled neighbour of row i among the rows of `among`, or −1. */
static int32_t strongest(const sequential *s, const bool *among, int32_t i) {
  int32_t best = -1;
  float best_strength = 0.0f;
  for (int32_t p = s->a->row_ptr[i]; p < s->a->row_ptr[i + 1]; p++) {
    const int32_t j = s->a->col_idx[p];
    if (s->strength[p] <= 0.0f || !among[j]) continue;
    if (s->strength[p] > best_strength ||
        (s->strength[p] == best_strength && bsi_aggregation_key(j) > bsi_aggregation_key(best))) {
      best = j;
      best_strength = s->strength[p];
    }
  }
  return best;
}

/* Steps 1 and 2. */
static void form(sequential *s, bool *is_root) {
  const int32_t n = s->a->block_rows;
  bool *inside = calloc((size_t)n + 1, sizeof *inside);
  for (int32_t i = 0; i < n; i++) inside[i] = s->root[i] < 0 && has_edge(s, i);
  find_roots(s, inside, is_root);
  for (int32_t i = 0; i < n; i++)
    if (inside[i]) s->root[i] = is_root[i] ? i : strongest(s, is_root, i);
  free(inside);
}

/* Returns the row that row i follows, or −1. */
static int32_t followed(const sequential *s, int32_t i) {
  int32_t best = -1;
  float best_strength = 0.0f;
  for (int32_t p = s->a->row_ptr[i]; p < s->a->row_ptr[i + 1]; p++) {
    const int32_t j = s->a->col_idx[p];
    if (s->strength[p] < best_strength || (s->strength[p] == best_strength && best >= 0 &&
                                           bsi_aggregation_key(j) > bsi_aggregation_key(best))) {
      best = j;
      best_strength = s->strength[p];
    }
  }
  return has_edge(s, i) ? -1 : best;
}

/* Returns the number of aggregates. is_root: the roots of step 1. */
static int32_t expected_aggregates(const test_bcsr *a, const float *strength, int32_t *expected,
                                   bool *is_root) {
  const int32_t n = a->block_rows;
  sequential s = {a, strength, malloc(((size_t)n + 1) * sizeof *s.root)};
  int32_t *number = malloc(((size_t)n + 1) * sizeof *number), count = 0;
  bool *joined = malloc((size_t)n + 1);
  for (int32_t i = 0; i < n; i++) s.root[i] = -1;
  form(&s, is_root);
  for (int32_t i = 0; i < n; i++) {
    joined[i] = s.root[i] >= 0;
    if (s.root[i] == i) number[i] = count++;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t at = i;
    while (followed(&s, at) >= 0) at = followed(&s, at);
    int32_t root = s.root[at];
    if (root < 0 && has_edge(&s, at)) {
      const int32_t j = strongest(&s, joined, at);
      assert_true(j >= 0);
      root = s.root[j];
    }
    expected[i] = root < 0 ? -1 : number[root];
  }
  free(s.root);
  free(number);
  free(joined);
  return count;
}

/* In a symmetric graph the roots are those of the greedy rule, and so independent and maximal. */
static void expect_greedy_roots(const test_bcsr *a, const float *strength, const bool *is_root) {
  const int32_t n = a->block_rows;
  const sequential s = {a, strength, NULL};
  int32_t *list = malloc(((size_t)test_bcsr_blocks(a) * (size_t)n + 1) * sizeof *list);
  bool *inside = calloc((size_t)n + 1, sizeof *inside);
  for (int32_t i = 0; i < n; i++) inside[i] = has_edge(&s, i);
  for (int32_t i = 0; i < n; i++) {
    bool larger_root = false;
    const int32_t count = within_two(&s, inside, i, list);
    for (int32_t k = 0; k < count; k++) {
      assert_false(is_root[i] && is_root[list[k]]);
      larger_root = larger_root ||
                    (is_root[list[k]] && bsi_aggregation_key(list[k]) > bsi_aggregation_key(i));
    }
    if (inside[i]) assert_int_equal(is_root[i], !larger_root);
  }
  free(list);
  free(inside);
}

static void expect_aggregates(const graph *g, const test_bcsr *a, bool symmetric) {
  const int32_t n = a->block_rows;
  int32_t *expected = malloc(((size_t)n + 1) * sizeof *expected);
  bool *is_root = malloc((size_t)n + 1), *used = calloc((size_t)n + 1, sizeof *used);
  const sequential s = {a, g->strength, NULL};
  assert_int_equal(g->count, expected_aggregates(a, g->strength, expected, is_root));
  assert_memory_equal(g->aggregate, expected, (size_t)n * sizeof *expected);
  if (symmetric) expect_greedy_roots(a, g->strength, is_root);
  for (int32_t i = 0; i < n; i++) {
    if (has_edge(&s, i)) assert_true(g->aggregate[i] >= 0);
    if (g->aggregate[i] >= 0) used[g->aggregate[i]] = true;
  }
  for (int32_t k = 0; k < g->count; k++) assert_true(used[k]);
  free(expected);
  free(is_root);
  free(used);
}

/* --- graphs --- */

/* A scalar matrix whose row i has the listed columns; values do not matter. */
static test_bcsr listed(int32_t n, const int32_t *row_ptr, const int32_t *col_idx) {
  test_bcsr a = {n, n, 1, malloc(((size_t)n + 1) * sizeof *a.row_ptr), NULL, NULL};
  const size_t blocks = (size_t)row_ptr[n];
  memcpy(a.row_ptr, row_ptr, ((size_t)n + 1) * sizeof *row_ptr);
  a.col_idx = malloc((blocks + 1) * sizeof *a.col_idx);
  a.values = malloc((blocks + 1) * sizeof *a.values);
  memcpy(a.col_idx, col_idx, blocks * sizeof *col_idx);
  for (size_t p = 0; p < blocks; p++) a.values[p] = 1.0;
  return a;
}

/* Row 0 is next to all others, and they to row 0. */
static test_bcsr star(int32_t n) {
  int32_t *row_ptr = malloc(((size_t)n + 1) * sizeof *row_ptr),
          *col_idx = malloc(2 * (size_t)n * sizeof *col_idx), count = 0;
  row_ptr[0] = 0;
  for (int32_t j = 1; j < n; j++) col_idx[count++] = j;
  for (int32_t i = 1; i < n; i++) {
    row_ptr[i] = count;
    col_idx[count++] = 0;
  }
  row_ptr[n] = count;
  test_bcsr a = listed(n, row_ptr, col_idx);
  free(row_ptr);
  free(col_idx);
  return a;
}

/* Takes the matrix with the strength 1 at all blocks that are not on the diagonal. */
static graph take_equal(bisai_context *c, const test_bcsr *a) {
  graph g = graph_of(c, a);
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      g.strength[p] = a->col_idx[p] == i ? 0.0f : 1.0f;
  aggregate(&g);
  return g;
}

/* Strengths 0, ½, 1 or 1½ at random, so that many of them are equal; symmetric ones on request.
 * Some rows have negative ones instead, towards later rows: no chain of followers comes back. */
static void random_strengths(graph *g, const test_bcsr *a, bool symmetric, uint64_t seed) {
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t j = a->col_idx[p], low = i < j ? i : j, high = i < j ? j : i;
      test_random random = test_random_seed(seed + 7919u * (uint64_t)(symmetric ? low : i) +
                                            104729u * (uint64_t)(symmetric ? high : j));
      for (int k = 0; k < 4; k++) test_random_integer(&random, 0, 3);
      g->strength[p] = i == j ? 0.0f : 0.5f * (float)test_random_integer(&random, 0, 3);
      if (i % 5 == 3 || (symmetric && j % 5 == 3))
        g->strength[p] = i % 5 == 3 && j > i ? -g->strength[p] : 0.0f;
    }
}

/* --- tests --- */

static void small_graphs_are_aggregated_by_hand(void **state) {
  (void)state;
  static const struct {
    int32_t n, row_ptr[5], col_idx[8], count, aggregate[4];
  } cases[] = {/* no row, one row, one row without a block */
               {0, {0}, {0}, 0, {0}},
               {1, {0, 1}, {0}, 0, {-1}},
               {1, {0, 0}, {0}, 0, {-1}},
               /* two rows that are coupled; one row on its own and an empty one */
               {2, {0, 2, 4}, {0, 1, 0, 1}, 1, {0, 0}},
               {4, {0, 1, 2, 3, 3}, {2, 1, 0}, 1, {0, -1, 0, -1}},
               /* chain, triangle, two pairs */
               {3, {0, 1, 3, 4}, {1, 0, 2, 1}, 1, {0, 0, 0}},
               {3, {0, 2, 4, 6}, {1, 2, 0, 2, 0, 1}, 1, {0, 0, 0}},
               {4, {0, 1, 2, 3, 4}, {2, 3, 0, 1}, 2, {0, 1, 0, 1}},
               /* row 0 depends on rows 1 and 2, which depend on nothing: it is alone */
               {3, {0, 2, 2, 2}, {1, 2}, 1, {0, -1, -1}},
               /* a directed triangle is within two steps of each row */
               {3, {0, 1, 2, 3}, {1, 2, 0}, 1, {0, 0, 0}}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    test_bcsr a = listed(cases[k].n, cases[k].row_ptr, cases[k].col_idx);
    graph g = take_equal(context, &a);
    assert_int_equal(g.count, cases[k].count);
    assert_memory_equal(g.aggregate, cases[k].aggregate, (size_t)cases[k].n * sizeof *g.aggregate);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

/* Rows 0 to 2 are a chain of followers that ends at a pair, and row 5 follows a row that stays
 * out. */
static void followers_get_the_aggregate_at_the_end_of_their_chain(void **state) {
  (void)state;
  static const int32_t row_ptr[] = {0, 1, 2, 4, 5, 6, 7, 7}, col_idx[] = {1, 2, 3, 4, 4, 3, 6},
                       expected[] = {0, 0, 0, 0, 0, -1, -1};
  static const float strength[] = {-1.0f, -2.0f, -2.0f, -3.0f, 5.0f, 5.0f, -1.0f};
  test_bcsr a = listed(7, row_ptr, col_idx);
  graph g = graph_of(context, &a);
  memcpy(g.strength, strength, sizeof strength);
  aggregate(&g);
  assert_int_equal(g.count, 1);
  assert_memory_equal(g.aggregate, expected, sizeof expected);
  graph_free(&g);
  test_bcsr_free(&a);
}

static void a_star_is_one_aggregate(void **state) {
  (void)state;
  test_bcsr a = star(3000);
  graph g = take_equal(context, &a);
  assert_int_equal(g.count, 1);
  for (int32_t i = 0; i < 3000; i++) assert_int_equal(g.aggregate[i], 0);
  graph_free(&g);
  test_bcsr_free(&a);
}

static void aggregates_are_those_of_the_sequential_rule(void **state) {
  (void)state;
  static const double lengths[] = {0.7, 2.0, 6.0, 40.0};
  for (int32_t n = 0; n <= 161; n += 23)
    for (int k = 0; k < 4; k++)
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        test_shape shape = test_shape_square(n, 1, (uint64_t)(n + k));
        shape.blocks_per_row = lengths[k];
        shape.empty_every = 11;
        test_bcsr random = test_bcsr_random(shape),
                  a = symmetric ? test_bcsr_symmetrised(&random) : test_bcsr_random(shape);
        graph g = graph_of(context, &a);
        random_strengths(&g, &a, symmetric, (uint64_t)k);
        aggregate(&g);
        expect_aggregates(&g, &a, symmetric);
        graph_free(&g);
        test_bcsr_free(&random);
        test_bcsr_free(&a);
      }
}

static void meshes_and_chains_are_aggregated_by_the_rule(void **state) {
  (void)state;
  static const int32_t sides[][2] = {{1, 1}, {2, 1}, {5, 1}, {100, 1}, {7, 9}, {20, 21}};
  for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++) {
    test_bcsr a = diffusion(sides[k][0], sides[k][1], 2, 1.0, false);
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.25);
    aggregate(&g);
    expect_aggregates(&g, &a, true);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  test_shape shape = test_shape_square(20011, 2, 3);
  shape.empty_every = 1000;
  test_bcsr cases[] = {diffusion(150, 160, 1, 0.7, true), test_bcsr_random(shape)};
  for (int k = 0; k < 2; k++) {
    graph first = {0};
    for (int threads = 1; threads <= 5; threads++) {
      bisai_context *c = test_context(threads);
      graph g = graph_of(c, &cases[k]);
      weigh(&g, &cases[k], 0.1);
      if (k == 1) random_strengths(&g, &cases[k], false, 9);
      aggregate(&g);
      if (threads == 1) {
        first = g;
        continue;
      }
      assert_int_equal(g.count, first.count);
      assert_memory_equal(g.strength, first.strength,
                          (size_t)g.matrix->blocks * sizeof *g.strength);
      assert_memory_equal(g.aggregate, first.aggregate,
                          (size_t)g.matrix->block_rows * sizeof *g.aggregate);
      graph_free(&g);
      bisai_context_destroy(&c);
    }
    bisai_context *c = first.context;
    graph_free(&first);
    bisai_context_destroy(&c);
    test_bcsr_free(&cases[k]);
  }
}

static void aggregates_of_a_mesh_have_five_to_nine_rows_on_average(void **state) {
  (void)state;
  test_bcsr a = diffusion(100, 100, 1, 1.0, false);
  graph g = graph_of(context, &a);
  weigh(&g, &a, 0.25);
  aggregate(&g);
  assert_in_range(g.count, 10000 / 9, 10000 / 5);
  graph_free(&g);
  test_bcsr_free(&a);
}

static void anisotropic_systems_are_aggregated_along_the_strong_direction(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 2; bs++) {
    test_bcsr a = diffusion(31, 17, bs, 0.01, false);
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.25);
    aggregate(&g);
    int32_t *line = malloc((size_t)g.count * sizeof *line);
    for (int32_t k = 0; k < g.count; k++) line[k] = -1;
    for (int32_t i = 0; i < a.block_rows; i++) {
      int32_t *of = line + g.aggregate[i];
      assert_true(g.aggregate[i] >= 0);
      if (*of < 0) *of = i / 31;
      assert_int_equal(*of, i / 31);
    }
    free(line);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

static void rows_of_dirichlet_conditions_stay_out(void **state) {
  (void)state;
  for (int penalty = 0; penalty < 2; penalty++) {
    test_bcsr a = diffusion(20, 15, 3, 1.0, !penalty);
    for (int32_t i = 0; i < 20 && penalty; i++)
      for (int k = 0; k < 9; k += 4) test_bcsr_block(&a, i, i)[k] = 1e30;
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.0);
    aggregate(&g);
    for (int32_t i = 0; i < a.block_rows; i++) assert_int_equal(g.aggregate[i] >= 0, i >= 20);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

/* The other rows are pairs, and all of them depend on row 0. */
static void a_fixed_row_with_many_neighbours_stays_out(void **state) {
  (void)state;
  for (int penalty = 0; penalty < 2; penalty++) {
    int32_t row_ptr[62], col_idx[61 + 3 * 60], count = 0;
    for (int32_t i = 0; i < 61; i++) {
      const int32_t pair = i % 2 == 1 ? i + 1 : i - 1;
      row_ptr[i] = count;
      for (int32_t j = 0; j < 61; j++)
        if (i == 0 || j == 0 || j == i || j == pair) col_idx[count++] = j;
    }
    row_ptr[61] = count;
    test_bcsr a = listed(61, row_ptr, col_idx);
    for (int32_t p = 0; p < count; p++) a.values[p] = p > 60 ? -0.5 : penalty ? -0.5 : 0.0;
    for (int32_t i = 0; i < 61; i++)
      *test_bcsr_block(&a, i, i) = i > 0 ? 1.0 : penalty ? 1e30 : 1.0;
    graph g = graph_of(context, &a);
    weigh(&g, &a, 0.0);
    aggregate(&g);
    assert_int_equal(g.count, 30);
    for (int32_t i = 0; i < 61; i++) assert_int_equal(g.aggregate[i], i > 0 ? (i - 1) / 2 : -1);
    graph_free(&g);
    test_bcsr_free(&a);
  }
}

static void failing_allocations_are_reported_and_leak_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *c = test_context_on(&allocator, 1);
  test_bcsr a = diffusion(9, 8, 2, 1.0, false);
  graph g = graph_of(c, &a);
  double *inverse = inverses_of(c, &a);
  const bsi_aggregation_ops *ops = c->backend->multigrid->aggregation;
  const long long live = atomic_load(&allocator.live_blocks);
  for (int call = 0; call < 2; call++) {
    bisai_status status = BISAI_OUT_OF_MEMORY;
    long long failed = 0;
    for (; status == BISAI_OUT_OF_MEMORY; failed++) {
      allocator.fail_at = atomic_load(&allocator.calls) + failed + 1;
      status = call == 0 ? ops->weigh(c, g.matrix, inverse, &test_rule(0.25f), g.strength)
                         : ops->aggregate(c, g.matrix, g.strength, g.aggregate, NULL, &g.count,
                                          &g.members);
      test_synchronize();
      assert_int_equal(atomic_load(&allocator.live_blocks), live);
    }
    assert_int_equal(status, BISAI_OK);
    assert_true(failed > 1);
  }
  allocator.fail_at = 0;
  expect_aggregates(&g, &a, true);
  c->backend->memory->release(c, inverse);
  graph_free(&g);
  test_bcsr_free(&a);
  bisai_context_destroy(&c);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_graphs_are_aggregated_by_hand),
      cmocka_unit_test(followers_get_the_aggregate_at_the_end_of_their_chain),
      cmocka_unit_test(a_star_is_one_aggregate),
      cmocka_unit_test(aggregates_are_those_of_the_sequential_rule),
      cmocka_unit_test(meshes_and_chains_are_aggregated_by_the_rule),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(aggregates_of_a_mesh_have_five_to_nine_rows_on_average),
      cmocka_unit_test(anisotropic_systems_are_aggregated_along_the_strong_direction),
      cmocka_unit_test(rows_of_dirichlet_conditions_stay_out),
      cmocka_unit_test(a_fixed_row_with_many_neighbours_stays_out),
      cmocka_unit_test(failing_allocations_are_reported_and_leak_nothing),
  };
  return cmocka_run_group_tests_name("multigrid_aggregate", tests, setup, teardown);
}
