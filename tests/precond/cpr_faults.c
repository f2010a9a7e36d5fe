/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrices that updates of CPR refuse and change nothing, and those after which only a good update
 * makes it ready again. */
#include <math.h>

#include "cpr_variants.h"
#include "fixture.h"
#include "preconds.h"
#include "systems.h"

static void other_patterns_and_types_are_refused_and_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *single = test_bcsr_single(context, &arrays);
  /* one block moves: as many blocks, and as many in each row */
  arrays.col_idx[arrays.row_ptr[CELLS / 2 + 1] - 1]++;
  bisai_bcsr *moved = test_bcsr_take(context, arrays),
             *fewer = test_bcsr_take(context, test_flow(NX - 1, NY, BS, P, 1)),
             *turned = test_bcsr_take(context, test_flow(NY, NX, BS, P, 1)),
             *other = test_bcsr_take(context, test_flow(NX, NY, BS - 1, P, 1));
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.keep_pressure = k >= VARIANTS;
    bisai_precond *m = test_precond_with(context, a, &o);
    test_expect_update_refused(context, m, moved, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, turned, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, fewer, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, other, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, single, BISAI_UNSUPPORTED, "fp64");
    test_expect_update_refused(context, m, NULL, BISAI_INVALID_ARGUMENT, "matrix is NULL");
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&single);
  bisai_bcsr_destroy(&moved);
  bisai_bcsr_destroy(&fewer);
  bisai_bcsr_destroy(&turned);
  bisai_bcsr_destroy(&other);
}

/* Updates with `bad` fail, and with `a` all is well again. */
static void expect_failure(const bisai_bcsr *a, const bisai_bcsr *bad, bisai_status status,
                           const char *message, const bisai_precond_options *o) {
  bisai_precond *m = test_precond_with(context, a, o), *expected = test_precond_with(context, a, o);
  const bisai_cpr_report before = test_report_of(context, m).cpr;
  for (int k = 0; k < 2; k++) test_expect_update_failed(context, m, bad, status, message);
  const bisai_cpr_report after = test_report_of(context, m).cpr; /* of the last good one */
  assert_memory_equal(&before, &after, sizeof before);
  EXPECT_OK(context, bisai_precond_update(m, a));
  test_expect_equal(context, expected, m);
  test_expect_refused(context, bad, o, status, message);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&expected);
}

static void singular_blocks_fail_until_a_good_update(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  memset(test_bcsr_block(&arrays, 0, 0), 0, BS * BS * sizeof(double));
  bisai_bcsr *bad = test_bcsr_take(context, arrays);
  for (int k = 0; k < VARIANTS; k++) {
    bisai_precond_options o = variant_of(k);
    o.factor.ordering = BISAI_ORDERING_NATURAL; /* the first block has no pivots of others */
    o.factor.equilibrate = false;
    expect_failure(a, bad, BISAI_SINGULAR_BLOCK, "second stage: ", &o);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&bad);
}

/* Values that are not finite come through arrays that are borrowed. */
static void values_that_are_not_finite_fail_until_a_good_update(void **state) {
  (void)state;
  if (test_on_device()) return;
  for (int which = 0; which < 3; which++) {
    test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays), *bad = test_bcsr_borrow(context, &arrays);
    /* the pressure in a neighbour, another unknown of the cell, the pressure of the cell */
    test_bcsr_block(&arrays, 40, which == 0 ? 41 : 40)[which == 1 ? 0 : P * BS] =
        which == 1 ? (double)NAN : (double)INFINITY;
    for (int second = BISAI_CPR_SECOND_STAGE_ISAI; second <= BISAI_CPR_SECOND_STAGE_BJACOBI;
         second++) {
      bisai_precond_options o = variant_of(second);
      expect_failure(a, bad, BISAI_NOT_FINITE,
                     which ? "block (40, 40) holds a NaN or infinity"
                           : "block (40, 41) holds a NaN or infinity",
                     &o);
    }
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&bad);
    test_bcsr_free(&arrays);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_patterns_and_types_are_refused_and_change_nothing),
      cmocka_unit_test(singular_blocks_fail_until_a_good_update),
      cmocka_unit_test(values_that_are_not_finite_fail_until_a_good_update),
  };
  return cmocka_run_group_tests_name("cpr_faults", tests, setup, teardown);
}
