/* SPDX-License-Identifier: BSD-3-Clause */
/* SCHUR inside PETSc: options of both stages, new values, what is refused. */
#include "fixture.h"

#include "petsc_application.h"
#include "petsc_fixture.h"
#include "schur/saddles.h"

static test_bcsr arrays_of(uint64_t seed) {
  const saddle_rows s = saddle_grouped(20, 3);
  double *dense = saddle_random(&s, 0.0, seed);
  const test_bcsr a = saddle_from_dense(60, 3, dense, false);
  free(dense);
  return a;
}

static void expect_options(const char *words, const bisai_precond_options *o) {
  bisai_bcsr *matrix = test_bcsr_take(context, arrays_of(3));
  Mat mat = test_petsc_mat(matrix);
  bisai_precond *expected = NULL;
  PC pc = test_petsc_pc(mat, words);
  EXPECT_OK(context, bisai_precond_create(context, matrix, o, &expected));
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
}

static void options_of_both_stages_are_those_of_the_library(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  expect_options("-pc_bisai_type schur", &o);
  o.multigrid.coarsest = 5;
  o.schur.component = 2;
  o.schur.form = BISAI_SCHUR_FORM_LOWER;
  expect_options("-pc_bisai_type schur -pc_bisai_schur_component 2 -pc_bisai_schur_form lower "
                 "-pc_bisai_mg_coarsest 5",
                 &o);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_SCHUR;
  o.schur.first = BISAI_SCHUR_STAGE_ILU;
  o.schur.second = BISAI_SCHUR_STAGE_SWEEPS;
  o.schur.complement = BISAI_SCHUR_COMPLEMENT_SIMPLE;
  o.factor.level = 1;
  o.sweeps.count = 3;
  expect_options("-pc_bisai_level 1 -pc_bisai_sweeps 3 -pc_bisai_schur_complement simple "
                 "-pc_bisai_schur_second sweeps -pc_bisai_schur_first ilu -pc_bisai_type schur",
                 &o);
}

static void options_of_other_stages_are_errors(void **state) {
  (void)state;
  static const char *const bad[] = {
      "-pc_bisai_type schur -pc_bisai_k 2",
      "-pc_bisai_type schur -pc_bisai_schur_first ilu -pc_bisai_sweeps 2",
      "-pc_bisai_type cpr -pc_bisai_schur_form full", "-pc_bisai_type mg -pc_bisai_schur_from 3"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(test_petsc_try_options(bad[i]), PETSC_ERR_ARG_WRONG);
}

/* Every Mat is destroyed before its preconditioner is applied. */
static void new_values_are_taken(void **state) {
  (void)state;
  bisai_bcsr *old = test_bcsr_take(context, arrays_of(3)),
             *new = test_bcsr_take(context, arrays_of(4));
  const bisai_bcsr *const matrices[] = {old, new, old};
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *expected = NULL;
  PC pc = NULL;
  o.kind = BISAI_PRECOND_SCHUR;
  EXPECT_OK(context, bisai_precond_create(context, old, &o, &expected));
  for (int k = 0; k < 3; k++) {
    Mat mat = test_petsc_mat(matrices[k]);
    if (!pc) pc = test_petsc_pc(mat, "-pc_bisai_type schur");
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
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_of_both_stages_are_those_of_the_library),
      cmocka_unit_test(options_of_other_stages_are_errors),
      cmocka_unit_test(new_values_are_taken),
  };
  return test_petsc_run("petsc_schur", tests, sizeof tests / sizeof *tests, setup, teardown);
}
