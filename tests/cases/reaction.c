/* SPDX-License-Identifier: BSD-3-Clause */
/* The case `reaction`: rows by hand, symmetry, definiteness. */
#include <math.h>

#include "cases.h"
#include "definite.h"

static bisai_bcsr *make(bisai_context *context, int32_t n, double **rhs) {
  bisai_bcsr *matrix = NULL;
  EXPECT_OK(context, case_reaction(context, n, 0, &matrix, rhs));
  assert_int_equal(2, bisai_bcsr_block_size(matrix));
  assert_int_equal(n * n, bisai_bcsr_block_rows(matrix));
  assert_int_equal(5 * n * n - 4 * n, bisai_bcsr_blocks(matrix));
  return matrix;
}

static void the_matrix_is_symmetric_bit_by_bit_and_positive_definite(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  double *rhs = NULL;
  bisai_bcsr *matrix = make(context, 11, &rhs);
  test_expect_symmetric(matrix);
  assert_true(test_is_definite(matrix));
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* The flux in y is `across` times that in x. The centre has the reaction too. */
typedef struct expected_row {
  int32_t row, column[5];
  /* to S, W, E, N; the boundary included */
  double flux[4];
} expected_row;

static void expect_row(const bisai_bcsr *matrix, int32_t n, const expected_row *r) {
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const double area = 1.0 / ((double)n * n),
               sum = r->flux[0] + r->flux[1] + r->flux[2] + r->flux[3];
  const double centre[4] = {sum + 20 * area, -10 * area, -10 * area, sum + 20 * area};
  int32_t p = row_ptr[r->row];
  for (int place = 0; place < 5; place++) {
    if (r->column[place] < 0) continue;
    const double flux = place == 2 ? 0 : r->flux[place > 2 ? place - 1 : place];
    const double beside[4] = {-flux, 0, 0, -flux};
    assert_int_equal(r->column[place], col_idx[p]);
    /* a few roundings of values up to 2e4 */
    EXPECT_CLOSE(4, place == 2 ? centre : beside, (const double *)values + 4 * p++, 1e-11);
  }
  assert_int_equal(p, row_ptr[r->row + 1]);
}

/* With 16 cells in a direction, a square has 2 × 2 cells. k is 1 in the square of the corner and
 * 10⁴ in those beside it; their harmonic mean is 2·10⁴/10001. */
static void rows_are_those_computed_by_hand(void **state) {
  (void)state;
  enum { N = 16 };
  const double mean = 2e4 / 10001, e = 1e-3;
  const expected_row rows[] = {
      /* (0, 0): the boundary is half a cell away */
      {0, {-1, -1, 0, 1, N}, {2 * e, 2, 1, e}},
      /* (1, 1): inside the square to the south and west, at its edge to the east and north */
      {N + 1, {1, N, N + 1, N + 2, 2 * N + 1}, {e, 1, mean, mean * e}},
      /* (2, 0): in the next square */
      {2, {-1, 1, 2, 3, N + 2}, {2e4 * e, mean, 1e4, 1e4 * e}},
      /* (2, 2): on the diagonal of the chequerboard, at edges to the south and west */
      {2 * N + 2, {N + 2, 2 * N + 1, 2 * N + 2, 2 * N + 3, 3 * N + 2}, {mean * e, mean, 1, e}},
      /* (15, 0): in the eighth square */
      {N - 1, {-1, N - 2, N - 1, -1, 2 * N - 1}, {2e4 * e, 1e4, 2e4, 1e4 * e}}};
  bisai_context *context = test_context(1);
  double *rhs = NULL;
  bisai_bcsr *matrix = make(context, N, &rhs);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) expect_row(matrix, N, &rows[i]);
  for (int i = 0; i < 2 * N * N; i++) assert_true(rhs[i] == (i % 2 == 0 ? 1.0 / (N * N) : 0));
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

/* If a square does not end at a cell's edge, the cell belongs to the square of its midpoint. With
 * 12 cells, the midpoints 0.5 and 1.5 of twelfths lie in squares 0 and 1 of eighths. */
static void cells_belong_to_the_square_of_their_midpoint(void **state) {
  (void)state;
  enum { N = 12 };
  const double mean = 2e4 / 10001, e = 1e-3;
  const expected_row rows[] = {{0, {-1, -1, 0, 1, N}, {2 * e, 2, mean, mean * e}},
                               /* 1.5·8/12 = 1 is in square 1, 2.5·8/12 = 1.67 too, 3.5·8/12 = 2.33
                                  in square 2 */
                               {1, {-1, 0, 1, 2, N + 1}, {2e4 * e, mean, 1e4, mean * e}},
                               {2, {-1, 1, 2, 3, N + 2}, {2e4 * e, 1e4, mean, mean * e}}};
  bisai_context *context = test_context(1);
  double *rhs = NULL;
  bisai_bcsr *matrix = make(context, N, &rhs);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) expect_row(matrix, N, &rows[i]);
  free(rhs);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&context);
}

static void sizes_out_of_range_are_refused(void **state) {
  (void)state;
  bisai_context *context = test_context(1);
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL;
  assert_non_null(case_reaction_refusal(7));
  assert_null(case_reaction_refusal(8));
  assert_null(case_reaction_refusal(20724));
  assert_non_null(case_reaction_refusal(20725));
  assert_int_equal(BISAI_INVALID_ARGUMENT, case_reaction(context, 7, 0, &matrix, &rhs));
  assert_null(matrix);
  bisai_context_destroy(&context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_matrix_is_symmetric_bit_by_bit_and_positive_definite),
      cmocka_unit_test(rows_are_those_computed_by_hand),
      cmocka_unit_test(cells_belong_to_the_square_of_their_midpoint),
      cmocka_unit_test(sizes_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
