/* SPDX-License-Identifier: BSD-3-Clause */
/* New values for matrices that were made from CSR arrays. Values are moved, never computed with, so
 * all comparisons are exact. */
#include "fixture.h"

#include <math.h>

#include "core/matrix/bcsr_impl.h"
#include "core/matrix/matrix_ops.h"
#include "csr.h"

static bisai_bcsr *make(bisai_context *own, const bisai_csr_desc *desc) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(own, bisai_bcsr_from_csr(own, desc, &matrix));
  return matrix;
}

static void new_values(csr *a, uint64_t seed) {
  test_random random = test_random_seed(seed);
  for (int32_t p = 0; p < a->row_ptr[a->rows]; p++)
    a->values[p] = test_random_uniform(&random, -1, 1);
}

static size_t values_of(const bisai_bcsr *matrix) {
  const size_t bs = (size_t)bisai_bcsr_block_size(matrix);
  return (size_t)bisai_bcsr_blocks(matrix) * bs * bs;
}

/* Padding, zeros that fill blocks up and structure included. */
static void expect_same_matrix(const bisai_bcsr *expected, const bisai_bcsr *got) {
  assert_int_equal(bisai_bcsr_blocks(expected), bisai_bcsr_blocks(got));
  const size_t count = values_of(expected);
  double *a = malloc((count + 1) * sizeof *a), *b = malloc((count + 1) * sizeof *b);
  assert_true(a && b);
  EXPECT_OK(context, bisai_bcsr_fetch(expected, NULL, NULL, a));
  EXPECT_OK(context, bisai_bcsr_fetch(got, NULL, NULL, b));
  assert_memory_equal(a, b, count * sizeof *a);
  free(a);
  free(b);
}

static void blocks_of_two_are_those_found_by_hand(void **state) {
  (void)state;
  /*  1 . 2 .
   *  . . . 3
   *  . . 4 5
   *  . . . .  with 10, 20, … for 1, 2, … */
  const int32_t row_ptr[] = {0, 2, 3, 5, 5}, col_idx[] = {2, 0, 3, 2, 3};
  const double old[] = {2, 1, 3, 4, 5}, new[] = {20, 10, 30, 40, 50};
  bisai_csr_desc desc = bisai_csr_desc_default();
  desc.rows = desc.cols = 4;
  desc.row_ptr = row_ptr;
  desc.col_idx = col_idx;
  desc.values = old;
  desc.block_size = 2;
  bisai_bcsr *matrix = make(context, &desc);
  desc.values = new;
  EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
  const double expected[] = {10, 0, 0, 0, 20, 0, 0, 30, 40, 0, 50, 0};
  double got[12];
  EXPECT_OK(context, bisai_bcsr_fetch(matrix, NULL, NULL, got));
  EXPECT_CLOSE(12, expected, got, 0.0);
  bisai_bcsr_destroy(&matrix);
}

static void an_update_makes_the_same_matrix_as_creation_for_every_block_size(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= BISAI_MAX_BLOCK_SIZE; bs++)
    for (int32_t n = 1; n <= 70; n += 23) {
      csr a = csr_random(n, n, 0.07, 100 * (uint64_t)n + (uint64_t)bs);
      bisai_csr_desc desc = desc_of(&a);
      desc.block_size = bs;
      desc.pad = true;
      bisai_bcsr *matrix = make(context, &desc);
      new_values(&a, (uint64_t)bs);
      bisai_bcsr *expected = make(context, &desc);
      desc.block_size = 0; /* not read */
      desc.pad = false;
      EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
      expect_same_matrix(expected, matrix);
      bisai_bcsr_destroy(&matrix);
      bisai_bcsr_destroy(&expected);
      csr_free(&a);
    }
}

static void an_update_without_a_pattern_makes_the_same_matrix(void **state) {
  (void)state;
  csr a = csr_random(40, 40, 0.2, 8);
  bisai_csr_desc desc = desc_of(&a);
  desc.block_size = 4;
  bisai_bcsr *matrix = make(context, &desc);
  new_values(&a, 9);
  bisai_bcsr *expected = make(context, &desc);
  desc.row_ptr = NULL, desc.col_idx = NULL;
  EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
  expect_same_matrix(expected, matrix);
  a.values[0] = NAN; /* is still checked */
  EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_update_from_csr(matrix, &desc));
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&expected);
  csr_free(&a);
}

static void rectangular_and_empty_matrices_are_updated(void **state) {
  (void)state;
  for (int32_t rows = 0; rows <= 12; rows += 6)
    for (int32_t cols = 0; cols <= 30; cols += 15) {
      csr a = csr_random(rows, cols, 0.2, 5);
      bisai_csr_desc desc = desc_of(&a);
      desc.block_size = 3;
      bisai_bcsr *matrix = make(context, &desc);
      new_values(&a, 6);
      bisai_bcsr *expected = make(context, &desc);
      EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
      expect_same_matrix(expected, matrix);
      bisai_bcsr_destroy(&matrix);
      bisai_bcsr_destroy(&expected);
      csr_free(&a);
    }
}

/* Enough entries for several threads. */
static void every_number_of_threads_makes_the_same_matrix(void **state) {
  (void)state;
  csr a = csr_random(700, 700, 0.4, 17);
  bisai_csr_desc desc = desc_of(&a);
  desc.block_size = 5;
  for (int threads = 1; threads <= 4; threads++) {
    bisai_context *own = test_context(threads);
    new_values(&a, 1);
    bisai_bcsr *matrix = make(own, &desc);
    new_values(&a, 2);
    bisai_bcsr *expected = make(own, &desc);
    EXPECT_OK(own, bisai_bcsr_update_from_csr(matrix, &desc));
    expect_same_matrix(expected, matrix);
    const int32_t row = 613, kept = a.col_idx[a.row_ptr[row]];
    a.col_idx[a.row_ptr[row]] = a.col_idx[a.row_ptr[row] + 1];
    a.col_idx[a.row_ptr[row + 30]] = -1;
    EXPECT_STATUS(own, BISAI_INVALID_STRUCTURE, bisai_bcsr_update_from_csr(matrix, &desc));
    char message[128];
    snprintf(message, sizeof message,
             "row 613: column %d, but column %d at creation; the pattern cannot change",
             a.col_idx[a.row_ptr[row]], kept);
    EXPECT_MESSAGE(own, message);
    csr_free(&a);
    a = csr_random(700, 700, 0.4, 17);
    desc = desc_of(&a);
    desc.block_size = 5;
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&expected);
    bisai_context_destroy(&own);
  }
  csr_free(&a);
}

static void an_update_allocates_nothing_on_the_host(void **state) {
  (void)state;
  csr a = csr_random(40, 40, 0.2, 8);
  bisai_csr_desc desc = desc_of(&a);
  desc.block_size = 7;
  desc.pad = true;
  test_allocator allocator;
  test_allocator_reset(&allocator, 0);
  bisai_context *own = test_context_on(&allocator, 2);
  bisai_bcsr *matrix = make(own, &desc);
  const long long before = atomic_load(&allocator.calls);
  new_values(&a, 3);
  EXPECT_OK(own, bisai_bcsr_update_from_csr(matrix, &desc));
  if (bisai_context_backend(own) == BISAI_BACKEND_HOST)
    assert_int_equal(atomic_load(&allocator.calls), before);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&own);
  csr_free(&a);
  assert_int_equal(atomic_load(&allocator.live_blocks), 0);
}

/* Another pattern each than rows {0, 2}, {}, {1} of 3 × 3. */
typedef struct other_pattern {
  const char *name;
  int32_t row_ptr[4], col_idx[4];
  const char *message;
} other_pattern;

#define LENGTH ": another number of entries than at creation; the pattern cannot change"
#define ROW_0                                                                                      \
  { 0, 2, 1, 0 }
static const other_pattern others[] = {
    {"csr_update_rejects_another_column",
     {0, 2, 2, 3},
     {0, 1, 1, 0},
     "row 0: column 1, but column 2 at creation; the pattern cannot change"},
    {"csr_update_rejects_columns_in_another_order",
     {0, 2, 2, 3},
     {2, 0, 1, 0},
     "row 0: column 2, but column 0 at creation; the pattern cannot change"},
    {"csr_update_rejects_a_column_twice",
     {0, 2, 2, 3},
     {0, 0, 1, 0},
     "row 0: column 0, but column 2 at creation; the pattern cannot change"},
    {"csr_update_rejects_a_column_out_of_range",
     {0, 2, 2, 3},
     {0, 2, 3, 0},
     "row 2: column 3, but column 1 at creation; the pattern cannot change"},
    {"csr_update_rejects_an_entry_in_another_row", {0, 2, 3, 3}, ROW_0, "row 1" LENGTH},
    {"csr_update_rejects_an_entry_of_the_row_before", {0, 1, 2, 3}, ROW_0, "row 0" LENGTH},
    {"csr_update_rejects_an_entry_less", {0, 2, 2, 2}, ROW_0, "row 2" LENGTH},
    {"csr_update_rejects_an_entry_more", {0, 2, 2, 4}, ROW_0, "row 2" LENGTH},
    {"csr_update_rejects_no_entries", {0, 0, 0, 0}, ROW_0, "row 0" LENGTH},
    {"csr_update_rejects_a_first_row_that_grew", {0, 3, 3, 4}, {0, 2, 1, 1}, "row 0" LENGTH},
    {"csr_update_rejects_decreasing_row_ptr",
     {0, 2, 1, 3},
     ROW_0,
     "row 1: row_ptr decreases from 2 to 1"},
    {"csr_update_rejects_row_ptr_not_starting_at_zero",
     {1, 2, 2, 3},
     ROW_0,
     "row_ptr[0] is 1, expected 0: the arrays count from 0 (if yours count from 1, subtract 1 from "
     "row_ptr and col_idx)"},
};

static void rejects_and_keeps_the_old_values(void **state) {
  const other_pattern *o = *state;
  const int32_t row_ptr[] = {0, 2, 2, 3}, col_idx[] = {0, 2, 1};
  const double old[] = {1, 2, 3}, new[] = {10, 20, 30, 40};
  for (int32_t bs = 1; bs <= 4; bs++) {
    bisai_csr_desc desc = bisai_csr_desc_default();
    desc.rows = desc.cols = 3;
    desc.row_ptr = row_ptr;
    desc.col_idx = col_idx;
    desc.values = old;
    desc.block_size = bs;
    desc.pad = true;
    bisai_bcsr *matrix = make(context, &desc), *same = make(context, &desc);
    desc.row_ptr = o->row_ptr;
    desc.col_idx = o->col_idx;
    desc.values = new;
    EXPECT_STATUS(context, BISAI_INVALID_STRUCTURE, bisai_bcsr_update_from_csr(matrix, &desc));
    EXPECT_MESSAGE(context, o->message);
    expect_same_matrix(same, matrix);
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&same);
  }
}

static void csr_update_names_the_entry_that_is_not_finite(void **state) {
  (void)state;
  const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  csr a = csr_random(20, 20, 0.3, 4);
  for (int32_t bs = 1; bs <= 8; bs++) {
    bisai_csr_desc desc = desc_of(&a);
    desc.block_size = bs;
    desc.pad = true;
    bisai_bcsr *matrix = make(context, &desc), *same = make(context, &desc);
    for (int32_t i = 0; i < a.rows; i++) {
      if (a.row_ptr[i] == a.row_ptr[i + 1]) continue;
      const int32_t p = a.row_ptr[i + 1] - 1;
      const double kept = a.values[p];
      char message[96];
      a.values[p] = bad[i % 3];
      EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_update_from_csr(matrix, &desc));
      snprintf(message, sizeof message, "entry (%d, %d), counted from 0, is NaN or infinity", i,
               a.col_idx[p]);
      EXPECT_MESSAGE(context, message);
      a.values[p] = kept;
    }
    expect_same_matrix(same, matrix);
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&same);
  }
  csr_free(&a);
}

/* CSR arrays hold fewer values than blocks do, so that reading blocks from them would read beyond
 * their end. */
static void updates_by_blocks_are_for_other_matrices(void **state) {
  (void)state;
  csr a = csr_random(12, 12, 0.3, 4);
  bisai_csr_desc desc = desc_of(&a);
  for (int32_t bs = 1; bs <= 3; bs++) {
    desc.block_size = bs;
    bisai_bcsr *matrix = make(context, &desc), *same = make(context, &desc);
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT,
                  bisai_bcsr_update(matrix, a.values, BISAI_COLUMN_MAJOR));
    EXPECT_MESSAGE(context, "the matrix was made by bisai_bcsr_from_csr: "
                            "bisai_bcsr_update_from_csr takes its new values");
    expect_same_matrix(same, matrix);
    bisai_bcsr_destroy(&matrix);
    bisai_bcsr_destroy(&same);
  }
  bisai_bcsr *blocks = test_bcsr_take(context, test_bcsr_tridiagonal(6, 2, 4, -1));
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(blocks, &desc));
  EXPECT_MESSAGE(
      context,
      "the matrix was not made by bisai_bcsr_from_csr: bisai_bcsr_update takes its blocks");
  bisai_bcsr_destroy(&blocks);
  csr_free(&a);
}

static void csr_update_rejects_wrong_arguments(void **state) {
  (void)state;
  csr a = csr_random(12, 12, 0.3, 4);
  bisai_csr_desc good = desc_of(&a), desc = good;
  good.block_size = desc.block_size = 5;
  good.pad = desc.pad = true;
  bisai_bcsr *matrix = make(context, &good);
  assert_int_equal(bisai_bcsr_update_from_csr(NULL, &good), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, NULL));
  EXPECT_MESSAGE(context, "bisai_bcsr_update_from_csr: desc is NULL");
  desc.rows = 15;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "the arrays are of 15 × 12, the matrix of 12 × 12");
  desc = good;
  desc.cols = 15;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "the arrays are of 12 × 15, the matrix of 12 × 12");
  desc = good;
  desc.row_ptr = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "row_ptr is NULL");
  desc = good;
  desc.col_idx = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "col_idx is NULL");
  desc = good;
  desc.values = NULL;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "values is NULL");
  const void *own_values;
  bisai_bcsr_arrays(matrix, NULL, NULL, &own_values);
  desc.values = own_values;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_MESSAGE(context, "values is the matrix's own array, which must not be written to");
  desc = good;
  desc.struct_size = 1;
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_update_from_csr(matrix, &desc));
  bisai_bcsr_destroy(&matrix);
  csr_free(&a);
}

/* Places of 8 bytes, which matrices of more than 2³² values have. */
static void wide_places_go_where_narrow_ones_do(void **state) {
  (void)state;
  const uint32_t narrow[] = {4, 0, 3, 1};
  const uint64_t wide[] = {4, 0, 3, 1};
  const double from[] = {1, 2, 3, 4}, expected[] = {2, 4, 9, 3, 1};
  bisai_context *own = test_host_context(1);
  double to[] = {9, 9, 9, 9, 9};
  EXPECT_OK(own, bsi_backend_host.matrix->blocks->scatter_values(own, 4, false, narrow, from, to));
  EXPECT_CLOSE(5, expected, to, 0.0);
  double again[] = {9, 9, 9, 9, 9};
  EXPECT_OK(own, bsi_backend_host.matrix->blocks->scatter_values(own, 4, true, wide, from, again));
  EXPECT_CLOSE(5, expected, again, 0.0);
  bisai_context_destroy(&own);
}

/* Arrays in the memory of the backend, which the caller releases. */
static bisai_csr_desc on_device(const bisai_csr_desc *desc) {
  const bsi_memory_ops *memory = context->backend->memory;
  const size_t rows = (size_t)desc->rows + 1, entries = (size_t)desc->row_ptr[desc->rows];
  bisai_csr_desc there = *desc;
  int32_t *row_ptr = memory->allocate(context, rows, sizeof *row_ptr),
          *col_idx = memory->allocate(context, entries, sizeof *col_idx);
  double *values = memory->allocate(context, entries, sizeof *values);
  assert_true(row_ptr && col_idx && values);
  EXPECT_OK(context, memory->upload(context, row_ptr, desc->row_ptr, rows * sizeof *row_ptr));
  EXPECT_OK(context, memory->upload(context, col_idx, desc->col_idx, entries * sizeof *col_idx));
  EXPECT_OK(context, memory->upload(context, values, desc->values, entries * sizeof *values));
  there.row_ptr = row_ptr, there.col_idx = col_idx, there.values = values;
  return there;
}

static void release(const bisai_csr_desc *there) {
  const bsi_memory_ops *memory = context->backend->memory;
  memory->release(context, (void *)(uintptr_t)there->row_ptr);
  memory->release(context, (void *)(uintptr_t)there->col_idx);
  memory->release(context, (void *)(uintptr_t)there->values);
}

static void sort_rows(csr *a) {
  for (int32_t i = 0; i < a->rows; i++)
    for (int32_t k = a->row_ptr[i] + 1; k < a->row_ptr[i + 1]; k++)
      for (int32_t p = k; p > a->row_ptr[i] && a->col_idx[p - 1] > a->col_idx[p]; p--) {
        const int32_t column = a->col_idx[p];
        const double value = a->values[p];
        a->col_idx[p] = a->col_idx[p - 1], a->values[p] = a->values[p - 1];
        a->col_idx[p - 1] = column, a->values[p - 1] = value;
      }
}

/* The matrix of arrays on the device, and its updates, are those of the same arrays on the host. */
static void expect_same_from_device(csr *a, bisai_csr_desc desc) {
  const bisai_csr_desc there = on_device(&desc);
  bisai_bcsr *expected = make(context, &desc), *got = make(context, &there);
  bsi_structure s, t;
  assert_int_equal(bisai_bcsr_rows(expected), bisai_bcsr_rows(got));
  assert_int_equal(bsi_bcsr_memory(expected), bsi_bcsr_memory(got));
  expect_same_matrix(expected, got);
  EXPECT_OK(context, bsi_bcsr_structure(expected, &s));
  EXPECT_OK(context, bsi_bcsr_structure(got, &t));
  assert_memory_equal(s.row_ptr, t.row_ptr,
                      ((size_t)bisai_bcsr_block_rows(got) + 1) * sizeof *s.row_ptr);
  assert_memory_equal(s.col_idx, t.col_idx, (size_t)bisai_bcsr_blocks(got) * sizeof *s.col_idx);
  for (int turn = 0; turn < 2; turn++) { /* without and with the pattern, which is compared */
    new_values(a, 77 + (uint64_t)turn);
    EXPECT_OK(context, bisai_bcsr_update_from_csr(expected, &desc));
    if (turn == 0) desc.row_ptr = NULL, desc.col_idx = NULL;
    EXPECT_OK(context, bisai_bcsr_update_from_csr(got, &desc));
    desc.row_ptr = a->row_ptr, desc.col_idx = a->col_idx;
    expect_same_matrix(expected, got);
  }
  bisai_bcsr_destroy(&expected);
  bisai_bcsr_destroy(&got);
  release(&there);
}

static void arrays_on_the_device_make_the_matrix_of_the_host(void **state) {
  (void)state;
  for (int32_t bs = 0; bs <= BISAI_MAX_BLOCK_SIZE; bs += bs < 9 ? 1 : 5)
    for (int sorted = 0; sorted < 2; sorted++) {
      const int32_t size = bs ? bs : 6;
      csr a = csr_random(30 * size, 11 * size, 1.0 / (4 * size), (uint64_t)bs);
      if (sorted) sort_rows(&a);
      bisai_csr_desc desc = desc_of(&a);
      desc.block_size = bs;
      expect_same_from_device(&a, desc);
      csr_free(&a);
    }
  csr padded = csr_random(31, 31, 0.2, 3);
  sort_rows(&padded);
  bisai_csr_desc desc = desc_of(&padded);
  desc.block_size = 4, desc.pad = true;
  expect_same_from_device(&padded, desc);
  csr_free(&padded);
}

/* The fault of the same arrays on the host, in the same words. */
static void expect_fault(const csr *a, bisai_status expected) {
  bisai_csr_desc desc = desc_of(a);
  bisai_bcsr *matrix = NULL;
  char words[256];
  desc.block_size = 3;
  const bisai_csr_desc there = on_device(&desc);
  EXPECT_STATUS(context, expected, bisai_bcsr_from_csr(context, &desc, &matrix));
  snprintf(words, sizeof words, "%s", bisai_context_error(context));
  EXPECT_STATUS(context, expected, bisai_bcsr_from_csr(context, &there, &matrix));
  assert_string_equal(bisai_context_error(context), words);
  assert_null(matrix);
  release(&there);
}

static void faults_of_arrays_on_the_device_are_named(void **state) {
  (void)state;
  csr a = csr_random(60, 60, 0.2, 5);
  sort_rows(&a);
  const int32_t p = a.row_ptr[31] + 1, column = a.col_idx[p], pointer = a.row_ptr[40];
  const double value = a.values[p];
  a.col_idx[p] = 60;
  expect_fault(&a, BISAI_INVALID_STRUCTURE);
  a.col_idx[p] = -1;
  expect_fault(&a, BISAI_INVALID_STRUCTURE);
  a.col_idx[p] = a.col_idx[p - 1];
  expect_fault(&a, BISAI_INVALID_STRUCTURE);
  a.col_idx[p] = column;
  a.row_ptr[40] = a.row_ptr[39] - 1;
  expect_fault(&a, BISAI_INVALID_STRUCTURE);
  a.row_ptr[40] = pointer;
  a.values[p] = INFINITY;
  expect_fault(&a, BISAI_NOT_FINITE);
  a.values[p] = value;
  if (!context->backend->memory->is_host) {
    bisai_csr_desc desc = desc_of(&a);
    bisai_bcsr *matrix = NULL;
    const bisai_csr_desc there = on_device(&desc);
    desc.row_ptr = there.row_ptr;
    EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_from_csr(context, &desc, &matrix));
    release(&there);
  }
  csr_free(&a);
}

static void an_empty_matrix_on_the_device_is_one(void **state) {
  (void)state;
  csr a = csr_random(12, 6, 0.0, 1);
  bisai_csr_desc desc = desc_of(&a), there;
  desc.block_size = 3;
  there = on_device(&desc);
  bisai_bcsr *matrix = make(context, &there);
  assert_int_equal(bisai_bcsr_blocks(matrix), 0);
  bisai_bcsr_destroy(&matrix);
  const bisai_csr_desc all = there;
  there.col_idx = NULL, there.values = NULL;
  matrix = make(context, &there);
  assert_int_equal(bisai_bcsr_block_rows(matrix), 4);
  bisai_bcsr_destroy(&matrix);
  release(&all);
  csr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_of_two_are_those_found_by_hand),
      cmocka_unit_test(an_update_makes_the_same_matrix_as_creation_for_every_block_size),
      cmocka_unit_test(an_update_without_a_pattern_makes_the_same_matrix),
      cmocka_unit_test(rectangular_and_empty_matrices_are_updated),
      cmocka_unit_test(every_number_of_threads_makes_the_same_matrix),
      cmocka_unit_test(an_update_allocates_nothing_on_the_host),
      cmocka_unit_test(csr_update_names_the_entry_that_is_not_finite),
      cmocka_unit_test(updates_by_blocks_are_for_other_matrices),
      cmocka_unit_test(csr_update_rejects_wrong_arguments),
      cmocka_unit_test(wide_places_go_where_narrow_ones_do),
      cmocka_unit_test(arrays_on_the_device_make_the_matrix_of_the_host),
      cmocka_unit_test(faults_of_arrays_on_the_device_are_named),
      cmocka_unit_test(an_empty_matrix_on_the_device_is_one),
  };
  enum { PLAIN = sizeof tests / sizeof *tests, OTHERS = sizeof others / sizeof *others };
  struct CMUnitTest all[PLAIN + OTHERS];
  memcpy(all, tests, sizeof tests);
  for (size_t k = 0; k < OTHERS; k++)
    all[PLAIN + k] = (struct CMUnitTest){others[k].name, rejects_and_keeps_the_old_values, NULL,
                                         NULL, (void *)(uintptr_t)&others[k]};
  return cmocka_run_group_tests(all, setup, teardown);
}
