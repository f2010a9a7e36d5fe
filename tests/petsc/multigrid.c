/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid inside PETSc: options, the near-null space of a Mat, new values, failures. */
#include "fixture.h"

#include <math.h>

#include "cases.h"
#include "mesh.h"
#include "petsc_application.h"
#include "petsc_fixture.h"
#include "petsc_options.h"

#define CALL(call) assert_int_equal(call, 0)

typedef struct beam {
  bisai_bcsr *matrix;
  double *rhs;
  /* an orthonormal basis of the rigid-body modes, one after the other, and row by row */
  double *modes, *rows;
  PetscInt n;
} beam;

/* Gram-Schmidt: MatNullSpaceCreate() demands orthonormal vectors. */
static void orthonormalise(PetscInt n, int count, double *vectors) {
  for (int v = 0; v < count; v++) {
    double *own = vectors + v * n, norm = 0;
    for (int w = 0; w < v; w++) {
      double product = 0;
      for (PetscInt i = 0; i < n; i++) product += own[i] * vectors[w * n + i];
      for (PetscInt i = 0; i < n; i++) own[i] -= product * vectors[w * n + i];
    }
    for (PetscInt i = 0; i < n; i++) norm += own[i] * own[i];
    for (PetscInt i = 0; i < n; i++) own[i] /= sqrt(norm);
  }
}

/* Clamped elasticity on 8 × 6 × 6 nodes. */
static beam make_beam(double contrast) {
  case_elasticity_options o = case_elasticity_options_default();
  beam b = {0};
  o.nodes[0] = 8, o.nodes[1] = o.nodes[2] = 6;
  o.contrast = contrast;
  EXPECT_OK(context, case_elasticity(context, &o, 0, &b.matrix, &b.rhs));
  EXPECT_OK(context, case_elasticity_modes(&o, &b.modes));
  b.n = (PetscInt)bisai_bcsr_rows(b.matrix);
  orthonormalise(b.n, CASE_ELASTICITY_MODES, b.modes);
  b.rows = malloc((size_t)b.n * CASE_ELASTICITY_MODES * sizeof *b.rows);
  assert_non_null(b.rows);
  for (PetscInt i = 0; i < b.n; i++)
    for (int m = 0; m < CASE_ELASTICITY_MODES; m++)
      b.rows[i * CASE_ELASTICITY_MODES + m] = b.modes[m * b.n + i];
  return b;
}

static void free_beam(beam *b) {
  bisai_bcsr_destroy(&b->matrix);
  free(b->rhs);
  free(b->modes);
  free(b->rows);
}

/* Attaches a near-null space: the constant or not, and vectors of n values each. */
static void attach(Mat mat, PetscBool constant, PetscInt count, PetscInt n, double *values) {
  Vec vectors[40];
  MatNullSpace space;
  for (PetscInt v = 0; v < count; v++)
    VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, values + v * n, &vectors[v]);
  assert_int_equal(MatNullSpaceCreate(PETSC_COMM_SELF, constant, count, vectors, &space), 0);
  assert_int_equal(MatSetNearNullSpace(mat, space), 0);
  MatNullSpaceDestroy(&space);
  for (PetscInt v = 0; v < count; v++) VecDestroy(&vectors[v]);
}

static bisai_precond *make_precond(const bisai_bcsr *matrix, const double *rows, int32_t count) {
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = 30;
  o.multigrid.null_vectors = rows;
  o.multigrid.null_count = count;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &o, &precond));
  return precond;
}

static const char small_coarsest[] = "-pc_bisai_type mg -pc_bisai_mg_coarsest 30";

static void expect_pc(PC pc, const bisai_bcsr *matrix, const double *rows, int32_t count) {
  bisai_precond *expected = make_precond(matrix, rows, count);
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
}

static void the_near_null_space_gives_the_vectors(void **state) {
  (void)state;
  beam b = make_beam(1.0);
  Mat plain = test_petsc_mat(b.matrix), mat = test_petsc_mat(b.matrix);
  PC pc = test_petsc_pc(plain, small_coarsest);
  expect_pc(pc, b.matrix, NULL, 0);
  /* the same pattern, with a near-null space */
  attach(mat, PETSC_FALSE, CASE_ELASTICITY_MODES, b.n, b.modes);
  assert_int_equal(PCSetOperators(pc, mat, mat), 0);
  expect_pc(pc, b.matrix, b.rows, CASE_ELASTICITY_MODES);
  MatDestroy(&plain);
  PCDestroy(&pc);
  MatDestroy(&mat);
  free_beam(&b);
}

/* Fails unless the view of a PC has a text. */
static void expect_view(PC pc, const char *text) {
  char name[] = "multigrid_view_XXXXXX", view[8192] = "";
  PetscViewer viewer;
  assert_true(mkstemp(name) >= 0);
  assert_int_equal(PetscViewerASCIIOpen(PETSC_COMM_SELF, name, &viewer), 0);
  assert_int_equal(PCView(pc, viewer), 0);
  assert_int_equal(PetscViewerDestroy(&viewer), 0);
  FILE *file = fopen(name, "r");
  assert_non_null(file);
  view[fread(view, 1, sizeof view - 1, file)] = '\0';
  fclose(file);
  remove(name);
  if (!strstr(view, text)) fail_msg("%s is not in\n%s", text, view);
}

/* ASM gives its blocks no near-null space, not even if there is one block only. */
static void the_view_says_whether_there_is_a_near_null_space(void **state) {
  (void)state;
  beam b = make_beam(1.0);
  Mat mat = test_petsc_mat(b.matrix);
  PC pc = test_petsc_pc(mat, small_coarsest);
  attach(mat, PETSC_FALSE, CASE_ELASTICITY_MODES, b.n, b.modes);
  assert_int_equal(PCSetUp(pc), 0);
  expect_view(pc, "near-null space: 6 vectors\n");
  assert_int_equal(PCSetType(pc, PCASM), 0);
  const PetscOptions lent = test_options_lend("-sub_pc_type bisai -sub_pc_bisai_type mg");
  assert_int_equal(PCSetUp(pc), 0);
  assert_int_equal(PCSetUpOnBlocks(pc), 0);
  test_options_take_back(lent);
  expect_view(pc, "near-null space: none on this matrix, constants are taken\n");
  PCDestroy(&pc);
  MatDestroy(&mat);
  free_beam(&b);
}

static void options_in_c_give_the_vectors(void **state) {
  (void)state;
  beam b = make_beam(1.0);
  bisai_precond_options o = bisai_precond_options_default();
  Mat mat = test_petsc_mat(b.matrix);
  PC pc = test_petsc_pc(mat, "-pc_bisai_type mg");
  attach(mat, PETSC_FALSE, 1, b.n, b.modes); /* which the options replace */
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = 30;
  o.multigrid.null_vectors = b.rows;
  o.multigrid.null_count = CASE_ELASTICITY_MODES;
  assert_int_equal(bisai_petsc_pc_set_options(pc, &o), 0);
  expect_pc(pc, b.matrix, b.rows, CASE_ELASTICITY_MODES);
  PCDestroy(&pc);
  MatDestroy(&mat);
  free_beam(&b);
}

static void the_constant_of_a_near_null_space_is_the_first_vector(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(12, 11, 1, 5));
  const PetscInt n = (PetscInt)bisai_bcsr_rows(matrix);
  double *slope = malloc((size_t)n * sizeof *slope), *rows = malloc((size_t)n * 2 * sizeof *rows);
  assert_true(slope && rows);
  double sum = 0;
  for (PetscInt i = 0; i < n; i++) slope[i] = i - 0.5 * (n - 1), sum += slope[i] * slope[i];
  for (PetscInt i = 0; i < n; i++) {
    slope[i] /= sqrt(sum); /* as MatNullSpaceCreate() demands */
    rows[2 * i] = 1;
    rows[2 * i + 1] = slope[i];
  }
  Mat mat = test_petsc_mat(matrix);
  attach(mat, PETSC_TRUE, 1, n, slope);
  PC pc = test_petsc_pc(mat, small_coarsest);
  expect_pc(pc, matrix, rows, 2);
  PCDestroy(&pc);
  MatDestroy(&mat);
  bisai_bcsr_destroy(&matrix);
  free(slope);
  free(rows);
}

static PetscInt iterations_of(Mat mat, const double *rhs, PetscInt n, const char *options) {
  KSP ksp;
  PC pc;
  Vec b, x;
  PetscInt iterations = 0;
  KSPConvergedReason reason;
  PetscOptionsClear(NULL);
  PetscOptionsInsertString(NULL, options);
  VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, rhs, &b);
  VecDuplicate(b, &x);
  KSPCreate(PETSC_COMM_SELF, &ksp);
  KSPGetPC(ksp, &pc);
  assert_int_equal(PCSetType(pc, "bisai"), 0);
  assert_int_equal(KSPSetFromOptions(ksp), 0);
  KSPSetTolerances(ksp, 1e-8, PETSC_DEFAULT, PETSC_DEFAULT, 200);
  assert_int_equal(KSPSetOperators(ksp, mat, mat), 0);
  assert_int_equal(KSPSolve(ksp, b, x), 0);
  KSPGetConvergedReason(ksp, &reason);
  KSPGetIterationNumber(ksp, &iterations);
  if (reason <= 0) fail_msg("%s: %s", options, KSPConvergedReasons[reason]);
  KSPDestroy(&ksp);
  VecDestroy(&b);
  VecDestroy(&x);
  return iterations;
}

static void solvers_of_petsc_take_multigrid(void **state) {
  (void)state;
  static const char *const solvers[] = {
      "-ksp_type cg -pc_bisai_type mg -pc_bisai_mg_coarsest 100",
      "-ksp_type fgmres -pc_bisai_type mg -pc_bisai_mg_coarsest 100 -pc_bisai_mg_cycle k",
      "-ksp_type gmres -pc_bisai_type mg -pc_bisai_mg_coarsest 100 -pc_bisai_mg_smoother ilu"};
  beam b = make_beam(100.0);
  for (int s = 0; s < 3; s++) {
    Mat plain = test_petsc_mat(b.matrix), informed = test_petsc_mat(b.matrix);
    attach(informed, PETSC_FALSE, CASE_ELASTICITY_MODES, b.n, b.modes);
    const PetscInt without = iterations_of(plain, b.rhs, b.n, solvers[s]),
                   with = iterations_of(informed, b.rhs, b.n, solvers[s]);
    if (with >= without || with > 25)
      fail_msg("%s: %d iterations, %d without modes", solvers[s], (int)with, (int)without);
    MatDestroy(&plain);
    MatDestroy(&informed);
  }
  free_beam(&b);
}

/* Every Mat is destroyed before its preconditioner is applied. */
static void new_values_are_taken_and_their_matrix_is_kept(void **state) {
  (void)state;
  beam soft = make_beam(1.0), hard = make_beam(3.0);
  const beam *const beams[] = {&soft, &hard, &soft};
  Mat first = test_petsc_mat(soft.matrix);
  PC pc = test_petsc_pc(first, small_coarsest);
  bisai_precond *expected = make_precond(soft.matrix, NULL, 0);
  MatDestroy(&first);
  for (int k = 0; k < 3; k++) {
    Mat mat = test_petsc_mat(beams[k]->matrix);
    assert_int_equal(PCSetOperators(pc, mat, mat), 0);
    MatDestroy(&mat);
    assert_int_equal(PCSetUp(pc), 0);
    EXPECT_OK(context, bisai_precond_update(expected, beams[k]->matrix));
    expect_same_application(pc, expected);
  }
  PCDestroy(&pc);
  bisai_precond_destroy(&expected);
  free_beam(&soft);
  free_beam(&hard);
}

/* The zero block has no inverse. */
static void a_failed_update_is_followed_by_a_good_one(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(9, 9, 2, 5);
  bisai_bcsr *good = test_bcsr_make(context, &arrays);
  memset(arrays.values, 0, 4 * sizeof *arrays.values); /* block (0, 0) */
  bisai_bcsr *bad = test_bcsr_make(context, &arrays);
  const bisai_bcsr *const matrices[] = {good, bad, good};
  Mat first = test_petsc_mat(good);
  PC pc = test_petsc_pc(first, small_coarsest);
  bisai_precond *expected = make_precond(good, NULL, 0);
  MatDestroy(&first);
  for (int k = 0; k < 3; k++) {
    Mat mat = test_petsc_mat(matrices[k]);
    PCFailedReason reason = PC_NOERROR;
    assert_int_equal(PCSetOperators(pc, mat, mat), 0);
    MatDestroy(&mat);
    assert_int_equal(PCSetUp(pc), 0);
    PCGetFailedReason(pc, &reason);
    assert_int_equal(reason, k == 1 ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_NOERROR);
    if (k != 1) expect_same_application(pc, expected);
  }
  PCDestroy(&pc);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&good);
  bisai_bcsr_destroy(&bad);
  test_bcsr_free(&arrays);
}

/* Newton's method: the first matrix is symmetric, and convection or the loss of all boundary values
 * comes later. */
static void values_that_an_update_refuses_make_a_new_preconditioner(void **state) {
  (void)state;
  bisai_bcsr *const matrices[] = {
      test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.0)),
      test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.2)),
      test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_FREE, 0.2))};
  bisai_precond *refusing = make_precond(matrices[0], NULL, 0);
  EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, bisai_precond_update(refusing, matrices[1]));
  bisai_precond_destroy(&refusing);
  refusing = make_precond(matrices[1], NULL, 0);
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(refusing, matrices[2]));
  bisai_precond_destroy(&refusing);
  Mat first = test_petsc_mat(matrices[0]);
  PC pc = test_petsc_pc(first, small_coarsest);
  MatDestroy(&first);
  for (int k = 0; k < 3; k++) {
    Mat mat = test_petsc_mat(matrices[k]);
    bisai_precond *expected = make_precond(matrices[k], NULL, 0);
    assert_int_equal(PCSetOperators(pc, mat, mat), 0);
    MatDestroy(&mat);
    assert_int_equal(PCSetUp(pc), 0);
    expect_same_application(pc, expected);
    bisai_precond_destroy(&expected);
  }
  PCDestroy(&pc);
  for (int k = 0; k < 3; k++) {
    bisai_bcsr *matrix = matrices[k];
    bisai_bcsr_destroy(&matrix);
  }
}

static PetscErrorCode set_up_quietly(PC pc) {
  PetscPushErrorHandler(PetscReturnErrorHandler, NULL);
  const PetscErrorCode code = PCSetUp(pc);
  PetscPopErrorHandler();
  return code;
}

/* A unit vector for each of the first `count` rows. */
static double *unit_vectors(PetscInt n, PetscInt count) {
  double *values = calloc((size_t)(n * count), sizeof *values);
  assert_non_null(values);
  for (PetscInt v = 0; v < count; v++) values[v * n + v] = 1;
  return values;
}

static void near_null_spaces_that_do_not_fit_are_errors(void **state) {
  (void)state;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_grid(8, 8, 1, 5));
  double *many = unit_vectors(64, 33);
  static const struct {
    PetscInt count, n;
    int code;
  } bad[] = {{33, 64, PETSC_ERR_ARG_OUTOFRANGE}, {1, 60, PETSC_ERR_ARG_SIZ}};
  for (int k = 0; k < 2; k++) {
    Mat mat = test_petsc_mat(matrix);
    attach(mat, PETSC_FALSE, bad[k].count, bad[k].n, many);
    PC pc = test_petsc_pc(mat, small_coarsest);
    assert_int_equal(set_up_quietly(pc), bad[k].code);
    PCDestroy(&pc);
    MatDestroy(&mat);
  }
  free(many);
  bisai_bcsr_destroy(&matrix);
}

static void cycles_that_never_smooth_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *options;
    int code;
  } cycles[] = {{"-pc_bisai_mg_coarsest 30", PETSC_ERR_ARG_OUTOFRANGE},
                {"-pc_bisai_mg_levels 1 -pc_bisai_mg_coarsest 0", PETSC_ERR_ARG_OUTOFRANGE},
                {"-pc_bisai_mg_coarsest 1000", 0} /* an inverse */};
  beam b = make_beam(1.0);
  Mat mat = test_petsc_mat(b.matrix);
  for (size_t i = 0; i < sizeof cycles / sizeof *cycles; i++) {
    char options[256];
    snprintf(options, sizeof options, "-pc_bisai_type mg -pc_bisai_mg_pre 0 -pc_bisai_mg_post 0 %s",
             cycles[i].options);
    PC pc = test_petsc_pc(mat, options);
    assert_int_equal(set_up_quietly(pc), cycles[i].code);
    PCDestroy(&pc);
  }
  MatDestroy(&mat);
  free_beam(&b);
}

static void options_of_multigrid_are_those_of_the_library(void **state) {
  (void)state;
  beam b = make_beam(1.0);
  Mat mat = test_petsc_mat(b.matrix);
  PC pc = test_petsc_pc(
      mat, "-pc_bisai_type mg -pc_bisai_mg_cycle w -pc_bisai_mg_smoother l1 -pc_bisai_mg_pre 2 "
           "-pc_bisai_mg_post 0 -pc_bisai_mg_damping 0.9 -pc_bisai_mg_strength 0.1 "
           "-pc_bisai_mg_levels 3 -pc_bisai_mg_coarsest 9 -pc_bisai_mg_keep "
           "-pc_bisai_mg_nodes scalar -pc_bisai_mg_complexity 3 "
           "-pc_bisai_mg_precision fp64");
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *expected = NULL;
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.cycle = BISAI_CYCLE_W;
  o.multigrid.smoother = BISAI_SMOOTHER_L1;
  o.multigrid.pre = 2;
  o.multigrid.post = 0;
  o.multigrid.damping = 0.9;
  o.multigrid.strength = 0.1;
  o.multigrid.levels = 3;
  o.multigrid.coarsest = 9;
  o.multigrid.keep_transfers = true;
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
  o.multigrid.complexity = 3;
  o.multigrid.precision = BISAI_FP64;
  EXPECT_OK(context, bisai_precond_create(context, b.matrix, &o, &expected));
  assert_int_equal(PCSetUp(pc), 0);
  expect_same_application(pc, expected);
  bisai_precond_destroy(&expected);
  PCDestroy(&pc);
  MatDestroy(&mat);
  free_beam(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_near_null_space_gives_the_vectors),
      cmocka_unit_test(the_view_says_whether_there_is_a_near_null_space),
      cmocka_unit_test(options_in_c_give_the_vectors),
      cmocka_unit_test(the_constant_of_a_near_null_space_is_the_first_vector),
      cmocka_unit_test(solvers_of_petsc_take_multigrid),
      cmocka_unit_test(new_values_are_taken_and_their_matrix_is_kept),
      cmocka_unit_test(a_failed_update_is_followed_by_a_good_one),
      cmocka_unit_test(values_that_an_update_refuses_make_a_new_preconditioner),
      cmocka_unit_test(near_null_spaces_that_do_not_fit_are_errors),
      cmocka_unit_test(cycles_that_never_smooth_are_refused),
      cmocka_unit_test(options_of_multigrid_are_those_of_the_library),
  };
  return test_petsc_run("petsc_multigrid", tests, sizeof tests / sizeof *tests, setup, teardown);
}
