/* SPDX-License-Identifier: BSD-3-Clause */
/* What multigrid inverts if the option `coarsest` is left open. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "systems.h"

static bisai_precond_options multigrid(int32_t coarsest) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = coarsest;
  return o;
}

static const bisai_precond_options *automatic(void) {
  static bisai_precond_options o;
  o = multigrid(BISAI_MULTIGRID_COARSEST_AUTO);
  return &o;
}

/* What bisai/precond_multigrid.h says of the blocks and values of a matrix. */
static int32_t documented(const bisai_bcsr *a) {
  const double b = bisai_bcsr_blocks(a), bs = bisai_bcsr_block_size(a);
  const double n = floor(cbrt(150.0 * (b * bs * bs + 8.0 * b)));
  return n > 1024.0 ? 1024 : (int32_t)n;
}

/* Expects that GMRES solves A x = b in at most so many iterations. Frees b. */
static void expect_solved_for(double *b, const bisai_bcsr *a, bisai_precond *m, int32_t most) {
  double *x = calloc((size_t)bisai_precond_rows(m), sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  bisai_solver_report r = test_report();
  EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &r));
  assert_in_range(r.iterations, 1, most);
  free(b), free(x);
}

/* The same for a random b. */
static void expect_solved(const bisai_bcsr *a, bisai_precond *m, int32_t most) {
  expect_solved_for(test_random_vector(bisai_precond_rows(m), 3), a, m, most);
}

/* The same for b = A·random, which a singular A has solutions for. */
static void expect_consistent_solved(const bisai_bcsr *a, bisai_precond *m, int32_t most) {
  const int64_t n = bisai_precond_rows(m);
  double *x = test_random_vector(n, 3), *b = malloc((size_t)n * sizeof *b);
  EXPECT_OK(context, bisai_bcsr_multiply(a, x, b));
  free(x);
  expect_solved_for(b, a, m, most);
}

static void cost_bounds_inverses(void **state) {
  (void)state;
  static const int32_t sides[] = {4, 13, 30, 64};
  for (int bs = 1; bs <= 5; bs++)
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
      bisai_bcsr *a = test_bcsr_take(
          context, test_mesh_diffusion(sides[s], sides[s], bs, TEST_ZERO_OUTSIDE, 0.2));
      const bisai_precond_options given = multigrid(documented(a));
      bisai_precond *m = test_precond_with(context, a, automatic());
      bisai_precond *other = test_precond_with(context, a, &given);
      const bisai_multigrid_report r = test_report_of(context, m).multigrid;
      const int64_t rows = (int64_t)sides[s] * sides[s] * bs;
      assert_int_equal(r.coarsest, documented(a));
      assert_true(r.coarsest_inverted);
      if (test_on_device() && rows <= 1024) {
        assert_int_equal(r.levels, 1);
        bisai_precond_destroy(&m);
        bisai_precond_destroy(&other);
        bisai_bcsr_destroy(&a);
        continue;
      }
      assert_int_equal(r.levels, test_report_of(context, other).multigrid.levels);
      assert_true(test_same_bits(context, m, other));
      bisai_precond_destroy(&m);
      bisai_precond_destroy(&other);
      bisai_bcsr_destroy(&a);
    }
}

/* --- singular matrices --- */

/* On both backends, level 2 would be inverted at once if it was regular: it has 273 rows. */
static test_bcsr large_neumann_problem(double wind) {
  return test_mesh_diffusion(150, 150, 1, TEST_FREE, wind);
}

static void a_large_singular_matrix_is_coarsened(void **state) {
  (void)state;
  for (int wind = 0; wind < 2; wind++) {
    const test_bcsr arrays = large_neumann_problem(0.2 * wind);
    bisai_bcsr *a = test_bcsr_take(context, arrays);
    bisai_precond *m = test_precond_with(context, a, automatic());
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_int_equal(r.coarsest, 256);
    assert_int_equal(r.coarsest_nullity, 1);
    assert_true(r.coarsest_inverted);
    assert_in_range(r.rows[r.levels - 2], 257, 1024);
    assert_in_range(r.rows[r.levels - 1], 1, 256);
    expect_consistent_solved(a, m, 20);
    EXPECT_OK(context, bisai_precond_update(m, a));
    bisai_precond *other = test_precond_with(context, a, automatic());
    assert_true(test_same_bits(context, other, m));
    bisai_precond_destroy(&other);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

/* Expects that level 2 has a pseudo-inverse, and that the report has this bound. */
static void expect_pseudo_inverse(const bisai_bcsr *a, const bisai_precond_options *o,
                                  int32_t coarsest) {
  bisai_precond *m = test_precond_with(context, a, o);
  const bisai_multigrid_report r = test_report_of(context, m).multigrid;
  assert_int_equal(r.coarsest, coarsest);
  assert_int_equal(r.coarsest_nullity, 1);
  assert_in_range(r.rows[r.levels - 1], 257, 1024);
  bisai_precond_destroy(&m);
}

/* A pivot of a factor may be the rounding error of a component without a boundary. */
static void a_chosen_size_and_smoothers_with_factors_keep_the_pseudo_inverse(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, large_neumann_problem(0.0));
  const bisai_precond_options chosen = multigrid(1024);
  bisai_precond_options with_factors = *automatic();
  with_factors.multigrid.smoother = BISAI_SMOOTHER_ILU;
  expect_pseudo_inverse(a, &chosen, 1024);
  expect_pseudo_inverse(a, &with_factors, documented(a));
  bisai_bcsr_destroy(&a);
}

/* The springs of cells of 4³ nodes are stiffer than others, every other cell's. */
static test_bcsr free_body(int32_t edge, double stiffness) {
  test_bcsr a = test_mesh_springs(edge, edge, edge, TEST_FREE);
  for (int32_t i = 0; i < a.block_rows; i++) {
    double sum[9] = {0}, *diagonal = test_bcsr_block(&a, i, i);
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      const int32_t j = a.col_idx[p], u = edge * edge;
      const int cells = i / u / 4 + i / edge % edge / 4 + i % edge / 4,
                there = j / u / 4 + j / edge % edge / 4 + j % edge / 4;
      for (int k = 0; k < 9 && j != i; k++) {
        if (cells % 2 == 1 && there % 2 == 1) a.values[9 * p + k] *= stiffness;
        sum[k] -= a.values[9 * p + k];
      }
    }
    memcpy(diagonal, sum, sizeof sum);
  }
  return a;
}

/* Expects that M has a null space of six dimensions, and that CG solves a consistent system. */
static void expect_body_solved(const bisai_bcsr *a, bisai_precond *m) {
  const int64_t n = 3 * (int64_t)bisai_bcsr_block_rows(a);
  double *known = test_random_vector(n, 3), *b = malloc((size_t)n * sizeof *b),
         *x = calloc((size_t)n, sizeof *x);
  bisai_solver_options cg = bisai_solver_options_default();
  bisai_solver_report r = test_report();
  cg.method = BISAI_CG;
  assert_int_equal(test_report_of(context, m).multigrid.coarsest_nullity, 6);
  EXPECT_OK(context, bisai_bcsr_multiply(a, known, b));
  EXPECT_OK(context, test_solve(context, &cg, a, m, b, x, &r));
  assert_in_range(r.iterations, 1, 40);
  free(known), free(b), free(x);
}

/* Six vectors span the null space, and transfers reproduce them: errors of the transfers, as of
 * values in fp32, must not make the coarsest matrix regular. */
static void free_bodies_with_stiff_parts_are_solved(void **state) {
  (void)state;
  enum { EDGE = 16 };
  static const double stiffness[] = {1, 10, 100, 1e3, 1e4, 1e6};
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE);
  for (size_t k = 0; k < sizeof stiffness / sizeof *stiffness; k++) {
    bisai_precond_options o = *automatic();
    bisai_bcsr *a = test_bcsr_take(context, free_body(EDGE, stiffness[k]));
    o.multigrid.null_vectors = modes;
    o.multigrid.null_count = 6;
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_non_null(strstr(bisai_precond_describe(m), "precision=fp32"));
    expect_body_solved(a, m);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
  free(modes);
}

/* The springs of a body, whose rows are multiplied by 1 + ε r. */
static bisai_bcsr *body_with_scaled_rows(int32_t edge, double epsilon) {
  test_bcsr a = free_body(edge, 1.0);
  double *r = test_random_vector(3 * a.block_rows, 7);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t v = 9 * a.row_ptr[i]; v < 9 * a.row_ptr[i + 1]; v++)
      a.values[v] *= 1.0 + epsilon * r[3 * i + v % 3];
  free(r);
  return test_bcsr_take(context, a);
}

/* Such rows keep their null vectors, and the columns lose theirs. The matrix counts as symmetric,
 * but half of R A P must not stand for the other: also after an update of a matrix where it did. */
static void nearly_symmetric_free_bodies_keep_their_null_space(void **state) {
  (void)state;
  enum { EDGE = 12 };
  static const double epsilon[] = {1e-14, 1e-13, 1e-12, 3e-11};
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE);
  bisai_precond_options o = *automatic();
  o.multigrid.null_vectors = modes;
  o.multigrid.null_count = 6;
  for (size_t k = 0; k < sizeof epsilon / sizeof *epsilon; k++) {
    bisai_bcsr *body = test_bcsr_take(context, free_body(EDGE, 1.0)),
               *a = body_with_scaled_rows(EDGE, epsilon[k]);
    bisai_precond *m = test_precond_with(context, a, &o),
                  *updated = test_precond_with(context, body, &o);
    expect_body_solved(a, m);
    EXPECT_OK(context, bisai_precond_update(updated, a));
    expect_body_solved(a, updated);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&updated);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&body);
  }
  free(modes);
}

static void coarsening_singular_matrices_survives_every_failing_allocation(void **state) {
  (void)state;
  test_bcsr a = large_neumann_problem(0.0);
  test_expect_failing_allocations_survived(&a, automatic(), 60);
  test_bcsr_free(&a);
}

/* --- other reasons --- */

/* There is nothing to aggregate. */
static void a_matrix_that_cannot_be_coarsened_is_inverted(void **state) {
  (void)state;
  for (int32_t n = 512; n <= 1536; n += 512) {
    bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(n, 1, 4.0, 1e-4));
    bisai_precond *m = test_precond_with(context, a, automatic());
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_int_equal(r.levels, 1);
    assert_int_equal(r.coarsest, documented(a));
    assert_int_equal(r.coarsest_inverted, n <= 1024);
    assert_int_equal(r.radius[0] > 0.0, n > 1024);
    expect_solved(a, m, n <= 1024 ? 1 : 2);
    EXPECT_OK(context, bisai_precond_update(m, a));
    expect_solved(a, m, n <= 1024 ? 1 : 2);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

static void a_singular_diagonal_block_does_not_hinder_an_inverse(void **state) {
  (void)state;
  const bisai_precond_options few = multigrid(20);
  for (int32_t nx = 20; nx <= 40; nx += 20) {
    bisai_precond *m = NULL;
    bisai_context_fail(context, BISAI_UNSUPPORTED, "an older message");
    test_bcsr arrays = test_mesh_diffusion(nx, 20, 2, TEST_ZERO_OUTSIDE, 0.2);
    memset(test_bcsr_block(&arrays, 150, 150), 0, 4 * sizeof *arrays.values);
    bisai_bcsr *a = test_bcsr_take(context, arrays);
    if (nx == 20) {
      m = test_precond_with(context, a, automatic());
      EXPECT_MESSAGE(context, "an older message");
      const bisai_precond_report r = test_report_of(context, m);
      assert_true(r.multigrid.coarsest_inverted && r.multigrid.levels == 1);
      assert_int_equal(r.repairs, 0);
      expect_solved(a, m, 2);
      bisai_precond_destroy(&m);
    } else { /* of 1600 rows */
      EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK,
                    bisai_precond_create(context, a, automatic(), &m));
    }
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_create(context, a, &few, &m));
    bisai_bcsr_destroy(&a);
  }
}

/* Each row follows the next one ten times as strongly as itself, so that smoothing lets errors
 * grow. */
static test_bcsr growing(int32_t n) {
  test_bcsr a = test_bcsr_tridiagonal(n, 1, 1.0, -10.0);
  for (int32_t i = 1; i < n; i++) *test_bcsr_block(&a, i, i - 1) = 0.0;
  return a;
}

/* The same beside two rows whose inverse has values of 10³¹⁰. These rows are an aggregate, and the
 * coarse matrix has the sum of their values only. */
static test_bcsr growing_without_inverse(int32_t n) {
  const double tiny = 1e-300, nearly = 1.0 - 1e-10;
  return test_mesh_beside(growing(n), test_bcsr_tridiagonal(2, 1, tiny, nearly * tiny));
}

static void a_matrix_whose_levels_let_errors_grow_is_inverted(void **state) {
  (void)state;
  for (int32_t n = 600; n <= 1200; n += 600) {
    bisai_bcsr *a = test_bcsr_take(context, growing(n));
    bisai_precond *m = test_precond_with(context, a, automatic());
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_int_equal(r.levels == 1, n <= 1024);
    if (n <= 1024) assert_true(r.coarsest_inverted);
    /* a device inverts it at once, and the bound of coarser matrices stays */
    if (n <= 1024) assert_int_equal(r.coarsest, test_on_device() ? documented(a) : 1024);
    EXPECT_OK(context, bisai_precond_update(m, a));
    assert_int_equal(test_report_of(context, m).multigrid.levels, r.levels);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

/* The first of two unknowns has such couplings. */
static void a_pressure_matrix_is_tried_out_too(void **state) {
  (void)state;
  test_bcsr arrays = test_bcsr_tridiagonal(300, 2, 1.0, -0.1);
  for (int32_t i = 1; i < 300; i++) {
    *test_bcsr_block(&arrays, i - 1, i) = -10.0;
    *test_bcsr_block(&arrays, i, i - 1) = -9.0;
  }
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.pressure = 0;
  bisai_precond *m = test_precond_with(context, a, &o);
  const bisai_multigrid_report r = test_report_of(context, m).multigrid;
  assert_true(r.levels == 1 && r.coarsest_inverted);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void levels_stay_if_the_inverse_overflows(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* inverts the matrix */
  bisai_bcsr *a = test_bcsr_take(context, growing_without_inverse(600));
  const bisai_precond_options given = multigrid(documented(a)), whole = multigrid(1024);
  bisai_precond *m = NULL;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_precond_create(context, a, &whole, &m));
  bisai_context_fail(context, BISAI_UNSUPPORTED, "an older message");
  m = test_precond_with(context, a, automatic());
  EXPECT_MESSAGE(context, "an older message");
  const bisai_multigrid_report r = test_report_of(context, m).multigrid;
  assert_true(r.levels > 1 && r.coarsest == documented(a) && r.coarsest_inverted);
  bisai_precond *levels = test_precond_with(context, a, &given);
  assert_true(test_same_bits(context, m, levels));
  EXPECT_OK(context, bisai_precond_update(m, a));
  assert_true(test_same_bits(context, m, levels));
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&levels);
  bisai_bcsr_destroy(&a);
}

static void replacing_levels_survives_every_failing_allocation(void **state) {
  (void)state;
  const int matrices = test_on_device() ? 1 : 2; /* a device inverts both */
  for (int k = 0; k < matrices; k++) {
    test_bcsr a = k == 0 ? growing(300) : growing_without_inverse(300);
    test_expect_failing_allocations_survived(&a, automatic(), 10);
    test_bcsr_free(&a);
  }
}

/* Nothing is smoothed, so that neither the smoother nor `pre` and `post` matter. */
static void an_inverted_symmetric_matrix_is_symmetric(void **state) {
  (void)state;
  for (int wind = 0; wind < 2; wind++)
    for (int s = BISAI_SMOOTHER_AUTO; s <= BISAI_SMOOTHER_ILU; s++)
      for (int32_t coarsest = 20; coarsest <= 1024; coarsest += 1004) {
        bisai_bcsr *a =
            test_bcsr_take(context, test_mesh_lines(24, 24, 4)); /* aggregates scalar rows */
        bisai_precond_options o = multigrid(coarsest);
        o.multigrid.smoother = (bisai_smoother)s;
        o.multigrid.pre = 2;
        if (wind > 0) {
          bisai_bcsr_destroy(&a);
          a = test_bcsr_take(context, test_mesh_diffusion(12, 12, 3, TEST_ZERO_OUTSIDE, 0.2));
        }
        bisai_precond *m = test_precond_with(context, a, &o);
        assert_int_equal(test_report_of(context, m).symmetry, wind == 0 && coarsest == 1024
                                                                  ? BISAI_SYMMETRY_VALUES
                                                                  : BISAI_SYMMETRY_NONE);
        if (coarsest == 1024) assert_non_null(strstr(bisai_precond_describe(m), ", 1 level of "));
        bisai_precond_destroy(&m);
        bisai_bcsr_destroy(&a);
      }
}

/* Products of a graph without geometry fill up. */
static void a_matrix_that_saves_an_inverse_may_exceed_the_complexity(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* inverts the matrix */
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_definite(900, 1, 5));
  bisai_precond_options o = *automatic();
  bisai_precond *m = test_precond_with(context, a, &o);
  bisai_multigrid_report r = test_report_of(context, m).multigrid;
  assert_true(r.levels > 1 && r.coarsest_inverted);
  assert_true(r.operator_complexity > 2.5);
  for (int l = 0; l + 1 < r.levels; l++) assert_true(r.blocks[l + 1] < r.rows[l] * r.rows[l]);
  bisai_precond_destroy(&m);
  o.multigrid.complexity = 2.5;
  m = test_precond_with(context, a, &o);
  r = test_report_of(context, m).multigrid;
  assert_true(r.operator_complexity <= 2.5 && r.coarsest_inverted);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cost_bounds_inverses),
      cmocka_unit_test(a_large_singular_matrix_is_coarsened),
      cmocka_unit_test(a_chosen_size_and_smoothers_with_factors_keep_the_pseudo_inverse),
      cmocka_unit_test(free_bodies_with_stiff_parts_are_solved),
      cmocka_unit_test(nearly_symmetric_free_bodies_keep_their_null_space),
      cmocka_unit_test(coarsening_singular_matrices_survives_every_failing_allocation),
      cmocka_unit_test(a_matrix_that_cannot_be_coarsened_is_inverted),
      cmocka_unit_test(a_matrix_whose_levels_let_errors_grow_is_inverted),
      cmocka_unit_test(a_pressure_matrix_is_tried_out_too),
      cmocka_unit_test(levels_stay_if_the_inverse_overflows),
      cmocka_unit_test(replacing_levels_survives_every_failing_allocation),
      cmocka_unit_test(a_singular_diagonal_block_does_not_hinder_an_inverse),
      cmocka_unit_test(an_inverted_symmetric_matrix_is_symmetric),
      cmocka_unit_test(a_matrix_that_saves_an_inverse_may_exceed_the_complexity)};
  return cmocka_run_group_tests_name("multigrid_coarsest", tests, setup, teardown);
}
