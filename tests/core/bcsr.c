/* SPDX-License-Identifier: BSD-3-Clause */
/* BCSR matrices: structure judged, values kept in every type, products against a dense reference in
 * plain loops.
 *
 * Tolerance of a product: a sum of m terms in any order is off by at most m·eps·Σ|a||x| (Higham,
 * section 3.1). The products of narrow values and doubles are rounded once each, which the same
 * bound covers with m + 1. */
#include "fixture.h"

#include <float.h>
#include <math.h>

static double *nan_vector(int64_t n) {
  double *values = malloc((size_t)(n > 0 ? n : 1) * sizeof *values);
  assert_non_null(values);
  for (int64_t i = 0; i < n; i++) values[i] = (double)NAN;
  return values;
}

/* A's block rows and columns in scalars. */
static int64_t scalar_rows(const bisai_bcsr *a) {
  return (int64_t)bisai_bcsr_block_rows(a) * bisai_bcsr_block_size(a);
}

static int64_t scalar_cols(const bisai_bcsr *a) {
  return (int64_t)bisai_bcsr_block_cols(a) * bisai_bcsr_block_size(a);
}

/* For tests that borrow arrays in host memory. */
static void skip_on_device(void) {
  if (test_on_device()) skip();
}

static void expect_product(int64_t rows, int64_t cols, const double *dense, const double *x,
                           const double *y) {
  for (int64_t i = 0; i < rows; i++) {
    double sum = 0.0, magnitude = 0.0;
    for (int64_t j = 0; j < cols; j++) {
      sum += dense[j * rows + i] * x[j];
      magnitude += fabs(dense[j * rows + i] * x[j]);
    }
    EXPECT_NEAR(sum, y[i], (double)(cols + 1) * DBL_EPSILON * magnitude);
  }
}

static void expect_products(const bisai_bcsr *a, const double *dense) {
  const int64_t rows = scalar_rows(a), cols = scalar_cols(a);
  double *x = test_random_vector(cols, 77), *y = nan_vector(rows);
  EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
  expect_product(rows, cols, dense, x, y);
  free(x);
  free(y);
}

static const int32_t block_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32};
enum { BLOCK_SIZES = sizeof block_sizes / sizeof block_sizes[0] };

static bisai_bcsr_desc desc_of(const test_bcsr *a) {
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = a->block_rows;
  desc.block_cols = a->block_cols;
  desc.block_size = a->block_size;
  desc.row_ptr = a->row_ptr;
  desc.col_idx = a->col_idx;
  desc.values = a->values;
  return desc;
}

static void desc_has_documented_defaults(void **state) {
  (void)state;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  assert_int_equal(desc.struct_size, sizeof desc);
  assert_int_equal(desc.value_type, BISAI_FP64);
  assert_int_equal(desc.layout, BISAI_COLUMN_MAJOR);
  assert_int_equal(desc.ownership, BISAI_COPY);
  assert_int_equal(desc.location, BISAI_HOST);
}

/* [1 3 | 5 7]
 * [2 4 | 6 8]  times (1, 10, 100, 1000) = (7531, 8642), by hand. */
static void product_of_two_blocks_equals_hand_computation(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 2}, col_idx[] = {0, 1};
  double column_major[] = {1, 2, 3, 4, 5, 6, 7, 8}, row_major[] = {1, 3, 2, 4, 5, 7, 6, 8};
  const double x[] = {1, 10, 100, 1000};
  for (int layout = 0; layout < 2; layout++) {
    test_bcsr arrays = {1, 2, 2, row_ptr, col_idx, layout == 0 ? column_major : row_major};
    bisai_bcsr_desc desc = desc_of(&arrays);
    desc.layout = layout == 0 ? BISAI_COLUMN_MAJOR : BISAI_ROW_MAJOR;
    bisai_bcsr *a = NULL;
    double y[2] = {(double)NAN, (double)NAN};
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
    EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
    assert_true(y[0] == 7531.0 && y[1] == 8642.0);
    bisai_bcsr_destroy(&a);
    assert_null(a);
  }
}

static void every_block_size_multiplies_like_its_dense_matrix(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    const test_shape shapes[] = {
        {13, 13, bs, 2.5, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, (uint64_t)bs}, /* ragged square */
        {9, 14, bs, 3.0, 3, TEST_DIAGONAL_RANDOM, TEST_FULL,
         (uint64_t)(50 + bs)}, /* wide, every third row empty */
        {14, 5, bs, 2.0, 2, TEST_DIAGONAL_NONE, TEST_FULL, (uint64_t)(100 + bs)},   /* tall */
        {1, 12, bs, 6.0, 0, TEST_DIAGONAL_RANDOM, TEST_FULL, (uint64_t)(150 + bs)}, /* one row */
        {12, 1, bs, 2.0, 0, TEST_DIAGONAL_RANDOM, TEST_FULL, (uint64_t)(200 + bs)}, /* one column */
        /* nearly full */
        {6, 6, bs, 20.0, 0, TEST_DIAGONAL_DOMINANT, TEST_FULL, (uint64_t)(250 + bs)}};
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
      test_bcsr arrays = test_bcsr_random(shapes[k]);
      double *dense = test_dense_from_arrays(&arrays);
      bisai_bcsr *a = test_bcsr_make(context, &arrays);
      assert_int_equal(bisai_bcsr_block_rows(a), shapes[k].block_rows);
      assert_int_equal(bisai_bcsr_block_cols(a), shapes[k].block_cols);
      assert_int_equal(bisai_bcsr_block_size(a), bs);
      assert_int_equal(bisai_bcsr_blocks(a), test_bcsr_blocks(&arrays));
      assert_int_equal(bisai_bcsr_rows(a), shapes[k].block_rows * bs);
      assert_int_equal(bisai_bcsr_padding(a), 0);
      assert_int_equal(bisai_bcsr_value_type(a), BISAI_FP64);
      assert_false(bisai_bcsr_unit_diagonal(a));
      expect_products(a, dense);
      bisai_bcsr_destroy(&a);
      test_bcsr_free(&arrays);
      free(dense);
    }
  }
}

/* Random bits with the exponent of neither NaN nor infinity: subnormals, both zeros, the largest
 * value among them. */
static void *random_narrow_values(bisai_value_type type, size_t count, uint64_t seed) {
  test_random random = test_random_seed(seed);
  if (type == BISAI_FP32) {
    float *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
      values[i] = (float)test_random_uniform(&random, -1.0, 1.0) * (i % 5 == 0 ? 1e-40F : 1.0F);
    return values;
  }
  const uint16_t infinity = type == BISAI_FP16 ? 0x7c00 : 0x7f80;
  static const uint16_t fp16_edges[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff,
                                        0x0400, 0x7bff, 0xfbff, 0x3c00};
  static const uint16_t bf16_edges[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f,
                                        0x0080, 0x7f7f, 0xff7f, 0x3f80};
  uint16_t *values = malloc((count + 1) * sizeof *values);
  for (size_t i = 0; i < count; i++) {
    do {
      values[i] = (uint16_t)test_random_integer(&random, 0, 0xffff);
    } while ((values[i] & infinity) == infinity);
    if (i % 3 == 0)
      values[i] = (uint16_t)(values[i] & (type == BISAI_FP16 ? 0x83ff : 0x807f)); /* subnormal */
    if (i < 9) values[i] = type == BISAI_FP16 ? fp16_edges[i] : bf16_edges[i];
  }
  return values;
}

static void narrow_values_multiply_as_their_exact_conversions(void **state) {
  (void)state;
  skip_on_device();
  static const bisai_value_type types[] = {BISAI_FP32, BISAI_FP16, BISAI_BF16};
  for (size_t t = 0; t < 3; t++) {
    for (int s = 0; s < BLOCK_SIZES; s++) {
      const int32_t bs = block_sizes[s];
      test_shape shape = test_shape_square(11, bs, (uint64_t)(300 + bs));
      test_bcsr arrays = test_bcsr_random(shape);
      const size_t count = (size_t)test_bcsr_blocks(&arrays) * (size_t)(bs * bs);
      void *values = random_narrow_values(types[t], count, (uint64_t)(400 + bs));
      for (size_t i = 0; i < count; i++) arrays.values[i] = test_value(types[t], values, i);
      double *dense = test_dense_from_arrays(&arrays);
      bisai_bcsr_desc desc = desc_of(&arrays);
      desc.values = values;
      desc.value_type = types[t];
      for (int ownership = 0; ownership < 2; ownership++) {
        desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
        bisai_bcsr *a = NULL;
        EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
        assert_int_equal(bisai_bcsr_value_type(a), types[t]);
        expect_products(a, dense);
        bisai_bcsr_destroy(&a);
      }
      free(values);
      free(dense);
      test_bcsr_free(&arrays);
    }
  }
}

/* Every 16-bit pattern once: a diagonal matrix times ones hands them all back. */
static void every_sixteen_bit_value_is_converted_exactly(void **state) {
  (void)state;
  static const bisai_value_type types[] = {BISAI_FP16, BISAI_BF16};
  for (size_t t = 0; t < 2; t++) {
    const uint16_t infinity = types[t] == BISAI_FP16 ? 0x7c00 : 0x7f80;
    const int32_t n = 0x10000;
    uint16_t *values = malloc((size_t)n * sizeof *values);
    int32_t *row_ptr = malloc(((size_t)n + 1) * sizeof *row_ptr),
            *col_idx = malloc((size_t)n * sizeof *col_idx);
    double *x = malloc((size_t)n * sizeof *x), *y = nan_vector(n);
    for (int32_t i = 0; i < n; i++) {
      row_ptr[i] = i;
      col_idx[i] = i;
      x[i] = 1.0;
      values[i] = (uint16_t)((i & infinity) == infinity ? 0 : i);
    }
    row_ptr[n] = n;
    bisai_bcsr_desc desc = bisai_bcsr_desc_default();
    desc.block_rows = desc.block_cols = n;
    desc.block_size = 1;
    desc.row_ptr = row_ptr;
    desc.col_idx = col_idx;
    desc.values = values;
    desc.value_type = types[t];
    bisai_bcsr *a = NULL;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
    EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
    for (int32_t i = 0; i < n; i++) assert_true(y[i] == test_value(types[t], values, (size_t)i));
    bisai_bcsr_destroy(&a);
    free(values);
    free(row_ptr);
    free(col_idx);
    free(x);
    free(y);
  }
}

static void row_major_blocks_are_transposed_on_the_way_in(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    test_bcsr arrays = test_bcsr_random(test_shape_square(8, bs, (uint64_t)(500 + bs)));
    const size_t blocks = (size_t)test_bcsr_blocks(&arrays), area = (size_t)(bs * bs);
    double *dense = test_dense_from_arrays(&arrays),
           *row_major = malloc(blocks * area * sizeof *row_major);
    for (size_t p = 0; p < blocks; p++) {
      for (size_t i = 0; i < area; i++) {
        row_major[p * area + i] =
            arrays.values[p * area + i % (size_t)bs * (size_t)bs + i / (size_t)bs];
      }
    }
    bisai_bcsr_desc desc = desc_of(&arrays);
    desc.values = row_major;
    desc.layout = BISAI_ROW_MAJOR;
    bisai_bcsr *a = NULL;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
    const void *values;
    bisai_bcsr_arrays(a, NULL, NULL, &values);
    assert_memory_equal(values, arrays.values, blocks * area * sizeof(double));
    expect_products(a, dense);
    memset(arrays.values, 0, blocks * area * sizeof(double));
    EXPECT_OK(context, bisai_bcsr_update(a, arrays.values, BISAI_COLUMN_MAJOR));
    EXPECT_OK(context, bisai_bcsr_update(a, row_major, BISAI_ROW_MAJOR));
    expect_products(a, dense);
    bisai_bcsr_destroy(&a);
    free(dense);
    free(row_major);
    test_bcsr_free(&arrays);
  }
}

/* Rows in reverse order, in both layouts, become the sorted matrix bit by bit. */
static void unsorted_copies_are_sorted(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 9; bs += 2) {
    test_bcsr arrays = test_bcsr_random(test_shape_square(30, bs, (uint64_t)(600 + bs)));
    const size_t blocks = (size_t)test_bcsr_blocks(&arrays), area = (size_t)(bs * bs);
    int32_t *col_idx = malloc(blocks * sizeof *col_idx);
    double *values = malloc(blocks * area * sizeof *values);
    for (int layout = 0; layout < 2; layout++) {
      for (int32_t i = 0; i < arrays.block_rows; i++) {
        for (int32_t p = arrays.row_ptr[i]; p < arrays.row_ptr[i + 1]; p++) {
          const size_t to = (size_t)(arrays.row_ptr[i] + arrays.row_ptr[i + 1] - 1 - p);
          col_idx[to] = arrays.col_idx[p];
          for (size_t k = 0; k < area; k++) {
            const size_t from = layout == 0 ? k : k % (size_t)bs * (size_t)bs + k / (size_t)bs;
            values[to * area + k] = arrays.values[(size_t)p * area + from];
          }
        }
      }
      bisai_bcsr_desc desc = desc_of(&arrays);
      desc.col_idx = col_idx;
      desc.values = values;
      desc.layout = layout == 0 ? BISAI_COLUMN_MAJOR : BISAI_ROW_MAJOR;
      bisai_bcsr *a = NULL;
      EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
      const int32_t *own_row_ptr, *own_col_idx;
      const void *own_values;
      bisai_bcsr_arrays(a, &own_row_ptr, &own_col_idx, &own_values);
      assert_memory_equal(own_row_ptr, arrays.row_ptr,
                          (size_t)(arrays.block_rows + 1) * sizeof(int32_t));
      assert_memory_equal(own_col_idx, arrays.col_idx, blocks * sizeof(int32_t));
      assert_memory_equal(own_values, arrays.values, blocks * area * sizeof(double));
      bisai_bcsr_destroy(&a);
    }
    free(col_idx);
    free(values);
    test_bcsr_free(&arrays);
  }
}

static void copies_outlive_the_callers_arrays_and_borrowed_arrays_are_used_in_place(void **state) {
  (void)state;
  skip_on_device();
  test_bcsr arrays = test_bcsr_random(test_shape_square(10, 3, 9));
  double *dense = test_dense_from_arrays(&arrays);
  bisai_bcsr_desc desc = desc_of(&arrays);
  bisai_bcsr *copy = NULL, *borrowed = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &copy));
  desc.ownership = BISAI_BORROW;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &borrowed));

  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(borrowed, &row_ptr, &col_idx, &values);
  assert_ptr_equal(row_ptr, arrays.row_ptr);
  assert_ptr_equal(col_idx, arrays.col_idx);
  assert_ptr_equal(values, arrays.values);
  bisai_bcsr_arrays(copy, &row_ptr, &col_idx, &values);
  assert_ptr_not_equal(row_ptr, arrays.row_ptr);
  assert_ptr_not_equal(col_idx, arrays.col_idx);
  assert_ptr_not_equal(values, arrays.values);
  bisai_bcsr_arrays(copy, NULL, NULL, NULL);

  arrays.values[0] += 1.0; /* block (0, arrays.col_idx[0]), entry (0, 0) */
  double *changed = test_dense_from_arrays(&arrays);
  expect_products(borrowed, changed);
  expect_products(copy, dense);
  bisai_bcsr_destroy(&borrowed);
  test_bcsr_free(&arrays);
  expect_products(copy, dense);
  bisai_bcsr_destroy(&copy);
  free(dense);
  free(changed);
}

static void the_host_borrows_values_wherever_they_begin(void **state) {
  (void)state;
  skip_on_device(); /* devices: tests/cuda/public.cu */
  test_bcsr arrays = test_bcsr_random(test_shape_square(10, 4, 9));
  double *dense = test_dense_from_arrays(&arrays);
  const size_t count = (size_t)test_bcsr_blocks(&arrays) * 16;
  double *shifted = malloc((count + 4) * sizeof *shifted);
  for (int shift = 0; shift < 4; shift++) {
    bisai_bcsr_desc desc = desc_of(&arrays);
    bisai_bcsr *a = NULL;
    desc.values = memcpy(shifted + shift, arrays.values, count * sizeof *shifted);
    desc.ownership = BISAI_BORROW;
    EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
    expect_products(a, dense);
    bisai_bcsr_destroy(&a);
  }
  free(shifted);
  free(dense);
  test_bcsr_free(&arrays);
}

static void borrowing_allocates_no_arrays(void **state) {
  (void)state;
  skip_on_device();
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *counted = test_context_on(&allocator, 1);
  test_bcsr arrays = test_bcsr_random(test_shape_square(200, 4, 10));
  bisai_bcsr_desc desc = desc_of(&arrays);
  desc.ownership = BISAI_BORROW;
  const long long before = atomic_load(&allocator.live_bytes);
  bisai_bcsr *a = NULL;
  EXPECT_OK(counted, bisai_bcsr_create(counted, &desc, &a));
  assert_true(atomic_load(&allocator.live_bytes) - before < 1024);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
  bisai_context_destroy(&counted);
}

static void matrices_without_rows_columns_or_blocks_are_legal(void **state) {
  (void)state;
  skip_on_device();
  static const int32_t zeros[5] = {0};
  static const int32_t sizes[][2] = {{0, 0}, {0, 4}, {4, 0}, {4, 4}};
  for (size_t i = 0; i < 4; i++) {
    for (int ownership = 0; ownership < 2; ownership++) {
      bisai_bcsr_desc desc = bisai_bcsr_desc_default();
      desc.block_rows = sizes[i][0];
      desc.block_cols = sizes[i][1];
      desc.block_size = 3;
      desc.row_ptr = zeros;
      desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
      bisai_bcsr *a = NULL;
      EXPECT_OK(context, bisai_bcsr_create(context, &desc, &a));
      assert_int_equal(bisai_bcsr_blocks(a), 0);
      double x[12] = {1}, y[12];
      for (int k = 0; k < 12; k++) y[k] = (double)NAN;
      EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
      for (int k = 0; k < 12; k++) assert_true(k < 3 * sizes[i][0] ? y[k] == 0.0 : isnan(y[k]));
      bisai_bcsr_destroy(&a);
    }
  }
}

/* The padding between the columns must stay as it was. */
static void many_vectors_multiply_like_single_ones(void **state) {
  (void)state;
  static const int32_t counts[] = {0, 1, 2, 3, 4, 5, 8, 9};
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    test_shape shape = {9, 7, bs, 2.5, 4, TEST_DIAGONAL_RANDOM, TEST_FULL, (uint64_t)(700 + bs)};
    test_bcsr arrays = test_bcsr_random(shape);
    double *dense = test_dense_from_arrays(&arrays);
    bisai_bcsr *a = test_bcsr_take(context, arrays);
    const int64_t rows = scalar_rows(a), cols = scalar_cols(a);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
      for (int64_t pad = 0; pad < 4; pad += 3) {
        const int32_t count = counts[k];
        const int64_t ldx = cols + pad, ldy = rows + 2 * pad;
        double *x = test_random_vector(ldx * (count + 1), (uint64_t)count),
               *y = nan_vector(ldy * (count + 1));
        EXPECT_OK(context, bisai_bcsr_multiply_many(a, count, x, ldx, y, ldy));
        for (int32_t c = 0; c < count; c++) {
          expect_product(rows, cols, dense, x + c * ldx, y + c * ldy);
          for (int64_t i = rows; i < ldy; i++) assert_true(isnan(y[c * ldy + i]));
        }
        assert_true(isnan(y[count * ldy]));
        free(x);
        free(y);
      }
    }
    bisai_bcsr_destroy(&a);
    free(dense);
  }
}

static void a_product_is_added(void **state) {
  (void)state;
  for (int s = 0; s < BLOCK_SIZES; s++) {
    const int32_t bs = block_sizes[s];
    test_shape shape = {9, 7, bs, 2.5, 4, TEST_DIAGONAL_RANDOM, TEST_FULL, (uint64_t)(900 + bs)};
    test_bcsr arrays = test_bcsr_random(shape);
    bisai_bcsr *a = test_bcsr_take(context, arrays);
    const int64_t rows = scalar_rows(a), cols = scalar_cols(a);
    double *x = test_random_vector(cols, 1), *y = test_random_vector(rows, 2),
           *product = nan_vector(rows), *expected = test_random_vector(rows, 2);
    EXPECT_OK(context, bisai_bcsr_multiply(a, x, product));
    EXPECT_OK(context, bisai_bcsr_multiply_add(a, x, y));
    for (int64_t i = 0; i < rows; i++) expected[i] += product[i];
    EXPECT_CLOSE(rows, expected, y, 1e-15);
    bisai_bcsr_destroy(&a);
    free(x), free(y), free(product), free(expected);
  }
}

static void thread_counts_give_the_same_bits(void **state) {
  (void)state;
  static const int threads[] = {1, 2, 5};
  for (int32_t bs = 1; bs <= 9; bs++) {
    /* 16 000/bs² rows: large enough that all the threads take part */
    test_bcsr arrays =
        test_bcsr_random(test_shape_square(16000 / (bs * bs), bs, (uint64_t)(800 + bs)));
    const int64_t n = (int64_t)arrays.block_rows * bs;
    double *x = test_random_vector(5 * n, 4), *first = NULL;
    for (size_t t = 0; t < 3; t++) {
      bisai_context *other = test_context(threads[t]);
      bisai_bcsr *a = test_bcsr_make(other, &arrays);
      double *y = nan_vector(6 * n);
      EXPECT_OK(other, bisai_bcsr_multiply(a, x, y));
      EXPECT_OK(other, bisai_bcsr_multiply_many(a, 5, x, n, y + n, n));
      if (first == NULL) {
        first = y;
      } else {
        assert_memory_equal(first, y, (size_t)(6 * n) * sizeof *y);
        free(y);
      }
      bisai_bcsr_destroy(&a);
      bisai_context_destroy(&other);
    }
    free(first);
    free(x);
    test_bcsr_free(&arrays);
  }
}

static void update_replaces_the_values_and_allocates_nothing(void **state) {
  (void)state;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *counted = test_context_on(&allocator, 1);
  test_bcsr arrays = test_bcsr_random(test_shape_square(12, 3, 11));
  bisai_bcsr *a = test_bcsr_make(counted, &arrays);
  const long long calls = atomic_load(&allocator.calls);
  const size_t count = (size_t)test_bcsr_blocks(&arrays) * 9;
  for (size_t i = 0; i < count; i++) arrays.values[i] = -2.0 * arrays.values[i] + 1.0;
  EXPECT_OK(counted, bisai_bcsr_update(a, arrays.values, BISAI_COLUMN_MAJOR));
  const void *values;
  bisai_bcsr_arrays(a, NULL, NULL, &values);
  assert_memory_equal(values, arrays.values, count * sizeof(double));
  assert_int_equal(atomic_load(&allocator.calls), calls);
  bisai_bcsr_destroy(&a);
  test_bcsr_free(&arrays);
  bisai_context_destroy(&counted);
}

static void update_that_is_refused_keeps_the_old_values(void **state) {
  (void)state;
  skip_on_device();
  test_bcsr arrays = test_bcsr_random(test_shape_square(6, 2, 12));
  bisai_bcsr_desc desc = desc_of(&arrays);
  bisai_bcsr *a = test_bcsr_make(context, &arrays), *borrowed = NULL;
  const size_t count = (size_t)test_bcsr_blocks(&arrays) * 4;
  double *bad = malloc(count * sizeof *bad);
  memcpy(bad, arrays.values, count * sizeof *bad);
  bad[0] = 17.0;
  bad[count - 1] = (double)NAN;
  char expected[64];
  snprintf(expected, sizeof expected, "block (5, %d) holds a NaN or infinity",
           arrays.col_idx[count / 4 - 1]);
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_update(a, bad, BISAI_COLUMN_MAJOR));
  EXPECT_MESSAGE(context, expected);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update(a, NULL, BISAI_COLUMN_MAJOR));
  EXPECT_MESSAGE(context, "values is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_bcsr_update(a, arrays.values, (bisai_layout)2));
  EXPECT_MESSAGE(context, "unknown block layout 2");
  assert_int_equal(bisai_bcsr_update(NULL, bad, BISAI_COLUMN_MAJOR), BISAI_INVALID_ARGUMENT);
  const void *values;
  bisai_bcsr_arrays(a, NULL, NULL, &values);
  assert_memory_equal(values, arrays.values, count * sizeof(double));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update(a, values, BISAI_COLUMN_MAJOR));
  EXPECT_MESSAGE(context, "values is the matrix's own array, which must not be written to");

  desc.ownership = BISAI_BORROW;
  EXPECT_OK(context, bisai_bcsr_create(context, &desc, &borrowed));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                bisai_bcsr_update(borrowed, arrays.values, BISAI_COLUMN_MAJOR));
  EXPECT_MESSAGE(context, "the values are borrowed: write to your own array");
  bisai_bcsr_destroy(&borrowed);
  bisai_bcsr_destroy(&a);
  free(bad);
  test_bcsr_free(&arrays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(desc_has_documented_defaults),
      cmocka_unit_test(product_of_two_blocks_equals_hand_computation),
      cmocka_unit_test(every_block_size_multiplies_like_its_dense_matrix),
      cmocka_unit_test(narrow_values_multiply_as_their_exact_conversions),
      cmocka_unit_test(every_sixteen_bit_value_is_converted_exactly),
      cmocka_unit_test(row_major_blocks_are_transposed_on_the_way_in),
      cmocka_unit_test(unsorted_copies_are_sorted),
      cmocka_unit_test(copies_outlive_the_callers_arrays_and_borrowed_arrays_are_used_in_place),
      cmocka_unit_test(the_host_borrows_values_wherever_they_begin),
      cmocka_unit_test(borrowing_allocates_no_arrays),
      cmocka_unit_test(matrices_without_rows_columns_or_blocks_are_legal),
      cmocka_unit_test(many_vectors_multiply_like_single_ones),
      cmocka_unit_test(a_product_is_added),
      cmocka_unit_test(thread_counts_give_the_same_bits),
      cmocka_unit_test(update_replaces_the_values_and_allocates_nothing),
      cmocka_unit_test(update_that_is_refused_keeps_the_old_values),
  };
  return cmocka_run_group_tests_name("bcsr", tests, setup, teardown);
}
