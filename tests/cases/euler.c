/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `euler`: the matrix is the derivative of the residual, fluxes are conserved, and a
 * uniform flow stays as it is. */
#include <math.h>

#include "cases.h"
#include "support.h"

enum { BS = CASE_EULER_BLOCK_SIZE, NODES = 6, NI = 9, NJ = NODES, N = NI * NJ * BS };

static case_euler_options channel(int32_t nodes, double cfl) {
  case_euler_options o = case_euler_options_default();
  o.nodes = nodes;
  o.cfl = cfl;
  return o;
}

static bisai_bcsr *make(bisai_context *context, const case_euler_options *o, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_euler(context, o, 0, &matrix, rhs));
  assert_int_equal(BS, bisai_bcsr_block_size(matrix));
  return matrix;
}

static double *residual_at(const case_euler_options *o, const double *state) {
  double *residual = NULL;
  assert_int_equal(BISAI_OK, case_euler_residual(o, state, &residual));
  return residual;
}

/* Without time, A e_k is the derivative of the residual by unknown k. Central differences with
 * h = 2⁻¹⁷ have errors of h² times third derivatives of at most some hundreds, and of rounding over
 * h, below 1e-7 together. */
static void the_matrix_is_the_derivative_of_the_residual(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_euler_options o = channel(NODES, 1e300);
  const double h = 0x1p-17;
  double *rhs = NULL, *u = NULL, unit[N], column[N];
  bisai_bcsr *matrix = make(context, &o, &rhs);
  assert_int_equal(NI * NJ, bisai_bcsr_block_rows(matrix));
  assert_int_equal(BISAI_OK, case_euler_state(&o, &u));
  for (int k = 0; k < N; k++) {
    const double kept = u[k];
    u[k] = kept + h;
    double *after = residual_at(&o, u);
    u[k] = kept - h;
    double *before = residual_at(&o, u);
    u[k] = kept;
    for (int i = 0; i < N; i++) {
      unit[i] = i == k;
      after[i] = (after[i] - before[i]) / (2 * h);
    }
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, unit, column));
    EXPECT_CLOSE(N, after, column, 1e-7);
    free(after);
    free(before);
  }
  double *residual = residual_at(&o, u);
  for (int i = 0; i < N; i++) residual[i] = -residual[i];
  EXPECT_CLOSE(N, residual, rhs, 0);
  free(residual);
  free(u);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* What leaves a cell enters its neighbours. The sum of the residuals of mass is therefore what
 * passes the open ends: with the same state everywhere as much comes in as goes out. */
static void mass_is_conserved(void **state) {
  (void)state;
  const case_euler_options o = channel(12, 10);
  double *u = NULL, sum = 0;
  assert_int_equal(BISAI_OK, case_euler_state(&o, &u));
  for (int row = 0; row < 18 * 12; row++) memcpy(u + row * BS, u, BS * sizeof *u);
  double *residual = residual_at(&o, u);
  for (int row = 0; row < 18 * 12; row++) sum += residual[row * BS];
  EXPECT_NEAR(0, sum, 1e-13); /* rounding of some thousand fluxes below 0.1 */
  free(residual);
  free(u);
}

/* Ahead of the bump the channel is straight: a uniform flow has no residual there. */
static void a_uniform_flow_stays_in_a_straight_channel(void **state) {
  (void)state;
  const case_euler_options o = channel(12, 10);
  double *u = NULL;
  assert_int_equal(BISAI_OK, case_euler_state(&o, &u));
  for (int row = 0; row < 18 * 12; row++) memcpy(u + row * BS, u, BS * sizeof *u);
  double *residual = residual_at(&o, u), most = 0;
  for (int row = 0; row < 18 * 12; row++) {
    for (int k = 0; k < BS; k++) {
      const double found = fabs(residual[row * BS + k]);
      most = fmax(most, found);
      if (row % 18 < 5) assert_true(found < 1e-15); /* rounding of fluxes below 0.2 */
    }
  }
  assert_true(most > 1e-3); /* at the bump */
  free(residual);
  free(u);
}

/* The channel has its least height in the middle of the bump, 0.9, where isentropic flow has the
 * Mach number M with (0.675/M)((1 + 0.2 M²)/(1 + 0.2·0.675²))³ = 0.9. */
static void the_flow_is_isentropic(void **state) {
  (void)state;
  const case_euler_options o = channel(10, 10);
  double *u = NULL, most = 0;
  assert_int_equal(BISAI_OK, case_euler_state(&o, &u));
  for (int row = 0; row < 15 * 10; row++) {
    const double *w = u + row * BS, square = (w[1] * w[1] + w[2] * w[2]) / (w[0] * w[0]);
    const double pressure = 0.4 * (w[3] - 0.5 * w[0] * square);
    EXPECT_NEAR(1 / 1.4, pressure / pow(w[0], 1.4), 1e-14);
    most = fmax(most, sqrt(square * w[0] / (1.4 * pressure)));
  }
  EXPECT_NEAR(0.9, 0.675 / most * pow((1 + 0.2 * most * most) / (1 + 0.2 * 0.675 * 0.675), 3),
              1e-13);
  free(u);
}

/* V/Δt of the local step: the matrices of two CFL numbers differ by multiples of the identity in
 * diagonal blocks, in the ratio of the numbers. */
static void the_time_step_adds_to_the_diagonal(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_euler_options none = channel(NODES, 1e300), slow = channel(NODES, 1),
                           fast = channel(NODES, 4);
  const case_euler_options *of[3] = {&none, &slow, &fast};
  double *rhs, ones[N], product[3][N];
  for (int i = 0; i < N; i++) ones[i] = 1;
  for (int m = 0; m < 3; m++) {
    bisai_bcsr *matrix = make(context, of[m], &rhs);
    EXPECT_OK(context, bisai_bcsr_multiply(matrix, ones, product[m]));
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  for (int i = 0; i < N; i++) {
    const double one = product[1][i] - product[0][i], quarter = product[2][i] - product[0][i];
    assert_true(one > 0);
    EXPECT_NEAR(one, 4 * quarter, 1e-14);
  }
  bisai_context_destroy(&context);
}

static void sizes_and_steps_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_euler_options refused[] = {channel(3, 1), channel(14302, 1), channel(INT32_MAX, 1),
                                        channel(8, 0), channel(8, NAN),   channel(8, INFINITY)};
  const case_euler_options most = channel(14301, 1);
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    bisai_bcsr *matrix = NULL;
    double *values = NULL;
    assert_non_null(case_euler_refusal(&refused[i]));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_euler(context, &refused[i], 0, &matrix, &values));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_euler_state(&refused[i], &values));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_euler_residual(&refused[i], NULL, &values));
    assert_null(matrix);
    assert_null(values);
  }
  assert_null(case_euler_refusal(&most));
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_matrix_is_the_derivative_of_the_residual),
      cmocka_unit_test(mass_is_conserved),
      cmocka_unit_test(a_uniform_flow_stays_in_a_straight_channel),
      cmocka_unit_test(the_flow_is_isentropic),
      cmocka_unit_test(the_time_step_adds_to_the_diagonal),
      cmocka_unit_test(sizes_and_steps_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
