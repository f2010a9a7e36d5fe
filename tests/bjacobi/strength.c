/* SPDX-License-Identifier: BSD-3-Clause */
/* Block-Jacobi with blocks of strongly coupled rows, against dense solves with blocks that are
 * found in another way: by looking for the strongest coupling that is left, again and again. */
#include "fixture.h"
#include "preconds.h"

#include <float.h>
#include <math.h>

static bisai_precond_options options_of(int32_t most) {
  bisai_precond_options options = bisai_precond_options_default();
  options.kind = BISAI_PRECOND_BJACOBI;
  options.bjacobi.max_block = most;
  options.bjacobi.blocks = BISAI_BLOCKS_STRENGTH;
  return options;
}

static double magnitude(const test_bcsr *a, int32_t i, int32_t j) {
  const double *block = test_bcsr_block(a, i, j);
  return block ? test_largest((int64_t)a->block_size * a->block_size, block) : 0.0;
}

/* Returns the group of each block row. */
static int32_t *expected_groups(const test_bcsr *a, int32_t most) {
  const int32_t n = a->block_rows;
  int32_t *group = malloc((size_t)n * sizeof *group), *size = malloc((size_t)n * sizeof *size);
  bool *refused = calloc((size_t)n * (size_t)n, sizeof *refused);
  for (int32_t i = 0; i < n; i++) group[i] = i, size[i] = 1;
  for (;;) {
    double strongest = 0.0;
    int32_t at[2] = {0, 0};
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = i + 1; j < n; j++) {
        const double scale = sqrt(magnitude(a, i, i)) * sqrt(magnitude(a, j, j));
        const double strength = (magnitude(a, i, j) + magnitude(a, j, i)) / scale;
        if (refused[i * n + j] || strength <= strongest) continue;
        strongest = strength;
        at[0] = i, at[1] = j;
      }
    if (strongest == 0.0) break;
    refused[at[0] * n + at[1]] = true;
    const int32_t x = group[at[0]], y = group[at[1]];
    if (x == y || size[x] + size[y] > most) continue;
    size[x] += size[y];
    for (int32_t i = 0; i < n; i++)
      if (group[i] == y) group[i] = x;
  }
  free(refused);
  free(size);
  return group;
}

/* Fails unless z solves the system of the rows of each group, to 32·m·eps·κ. */
static void expect_solved(const test_bcsr *a, const int32_t *group, const double *v,
                          const double *z) {
  const int32_t bs = a->block_size, n = a->block_rows * bs;
  double *dense = test_dense_from_arrays(a), *block = malloc(32 * 32 * sizeof *block);
  for (int32_t g = 0; g < a->block_rows; g++) {
    int32_t rows[32], m = 0;
    double right[32], got[32];
    for (int32_t i = 0; i < n; i++)
      if (group[i / bs] == g) rows[m++] = i;
    if (m == 0) continue;
    for (int32_t k = 0; k < m; k++) {
      right[k] = v[rows[k]], got[k] = z[rows[k]];
      for (int32_t l = 0; l < m; l++) block[k + l * m] = dense[rows[k] + (int64_t)rows[l] * n];
    }
    double *expected = test_dense_solve(m, block, right);
    assert_non_null(expected);
    const double tolerance =
        32.0 * m * DBL_EPSILON * test_dense_condition1(m, block) * test_norm2(m, expected);
    EXPECT_CLOSE(m, expected, got, tolerance);
    free(expected);
  }
  free(block);
  free(dense);
}

static void expect_blocks(const test_bcsr *a, const test_bcsr *later, int32_t most) {
  const int64_t n = (int64_t)a->block_rows * a->block_size;
  const bisai_precond_options options = options_of(most);
  int32_t *group = expected_groups(a, most / a->block_size);
  double *v = test_random_vector(n, 1), *z = test_nan_vector(n);
  bisai_bcsr *matrix = test_bcsr_make(context, a), *update = test_bcsr_make(context, later);
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  expect_solved(a, group, v, z);
  /* The blocks of creation stay. */
  EXPECT_OK(context, bisai_precond_update(precond, update));
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  expect_solved(later, group, v, z);
  const bisai_precond_report report = test_report_of(context, precond);
  assert_true(report.bjacobi.largest_block <= most);
  int32_t blocks = 0;
  for (int32_t g = 0; g < a->block_rows; g++)
    for (int32_t i = 0; i < a->block_rows; i++)
      if (group[i] == g) {
        blocks++;
        break;
      }
  assert_int_equal(report.bjacobi.blocks, blocks);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  bisai_bcsr_destroy(&update);
  free(group);
  free(v);
  free(z);
}

/* Rows 0 and 2, and 1 and 3, are coupled strongly; neighbours are not. */
static void strongly_coupled_rows_share_a_block(void **state) {
  (void)state;
  int32_t row_ptr[] = {0, 3, 6, 9, 12}, col_idx[] = {0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3};
  double values[] = {4, 0.5, 3, 0.5, 4, 3, 2, 4, 0.5, 2, 0.5, 4};
  const test_bcsr a = {4, 4, 1, row_ptr, col_idx, values};
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  const bisai_precond_options options = options_of(2);
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  assert_string_equal(bisai_precond_describe(precond),
                      "bjacobi max=2 blocks=strength, 2 blocks of up to 2 rows");
  /* [4 3; 2 4]⁻¹ = [4 −3; −2 4]/10 */
  const double v[] = {10, 20, 0, 10}, expected[] = {4, 5, -2, 0};
  double z[4];
  EXPECT_OK(context, bisai_precond_apply(precond, v, z));
  EXPECT_CLOSE(4, expected, z, 1e-14);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
}

static void blocks_are_those_of_the_strongest_couplings(void **state) {
  (void)state;
  for (int32_t bs = 1; bs <= 5; bs++)
    for (int32_t most = bs; most <= 32; most = most * 2 + 1) {
      test_bcsr a = test_bcsr_random(test_shape_square(40, bs, (uint64_t)(100 * bs + most)));
      test_bcsr later = test_bcsr_random(test_shape_square(40, bs, (uint64_t)(100 * bs + most)));
      const int32_t values = test_bcsr_blocks(&a) * bs * bs;
      for (int32_t k = 0; k < values; k++) later.values[k] *= 1.0 + 0.1 * (k % 3);
      expect_blocks(&a, &later, most);
      test_bcsr_free(&later);
      test_bcsr_free(&a);
    }
}

/* All couplings are equal: those of the lower rows come first, with any number of threads. */
static void equal_couplings_go_by_rows(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(301, 2, 4.0, -1.0);
  bisai_context *many = test_context(4);
  bisai_bcsr *matrix = test_bcsr_make(context, &a), *same = test_bcsr_make(many, &a);
  const bisai_precond_options options = options_of(6);
  bisai_precond *precond = NULL, *other = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  EXPECT_OK(many, bisai_precond_create(many, same, &options, &other));
  const bisai_precond_report report = test_report_of(context, precond);
  assert_int_equal(report.bjacobi.by_size[6], 100);
  assert_int_equal(report.bjacobi.by_size[2], 1);
  test_expect_equal(context, precond, other);
  bisai_precond_destroy(&other);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&same);
  bisai_bcsr_destroy(&matrix);
  bisai_context_destroy(&many);
  test_bcsr_free(&a);
}

static void sweeps_and_formats_go_with_strong_blocks(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_definite(60, 2, 7);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  for (int kind = 0; kind < 3; kind++) {
    bisai_precond_options options = options_of(8);
    if (kind == 0) options.bjacobi.relax = 2;
    if (kind == 1) options.bjacobi.storage = BISAI_ADAPTIVE;
    if (kind == 2) options.bjacobi.form = BISAI_FORM_LU;
    bisai_solver_options how = bisai_solver_options_default();
    how.tolerance = 1e-10;
    const int64_t n = (int64_t)a.block_rows * a.block_size;
    double *b = test_random_vector(n, 3), *x = calloc((size_t)n, sizeof *x);
    bisai_precond *precond = NULL;
    bisai_solver *solver = NULL;
    EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
    EXPECT_OK(context, bisai_solver_create(context, n, &how, &solver));
    EXPECT_OK(context, bisai_solver_solve(solver, matrix, precond, b, x, NULL));
    assert_true(test_relative_residual(matrix, x, b) <= 1e-9);
    bisai_solver_destroy(&solver);
    bisai_precond_destroy(&precond);
    free(b);
    free(x);
  }
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_tridiagonal(6, 3, 4.0, -1.0);
  bisai_bcsr *matrix = test_bcsr_make(context, &a);
  bisai_precond_options options = options_of(2);
  test_expect_refused(context, matrix, &options, BISAI_INVALID_ARGUMENT,
                      "blocks=strength keeps the rows of a block of the matrix together: max_block "
                      "is 2, and at least 3 is needed");
  options = options_of(6);
  bisai_precond *precond = NULL;
  EXPECT_OK(context, bisai_precond_create(context, matrix, &options, &precond));
  test_bcsr other = test_bcsr_random(test_shape_square(6, 3, 3));
  bisai_bcsr *changed = test_bcsr_take(context, other);
  test_expect_update_refused(context, precond, changed, BISAI_INVALID_ARGUMENT,
                             "the pattern changed");
  /* Rows 2 and 3 become equal, which are in one block with the bound 6. */
  for (int32_t i = 4; i < 6; i++)
    for (int32_t j = 4; j < 6; j++) {
      double *block = test_bcsr_block(&a, i, j);
      for (int32_t v = 0; v < 9; v++) block[v] = 0.0;
    }
  bisai_bcsr *singular = test_bcsr_make(context, &a);
  test_expect_update_failed(context, precond, singular, BISAI_SINGULAR_BLOCK,
                            "block 2 (6 rows, the first of block row 4): the diagonal block is "
                            "singular");
  bisai_bcsr_destroy(&singular);
  bisai_bcsr_destroy(&changed);
  bisai_precond_destroy(&precond);
  bisai_bcsr_destroy(&matrix);
  test_bcsr_free(&a);
}

static void failing_allocations_are_survived(void **state) {
  (void)state;
  test_bcsr a = test_bcsr_definite(20, 2, 5);
  const bisai_precond_options options = options_of(6);
  test_expect_failing_allocations_survived(&a, &options, 10);
  test_bcsr b = test_bcsr_definite(20, 2, 5);
  for (int32_t k = 0; k < test_bcsr_blocks(&b) * 4; k++) b.values[k] *= 2.0;
  test_expect_no_allocations(&a, &b, &options);
  test_bcsr_free(&b);
  test_bcsr_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(strongly_coupled_rows_share_a_block),
      cmocka_unit_test(blocks_are_those_of_the_strongest_couplings),
      cmocka_unit_test(equal_couplings_go_by_rows),
      cmocka_unit_test(sweeps_and_formats_go_with_strong_blocks),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests_name("bjacobi_strength", tests, setup, teardown);
}
