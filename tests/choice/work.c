/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of complete factorisations among candidates, and what the caller gives to them. */
#include "choice/work.h"

#include <math.h>

#include "choice/trial.h"
#include "lu/predict.h"
#include "support/mesh.h"
#include "support/support.h"

static bsi_candidate complete(bisai_matching matching) {
  bsi_candidate c = {.precond = bisai_precond_options_default(),
                     .solver = bisai_solver_options_default(),
                     .guessed = true};
  c.precond.kind = BISAI_PRECOND_LU;
  c.precond.factor.matching = matching;
  return c;
}

/* Predicts for a matrix, which it takes, and compares with the structure of the factors. */
static bisai_ordering predicted_ordering(test_bcsr arrays, double alternative) {
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = test_bcsr_take(context, arrays);
  const bsi_task task = {.context = context, .matrix = matrix};
  int32_t *permutation = malloc((size_t)bisai_bcsr_block_rows(matrix) * sizeof *permutation);
  bsi_candidate plain = complete(BISAI_MATCHING_NONE), matched = complete(BISAI_MATCHING_ENTRIES);
  bsi_lu_prediction made;
  EXPECT_OK(context, bsi_work_predict_lu(&task, alternative, permutation, &plain));
  EXPECT_OK(context, bsi_lu_predict(context, matrix, BISAI_ORDERING_GIVEN, permutation, &made));
  assert_true(plain.memory >= 8.0 * (double)made.values &&
              plain.memory <= 8.1 * (double)made.values);
  assert_true(plain.predicted && !plain.guessed && plain.setup > 0 && plain.step > 0);
  assert_ptr_equal(permutation, plain.permutation);
  bsi_work_share_lu(&task, &plain, permutation, &matched);
  assert_true(matched.predicted && !matched.guessed);
  assert_true(matched.setup > plain.setup && matched.step == plain.step);
  assert_int_equal(plain.precond.factor.ordering, matched.precond.factor.ordering);
  assert_null(matched.permutation);
  free(permutation);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
  return plain.precond.factor.ordering;
}

static void few_operations_are_ordered_by_minimum_degree(void **state) {
  (void)state;
  assert_int_equal(BISAI_ORDERING_MD, predicted_ordering(test_bcsr_grid(30, 30, 2, 5), 1));
}

static void many_operations_are_ordered_for_the_least_fill_of_the_build(void **state) {
  (void)state;
  assert_int_equal(bsi_lu_ordering(BISAI_ORDERING_NATURAL),
                   predicted_ordering(test_mesh_springs(20, 20, 20, TEST_FREE), 10));
}

static void no_ordering_is_searched_that_cannot_be_cheaper_than_the_others(void **state) {
  (void)state;
  assert_int_equal(BISAI_ORDERING_MD,
                   predicted_ordering(test_mesh_springs(20, 20, 20, TEST_FREE), 1e-3));
}

/* A symmetric matrix and one that is not, which have different lists. */
static void near_null_vectors_reach_the_candidates_of_multigrid(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int windy = 0; windy < 2; windy++) {
    bisai_bcsr *matrix =
        test_bcsr_take(context, test_mesh_diffusion(30, 30, 2, TEST_ZERO_OUTSIDE, windy ? 0.3 : 0));
    const double *vectors = &(const double){1};
    bisai_matrix_study_report study = {.struct_size = sizeof study};
    EXPECT_OK(context, bisai_matrix_study(context, matrix, 0, NULL, &study));
    bsi_task task = {.context = context,
                     .matrix = matrix,
                     .study = &study,
                     .precond = bisai_precond_options_default(),
                     .solver = bisai_solver_options_default()};
    task.precond.kind = BISAI_PRECOND_AUTO;
    task.precond.multigrid.null_vectors = vectors;
    task.precond.multigrid.null_count = 3;
    bsi_candidates list;
    int found = 0;
    EXPECT_OK(context, bsi_work_measure(&task));
    EXPECT_OK(context, bsi_candidates_list(&task, &list));
    for (int i = 0; i < list.count; i++) {
      const bisai_precond_options *o = &list.items[i].precond;
      const bool takes = o->kind == BISAI_PRECOND_MULTIGRID;
      found += takes;
      assert_ptr_equal(takes ? vectors : NULL, o->multigrid.null_vectors);
      assert_int_equal(takes ? 3 : 0, o->multigrid.null_count);
    }
    assert_true(found > 0);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* The residual falls by 10 % an iteration: 20 were taken, and 164 more are needed. */
static void a_trial_promises_nothing_that_the_iterations_left_forbid(void **state) {
  (void)state;
  bsi_trial t = {.state = BSI_TRIAL_WAITS, .step = 2, .bounds.iterations = 1000};
  t.pace = (bsi_trial_pace){.iterations = 20, .target = -18.4, .doubt = 1};
  for (int i = 0; i <= 20; i++) t.pace.logs[i] = -0.1 * i;
  EXPECT_NEAR(2 * 164, bsi_trial_left(&t), 1e-9);
  bsi_trial_say_why(&t);
  assert_string_equal(
      "predicted 164 more iterations; the next candidate was expected to be cheaper", t.result.why);
  t.bounds.iterations = 183;
  assert_true(isinf(bsi_trial_left(&t)));
  bsi_trial_say_why(&t);
  assert_string_equal("predicted 164 more iterations; fewer are left", t.result.why);
  t.bounds.iterations = 185;
  EXPECT_NEAR(2 * 164, bsi_trial_left(&t), 1e-9);
}

/* With iterations that cost little, a trial would not reach its share of the alternative's work. */
static void a_trial_that_stalls_leaves_iterations_to_others(void **state) {
  (void)state;
  bsi_trial t = {.state = BSI_TRIAL_WAITS, .step = 1e-4, .work = 0.1};
  t.bounds = (bsi_trial_bounds){.alternative = 10, .least = 2, .most = 100, .iterations = 1000};
  t.pace = (bsi_trial_pace){.iterations = 199, .target = -18.4, .doubt = 1};
  assert_false(bsi_trial_should_wait(&t));
  t.pace.iterations = 200;
  assert_true(isinf(bsi_trial_left(&t)) && bsi_trial_should_wait(&t));
  t.bounds.alternative = INFINITY;
  assert_false(bsi_trial_should_wait(&t));
}

/* An estimate raises a guess, but not above what makes a prediction cheap. */
static void estimates_put_off_predictions_of_bodies_only(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int body = 0; body < 2; body++) {
    bisai_bcsr *matrix = test_bcsr_take(context, body ? test_mesh_springs(16, 16, 16, TEST_FREE)
                                                      : test_bcsr_grid(64, 64, 1, 5));
    const double n = bisai_bcsr_block_rows(matrix), bs = bisai_bcsr_block_size(matrix);
    bisai_matrix_study_report study = {.struct_size = sizeof study};
    EXPECT_OK(context, bisai_matrix_study(context, matrix, 0, NULL, &study));
    const bsi_task task = {.context = context, .matrix = matrix, .study = &study};
    bsi_candidates list = {.items = {complete(BISAI_MATCHING_NONE)}, .count = 1};
    bsi_work_guess_lu(&task, 30 * pow(n, 1.5) * bs * bs * bs, &list.items[0]);
    const double guess = list.items[0].setup;
    EXPECT_OK(context, bsi_work_estimate_lu(&task, &list));
    assert_true(list.items[0].guessed && list.items[0].estimated);
    assert_true(body ? list.items[0].setup > 2 * guess : list.items[0].setup < 1.5 * guess);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_operations_are_ordered_by_minimum_degree),
      cmocka_unit_test(many_operations_are_ordered_for_the_least_fill_of_the_build),
      cmocka_unit_test(no_ordering_is_searched_that_cannot_be_cheaper_than_the_others),
      cmocka_unit_test(near_null_vectors_reach_the_candidates_of_multigrid),
      cmocka_unit_test(a_trial_promises_nothing_that_the_iterations_left_forbid),
      cmocka_unit_test(a_trial_that_stalls_leaves_iterations_to_others),
      cmocka_unit_test(estimates_put_off_predictions_of_bodies_only)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
