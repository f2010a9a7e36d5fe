/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "path_of.h"

enum { HEADER = 64 };

static const size_t most_bytes = 64 << 20;
static size_t live_bytes, context_bytes;

static void expect(bool condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "fuzz: %s\n", what);
  abort();
}

/* The size stands in front of what is handed out. */
static void *allocate(void *user, size_t bytes, size_t alignment) {
  (void)user;
  expect(alignment <= HEADER, "an alignment beyond 64");
  if (bytes > most_bytes - live_bytes) return NULL;
  char *block = aligned_alloc(HEADER, HEADER + (bytes + HEADER - 1) / HEADER * HEADER);
  if (!block) return NULL;
  *(size_t *)(void *)block = bytes;
  live_bytes += bytes;
  return block + HEADER;
}

static void release(void *user, void *pointer) {
  (void)user;
  char *block = (char *)pointer - HEADER;
  live_bytes -= *(size_t *)(void *)block;
  free(block);
}

bisai_context *fuzz_context(void) {
  static bisai_context *context;
  if (context) return context;
  bisai_context_options options = bisai_context_options_default();
  options.threads = 1;
  options.allocator = (bisai_allocator){.allocate = allocate, .release = release};
  expect(bisai_context_create(&options, &context) == BISAI_OK, "no context");
  context_bytes = live_bytes;
  return context;
}

void fuzz_expect_nothing_left(void) {
  expect(live_bytes == context_bytes, "memory was left allocated");
}

static void expect_failure(bisai_status status) {
  expect(*bisai_status_string(status) && *bisai_context_error(fuzz_context()),
         "a failure without a message");
}

static void expect_sound(const bisai_bcsr *matrix, int32_t block_size) {
  const int32_t rows = bisai_bcsr_block_rows(matrix), cols = bisai_bcsr_block_cols(matrix);
  const int32_t bs = bisai_bcsr_block_size(matrix), blocks = bisai_bcsr_blocks(matrix);
  const int32_t *row_ptr, *col_idx;
  const void *stored;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &stored);
  const double *values = stored;
  expect(block_size == 0 ? bs >= 1 && bs <= 8 : bs == block_size, "another block size");
  expect(rows > 0 && rows == cols && row_ptr[0] == 0 && row_ptr[rows] == blocks, "wrong sizes");
  expect((int64_t)rows * bs == (int64_t)bisai_bcsr_rows(matrix) + bisai_bcsr_padding(matrix),
         "wrong padding");
  for (int32_t i = 0; i < rows; i++) {
    expect(row_ptr[i] <= row_ptr[i + 1], "row pointers that descend");
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; p++) {
      expect(col_idx[p] >= 0 && col_idx[p] < cols, "a column out of range");
      expect(p == row_ptr[i] || col_idx[p - 1] < col_idx[p], "columns that do not ascend");
    }
  }
  for (size_t i = 0; i < (size_t)blocks * (size_t)bs * (size_t)bs; i++)
    expect(isfinite(values[i]), "NaN or infinity");
}

void fuzz_read_matrix(const uint8_t *data, size_t bytes, int32_t block_size) {
  bisai_read_options options = bisai_read_options_default();
  options.block_size = block_size;
  bisai_bcsr *matrix = NULL;
  const bisai_status status =
      bisai_read_matrix(fuzz_context(), test_path_of(data, bytes), &options, &matrix);
  expect(!status == !!matrix, "a status that does not fit the matrix");
  if (status) expect_failure(status);
  if (matrix) expect_sound(matrix, block_size);
  bisai_bcsr_destroy(&matrix);
  fuzz_expect_nothing_left();
}

static void expect_same(const bisai_bcsr *a, const bisai_bcsr *b) {
  const int32_t *a_ptr, *a_col, *b_ptr, *b_col;
  const void *a_values, *b_values;
  bisai_bcsr_arrays(a, &a_ptr, &a_col, &a_values);
  bisai_bcsr_arrays(b, &b_ptr, &b_col, &b_values);
  const size_t rows = (size_t)bisai_bcsr_block_rows(a), blocks = (size_t)bisai_bcsr_blocks(a);
  expect(bisai_bcsr_rows(a) == bisai_bcsr_rows(b) && bisai_bcsr_blocks(a) == bisai_bcsr_blocks(b),
         "another matrix");
  expect(memcmp(a_ptr, b_ptr, (rows + 1) * sizeof *a_ptr) == 0, "other rows");
  expect(memcmp(a_col, b_col, blocks * sizeof *a_col) == 0, "other columns");
  expect(memcmp(a_values, b_values, blocks * sizeof(double)) == 0, "other values");
}

/* In scalar blocks. A system can lack memory where its parts, read one after the other, do not. If
 * both the matrix and the vector have faults, the two ways may find another one first. */
void fuzz_read_system(const uint8_t *data, size_t bytes) {
  bisai_context *context = fuzz_context();
  bisai_read_options options = bisai_read_options_default();
  options.block_size = 1;
  bisai_system system = {.struct_size = sizeof system};
  bisai_bcsr *matrix = NULL;
  double values[64];
  int64_t columns = 0;
  const bisai_status status =
      bisai_read_system(context, test_path_of(data, bytes), &options, &system);
  if (status) expect_failure(status);
  bisai_status alone = bisai_read_matrix(context, test_path_of(data, bytes), &options, &matrix);
  const int64_t n = matrix ? bisai_bcsr_rows(matrix) : 0;
  if (!alone && n <= 64)
    alone = bisai_read_rhs(context, test_path_of(data, bytes), n, values, &columns);
  if (n <= 64 && status != BISAI_OUT_OF_MEMORY) {
    expect(!status == !alone, "a system that is read otherwise than its parts");
    expect(status || system.rhs_columns == columns, "another right-hand side");
    if (!status && columns > 0)
      expect(memcmp(system.rhs, values, (size_t)n * sizeof *values) == 0, "other right-hand sides");
  }
  if (!status && !alone) expect_same(system.matrix, matrix);
  bisai_bcsr_destroy(&matrix);
  bisai_system_clear(context, &system);
  fuzz_expect_nothing_left();
}

static void expect_vector(bisai_status status, int64_t n, const double *values) {
  if (status) expect_failure(status);
  for (int64_t i = 0; i < n && !status; i++)
    expect(isfinite(values[i]), "NaN or infinity in a vector");
  fuzz_expect_nothing_left();
}

void fuzz_read_vector(const uint8_t *data, size_t bytes, int64_t n) {
  double values[64];
  for (int64_t i = 0; i < n; i++) values[i] = NAN;
  expect_vector(bisai_read_vector(fuzz_context(), test_path_of(data, bytes), n, values), n, values);
}

void fuzz_read_vectors(const uint8_t *data, size_t bytes, int64_t n, int32_t most) {
  double *values = NULL;
  int32_t count = 0;
  const bisai_status status =
      bisai_read_vectors(fuzz_context(), test_path_of(data, bytes), n, most, &values, &count);
  expect(!status == !!values, "a status that does not fit the vectors");
  if (status) expect_failure(status);
  expect(status || (count >= 1 && count <= most), "a wrong number of vectors");
  for (int64_t i = 0; values && i < n * count; i++) expect(isfinite(values[i]), "NaN or infinity");
  bisai_vectors_destroy(fuzz_context(), &values);
  fuzz_expect_nothing_left();
}

void fuzz_read_rhs(const uint8_t *data, size_t bytes, int64_t n) {
  double values[64];
  int64_t columns = -1;
  for (int64_t i = 0; i < n; i++) values[i] = NAN;
  const bisai_status status =
      bisai_read_rhs(fuzz_context(), test_path_of(data, bytes), n, values, &columns);
  expect(columns >= 0 || status, "no number of columns");
  expect_vector(status, columns > 0 ? n : 0, values);
}
