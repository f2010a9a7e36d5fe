/* SPDX-License-Identifier: BSD-3-Clause */
/* Pressure equations of several processes, here threads: together they have the pressure matrix of
 * one process, to the bit. */
#include <bisai/pressure.h>

#include <pthread.h>

#include "cells.h"
#include "cpr/ellipticity.h"
#include "cpr/scales.h"

enum { MOST = 4, WORDS = 80 };

/* What the threads share. */
typedef struct world {
  const test_bcsr *a;
  int32_t pieces, begin[MOST + 1];
  const double *posted[MOST];
  int64_t sums[MOST][WORDS];
  pthread_barrier_t barrier;
} world;

/* A process: its rows of the matrix, and its ghosts by their rows in the matrix. */
typedef struct piece {
  world *w;
  int32_t number, n, ghosts, *ghost;
  bisai_context *context;
  bisai_bcsr *rows;
  bisai_pressure *pressure;
  /* for each own block its place in the matrix */
  int32_t *place;
  bisai_cpr_options options;
  bisai_status status;
  pthread_t thread;
} piece;

static void wait_for_all(piece *p) { pthread_barrier_wait(&p->w->barrier); }

static int32_t owner_of(const world *w, int32_t row) {
  int32_t k = 0;
  while (row >= w->begin[k + 1]) k++;
  return k;
}

static bisai_status exchange(void *user, const double *own, double *ghosts) {
  piece *p = user;
  p->w->posted[p->number] = own;
  wait_for_all(p);
  for (int32_t g = 0; g < p->ghosts; g++) {
    const int32_t k = owner_of(p->w, p->ghost[g]);
    ghosts[g] = p->w->posted[k][p->ghost[g] - p->w->begin[k]];
  }
  wait_for_all(p);
  return BISAI_OK;
}

/* Returns the row of a block of the matrix. */
static int32_t row_of(const test_bcsr *a, int32_t q) {
  int32_t i = 0;
  while (a->row_ptr[i + 1] <= q) i++;
  return i;
}

static int32_t find(const test_bcsr *a, int32_t i, int32_t j) {
  for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++)
    if (a->col_idx[q] == j) return q;
  return -1;
}

/* The blocks of a process follow each other in the matrix, in the order of its ghosts. */
static bisai_status mirror(void *user, const double *values, double *mirrored) {
  piece *p = user;
  const test_bcsr *a = p->w->a;
  const int32_t first = a->row_ptr[p->w->begin[p->number]],
                blocks = a->row_ptr[p->w->begin[p->number + 1]] - first;
  double *ordered = calloc((size_t)blocks + 1, sizeof *ordered);
  for (int32_t b = 0; b < blocks; b++) ordered[p->place[b] - first] = values[b];
  p->w->posted[p->number] = ordered;
  wait_for_all(p);
  for (int32_t b = 0; b < blocks; b++) {
    const int32_t j = a->col_idx[p->place[b]], q = find(a, j, row_of(a, p->place[b])),
                  k = owner_of(p->w, j);
    mirrored[b] = q < 0 ? 0.0 : p->w->posted[k][q - a->row_ptr[p->w->begin[k]]];
  }
  wait_for_all(p);
  free(ordered);
  return BISAI_OK;
}

static bisai_status add(void *user, int count, int64_t *values) {
  piece *p = user;
  assert_true(count <= WORDS);
  for (int c = 0; c < count; c++) p->w->sums[p->number][c] = values[c];
  wait_for_all(p);
  for (int c = 0; c < count; c++) values[c] = 0;
  for (int32_t k = 0; k < p->w->pieces; k++)
    for (int c = 0; c < count; c++) values[c] += p->w->sums[k][c];
  wait_for_all(p);
  return BISAI_OK;
}

static const bisai_pressure_calls calls_of = {NULL, exchange, mirror, add};

static bisai_status compute(piece *p) {
  bisai_pressure_calls calls = calls_of;
  calls.user = p;
  return bisai_pressure_compute(p->pressure, &calls);
}

/* The body of a thread. Two turns: new values give the same. */
static void *work(void *user) {
  piece *p = user;
  p->status = compute(p);
  if (!p->status) p->status = bisai_pressure_update(p->pressure, p->rows);
  if (!p->status) p->status = compute(p);
  return NULL;
}

/* Makes the rows of process k. Ghosts come in the order of their rows. */
static void make_piece(world *w, int32_t k, const bisai_cpr_options *options, piece *p) {
  const test_bcsr *a = w->a;
  const int32_t begin = w->begin[k], end = w->begin[k + 1], first = a->row_ptr[begin],
                blocks = a->row_ptr[end] - first, bs = a->block_size;
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  int32_t *column = calloc((size_t)a->block_rows + 1, sizeof *column), count = 0;
  *p = (piece){.w = w, .number = k, .n = end - begin, .context = test_context(1)};
  p->ghost = calloc((size_t)a->block_rows + 1, sizeof *p->ghost);
  p->place = calloc((size_t)blocks + 1, sizeof *p->place);
  for (int32_t j = 0; j < a->block_rows; j++) {
    bool used = false;
    const bool inside = j >= begin && j < end;
    for (int32_t q = first; q < first + blocks; q++) used = used || a->col_idx[q] == j;
    column[j] = inside ? j - begin : p->n + p->ghosts;
    if (used && !inside) p->ghost[p->ghosts++] = j;
  }
  int32_t *ptr = calloc((size_t)p->n + 1, sizeof *ptr),
          *columns = calloc((size_t)blocks + 1, sizeof *columns);
  double *values = calloc((size_t)(blocks * bs * bs) + 1, sizeof *values);
  for (int32_t i = begin; i < end; i++) {
    for (int own = 1; own >= 0; own--) /* own columns come first */
      for (int32_t q = a->row_ptr[i]; q < a->row_ptr[i + 1]; q++) {
        if ((column[a->col_idx[q]] < p->n) != own) continue;
        memcpy(values + count * bs * bs, a->values + q * bs * bs,
               (size_t)(bs * bs) * sizeof *values);
        p->place[count] = q;
        columns[count++] = column[a->col_idx[q]];
      }
    ptr[i - begin + 1] = count;
  }
  d.block_rows = p->n, d.block_cols = p->n + p->ghosts, d.block_size = bs;
  d.row_ptr = ptr, d.col_idx = columns, d.values = values;
  EXPECT_OK(p->context, bisai_bcsr_create(p->context, &d, &p->rows));
  p->options = *options;
  if (options->weights) p->options.weights = options->weights + begin * bs;
  if (options->storage) p->options.storage = options->storage + begin * bs * bs;
  EXPECT_OK(p->context, bisai_pressure_create(p->context, p->rows, &p->options, &p->pressure));
  free(column), free(ptr), free(columns), free(values);
}

static void free_piece(piece *p) {
  bisai_pressure_destroy(&p->pressure);
  bisai_bcsr_destroy(&p->rows);
  bisai_context_destroy(&p->context);
  free(p->ghost), free(p->place);
}

/* The pressure matrix of one process, as the preconditioner makes it. */
typedef struct whole {
  int32_t pressure;
  double *weights, *columns, ellipticity[BISAI_MAX_BLOCK_SIZE];
  bisai_bcsr *matrix;
} whole;

static whole make_whole(const cells *s, const bisai_cpr_options *o) {
  test_bcsr one = {s->n, s->n, 1, s->a.row_ptr, s->a.col_idx, NULL};
  whole r = {.pressure = o->pressure};
  bsi_weighing g = {s->matrix, s->diagonal, o->weights, o->storage, 0};
  bsi_weight_stats stats;
  bsi_scaling scaling = {0};
  one.values = calloc((size_t)s->matrix->blocks + 1, sizeof *one.values);
  r.matrix = test_bcsr_make(context, &one);
  free(one.values);
  r.weights = placed(context, NULL, (size_t)(s->n * s->bs), sizeof *r.weights);
  r.columns = placed(context, NULL, (size_t)(s->matrix->blocks * s->bs), sizeof *r.columns);
  if (r.pressure < 0) {
    EXPECT_OK(context, bsi_ellipticity_measure(context, &g, r.weights, r.matrix, r.ellipticity));
    r.pressure = 0;
    for (int p = 1; p < s->bs; p++)
      if (r.ellipticity[p] > r.ellipticity[r.pressure]) r.pressure = p;
  }
  g.pressure = r.pressure;
  EXPECT_OK(context, ops(context)->weigh(context, &g, r.weights, &stats));
  EXPECT_OK(context, ops(context)->reduce(context, s->matrix, r.weights, r.pressure,
                                          r.matrix->values, r.columns));
  EXPECT_OK(context, bsi_scaling_create(context, r.matrix, s->diagonal, &scaling));
  EXPECT_OK(context, bsi_scales_apply(context, &scaling, s->bs, r.weights));
  bsi_scaling_destroy(context, &scaling);
  return r;
}

static void free_whole(whole *r) {
  drop(context, r->weights), drop(context, r->columns);
  bisai_bcsr_destroy(&r->matrix);
}

/* A process has its rows of the matrix, of the right-hand side and of what a correction leaves. */
static void expect_piece(const piece *p, const cells *s, const whole *r) {
  const int32_t begin = p->w->begin[p->number], bs = s->bs, n = p->n;
  const double *values = bisai_pressure_values(p->pressure), *matrix = r->matrix->values;
  const bisai_cpr_report report = bisai_pressure_report(p->pressure);
  double *v = test_random_vector(s->n * bs, 3), *z = test_random_vector(s->n, 4),
         *right = calloc((size_t)s->n + 1, sizeof *right),
         *got = calloc((size_t)(n * bs) + 1, sizeof *got),
         *own = calloc((size_t)(n + p->ghosts) + 1, sizeof *own),
         *rest = calloc((size_t)(s->n * bs) + 1, sizeof *rest);
  assert_int_equal(report.pressure, r->pressure);
  for (int k = 0; k < bs; k++) EXPECT_NEAR(r->ellipticity[k], report.ellipticity[k], 1e-15);
  for (int32_t b = 0; b < p->rows->row_ptr[n]; b++) assert_true(values[b] == matrix[p->place[b]]);
  ops(context)->gather(context, s->n, bs, r->weights, v, right);
  bisai_pressure_gather(p->pressure, v + begin * bs, got);
  for (int32_t i = 0; i < n; i++) assert_true(got[i] == right[begin + i]);
  for (int32_t i = 0; i < n; i++) own[i] = z[begin + i];
  for (int32_t g = 0; g < p->ghosts; g++) own[n + g] = z[p->ghost[g]];
  ops(context)->subtract(context, r->matrix, bs, r->columns, z, v, rest);
  for (int turn = 0; turn < 2; turn++) {
    bisai_pressure_subtract(p->pressure, own, v + begin * bs, got);
    /* blocks are added in another order */
    EXPECT_CLOSE((int64_t)n * bs, rest + begin * bs, got, 1e-13 * test_largest(n * bs, rest));
    bisai_pressure_keep(p->pressure);
  }
  bisai_pressure_add(p->pressure, own, got);
  for (int32_t i = 0; i < n; i++) rest[(begin + i) * bs + r->pressure] += z[begin + i];
  EXPECT_CLOSE((int64_t)n * bs, rest + begin * bs, got, 1e-13 * test_largest(n * bs, rest));
  free(v), free(z), free(right), free(got), free(own), free(rest);
}

static void expect_same(const cells *s, const bisai_cpr_options *o, int32_t pieces) {
  world w = {.a = &s->a, .pieces = pieces};
  piece p[MOST];
  whole r = make_whole(s, o);
  /* the second process of four has no rows */
  for (int32_t k = 1; k <= pieces; k++)
    w.begin[k] = pieces == MOST && k == 2 ? w.begin[1] : s->n * k / pieces;
  assert_int_equal(pthread_barrier_init(&w.barrier, NULL, (unsigned)pieces), 0);
  for (int32_t k = 0; k < pieces; k++) make_piece(&w, k, o, &p[k]);
  for (int32_t k = 0; k < pieces; k++)
    assert_int_equal(pthread_create(&p[k].thread, NULL, work, &p[k]), 0);
  for (int32_t k = 0; k < pieces; k++) pthread_join(p[k].thread, NULL);
  for (int32_t k = 0; k < pieces; k++) {
    EXPECT_OK(p[k].context, p[k].status);
    expect_piece(&p[k], s, &r);
    free_piece(&p[k]);
  }
  pthread_barrier_destroy(&w.barrier);
  free_whole(&r);
}

/* Scales the block rows: the equations leave conservation form. */
static void scale_rows(test_bcsr *a) {
  const int32_t size = a->block_size * a->block_size;
  for (int32_t i = 0; i < a->block_rows; i++)
    for (int32_t k = a->row_ptr[i] * size; k < a->row_ptr[i + 1] * size; k++)
      a->values[k] = ldexp(a->values[k], i % 7 - 3);
}

static void processes_together_have_the_matrix_of_one(void **state) {
  (void)state;
  for (int bs = 2; bs <= 4; bs++)
    for (int scaled = 0; scaled < 2; scaled++) {
      test_bcsr a = test_bcsr_grid(9, 7, bs, (uint64_t)bs);
      if (scaled) scale_rows(&a);
      cells s = cells_take(context, a);
      for (int32_t pieces = 1; pieces <= MOST; pieces++)
        expect_same(&s, &(bisai_cpr_options){.pressure = BISAI_CPR_PRESSURE_AUTO}, pieces);
      cells_free(context, &s);
    }
}

/* An entry whose mirrored one is not stored, and blocks without neighbours on other processes. */
static void patterns_need_no_symmetry(void **state) {
  (void)state;
  cells s = cells_random(context, 23, 3, 5);
  expect_same(&s, &(bisai_cpr_options){.pressure = 1}, 3);
  expect_same(&s, &(bisai_cpr_options){.pressure = BISAI_CPR_PRESSURE_AUTO}, 2);
  cells_free(context, &s);
}

static void weights_and_storage_are_those_of_the_own_rows(void **state) {
  (void)state;
  cells s = cells_take(context, test_bcsr_grid(6, 5, 2, 4));
  double *weights = test_random_vector(s.n * s.bs, 6),
         *storage = test_random_vector(s.n * s.bs * s.bs, 7);
  expect_same(&s, &(bisai_cpr_options){.pressure = 0, .weights = weights}, 3);
  expect_same(&s, &(bisai_cpr_options){.pressure = 0, .storage = storage}, 3);
  free(weights), free(storage);
  cells_free(context, &s);
}

/* --- what is refused --- */

static bisai_status fail_to_exchange(void *user, const double *own, double *ghosts) {
  (void)user, (void)own, (void)ghosts;
  return BISAI_CALLBACK_FAILED;
}

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_grid(4, 3, 2, 5);
  bisai_bcsr *rows = test_bcsr_borrow(context, &a),
             *other = test_bcsr_take(context, test_bcsr_grid(3, 4, 2, 5));
  bisai_cpr_options o = {.pressure = 2};
  bisai_pressure *p = NULL;
  bisai_pressure_calls calls = {NULL, fail_to_exchange, NULL, NULL};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(NULL, rows, &o, &p));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(context, NULL, &o, &p));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(context, rows, NULL, &p));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(context, rows, &o, &p));
  EXPECT_IN_MESSAGE(context, "pressure 2");
  o = (bisai_cpr_options){.weights = a.values, .storage = a.values};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(context, rows, &o, &p));
  double weights[24] = {[5] = NAN};
  o = (bisai_cpr_options){.weights = weights};
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_create(context, rows, &o, &p));
  EXPECT_IN_MESSAGE(context, "weights: value 1 of block row 2");
  o = (bisai_cpr_options){.pressure = 0};
  EXPECT_OK(context, bisai_pressure_create(context, rows, &o, &p));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_update(NULL, rows));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_update(p, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_update(p, other));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_compute(NULL, &calls));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_pressure_compute(p, &calls));
  a.values[3] = NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_pressure_update(p, rows));
  bisai_pressure_destroy(&p);
  bisai_pressure_destroy(NULL);
  bisai_bcsr_destroy(&rows), bisai_bcsr_destroy(&other);
  test_bcsr_free(&a);
}

static bisai_status keep_zeros(void *user, const double *values, double *mirrored) {
  (void)user, (void)values, (void)mirrored;
  return BISAI_OK;
}

static void a_function_that_fails_ends_the_computation(void **state) {
  (void)state;
  bisai_bcsr *rows = test_bcsr_take(context, test_bcsr_grid(4, 3, 2, 5));
  const bisai_cpr_options o = {.pressure = BISAI_CPR_PRESSURE_AUTO};
  const bisai_pressure_calls calls = {NULL, fail_to_exchange, keep_zeros, add};
  bisai_pressure *p = NULL;
  EXPECT_OK(context, bisai_pressure_create(context, rows, &o, &p));
  EXPECT_STATUS(context, BISAI_CALLBACK_FAILED, bisai_pressure_compute(p, &calls));
  bisai_pressure_destroy(&p);
  bisai_bcsr_destroy(&rows);
}

static void rows_without_diagonal_blocks_are_named(void **state) {
  (void)state;
  const bisai_cpr_options o = {.pressure = 0};
  bisai_pressure *p = NULL;
  bisai_bcsr *rows =
      test_bcsr_take(context, test_bcsr_random((test_shape){.block_rows = 5,
                                                            .block_cols = 5,
                                                            .block_size = 2,
                                                            .blocks_per_row = 2,
                                                            .diagonal = TEST_DIAGONAL_NONE,
                                                            .part = TEST_FULL,
                                                            .seed = 1}));
  EXPECT_STATUS(context, BISAI_MISSING_DIAGONAL, bisai_pressure_create(context, rows, &o, &p));
  EXPECT_IN_MESSAGE(context, "block row 0 has no diagonal block");
  bisai_bcsr_destroy(&rows);
}

static void failing_allocations_are_reported_and_leak_nothing(void **state) {
  (void)state;
  const bisai_cpr_options o = {.pressure = 0};
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *c = test_context_on(&allocator, 1);
  bisai_bcsr *rows = test_bcsr_take(c, test_bcsr_grid(4, 3, 2, 5));
  const long long live = atomic_load(&allocator.live_blocks);
  bisai_pressure *p = NULL;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failed = 0;
  for (; status == BISAI_OUT_OF_MEMORY; failed++) {
    allocator.fail_at = atomic_load(&allocator.calls) + failed + 1;
    status = bisai_pressure_create(c, rows, &o, &p);
    assert_true(!p == (status != BISAI_OK));
    bisai_pressure_destroy(&p);
    assert_int_equal(atomic_load(&allocator.live_blocks), live);
  }
  assert_int_equal(status, BISAI_OK);
  assert_int_equal(failed, 11); /* ten allocations, and success */
  bisai_bcsr_destroy(&rows);
  bisai_context_destroy(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(processes_together_have_the_matrix_of_one),
      cmocka_unit_test(patterns_need_no_symmetry),
      cmocka_unit_test(weights_and_storage_are_those_of_the_own_rows),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(a_function_that_fails_ends_the_computation),
      cmocka_unit_test(rows_without_diagonal_blocks_are_named),
      cmocka_unit_test(failing_allocations_are_reported_and_leak_nothing),
  };
  return cmocka_run_group_tests_name("cpr_pressure", tests, setup, teardown);
}
