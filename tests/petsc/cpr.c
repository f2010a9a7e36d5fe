/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR inside PETSc: options of both stages, new values, what is shown and refused. */
#include "fixture.h"

#include "petsc_application.h"
#include "petsc_fixture.h"

static bisai_precond_options first_stage(void) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.pressure = 1;
  o.cpr.keep_pressure = true;
  o.multigrid.strength = 0.3;
  o.multigrid.coarsest = 20;
  o.multigrid.post = 3;
  return o;
}

static const char first_words[] = "-pc_bisai_type cpr -pc_bisai_cpr_pressure 1 -pc_bisai_cpr_keep "
                                  "-pc_bisai_mg_strength 0.3 -pc_bisai_mg_coarsest 20 "
                                  "-pc_bisai_mg_post 3 ";

static void expect_options(const bisai_bcsr *matrix, const char *words,
                           const bisai_precond_options *o) {
  Mat mat = test_petsc_mat(matrix);
  char all[512];
  bisai_precond *expected = NULL;
  snprintf(all, sizeof all, "%s%s", first_words, words);
  PC pc = test_petsc_pc(mat, all);
  EXPECT_OK(context, bisai_precond_create(context, matrix, o, &expected));
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
  PCDestroy(&pc);
  MatDestroy(&mat);
}

/* isai and bjacobi both have -pc_bisai_storage. */
static void options_of_both_stages_are_those_of_the_library(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 11, 3, 5));
  bisai_precond_options o = first_stage();
  expect_options(matrix, "", &o);
  o.cpr.additive = true;
  expect_options(matrix, "-pc_bisai_cpr_additive", &o);
  o = first_stage();
  o.cpr.second = BISAI_CPR_SECOND_STAGE_ISAI;
  o.isai.power = 2;
  o.isai.storage = BISAI_FP32;
  o.factor.level = 1;
  expect_options(matrix,
                 "-pc_bisai_cpr_second isai -pc_bisai_k 2 -pc_bisai_storage fp32 -pc_bisai_level 1",
                 &o);
  o = first_stage();
  o.cpr.second = BISAI_CPR_SECOND_STAGE_BJACOBI;
  o.bjacobi.storage = BISAI_FP16;
  o.bjacobi.max_block = 6;
  expect_options(matrix,
                 "-pc_bisai_storage fp16 -pc_bisai_max_block 6 -pc_bisai_cpr_second bjacobi", &o);
  o = first_stage();
  o.cpr.second = BISAI_CPR_SECOND_STAGE_SWEEPS;
  o.sweeps.count = 3;
  expect_options(matrix, "-pc_bisai_cpr_second sweeps -pc_bisai_sweeps 3", &o);
  o = first_stage();
  o.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
  expect_options(matrix, "-pc_bisai_cpr_second ilu", &o);
  bisai_bcsr_destroy(&matrix);
}

static void options_of_another_second_stage_are_errors(void **state) {
  (void)state;
  static const char *const bad[] = {
      "-pc_bisai_type cpr -pc_bisai_k 2",
      "-pc_bisai_type cpr -pc_bisai_cpr_second ilu -pc_bisai_k 2",
      "-pc_bisai_type cpr -pc_bisai_cpr_second isai -pc_bisai_sweeps 2",
      "-pc_bisai_type mg -pc_bisai_cpr_pressure 1", "-pc_bisai_type isai -pc_bisai_cpr_second ilu"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(test_petsc_try_options(bad[i]), PETSC_ERR_ARG_WRONG);
}

/* Options of a second stage that is no longer in use return to their defaults. */
static void another_second_stage_forgets_the_options_of_the_old_one(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 2, 5));
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *expected = NULL;
  Mat mat = test_petsc_mat(matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type cpr -pc_bisai_cpr_second isai -pc_bisai_relax 2");
  assert_int_equal(PCSetUp(pc), 0);
  test_petsc_set_options(pc, "-pc_bisai_type cpr -pc_bisai_cpr_second ilu");
  assert_int_equal(PCSetUp(pc), 0);
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &o, &expected));
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

/* Every Mat is destroyed before its preconditioner is applied. */
static void new_values_are_taken(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(10, 9, 2, 5);
  bisai_bcsr *old = test_bcsr_make(context, &arrays);
  for (int q = 0; q < arrays.row_ptr[arrays.block_rows]; q++) arrays.values[4 * q] *= 1.5;
  bisai_bcsr *new = test_bcsr_make(context, &arrays);
  const bisai_bcsr *const matrices[] = {old, new, old};
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *expected = NULL;
  o.kind = BISAI_PRECOND_CPR;
  EXPECT_OK(context, bisai_precond_create(context, old, &o, &expected));
  PC pc = NULL;
  for (int k = 0; k < 3; k++) {
    Mat mat = test_petsc_mat(matrices[k]);
    if (!pc) pc = test_petsc_pc(mat, "-pc_bisai_type cpr");
    assert_int_equal(PCSetOperators(pc, mat, mat), 0);
    MatDestroy(&mat);
    assert_int_equal(PCSetUp(pc), 0);
    EXPECT_OK(context, bisai_precond_update(expected, matrices[k]));
    expect_same_application(pc, expected);
  }
  PCDestroy(&pc);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&old);
  bisai_bcsr_destroy(&new);
  test_bcsr_free(&arrays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_of_both_stages_are_those_of_the_library),
      cmocka_unit_test(options_of_another_second_stage_are_errors),
      cmocka_unit_test(another_second_stage_forgets_the_options_of_the_old_one),
      cmocka_unit_test(new_values_are_taken),
  };
  return test_petsc_run("petsc_cpr", tests, sizeof tests / sizeof *tests, setup, teardown);
}
