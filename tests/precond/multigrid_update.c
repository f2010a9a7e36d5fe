/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of multigrid: new values give what creation gives, what is kept stays, refusals change
 * nothing, and nothing is allocated. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "smoothers.h"
#include "systems.h"

enum { NX = 18, NY = 16, BS = 2, N = NX * NY * BS, VECTORS = 3 };

/* All smoothers and cycles; null vectors; transfers that stay; scalar nodes; no dense inverse. */
enum { VARIANTS = 12 };

static bisai_precond_options variant_of(int variant, const double *vectors) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = variant == 11 ? 0 : 30;
  o.multigrid.smoother = smoothers[variant % 6];
  o.multigrid.cycle = (bisai_cycle)(BISAI_CYCLE_V + variant % 3);
  o.multigrid.nodes =
      variant % 4 == 3 ? BISAI_AGGREGATION_UNIT_SCALAR : BISAI_AGGREGATION_UNIT_BLOCK;
  o.multigrid.complexity = 3.0;
  if (variant >= 6 && o.multigrid.nodes == BISAI_AGGREGATION_UNIT_BLOCK) {
    o.multigrid.null_vectors = vectors;
    o.multigrid.null_count = VECTORS;
  }
  return o;
}

static test_bcsr diffusion(double wind) {
  return test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, wind);
}

/* The same pattern with other values, symmetric without wind. */
static test_bcsr other_values(double wind) {
  test_bcsr arrays = diffusion(wind);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++) {
      const int32_t sum = i + arrays.col_idx[p];
      for (int32_t v = 0; v < BS * BS; v++)
        arrays.values[p * BS * BS + v] *= 1.0 + 0.1 * (sum * 13 % 17) / 17.0;
    }
  return arrays;
}

/* Three times the matrix, or every block row times another power of two. D⁻¹A of level 0 stays the
 * same to the bit, and so do the aggregates of level 0. */
static test_bcsr scaled(double wind, bool rows) {
  test_bcsr arrays = diffusion(wind);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t v = arrays.row_ptr[i] * BS * BS; v < arrays.row_ptr[i + 1] * BS * BS; v++)
      arrays.values[v] *= rows ? ldexp(1.0, i * 7 % 5) : 3.0;
  return arrays;
}

/* --- new values --- */

static void updates_give_the_bits_of_creation(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  for (int k = 0; k < 3 * VARIANTS; k++) {
    const double wind = k >= VARIANTS ? 0.3 : 0.0;
    const bool rows = k >= 2 * VARIANTS;
    bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    if (rows) o.multigrid.levels = 2;
    bisai_bcsr *a = test_bcsr_take(context, diffusion(wind)),
               *b = test_bcsr_take(context, scaled(wind, rows));
    const bisai_precond_report r = test_expect_update_as_creation(context, a, b, &o);
    assert_true(r.multigrid.levels > (rows ? 1 : 2));
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
  free(vectors);
}

/* Other values may have other aggregates, but the old ones give the old bits again. */
static void updates_can_be_taken_back(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.3)),
             *b = test_bcsr_take(context, other_values(0.3));
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    o.multigrid.keep_transfers = k >= VARIANTS;
    test_expect_taken_back(context, a, b, &o);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  free(vectors);
}

static void kept_transfers_are_those_of_creation(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.3)),
             *b = test_bcsr_take(context, other_values(0.3)),
             *tripled = test_bcsr_take(context, scaled(0.3, false));
  bisai_precond_options o = variant_of(0, NULL);
  bisai_precond *computed = test_precond_with(context, a, &o);
  o.multigrid.keep_transfers = true;
  bisai_precond *kept = test_precond_with(context, a, &o);
  /* P belongs to D⁻¹A, which other values change and a factor does not */
  EXPECT_OK(context, bisai_precond_update(computed, b));
  EXPECT_OK(context, bisai_precond_update(kept, b));
  assert_false(test_same_bits(context, computed, kept));
  EXPECT_OK(context, bisai_precond_update(computed, tripled));
  EXPECT_OK(context, bisai_precond_update(kept, tripled));
  double *x = test_applied(context, computed), *y = test_applied(context, kept);
  EXPECT_CLOSE(N, x, y, 1e-12); /* values of A are of size 1 to 10 */
  free(x), free(y);
  bisai_precond_destroy(&computed);
  bisai_precond_destroy(&kept);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  bisai_bcsr_destroy(&tripled);
}

/* Without `keep_transfers` an update estimates ρ anew. */
static void kept_transfers_keep_the_estimates_of_the_radius(void **state) {
  (void)state;
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_bcsr *a = test_bcsr_take(context, diffusion(0.3)),
               *b = test_bcsr_take(context, other_values(0.3));
    bisai_precond_options o = variant_of(k % VARIANTS, NULL);
    o.multigrid.null_count = 0;
    o.multigrid.keep_transfers = k >= VARIANTS;
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_multigrid_report before = test_report_of(context, m).multigrid;
    EXPECT_OK(context, bisai_precond_update(m, b));
    const bisai_multigrid_report after = test_report_of(context, m).multigrid;
    assert_true(before.radius[0] > 1.0);
    if (o.multigrid.keep_transfers)
      assert_memory_equal(before.radius, after.radius, sizeof before.radius);
    else
      assert_true(before.radius[0] != after.radius[0] && before.radius[1] != after.radius[1]);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

/* Diagonal blocks that grow by up to a tenth leave the matrix definite. */
static test_bcsr with_larger_diagonal(void) {
  test_bcsr arrays = diffusion(0.0);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t v = 0; v < BS * BS; v++)
      test_bcsr_block(&arrays, i, i)[v] *= 1.0 + 0.1 * (i * 13 % 17) / 17.0;
  return arrays;
}

/* The iterations of CG for the right-hand side A y of a random y. */
static int32_t cg_iterations(const bisai_bcsr *a, bisai_precond *m) {
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver_report r = test_report();
  double *y = test_random_vector(N, 6), b[N], x[N] = {0};
  o.method = BISAI_CG;
  EXPECT_OK(context, bisai_bcsr_multiply(a, y, b));
  EXPECT_OK(context, test_solve(context, &o, a, m, b, x, &r));
  free(y);
  return r.iterations;
}

/* CG takes as many iterations as after a new set-up. */
static void kept_estimates_serve_values_that_change_by_a_tenth(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    bisai_bcsr *a = test_bcsr_take(context, diffusion(0.0)),
               *b = test_bcsr_take(context, with_larger_diagonal());
    bisai_precond_options o = variant_of(k ? 2 : 0, NULL);
    o.multigrid.cycle = BISAI_CYCLE_V;
    o.multigrid.keep_transfers = true;
    bisai_precond *kept = test_precond_with(context, a, &o),
                  *fresh = test_precond_with(context, b, &o);
    EXPECT_OK(context, bisai_precond_update(kept, b));
    const int32_t expected = cg_iterations(b, fresh), got = cg_iterations(b, kept);
    assert_in_range(got, expected - 1, expected + 1);
    bisai_precond_destroy(&kept);
    bisai_precond_destroy(&fresh);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

static bisai_symmetry symmetry_of(const bisai_precond *m) {
  return test_report_of(context, m).symmetry;
}

/* The smoother and the cycle of a symmetric matrix would not converge. */
static void values_that_lose_the_symmetry_are_refused_and_change_nothing(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.0)),
             *b = test_bcsr_take(context, diffusion(0.3)),
             *scaled_a = test_bcsr_take(context, scaled(0.0, false));
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS, NULL);
    o.multigrid.null_count = 0;
    o.multigrid.keep_transfers = k >= VARIANTS;
    bisai_precond *m = test_precond_with(context, a, &o);
    test_expect_update_refused(context, m, b, BISAI_NOT_SYMMETRIC,
                               "multigrid was made for a symmetric matrix, and the new values are "
                               "not symmetric: a new preconditioner takes them");
    assert_int_equal(symmetry_of(m), BISAI_SYMMETRY_VALUES);
    EXPECT_OK(context, bisai_precond_update(m, scaled_a));
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  bisai_bcsr_destroy(&scaled_a);
}

static void values_that_become_symmetric_are_taken(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.0)),
             *b = test_bcsr_take(context, diffusion(0.3));
  bisai_precond_options o = variant_of(0, NULL);
  bisai_precond *m = test_precond_with(context, b, &o);
  for (int k = 0; k < 3; k++) {
    assert_int_equal(symmetry_of(m), BISAI_SYMMETRY_NONE);
    assert_false(test_report_of(context, m).multigrid.symmetric);
    EXPECT_OK(context, bisai_precond_update(m, k % 2 ? b : a));
  }
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* R is Pᵀ whatever A is, and M has the symmetry of the values that it has now. */
static void unweighted_multigrid_takes_values_of_any_symmetry(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.0)),
             *b = test_bcsr_take(context, diffusion(0.3));
  for (int variant = 0; variant < VARIANTS; variant++) {
    bisai_precond_options o = variant_of(variant, NULL);
    o.multigrid.null_count = 0;
    o.multigrid.unweighted = true;
    bisai_precond *m = test_precond_with(context, a, &o);
    for (int k = 0; k < 3; k++) {
      const bool symmetric = k % 2 == 0 && o.multigrid.smoother != BISAI_SMOOTHER_ISAI;
      assert_int_equal(symmetry_of(m), symmetric ? BISAI_SYMMETRY_VALUES : BISAI_SYMMETRY_NONE);
      assert_true(test_report_of(context, m).multigrid.symmetric); /* what creation found */
      EXPECT_OK(context, bisai_precond_update(m, k % 2 ? a : b));
    }
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* --- symmetric matrices --- */

/* Diffusion with random coefficients and no boundary, symmetric to the bit, and `shift` I. */
static test_bcsr insulated(double shift) {
  test_bcsr a = test_mesh_diffusion(NX, NY, BS, TEST_FREE, 0.0);
  test_random random = test_random_seed(7);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t v = 0; v < BS * BS; v++)
      test_bcsr_block(&a, i, i)[v] = v % (BS + 1) == 0 ? shift : 0.0;
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      const int32_t j = a.col_idx[p];
      const double factor = j > i ? test_random_uniform(&random, 0.5, 1.5) : 0.0;
      for (int32_t v = 0; v < BS * BS && j > i; v++) {
        const double value = factor * a.values[p * BS * BS + v];
        a.values[p * BS * BS + v] = test_bcsr_block(&a, j, i)[v] = value;
        test_bcsr_block(&a, i, i)[v] -= value;
        test_bcsr_block(&a, j, j)[v] -= value;
      }
    }
  return a;
}

/* The sums of the last levels nearly cancel. Their rounding errors are large beside them. */
static void rounding_errors_of_coarse_matrices_are_no_asymmetry(void **state) {
  (void)state;
  const bisai_precond_options o = with_smoother(3, 0);
  bisai_bcsr *a = test_bcsr_take(context, insulated(1.0)),
             *b = test_bcsr_take(context, insulated(1e-10));
  double asymmetry = 1.0;
  EXPECT_OK(context, bisai_bcsr_asymmetry(b, &asymmetry, NULL));
  assert_true(asymmetry == 0.0);
  bisai_precond *m = test_precond_with(context, a, &o), *fresh = test_precond_with(context, b, &o);
  assert_int_equal(symmetry_of(fresh), BISAI_SYMMETRY_VALUES);
  EXPECT_OK(context, bisai_precond_update(m, b));
  assert_int_equal(symmetry_of(m), BISAI_SYMMETRY_VALUES);
  assert_in_range(cg_iterations(b, fresh), 1, 20);
  assert_in_range(cg_iterations(b, m), 1, 20);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

/* --- levels of wide blocks --- */

/* A device inverts blocks of WIDE rows by another kernel than blocks of one, and the host waits for
 * that kernel. */
enum { WIDE = 7, CLIQUE = 12, CLIQUES = 20, MEMBERS = CLIQUE * CLIQUES };

/* Cliques that are not connected: `size` times their Laplacian and `shift` I. */
static bisai_bcsr *cliques(double size, double shift) {
  int32_t row_ptr[MEMBERS + 1] = {0}, col_idx[MEMBERS * CLIQUE];
  double values[MEMBERS * CLIQUE];
  for (int32_t i = 0; i < MEMBERS; i++) {
    row_ptr[i + 1] = (i + 1) * CLIQUE;
    for (int32_t k = 0; k < CLIQUE; k++) {
      const int32_t j = i / CLIQUE * CLIQUE + k;
      col_idx[i * CLIQUE + k] = j;
      values[i * CLIQUE + k] = size * (i == j ? CLIQUE - 1 + shift : -1.0);
    }
  }
  const test_bcsr a = {MEMBERS, MEMBERS, 1, row_ptr, col_idx, values};
  return test_bcsr_make(context, &a);
}

/* Two levels: the aggregates are the cliques. A constant is among the vectors. */
static bisai_precond *of_cliques(const bisai_bcsr *a) {
  double *vectors = test_random_vector((int64_t)MEMBERS * WIDE, 3);
  for (int32_t i = 0; i < MEMBERS; i++) vectors[i * WIDE] = 1.0;
  bisai_precond_options o = with_smoother(0, 0);
  o.multigrid.null_vectors = vectors;
  o.multigrid.null_count = WIDE;
  o.multigrid.complexity = 100.0;
  bisai_precond *m = test_precond_with(context, a, &o);
  const bisai_multigrid_report r = test_report_of(context, m).multigrid;
  assert_true(r.levels == 2 && r.block_size[1] == WIDE && r.rows[1] == CLIQUES);
  free(vectors);
  return m;
}

/* Inverses of level 1 are judged beside those of level 0 of the same update. */
static void updates_may_change_the_unit(void **state) {
  (void)state;
  bisai_bcsr *a = cliques(1.0, 0.1), *large = cliques(0x1p40, 0.1);
  bisai_precond *m = of_cliques(a), *fresh = of_cliques(a);
  for (int k = 0; k < 2; k++) {
    EXPECT_OK(context, bisai_precond_update(m, large));
    EXPECT_OK(context, bisai_precond_update(m, a));
    test_expect_equal(context, fresh, m);
  }
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&large);
}

static void a_level_that_becomes_singular_is_refused_after_any_unit(void **state) {
  (void)state;
  bisai_bcsr *a = cliques(1.0, 0.1), *small = cliques(0x1p-40, 0.1), *singular = cliques(1.0, 0.0);
  bisai_precond *m = of_cliques(a), *fresh = of_cliques(a);
  EXPECT_OK(context, bisai_precond_update(m, small));
  test_expect_update_failed(context, m, singular, BISAI_SINGULAR_BLOCK,
                            "multigrid, level 1: the new values make the matrix of 20 block rows "
                            "singular: a new preconditioner takes them");
  EXPECT_OK(context, bisai_precond_update(m, a));
  test_expect_equal(context, fresh, m);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&small);
  bisai_bcsr_destroy(&singular);
}

/* --- refusals --- */

static void other_patterns_are_refused_and_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = diffusion(0.3);
  /* one block moves: as many blocks, and as many in each row */
  const int32_t row = NX * NY / 2, last = arrays.row_ptr[row + 1] - 1;
  arrays.col_idx[last]++;
  bisai_bcsr *a = test_bcsr_take(context, diffusion(0.3)), *moved = test_bcsr_take(context, arrays),
             *turned =
                 test_bcsr_take(context, test_mesh_diffusion(NY, NX, BS, TEST_FIXED_FACE, 0.3)),
             *fewer =
                 test_bcsr_take(context, test_mesh_diffusion(NX - 1, NY, BS, TEST_FIXED_FACE, 0.3)),
             *scalar =
                 test_bcsr_take(context, test_mesh_diffusion(NX, NY, 1, TEST_FIXED_FACE, 0.3));
  for (int k = 0; k < 6; k++) {
    bisai_precond_options o = variant_of(k, NULL);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
    bisai_precond *m = test_precond_with(context, a, &o);
    test_expect_update_refused(context, m, moved, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, turned, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, fewer, BISAI_INVALID_ARGUMENT, "the pattern changed");
    test_expect_update_refused(context, m, scalar, BISAI_INVALID_ARGUMENT, "the pattern changed");
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&moved);
  bisai_bcsr_destroy(&turned);
  bisai_bcsr_destroy(&fewer);
  bisai_bcsr_destroy(&scalar);
}

/* Updates multigrid of `a` with the values of b, which fails, and then with those of `a`, which
 * succeeds. Destroys b between the two, because the matrix of a failed update may go. */
static void expect_failure_and_recovery(const bisai_precond_options *o, const bisai_bcsr *a,
                                        bisai_bcsr *b, bisai_status status, const char *message) {
  bisai_precond *m = test_precond_with(context, a, o), *expected = test_precond_with(context, a, o);
  test_expect_update_failed(context, m, b, status, message);
  bisai_bcsr_destroy(&b);
  EXPECT_OK(context, bisai_precond_update(m, a));
  test_expect_equal(context, expected, m);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&expected);
}

static void scalar_nodes_refuse_a_value_where_there_was_a_zero(void **state) {
  (void)state;
  enum { LINE = 4, ROW = 32 };
  test_bcsr arrays = test_mesh_lines(NX, NY * BS, LINE);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond_options o = variant_of(0, NULL);
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
  /* scalar row 32 is row 0 of block row 8, and row 3 is not its neighbour */
  double *block = test_bcsr_block(&arrays, ROW / LINE, ROW / LINE);
  block[3] = block[3 * LINE] = 1e-3;
  bisai_bcsr *b = test_bcsr_take(context, arrays);
  expect_failure_and_recovery(&o, a, b, BISAI_INVALID_STRUCTURE, "scalar row 32 ");
  bisai_bcsr_destroy(&a);
}

static void a_failed_update_can_be_followed_by_a_good_one(void **state) {
  (void)state;
  for (int k = 0; k < 6; k++) {
    test_bcsr arrays = diffusion(0.3);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    memset(test_bcsr_block(&arrays, 41, 41), 0, BS * BS * sizeof(double));
    bisai_bcsr *b = test_bcsr_take(context, arrays);
    bisai_precond_options o = variant_of(k, NULL);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
    expect_failure_and_recovery(&o, a, b, BISAI_SINGULAR_BLOCK, "row 41");
    bisai_bcsr_destroy(&a);
  }
}

/* --- memory --- */

static void updates_and_applications_allocate_nothing(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  for (int k = 0; k < 2 * VARIANTS; k++) {
    const double wind = k < VARIANTS ? 0.3 : 0.0;
    const bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    test_bcsr a = diffusion(wind), b = other_values(wind);
    test_expect_no_allocations(&a, &b, &o);
    test_bcsr_free(&a);
    test_bcsr_free(&b);
  }
  free(vectors);
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  for (int k = 0; k < 2 * VARIANTS; k += k < VARIANTS ? 1 : 5) {
    const bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    test_bcsr a = diffusion(k < VARIANTS ? 0.3 : 0.0);
    test_expect_failing_allocations_survived(&a, &o, 50);
    test_bcsr_free(&a);
  }
  free(vectors);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_give_the_bits_of_creation),
      cmocka_unit_test(updates_can_be_taken_back),
      cmocka_unit_test(kept_transfers_are_those_of_creation),
      cmocka_unit_test(kept_transfers_keep_the_estimates_of_the_radius),
      cmocka_unit_test(kept_estimates_serve_values_that_change_by_a_tenth),
      cmocka_unit_test(values_that_lose_the_symmetry_are_refused_and_change_nothing),
      cmocka_unit_test(values_that_become_symmetric_are_taken),
      cmocka_unit_test(unweighted_multigrid_takes_values_of_any_symmetry),
      cmocka_unit_test(rounding_errors_of_coarse_matrices_are_no_asymmetry),
      cmocka_unit_test(updates_may_change_the_unit),
      cmocka_unit_test(a_level_that_becomes_singular_is_refused_after_any_unit),
      cmocka_unit_test(other_patterns_are_refused_and_change_nothing),
      cmocka_unit_test(scalar_nodes_refuse_a_value_where_there_was_a_zero),
      cmocka_unit_test(a_failed_update_can_be_followed_by_a_good_one),
      cmocka_unit_test(updates_and_applications_allocate_nothing),
      cmocka_unit_test(creation_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests_name("multigrid_update", tests, setup, teardown);
}
