/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparisons of the structures of matrices in backend memory. */
#include "core/context/context_impl.h"
#include "core/matrix/bcsr_impl.h"
#include "fixture.h"

static void expect_same(bool expected, const bisai_bcsr *a, const bisai_bcsr *b) {
  const bisai_status status = bsi_bcsr_check_pattern(context, a, b);
  if (expected) {
    EXPECT_OK(context, status);
    return;
  }
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, status);
  EXPECT_MESSAGE(context, "the pattern changed: its blocks are not those of creation");
}

/* Adds `change` to an integer in backend memory. */
static void change_by(int32_t change, int32_t *there) {
  const bsi_memory_ops *memory = context->backend->memory;
  int32_t here;
  EXPECT_OK(context, memory->fetch(context, &here, there, sizeof here));
  here += change;
  EXPECT_OK(context, memory->upload(context, there, &here, sizeof here));
}

static void structures_are_compared_to_the_last_block_and_row(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_random(test_shape_square(700, 2, 1));
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *b = test_bcsr_make(context, &arrays);
  expect_same(true, a, b);
  expect_same(true, a, a);
  b->blocks--;
  expect_same(false, a, b);
  b->blocks++;
  change_by(-1, b->col_idx + b->blocks - 1);
  expect_same(false, a, b);
  change_by(1, b->col_idx + b->blocks - 1);
  change_by(-1, b->row_ptr + b->block_rows - 1);
  expect_same(false, a, b);
  change_by(1, b->row_ptr + b->block_rows - 1);
  expect_same(true, a, b);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  test_bcsr_free(&arrays);
}

static void empty_structures_are_the_same(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_diagonal(0, NULL));
  expect_same(true, a, a);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(structures_are_compared_to_the_last_block_and_row),
      cmocka_unit_test(empty_structures_are_the_same)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
