/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi in every form gives the same bits for many vectors as for one, with any number of
 * threads, and after an update as after a new set-up. */
#include "batch.h"
#include "fixture.h"
#include "systems.h"

static void many_vectors_are_solved_as_one_by_one(void **state) {
  (void)state;
  test_batch b = test_batch_of(TEST_BATCH_RANDOM, 3, 5);
  const int64_t n = b.rows, ld = n + 3;
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  enum { VECTORS = 9 };
  double *v = test_random_vector(VECTORS * ld, 1), *one = test_nan_vector(n),
         *many = test_nan_vector(VECTORS * ld);
  static const bisai_value_type storages[] = {BISAI_FP64, BISAI_FP32, BISAI_FP11_20,
                                              BISAI_ADAPTIVE};
  for (int form = 0; form < TEST_FORMS; form++) {
    for (int s = 0; s < (form == 0 ? 4 : 3); s++) {
      bisai_precond_options options = test_form_options(form, b.blocks, b.start);
      options.bjacobi.storage = storages[s];
      bisai_precond *precond = test_precond_with(context, matrix, &options);
      for (int32_t count = 1; count <= VECTORS; count++) {
        for (int64_t i = 0; i < VECTORS * ld; i++) many[i] = 7.0;
        EXPECT_OK(context, bisai_precond_apply_many(precond, count, v, ld, many, ld));
        for (int32_t k = 0; k < VECTORS; k++) {
          EXPECT_OK(context, bisai_precond_apply(precond, v + k * ld, one));
          for (int64_t i = 0; i < n && k < count; i++) assert_true(many[k * ld + i] == one[i]);
          for (int64_t i = k < count ? n : 0; i < ld; i++) assert_true(many[k * ld + i] == 7.0);
        }
      }
      bisai_precond_destroy(&precond);
    }
  }
  free(v);
  free(one);
  free(many);
  bisai_bcsr_destroy(&matrix);
  test_batch_free(&b);
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  test_batch b = test_batch_of(TEST_BATCH_RANDOM, 12, 6);
  const size_t bytes = (size_t)b.rows * sizeof(double);
  double *v = test_random_vector(b.rows, 1), *first = test_nan_vector(b.rows),
         *z = test_nan_vector(b.rows);
  for (int form = 0; form < TEST_FORMS; form++) {
    bisai_precond_report expected = {0};
    for (int threads = 1; threads <= 6; threads++) {
      bisai_context *c = test_context(threads);
      bisai_bcsr *matrix = test_bcsr_make(c, &b.csr);
      bisai_precond_options options = test_form_options(form, b.blocks, b.start);
      if (form == 0) options.bjacobi.storage = BISAI_ADAPTIVE;
      bisai_precond *precond = test_precond_with(c, matrix, &options);
      EXPECT_OK(c, bisai_precond_apply(precond, v, threads == 1 ? first : z));
      const bisai_precond_report report = test_report_of(context, precond);
      if (threads == 1) expected = report;
      if (threads > 1) assert_memory_equal(first, z, bytes);
      assert_memory_equal(report.bjacobi.by_format, expected.bjacobi.by_format,
                          sizeof report.bjacobi.by_format);
      assert_true(report.largest_condition == expected.largest_condition &&
                  report.largest_condition_row == expected.largest_condition_row);
      assert_true(report.bjacobi.near_singular == expected.bjacobi.near_singular &&
                  report.bjacobi.value_bytes == expected.bjacobi.value_bytes);
      bisai_precond_destroy(&precond);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&c);
    }
  }
  free(v);
  free(first);
  free(z);
  test_batch_free(&b);
}

static void updates_equal_a_fresh_set_up_and_allocate_nothing(void **state) {
  (void)state;
  test_batch b = test_batch_of(TEST_BATCH_RANDOM, 3, 7);
  const size_t bytes = (size_t)b.rows * sizeof(double);
  double *v = test_random_vector(b.rows, 1), *x = test_nan_vector(b.rows),
         *y = test_nan_vector(b.rows);
  for (int form = 0; form < TEST_FORMS; form++) {
    for (int variant = 0; variant < 4; variant++) {
      if (form > 0 && variant == 3) continue;
      test_allocator allocator;
      test_allocator_reset(&allocator, 0);
      bisai_context *c = test_context_on(&allocator, 3);
      bisai_bcsr *first = test_bcsr_make(c, &b.csr);
      for (int32_t p = 0; p < b.csr.row_ptr[b.rows]; p++)
        b.csr.values[p] *= p % 5 == 0 ? 1.5 : 0.75;
      bisai_bcsr *second = test_bcsr_make(c, &b.csr);
      bisai_precond_options options = variant == 1 ? test_form_options(form, 0, NULL)
                                                   : test_form_options(form, b.blocks, b.start);
      options.bjacobi.storage = variant == 3   ? BISAI_ADAPTIVE
                                : variant == 2 ? BISAI_FP32
                                               : BISAI_FP64;
      if (variant == 1) {
        options.bjacobi.max_block = 16;
        options.shift = BISAI_SHIFT_IN_BLOCKS;
      }
      bisai_precond *updated = test_precond_with(c, first, &options),
                    *fresh = test_precond_with(c, second, &options);
      const long long calls = atomic_load(&allocator.calls);
      EXPECT_OK(c, bisai_precond_update(updated, second));
      assert_int_equal(atomic_load(&allocator.calls), calls);
      EXPECT_OK(c, bisai_precond_apply(updated, v, x));
      if (!test_on_device()) assert_int_equal(atomic_load(&allocator.calls), calls);
      EXPECT_OK(c, bisai_precond_apply(fresh, v, y));
      assert_memory_equal(x, y, bytes);
      const bisai_precond_report one = test_report_of(context, updated),
                                 other = test_report_of(context, fresh);
      assert_memory_equal(one.bjacobi.by_format, other.bjacobi.by_format,
                          sizeof one.bjacobi.by_format);
      assert_true(one.memory_bytes == other.memory_bytes &&
                  one.bjacobi.value_bytes == other.bjacobi.value_bytes);
      bisai_precond_destroy(&updated);
      bisai_precond_destroy(&fresh);
      bisai_bcsr_destroy(&first);
      bisai_bcsr_destroy(&second);
      bisai_context_destroy(&c);
    }
  }
  free(v);
  free(x);
  free(y);
  test_batch_free(&b);
}

static void other_patterns_are_refused_by_updates(void **state) {
  (void)state;
  test_batch b = test_batch_of(TEST_BATCH_RANDOM, 1, 8);
  bisai_bcsr *matrix = test_bcsr_make(context, &b.csr);
  const bisai_precond_options options = test_form_options(BISAI_FORM_LU, b.blocks, b.start);
  bisai_precond *precond = test_precond_with(context, matrix, &options);
  const int32_t stored = b.csr.row_ptr[b.rows]--;
  bisai_bcsr *shorter = test_bcsr_make(context, &b.csr);
  char message[128];
  snprintf(message, sizeof message, "the pattern changed: %d blocks, expected %d", stored - 1,
           stored);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, shorter));
  EXPECT_MESSAGE(context, message);
  double *v = test_random_vector(b.rows, 1), *z = test_nan_vector(b.rows);
  EXPECT_OK(context, bisai_precond_apply(precond, v, z)); /* as it was */
  test_expect_block_solved(BISAI_FORM_LU, b.start[1], b.block[0], v, z);
  free(v);
  free(z);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&shorter);
  test_batch_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(many_vectors_are_solved_as_one_by_one),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(updates_equal_a_fresh_set_up_and_allocate_nothing),
      cmocka_unit_test(other_patterns_are_refused_by_updates),
  };
  return cmocka_run_group_tests_name("bjacobi_forms_bits", tests, setup, teardown);
}
