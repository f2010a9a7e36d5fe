/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `reservoir`: the matrix is the derivative of the residual, fluxes are conserved, rows
 * are those of an independent program, and CPR finds the pressure. */
#include <math.h>

#include "cases.h"
#include "support.h"

enum { NX = 6, NY = 5, NZ = 7, CELLS = NX * NY * NZ };

static case_reservoir_options grid(int32_t nx, int32_t ny, int32_t nz, int components) {
  case_reservoir_options o = case_reservoir_options_default();
  o.cells[0] = nx;
  o.cells[1] = ny;
  o.cells[2] = nz;
  o.components = components;
  return o;
}

static bisai_bcsr *make(bisai_context *context, const case_reservoir_options *o, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_reservoir(context, o, 0, &matrix, rhs));
  assert_int_equal(o->components, bisai_bcsr_block_size(matrix));
  return matrix;
}

/* Returns the dense matrix, column by column. */
static double *dense_of(const bisai_bcsr *matrix) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const int bs = bisai_bcsr_block_size(matrix);
  const size_t n = (size_t)bisai_bcsr_rows(matrix);
  double *dense = calloc(n * n, sizeof *dense);
  assert_non_null(dense);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(matrix); i++)
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++)
          dense[(size_t)(col_idx[p] * bs + c) * n + (size_t)(i * bs + r)] = ((
              const double *)values)[((size_t)p * (size_t)bs + (size_t)c) * (size_t)bs + (size_t)r];
  return dense;
}

static double *residual_at(const case_reservoir_options *o, const double *state) {
  double *residual = NULL;
  assert_int_equal(BISAI_OK, case_reservoir_residual(o, state, &residual));
  return residual;
}

/* Computes derivatives to one unknown by (−3F(u) + 4F(u + h) − F(u + 2h))/2h. Water that is connate
 * begins to move if its saturation grows, so that differences to both sides would not do. The
 * error is O(h²F'''), and saturations have none: mobilities are quadratic in them. */
static void difference(const case_reservoir_options *o, double *state, size_t unknown,
                       double *slope) {
  const double h = 0x1p-10, kept = state[unknown];
  const size_t n = (size_t)(CELLS * o->components);
  double *here = residual_at(o, state);
  state[unknown] = kept + h;
  double *near = residual_at(o, state);
  state[unknown] = kept + 2 * h;
  double *far = residual_at(o, state);
  state[unknown] = kept;
  for (size_t i = 0; i < n; i++) slope[i] = (4 * near[i] - 3 * here[i] - far[i]) / (2 * h);
  free(far);
  free(near);
  free(here);
}

/* Row by row, entries for one kind of unknown have one unit, and are compared with the largest of
 * them. Residuals are sums of terms of up to 10, whose roundings over h are 1e-11. A density that
 * does not depend on the pressure would change the matrix by 1e-7 of its row. */
static void the_matrix_is_the_derivative_of_the_residual(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int bs = 2; bs <= 3; bs++) {
    const case_reservoir_options o = grid(NX, NY, NZ, bs);
    const size_t n = (size_t)(CELLS * bs);
    double *rhs = NULL, *first = NULL, *largest = calloc(n * (size_t)bs, sizeof *largest),
           *slope = malloc(n * sizeof *slope);
    bisai_bcsr *matrix = make(context, &o, &rhs);
    double *dense = dense_of(matrix);
    assert_int_equal(BISAI_OK, case_reservoir_state(&o, &first));
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) {
        double *most = &largest[i * (size_t)bs + j % (size_t)bs];
        *most = fmax(*most, fabs(dense[j * n + i]));
      }
    for (size_t j = 0; j < n; j++) {
      difference(&o, first, j, slope);
      for (size_t i = 0; i < n; i++) {
        const double limit = 1e-9 * largest[i * (size_t)bs + j % (size_t)bs] + 1e-11;
        if (!(fabs(slope[i] - dense[j * n + i]) <= limit))
          fail_msg("bs %d, row %zu, column %zu: %.17g, by differences %.17g", bs, i, j,
                   dense[j * n + i], slope[i]);
      }
    }
    free(dense);
    free(slope);
    free(largest);
    free(first);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

static void the_right_hand_side_is_the_negative_residual(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int bs = 2; bs <= 3; bs++) {
    const case_reservoir_options o = grid(NX, NY, NZ, bs);
    double *rhs = NULL, *first = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    assert_int_equal(BISAI_OK, case_reservoir_state(&o, &first));
    double *residual = residual_at(&o, first);
    for (int i = 0; i < CELLS * bs; i++) assert_true(rhs[i] == 0 - residual[i]);
    free(residual);
    free(first);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

/* What flows out of a cell flows into another one: for an unknown of a cell without a well, the
 * equations of a component over all cells add up to what the cell stores. A saturation of water of
 * 1 stores φ V/Δt of water at the reference pressure, and as much less oil. */
static void fluxes_are_conserved(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  const case_reservoir_options o = grid(NX, NY, NZ, 2);
  double *rhs = NULL, *first = NULL;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  double *dense = dense_of(matrix);
  assert_int_equal(BISAI_OK, case_reservoir_state(&o, &first));
  for (int cell = 0; cell < CELLS; cell++) {
    if (cell % (NX * NY) == 0 || cell % (NX * NY) == NX * NY - 1) continue;
    double sum[2] = {0};
    for (int i = 0; i < 2 * CELLS; i++) sum[i % 2] += dense[(2 * cell + 1) * 2 * CELLS + i];
    const double p = first[2 * cell] - 200, water = 4.5e-5 * p, oil = 1e-4 * p;
    const double ratio = (1 + oil + oil * oil / 2) / (1 + water + water * water / 2);
    /* 100 m³ with a porosity of 0.1 to 0.28, over 10 days, and 1% for the compressibilities */
    assert_true(sum[1] > 1 * 0.99 && sum[1] < 2.8 * 1.01);
    /* sums of seven terms of up to 1e3 */
    assert_true(fabs(ratio + sum[0] / sum[1]) <= 1e-12 * 1e3);
  }
  free(first);
  free(dense);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* Parts of rows as an independent program computes them: with complex numbers, whose imaginary
 * parts are derivatives without rounding. */
typedef struct expected_row {
  int bs;
  int32_t row;
  double state[3], residual[3];
  int32_t lower;
  double to_lower[9], centre[9];
} expected_row;

static const expected_row expected_rows[] = {
    /* cell (2, 1, 4), and its neighbour above */
    {2,
     128,
     {201.092083333333, 0.585},
     {0.00598483816087686, -0.00826759367001451},
     98,
     {-0.0831930406049213, -0.533502624253642, 0.00647379162185006, -0.07209407763566},
     {0.395376448047655, 2.70174080838007, -2.18370131967345, 2.67882019247645}},
    {3,
     128,
     {0.585, 201.092083333333, 0.0215},
     {-0.00826759367001451, 0.00306378769065129, -0.0107509718963355},
     98,
     {-0.07209407763566, 0, 0, -0.533502624253642, -0.13462407624538, -0.121057003383765, 0, 0, 0},
     {2.67882019247645, -2.26384939066434, -0.91048438064318, 2.70174080838007, 0.87830357393857,
      0.792386297496514, 0, -2.26384939066434, 2.45895037891028}},
    /* the lowest cell of the producer, and its neighbour in y */
    {2,
     209,
     {198.709583333333, 0.2},
     {1.57825209654486, 0},
     203,
     {-0.0758140088044273, 0, 0.111188987264404, 0},
     {1.10900644988457, 3.75216742122387e-05, -7.50692448753744, 1.97475789630215}},
    {3,
     209,
     {0.2, 198.709583333333, 0.06},
     {0, 2.578562966395, 2.31688553442472},
     203,
     {0, 0.200310510711004, 0.0797835094907672, 0, -0.12286910065323, -0.109576058015562, 0,
      0.200310510711004, -0.806021437033574},
     {1.97475789630215, -11.9840922397862, -4.7627079511923, 3.75216742122387e-05, 1.79447899782213,
      1.61074021992619, 0, -11.9840922397862, 42.3714585443338}}};

static void expect_row(const expected_row *e) {
  bisai_context *context = test_context(1);
  const case_reservoir_options o = grid(NX, NY, NZ, e->bs);
  double *rhs = NULL, *first = NULL;
  bisai_bcsr *matrix = make(context, &o, &rhs);
  assert_int_equal(BISAI_OK, case_reservoir_state(&o, &first));
  double *residual = residual_at(&o, NULL);
  const int32_t *row_ptr, *col_idx;
  const void *values;
  int found = 0;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  /* the program prints 15 digits, and residuals are differences of terms of up to 1e2 */
  EXPECT_CLOSE(e->bs, e->state, first + e->row * e->bs, 1e-12);
  EXPECT_CLOSE(e->bs, e->residual, residual + e->row * e->bs, 1e-12);
  for (int32_t p = row_ptr[e->row]; p < row_ptr[e->row + 1]; p++) {
    const double *block = (const double *)values + p * e->bs * e->bs;
    if (col_idx[p] != e->row && col_idx[p] != e->lower) continue;
    EXPECT_CLOSE(e->bs * e->bs, col_idx[p] == e->row ? e->centre : e->to_lower, block, 1e-12);
    found++;
  }
  assert_int_equal(2, found);
  free(residual);
  free(first);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void rows_are_those_of_an_independent_program(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof expected_rows / sizeof expected_rows[0]; i++)
    expect_row(&expected_rows[i]);
}

/* A step that is ten times shorter makes only the storage ten times larger. */
static void the_step_divides_the_storage(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *dense[3], *rhs[3];
  const double steps[3] = {10, 1, 0.1};
  const size_t n = 2 * CELLS;
  for (int k = 0; k < 3; k++) {
    case_reservoir_options o = grid(NX, NY, NZ, 2);
    o.step = steps[k];
    bisai_bcsr *matrix = make(context, &o, &rhs[k]);
    dense[k] = dense_of(matrix);
    bisai_bcsr_destroy(&matrix);
  }
  /* the storage of no change, but for contracted operations */
  for (size_t i = 0; i < n; i++) assert_true(fabs(rhs[0][i] - rhs[2][i]) <= 1e-11);
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      const double first = dense[1][j * n + i] - dense[0][j * n + i],
                   second = dense[2][j * n + i] - dense[1][j * n + i];
      /* roundings of entries of up to 300 */
      assert_true(fabs(10 * first - second) <= 1e-11);
      if (i == j && i % 2 == 1) assert_true(first > 0.9);
      if (i / 2 != j / 2) assert_true(first == 0);
    }
  for (int k = 0; k < 3; k++) {
    free(rhs[k]);
    free(dense[k]);
  }
  bisai_context_destroy(&context);
}

/* Returns the iterations of GMRES to the tolerance of the case. */
static int iterations_of(bisai_context *context, const bisai_bcsr *matrix, const double *rhs,
                         bisai_precond *precond) {
  const int64_t n = bisai_bcsr_rows(matrix);
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_solver *solver = NULL;
  double *x = calloc((size_t)n, sizeof *x);
  options.tolerance = 1e-6;
  options.max_iterations = 1000;
  EXPECT_OK(context, bisai_solver_create(context, n, &options, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, rhs, x, &report));
  free(x);
  bisai_solver_destroy(&solver);
  return (int)report.iterations;
}

/* 10 and 17 iterations were measured, and 179 and 269 of block ILU(0) alone. */
static void cpr_finds_the_pressure_and_saves_iterations(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  for (int bs = 2; bs <= 3; bs++) {
    const case_reservoir_options o = grid(16, 16, 16, bs);
    bisai_precond_options options = bisai_precond_options_default();
    bisai_precond *cpr = NULL, *ilu = NULL;
    double *rhs = NULL;
    bisai_bcsr *matrix = make(context, &o, &rhs);
    options.kind = BISAI_PRECOND_ILU;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &ilu));
    options.kind = BISAI_PRECOND_CPR;
    options.cpr.second = BISAI_CPR_SECOND_STAGE_ILU;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &cpr));
    assert_int_equal(bs - 2, test_report_of(context, cpr).cpr.pressure);
    const int iterations = iterations_of(context, matrix, rhs, cpr);
    assert_true(iterations <= 20);
    assert_true(10 * iterations < iterations_of(context, matrix, rhs, ilu));
    bisai_precond_destroy(&ilu);
    bisai_precond_destroy(&cpr);
    free(rhs);
    bisai_bcsr_destroy(&matrix);
  }
  bisai_context_destroy(&context);
}

static void options_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  case_reservoir_options refused[] = {grid(1, 4, 4, 2), grid(4, 4, 1, 2),   grid(251, 4, 4, 2),
                                      grid(4, 4, 4, 1), grid(4, 4, 4, 4),   grid(4, 4, 4, 2),
                                      grid(4, 4, 4, 2), grid(4, 4, 251, 3), grid(4, 4, 4, 3)};
  refused[5].step = 0;
  refused[6].step = NAN;
  refused[8].step = INFINITY;
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    bisai_bcsr *matrix = NULL;
    double *values = NULL;
    assert_non_null(case_reservoir_refusal(&refused[i]));
    assert_int_equal(BISAI_INVALID_ARGUMENT,
                     case_reservoir(context, &refused[i], 0, &matrix, &values));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_reservoir_state(&refused[i], &values));
    assert_int_equal(BISAI_INVALID_ARGUMENT, case_reservoir_residual(&refused[i], NULL, &values));
    assert_null(matrix);
    assert_null(values);
  }
  const case_reservoir_options most = grid(250, 250, 250, 3), least = grid(2, 2, 2, 2);
  assert_null(case_reservoir_refusal(&most));
  assert_null(case_reservoir_refusal(&least));
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_matrix_is_the_derivative_of_the_residual),
      cmocka_unit_test(the_right_hand_side_is_the_negative_residual),
      cmocka_unit_test(fluxes_are_conserved),
      cmocka_unit_test(rows_are_those_of_an_independent_program),
      cmocka_unit_test(the_step_divides_the_storage),
      cmocka_unit_test(cpr_finds_the_pressure_and_saves_iterations),
      cmocka_unit_test(options_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
