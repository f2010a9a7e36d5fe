/* SPDX-License-Identifier: BSD-3-Clause */
/* What messages and reports of multigrid name: levels, blocks that are not finite, estimates that
 * overflow, scalar rows. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "systems.h"

enum { NX = 18, NY = 16, BS = 2, N = NX * NY * BS, VALUES = BS * BS };

static bisai_precond_options multigrid(void) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.coarsest = 30;
  return o;
}

/* --- values that are not finite --- */

/* The preconditioner is not ready until a good update, which gives the old bits. */
static void expect_update_refused(bisai_precond *m, const bisai_bcsr *a, double *value,
                                  double wrong, const char *message) {
  const double right = *value;
  double *v = test_random_vector(N, 4), before[N], after[N];
  EXPECT_OK(context, bisai_precond_apply(m, v, before));
  *value = wrong;
  test_expect_update_failed(context, m, a, BISAI_NOT_FINITE, message);
  *value = right;
  EXPECT_OK(context, bisai_precond_update(m, a));
  EXPECT_OK(context, bisai_precond_apply(m, v, after));
  assert_memory_equal(before, after, sizeof before);
  free(v);
}

static void values_that_are_not_finite_are_named(void **state) {
  (void)state;
  if (test_on_device()) return;
  static const struct {
    int32_t row, column;
    const char *message;
  } places[] = {{0, 0, "block (0, 0) holds a NaN or infinity"},
                {100, 100, "block (100, 100) holds a NaN or infinity"},
                {100, 101, "block (100, 101) holds a NaN or infinity"},
                {NX * NY - 1, NX * NY - 1, "block (287, 287) holds a NaN or infinity"}};
  for (int k = 0; k < 2 * 2 * 7; k++) {
    test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_FIXED_FACE, k % 2 ? 0.3 : 0.0);
    bisai_bcsr *a = test_bcsr_borrow(context, &arrays);
    bisai_precond_options o = multigrid();
    o.multigrid.smoother = (bisai_smoother)(k / 4);
    o.multigrid.nodes = k / 2 % 2 ? BISAI_AGGREGATION_UNIT_SCALAR : BISAI_AGGREGATION_UNIT_BLOCK;
    bisai_precond *m = test_precond_with(context, a, &o);
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
      for (int infinite = 0; infinite < 2; infinite++) {
        const double wrong = infinite ? (double)INFINITY : (double)NAN;
        double *value = test_bcsr_block(&arrays, places[p].row, places[p].column);
        expect_update_refused(m, a, value, wrong, places[p].message);
        const double right = *value;
        *value = wrong;
        test_expect_refused(context, a, &o, BISAI_NOT_FINITE, places[p].message);
        *value = right;
      }
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

/* --- coarse levels --- */

/* The sums of an aggregate exceed the range. */
static void a_coarse_matrix_that_overflows_is_named(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(NX, NY, 1, TEST_ZERO_OUTSIDE, 0.0);
  const double scale = 1e308 / *test_bcsr_block(&arrays, 0, 0);
  for (int32_t p = 0; p < test_bcsr_blocks(&arrays); p++)
    arrays.values[p] = fabs(arrays.values[p]) * scale;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  bisai_precond_options o = multigrid();
  test_expect_refused(context, a, &o, BISAI_NOT_FINITE, "multigrid, level 1: the matrix of 4");
  EXPECT_IN_MESSAGE(context, " block rows overflows");
  bisai_bcsr_destroy(&a);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* ρ(D⁻¹A) is some 10⁴⁰, and its power steps overflow. With neither smoothing nor smoothed
 * transfers, a cycle gives the same value to all rows of an aggregate. */
static void an_estimate_that_overflows_is_infinite(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(NX, NY, 1, TEST_ZERO_OUTSIDE, 0.0);
  for (int32_t i = 0; i < arrays.block_rows; i++) *test_bcsr_block(&arrays, i, i) *= 1e-40;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int smoother = BISAI_SMOOTHER_JACOBI; smoother <= BISAI_SMOOTHER_CHEBYSHEV; smoother++) {
    bisai_precond_options o = multigrid();
    bisai_precond_report r = {.struct_size = sizeof r};
    o.multigrid.smoother = (bisai_smoother)smoother;
    o.multigrid.levels = 2;
    o.multigrid.coarsest = NX * NY - 1;
    bisai_precond *m = test_precond_with(context, a, &o);
    double *v = test_random_vector(NX * NY, 4), z[NX * NY];
    for (int update = 0; update < 2; update++) {
      EXPECT_OK(context, bisai_precond_get_report(m, &r));
      assert_true(isinf(r.multigrid.radius[0]));
      EXPECT_OK(context, bisai_precond_apply(m, v, z));
      qsort(z, NX * NY, sizeof *z, ascending);
      int different = 1;
      for (int i = 1; i < NX * NY; i++) different += z[i] > z[i - 1];
      assert_true(isfinite(z[0]) && isfinite(z[NX * NY - 1]));
      if (smoother != BISAI_SMOOTHER_L1)
        assert_in_range(different, r.multigrid.rows[1], r.multigrid.rows[1] + 1);
      EXPECT_OK(context, bisai_precond_update(m, a));
    }
    bisai_precond_destroy(&m);
    free(v);
  }
  bisai_bcsr_destroy(&a);
}

/* --- memory --- */

/* Creations that hold more for a time than in the end: transfers that exceed the complexity, with
 * vectors; aggregates that are too many; factors with fill, whose blocks are searched for. */
enum { CREATIONS = 8 };

static bisai_precond_options creation(int k, const double *vectors) {
  bisai_precond_options o = multigrid();
  o.multigrid.complexity = k == 1 || k == 2 ? 1.0 : k == 3 ? 1.05 : 0.0;
  o.multigrid.null_vectors = k == 1 ? vectors : NULL;
  o.multigrid.null_count = k == 1 ? 6 : 0;
  o.multigrid.levels = k == 4 ? 1 : BISAI_MULTIGRID_LEVELS;
  if (k >= 5) o.multigrid.smoother = k == 5 ? BISAI_SMOOTHER_ISAI : BISAI_SMOOTHER_ILU;
  if (k >= 6) o.multigrid.level = k - 4;
  return o;
}

/* What single operations take for a moment is not counted: aggregation, a fifth of creation 1. */
static void the_peak_is_what_creation_held(void **state) {
  (void)state;
  enum { SIDE = 60, ROWS = SIDE * SIDE };
  if (test_on_device()) return; /* its kernels take more for a moment */
  double *vectors = test_random_vector((int64_t)ROWS * 6, 3);
  for (int k = 0; k < 2 * CREATIONS; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    const double wind = k >= CREATIONS ? 0.3 : 0.0;
    bisai_bcsr *a =
        test_bcsr_take(own, test_mesh_diffusion(SIDE, SIDE, 1, TEST_ZERO_OUTSIDE, wind));
    const bisai_precond_options o = creation(k % CREATIONS, vectors);
    const long long before = atomic_load(&allocator.live_bytes);
    atomic_store(&allocator.peak_bytes, before);
    bisai_precond *m = test_precond_with(own, a, &o);
    const double held = (double)(atomic_load(&allocator.peak_bytes) - before),
                 reported = (double)test_report_of(own, m).multigrid.peak_bytes;
    assert_true(reported <= held && reported >= (k % CREATIONS == 1 ? 0.8 : 0.9) * held);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
  }
  free(vectors);
}

/* --- scalar nodes --- */

static void scalar_nodes_name_scalar_rows(void **state) {
  (void)state;
  enum { ROW = 77 };
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.0);
  test_bcsr_block(&arrays, ROW / BS, ROW / BS)[VALUES - 1] = 0.0;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  bisai_precond_options o = multigrid();
  bisai_precond *m = NULL;
  bisai_precond_report r = {.struct_size = sizeof r};
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
  test_expect_refused(context, a, &o, BISAI_SINGULAR_BLOCK,
                      "scalar row 77: the diagonal value is zero");
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
  EXPECT_OK(context, bisai_precond_get_report(m, &r));
  assert_int_equal(r.repairs, 1);
  assert_int_equal(r.first_repair_row, ROW / BS);
  assert_in_range(r.largest_condition_row, 0, NX * NY - 1);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* --- missing diagonal blocks --- */

/* Diffusion whose block rows 3, 10, 17, … have diagonal blocks of zeros, stored or not, and whose
 * block row `empty` has no blocks. */
static test_bcsr with_holes(int32_t bs, double wind, bool stored, int32_t empty) {
  test_bcsr a = test_mesh_diffusion(NX, NY, bs, TEST_ZERO_OUTSIDE, wind);
  const size_t values = (size_t)(bs * bs);
  int32_t to = 0, begin = 0;
  for (int32_t i = 0; i < a.block_rows; i++) {
    const int32_t end = a.row_ptr[i + 1];
    for (int32_t from = begin; from < end; from++) {
      const bool hole = a.col_idx[from] == i && i % 7 == 3;
      if ((hole && !stored) || i == empty) continue;
      a.col_idx[to] = a.col_idx[from];
      memmove(a.values + (size_t)to * values, a.values + (size_t)from * values,
              values * sizeof *a.values);
      if (hole) memset(a.values + (size_t)to * values, 0, values * sizeof *a.values);
      to++;
    }
    begin = end;
    a.row_ptr[i + 1] = to;
  }
  return a;
}

static void a_shift_takes_missing_diagonal_blocks_as_zeros(void **state) {
  (void)state;
  for (int k = 0; k < 2 * 2 * 7; k++) {
    const int32_t bs = 1 + k % 2;
    const double wind = k / 2 % 2 ? 0.3 : 0.0;
    bisai_precond_options o = multigrid();
    bisai_bcsr *missing = test_bcsr_take(context, with_holes(bs, wind, false, -1)),
               *stored = test_bcsr_take(context, with_holes(bs, wind, true, -1));
    o.multigrid.smoother = (bisai_smoother)(k / 4);
    test_expect_refused(context, missing, &o, BISAI_MISSING_DIAGONAL,
                        "block row 3 has no diagonal block");
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    bisai_precond *m = test_precond_with(context, missing, &o);
    assert_int_equal(test_report_of(context, m).multigrid.nodes, BISAI_AGGREGATION_UNIT_SCALAR);
    assert_int_equal(test_report_of(context, m).first_repair_row, 3);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
    bisai_precond *other = test_precond_with(context, stored, &o);
    assert_true(test_same_bits(context, m, other));
    bisai_precond_destroy(&other);
    bisai_precond_destroy(&m);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
    if (bs > 1)
      test_expect_refused(context, missing, &o, BISAI_MISSING_DIAGONAL,
                          "block row 3 has no diagonal block");
    bisai_bcsr_destroy(&missing);
    bisai_bcsr_destroy(&stored);
  }
}

static void updates_take_missing_diagonal_blocks_too(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 2; bs++) {
    test_bcsr a = with_holes(bs, 0.0, false, -1), b = with_holes(bs, 0.0, false, -1);
    for (int32_t v = 0; v < bs * bs * test_bcsr_blocks(&b); v++) b.values[v] *= 4.0;
    bisai_bcsr *first = test_bcsr_make(context, &a), *second = test_bcsr_make(context, &b);
    bisai_precond_options o = multigrid();
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    test_expect_update_as_creation(context, first, second, &o);
    test_expect_no_allocations(&a, &b, &o);
    bisai_bcsr_destroy(&first);
    bisai_bcsr_destroy(&second);
    test_bcsr_free(&a);
    test_bcsr_free(&b);
  }
}

/* Also if the matrix is inverted, and no diagonal block is. */
static void empty_rows_are_refused_whatever_the_shift(void **state) {
  (void)state;
  for (int k = 0; k < 2 * 2 * 2 * 2; k++) {
    const int32_t bs = 1 + k % 2;
    bisai_bcsr *a = test_bcsr_take(context, with_holes(bs, 0.0, true, 77));
    bisai_precond_options o = multigrid();
    if (k / 2 % 2) o.shift = BISAI_SHIFT_IN_BLOCKS;
    if (k / 4 % 2) o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
    if (k / 8 % 2) o.multigrid.coarsest = 1024;
    test_expect_refused(context, a, &o, BISAI_MISSING_DIAGONAL, "block row 77 is empty");
    bisai_bcsr_destroy(&a);
  }
}

/* The diagonal blocks of L are identities, and not missing. */
static void implied_diagonal_blocks_are_refused(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.0));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, a, NULL, &factors));
  bisai_precond_options o = multigrid();
  o.shift = BISAI_SHIFT_IN_BLOCKS;
  for (int nodes = BISAI_AGGREGATION_UNIT_AUTO; nodes <= BISAI_AGGREGATION_UNIT_SCALAR; nodes++) {
    o.multigrid.nodes = (bisai_aggregation_unit)nodes;
    test_expect_refused(context, bisai_factors_lower(factors), &o, BISAI_UNSUPPORTED,
                        "multigrid needs a matrix stored in fp64, with its diagonal blocks");
  }
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_that_are_not_finite_are_named),
      cmocka_unit_test(a_coarse_matrix_that_overflows_is_named),
      cmocka_unit_test(an_estimate_that_overflows_is_infinite),
      cmocka_unit_test(the_peak_is_what_creation_held),
      cmocka_unit_test(scalar_nodes_name_scalar_rows),
      cmocka_unit_test(a_shift_takes_missing_diagonal_blocks_as_zeros),
      cmocka_unit_test(updates_take_missing_diagonal_blocks_too),
      cmocka_unit_test(empty_rows_are_refused_whatever_the_shift),
      cmocka_unit_test(implied_diagonal_blocks_are_refused),
  };
  return cmocka_run_group_tests_name("multigrid_faults", tests, setup, teardown);
}
