/* SPDX-License-Identifier: BSD-3-Clause */
/* The prediction of complete factorisations among candidates, and what the caller gives to them. */
#include "choice/work.h"

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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_operations_are_ordered_by_minimum_degree),
      cmocka_unit_test(many_operations_are_ordered_for_the_least_fill_of_the_build),
      cmocka_unit_test(no_ordering_is_searched_that_cannot_be_cheaper_than_the_others),
      cmocka_unit_test(near_null_vectors_reach_the_candidates_of_multigrid)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
