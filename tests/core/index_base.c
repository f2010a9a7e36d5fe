/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures that count from 1, as those of Fortran. */
#include <stdlib.h>
#include <string.h>

#include <bisai/bcsr.h>

#include "support/support.h"

enum { GRID = 5, SIZE = 3, ROWS = GRID * GRID * SIZE };

/* The scalar entries of a matrix of blocks, counted from a base. */
typedef struct scalar_arrays {
  int32_t row_ptr[ROWS + 1], *col_idx;
  double *values;
} scalar_arrays;

static scalar_arrays scalars_of(const test_bcsr *m, int32_t base) {
  scalar_arrays s;
  const size_t entries = (size_t)test_bcsr_blocks(m) * SIZE * SIZE;
  int32_t count = 0;
  s.col_idx = malloc(entries * sizeof *s.col_idx);
  s.values = malloc(entries * sizeof *s.values);
  for (int32_t i = 0; i < ROWS; i++) {
    s.row_ptr[i] = count + base;
    for (int32_t p = m->row_ptr[i / SIZE]; p < m->row_ptr[i / SIZE + 1]; p++) {
      for (int32_t c = 0; c < SIZE; c++, count++) {
        s.col_idx[count] = m->col_idx[p] * SIZE + c + base;
        s.values[count] = m->values[p * SIZE * SIZE + c * SIZE + i % SIZE];
      }
    }
  }
  s.row_ptr[ROWS] = count + base;
  return s;
}

static bisai_csr_desc describe(const scalar_arrays *s, int32_t base) {
  bisai_csr_desc d = bisai_csr_desc_default();
  d.rows = d.cols = ROWS;
  d.row_ptr = s->row_ptr;
  d.col_idx = s->col_idx;
  d.values = s->values;
  d.index_base = base;
  return d;
}

static void free_scalars(scalar_arrays *s) {
  free(s->col_idx);
  free(s->values);
}

static void csr_of_both_bases_gives_the_same_matrix_and_updates(void **state) {
  (void)state;
  bisai_context *context = test_context(2);
  test_bcsr m = test_bcsr_grid(GRID, GRID, SIZE, 1);
  scalar_arrays from_0 = scalars_of(&m, 0), from_1 = scalars_of(&m, 1);
  bisai_csr_desc d0 = describe(&from_0, 0), d1 = describe(&from_1, 1);
  bisai_bcsr *a0 = NULL, *a1 = NULL;
  int32_t size0 = 0, size1 = 0, node0[ROWS], node1[ROWS], component[ROWS], nodes0, nodes1;
  EXPECT_OK(context, bisai_block_size_choose(context, &d0, &size0));
  EXPECT_OK(context, bisai_block_size_choose(context, &d1, &size1));
  assert_int_equal(size0, size1);
  EXPECT_OK(context, bisai_csr_find_nodes(context, &d0, node0, component, &nodes0, &size0));
  EXPECT_OK(context, bisai_csr_find_nodes(context, &d1, node1, component, &nodes1, &size1));
  assert_int_equal(nodes0, nodes1);
  assert_int_equal(GRID * GRID, nodes1);
  assert_memory_equal(node0, node1, sizeof node0);
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &d0, &a0));
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &d1, &a1));
  test_expect_same(a0, a1);
  for (int32_t p = 0; p < from_0.row_ptr[ROWS]; p++) from_0.values[p] = from_1.values[p] += 1;
  EXPECT_OK(context, bisai_bcsr_update_from_csr(a0, &d0));
  EXPECT_OK(context, bisai_bcsr_update_from_csr(a1, &d1));
  test_expect_same(a0, a1);
  EXPECT_OK(context, bisai_bcsr_update_from_csr(a1, &d0)); /* the base may change */
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE,
                (d1.index_base = 0, bisai_bcsr_update_from_csr(a1, &d1)));
  bisai_bcsr_destroy(&a0);
  bisai_bcsr_destroy(&a1);
  free_scalars(&from_0);
  free_scalars(&from_1);
  test_bcsr_free(&m);
  bisai_context_destroy(&context);
}

static bisai_bcsr_desc describe_blocks(const test_bcsr *m) {
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  d.block_rows = m->block_rows;
  d.block_cols = m->block_cols;
  d.block_size = m->block_size;
  d.row_ptr = m->row_ptr;
  d.col_idx = m->col_idx;
  d.values = m->values;
  return d;
}

static void blocks_of_both_bases_give_the_same_matrix(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  test_bcsr m = test_bcsr_grid(GRID, GRID, SIZE, 2);
  bisai_bcsr *a0 = test_bcsr_make(context, &m), *a1 = NULL;
  const int32_t blocks = test_bcsr_blocks(&m);
  for (int32_t i = 0; i <= m.block_rows; i++) m.row_ptr[i]++;
  for (int32_t p = 0; p < blocks; p++) m.col_idx[p]++;
  bisai_bcsr_desc d = describe_blocks(&m);
  d.index_base = 1;
  EXPECT_OK(context, bisai_bcsr_create(context, &d, &a1));
  test_expect_same(a0, a1);
  bisai_bcsr_destroy(&a0);
  bisai_bcsr_destroy(&a1);
  test_bcsr_free(&m);
  bisai_context_destroy(&context);
}

static void matrices_without_entries_have_a_base_too(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const int32_t row_ptr[2] = {1, 1};
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  bisai_bcsr *a = NULL;
  d.row_ptr = row_ptr;
  d.block_rows = d.block_cols = d.block_size = d.index_base = 1;
  EXPECT_OK(context, bisai_bcsr_create(context, &d, &a));
  assert_int_equal(0, bisai_bcsr_blocks(a));
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&context);
}

static void wrong_bases_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  int32_t row_ptr[3] = {1, 2, 3}, col_idx[2] = {1, 2};
  const double values[2] = {1, 2};
  bisai_bcsr *a = NULL;
  bisai_csr_desc d = bisai_csr_desc_default();
  d.rows = d.cols = 2;
  d.row_ptr = row_ptr;
  d.col_idx = col_idx;
  d.values = values;
  d.index_base = 2;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &d, &a));
  EXPECT_MESSAGE(context, "index_base 2: 0 and 1 are possible");
  d.index_base = 1;
  row_ptr[0] = 0;
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_bcsr_from_csr(context, &d, &a));
  EXPECT_MESSAGE(context, "row_ptr begins with 0, and with 1 for index_base 1");
  row_ptr[0] = 1;
  row_ptr[1] = INT32_MIN;
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_bcsr_from_csr(context, &d, &a));
  row_ptr[1] = 2;
  col_idx[1] = INT32_MIN;
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_bcsr_from_csr(context, &d, &a));
  EXPECT_MESSAGE(context, "row 1: column -1 is outside 0 … 1");
  d.col_idx = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &d, &a));
  d.row_ptr = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &d, &a));
  bisai_bcsr_desc b = bisai_bcsr_desc_default();
  b.index_base = 1;
  b.ownership = BISAI_BORROW;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_create(context, &b, &a));
  EXPECT_MESSAGE(context, "index_base 1: the arrays must be in host memory and copied");
  assert_null(a);
  bisai_context_destroy(&context);
}

static void failing_allocations_publish_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  test_bcsr m = test_bcsr_grid(GRID, GRID, SIZE, 1);
  scalar_arrays s = scalars_of(&m, 1);
  const bisai_csr_desc d = describe(&s, 1);
  const long long blocks = atomic_load(&allocator.live_blocks);
  bisai_bcsr *a = NULL;
  int nth = 0;
  while (!a) {
    allocator.fail_at = atomic_load(&allocator.calls) + ++nth;
    bisai_status status = bisai_bcsr_from_csr(context, &d, &a);
    EXPECT_STATUS(context, a ? BISAI_OK : BISAI_OUT_OF_MEMORY, status);
    if (!a) assert_int_equal(blocks, atomic_load(&allocator.live_blocks));
  }
  assert_true(nth > 3);
  for (nth = 1; nth <= 2; nth++) { /* the two copies */
    allocator.fail_at = atomic_load(&allocator.calls) + nth;
    EXPECT_STATUS(context, BISAI_OUT_OF_MEMORY, bisai_bcsr_update_from_csr(a, &d));
  }
  allocator.fail_at = 0;
  bisai_bcsr_destroy(&a);
  free_scalars(&s);
  test_bcsr_free(&m);
  bisai_context_destroy(&context);
  assert_int_equal(0, atomic_load(&allocator.live_blocks));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(csr_of_both_bases_gives_the_same_matrix_and_updates),
      cmocka_unit_test(blocks_of_both_bases_give_the_same_matrix),
      cmocka_unit_test(matrices_without_entries_have_a_base_too),
      cmocka_unit_test(wrong_bases_are_refused),
      cmocka_unit_test(failing_allocations_publish_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
