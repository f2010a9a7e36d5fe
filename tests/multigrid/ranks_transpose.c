/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposed applications of multigrid over ranks, which are threads here: u·M⁻¹v = v·M⁻ᵀu to
 * rounding, on any number of ranks. */
#include <bisai/ranks.h>
#include <math.h>

#include "mesh.h"
#include "ranks.h"

enum { MODES = 6, PAIRS = 3 };

typedef struct work {
  const test_bcsr *matrix;
  bisai_ranks_options options;
  /* near-null-space vectors of all rows, and values of an update; NULL: none */
  const double *modes;
  const test_bcsr *update;
  bool enqueues, overlaps, symmetric;
  /* of the last pair, for all rows: M⁻ᵀu. NULL: not wanted */
  double *z;
  /* of rank 0: the bytes before and after the first transposed application, and after an update */
  int64_t bytes[3];
  /* exchanges of rank 1 that products overlapped */
  long long overlapped;
} work;

static work work_of(const test_bcsr *a) {
  work w = {.matrix = a, .options = bisai_ranks_options_default()};
  w.options.gather = 60;
  w.options.multigrid.coarsest = 20;
  return w;
}

static int64_t bytes_of(const bisai_ranks *ranks) {
  bisai_ranks_report report = {.struct_size = sizeof report};
  return bisai_ranks_get_report(ranks, &report) ? -1 : report.memory_bytes;
}

/* Compares both products of random vectors. */
static bisai_status compare(test_rank *rank, const work *w, bisai_ranks *ranks) {
  const int bs = w->matrix->block_size;
  const int64_t all = (int64_t)w->matrix->block_rows * bs,
                first = (int64_t)test_rank_begin(rank) * bs,
                n = (int64_t)bisai_bcsr_block_rows(rank->matrix) * bs;
  double *z = calloc((size_t)(2 * n) + 1, sizeof *z);
  bisai_status status = BISAI_OK;
  for (uint64_t pair = 0; pair < PAIRS && !status; pair++) {
    double *u = test_random_vector(all, 3 + pair), *v = test_random_vector(all, 40 + pair),
           sums[3] = {0.0, 0.0, 0.0};
    status = bisai_ranks_apply(ranks, v + first, z);
    if (!status) status = bisai_ranks_apply_transpose(ranks, u + first, z + n);
    for (int64_t i = 0; i < n; i++) {
      sums[0] += u[first + i] * z[i];
      sums[1] += v[first + i] * z[n + i];
      sums[2] += fabs(u[first + i] * z[i]);
    }
    if (!status) status = rank->transport.reduce(rank->transport.user, BISAI_REDUCE_SUM, 3, sums);
    /* sums of rounding errors; without a transpose the difference is some per cent */
    if (!status && !(fabs(sums[0] - sums[1]) <= (w->symmetric ? 1e-5 : 1e-12) * sums[2])) {
      if (rank->number == 0)
        print_error("u·z is %.16g and %.16g of %.3g\n", sums[0], sums[1], sums[2]);
      status = BISAI_EXTERNAL_ERROR;
    }
    free(u), free(v);
  }
  if (w->z && n > 0) memcpy(w->z + first, z + n, (size_t)n * sizeof *z);
  free(z);
  return status;
}

static bisai_status update(test_rank *rank, work *w, bisai_ranks *ranks, bisai_bcsr **other) {
  bisai_ranks_report before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
  bisai_status status = test_rank_rows(rank, w->update, other);
  if (!status) status = bisai_ranks_get_report(ranks, &before);
  if (!status) status = bisai_ranks_update(ranks, *other);
  if (!status) status = bisai_ranks_get_report(ranks, &after);
  if (!status && after.exchanges < before.exchanges) status = BISAI_EXTERNAL_ERROR;
  if (rank->number == 0) w->bytes[2] = after.memory_bytes;
  return status ? status : compare(rank, w, ranks);
}

static bisai_status run_transpose(test_rank *rank) {
  work *w = rank->user;
  bisai_ranks_options o = w->options;
  bisai_ranks *ranks = NULL;
  bisai_bcsr *other = NULL;
  if (w->modes)
    o.multigrid.null_vectors =
        w->modes + (size_t)test_rank_begin(rank) * (size_t)w->matrix->block_size * MODES;
  bisai_status status =
      bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &o, &ranks);
  if (!status && rank->number == 0) w->bytes[0] = bytes_of(ranks);
  if (!status) status = compare(rank, w, ranks);
  if (!status && rank->number == 0) w->bytes[1] = bytes_of(ranks);
  if (!status && w->update) status = update(rank, w, ranks, &other);
  bisai_ranks_destroy(&ranks);
  bisai_bcsr_destroy(&other);
  return status;
}

static void expect_transposes(work *w, test_sharing sharing) {
  test_rank ranks[TEST_MOST_RANKS];
  sharing.symmetric = w->symmetric;
  test_run_ranks(
      w->matrix, &sharing,
      &(test_job){
          .run = run_transpose, .user = w, .enqueues = w->enqueues, .overlaps = w->overlaps},
      ranks);
  w->overlapped = ranks[1 % sharing.ranks].overlapped;
  for (int k = 0; k < sharing.ranks; k++) {
    if (ranks[k].status) print_error("rank %d of %d: %s\n", k, sharing.ranks, ranks[k].message);
    assert_int_equal(ranks[k].status, BISAI_OK);
    assert_false(ranks[k].leaks);
  }
}

/* --- kinds of hierarchies --- */

static void nonsymmetric_hierarchies_have_transposes(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs++) {
    test_bcsr a = test_mesh_diffusion(24, 21, bs, TEST_ZERO_OUTSIDE, 0.4);
    for (int ranks = 1; ranks <= 5; ranks++) {
      work w = work_of(&a);
      expect_transposes(&w, test_share(ranks, a.block_rows, false));
    }
    test_bcsr_free(&a);
  }
}

static void cycles_smoothers_and_restrictions_have_transposes(void **state) {
  (void)state;
  const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_VW};
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4);
  for (int variant = 0; variant < 24; variant++) {
    work w = work_of(&a);
    w.options.multigrid.cycle = cycles[variant % 3];
    w.options.multigrid.smoother =
        variant % 2 == 0 ? BISAI_SMOOTHER_JACOBI : BISAI_SMOOTHER_CHEBYSHEV;
    w.options.multigrid.pre = variant % 4;
    w.options.multigrid.post = (variant + 1) % 3 + (variant % 4 == 0);
    w.options.multigrid.unweighted = variant >= 12;
    expect_transposes(&w, test_share(2 + 2 * (variant % 2), a.block_rows, false));
  }
  test_bcsr_free(&a);
}

/* A row may have a block in a column whose row has none in return: other ghosts. */
static void patterns_need_not_be_symmetric(void **state) {
  (void)state;
  test_bcsr a = test_mesh_without_mirrors(test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4)),
            other =
                test_mesh_without_mirrors(test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.6));
  for (int variant = 0; variant < 10; variant++) {
    work w = work_of(&a);
    w.update = &other;
    w.options.multigrid.unweighted = variant % 2 == 1;
    expect_transposes(&w, test_share(1 + variant / 2, a.block_rows, false));
  }
  test_bcsr_free(&a);
  test_bcsr_free(&other);
}

/* Different numbers of smoothings before and after the correction make the cycle of a symmetric
 * matrix nonsymmetric, and transfers of rectangular blocks have transposes too. */
static void symmetric_matrices_have_transposes(void **state) {
  (void)state;
  double *modes = test_mesh_modes(9, 6, 5);
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.0),
            springs = test_mesh_springs(9, 6, 5, TEST_FIXED_FACE);
  for (int variant = 0; variant < 8; variant++) {
    const test_bcsr *of = variant % 2 ? &springs : &a;
    work w = work_of(of);
    w.symmetric = true;
    w.modes = variant % 2 ? modes : NULL;
    w.options.multigrid.null_count = w.modes ? MODES : 0;
    w.options.multigrid.post = variant % 4 < 2 ? 2 : 1;
    expect_transposes(&w, test_share(variant < 4 ? 2 : 4, of->block_rows, true));
    /* M is its own transpose: there is nothing to be made */
    assert_int_equal(w.bytes[1] > w.bytes[0], variant % 4 < 2);
  }
  free(modes);
  test_bcsr_free(&a);
  test_bcsr_free(&springs);
}

/* Rows without neighbours in any aggregate, and an uneven last level. */
static void weak_rows_and_unsmoothed_transfers_have_transposes(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 1, TEST_ZERO_OUTSIDE, 0.4),
            jumps = test_mesh_elements(24, 21, 1, 3.0, true);
  for (int32_t i = 0; i < a.block_rows; i += 5)
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++)
      if (a.col_idx[q] == i) a.values[q] = 1e6;
  for (int variant = 0; variant < 12; variant++) {
    work w = work_of(variant % 2 ? &jumps : &a);
    /* 1: P is T, 1.2: R may be Tᵀ alone */
    w.options.multigrid.complexity = variant < 4 ? 0.0 : variant < 8 ? 1.0 : 1.2;
    expect_transposes(&w, test_share(variant % 4 < 2 ? 3 : 5, w.matrix->block_rows, false));
  }
  test_bcsr_free(&a);
  test_bcsr_free(&jumps);
}

/* The only row of a rank is one of Dirichlet, in which other ranks have blocks: R has blocks in its
 * column, and neither P nor the next matrix has any on this rank. */
static void a_rank_may_have_blocks_of_r_alone(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4);
  const int32_t last = a.block_rows - 1, first = a.row_ptr[last];
  const size_t bytes = 4 * sizeof *a.values;
  memcpy(a.values + 4 * (size_t)first, test_bcsr_block(&a, last, last), bytes);
  a.col_idx[first] = last;
  a.row_ptr[last + 1] = first + 1;
  const test_sharing shares[] = {{2, {0, last, last + 1}, false},
                                 {4, {0, 9, last / 2, last, last + 1}, false}};
  for (int k = 0; k < 2; k++) {
    work w = work_of(&a);
    expect_transposes(&w, shares[k]);
  }
  test_bcsr_free(&a);
}

/* --- ranks --- */

static void the_last_level_may_be_gathered_or_smoothed(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(90, 90, 2, TEST_ZERO_OUTSIDE, 0.2);
  work smoothed = work_of(&a), all = work_of(&a);
  smoothed.options.gather = 0;
  smoothed.options.multigrid.levels = 2;
  expect_transposes(&smoothed, test_share(3, a.block_rows, false));
  all.options.gather = 1 << 20;
  expect_transposes(&all, test_share(3, a.block_rows, false));
  test_bcsr_free(&a);
}

static void ranks_may_have_no_rows(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(20, 11, 2, TEST_ZERO_OUTSIDE, 0.3);
  for (int k = 0; k < TEST_UNEVEN_SHARES; k++) {
    const test_sharing uneven = test_share_unevenly(k, a.block_rows);
    work w = work_of(&a);
    expect_transposes(&w, uneven);
  }
  test_bcsr_free(&a);
}

/* Enqueued and overlapped exchanges change no bit. */
static void exchanges_change_no_bit(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4);
  const int64_t n = (int64_t)a.block_rows * 2;
  double *first = calloc((size_t)n, sizeof *first), *z = calloc((size_t)n, sizeof *z);
  for (int turn = 0; turn < 4; turn++) {
    work w = work_of(&a);
    w.enqueues = turn % 2 == 1;
    w.overlaps = turn >= 2;
    w.options.overlap = 0;
    w.z = turn == 0 ? first : z;
    expect_transposes(&w, test_share(3, a.block_rows, false));
    assert_int_equal(w.overlapped > 0, w.overlaps);
    if (turn > 0) assert_memory_equal(first, z, (size_t)n * sizeof *z);
  }
  free(first), free(z);
  test_bcsr_free(&a);
}

/* One rank does what one process does. */
static bisai_status run_one(test_rank *rank) {
  const work *w = rank->user;
  const int64_t n = (int64_t)w->matrix->block_rows * w->matrix->block_size;
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *alone = NULL;
  bisai_ranks *ranks = NULL;
  double *v = test_random_vector(n, 3), *x = calloc((size_t)n, sizeof *x),
         *z = calloc((size_t)n, sizeof *z);
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid = w->options.multigrid;
  o.multigrid.nodes = BISAI_AGGREGATION_UNIT_BLOCK;
  bisai_status status = bisai_precond_create(rank->context, rank->matrix, &o, &alone);
  if (!status)
    status = bisai_ranks_create(rank->context, &rank->rows, &rank->transport, &w->options, &ranks);
  if (!status) status = bisai_precond_apply_transpose(alone, v, x);
  if (!status) status = bisai_ranks_apply_transpose(ranks, v, z);
  if (!status && test_max_difference(n, x, z) > 1e-11 * test_largest(n, x))
    status = BISAI_EXTERNAL_ERROR;
  bisai_precond_destroy(&alone);
  bisai_ranks_destroy(&ranks);
  free(v), free(x), free(z);
  return status;
}

static void one_rank_transposes_as_one_process(void **state) {
  (void)state;
  test_rank ranks[TEST_MOST_RANKS];
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4);
  work w = work_of(&a);
  const test_sharing sharing = test_share(1, a.block_rows, false);
  test_run_ranks(&a, &sharing, &(test_job){.run = run_one, .user = &w}, ranks);
  if (ranks[0].status) print_error("%s\n", ranks[0].message);
  assert_int_equal(ranks[0].status, BISAI_OK);
  assert_false(ranks[0].leaks);
  test_bcsr_free(&a);
}

/* --- updates --- */

/* The finest level is large enough for copies in fp32, which cycles read and transposes copy. What
 * a transposed application took is released by an update. */
static void transposes_follow_updates(void **state) {
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    const bool keeps = variant % 2 == 1;
    const int32_t nx = variant < 2 ? 140 : 24, ny = variant < 2 ? 110 : 21;
    test_bcsr a = test_mesh_diffusion(nx, ny, 2, TEST_ZERO_OUTSIDE, 0.4),
              other = test_mesh_diffusion(nx, ny, 2, TEST_ZERO_OUTSIDE, 0.6);
    for (int kept = 0; kept < 3; kept++) {
      work w = work_of(&a);
      w.update = &other;
      w.options.multigrid.update = (bisai_multigrid_update)kept;
      w.options.multigrid.keep_transfers = keeps;
      expect_transposes(&w, test_share(2, a.block_rows, false));
      assert_true(w.bytes[1] > w.bytes[0]);
      if (kept == BISAI_MULTIGRID_UPDATE_FAST) assert_int_equal(w.bytes[2], w.bytes[0]);
    }
    test_bcsr_free(&a);
    test_bcsr_free(&other);
  }
}

/* With `unweighted` values may become nonsymmetric, and M is not its own transpose then. */
static void symmetric_values_may_become_nonsymmetric(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.0),
            other = test_mesh_diffusion(24, 21, 2, TEST_ZERO_OUTSIDE, 0.4);
  for (int ranks = 1; ranks <= 3; ranks++) {
    work w = work_of(&a);
    w.symmetric = true;
    w.update = &other;
    w.options.multigrid.unweighted = true;
    expect_transposes(&w, test_share(ranks, a.block_rows, true));
  }
  test_bcsr_free(&a);
  test_bcsr_free(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nonsymmetric_hierarchies_have_transposes),
      cmocka_unit_test(cycles_smoothers_and_restrictions_have_transposes),
      cmocka_unit_test(patterns_need_not_be_symmetric),
      cmocka_unit_test(symmetric_matrices_have_transposes),
      cmocka_unit_test(weak_rows_and_unsmoothed_transfers_have_transposes),
      cmocka_unit_test(a_rank_may_have_blocks_of_r_alone),
      cmocka_unit_test(the_last_level_may_be_gathered_or_smoothed),
      cmocka_unit_test(ranks_may_have_no_rows),
      cmocka_unit_test(exchanges_change_no_bit),
      cmocka_unit_test(one_rank_transposes_as_one_process),
      cmocka_unit_test(transposes_follow_updates),
      cmocka_unit_test(symmetric_values_may_become_nonsymmetric)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
