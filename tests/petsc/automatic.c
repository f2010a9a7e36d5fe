/* SPDX-License-Identifier: BSD-3-Clause */
/* -pc_type bisai without other options: the preconditioner is chosen for the matrix and the solver
 * around it. */
#include "fixture.h"

#include "mesh.h"
#include "petsc_application.h"
#include "petsc_fixture.h"

/* −Δ on a square grid of m × m points with the 5-point stencil, plus a shift. */
static Mat make_grid(PetscInt m, double shift) {
  Mat a;
  assert_int_equal(MatCreateSeqAIJ(PETSC_COMM_SELF, m * m, m * m, 5, NULL, &a), 0);
  for (PetscInt i = 0; i < m * m; i++) {
    const PetscInt x = i % m, y = i / m;
    MatSetValue(a, i, i, 4 + shift, INSERT_VALUES);
    if (x > 0) MatSetValue(a, i, i - 1, -1, INSERT_VALUES);
    if (x < m - 1) MatSetValue(a, i, i + 1, -1, INSERT_VALUES);
    if (y > 0) MatSetValue(a, i, i - m, -1, INSERT_VALUES);
    if (y < m - 1) MatSetValue(a, i, i + m, -1, INSERT_VALUES);
  }
  MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY);
  MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
  return a;
}

static KSP make_ksp(Mat a, KSPType type) {
  KSP ksp;
  PC pc;
  assert_int_equal(KSPCreate(PETSC_COMM_SELF, &ksp), 0);
  assert_int_equal(KSPSetOperators(ksp, a, a), 0);
  assert_int_equal(KSPSetType(ksp, type), 0);
  assert_int_equal(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 500), 0);
  assert_int_equal(KSPGetPC(ksp, &pc), 0);
  assert_int_equal(PCSetType(pc, "bisai"), 0);
  return ksp;
}

/* Solves for b = 1, or with Aᵀ, and returns ‖b − A x‖/‖b‖. */
static double solve(KSP ksp, bool transposed) {
  Mat a;
  Vec b, x, r;
  PetscReal norm, residual;
  KSPGetOperators(ksp, &a, NULL);
  MatCreateVecs(a, &x, &b);
  VecDuplicate(b, &r);
  VecSet(b, 1);
  assert_int_equal(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x), 0);
  if (transposed)
    MatMultTranspose(a, x, r);
  else
    MatMult(a, x, r);
  VecAXPY(r, -1, b);
  VecNorm(r, NORM_2, &residual);
  VecNorm(b, NORM_2, &norm);
  VecDestroy(&b);
  VecDestroy(&x);
  VecDestroy(&r);
  return residual / norm;
}

/* The preconditioner of a KSP, or NULL. */
static bisai_precond *precond_of(KSP ksp) {
  PC pc;
  bisai_precond *precond = NULL;
  KSPGetPC(ksp, &pc);
  assert_int_equal(bisai_petsc_pc_get_precond(pc, &precond), 0);
  return precond;
}

static const char *chosen_by(KSP ksp) {
  const bisai_precond *precond = precond_of(ksp);
  return precond ? bisai_precond_describe(precond) : "";
}

/* The residuals that the solvers compute are preconditioned ones. The true one is at most the
 * condition number of M⁻¹ A, some thousands here, times as large. */
static void each_solver_gets_what_it_takes(void **state) {
  (void)state;
  static const struct {
    KSPType type;
    const char *begin;
  } solvers[] = {{KSPGMRES, "auto: "}, {KSPFGMRES, "auto: "},    {KSPBCGS, "auto: "},
                 {KSPCG, "auto: "},    {KSPMINRES, "auto: "},    {KSPCR, "auto: "},
                 {KSPFCG, "auto: "},   {KSPPREONLY, "auto: lu"}, {KSPRICHARDSON, "auto: lu"},
                 {KSPBICG, "ilu "},    {KSPCHEBYSHEV, "ilu "}};
  Mat a = make_grid(20, 0);
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
    bisai_precond_report report = {.struct_size = sizeof report};
    KSP ksp = make_ksp(a, solvers[i].type);
    const double residual = solve(ksp, false);
    if (!(residual <= 1e-6)) fail_msg("%s: %.1e", solvers[i].type, residual);
    if (strncmp(chosen_by(ksp), solvers[i].begin, strlen(solvers[i].begin)) != 0)
      fail_msg("%s: %s", solvers[i].type, chosen_by(ksp));
    EXPECT_OK(context, bisai_precond_get_report(precond_of(ksp), &report));
    assert_int_not_equal(report.symmetry, BISAI_SYMMETRY_NONE);
    KSPDestroy(&ksp);
  }
  MatDestroy(&a);
}

/* Attaches the modes, of which row i has value i of all, as a near-null space. */
static void attach_modes(Mat a, const double *modes) {
  enum { MODES = 6 };
  MatNullSpace space;
  Vec vectors[MODES];
  PetscInt rows;
  MatGetSize(a, &rows, NULL);
  for (int m = 0; m < MODES; m++) {
    MatCreateVecs(a, &vectors[m], NULL);
    for (PetscInt i = 0; i < rows; i++)
      VecSetValue(vectors[m], i, modes[i * MODES + m], INSERT_VALUES);
    VecAssemblyBegin(vectors[m]);
    VecAssemblyEnd(vectors[m]);
    for (int l = 0; l < m; l++) {
      PetscScalar part;
      VecDot(vectors[m], vectors[l], &part);
      VecAXPY(vectors[m], -part, vectors[l]);
    }
    VecNormalize(vectors[m], NULL);
  }
  assert_int_equal(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, MODES, vectors, &space), 0);
  assert_int_equal(MatSetNearNullSpace(a, space), 0);
  MatNullSpaceDestroy(&space);
  for (int m = 0; m < MODES; m++) VecDestroy(&vectors[m]);
}

static void near_null_vectors_reach_the_candidates(void **state) {
  (void)state;
  enum { SIDE = 12 };
  bisai_bcsr *matrix =
      test_bcsr_take(context, test_mesh_springs(SIDE, SIDE, SIDE, TEST_FIXED_FACE));
  double *modes = test_mesh_modes(SIDE, SIDE, SIDE);
  PetscInt iterations[2];
  PetscOptionsSetValue(NULL, "-pc_bisai_auto_incomplete", NULL);
  for (int with = 0; with < 2; with++) {
    Mat a = test_petsc_mat(matrix);
    if (with) attach_modes(a, modes);
    KSP ksp = make_ksp(a, KSPCG);
    assert_int_equal(KSPSetFromOptions(ksp), 0);
    assert_true(solve(ksp, false) <= 1e-6);
    assert_int_equal(strncmp(chosen_by(ksp), "auto: mg", 8), 0);
    KSPGetIterationNumber(ksp, &iterations[with]);
    KSPDestroy(&ksp);
    MatDestroy(&a);
  }
  PetscOptionsClearValue(NULL, "-pc_bisai_auto_incomplete");
  if (iterations[1] >= iterations[0])
    fail_msg("%d iterations, and %d with constants", (int)iterations[1], (int)iterations[0]);
  free(modes);
  bisai_bcsr_destroy(&matrix);
}

static void another_solver_gets_another_choice_if_it_must(void **state) {
  (void)state;
  Mat a = make_grid(20, 0);
  KSP ksp = make_ksp(a, KSPCG);
  assert_true(solve(ksp, false) <= 1e-6);
  bisai_precond *first = precond_of(ksp);
  KSPSetType(ksp, KSPGMRES);
  assert_true(solve(ksp, false) <= 1e-6);
  assert_ptr_equal(precond_of(ksp), first);
  KSPSetType(ksp, KSPPREONLY);
  assert_true(solve(ksp, false) <= 1e-10);
  assert_int_equal(strncmp(chosen_by(ksp), "auto: lu", 8), 0);
  KSPDestroy(&ksp);
  MatDestroy(&a);
}

static void a_choice_waits_for_the_solver_and_is_kept_for_new_values(void **state) {
  (void)state;
  Mat a = make_grid(20, 0);
  KSP ksp = make_ksp(a, KSPGMRES);
  assert_int_equal(KSPSetUp(ksp), 0);
  assert_null(precond_of(ksp));
  assert_true(solve(ksp, false) <= 1e-6);
  bisai_precond *first = precond_of(ksp);
  assert_non_null(first);
  for (int i = 0; i < 3; i++) {
    MatShift(a, 0.1);
    assert_true(solve(ksp, false) <= 1e-6);
    assert_ptr_equal(precond_of(ksp), first);
  }
  KSPDestroy(&ksp);
  MatDestroy(&a);
}

/* The old preconditioner is that of a matrix with a dominant diagonal. */
static void doubled_iterations_ask_for_a_new_choice(void **state) {
  (void)state;
  Mat a = make_grid(40, 10);
  KSP ksp = make_ksp(a, KSPGMRES);
  PetscInt before, after;
  assert_true(solve(ksp, false) <= 1e-6);
  KSPGetIterationNumber(ksp, &before);
  assert_int_equal(KSPSetReusePreconditioner(ksp, PETSC_TRUE), 0);
  MatShift(a, -9.9);
  assert_true(solve(ksp, false) <= 1e-6);
  KSPGetIterationNumber(ksp, &after);
  assert_true(after > 20 && after > 2 * before);
  assert_int_equal(KSPSetReusePreconditioner(ksp, PETSC_FALSE), 0);
  MatShift(a, 0.01);
  assert_int_equal(KSPSetOperators(ksp, a, a), 0);
  assert_int_equal(KSPSetUp(ksp), 0);
  assert_null(precond_of(ksp));
  assert_true(solve(ksp, false) <= 1e-6);
  assert_non_null(precond_of(ksp));
  KSPDestroy(&ksp);
  MatDestroy(&a);
}

static void an_application_without_a_solver_chooses_too(void **state) {
  (void)state;
  Mat a = make_grid(12, 0);
  PC pc = test_petsc_pc(a, "");
  Vec v, z;
  PetscReal norm;
  MatCreateVecs(a, &z, &v);
  VecSet(v, 1);
  assert_int_equal(PCSetUp(pc), 0);
  assert_int_equal(PCApply(pc, v, z), 0);
  VecNorm(z, NORM_2, &norm);
  assert_true(norm > 0 && norm < 1e6);
  VecDestroy(&v);
  VecDestroy(&z);
  PCDestroy(&pc);
  MatDestroy(&a);
}

static void transposed_systems_get_what_has_a_transpose(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(9, 8, 3, 5));
  Mat a = test_petsc_mat(matrix);
  KSP ksp = make_ksp(a, KSPGMRES);
  assert_true(solve(ksp, false) <= 1e-8);
  assert_true(solve(ksp, true) <= 1e-8);
  assert_true(solve(ksp, false) <= 1e-8);
  KSPDestroy(&ksp);
  MatDestroy(&a);
  bisai_bcsr_destroy(&matrix);
}

/* Richardson's iteration with block-Jacobi converges slowly on a matrix with a dominant diagonal,
 * and does not end before its tolerance is reached. */
static void richardson_ends_at_its_tolerance(void **state) {
  (void)state;
  Mat a = make_grid(20, 2);
  KSP ksp = make_ksp(a, KSPRICHARDSON);
  PC pc;
  PetscInt iterations;
  KSPConvergedReason reason;
  KSPGetPC(ksp, &pc);
  test_petsc_set_options(pc, "-pc_bisai_type bjacobi");
  const double residual = solve(ksp, false);
  KSPGetIterationNumber(ksp, &iterations);
  KSPGetConvergedReason(ksp, &reason);
  assert_int_equal(reason, KSP_CONVERGED_RTOL);
  assert_in_range(iterations, 20, 100);
  assert_true(residual <= 1e-9 && residual >= 1e-13);
  KSPDestroy(&ksp);
  MatDestroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_solver_gets_what_it_takes),
      cmocka_unit_test(near_null_vectors_reach_the_candidates),
      cmocka_unit_test(another_solver_gets_another_choice_if_it_must),
      cmocka_unit_test(a_choice_waits_for_the_solver_and_is_kept_for_new_values),
      cmocka_unit_test(doubled_iterations_ask_for_a_new_choice),
      cmocka_unit_test(an_application_without_a_solver_chooses_too),
      cmocka_unit_test(transposed_systems_get_what_has_a_transpose),
      cmocka_unit_test(richardson_ends_at_its_tolerance),
  };
  return test_petsc_run("petsc_automatic", tests, sizeof tests / sizeof *tests, setup, teardown);
}
