/* SPDX-License-Identifier: BSD-3-Clause */
/* The first stage of CPR over ranks, which are threads here, on the backend under test: what the
 * functions of pressures on the host give with the same hierarchy. */
#include <bisai/pressure.h>

#include <math.h>

#include "mesh.h"
#include "ranks.h"

enum { BLOCK = 3 };

/* What the ranks share. */
typedef struct world {
  const test_bcsr *a, *update;
  bool additive;
  const double *v;
} world;

/* A rank, and a context of the host with its rows. */
typedef struct piece {
  test_rank *rank;
  const test_bcsr *a;
  bisai_context *host;
  bisai_bcsr *rows;
  bisai_pressure *pressure;
} piece;

static int32_t find(const test_bcsr *a, int32_t i, int32_t j) {
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
    if (a->col_idx[q] == j) return q;
  return -1;
}

static int32_t rows_of(const piece *p) { return bisai_bcsr_block_rows(p->rows); }

/* --- what ranks do together, by sums over vectors of all of them --- */

static bisai_status exchange(void *user, const double *own, double *ghosts) {
  const piece *p = user;
  const int32_t n = rows_of(p), ghost_count = bisai_bcsr_block_cols(p->rows) - n;
  double *all = calloc((size_t)p->a->block_rows, sizeof *all);
  for (int32_t i = 0; i < n; i++) all[test_rank_begin(p->rank) + i] = own[i];
  const bisai_status status =
      p->rank->transport.reduce(p->rank, BISAI_REDUCE_SUM, p->a->block_rows, all);
  for (int32_t j = 0; j < ghost_count; j++) ghosts[j] = all[p->rank->ghosts[j]];
  free(all);
  return status;
}

/* Calls f for each own block with its place here and in the matrix of all. */
static void for_blocks(const piece *p, double *here, double *all, bool read) {
  const int32_t *row_ptr, *col_idx, begin = test_rank_begin(p->rank), n = rows_of(p);
  const void *values;
  bisai_bcsr_arrays(p->rows, &row_ptr, &col_idx, &values);
  for (int32_t i = 0; i < n; i++)
    for (int32_t q = row_ptr[i]; q < row_ptr[i + 1]; q++) {
      const int32_t j =
          col_idx[q] < n ? begin + col_idx[q] : (int32_t)p->rank->ghosts[col_idx[q] - n];
      const int32_t at = read ? find(p->a, j, begin + i) : find(p->a, begin + i, j);
      if (!read)
        all[at] = here[q];
      else
        here[q] = at < 0 ? 0.0 : all[at];
    }
}

static bisai_status mirror(void *user, const double *values, double *mirrored) {
  const piece *p = user;
  const int32_t blocks = test_bcsr_blocks(p->a);
  double *all = calloc((size_t)blocks, sizeof *all);
  for_blocks(p, (double *)(uintptr_t)values, all, false);
  const bisai_status status = p->rank->transport.reduce(p->rank, BISAI_REDUCE_SUM, blocks, all);
  for_blocks(p, mirrored, all, true);
  free(all);
  return status;
}

static bisai_status add(void *user, int count, int64_t *values) {
  const piece *p = user;
  double *all = calloc((size_t)count, sizeof *all);
  for (int k = 0; k < count; k++) all[k] = (double)values[k];
  const bisai_status status = p->rank->transport.reduce(p->rank, BISAI_REDUCE_SUM, count, all);
  for (int k = 0; k < count; k++) values[k] = (int64_t)all[k];
  free(all);
  return status;
}

/* --- a rank --- */

/* The own rows of a matrix in a context of the host or, with `pressures`, the pressure matrix in
 * the context of the rank. */
static bisai_status make_rows(const piece *p, const test_bcsr *a, bool pressures,
                              bisai_bcsr **rows) {
  const bisai_bcsr *pattern = pressures ? p->rows : p->rank->matrix;
  const int32_t *row_ptr, *col_idx;
  const void *unused;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  test_bcsr local = *a;
  bisai_status status = BISAI_OK;
  if (!pressures) {
    bisai_context *context = p->rank->context;
    p->rank->context = p->host;
    status = test_rank_rows(p->rank, &local, rows);
    p->rank->context = context;
    return status;
  }
  bisai_bcsr_arrays(pattern, &row_ptr, &col_idx, &unused);
  d.block_rows = bisai_bcsr_block_rows(pattern);
  d.block_cols = bisai_bcsr_block_cols(pattern);
  d.block_size = 1;
  d.row_ptr = row_ptr;
  d.col_idx = col_idx;
  d.values = bisai_pressure_values(p->pressure);
  return bisai_bcsr_create(p->rank->context, &d, rows);
}

/* x ← the correction of v, by the stage or by the functions of the host. */
static bisai_status correct(const piece *p, const world *w, bisai_ranks *ranks,
                            bisai_pressure_stage *stage, double *rest, double *x) {
  const int32_t n = rows_of(p), all = bisai_bcsr_block_cols(p->rows);
  const double *v = w->v + (size_t)test_rank_begin(p->rank) * BLOCK, *left;
  for (int32_t i = 0; i < n * BLOCK; i++) x[i] = 1.0;
  if (stage) {
    bisai_status status = bisai_pressure_stage_begin(stage, v, &left);
    if (!status && w->additive && left != v) status = BISAI_EXTERNAL_ERROR;
    if (!status) status = bisai_context_synchronize(p->rank->context);
    if (!status) memcpy(rest, left, (size_t)n * BLOCK * sizeof *rest);
    return status ? status : bisai_pressure_stage_end(stage, x);
  }
  double *right = calloc((size_t)n + 1, sizeof *right), *z = calloc((size_t)all + 1, sizeof *z);
  bisai_pressure_gather(p->pressure, v, right);
  bisai_status status = bisai_ranks_apply(ranks, right, z);
  if (!status) status = exchange((void *)(uintptr_t)p, z, z + n);
  if (w->additive)
    memcpy(rest, v, (size_t)n * BLOCK * sizeof *rest);
  else
    bisai_pressure_subtract(p->pressure, z, v, rest);
  bisai_pressure_add(p->pressure, z, x);
  free(right), free(z);
  return status;
}

static bisai_status compare(const piece *p, const world *w, bisai_ranks *ranks,
                            bisai_pressure_stage *stage) {
  const int64_t n = (int64_t)rows_of(p) * BLOCK;
  double *values = calloc((size_t)(4 * n) + 1, sizeof *values);
  bisai_status status = correct(p, w, ranks, stage, values, values + n);
  if (!status) status = correct(p, w, ranks, NULL, values + 2 * n, values + 3 * n);
  for (int64_t i = 0; i < 2 * n && !status; i++)
    if (!(fabs(values[i] - values[2 * n + i]) <= 1e-11)) status = BISAI_EXTERNAL_ERROR;
  free(values);
  return status;
}

static bisai_status run_stage(test_rank *rank) {
  const world *w = rank->user;
  piece p = {.rank = rank, .a = w->a};
  const bisai_pressure_calls calls = {&p, exchange, mirror, add};
  bisai_cpr_options cpr = bisai_precond_options_default().cpr;
  bisai_ranks_options o = bisai_ranks_options_default();
  bisai_bcsr *matrix = NULL, *other = NULL, *other_rows = NULL;
  bisai_ranks *ranks = NULL;
  bisai_pressure_stage *stage = NULL;
  cpr.additive = w->additive;
  o.gather = 20;
  o.multigrid.coarsest = 10;
  p.host = test_host_context(1);
  bisai_status status = make_rows(&p, w->a, false, &p.rows);
  if (!status) status = bisai_pressure_create(p.host, p.rows, &cpr, &p.pressure);
  if (!status) status = bisai_pressure_compute(p.pressure, &calls);
  if (!status) status = make_rows(&p, w->a, true, &matrix);
  const bisai_ranks_rows rows = {matrix, rank->ghosts, false};
  if (!status) status = bisai_ranks_create(rank->context, &rows, &rank->transport, &o, &ranks);
  if (!status) status = bisai_pressure_stage_create(p.pressure, ranks, &stage);
  if (!status) status = compare(&p, w, ranks, stage);
  if (!status) status = make_rows(&p, w->update, false, &other_rows);
  if (!status) status = bisai_pressure_update(p.pressure, other_rows);
  if (!status) status = bisai_pressure_compute(p.pressure, &calls);
  if (!status) status = make_rows(&p, w->update, true, &other);
  if (!status) status = bisai_ranks_update(ranks, other);
  if (!status) status = bisai_pressure_stage_update(stage);
  if (!status) status = compare(&p, w, ranks, stage);
  bisai_pressure_stage_destroy(&stage);
  bisai_ranks_destroy(&ranks);
  bisai_pressure_destroy(&p.pressure);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&other);
  bisai_bcsr_destroy(&other_rows);
  bisai_bcsr_destroy(&p.rows);
  bisai_context_destroy(&p.host);
  return status;
}

/* Diffusion of a pressure, with two other unknowns in each block that depend on it. */
static test_bcsr reservoir(double scale) {
  test_bcsr a = test_mesh_diffusion(13, 11, BLOCK, TEST_ZERO_OUTSIDE, 0.1);
  for (int32_t i = 0; i < a.block_rows; i++)
    for (int32_t q = a.row_ptr[i]; q < a.row_ptr[i + 1]; q++) {
      double *block = a.values + (size_t)q * BLOCK * BLOCK;
      for (int c = 1; c < BLOCK; c++)
        for (int r = 0; r < BLOCK; r++) block[c * BLOCK + r] *= a.col_idx[q] == i ? 1.0 : 0.05;
      for (int v = 0; v < BLOCK * BLOCK; v++) block[v] *= scale;
    }
  return a;
}

static void stages_do_what_the_host_does(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= 4; ranks++)
    for (int additive = 0; additive < 2; additive++) {
      test_rank all[TEST_MOST_RANKS];
      test_bcsr a = reservoir(1.0), other = reservoir(0.5);
      test_sharing sharing = test_share(ranks, a.block_rows, false);
      if (ranks == 4) sharing.begins[1] = 0; /* a rank without rows */
      double *v = test_random_vector((int64_t)a.block_rows * BLOCK, 5);
      world w = {&a, &other, additive != 0, v};
      test_run_ranks(&a, &sharing,
                     &(test_job){.run = run_stage, .user = &w, .enqueues = additive != 0}, all);
      for (int k = 0; k < ranks; k++) {
        if (all[k].status) print_error("%d ranks, rank %d: %s\n", ranks, k, all[k].message);
        assert_int_equal(all[k].status, BISAI_OK);
        assert_false(all[k].leaks);
      }
      free(v);
      test_bcsr_free(&a);
      test_bcsr_free(&other);
    }
}

static bisai_status run_refused(test_rank *rank) {
  bisai_ranks *ranks = NULL;
  bisai_pressure_stage *stage = NULL;
  bisai_status status =
      bisai_ranks_create(rank->context, &rank->rows, &rank->transport, NULL, &ranks);
  if (!status && bisai_pressure_stage_create(NULL, ranks, &stage) != BISAI_INVALID_ARGUMENT)
    status = BISAI_EXTERNAL_ERROR;
  if (bisai_pressure_stage_create(NULL, NULL, &stage) != BISAI_INVALID_ARGUMENT ||
      bisai_pressure_stage_update(NULL) != BISAI_INVALID_ARGUMENT ||
      bisai_pressure_stage_begin(NULL, NULL, NULL) != BISAI_INVALID_ARGUMENT ||
      bisai_pressure_stage_end(NULL, NULL) != BISAI_INVALID_ARGUMENT)
    status = BISAI_EXTERNAL_ERROR;
  bisai_pressure_stage_destroy(&stage);
  bisai_pressure_stage_destroy(NULL);
  bisai_ranks_destroy(&ranks);
  return status;
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  test_rank all[TEST_MOST_RANKS];
  test_bcsr a = reservoir(1.0);
  const test_sharing sharing = test_share(2, a.block_rows, false);
  test_run_ranks(&a, &sharing, &(test_job){.run = run_refused}, all);
  for (int k = 0; k < 2; k++) assert_int_equal(all[k].status, BISAI_OK);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(stages_do_what_the_host_does),
                                     cmocka_unit_test(wrong_arguments_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
