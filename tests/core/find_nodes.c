/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that are found in scalar matrices: mixed sizes, every numbering, zeros that are not
 * stored. */
#include "fixture.h"

#include "csr.h"

static bisai_bcsr *make(bisai_context *own, const bisai_csr_desc *desc) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(own, bisai_bcsr_from_csr(own, desc, &matrix));
  return matrix;
}

/* Full nodes of `sizes[k]` rows on a line, coupled to their neighbours. place[i]: the row of the
 * result that row i, counted by nodes, becomes. */
static csr line_of_nodes(int32_t nodes, const int32_t *sizes, const int32_t *place, int32_t *node) {
  int32_t rows = 0;
  for (int32_t k = 0; k < nodes; k++)
    for (int32_t c = 0; c < sizes[k]; c++) node[place[rows++]] = k;
  csr a = csr_random(rows, rows, 0, 1);
  int32_t next = 0;
  for (int32_t i = 0; i < rows; i++) {
    for (int32_t j = 0; j < rows; j++)
      if (abs(node[i] - node[j]) <= 1) {
        a.col_idx[next] = j;
        a.values[next++] = i == j ? 4 : 1;
      }
    a.row_ptr[i + 1] = next;
  }
  return a;
}

enum { LINE = 9, LINE_ROWS = 22 };
static const int32_t line_sizes[LINE] = {2, 3, 3, 1, 3, 3, 3, 3, 1};

/* Fails unless the nodes found are those of `expected`, up to their numbers. */
static void expect_nodes(const csr *a, const int32_t *expected, int32_t bs) {
  int32_t node[LINE_ROWS], component[LINE_ROWS], nodes = -1, block_size = -1;
  bisai_csr_desc desc = desc_of(a);
  EXPECT_OK(context, bisai_csr_find_nodes(context, &desc, node, component, &nodes, &block_size));
  assert_int_equal(LINE, nodes);
  assert_int_equal(bs, block_size);
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t j = 0; j < a->rows; j++)
      assert_int_equal(expected[i] == expected[j], node[i] == node[j]);
  desc.node = node, desc.component = component;
  bisai_bcsr *matrix = make(context, &desc);
  assert_int_equal(LINE * bs - a->rows, bisai_bcsr_padding(matrix));
  assert_int_equal(3 * LINE - 2, bisai_bcsr_blocks(matrix));
  bisai_bcsr_destroy(&matrix);
}

static void nodes_of_mixed_sizes_are_found_in_every_numbering(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    int32_t *place = test_random_permutation(LINE_ROWS, seed), expected[LINE_ROWS];
    for (int32_t i = 0; i < LINE_ROWS && seed == 0; i++) place[i] = i;
    csr a = line_of_nodes(LINE, line_sizes, place, expected);
    expect_nodes(&a, expected, 3);
    csr_free(&a);
    free(place);
  }
}

static void rows_of_one_unknown_have_no_nodes(void **state) {
  (void)state;
  int32_t sizes[LINE], place[LINE], expected[LINE], node[LINE], component[LINE], nodes, bs;
  for (int32_t k = 0; k < LINE; k++) sizes[k] = 1, place[k] = k;
  csr a = line_of_nodes(LINE, sizes, place, expected);
  const bisai_csr_desc desc = desc_of(&a);
  EXPECT_OK(context, bisai_csr_find_nodes(context, &desc, node, component, &nodes, &bs));
  assert_int_equal(0, nodes);
  assert_int_equal(1, bs);
  csr_free(&a);
}

static void a_row_of_a_smaller_node_becomes_the_component_that_it_is_coupled_to(void **state) {
  (void)state;
  const int32_t sizes[] = {2, 2, 1};
  int32_t place[] = {0, 1, 2, 3, 4}, expected[5], node[5], component[5], nodes, bs;
  csr a = line_of_nodes(3, sizes, place, expected);
  a.values[a.row_ptr[4] + 1] = -7; /* row 4, column 3: component 1 of node 1 */
  bisai_csr_desc desc = desc_of(&a);
  EXPECT_OK(context, bisai_csr_find_nodes(context, &desc, node, component, &nodes, &bs));
  assert_int_equal(3, nodes);
  assert_memory_equal(component, ((int32_t[]){0, 1, 0, 1, 1}), sizeof component);
  desc.values = NULL;
  EXPECT_OK(context, bisai_csr_find_nodes(context, &desc, node, component, &nodes, &bs));
  assert_memory_equal(component, ((int32_t[]){0, 1, 0, 1, 0}), sizeof component);
  csr_free(&a);
}

static void nodes_are_not_looked_for_without_arguments(void **state) {
  (void)state;
  csr a = csr_random(4, 4, 0.5, 2), oblong = csr_random(4, 5, 0.5, 2);
  bisai_csr_desc desc = desc_of(&a), wide = desc_of(&oblong);
  int32_t node[5], component[5], nodes, bs;
  assert_int_equal(BISAI_INVALID_ARGUMENT,
                   bisai_csr_find_nodes(NULL, &desc, node, component, &nodes, &bs));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_csr_find_nodes(context, NULL, node, component, &nodes, &bs));
  EXPECT_MESSAGE(context, "bisai_csr_find_nodes: desc is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_csr_find_nodes(context, &desc, node, NULL, &nodes, &bs));
  EXPECT_MESSAGE(context, "bisai_csr_find_nodes: component is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_csr_find_nodes(context, &wide, node, component, &nodes, &bs));
  csr_free(&a);
  csr_free(&oblong);
}

/* Removes entry p. */
static void remove_entry(csr *a, int32_t p) {
  const int32_t last = --a->row_ptr[a->rows];
  for (int32_t q = p; q < last; q++) {
    a->col_idx[q] = a->col_idx[q + 1];
    a->values[q] = a->values[q + 1];
  }
  for (int32_t i = a->rows - 1; i >= 0 && a->row_ptr[i] > p; i--) a->row_ptr[i]--;
}

static void a_node_is_found_though_a_zero_is_not_stored(void **state) {
  (void)state;
  int32_t place[LINE_ROWS], expected[LINE_ROWS];
  for (int32_t i = 0; i < LINE_ROWS; i++) place[i] = i;
  csr a = line_of_nodes(LINE, line_sizes, place, expected);
  /* node 4 has rows 9, 10, 11, of which row 10 loses one of its 7 columns */
  remove_entry(&a, a.row_ptr[10]);
  expect_nodes(&a, expected, 3);
  csr_free(&a);
}

static void every_failing_allocation_is_survived(void **state) {
  (void)state;
  int32_t place[LINE_ROWS], node[LINE_ROWS], component[LINE_ROWS], nodes = 7, bs = 8;
  for (int32_t i = 0; i < LINE_ROWS; i++) place[i] = i;
  csr a = line_of_nodes(LINE, line_sizes, place, node);
  const bisai_csr_desc desc = desc_of(&a);
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  const long long live = atomic_load(&allocator.live_blocks);
  for (int k = 1; k <= 3; k++) {
    allocator.fail_at = atomic_load(&allocator.calls) + k;
    EXPECT_STATUS(own, BISAI_OUT_OF_MEMORY,
                  bisai_csr_find_nodes(own, &desc, node, component, &nodes, &bs));
    assert_int_equal(7, nodes);
    assert_int_equal(8, bs);
    assert_int_equal(live, atomic_load(&allocator.live_blocks));
  }
  allocator.fail_at = 0;
  EXPECT_OK(own, bisai_csr_find_nodes(own, &desc, node, component, &nodes, &bs));
  assert_int_equal(live, atomic_load(&allocator.live_blocks));
  bisai_context_destroy(&own);
  csr_free(&a);
}

/* The line of nodes field by field: rows of component 0 first, in the order of the nodes. */
static csr line_by_field(int32_t *node) {
  int32_t place[LINE_ROWS], row = 0, next = 0;
  for (int32_t component = 0; component < 3; component++) {
    row = 0;
    for (int32_t k = 0; k < LINE; k++)
      for (int32_t c = 0; c < line_sizes[k]; c++, row++)
        if (c == component) place[row] = next++;
  }
  return line_of_nodes(LINE, line_sizes, place, node);
}

static void nodes_are_taken_where_they_need_fewer_bytes(void **state) {
  (void)state;
  int32_t node[LINE_ROWS], place[LINE_ROWS];
  csr a = line_by_field(node);
  bisai_csr_desc desc = desc_of(&a);
  desc.find_nodes = desc.pad = true;
  bisai_bcsr *matrix = make(context, &desc);
  assert_int_equal(3, bisai_bcsr_block_size(matrix));
  assert_int_equal(LINE, bisai_bcsr_block_rows(matrix));
  assert_int_equal(3 * LINE - 2, bisai_bcsr_blocks(matrix));
  EXPECT_OK(context, bisai_bcsr_places(matrix, place));
  for (int32_t i = 0; i < LINE_ROWS; i++)
    for (int32_t j = 0; j < LINE_ROWS; j++)
      assert_int_equal(node[i] == node[j], place[i] / 3 == place[j] / 3);
  for (int32_t p = 0; p < a.row_ptr[LINE_ROWS]; p++) a.values[p] += p;
  EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
  bisai_bcsr *fresh = make(context, &desc);
  double x[LINE_ROWS], xb[3 * LINE], y[3 * LINE], z[3 * LINE];
  for (int32_t i = 0; i < LINE_ROWS; i++) x[i] = i + 1;
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, 1, x, xb));
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, xb, y));
  EXPECT_OK(context, bisai_bcsr_multiply(fresh, xb, z));
  EXPECT_CLOSE(3 * LINE, z, y, 0.0);
  EXPECT_OK(context, bisai_bcsr_from_blocks(matrix, 1, y, z));
  for (int32_t i = 0; i < LINE_ROWS; i++) {
    double sum = 0; /* of integers */
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) sum += a.values[p] * x[a.col_idx[p]];
    assert_true(z[i] == sum);
  }
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&fresh);
  csr_free(&a);
}

static void rows_that_are_in_order_keep_it(void **state) {
  (void)state;
  static const int32_t whole[] = {2, 2, 2, 2, 2}, single[] = {1, 1, 1, 1, 1};
  for (int k = 0; k < 2; k++) {
    int32_t place[10], node[10];
    for (int32_t i = 0; i < 10; i++) place[i] = i;
    csr a = line_of_nodes(5, k == 0 ? whole : single, place, node);
    bisai_csr_desc desc = desc_of(&a);
    desc.find_nodes = true;
    bisai_bcsr *matrix = make(context, &desc);
    assert_int_equal(k == 0 ? 2 : 1, bisai_bcsr_block_size(matrix));
    assert_int_equal(0, bisai_bcsr_padding(matrix));
    EXPECT_OK(context, bisai_bcsr_places(matrix, place));
    for (int32_t i = 0; i < a.rows; i++) assert_int_equal(i, place[i]);
    bisai_bcsr_destroy(&matrix);
    csr_free(&a);
  }
}

static void a_choice_of_nodes_that_nothing_is_left_to_is_refused(void **state) {
  (void)state;
  int32_t node[LINE_ROWS];
  csr a = line_by_field(node), oblong = csr_random(4, 5, 0.5, 2);
  bisai_csr_desc desc = desc_of(&a), wide = desc_of(&oblong);
  bisai_bcsr *matrix = NULL;
  desc.find_nodes = wide.find_nodes = true;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &wide, &matrix));
  EXPECT_MESSAGE(context, "find_nodes: only square matrices have nodes, this one is 4 × 5");
  desc.node = node;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  EXPECT_MESSAGE(context, "find_nodes: the nodes are given");
  desc.node = NULL, desc.block_size = 2;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  EXPECT_MESSAGE(context, "find_nodes: the block size is given");
  assert_null(matrix);
  csr_free(&a);
  csr_free(&oblong);
}

static void a_choice_of_nodes_survives_every_failing_allocation(void **state) {
  (void)state;
  int32_t node[LINE_ROWS];
  csr a = line_by_field(node);
  bisai_csr_desc desc = desc_of(&a);
  desc.find_nodes = true;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  const long long live = atomic_load(&allocator.live_blocks);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failures = 0;
  for (bisai_bcsr *matrix = NULL; status; failures += status != BISAI_OK) {
    allocator.fail_at = atomic_load(&allocator.calls) + failures + 1;
    status = bisai_bcsr_from_csr(own, &desc, &matrix);
    if (status) assert_int_equal(BISAI_OUT_OF_MEMORY, status);
    if (!status) assert_int_equal(3, bisai_bcsr_block_size(matrix));
    bisai_bcsr_destroy(&matrix);
    assert_int_equal(live, atomic_load(&allocator.live_blocks));
  }
  assert_true(failures > 8);
  bisai_context_destroy(&own);
  csr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_of_mixed_sizes_are_found_in_every_numbering),
      cmocka_unit_test(rows_of_one_unknown_have_no_nodes),
      cmocka_unit_test(a_row_of_a_smaller_node_becomes_the_component_that_it_is_coupled_to),
      cmocka_unit_test(a_node_is_found_though_a_zero_is_not_stored),
      cmocka_unit_test(nodes_are_not_looked_for_without_arguments),
      cmocka_unit_test(every_failing_allocation_is_survived),
      cmocka_unit_test(nodes_are_taken_where_they_need_fewer_bytes),
      cmocka_unit_test(rows_that_are_in_order_keep_it),
      cmocka_unit_test(a_choice_of_nodes_that_nothing_is_left_to_is_refused),
      cmocka_unit_test(a_choice_of_nodes_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
