/* SPDX-License-Identifier: BSD-3-Clause */
/* BCSR from scalar CSR, and the block size that costs a product the fewest bytes. Values are moved,
 * never computed with, so all comparisons are exact. */
#include "csr.h"
#include "fixture.h"

#include <math.h>

#include "core/context/context_impl.h"

/* Column-major, with `padding` rows and columns of the identity. */
static double *dense_of(const csr *a, int32_t padding) {
  const size_t rows = (size_t)(a->rows + padding), cols = (size_t)(a->cols + padding);
  double *dense = calloc(rows * cols + 1, sizeof *dense);
  assert_non_null(dense);
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      dense[(size_t)a->col_idx[p] * rows + (size_t)i] = a->values[p];
  for (size_t i = (size_t)a->rows; i < rows; i++) dense[i * rows + i] = 1.0;
  return dense;
}

/* Blocks with an entry, padding's diagonal block among them, by looking at every one. */
static int64_t count_blocks(const csr *a, int32_t bs) {
  const int32_t padding = (bs - a->rows % bs) % bs;
  const int32_t block_rows = (a->rows + bs - 1) / bs, block_cols = (a->cols + bs - 1) / bs;
  bool *there = calloc((size_t)block_rows * (size_t)block_cols + 1, sizeof *there);
  assert_non_null(there);
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      there[(size_t)(i / bs) * (size_t)block_cols + (size_t)(a->col_idx[p] / bs)] = true;
  if (padding > 0 && a->rows == a->cols) there[(size_t)block_rows * (size_t)block_cols - 1] = true;
  int64_t count = 0;
  for (size_t k = 0; k < (size_t)block_rows * (size_t)block_cols; k++) count += there[k];
  free(there);
  return count;
}

static int32_t best_size(const csr *a) {
  int32_t best = 1;
  int64_t lowest = INT64_MAX;
  for (int32_t bs = 1; bs <= 8; bs++) {
    if (a->rows % bs != 0 || a->cols % bs != 0) continue;
    const int64_t cost = (8 * bs * bs + 4) * count_blocks(a, bs);
    if (cost > lowest) continue;
    lowest = cost;
    best = bs;
  }
  return best;
}

static void expect_matrix(const csr *a, int32_t bs, const bisai_bcsr *matrix) {
  const int32_t padding = (bs - a->rows % bs) % bs;
  assert_int_equal(bisai_bcsr_block_size(matrix), bs);
  assert_int_equal(bisai_bcsr_rows(matrix), a->rows);
  assert_int_equal(bisai_bcsr_padding(matrix), padding);
  assert_int_equal(bisai_bcsr_block_rows(matrix), (a->rows + padding) / bs);
  assert_int_equal(bisai_bcsr_block_cols(matrix),
                   (a->cols + (a->rows == a->cols ? padding : 0)) / bs);
  assert_int_equal(bisai_bcsr_blocks(matrix), count_blocks(a, bs));
  assert_int_equal(bisai_bcsr_value_type(matrix), BISAI_FP64);
  const int32_t *row_ptr, *col_idx;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, NULL);
  for (int32_t i = 0; i < bisai_bcsr_block_rows(matrix); i++)
    for (int32_t p = row_ptr[i] + 1; p < row_ptr[i + 1]; p++)
      assert_true(col_idx[p - 1] < col_idx[p]);
  double *expected = dense_of(a, padding), *got = test_dense(matrix);
  EXPECT_CLOSE((int64_t)(a->rows + padding) * (a->cols + (a->rows == a->cols ? padding : 0)),
               expected, got, 0.0);
  free(expected);
  free(got);
}

static void desc_has_documented_defaults(void **state) {
  (void)state;
  const bisai_csr_desc desc = bisai_csr_desc_default();
  assert_int_equal(desc.struct_size, sizeof desc);
  assert_int_equal(desc.block_size, 0);
  assert_false(desc.pad);
}

static void two_by_two_blocks_are_those_found_by_hand(void **state) {
  (void)state;
  /*  1 . 2 .
   *  . . . 3
   *  . . 4 5
   *  . . . .  */
  const int32_t row_ptr[] = {0, 2, 3, 5, 5}, col_idx[] = {2, 0, 3, 2, 3};
  const double values[] = {2, 1, 3, 4, 5};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 4;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = 2;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  const int32_t *block_ptr, *block_col;
  const void *blocks;
  bisai_bcsr_arrays(matrix, &block_ptr, &block_col, &blocks);
  const int32_t expected_ptr[] = {0, 2, 3}, expected_col[] = {0, 1, 1};
  const double expected[] = {1, 0, 0, 0, 2, 0, 0, 3, 4, 0, 5, 0};
  assert_memory_equal(block_ptr, expected_ptr, sizeof expected_ptr);
  assert_memory_equal(block_col, expected_col, sizeof expected_col);
  EXPECT_CLOSE(12, expected, (const double *)blocks, 0.0);
  bisai_bcsr_destroy(&matrix);
}

static void every_block_size_keeps_every_entry(void **state) {
  (void)state;
  static const int32_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 32};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int32_t n = 1; n <= 70; n += 23) {
      csr a = csr_random(n, n, 0.07, 100 * (uint64_t)n + k);
      bisai_csr_desc desc = desc_of(&a);
      desc.block_size = sizes[k];
      desc.pad = true;
      bisai_bcsr *matrix = NULL;
      EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
      expect_matrix(&a, sizes[k], matrix);
      bisai_bcsr_destroy(&matrix);
      csr_free(&a);
    }
}

static void rectangular_matrices_are_converted_where_the_size_divides(void **state) {
  (void)state;
  csr a = csr_random(12, 30, 0.1, 5);
  for (int32_t bs = 1; bs <= 6; bs++) {
    bisai_csr_desc desc = desc_of(&a);
    desc.block_size = bs;
    bisai_bcsr *matrix = NULL;
    if (12 % bs == 0 && 30 % bs == 0) {
      EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
      expect_matrix(&a, bs, matrix);
    } else {
      EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
      assert_null(matrix);
    }
    bisai_bcsr_destroy(&matrix);
  }
  csr_free(&a);
}

static void stored_zeros_make_blocks(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1, 1}, col_idx[] = {1};
  const double values[] = {0};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 2;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = values;
  desc.block_size = 1;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  assert_int_equal(bisai_bcsr_blocks(matrix), 1);
  bisai_bcsr_destroy(&matrix);
}

static void matrices_without_rows_or_entries_are_legal(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 0, 0, 0};
  for (int32_t n = 0; n <= 3; n += 3) {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = desc.cols = n;
    desc.row_ptr = row_ptr;
    desc.block_size = 2;
    desc.pad = true;
    bisai_bcsr *matrix = NULL;
    EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
    assert_int_equal(bisai_bcsr_rows(matrix), n);
    assert_int_equal(bisai_bcsr_blocks(matrix), n == 0 ? 0 : 1); /* padding's */
    bisai_bcsr_destroy(&matrix);
  }
}

static void chosen_block_size_divides_where_padding_is_not_asked_for(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    test_random random = test_random_seed(seed);
    const int32_t rows = test_random_integer(&random, 1, 48);
    const int32_t cols = seed % 2 ? rows : test_random_integer(&random, 1, 48);
    /* full diagonal blocks: the cheapest size is chosen */
    csr a = csr_random(rows, cols, 1.0, seed);
    const bisai_csr_desc desc = desc_of(&a);
    bisai_bcsr *matrix = NULL;
    EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
    expect_matrix(&a, best_size(&a), matrix);
    bisai_bcsr_destroy(&matrix);
    if (rows != cols) {
      int32_t bs = 0;
      EXPECT_OK(context, bisai_block_size_choose(context, &desc, &bs));
      assert_int_equal(bs, best_size(&a));
    }
    csr_free(&a);
  }
}

static void ties_go_to_the_larger_block_size(void **state) {
  (void)state;
  /* b full 2 × 2 blocks and m single entries, all far apart, cost 12·(4b + m) for size 1 and 36·(b
   * + m) for size 2: the same where b = 2m. */
  enum { BLOCKS = 10, SINGLES = 5, APART = 24, N = (BLOCKS + SINGLES) * APART };
  csr a = {.rows = N, .cols = N};
  a.row_ptr = calloc(N + 1, sizeof *a.row_ptr);
  a.col_idx = calloc(4 * BLOCKS + SINGLES, sizeof *a.col_idx);
  a.values = calloc(4 * BLOCKS + SINGLES, sizeof *a.values);
  int32_t next = 0;
  for (int32_t i = 0; i < N; i++) {
    const int32_t place = i / APART * APART;
    if (i - place < (i / APART < BLOCKS ? 2 : 1)) {
      a.col_idx[next++] = place;
      if (i / APART < BLOCKS) a.col_idx[next++] = place + 1;
    }
    a.row_ptr[i + 1] = next;
  }
  assert_int_equal(12 * count_blocks(&a, 1), 36 * count_blocks(&a, 2));
  const bisai_csr_desc desc = desc_of(&a);
  int32_t bs = 0;
  EXPECT_OK(context, bisai_block_size_choose(context, &desc, &bs));
  assert_int_equal(bs, 2);
  csr_free(&a);
}

/* One wrong argument or array each, on this matrix: rows {0, 2}, {}, {1} of 3 × 4. */
typedef struct wrong {
  const char *name;
  int32_t rows, cols;
  int32_t row_ptr[4], col_idx[3];
  double values[3];
  int32_t block_size;
  bool pad;
  bisai_status status;
  const char *message;
} wrong;

#define GOOD_PTR                                                                                   \
  { 0, 2, 2, 3 }
#define GOOD_COL                                                                                   \
  { 0, 2, 1 }
#define GOOD_VALUES                                                                                \
  { 1, 2, 3 }
static const wrong wrongs[] = {
    {"csr_rejects_negative_rows", -1, 4, GOOD_PTR, GOOD_COL, GOOD_VALUES, 1, false,
     BISAI_INVALID_ARGUMENT, "negative size: -1 rows, 4 columns"},
    {"csr_rejects_negative_columns", 3, -4, GOOD_PTR, GOOD_COL, GOOD_VALUES, 1, false,
     BISAI_INVALID_ARGUMENT, "negative size: 3 rows, -4 columns"},
    {"csr_rejects_row_ptr_not_starting_at_zero",
     3,
     4,
     {1, 2, 2, 3},
     GOOD_COL,
     GOOD_VALUES,
     1,
     false,
     BISAI_INVALID_STRUCTURE,
     "row_ptr[0] is 1, expected 0: the arrays count from 0 (if yours count from 1, subtract 1 from "
     "row_ptr and col_idx)"},
    {"csr_rejects_decreasing_row_ptr",
     3,
     4,
     {0, 2, 1, 3},
     GOOD_COL,
     GOOD_VALUES,
     1,
     false,
     BISAI_INVALID_STRUCTURE,
     "row 1: row_ptr decreases from 2 to 1"},
    {"csr_rejects_column_out_of_range",
     3,
     4,
     GOOD_PTR,
     {0, 4, 1},
     GOOD_VALUES,
     1,
     false,
     BISAI_INVALID_STRUCTURE,
     "row 0: column 4 is outside 0 … 3"},
    {"csr_rejects_negative_column",
     3,
     4,
     GOOD_PTR,
     {0, 2, -7},
     GOOD_VALUES,
     1,
     false,
     BISAI_INVALID_STRUCTURE,
     "row 2: column -7 is outside 0 … 3"},
    {"csr_rejects_duplicate_column",
     3,
     4,
     GOOD_PTR,
     {2, 2, 1},
     GOOD_VALUES,
     1,
     false,
     BISAI_INVALID_STRUCTURE,
     "row 0: column 2 appears twice"},
    {"csr_rejects_nan",
     3,
     4,
     GOOD_PTR,
     GOOD_COL,
     {1, 2, (double)NAN},
     1,
     false,
     BISAI_NOT_FINITE,
     "entry (2, 1), counted from 0, is NaN or infinity"},
    {"csr_rejects_infinity",
     3,
     4,
     GOOD_PTR,
     GOOD_COL,
     {1, -(double)INFINITY, 3},
     1,
     false,
     BISAI_NOT_FINITE,
     "entry (0, 2), counted from 0, is NaN or infinity"},
    {"csr_rejects_negative_block_size", 3, 4, GOOD_PTR, GOOD_COL, GOOD_VALUES, -1, false,
     BISAI_INVALID_ARGUMENT, "block size -1 is outside 1 … 32"},
    {"csr_rejects_large_block_size", 3, 4, GOOD_PTR, GOOD_COL, GOOD_VALUES, 33, false,
     BISAI_INVALID_ARGUMENT, "block size 33 is outside 1 … 32"},
    {"csr_rejects_block_size_that_does_not_divide", 3, 4, GOOD_PTR, GOOD_COL, GOOD_VALUES, 3, false,
     BISAI_INVALID_ARGUMENT, "block size 3 does not divide 3 × 4, and padding was not asked for"},
    {"csr_rejects_padding_of_rectangular_matrix", 3, 4, GOOD_PTR, GOOD_COL, GOOD_VALUES, 1, true,
     BISAI_INVALID_ARGUMENT, "only square matrices can be padded, this one is 3 × 4"},
};

static void rejects(void **state) {
  const wrong *w = *state;
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = w->rows;
  desc.cols = w->cols;
  desc.row_ptr = w->row_ptr;
  desc.col_idx = w->col_idx;
  desc.values = w->values;
  desc.block_size = w->block_size;
  desc.pad = w->pad;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 1);
  const long long before = atomic_load(&allocator.live_blocks);
  bisai_bcsr *matrix = NULL;
  EXPECT_STATUS(own, w->status, bisai_bcsr_from_csr(own, &desc, &matrix));
  EXPECT_MESSAGE(own, w->message);
  assert_null(matrix);
  assert_int_equal(atomic_load(&allocator.live_blocks), before);
  bisai_context_destroy(&own);
}

static void csr_rejects_null_and_unknown_structs(void **state) {
  (void)state;
  const int32_t row_ptr[] = {0, 1}, col_idx[] = {0};
  const double values[] = {1};
  bisai_csr_desc good = bisai_csr_desc_default();
  good.rows = good.cols = 1;
  good.row_ptr = row_ptr;
  good.col_idx = col_idx;
  good.values = values;
  bisai_bcsr *matrix = NULL;
  assert_int_equal(bisai_bcsr_from_csr(NULL, &good, &matrix), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, NULL, &matrix));
  EXPECT_MESSAGE(context, "bisai_bcsr_from_csr: desc is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &good, NULL));
  EXPECT_MESSAGE(context, "bisai_bcsr_from_csr: matrix is NULL");

  bisai_csr_desc desc = good;
  desc.row_ptr = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  EXPECT_MESSAGE(context, "row_ptr is NULL");
  desc = good;
  desc.col_idx = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  EXPECT_MESSAGE(context, "col_idx is NULL");
  desc = good;
  desc.values = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  EXPECT_MESSAGE(context, "values is NULL");
  desc = good;
  desc.struct_size = 1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
  char message[128];
  snprintf(message, sizeof message,
           "bisai_csr_desc.struct_size is 1, expected %zu: start from its default", sizeof desc);
  EXPECT_MESSAGE(context, message);
  assert_null(matrix);

  int32_t bs = 77;
  assert_int_equal(bisai_block_size_choose(NULL, &good, &bs), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_block_size_choose(context, NULL, &bs));
  EXPECT_MESSAGE(context, "bisai_block_size_choose: desc is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_block_size_choose(context, &good, NULL));
  EXPECT_MESSAGE(context, "bisai_block_size_choose: block_size is NULL");
  const int32_t outside[] = {5};
  desc = good;
  desc.col_idx = outside;
  EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_block_size_choose(context, &desc, &bs));
  EXPECT_MESSAGE(context, "row 0: column 5 is outside 0 … 0");
  assert_int_equal(bs, 77);
  desc = good;
  desc.values = NULL; /* not read */
  EXPECT_OK(context, bisai_block_size_choose(context, &desc, &bs));
}

/* Enough entries for several threads, whose parts of the rows come in any order. */
static void every_number_of_threads_makes_the_same_matrix(void **state) {
  (void)state;
  csr a = csr_random(701, 701, 0.4, 23);
  for (int32_t bs = 1; bs <= 5; bs += 4)
    for (int run = 0; run < 16; run++) {
      bisai_context *own = test_context(1 + run % 8);
      bisai_csr_desc desc = desc_of(&a);
      desc.block_size = bs;
      desc.pad = true;
      bisai_bcsr *matrix = NULL;
      EXPECT_OK(own, bisai_bcsr_from_csr(own, &desc, &matrix));
      expect_matrix(&a, bs, matrix);
      bisai_bcsr_destroy(&matrix);
      bisai_context_destroy(&own);
    }
  csr_free(&a);
}

static void every_number_of_threads_names_the_same_infinity(void **state) {
  (void)state;
  csr a = csr_random(701, 701, 0.4, 29);
  const int32_t first = a.row_ptr[97] + 3, same_block = a.row_ptr[98], others[] = {99, 350, 698};
  a.values[first] = INFINITY;
  a.values[same_block] = NAN;
  for (int k = 0; k < 3; k++) a.values[a.row_ptr[others[k]]] = NAN;
  char message[128];
  snprintf(message, sizeof message, "entry (97, %d), counted from 0, is NaN or infinity",
           a.col_idx[first]);
  for (int run = 0; run < 16; run++) {
    bisai_context *own = test_context(1 + run % 8);
    bisai_csr_desc desc = desc_of(&a);
    desc.block_size = 5;
    desc.pad = true;
    bisai_bcsr *matrix = NULL;
    EXPECT_STATUS(own, BISAI_NOT_FINITE, bisai_bcsr_from_csr(own, &desc, &matrix));
    EXPECT_MESSAGE(own, message);
    assert_null(matrix);
    bisai_context_destroy(&own);
  }
  csr_free(&a);
}

static void failing_allocations_leak_nothing(void **state) {
  (void)state;
  csr a = csr_random(30, 30, 0.2, 3);
  const bisai_csr_desc desc = desc_of(&a);
  bisai_status status = BISAI_OUT_OF_MEMORY;
  long long fail_at = 1;
  for (; status == BISAI_OUT_OF_MEMORY && fail_at < 49; fail_at++) {
    test_allocator allocator;
    test_allocator_reset(&allocator, 0);
    bisai_context *own = test_context_on(&allocator, 1);
    const long long before = atomic_load(&allocator.live_blocks);
    allocator.fail_at = atomic_load(&allocator.calls) + fail_at;
    bisai_bcsr *matrix = NULL;
    status = bisai_bcsr_from_csr(own, &desc, &matrix);
    assert_true((status == BISAI_OK) == (matrix != NULL));
    if (status) assert_int_equal(atomic_load(&allocator.live_blocks), before);
    bisai_bcsr_destroy(&matrix);
    bisai_context_destroy(&own);
    assert_int_equal(atomic_load(&allocator.live_blocks), 0);
  }
  assert_int_equal(status, BISAI_OK);
  assert_true(fail_at > 4);
  csr_free(&a);
}

static int uploads;

static bisai_status counted_upload(bisai_context *own, void *backend_memory, const void *host,
                                   size_t bytes) {
  (void)own;
  uploads++;
  memcpy(backend_memory, host, bytes);
  return BISAI_OK;
}

static void arrays_are_uploaded_to_a_backend_with_memory_of_its_own(void **state) {
  (void)state;
  bsi_backend elsewhere = bsi_backend_host;
  elsewhere.kind = BISAI_BACKEND_CUDA;
  bsi_memory_ops memory = *elsewhere.memory;
  memory.is_host = false;
  memory.upload = counted_upload;
  elsewhere.memory = &memory;
  bisai_context *own = test_host_context(1);
  own->backend = &elsewhere;
  csr a = csr_random(40, 40, 0.1, 9);
  bisai_csr_desc desc = desc_of(&a);
  desc.block_size = 3;
  desc.pad = true;
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(own, bisai_bcsr_from_csr(own, &desc, &matrix));
  assert_int_equal(uploads, 4); /* with the places of entries */
  expect_matrix(&a, 3, matrix);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
  csr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(desc_has_documented_defaults),
      cmocka_unit_test(two_by_two_blocks_are_those_found_by_hand),
      cmocka_unit_test(every_block_size_keeps_every_entry),
      cmocka_unit_test(rectangular_matrices_are_converted_where_the_size_divides),
      cmocka_unit_test(stored_zeros_make_blocks),
      cmocka_unit_test(matrices_without_rows_or_entries_are_legal),
      cmocka_unit_test(chosen_block_size_divides_where_padding_is_not_asked_for),
      cmocka_unit_test(ties_go_to_the_larger_block_size),
      cmocka_unit_test(csr_rejects_null_and_unknown_structs),
      cmocka_unit_test(every_number_of_threads_makes_the_same_matrix),
      cmocka_unit_test(every_number_of_threads_names_the_same_infinity),
      cmocka_unit_test(failing_allocations_leak_nothing),
      cmocka_unit_test(arrays_are_uploaded_to_a_backend_with_memory_of_its_own),
  };
  enum { PLAIN = sizeof tests / sizeof *tests, WRONGS = sizeof wrongs / sizeof *wrongs };
  struct CMUnitTest all[PLAIN + WRONGS];
  memcpy(all, tests, sizeof tests);
  for (size_t k = 0; k < WRONGS; k++)
    all[PLAIN + k] =
        (struct CMUnitTest){wrongs[k].name, rejects, NULL, NULL, (void *)(uintptr_t)&wrongs[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
