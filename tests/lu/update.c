/* SPDX-License-Identifier: BSD-3-Clause */
/* The preconditioner lu: updates, bits for any number of threads, structure, failing
 * allocations. */
#include "systems.h"

#include "lu/lu.h"
#include "lu/lu_impl.h"

static bisai_precond_options lu_options(bisai_value_type storage) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_LU;
  o.factor.ordering = BISAI_ORDERING_RCM;
  o.lu.storage = storage;
  return o;
}

static void expect_same_bits(bisai_context *context, bisai_precond *a, bisai_precond *b) {
  const int64_t n = bisai_precond_rows(a);
  double *v = test_random_vector(n, 3), *x = test_nan_vector(n), *y = test_nan_vector(n);
  EXPECT_OK(context, bisai_precond_apply(a, v, x));
  EXPECT_OK(context, bisai_precond_apply(b, v, y));
  assert_memory_equal(x, y, (size_t)n * sizeof *x);
  free(v), free(x), free(y);
}

static void an_update_gives_the_bits_of_a_new_set_up_and_allocates_nothing(void **state) {
  (void)state;
  for (int narrow = 0; narrow < 2; narrow++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 2);
    test_bcsr a = test_bcsr_grid(14, 11, 3, 1), b = test_bcsr_grid(14, 11, 3, 2);
    bisai_bcsr *first = test_bcsr_make(context, &a), *second = test_bcsr_make(context, &b);
    const bisai_precond_options options = lu_options(narrow ? BISAI_FP32 : BISAI_FP64);
    bisai_precond *updated = test_precond_with(context, first, &options),
                  *made = test_precond_with(context, second, &options);
    const long long calls = allocator.calls;
    EXPECT_OK(context, bisai_precond_update(updated, second));
    assert_int_equal(allocator.calls, calls);
    expect_same_bits(context, updated, made);
    bisai_precond_destroy(&updated);
    bisai_precond_destroy(&made);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
    test_bcsr_free(&a);
    test_bcsr_free(&b);
    bisai_context_destroy(&context);
  }
}

static void another_pattern_is_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(5, 5, 2, 1)),
             *other = test_bcsr_take(context, test_bcsr_tridiagonal(25, 2, 4.0, 1.0));
  const bisai_precond_options options = lu_options(BISAI_FP64);
  bisai_precond *precond = test_precond_with(context, matrix, &options),
                *fresh = test_precond_with(context, matrix, &options);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, other));
  EXPECT_IN_MESSAGE(context, "the pattern changed");
  expect_same_bits(context, precond, fresh);
  bisai_precond_destroy(&precond);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&other);
  bisai_context_destroy(&context);
}

/* The grid has levels whose supernodes are shared out and levels whose rows are. */
static void bits_do_not_depend_on_threads(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(60, 40, 4, 9);
  const int64_t n = (int64_t)a.block_rows * a.block_size;
  double *v = test_random_vector(n, 3), *expected = test_nan_vector(n), *z = test_nan_vector(n);
  for (int narrow = 0; narrow < 2; narrow++) {
    const bisai_precond_options options = lu_options(narrow ? BISAI_FP32 : BISAI_FP64);
    for (int threads = 1; threads <= 7; threads += 2) {
      bisai_context *context = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(context, &a);
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      EXPECT_OK(context, bisai_precond_apply(precond, v, threads == 1 ? expected : z));
      if (threads > 1) assert_memory_equal(z, expected, (size_t)n * sizeof *z);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&context);
    }
  }
  free(v), free(expected), free(z);
  test_bcsr_free(&a);
}

/* The rows of a supernode are those of its last column, by elimination on booleans. */
static void expect_structure(bisai_context *context, const test_bcsr *a) {
  const int32_t n = a->block_rows;
  bisai_bcsr *matrix = test_bcsr_make(context, a);
  const bsi_lu_options options = {.storage = BISAI_FP64};
  bsi_lu *lu = NULL;
  EXPECT_OK(context, bsi_lu_create(context, matrix, &options, &lu));
  const bsi_lu_structure *t = &lu->structure;
  bool *s = calloc((size_t)n * (size_t)n, sizeof *s);
  assert_non_null(s);
  for (int32_t i = 0; i < n; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++) {
      const int32_t row = t->tree.place[i], column = t->tree.place[a->col_idx[p]];
      s[row * n + column] = s[column * n + row] = true;
    }
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = k + 1; i < n; i++)
      for (int32_t j = k + 1; s[i * n + k] && j < n; j++) s[i * n + j] |= s[k * n + j];
  for (int32_t node = 0; node < t->nodes.count; node++) {
    const int32_t last = t->nodes.begin[node + 1] - 1;
    int64_t p = t->row_ptr[node];
    for (int32_t i = last + 1; i < n; i++)
      if (s[i * n + last]) assert_int_equal(t->rows[p++], i);
    assert_int_equal(p, t->row_ptr[node + 1]);
  }
  free(s);
  bsi_lu_destroy(&lu);
  bisai_bcsr_destroy(&matrix);
}

static void stored_rows_are_those_that_were_predicted(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (uint64_t seed = 0; seed < 40; seed++) {
    test_shape shape = test_shape_square((int32_t)(5 + seed * 3), (int32_t)(1 + seed % 3), seed);
    shape.blocks_per_row = 0.3 * (double)(1 + seed % 9);
    test_bcsr a = test_bcsr_random(shape);
    expect_structure(context, &a);
    test_bcsr_free(&a);
  }
  /* fills up to wide supernodes with zeros, which are cut */
  test_shape wide = test_shape_square(500, 1, 7);
  test_bcsr a = test_bcsr_random(wide);
  expect_structure(context, &a);
  test_bcsr_free(&a);
  test_bcsr grid = test_bcsr_grid(15, 12, 1, 1);
  expect_structure(context, &grid);
  test_bcsr_free(&grid);
  bisai_context_destroy(&context);
}

static void failing_allocations_leave_nothing(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(6, 5, 2, 3);
  for (long long fail = 1;; fail++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *context = test_context_on(&allocator, 2);
    bisai_bcsr *matrix = test_bcsr_make(context, &a);
    const bisai_precond_options options = lu_options(BISAI_FP64);
    bisai_precond *precond = NULL;
    const long long before = allocator.live_blocks;
    allocator.calls = 0;
    allocator.fail_at = fail;
    const bisai_status status = bisai_precond_create(context, matrix, &options, &precond);
    const bool failed = fail <= allocator.calls;
    EXPECT_STATUS(context, failed ? BISAI_OUT_OF_MEMORY : BISAI_OK, status);
    bisai_precond_destroy(&precond);
    assert_int_equal(allocator.live_blocks, before);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&context);
    if (!failed) break;
    assert_true(fail < 200);
  }
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_update_gives_the_bits_of_a_new_set_up_and_allocates_nothing),
      cmocka_unit_test(another_pattern_is_refused), cmocka_unit_test(bits_do_not_depend_on_threads),
      cmocka_unit_test(stored_rows_are_those_that_were_predicted),
      cmocka_unit_test(failing_allocations_leave_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
