/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: options judged, allocator hooks used, messages kept. */
#include "support.h"

static bisai_status create(bisai_context_options options, bisai_context **context) {
  return bisai_context_create(&options, context);
}

static void context_has_documented_defaults(void **state) {
  (void)state;
  bisai_context_options options = bisai_context_options_default();
  assert_int_equal(options.struct_size, sizeof options);
  assert_int_equal(options.backend, BISAI_BACKEND_AUTO);
  assert_int_equal(options.threads, 0);
  assert_null(options.allocator.allocate);
  assert_null(options.allocator.release);
}

static void context_is_made_from_null_options(void **state) {
  (void)state;
  bisai_context *context = NULL;
  assert_int_equal(bisai_context_create(NULL, &context), BISAI_OK);
  assert_non_null(context);
  assert_true(bisai_context_backend(context) == BISAI_BACKEND_HOST ||
              bisai_context_backend(context) == BISAI_BACKEND_CUDA);
  /* whatever OMP_NUM_THREADS is: see CMakeLists.txt */
  assert_in_range(bisai_context_threads(context), 1, 4096);
  assert_true(strlen(bisai_context_device(context)) > 0);
  assert_string_equal(bisai_context_error(context), "");
  bisai_context_destroy(&context);
  assert_null(context);
}

static void context_uses_the_threads_asked_for(void **state) {
  (void)state;
  for (int threads = 1; threads <= 5; threads += 2) {
    bisai_context *context = test_context(threads);
    assert_int_equal(bisai_context_backend(context), BISAI_BACKEND_HOST);
#ifdef BISAI_HAVE_THREADS
    assert_int_equal(bisai_context_threads(context), threads);
#else
    assert_int_equal(bisai_context_threads(context), 1);
#endif
    bisai_context_destroy(&context);
  }
}

static void context_refuses_bad_options(void **state) {
  (void)state;
  bisai_context *const untouched = (bisai_context *)(uintptr_t)64;
  bisai_context *context = untouched;
  bisai_context_options options = bisai_context_options_default();
  assert_int_equal(bisai_context_create(&options, NULL), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_context_create(NULL, NULL), BISAI_INVALID_ARGUMENT);

  static const size_t sizes[] = {0, 1, sizeof(bisai_context_options) - 1,
                                 sizeof(bisai_context_options) + 8, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    options = bisai_context_options_default();
    options.struct_size = sizes[i];
    assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  }
  options = bisai_context_options_default();
  options.backend = (bisai_backend)3;
  assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  options.backend = (bisai_backend)-1;
  assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  options = bisai_context_options_default();
  options.threads = -1;
  assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  assert_ptr_equal(context, untouched);
}

static void context_refuses_half_an_allocator(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = NULL;
  bisai_context_options options = bisai_context_options_default();
  options.allocator = test_allocator_hooks(&allocator);
  options.allocator.release = NULL;
  assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  options.allocator = test_allocator_hooks(&allocator);
  options.allocator.allocate = NULL;
  assert_int_equal(create(options, &context), BISAI_INVALID_ARGUMENT);
  assert_null(context);
  assert_int_equal(atomic_load(&allocator.calls), 0);
}

static void context_says_when_cuda_is_unavailable(void **state) {
  (void)state;
  bisai_context *context = NULL;
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_CUDA;
  bisai_status status = create(options, &context);
  if (!status) {
    assert_int_equal(bisai_context_backend(context), BISAI_BACKEND_CUDA);
    bisai_context_destroy(&context);
  } else {
    assert_int_equal(status, BISAI_UNAVAILABLE);
    assert_null(context);
  }
}

static void context_takes_all_its_memory_from_the_hooks(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *context = test_context_on(&allocator, 1);
  assert_true(atomic_load(&allocator.live_blocks) >= 1);
  long long calls = atomic_load(&allocator.calls);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(4, 3, 2, 7));
  assert_true(atomic_load(&allocator.calls) > calls);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  assert_int_equal(atomic_load(&allocator.live_bytes), 0);
}

typedef struct alignment_seen {
  size_t smallest;
  bool zero_bytes;
  bool null_released;
} alignment_seen;

static void *aligned_only(void *user, size_t bytes, size_t alignment) {
  alignment_seen *seen = user;
  seen->zero_bytes = seen->zero_bytes || bytes == 0;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return NULL;
  if (bytes % alignment != 0) return NULL; /* as some aligned_alloc() do */
  seen->smallest = alignment < seen->smallest ? alignment : seen->smallest;
  void *pointer = NULL;
  return posix_memalign(&pointer, alignment < sizeof(void *) ? sizeof(void *) : alignment, bytes) ==
                 0
             ? pointer
             : NULL;
}

static void released(void *user, void *pointer) {
  alignment_seen *seen = user;
  seen->null_released = seen->null_released || pointer == NULL;
  free(pointer);
}

static void hooks_see_powers_of_two_their_multiples_and_never_zero_bytes_or_null(void **state) {
  (void)state;
  alignment_seen seen = {SIZE_MAX, false, false};
  bisai_context_options options = bisai_context_options_default();
  options.backend = BISAI_BACKEND_HOST;
  options.allocator = (bisai_allocator){aligned_only, released, &seen};
  bisai_context *context = NULL;
  assert_int_equal(create(options, &context), BISAI_OK);
  bisai_bcsr *empty = test_bcsr_take(
      context, test_bcsr_random((test_shape){.block_size = 3, .diagonal = TEST_DIAGONAL_RANDOM}));
  bisai_precond *precond = NULL;
  (void)bisai_precond_create(context, empty, NULL, &precond);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&empty);
  bisai_context_destroy(&context);
  assert_true(seen.smallest != SIZE_MAX);
  assert_true(seen.smallest >= sizeof(void *));
  assert_false(seen.zero_bytes);
  assert_false(seen.null_released);
}

static void context_creation_survives_failing_allocations(void **state) {
  (void)state;
  for (long long fail_at = 1; fail_at < 100; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, fail_at);
    bisai_context *context = test_context_on(&allocator, 1);
    bool made = context != NULL;
    assert_true(made || fail_at <= atomic_load(&allocator.calls));
    bisai_context_destroy(&context);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
    if (made) {
      assert_true(fail_at > 1);
      return;
    }
  }
  fail_msg("never succeeded");
}

static void context_keeps_the_last_message(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = NULL;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.struct_size = 3;
  assert_int_equal(bisai_bcsr_create(context, &desc, &matrix), BISAI_INVALID_ARGUMENT);
  EXPECT_IN_MESSAGE(context, "struct_size");
  matrix = test_bcsr_take(context, test_bcsr_grid(2, 2, 1, 1));
  /* a success does not wipe it */
  EXPECT_IN_MESSAGE(context, "struct_size");
  bisai_bcsr *second = NULL;
  assert_int_equal(bisai_bcsr_create(context, NULL, &second), BISAI_INVALID_ARGUMENT);
  assert_null(strstr(bisai_context_error(context), "struct_size"));
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void destroy_accepts_null(void **state) {
  (void)state;
  bisai_context *context = NULL;
  bisai_bcsr *matrix = NULL;
  bisai_factors *factors = NULL;
  bisai_pattern *pattern = NULL;
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  bisai_context_destroy(NULL);
  bisai_context_destroy(&context);
  bisai_bcsr_destroy(NULL);
  bisai_bcsr_destroy(&matrix);
  bisai_factors_destroy(NULL);
  bisai_factors_destroy(&factors);
  bisai_pattern_destroy(NULL);
  bisai_pattern_destroy(&pattern);
  bisai_precond_destroy(NULL);
  bisai_precond_destroy(&precond);
  bisai_solver_destroy(NULL);
  bisai_solver_destroy(&solver);
  assert_null(context);
  assert_string_equal(bisai_context_error(NULL), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(context_has_documented_defaults),
      cmocka_unit_test(context_is_made_from_null_options),
      cmocka_unit_test(context_uses_the_threads_asked_for),
      cmocka_unit_test(context_refuses_bad_options),
      cmocka_unit_test(context_refuses_half_an_allocator),
      cmocka_unit_test(context_says_when_cuda_is_unavailable),
      cmocka_unit_test(context_takes_all_its_memory_from_the_hooks),
      cmocka_unit_test(hooks_see_powers_of_two_their_multiples_and_never_zero_bytes_or_null),
      cmocka_unit_test(context_creation_survives_failing_allocations),
      cmocka_unit_test(context_keeps_the_last_message),
      cmocka_unit_test(destroy_accepts_null),
  };
  return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
