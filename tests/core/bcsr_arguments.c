/* SPDX-License-Identifier: BSD-3-Clause */
/* What bisai_bcsr_create() and the products refuse: a sound 3 × 4 matrix of 2 × 2 blocks, spoilt in
 * one place. */
#include "fixture.h"

#include <math.h>

typedef struct spoilt {
  int32_t row_ptr[4], col_idx[6];
  double values[24];
  bisai_bcsr_desc desc;
} spoilt;

static void make_sound(spoilt *s) {
  *s = (spoilt){.row_ptr = {0, 2, 3, 6}, .col_idx = {0, 2, 1, 0, 2, 3}};
  for (int i = 0; i < 24; i++) s->values[i] = i + 1.0;
  s->desc = bisai_bcsr_desc_default();
  s->desc.block_rows = 3;
  s->desc.block_cols = 4;
  s->desc.block_size = 2;
  s->desc.row_ptr = s->row_ptr;
  s->desc.col_idx = s->col_idx;
  s->desc.values = s->values;
}

static void expect_refused(const spoilt *s, bisai_status status, const char *message) {
  bisai_bcsr *const untouched = (bisai_bcsr *)(uintptr_t)64;
  bisai_bcsr *a = untouched;
  EXPECT_STATUS(context, status, bisai_bcsr_create(context, &s->desc, &a));
  EXPECT_MESSAGE(context, message);
  assert_ptr_equal(a, untouched);
}

static void the_sound_matrix_is_accepted(void **state) {
  (void)state;
  spoilt s;
  bisai_bcsr *a = NULL;
  make_sound(&s);
  EXPECT_OK(context, bisai_bcsr_create(context, &s.desc, &a));
  bisai_bcsr_destroy(&a);
}

static void bcsr_refuses_null(void **state) {
  (void)state;
  spoilt s;
  bisai_bcsr *a = NULL;
  make_sound(&s);
  assert_int_equal(bisai_bcsr_create(NULL, &s.desc, &a), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_create(context, NULL, &a));
  EXPECT_MESSAGE(context, "bisai_bcsr_create: desc is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_create(context, &s.desc, NULL));
  EXPECT_MESSAGE(context, "bisai_bcsr_create: matrix is NULL");
  assert_null(a);
  s.desc.row_ptr = NULL;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "row_ptr is NULL");
  make_sound(&s);
  s.desc.col_idx = NULL;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "col_idx is NULL");
  make_sound(&s);
  s.desc.values = NULL;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "values is NULL");
}

static void bcsr_refuses_unknown_struct_sizes(void **state) {
  (void)state;
  spoilt s;
  char expected[128];
  static const size_t sizes[] = {0, sizeof(bisai_bcsr_desc) - 1, sizeof(bisai_bcsr_desc) + 8};
  for (size_t i = 0; i < 3; i++) {
    make_sound(&s);
    s.desc.struct_size = sizes[i];
    snprintf(expected, sizeof expected,
             "bisai_bcsr_desc.struct_size is %zu, expected %zu: start from its default", sizes[i],
             sizeof(bisai_bcsr_desc));
    expect_refused(&s, BISAI_INVALID_ARGUMENT, expected);
  }
}

static void bcsr_refuses_block_sizes_out_of_range(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.block_size = 0;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "block size 0 is outside 1 … 32");
  s.desc.block_size = -3;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "block size -3 is outside 1 … 32");
  s.desc.block_size = 33;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "block size 33 is outside 1 … 32");
}

static void bcsr_refuses_negative_sizes(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.block_rows = -1;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "negative size: -1 block rows, 4 block columns");
  make_sound(&s);
  s.desc.block_cols = INT32_MIN;
  expect_refused(&s, BISAI_INVALID_ARGUMENT,
                 "negative size: 3 block rows, -2147483648 block columns");
}

static void bcsr_refuses_sizes_beyond_the_index_type(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.block_rows = 1 << 30;
  expect_refused(&s, BISAI_INDEX_OVERFLOW,
                 "1073741824 × 4 blocks of size 2: more than 2147483647 scalar rows or columns");
  make_sound(&s);
  s.desc.block_cols = INT32_MAX;
  expect_refused(&s, BISAI_INDEX_OVERFLOW,
                 "3 × 2147483647 blocks of size 2: more than 2147483647 scalar rows or columns");
}

static void bcsr_refuses_unknown_enums(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.value_type = (bisai_value_type)4;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "unknown value type 4");
  make_sound(&s);
  s.desc.value_type = (bisai_value_type)-1;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "unknown value type -1");
  make_sound(&s);
  s.desc.layout = (bisai_layout)2;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "unknown block layout 2");
  make_sound(&s);
  s.desc.ownership = (bisai_ownership)7;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "unknown ownership 7");
  make_sound(&s);
  s.desc.location = (bisai_location)2;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "unknown location 2");
}

static void bcsr_refuses_device_arrays_on_the_host(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.location = BISAI_DEVICE;
  if (!test_on_device())
    expect_refused(&s, BISAI_UNAVAILABLE, "device arrays need a context on that device");
}

static void bcsr_refuses_to_borrow_row_major_blocks(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.layout = BISAI_ROW_MAJOR;
  s.desc.ownership = BISAI_BORROW;
  expect_refused(&s, BISAI_INVALID_ARGUMENT, "row-major blocks cannot be borrowed: copy them");
}

static void bcsr_refuses_row_pointers_out_of_order(void **state) {
  (void)state;
  spoilt s;
  for (int ownership = 0; ownership < 2; ownership++) {
    make_sound(&s);
    s.desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
    s.row_ptr[0] = 1;
    expect_refused(&s, BISAI_INVALID_STRUCTURE,
                   "row_ptr[0] is 1, expected 0: the arrays count from 0 (if yours count from 1, "
                   "subtract 1 from "
                   "row_ptr and col_idx)");
    s.row_ptr[0] = -1;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "row_ptr[0] is -1, expected 0");
    s.row_ptr[0] = 0;
    s.row_ptr[2] = 1;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 1: row_ptr decreases from 2 to 1");
    s.row_ptr[2] = 3;
    s.row_ptr[3] = -1;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 2: row_ptr decreases from 3 to -1");
  }
}

static void bcsr_rejects_column_out_of_range(void **state) {
  (void)state;
  spoilt s;
  for (int ownership = 0; ownership < 2; ownership++) {
    make_sound(&s);
    s.desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
    s.col_idx[5] = 4;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 2: column 4 is outside 0 … 3");
    s.col_idx[5] = INT32_MAX;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 2: column 2147483647 is outside 0 … 3");
    s.col_idx[5] = 3;
    s.col_idx[0] = -1;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 0: column -1 is outside 0 … 3");
  }
}

static void bcsr_rejects_duplicate_blocks(void **state) {
  (void)state;
  spoilt s;
  for (int ownership = 0; ownership < 2; ownership++) {
    make_sound(&s);
    s.desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
    s.col_idx[1] = 0;
    expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 0: column 0 appears twice");
  }
  make_sound(&s);
  s.col_idx[3] = 3; /* row 2: 3, 2, 3 */
  expect_refused(&s, BISAI_INVALID_STRUCTURE, "block row 2: column 3 appears twice");
}

static void bcsr_rejects_unsorted_borrowed_columns(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.desc.ownership = BISAI_BORROW;
  s.col_idx[3] = 2;
  s.col_idx[4] = 0;
  expect_refused(&s, BISAI_INVALID_STRUCTURE,
                 "block row 2: borrowed columns must ascend, 0 follows 2");
}

static void bcsr_rejects_nan_and_infinity_in_every_type(void **state) {
  (void)state;
  if (test_on_device()) skip(); /* borrows arrays in host memory */
  static const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
  static const uint16_t bad_half[] = {0x7c00, 0xfc00, 0x7e01},
                        bad_bfloat[] = {0x7f80, 0xff80, 0x7fc1};
  spoilt s;
  for (int i = 0; i < 6; i++) {
    const int ownership = i / 3;
    float singles[24] = {0};
    uint16_t halves[24] = {0}, bfloats[24] = {0};
    make_sound(&s);
    s.desc.ownership = ownership == 0 ? BISAI_COPY : BISAI_BORROW;
    s.values[19] = bad[i % 3];
    expect_refused(&s, BISAI_NOT_FINITE, "block (2, 2) holds a NaN or infinity");
    singles[3] = (float)bad[i % 3];
    s.desc.values = singles;
    s.desc.value_type = BISAI_FP32;
    expect_refused(&s, BISAI_NOT_FINITE, "block (0, 0) holds a NaN or infinity");
    halves[4] = bad_half[i % 3];
    s.desc.values = halves;
    s.desc.value_type = BISAI_FP16;
    expect_refused(&s, BISAI_NOT_FINITE, "block (0, 2) holds a NaN or infinity");
    bfloats[8] = bad_bfloat[i % 3];
    s.desc.values = bfloats;
    s.desc.value_type = BISAI_BF16;
    expect_refused(&s, BISAI_NOT_FINITE, "block (1, 1) holds a NaN or infinity");
  }
}

/* The block of a NaN keeps its name when its row is sorted on the way in. */
static void not_finite_block_is_named_after_sorting(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  s.col_idx[3] = 3;
  s.col_idx[5] = 0; /* row 2: 3, 2, 0 */
  s.values[12] = (double)NAN;
  expect_refused(&s, BISAI_NOT_FINITE, "block (2, 3) holds a NaN or infinity");
}

/* Around the ends of the pieces of 1024 values that are searched at once; the first of two is
 * named. */
static void the_first_value_that_is_not_finite_is_found_at_every_place(void **state) {
  (void)state;
  enum { N = 2500 };
  static const int32_t places[] = {0, 1, 1022, 1023, 1024, 2047, 2048, N - 1};
  int32_t row_ptr[N + 1], col_idx[N];
  double values[N];
  for (int32_t i = 0; i < N; i++) row_ptr[i] = i, col_idx[i] = i, values[i] = 1;
  row_ptr[N] = N;
  bisai_bcsr_desc desc = bisai_bcsr_desc_default();
  desc.block_rows = desc.block_cols = N;
  desc.block_size = 1;
  desc.row_ptr = row_ptr, desc.col_idx = col_idx, desc.values = values;
  for (size_t p = sizeof places / sizeof *places; p-- > 0;) {
    char message[80];
    bisai_bcsr *a = NULL;
    values[places[p]] = p % 2 ? (double)NAN : -(double)INFINITY;
    snprintf(message, sizeof message, "block (%d, %d) holds a NaN or infinity", places[p],
             places[p]);
    EXPECT_STATUS(context, BISAI_NOT_FINITE, bisai_bcsr_create(context, &desc, &a));
    EXPECT_MESSAGE(context, message);
    assert_null(a);
  }
}

static void products_refuse_bad_arguments(void **state) {
  (void)state;
  spoilt s;
  make_sound(&s);
  bisai_bcsr *a = NULL;
  EXPECT_OK(context, bisai_bcsr_create(context, &s.desc, &a));
  double x[16] = {0}, y[12];
  assert_int_equal(bisai_bcsr_multiply(NULL, x, y), BISAI_INVALID_ARGUMENT);
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_multiply(a, NULL, y));
  EXPECT_MESSAGE(context, "bisai_bcsr_multiply: x is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_multiply(a, x, NULL));
  EXPECT_MESSAGE(context, "bisai_bcsr_multiply: y is NULL");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_multiply_many(a, -1, x, 8, y, 6));
  EXPECT_MESSAGE(context, "negative number of vectors: -1");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_multiply_many(a, 2, x, 7, y, 6));
  EXPECT_MESSAGE(context, "leading dimensions 7 and 6, at least 8 and 6 needed");
  EXPECT_STATUS(context, BISAI_INVALID_ARGUMENT, bisai_bcsr_multiply_many(a, 2, x, 8, y, 5));
  EXPECT_MESSAGE(context, "leading dimensions 8 and 5, at least 8 and 6 needed");
  bisai_bcsr_destroy(&a);
}

/* Infinities that only exist in x must reach y, not vanish. */
static void products_pass_nan_through(void **state) {
  (void)state;
  bisai_bcsr *a = test_bcsr_take(context, test_bcsr_tridiagonal(6, 2, 2.0, -1.0));
  double x[12] = {0}, y[12];
  x[5] = (double)NAN;
  EXPECT_OK(context, bisai_bcsr_multiply(a, x, y));
  assert_true(isnan(y[3]) && isnan(y[5]) && isnan(y[7]) && y[1] == 0.0 && y[9] == 0.0);
  bisai_bcsr_destroy(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sound_matrix_is_accepted),
      cmocka_unit_test(bcsr_refuses_null),
      cmocka_unit_test(bcsr_refuses_unknown_struct_sizes),
      cmocka_unit_test(bcsr_refuses_block_sizes_out_of_range),
      cmocka_unit_test(bcsr_refuses_negative_sizes),
      cmocka_unit_test(bcsr_refuses_sizes_beyond_the_index_type),
      cmocka_unit_test(bcsr_refuses_unknown_enums),
      cmocka_unit_test(bcsr_refuses_device_arrays_on_the_host),
      cmocka_unit_test(bcsr_refuses_to_borrow_row_major_blocks),
      cmocka_unit_test(bcsr_refuses_row_pointers_out_of_order),
      cmocka_unit_test(bcsr_rejects_column_out_of_range),
      cmocka_unit_test(bcsr_rejects_duplicate_blocks),
      cmocka_unit_test(bcsr_rejects_unsorted_borrowed_columns),
      cmocka_unit_test(bcsr_rejects_nan_and_infinity_in_every_type),
      cmocka_unit_test(not_finite_block_is_named_after_sorting),
      cmocka_unit_test(the_first_value_that_is_not_finite_is_found_at_every_place),
      cmocka_unit_test(products_refuse_bad_arguments),
      cmocka_unit_test(products_pass_nan_through),
  };
  return cmocka_run_group_tests_name("bcsr_arguments", tests, setup, teardown);
}
