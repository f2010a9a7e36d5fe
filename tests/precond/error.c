/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates of what a step of x ← x + M⁻¹ (b − A x) multiplies the error by. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "systems.h"

static double factor_of(const bisai_bcsr *a, bisai_precond_options options) {
  bisai_precond *m = test_precond_with(context, a, &options);
  double factor = -1.0;
  EXPECT_OK(context, bisai_precond_error_factor(m, a, &factor));
  bisai_precond_destroy(&m);
  return factor;
}

/* Jacobi on blocks (2 1; 1 2) has the iteration matrix (0 −½; −½ 0), whose eigenvalues are ±½. */
static void eigenvalues_of_both_signs_are_seen(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_tridiagonal(2, 1, 2.0, 1.0);
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  EXPECT_NEAR(0.5, factor_of(a, test_precond_options(BISAI_PRECOND_BJACOBI)), 1e-14);
  bisai_bcsr_destroy(&a);
}

static void exact_inverses_leave_no_error(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(50, 3, 4.0, 0.0));
  EXPECT_NEAR(0.0, factor_of(a, test_precond_options(BISAI_PRECOND_BJACOBI)), 1e-14);
  bisai_bcsr_destroy(&a);
}

/* The eigenvalues of Jacobi on (−1 2 −1) are cos(k π/(n + 1)). */
static void estimates_are_below_the_spectral_radius(void **state) {
  (void)state;
  const double pi = 3.14159265358979323846;
  for (int32_t n = 2; n <= 2048; n *= 4) {
    bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 2.0, -1.0));
    const double factor = factor_of(a, test_precond_options(BISAI_PRECOND_BJACOBI)),
                 radius = cos(pi / (n + 1));
    assert_true(factor <= radius * (1.0 + 1e-14));
    assert_true(factor >= 0.95 * radius);
    bisai_bcsr_destroy(&a);
  }
}

static void growth_is_measured_until_it_overflows(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(7, 1, 3.0, 0.0));
  EXPECT_NEAR(2.0, factor_of(a, test_precond_options(BISAI_PRECOND_NONE)), 1e-14);
  bisai_bcsr_destroy(&a);
  a = test_bcsr_take(context, test_bcsr_tridiagonal(7, 1, -1e10, 0.0));
  EXPECT_NEAR(1e10, factor_of(a, test_precond_options(BISAI_PRECOND_NONE)), 2.0);
  bisai_bcsr_destroy(&a);
  a = test_bcsr_take(context, test_bcsr_tridiagonal(7, 1, 1e100, 0.0));
  assert_true(factor_of(a, test_precond_options(BISAI_PRECOND_NONE)) == INFINITY);
  bisai_bcsr_destroy(&a);
}

/* Better preconditioners have smaller factors, and those of multigrid do not grow with the mesh. */
static void factors_compare_preconditioners(void **state) {
  (void)state;
  double last = 0.0;
  for (int32_t n = 40; n <= 80; n += 40) {
    bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(n, n, 2, TEST_ZERO_OUTSIDE, 0.2));
    const double jacobi = factor_of(a, test_precond_options(BISAI_PRECOND_BJACOBI)),
                 ilu = factor_of(a, test_precond_options(BISAI_PRECOND_ILU)),
                 mg = factor_of(a, test_precond_options(BISAI_PRECOND_MULTIGRID));
    assert_true(mg < 0.8 && mg < ilu && ilu < jacobi);
    if (n > 40) EXPECT_NEAR(last, mg, 0.2);
    last = mg;
    bisai_bcsr_destroy(&a);
  }
}

/* The rows of the identity that pad a matrix have no error. */
static void padded_matrices_have_a_factor(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 2, 5, 7}, col_idx[] = {0, 1, 0, 1, 2, 1, 2};
  const double values[] = {4, -1, -1, 4, -1, -1, 4};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 3, desc.block_size = 2, desc.pad = true;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  bisai_bcsr *a = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &a));
  assert_int_equal(bisai_bcsr_padding(a), 1);
  /* Block-Jacobi couples rows 0 and 1 only: ρ(I − M⁻¹A) = 1/√15 */
  EXPECT_NEAR(sqrt(1.0 / 15.0), factor_of(a, test_precond_options(BISAI_PRECOND_BJACOBI)), 1e-6);
  bisai_bcsr_destroy(&a);
}

static void the_preconditioner_is_unchanged(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(20, 20, 3, TEST_ZERO_OUTSIDE, 0.2));
  const int64_t n = bisai_bcsr_rows(a);
  for (int k = 0; k < BISAI_PRECOND_KINDS; k++) {
    if (bisai_precond_kind_needs_code((bisai_precond_kind)k) ||
        !test_has_kind(context, (bisai_precond_kind)k))
      continue;
    bisai_precond_options options = test_precond_options((bisai_precond_kind)k);
    if (bisai_precond_kind_takes(options.kind, "factor.ordering"))
      options.factor.ordering = BISAI_ORDERING_RCM;
    TEST_SET_OPTION(options, schur.component, 2);
    bisai_precond *m = test_precond_with(context, a, &options);
    double *v = test_random_vector(n, 1), *before = calloc((size_t)n, sizeof *before),
           *after = calloc((size_t)n, sizeof *after), first = 0.0, second = 1.0;
    EXPECT_OK(context, bisai_precond_apply(m, v, before));
    EXPECT_OK(context, bisai_precond_error_factor(m, a, &first));
    EXPECT_OK(context, bisai_precond_error_factor(m, a, &second));
    EXPECT_OK(context, bisai_precond_apply(m, v, after));
    assert_true(first == second);
    EXPECT_CLOSE(n, before, after, 0);
    free(v), free(before), free(after);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(4, 2, 4.0, 1.0));
  bisai_bcsr *larger = test_bcsr_take(context, test_bcsr_tridiagonal(5, 2, 4.0, 1.0));
  bisai_bcsr *singular = test_bcsr_take(context, test_bcsr_tridiagonal(4, 2, 0.0, 1.0));
  const bisai_precond_options options = test_precond_options(BISAI_PRECOND_BJACOBI);
  bisai_precond *m = test_precond_with(context, a, &options);
  double factor = 7.0;
  assert_int_equal(bisai_precond_error_factor(NULL, a, &factor), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_error_factor(m, NULL, &factor));
  EXPECT_MESSAGE(context, "bisai_precond_error_factor: matrix is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_error_factor(m, a, NULL));
  EXPECT_MESSAGE(context, "bisai_precond_error_factor: factor is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_error_factor(m, larger, &factor));
  EXPECT_MESSAGE(context, "bisai_precond_error_factor: the matrix has 10 rows and 10 columns, the "
                          "preconditioner 8 rows");
  EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_update(m, singular));
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_error_factor(m, a, &factor));
  assert_true(factor == 7.0);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&larger);
  bisai_bcsr_destroy(&singular);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(eigenvalues_of_both_signs_are_seen),
                                     cmocka_unit_test(exact_inverses_leave_no_error),
                                     cmocka_unit_test(estimates_are_below_the_spectral_radius),
                                     cmocka_unit_test(growth_is_measured_until_it_overflows),
                                     cmocka_unit_test(factors_compare_preconditioners),
                                     cmocka_unit_test(padded_matrices_have_a_factor),
                                     cmocka_unit_test(the_preconditioner_is_unchanged),
                                     cmocka_unit_test(wrong_arguments_are_refused)};
  return cmocka_run_group_tests_name("precond_error", tests, setup, teardown);
}
