/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of sparse matrices of rectangular blocks against dense products. */
#include "sparse.h"

#include <math.h>

#include "fixture.h"
#include "multigrid/spgemm/short_rows.h"

static const bsi_spgemm_ops *ops(const bisai_context *c) { return c->backend->multigrid->spgemm; }

/* The structure of a·b in plain loops, in host memory. */
static bsi_block_matrix expected_structure(const bsi_block_matrix *a, const bsi_block_matrix *b) {
  bsi_block_matrix c = {.rows = a->rows, .cols = b->cols, .height = a->height, .width = b->width};
  bool *in = malloc((size_t)b->cols + 1);
  c.row_ptr = calloc((size_t)c.rows + 1, sizeof *c.row_ptr);
  c.col_idx = malloc(((size_t)c.rows * (size_t)c.cols + 1) * sizeof *c.col_idx);
  for (int32_t i = 0; i < c.rows; i++) {
    memset(in, 0, (size_t)b->cols);
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      for (int32_t q = b->row_ptr[a->col_idx[p]]; q < b->row_ptr[a->col_idx[p] + 1]; q++)
        in[b->col_idx[q]] = true;
    for (int32_t j = 0; j < c.cols; j++)
      if (in[j]) c.col_idx[c.blocks++] = j;
    c.row_ptr[i + 1] = c.blocks;
  }
  free(in);
  return c;
}

/* Each value is a sum of `terms` products of magnitude at most 1, whose rounding errors, and those
 * of the sums, are at most ε·terms each. */
static double tolerance(double terms) { return 2.3e-16 * terms * (1.0 + terms); }

static void expect_product(bisai_context *c, const bsi_block_matrix *a, const bsi_block_matrix *b) {
  const int64_t rows = (int64_t)a->rows * a->height, inner = (int64_t)b->rows * b->height,
                cols = (int64_t)b->cols * b->width;
  bsi_block_matrix got = test_sparse_product(c, a, b), structure = expected_structure(a, b);
  test_sparse_expect_structure(&structure, &got);
  double *left = test_sparse_dense(a), *right = test_sparse_dense(b),
         *expected = test_dense_multiply(rows, inner, cols, left, right),
         *dense = test_sparse_dense(&got);
  EXPECT_CLOSE(rows * cols, expected, dense, tolerance((double)inner));
  free(left);
  free(right);
  free(expected);
  free(dense);
  free(structure.row_ptr);
  free(structure.col_idx);
  bsi_block_matrix_destroy(c, &got);
}

static void expect_random_product(test_shape_of_blocks left, test_shape_of_blocks right,
                                  uint64_t seed) {
  bsi_block_matrix a = test_sparse_random(context, left, seed),
                   b = test_sparse_random(context, right, seed + 100);
  expect_product(context, &a, &b);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &b);
}

/* --- products --- */

static void a_product_by_hand(void **state) {
  (void)state;
  int32_t a_ptr[] = {0, 2, 2, 3}, a_col[] = {0, 1, 1}, b_ptr[] = {0, 1, 3}, b_col[] = {1, 0, 1};
  double a_values[] = {1, 2, 3, 4, 5, 6}, b_values[] = {10, 20, 30};
  bsi_block_matrix a = test_sparse_make(
                       context,
                       (bsi_block_matrix){3, 2, 2, 1, 3, a_ptr, a_col, a_values, {0}, false, NULL}),
                   b = test_sparse_make(
                       context,
                       (bsi_block_matrix){2, 2, 1, 1, 3, b_ptr, b_col, b_values, {0}, false, NULL}),
                   c = test_sparse_product(context, &a, &b);
  static const int32_t row_ptr[] = {0, 2, 2, 4}, col_idx[] = {0, 1, 0, 1};
  static const double values[] = {60, 80, 100, 140, 100, 120, 150, 180};
  assert_int_equal(c.blocks, 4);
  assert_memory_equal(c.row_ptr, row_ptr, sizeof row_ptr);
  assert_memory_equal(c.col_idx, col_idx, sizeof col_idx);
  EXPECT_CLOSE(8, values, c.values, 0.0);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &b);
  bsi_block_matrix_destroy(context, &c);
}

static void products_of_all_shapes_of_blocks_equal_dense_products(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 32};
  for (size_t h = 0; h < 10; h++)
    for (size_t m = 0; m < 10; m++)
      for (size_t w = 0; w < 10; w++)
        expect_random_product((test_shape_of_blocks){6, 4, sizes[h], sizes[m], 2.0, false},
                              (test_shape_of_blocks){4, 5, sizes[m], sizes[w], 2.0, false},
                              100 * h + 10 * m + w);
}

static void identity_blocks_are_multiplied_as_such(void **state) {
  (void)state;
  for (int m = 1; m <= 10; m++)
    for (int other = 1; other <= 10; other += 3) {
      const test_shape_of_blocks left = {30, 20, m, m, 3.0, true}, right = {20, 9, m, m, 2.0, true};
      expect_random_product(left, (test_shape_of_blocks){20, 9, m, other, 2.0, false}, 7);
      expect_random_product((test_shape_of_blocks){30, 20, other, m, 3.0, false}, right, 8);
      expect_random_product(left, right, 9);
    }
}

/* The targets of blocks (multigrid/coarsening/filter.h) are such columns. */
static void columns_of_the_left_factor_may_repeat_in_any_order(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs += 2) {
    bsi_block_matrix a = test_sparse_random(context,
                                            (test_shape_of_blocks){90, 30, bs, bs, 12.0, false}, 1),
                     b = test_sparse_random(context,
                                            (test_shape_of_blocks){30, 11, bs, bs, 1.5, true}, 2);
    for (int32_t p = 0; p < a.blocks; p++) a.col_idx[p] = (a.col_idx[p] * 17 + 5) % 13;
    expect_product(context, &a, &b);
    bsi_block_matrix_destroy(context, &a);
    bsi_block_matrix_destroy(context, &b);
  }
}

/* Rows that go beyond each table of a device: 16, 64, 256, 896 blocks. */
static void rows_of_all_lengths_are_multiplied(void **state) {
  (void)state;
  static const double lengths[] = {0.0, 1.0, 4.0, 12.0, 40.0, 200.0, 700.0};
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
    for (size_t r = 0; r < sizeof lengths / sizeof lengths[0]; r++)
      expect_random_product((test_shape_of_blocks){15, 700, 1, 1, lengths[l], false},
                            (test_shape_of_blocks){700, 800, 1, 1, lengths[r], false}, 10 * l + r);
}

static void one_long_row_and_one_long_column_are_multiplied(void **state) {
  (void)state;
  enum { N = 3000 };
  static int32_t row_ptr[N + 1], col_idx[3 * N];
  int32_t blocks = 0;
  for (int32_t i = 0; i < N; i++) {
    for (int32_t j = 0; j < N; j++)
      if (i == 7 || j == 5 || i == j) col_idx[blocks++] = j;
    row_ptr[i + 1] = blocks;
  }
  double *values = test_random_vector(blocks, 3);
  bsi_block_matrix a = test_sparse_make(
                       context,
                       (bsi_block_matrix){
                           N, N, 1, 1, blocks, row_ptr, col_idx, values, {0}, false, NULL}),
                   c = test_sparse_product(context, &a, &a);
  /* rows have columns 5 and i, and what row 5 and row 7 add to them */
  double *x = test_random_vector(N, 4), *once = calloc(N, sizeof *once),
         *twice = calloc(N, sizeof *twice), *got = calloc(N, sizeof *got);
  for (int k = 0; k < 2; k++)
    for (int32_t i = 0; i < N; i++)
      for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++)
        (k ? twice : once)[i] += values[p] * (k ? once : x)[col_idx[p]];
  for (int32_t i = 0; i < N; i++) {
    assert_int_equal(c.row_ptr[i + 1] - c.row_ptr[i], i == 7 ? N : i == 5 ? 1 : 2);
    for (int32_t p = c.row_ptr[i]; p < c.row_ptr[i + 1]; p++)
      got[i] += c.values[p] * x[c.col_idx[p]];
  }
  EXPECT_CLOSE(N, twice, got, 1e-10); /* sums of N products of random sign */
  free(values);
  free(x);
  free(once);
  free(twice);
  free(got);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &c);
}

static void matrices_without_rows_columns_or_blocks_are_multiplied(void **state) {
  (void)state;
  static const int32_t shapes[][3] = {{0, 0, 0}, {0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {3, 4, 5}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
    expect_random_product((test_shape_of_blocks){shapes[k][0], shapes[k][1], 2, 3, 0.0, false},
                          (test_shape_of_blocks){shapes[k][1], shapes[k][2], 3, 2, 2.0, false}, k);
}

static void triple_products_equal_dense_triple_products(void **state) {
  (void)state;
  for (int bs = 1; bs <= 9; bs++)
    for (int w = 1; w <= 7; w += bs == 3 ? 1 : 3) {
      const int32_t n = 40, coarse = 9;
      bsi_block_matrix a = test_sparse_random(context,
                                              (test_shape_of_blocks){n, n, bs, bs, 5.0, false}, 1),
                       p = test_sparse_random(
                           context, (test_shape_of_blocks){n, coarse, bs, w, 2.0, false}, 2),
                       r = test_sparse_transposed(context, &p, NULL),
                       ap = test_sparse_product(context, &a, &p),
                       rap = test_sparse_product(context, &r, &ap);
      double *da = test_sparse_dense(&a), *dp = test_sparse_dense(&p), *dr = test_sparse_dense(&r),
             *dap = test_dense_multiply(n * bs, n * bs, coarse * w, da, dp),
             *expected = test_dense_multiply(coarse * w, n * bs, coarse * w, dr, dap),
             *got = test_sparse_dense(&rap);
      /* of n·bs products of values of A P, each of n·bs products */
      EXPECT_CLOSE((int64_t)coarse * w * coarse * w, expected, got, n * bs * tolerance(n * bs));
      free(da);
      free(dp);
      free(dr);
      free(dap);
      free(expected);
      free(got);
      bsi_block_matrix_destroy(context, &a);
      bsi_block_matrix_destroy(context, &p);
      bsi_block_matrix_destroy(context, &r);
      bsi_block_matrix_destroy(context, &ap);
      bsi_block_matrix_destroy(context, &rap);
    }
}

static void products_do_not_depend_on_the_number_of_threads(void **state) {
  (void)state;
  bsi_block_matrix first = {0};
  for (int threads = 1; threads <= 5; threads++) {
    bisai_context *c = test_context(threads);
    bsi_block_matrix a = test_sparse_random(c, (test_shape_of_blocks){3000, 200, 3, 3, 5.0, false},
                                            1),
                     b = test_sparse_random(c, (test_shape_of_blocks){200, 500, 3, 6, 3.0, false},
                                            2),
                     product = test_sparse_product(c, &a, &b);
    if (threads == 1) {
      first = test_sparse_make(context, product);
    } else {
      test_sparse_expect_structure(&first, &product);
      assert_memory_equal(product.values, first.values,
                          bsi_block_matrix_offset(&first, first.blocks) * sizeof *first.values);
    }
    bsi_block_matrix_destroy(c, &a);
    bsi_block_matrix_destroy(c, &b);
    bsi_block_matrix_destroy(c, &product);
    bisai_context_destroy(&c);
  }
  bsi_block_matrix_destroy(context, &first);
}

static void products_of_too_many_blocks_are_refused(void **state) {
  (void)state;
  /* a column times a row: N² > 2³¹ blocks */
  enum { N = 46341 };
  int32_t *index = malloc((N + 1) * sizeof *index), *zeros = calloc(N, sizeof *zeros);
  for (int32_t i = 0; i <= N; i++) index[i] = i;
  int32_t ends[] = {0, N};
  bsi_block_matrix a = test_sparse_make(
                       context,
                       (bsi_block_matrix){N, 1, 2, 2, N, index, zeros, NULL, {0}, false, NULL}),
                   b = test_sparse_make(
                       context,
                       (bsi_block_matrix){1, N, 2, 2, N, ends, index, NULL, {0}, false, NULL}),
                   c = {0};
  EXPECT_STATUS(context, BISAI_INDEX_OVERFLOW,
                ops(context)->multiply_structure(context, &a, &b, INT64_MAX, &c));
  EXPECT_MESSAGE(context, "row 46340: a product has more than 2147483647 blocks");
  free(index);
  free(zeros);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &b);
  bsi_block_matrix_destroy(context, &c);
}

static void products_beyond_a_limit_have_no_arrays(void **state) {
  (void)state;
  bsi_block_matrix a = test_sparse_random(context,
                                          (test_shape_of_blocks){900, 700, 1, 2, 9.0, false}, 1),
                   b = test_sparse_random(context,
                                          (test_shape_of_blocks){700, 800, 2, 1, 9.0, false}, 2),
                   whole = test_sparse_product(context, &a, &b);
  for (int threads = 1; threads <= 3; threads++) {
    bisai_context *own = test_context(threads);
    for (int64_t most = whole.blocks - 1; most >= 0; most /= 2) {
      bsi_block_matrix c = {0};
      EXPECT_OK(own, ops(own)->multiply_structure(own, &a, &b, most, &c));
      assert_null(c.row_ptr);
      assert_null(c.col_idx);
      bsi_block_matrix_destroy(own, &c);
      if (most == 0) break;
    }
    bsi_block_matrix c = {0};
    EXPECT_OK(own, ops(own)->multiply_structure(own, &a, &b, whole.blocks, &c));
    assert_int_equal(c.blocks, whole.blocks);
    assert_non_null(c.row_ptr);
    bsi_block_matrix_destroy(own, &c);
    bisai_context_destroy(&own);
  }
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &b);
  bsi_block_matrix_destroy(context, &whole);
}

/* The sizes of a device's kernel for short rows. A row of 2^30 blocks of four rows has 2^32
 * values. */
static void a_long_row_of_a_product_is_too_large_for_shared_memory(void **state) {
  (void)state;
  const size_t rows = (size_t)8 * 3 * 4 * 256, window = (size_t)8 * 5 * 16, alignment = 8;
  assert_true(bsi_short_rows_bytes(3, 5, 256, 4, 4) == rows + window + alignment);
  assert_true(bsi_short_rows_bytes(1 << 30, 5, 256, 4, 4) ==
              rows / 3 * ((size_t)1 << 30) + window + alignment);
}

static void a_window_ends_with_its_blocks_up_to_the_largest_index(void **state) {
  (void)state;
  assert_int_equal(bsi_window_end(7, 20, 5), 12);
  assert_int_equal(bsi_window_end(7, 12, 5), 12);
  assert_int_equal(bsi_window_end(7, 7, 5), 7);
  assert_int_equal(bsi_window_end(INT32_MAX - 4, INT32_MAX, 3000), INT32_MAX);
  assert_int_equal(bsi_window_end(INT32_MAX - 4, INT32_MAX, 3), INT32_MAX - 1);
}

/* On a device a product has arrays of places, which are released once. */
static void a_copy_of_a_product_has_no_places_of_its_original(void **state) {
  (void)state;
  bsi_block_matrix a = test_sparse_random(context,
                                          (test_shape_of_blocks){300, 200, 3, 3, 5.0, false}, 1),
                   b = test_sparse_random(context,
                                          (test_shape_of_blocks){200, 100, 3, 6, 3.0, false}, 2),
                   product = test_sparse_product(context, &a, &b);
  bsi_block_matrix copy = test_sparse_make(context, product);
  assert_null(copy.slots.before);
  assert_null(copy.slots.of);
  bsi_block_matrix_destroy(context, &copy);
  bsi_block_matrix_destroy(context, &product);
  bsi_block_matrix_destroy(context, &a);
  bsi_block_matrix_destroy(context, &b);
}

static int32_t longest_row(const bsi_block_matrix *m) {
  int32_t longest = 0;
  for (int32_t i = 0; i < m->rows; i++)
    if (m->row_ptr[i + 1] - m->row_ptr[i] > longest) longest = m->row_ptr[i + 1] - m->row_ptr[i];
  return longest;
}

static void find_slots(bisai_context *c, const bsi_block_matrix *a, const bsi_block_matrix *b,
                       bsi_block_matrix *product) {
  if (ops(c)->find_slots) EXPECT_OK(c, ops(c)->find_slots(c, a, b, product));
}

/* Values of c ← a·b, which were NaN. */
static void compute(bisai_context *own, const bsi_block_matrix *a, const bsi_block_matrix *b,
                    bsi_block_matrix *c) {
  for (size_t v = 0; v < bsi_block_matrix_offset(c, c->blocks); v++) c->values[v] = NAN;
  EXPECT_OK(own, ops(own)->multiply_values(own, a, b, c));
}

static bsi_block_matrix symmetric_random(int32_t n, int bs, double blocks_per_row) {
  bsi_block_matrix half = test_sparse_random(
                       context, (test_shape_of_blocks){n, n, bs, bs, blocks_per_row, false}, 3),
                   other = test_sparse_transposed(context, &half, NULL),
                   made = test_sparse_product(context, &other, &half);
  bsi_block_matrix_destroy(context, &half);
  bsi_block_matrix_destroy(context, &other);
  return made;
}

/* Fails unless block (j, i) is the transpose of block (i, j), bit by bit, or both are not there. */
static void expect_mirrored(const bsi_block_matrix *c) {
  const int bs = c->width;
  for (int32_t i = 0; i < c->rows; i++)
    for (int32_t p = c->row_ptr[i]; p < c->row_ptr[i + 1]; p++) {
      const int32_t j = c->col_idx[p],
                    q = bsi_find_column(c->col_idx, c->row_ptr[j], c->row_ptr[j + 1], i);
      assert_true(q >= 0);
      for (int v = 0; v < bs * bs && i != j; v++)
        assert_true(c->values[bsi_block_matrix_offset(c, p) + (size_t)v] ==
                    c->values[bsi_block_matrix_offset(c, q) + (size_t)(v % bs * bs + v / bs)]);
    }
}

static void symmetric_products_equal_whole_ones(void **state) {
  (void)state;
  static const int shapes[][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {3, 6}, {2, 3}, {6, 6}, {6, 3}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
    for (int dense = 0; dense < 2; dense++) {
      const int bs = shapes[k][0], w = shapes[k][1];
      const int32_t n = 120, coarse = 80;
      bsi_block_matrix a = symmetric_random(n, bs, 1.0 + dense),
                       p = test_sparse_random(
                           context, (test_shape_of_blocks){n, coarse, bs, w, 1.5 + dense, false},
                           2 + k),
                       r = test_sparse_transposed(context, &p, NULL),
                       ap = test_sparse_product(context, &a, &p),
                       whole = test_sparse_product(context, &r, &ap);
      bsi_block_matrix half = test_sparse_make(context, whole);
      half.slots.halved = true;
      half.slots.longest = longest_row(&half);
      ap.slots.longest = longest_row(&ap);
      double largest = 0.0;
      const int64_t values = (int64_t)bsi_block_matrix_offset(&whole, whole.blocks);
      for (int64_t v = 0; v < values; v++) largest = fmax(largest, fabs(whole.values[v]));
      for (int slots = 0; slots < 2; slots++) {
        if (slots) find_slots(context, &r, &ap, &half);
        if (!slots && ops(context)->find_upper)
          EXPECT_OK(context, ops(context)->find_upper(context, &r, &ap, &half));
        compute(context, &r, &ap, &half);
        EXPECT_CLOSE(values, whole.values, half.values, 1e-14 * n * bs * largest);
        if (half.slots.upper || !test_on_device()) expect_mirrored(&half);
      }
      bsi_block_matrix_destroy(context, &a);
      bsi_block_matrix_destroy(context, &p);
      bsi_block_matrix_destroy(context, &r);
      bsi_block_matrix_destroy(context, &ap);
      bsi_block_matrix_destroy(context, &whole);
      bsi_block_matrix_destroy(context, &half);
    }
}

/* --- splitting --- */

static test_bcsr with_zeros(int32_t n, int bs, test_diagonal diagonal) {
  test_shape shape = test_shape_square(n, bs, 5);
  shape.diagonal = diagonal;
  test_bcsr a = test_bcsr_random(shape);
  const int64_t count = (int64_t)test_bcsr_blocks(&a) * bs * bs;
  for (int64_t v = 0; v < count; v++)
    if (v % 3 == 1) a.values[v] = 0.0;
  return a;
}

static void make_split(bisai_context *own, const bisai_bcsr *a, bsi_block_matrix *c) {
  EXPECT_OK(own, own->backend->multigrid->scalar_copy->rows(own, a, c));
  EXPECT_OK(own, bsi_block_matrix_reserve_values(own, c));
  EXPECT_OK(own, own->backend->multigrid->scalar_copy->fill(own, a, c));
  own->backend->memory->synchronize(own);
}

/* `dense` has n rows, column by column. */
static void expect_split(const double *dense, int32_t n, const bsi_block_matrix *c) {
  int32_t at = 0;
  assert_int_equal(c->rows, n);
  assert_int_equal(c->cols, n);
  assert_int_equal(c->height * c->width, 1);
  for (int32_t i = 0; i < n; i++) {
    for (int32_t j = 0; j < n; j++) {
      const double value = dense[(int64_t)j * n + i];
      if (value == 0.0 && i != j) continue;
      assert_int_equal(c->col_idx[at], j);
      assert_true(c->values[at++] == value);
    }
    assert_int_equal(c->row_ptr[i + 1], at);
  }
  assert_int_equal(c->blocks, at);
}

static void split_matrices_have_the_nonzero_values_and_the_diagonal(void **state) {
  (void)state;
  for (int k = 0; k < 3 * 9; k++) {
    /* all diagonal blocks are stored, some of them, or none */
    const int bs = 1 + k / 3;
    test_bcsr arrays = with_zeros(50, bs,
                                  k % 3 == 0   ? TEST_DIAGONAL_DOMINANT
                                  : k % 3 == 1 ? TEST_DIAGONAL_RANDOM
                                               : TEST_DIAGONAL_NONE);
    bisai_bcsr *a = test_bcsr_make(context, &arrays);
    double *dense = test_dense_from_arrays(&arrays);
    const int32_t n = 50 * bs;
    bsi_block_matrix c = {0};
    int32_t lost = 0;
    make_split(context, a, &c);
    expect_split(dense, n, &c);
    for (int32_t p = 0; p < c.blocks; p++) c.values[p] = NAN;
    EXPECT_OK(context, context->backend->multigrid->scalar_copy->values(context, a, &c, &lost));
    assert_int_equal(lost, -1);
    expect_split(dense, n, &c);
    free(dense);
    test_bcsr_free(&arrays);
    bisai_bcsr_destroy(&a);
    bsi_block_matrix_destroy(context, &c);
  }
}

static void split_names_the_first_row_with_a_new_nonzero_value(void **state) {
  (void)state;
  test_bcsr arrays = with_zeros(5000, 2, TEST_DIAGONAL_DOMINANT);
  bisai_bcsr *a = test_bcsr_make(context, &arrays);
  bsi_block_matrix c = {0};
  int32_t lost = 0;
  make_split(context, a, &c);
  /* the off-diagonal values of diagonal blocks, one of which is zero in both triangles */
  for (int32_t i = 4999; i >= 0; i -= 1700) {
    double *values = a->values;
    const size_t p = (size_t)(test_bcsr_block(&arrays, i, i) - arrays.values);
    for (size_t v = p + 1; v < p + 3; v++)
      if (values[v] == 0.0) values[v] = NAN;
    const bool first_row = arrays.values[p + 2] == 0.0, second_row = arrays.values[p + 1] == 0.0;
    EXPECT_OK(context, context->backend->multigrid->scalar_copy->values(context, a, &c, &lost));
    if (first_row || second_row) assert_int_equal(lost, 2 * i + !first_row);
  }
  assert_true(lost >= 0);
  test_bcsr_free(&arrays);
  bisai_bcsr_destroy(&a);
  bsi_block_matrix_destroy(context, &c);
}

/* --- memory --- */

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_bcsr arrays = with_zeros(50, 2, TEST_DIAGONAL_DOMINANT);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  int failures = 0;
  for (int fail_at = 1; status; fail_at++) {
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 2);
    bisai_bcsr *m = test_bcsr_make(own, &arrays);
    /* rows of every length, so that all kernels of a device run */
    bsi_block_matrix a = test_sparse_random(own, (test_shape_of_blocks){50, 300, 1, 1, 40.0, false},
                                            1),
                     b = test_sparse_random(own, (test_shape_of_blocks){300, 900, 1, 1, 9.0, false},
                                            2),
                     c = {0}, d = {0};
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    status = ops(own)->multiply_structure(own, &a, &b, INT64_MAX, &c);
    if (!status) status = own->backend->multigrid->scalar_copy->rows(own, m, &d);
    if (status) {
      EXPECT_STATUS(own, BISAI_OUT_OF_MEMORY, status);
      failures++;
    }
    bsi_block_matrix_destroy(own, &a);
    bsi_block_matrix_destroy(own, &b);
    bsi_block_matrix_destroy(own, &c);
    bsi_block_matrix_destroy(own, &d);
    bisai_bcsr_destroy(&m);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_bytes), 0);
  }
  assert_true(failures >= 5);
  test_bcsr_free(&arrays);
}

/* The host holds C and its room at the end, and no more before. */
static void the_room_of_a_structure_is_known(void **state) {
  enum { ARRAYS = 5, ALIGNMENT = 64 };
  (void)state;
  if (test_on_device()) return; /* other room is not counted */
  for (int threads = 1; threads <= 2; threads++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, threads);
    bsi_block_matrix a = test_sparse_random(own,
                                            (test_shape_of_blocks){900, 300, 1, 1, 40.0, false}, 1),
                     b = test_sparse_random(own, (test_shape_of_blocks){300, 700, 1, 1, 9.0, false},
                                            2),
                     c = {0};
    const long long before = atomic_load(&allocator.live_bytes);
    atomic_store(&allocator.peak_bytes, before);
    EXPECT_OK(own, ops(own)->multiply_structure(own, &a, &b, INT64_MAX, &c));
    const int64_t held = atomic_load(&allocator.peak_bytes) - before,
                  known = ops(own)->structure_room(own, &a, &b, INT64_MAX) +
                          bsi_block_matrix_memory(&c);
    assert_in_range(held, known, known + ARRAYS * ALIGNMENT);
    bsi_block_matrix_destroy(own, &a);
    bsi_block_matrix_destroy(own, &b);
    bsi_block_matrix_destroy(own, &c);
    bisai_context_destroy(&own);
  }
}

static void values_are_computed_without_allocations(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  test_bcsr arrays = with_zeros(50, 2, TEST_DIAGONAL_DOMINANT);
  bisai_bcsr *m = test_bcsr_take(own, arrays);
  bsi_block_matrix a = test_sparse_random(own, (test_shape_of_blocks){50, 300, 2, 3, 40.0, false},
                                          1),
                   b = test_sparse_random(own, (test_shape_of_blocks){300, 900, 3, 1, 9.0, false},
                                          2),
                   c = test_sparse_product(own, &a, &b), d = {0};
  int32_t lost;
  make_split(own, m, &d);
  const long long before = atomic_load(&allocator.calls);
  EXPECT_OK(own, ops(own)->multiply_values(own, &a, &b, &c));
  EXPECT_OK(own, own->backend->multigrid->scalar_copy->values(own, m, &d, &lost));
  assert_int_equal(atomic_load(&allocator.calls), before);
  bsi_block_matrix_destroy(own, &a);
  bsi_block_matrix_destroy(own, &b);
  bsi_block_matrix_destroy(own, &c);
  bsi_block_matrix_destroy(own, &d);
  bisai_bcsr_destroy(&m);
  bisai_context_destroy(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_product_by_hand),
      cmocka_unit_test(products_of_all_shapes_of_blocks_equal_dense_products),
      cmocka_unit_test(identity_blocks_are_multiplied_as_such),
      cmocka_unit_test(columns_of_the_left_factor_may_repeat_in_any_order),
      cmocka_unit_test(rows_of_all_lengths_are_multiplied),
      cmocka_unit_test(one_long_row_and_one_long_column_are_multiplied),
      cmocka_unit_test(matrices_without_rows_columns_or_blocks_are_multiplied),
      cmocka_unit_test(triple_products_equal_dense_triple_products),
      cmocka_unit_test(products_do_not_depend_on_the_number_of_threads),
      cmocka_unit_test(products_of_too_many_blocks_are_refused),
      cmocka_unit_test(products_beyond_a_limit_have_no_arrays),
      cmocka_unit_test(a_long_row_of_a_product_is_too_large_for_shared_memory),
      cmocka_unit_test(a_window_ends_with_its_blocks_up_to_the_largest_index),
      cmocka_unit_test(a_copy_of_a_product_has_no_places_of_its_original),
      cmocka_unit_test(symmetric_products_equal_whole_ones),
      cmocka_unit_test(split_matrices_have_the_nonzero_values_and_the_diagonal),
      cmocka_unit_test(split_names_the_first_row_with_a_new_nonzero_value),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(the_room_of_a_structure_is_known),
      cmocka_unit_test(values_are_computed_without_allocations),
  };
  return cmocka_run_group_tests_name("sparse", tests, setup, teardown);
}
