/* SPDX-License-Identifier: BSD-3-Clause */
/* CPR at the edges: cells without neighbours, weights or pressure corrections, few and large
 * blocks, and options that are refused by name. */
#include <math.h>

#include "fixture.h"
#include "flow.h"
#include "preconds.h"
#include "systems.h"

enum { NX = 20, NY = 18, CELLS = NX * NY, P = 1 };

static bisai_precond_options cpr(bisai_cpr_second_stage second) {
  bisai_precond_options o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_CPR;
  o.cpr.second = second;
  o.multigrid.coarsest = 30;
  return o;
}

static void expect_solved(const bisai_bcsr *a, bisai_precond *m, int32_t most) {
  const int64_t n = bisai_precond_rows(m);
  double *b = test_random_vector(n, 3), *x = calloc((size_t)n, sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = 1e-10;
  options.max_iterations = 300;
  bisai_solver_report r = test_report();
  EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &r));
  if (r.iterations > most) print_message("%s\n", bisai_precond_describe(m));
  assert_in_range(r.iterations, 0, most);
  assert_true(test_relative_residual(a, x, b) <= 2e-10);
  free(b), free(x);
}

/* --- awkward cells --- */

/* Drops the blocks that couple a cell to others. */
static void cut_off(test_bcsr *a, int32_t cell) {
  const size_t area = (size_t)(a->block_size * a->block_size);
  int32_t to = 0, from = 0;
  for (int32_t i = 0; i < a->block_rows; i++) {
    const int32_t end = a->row_ptr[i + 1];
    for (; from < end; from++) {
      if ((i == cell) != (a->col_idx[from] == cell)) continue;
      a->col_idx[to] = a->col_idx[from];
      memmove(a->values + (size_t)to * area, a->values + (size_t)from * area,
              area * sizeof *a->values);
      to++;
    }
    a->row_ptr[i + 1] = to;
  }
}

typedef struct expectation {
  int64_t singular, reversed, excluded;
  int32_t first_singular, first_excluded;
} expectation;

/* Creates CPR with every second stage and the shift that singular blocks need there, and solves. */
static void expect_handled(test_bcsr arrays, expectation e, int32_t most) {
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  for (int second = BISAI_CPR_SECOND_STAGE_AUTO; second <= BISAI_CPR_SECOND_STAGE_BJACOBI; second++)
    for (int additive = 0; additive < 2; additive++) {
      bisai_precond_options o = cpr((bisai_cpr_second_stage)second);
      o.cpr.additive = additive;
      o.shift = BISAI_SHIFT_IN_BLOCKS;
      bisai_precond *m = test_precond_with(context, a, &o);
      const bisai_cpr_report r = test_report_of(context, m).cpr;
      assert_int_equal(r.pressure, P);
      assert_int_equal(r.singular_rows, e.singular);
      assert_int_equal(r.reversed_rows, e.reversed);
      assert_int_equal(r.excluded_rows, e.excluded);
      assert_int_equal(r.first_singular_row, e.first_singular);
      assert_int_equal(r.first_excluded_row, e.first_excluded);
      expect_solved(a, m, most);
      bisai_precond_destroy(&m);
    }
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
}

static void cells_without_neighbours_are_solved(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr a = test_flow(NX, NY, bs, P, 1);
    for (int32_t cell = 3; cell < CELLS; cell += 50) cut_off(&a, cell);
    expect_handled(a, (expectation){0, 0, 0, -1, -1}, 60);
  }
}

/* Wells and faults cut cells off one way only. */
static void cells_that_only_give_or_only_take_are_solved(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr a = test_flow(NX, NY, bs, P, 1);
    const size_t size = (size_t)(bs * bs) * sizeof(double);
    for (int32_t i = 0; i < CELLS; i++)
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
        if (a.col_idx[q] != i && (i % 40 == 7 || a.col_idx[q] % 40 == 23))
          memset(a.values + (size_t)q * (size_t)(bs * bs), 0, size);
    expect_handled(a, (expectation){0, 0, 0, -1, -1}, 60);
  }
}

static void cells_with_singular_blocks_are_counted(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr a = test_flow(NX, NY, bs, P, 1);
    int64_t singular = 0, reversed = 0;
    for (int32_t i = 17; i < CELLS; i += 60) { /* without values in the first equation */
      double *block = test_bcsr_block(&a, i, i);
      for (int c = 0; c < bs; c++) block[c * bs] = 0.0;
      if (i == 77)
        for (int v = 0; v < bs * bs; v++) block[v] *= -1.0;
      singular++;
      reversed += block[P * bs + P] < 0.0;
    }
    assert_int_equal(reversed, 1);
    expect_handled(a, (expectation){singular, reversed, 0, 17, -1}, 80);
  }
}

static void cells_without_a_pressure_are_excluded(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr a = test_flow(NX, NY, bs, P, 1);
    int64_t excluded = 0;
    for (int32_t i = 29; i < CELLS; i += 60) {
      double *block = test_bcsr_block(&a, i, i);
      for (int r = 0; r < bs; r++) block[P * bs + r] = i == 89 ? 1e-320 : 0.0;
      excluded++;
    }
    expect_handled(a, (expectation){excluded, 0, excluded, 29, 29}, 80);
  }
}

/* The entry of the pressure in its own equation says nothing about the decoupled one. */
static void zeros_on_the_diagonal_need_no_rule(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr a = test_flow(NX, NY, bs, P, 1);
    const size_t area = (size_t)(bs * bs);
    for (int32_t i = 0; i < CELLS; i += 7) /* the equations of a cell in another order */
      for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
        for (int c = 0; c < bs; c++) {
          double *column = a.values + (size_t)q * area + (size_t)(c * bs), first = column[0];
          memmove(column, column + 1, (size_t)(bs - 1) * sizeof first);
          column[bs - 1] = first;
        }
    expect_handled(a, (expectation){0, 0, 0, -1, -1}, 80);
  }
}

/* Multiplies each equation of each cell by a power of two of its own. */
static void scale_equations(test_bcsr *a) {
  const int32_t bs = a->block_size;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t v = a->row_ptr[i] * bs * bs; v < a->row_ptr[i + 1] * bs * bs; v++)
      a->values[v] = ldexp(a->values[v], (i * 7 + v % bs * 11) % 40 - 20);
}

static void factors_of_single_equations_change_no_pressure_and_no_count(void **state) {
  (void)state;
  for (int bs = 2; bs <= 5; bs++) {
    test_bcsr arrays = test_flow(NX, NY, bs, P, 1);
    for (int32_t i = 17; i < CELLS; i += 60)
      for (int k = 0; k < bs; k++) {
        test_bcsr_block(&arrays, i, i)[k * bs] = 0.0;               /* singular */
        test_bcsr_block(&arrays, i + 12, i + 12)[P * bs + k] = 0.0; /* without a pressure */
      }
    bisai_cpr_report expected = {0};
    for (int scaled = 0; scaled < 2; scaled++) {
      if (scaled) scale_equations(&arrays);
      bisai_bcsr *a = test_bcsr_make(context, &arrays);
      bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_BJACOBI);
      o.shift = BISAI_SHIFT_IN_BLOCKS;
      bisai_precond *m = test_precond_with(context, a, &o);
      const bisai_cpr_report r = test_report_of(context, m).cpr;
      if (!scaled) expected = r;
      assert_int_equal(r.pressure, P);
      assert_true(r.singular_rows > 0 && r.excluded_rows > 0);
      assert_int_equal(r.singular_rows, expected.singular_rows);
      assert_int_equal(r.reversed_rows, expected.reversed_rows);
      assert_int_equal(r.excluded_rows, expected.excluded_rows);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
    }
    test_bcsr_free(&arrays);
  }
}

/* Without any pressure correction the second stage is all there is. */
static void all_cells_may_be_excluded(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(NX, NY, 3, P, 1));
  double *zeros = calloc((size_t)CELLS * 3, sizeof *zeros);
  static const bisai_precond_kind kinds[] = {BISAI_PRECOND_ISAI, BISAI_PRECOND_ISAI,
                                             BISAI_PRECOND_ILU, BISAI_PRECOND_SWEEPS,
                                             BISAI_PRECOND_BJACOBI};
  for (int second = BISAI_CPR_SECOND_STAGE_ISAI; second <= BISAI_CPR_SECOND_STAGE_BJACOBI; second++)
    for (int pressure = -1; pressure < 3; pressure++) {
      bisai_precond_options o = cpr((bisai_cpr_second_stage)second),
                            alone = bisai_precond_options_default();
      o.cpr.pressure = pressure;
      o.cpr.weights = zeros;
      alone.kind = kinds[second];
      bisai_precond *m = test_precond_with(context, a, &o),
                    *expected = test_precond_with(context, a, &alone);
      const bisai_cpr_report r = test_report_of(context, m).cpr;
      assert_int_equal(r.pressure, pressure < 0 ? 0 : pressure); /* the first of equal ones */
      assert_int_equal(r.excluded_rows, CELLS);
      assert_int_equal(r.first_excluded_row, 0);
      assert_int_equal(r.weights, BISAI_WEIGHTS_GIVEN);
      for (int p = 0; p < 3; p++) assert_true(r.ellipticity[p] == 0.0);
      assert_true(test_same_bits(context, expected, m));
      bisai_precond_destroy(&m);
      bisai_precond_destroy(&expected);
    }
  free(zeros);
  bisai_bcsr_destroy(&a);
}

/* --- weights of the caller --- */

/* What a reservoir simulator may give: any multiples of the same weights. */
static void given_weights_only_need_a_direction(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs += 2) {
    test_bcsr arrays = test_flow(NX, NY, bs, 0, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    double *weights = malloc((size_t)(CELLS * bs) * sizeof *weights),
           *unit = calloc((size_t)bs, sizeof *unit);
    unit[0] = 1.0;
    for (int32_t i = 0; i < CELLS; i++) {
      double *transposed = test_dense_transpose(bs, bs, test_bcsr_block(&arrays, i, i)),
             *w = test_dense_solve(bs, transposed, unit);
      for (int k = 0; k < bs; k++) weights[i * bs + k] = w[k] * ldexp(i % 3 ? -1.0 : 1.0, i % 40);
      free(transposed), free(w);
    }
    bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
    o.cpr.pressure = 0;
    bisai_precond *computed = test_precond_with(context, a, &o);
    o.cpr.weights = weights;
    bisai_precond *given = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, given).cpr.reversed_rows, CELLS - CELLS / 3);
    assert_int_equal(test_report_of(context, computed).cpr.reversed_rows, 0);
    double *v = test_random_vector((int64_t)CELLS * bs, 1), *x = malloc((size_t)(CELLS * bs) * 8),
           *y = malloc((size_t)(CELLS * bs) * 8), largest = 0.0;
    EXPECT_OK(context, bisai_precond_apply(computed, v, x));
    EXPECT_OK(context, bisai_precond_apply(given, v, y));
    for (int i = 0; i < CELLS * bs; i++) largest = fmax(largest, fabs(x[i]));
    EXPECT_CLOSE((int64_t)CELLS * bs, x, y, 1e-12 * largest); /* weights by two eliminations */
    free(v), free(x), free(y), free(weights), free(unit);
    bisai_precond_destroy(&computed);
    bisai_precond_destroy(&given);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

static void storage_of_the_diagonal_blocks_is_quasi_impes(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs += 2) {
    test_bcsr arrays = test_flow(NX, NY, bs, 0, 1);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    double *storage = malloc((size_t)(CELLS * bs * bs) * sizeof *storage);
    for (int32_t i = 0; i < CELLS; i++)
      for (int r = 0; r < bs; r++)
        for (int c = 0; c < bs; c++)
          storage[(i * bs + r) * bs + c] = test_bcsr_block(&arrays, i, i)[c * bs + r];
    bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
    bisai_precond *quasi = test_precond_with(context, a, &o);
    o.cpr.storage = storage;
    bisai_precond *given = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, given).cpr.weights, BISAI_WEIGHTS_TRUE_IMPES);
    assert_int_equal(test_report_of(context, given).cpr.pressure, 0);
    double *v = test_random_vector((int64_t)CELLS * bs, 1), *x = malloc((size_t)(CELLS * bs) * 8),
           *y = malloc((size_t)(CELLS * bs) * 8), largest = 0.0;
    EXPECT_OK(context, bisai_precond_apply(quasi, v, x));
    EXPECT_OK(context, bisai_precond_apply(given, v, y));
    for (int i = 0; i < CELLS * bs; i++) largest = fmax(largest, fabs(x[i]));
    EXPECT_CLOSE((int64_t)CELLS * bs, x, y, 1e-12 * largest); /* inverses of D and Dᵀ */
    free(v), free(x), free(y), free(storage);
    bisai_precond_destroy(&quasi);
    bisai_precond_destroy(&given);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

/* --- sizes --- */

static void a_matrix_without_rows_is_accepted(void **state) {
  (void)state;
  for (int second = BISAI_CPR_SECOND_STAGE_AUTO; second <= BISAI_CPR_SECOND_STAGE_BJACOBI; second++)
    for (int pressure = -1; pressure < 2; pressure++) {
      test_bcsr none = test_flow(1, 1, 2, 0, 1);
      none.block_rows = none.block_cols = 0;
      none.row_ptr[0] = none.row_ptr[1] = 0;
      bisai_bcsr *a = test_bcsr_take(context, none);
      bisai_precond_options o = cpr((bisai_cpr_second_stage)second);
      o.cpr.pressure = pressure;
      bisai_precond *m = test_precond_with(context, a, &o);
      EXPECT_OK(context, bisai_precond_update(m, a));
      EXPECT_OK(context, bisai_precond_apply(m, NULL, NULL));
      assert_true(test_report_of(context, m).cpr.ellipticity[0] == 0.0);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
    }
}

static void one_cell_is_solved_at_once(void **state) {
  (void)state;
  for (int bs = 1; bs <= 32; bs = 2 * bs + (bs == 8)) {
    bisai_bcsr *a = test_bcsr_take(context, test_flow(1, 1, bs > 32 ? 32 : bs, 0, 1));
    bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
    bisai_precond *m = test_precond_with(context, a, &o);
    expect_solved(a, m, 1);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

static void the_smallest_and_the_largest_blocks_are_solved(void **state) {
  (void)state;
  for (int second = BISAI_CPR_SECOND_STAGE_AUTO; second <= BISAI_CPR_SECOND_STAGE_BJACOBI; second++)
    for (int bs = 1; bs <= 32; bs += 31) {
      const int32_t pressure = bs - 1;
      bisai_bcsr *a = test_bcsr_take(context, test_flow(12, 10, bs, pressure, 1));
      bisai_precond_options o = cpr((bisai_cpr_second_stage)second);
      bisai_precond *m = test_precond_with(context, a, &o);
      assert_int_equal(test_report_of(context, m).cpr.pressure, pressure);
      expect_solved(a, m, 40);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
    }
}

/* --- refusals --- */

static void options_out_of_range_are_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(4, 4, 3, 0, 1));
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_AUTO);
  double array[16 * 9] = {1.0};
  o.cpr.pressure = 3;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT,
                      "pressure 3: a block has the unknowns 0 … 2");
  o.cpr.pressure = BISAI_MAX_BLOCK_SIZE;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "pressure 32: ");
  o.cpr.pressure = -2;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "pressure -2: ");
  o.cpr.pressure = 0;
  o.cpr.second = (bisai_cpr_second_stage)5;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "second 5");
  o.cpr.second = (bisai_cpr_second_stage)-1;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "second -1");
  o.cpr.second = BISAI_CPR_SECOND_STAGE_AUTO;
  o.cpr.weights = o.cpr.storage = array;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "weights and storage: ");
  o.cpr.weights = o.cpr.storage = NULL;
  o.multigrid.damping = 0.0;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT,
                      "damping 0: between 0 and 2 is needed");
  o = cpr(BISAI_CPR_SECOND_STAGE_ISAI);
  o.isai.power = -1;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "power -1");
  o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
  o.factor.ordering = BISAI_ORDERING_GIVEN;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "second stage: ");
  bisai_bcsr_destroy(&a);
}

static void arrays_that_are_not_finite_are_named(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(4, 4, 3, 0, 1));
  double *weights = test_random_vector(16 * 3, 1), *storage = test_random_vector(16 * 9, 2);
  static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  for (int k = 0; k < 3; k++) {
    bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_AUTO);
    weights[5 * 3 + 2] = bad[k];
    storage[7 * 9 + 4] = bad[k];
    o.cpr.weights = weights;
    test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT,
                        "weights: value 2 of block row 5 is not finite");
    o.cpr.weights = NULL;
    o.cpr.storage = storage;
    test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT,
                        "storage: value 4 of block row 7 is not finite");
  }
  free(weights), free(storage);
  bisai_bcsr_destroy(&a);
}

#define EXPECT_UNUSED(second_stage, member, value, message)                                        \
  do {                                                                                             \
    bisai_precond_options unused = cpr(second_stage);                                              \
    unused.member = (value);                                                                       \
    test_expect_refused(context, a, &unused, BISAI_INVALID_ARGUMENT, message);                     \
  } while (0)

static void options_of_other_second_stages_are_refused_by_name(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_flow(4, 4, 3, 0, 1));
  bisai_factors *factors = NULL;
  EXPECT_OK(context, bisai_factors_create(context, a, NULL, &factors));
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_AUTO, isai.relax, 2,
                "cpr with the second stage auto does not take the option isai.relax");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_AUTO, isai.power, 2, "isai.power, which is for isai");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_AUTO, isai.storage, BISAI_FP32,
                "isai.storage, which is for isai");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_ILU, isai.relax, 1, "isai.relax, which is for isai");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_ISAI, ilu.schedule, BISAI_SCHEDULE_LEVELS, "ilu.schedule");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_ISAI, sweeps.count, 2, "sweeps.count, which is for sweeps");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_SWEEPS, bjacobi.max_block, 2, "bjacobi.max_block");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_BJACOBI, factor.level, 1, "factor.level");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_BJACOBI, factor.factors, factors, "factor.factors");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_BJACOBI, isai.drop_tolerance, 0.1, "isai.drop_tolerance");
  EXPECT_UNUSED(BISAI_CPR_SECOND_STAGE_BJACOBI, callback.nonlinear, true, "nonlinear");
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_BJACOBI);
  o.factor.equilibrate = true; /* which kinds without factors ignore */
  bisai_precond *m = test_precond_with(context, a, &o);
  bisai_precond_destroy(&m);
  o = bisai_precond_options_default();
  o.kind = BISAI_PRECOND_ISAI;
  o.cpr.additive = true;
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT,
                      "isai does not take the option additive");
  bisai_factors_destroy(&factors);
  bisai_bcsr_destroy(&a);
}

static void a_missing_diagonal_block_is_named(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(12, 12, 2, 0, 1);
  for (int32_t q = arrays.row_ptr[40], to = q; q < test_bcsr_blocks(&arrays); q++) {
    if (q < arrays.row_ptr[41] && arrays.col_idx[q] == 40) continue;
    arrays.col_idx[to] = arrays.col_idx[q];
    memmove(arrays.values + (ptrdiff_t)to++ * 4, arrays.values + (ptrdiff_t)q * 4, 32);
  }
  for (int32_t i = 41; i <= arrays.block_rows; i++) arrays.row_ptr[i]--;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int second = BISAI_CPR_SECOND_STAGE_AUTO; second <= BISAI_CPR_SECOND_STAGE_BJACOBI;
       second++) {
    bisai_precond_options o = cpr((bisai_cpr_second_stage)second);
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    test_expect_refused(context, a, &o, BISAI_MISSING_DIAGONAL,
                        "block row 40 has no diagonal block");
  }
  bisai_bcsr_destroy(&a);
}

static void singular_blocks_of_the_second_stage_are_named(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(12, 12, 2, 0, 1);
  memset(test_bcsr_block(&arrays, 0, 0), 0, 4 * sizeof(double));
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int second = BISAI_CPR_SECOND_STAGE_AUTO; second <= BISAI_CPR_SECOND_STAGE_BJACOBI;
       second++) {
    bisai_precond_options o = cpr((bisai_cpr_second_stage)second);
    test_expect_refused(context, a, &o, BISAI_SINGULAR_BLOCK, "second stage: ");
    EXPECT_IN_MESSAGE(context, "row 0");
  }
  bisai_bcsr_destroy(&a);
}

static void narrow_and_rectangular_matrices_are_refused(void **state) {
  (void)state;
  test_bcsr arrays = test_flow(4, 4, 2, 0, 1);
  bisai_bcsr *a = test_bcsr_single(context, &arrays);
  test_bcsr_free(&arrays);
  bisai_precond_options o = cpr(BISAI_CPR_SECOND_STAGE_ILU);
  test_expect_refused(context, a, &o, BISAI_UNSUPPORTED, "cpr needs a matrix stored in fp64");
  bisai_bcsr_destroy(&a);
  test_shape shape = test_shape_square(4, 2, 1);
  shape.block_cols = 5;
  a = test_bcsr_take(context, test_bcsr_random(shape));
  test_expect_refused(context, a, &o, BISAI_INVALID_ARGUMENT, "not square");
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cells_without_neighbours_are_solved),
      cmocka_unit_test(cells_that_only_give_or_only_take_are_solved),
      cmocka_unit_test(cells_with_singular_blocks_are_counted),
      cmocka_unit_test(cells_without_a_pressure_are_excluded),
      cmocka_unit_test(zeros_on_the_diagonal_need_no_rule),
      cmocka_unit_test(factors_of_single_equations_change_no_pressure_and_no_count),
      cmocka_unit_test(all_cells_may_be_excluded),
      cmocka_unit_test(given_weights_only_need_a_direction),
      cmocka_unit_test(storage_of_the_diagonal_blocks_is_quasi_impes),
      cmocka_unit_test(a_matrix_without_rows_is_accepted),
      cmocka_unit_test(one_cell_is_solved_at_once),
      cmocka_unit_test(the_smallest_and_the_largest_blocks_are_solved),
      cmocka_unit_test(options_out_of_range_are_refused_by_name),
      cmocka_unit_test(arrays_that_are_not_finite_are_named),
      cmocka_unit_test(options_of_other_second_stages_are_refused_by_name),
      cmocka_unit_test(a_missing_diagonal_block_is_named),
      cmocka_unit_test(singular_blocks_of_the_second_stage_are_named),
      cmocka_unit_test(narrow_and_rectangular_matrices_are_refused),
  };
  return cmocka_run_group_tests_name("cpr_edges", tests, setup, teardown);
}
