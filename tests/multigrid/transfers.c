/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers between levels: aggregates as blocks, transposes, near-null-space vectors, smoothing,
 * rows without values. */
#include <float.h>
#include <math.h>

#include "fixture.h"
#include "sparse.h"

static const bsi_transfer_ops *ops(const bisai_context *c) {
  return c->backend->multigrid->transfer;
}

/* T of n rows in about n/size aggregates in random order. Every tenth row has none. */
static bsi_block_matrix listed(bisai_context *c, int32_t n, int32_t size, int height, int width,
                               uint64_t seed) {
  test_random random = test_random_seed(seed);
  const int32_t count = n / size + 1;
  int32_t *aggregate = malloc((size_t)n * sizeof *aggregate);
  for (int32_t i = 0; i < n; i++)
    aggregate[i] = i % 10 == 4 ? -1 : test_random_integer(&random, 0, count - 1);
  bsi_block_matrix t = {.rows = n, .cols = count, .height = height, .width = width};
  int32_t *there = test_sparse_integers(c, (size_t)n, aggregate);
  EXPECT_OK(c, ops(c)->list(c, there, -1, &t));
  int32_t at = 0;
  for (int32_t i = 0; i < n; i++) {
    assert_int_equal(t.row_ptr[i], at);
    if (aggregate[i] >= 0) assert_int_equal(t.col_idx[at++], aggregate[i]);
  }
  assert_int_equal(t.row_ptr[n], at);
  assert_int_equal(t.blocks, at);
  test_sparse_free_integers(c, there);
  free(aggregate);
  return t;
}

static void aggregates_are_listed_as_blocks(void **state) {
  (void)state;
  static const int32_t rows[] = {1, 2, 33, 1000, 70000};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    bsi_block_matrix t = listed(context, rows[k], 5, 3, 3, k);
    bsi_block_matrix_destroy(context, &t);
  }
}

static void expect_transposed(const bsi_block_matrix *m) {
  int32_t *position;
  bsi_block_matrix turned = test_sparse_transposed(context, m, &position);
  assert_int_equal(turned.rows, m->cols);
  assert_int_equal(turned.cols, m->rows);
  assert_int_equal(turned.height, m->width);
  assert_int_equal(turned.width, m->height);
  assert_int_equal(turned.blocks, m->blocks);
  assert_int_equal(turned.row_ptr[0], 0);
  assert_int_equal(turned.row_ptr[m->cols], m->blocks);
  for (int32_t j = 0; j < turned.rows; j++)
    for (int32_t q = turned.row_ptr[j]; q < turned.row_ptr[j + 1]; q++) {
      const int32_t i = turned.col_idx[q], p = position[q];
      assert_true(q == turned.row_ptr[j] || turned.col_idx[q - 1] < i);
      assert_int_equal(m->col_idx[p], j);
      assert_true(m->row_ptr[i] <= p && p < m->row_ptr[i + 1]);
      for (int v = 0; m->values && v < m->height * m->width; v++)
        assert_true(turned.values[bsi_block_matrix_offset(m, q) +
                                  (size_t)(v % m->height * m->width + v / m->height)] ==
                    m->values[bsi_block_matrix_offset(m, p) + (size_t)v]);
    }
  test_sparse_free_integers(context, position);
  bsi_block_matrix_destroy(context, &turned);
}

static void transposes_have_the_blocks_in_ascending_order(void **state) {
  (void)state;
  static const test_shape_of_blocks shapes[] = {
      {1, 1, 1, 1, 1.0, false},       {0, 5, 2, 3, 0.0, false},    {5, 0, 2, 3, 0.0, false},
      {7, 400, 3, 6, 3.0, false},     {400, 7, 6, 3, 3.0, false},  {300, 200, 2, 2, 5.0, true},
      {5000, 900, 1, 1, 4.0, false},  {5000, 2, 1, 1, 1.5, false}, {30, 30, 32, 9, 4.0, false},
      {200, 1000, 1, 4, 500.0, false}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    bsi_block_matrix m = test_sparse_random(context, shapes[k], k);
    expect_transposed(&m);
    bsi_block_matrix_destroy(context, &m);
  }
  bsi_block_matrix t = listed(context, 3000, 9, 4, 4, 3);
  expect_transposed(&t);
  bsi_block_matrix_destroy(context, &t);
}

/* --- near-null-space vectors --- */

static const double dependence = 1e-10;

/* What orthonormalise() makes of vectors, in backend memory. */
typedef struct spaces {
  bsi_block_matrix t, members;
  double *vectors, *coarse;
} spaces;

static spaces spaces_of(bisai_context *c, bsi_block_matrix t, const double *vectors) {
  spaces s = {.t = t};
  const size_t w = (size_t)t.width, rows = (size_t)t.rows * (size_t)t.height;
  s.members = test_sparse_transposed(c, &t, NULL);
  s.vectors = c->backend->memory->allocate(c, rows * w, sizeof *vectors);
  s.coarse = c->backend->memory->allocate(c, (size_t)t.cols * w * w, sizeof *vectors);
  EXPECT_OK(c, c->backend->memory->upload(c, s.vectors, vectors, rows * w * sizeof *vectors));
  EXPECT_OK(c, bsi_block_matrix_reserve_values(c, &s.t));
  for (size_t v = 0; v < bsi_block_matrix_offset(&t, t.blocks); v++) s.t.values[v] = NAN;
  for (size_t v = 0; v < (size_t)t.cols * w * w; v++) s.coarse[v] = NAN;
  EXPECT_OK(c, ops(c)->orthonormalise(c, &s.members, s.vectors, dependence, &s.t, s.coarse));
  return s;
}

static void spaces_free(bisai_context *c, spaces *s) {
  c->backend->memory->release(c, s->vectors);
  c->backend->memory->release(c, s->coarse);
  bsi_block_matrix_destroy(c, &s->members);
  bsi_block_matrix_destroy(c, &s->t);
}

/* Fails unless TᵀT is the identity but for columns that are zero, and returns their number. Those
 * are zero on the diagonal of R too. */
static int32_t expect_orthonormal(const spaces *s) {
  const bsi_block_matrix *t = &s->t;
  const int w = t->width;
  int32_t zero = 0;
  for (int32_t j = 0; j < t->cols; j++)
    for (int a = 0; a < w; a++)
      for (int b = 0; b <= a; b++) {
        double sum = 0.0;
        for (int32_t q = s->members.row_ptr[j]; q < s->members.row_ptr[j + 1]; q++) {
          const double *block =
              t->values + bsi_block_matrix_offset(t, t->row_ptr[s->members.col_idx[q]]);
          for (int r = 0; r < t->height; r++)
            sum += block[a * t->height + r] * block[b * t->height + r];
        }
        const double *factors = s->coarse + (size_t)(j * w * w);
        if (a != b) assert_true(factors[a * w + b] == 0.0); /* below the diagonal */
        if (a == b && sum == 0.0) {
          assert_true(factors[a * w + a] == 0.0);
          zero++;
        } else {
          EXPECT_NEAR(a == b, sum,
                      1e-14); /* sums of some hundred products of orthonormal columns */
        }
      }
  return zero;
}

/* Fails unless T R gives the vectors in the rows of aggregates, to `tolerance` of each column. */
static void expect_reproduced(const spaces *s, double tolerance) {
  const bsi_block_matrix *t = &s->t;
  const int h = t->height, w = t->width;
  for (int c = 0; c < w; c++) {
    double largest = DBL_MIN;
    for (int32_t row = 0; row < t->rows * h; row++)
      largest = fmax(largest, fabs(s->vectors[row * w + c]));
    for (int32_t i = 0; i < t->rows; i++)
      for (int32_t p = t->row_ptr[i]; p < t->row_ptr[i + 1]; p++)
        for (int r = 0; r < h; r++) {
          double sum = 0.0;
          for (int k = 0; k < w; k++)
            sum += t->values[bsi_block_matrix_offset(t, p) + (size_t)(k * h + r)] *
                   s->coarse[(t->col_idx[p] * w + k) * w + c];
          EXPECT_NEAR(s->vectors[(i * h + r) * w + c] / largest, sum / largest, tolerance);
        }
  }
}

static void vectors_become_orthonormal_and_are_reproduced(void **state) {
  (void)state;
  static const int32_t sizes[] = {8, 40, 300};
  for (size_t k = 0; k < 3; k++)
    for (int h = 1; h <= 6; h++)
      for (int w = 1; w <= 7; w++) {
        bsi_block_matrix t = listed(context, 1000, sizes[k], h, w, 3 + k);
        double *vectors = test_random_vector((int64_t)1000 * h * w, 5);
        spaces s = spaces_of(context, t, vectors);
        /* aggregates of 8 rows: those with fewer rows than vectors end with zero columns */
        int32_t short_of = 0;
        for (int32_t j = 0; j < t.cols; j++) {
          const int32_t rows = (s.members.row_ptr[j + 1] - s.members.row_ptr[j]) * h;
          if (rows < w) short_of += w - rows;
        }
        assert_int_equal(expect_orthonormal(&s), short_of);
        expect_reproduced(&s, 1e-13);
        spaces_free(context, &s);
        free(vectors);
      }
}

/* Columns nearly or exactly dependent, zero, very large and very small. */
static void dependent_columns_become_zero(void **state) {
  (void)state;
  enum { N = 90, H = 2, W = 7 };
  bsi_block_matrix t = listed(context, N, 15, H, W, 1);
  test_random random = test_random_seed(2);
  double vectors[N * H * W];
  for (int row = 0; row < N * H; row++) {
    double *x = vectors + (ptrdiff_t)row * W;
    x[0] = test_random_uniform(&random, -1e200, 1e200);
    x[1] = test_random_uniform(&random, -1e-250, 1e-250);
    x[2] = 0.0;
    x[3] = 3e-200 * x[0];                                          /* of column 0 */
    x[4] = 1e-100 * x[0] - 1e250 * x[1] * 1e100;                   /* of columns 0 and 1 */
    x[5] = x[3] + 1e-3 * test_random_uniform(&random, -1.0, 1.0);  /* nearly dependent */
    x[6] = x[5] + 1e-13 * test_random_uniform(&random, -1.0, 1.0); /* dependent to rounding */
  }
  spaces s = spaces_of(context, t, vectors);
  assert_int_equal(expect_orthonormal(&s), 4 * t.cols);
  for (int32_t j = 0; j < t.cols; j++)
    for (int c = 0; c < W; c++)
      assert_true((s.coarse[(j * W + c) * W + c] > 0.0) == (c == 0 || c == 1 || c == 5));
  expect_reproduced(&s, 1e-12);
  spaces_free(context, &s);
}

static void an_aggregate_of_everything_is_orthonormalised(void **state) {
  (void)state;
  enum { N = 20000, H = 3, W = 6 };
  int32_t *aggregate = calloc(N, sizeof *aggregate);
  double *vectors = test_random_vector((int64_t)N * H * W, 3);
  bsi_block_matrix t = {.rows = N, .cols = 1, .height = H, .width = W};
  int32_t *there = test_sparse_integers(context, N, aggregate);
  EXPECT_OK(context, ops(context)->list(context, there, N, &t));
  spaces s = spaces_of(context, t, vectors);
  assert_int_equal(expect_orthonormal(&s), 0);
  expect_reproduced(&s, 1e-12);
  spaces_free(context, &s);
  test_sparse_free_integers(context, there);
  free(aggregate);
  free(vectors);
}

/* --- smoothing and completing --- */

/* A matrix with random values. */
static bsi_block_matrix with_values(bsi_block_matrix t, uint64_t seed) {
  double *values = test_random_vector((int64_t)bsi_block_matrix_offset(&t, t.blocks), seed);
  bsi_block_matrix view = t;
  view.values = values;
  const bsi_block_matrix made = test_sparse_make(context, view);
  free(values);
  bsi_block_matrix_destroy(context, &t);
  return made;
}

/* P = T − omega D⁻¹ A T, or R = Tᵀ − omega Tᵀ A D⁻¹, with random blocks D⁻¹. */
static void expect_smoothed(int bs, int w, bool identity, bool restriction) {
  enum { N = 40, COARSE = 9 };
  const double omega = 0.7;
  const int64_t n = N * bs, coarse = COARSE * w, count = n * coarse;
  bisai_bcsr *matrix = test_bcsr_take(context, test_bcsr_random(test_shape_square(N, bs, 1)));
  const bsi_block_matrix a = bsi_block_matrix_of(matrix);
  bsi_block_matrix t = listed(context, N, 5, bs, w, 2);
  if (!identity) t = with_values(t, 3);
  int32_t ends[N + 1];
  for (int32_t i = 0; i <= N; i++) ends[i] = i;
  double *blocks = test_random_vector(n * bs, 4);
  bsi_block_matrix inverse = test_sparse_make(
                       context,
                       (bsi_block_matrix){N, N, bs, bs, N, ends, ends, blocks, {0}, false, NULL}),
                   members = test_sparse_transposed(context, &t, NULL),
                   p = restriction ? test_sparse_product(context, &members, &a)
                                   : test_sparse_product(context, &a, &t);
  double *dense_t = test_sparse_dense(restriction ? &members : &t),
         *product = test_sparse_dense(&p), *dense_inverse = test_sparse_dense(&inverse),
         *expected = restriction ? test_dense_multiply(coarse, n, n, product, dense_inverse)
                                 : test_dense_multiply(n, n, coarse, dense_inverse, product);
  double largest = 1.0;
  for (int64_t v = 0; v < count; v++) {
    largest = fmax(largest, fabs(expected[v]));
    expected[v] = dense_t[v] - omega * expected[v];
  }
  const bsi_smoothing smoothing = {restriction ? &members : &t, inverse.values, omega, restriction};
  EXPECT_OK(context, BSI_ON_BACKEND(context, bsi_smooth_product)(context, &smoothing, &p));
  double *got = test_sparse_dense(&p);
  EXPECT_CLOSE(count, expected, got, 1e-15 * bs * bs * largest); /* sums of bs products */
  free(blocks);
  free(dense_t);
  free(product);
  free(dense_inverse);
  free(expected);
  free(got);
  bsi_block_matrix_destroy(context, &t);
  bsi_block_matrix_destroy(context, &members);
  bsi_block_matrix_destroy(context, &inverse);
  bsi_block_matrix_destroy(context, &p);
  bisai_bcsr_destroy(&matrix);
}

static void smoothed_transfers_equal_dense_ones(void **state) {
  (void)state;
  for (int restriction = 0; restriction < 2; restriction++) {
    for (int bs = 1; bs <= 10; bs++) {
      expect_smoothed(bs, bs, true, restriction);
      for (int w = 1; w <= 7; w += 3) expect_smoothed(bs, w, false, restriction);
    }
    expect_smoothed(32, 32, false, restriction);
  }
}

static void rows_without_values_are_completed(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs++) {
    test_bcsr arrays = test_bcsr_random(test_shape_square(300, bs, 3));
    const int32_t n = 300 * bs;
    for (int32_t row = 0; row < n; row += 7)
      for (int32_t p = arrays.row_ptr[row / bs]; p < arrays.row_ptr[row / bs + 1]; p++)
        for (int c = 0; c < bs; c++)
          arrays.values[(p * bs + c) * bs + row % bs] = row % 2 == 0 ? 0.0 : -0.0;
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    for (int32_t row = 0; row < n; row += 7)
      test_bcsr_block(&arrays, row / bs, row / bs)[row % bs * (bs + 1)] = 1.0;
    EXPECT_OK(context, ops(context)->complete(context, a));
    EXPECT_CLOSE((int64_t)test_bcsr_blocks(&arrays) * bs * bs, arrays.values, a->values, 0.0);
    bisai_bcsr_destroy(&a);
    test_bcsr_free(&arrays);
  }
}

/* --- all of them --- */

static void transfers_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  enum { N = 6000, H = 3, W = 6 };
  double *vectors = test_random_vector((int64_t)N * H * W, 5), *first = NULL;
  for (int threads = 1; threads <= 5; threads++) {
    bisai_context *c = test_context(threads);
    spaces s = spaces_of(c, listed(c, N, 30, H, W, 1), vectors);
    const size_t values = bsi_block_matrix_offset(&s.t, s.t.blocks),
                 factors = (size_t)s.t.cols * W * W;
    if (threads == 1) {
      first = malloc((values + factors) * sizeof *first);
      memcpy(first, s.t.values, values * sizeof *first);
      memcpy(first + values, s.coarse, factors * sizeof *first);
    }
    assert_memory_equal(s.t.values, first, values * sizeof *first);
    assert_memory_equal(s.coarse, first + values, factors * sizeof *first);
    spaces_free(c, &s);
    bisai_context_destroy(&c);
  }
  free(first);
  free(vectors);
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  static const int32_t groups[] = {0, 1, -1, 1, 0, 2};
  test_allocator allocator;
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failures = 0;
  for (int fail_at = 1; status; fail_at++) {
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    int32_t *aggregate = test_sparse_integers(own, 6, groups),
            *position = test_sparse_integers(own, 5, NULL);
    bsi_block_matrix t = {.rows = 6, .cols = 3, .height = 1, .width = 1},
                     turned = {.row_ptr = test_sparse_integers(own, 4, NULL),
                               .col_idx = test_sparse_integers(own, 5, NULL)};
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = ops(own)->list(own, aggregate, 5, &t);
    if (!status) status = ops(own)->transpose(own, &t, &turned, position);
    if (status) {
      EXPECT_STATUS(own, BISAI_OUT_OF_MEMORY, status);
      failures++;
    }
    bsi_block_matrix_destroy(own, &t);
    bsi_block_matrix_destroy(own, &turned);
    test_sparse_free_integers(own, aggregate);
    test_sparse_free_integers(own, position);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_bytes), 0);
  }
  assert_true(failures >= 2);
}

/* --- structures of all products --- */

/* What structures() makes. */
typedef struct made_structures {
  bsi_block_matrix p, r, ap, rap;
  int32_t *position;
  bool made;
} made_structures;

static made_structures make_structures(const bsi_block_matrix *a, const bsi_block_matrix *t,
                                       const bsi_block_matrix *transposed, int64_t most_product,
                                       int64_t most_coarse) {
  made_structures m = {0};
  const bsi_structures s = {.a = a,
                            .left = a,
                            .right = t,
                            .transposed = transposed,
                            .most_product = most_product,
                            .most_coarse = most_coarse,
                            .prolongation = &m.p,
                            .restriction = &m.r,
                            .product = &m.ap,
                            .coarse = &m.rap,
                            .position = &m.position};
  EXPECT_OK(context, ops(context)->structures(context, &s, &m.made));
  test_synchronize();
  return m;
}

static void free_structures(made_structures *m) {
  bsi_block_matrix_destroy(context, &m->p);
  bsi_block_matrix_destroy(context, &m->r);
  bsi_block_matrix_destroy(context, &m->ap);
  bsi_block_matrix_destroy(context, &m->rap);
  context->backend->memory->release(context, m->position);
}

/* Compares with products one after the other. */
static void expect_structures(const bsi_block_matrix *a, const bsi_block_matrix *t,
                              const bsi_block_matrix *transposed) {
  int32_t *position = NULL;
  bsi_block_matrix p = test_sparse_product(context, a, t);
  bsi_block_matrix r = transposed ? test_sparse_product(context, transposed, a)
                                  : test_sparse_transposed(context, &p, &position);
  bsi_block_matrix ap = test_sparse_product(context, a, &p),
                   rap = test_sparse_product(context, &r, &ap);
  made_structures m = make_structures(a, t, transposed, ap.blocks, rap.blocks);
  assert_true(m.made);
  test_sparse_expect_structure(&p, &m.p);
  test_sparse_expect_structure(&r, &m.r);
  test_sparse_expect_structure(&ap, &m.ap);
  test_sparse_expect_structure(&rap, &m.rap);
  assert_int_equal(m.p.slots.longest, p.slots.longest);
  assert_int_equal(m.ap.slots.longest, ap.slots.longest);
  for (int32_t q = 0; q < r.blocks && position; q++) assert_int_equal(m.position[q], position[q]);
  free_structures(&m);
  /* A P and R A P that are too large leave nothing */
  for (int k = 0; k < 2; k++) {
    m = make_structures(a, t, transposed, ap.blocks - (k == 0), rap.blocks - (k == 1));
    assert_false(m.made);
    assert_true(!m.p.row_ptr && !m.r.row_ptr && !m.ap.row_ptr && !m.rap.row_ptr && !m.position);
    free_structures(&m);
  }
  bsi_block_matrix_destroy(context, &p);
  bsi_block_matrix_destroy(context, &r);
  bsi_block_matrix_destroy(context, &ap);
  bsi_block_matrix_destroy(context, &rap);
  test_sparse_free_integers(context, position);
}

static void structures_made_at_once_are_those_of_single_products(void **state) {
  (void)state;
  static const int32_t rows[] = {2, 40, 900, 9000};
  if (!ops(context)->structures) return;
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
    bsi_block_matrix a =
        test_sparse_random(context, (test_shape_of_blocks){rows[k], rows[k], 2, 2, 4.0, false}, k);
    bsi_block_matrix t = listed(context, rows[k], 7, 2, 2, k),
                     transposed = test_sparse_transposed(context, &t, NULL);
    expect_structures(&a, &t, &transposed);
    expect_structures(&a, &t, NULL);
    bsi_block_matrix_destroy(context, &a);
    bsi_block_matrix_destroy(context, &t);
    bsi_block_matrix_destroy(context, &transposed);
  }
}

/* The first row of A has all columns, so that its row of P is longer than tables of a device. */
static void structures_with_very_long_rows_are_not_made_at_once(void **state) {
  (void)state;
  enum { ROWS = 2000 };
  if (!ops(context)->structures) return;
  int32_t *row_ptr = malloc((ROWS + 1) * sizeof *row_ptr),
          *col_idx = malloc(2 * ROWS * sizeof *col_idx);
  row_ptr[0] = 0;
  for (int32_t i = 0; i < ROWS; i++) row_ptr[i + 1] = ROWS + i;
  for (int32_t q = 0; q < 2 * ROWS - 1; q++) col_idx[q] = q < ROWS ? q : q - ROWS + 1;
  bsi_block_matrix a = test_sparse_make(context, (bsi_block_matrix){.rows = ROWS,
                                                                    .cols = ROWS,
                                                                    .height = 1,
                                                                    .width = 1,
                                                                    .blocks = 2 * ROWS - 1,
                                                                    .row_ptr = row_ptr,
                                                                    .col_idx = col_idx});
  bsi_block_matrix t = listed(context, ROWS, 1, 1, 1, 3);
  made_structures m = make_structures(&a, &t, NULL, 4 * a.blocks, INT32_MAX);
  assert_false(m.made);
  assert_true(!m.p.row_ptr && !m.rap.row_ptr);
  free_structures(&m);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &t);
  free(row_ptr);
  free(col_idx);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(aggregates_are_listed_as_blocks),
      cmocka_unit_test(transposes_have_the_blocks_in_ascending_order),
      cmocka_unit_test(vectors_become_orthonormal_and_are_reproduced),
      cmocka_unit_test(dependent_columns_become_zero),
      cmocka_unit_test(an_aggregate_of_everything_is_orthonormalised),
      cmocka_unit_test(smoothed_transfers_equal_dense_ones),
      cmocka_unit_test(rows_without_values_are_completed),
      cmocka_unit_test(transfers_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(structures_made_at_once_are_those_of_single_products),
      cmocka_unit_test(structures_with_very_long_rows_are_not_made_at_once),
  };
  return cmocka_run_group_tests_name("transfer", tests, setup, teardown);
}
