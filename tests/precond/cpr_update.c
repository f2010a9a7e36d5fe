/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates of CPR: new values give what creation gives, the caller's arrays are read again, refusals
 * change nothing, failures are followed by good updates, failing allocations leave nothing
 * behind. */
#include <math.h>

#include "fixture.h"
#include "flow.h"
#include "systems.h"

enum { NX = 18, NY = 16, BS = 3, P = 1, CELLS = NX * NY, N = CELLS * BS };

/* All second stages; their orderings; transfers that stay; null vectors; factors of the caller. */
enum { VARIANTS = 12 };

static double null_vectors[2 * CELLS];

static bisai_precond_options variant_of(int variant) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = (bisai_second)(variant % 5);
  o.cpr.additive = variant % 3 == 2;
  o.multigrid.coarsest = 30;
  switch (variant) {
  case 5: o.isai.power = 2, o.cpr.second = BISAI_SECOND_ISAI; break;
  case 6: o.factor.ordering = BISAI_ORDERING_RCM, o.factor.equilibrate = true; break;
  case 7: o.factor.level = 1, o.multigrid.keep_transfers = true; break;
  case 8: o.multigrid.smoother = BISAI_SMOOTHER_ILU; break;
  case 9: o.bjacobi.max_block = 7; break;
  case 10:
    for (int i = 0; i < 2 * CELLS; i++) null_vectors[i] = i % 2 ? i / 2 / NY : 1.0;
    o.multigrid.null_vectors = null_vectors, o.multigrid.null_count = 2;
    break;
  case 11: o.multigrid.cycle = BISAI_CYCLE_K; break;
  default: break;
  }
  return o;
}

static bisai_bcsr *flow(bisai_context *c, uint64_t seed) {
  return test_bcsr_take(c, test_flow(NX, NY, BS, P, seed));
}

/* Four times the values, or each block row times another power of two. The weights and P's
 * aggregates stay the same to the bit. */
static bisai_bcsr *scaled(bisai_context *c, uint64_t seed, bool rows) {
  test_bcsr arrays = test_flow(NX, NY, BS, P, seed);
  for (int32_t i = 0; i < CELLS; i++)
    for (int32_t v = arrays.row_ptr[i] * BS * BS; v < arrays.row_ptr[i + 1] * BS * BS; v++)
      arrays.values[v] *= rows ? ldexp(1.0, i * 7 % 5) : 4.0;
  return test_bcsr_take(c, arrays);
}

static double *applied(bisai_precond *m) {
  double *v = test_random_vector(N, 4), *z = malloc(N * sizeof *z);
  EXPECT_OK(context, bisai_precond_apply(m, v, z));
  free(v);
  return z;
}

static void expect_equal(bisai_precond *expected, bisai_precond *got) {
  double *x = applied(expected), *y = applied(got);
  assert_memory_equal(x, y, N * sizeof *x);
  assert_string_equal(bisai_precond_describe(expected), bisai_precond_describe(got));
  free(x), free(y);
}

static void expect_different(bisai_precond *m, bisai_precond *n) {
  double *x = applied(m), *y = applied(n);
  assert_memory_not_equal(x, y, N * sizeof *x);
  free(x), free(y);
}

/* --- new values --- */

static void updates_give_the_bits_of_creation(void **state) {
  (void)state;
  for (int k = 0; k < 2 * VARIANTS; k++) {
    const bool rows = k >= VARIANTS;
    bisai_precond_options o = variant_of(k % VARIANTS);
    if (rows) o.multigrid.levels = 2; /* coarser ones have sums of rows, as R has */
    if (rows) o.multigrid.keep_transfers = false;
    bisai_bcsr *a = flow(context, 1), *b = scaled(context, 1, rows);
    bisai_precond *expected = test_precond_with(context, b, &o),
                  *got = test_precond_with(context, a, &o);
    expect_different(expected, got);
    EXPECT_OK(context, bisai_precond_update(got, b));
    expect_equal(expected, got);
    bisai_precond_destroy(&expected);
    bisai_precond_destroy(&got);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
}

/* Other values may have other aggregates, but the old ones give the old bits again. */
static void updates_can_be_taken_back(void **state) {
  (void)state;
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.keep_pressure = k >= VARIANTS;
    bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
    bisai_precond *expected = test_precond_with(context, a, &o),
                  *got = test_precond_with(context, a, &o);
    EXPECT_OK(context, bisai_precond_update(got, b));
    expect_different(expected, got);
    EXPECT_OK(context, bisai_precond_update(got, a));
    expect_equal(expected, got);
    bisai_precond_destroy(&expected);
    bisai_precond_destroy(&got);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
  }
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
    double *z = applied(m);
    free(z), free(right);
    bisai_precond_destroy(&m);
  }
}

/* --- what stays --- */

/* y ← the pressures of the first stage with ILU behind it, which the second stage adds to its
 * result */
static void first_stage(const bisai_bcsr *a, const double *v, double *y) {
  bisai_precond_options o = variant_of(BISAI_SECOND_BJACOBI), alone;
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
    bisai_precond_options o = variant_of(BISAI_SECOND_ILU), alone = bisai_precond_options_default();
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
  double *x = applied(expected), *y = applied(m);
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
  bisai_precond_options o = variant_of(BISAI_SECOND_BJACOBI);
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

/* --- the caller's arrays --- */

static void given_arrays_are_read_again(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1);
  for (int which = 0; which < 2; which++) {
    double *array = test_random_vector((int64_t)N * BS, 1);
    bisai_precond_options o = variant_of(BISAI_SECOND_ILU);
    o.cpr.pressure = P;
    o.multigrid.coarsest = 1024; /* P is inverted, so that there are no aggregates of creation */
    for (int32_t k = 0; k < N * BS; k++)
      array[k] = 0.1 * array[k] + (which ? k % (BS + 1) == 0 : 1);
    if (which)
      o.cpr.storage = array;
    else
      o.cpr.weights = array;
    bisai_precond *m = test_precond_with(context, a, &o), *same = test_precond_with(context, a, &o);
    for (int32_t k = 0; k < N * BS; k++) array[k] *= 1.0 + 0.1 * (k % 7);
    EXPECT_OK(context, bisai_precond_update(m, a));
    bisai_precond *expected = test_precond_with(context, a, &o);
    expect_different(expected, same);
    expect_equal(expected, m);
    o.cpr.keep_pressure = true;
    bisai_precond *kept = test_precond_with(context, a, &o);
    for (int32_t k = 0; k < N * BS; k++) array[k] = (double)NAN; /* not read */
    EXPECT_OK(context, bisai_precond_update(kept, a));
    expect_equal(expected, kept);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&same);
    bisai_precond_destroy(&kept);
    bisai_precond_destroy(&expected);
    free(array);
  }
  bisai_bcsr_destroy(&a);
}

static void expect_refused(bisai_precond *m, const bisai_bcsr *a, bisai_status status,
                           const char *message) {
  double *before = applied(m);
  EXPECT_STATUS(context, status, bisai_precond_update(m, a));
  EXPECT_IN_MESSAGE(context, message);
  double *after = applied(m);
  assert_memory_equal(before, after, N * sizeof *before);
  free(before), free(after);
}

static void arrays_that_are_not_finite_are_refused_and_change_nothing(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1), *b = flow(context, 2);
  for (int which = 0; which < 2; which++) {
    double *array = malloc((size_t)N * BS * sizeof *array);
    bisai_precond_options o = variant_of(BISAI_SECOND_ILU);
    o.cpr.pressure = P;
    for (int32_t k = 0; k < N * BS; k++) array[k] = which ? k / BS % BS == k % BS : 1.0;
    if (which)
      o.cpr.storage = array;
    else
      o.cpr.weights = array;
    bisai_precond *m = test_precond_with(context, a, &o),
                  *expected = test_precond_with(context, a, &o);
    array[100] = (double)NAN;
    expect_refused(m, b, BISAI_INVALID_ARGUMENT,
                   which ? "storage: value 1 of block row 11" : "weights: value 1 of block row 33");
    array[100] = which ? 100 / BS % BS == 100 % BS : 1.0;
    expect_equal(expected, m);
    EXPECT_OK(context, bisai_precond_update(m, a));
    expect_equal(expected, m);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&expected);
    free(array);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
}

static void arrays_of_creation_may_go(void **state) {
  (void)state;
  bisai_bcsr *a = flow(context, 1);
  bisai_pattern *pattern = NULL;
  EXPECT_OK(context, bisai_pattern_power(context, a, BISAI_LOWER, 2, &pattern));
  double *vectors = test_random_vector((int64_t)2 * CELLS, 1);
  int32_t *order = test_random_permutation(CELLS, 1),
          *blocks = malloc((CELLS + 1) * sizeof *blocks);
  for (int32_t i = 0; i <= CELLS; i++) blocks[i] = i * BS;
  bisai_precond_options o = variant_of(BISAI_SECOND_ISAI), of_blocks = variant_of(4);
  o.multigrid.null_vectors = vectors;
  o.multigrid.null_count = 2;
  o.isai.lower_pattern = pattern;
  of_blocks.bjacobi.block_ptr = blocks;
  of_blocks.bjacobi.block_count = CELLS;
  bisai_precond *m = test_precond_with(context, a, &o),
                *second = test_precond_with(context, a, &of_blocks);
  o = variant_of(BISAI_SECOND_ILU);
  o.factor.ordering = BISAI_ORDERING_GIVEN;
  o.factor.permutation = order;
  bisai_precond *third = test_precond_with(context, a, &o);
  free(vectors), free(order), free(blocks);
  bisai_pattern_destroy(&pattern);
  bisai_precond *all[] = {m, second, third};
  for (int k = 0; k < 3; k++) {
    double *before = applied(all[k]);
    EXPECT_OK(context, bisai_precond_update(all[k], a));
    double *after = applied(all[k]);
    assert_memory_equal(before, after, N * sizeof *before);
    free(before), free(after);
    bisai_precond_destroy(&all[k]);
  }
  bisai_bcsr_destroy(&a);
}

/* The caller brings his factors up to date, and CPR uses them. */
static void factors_of_the_caller_are_used(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *b = flow(context, 2);
  memset(test_bcsr_block(&arrays, 0, 0), 0, BS * BS * sizeof(double));
  bisai_bcsr *bad = test_bcsr_take(context, arrays);
  static const bisai_second seconds[] = {BISAI_SECOND_AUTO, BISAI_SECOND_ILU, BISAI_SECOND_SWEEPS};
  for (int k = 0; k < 3; k++) {
    bisai_factors *factors = NULL;
    EXPECT_OK(context, bisai_factors_create(context, a, NULL, &factors));
    bisai_precond_options o = variant_of(seconds[k]);
    o.factor.factors = factors; /* and no ordering */
    bisai_precond_options own = variant_of(seconds[k]);
    bisai_precond *expected = test_precond_with(context, a, &own);
    bisai_precond *m = test_precond_with(context, a, &o);
    double *x = applied(expected), *y = applied(m), v[N] = {1.0}, z[N];
    assert_memory_equal(x, y, N * sizeof *x);
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_factors_update(factors, bad));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(m, v, z));
    EXPECT_IN_MESSAGE(context, "factors");
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_update(m, a));
    EXPECT_OK(context, bisai_factors_update(factors, b));
    EXPECT_OK(context, bisai_precond_update(m, b));
    EXPECT_OK(context, bisai_precond_update(expected, b));
    free(x), free(y);
    x = applied(expected), y = applied(m);
    assert_memory_equal(x, y, N * sizeof *x);
    free(x), free(y);
    bisai_precond_destroy(&m);
    bisai_precond_destroy(&expected);
    bisai_factors_destroy(&factors);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&b);
  bisai_bcsr_destroy(&bad);
}

/* --- refusals and failures --- */

static void other_patterns_and_types_are_refused_and_change_nothing(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  const int32_t blocks = test_bcsr_blocks(&arrays);
  float *narrow = malloc((size_t)(blocks * BS * BS) * sizeof *narrow);
  for (int32_t v = 0; v < blocks * BS * BS; v++) narrow[v] = (float)arrays.values[v];
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = CELLS;
  desc.block_size = BS;
  desc.row_ptr = arrays.row_ptr;
  desc.col_idx = arrays.col_idx;
  desc.values = narrow;
  desc.value_type = BISAI_FP32;
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *single = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &single));
  /* one block moves: as many blocks, and as many in each row */
  arrays.col_idx[arrays.row_ptr[CELLS / 2 + 1] - 1]++;
  bisai_bcsr *moved = test_bcsr_take(context, arrays),
             *fewer = test_bcsr_take(context, test_flow(NX - 1, NY, BS, P, 1)),
             *turned = test_bcsr_take(context, test_flow(NY, NX, BS, P, 1)),
             *other = test_bcsr_take(context, test_flow(NX, NY, BS - 1, P, 1));
  for (int k = 0; k < 2 * VARIANTS; k++) {
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.keep_pressure = k >= VARIANTS;
    bisai_precond *m = test_precond_with(context, a, &o);
    expect_refused(m, moved, BISAI_INVALID_ARGUMENT, "the pattern changed");
    expect_refused(m, turned, BISAI_INVALID_ARGUMENT, "the pattern changed");
    expect_refused(m, fewer, BISAI_INVALID_ARGUMENT, "the pattern changed");
    expect_refused(m, other, BISAI_INVALID_ARGUMENT, "the pattern changed");
    expect_refused(m, single, BISAI_UNSUPPORTED, "fp64");
    expect_refused(m, NULL, BISAI_INVALID_ARGUMENT, "matrix is NULL");
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&single);
  bisai_bcsr_destroy(&moved);
  bisai_bcsr_destroy(&fewer);
  bisai_bcsr_destroy(&turned);
  bisai_bcsr_destroy(&other);
  free(narrow);
}

/* Updates with `bad` fail, and with `a` all is well again. */
static void expect_failure(const bisai_bcsr *a, const bisai_bcsr *bad, bisai_status status,
                           const char *message, const bisai_precond_options *o) {
  bisai_precond *m = test_precond_with(context, a, o), *expected = test_precond_with(context, a, o),
                *none = NULL;
  double v[N] = {1.0}, z[N];
  const bisai_precond_report before = test_report_of(context, m);
  for (int k = 0; k < 2; k++) {
    EXPECT_STATUS(context, status, bisai_precond_update(m, bad));
    EXPECT_IN_MESSAGE(context, message);
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply(m, v, z));
    EXPECT_STATUS(context, BISAI_NOT_READY, bisai_precond_apply_many(m, 1, v, N, z, N));
  }
  const bisai_precond_report after = test_report_of(context, m);
  assert_memory_equal(&before.cpr, &after.cpr, sizeof before.cpr); /* of the last good one */
  EXPECT_OK(context, bisai_precond_update(m, a));
  expect_equal(expected, m);
  EXPECT_STATUS(context, status, bisai_precond_create(context, bad, o, &none));
  assert_null(none);
  bisai_precond_destroy(&m);
  bisai_precond_destroy(&expected);
}

static void singular_blocks_fail_until_a_good_update(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  memset(test_bcsr_block(&arrays, 0, 0), 0, BS * BS * sizeof(double));
  bisai_bcsr *bad = test_bcsr_take(context, arrays);
  for (int k = 0; k < VARIANTS; k++) {
    bisai_precond_options o = variant_of(k);
    o.factor.ordering = BISAI_ORDERING_NATURAL; /* the first block has no pivots of others */
    o.factor.equilibrate = false;
    expect_failure(a, bad, BISAI_SINGULAR_BLOCK, "second stage: ", &o);
  }
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&bad);
}

/* Values that are not finite come through arrays that are borrowed. */
static void values_that_are_not_finite_fail_until_a_good_update(void **state) {
  (void)state;
  if (test_on_device()) return;
  for (int which = 0; which < 3; which++) {
    test_bcsr arrays = test_flow(NX, NY, BS, P, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays), *bad = NULL;
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = CELLS;
    desc.block_size = BS;
    desc.row_ptr = arrays.row_ptr;
    desc.col_idx = arrays.col_idx;
    desc.values = arrays.values;
    desc.ownership = BISAI_BORROW;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &bad));
    /* the pressure in a neighbour, another unknown of the cell, the pressure of the cell */
    test_bcsr_block(&arrays, 40, which == 0 ? 41 : 40)[which == 1 ? 0 : P * BS] =
        which == 1 ? (double)NAN : (double)INFINITY;
    for (int second = BISAI_SECOND_ISAI; second <= BISAI_SECOND_BJACOBI; second++) {
      bisai_precond_options o = variant_of(second);
      expect_failure(a, bad, BISAI_NOT_FINITE,
                     which ? "block (40, 40) holds a NaN or infinity"
                           : "block (40, 41) holds a NaN or infinity",
                     &o);
    }
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&bad);
    test_bcsr_free(&arrays);
  }
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

/* On a device, an array in host memory is copied through memory that is taken for the call. */
static void updates_copy_arrays_of_the_host_once(void **state) {
  (void)state;
  double *array = test_random_vector((int64_t)N * BS, 6);
  for (int storage = 0; storage < 2; storage++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = flow(own, 1);
    bisai_precond_options o = variant_of(BISAI_SECOND_ILU);
    o.cpr.pressure = P;
    *(storage ? &o.cpr.storage : &o.cpr.weights) = array;
    bisai_precond *m = test_precond_with(own, a, &o);
    const long long before = atomic_load(&allocator.calls);
    EXPECT_OK(own, bisai_precond_update(m, a));
    assert_in_range(atomic_load(&allocator.calls) - before, 0, test_on_device() ? 1 : 0);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  free(array);
}

static void updates_and_applications_allocate_nothing(void **state) {
  (void)state;
  double *v = test_vector_in_place(N, 4), *z = test_vector_in_place(N, 5),
         *array = test_vector_in_place((int64_t)N * BS, 6);
  for (int k = 0; k < 4 * VARIANTS; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = flow(own, 1), *b = flow(own, 2);
    bisai_precond_options o = variant_of(k % VARIANTS);
    o.cpr.pressure = P;
    o.cpr.keep_pressure = k / VARIANTS == 1;
    if (k / VARIANTS == 2) o.cpr.weights = array;
    if (k / VARIANTS == 3) o.cpr.storage = array;
    bisai_precond *m = test_precond_with(own, a, &o);
    const long long before = atomic_load(&allocator.calls);
    for (int update = 0; update < 2; update++) {
      EXPECT_OK(own, bisai_precond_update(m, update ? a : b));
      EXPECT_OK(own, bisai_precond_apply(m, v, z));
      EXPECT_OK(own, bisai_precond_apply_many(m, 1, v, N, z, N));
    }
    assert_int_equal(atomic_load(&allocator.calls), before);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_bcsr_destroy(&b);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  test_vector_free(v), test_vector_free(z), test_vector_free(array);
}

static void creation_survives_every_failing_allocation(void **state) {
  (void)state;
  double *array = test_random_vector((int64_t)N * BS, 6);
  for (int k = 0; k < VARIANTS; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    allocator.device_only = true;
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = flow(own, 1);
    bisai_precond_options o = variant_of(k);
    if (k % 4 == 1) o.cpr.weights = array;
    if (k % 4 == 2) o.cpr.storage = array;
    /* a device's matrix keeps a copy of its integers for the host once it was asked for */
    bisai_precond *m = test_precond_with(own, a, &o);
    bisai_precond_destroy(&m);
    for (int after = 0; after < 2; after++) {
      long long at = 1;
      while (test_precond_fails_once(own, &allocator, a, &o, at, after)) at++;
      assert_true(at > 40);
    }
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  free(array);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(updates_give_the_bits_of_creation),
      cmocka_unit_test(updates_can_be_taken_back),
      cmocka_unit_test(updated_preconditioners_solve_without_the_old_matrix),
      cmocka_unit_test(a_kept_pressure_is_that_of_creation),
      cmocka_unit_test(the_unknown_of_creation_stays_the_pressure),
      cmocka_unit_test(awkward_cells_are_counted_anew),
      cmocka_unit_test(given_arrays_are_read_again),
      cmocka_unit_test(arrays_that_are_not_finite_are_refused_and_change_nothing),
      cmocka_unit_test(arrays_of_creation_may_go),
      cmocka_unit_test(factors_of_the_caller_are_used),
      cmocka_unit_test(other_patterns_and_types_are_refused_and_change_nothing),
      cmocka_unit_test(singular_blocks_fail_until_a_good_update),
      cmocka_unit_test(values_that_are_not_finite_fail_until_a_good_update),
      cmocka_unit_test(a_pressure_matrix_may_lose_its_symmetry),
      cmocka_unit_test(updates_copy_arrays_of_the_host_once),
      cmocka_unit_test(updates_and_applications_allocate_nothing),
      cmocka_unit_test(creation_survives_every_failing_allocation),
  };
  return cmocka_run_group_tests_name("cpr_update", tests, setup, teardown);
}
