/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `shell`: what any correct assembly has, and the deflection of a known roof. */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "definite.h"

enum { BS = CASE_SHELL_BLOCK_SIZE };

static case_shell_options shell(int32_t ni, int32_t nj, double angle,
                                case_shell_supports supports) {
  case_shell_options o = case_shell_options_default();
  o.nodes[0] = ni;
  o.nodes[1] = nj;
  o.angle = angle;
  o.supports = supports;
  return o;
}

static bisai_bcsr *make(bisai_context *context, const case_shell_options *o, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_shell(context, o, 0, &matrix, rhs));
  assert_int_equal(BS, bisai_bcsr_block_size(matrix));
  assert_int_equal(o->nodes[0] * o->nodes[1], bisai_bcsr_block_rows(matrix));
  return matrix;
}

static void every_shell_is_symmetric_bit_by_bit(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int i = 0; i < 4; i++) {
    const case_shell_options o =
        shell(7, 5, i % 2 ? 0 : 40, i < 2 ? CASE_SHELL_ROOF : CASE_SHELL_FREE);
    double *rhs = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    test_expect_symmetric(matrix);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* A free shell has no stiffness against rigid motions. Its inertia makes up for that. */
static void supported_and_moving_shells_are_positive_definite(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int i = 0; i < 3; i++) {
    case_shell_options o = shell(6, 5, i == 1 ? 0 : 40, i < 2 ? CASE_SHELL_ROOF : CASE_SHELL_FREE);
    double *rhs = NULL;
    if (i == 2) o.step = 1e-2;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    assert_true(test_is_definite(matrix));
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* Each product sums 35 terms of at most the scale of the matrix times the extent of the shell. An
 * entry adds up some dozens of terms of its element. */
static void rigid_body_modes_are_in_the_null_space_of_free_shells(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int i = 0; i < 3; i++) {
    const case_shell_options o = shell(9, 6, 40.0 * i, CASE_SHELL_FREE);
    double *rhs = NULL, *modes = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    const int64_t n = bisai_bcsr_rows(matrix);
    double *y = malloc((size_t)n * sizeof *y);
    assert_int_equal(BISAI_OK, case_shell_modes(&o, &modes));
    for (int m = 0; m < CASE_SHELL_MODES; m++) {
      EXPECT_OK(context, bisai_bcsr_multiply(matrix, modes + m * n, y));
      assert_true(test_largest(n, y) <=
                  35 * 32 * 0x1p-53 * test_scale(matrix) * test_largest(n, modes + m * n));
      assert_true(test_largest(n, modes + m * n) >= 0.7);
    }
    free(y);
    free(modes);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* --- the patch test --- */

/* The plate in x and y, of 4 × 5 nodes: the strains are constant for u = 2x − y, v = x + 3y, and
 * the curvatures for w = x² + xy/2 − 2y², whose normals turn by θ1 = ∂w/∂y and θ2 = −∂w/∂x. */
static void state_of(const case_shell_options *o, int32_t row, double unknowns[BS]) {
  const double x = 25 * 40 * acos(-1) / 180 * (row % o->nodes[0]) / (o->nodes[0] - 1);
  const double y = 25.0 * (row / o->nodes[0]) / (o->nodes[1] - 1);
  unknowns[0] = 2 * x - y;
  unknowns[1] = x + 3 * y;
  unknowns[2] = x * x + x * y / 2 - 2 * y * y;
  unknowns[3] = x / 2 - 4 * y;
  unknowns[4] = -2 * x - y / 2;
}

/* Forces and moments are zero inside the plate, where elements are in balance. The energy is that
 * of the constant strains and curvatures, for each unit of area and ν = 0
 *
 *   E (t (ε_xx² + ε_yy² + γ²/2) + t³/12 (κ_xx² + κ_yy² + κ²/2)),
 *
 * where γ = 0 and κ = 2 ∂²w/∂x∂y = 1. */
static void constant_strains_and_curvatures_are_reproduced(void **state) {
  (void)state;
  enum { NI = 4, NJ = 5 };
  bisai_context *context = test_context(1);
  const case_shell_options o = shell(NI, NJ, 0, CASE_SHELL_FREE);
  double *rhs = NULL, u[NI * NJ * BS], force[NI * NJ * BS], energy = 0;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  for (int32_t row = 0; row < NI * NJ; row++) state_of(&o, row, u + row * BS);
  EXPECT_OK(context, bisai_bcsr_multiply(matrix, u, force));
  const double rounding = 35 * 0x1p-50 * test_scale(matrix) * test_largest(NI * NJ * BS, u);
  for (int i = 0; i < NI * NJ * BS; i++) {
    const int x = i / BS % NI, y = i / BS / NI;
    energy += u[i] * force[i];
    if (x > 0 && x < NI - 1 && y > 0 && y < NJ - 1) assert_true(fabs(force[i]) <= rounding);
  }
  const double area = 25 * 40 * acos(-1) / 180 * 25, t = 0.25;
  const double density = 4.32e8 * (t * (4 + 9) + t * t * t / 12 * (4 + 16 + 0.5));
  EXPECT_NEAR(density * area, energy, 1e-9 * energy);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* --- the roof --- */

/* Solves a roof by CG and multigrid with the rigid-body modes. Returns the iterations. x may be
 * NULL. */
static int solve_roof(bisai_context *context, const case_shell_options *o,
                      bisai_value_type precision, double tolerance, double *x) {
  bisai_precond_options how = bisai_precond_options_default();
  bisai_solver_options solver = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_precond *precond = NULL;
  bisai_solver *cg = NULL;
  double *rhs = NULL, *modes = NULL;
  bisai_bcsr *matrix = make(context, o, &rhs);
  const size_t rows = (size_t)bisai_bcsr_rows(matrix);
  double *solution = calloc(rows, sizeof *solution);
  assert_int_equal(BISAI_OK, case_shell_modes(o, &modes));
  how.kind = BISAI_PRECOND_MULTIGRID;
  how.multigrid.null_count = CASE_SHELL_MODES;
  how.multigrid.null_vectors = modes;
  how.multigrid.precision = precision;
  solver.method = BISAI_CG;
  solver.tolerance = tolerance;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
  EXPECT_OK(context, bisai_solver_create(context, bisai_bcsr_rows(matrix), &solver, &cg));
  EXPECT_OK(context, bisai_solver_solve(cg, matrix, precond, rhs, solution, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
  if (x) memcpy(x, solution, rows * sizeof *x);
  bisai_solver_destroy(&cg);
  bisai_precond_destroy(&precond);
  free(modes);
  free(solution);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  return report.iterations;
}

/* Returns how far the middle of the free edge goes down. */
static double deflection(bisai_context *context, int32_t ni, int32_t nj) {
  const case_shell_options o = shell(ni, nj, 40, CASE_SHELL_ROOF);
  const size_t last = ((size_t)ni * (size_t)nj - 1) * BS;
  double *x = calloc(last + BS, sizeof *x);
  solve_roof(context, &o, BISAI_FP32, 1e-7, x);
  const double angle = 40 * acos(-1) / 180;
  const double down = sin(angle) * x[last] - cos(angle) * x[last + 2];
  free(x);
  return down;
}

/* The value to which authors compare their elements, 0.3024 feet (MacNeal and Harder 1985). */
static void the_roof_of_scordelis_and_lo_goes_down_by_its_known_amount(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const double coarse = deflection(context, 17, 17), fine = deflection(context, 33, 33);
  EXPECT_NEAR(0.3024, fine, 0.006);
  assert_true(fabs(fine - 0.3024) < fabs(coarse - 0.3024));
  bisai_context_destroy(&context);
}

/* The tolerance is far above the attainable accuracy. The preconditioners differ by the rounding of
 * A, which may move the last residual over the tolerance. */
static void copies_in_fp32_take_the_iterations_of_fp64(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_shell_options o = shell(60, 60, 40, CASE_SHELL_ROOF);
  const int narrow = solve_roof(context, &o, BISAI_FP32, 1e-6, NULL),
            wide = solve_roof(context, &o, BISAI_FP64, 1e-6, NULL);
  assert_in_range(narrow, wide - 1, wide + 1);
  bisai_context_destroy(&context);
}

static void the_load_is_the_weight_of_the_roof(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_shell_options o = shell(4, 3, 0, CASE_SHELL_FREE);
  double *rhs = NULL, sum[BS] = {0};
  bisai_bcsr *matrix = make(context, &o, &rhs);
  for (int i = 0; i < 12 * BS; i++) sum[i % BS] += rhs[i];
  const double weight = 90 * 25 * 40 * acos(-1) / 180 * 25;
  EXPECT_CLOSE(BS, ((double[]){0, 0, -weight, 0, 0}), sum, 1e-13 * weight);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void sizes_angles_and_steps_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  case_shell_options refused[] = {
      shell(1, 4, 40, CASE_SHELL_ROOF),         shell(4, 1, 40, CASE_SHELL_ROOF),
      shell(17516, 17516, 40, CASE_SHELL_ROOF), shell(4, 4, -1, CASE_SHELL_ROOF),
      shell(4, 4, 91, CASE_SHELL_ROOF),         shell(4, 4, NAN, CASE_SHELL_ROOF),
      shell(4, 4, 40, CASE_SHELL_ROOF),         shell(4, 4, 40, CASE_SHELL_ROOF)};
  const case_shell_options most = shell(17515, 17515, 40, CASE_SHELL_ROOF);
  refused[6].step = -1;
  refused[7].step = INFINITY;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    bisai_bcsr *matrix = NULL;
    double *rhs = NULL;
    assert_non_null(case_shell_refusal(&refused[i]));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_shell(context, &refused[i], 0, &matrix, &rhs));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_shell_modes(&refused[i], &rhs));
    assert_null(matrix);
    assert_null(rhs);
  }
  assert_null(case_shell_refusal(&most));
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_shell_is_symmetric_bit_by_bit),
      cmocka_unit_test(supported_and_moving_shells_are_positive_definite),
      cmocka_unit_test(rigid_body_modes_are_in_the_null_space_of_free_shells),
      cmocka_unit_test(constant_strains_and_curvatures_are_reproduced),
      cmocka_unit_test(the_roof_of_scordelis_and_lo_goes_down_by_its_known_amount),
      cmocka_unit_test(copies_in_fp32_take_the_iterations_of_fp64),
      cmocka_unit_test(the_load_is_the_weight_of_the_roof),
      cmocka_unit_test(sizes_angles_and_steps_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
