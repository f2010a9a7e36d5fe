/* SPDX-License-Identifier: BSD-3-Clause */
#include "sparse.h"

#include <math.h>

static void *upload(bisai_context *context, size_t count, size_t size, const void *from) {
  const bsi_memory_ops *memory = context->backend->memory;
  void *array = memory->allocate(context, count, size);
  assert_non_null(array);
  if (from && count > 0) EXPECT_OK(context, memory->upload(context, array, from, count * size));
  EXPECT_OK(context, memory->synchronize(context));
  return array;
}

int32_t *test_sparse_integers(bisai_context *context, size_t count, const int32_t *from) {
  return upload(context, count, sizeof *from, from);
}

void test_sparse_free_integers(bisai_context *context, int32_t *integers) {
  context->backend->memory->release(context, integers);
}

bsi_block_matrix test_sparse_make(bisai_context *context, bsi_block_matrix arrays) {
  bsi_block_matrix m = arrays;
  m.slots = (bsi_product_slots){0}; /* those of `arrays` have one owner */
  m.row_ptr = upload(context, (size_t)m.rows + 1, sizeof *m.row_ptr, arrays.row_ptr);
  m.col_idx = upload(context, (size_t)m.blocks, sizeof *m.col_idx, arrays.col_idx);
  if (arrays.values)
    m.values =
        upload(context, bsi_block_matrix_offset(&m, m.blocks), sizeof *m.values, arrays.values);
  return m;
}

bsi_block_matrix test_sparse_random(bisai_context *context, test_shape_of_blocks shape,
                                    uint64_t seed) {
  test_random random = test_random_seed(seed);
  bsi_block_matrix m = {
      .rows = shape.rows, .cols = shape.cols, .height = shape.height, .width = shape.width};
  const double chance = shape.cols > 0 ? shape.blocks_per_row / shape.cols : 0.0;
  m.row_ptr = calloc((size_t)m.rows + 1, sizeof *m.row_ptr);
  m.col_idx = malloc(((size_t)m.rows * (size_t)m.cols + 1) * sizeof *m.col_idx);
  for (int32_t i = 0; i < m.rows; i++) {
    for (int32_t j = 0; j < m.cols && i % 5 != 3; j++)
      if (test_random_uniform(&random, 0.0, 1.0) < chance) m.col_idx[m.blocks++] = j;
    m.row_ptr[i + 1] = m.blocks;
  }
  if (!shape.identity)
    m.values = test_random_vector((int64_t)bsi_block_matrix_offset(&m, m.blocks), seed + 1);
  const bsi_block_matrix made = test_sparse_make(context, m);
  free(m.row_ptr);
  free(m.col_idx);
  free(m.values);
  return made;
}

double *test_sparse_dense(const bsi_block_matrix *m) {
  const int h = m->height, w = m->width;
  const size_t rows = (size_t)m->rows * (size_t)h, cols = (size_t)m->cols * (size_t)w;
  double *dense = calloc(rows * cols + 1, sizeof *dense);
  for (int32_t i = 0; i < m->rows; i++)
    for (int32_t p = m->row_ptr[i]; p < m->row_ptr[i + 1]; p++)
      for (int c = 0; c < w; c++)
        for (int r = 0; r < h; r++)
          dense[((size_t)m->col_idx[p] * (size_t)w + (size_t)c) * rows + (size_t)i * (size_t)h +
                (size_t)r] +=
              m->values ? m->values[bsi_block_matrix_offset(m, p) + (size_t)(c * h + r)] : r == c;
  return dense;
}

bsi_block_matrix test_sparse_product(bisai_context *context, const bsi_block_matrix *a,
                                     const bsi_block_matrix *b) {
  const bsi_spgemm_ops *ops = context->backend->multigrid->spgemm;
  bsi_block_matrix c = {0};
  EXPECT_OK(context, ops->multiply_structure(context, a, b, INT64_MAX, &c));
  assert_int_equal(c.rows, a->rows);
  assert_int_equal(c.cols, b->cols);
  assert_int_equal(c.height, a->height);
  assert_int_equal(c.width, b->width);
  EXPECT_OK(context, bsi_block_matrix_reserve_values(context, &c));
  for (size_t v = 0; v < bsi_block_matrix_offset(&c, c.blocks); v++) c.values[v] = NAN;
  EXPECT_OK(context, ops->multiply_values(context, a, b, &c));
  return c;
}

bsi_block_matrix test_sparse_transposed(bisai_context *context, const bsi_block_matrix *m,
                                        int32_t **position) {
  const bsi_transfer_ops *ops = context->backend->multigrid->transfer;
  bsi_block_matrix turned = {0};
  int32_t *places = test_sparse_integers(context, (size_t)m->blocks, NULL);
  turned.row_ptr = test_sparse_integers(context, (size_t)m->cols + 1, NULL);
  turned.col_idx = test_sparse_integers(context, (size_t)m->blocks, NULL);
  EXPECT_OK(context, ops->transpose(context, m, &turned, places));
  if (m->values) {
    EXPECT_OK(context, bsi_block_matrix_reserve_values(context, &turned));
    EXPECT_OK(context, ops->transpose_values(context, m, places, &turned));
  }
  if (position)
    *position = places;
  else
    test_sparse_free_integers(context, places);
  return turned;
}

void test_sparse_expect_structure(const bsi_block_matrix *expected, const bsi_block_matrix *got) {
  assert_int_equal(got->rows, expected->rows);
  assert_int_equal(got->cols, expected->cols);
  assert_int_equal(got->height, expected->height);
  assert_int_equal(got->width, expected->width);
  assert_int_equal(got->blocks, expected->blocks);
  assert_memory_equal(got->row_ptr, expected->row_ptr,
                      ((size_t)expected->rows + 1) * sizeof *got->row_ptr);
  if (expected->blocks > 0)
    assert_memory_equal(got->col_idx, expected->col_idx,
                        (size_t)expected->blocks * sizeof *got->col_idx);
}
