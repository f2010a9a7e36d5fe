/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of CPR: new values give what creation gives, what is kept stays, and nothing is
 * allocated. */
#include <math.h>

#include "cpr_variants.h"
#include "fixture.h"
#include "preconds.h"
#include "systems.h"

/* --- new values --- */

/* Four times the values, or each block row times another power of two. The weights and P's
 * aggregates stay the same to the bit. */
static bisai_bcsr *scaled(bisai_context *c, uint64_t seed, bool rows) {
  test_bcsr arrays = test_flow(NX, NY, BS, P, seed);
  for (int32_t i = 0; i < CELLS; i++)
    for (int32_t v = arrays.row_ptr[i] * BS * BS; v < arrays.row_ptr[i + 1] * BS * BS; v++)
      arrays.values[v] *= rows ? ldexp(1.0, i * 7 % 5) : 4.0;
  return test_bcsr_take(c, arrays);
}

static void updates_give_the_bits_of_creation(void **state) {
  (void)state;
  for (int k = 0; k < 2 * VARIANTS; k++) {
    const bool rows = k >= VARIANTS;
    bisai_precond_options o = variant_of(k % VARIANTS);
    if (rows) o.multigrid.levels = 2; /* coarser ones have sums of rows, as R has */
    if (rows) o.multigrid.keep_transfers = false;
    bisai_bcsr *a = flow(context, 1), *b = scaled(context, 1, rows);
    test_expect_update_as_creation(context, a, b, &o);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

/* Other values may have other aggregates, but the old ones give the old bits again. */
static void updates_can_be_taken_back(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.keep_pressure = k >= VARIANTS;
    test_expect_taken_back(context, a, b, &o);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* The matrices of creation and of updates need not live. */
static void updated_preconditioners_solve_without_the_old_matrix(void **state) {
  (void)state;
  for (int k = 0; k < VARIANTS; k++) {
    bisai_precond_options o = variant_of(k);
    bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
    bisai_precond *m = test_precond_with(context, a, &o);
    bisai_bcsr_destroy(&a);
    EXPECT_OK(context, bisai_precond_update(m, b));
    double *right = test_random_vector(N, 3), x[N] = {0};
    bisai_solver_options options = bisai_solver_options_default();
    options.tolerance = 1e-10;
    options.gmres.flexible = true;
    bisai_solver_report r = test_report();
    EXPECT_OK(context, test_solve(context, &options, b, m, right, x, &r));
    assert_in_range(r.iterations, 1, 60);
    bisai_bcsr_destroy(&b);
    double *z = test_applied(context, m);
    free(z), free(right);
    bisai_precond_destroy(&m);
  }
}

/* --- what stays --- */

/* y ← the pressures of the first stage with ILU behind it, which the second stage adds to its
 * result */
static void first_stage(const bisai_bcsr *a, const double *v, double *y) {
  bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_BJACOBI), alone;
  o.cpr.additive = true;
  o.multigrid.cycle = BISAI_CYCLE_W;
  alone = bisai_precond_options_default();
  alone.kind = BISAI_PRECOND_BJACOBI;
  bisai_precond *m = test_precond_with(context, a, &o),
                *second = test_precond_with(context, a, &alone);
  double z[N];
  EXPECT_OK(context, bisai_precond_apply(m, v, y));
  EXPECT_OK(context, bisai_precond_apply(second, v, z));
  for (int i = 0; i < N; i++) y[i] -= z[i];
  for (int i = 0; i < N; i++)
    if (i % BS != P) assert_true(y[i] == 0.0);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&second);
}

static void a_kept_pressure_is_that_of_creation(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
  double *v = test_random_vector(N, 4), y[N], image[N], rest[N], expected[N], got[N];
  for (int additive = 0; additive < 2; additive++) {
    bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_ILU),
                          alone = bisai_precond_options_default();
    o.cpr.additive = additive;
    o.cpr.keep_pressure = true;
    alone.kind = BISAI_PRECOND_ILU;
    bisai_precond *m = test_precond_with(context, a, &o),
                  *second = test_precond_with(context, b, &alone);
    const bisai_cpr_report before = test_report_of(context, m).cpr;
    EXPECT_OK(context, bisai_precond_update(m, b));
    const bisai_cpr_report after = test_report_of(context, m).cpr;
    assert_memory_equal(&before, &after, sizeof before);
    first_stage(a, v, y);
    EXPECT_OK(context, bisai_bcsr_multiply(b, y, image));
    for (int i = 0; i < N; i++) rest[i] = v[i] - (additive ? 0.0 : image[i]);
    EXPECT_OK(context, bisai_precond_apply(second, rest, expected));
    for (int i = 0; i < N; i++) expected[i] += y[i];
    EXPECT_OK(context, bisai_precond_apply(m, v, got));
    double largest = 0.0;
    for (int i = 0; i < N; i++) largest = fmax(largest, fabs(expected[i]));
    EXPECT_CLOSE(N, expected, got, 1e-13 * largest); /* y is a difference */
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&second);
  }
  free(v);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

static void the_unknown_of_creation_stays_the_pressure(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1), *b = test_bcsr_take(context, test_flow(NX, NY, BS, P + 1, 2));
  bisai_precond_options o = variant_of(0), given = o;
  given.cpr.pressure = P;
  bisai_precond *m = test_precond_with(context, a, &o),
                *expected = test_precond_with(context, a, &given);
  const bisai_cpr_report before = test_report_of(context, m).cpr;
  assert_int_equal(before.pressure, P);
  EXPECT_OK(context, bisai_precond_update(m, b));
  EXPECT_OK(context, bisai_precond_update(expected, b));
  const bisai_cpr_report after = test_report_of(context, m).cpr;
  assert_int_equal(after.pressure, P);
  assert_true(after.found);
  assert_memory_equal(before.ellipticity, after.ellipticity, sizeof after.ellipticity);
  double *x = test_applied(context, expected), *y = test_applied(context, m);
  assert_memory_equal(x, y, N * sizeof *x);
  free(x), free(y);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

static void awkward_cells_are_counted_anew(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  for (int r = 0; r < BS; r++) test_bcsr_block(&arrays, 70, 70)[P * BS + r] = 0.0;
  for (int c = 0; c < BS; c++) test_bcsr_block(&arrays, 60, 60)[c * BS] = 0.0;
  bisai_bcsr *b = test_bcsr_take(context, arrays);
  bisai_precond_options o = variant_of(BISAI_CPR_SECOND_STAGE_BJACOBI);
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  bisai_precond *m = test_precond_with(context, a, &o);
  for (int k = 0; k < 3; k++) {
    const bisai_cpr_report r = test_report_of(context, m).cpr;
    assert_int_equal(r.singular_rows, k == 1 ? 2 : 0);
    assert_int_equal(r.first_singular_row, k == 1 ? 60 : -1);
    assert_int_equal(r.excluded_rows, k == 1 ? 1 : 0);
    assert_int_equal(r.first_excluded_row, k == 1 ? 70 : -1);
    EXPECT_OK(context, bisai_precond_update(m, k == 0 ? b : a));
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* The first state of a reservoir may be symmetric, and later ones are not. */
static void a_pressure_matrix_may_lose_its_symmetry(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(NX, NY, 1, 1);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t q = arrays.row_ptr[i]; q < arrays.row_ptr[i + 1]; q++)
      arrays.values[q] = arrays.col_idx[q] == i ? 5.0 : -1.0;
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  *test_bcsr_block(&arrays, 0, 1) = -0.5;
  bisai_bcsr *b = test_bcsr_take(context, arrays);
  for (int smoother = BISAI_SMOOTHER_AUTO; smoother <= BISAI_SMOOTHER_ILU; smoother++) {
    bisai_precond_options o = bisai_precond_options_default();
    o.kind = BISAI_PRECOND_CPR;
    o.multigrid.smoother = (bisai_smoother)smoother;
    o.multigrid.coarsest = 30;
    bisai_precond *m = test_precond_with(context, a, &o);
    for (int k = 0; k < 2; k++) {
      EXPECT_OK(context, bisai_precond_update(m, k ? a : b));
      bisai_precond_report r = {.struct_size = sizeof r};
      EXPECT_OK(context, bisai_precond_get_report(m, &r));
      assert_true(r.multigrid.levels > 1 && r.multigrid.symmetric);
    }
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* --- memory --- */

static void updates_and_applications_allocate_nothing(void **state) {
  (void)state;
  test_bcsr a = test_flow(NX, NY, BS, P, 1), b = test_flow(NX, NY, BS, P, 2);
  double *array = test_vector_in_place((int64_t)N * BS, 6);
  for (int k = 0; k < 4 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.pressure = P;
    o.cpr.keep_pressure = k / VARIANTS == 1;
    if (k / VARIANTS == 2) o.cpr.weights = array;
    if (k / VARIANTS == 3) o.cpr.storage = array;
    test_expect_no_allocations(&a, &b, &o);
  }
  test_vector_free(array);
  test_bcsr_free(&a);
  test_bcsr_free(&b);
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  test_bcsr a = test_flow(NX, NY, BS, P, 1);
  double *array = test_random_vector((int64_t)N * BS, 6);
  for (int k = 0; k < VARIANTS; k++) {
    bisai_precond_options o = variant_of(k);
    if (k % 4 == 1) o.cpr.weights = array;
    if (k % 4 == 2) o.cpr.storage = array;
    test_expect_failing_allocations_survived(&a, &o, 40);
  }
  free(array);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_give_the_bits_of_creation),
      cmocka_unit_test(updates_can_be_taken_back),
      cmocka_unit_test(updated_preconditioners_solve_without_the_old_matrix),
      cmocka_unit_test(a_kept_pressure_is_that_of_creation),
      cmocka_unit_test(the_unknown_of_creation_stays_the_pressure),
      cmocka_unit_test(awkward_cells_are_counted_anew),
      cmocka_unit_test(a_pressure_matrix_may_lose_its_symmetry),
      cmocka_unit_test(updates_and_applications_allocate_nothing),
      cmocka_unit_test(creation_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests_name("cpr_update", tests, setup, teardown);
}
