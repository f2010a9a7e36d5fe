/* SPDX-License-Identifier: BSD-3-Clause */
/* Values at the edge of what a double or a storage type holds, and updates that break their
 * promise: failures have to be seen. */
#include <math.h>

#include "fixture.h"
#include "systems.h"

static bisai_bcsr *make(int32_t n, int32_t bs, const int32_t *row_ptr, const int32_t *col_idx,
                        const double *values) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = n;
  desc.block_size = bs;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &matrix));
  return matrix;
}

static void expect_refused(const bisai_bcsr *matrix, bisai_precond_options options,
                           bisai_status status, const char *message) {
  bisai_precond *precond = NULL;
  EXPECT_STATUS(context, status, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_MESSAGE(context, message);
  assert_null(precond);
}

static const int32_t one_row[] = {0, 1}, one_column[] = {0};

/* The cofactors of this block overflow in one column only. */
static void a_block_with_an_infinite_cofactor_is_not_taken(void **state) {
  (void)state;
  const double block[] = {1e-30, 1e157, 1e157, 0, 1e152, -1e152, 0, 1e152, 1e152};
  bisai_bcsr *matrix = make(1, 3, one_row, one_column, block);
  bisai_precond *precond = NULL;
  const bisai_precond_options options = test_precond_options(BISAI_PRECOND_BJACOBI);
  const bisai_status status = bisai_precond_create(context, matrix, &options, &precond);
  if (!status) { /* elimination may manage; then the result has to be finite */
    const double v[] = {1, 1, 1};
    double z[] = {NAN, NAN, NAN};
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    for (int i = 0; i < 3; i++) assert_true(isfinite(z[i]));
  } else {
    assert_int_equal(BISAI_SINGULAR_BLOCK, status);
  }
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void factors_that_overflow_are_refused_by_row(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {0, 0, 1};
  const double values[] = {1e-200, 1e200, 1};
  bisai_bcsr *matrix = make(2, 1, row_ptr, col_idx, values);
  const char *message = "block row 1: the factors overflow";
  expect_refused(matrix, test_precond_options(BISAI_PRECOND_ILU), BISAI_NOT_FINITE, message);
  expect_refused(matrix, test_precond_options(BISAI_PRECOND_ISAI), BISAI_NOT_FINITE, message);
  expect_refused(matrix, test_precond_options(BISAI_PRECOND_SWEEPS), BISAI_NOT_FINITE, message);
  bisai_bcsr_destroy(&matrix);
}

static void scaled_factors_that_overflow_are_refused_by_row(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 1, 1};
  const double values[] = {1e-200, 1e200, 1};
  bisai_bcsr *matrix = make(2, 1, row_ptr, col_idx, values);
  expect_refused(matrix, test_precond_options(BISAI_PRECOND_SWEEPS), BISAI_NOT_FINITE,
                 "sweeps: block row 0 of the scaled upper factor is not finite");
  expect_refused(matrix, test_precond_options(BISAI_PRECOND_ISAI), BISAI_NOT_FINITE,
                 "NU: block (0, 1) is not finite");
  bisai_bcsr_destroy(&matrix);
}

static void inverses_too_small_for_their_storage_are_refused(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 2}, col_idx[] = {0, 1};
  const double values[] = {1, 1e9};
  bisai_bcsr *matrix = make(2, 1, row_ptr, col_idx, values);
  bisai_precond_options options = test_precond_options(BISAI_PRECOND_ISAI);
  options.isai.storage = BISAI_FP16;
  expect_refused(matrix, options, BISAI_OVERFLOW,
                 "NU: block (1, 1) is too small for its storage type and would be stored as zero");
  bisai_bcsr_destroy(&matrix);
}

static void factors_of_the_caller_that_failed_are_not_applied(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 2}, col_idx[] = {0, 1};
  const double good[] = {2, 2}, bad[] = {2, 0}, v[] = {1, 1};
  double z[2];
  const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI, BISAI_PRECOND_SWEEPS};
  for (int k = 0; k < 3; k++) {
    bisai_bcsr *matrix = make(2, 1, row_ptr, col_idx, good),
               *singular = make(2, 1, row_ptr, col_idx, bad);
    bisai_factors *factors = NULL;
    bisai_precond *precond = NULL;
    EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
    bisai_precond_options options = test_precond_options(kinds[k]);
    options.factor.factors = factors;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, singular));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(precond, v, z));
    EXPECT_MESSAGE(context, "the factors' last update failed");
    EXPECT_OK(context, bisai_factors_update(factors, matrix));
    EXPECT_OK(context, bisai_precond_update(precond, matrix));
    EXPECT_OK(context, bisai_precond_apply(precond, v, z));
    EXPECT_NEAR(0.5, z[1], 0);
    bisai_precond_destroy(&precond);
    bisai_factors_destroy(&factors);
    bisai_bcsr_destroy(&singular);
    bisai_bcsr_destroy(&matrix);
  }
}

/* As many blocks as before, elsewhere. */
static void an_update_with_another_pattern_is_refused(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 2, 5}, col_idx[] = {0, 1, 0, 1, 2};
  const int32_t other_row_ptr[] = {0, 2, 4, 5}, other_col_idx[] = {0, 1, 0, 1, 2};
  const double values[] = {4, 4, 1, 1, 4}, other_values[] = {4, 1, 1, 4, 4};
  bisai_bcsr *matrix = make(3, 1, row_ptr, col_idx, values),
             *other = make(3, 1, other_row_ptr, other_col_idx, other_values);
  const double v[] = {1, 1, 1};
  double before[3], z[3];
  for (int k = BISAI_PRECOND_BJACOBI; k <= BISAI_PRECOND_SWEEPS; k++) {
    const bisai_precond_options options = test_precond_options((bisai_precond_kind)k);
    bisai_precond *precond = NULL;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_OK(context, bisai_precond_apply(precond, v, before));
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(precond, other));
    EXPECT_MESSAGE(context,
                   k == BISAI_PRECOND_BJACOBI
                       ? "the pattern changed: block row 1 has its diagonal block elsewhere"
                       : "the pattern changed: other block columns than at creation");
    EXPECT_OK(context, bisai_precond_apply(precond, v, z)); /* as before */
    assert_memory_equal(before, z, sizeof z);
    bisai_precond_destroy(&precond);
  }
  bisai_bcsr_destroy(&other);
  bisai_bcsr_destroy(&matrix);
}

static void implied_diagonal_blocks_are_not_called_missing(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 3}, col_idx[] = {0, 0, 1};
  const double values[] = {2, 1, 2};
  bisai_bcsr *matrix = make(2, 1, row_ptr, col_idx, values);
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, matrix, NULL, &factors));
  expect_refused(bisai_factors_lower(factors), test_precond_options(BISAI_PRECOND_BJACOBI),
                 BISAI_UNSUPPORTED,
                 "the matrix implies its diagonal blocks: block-Jacobi needs them stored");
  expect_refused(bisai_factors_lower(factors), test_precond_options(BISAI_PRECOND_ILU),
                 BISAI_UNSUPPORTED,
                 "the matrix implies its diagonal blocks: block ILU needs them stored");
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&matrix);
}

/* The residual is down to rounding errors and the tolerance lower still: nothing is singular. */
static void rounding_errors_are_not_called_a_breakdown(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 2, 5, 8, 10}, col_idx[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
  const double values[] = {3, 0.5, -1, 4, 0.5, -1, 5, 0.5, -1, 6}, b[] = {1, 1, 1, 1};
  bisai_bcsr *matrix = make(4, 1, row_ptr, col_idx, values);
  for (int variant = BISAI_CLASSICAL; variant <= BISAI_CLASSICAL_SELECTIVE; variant++) {
    bisai_solver_options options = bisai_solver_options_default();
    options.tolerance = 0;
    options.gmres.orthogonalization = (bisai_orthogonalization)variant;
    bisai_solver_report report = test_report();
    double x[4];
    test_solve(context, &options, matrix, NULL, b, x, &report);
    assert_int_not_equal(BISAI_REASON_BREAKDOWN, report.reason);
    assert_true(report.relative_residual < 1e-14);
  }
  bisai_bcsr_destroy(&matrix);
}

/* Ten unknowns have ten directions, whatever the restart asks for. */
static void a_restart_beyond_the_unknowns_costs_nothing(void **state) {
  (void)state;
  const double value = 2, b = 1;
  bisai_bcsr *matrix = make(1, 1, one_row, one_column, &value);
  bisai_solver_options options = bisai_solver_options_default();
  options.gmres.restart = INT32_MAX;
  bisai_solver_report report = test_report();
  double x;
  EXPECT_OK(context, test_solve(context, &options, matrix, NULL, &b, &x, &report));
  EXPECT_NEAR(0.5, x, 0);
  assert_true(report.memory_bytes < 1 << 20);
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_block_with_an_infinite_cofactor_is_not_taken),
      cmocka_unit_test(factors_that_overflow_are_refused_by_row),
      cmocka_unit_test(scaled_factors_that_overflow_are_refused_by_row),
      cmocka_unit_test(inverses_too_small_for_their_storage_are_refused),
      cmocka_unit_test(factors_of_the_caller_that_failed_are_not_applied),
      cmocka_unit_test(an_update_with_another_pattern_is_refused),
      cmocka_unit_test(implied_diagonal_blocks_are_not_called_missing),
      cmocka_unit_test(rounding_errors_are_not_called_a_breakdown),
      cmocka_unit_test(a_restart_beyond_the_unknowns_costs_nothing),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
