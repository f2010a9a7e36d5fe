/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices whose rows are numbered in another way than by node: fields, and nodes of different
 * sizes. Values are moved, never computed with, so all comparisons are exact. */
#include "fixture.h"

#include <math.h>

#include "csr.h"

static bisai_bcsr *make(bisai_context *own, const bisai_csr_desc *desc) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(own, bisai_bcsr_from_csr(own, desc, &matrix));
  return matrix;
}

static double *dense_of(const csr *a) {
  double *dense = calloc((size_t)a->rows * (size_t)a->cols + 1, sizeof *dense);
  assert_non_null(dense);
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      dense[(size_t)a->col_idx[p] * (size_t)a->rows + (size_t)i] = a->values[p];
  return dense;
}

/* Fails unless the matrix has the entries of `a` at `place`, and the identity elsewhere. */
static void expect_places(const csr *a, const int32_t *place, const bisai_bcsr *matrix) {
  const int32_t n = bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
  double *scalar = dense_of(a), *expected = test_dense_identity(n), *got = test_dense(matrix);
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t j = 0; j < a->rows; j++)
      expected[(size_t)place[j] * (size_t)n + (size_t)place[i]] =
          scalar[(size_t)j * (size_t)a->rows + (size_t)i];
  EXPECT_CLOSE((int64_t)n * n, expected, got, 0.0);
  free(scalar);
  free(expected);
  free(got);
}

static void two_fields_of_two_nodes_are_interleaved(void **state) {
  (void)state;
  /* u0 u1 v0 v1 → u0 v0 u1 v1 */
  const int32_t row_ptr[] = {0, 3, 4, 6, 8}, col_idx[] = {0, 2, 3, 1, 2, 0, 3, 1};
  const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 4;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  desc.fields = 2;
  bisai_bcsr *matrix = make(context, &desc);
  int32_t rows[3], cols[3], place[4];
  double got[12];
  EXPECT_OK(context, bisai_bcsr_fetch(matrix, rows, cols, got));
  EXPECT_OK(context, bisai_bcsr_places(matrix, place));
  const double expected[] = {1, 6, 2, 5, 0, 0, 3, 0, 4, 8, 0, 7};
  EXPECT_CLOSE(12, expected, got, 0.0);
  assert_memory_equal(place, ((int32_t[]){0, 2, 1, 3}), sizeof place);
  assert_memory_equal(rows, ((int32_t[]){0, 2, 3}), sizeof rows);
  assert_memory_equal(cols, ((int32_t[]){0, 1, 1}), sizeof cols);
  bisai_bcsr_destroy(&matrix);
}

/* Nodes of sizes 1 … 3 in a random numbering of rows and, with components, random places. */
typedef struct mixed {
  csr a;
  int32_t *node, *component, *place;
  int32_t nodes, bs;
} mixed;

static mixed mixed_random(int32_t nodes, int32_t bs, bool components, uint64_t seed) {
  test_random random = test_random_seed(seed);
  mixed m = {.nodes = nodes, .bs = bs};
  const size_t most = (size_t)(nodes * bs);
  m.node = malloc(most * sizeof *m.node);
  m.component = malloc(most * sizeof *m.component);
  m.place = malloc(most * sizeof *m.place);
  int32_t *taken = calloc((size_t)nodes, sizeof *taken);
  assert_true(m.node && m.component && m.place && taken);
  int32_t *order = test_random_permutation(nodes * bs, seed), rows = 0;
  for (int32_t k = 0; k < nodes * bs; k++) {
    const int32_t node = order[k] / bs, component = order[k] % bs;
    if (component != node % bs && test_random_uniform(&random, 0, 1) < 0.3) continue;
    m.node[rows] = node;
    m.component[rows] = components ? component : taken[node]++;
    m.place[rows] = node * bs + m.component[rows];
    rows++;
  }
  free(order);
  free(taken);
  m.a = csr_random(rows, rows, 0.15, seed + 1);
  return m;
}

static void mixed_free(mixed *m) {
  csr_free(&m->a);
  free(m->node);
  free(m->component);
  free(m->place);
}

static bisai_csr_desc desc_of_mixed(const mixed *m, bool components) {
  bisai_csr_desc desc = desc_of(&m->a);
  desc.node = m->node;
  desc.component = components ? m->component : NULL;
  desc.block_size = m->bs;
  return desc;
}

static void nodes_of_any_sizes_and_numbering_are_padded_inside(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs++)
    for (int with = 0; with < 2; with++) {
      mixed m = mixed_random(13, bs, with, 10 * (uint64_t)bs);
      const bisai_csr_desc desc = desc_of_mixed(&m, with);
      bisai_bcsr *matrix = make(context, &desc);
      assert_int_equal(13, bisai_bcsr_block_rows(matrix));
      assert_int_equal(m.a.rows, bisai_bcsr_rows(matrix));
      assert_int_equal(13 * bs - m.a.rows, bisai_bcsr_padding(matrix));
      expect_places(&m.a, m.place, matrix);
      bisai_bcsr_destroy(&matrix);
      mixed_free(&m);
    }
}

static void fields_of_every_number_are_a_permutation(void **state) {
  (void)state;
  for (int32_t fields = 1; fields <= BISAI_MAX_BLOCK_SIZE; fields += fields < 9 ? 1 : 23) {
    csr a = csr_random(7 * fields, 7 * fields, 0.2, (uint64_t)fields);
    int32_t *place = malloc((size_t)a.rows * sizeof *place);
    assert_non_null(place);
    for (int32_t i = 0; i < a.rows; i++) place[i] = i % 7 * fields + i / 7;
    bisai_csr_desc desc = desc_of(&a);
    desc.fields = fields;
    desc.block_size = fields;
    bisai_bcsr *matrix = make(context, &desc);
    assert_int_equal(fields, bisai_bcsr_block_size(matrix));
    assert_int_equal(0, bisai_bcsr_padding(matrix));
    expect_places(&a, place, matrix);
    bisai_bcsr_destroy(&matrix);
    csr_free(&a);
    free(place);
  }
}

static void an_update_makes_the_same_matrix_as_creation(void **state) {
  (void)state;
  for (int32_t bs = 2; bs <= 4; bs++) {
    mixed m = mixed_random(30, bs, true, 70 + (uint64_t)bs);
    bisai_csr_desc desc = desc_of_mixed(&m, true);
    bisai_bcsr *matrix = make(context, &desc);
    for (int32_t p = 0; p < m.a.row_ptr[m.a.rows]; p++) m.a.values[p] = 3.0 - p;
    bisai_bcsr *expected = make(context, &desc);
    bisai_csr_desc plain = desc_of(&m.a); /* the matrix has the map */
    EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &plain));
    test_expect_same(expected, matrix);
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&expected);
    mixed_free(&m);
  }
}

static void every_number_of_threads_makes_the_same_blocks(void **state) {
  (void)state;
  mixed m = mixed_random(500, 3, false, 4);
  const bisai_csr_desc desc = desc_of_mixed(&m, false);
  bisai_bcsr *expected = make(context, &desc);
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *own = test_context(threads);
    bisai_bcsr *matrix = make(own, &desc);
    test_expect_same(expected, matrix);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
  }
  bisai_bcsr_destroy(&expected);
  mixed_free(&m);
}

static void vectors_move_to_the_blocks_and_back(void **state) {
  (void)state;
  for (int32_t width = 1; width <= 6; width += 5) {
    mixed m = mixed_random(40, 3, true, 6);
    const bisai_csr_desc desc = desc_of_mixed(&m, true);
    bisai_bcsr *matrix = make(context, &desc);
    const int64_t rows = m.a.rows, all = 3 * 40;
    double *x = test_vector_in_place(rows * width, 7), *back = test_nan_vector(rows * width),
           *blocks = test_nan_vector(all * width), *expected = calloc((size_t)(all * width), 8);
    assert_non_null(expected);
    for (int64_t i = 0; i < rows * width; i++)
      expected[m.place[i / width] * width + i % width] = x[i];
    EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, width, x, blocks));
    EXPECT_CLOSE(all * width, expected, blocks, 0.0);
    EXPECT_OK(context, bisai_bcsr_from_blocks(matrix, width, blocks, back));
    EXPECT_CLOSE(rows * width, x, back, 0.0);
    test_vector_free(x);
    free(back);
    free(blocks);
    free(expected);
    bisai_bcsr_destroy(&matrix);
    mixed_free(&m);
  }
}

static void vectors_of_other_matrices_get_their_padding_at_the_end(void **state) {
  (void)state;
  csr a = csr_random(7, 7, 0.5, 3);
  bisai_csr_desc desc = desc_of(&a);
  desc.block_size = 3;
  desc.pad = true;
  bisai_bcsr *matrix = make(context, &desc);
  const double x[] = {1, 2, 3, 4, 5, 6, 7}, expected[] = {1, 2, 3, 4, 5, 6, 7, 0, 0};
  double blocks[9], back[7];
  int32_t place[7];
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, 1, x, blocks));
  EXPECT_CLOSE(9, expected, blocks, 0.0);
  EXPECT_OK(context, bisai_bcsr_from_blocks(matrix, 1, blocks, back));
  EXPECT_CLOSE(7, x, back, 0.0);
  EXPECT_OK(context, bisai_bcsr_places(matrix, place));
  for (int32_t i = 0; i < 7; i++) assert_int_equal(i, place[i]);
  bisai_bcsr_destroy(&matrix);
  csr_free(&a);
}

static void a_product_in_blocks_is_the_product_of_the_caller(void **state) {
  (void)state;
  mixed m = mixed_random(25, 3, false, 12);
  const bisai_csr_desc desc = desc_of_mixed(&m, false);
  bisai_bcsr *matrix = make(context, &desc);
  double *x = test_random_vector(m.a.rows, 5), *blocks = test_nan_vector(75),
         *image = test_nan_vector(75), *y = test_nan_vector(m.a.rows), *dense = dense_of(&m.a);
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, 1, x, blocks));
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, blocks, image));
  EXPECT_OK(context, bisai_bcsr_from_blocks(matrix, 1, image, y));
  double *expected = test_dense_multiply(m.a.rows, m.a.rows, 1, dense, x);
  /* a row has some ten products of values below 1, which are added in another order */
  EXPECT_CLOSE(m.a.rows, expected, y, 1e-14);
  free(x);
  free(blocks);
  free(image);
  free(y);
  free(dense);
  free(expected);
  bisai_bcsr_destroy(&matrix);
  mixed_free(&m);
}

static void messages_name_the_rows_of_the_caller(void **state) {
  (void)state;
  csr a = csr_random(12, 12, 0.5, 30);
  bisai_csr_desc desc = desc_of(&a);
  desc.fields = 3;
  bisai_bcsr *matrix = make(context, &desc), *none = NULL;
  const int32_t p = a.row_ptr[7] + 1, column = a.col_idx[p];
  const double old = a.values[p];
  char text[100];
  snprintf(text, sizeof text, "entry (7, %d), counted from 0, is NaN or infinity", column);
  a.values[p] = NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_from_csr(context, &desc, &none));
  EXPECT_MESSAGE(context, text);
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, text);
  a.values[p] = old;
  a.col_idx[p] = a.col_idx[p - 1];
  a.col_idx[p - 1] = column;
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_bcsr_update_from_csr(matrix, &desc));
  snprintf(text, sizeof text,
           "row 7: column %d, but column %d at creation; the pattern cannot change", column,
           a.col_idx[p]);
  EXPECT_MESSAGE(context, text);
  bisai_bcsr_destroy(&matrix);
  csr_free(&a);
}

static void expect_refusal(const bisai_csr_desc *desc, bisai_status status, const char *message) {
  bisai_bcsr *none = NULL;
  EXPECT_STATUS(context, status, bisai_bcsr_from_csr(context, desc, &none));
  EXPECT_MESSAGE(context, message);
  assert_null(none);
}

static void fields_and_nodes_that_do_not_fit_are_refused(void **state) {
  (void)state;
  csr a = csr_random(6, 6, 0.5, 2), oblong = csr_random(6, 4, 0.5, 2);
  bisai_csr_desc desc = desc_of(&a);
  desc.fields = 4;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT, "6 rows are not 4 fields of the same length");
  desc.fields = 33;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT, "fields is 33, outside 0 … 32");
  desc.fields = -1;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT, "fields is -1, outside 0 … 32");
  desc.fields = 3;
  desc.block_size = 2;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT,
                 "3 fields make blocks of size 3, and the block size is 2");
  desc.block_size = 0;
  desc.node = (int32_t[]){0, 0, 1, 1, 2, 2};
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT, "fields and node exclude each other");
  desc.fields = 0;
  desc.node = (int32_t[]){0, 0, 3, 3, 1, 1};
  expect_refusal(&desc, BISAI_INVALID_STRUCTURE, "node 2 has no row");
  desc.node = (int32_t[]){0, 0, 6, 3, 1, 1};
  expect_refusal(&desc, BISAI_INVALID_STRUCTURE, "row 2: node 6 is outside 0 … 5");
  desc.node = (int32_t[]){0, 0, 0, 1, 1, 2};
  desc.block_size = 2;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT,
                 "the largest node has 3 components, and the largest block size is 2");
  desc.block_size = 0;
  desc.component = (int32_t[]){0, 1, 2, 1, 1, 0};
  expect_refusal(&desc, BISAI_INVALID_STRUCTURE, "rows 3 and 4 are both component 1 of node 1");
  desc.component = (int32_t[]){0, 1, 2, 1, 32, 0};
  expect_refusal(&desc, BISAI_INVALID_STRUCTURE, "row 4: component 32 is outside 0 … 31");
  desc.node = NULL;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT, "component is given, and node is NULL");
  desc = desc_of(&oblong);
  desc.fields = 2;
  expect_refusal(&desc, BISAI_INVALID_ARGUMENT,
                 "only square matrices have nodes, this one is 6 × 4");
  csr_free(&a);
  csr_free(&oblong);
}

static void vectors_that_are_missing_or_have_no_width_are_refused(void **state) {
  (void)state;
  csr a = csr_random(4, 4, 0.5, 2);
  bisai_csr_desc desc = desc_of(&a);
  desc.fields = 2;
  bisai_bcsr *matrix = make(context, &desc);
  double x[4] = {0}, y[4] = {0};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_to_blocks(matrix, 0, x, y));
  EXPECT_MESSAGE(context, "the width of vectors is 0, at least 1");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_to_blocks(matrix, 1, NULL, y));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_blocks(matrix, 1, x, NULL));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_bcsr_to_blocks(NULL, 1, x, y));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_bcsr_from_blocks(NULL, 1, x, y));
  assert_int_equal(BISAI_INVALID_ARGUMENT, bisai_bcsr_places(NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_places(matrix, NULL));
  bisai_bcsr_destroy(&matrix);
  csr_free(&a);
}

static bisai_status everything(bisai_context *own, const mixed *m) {
  bisai_csr_desc desc = desc_of_mixed(m, true);
  bisai_bcsr *matrix = NULL;
  double *x = test_random_vector(desc.rows, 1), *blocks = test_nan_vector(m->nodes * m->bs);
  bisai_status status = bisai_bcsr_from_csr(own, &desc, &matrix);
  if (!status) status = bisai_bcsr_to_blocks(matrix, 1, x, blocks);
  if (!status) status = bisai_bcsr_from_blocks(matrix, 1, blocks, x);
  free(x);
  free(blocks);
  bisai_bcsr_destroy(&matrix);
  return status;
}

static void every_failing_allocation_is_survived(void **state) {
  (void)state;
  mixed m = mixed_random(8, 3, true, 17);
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  const long long live = atomic_load(&allocator.live_blocks);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  long long fail_at = 0;
  while (status == BISAI_OUT_OF_MEMORY && ++fail_at < 60) {
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = everything(own, &m);
    assert_int_equal(live, atomic_load(&allocator.live_blocks));
  }
  assert_int_equal(BISAI_OK, status);
  assert_true(fail_at > 12);
  bisai_context_destroy(&own);
  mixed_free(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_fields_of_two_nodes_are_interleaved),
      cmocka_unit_test(nodes_of_any_sizes_and_numbering_are_padded_inside),
      cmocka_unit_test(fields_of_every_number_are_a_permutation),
      cmocka_unit_test(an_update_makes_the_same_matrix_as_creation),
      cmocka_unit_test(every_number_of_threads_makes_the_same_blocks),
      cmocka_unit_test(vectors_move_to_the_blocks_and_back),
      cmocka_unit_test(vectors_of_other_matrices_get_their_padding_at_the_end),
      cmocka_unit_test(a_product_in_blocks_is_the_product_of_the_caller),
      cmocka_unit_test(messages_name_the_rows_of_the_caller),
      cmocka_unit_test(fields_and_nodes_that_do_not_fit_are_refused),
      cmocka_unit_test(vectors_that_are_missing_or_have_no_width_are_refused),
      cmocka_unit_test(every_failing_allocation_is_survived),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
