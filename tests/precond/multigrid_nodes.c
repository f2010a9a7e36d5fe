/* SPDX-License-Identifier: BSD-3-Clause */
/* Multigrid on elasticity with planes of symmetry. Nodes in a plane are held in the direction of
 * its normal only, so that nodes have three unknowns, two or one, and blocks are padded inside. */
#include "fixture.h"

#include <math.h>

#include "cases.h"
#include "csr.h"

/* An elastic cube of N × N × N nodes, clamped at x = 0, with planes of symmetry at y = 0 and z = 0.
 * Its unknowns are stored field by field. */
typedef struct body {
  csr a;
  int32_t *node, *component;
  /* rows·6 values, row by row */
  double *modes;
} body;

enum { MODES = CASE_ELASTICITY_MODES };

/* 9 to 11 and 13 to 19 were counted. */
enum { MOST_WITH_MODES = 14, MOST_WITH_CONSTANTS = 22 };

/* Components are guessed from sums of entries. 2 of 798 guesses were wrong, next to two edges. */
enum { MOST_WRONG = 4 };

/* Returns the new number of each unknown of the cube, and -1 for those that are held. */
static int32_t *number_unknowns(int32_t n, int32_t *rows) {
  const int32_t nodes = (n - 1) * n * n;
  int32_t *number = malloc((size_t)nodes * 3 * sizeof *number);
  assert_non_null(number);
  *rows = 0;
  for (int32_t d = 0; d < 3; d++)
    for (int32_t k = 0; k < nodes; k++) {
      const int32_t y = k / (n - 1) % n, z = k / ((n - 1) * n);
      const bool held = (d == 1 && y == 0) || (d == 2 && z == 0);
      number[3 * k + d] = held ? -1 : (*rows)++;
    }
  return number;
}

/* Appends the entries of row 3·k + d of the cube. */
static void add_row(const test_bcsr *cube, const int32_t *number, int32_t k, int32_t d, csr *a) {
  const int32_t row = number[3 * k + d];
  int32_t next = a->row_ptr[row];
  for (int32_t p = cube->row_ptr[k]; p < cube->row_ptr[k + 1]; p++)
    for (int32_t c = 0; c < 3; c++) {
      const int32_t column = number[3 * cube->col_idx[p] + c];
      if (column < 0) continue;
      a->col_idx[next] = column;
      a->values[next++] = cube->values[(size_t)p * 9 + (size_t)c * 3 + (size_t)d];
    }
  a->row_ptr[row + 1] = next;
}

static body body_of(const test_bcsr *cube, const double *modes, int32_t n) {
  body b = {0};
  const size_t most = (size_t)test_bcsr_blocks(cube) * 9;
  const int32_t nodes = cube->block_rows;
  int32_t rows, *number = number_unknowns(n, &rows);
  b.a = (csr){.rows = rows, .cols = rows};
  b.a.row_ptr = calloc((size_t)rows + 1, sizeof *b.a.row_ptr);
  b.a.col_idx = malloc(most * sizeof *b.a.col_idx);
  b.a.values = malloc(most * sizeof *b.a.values);
  b.node = malloc((size_t)rows * sizeof *b.node);
  b.component = malloc((size_t)rows * sizeof *b.component);
  b.modes = malloc((size_t)rows * MODES * sizeof *b.modes);
  assert_true(b.a.row_ptr && b.a.col_idx && b.a.values && b.node && b.component && b.modes);
  for (int32_t d = 0; d < 3; d++)
    for (int32_t k = 0; k < nodes; k++) {
      const int32_t row = number[3 * k + d];
      if (row < 0) continue;
      add_row(cube, number, k, d, &b.a);
      b.node[row] = k;
      b.component[row] = d;
      for (int m = 0; m < MODES; m++)
        b.modes[row * MODES + m] = modes[(int64_t)m * 3 * nodes + 3 * k + d];
    }
  free(number);
  return b;
}

static body make_body(int32_t n) {
  case_elasticity_options how = case_elasticity_options_default();
  bisai_context *host = test_host_context(1);
  bisai_bcsr *matrix = NULL;
  double *rhs = NULL, *modes = NULL;
  how.nodes[0] = how.nodes[1] = how.nodes[2] = n;
  how.clamped = CASE_CLAMPED_ELIMINATED;
  EXPECT_OK(host, case_elasticity(host, &how, 3, &matrix, &rhs));
  EXPECT_OK(host, case_elasticity_modes(&how, &modes));
  const int32_t *row_ptr, *col_idx;
  const void *values;
  bisai_bcsr_arrays(matrix, &row_ptr, &col_idx, &values);
  const test_bcsr cube = {.block_rows = bisai_bcsr_block_rows(matrix),
                          .block_cols = bisai_bcsr_block_rows(matrix),
                          .block_size = 3,
                          .row_ptr = (int32_t *)(uintptr_t)row_ptr,
                          .col_idx = (int32_t *)(uintptr_t)col_idx,
                          .values = (double *)(uintptr_t)values};
  body b = body_of(&cube, modes, n);
  bisai_bcsr_destroy(&matrix);
  free(rhs);
  free(modes);
  bisai_context_destroy(&host);
  return b;
}

static void body_free(body *b) {
  csr_free(&b->a);
  free(b->node);
  free(b->component);
  free(b->modes);
}

static bisai_bcsr *make_matrix(const body *b) {
  bisai_csr_desc desc = desc_of(&b->a);
  bisai_bcsr *matrix = NULL;
  desc.node = b->node;
  desc.component = b->component;
  EXPECT_OK(context, bisai_bcsr_from_csr(context, &desc, &matrix));
  return matrix;
}

static int64_t size_of(const bisai_bcsr *matrix) {
  return (int64_t)bisai_bcsr_block_rows(matrix) * bisai_bcsr_block_size(matrix);
}

/* Solves A x = 1 by CG to 1e-8, from x = 0 in the rows of the blocks. */
static int solve(const bisai_bcsr *matrix, bisai_precond *precond, double *x) {
  const int64_t n = size_of(matrix);
  bisai_solver_options how = bisai_solver_options_default();
  bisai_solver *solver = NULL;
  bisai_solver_report report = {.struct_size = sizeof report};
  double *ones = malloc((size_t)n * sizeof *ones), *rhs = test_nan_vector(n);
  assert_non_null(ones);
  for (int64_t i = 0; i < n; i++) ones[i] = 1, x[i] = 0;
  how.method = BISAI_CG;
  how.tolerance = 1e-8;
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, 1, ones, rhs));
  EXPECT_OK(context, bisai_solver_create(context, n, &how, &solver));
  EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, rhs, x, &report));
  assert_int_equal(BISAI_REASON_CONVERGED, report.reason);
  bisai_solver_destroy(&solver);
  free(ones);
  free(rhs);
  return report.iterations;
}

/* Makes multigrid with the modes of the body, or with constants. The caller frees *vectors. */
static bisai_precond *make_multigrid(const body *b, const bisai_bcsr *matrix, bool modes,
                                     double **vectors) {
  bisai_precond_options how = bisai_precond_options_default();
  bisai_precond *precond = NULL;
  how.kind = BISAI_PRECOND_MULTIGRID;
  *vectors = test_nan_vector(size_of(matrix) * MODES);
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, MODES, b->modes, *vectors));
  if (modes) {
    how.multigrid.null_vectors = *vectors;
    how.multigrid.null_count = MODES;
  }
  EXPECT_OK(context, bisai_precond_create(context, matrix, &how, &precond));
  return precond;
}

/* ‖1 − A x‖/‖1‖ of the caller's arrays */
static double residual_of(const csr *a, const double *x) {
  double sum = 0;
  for (int32_t i = 0; i < a->rows; i++) {
    double r = 1;
    for (int32_t p = a->row_ptr[i]; p < a->row_ptr[i + 1]; p++)
      r -= a->values[p] * x[a->col_idx[p]];
    sum += r * r;
  }
  return sqrt(sum / a->rows);
}

static void expect_iterations(int32_t n, bool modes, int most) {
  body b = make_body(n);
  bisai_bcsr *matrix = make_matrix(&b);
  double *vectors, *x = test_nan_vector(size_of(matrix)), *of_caller = test_nan_vector(b.a.rows);
  bisai_precond *precond = make_multigrid(&b, matrix, modes, &vectors);
  /* a device inverts larger last levels */
  if (!test_on_device() || n >= 14)
    assert_true(test_report_of(context, precond).multigrid.levels >= 2);
  const int iterations = solve(matrix, precond, x);
  if (iterations > most) fail_msg("%d iterations, at most %d expected", iterations, most);
  EXPECT_OK(context, bisai_bcsr_from_blocks(matrix, 1, x, of_caller));
  /* the solver measures the same residual, with sums in another order */
  assert_true(residual_of(&b.a, of_caller) < 1.01e-8);
  double *again = test_nan_vector(size_of(matrix));
  EXPECT_OK(context, bisai_bcsr_to_blocks(matrix, 1, of_caller, again));
  EXPECT_CLOSE(size_of(matrix), again, x, 0.0); /* the padding of x is zero */
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  body_free(&b);
  free(vectors);
  free(x);
  free(of_caller);
  free(again);
}

static void modes_need_few_iterations_for_every_size_of_an_elastic_body(void **state) {
  (void)state;
  for (int32_t n = 6; n <= 14; n += 4) expect_iterations(n, true, MOST_WITH_MODES);
}

static void constants_need_few_iterations_too(void **state) {
  (void)state;
  for (int32_t n = 6; n <= 14; n += 4) expect_iterations(n, false, MOST_WITH_CONSTANTS);
}

static void nodes_of_an_elastic_body_are_found(void **state) {
  (void)state;
  body b = make_body(7);
  int32_t nodes, bs;
  int32_t *node = malloc((size_t)b.a.rows * sizeof *node),
          *component = malloc((size_t)b.a.rows * sizeof *component);
  assert_true(node && component);
  const bisai_csr_desc desc = desc_of(&b.a);
  EXPECT_OK(context, bisai_csr_find_nodes(context, &desc, node, component, &nodes, &bs));
  assert_int_equal(6 * 7 * 7, nodes);
  assert_int_equal(3, bs);
  assert_memory_equal(b.node, node, (size_t)b.a.rows * sizeof *node);
  int32_t wrong = 0;
  for (int32_t i = 0; i < b.a.rows; i++) wrong += component[i] != b.component[i];
  assert_true(wrong <= MOST_WRONG);
  free(node);
  free(component);
  body_free(&b);
}

static void an_update_solves_as_a_new_set_up(void **state) {
  (void)state;
  body b = make_body(8);
  bisai_bcsr *matrix = make_matrix(&b);
  double *vectors, *of_new, *x = test_nan_vector(size_of(matrix)),
                            *y = test_nan_vector(size_of(matrix));
  bisai_precond *precond = make_multigrid(&b, matrix, true, &vectors);
  for (int32_t i = 0; i < b.a.rows; i++)
    for (int32_t p = b.a.row_ptr[i]; p < b.a.row_ptr[i + 1]; p++)
      b.a.values[p] *= b.a.col_idx[p] == i ? 1.25 : 1.125;
  const bisai_csr_desc desc = desc_of(&b.a);
  EXPECT_OK(context, bisai_bcsr_update_from_csr(matrix, &desc));
  EXPECT_OK(context, bisai_precond_update(precond, matrix));
  bisai_precond *fresh = make_multigrid(&b, matrix, true, &of_new);
  assert_int_equal(solve(matrix, fresh, y), solve(matrix, precond, x));
  EXPECT_CLOSE(size_of(matrix), y, x, 0.0);
  bisai_precond_destroy(&precond);
  bisai_precond_destroy(&fresh);
  bisai_bcsr_destroy(&matrix);
  body_free(&b);
  free(vectors);
  free(of_new);
  free(x);
  free(y);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(modes_need_few_iterations_for_every_size_of_an_elastic_body),
      cmocka_unit_test(constants_need_few_iterations_too),
      cmocka_unit_test(nodes_of_an_elastic_body_are_found),
      cmocka_unit_test(an_update_solves_as_a_new_set_up),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
