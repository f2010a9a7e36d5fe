/* SPDX-License-Identifier: BSD-3-Clause */
/* The weights of restrictions: sizes of diagonal blocks, and what they do to the blocks of Tᵀ. */
#include "multigrid/transfers/row_scaling.h"

#include "fixture.h"
#include "sparse.h"

/* Returns Tᵀ of one aggregate of n rows, weighted by their diagonal blocks. The blocks of T are
 * bs × width at `tentative`, or identities if that is NULL. */
static bsi_block_matrix balanced(bisai_context *c, int32_t n, int bs, int width,
                                 const double *blocks, const double *tentative) {
  int32_t *places = malloc(((size_t)n + 1) * sizeof *places), ends[] = {0, n};
  for (int32_t i = 0; i <= n; i++) places[i] = i;
  bsi_block_matrix t = test_sparse_make(c, (bsi_block_matrix){.rows = n,
                                                              .cols = 1,
                                                              .height = bs,
                                                              .width = width,
                                                              .blocks = n,
                                                              .row_ptr = places,
                                                              .col_idx = places,
                                                              .values = (double *)tentative}),
                   d = test_sparse_make(c, (bsi_block_matrix){.rows = n,
                                                              .cols = n,
                                                              .height = bs,
                                                              .width = bs,
                                                              .blocks = n,
                                                              .row_ptr = places,
                                                              .col_idx = places,
                                                              .values = (double *)blocks}),
                   members = test_sparse_make(c, (bsi_block_matrix){.rows = 1,
                                                                    .cols = n,
                                                                    .height = width,
                                                                    .width = bs,
                                                                    .blocks = n,
                                                                    .row_ptr = ends,
                                                                    .col_idx = places});
  EXPECT_OK(c, bsi_block_matrix_reserve_values(c, &members));
  for (size_t v = 0; v < bsi_block_matrix_offset(&members, n); v++) members.values[v] = NAN;
  const bsi_row_scaling b = {.values = d.values,
                             .diagonal = d.col_idx,
                             .block_size = bs,
                             .tentative = t.values,
                             .position = d.col_idx};
  EXPECT_OK(c, c->backend->multigrid->transfer->scale_rows(c, &b, &members));
  EXPECT_OK(c, c->backend->memory->synchronize(c));
  bsi_block_matrix_destroy(c, &t);
  bsi_block_matrix_destroy(c, &d);
  free(places);
  return members;
}

static void sizes_of_blocks_by_hand(void **state) {
  (void)state;
  static const struct {
    double block[4];
    double size;
  } known[] = {
      {{3, -1, -1, 3}, 8}, /* the first row: all weights are 8/size */
      {{1, 2, 3, -4}, 10},
      {{1, 0, 0, 0x1p60}, 0x1p60 + 1},
      {{0x1p-1000, 0, 0, 0x1p-1000}, 0x1p-999},
      {{0, 5, 0, 0}, 5},
      {{0, 0, 0, 0}, 1},
      {{1, 0, 0, INFINITY}, 1},
      {{1, NAN, 0, 1}, 1},
      {{DBL_MAX, 0, 0, DBL_MAX}, 1}, /* the sum overflows */
  };
  enum { N = sizeof known / sizeof *known };
  double blocks[4 * N], expected[4 * N] = {0};
  for (int i = 0; i < N; i++) {
    memcpy(blocks + 4 * i, known[i].block, sizeof known[i].block);
    expected[4 * i] = expected[4 * i + 3] = known[0].size / known[i].size;
  }
  bsi_block_matrix members = balanced(context, N, 2, 2, blocks, NULL);
  for (int v = 0; v < 4 * N; v++) assert_true(members.values[v] == expected[v]);
  bsi_block_matrix_destroy(context, &members);
}

/* Returns random blocks with a penalty in every third one. */
static double *penalised(int32_t n, int bs) {
  double *blocks = test_random_vector((int64_t)n * bs * bs, 1);
  for (int32_t i = 0; i < n; i += 3)
    for (int c = 0; c < bs; c++) blocks[(i * bs + c) * bs + i % bs] = c == i % bs ? 1e20 : 0.0;
  return blocks;
}

/* Each block of Tᵀ is that of T, transposed and multiplied. Host and device give the same bits. */
static void blocks_are_multiplied_by_their_weights(void **state) {
  (void)state;
  static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 32};
  enum { N = 150 };
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
    for (int width = 0; width <= 6; width += 3) {
      const int bs = sizes[k], height = width > 0 ? width : bs;
      double *blocks = penalised(N, bs),
             *expected = malloc(N * (size_t)(bs * height) * sizeof(double)),
             *t = width > 0 ? test_random_vector((int64_t)N * bs * width, 2) : NULL;
      bsi_block_matrix members = balanced(context, N, bs, height, blocks, t);
      const double first = bsi_row_scaling_size_of(bs * bs, blocks);
      for (int i = 0; i < N; i++) {
        const double weight = first / bsi_row_scaling_size_of(bs * bs, blocks + i * bs * bs);
        for (int c = 0; c < bs; c++)
          for (int r = 0; r < height; r++)
            expected[(i * bs + c) * height + r] = weight * (t        ? t[(i * height + r) * bs + c]
                                                            : r == c ? 1.0
                                                                     : 0.0);
      }
      EXPECT_CLOSE((int64_t)N * bs * height, expected, members.values, 0.0);
      bsi_block_matrix_destroy(context, &members);
      free(blocks), free(expected), free(t);
    }
}

/* Powers of two, so that nothing is rounded. The first row keeps its scale. */
static void scales_of_block_rows_are_undone(void **state) {
  (void)state;
  enum { N = 60 };
  for (int bs = 1; bs <= 9; bs++) {
    double *blocks = penalised(N, bs);
    bsi_block_matrix plain = balanced(context, N, bs, bs, blocks, NULL);
    for (int i = 1; i < N; i++)
      for (int v = 0; v < bs * bs; v++)
        blocks[i * bs * bs + v] = ldexp(blocks[i * bs * bs + v], i * 37 % 401 - 200);
    bsi_block_matrix scaled = balanced(context, N, bs, bs, blocks, NULL);
    for (int i = 1; i < N; i++)
      for (int v = i * bs * bs; v < (i + 1) * bs * bs; v++)
        scaled.values[v] = ldexp(scaled.values[v], i * 37 % 401 - 200);
    EXPECT_CLOSE(N * bs * bs, plain.values, scaled.values, 0.0);
    bsi_block_matrix_destroy(context, &plain);
    bsi_block_matrix_destroy(context, &scaled);
    free(blocks);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_of_blocks_by_hand),
      cmocka_unit_test(blocks_are_multiplied_by_their_weights),
      cmocka_unit_test(scales_of_block_rows_are_undone),
  };
  return cmocka_run_group_tests_name("balance", tests, setup, teardown);
}
