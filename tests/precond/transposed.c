/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposed applications against the transposes of dense M⁻¹, whose columns are applications to
 * unit vectors. */
#include <math.h>

#include "fixture.h"
#include "preconds.h"
#include "systems.h"

typedef bisai_status application(bisai_precond *, const double *, double *);

/* The matrix of an application, column by column; free() it. */
static double *dense_of(bisai_precond *m, application *apply) {
  const int64_t n = bisai_precond_rows(m);
  double *unit = calloc((size_t)n, sizeof *unit), *dense = test_nan_vector(n * n);
  assert_non_null(unit);
  for (int64_t k = 0; k < n; k++) {
    unit[k] = 1.0;
    EXPECT_OK(context, apply(m, unit, dense + k * n));
    unit[k] = 0.0;
  }
  free(unit);
  return dense;
}

/* Rounding of another order of sums, and of the inverses of other pivots, relative to the largest
 * value of M⁻¹. */
static void expect_transposed(bisai_precond *m) {
  const int64_t n = bisai_precond_rows(m);
  double *dense = dense_of(m, bisai_precond_apply),
         *transposed = dense_of(m, bisai_precond_apply_transpose),
         *expected = test_dense_transpose(n, n, dense);
  EXPECT_CLOSE(n * n, expected, transposed, 1e-12 * test_largest(n * n, dense));
  free(dense);
  free(transposed);
  free(expected);
}

static bisai_precond *make(const bisai_bcsr *a, const char *method) {
  bisai_precond *m = NULL;
  EXPECT_OK(context, bisai_precond_create_text(context, a, method, &m));
  return m;
}

static void expect_transposed_method(const bisai_bcsr *a, const char *method) {
  bisai_precond *m = make(a, method);
  expect_transposed(m);
  bisai_precond_destroy(&m);
}

static const char *const methods[] = {"none",
                                      "bjacobi",
                                      "bjacobi:max=5",
                                      "bjacobi:max=7:form=gh",
                                      "bjacobi:max=7:form=ght",
                                      "bjacobi:max=7:form=lu",
                                      "bjacobi:max=6:storage=adaptive",
                                      "bjacobi:storage=fp16",
                                      "bjacobi:max=16:blocks=strength",
                                      "bjacobi:relax=2:damping=0.7",
                                      "bjacobi:max=16:blocks=strength:relax=1",
                                      "ilu",
                                      "ilu:level=2",
                                      "ilu:ordering=rcm",
                                      "ilu:equilibrate",
                                      "ilu:matching=blocks",
                                      "ilu:matching=entries:ordering=rcm",
                                      "ilu:matching=blocks:equilibrate:ordering=rcm",
                                      "isai",
                                      "isai:k=2:relax=2",
                                      "isai:storage=fp32",
                                      "isai:of=matrix",
                                      "isai:of=matrix:k=2:storage=fp32",
                                      "isai:relax=1:ordering=rcm",
                                      "isai:of=matrix",
                                      "isai:of=matrix:k=2:storage=fp32",
                                      "sweeps:n=0",
                                      "sweeps:n=3",
                                      "sweeps:n=2:matching=blocks",
                                      "lu",
                                      "lu:storage=fp32",
                                      "lu:matching=blocks",
                                      "mg:coarsest=8",
                                      "mg:coarsest=8:cycle=w:nodes=scalar"};

static void transposed_applications_are_transposes(void **state) {
  (void)state;
  const int32_t sizes[] = {1, 2, 3, 4, 5, 8, 11};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    bisai_bcsr *a = test_bcsr_take(
        context, test_bcsr_random(test_shape_square(60 / sizes[s], sizes[s], (uint64_t)s)));
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
      expect_transposed_method(a, methods[k]);
    bisai_bcsr_destroy(&a);
  }
}

/* Turns each block upside down, so that pivots are off the diagonal. */
static void turn_blocks(test_bcsr *arrays) {
  const int32_t bs = arrays->block_size, columns = test_bcsr_blocks(arrays) * bs;
  for (int32_t c = 0; c < columns; c++)
    for (int32_t r = 0; r < bs / 2; r++) {
      double *column = arrays->values + (size_t)c * (size_t)bs, kept = column[r];
      column[r] = column[bs - 1 - r];
      column[bs - 1 - r] = kept;
    }
}

static void complete_factors_solve_with_the_transpose(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_random(test_shape_square(40, 3, 11));
  turn_blocks(&arrays);
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  const bisai_precond_kind kinds[] = {BISAI_PRECOND_LU, BISAI_PRECOND_DIRECT};
  double *dense = test_dense(a), *b = test_random_vector(120, 1), *x = test_nan_vector(120);
  double *transposed = test_dense_transpose(120, 120, dense);
  double *expected = test_dense_solve(120, transposed, b);
  for (size_t k = 0; k < 2; k++) {
    if (!test_has_kind(context, kinds[k])) continue;
    bisai_precond *m = test_precond(context, a, kinds[k]);
    EXPECT_OK(context, bisai_precond_apply_transpose(m, b, x));
    /* dominant rows, turned: the condition is small */
    EXPECT_CLOSE(120, expected, x, 1e-13 * test_largest(120, expected));
    bisai_precond_destroy(&m);
  }
  free(dense);
  free(transposed);
  free(expected);
  free(b);
  free(x);
  bisai_bcsr_destroy(&a);
}

/* Levels of supernodes and of rows go to several threads here. */
static void bits_do_not_depend_on_the_threads(void **state) {
  (void)state;
  enum { SIDE = 60, ROWS = SIDE * SIDE * 4 };
  const char *const large[] = {"lu", "ilu", "isai:relax=1", "sweeps:n=2", "bjacobi:relax=1", "mg"};
  double *v = test_random_vector(ROWS, 5), *z[2] = {test_nan_vector(ROWS), test_nan_vector(ROWS)};
  for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
    for (int several = 0; several < 2; several++) {
      bisai_context *c = test_context(several ? 4 : 1);
      bisai_bcsr *a = test_bcsr_take(c, test_bcsr_grid(SIDE, SIDE, 4, 7));
      bisai_precond *m = NULL;
      EXPECT_OK(c, bisai_precond_create_text(c, a, large[k], &m));
      EXPECT_OK(c, bisai_precond_apply_transpose(m, v, z[several]));
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
      bisai_context_destroy(&c);
    }
    assert_memory_equal(z[0], z[1], ROWS * sizeof **z);
  }
  free(v);
  free(z[0]);
  free(z[1]);
}

/* A repaired pivot is another one than that of U. */
static void repaired_blocks_are_transposed(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_random(test_shape_square(20, 3, 2));
  memset(test_bcsr_block(&arrays, 7, 7), 0, 9 * sizeof(double));
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  const char *const repairing[] = {"ilu:shift=0.01", "bjacobi:shift=0.01", "sweeps:n=2:shift=0.01",
                                   "isai:shift=0.01:relax=1"};
  for (size_t k = 0; k < sizeof repairing / sizeof *repairing; k++)
    expect_transposed_method(a, repairing[k]);
  bisai_bcsr_destroy(&a);
}

static void factors_of_the_caller_are_transposed(void **state) {
  (void)state;
  test_shape shape = test_shape_square(25, 2, 3);
  shape.part = TEST_LOWER;
  bisai_bcsr *lower = test_bcsr_take(context, test_bcsr_random(shape));
  shape.part = TEST_UPPER;
  bisai_bcsr *upper = test_bcsr_take(context, test_bcsr_random(shape));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_from_matrices(context, lower, upper, &factors));
  const bisai_precond_kind kinds[] = {BISAI_PRECOND_ILU, BISAI_PRECOND_ISAI, BISAI_PRECOND_SWEEPS};
  for (size_t k = 0; k < 3; k++) {
    bisai_precond_options o = test_precond_options(kinds[k]);
    o.factor.factors = factors;
    bisai_precond *m = test_precond_with(context, lower, &o);
    expect_transposed(m);
    bisai_precond_destroy(&m);
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&lower);
  bisai_bcsr_destroy(&upper);
}

static void symmetric_preconditioners_are_their_own_transposes(void **state) {
  (void)state;
  const char *const own[] = {"isai:symmetric", "isai:symmetric:relax=1", "isai:of=matrix:symmetric",
                             "mg", "auto"};
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_definite(40, 3, 5));
  for (size_t k = 0; k < sizeof own / sizeof *own; k++) expect_transposed_method(a, own[k]);
  bisai_bcsr_destroy(&a);
}

static const char *const cycles[] = {"mg:coarsest=8",
                                     "mg:coarsest=8:cycle=w",
                                     "mg:coarsest=8:cycle=vw",
                                     "mg:coarsest=8:cycle=v:pre=2:post=1",
                                     "mg:coarsest=8:pre=0",
                                     "mg:coarsest=8:post=0:cycle=w",
                                     "mg:coarsest=0:levels=2",
                                     "mg:coarsest=8:smoother=chebyshev:degree=3",
                                     "mg:coarsest=8:smoother=l1",
                                     "mg:coarsest=8:unweighted",
                                     "mg:coarsest=8:nodes=scalar:cycle=w",
                                     "mg"};

static void cycles_of_multigrid_are_transposed(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs += 2) {
    bisai_bcsr *a = test_bcsr_take(context, test_bcsr_grid(6, 5, bs, (uint64_t)bs));
    for (size_t k = 0; k < sizeof cycles / sizeof *cycles; k++)
      expect_transposed_method(a, cycles[k]);
    bisai_bcsr_destroy(&a);
  }
}

/* xᵀM⁻¹y = (M⁻ᵀx)ᵀy, where cycles read copies in fp32. */
static void large_cycles_are_transposed(void **state) {
  (void)state;
  enum { SIDE = 60, ROWS = SIDE * SIDE * 4 };
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_grid(SIDE, SIDE, 4, 7));
  const char *const large[] = {"mg", "mg:smoother=chebyshev:update=none"};
  double *x = test_random_vector(ROWS, 5), *y = test_random_vector(ROWS, 6),
         *my = test_nan_vector(ROWS), *mx = test_nan_vector(ROWS);
  for (size_t k = 0; k < sizeof large / sizeof *large; k++) {
    bisai_precond *m = make(a, large[k]);
    assert_non_null(strstr(bisai_precond_describe(m), "precision=fp32"));
    EXPECT_OK(context, bisai_precond_apply(m, y, my));
    EXPECT_OK(context, bisai_precond_apply_transpose(m, x, mx));
    double left = 0.0, right = 0.0, size = 0.0;
    for (int i = 0; i < ROWS; i++) {
      left += x[i] * my[i];
      right += mx[i] * y[i];
      size += fabs(x[i] * my[i]);
    }
    /* rounding of another order of sums */
    if (!(fabs(left - right) <= 1e-13 * size))
      fail_msg("%s: %.17g, %.17g of %g", large[k], left, right, size);
    bisai_precond_destroy(&m);
  }
  free(x);
  free(y);
  free(mx);
  free(my);
  bisai_bcsr_destroy(&a);
}

static void auto_applies_the_transpose_of_its_choice(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_random(test_shape_square(40, 2, 8)));
  expect_transposed_method(a, "auto");
  bisai_bcsr_destroy(&a);
}

/* The transpose of new values, and of the old ones after a refused update. */
static void transposes_follow_updates(void **state) {
  (void)state;
  test_bcsr first = test_bcsr_random(test_shape_square(20, 3, 4)),
            second = test_bcsr_random(test_shape_square(20, 3, 4));
  for (int32_t q = 0; q < test_bcsr_blocks(&second) * 9; q++)
    second.values[q] *= 1.0 + 0.1 * (q % 7);
  bisai_bcsr *a = test_bcsr_make(context, &first), *b = test_bcsr_make(context, &second);
  bisai_bcsr *single = test_bcsr_single(context, &second);
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    if (strncmp(methods[k], "none", 4) == 0) continue;
    bisai_precond *m = make(a, methods[k]);
    expect_transposed(m);
    EXPECT_OK(context, bisai_precond_update(m, b));
    expect_transposed(m);
    EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_update(m, single));
    expect_transposed(m);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  bisai_bcsr_destroy(&single);
  test_bcsr_free(&first);
  test_bcsr_free(&second);
}

static bisai_status copy(void *user, int64_t n, const double *v, double *z) {
  (void)user;
  memcpy(z, v, (size_t)n * sizeof *z);
  return BISAI_OK;
}

static void missing_transposes_are_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_random(test_shape_square(40, 3, 1)));
  bisai_precond *const m[] = {make(a, "mg:smoother=ilu"), make(a, "mg:cycle=k"), make(a, "cpr"),
                              test_precond_callback(context, a, copy, NULL)};
  const char *const messages[] = {"mg:smoother=ilu of a nonsymmetric matrix has no transposed "
                                  "application: take jacobi, l1 or chebyshev",
                                  "mg:cycle=k is not linear: it has no transpose",
                                  "cpr has no transposed application",
                                  "callback has no transposed application"};
  double *v = test_random_vector(120, 3), *z = test_nan_vector(120);
  for (size_t k = 0; k < 4; k++) {
    bisai_precond *one = m[k];
    EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_apply_transpose(one, v, z));
    EXPECT_IN_MESSAGE(context, messages[k]);
    bisai_precond_destroy(&one);
  }
  free(v);
  free(z);
  bisai_bcsr_destroy(&a);
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  double v[6] = {1.0}, z[6];
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(3, 2, 4.0, 1.0));
  bisai_precond *m = make(a, "ilu");
  assert_int_equal(bisai_precond_apply_transpose(NULL, v, z), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply_transpose(m, NULL, z));
  EXPECT_MESSAGE(context, "bisai_precond_apply_transpose: v is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_apply_transpose(m, v, v));
  EXPECT_MESSAGE(context, "bisai_precond_apply_transpose: v and z are the same array");
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* A failed allocation leaves nothing behind, and the next call succeeds. Later calls allocate
 * nothing. */
static void failing_allocations_are_survived(void **state) {
  (void)state;
  const char *const allocating[] = {"ilu", "isai:relax=1", "sweeps:n=1", "bjacobi:max=4:relax=1",
                                    "mg:coarsest=8"};
  double v[40], z[40];
  for (int i = 0; i < 40; i++) v[i] = 1.0 + i;
  for (size_t k = 0; k < sizeof allocating / sizeof *allocating; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *c = test_context_on(&allocator, 1);
    bisai_bcsr *a = test_bcsr_take(c, test_bcsr_grid(5, 4, 2, 3));
    bisai_precond *m = NULL;
    EXPECT_OK(c, bisai_precond_create_text(c, a, allocating[k], &m));
    const long long live = atomic_load(&allocator.live_blocks);
    bisai_status status = BISAI_OUT_OF_MEMORY;
    long long failures = 0;
    while (status == BISAI_OUT_OF_MEMORY) {
      allocator.fail_at = atomic_load(&allocator.calls) + failures + 1;
      status = bisai_precond_apply_transpose(m, v, z);
      if (status == BISAI_OUT_OF_MEMORY) {
        /* A device's context keeps what it has staged; all of it is released with the context. */
        if (!test_on_device()) assert_int_equal(live, atomic_load(&allocator.live_blocks));
        failures++;
      }
    }
    assert_int_equal(status, BISAI_OK);
    assert_true(failures > 5);
    allocator.fail_at = 0;
    const long long calls = atomic_load(&allocator.calls);
    EXPECT_OK(c, bisai_precond_apply_transpose(m, v, z));
    if (!test_on_device()) assert_int_equal(calls, atomic_load(&allocator.calls));
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&c);
    assert_int_equal(0, atomic_load(&allocator.live_blocks));
  }
}

static void empty_systems_have_transposes(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_random((test_shape){.block_size = 3}));
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    bisai_precond *m = make(a, methods[k]);
    EXPECT_OK(context, bisai_precond_apply_transpose(m, NULL, NULL));
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(transposed_applications_are_transposes),
      cmocka_unit_test(complete_factors_solve_with_the_transpose),
      cmocka_unit_test(bits_do_not_depend_on_the_threads),
      cmocka_unit_test(repaired_blocks_are_transposed),
      cmocka_unit_test(factors_of_the_caller_are_transposed),
      cmocka_unit_test(symmetric_preconditioners_are_their_own_transposes),
      cmocka_unit_test(cycles_of_multigrid_are_transposed),
      cmocka_unit_test(large_cycles_are_transposed),
      cmocka_unit_test(auto_applies_the_transpose_of_its_choice),
      cmocka_unit_test(transposes_follow_updates),
      cmocka_unit_test(missing_transposes_are_refused_by_name),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(empty_systems_have_transposes)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
