/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates, failures and options of multigrid: new values give what creation gives, refusals change
 * nothing, failing allocations leave nothing behind. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
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
  o.multigrid.nodes = variant % 4 == 3 ? BISAI_NODES_SCALAR : BISAI_NODES_BLOCK;
  o.multigrid.complexity = 3.0;
  if (variant >= 6 && o.multigrid.nodes == BISAI_NODES_BLOCK) {
    o.multigrid.null_vectors = vectors;
    o.multigrid.null_count = VECTORS;
  }
  return o;
}

static bisai_bcsr *diffusion(bisai_context *c, double wind) {
  return test_bcsr_take(c, test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, wind));
}

/* The same pattern with other values, symmetric without wind. */
static bisai_bcsr *other_values(bisai_context *c, double wind) {
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, wind);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++) {
      const int32_t sum = i + arrays.col_idx[p];
      for (int32_t v = 0; v < BS * BS; v++)
        arrays.values[p * BS * BS + v] *= 1.0 + 0.1 * (sum * 13 % 17) / 17.0;
    }
  return test_bcsr_take(c, arrays);
}

/* Three times the matrix, or every block row times another power of two. D⁻¹A of level 0 stays the
 * same to the bit, and so do the aggregates of level 0. */
static bisai_bcsr *scaled(bisai_context *c, double wind, bool rows) {
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, wind);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t v = arrays.row_ptr[i] * BS * BS; v < arrays.row_ptr[i + 1] * BS * BS; v++)
      arrays.values[v] *= rows ? ldexp(1.0, i * 7 % 5) : 3.0;
  return test_bcsr_take(c, arrays);
}

static double *applied(bisai_context *c, bisai_precond *m) {
  double *v = test_random_vector(N, 4), *z = malloc(N * sizeof *z);
  EXPECT_OK(c, bisai_precond_apply(m, v, z));
  free(v);
  return z;
}

static void expect_equal(bisai_precond *expected, bisai_precond *got) {
  double *x = applied(context, expected), *y = applied(context, got);
  const bisai_multigrid_report r = test_report_of(context, expected).multigrid,
                               s = test_report_of(context, got).multigrid;
  assert_memory_equal(x, y, N * sizeof *x);
  assert_string_equal(bisai_precond_describe(expected), bisai_precond_describe(got));
  assert_memory_equal(r.radius, s.radius, sizeof r.radius);
  assert_int_equal(r.hierarchy_bytes, s.hierarchy_bytes);
  free(x), free(y);
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
    bisai_bcsr *a = diffusion(context, wind), *b = scaled(context, wind, rows);
    bisai_precond *expected = test_precond_with(context, b, &o),
                  *got = test_precond_with(context, a, &o);
    assert_true(test_report_of(context, got).multigrid.levels > (rows ? 1 : 2));
    EXPECT_OK(context, bisai_precond_update(got, b));
    expect_equal(expected, got);
    bisai_precond_destroy(&expected);
    bisai_precond_destroy(&got);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
  free(vectors);
}

/* Other values may have other aggregates, but the old ones give the old bits again. */
static void updates_can_be_taken_back(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    o.multigrid.keep_transfers = k >= VARIANTS;
    bisai_bcsr *a = diffusion(context, 0.3), *b = other_values(context, 0.3);
    bisai_precond *expected = test_precond_with(context, a, &o),
                  *got = test_precond_with(context, a, &o);
    EXPECT_OK(context, bisai_precond_update(got, b));
    double *x = applied(context, expected), *y = applied(context, got);
    assert_memory_not_equal(x, y, N * sizeof *x);
    free(x), free(y);
    EXPECT_OK(context, bisai_precond_update(got, a));
    expect_equal(expected, got);
    bisai_precond_destroy(&expected);
    bisai_precond_destroy(&got);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
  free(vectors);
}

static void kept_transfers_are_those_of_creation(void **state) {
  (void)state;
  bisai_bcsr *a = diffusion(context, 0.3), *b = other_values(context, 0.3),
             *tripled = scaled(context, 0.3, false);
  bisai_precond_options o = variant_of(0, NULL);
  bisai_precond *computed = test_precond_with(context, a, &o);
  o.multigrid.keep_transfers = true;
  bisai_precond *kept = test_precond_with(context, a, &o);
  /* P belongs to D⁻¹A, which other values change and a factor does not */
  EXPECT_OK(context, bisai_precond_update(computed, b));
  EXPECT_OK(context, bisai_precond_update(kept, b));
  double *x = applied(context, computed), *y = applied(context, kept);
  assert_memory_not_equal(x, y, N * sizeof *x);
  free(x), free(y);
  EXPECT_OK(context, bisai_precond_update(computed, tripled));
  EXPECT_OK(context, bisai_precond_update(kept, tripled));
  x = applied(context, computed), y = applied(context, kept);
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
    bisai_bcsr *a = diffusion(context, 0.3), *b = other_values(context, 0.3);
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
static bisai_bcsr *with_larger_diagonal(bisai_context *c) {
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, 0.0);
  for (int32_t i = 0; i < arrays.block_rows; i++)
    for (int32_t v = 0; v < BS * BS; v++)
      test_bcsr_block(&arrays, i, i)[v] *= 1.0 + 0.1 * (i * 13 % 17) / 17.0;
  return test_bcsr_take(c, arrays);
}

static int32_t cg_iterations(const bisai_bcsr *a, bisai_precond *m) {
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver_report r = test_report();
  double *b = test_random_vector(N, 6), *x = calloc(N, sizeof *x);
  o.method = BISAI_CG;
  EXPECT_OK(context, test_solve(context, &o, a, m, b, x, &r));
  free(b), free(x);
  return r.iterations;
}

/* CG takes as many iterations as after a new set-up. */
static void kept_estimates_serve_values_that_change_by_a_tenth(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    bisai_bcsr *a = diffusion(context, 0.0), *b = with_larger_diagonal(context);
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
  bisai_bcsr *a = diffusion(context, 0.0), *b = diffusion(context, 0.3),
             *scaled_a = scaled(context, 0.0, false);
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS, NULL);
    o.multigrid.null_count = 0;
    o.multigrid.keep_transfers = k >= VARIANTS;
    bisai_precond *m = test_precond_with(context, a, &o);
    double *before = applied(context, m);
    EXPECT_STATUS(context, BISAI_NOT_SYMMETRIC, bisai_precond_update(m, b));
    EXPECT_MESSAGE(context, "multigrid was made for a symmetric matrix, and the new values are not "
                            "symmetric: a new preconditioner takes them");
    double *after = applied(context, m);
    assert_memory_equal(before, after, N * sizeof *before);
    free(before), free(after);
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
  bisai_bcsr *a = diffusion(context, 0.0), *b = diffusion(context, 0.3);
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
  bisai_bcsr *a = diffusion(context, 0.0), *b = diffusion(context, 0.3);
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

/* --- refusals --- */

static void expect_refused(bisai_precond *m, const bisai_bcsr *a, const char *message) {
  double *before = applied(context, m);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_update(m, a));
  EXPECT_IN_MESSAGE(context, message);
  double *after = applied(context, m);
  assert_memory_equal(before, after, N * sizeof *before);
  free(before), free(after);
}

static void other_patterns_are_refused_and_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, 0.3);
  /* one block moves: as many blocks, and as many in each row */
  const int32_t row = NX * NY / 2, last = arrays.row_ptr[row + 1] - 1;
  arrays.col_idx[last]++;
  bisai_bcsr *a = diffusion(context, 0.3), *moved = test_bcsr_take(context, arrays),
             *turned =
                 test_bcsr_take(context, test_mesh_diffusion(NY, NX, BS, TEST_FIXED_FACE, 0.3)),
             *fewer =
                 test_bcsr_take(context, test_mesh_diffusion(NX - 1, NY, BS, TEST_FIXED_FACE, 0.3)),
             *scalar =
                 test_bcsr_take(context, test_mesh_diffusion(NX, NY, 1, TEST_FIXED_FACE, 0.3));
  for (int k = 0; k < 6; k++) {
    bisai_precond_options o = variant_of(k, NULL);
    o.multigrid.nodes = BISAI_NODES_BLOCK;
    bisai_precond *m = test_precond_with(context, a, &o);
    expect_refused(m, moved, "the pattern changed");
    expect_refused(m, turned, "the pattern changed");
    expect_refused(m, fewer, "the pattern changed");
    expect_refused(m, scalar, "the pattern changed");
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
  double v[N], z[N];
  for (int i = 0; i < N; i++) v[i] = 1.0;
  EXPECT_STATUS(context, status, bisai_precond_update(m, b));
  EXPECT_IN_MESSAGE(context, message);
  EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(m, v, z));
  bisai_bcsr_destroy(&b);
  EXPECT_OK(context, bisai_precond_update(m, a));
  expect_equal(expected, m);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&expected);
}

static void scalar_nodes_refuse_a_value_where_there_was_a_zero(void **state) {
  (void)state;
  enum { LINE = 4, ROW = 32 };
  test_bcsr arrays = test_mesh_lines(NX, NY * BS, LINE);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bisai_precond_options o = variant_of(0, NULL);
  o.multigrid.nodes = BISAI_NODES_SCALAR;
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
    test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, 0.3);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    memset(test_bcsr_block(&arrays, 41, 41), 0, BS * BS * sizeof(double));
    bisai_bcsr *b = test_bcsr_take(context, arrays);
    bisai_precond_options o = variant_of(k, NULL);
    o.multigrid.nodes = BISAI_NODES_BLOCK;
    expect_failure_and_recovery(&o, a, b, BISAI_SINGULAR_BLOCK, "row 41");
    bisai_bcsr_destroy(&a);
  }
}

/* --- memory --- */

static void updates_and_applications_allocate_nothing(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3), *v = test_vector_in_place(N, 4),
         *z = test_vector_in_place(N, 5);
  for (int k = 0; k < 2 * VARIANTS; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = diffusion(own, k < VARIANTS ? 0.3 : 0.0),
               *b = other_values(own, k < VARIANTS ? 0.3 : 0.0);
    bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    bisai_precond *m = test_precond_with(own, a, &o);
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(own, bisai_precond_update(m, b));
    EXPECT_OK(own, bisai_precond_apply(m, v, z));
    EXPECT_OK(own, bisai_precond_update(m, a));
    EXPECT_OK(own, bisai_precond_apply(m, v, z));
    assert_int_equal(atomic_load(&allocator.calls), before);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  test_vector_free(v), test_vector_free(z);
  free(vectors);
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  double *vectors = test_random_vector((int64_t)N * VECTORS, 3);
  for (int k = 0; k < 2 * VARIANTS; k += k < VARIANTS ? 1 : 5) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    allocator.device_only = true;
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = diffusion(own, k < VARIANTS ? 0.3 : 0.0);
    const bisai_precond_options o = variant_of(k % VARIANTS, vectors);
    /* a device's matrix keeps a copy of its integers for the host once it was asked for */
    bisai_precond *m = test_precond_with(own, a, &o);
    bisai_precond_destroy(&m);
    for (int after = 0; after < 2; after++) {
      long long at = 1;
      while (test_precond_fails_once(own, &allocator, a, &o, at, after)) at++;
      assert_true(at > 50);
    }
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  free(vectors);
}

/* --- options --- */

static void expect_option_refused(bisai_precond_options o, const char *message) {
  bisai_bcsr *a = diffusion(context, 0.0);
  bisai_precond *m = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
  EXPECT_IN_MESSAGE(context, message);
  assert_null(m);
  bisai_bcsr_destroy(&a);
}

#define EXPECT_REFUSED(field, value, message)                                                      \
  do {                                                                                             \
    bisai_precond_options refused = variant_of(0, NULL);                                           \
    refused.multigrid.field = (value);                                                             \
    expect_option_refused(refused, message);                                                       \
  } while (0)

static void options_out_of_range_are_refused_by_name(void **state) {
  (void)state;
  EXPECT_REFUSED(cycle, (bisai_cycle)99, "cycle 99");
  EXPECT_REFUSED(smoother, (bisai_smoother)99, "smoother 99");
  EXPECT_REFUSED(nodes, (bisai_nodes)99, "nodes 99");
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
    bisai_precond_options o = variant_of(0, NULL);
    o.multigrid.smoother = cases[k].smoother;
    o.multigrid.pre = cases[k].pre, o.multigrid.post = cases[k].post;
    o.multigrid.degree = cases[k].degree;
    o.multigrid.relax = cases[k].relax;
    o.multigrid.sweeps = cases[k].sweeps;
    expect_option_refused(o, cases[k].message);
  }
  bisai_bcsr *a = diffusion(context, 0.0);
  bisai_precond_options o = variant_of(2, NULL);
  o.multigrid.pre = o.multigrid.post = MOST / 2;
  bisai_precond *m = test_precond_with(context, a, &o);
  assert_true(test_report_of(context, m).apply_bytes > (int64_t)MOST * 8 * N);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

static void cycles_that_never_smooth_need_an_inverse(void **state) {
  (void)state;
  bisai_precond_options o = variant_of(0, NULL);
  o.multigrid.pre = o.multigrid.post = 0;
  expect_option_refused(o, "pre and post are 0");
  o.multigrid.levels = 1;
  expect_option_refused(o, "pre and post are 0");
  o.multigrid.coarsest = N - 1;
  expect_option_refused(o, "which has 576 rows, and `coarsest` is 575");
  bisai_bcsr *a = diffusion(context, 0.3);
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
  bisai_precond_options o = variant_of(0, NULL);
  o.multigrid.null_vectors = vectors;
  expect_option_refused(o, "null_count is 0, null_vectors is given");
  o.multigrid.null_count = BISAI_MULTIGRID_VECTORS + 1;
  expect_option_refused(o, "null_count 33");
  o.multigrid.null_count = VECTORS;
  o.multigrid.nodes = BISAI_NODES_SCALAR;
  expect_option_refused(o, "nodes scalar");
  o.multigrid.nodes = BISAI_NODES_AUTO;
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
  bisai_bcsr *a = diffusion(context, 0.0);
  double vectors[N * VECTORS];
  bisai_precond_options o = variant_of(0, vectors);
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
      expect_equal(expected, m);
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
  o.multigrid.pre = 2;
  expect_option_refused(o, "isai does not take the option pre, which is for mg");
}

static void matrices_in_narrow_types_are_refused(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(4, 4, 1, TEST_ZERO_OUTSIDE, 0.0);
  float *narrow = malloc((size_t)test_bcsr_blocks(&arrays) * sizeof *narrow);
  for (int32_t p = 0; p < test_bcsr_blocks(&arrays); p++) narrow[p] = (float)arrays.values[p];
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = arrays.block_rows;
  desc.block_size = 1;
  desc.row_ptr = arrays.row_ptr;
  desc.col_idx = arrays.col_idx;
  desc.values = narrow;
  desc.value_type = BISAI_FP32;
  bisai_bcsr *a = NULL, *wide = test_bcsr_make(context, &arrays);
  bisai_precond *m = NULL;
  bisai_precond_options o = variant_of(0, NULL);
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_create(context, a, &o, &m));
  assert_null(m);
  m = test_precond_with(context, wide, &o);
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_update(m, a));
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&wide);
  test_bcsr_free(&arrays);
  free(narrow);
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
      cmocka_unit_test(other_patterns_are_refused_and_change_nothing),
      cmocka_unit_test(scalar_nodes_refuse_a_value_where_there_was_a_zero),
      cmocka_unit_test(a_failed_update_can_be_followed_by_a_good_one),
      cmocka_unit_test(updates_and_applications_allocate_nothing),
      cmocka_unit_test(creation_survives_every_failing_allocation),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
      cmocka_unit_test(more_steps_than_a_million_are_refused_by_name),
      cmocka_unit_test(cycles_that_never_smooth_need_an_inverse),
      cmocka_unit_test(null_vectors_are_checked),
      cmocka_unit_test(null_vectors_of_any_size_give_the_same_levels),
      cmocka_unit_test(options_are_refused_by_other_kinds),
      cmocka_unit_test(matrices_in_narrow_types_are_refused),
  };
  return cmocka_run_group_tests_name("multigrid_update", tests, setup, teardown);
}
