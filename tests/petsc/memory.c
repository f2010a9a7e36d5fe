/* SPDX-License-Identifier: BSD-3-Clause */
/* A thousand solves inside PETSc, each with new values, hold no more memory than those before. */
#include "allocated.h"
#include "fixture.h"
#include "petsc_fixture.h"

enum { WARM = 200, SOLVES = 1200 };

/* Solves with A and Aᵀ and makes the preconditioner again for new values in each round. Every tenth
 * round changes an option, which discards the preconditioner. */
static void expect_no_growth(const bisai_bcsr *matrix, const char *options, PetscBool transposed) {
  KSP ksp;
  PC pc;
  Mat mat = NULL;
  Vec b, x;
  size_t after_warm_up = 0;
  bisai_precond_options own;
  EXPECT_OK(context, bisai_petsc_to_mat(context, matrix, &mat));
  PetscOptionsClear(NULL);
  PetscOptionsInsertString(NULL, options);
  MatCreateVecs(mat, &x, &b);
  VecSet(b, 1);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPGetPC(ksp, &pc);
  KSPSetOperators(ksp, mat, mat);
  assert_int_equal(KSPSetFromOptions(ksp), 0);
  for (int solve = 0; solve < SOLVES; solve++) {
    if (solve == WARM) after_warm_up = test_allocated();
    MatShift(mat, solve % 2 ? 0.5 : -0.5);
    if (solve % 10 == 0) {
      bisai_petsc_pc_get_options(pc, &own);
      bisai_petsc_pc_set_options(pc, &own);
    }
    assert_int_equal(KSPSolve(ksp, b, x), 0);
    if (transposed) assert_int_equal(KSPSolveTranspose(ksp, b, x), 0);
  }
  const size_t end = test_allocated();
  /* The C library keeps some freed blocks for later, and counts them. */
  if (end > after_warm_up + 4096)
    fail_msg("%s: %zu bytes after %d solves, %zu after %d", options, after_warm_up, WARM, end,
             SOLVES);
  KSPDestroy(&ksp);
  VecDestroy(&x);
  VecDestroy(&b);
  MatDestroy(&mat);
}

static void memory_does_not_grow_over_a_thousand_solves(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(6, 5, 2, 5));
  expect_no_growth(matrix, "-pc_type bisai -pc_bisai_type isai -pc_bisai_k 2", PETSC_TRUE);
  expect_no_growth(matrix, "-pc_type bisai -pc_bisai_type ilu -pc_bisai_ordering rcm", PETSC_TRUE);
  expect_no_growth(matrix, "-pc_type bisai -pc_bisai_type bjacobi", PETSC_TRUE);
  expect_no_growth(matrix, "-pc_type bisai -pc_bisai_type mg -pc_bisai_mg_coarsest 8", PETSC_TRUE);
  expect_no_growth(matrix,
                   "-pc_type bisai -pc_bisai_type mg -pc_bisai_mg_coarsest 8 -ksp_type bisai",
                   PETSC_FALSE);
  expect_no_growth(matrix, "-pc_type bisai -pc_bisai_type isai -ksp_type bisai -mat_type bisai",
                   PETSC_FALSE);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_does_not_grow_over_a_thousand_solves),
  };
  return test_petsc_run("petsc_memory", tests, sizeof tests / sizeof *tests, setup, teardown);
}
