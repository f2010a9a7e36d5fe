/* SPDX-License-Identifier: BSD-3-Clause */
/* Relaxation of block-Jacobi on A: z = ω D⁻¹ v, then z ← z + ω D⁻¹ (v − A z). */
#include "fixture.h"
#include "systems.h"

#include <float.h>
#include <math.h>

enum { VECTORS = 5 }; /* more than go through at once */

static bisai_precond_options options_of(int32_t relax, double damping) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_BJACOBI;
  o.bjacobi.relax = relax;
  o.bjacobi.damping = damping;
  return o;
}

static double *apply(bisai_precond *m, const double *v) {
  const int64_t n = bisai_precond_rows(m);
  double *z = malloc((size_t)(n + 1) * sizeof *z);
  for (int64_t i = 0; i < n; i++) z[i] = (double)NAN;
  EXPECT_OK(context, bisai_precond_apply(m, v, z));
  return z;
}

/* The inverse of the diagonal blocks that begin at the rows `start`, dense. */
static double *inverse_of_blocks(int32_t n, const double *a, int32_t blocks, const int32_t *start) {
  double *d = calloc((size_t)(n * n), sizeof *d);
  for (int32_t b = 0; b < blocks; b++)
    for (int32_t c = start[b]; c < start[b + 1]; c++)
      for (int32_t r = start[b]; r < start[b + 1]; r++) d[c * n + r] = a[c * n + r];
  double *inverse = test_dense_inverse(n, d);
  assert_non_null(inverse);
  free(d);
  return inverse;
}

/* z ← z + ω D⁻¹ (v − A z), all of them dense. */
static void sweep(int32_t n, const double *a, const double *inverse, double damping,
                  const double *v, double *z) {
  double *product = test_dense_multiply(n, n, 1, a, z);
  for (int32_t i = 0; i < n; i++) product[i] = v[i] - product[i];
  double *step = test_dense_multiply(n, n, 1, inverse, product);
  for (int32_t i = 0; i < n; i++) z[i] += damping * step[i];
  free(product);
  free(step);
}

/* Compares applications with dense sweeps from zero. */
static void expect_sweeps(const test_bcsr *arrays, const bisai_precond_options *o) {
  const int32_t n = arrays->block_rows * arrays->block_size;
  const int64_t ld = n + 3;
  bisai_bcsr *matrix = test_bcsr_make(context, arrays);
  bisai_precond *m = test_precond_with(context, matrix, o);
  const bisai_precond_report report = test_report_of(context, m);
  int32_t *start = malloc(((size_t)report.bjacobi.blocks + 1) * sizeof *start);
  EXPECT_OK(context, bisai_precond_get_blocks(m, start));
  double *a = test_dense_from_arrays(arrays);
  double *inverse = inverse_of_blocks(n, a, report.bjacobi.blocks, start);
  double *v = test_random_vector(VECTORS * ld, 3), *z = test_random_vector(VECTORS * ld, 4);
  EXPECT_OK(context, bisai_precond_apply_many(m, VECTORS, v, ld, z, ld));
  for (int k = 0; k < VECTORS; k++) {
    double *expected = calloc((size_t)n, sizeof *expected);
    for (int32_t s = 0; s <= o->bjacobi.relax; s++)
      sweep(n, a, inverse, o->bjacobi.damping, v + k * ld, expected);
    /* Dominant rows: each sweep adds rounding errors of a few n ε, and damps those before it. */
    EXPECT_CLOSE(n, expected, z + k * ld, 64 * n * DBL_EPSILON);
    free(expected);
  }
  free(start);
  free(a);
  free(inverse);
  free(v);
  free(z);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&matrix);
}

static void relaxation_equals_dense_sweeps(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 11};
  for (int s = 0; s < 8; s++) {
    test_bcsr a = test_bcsr_random(test_shape_square(17, sizes[s], 60 + (uint64_t)s));
    for (int32_t relax = 1; relax <= 3; relax++) {
      bisai_precond_options o = options_of(relax, relax == 2 ? 1.0 : 0.7);
      o.bjacobi.form = (bisai_form)((s + relax) % 4);
      expect_sweeps(&a, &o);
    }
    test_bcsr_free(&a);
  }
}

static void found_and_given_blocks_relax(void **state) {
  (void)state;
  static const int32_t given[] = {0, 1, 6, 7, 30, 51};
  test_bcsr a = test_bcsr_random(test_shape_square(17, 3, 70));
  for (int32_t most = 1; most <= 32; most += 5) {
    bisai_precond_options o = options_of(2, 0.9);
    o.bjacobi.max_block = most;
    expect_sweeps(&a, &o);
  }
  bisai_precond_options o = options_of(2, 1.0);
  o.bjacobi.block_ptr = given;
  o.bjacobi.block_count = 5;
  expect_sweeps(&a, &o);
  test_bcsr_free(&a);
}

/* With D⁻¹ as it is stored, which is what a preconditioner without sweeps applies. */
static void narrow_blocks_relax_with_what_they_store(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_random(test_shape_square(90, 4, 80)));
  const int32_t n = 360;
  double *v = test_random_vector(n, 5);
  for (int k = 0; k < 6; k++) {
    bisai_precond_options o = options_of(1, 0.8), plain = options_of(0, 1.0);
    o.bjacobi.max_block = k % 2 == 0 ? 0 : 13;
    o.bjacobi.storage = k < 2 ? BISAI_FP16 : k < 4 ? BISAI_FP32 : BISAI_ADAPTIVE;
    if (k == 3) o.bjacobi.form = BISAI_FORM_LU;
    plain.bjacobi = o.bjacobi;
    plain.bjacobi.relax = 0;
    bisai_precond *m = test_precond_with(context, a, &o),
                  *d = test_precond_with(context, a, &plain);
    double *z = apply(m, v), *first = apply(d, v);
    double *product = malloc((size_t)n * sizeof *product);
    for (int32_t i = 0; i < n; i++) first[i] *= 0.8;
    EXPECT_OK(context, bisai_bcsr_multiply(a, first, product));
    for (int32_t i = 0; i < n; i++) product[i] = v[i] - product[i];
    double *step = apply(d, product);
    for (int32_t i = 0; i < n; i++) first[i] += 0.8 * step[i];
    EXPECT_CLOSE(n, first, z, 1e-13); /* rounding of a few sums of about 20 terms near 1 */
    free(z), free(first), free(product), free(step);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&d);
  }
  free(v);
  bisai_bcsr_destroy(&a);
}

/* Rows are dominant: the errors of a sweep are at most 0.6 of those before it. */
static void many_sweeps_solve_a_dominant_system(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(40, 3, 4.0, -1.0));
  const bisai_precond_options o = options_of(99, 1.0);
  bisai_precond *m = test_precond_with(context, a, &o);
  double *v = test_random_vector(120, 6), *z = apply(m, v);
  assert_true(test_relative_residual(a, z, v) < 1e-13);
  assert_true(test_report_of(context, m).bjacobi.relax_radius < 0.6);
  free(v);
  free(z);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void an_update_reads_the_new_matrix(void **state) {
  (void)state;
  const test_shape shape = test_shape_square(50, 3, 90);
  test_bcsr first = test_bcsr_random(shape), second = test_bcsr_random(shape);
  for (int32_t k = 0; k < 9 * test_bcsr_blocks(&second); k++) second.values[k] *= 1.0 + 1e-3 * k;
  bisai_bcsr *old = test_bcsr_take(context, first), *new = test_bcsr_take(context, second);
  const bisai_precond_options o = options_of(2, 0.9);
  bisai_precond *m = test_precond_with(context, old, &o),
                *fresh = test_precond_with(context, new, &o);
  EXPECT_OK(context, bisai_precond_update(m, new));
  bisai_bcsr_destroy(&old);
  double *v = test_random_vector(150, 7), *z = apply(m, v), *expected = apply(fresh, v);
  EXPECT_CLOSE(150, expected, z, 0);
  EXPECT_NEAR(test_report_of(context, fresh).bjacobi.relax_radius,
              test_report_of(context, m).bjacobi.relax_radius, 0);
  free(v), free(z), free(expected);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&new);
}

static void bits_do_not_depend_on_the_threads(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_grid(90, 90, 3, 8);
  const int64_t n = 3 * 90 * 90;
  double *v = test_random_vector(n, 8), *z[2];
  for (int k = 0; k < 2; k++) {
    bisai_context *own = test_context(k == 0 ? 1 : 3);
    bisai_bcsr *a = test_bcsr_make(own, &arrays);
    bisai_precond_options o = options_of(2, 0.9);
    o.bjacobi.max_block = 16;
    bisai_precond *m = test_precond_with(own, a, &o);
    z[k] = malloc((size_t)n * sizeof *z[k]);
    EXPECT_OK(own, bisai_precond_apply(m, v, z[k]));
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
  }
  EXPECT_CLOSE(n, z[0], z[1], 0);
  free(v), free(z[0]), free(z[1]);
  test_bcsr_free(&arrays);
}

static void a_symmetric_matrix_has_a_symmetric_relaxation(void **state) {
  (void)state;
  enum { N = 36 };
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_definite(12, 3, 9));
  const bisai_precond_options o = options_of(2, 0.8);
  bisai_precond *m = test_precond_with(context, a, &o);
  double inverse[N][N];
  assert_int_equal(test_report_of(context, m).symmetry, BISAI_SYMMETRY_VALUES);
  for (int c = 0; c < N; c++) {
    double v[N] = {0};
    v[c] = 1.0;
    double *z = apply(m, v);
    memcpy(inverse[c], z, sizeof inverse[c]);
    free(z);
  }
  for (int c = 0; c < N; c++)
    for (int r = 0; r < c; r++) EXPECT_NEAR(inverse[c][r], inverse[r][c], 64 * DBL_EPSILON);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static int32_t cg_iterations(const bisai_bcsr *a, const bisai_precond_options *o) {
  const int64_t n = (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
  bisai_precond *m = test_precond_with(context, a, o);
  bisai_solver_options how = bisai_solver_options_default();
  how.method = BISAI_CG;
  how.tolerance = 1e-10;
  bisai_solver *solver = NULL;
  EXPECT_OK(context, bisai_solver_create(context, n, &how, &solver));
  double *b = test_random_vector(n, 10), *x = calloc((size_t)n, sizeof *x);
  bisai_solver_report report = {.struct_size = sizeof report};
  EXPECT_OK(context, bisai_solver_solve(solver, a, m, b, x, &report));
  assert_true(test_relative_residual(a, x, b) < 1e-9);
  free(b);
  free(x);
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&m);
  return report.iterations;
}

/* Two sweeps make the polynomial of degree 3 of each application, and CG converges in fewer
 * iterations, though not in a third of them. */
static void cg_takes_relaxation(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(200, 2, 2.001, -1.0));
  const bisai_precond_options plain = options_of(0, 1.0), relaxed = options_of(2, 0.9);
  const int32_t without = cg_iterations(a, &plain), with = cg_iterations(a, &relaxed);
  if (with > 0.7 * without) fail_msg("%d iterations, and %d with sweeps", without, with);
  bisai_bcsr_destroy(&a);
}

/* [1 a; a 1] in blocks of one row: the errors change by 1 − ω (1 ± a). */
static void the_report_tells_how_errors_change(void **state) {
  (void)state;
  static const struct {
    double coupling, damping, radius;
  } cases[] = {
      {0.5, 1.0, 0.5}, {2.0, 1.0, 2.0}, {2.0, 0.5, 1.5}, {0.0, 1.0, 0.0}, {0.9, 1.8, 2.42}};
  for (int k = 0; k < 5; k++) {
    bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(2, 1, 1.0, cases[k].coupling));
    const bisai_precond_options o = options_of(1, cases[k].damping);
    bisai_precond *m = test_precond_with(context, a, &o);
    const char *description = bisai_precond_describe(m);
    /* ten power steps leave (1/3)^20 of the smaller eigenvalue in the worst case */
    EXPECT_NEAR(cases[k].radius, test_report_of(context, m).bjacobi.relax_radius, 1e-8);
    const char *warning = strstr(description, "relaxation diverges");
    assert_true((cases[k].radius >= 1.0) == (warning != NULL));
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

static void reports_count_the_bytes_of_sweeps(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(100, 2, 4.0, -1.0));
  int64_t bytes[3];
  for (int relax = 0; relax < 3; relax++) {
    const bisai_precond_options o = options_of(relax, 1.0);
    bisai_precond *m = test_precond_with(context, a, &o);
    bytes[relax] = test_report_of(context, m).apply_bytes;
    if (relax == 0) EXPECT_NEAR(0.0, test_report_of(context, m).bjacobi.relax_radius, 0);
    bisai_precond_destroy(&m);
  }
  /* a sweep reads 298 blocks of 4 values, and more */
  assert_true(bytes[1] - bytes[0] > bytes[0] + 298 * 32);
  assert_true(bytes[2] - bytes[1] == bytes[1] - bytes[0]);
  bisai_bcsr_destroy(&a);
}

static void bad_sweeps_are_refused_by_name(void **state) {
  (void)state;
  static const double dampings[] = {0.0, 2.0, -1.0, 3.0};
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(3, 2, 4.0, -1.0));
  bisai_precond *m = NULL;
  for (int k = 0; k < 5; k++) {
    const bisai_precond_options o = options_of(1, k < 4 ? dampings[k] : (double)NAN);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
    EXPECT_IN_MESSAGE(context, "damping");
  }
  const bisai_precond_options o = options_of(-1, 1.0);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
  EXPECT_IN_MESSAGE(context, "relax");
  assert_null(m);
  bisai_bcsr_destroy(&a);
}

static void a_matrix_without_rows_relaxes(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_random(test_shape_square(0, 3, 1)));
  const bisai_precond_options o = options_of(2, 1.0);
  bisai_precond *m = test_precond_with(context, a, &o);
  EXPECT_OK(context, bisai_precond_apply(m, NULL, NULL));
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relaxation_equals_dense_sweeps),
      cmocka_unit_test(found_and_given_blocks_relax),
      cmocka_unit_test(narrow_blocks_relax_with_what_they_store),
      cmocka_unit_test(many_sweeps_solve_a_dominant_system),
      cmocka_unit_test(an_update_reads_the_new_matrix),
      cmocka_unit_test(bits_do_not_depend_on_the_threads),
      cmocka_unit_test(a_symmetric_matrix_has_a_symmetric_relaxation),
      cmocka_unit_test(cg_takes_relaxation),
      cmocka_unit_test(the_report_tells_how_errors_change),
      cmocka_unit_test(reports_count_the_bytes_of_sweeps),
      cmocka_unit_test(bad_sweeps_are_refused_by_name),
      cmocka_unit_test(a_matrix_without_rows_relaxes),
  };
  return cmocka_run_group_tests_name("relaxation of block-Jacobi", tests, setup, teardown);
}
