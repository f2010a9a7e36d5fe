/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the host waits for a device while it makes the levels. Small systems take longer to
 * wait than to compute. */
#include "mesh.h"
#include "problem.h"

/* The waits of a level that has transfers, and those of the coarsest matrix and of the copies in
 * fp32 of all levels. */
enum { OF_A_LEVEL = 2, OF_ALL = 3 };

/* Frees the arrays. */
static void expect_few_waits(test_bcsr arrays, const bsi_multigrid_setup *setup) {
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  bsi_hierarchy h;
  const int64_t before = context->fetches.waits;
  EXPECT_OK(context, bsi_hierarchy_create(context, matrix, setup, &h));
  const int64_t waits = context->fetches.waits - before;
  assert_true(h.count >= 3 && h.coarse.inverse);
  if (context->backend->memory->is_host)
    assert_int_equal(waits, 0);
  else
    assert_in_range(waits, 1, OF_A_LEVEL * (h.count - 1) + OF_ALL);
  bsi_hierarchy_destroy(context, &h);
  bisai_bcsr_destroy(&matrix);
}

static bsi_multigrid_setup default_setup(void) {
  bsi_multigrid_setup s = setup_of(BISAI_CYCLE_W, BISAI_SMOOTHER_JACOBI);
  s.options.update = BISAI_MULTIGRID_UPDATE_AUTO;
  s.options.precision = BISAI_FP32;
  return s;
}

static void the_host_waits_few_times_for_a_level(void **state) {
  (void)state;
  const bsi_multigrid_setup setup = default_setup();
  expect_few_waits(test_mesh_diffusion(40, 40, 3, TEST_ZERO_OUTSIDE, 0.5), &setup);
}

static void the_host_waits_few_times_for_a_level_of_a_symmetric_matrix(void **state) {
  (void)state;
  bsi_multigrid_setup setup = default_setup();
  setup.symmetric = true;
  expect_few_waits(test_mesh_diffusion(60, 60, 1, TEST_ZERO_OUTSIDE, 0.0), &setup);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_host_waits_few_times_for_a_level),
      cmocka_unit_test(the_host_waits_few_times_for_a_level_of_a_symmetric_matrix),
  };
  return cmocka_run_group_tests_name("waits", tests, setup, teardown);
}
