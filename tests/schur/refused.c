/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and matrices that SCHUR refuses by name. */
#include "saddles.h"
#include "support/fixture.h"
#include "support/preconds.h"
#include "support/systems.h"

enum { N = 27 };

static bisai_bcsr *saddle;

static int setup_saddle(void **state) {
  const int failed = setup(state);
  const saddle_rows s = saddle_grouped(9, 3);
  double *dense = saddle_random(&s, 0.0, 1);
  saddle = test_bcsr_take(context, saddle_from_dense(N, 3, dense, false));
  free(dense);
  return failed;
}

static int teardown_saddle(void **state) {
  bisai_bcsr_destroy(&saddle);
  return teardown(state);
}

static void expect_option_refused(bisai_precond_options o, const char *message) {
  test_expect_refused(context, saddle, &o, BISAI_INVALID_ARGUMENT, message);
}

static void pressures_are_named_in_one_way_and_within_the_matrix(void **state) {
  (void)state;
  static const int32_t rows[] = {2, 5, 5}, outside[] = {2, N}, negative[] = {-1, 3};
  const bisai_precond_options initial = test_precond_options(BISAI_PRECOND_SCHUR);
  bisai_precond_options o = initial;
  o.schur.component = 3;
  expect_option_refused(o, "component 3: a block has the unknowns 0 … 2");
  o.schur.component = 2, o.schur.from = 3;
  expect_option_refused(o, "component, from and rows: only one of them can be given");
  o = initial, o.schur.to = 3;
  expect_option_refused(o, "to 3 without from");
  o.schur.from = 4;
  expect_option_refused(o, "from 4 to 3: the rows are 0 … 26");
  o.schur.to = N;
  expect_option_refused(o, "from 4 to 27: the rows are 0 … 26");
  o = initial, o.schur.row_count = 2;
  expect_option_refused(o, "row_count 2 without rows");
  o.schur.rows = rows, o.schur.row_count = 0;
  expect_option_refused(o, "row_count 0: at least 1 is needed");
  o.schur.row_count = 3;
  expect_option_refused(o, "rows[2] is 5: the rows are 0 … 26 and ascend");
  o.schur.rows = outside, o.schur.row_count = 2;
  expect_option_refused(o, "rows[1] is 27: the rows are 0 … 26 and ascend");
  o.schur.rows = negative;
  expect_option_refused(o, "rows[0] is -1: the rows are 0 … 26 and ascend");
}

static void options_of_other_stages_and_other_rows_are_refused(void **state) {
  (void)state;
  static const double vectors[9] = {1};
  static const int32_t order[9] = {0};
  const bisai_precond_options initial = test_precond_options(BISAI_PRECOND_SCHUR);
  bisai_precond_options o = initial;
  o.isai.power = 2;
  expect_option_refused(o, "schur with the stages mg and mg does not take the option isai.power, "
                           "which is for isai");
  o.schur.first = BISAI_SCHUR_STAGE_ISAI, o.factor.level = 1;
  bisai_precond *m = test_precond_with(context, saddle, &o);
  bisai_precond_destroy(&m);
  o.schur.first = BISAI_SCHUR_STAGE_BJACOBI, o.isai.power = initial.isai.power;
  expect_option_refused(o, "schur with the stages bjacobi and mg does not take the option "
                           "factor.level, which is for ilu");
  o = initial, o.multigrid.null_vectors = vectors, o.multigrid.null_count = 1;
  expect_option_refused(o, "schur does not take multigrid.null_vectors: its stages have other rows "
                           "than the matrix");
  o = initial, o.schur.first = BISAI_SCHUR_STAGE_ILU;
  o.factor.ordering = BISAI_ORDERING_GIVEN, o.factor.permutation = order;
  expect_option_refused(o, "schur takes no given permutation");
}

static void matrices_that_are_no_saddle_points_say_what_is_missing(void **state) {
  (void)state;
  const bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  bisai_bcsr *grid = test_convdiff(context, 5), *single;
  test_expect_refused(
      context, grid, &o, BISAI_UNSUPPORTED,
      "no rows with a zero diagonal entry, and all entries have the same sign: name "
      "the pressures");
  bisai_precond_options all = o;
  all.schur.from = 0;
  test_expect_refused(context, grid, &all, BISAI_UNSUPPORTED,
                      "all 25 rows are pressures: there are no velocities");
  /* rows 0 and 2 have zeros on the diagonal, and row 2 has an entry for row 0 */
  const double dense[] = {0, 1, 3, 1, 4, 1, 3, 1, 0};
  single = test_bcsr_take(context, saddle_from_dense(3, 1, dense, false));
  test_expect_refused(context, single, &o, BISAI_UNSUPPORTED,
                      "rows 0 and 2 have zeros on the diagonal and couple with each other");
  bisai_bcsr_destroy(&single);
  bisai_bcsr_destroy(&grid);
}

static void velocities_with_a_zero_and_pressures_without_velocities_are_named(void **state) {
  (void)state;
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  const double zero[] = {4, 1, 3, 1, 0, 1, 3, 1, 0}, alone[] = {4, 1, 0, 1, 4, 0, 0, 0, 0};
  o.schur.from = 2;
  bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(3, 1, zero, true)),
             *b = test_bcsr_take(context, saddle_from_dense(3, 1, alone, true));
  test_expect_refused(context, a, &o, BISAI_SINGULAR_BLOCK,
                      "row 1, which is no pressure, has a zero on the diagonal");
  test_expect_refused(context, b, &o, BISAI_SINGULAR_BLOCK,
                      "row 2: the diagonal entry of the Schur complement of this pressure is zero");
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* A singular block of K is named by its row in A, behind the name of the stage. */
static void failures_of_a_stage_name_it_and_the_row(void **state) {
  (void)state;
  /* pressure 0; K = [1 1; 1 1] in rows 1 and 2 */
  const double dense[] = {0, 2, 1, 2, 1, 1, 1, 1, 1};
  bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  o.schur.first = BISAI_SCHUR_STAGE_ILU;
  bisai_bcsr *a = test_bcsr_take(context, saddle_from_dense(3, 1, dense, false));
  test_expect_refused(context, a, &o, BISAI_SINGULAR_BLOCK, "velocities: ");
  EXPECT_IN_MESSAGE(context, "block row 2");
  bisai_bcsr_destroy(&a);
}

static void other_value_types_are_refused(void **state) {
  (void)state;
  const saddle_rows s = saddle_grouped(9, 3);
  double *dense = saddle_random(&s, 0.0, 1);
  test_bcsr arrays = saddle_from_dense(N, 3, dense, false);
  bisai_bcsr *single = test_bcsr_single(context, &arrays);
  const bisai_precond_options o = test_precond_options(BISAI_PRECOND_SCHUR);
  test_expect_refused(context, single, &o, BISAI_UNSUPPORTED, "stored in fp64");
  bisai_bcsr_destroy(&single);
  test_bcsr_free(&arrays);
  free(dense);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pressures_are_named_in_one_way_and_within_the_matrix),
      cmocka_unit_test(options_of_other_stages_and_other_rows_are_refused),
      cmocka_unit_test(matrices_that_are_no_saddle_points_say_what_is_missing),
      cmocka_unit_test(velocities_with_a_zero_and_pressures_without_velocities_are_named),
      cmocka_unit_test(failures_of_a_stage_name_it_and_the_row),
      cmocka_unit_test(other_value_types_are_refused),
  };
  return cmocka_run_group_tests_name("schur_refused", tests, setup_saddle, teardown_saddle);
}
