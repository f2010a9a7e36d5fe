/* SPDX-License-Identifier: BSD-3-Clause */
/* The levels of multigrid: coarse matrices against plain triple products, what the transfers
 * reproduce, and cycles that are exact. */
#include <math.h>

#include "mesh.h"
#include "multigrid/level/account.h"
#include "multigrid/level/dense_ops.h"
#include "multigrid/level/multigrid_ops.h"
#include "multigrid/spgemm/spgemm_ops.h"
#include "problem.h"
#include "sparse.h"

/* Levels of small meshes, with damped Jacobi and V-cycles. */
static bsi_multigrid_setup setup_for(bool symmetric) {
  bsi_multigrid_setup s = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_JACOBI);
  s.symmetric = symmetric;
  s.options.coarsest = 6;
  s.options.complexity = 100.0;
  return s;
}

static double *dense_of(const bisai_bcsr *a) {
  const bsi_block_matrix view = bsi_block_matrix_of(a);
  return test_sparse_dense(&view);
}

static int64_t rows_of(const bsi_block_matrix *m) { return (int64_t)m->rows * m->height; }
static int64_t cols_of(const bsi_block_matrix *m) { return (int64_t)m->cols * m->width; }

/* --- coarse matrices --- */

/* Rows without values have 1 on the diagonal. They belong to vectors that were dropped. */
static void complete(int64_t n, double *a) {
  for (int64_t i = 0; i < n; i++) {
    bool zero = true;
    for (int64_t j = 0; j < n; j++) zero = zero && a[j * n + i] == 0.0;
    if (zero) a[i * n + i] = 1.0;
  }
}

static void expect_coarse_matrix(const bsi_level *level, const bsi_level *coarse) {
  const bsi_block_matrix *p = bsi_prolongation_of(level), *r = bsi_restriction_of(level);
  const int64_t n = rows_of(p), m = cols_of(p);
  double *da = dense_of(level->matrix), *dp = test_sparse_dense(p), *dr = test_sparse_dense(r),
         *ap = test_dense_multiply(n, n, m, da, dp), *rap = test_dense_multiply(m, n, m, dr, ap),
         *got = dense_of(coarse->matrix);
  assert_int_equal(rows_of(r), m);
  assert_int_equal(cols_of(r), n);
  if (level->transfers.tentative.values) complete(m, rap);
  /* sums of some hundred products: the largest is below 10³ roundings of the largest value */
  EXPECT_CLOSE(m * m, rap, got, 1e-13 * test_largest(m * m, rap));
  free(da), free(dp), free(dr), free(ap), free(rap), free(got);
}

/* P = (I − ω D⁻¹A) T, where no block of A is weak. */
static void expect_smoothed(const bsi_level *level, bool symmetric) {
  const bsi_block_matrix *p = &level->transfers.prolongation;
  const int64_t n = rows_of(p), m = cols_of(p);
  const int bs = level->matrix->block_size;
  const double omega =
      4.0 / (3.0 * (symmetric ? level->diagonal.growth : fmax(level->diagonal.growth, 2.0)));
  double *a = dense_of(level->matrix), *t = test_sparse_dense(&level->transfers.tentative),
         *at = test_dense_multiply(n, n, m, a, t), *got = test_sparse_dense(p);
  for (int64_t i = 0; i < n; i += bs)
    for (int64_t c = 0; c < m; c++)
      for (int r = 0; r < bs; r++)
        for (int k = 0; k < bs; k++)
          t[c * n + i + r] -=
              omega * level->diagonal.inverse[i * bs + (int64_t)k * bs + r] * at[c * n + i + k];
  EXPECT_CLOSE(n * m, t, got, 1e-13 * test_largest(n * m, t));
  free(a), free(t), free(at), free(got);
}

static void expect_transposed(const bsi_block_matrix *p, const bsi_block_matrix *r) {
  double *dp = test_sparse_dense(p), *dr = test_sparse_dense(r),
         *turned = test_dense_transpose(rows_of(p), cols_of(p), dp);
  EXPECT_CLOSE(rows_of(p) * cols_of(p), turned, dr, 0.0);
  free(dp), free(dr), free(turned);
}

static void expect_levels(const problem *m, int least) {
  const bool symmetric = m->h.setup.symmetric;
  assert_true(m->h.count >= least);
  expect_smoothed(&m->h.levels[0], symmetric);
  for (int l = 0; l + 1 < m->h.count; l++) {
    const bsi_level *level = &m->h.levels[l];
    expect_coarse_matrix(level, level + 1);
    if (symmetric || m->h.setup.options.unweighted)
      expect_transposed(&level->transfers.prolongation, &level->transfers.restriction);
  }
}

static void coarse_matrices_are_plain_triple_products(void **state) {
  (void)state;
  for (int bs = 1; bs <= 6; bs++)
    for (int k = 0; k < 3; k++) {
      const bool symmetric = k == 1;
      bsi_multigrid_setup setup = setup_for(symmetric);
      setup.options.unweighted = k == 2;
      problem m = make_problem(
          context, test_mesh_diffusion(12, 9, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4),
          &setup);
      expect_levels(&m, bs == 1 ? 2 : 3);
      free_problem(&m);
    }
}

/* Blocks of level 0 are bs × width in P, and those of coarser levels width × width. */
static void coarse_matrices_of_null_vectors_are_plain_triple_products(void **state) {
  (void)state;
  for (int bs = 1; bs <= 6; bs++)
    for (int width = 1; width <= 7; width += 2)
      for (int symmetric = 0; symmetric < 2; symmetric++) {
        enum { NX = 9, NY = 7 };
        double *vectors = test_random_vector((int64_t)NX * NY * bs * width, 5);
        bsi_multigrid_setup setup = setup_for(symmetric);
        setup.options.null_vectors = vectors;
        setup.options.null_count = width;
        problem m = make_problem(
            context, test_mesh_diffusion(NX, NY, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4),
            &setup);
        /* too many vectors leave nothing to gain */
        expect_levels(&m, width <= 2 * bs ? 2 : 1);
        if (m.h.count > 1) assert_int_equal(m.h.levels[1].matrix->block_size, width);
        free(vectors);
        free_problem(&m);
      }
}

static problem make_springs(int32_t edge, test_boundary boundary,
                            const bsi_multigrid_setup *setup) {
  double *modes = test_mesh_modes(edge, edge, edge);
  bsi_multigrid_setup s = *setup;
  s.options.null_vectors = modes;
  s.options.null_count = 6;
  problem m = make_problem(context, test_mesh_springs(edge, edge, edge, boundary), &s);
  free(modes);
  return m;
}

static void coarse_matrices_of_rigid_bodies_are_plain_triple_products(void **state) {
  (void)state;
  const bsi_multigrid_setup setup = setup_for(true);
  problem m = make_springs(5, TEST_FIXED_FACE, &setup);
  expect_levels(&m, 2);
  assert_int_equal(m.h.levels[0].matrix->block_size, 3);
  assert_int_equal(m.h.levels[1].matrix->block_size, 6);
  free_problem(&m);
}

/* The limits are below the values of levels 0 and 1 with smoothed transfers, and above those of all
 * levels without. */
static void transfers_that_exceed_the_complexity_are_not_smoothed(void **state) {
  (void)state;
  for (int k = 0; k < 8; k++) {
    enum { NX = 24, NY = 20, BS = 2, WIDTH = 3 };
    const bool symmetric = k % 2, modes = k / 2 % 2;
    double *vectors = test_random_vector(NX * NY * BS * WIDTH, 5);
    bsi_multigrid_setup setup = setup_for(symmetric);
    setup.options.null_vectors = modes ? vectors : NULL;
    setup.options.null_count = modes ? WIDTH : 0;
    setup.options.unweighted = k / 4;
    setup.options.complexity = modes ? 1.6 : 1.225;
    problem m = make_problem(
        context, test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4), &setup);
    int unsmoothed = 0;
    double values = 0.0;
    for (int l = 0; l < m.h.count; l++) {
      const bsi_level *level = &m.h.levels[l];
      values += (double)bsi_block_offset(level->matrix, level->matrix->blocks);
      if (l == m.h.count - 1) continue;
      expect_coarse_matrix(level, level + 1);
      if (level->transfers.prolongation.row_ptr) continue;
      unsmoothed++;
      assert_null(level->transfers.restriction.row_ptr);
      assert_null(level->transfers.filtered);
    }
    assert_true(unsmoothed > 0);
    assert_true(m.h.coarse.inverse != NULL);
    assert_true(values <=
                setup.options.complexity * (double)bsi_block_offset(m.matrix, m.matrix->blocks));
    free(vectors);
    free_problem(&m);
  }
}

/* --- what transfers reproduce --- */

/* y ← m x, x of `columns` columns */
static double *times(const bsi_block_matrix *m, int64_t columns, const double *x) {
  double *dense = test_sparse_dense(m),
         *y = test_dense_multiply(rows_of(m), cols_of(m), columns, dense, x);
  free(dense);
  return y;
}

/* Compares P coarse with fine in the rows of aggregates in which A·fine is zero but for rounding.
 * Returns the number of these rows. */
static int64_t expect_reproduced(const bsi_level *level, int64_t columns, const double *fine,
                                 const double *coarse) {
  const bsi_block_matrix *t = &level->transfers.tentative, a = bsi_block_matrix_of(level->matrix);
  const int64_t n = rows_of(t);
  double *image = times(&a, columns, fine),
         *got = times(&level->transfers.prolongation, columns, coarse);
  const double size = test_largest(n * columns, fine);
  int64_t rows = 0;
  for (int64_t i = 0; i < n; i++) {
    const int32_t row = (int32_t)(i / t->height);
    bool zero = t->row_ptr[row] < t->row_ptr[row + 1];
    for (int64_t c = 0; c < columns; c++)
      zero = zero && fabs(image[c * n + i]) <= 1e-11 * size; /* values of A are of size 1 to 10 */
    for (int64_t c = 0; c < columns && zero; c++)
      EXPECT_NEAR(fine[c * n + i], got[c * n + i], 1e-10 * size);
    rows += zero;
  }
  free(image), free(got);
  return rows;
}

/* Row i of column c is 1 if i is of component c. */
static double *constants(int64_t rows, int bs) {
  double *x = calloc((size_t)(rows * bs), sizeof *x);
  for (int64_t i = 0; i < rows; i++) x[i % bs * rows + i] = 1.0;
  return x;
}

static void constants_are_reproduced_where_A_maps_them_to_zero(void **state) {
  (void)state;
  for (int bs = 1; bs <= 6; bs++)
    for (int free_boundary = 0; free_boundary < 2; free_boundary++) {
      bsi_multigrid_setup setup = setup_for(true);
      problem m = make_problem(
          context,
          test_mesh_diffusion(13, 11, bs, free_boundary ? TEST_FREE : TEST_ZERO_OUTSIDE, 0.0),
          &setup);
      assert_true(m.h.count > 2 || bs == 1);
      for (int l = 0; l + 1 < m.h.count; l++) {
        const int64_t n = bsi_level_rows(&m.h.levels[l]),
                      coarse = bsi_level_rows(&m.h.levels[l + 1]);
        double *x = constants(n, bs), *y = constants(coarse, bs);
        const int64_t rows = expect_reproduced(&m.h.levels[l], bs, x, y);
        if (free_boundary) assert_int_equal(rows, n);
        if (!free_boundary && l == 0) assert_int_equal(rows, (13 - 2) * (11 - 2) * bs);
        free(x), free(y);
      }
      free_problem(&m);
    }
}

/* `vectors` has six values for each row. Returns them as columns. */
static double *columns_of(int64_t n, const double *vectors) {
  return test_dense_transpose(6, n, vectors);
}

static void rigid_bodies_are_reproduced_on_all_levels(void **state) {
  (void)state;
  enum { EDGE = 6, N = 3 * EDGE * EDGE * EDGE };
  const bsi_multigrid_setup setup = setup_for(true);
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE), *fine = columns_of(N, modes);
  problem m = make_springs(EDGE, TEST_FREE, &setup);
  assert_true(m.h.count >= 2);
  for (int l = 0; l + 1 < m.h.count; l++) {
    const bsi_level *level = &m.h.levels[l];
    /* the columns of T are orthonormal or zero, so that Tᵀ has the coordinates of the modes */
    double *coarse = times(&level->transfers.tentative_transposed, 6, fine);
    assert_int_equal(expect_reproduced(level, 6, fine, coarse), bsi_level_rows(level));
    free(fine);
    fine = coarse;
  }
  free(fine), free(modes);
  free_problem(&m);
}

static void rigid_bodies_are_reproduced_away_from_fixed_nodes(void **state) {
  (void)state;
  enum { EDGE = 6, N = 3 * EDGE * EDGE * EDGE };
  const bsi_multigrid_setup setup = setup_for(true);
  double *modes = test_mesh_modes(EDGE, EDGE, EDGE), *fine = columns_of(N, modes);
  problem m = make_springs(EDGE, TEST_FIXED_FACE, &setup);
  double *coarse = times(&m.h.levels[0].transfers.tentative_transposed, 6, fine);
  /* all but the fixed face and the nodes beside it */
  assert_int_equal(expect_reproduced(&m.h.levels[0], 6, fine, coarse),
                   3 * (EDGE - 2) * EDGE * EDGE);
  free(fine), free(modes), free(coarse);
  free_problem(&m);
}

/* --- cycles that are exact --- */

/* Without smoothing, a cycle of two levels projects onto the range of P. */
static void two_levels_are_exact_on_the_range_of_prolongation(void **state) {
  (void)state;
  for (int bs = 1; bs <= 4; bs++)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      bsi_multigrid_setup setup = setup_for(symmetric);
      setup.options.levels = 2;
      setup.options.coarsest = 17 * 13 * bs - 1;
      setup.options.pre = setup.options.post = 0;
      problem m = make_problem(
          context, test_mesh_diffusion(17, 13, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4),
          &setup);
      assert_true(m.h.coarse.inverse != NULL);
      const bsi_block_matrix *p = &m.h.levels[0].transfers.prolongation,
                             a = bsi_block_matrix_of(m.matrix);
      double *y = test_random_vector(cols_of(p), 8), *x = times(p, 1, y), *image = times(&a, 1, x);
      memcpy(m.b, image, (size_t)m.n * sizeof *m.b);
      double *got = cycle(&m);
      EXPECT_CLOSE(m.n, x, got, 1e-12); /* the condition number of the coarse matrix is below 10³ */
      free(y), free(x), free(image), free(got);
      free_problem(&m);
    }
}

static void *reserve(int64_t count, size_t size) {
  void *memory = context->backend->memory->allocate(context, (size_t)count, size);
  assert_non_null(memory);
  return memory;
}

static void release(void *memory) { context->backend->memory->release(context, memory); }

/* Identity blocks in all rows. */
static bsi_block_matrix identity(int32_t n, int bs) {
  int32_t *row_ptr = malloc(((size_t)n + 1) * sizeof *row_ptr);
  for (int32_t i = 0; i <= n; i++) row_ptr[i] = i;
  const bsi_block_matrix m = test_sparse_make(
      context, (bsi_block_matrix){n, n, bs, bs, n, row_ptr, row_ptr, NULL, {0}, false, NULL});
  free(row_ptr);
  return m;
}

/* Makes level 1 a copy of level 0, with P = R = I. */
static void take_the_full_space(problem *m, const test_bcsr *arrays) {
  bsi_level *level = &m->h.levels[0], *coarse = level + 1;
  const int64_t n = bsi_level_rows(level);
  double smallest, most;
  assert_int_equal(m->h.count, 2);
  bsi_block_matrix_destroy(context, &level->transfers.prolongation);
  bsi_block_matrix_destroy(context, &level->transfers.restriction);
  level->transfers.prolongation = identity(arrays->block_rows, arrays->block_size);
  level->transfers.restriction = identity(arrays->block_rows, arrays->block_size);
  bisai_bcsr_destroy(&coarse->own);
  coarse->matrix = coarse->own = test_bcsr_make(context, arrays);
  release(coarse->work.b), release(coarse->work.solution);
  coarse->work.b = reserve(n, sizeof *coarse->work.b);
  coarse->work.solution = reserve(n, sizeof *coarse->work.solution);
  release(m->h.coarse.work), release(m->h.coarse.inverse);
  m->h.coarse.work = reserve(n * n, sizeof(double));
  m->h.coarse.inverse = reserve(n * n, sizeof(double));
  EXPECT_OK(context,
            context->backend->multigrid->dense->invert(context, coarse->matrix, m->h.coarse.work,
                                                       m->h.coarse.inverse, &smallest, &most));
}

static void two_levels_with_the_full_space_are_exact(void **state) {
  (void)state;
  static const bisai_smoother smoothers[] = {BISAI_SMOOTHER_JACOBI, BISAI_SMOOTHER_L1,
                                             BISAI_SMOOTHER_CHEBYSHEV};
  enum { NX = 9, NY = 8, BS = 2, N = NX * NY * BS };
  test_bcsr arrays = test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.4);
  double *x = test_random_vector(N, 6), *dense = test_dense_from_arrays(&arrays),
         *image = test_dense_multiply(N, N, 1, dense, x);
  for (int s = 0; s < 3; s++)
    for (int pre = 0; pre < 3; pre++)
      for (int post = 0; post < 3; post++) {
        bsi_multigrid_setup setup = setup_for(false);
        setup.options.smoother = smoothers[s];
        setup.options.levels = 2;
        setup.options.coarsest = N - 1;
        setup.options.pre = pre;
        setup.options.post = post;
        problem m =
            make_problem(context, test_mesh_diffusion(NX, NY, BS, TEST_ZERO_OUTSIDE, 0.4), &setup);
        take_the_full_space(&m, &arrays);
        memcpy(m.b, image, N * sizeof *m.b);
        double *got = cycle(&m);
        EXPECT_CLOSE(N, x, got, 1e-12); /* the condition number is below 10³ */
        free(got);
        free_problem(&m);
      }
  free(x), free(dense), free(image);
  test_bcsr_free(&arrays);
}

/* --- accounts --- */

static void a_hierarchy_reports_the_memory_that_it_holds(void **state) {
  (void)state;
  static const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_K};
  static const bisai_smoother smoothers[] = {BISAI_SMOOTHER_JACOBI, BISAI_SMOOTHER_L1,
                                             BISAI_SMOOTHER_CHEBYSHEV};
  for (int k = 0; k < 18; k++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *a =
        test_bcsr_take(own, test_mesh_diffusion(20, 18, 2, TEST_ZERO_OUTSIDE, k < 9 ? 0.0 : 0.3));
    bsi_multigrid_setup setup = setup_for(k < 9);
    setup.options.cycle = cycles[k % 3];
    setup.options.smoother = smoothers[k / 3 % 3];
    double *vectors = test_random_vector(20 * 18 * 2 * 3, 3);
    if (k % 2) setup.options.null_vectors = vectors;
    if (k % 2) setup.options.null_count = 3;
    const long long before = atomic_load(&allocator.live_bytes);
    const long long blocks_before = atomic_load(&allocator.live_blocks);
    bsi_hierarchy h;
    EXPECT_OK(own, bsi_hierarchy_create(own, a, &setup, &h));
    const int64_t held = atomic_load(&allocator.live_bytes) - before,
                  peak = atomic_load(&allocator.peak_bytes) - before,
                  memory = bsi_hierarchy_memory(&h);
    const long long blocks = atomic_load(&allocator.live_blocks) - blocks_before;
    assert_true(h.count > 2);
    assert_true(memory <= held);
    /* the allocator rounds up to cache lines; a device has copies in host memory too */
    if (!test_on_device()) assert_true(held < memory + 64 * blocks);
    assert_true(memory <= h.peak_bytes && h.peak_bytes <= peak);
    bsi_hierarchy_destroy(own, &h);
    assert_int_equal(atomic_load(&allocator.live_bytes), before);
    bisai_bcsr_destroy(&a);
    bisai_context_destroy(&own);
    free(vectors);
  }
}

/* Counted by hand: a smoothing from zero begins without A, each visit has a residual, and a second
 * cycle on a level begins with A. */
static void an_account_tells_how_often_a_cycle_reads_an_array(void **state) {
  (void)state;
  static const struct {
    bisai_cycle cycle;
    int32_t pre, post;
    int64_t reads[2], visits[2];
  } cases[] = {{BISAI_CYCLE_V, 1, 1, {2, 2}, {1, 1}},
               {BISAI_CYCLE_V, 0, 2, {3, 3}, {1, 1}},
               {BISAI_CYCLE_W, 1, 1, {2, 5}, {1, 2}}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    bsi_multigrid_setup setup = setup_for(false);
    setup.options.cycle = cases[k].cycle;
    setup.options.smoother = BISAI_SMOOTHER_JACOBI;
    setup.options.pre = cases[k].pre, setup.options.post = cases[k].post;
    problem p =
        make_problem(context, test_mesh_diffusion(24, 24, 2, TEST_ZERO_OUTSIDE, 0.3), &setup);
    assert_true(p.h.count > 2);
    for (int l = 0; l < 2; l++) {
      bisai_multigrid_memory m;
      bsi_level_account(&p.h, l, &m);
      assert_int_equal(m.reads[BISAI_MULTIGRID_PART_DIAGONAL], cases[k].reads[l]);
      assert_int_equal(m.reads[BISAI_MULTIGRID_PART_MATRIX], l == 0 ? 0 : cases[k].reads[l]);
      assert_int_equal(m.reads[BISAI_MULTIGRID_PART_TRANSFERS], cases[k].visits[l]);
      assert_int_equal(m.reads[BISAI_MULTIGRID_PART_PRODUCT], 0);
    }
    free_problem(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coarse_matrices_are_plain_triple_products),
      cmocka_unit_test(coarse_matrices_of_null_vectors_are_plain_triple_products),
      cmocka_unit_test(coarse_matrices_of_rigid_bodies_are_plain_triple_products),
      cmocka_unit_test(transfers_that_exceed_the_complexity_are_not_smoothed),
      cmocka_unit_test(constants_are_reproduced_where_A_maps_them_to_zero),
      cmocka_unit_test(rigid_bodies_are_reproduced_on_all_levels),
      cmocka_unit_test(rigid_bodies_are_reproduced_away_from_fixed_nodes),
      cmocka_unit_test(two_levels_are_exact_on_the_range_of_prolongation),
      cmocka_unit_test(two_levels_with_the_full_space_are_exact),
      cmocka_unit_test(an_account_tells_how_often_a_cycle_reads_an_array),
      cmocka_unit_test(a_hierarchy_reports_the_memory_that_it_holds),
  };
  return cmocka_run_group_tests_name("hierarchy", tests, setup, teardown);
}
