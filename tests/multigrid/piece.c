/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of levels: the only one has the transfers of the hierarchy, several have those of dense
 * products, and a coarse matrix goes on as the levels below it. */
#include <bisai/piece.h>

#include <math.h>

#include "mesh.h"
#include "problem.h"
#include "sparse.h"

/* --- the only piece --- */

static bisai_status multiply(void *user, const double *x, double *y) {
  const bisai_bcsr *a = user;
  return bisai_bcsr_multiply(a, x, y);
}

static bisai_status add(void *user, int count, double *values) {
  (void)user, (void)count, (void)values;
  return BISAI_OK;
}

static bsi_block_matrix matrix_of(bisai_piece_view v) {
  return (bsi_block_matrix){.rows = v.rows,
                            .cols = v.cols,
                            .height = v.height,
                            .width = v.width,
                            .blocks = v.row_ptr[v.rows],
                            .row_ptr = (int32_t *)(uintptr_t)v.row_ptr,
                            .col_idx = (int32_t *)(uintptr_t)v.col_idx,
                            .values = (double *)(uintptr_t)v.values};
}

static void expect_equal(const bsi_block_matrix *expected, bisai_piece_view view) {
  const bsi_block_matrix got = matrix_of(view);
  test_sparse_expect_structure(expected, &got);
  const int64_t values = (int64_t)bsi_block_matrix_offset(expected, expected->blocks);
  assert_true(!expected->values == !got.values);
  /* sums for ρ are added in another order, and ω has their rounding */
  if (got.values)
    EXPECT_CLOSE(values, expected->values, got.values,
                 1e-13 * test_largest(values, expected->values));
}

/* Compares level l of a hierarchy with the piece of its matrix. */
static void expect_level(const problem *p, int l) {
  const bsi_level *level = &p->h.levels[l];
  const bool transposed = p->h.setup.symmetric;
  bisai_piece_options o = bisai_piece_options_default();
  const bisai_piece_calls calls = {(void *)(uintptr_t)level->matrix, multiply, add};
  bisai_piece *piece = NULL;
  double radius = 0.0;
  int32_t count = 0, width = 0;
  o.level = l;
  o.symmetric = transposed;
  EXPECT_OK(context, bisai_piece_create(context, level->matrix, &o, &piece));
  bisai_piece_aggregates(piece, &count, &width);
  EXPECT_OK(context, bisai_piece_connect(piece, &(bisai_piece_ghosts){.columns = count}));
  EXPECT_OK(context, bisai_piece_radius(piece, p->h.setup.options.smoother, &calls, &radius));
  EXPECT_NEAR(level->diagonal.radius, radius, 1e-13 * radius);
  for (int turn = 0; turn < 2; turn++) {
    EXPECT_OK(context, bisai_piece_compute(piece, bisai_piece_first_size(piece), NULL));
    expect_equal(bsi_prolongation_of(level), bisai_piece_get(piece, BISAI_PIECE_PROLONGATION));
    if (!transposed)
      expect_equal(bsi_restriction_of(level), bisai_piece_get(piece, BISAI_PIECE_RESTRICTION));
    EXPECT_OK(context, bisai_piece_update(piece, level->matrix));
  }
  bisai_piece_destroy(&piece);
}

static void the_only_piece_has_the_transfers_of_the_hierarchy(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs++)
    for (int symmetric = 0; symmetric < 2; symmetric++) {
      bsi_multigrid_setup s = setup_of(BISAI_CYCLE_V, BISAI_SMOOTHER_JACOBI);
      s.symmetric = symmetric;
      s.options.coarsest = 6;
      problem p = make_problem(
          context, test_mesh_diffusion(23, 19, bs, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4), &s);
      assert_true(p.h.count >= 3);
      for (int l = 0; l < p.h.count - 1; l++) expect_level(&p, l);
      free_problem(&p);
    }
}

/* --- two pieces --- */

enum { PIECES = 2, MODES = 6 };

typedef struct cut {
  /* the whole matrix, and in which of its rows the second piece begins */
  bisai_bcsr *matrix;
  double *dense;
  int32_t n, bs, begin[PIECES + 1];
  /* for each piece: its rows with the ghosts, of which the first PIECES·n entries say the row */
  bisai_bcsr *rows[PIECES];
  int32_t *ghost[PIECES], ghosts[PIECES];
  bisai_piece *piece[PIECES];
  int32_t count[PIECES], width;
} cut;

/* Makes the rows of piece k: those of others are ghosts in the order of their numbers. */
static void make_rows(cut *c, const test_bcsr *a, int k) {
  const int32_t begin = c->begin[k], end = c->begin[k + 1], own = end - begin;
  const size_t size = (size_t)(c->bs * c->bs);
  int32_t *place = malloc((size_t)c->n * sizeof *place);
  c->ghost[k] = malloc((size_t)c->n * sizeof **c->ghost);
  c->ghosts[k] = 0;
  for (int32_t j = 0; j < c->n; j++) {
    bool used = false;
    for (int32_t p = a->row_ptr[begin]; p < a->row_ptr[end]; p++) used |= a->col_idx[p] == j;
    const bool inside = j >= begin && j < end;
    place[j] = inside ? j - begin : own + c->ghosts[k];
    if (used && !inside) c->ghost[k][c->ghosts[k]++] = j;
  }
  bisai_bcsr_desc d = bisai_bcsr_desc_default();
  int32_t *ptr = malloc(((size_t)own + 1) * sizeof *ptr),
          *columns = malloc((size_t)a->row_ptr[c->n] * sizeof *columns);
  for (int32_t i = 0; i <= own; i++) ptr[i] = a->row_ptr[begin + i] - a->row_ptr[begin];
  for (int32_t p = 0; p < ptr[own]; p++) columns[p] = place[a->col_idx[a->row_ptr[begin] + p]];
  d.block_rows = own, d.block_cols = own + c->ghosts[k], d.block_size = c->bs;
  d.row_ptr = ptr, d.col_idx = columns, d.values = a->values + (size_t)a->row_ptr[begin] * size;
  EXPECT_OK(context, bisai_bcsr_create(context, &d, &c->rows[k]));
  free(place), free(ptr), free(columns);
}

/* Cuts a matrix after `first` block rows. `modes` may be NULL. */
static cut make_cut(test_bcsr a, int32_t first, const double *modes, bool symmetric) {
  cut c = {.n = a.block_rows, .bs = a.block_size, .begin = {0, first, a.block_rows}};
  c.dense = test_dense_from_arrays(&a);
  for (int k = 0; k < PIECES; k++) {
    bisai_piece_options o = bisai_piece_options_default();
    make_rows(&c, &a, k);
    o.symmetric = symmetric;
    o.first_row = c.begin[k] * c.bs;
    o.null_vectors = modes ? modes + c.begin[k] * c.bs * MODES : NULL;
    o.null_count = modes ? MODES : 0;
    EXPECT_OK(context, bisai_piece_create(context, c.rows[k], &o, &c.piece[k]));
    bisai_piece_aggregates(c.piece[k], &c.count[k], &c.width);
  }
  c.matrix = test_bcsr_take(context, a);
  return c;
}

static void free_cut(cut *c) {
  for (int k = 0; k < PIECES; k++) {
    bisai_piece_destroy(&c->piece[k]);
    bisai_bcsr_destroy(&c->rows[k]);
    free(c->ghost[k]);
  }
  bisai_bcsr_destroy(&c->matrix);
  free(c->dense);
}

/* The other piece tells this one of its rows. Columns of ghosts follow the own aggregates. */
static void connect(cut *c, int k, double first_size) {
  const int other = 1 - k, size = c->bs * c->width, square = c->bs * c->bs;
  int32_t count, width, *aggregate = malloc((size_t)c->n * sizeof *aggregate);
  double *all = malloc((size_t)(c->n * size) * sizeof *all),
         *tentative = malloc((size_t)(c->n * size) * sizeof *tentative),
         *inverse = malloc((size_t)(c->n * square) * sizeof *inverse);
  const int32_t *of = bisai_piece_aggregates(c->piece[other], &count, &width);
  bisai_piece_get_tentative(c->piece[other], all);
  for (int32_t g = 0; g < c->ghosts[k]; g++) {
    const int32_t row = c->ghost[k][g] - c->begin[other];
    aggregate[g] = of[row] < 0 ? -1 : c->count[k] + of[row];
    memcpy(tentative + g * size, all + row * size, (size_t)size * sizeof *all);
    memcpy(inverse + g * square, bisai_piece_inverse(c->piece[other]) + row * square,
           (size_t)square * sizeof *inverse);
  }
  const bisai_piece_ghosts ghosts = {c->count[0] + c->count[1], aggregate, tentative};
  EXPECT_OK(context, bisai_piece_connect(c->piece[k], &ghosts));
  EXPECT_OK(context, bisai_piece_compute(c->piece[k], first_size, inverse));
  free(aggregate), free(all), free(tentative), free(inverse);
}

/* Adds the rows of a matrix of piece k to a dense one. Rows and columns that are aggregates of the
 * piece k come first in its numbering, and all of piece 0 first in the dense one. */
static double *collect(const cut *c, bisai_piece_matrix which) {
  const bool by_rows = which == BISAI_PIECE_PROLONGATION || which == BISAI_PIECE_TENTATIVE;
  const int64_t fine = (int64_t)c->n * c->bs,
                coarse = (int64_t)(c->count[0] + c->count[1]) * c->width;
  const int64_t height = by_rows ? fine : coarse;
  double *dense = calloc((size_t)(fine * coarse), sizeof *dense);
  for (int k = 0; k < PIECES; k++) {
    const bisai_piece_view v = bisai_piece_get(c->piece[k], which);
    const int32_t first_aggregate = k == 0 ? 0 : c->count[0];
    for (int32_t i = 0; i < v.rows; i++)
      for (int32_t p = v.row_ptr[i]; p < v.row_ptr[i + 1]; p++) {
        const int32_t own = by_rows ? c->count[k] : c->begin[k + 1] - c->begin[k], j = v.col_idx[p];
        const int32_t aggregate = j < own ? first_aggregate + j : j - own + (k == 0 ? own : 0);
        const int32_t row = j < own ? c->begin[k] + j : by_rows ? 0 : c->ghost[k][j - own];
        const int64_t r0 = (by_rows ? c->begin[k] + i : first_aggregate + i) * (int64_t)v.height,
                      c0 = (by_rows ? aggregate : row) * (int64_t)v.width;
        for (int x = 0; x < v.width; x++)
          for (int y = 0; y < v.height; y++)
            dense[(c0 + x) * height + r0 + y] =
                v.values ? v.values[(int64_t)p * v.width * v.height + x * v.height + y] : x == y;
      }
  }
  return dense;
}

/* Returns D⁻¹ as a dense matrix. */
static double *inverse_of(const cut *c) {
  const int64_t n = (int64_t)c->n * c->bs;
  double *d = calloc((size_t)(n * n), sizeof *d);
  for (int k = 0; k < PIECES; k++)
    for (int64_t i = 0; i < (int64_t)(c->begin[k + 1] - c->begin[k]) * c->bs; i++)
      for (int64_t x = 0; x < c->bs; x++) {
        const int64_t first = (int64_t)c->begin[k] * c->bs, column = i - i % c->bs + x;
        d[(first + column) * n + first + i] =
            bisai_piece_inverse(c->piece[k])[(i / c->bs * c->bs + x) * c->bs + i % c->bs];
      }
  return d;
}

/* left ← left − ω·product, compared with what the pieces have. Frees both. */
static void expect_smoothed(const cut *c, double *left, double *product, bisai_piece_matrix which) {
  const int64_t values = (int64_t)c->n * c->bs * (int64_t)(c->count[0] + c->count[1]) * c->width;
  double *got = collect(c, which);
  /* ω for the estimate of ρ that is not made here: 4/(3·2) */
  for (int64_t k = 0; k < values; k++) left[k] -= 2.0 / 3.0 * product[k];
  EXPECT_CLOSE(values, left, got, 1e-12 * test_largest(values, left));
  free(left), free(product), free(got);
}

static void expect_transfers(cut *c) {
  const int64_t n = (int64_t)c->n * c->bs, m = (int64_t)(c->count[0] + c->count[1]) * c->width;
  const double first_size = bisai_piece_first_size(c->piece[0]);
  for (int k = 0; k < PIECES; k++) connect(c, k, first_size);
  double *d = inverse_of(c), *t = collect(c, BISAI_PIECE_TENTATIVE),
         *weighted = collect(c, BISAI_PIECE_TENTATIVE_TRANSPOSED),
         *at = test_dense_multiply(n, n, m, c->dense, t),
         *ad = test_dense_multiply(n, n, n, c->dense, d);
  expect_smoothed(c, t, test_dense_multiply(n, n, m, d, at), BISAI_PIECE_PROLONGATION);
  double *product = test_dense_multiply(m, n, n, weighted, ad);
  expect_smoothed(c, weighted, product, BISAI_PIECE_RESTRICTION);
  free(d), free(at), free(ad);
}

static void pieces_have_the_transfers_of_the_whole_matrix(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 3; bs++) {
    /* couplings of equal size: none is weak, so that A T is the plain product */
    cut c = make_cut(test_mesh_diffusion(9, 8, bs, TEST_ZERO_OUTSIDE, 0.1), 29, NULL, false);
    expect_transfers(&c);
    free_cut(&c);
  }
}

static void pieces_share_near_null_space_vectors(void **state) {
  (void)state;
  double *modes = test_mesh_modes(4, 3, 3);
  cut c = make_cut(test_mesh_springs(4, 3, 3, TEST_FIXED_FACE), 16, modes, false);
  expect_transfers(&c);
  free_cut(&c);
  free(modes);
}

static void a_piece_may_have_no_rows(void **state) {
  (void)state;
  cut c = make_cut(test_mesh_diffusion(6, 5, 2, TEST_ZERO_OUTSIDE, 0.1), 0, NULL, false);
  double value = bisai_piece_first_size(c.piece[0]);
  assert_int_equal(c.count[0], 0);
  EXPECT_NEAR(1.0, value, 0.0);
  connect(&c, 0, 1.0);
  assert_int_equal(bisai_piece_get(c.piece[0], BISAI_PIECE_PROLONGATION).rows, 0);
  free_cut(&c);
}

/* In an anisotropic mesh that is cut across its strong couplings, every row at the cut has an
 * aggregate, and none with a weakly coupled row. */
static void rows_at_the_border_join_no_weak_neighbours(void **state) {
  (void)state;
  enum { NX = 8, NY = 6 };
  test_bcsr a = test_bcsr_grid(NX, NY, 1, 3);
  int32_t count, width;
  for (int32_t i = 0; i < NX * NY; i++)
    for (int32_t p = a.row_ptr[i]; p < a.row_ptr[i + 1]; p++) {
      const int32_t distance = abs(a.col_idx[p] - i);
      a.values[p] = distance == 0 ? 2.2 : distance == 1 ? -1.0 : -0.001;
    }
  cut c = make_cut(a, NX * (NY / 2) + 1, NULL, true);
  const int32_t *of = bisai_piece_aggregates(c.piece[0], &count, &width);
  const int32_t last = c.begin[1] - 1; /* alone in its line */
  for (int32_t i = 0; i <= last; i++) assert_true(of[i] >= 0);
  for (int32_t i = 0; i < last; i++) assert_true(of[i] != of[last]);
  free_cut(&c);
}

/* --- what is refused --- */

static void wrong_arguments_are_refused(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(5, 4, 2, TEST_ZERO_OUTSIDE, 0.1));
  bisai_piece_options o = bisai_piece_options_default();
  bisai_piece *piece = NULL;
  int64_t components = 0, points = 0;
  double alpha = 0.0, beta = 0.0;
  bisai_multigrid_options smoother = bisai_precond_options_default().multigrid;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(NULL, a, &o, &piece));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(context, NULL, &o, &piece));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(context, a, NULL, &piece));
  o.struct_size = 1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(context, a, &o, &piece));
  o = bisai_piece_options_default(), o.null_count = 2;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(context, a, &o, &piece));
  o = bisai_piece_options_default(), o.strength = 2.0;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_create(context, a, &o, &piece));
  o = bisai_piece_options_default();
  EXPECT_OK(context, bisai_piece_create(context, a, &o, &piece));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_connect(piece, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_piece_connect(piece, &(bisai_piece_ghosts){.columns = 0}));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_compute(piece, 1.0, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_piece_radius(piece, BISAI_SMOOTHER_JACOBI, NULL, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_update(piece, NULL));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_vote(context, NULL, NULL, NULL));
  EXPECT_OK(context, bisai_piece_vote(context, a, &components, &points));
  assert_true(components > points);
  smoother.smoother = BISAI_SMOOTHER_L1;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED,
                bisai_piece_coefficients(piece, &smoother, &alpha, &beta));
  bisai_piece_destroy(&piece);
  bisai_piece_destroy(NULL);
  bisai_bcsr_destroy(&a);
}

/* Creates a piece of a matrix, which it frees, and expects a failure. */
static void expect_refused(test_bcsr arrays, bisai_status expected, const char *message) {
  const bisai_piece_options o = bisai_piece_options_default();
  bisai_piece *piece = NULL;
  bisai_bcsr *a = test_bcsr_take(context, arrays);
  EXPECT_STATUS(context, expected, bisai_piece_create(context, a, &o, &piece));
  EXPECT_IN_MESSAGE(context, message);
  assert_null(piece);
  bisai_bcsr_destroy(&a);
}

static void faults_name_the_block_row(void **state) {
  (void)state;
  test_bcsr a = test_mesh_diffusion(5, 4, 2, TEST_ZERO_OUTSIDE, 0.1);
  double *block = test_bcsr_block(&a, 7, 7);
  for (int k = 0; k < 4; k++) block[k] = 0.0;
  expect_refused(a, BISAI_SINGULAR_BLOCK, "block row 7");
  expect_refused(test_bcsr_random((test_shape){.block_rows = 5,
                                               .block_cols = 5,
                                               .block_size = 2,
                                               .blocks_per_row = 2,
                                               .diagonal = TEST_DIAGONAL_NONE,
                                               .part = TEST_FULL,
                                               .seed = 1}),
                 BISAI_MISSING_DIAGONAL, "block row 0 has no diagonal block");
}

static void updates_refuse_values_and_patterns(void **state) {
  (void)state;
  test_bcsr arrays = test_mesh_diffusion(5, 4, 2, TEST_ZERO_OUTSIDE, 0.1);
  bisai_bcsr *a = test_bcsr_borrow(context, &arrays),
             *other = test_bcsr_take(context, test_mesh_diffusion(4, 5, 2, TEST_ZERO_OUTSIDE, 0.1));
  const bisai_piece_options o = bisai_piece_options_default();
  bisai_piece *piece = NULL;
  EXPECT_OK(context, bisai_piece_create(context, a, &o, &piece));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_piece_update(piece, other));
  arrays.values[0] = NAN;
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_piece_update(piece, a));
  arrays.values[0] = 5.0;
  EXPECT_OK(context, bisai_piece_update(piece, a));
  bisai_piece_destroy(&piece);
  bisai_bcsr_destroy(&a);
  bisai_bcsr_destroy(&other);
  test_bcsr_free(&arrays);
}

/* Makes and connects a piece, and returns the status. */
static bisai_status make_piece(bisai_context *c, const bisai_bcsr *a, const double *modes) {
  bisai_piece_options o = bisai_piece_options_default();
  bisai_piece *piece = NULL;
  int32_t count, width;
  o.null_vectors = modes;
  o.null_count = modes ? MODES : 0;
  bisai_status status = bisai_piece_create(c, a, &o, &piece);
  if (!status) {
    bisai_piece_aggregates(piece, &count, &width);
    status = bisai_piece_connect(piece, &(bisai_piece_ghosts){.columns = count});
  }
  bisai_piece_destroy(&piece);
  return status;
}

static void failing_allocations_are_reported_and_leak_nothing(void **state) {
  (void)state;
  double *modes = test_mesh_modes(4, 3, 3);
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *c = test_context_on(&allocator, 1);
  bisai_bcsr *a = test_bcsr_take(c, test_mesh_springs(4, 3, 3, TEST_FIXED_FACE));
  const long long live = atomic_load(&allocator.live_blocks);
  for (int with_modes = 0; with_modes < 2; with_modes++) {
    bisai_status status = BISAI_OUT_OF_MEMORY;
    int failed = 0;
    for (; status == BISAI_OUT_OF_MEMORY; failed++) {
      allocator.fail_at = atomic_load(&allocator.calls) + failed + 1;
      status = make_piece(c, a, with_modes ? modes : NULL);
      assert_int_equal(atomic_load(&allocator.live_blocks), live);
    }
    allocator.fail_at = 0;
    assert_int_equal(status, BISAI_OK);
    assert_true(failed > 15);
  }
  bisai_bcsr_destroy(&a);
  bisai_context_destroy(&c);
  free(modes);
}

/* --- the levels below --- */

/* The coarse matrix of level l, with the levels above it, has the levels and the correction of the
 * hierarchy that it is from. */
static void expect_same_below(bisai_cycle cycle, bool symmetric, int l) {
  bsi_multigrid_setup s = setup_of(cycle, BISAI_SMOOTHER_JACOBI);
  s.symmetric = symmetric;
  s.inverse_work = 1;
  s.options.coarsest = 200;
  s.options.complexity = 2.5;
  problem p = make_problem(
      context, test_mesh_diffusion(60, 60, 2, TEST_ZERO_OUTSIDE, symmetric ? 0.0 : 0.4), &s);
  assert_true(p.h.count > l + 1);
  bsi_level *level = &p.h.levels[l];
  const int64_t n = bsi_level_rows(level);
  bsi_hierarchy below;
  s.options.levels -= l;
  s.above = (bisai_multigrid_above){.levels = l, .symmetric = symmetric};
  for (int k = 0; k < l; k++) {
    const bisai_bcsr *a = p.h.levels[k].matrix;
    s.above.all_values += (double)bsi_block_offset(a, a->blocks);
  }
  s.above.blocks = p.h.levels[0].matrix->blocks;
  s.above.values = 4.0 * s.above.blocks;
  EXPECT_OK(context, bsi_hierarchy_create(context, level->matrix, &s, &below));
  assert_int_equal(below.count, p.h.count - l);
  for (int k = 0; k < below.count; k++)
    test_expect_same(below.levels[k].matrix, p.h.levels[l + k].matrix);
  double *b = test_random_vector(n, 7), *x = test_nan_vector(n);
  memcpy(level->work.b, b, (size_t)n * sizeof *b);
  EXPECT_OK(context, bsi_hierarchy_correct(&p.h, l));
  EXPECT_OK(context, bsi_hierarchy_cycle(&below, b, x));
  EXPECT_CLOSE(n, level->work.solution, x, 0.0);
  bsi_hierarchy_destroy(context, &below);
  free_problem(&p);
  free(b), free(x);
}

static void a_coarse_matrix_goes_on_as_the_levels_below(void **state) {
  (void)state;
  static const bisai_cycle cycles[] = {BISAI_CYCLE_V, BISAI_CYCLE_W, BISAI_CYCLE_VW};
  for (int k = 0; k < 3; k++)
    for (int l = 1; l <= 2; l++) {
      expect_same_below(cycles[k], false, l);
      expect_same_below(cycles[k], true, l);
    }
}

static void levels_above_are_checked(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_mesh_diffusion(9, 8, 2, TEST_ZERO_OUTSIDE, 0.4));
  bisai_multigrid_above above = {.levels = 2, .blocks = 1000.0, .values = 4000.0};
  bisai_precond_options o = bisai_precond_options_default();
  bisai_precond *m = NULL;
  o.kind = BISAI_PRECOND_MULTIGRID;
  o.multigrid.above = &above;
  above.all_values = 5000.0;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
  EXPECT_IN_MESSAGE(context, "above: 2 levels, and 24 below");
  o.multigrid.levels = 20;
  above.all_values = 3000.0;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_precond_create(context, a, &o, &m));
  above.all_values = 5000.0;
  o.multigrid.cycle = BISAI_CYCLE_K;
  EXPECT_STATUS(context, BISAI_UNSUPPORTED, bisai_precond_create(context, a, &o, &m));
  o.multigrid.cycle = BISAI_CYCLE_W;
  EXPECT_OK(context, bisai_precond_create(context, a, &o, &m));
  EXPECT_OK(context, bisai_precond_update(m, a));
  bisai_precond_destroy(&m);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_only_piece_has_the_transfers_of_the_hierarchy),
      cmocka_unit_test(pieces_have_the_transfers_of_the_whole_matrix),
      cmocka_unit_test(pieces_share_near_null_space_vectors),
      cmocka_unit_test(a_piece_may_have_no_rows),
      cmocka_unit_test(rows_at_the_border_join_no_weak_neighbours),
      cmocka_unit_test(wrong_arguments_are_refused),
      cmocka_unit_test(faults_name_the_block_row),
      cmocka_unit_test(updates_refuse_values_and_patterns),
      cmocka_unit_test(failing_allocations_are_reported_and_leak_nothing),
      cmocka_unit_test(a_coarse_matrix_goes_on_as_the_levels_below),
      cmocka_unit_test(levels_above_are_checked),
  };
  return cmocka_run_group_tests_name("piece", tests, setup, teardown);
}
