/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid over ranks, which are threads here: a failure of one rank ends all of them with the
 * same status and message, and none of them leaks. */
#include <bisai/ranks.h>

#include "mesh.h"
#include "ranks.h"

/* What each rank does: creation and then, if wanted, an update and a transposed application. */
typedef struct work {
  bisai_ranks_options options;
  bool updates, transposes;
} work;

static work work_of(void) {
  work w = {.options = bisai_ranks_options_default()};
  w.options.gather = 60;
  w.options.multigrid.coarsest = 20;
  return w;
}

static bisai_status run_work(test_rank *rank) {
  const work *w = rank->user;
  const int32_t n = bisai_bcsr_block_rows(rank->matrix) * bisai_bcsr_block_size(rank->matrix);
  double *v = test_random_vector(n, 1), *z = test_random_vector(n, 2);
  bisai_ranks *ranks = NULL;
  bisai_status status =
      bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &w->options, &ranks);
  if (!status && w->updates) status = bisai_ranks_update(ranks, rank->matrix);
  if (!status && w->transposes) status = bisai_ranks_apply_transpose(ranks, v, z);
  bisai_ranks_destroy(&ranks);
  free(v), free(z);
  return status;
}

/* Fails unless all ranks return this status with a message that has `part`. */
static void expect_failure(const test_bcsr *a, work *w, bisai_status expected, const char *part) {
  test_rank ranks[TEST_MOST_RANKS];
  const test_sharing sharing = test_share(3, a->block_rows, false);
  test_run_ranks(a, &sharing, &(test_job){.run = run_work, .user = w}, ranks);
  for (int k = 0; k < sharing.ranks; k++) {
    if (ranks[k].status != expected) print_error("rank %d: %s\n", k, ranks[k].message);
    assert_int_equal(ranks[k].status, expected);
    assert_non_null(strstr(ranks[k].message, part));
    assert_false(ranks[k].leaks);
  }
}

static void a_singular_block_of_one_rank_fails_on_all(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(20, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  const int32_t row = a.block_rows / 2;
  double *block = test_bcsr_block(&a, row, row);
  work w = work_of();
  for (int v = 0; v < 4; v++) block[v] = 0.0;
  expect_failure(&a, &w, BISAI_SINGULAR_BLOCK, "process 1, counting its own rows: ");
  test_bcsr_free(&a);
}

static void a_hierarchy_without_updates_refuses_them(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  work w = work_of();
  w.updates = true;
  w.options.multigrid.update = BISAI_MULTIGRID_UPDATE_NONE;
  expect_failure(&a, &w, BISAI_UNSUPPORTED, "update=none");
  test_bcsr_free(&a);
}

/* A cycle K depends on its vector. */
static void a_cycle_that_is_not_linear_has_no_transpose(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  work w = work_of();
  w.transposes = true;
  w.options.multigrid.cycle = BISAI_CYCLE_K;
  expect_failure(&a, &w, BISAI_UNSUPPORTED, "the cycle k is not linear");
  w.options = bisai_ranks_options_default();
  w.options.products_only = true;
  expect_failure(&a, &w, BISAI_UNSUPPORTED, "the options were products_only");
  test_bcsr_free(&a);
}

/* Allocations of one rank fail in creation, in an update, and where the levels of the transposed
 * matrix are made. Rank 0 has the gathered levels too. */
static void a_rank_without_memory_ends_all(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  const test_sharing sharing = test_share(3, a.block_rows, false);
  for (int failing = 0; failing < 2; failing++) {
    bool failed = true;
    for (long long fail_at = 1; failed; fail_at += failing == 0 ? 11 : fail_at < 40 ? 1 : 7) {
      test_rank ranks[TEST_MOST_RANKS];
      work w = work_of();
      w.updates = w.transposes = true;
      test_run_ranks(
          &a, &sharing,
          &(test_job){.run = run_work, .user = &w, .failing = failing, .fail_at = fail_at}, ranks);
      failed = ranks[failing].status != BISAI_OK;
      for (int k = 0; k < 3; k++) {
        assert_int_equal(ranks[k].status, failed ? BISAI_OUT_OF_MEMORY : BISAI_OK);
        assert_false(ranks[k].leaks);
      }
    }
  }
  test_bcsr_free(&a);
}

static void a_transport_that_fails_ends_all(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  const test_sharing sharing = test_share(3, a.block_rows, false);
  bool failed = true;
  for (long long at = 1; failed; at += at < 30 ? 1 : 5) {
    test_rank ranks[TEST_MOST_RANKS];
    work w = work_of();
    w.transposes = true;
    test_run_ranks(&a, &sharing, &(test_job){.run = run_work, .user = &w, .transport_fails_at = at},
                   ranks);
    failed = ranks[0].status != BISAI_OK;
    for (int k = 0; k < 3; k++) {
      assert_true(!ranks[k].status || ranks[k].status == BISAI_CALLBACK_FAILED);
      assert_false(ranks[k].leaks);
    }
  }
  test_bcsr_free(&a);
}

static void wrong_options_are_refused(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  work w = work_of();
  w.options.multigrid.smoother = BISAI_SMOOTHER_ILU;
  expect_failure(&a, &w, BISAI_UNSUPPORTED, "the smoother ilu");
  w.options.multigrid.smoother = BISAI_SMOOTHER_AUTO;
  w.options.gather = -2;
  expect_failure(&a, &w, BISAI_INVALID_ARGUMENT, "gather is -2");
  w.options.gather = 60;
  w.options.multigrid.degree = 0;
  expect_failure(&a, &w, BISAI_INVALID_ARGUMENT, "degree");
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_singular_block_of_one_rank_fails_on_all),
                                     cmocka_unit_test(a_hierarchy_without_updates_refuses_them),
                                     cmocka_unit_test(a_cycle_that_is_not_linear_has_no_transpose),
                                     cmocka_unit_test(a_rank_without_memory_ends_all),
                                     cmocka_unit_test(a_transport_that_fails_ends_all),
                                     cmocka_unit_test(wrong_options_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
