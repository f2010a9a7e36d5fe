/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid of matrices at the edges: few rows, no couplings, several components, fixed rows, rows
 * without values, singular matrices. */
#include <math.h>

#include "fixture.h"
#include "mesh.h"
#include "preconds.h"
#include "smoothers.h"
#include "systems.h"

/* Solves by FGMRES. `b` NULL: random values. Returns the iterations. */
static int32_t expect_solved_with(const bisai_bcsr *a, bisai_precond *m, const double *b,
                                  int32_t most) {
  const int64_t n = bisai_precond_rows(m);
  double *random = test_random_vector(n + 1, 3), *x = calloc((size_t)n + 1, sizeof *x);
  bisai_solver_options options = bisai_solver_options_default();
  options.tolerance = 1e-10;
  options.max_iterations = 300;
  options.gmres.flexible = true;
  bisai_solver_report r = test_report();
  if (!b) b = random;
  EXPECT_OK(context, test_solve(context, &options, a, m, b, x, &r));
  if (r.iterations > most) print_message("%s\n", bisai_precond_describe(m));
  assert_in_range(r.iterations, 0, most);
  if (n > 0) assert_true(test_relative_residual(a, x, b) <= 2e-10);
  free(random), free(x);
  return r.iterations;
}

static int32_t expect_solved(const bisai_bcsr *a, const bisai_precond_options *o, int32_t most) {
  bisai_precond *m = test_precond_with(context, a, o);
  const int32_t iterations = expect_solved_with(a, m, NULL, most);
  EXPECT_OK(context, bisai_precond_update(m, a));
  assert_int_equal(expect_solved_with(a, m, NULL, most), iterations);
  bisai_precond_destroy(&m);
  return iterations;
}

/* Returns blocks d·K without any coupling. */
static test_bcsr block_diagonal(int32_t n, int32_t bs) {
  test_bcsr a = test_mesh_diffusion(n, 1, bs, TEST_ZERO_OUTSIDE, 0.0);
  for (int32_t i = 0; i < n; i++) {
    memmove(a.values + (size_t)i * (size_t)(bs * bs), test_bcsr_block(&a, i, i),
            (size_t)(bs * bs) * sizeof *a.values);
    a.col_idx[i] = i;
    a.row_ptr[i] = i; /* the blocks of row i + 1 are still in place */
  }
  a.row_ptr[n] = n;
  return a;
}

/* --- few rows --- */

static void a_matrix_of_one_row_is_inverted(void **state) {
  (void)state;
  for (int bs = 1; bs <= 5; bs++)
    for (int s = 0; s < SMOOTHERS; s++) {
      bisai_bcsr *a = test_bcsr_take(context, block_diagonal(1, bs));
      bisai_precond_options o = with_smoother(s, 1024);
      assert_int_equal(expect_solved(a, &o, 1), 1);
      o.multigrid.coarsest = 0;
      o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
      expect_solved(a, &o, bs);
      bisai_bcsr_destroy(&a);
    }
}

static void a_matrix_without_rows_is_accepted(void **state) {
  (void)state;
  for (int s = 0; s < SMOOTHERS; s++)
    for (int32_t coarsest = 0; coarsest <= 1024; coarsest += 1024)
      for (int nodes = BISAI_AGGREGATION_UNIT_AUTO; nodes <= BISAI_AGGREGATION_UNIT_SCALAR;
           nodes++) {
        test_bcsr none = block_diagonal(1, 2);
        none.block_rows = none.block_cols = 0;
        none.row_ptr[0] = none.row_ptr[1] = 0;
        bisai_bcsr *a = test_bcsr_take(context, none);
        bisai_precond_options o = with_smoother(s, coarsest);
        o.multigrid.nodes = (bisai_aggregation_unit)nodes;
        bisai_precond *m = test_precond_with(context, a, &o);
        assert_int_equal(test_report_of(context, m).multigrid.levels, 1);
        assert_true(test_report_of(context, m).multigrid.operator_complexity == 1.0);
        assert_true(test_report_of(context, m).multigrid.grid_complexity == 1.0);
        EXPECT_OK(context, bisai_precond_update(m, a));
        EXPECT_OK(context, bisai_precond_apply(m, NULL, NULL));
        bisai_precond_destroy(&m);
        bisai_bcsr_destroy(&a);
      }
}

static void small_matrices_are_inverted(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(15, 10, 3, TEST_ZERO_OUTSIDE, 0.3));
  bisai_precond_options o = with_smoother(0, 1024);
  bisai_precond *m = test_precond_with(context, a, &o);
  const bisai_precond_report r = test_report_of(context, m);
  assert_int_equal(r.multigrid.levels, 1);
  assert_true(r.multigrid.coarsest_inverted);
  assert_int_equal(r.multigrid.ended_by, BISAI_COARSENING_END_ROWS);
  /* no diagonal block was inverted */
  assert_int_equal(r.first_repair_row, -1);
  assert_int_equal(r.largest_condition_row, -1);
  assert_int_equal(expect_solved_with(a, m, NULL, 1), 1);
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

/* --- no couplings --- */

static void block_diagonal_matrices_are_solved_by_the_smoother(void **state) {
  (void)state;
  for (int bs = 1; bs <= 3; bs++)
    for (int s = 0; s < SMOOTHERS; s++) {
      bisai_bcsr *a = test_bcsr_take(context, block_diagonal(500, bs));
      bisai_precond_options o = with_smoother(s, 20);
      bisai_precond *m = test_precond_with(context, a, &o);
      assert_int_equal(test_report_of(context, m).multigrid.levels,
                       1); /* there is nothing to aggregate */
      assert_int_equal(test_report_of(context, m).multigrid.ended_by,
                       BISAI_COARSENING_END_AGGREGATES);
      assert_false(test_report_of(context, m).multigrid.coarsest_inverted);
      expect_solved_with(a, m, NULL, 2);
      bisai_precond_destroy(&m);
      bisai_bcsr_destroy(&a);
    }
}

static void fixed_rows_stay_out(void **state) {
  (void)state;
  /* all rows but a mesh in the middle of them */
  test_bcsr arrays = test_mesh_beside(
      block_diagonal(300, 2), test_mesh_beside(test_mesh_diffusion(20, 20, 2, TEST_FIXED_FACE, 0.0),
                                               block_diagonal(200, 2)));
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, 20);
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_true(r.levels > 1);
    assert_true(r.rows[1] <= 20 * 20 / 2); /* none of the 500 */
    expect_solved_with(a, m, NULL, 30);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

/* --- several components, odd graphs --- */

static void components_are_solved_together(void **state) {
  (void)state;
  for (int s = 0; s < SMOOTHERS; s++)
    for (int wind = 0; wind < 2; wind++) {
      test_bcsr arrays = test_mesh_diffusion(25, 21, 2, TEST_ZERO_OUTSIDE, 0.3 * wind);
      for (int32_t edge = 1; edge <= 8; edge++)
        arrays = test_mesh_beside(
            arrays, test_mesh_diffusion(edge, 9 - edge, 2, TEST_FIXED_FACE, 0.3 * wind));
      bisai_bcsr *a = test_bcsr_take(context, arrays);
      bisai_precond_options o = with_smoother(s, 20);
      expect_solved(a, &o, 30);
      bisai_bcsr_destroy(&a);
    }
}

/* Couplings of random size: some roots lose all their neighbours to other roots. */
static void couplings_of_all_sizes_are_solved(void **state) {
  (void)state;
  for (int s = 0; s < SMOOTHERS; s++)
    for (int bs = 1; bs <= 3; bs++) {
      test_bcsr arrays = test_bcsr_definite(400, bs, (uint64_t)s + 1);
      bisai_bcsr *a = test_bcsr_take(context, arrays);
      bisai_precond_options o = with_smoother(s, 20);
      o.multigrid.complexity = 10.0;
      expect_solved(a, &o, 60);
      bisai_bcsr_destroy(&a);
    }
}

/* A row that is coupled to all others, as an integral constraint is. */
static void a_row_with_all_columns_is_solved(void **state) {
  (void)state;
  enum { LEAVES = 700 };
  test_bcsr a = {LEAVES + 1,
                 LEAVES + 1,
                 1,
                 malloc((LEAVES + 2) * sizeof(int32_t)),
                 malloc((3 * LEAVES + 1) * sizeof(int32_t)),
                 malloc((3 * LEAVES + 1) * sizeof(double))};
  int32_t p = 0;
  a.row_ptr[0] = 0;
  for (int32_t i = 0; i <= LEAVES; i++) {
    for (int32_t j = 0; j <= LEAVES; j++)
      if (i == 0 || j == 0 || i == j) {
        a.col_idx[p] = j;
        a.values[p++] = i == j ? (i == 0 ? LEAVES + 1.0 : 1.1) : -1.0;
      }
    a.row_ptr[i + 1] = p;
  }
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, 20);
    o.multigrid.complexity = 4.0;
    expect_solved(matrix, &o, 30);
  }
  bisai_bcsr_destroy(&matrix);
}

/* A mesh, and one more row and column that are coupled to every node. */
static test_bcsr constrained_mesh(int32_t side, double wind) {
  test_bcsr mesh = test_mesh_diffusion(side, side, 1, TEST_ZERO_OUTSIDE, wind);
  const int32_t n = mesh.block_rows;
  const size_t blocks = (size_t)mesh.row_ptr[n] + 2 * (size_t)n + 1;
  test_bcsr a = {n + 1,
                 n + 1,
                 1,
                 malloc(((size_t)n + 2) * sizeof(int32_t)),
                 malloc(blocks * sizeof(int32_t)),
                 malloc(blocks * sizeof(double))};
  int32_t p = 0;
  a.row_ptr[0] = 0;
  for (int32_t i = 0; i <= n; i++) {
    for (int32_t q = i < n ? mesh.row_ptr[i] : 0; q < (i < n ? mesh.row_ptr[i + 1] : n); q++) {
      a.col_idx[p] = i < n ? mesh.col_idx[q] : q;
      a.values[p++] = i < n ? mesh.values[q] : 1.0 / n;
    }
    a.col_idx[p] = n;
    a.values[p++] = i < n ? 1.0 / n : 1.0;
    a.row_ptr[i + 1] = p;
  }
  test_bcsr_free(&mesh);
  return a;
}

/* A P would have all aggregates in every row, which takes the memory of n²/7 blocks. */
static void a_row_with_all_columns_does_not_fill_the_levels(void **state) {
  (void)state;
  for (int wind = 0; wind < 2; wind++) {
    bisai_bcsr *a = test_bcsr_take(context, constrained_mesh(60, 0.2 * wind));
    bisai_precond_options o = with_smoother(0, 200);
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_int_equal(r.levels, 3);
    assert_true(r.coarsest_inverted);
    /* a matrix of 25 201 blocks takes 300 kB, and those of all levels 1.4 times as much */
    assert_in_range(r.peak_bytes, 0, 3000000);
    expect_solved_with(a, m, NULL, 30);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
  }
}

/* Vectors have blocks of T that are no identities, so that every block of a row counts. */
static void products_that_a_long_row_fills_are_not_made(void **state) {
  (void)state;
  enum { SIDE = 60, N = SIDE * SIDE + 1 };
  double ones[N];
  for (int i = 0; i < N; i++) ones[i] = 1.0;
  for (int wind = 0; wind < 2; wind++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a = test_bcsr_take(own, constrained_mesh(SIDE, 0.2 * wind));
    bisai_precond_options o = with_smoother(0, 200);
    o.multigrid.null_vectors = ones;
    o.multigrid.null_count = 1;
    bisai_precond *m = NULL;
    EXPECT_OK(own, bisai_precond_create(own, a, &o, &m));
    const bisai_precond_report r = test_report_of(own, m);
    assert_true(r.multigrid.unsmoothed[0] && r.multigrid.coarsest_inverted);
    /* A P with smoothed transfers would have two million blocks of 12 bytes. A device that counts
     * them has room for 256 columns of each row */
    assert_in_range(atomic_load(&allocator.peak_bytes), 0, 6000000);
    bisai_precond_destroy(&m);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
  }
}

/* --- limits of the hierarchy --- */

/* The limit is below the values of levels 0 and 1 with smoothed transfers. The iterations are fewer
 * than those of smoothing alone. */
static void levels_without_room_take_transfers_that_are_not_smoothed(void **state) {
  (void)state;
  for (int wind = 0; wind < 2; wind++) {
    bisai_bcsr *a =
        test_bcsr_take(context, test_mesh_diffusion(60, 60, 2, TEST_ZERO_OUTSIDE, 0.2 * wind));
    bisai_precond_options o = with_smoother(0, 20);
    o.multigrid.complexity = 1.225;
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_multigrid_report r = test_report_of(context, m).multigrid;
    assert_true(r.unsmoothed[0] && !r.unsmoothed[r.levels - 1] && r.coarsest_inverted);
    bisai_precond_destroy(&m);
    const int32_t iterations = expect_solved(a, &o, 40);
    o.multigrid.levels = 1;
    assert_true(expect_solved(a, &o, 100) > iterations + 20);
    bisai_bcsr_destroy(&a);
  }
}

static void one_level_and_no_inverse_is_a_smoother(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.2));
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, 20);
    o.multigrid.levels = 1;
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, m).multigrid.levels, 1);
    assert_false(test_report_of(context, m).multigrid.coarsest_inverted);
    expect_solved_with(a, m, NULL, 100);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void levels_are_limited(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(40, 40, 1, TEST_ZERO_OUTSIDE, 0.2));
  for (int levels = 1; levels <= 3; levels++) {
    bisai_precond_options o = with_smoother(0, 0);
    o.multigrid.levels = levels;
    bisai_precond *m = test_precond_with(context, a, &o);
    assert_int_equal(test_report_of(context, m).multigrid.levels, levels);
    assert_int_equal(test_report_of(context, m).multigrid.ended_by, BISAI_COARSENING_END_LEVELS);
    assert_non_null(strstr(bisai_precond_describe(m), ", ended by levels"));
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

static void the_complexity_is_limited(void **state) {
  (void)state;
  for (int wind = 0; wind < 2; wind++) {
    bisai_bcsr *a =
        test_bcsr_take(context, test_mesh_diffusion(40, 40, 1, TEST_ZERO_OUTSIDE, 0.2 * wind));
    static const double limits[] = {1.0, 1.1, 1.3, 1.8, 3.0};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
      bisai_precond_options o = with_smoother(0, 0);
      o.multigrid.complexity = limits[k];
      bisai_precond *m = test_precond_with(context, a, &o);
      const bisai_multigrid_report r = test_report_of(context, m).multigrid;
      double values = 0.0;
      for (int l = 0; l < r.levels; l++) values += r.blocks[l];
      assert_true(values / r.blocks[0] == r.operator_complexity);
      assert_true(r.operator_complexity <= limits[k]);
      if (k == 0) assert_int_equal(r.levels, 1);
      if (k == 4) assert_true(r.levels > 2);
      if (k < 2) assert_int_equal(r.ended_by, BISAI_COARSENING_END_COMPLEXITY);
      if (k > 2) assert_int_equal(r.ended_by, BISAI_COARSENING_END_AGGREGATES);
      bisai_precond_destroy(&m);
    }
    bisai_bcsr_destroy(&a);
  }
}

/* --- symmetry --- */

/* Without zeros, the scalar matrix lacks the mirror image of the small value. */
static void factors_of_a_pattern_that_is_not_symmetric_are_not_either(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_lines(24, 24, 4);
  double *value = test_bcsr_block(&arrays, 0, arrays.col_idx[arrays.row_ptr[1] - 1]) + 1;
  assert_true(*value == 0.0);
  *value = 1e-20;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, 20);
    o.multigrid.nodes = BISAI_AGGREGATION_UNIT_SCALAR;
    bisai_precond *m = test_precond_with(context, a, &o);
    const bisai_precond_report r = test_report_of(context, m);
    assert_true(r.multigrid.symmetric);
    const bool factors = smoothers[s] == BISAI_SMOOTHER_ISAI ||
                         smoothers[s] == BISAI_SMOOTHER_SWEEPS ||
                         smoothers[s] == BISAI_SMOOTHER_ILU;
    assert_int_equal(r.symmetry, factors ? BISAI_SYMMETRY_NONE : BISAI_SYMMETRY_VALUES);
    expect_solved_with(a, m, NULL, 60);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&a);
}

/* --- rows without values --- */

static void expect_refused(test_bcsr arrays, int32_t coarsest, bisai_status status,
                           const char *message) {
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, coarsest);
    test_expect_refused(context, a, &o, status, message);
  }
  bisai_bcsr_destroy(&a);
}

/* Drops the blocks of row `row`, or its diagonal block alone. */
static test_bcsr without(int32_t row, bool all) {
  test_bcsr a = test_mesh_diffusion(12, 12, 2, TEST_ZERO_OUTSIDE, 0.2);
  int32_t to = 0, from = 0;
  for (int32_t i = 0; i < a.block_rows; i++) {
    const int32_t end = a.row_ptr[i + 1];
    for (; from < end; from++) {
      if (i == row && (all || a.col_idx[from] == row)) continue;
      a.col_idx[to] = a.col_idx[from];
      memmove(a.values + (size_t)to * 4, a.values + (size_t)from * 4, 4 * sizeof *a.values);
      to++;
    }
    a.row_ptr[i + 1] = to;
  }
  return a;
}

static void rows_without_blocks_are_named(void **state) {
  (void)state;
  for (int32_t coarsest = 20; coarsest <= 1024; coarsest += 1004) {
    expect_refused(without(77, true), coarsest, BISAI_MISSING_DIAGONAL, "block row 77 is empty");
    expect_refused(without(77, false), coarsest, BISAI_MISSING_DIAGONAL,
                   "block row 77 has no diagonal block");
  }
}

static void rows_of_zeros_are_named(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(12, 12, 2, TEST_ZERO_OUTSIDE, 0.2);
  memset(a.values + (size_t)a.row_ptr[50] * 4, 0,
         (size_t)(a.row_ptr[51] - a.row_ptr[50]) * 4 * sizeof *a.values);
  expect_refused(a, 20, BISAI_SINGULAR_BLOCK, "block row 50");
}

static void singular_blocks_are_shifted_if_that_is_asked_for(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(20, 20, 2, TEST_ZERO_OUTSIDE, 0.0);
  memset(test_bcsr_block(&a, 150, 150), 0, 4 * sizeof *a.values);
  bisai_bcsr *matrix = test_bcsr_take(context, a);
  for (int s = 0; s < SMOOTHERS; s++) {
    bisai_precond_options o = with_smoother(s, 20);
    bisai_precond *m = NULL;
    EXPECT_STATUS(context, BISAI_SINGULAR_BLOCK, bisai_precond_create(context, matrix, &o, &m));
    o.shift = BISAI_SHIFT_IN_BLOCKS;
    m = test_precond_with(context, matrix, &o);
    const bisai_precond_report r = test_report_of(context, m);
    assert_int_equal(r.repairs, 1);
    assert_int_equal(r.first_repair_row, 150);
    bisai_precond_destroy(&m);
  }
  bisai_bcsr_destroy(&matrix);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_matrix_of_one_row_is_inverted),
      cmocka_unit_test(a_matrix_without_rows_is_accepted),
      cmocka_unit_test(small_matrices_are_inverted),
      cmocka_unit_test(block_diagonal_matrices_are_solved_by_the_smoother),
      cmocka_unit_test(fixed_rows_stay_out),
      cmocka_unit_test(components_are_solved_together),
      cmocka_unit_test(couplings_of_all_sizes_are_solved),
      cmocka_unit_test(a_row_with_all_columns_is_solved),
      cmocka_unit_test(a_row_with_all_columns_does_not_fill_the_levels),
      cmocka_unit_test(products_that_a_long_row_fills_are_not_made),
      cmocka_unit_test(levels_without_room_take_transfers_that_are_not_smoothed),
      cmocka_unit_test(one_level_and_no_inverse_is_a_smoother),
      cmocka_unit_test(levels_are_limited),
      cmocka_unit_test(the_complexity_is_limited),
      cmocka_unit_test(factors_of_a_pattern_that_is_not_symmetric_are_not_either),
      cmocka_unit_test(rows_without_blocks_are_named),
      cmocka_unit_test(rows_of_zeros_are_named),
      cmocka_unit_test(singular_blocks_are_shifted_if_that_is_asked_for),
  };
  return cmocka_run_group_tests_name("multigrid_edges", tests, setup, teardown);
}
