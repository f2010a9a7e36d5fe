/* SPDX-License-Identifier: BSD-3-Clause */
/* Options and matrices that creation of multigrid refuses; near-null-space vectors of any size. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "systems.h"

enum { NX = 18, NY = 16, BS = 2, N = NX * NY * BS, VECTORS = 3 };

static bisai_precond_options multigrid(bisai_smoother smoother) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.smoother = smoother;
  o.multigrid.coarsest = 30;
  return o;
}

static bisai_bcsr *diffusion(double wind) {
  return test_bcsr_take(context, test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, wind));
}

static void expect_option_refused(bisai_precond_options o, const char *message) {
  bisai_bcsr *a = diffusion(0.0);
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, message);
  bisai_bcsr_destroy(&a);
}

#define EXPECT_REFUSED(field, value, message)                                                      \
  do {                                                                                             \
    bisai_precond_options refused = multigrid(BISAI_SMOOTHER_JACOBI);                              \
    refused.multigrid.field = (value);                                                             \
    expect_option_refused(refused, message);                                                       \
  } while (0)

static void options_out_of_range_are_refused_by_name(void **state) {
  (void)state;
  EXPECT_REFUSED(cycle, (bisai_cycle)99, "cycle 99");
  EXPECT_REFUSED(smoother, (bisai_smoother)99, "smoother 99");
  EXPECT_REFUSED(nodes, (bisai_aggregation_unit)99, "nodes 99");
  EXPECT_REFUSED(pre, -1, "pre -1");
  EXPECT_REFUSED(post, -1, "post -1");
  EXPECT_REFUSED(damping, 0.0, "damping 0");
  EXPECT_REFUSED(damping, 2.0, "damping 2");
  EXPECT_REFUSED(damping, (double)NAN, "damping ");
  EXPECT_REFUSED(degree, 0, "degree 0");
  EXPECT_REFUSED(ratio, 1.0, "ratio 1");
  EXPECT_REFUSED(ratio, (double)INFINITY, "ratio inf");
  EXPECT_REFUSED(strength, -0.1, "strength -0.1");
  EXPECT_REFUSED(strength, 1.1, "strength 1.1");
  EXPECT_REFUSED(strength, (double)NAN, "strength ");
  EXPECT_REFUSED(levels, 0, "levels 0");
  EXPECT_REFUSED(levels, BISAI_MULTIGRID_LEVELS + 1, "levels 25");
  EXPECT_REFUSED(coarsest, -2, "coarsest -2");
  EXPECT_REFUSED(coarsest, 2049, "coarsest 2049");
  EXPECT_REFUSED(complexity, 0.9, "complexity 0.9");
  EXPECT_REFUSED(power, 0, "power 0");
  EXPECT_REFUSED(relax, -1, "relax -1");
  EXPECT_REFUSED(sweeps, -1, "sweeps -1");
  EXPECT_REFUSED(level, -1, "level -1");
  EXPECT_REFUSED(null_count, 1, "null_count is 1, null_vectors is NULL");
}

/* 65536² steps are 0 in 32 bits. */
static void more_steps_than_a_million_are_refused_by_name(void **state) {
  (void)state;
  enum { MANY = 65536, MOST = 1000000 };
  static const struct {
    bisai_smoother smoother;
    int32_t pre, post, degree, relax, sweeps;
    const char *message;
  } cases[] = {
      {BISAI_SMOOTHER_CHEBYSHEV, MANY, 1, MANY, 0, 1, "pre 65536 times degree 65536"},
      {BISAI_SMOOTHER_AUTO, 1, MANY, MANY, 0, 1, "post 65536 times degree 65536"},
      {BISAI_SMOOTHER_CHEBYSHEV, MOST / 2 + 1, 0, 2, 0, 1, "pre 500001 times degree 2"},
      {BISAI_SMOOTHER_ISAI, 1001, 1, 2, 1000, 1, "pre 1001 times relax 1000"},
      {BISAI_SMOOTHER_SWEEPS, 1, 1001, 2, 0, 1000, "post 1001 times sweeps 1000"},
      {BISAI_SMOOTHER_JACOBI, MOST + 1, 1, 2, 0, 1, "pre 1000001"},
      {BISAI_SMOOTHER_JACOBI, 1, INT32_MAX, 2, 0, 1, "post 2147483647"},
      {BISAI_SMOOTHER_CHEBYSHEV, 1, 1, MOST + 1, 0, 1, "degree 1000001"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bisai_precond_options o = multigrid(BISAI_SMOOTHER_JACOBI);
    o.multigrid.smoother = cases[k].smoother;
    o.multigrid.pre = cases[k].pre, o.multigrid.post = cases[k].post;
    o.multigrid.degree = cases[k].degree;
    o.multigrid.relax = cases[k].relax;
    o.multigrid.sweeps = cases[k].sweeps;
    expect_option_refused(o, cases[k].message);
  }
  bisai_bcsr *a = diffusion(0.0);
  bisai_precond_options o = multigrid(BISAI_SMOOTHER_CHEBYSHEV);
  o.multigrid.pre = o.multigrid.post = MOST / 2;
  bisai_precond *m = test_precond_with(context, a, &o);
  assert_true(test_report_of(context, m).apply_bytes > (int64_t)MOST * 8 * N);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void cycles_that_never_smooth_need_an_inverse(void **state) {
  (void)state;
  bisai_precond_options o = multigrid(BISAI_SMOOTHER_JACOBI);
  o.multigrid.pre = o.multigrid.post = 0;
  expect_option_refused(o, "pre and post are 0");
  o.multigrid.levels = 1;
  expect_option_refused(o, "pre and post are 0");
  o.multigrid.coarsest = N - 1;
  expect_option_refused(o, "which has 576 rows, and `coarsest` is 575");
  bisai_bcsr *a = diffusion(0.3);
  for (int k = 0; k < 3; k++) {
    o.multigrid.coarsest = k ? BISAI_MULTIGRID_COARSEST_AUTO : N;
    if (k == 2) o.multigrid.levels = BISAI_MULTIGRID_LEVELS;
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_true(r.levels == 1 && r.coarsest_inverted);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void null_vectors_are_checked(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  bisai_precond_options o = multigrid(BISAI_SMOOTHER_JACOBI);
  o.multigrid.null_vectors = vectors;
  expect_option_refused(o, "null_count is 0, null_vectors is given");
  o.multigrid.null_count = BISAI_MULTIGRID_VECTORS + 1;
  expect_option_refused(o, "null_count 33");
  o.multigrid.null_count = VECTORS;
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
  expect_option_refused(o, "nodes scalar");
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_AUTO;
  vectors[7 * VECTORS + 2] = (double)INFINITY;
  expect_option_refused(o, "null_vectors: row 7 of vector 2 is inf (both from 0)");
  vectors[7 * VECTORS + 2] = (double)NAN;
  expect_option_refused(o, "null_vectors: row 7 of vector 2 is ");
  for (int64_t i = 0; i < N; i++) vectors[i * VECTORS + 2] = 0.0;
  expect_option_refused(o, "null_vectors: vector 2 (from 0) is zero");
  free(vectors);
}

/* The norms of coarse vectors would overflow, or lose all digits. Powers of two change no bit. */
static void null_vectors_of_any_size_give_the_same_levels(void **state) {
  (void)state;
  static const int exponents[] = {0, 1021, 950, -1074, -950};
  bisai_bcsr *a = diffusion(0.0);
  double vectors[N * VECTORS];
  bisai_precond_options o = multigrid(BISAI_SMOOTHER_JACOBI);
  bisai_precond *expected = NULL;
  o.multigrid.null_vectors = vectors;
  o.multigrid.null_count = VECTORS;
  for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
    for (int i = 0; i < N * VECTORS; i++) {
      const int c = i % VECTORS, exponent = c == 1 ? 0 : exponents[k]; /* one stays as it is */
      vectors[i] = ldexp(1 + i / VECTORS % (2 + c), exponent);
    }
    bisai_precond *m = test_precond_with(context, a, &o);
    if (expected)
      test_expect_equal(context, expected, m);
    else
      assert_true(test_report_of(context, m).multigrid.levels > 2);
    if (expected) bisai_precond_destroy(&m);
    if (!expected) expected = m;
  }
  bisai_precond_destroy(&expected);
  bisai_bcsr_destroy(&a);
}

static void options_are_refused_by_other_kinds(void **state) {
  (void)state;
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ISAI;
  o.multigrid.pre = 2;
  expect_option_refused(o, "isai does not take the option pre, which is for mg");
}

static void options_of_other_smoothers_are_refused(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(6, 6, 2, TEST_ZERO_OUTSIDE, 0.2));
  static const struct {
    const char *field, *message;
    double value;
    bisai_smoother refusing, taking;
  } cases[] = {
      {"multigrid.damping",
       "the smoother ilu does not take the option damping, which is for "
       "jacobi, l1",
       0.5, BISAI_SMOOTHER_ILU, BISAI_SMOOTHER_L1},
      {"multigrid.degree",
       "the smoother jacobi does not take the option degree, which is for "
       "chebyshev",
       3, BISAI_SMOOTHER_JACOBI, BISAI_SMOOTHER_AUTO},
      {"multigrid.ratio", "the smoother l1 does not take the option ratio, which is for chebyshev",
       4, BISAI_SMOOTHER_L1, BISAI_SMOOTHER_CHEBYSHEV},
      {"multigrid.power", "the smoother auto does not take the option power, which is for isai", 2,
       BISAI_SMOOTHER_AUTO, BISAI_SMOOTHER_ISAI},
      {"multigrid.relax", "the smoother ilu does not take the option relax, which is for isai", 1,
       BISAI_SMOOTHER_ILU, BISAI_SMOOTHER_ISAI},
      {"multigrid.sweeps", "the smoother isai does not take the option sweeps, which is for sweeps",
       2, BISAI_SMOOTHER_ISAI, BISAI_SMOOTHER_SWEEPS},
      {"multigrid.level",
       "the smoother chebyshev does not take the option level, which is for "
       "isai, sweeps, ilu",
       1, BISAI_SMOOTHER_CHEBYSHEV, BISAI_SMOOTHER_SWEEPS},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bisai_precond_options o = bisai_precond_options_default();
    bisai_precond *m = NULL;
    const bisai_option *option;
    o.kind = BISAI_PRECOND_MULTIGRID;
    for (int i = 0; (option = bisai_precond_kind_option(o.kind, i)); i++)
      if (strcmp(option->field, cases[k].field) == 0) bisai_option_set(option, cases[k].value, &o);
    o.multigrid.smoother = cases[k].refusing;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
    EXPECT_MESSAGE(context, cases[k].message);
    o.multigrid.smoother = cases[k].taking;
    EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void matrices_in_narrow_types_are_refused(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(4, 4, 1, TEST_ZERO_OUTSIDE, 0.0);
  bisai_bcsr *narrow = test_bcsr_single(context, &arrays), *wide = test_bcsr_take(context, arrays);
  const bisai_precond_options o = multigrid(BISAI_SMOOTHER_JACOBI);
  test_expect_refused(context, narrow, &o, BISAI_UNSUPPORTED, "fp64");
  bisai_precond *m = test_precond_with(context, wide, &o);
  test_expect_update_refused(context, m, narrow, BISAI_UNSUPPORTED, "fp64");
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&narrow);
  bisai_bcsr_destroy(&wide);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
      cmocka_unit_test(more_steps_than_a_million_are_refused_by_name),
      cmocka_unit_test(cycles_that_never_smooth_need_an_inverse),
      cmocka_unit_test(null_vectors_are_checked),
      cmocka_unit_test(null_vectors_of_any_size_give_the_same_levels),
      cmocka_unit_test(options_are_refused_by_other_kinds),
      cmocka_unit_test(options_of_other_smoothers_are_refused),
      cmocka_unit_test(matrices_in_narrow_types_are_refused),
  };
  return cmocka_run_group_tests_name("multigrid_options", tests, setup, teardown);
}
