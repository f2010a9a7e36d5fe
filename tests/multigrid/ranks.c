/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid over ranks, which are threads here: the same levels and counts for any number of them,
 * the products of dense matrices, bits, updates, and empty ranks. */
#include "ranks.h"

#include <math.h>

#include "mesh.h"
#include "multigrid/ranks/rank_levels.h"

enum { MODES = 6, REPEATS = 3, GATHERED = 20 };

/* What the ranks of a solve have together. */
typedef struct solve {
  const test_bcsr *matrix;
  bisai_ranks_options options;
  /* near-null-space vectors of all rows; NULL: none */
  const double *modes;
  /* values of an update before the solve; NULL: none */
  const test_bcsr *update;
  bool enqueues, overlaps;
  const double *b;
  double *x;
  /* exchanges of rank 1 that products overlapped */
  long long overlapped;
  int iterations[TEST_MOST_RANKS];
  bisai_reason reason[TEST_MOST_RANKS];
  bisai_ranks_report report;
} solve;

static bisai_status multiply(void *user, int64_t n, const double *x, double *y) {
  (void)n;
  return bisai_ranks_multiply(user, x, y);
}

static bisai_status precondition(void *user, int64_t n, const double *v, double *z) {
  (void)n;
  return bisai_ranks_apply(user, v, z);
}

static bisai_status add(void *user, double *values, int count) {
  return bisai_ranks_sum(user, values, count);
}

/* FGMRES with the hierarchy, to 1e-8. */
static bisai_status iterate(test_rank *rank, solve *s, bisai_ranks *ranks) {
  const int64_t first = (int64_t)test_rank_begin(rank) * s->matrix->block_size,
                n = (int64_t)bisai_bcsr_block_rows(rank->matrix) * s->matrix->block_size;
  bisai_precond_options own = bisai_precond_options_default();
  bisai_solver_options o = bisai_solver_options_default();
  bisai_solver_report report = {.struct_size = sizeof report};
  bisai_precond *precond = NULL;
  bisai_solver *solver = NULL;
  own.kind = BISAI_PRECOND_CALLBACK;
  own.callback.apply = precondition;
  own.callback.user = ranks;
  o.gmres.flexible = true;
  o.tolerance = 1e-8;
  o.max_iterations = 200;
  o.reduce = add;
  o.reduce_user = ranks;
  bisai_status status = bisai_precond_create(rank->context, rank->matrix, &own, &precond);
  if (!status) status = bisai_solver_create(rank->context, n, &o, &solver);
  if (!status)
    status = bisai_solver_solve_operator(solver, multiply, ranks, precond, s->b + first,
                                         s->x + first, &report);
  s->iterations[rank->number] = report.iterations;
  s->reason[rank->number] = report.reason;
  bisai_solver_destroy(&solver);
  bisai_precond_destroy(&precond);
  return status;
}

static bisai_status update(test_rank *rank, const solve *s, bisai_ranks *ranks,
                           bisai_bcsr **matrix) {
  bisai_status status = test_rank_rows(rank, s->update, matrix);
  return status ? status : bisai_ranks_update(ranks, *matrix);
}

static bisai_status run_solve(test_rank *rank) {
  solve *s = rank->user;
  bisai_ranks_options o = s->options;
  bisai_bcsr *other = NULL;
  bisai_ranks *ranks = NULL;
  if (s->modes)
    o.multigrid.null_vectors =
        s->modes + (size_t)test_rank_begin(rank) * (size_t)s->matrix->block_size * MODES;
  bisai_status status =
      bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &o, &ranks);
  if (!status && s->update) status = update(rank, s, ranks, &other);
  if (!status) status = iterate(rank, s, ranks);
  bisai_ranks_report report = {.struct_size = sizeof report};
  if (!status) status = bisai_ranks_get_report(ranks, &report);
  if (rank->number == 0) s->report = report;
  bisai_ranks_destroy(&ranks);
  bisai_bcsr_destroy(&other);
  return status;
}

static solve solve_of(const test_bcsr *a) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  solve s = {.matrix = a, .options = bisai_ranks_options_default()};
  s.options.gather = 60;
  s.options.multigrid.coarsest = 20;
  s.b = test_random_vector(n, 7);
  s.x = calloc((size_t)n + 1, sizeof *s.x);
  return s;
}

static void free_solve(solve *s) {
  free((double *)(uintptr_t)s->b);
  free(s->x);
}

/* Fails unless all ranks converged in the same iterations and x solves the system. */
static int run_and_check(solve *s, const test_sharing *sharing) {
  test_rank ranks[TEST_MOST_RANKS];
  const test_bcsr *of = s->update ? s->update : s->matrix;
  bisai_context *c = test_host_context(1);
  test_run_ranks(
      s->matrix, sharing,
      &(test_job){.run = run_solve, .user = s, .enqueues = s->enqueues, .overlaps = s->overlaps},
      ranks);
  s->overlapped = ranks[1 % sharing->ranks].overlapped;
  for (int k = 0; k < sharing->ranks; k++) {
    if (ranks[k].status) print_error("rank %d: %s\n", k, ranks[k].message);
    assert_int_equal(ranks[k].status, BISAI_OK);
    assert_false(ranks[k].leaks);
    assert_int_equal(s->reason[k], BISAI_REASON_CONVERGED);
    assert_int_equal(s->iterations[k], s->iterations[0]);
  }
  bisai_bcsr *a = test_bcsr_make(c, of);
  assert_true(test_relative_residual(a, s->x, s->b) <= 1.1e-8);
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&c);
  return s->iterations[0];
}

/* Fails unless x has the bits of the first solve, of which *first becomes a copy. The caller frees
 * it. */
static void expect_same_bits(double **first, const double *x, size_t bytes) {
  if (*first)
    assert_memory_equal(*first, x, bytes);
  else
    *first = memcpy(malloc(bytes), x, bytes);
}

/* --- counts --- */

static void expect_counts(test_bcsr a, const double *modes, bool symmetric, int more) {
  int first = 0;
  for (int ranks = 1; ranks <= 5; ranks++) {
    const test_sharing sharing = test_share(ranks, a.block_rows, symmetric);
    solve s = solve_of(&a);
    s.modes = modes;
    if (modes) s.options.multigrid.null_count = MODES;
    const int iterations = run_and_check(&s, &sharing);
    if (ranks == 1) first = iterations;
    if (iterations > first + more) print_error("%d ranks: %d, 1: %d\n", ranks, iterations, first);
    assert_true(iterations <= first + more);
    assert_true(s.report.levels >= 1 && s.report.gathered >= 1);
    free_solve(&s);
  }
  test_bcsr_free(&a);
}

static void ranks_take_as_many_iterations_as_one(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs++) {
    expect_counts(test_mesh_diffusion(24, 21, bs, TEST_ZERO_OUTSIDE, 0.0), NULL, true, 2);
    expect_counts(test_mesh_diffusion(24, 21, bs, TEST_ZERO_OUTSIDE, 0.4), NULL, false, 2);
  }
  expect_counts(test_mesh_elements(24, 21, 1, 1.0, true), NULL, true, 3);
}

static void near_null_vectors_go_to_all_levels(void **state) {
  (void)state;
  double *modes = test_mesh_modes(7, 6, 5);
  expect_counts(test_mesh_springs(7, 6, 5, TEST_FIXED_FACE), modes, true, 2);
  free(modes);
}

static void cycles_and_smoothings_work_on_ranks(void **state) {
  (void)state;
  const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_VW, BISAI_CYCLE_K};
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.0);
  for (int variant = 0; variant < 16; variant++) {
    const test_sharing sharing = test_share(3, a.block_rows, true);
    solve s = solve_of(&a);
    s.options.multigrid.cycle = cycles[variant / 4];
    s.options.multigrid.smoother =
        variant % 3 == 0 ? BISAI_SMOOTHER_JACOBI : BISAI_SMOOTHER_CHEBYSHEV;
    if (s.options.multigrid.smoother == BISAI_SMOOTHER_CHEBYSHEV) s.options.multigrid.degree = 3;
    s.options.multigrid.pre = variant % 4;
    s.options.multigrid.post = (variant + 1) % 3 + (variant % 4 == 0);
    s.options.multigrid.unweighted = variant % 2 == 1;
    run_and_check(&s, &sharing);
    free_solve(&s);
  }
  test_bcsr_free(&a);
}

/* A cycle K takes as many iterations on any number of ranks, gathers a matrix that is corrected
 * twice, repeats its bits, and works on ranks without rows. */
static void cycles_of_the_kind_k_work_on_ranks(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(48, 41, 2, TEST_ZERO_OUTSIDE, 0.4);
  const size_t bytes = (size_t)a.block_rows * 2 * sizeof(double);
  int first = 0;
  for (int ranks = 1; ranks <= 5; ranks++) {
    test_sharing sharing = test_share(ranks, a.block_rows, false);
    if (ranks == 5) sharing.begins[1] = 0;
    double *before = NULL;
    for (int turn = 0; turn < 3; turn++) {
      solve s = solve_of(&a);
      s.options.multigrid.cycle = BISAI_CYCLE_K;
      s.options.gather = 400;
      s.enqueues = turn == 1;
      s.overlaps = turn == 2;
      const int iterations = run_and_check(&s, &sharing);
      if (ranks == 1) first = iterations;
      assert_true(iterations <= first + 1);
      assert_true(s.report.levels >= 1 && s.report.gathered >= 2);
      assert_int_equal(s.report.cycle, BISAI_CYCLE_K);
      expect_same_bits(&before, s.x, bytes);
      free_solve(&s);
    }
    free(before);
  }
  test_bcsr_free(&a);
}

/* Without a gathered matrix the last level is smoothed, and with a large limit level 0 is
 * gathered. */
static void the_last_level_is_gathered_or_smoothed(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(90, 90, 2, TEST_ZERO_OUTSIDE, 0.2);
  const test_sharing sharing = test_share(3, a.block_rows, false);
  solve s = solve_of(&a), all = solve_of(&a);
  s.options.gather = 0;
  s.options.multigrid.levels = 2;
  s.options.multigrid.pre = s.options.multigrid.post = 3;
  run_and_check(&s, &sharing);
  assert_int_equal(s.report.levels, 2);
  assert_int_equal(s.report.gathered, 0);
  all.options.gather = 1 << 20;
  run_and_check(&all, &sharing);
  assert_int_equal(all.report.levels, 0);
  assert_true(all.report.gathered >= 2);
  free_solve(&s);
  free_solve(&all);
  test_bcsr_free(&a);
}

/* What was made of a next level is released if this would be too large, also by updates. */
static void levels_end_where_the_complexity_does(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 1, TEST_ZERO_OUTSIDE, 0.4);
  for (int variant = 0; variant < 6; variant++) {
    const test_sharing sharing = test_share(2 + variant % 2, a.block_rows, false);
    solve s = solve_of(&a);
    s.options.multigrid.complexity = 1.0;
    s.options.multigrid.update = (bisai_multigrid_update)(variant / 2);
    s.update = &a;
    run_and_check(&s, &sharing);
    assert_int_equal(s.report.levels + s.report.gathered, 1);
    free_solve(&s);
  }
  test_bcsr_free(&a);
}

/* The library's choice of the largest inverse is for the part of the rest that each rank does. */
static void more_ranks_invert_a_smaller_matrix(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(130, 130, 1, TEST_ZERO_OUTSIDE, 0.0);
  const double work = 150.0 * 9.0 * a.row_ptr[a.block_rows];
  double last[2], ranks[] = {1, TEST_MOST_RANKS};
  for (int k = 0; k < 2; k++) {
    const test_sharing sharing = test_share((int)ranks[k], a.block_rows, true);
    solve s = solve_of(&a);
    s.options.gather = 3000;
    s.options.multigrid.coarsest = BISAI_MULTIGRID_COARSEST_AUTO;
    run_and_check(&s, &sharing);
    assert_int_equal(s.report.levels, 1);
    last[k] = (double)s.report.rows[s.report.levels + s.report.gathered - 1];
    assert_true(pow(last[k], 3) <= work / ranks[k]);
    free_solve(&s);
  }
  assert_true(pow(last[0], 3) > work / ranks[1]);
  test_bcsr_free(&a);
}

static void ranks_may_have_no_rows(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(20, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  for (int k = 0; k < TEST_UNEVEN_SHARES; k++) {
    const test_sharing uneven = test_share_unevenly(k, a.block_rows);
    solve s = solve_of(&a);
    const int iterations = run_and_check(&s, &uneven);
    assert_true(iterations < 40);
    free_solve(&s);
  }
  test_bcsr_free(&a);
}

static void the_same_ranks_give_the_same_bits(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 3, TEST_ZERO_OUTSIDE, 0.4);
  const size_t bytes = (size_t)a.block_rows * (size_t)a.block_size * sizeof(double);
  const test_sharing sharing = test_share(4, a.block_rows, false);
  double *before = NULL;
  for (int turn = 0; turn < REPEATS; turn++) {
    solve s = solve_of(&a);
    s.enqueues = turn == REPEATS - 1; /* which changes no bit */
    run_and_check(&s, &sharing);
    expect_same_bits(&before, s.x, bytes);
    free_solve(&s);
  }
  free(before);
  test_bcsr_free(&a);
}

/* Products give the same bits if they overlap the exchanges, with square and with other
 * transfers. */
static void overlapped_exchanges_change_no_bit(void **state) {
  (void)state;
  double *modes = test_mesh_modes(9, 6, 5);
  for (int variant = 0; variant < 4; variant++) {
    test_bcsr a = variant == 3 ? test_mesh_springs(9, 6, 5, TEST_FIXED_FACE)
                               : test_mesh_diffusion(24, 21, variant + 1, TEST_ZERO_OUTSIDE,
                                                     variant == 1 ? 0.4 : 0.0);
    const size_t bytes = (size_t)a.block_rows * (size_t)a.block_size * sizeof(double);
    const test_sharing sharing = test_share(3, a.block_rows, variant != 1);
    double *before = NULL;
    for (int turn = 0; turn < 4; turn++) {
      solve s = solve_of(&a);
      s.options.multigrid.smoother =
          variant == 2 ? BISAI_SMOOTHER_CHEBYSHEV : BISAI_SMOOTHER_JACOBI;
      s.modes = variant == 3 ? modes : NULL;
      s.options.multigrid.null_count = s.modes ? MODES : 0;
      s.overlaps = turn > 0;
      s.enqueues = turn == 2;
      s.options.overlap = turn == 3 ? INT64_MAX : 0;
      run_and_check(&s, &sharing);
      assert_int_equal(s.overlapped > 0, turn == 1 || turn == 2);
      expect_same_bits(&before, s.x, bytes);
      free_solve(&s);
    }
    free(before);
    test_bcsr_free(&a);
  }
  free(modes);
}

static void an_update_gives_what_creation_gives(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4),
              other = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4);
    const size_t bytes = (size_t)a.block_rows * 2 * sizeof(double);
    const test_sharing sharing = test_share(3, a.block_rows, symmetric != 0);
    for (int32_t q = 0; q < test_bcsr_blocks(&other) * 4; q++) other.values[q] *= 0.5;
    solve updated = solve_of(&a), created = solve_of(&other);
    updated.update = &other;
    assert_int_equal(run_and_check(&updated, &sharing), run_and_check(&created, &sharing));
    assert_memory_equal(updated.x, created.x, bytes);
    free_solve(&updated);
    free_solve(&created);
    test_bcsr_free(&a);
    test_bcsr_free(&other);
  }
}

/* Returns the bytes of rank 0 after the creation for `update`, or after an update with `other`. x ←
 * the solution. */
static int64_t bytes_of(const test_bcsr *a, const test_bcsr *other, const test_sharing *sharing,
                        bisai_multigrid_update update, bool keeps, double **x) {
  solve s = solve_of(a);
  s.update = other;
  s.options.multigrid.update = update;
  s.options.multigrid.keep_transfers = keeps;
  run_and_check(&s, sharing);
  *x = s.x;
  s.x = NULL;
  free_solve(&s);
  return s.report.memory_bytes;
}

/* The finest level is large enough for copies in fp32. */
static void memory_for_updates_comes_with_them(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    const double skew = variant % 2 ? 0.4 : 0.0;
    const bool keeps = variant >= 2;
    test_bcsr a = test_mesh_diffusion(140, 110, 2, TEST_ZERO_OUTSIDE, skew),
              other = test_mesh_diffusion(140, 110, 2, TEST_ZERO_OUTSIDE, skew);
    const size_t bytes = (size_t)a.block_rows * 2 * sizeof(double);
    const test_sharing sharing = test_share(2, a.block_rows, variant % 2 == 0);
    double *created = NULL, *updated = NULL;
    int64_t first[3], then[3];
    for (int32_t q = 0; q < test_bcsr_blocks(&other) * 4; q++) other.values[q] *= 0.5;
    for (int update = 0; update < 3; update++) {
      double *x;
      first[update] = bytes_of(&a, NULL, &sharing, (bisai_multigrid_update)update, keeps, &x);
      expect_same_bits(&created, x, bytes);
      free(x);
      then[update] = bytes_of(&a, &other, &sharing, (bisai_multigrid_update)update, keeps, &x);
      expect_same_bits(&updated, x, bytes);
      free(x);
    }
    /* the values of A P on rank 0 alone are more than a megabyte */
    assert_true(first[BISAI_MULTIGRID_UPDATE_AUTO] + 1000000 < first[BISAI_MULTIGRID_UPDATE_FAST]);
    /* the levels of all rows alone differ a little */
    assert_true(100 * then[BISAI_MULTIGRID_UPDATE_AUTO] > 99 * then[BISAI_MULTIGRID_UPDATE_FAST]);
    assert_true(99 * then[BISAI_MULTIGRID_UPDATE_AUTO] < 100 * then[BISAI_MULTIGRID_UPDATE_FAST]);
    assert_int_equal(then[BISAI_MULTIGRID_UPDATE_FAST], first[BISAI_MULTIGRID_UPDATE_FAST]);
    assert_int_equal(first[BISAI_MULTIGRID_UPDATE_LEAN], first[BISAI_MULTIGRID_UPDATE_AUTO]);
    assert_int_equal(then[BISAI_MULTIGRID_UPDATE_LEAN], first[BISAI_MULTIGRID_UPDATE_LEAN]);
    free(created);
    free(updated);
    test_bcsr_free(&a);
    test_bcsr_free(&other);
  }
}

/* --- products --- */

/* The dense matrices of one level, over all ranks, column by column. */
typedef struct dense_level {
  int64_t fine, coarse;
  double *a, *p, *r, *next;
} dense_level;

typedef struct products {
  bsi_multigrid_setup setup;
  int level;
  dense_level *dense;
  int levels;
} products;

/* Adds the own rows of a matrix, whose columns are numbered in `columns`. */
static void add_rows(const bsi_block_matrix *m, int32_t rows, int64_t first,
                     const bsi_numbering *columns, int64_t height, double *dense) {
  for (int32_t i = 0; i < rows; i++)
    for (int32_t q = m->row_ptr[i]; q < m->row_ptr[i + 1]; q++)
      for (int c = 0; c < m->width; c++)
        for (int r = 0; r < m->height; r++) {
          const int64_t row = (first + i) * m->height + r,
                        column = bsi_numbering_global(columns, m->col_idx[q]) * m->width + c;
          const double value =
              m->values ? m->values[bsi_block_matrix_offset(m, q) + (size_t)(c * m->height + r)]
                        : (double)(r == c);
          dense[column * height + row] += value;
        }
}

/* Collects level `level` of each rank, one rank after the other. */
static bisai_status run_products(test_rank *rank) {
  products *p = rank->user;
  bsi_rank_hierarchy *r = malloc(sizeof *r);
  double turn = 0.0;
  bisai_status status =
      bsi_rank_levels_create(rank->context, &rank->rows, &rank->transport, &p->setup, GATHERED, r);
  const int l = p->level;
  for (int k = 0; k < rank->transport.ranks; k++) {
    if (!status && k == rank->number && l < r->h.count - 1) {
      const bsi_level *level = &r->h.levels[l];
      const bsi_rank_level *here = &r->levels[l], *there = here + 1;
      dense_level *d = p->dense;
      const int64_t fine = (int64_t)bsi_all_rows(r, l), coarse = (int64_t)bsi_all_rows(r, l + 1);
      const int64_t row = here->begins[k], aggregate = there->begins[k];
      const bsi_block_matrix a = bsi_block_matrix_of(level->matrix),
                             next = bsi_block_matrix_of(level[1].matrix);
      if (!d->a) {
        *d = (dense_level){fine,
                           coarse,
                           calloc((size_t)(fine * fine), sizeof(double)),
                           calloc((size_t)(fine * coarse), sizeof(double)),
                           calloc((size_t)(coarse * fine), sizeof(double)),
                           calloc((size_t)(coarse * coarse), sizeof(double))};
      }
      add_rows(&a, a.rows, row, &here->columns, fine, d->a);
      add_rows(bsi_prolongation_of(level), a.rows, row, &there->columns, fine, d->p);
      add_rows(bsi_restriction_of(level), next.rows, aggregate, &here->columns, coarse, d->r);
      add_rows(&next, next.rows, aggregate, &there->columns, coarse, d->next);
    }
    if (!status) status = rank->transport.reduce(rank->transport.user, BISAI_REDUCE_SUM, 1, &turn);
  }
  if (rank->number == 0) p->levels = r->h.count;
  bsi_rank_levels_destroy(r);
  free(r);
  return status;
}

/* Fails unless the next matrix is R A P, and R is Pᵀ for a symmetric A, or without weights. */
static void expect_products(test_bcsr a, bool symmetric, bool unweighted, int ranks, int level) {
  test_rank all[TEST_MOST_RANKS];
  dense_level d = {.a = NULL};
  products p = {
      .setup = {.options = bisai_precond_options_default().multigrid, .symmetric = symmetric},
      .level = level,
      .dense = &d};
  p.setup.options.cycle = BISAI_CYCLE_V;
  p.setup.options.smoother = BISAI_SMOOTHER_JACOBI;
  p.setup.options.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  p.setup.options.precision = BISAI_FP64;
  p.setup.options.coarsest = 20;
  p.setup.options.complexity = 10.0;
  p.setup.options.unweighted = unweighted;
  const test_sharing sharing = test_share(ranks, a.block_rows, symmetric);
  test_run_ranks(&a, &sharing, &(test_job){.run = run_products, .user = &p}, all);
  for (int k = 0; k < ranks; k++) assert_int_equal(all[k].status, BISAI_OK);
  assert_true(p.levels > level + 1);
  double *ap = test_dense_multiply(d.fine, d.fine, d.coarse, d.a, d.p),
         *rap = test_dense_multiply(d.coarse, d.fine, d.coarse, d.r, ap);
  EXPECT_CLOSE(d.coarse * d.coarse, rap, d.next, 1e-13 * test_largest(d.coarse * d.coarse, rap));
  if (symmetric || unweighted) {
    double *transposed = test_dense_transpose(d.fine, d.coarse, d.p);
    EXPECT_CLOSE(d.fine * d.coarse, transposed, d.r, 0.0);
    free(transposed);
  }
  free(ap), free(rap), free(d.a), free(d.p), free(d.r), free(d.next);
  test_bcsr_free(&a);
}

static void coarse_matrices_are_the_products_of_all_rows(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++)
    for (int32_t bs = 1; bs <= 3; bs += 2)
      for (int level = 0; level < 2; level++)
        for (int ranks = 1; ranks <= 4; ranks++)
          expect_products(test_mesh_diffusion(17, 14, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4),
                          symmetric != 0, false, ranks, level);
  for (int ranks = 1; ranks <= 4; ranks++)
    expect_products(
        test_mesh_without_mirrors(test_mesh_diffusion(17, 14, 2, TEST_ZERO_OUTSIDE, 0.4)), false,
        true, ranks, 0);
}

/* One rank has the levels and the result of one process. */
static bisai_status run_one(test_rank *rank) {
  solve *s = rank->user;
  const int64_t n = (int64_t)s->matrix->block_rows * s->matrix->block_size;
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *alone = NULL;
  bisai_ranks *ranks = NULL;
  double *z = malloc((size_t)n * sizeof *z);
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid = s->options.multigrid;
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  bisai_status status = bisai_precond_create(rank->context, rank->matrix, &o, &alone);
  if (!status)
    status = bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &s->options, &ranks);
  if (!status) status = bisai_precond_apply(alone, s->b, s->x);
  if (!status) status = bisai_ranks_apply(ranks, s->b, z);
  if (!status && test_max_difference(n, s->x, z) > 1e-11 * test_largest(n, s->x))
    status = BISAI_EXTERNAL_ERROR;
  bisai_precond_destroy(&alone);
  bisai_ranks_destroy(&ranks);
  free(z);
  return status;
}

static void one_rank_does_what_one_process_does(void **state) {
  (void)state;
  for (int symmetric = 0; symmetric < 2; symmetric++) {
    test_rank ranks[TEST_MOST_RANKS];
    test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4);
    const test_sharing sharing = test_share(1, a.block_rows, symmetric != 0);
    solve s = solve_of(&a);
    s.options.multigrid.cycle = symmetric ? BISAI_CYCLE_V : BISAI_CYCLE_K;
    test_run_ranks(&a, &sharing, &(test_job){.run = run_one, .user = &s}, ranks);
    if (ranks[0].status) print_error("%s\n", ranks[0].message);
    assert_int_equal(ranks[0].status, BISAI_OK);
    free_solve(&s);
    test_bcsr_free(&a);
  }
}

/* Returns A x by plain loops. */
static double *product_of(const test_bcsr *a, const double *x) {
  const int bs = a->block_size;
  double *y = calloc((size_t)a->block_rows * (size_t)bs, sizeof *y);
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
      for (int c = 0; c < bs; c++)
        for (int r = 0; r < bs; r++)
          y[i * bs + r] += a->values[(q * bs + c) * bs + r] * x[a->col_idx[q] * bs + c];
  return y;
}

/* Products without levels are those of a hierarchy, also after an update and with overlap. */
static bisai_status run_products_only(test_rank *rank) {
  const solve *s = rank->user;
  const int64_t first = (int64_t)test_rank_begin(rank) * s->matrix->block_size;
  bisai_ranks_options o = s->options;
  bisai_ranks_report report = {.struct_size = sizeof report};
  bisai_bcsr *other = NULL;
  bisai_ranks *ranks = NULL;
  o.products_only = true;
  bisai_status status =
      bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &o, &ranks);
  if (!status && s->update) status = update(rank, s, ranks, &other);
  if (!status) status = bisai_ranks_multiply(ranks, s->b + first, s->x + first);
  if (!status && bisai_ranks_apply(ranks, s->b + first, s->x + first) != BISAI_UNSUPPORTED)
    status = BISAI_EXTERNAL_ERROR;
  if (!status) status = bisai_ranks_get_report(ranks, &report);
  if (!status && (report.levels != 1 || report.gathered != 0)) status = BISAI_EXTERNAL_ERROR;
  bisai_ranks_destroy(&ranks);
  bisai_bcsr_destroy(&other);
  return status;
}

static void products_need_no_levels(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    test_rank ranks[TEST_MOST_RANKS];
    test_bcsr a = test_mesh_diffusion(24, 21, 3, TEST_ZERO_OUTSIDE, 0.4),
              other = test_mesh_diffusion(24, 21, 3, TEST_ZERO_OUTSIDE, 0.7);
    const test_sharing sharing = test_share(3, a.block_rows, false);
    const int64_t n = (int64_t)a.block_rows * 3;
    solve s = solve_of(&a);
    s.update = variant % 2 ? &other : NULL;
    s.options.overlap = 0;
    test_run_ranks(&a, &sharing,
                   &(test_job){.run = run_products_only, .user = &s, .overlaps = variant > 1},
                   ranks);
    for (int k = 0; k < 3; k++) {
      if (ranks[k].status) print_error("%s\n", ranks[k].message);
      assert_int_equal(ranks[k].status, BISAI_OK);
      assert_false(ranks[k].leaks);
      assert_int_equal(ranks[k].overlapped, variant > 1);
    }
    double *expected = product_of(s.update ? &other : &a, s.b);
    EXPECT_CLOSE(n, expected, s.x, 1e-14 * test_largest(n, expected));
    free(expected);
    free_solve(&s);
    test_bcsr_free(&a);
    test_bcsr_free(&other);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_rank_does_what_one_process_does),
                                     cmocka_unit_test(coarse_matrices_are_the_products_of_all_rows),
                                     cmocka_unit_test(ranks_take_as_many_iterations_as_one),
                                     cmocka_unit_test(near_null_vectors_go_to_all_levels),
                                     cmocka_unit_test(cycles_and_smoothings_work_on_ranks),
                                     cmocka_unit_test(cycles_of_the_kind_k_work_on_ranks),
                                     cmocka_unit_test(the_last_level_is_gathered_or_smoothed),
                                     cmocka_unit_test(levels_end_where_the_complexity_does),
                                     cmocka_unit_test(more_ranks_invert_a_smaller_matrix),
                                     cmocka_unit_test(ranks_may_have_no_rows),
                                     cmocka_unit_test(the_same_ranks_give_the_same_bits),
                                     cmocka_unit_test(overlapped_exchanges_change_no_bit),
                                     cmocka_unit_test(an_update_gives_what_creation_gives),
                                     cmocka_unit_test(memory_for_updates_comes_with_them),
                                     cmocka_unit_test(products_need_no_levels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
