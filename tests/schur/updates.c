/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of SCHUR, memory, and threads. */
#include "saddles.h"
#include "support/fixture.h"
#include "support/preconds.h"
#include "support/systems.h"

enum { GROUPS = 20, N = 3 * GROUPS, VARIANTS = 9 };

/* All stages, complements and forms; with and without C. */
static bisai_precond_options variant_of(int variant) {
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  o.schur.first = (bisai_schur_stage)(1 + variant % 6);
  o.schur.second = (bisai_schur_stage)(1 + (variant + 2) % 6);
  o.schur.complement = (bisai_schur_complement)(BISAI_SCHUR_COMPLEMENT_LSC + variant % 3);
  o.schur.form = (bisai_schur_form)(variant / 3);
  return o;
}

static test_bcsr saddle_of(int variant, uint64_t seed) {
  const saddle_rows s = saddle_grouped(GROUPS, 3);
  double *dense = saddle_random(&s, variant % 2 ? 0.5 : 0.0, seed);
  const test_bcsr a = saddle_from_dense(N, variant % 4 < 2 ? 3 : 1, dense, false);
  free(dense);
  return a;
}

static void updates_give_what_creation_gives(void **state) {
  (void)state;
  for (int k = 0; k < VARIANTS; k++) {
    const bisai_precond_options o = variant_of(k);
    bisai_bcsr *a = test_bcsr_take(context, saddle_of(k, 1)),
               *b = test_bcsr_take(context, saddle_of(k, 2));
    test_expect_update_as_creation(context, a, b, &o);
    test_expect_taken_back(context, a, b, &o);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

static void other_patterns_are_refused_and_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = saddle_of(0, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *single = test_bcsr_single(context, &arrays),
             *other = test_bcsr_take(context, saddle_of(2, 1));
  arrays.row_ptr[GROUPS]--; /* the last block goes */
  bisai_bcsr *fewer = test_bcsr_take(context, arrays);
  const bisai_precond_options o = variant_of(0);
  bisai_precond *m = test_precond_with(context, a, &o);
  test_expect_update_refused(context, m, fewer, BISAI_INVALID_ARGUMENT, "the pattern changed");
  test_expect_update_refused(context, m, other, BISAI_INVALID_ARGUMENT, "the pattern changed");
  test_expect_update_refused(context, m, single, BISAI_UNSUPPORTED, "fp64");
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&single);
  bisai_bcsr_destroy(&other);
  bisai_bcsr_destroy(&fewer);
}

/* A pressure gets an entry on the diagonal where creation had a zero. */
static void values_without_a_place_are_refused_by_their_row(void **state) {
  (void)state;
  const bisai_precond_options o = variant_of(0);
  test_bcsr arrays = saddle_of(0, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  test_bcsr_block(&arrays, 7, 7)[8] = -1e-3;
  bisai_bcsr *b = test_bcsr_take(context, arrays);
  bisai_precond *m = test_precond_with(context, a, &o);
  test_expect_update_refused(context, m, b, BISAI_INVALID_STRUCTURE,
                             "row 23 has a value that is not zero where the matrix of creation had "
                             "a zero");
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* Updates with a zero on the diagonal of K, or a pressure without velocities, fail until a good
 * one. */
static void zeros_on_the_diagonal_fail_until_a_good_update(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    const bisai_precond_options o = variant_of(0);
    test_bcsr arrays = saddle_of(0, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    if (k == 0) test_bcsr_block(&arrays, 4, 4)[4] = 0.0;
    for (int32_t j = 0; j < GROUPS && k == 1; j++)
      for (int c = 0; c < 3; c++) test_bcsr_block(&arrays, 5, j)[3 * c + 2] = 0.0;
    bisai_bcsr *b = test_bcsr_take(context, arrays);
    bisai_precond *m = test_precond_with(context, a, &o), *same = test_precond_with(context, a, &o);
    test_expect_update_failed(context, m, b, BISAI_SINGULAR_BLOCK,
                              k == 0 ? "row 13, which is no pressure, has a zero on the diagonal"
                                     : "row 17: the diagonal entry of the Schur complement of this "
                                       "pressure is zero");
    EXPECT_OK(context, bisai_precond_update(m, a));
    test_expect_equal(context, same, m);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&same);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

static void updates_and_applications_allocate_nothing(void **state) {
  (void)state;
  for (int k = 0; k < VARIANTS; k++) {
    const bisai_precond_options o = variant_of(k);
    test_bcsr a = saddle_of(k, 1), b = saddle_of(k, 2);
    test_expect_no_allocations(&a, &b, &o);
    test_bcsr_free(&a);
    test_bcsr_free(&b);
  }
}

static void failing_allocations_leave_nothing_behind(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    bisai_precond_options o = variant_of(k);
    if (k == 3) o.schur.complement = BISAI_SCHUR_COMPLEMENT_AUTO;
    test_bcsr a = saddle_of(k, 1);
    test_expect_failing_allocations_survived(&a, &o, 40);
    test_bcsr_free(&a);
  }
}

static void results_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  for (int k = 0; k < VARIANTS; k++) {
    const bisai_precond_options o = variant_of(k);
    double *results[3];
    for (int t = 0; t < 3; t++) {
      bisai_context *c = test_context(t == 0 ? 1 : t == 1 ? 3 : 7);
      bisai_bcsr *a = test_bcsr_take(c, saddle_of(k, 1));
      bisai_precond *m = test_precond_with(c, a, &o);
      results[t] = test_applied(c, m);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
      bisai_context_destroy(&c);
    }
    assert_memory_equal(results[0], results[1], N * sizeof(double));
    assert_memory_equal(results[0], results[2], N * sizeof(double));
    for (int t = 0; t < 3; t++) free(results[t]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_give_what_creation_gives),
      cmocka_unit_test(other_patterns_are_refused_and_change_nothing),
      cmocka_unit_test(values_without_a_place_are_refused_by_their_row),
      cmocka_unit_test(zeros_on_the_diagonal_fail_until_a_good_update),
      cmocka_unit_test(updates_and_applications_allocate_nothing),
      cmocka_unit_test(failing_allocations_leave_nothing_behind),
      cmocka_unit_test(results_do_not_depend_on_the_number_of_threads),
  };
  return cmocka_run_group_tests_name("schur_updates", tests, setup, teardown);
}
