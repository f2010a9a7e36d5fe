/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that a context reports to have on its device, and what it gives back. */
#include "mesh.h"

/* A context whose device memory is that of its own pool. */
static bisai_context *context_with_a_pool(void) {
  bisai_context_options options = bisai_context_options_default();
  options.backend = test_on_device() ? BISAI_BACKEND_CUDA : BISAI_BACKEND_HOST;
  options.threads = 2;
  bisai_context *context = NULL;
  assert_int_equal(bisai_context_create(&options, &context), BISAI_OK);
  return context;
}

static bisai_device_memory memory_of(bisai_context *context, bool restart) {
  bisai_device_memory memory = {.struct_size = sizeof memory};
  EXPECT_OK(context, bisai_context_device_memory(context, restart, &memory));
  assert_int_equal(memory.struct_size, sizeof memory);
  assert_true(memory.used_bytes >= 0 && memory.used_bytes <= memory.most_used_bytes);
  assert_true(memory.used_bytes <= memory.pool_bytes);
  return memory;
}

static void the_host_has_no_device_memory(void **state) {
  (void)state;
  bisai_context *context = test_host_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(20, 20, 2, 7));
  const bisai_device_memory memory = memory_of(context, true);
  assert_int_equal(memory.most_used_bytes, 0);
  assert_int_equal(memory.pool_bytes, 0);
  EXPECT_OK(context, bisai_context_trim(context));
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* The bytes of a hierarchy that are on the device; records and recorded steps are on the host. */
static int64_t bytes_on_device(const bisai_multigrid_report *g) {
  int64_t bytes = g->hierarchy_bytes;
  for (int l = 0; l < g->levels; l++)
    bytes -= g->memory[l].bytes[BISAI_MULTIGRID_PART_RECORDS] +
             g->memory[l].bytes[BISAI_MULTIGRID_PART_GRAPH];
  return bytes;
}

/* After the set-up of a preconditioner the context holds what the report says, rounded up, and the
 * set-up held more for a while. What the pool keeps of that can be returned. */
static void a_device_tells_what_a_set_up_took_and_returns_it(void **state) {
  (void)state;
  bisai_context *context = context_with_a_pool();
  bisai_bcsr *matrix =
      test_bcsr_take(context, test_mesh_diffusion(60, 60, 3, TEST_ZERO_OUTSIDE, 0.3));
  const bisai_device_memory before = memory_of(context, true);
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_MULTIGRID;
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  const bisai_device_memory after = memory_of(context, false);
  const bisai_precond_report report = test_report_of(context, precond);
  if (test_on_device()) {
    assert_true(after.used_bytes - before.used_bytes >= bytes_on_device(&report.multigrid));
    assert_true(after.most_used_bytes - before.used_bytes >= report.multigrid.peak_bytes);
  } else {
    assert_int_equal(after.most_used_bytes, 0);
  }

  bisai_precond_destroy(&precond);
  const bisai_device_memory destroyed = memory_of(context, true);
  assert_int_equal(destroyed.used_bytes, before.used_bytes);
  assert_int_equal(destroyed.most_used_bytes, after.most_used_bytes);
  assert_int_equal(destroyed.pool_bytes, after.pool_bytes);
  EXPECT_OK(context, bisai_context_trim(context));
  const bisai_device_memory trimmed = memory_of(context, false);
  assert_int_equal(trimmed.used_bytes, before.used_bytes);
  assert_int_equal(trimmed.most_used_bytes, trimmed.used_bytes);
  assert_true(trimmed.pool_bytes <= destroyed.pool_bytes);

  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  bisai_context *context = context_with_a_pool();
  bisai_device_memory memory = {.struct_size = sizeof memory - 1, .used_bytes = 7};
  EXPECT_STATUS(context, bisai_context_device_memory(context, false, &memory),
                BISAI_INVALID_ARGUMENT);
  EXPECT_IN_MESSAGE(context, "struct_size is ");
  assert_int_equal(memory.used_bytes, 7);
  EXPECT_STATUS(context, bisai_context_device_memory(context, false, NULL), BISAI_INVALID_ARGUMENT);
  EXPECT_MESSAGE(context, "memory is NULL");
  assert_int_equal(bisai_context_device_memory(NULL, false, &memory), BISAI_INVALID_ARGUMENT);
  assert_int_equal(bisai_context_trim(NULL), BISAI_INVALID_ARGUMENT);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_host_has_no_device_memory),
      cmocka_unit_test(a_device_tells_what_a_set_up_took_and_returns_it),
      cmocka_unit_test(wrong_arguments_are_refused),
  };
  return cmocka_run_group_tests_name("device_memory", tests, NULL, NULL);
}
